"""A trained first stage, wherever its scores come from: what calibration, reports and overlap rules need of it."""

from __future__ import annotations

from typing import NamedTuple

from spanloom.document import Batch
from spanloom.hypergraph import Edges, Potentials
from spanloom.learn import Chosen
from spanloom.model.corpus import Gold
from spanloom.model.development import HeldOut
from spanloom.model.structured import AnyModel
from spanloom.scoring import LinearScorer

__all__ = ["Beside", "Stage"]


class Beside(NamedTuple):
    """Features that an encoder is trained beside.

    Args:
        scorer: trained on the training data.
        held_out: potentials of the training data, by scorers that have not seen the sentence that they score.
        unseen: potentials of the development data.
    """

    scorer: LinearScorer
    held_out: Potentials
    unseen: Potentials


class Stage(NamedTuple):
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
