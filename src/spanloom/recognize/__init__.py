"""The trainable recognizers: fit, predict, save, load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanloom.lazy import lazily

if TYPE_CHECKING:
    from spanloom.learn import Progress as Progress
    from spanloom.model.corpus import Lost as Lost
    from spanloom.model.report import TrainingReport as TrainingReport
    from spanloom.recognize.cascade import Cascade as Cascade
    from spanloom.recognize.cascade import CascadeReport as CascadeReport
    from spanloom.recognize.compacting import compact as compact
    from spanloom.recognize.exporting import to_onnx as to_onnx
    from spanloom.recognize.loading import KINDS as KINDS
    from spanloom.recognize.loading import load as load
    from spanloom.recognize.recognizer import Recognizer as Recognizer
    from spanloom.recognize.teaching import teach as teach

# name -> module; imported when first used, so that the command line reads `parameters` without NumPy
_EXPORTS = {
    "KINDS": "spanloom.recognize.loading",
    "Cascade": "spanloom.recognize.cascade",
    "CascadeReport": "spanloom.recognize.cascade",
    "Lost": "spanloom.model.corpus",
    "Progress": "spanloom.learn.training",
    "Recognizer": "spanloom.recognize.recognizer",
    "TrainingReport": "spanloom.model.report",
    "compact": "spanloom.recognize.compacting",
    "load": "spanloom.recognize.loading",
    "teach": "spanloom.recognize.teaching",
    "to_onnx": "spanloom.recognize.exporting",
}

__all__ = [*_EXPORTS]


if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, _EXPORTS)
