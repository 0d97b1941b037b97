"""Evaluation: precision, recall, F1, kinds of error, confidence intervals and significance tests.

Every measure is a comparison of predicted documents with gold ones, on characters: nothing is tokenized again.
"""

from spanloom.lazy import attached

__getattr__, __dir__, __all__ = attached(__name__, __file__)
