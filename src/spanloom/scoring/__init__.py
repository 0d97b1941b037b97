"""Scorers, which give the roles of tokens their scores."""

from spanloom.scoring.base import Named as Named
from spanloom.scoring.base import Part as Part
from spanloom.scoring.base import Scorer as Scorer
from spanloom.scoring.linear import LinearScorer as LinearScorer
from spanloom.scoring.product import Transposed as Transposed
from spanloom.scoring.product import Weights as Weights
from spanloom.scoring.product import dense_gradient as dense_gradient
from spanloom.scoring.product import role_gradient as role_gradient
from spanloom.scoring.product import role_scores as role_scores
from spanloom.scoring.product import transpose as transpose
