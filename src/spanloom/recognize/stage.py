"""A trained first stage, wherever its scores come from: what calibration, reports and overlap rules need of it."""

from __future__ import annotations

from typing import NamedTuple

from spanloom.document import Batch
from spanloom.features import Built, FeatureSet
from spanloom.hypergraph import Edges, Potentials
from spanloom.learn import Chosen, Fit, TrainingSet
from spanloom.model.corpus import Gold
from spanloom.model.development import HeldOut
from spanloom.model.report import AnnotatorsReport, CompletionReport
from spanloom.model.structured import AnyModel
from spanloom.scoring import LinearScorer

__all__ = ["Beside", "Learned", "TrainedModel"]


class Beside(NamedTuple):
    """Features whose scores are averaged with an encoder's.

    Args:
        scorer: trained on the training data.
        unseen: potentials of the development data.
    """

    scorer: LinearScorer
    unseen: Potentials


class TrainedModel(NamedTuple):
    """A trained model of tokens, not calibrated yet.

    Args:
        model: with its mention penalty.
        known, unseen: training and development data.
        gold: mentions of the training data.
        edges: their structures, (T, K, D).
        held: what is to be found in the development data.
        potentials: of the development data.
        fit: what training chose.
        rows: of weights; with an encoder, numbers that were trained.
    """

    model: AnyModel
    known: Batch
    unseen: Batch
    gold: Gold
    edges: Edges
    held: HeldOut
    potentials: Potentials
    fit: Chosen
    rows: int


class Learned(NamedTuple):
    """What was trained on some features, before it is calibrated.

    Args:
        features: templates.
        built: index and matrix of the training data.
        data: the training data.
        fit: weights, and how they were chosen.
        stage: all that does not depend on there being features.
        tried: weights of raw text and the development F1 of each, where there is any.
        completion: of partial annotation.
        annotators: several of the same texts.
    """

    features: FeatureSet
    built: Built
    data: TrainingSet
    fit: Fit
    stage: TrainedModel
    tried: tuple[tuple[float, float], ...]
    completion: CompletionReport | None
    annotators: AnnotatorsReport | None

    @property
    def soft(self) -> bool:
        """Whether it was learned from what is expected, in place of gold mentions."""
        return self.completion is not None or self.annotators is not None
