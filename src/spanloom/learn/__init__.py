"""Learning: the objective, L-BFGS, AdaGrad, and what is tuned on development data."""

from spanloom.learn.adagrad import Epoch, adagrad, adagrad_together
from spanloom.learn.bounds import check_weights
from spanloom.learn.data import TrainingSet
from spanloom.learn.lbfgs import Iteration, minimize
from spanloom.learn.objective import Objective
from spanloom.learn.tuning import search_step

__all__ = [
    "Epoch",
    "Iteration",
    "Objective",
    "TrainingSet",
    "adagrad",
    "adagrad_together",
    "check_weights",
    "minimize",
    "search_step",
]
