"""Role scores: the product of features and weights, and its transpose."""

from spanloom.scoring.linear import Transposed, Weights, role_gradient, role_scores, transpose

__all__ = ["Transposed", "Weights", "role_gradient", "role_scores", "transpose"]
