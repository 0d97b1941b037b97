"""The trainable recognizers: fit, predict, save, load."""

from spanloom.lazy import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
