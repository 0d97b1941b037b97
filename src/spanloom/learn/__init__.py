"""Learning: targets, the objective, L-BFGS, AdaGrad, training, and what is tuned on development data."""

from spanloom.learn.adagrad import Epoch, adagrad, adagrad_together
from spanloom.learn.bounds import check_weights
from spanloom.learn.corpus_target import CorpusTarget, SoftCounts
from spanloom.learn.data import Residual, TrainingSet
from spanloom.learn.density import DensityTarget
from spanloom.learn.lbfgs import Iteration, minimize
from spanloom.learn.objective import Objective
from spanloom.learn.target import AllowedTarget, CountTarget, EdgeTarget, Target, Wanted
from spanloom.learn.training import (
    Chosen,
    EarlyStopping,
    Fit,
    Judge,
    Listener,
    Progress,
    Training,
    TrainingHistory,
    fit_together,
)
from spanloom.learn.tuning import search_step

__all__ = [
    "AllowedTarget",
    "Chosen",
    "CorpusTarget",
    "CountTarget",
    "DensityTarget",
    "EarlyStopping",
    "EdgeTarget",
    "Epoch",
    "Fit",
    "Iteration",
    "Judge",
    "Listener",
    "Objective",
    "Progress",
    "Residual",
    "SoftCounts",
    "Target",
    "Training",
    "TrainingHistory",
    "TrainingSet",
    "Wanted",
    "adagrad",
    "adagrad_together",
    "check_weights",
    "fit_together",
    "minimize",
    "search_step",
]
