"""How good a prediction is, and how sure one can be of it.

Every measure is a comparison of predicted documents with gold ones, on characters: nothing is tokenized again.
"""

from spanloom.document.span import join_spans
from spanloom.evaluate.concept_report import ConceptReport, ConceptTest, concept_test, evaluate_concepts
from spanloom.evaluate.kinds import ERROR_KINDS, Finding, boundary_kind, compared_kinds, findings
from spanloom.evaluate.paired import PairedTest, paired_test
from spanloom.evaluate.reliability import Bin, Calibration, calibration
from spanloom.evaluate.report import Report, evaluate
from spanloom.evaluate.tags import TagReport, evaluate_tags
from spanloom.evaluate.threshold import Point, precision_recall
from spanloom.matching.compare import KEYS, Key, boundaries, exact, heads, score
from spanloom.matching.measures import Interval, Intervals, Score
from spanloom.matching.overlap import Overlaps, overlaps

__all__ = [
    "ERROR_KINDS",
    "KEYS",
    "Bin",
    "Calibration",
    "ConceptReport",
    "ConceptTest",
    "Finding",
    "Interval",
    "Intervals",
    "Key",
    "Overlaps",
    "PairedTest",
    "Point",
    "Report",
    "Score",
    "TagReport",
    "boundaries",
    "boundary_kind",
    "calibration",
    "compared_kinds",
    "concept_test",
    "evaluate",
    "evaluate_concepts",
    "evaluate_tags",
    "exact",
    "findings",
    "heads",
    "join_spans",
    "overlaps",
    "paired_test",
    "precision_recall",
    "score",
]
