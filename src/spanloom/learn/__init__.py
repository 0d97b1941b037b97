"""Learning: targets, the objective, L-BFGS, AdaGrad, training, and what is tuned on development data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanloom.lazy import by_name, lazily

if TYPE_CHECKING:
    from spanloom.learn.bounds import check_weights as check_weights
    from spanloom.learn.corpus_target import CorpusTarget as CorpusTarget
    from spanloom.learn.corpus_target import SoftCounts as SoftCounts
    from spanloom.learn.data import Residual as Residual
    from spanloom.learn.data import TrainingSet as TrainingSet
    from spanloom.learn.density import DensityTarget as DensityTarget
    from spanloom.learn.descent import Epoch as Epoch
    from spanloom.learn.descent import adagrad as adagrad
    from spanloom.learn.descent import adagrad_together as adagrad_together
    from spanloom.learn.lbfgs import Iteration as Iteration
    from spanloom.learn.lbfgs import minimize as minimize
    from spanloom.learn.objective import Objective as Objective
    from spanloom.learn.target import AllowedTarget as AllowedTarget
    from spanloom.learn.target import CountTarget as CountTarget
    from spanloom.learn.target import EdgeTarget as EdgeTarget
    from spanloom.learn.target import Target as Target
    from spanloom.learn.target import TargetCounts as TargetCounts
    from spanloom.learn.training import Chosen as Chosen
    from spanloom.learn.training import EarlyStopping as EarlyStopping
    from spanloom.learn.training import Fit as Fit
    from spanloom.learn.training import Judge as Judge
    from spanloom.learn.training import Listener as Listener
    from spanloom.learn.training import Progress as Progress
    from spanloom.learn.training import Training as Training
    from spanloom.learn.training import TrainingHistory as TrainingHistory
    from spanloom.learn.training import fit_together as fit_together
    from spanloom.learn.tuning import search_step as search_step

# module -> names; imported when first used, as a model that is used needs little of what trains it
_EXPORTS = by_name(
    {
        "spanloom.learn.descent": "Epoch adagrad adagrad_together",
        "spanloom.learn.bounds": "check_weights",
        "spanloom.learn.corpus_target": "CorpusTarget SoftCounts",
        "spanloom.learn.data": "Residual TrainingSet",
        "spanloom.learn.density": "DensityTarget",
        "spanloom.learn.lbfgs": "Iteration minimize",
        "spanloom.learn.objective": "Objective",
        "spanloom.learn.target": "AllowedTarget CountTarget EdgeTarget Target TargetCounts",
        "spanloom.learn.training": "Chosen EarlyStopping Fit Judge Listener Progress Training TrainingHistory "
        "fit_together",
        "spanloom.learn.tuning": "search_step",
    }
)

__all__ = [*_EXPORTS]


if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, _EXPORTS)
