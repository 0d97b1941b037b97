"""The trainable recognizers: fit, predict, save, load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanloom.lazy import lazily

if TYPE_CHECKING:
    from spanloom.learn import Progress as Progress
    from spanloom.model.corpus import Lost as Lost
    from spanloom.model.kinds import load as load
    from spanloom.model.report import TrainingReport as TrainingReport
    from spanloom.recognize.compacting import compact as compact
    from spanloom.recognize.constraints import Constraints as Constraints
    from spanloom.recognize.exporting import to_onnx as to_onnx
    from spanloom.recognize.recognizer import Recognizer as Recognizer
    from spanloom.recognize.relying import Reliance as Reliance
    from spanloom.recognize.teaching import teach as teach

# name -> module; imported when first used, so that the command line reads `parameters` without NumPy
_EXPORTS = {
    "Constraints": "spanloom.recognize.constraints",
    "Lost": "spanloom.model.corpus",
    "Progress": "spanloom.learn.training",
    "Recognizer": "spanloom.recognize.recognizer",
    "Reliance": "spanloom.recognize.relying",
    "TrainingReport": "spanloom.model.report",
    "compact": "spanloom.recognize.compacting",
    "load": "spanloom.model.kinds",
    "teach": "spanloom.recognize.teaching",
    "to_onnx": "spanloom.recognize.exporting",
}

__all__ = [*_EXPORTS]


if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, _EXPORTS)
