"""Words and mentions of text without spaces: two chains over characters that come together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanloom.lazy import by_name, lazily

if TYPE_CHECKING:
    from spanloom.segment.constraints import WHOLE_WORDS as WHOLE_WORDS
    from spanloom.segment.dual import Oracle as Oracle
    from spanloom.segment.dual import OracleAnswer as OracleAnswer
    from spanloom.segment.dual import Solution as Solution
    from spanloom.segment.dual import solve as solve
    from spanloom.segment.feature_sets import SETS as SETS
    from spanloom.segment.model import METHODS as METHODS
    from spanloom.segment.report import ChainReport as ChainReport
    from spanloom.segment.report import SegmenterReport as SegmenterReport
    from spanloom.segment.segmenter import Probabilities as Probabilities
    from spanloom.segment.segmenter import Segmenter as Segmenter
    from spanloom.segment.segmenter import load_segmenter as load_segmenter
    from spanloom.structures.product import Constraint as Constraint

# module -> names; imported when first used, so that the command line reads `parameters` without NumPy
_EXPORTS = by_name(
    {
        "spanloom.segment.constraints": "WHOLE_WORDS",
        "spanloom.segment.dual": "OracleAnswer Oracle Solution solve",
        "spanloom.segment.feature_sets": "SETS",
        "spanloom.segment.model": "METHODS",
        "spanloom.segment.report": "ChainReport SegmenterReport",
        "spanloom.segment.segmenter": "Probabilities Segmenter load_segmenter",
        "spanloom.structures.product": "Constraint",
    }
)

__all__ = [*_EXPORTS]


if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, _EXPORTS)
