"""Calibration of a segmenter on development data: see `spanloom.model.calibration`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from spanloom.document import Batch, Document
from spanloom.model.calibration import CalibrationReport, fit_scalings
from spanloom.parallel import Executor
from spanloom.segment.corpus import Corpus
from spanloom.segment.model import Decoded, SegmenterModel, differing
from spanloom.segment.placing import placed


def calibrate(
    model: SegmenterModel, documents: Sequence[Document], batch: Batch, dev: Corpus, decoded: Decoded, run: Executor
) -> tuple[SegmenterModel, CalibrationReport]:
    """A model with maps fitted to what a method says of development data.

    Args:
        model: trained, its penalties chosen.
        documents: with gold words and mentions.
        batch: their characters.
        dev: the same with gold tags.
        decoded: what the method says of it.
        run: how pieces of the work are run; the result does not depend on it.
    """
    marginals = decoded.probabilities(decoded.mentions, words=False, run=run, calibrated=False)
    predicted = list(placed(batch, decoded, marginals, model.types, 0.0))
    wrong = np.zeros(len(batch.sentences) - 1, np.bool_)
    wrong[differing(decoded.labels, dev.labels, batch.sentences)] = True
    scalings, report = fit_scalings(documents, predicted, decoded.log_answers(), wrong=wrong)
    return replace(model, scalings=scalings), report
