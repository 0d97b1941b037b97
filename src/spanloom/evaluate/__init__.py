"""Evaluation: precision, recall, F1, kinds of error, confidence intervals and significance tests.

Every measure is a comparison of predicted documents with gold ones, on characters: nothing is tokenized again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanloom.lazy import by_name, lazily

if TYPE_CHECKING:
    from spanloom.document.span import join_spans as join_spans
    from spanloom.evaluate.attributes import AttributeReport as AttributeReport
    from spanloom.evaluate.attributes import AttributeScores as AttributeScores
    from spanloom.evaluate.attributes import evaluate_attributes as evaluate_attributes
    from spanloom.evaluate.compare import KEYS as KEYS
    from spanloom.evaluate.compare import Key as Key
    from spanloom.evaluate.compare import boundaries as boundaries
    from spanloom.evaluate.compare import exact as exact
    from spanloom.evaluate.compare import heads as heads
    from spanloom.evaluate.compare import score as score
    from spanloom.evaluate.concept_report import ConceptReport as ConceptReport
    from spanloom.evaluate.concept_report import ConceptTest as ConceptTest
    from spanloom.evaluate.concept_report import concept_test as concept_test
    from spanloom.evaluate.concept_report import evaluate_concepts as evaluate_concepts
    from spanloom.evaluate.kinds import ERROR_KINDS as ERROR_KINDS
    from spanloom.evaluate.kinds import Finding as Finding
    from spanloom.evaluate.kinds import boundary_kind as boundary_kind
    from spanloom.evaluate.kinds import compared_kinds as compared_kinds
    from spanloom.evaluate.kinds import findings as findings
    from spanloom.evaluate.measures import Interval as Interval
    from spanloom.evaluate.measures import Intervals as Intervals
    from spanloom.evaluate.measures import Score as Score
    from spanloom.evaluate.overlap import Overlaps as Overlaps
    from spanloom.evaluate.overlap import overlaps as overlaps
    from spanloom.evaluate.paired import PairedTest as PairedTest
    from spanloom.evaluate.paired import paired_test as paired_test
    from spanloom.evaluate.reliability import Bin as Bin
    from spanloom.evaluate.reliability import Calibration as Calibration
    from spanloom.evaluate.reliability import calibration as calibration
    from spanloom.evaluate.report import Report as Report
    from spanloom.evaluate.report import evaluate as evaluate
    from spanloom.evaluate.scorers import f1_macro as f1_macro
    from spanloom.evaluate.scorers import f1_micro as f1_micro
    from spanloom.evaluate.slices import Breakdown as Breakdown
    from spanloom.evaluate.slices import breakdown as breakdown
    from spanloom.evaluate.tags import TagReport as TagReport
    from spanloom.evaluate.tags import evaluate_tags as evaluate_tags
    from spanloom.evaluate.threshold import Point as Point
    from spanloom.evaluate.threshold import precision_recall as precision_recall

# module -> names; imported when first used, as some of them load SciPy, and a model that is loaded needs none
_EXPORTS = by_name(
    {
        "spanloom.document.span": "join_spans",
        "spanloom.evaluate.attributes": "AttributeReport AttributeScores evaluate_attributes",
        "spanloom.evaluate.compare": "KEYS Key boundaries exact heads score",
        "spanloom.evaluate.concept_report": "ConceptReport ConceptTest concept_test evaluate_concepts",
        "spanloom.evaluate.kinds": "ERROR_KINDS Finding boundary_kind compared_kinds findings",
        "spanloom.evaluate.measures": "Interval Intervals Score",
        "spanloom.evaluate.overlap": "Overlaps overlaps",
        "spanloom.evaluate.paired": "PairedTest paired_test",
        "spanloom.evaluate.reliability": "Bin Calibration calibration",
        "spanloom.evaluate.report": "Report evaluate",
        "spanloom.evaluate.scorers": "f1_macro f1_micro",
        "spanloom.evaluate.slices": "Breakdown breakdown",
        "spanloom.evaluate.tags": "TagReport evaluate_tags",
        "spanloom.evaluate.threshold": "Point precision_recall",
    }
)

__all__ = [*_EXPORTS]


if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, _EXPORTS)


def __dir__() -> list[str]:
    return __all__
