"""Scorers, which give the roles of tokens their scores."""

from spanloom.scoring.base import Named, Part, Scorer
from spanloom.scoring.linear import LinearScorer
from spanloom.scoring.product import Transposed, Weights, dense_gradient, role_gradient, role_scores, transpose

__all__ = [
    "LinearScorer",
    "Named",
    "Part",
    "Scorer",
    "Transposed",
    "Weights",
    "dense_gradient",
    "role_gradient",
    "role_scores",
    "transpose",
]
