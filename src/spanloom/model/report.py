"""What training saw and chose."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from spanloom.document import Batch
from spanloom.features import FeatureSet
from spanloom.learn import TrainingSet
from spanloom.model.calibration import CalibrationReport
from spanloom.model.corpus import Gold
from spanloom.model.structured import LinearModel
from spanloom.model.training import Fit


@dataclass(frozen=True)
class Report:
    """What training saw and chose.

    Args:
        documents, sentences, tokens, mentions: of the training data.
        development: sentences of the development data.
        lost: reason -> how many mentions the model cannot hold for it.
        ambiguous: mentions that are held, but read back otherwise, such as crossing ones read as nested.
        dropped: templates of a preset that the data cannot serve.
        rows: rows of weights.
        l2: lambda.
        penalty: the mention penalty.
        steps: passes or iterations.
        dev_f1: with the penalty, 0 to 1.
        history: objective and development F1 at each step.
        calibration: of the probabilities, on the development data; ``None`` for a model that was not calibrated.
    """

    documents: int
    sentences: int
    tokens: int
    mentions: int
    development: int
    lost: dict[str, int]
    ambiguous: int
    dropped: tuple[str, ...]
    rows: int
    l2: float
    penalty: float
    steps: int
    dev_f1: float
    history: tuple[tuple[float, float], ...] = field(repr=False)
    calibration: CalibrationReport | None = None


def make_report(
    train: Batch, dev: Batch, gold: Gold, data: TrainingSet, fit: Fit, features: FeatureSet,
    tagger: LinearModel, checked: CalibrationReport,
) -> Report:  # fmt: skip
    """The report of one training."""
    again = tagger.structure.decode(data.edges, data.offsets, tagger.types)
    kept = set(again.headed())
    return Report(
        documents=len(train.documents),
        sentences=len(train.sentences) - 1,
        tokens=int(data.offsets[-1]),
        mentions=gold.total,
        development=len(dev.sentences) - 1,
        lost=dict(sorted(Counter(item.reason for item in gold.lost).items())),
        ambiguous=sum(row not in kept for row in gold.held),
        dropped=tuple(str(template) for template in features.dropped),
        rows=len(data.group_sizes),
        l2=fit.l2,
        penalty=fit.penalty,
        steps=fit.steps,
        dev_f1=fit.dev_f1,
        history=fit.history,
        calibration=checked,
    )
