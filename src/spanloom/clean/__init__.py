"""Annotation errors: gold mentions that are probably wrong, missing, or of another extent or type, by cross-fitting."""

from spanloom.clean.crossfit import JudgedDocument, judge
from spanloom.clean.finding import find_suspects, not_judged, recognizer_of, with_suspects
from spanloom.clean.page import suspects_page
from spanloom.clean.suspects import Suspect, suspects_of

__all__ = [
    "JudgedDocument",
    "Suspect",
    "find_suspects",
    "judge",
    "not_judged",
    "recognizer_of",
    "suspects_of",
    "suspects_page",
    "with_suspects",
]
