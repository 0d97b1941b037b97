"""The second stage: candidate mentions scored as wholes, and the best set of compatible ones."""

from spanloom.lazy import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
