"""How good a prediction is, and how sure one can be of it.

Every measure is a comparison of predicted documents with gold ones, on characters: nothing is tokenized again.
"""

from spanloom.document.span import join_spans
from spanloom.evaluate.compare import KEYS, Key, boundaries, exact, heads, score
from spanloom.evaluate.concept_report import ConceptReport, ConceptTest, concept_test, evaluate_concepts
from spanloom.evaluate.measures import Interval, Intervals, Score
from spanloom.evaluate.overlap import Overlaps, overlaps
from spanloom.evaluate.paired import PairedTest, paired_test
from spanloom.evaluate.reliability import Bin, Calibration, calibration
from spanloom.evaluate.report import Report, evaluate
from spanloom.evaluate.tags import TagReport, evaluate_tags

__all__ = [
    "KEYS",
    "Bin",
    "Calibration",
    "ConceptReport",
    "ConceptTest",
    "Interval",
    "Intervals",
    "Key",
    "Overlaps",
    "PairedTest",
    "Report",
    "Score",
    "TagReport",
    "boundaries",
    "calibration",
    "concept_test",
    "evaluate",
    "evaluate_concepts",
    "evaluate_tags",
    "exact",
    "heads",
    "join_spans",
    "overlaps",
    "paired_test",
    "score",
]
