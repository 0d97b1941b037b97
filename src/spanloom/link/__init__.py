"""Recognize and link to a vocabulary together (Lou et al. 2017), and the language model beside it."""

from spanloom.lazy import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
