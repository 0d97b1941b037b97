"""Two passes over a document: what a first one finds in it become columns for the features of the second."""

from spanloom.lazy import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
