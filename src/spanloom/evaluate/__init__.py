"""How good a prediction is, and how sure one can be of it.

Every measure is a comparison of predicted documents with gold ones, on characters: nothing is tokenized again.
"""

from spanloom.document.span import join_spans
from spanloom.evaluate.compare import KEYS, Key, boundaries, exact, heads, score
from spanloom.evaluate.measures import Interval, Intervals, Score
from spanloom.evaluate.overlap import Overlaps, overlaps
from spanloom.evaluate.paired import PairedTest, paired_test
from spanloom.evaluate.reliability import Bin, Calibration, calibration
from spanloom.evaluate.report import Report, evaluate

__all__ = [
    "KEYS",
    "Bin",
    "Calibration",
    "Interval",
    "Intervals",
    "Key",
    "Overlaps",
    "PairedTest",
    "Report",
    "Score",
    "boundaries",
    "calibration",
    "evaluate",
    "exact",
    "heads",
    "join_spans",
    "overlaps",
    "paired_test",
    "score",
]
