"""Words and mentions of text without spaces: two chains over characters that come together."""

from spanloom.segment.constraints import WHOLE_WORDS, Constraint
from spanloom.segment.dual import Answer, Oracle, Solution, solve
from spanloom.segment.feature_sets import SETS
from spanloom.segment.model import METHODS
from spanloom.segment.report import ChainReport, SegmenterReport
from spanloom.segment.segmenter import Probabilities, Segmenter, load_segmenter

__all__ = [
    "METHODS",
    "SETS",
    "WHOLE_WORDS",
    "Answer",
    "ChainReport",
    "Constraint",
    "Oracle",
    "Probabilities",
    "Segmenter",
    "SegmenterReport",
    "Solution",
    "load_segmenter",
    "solve",
]
