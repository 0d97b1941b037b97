"""Learning: targets, the objective, L-BFGS, AdaGrad, training, and what is tuned on development data."""

from spanloom.lazy import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
