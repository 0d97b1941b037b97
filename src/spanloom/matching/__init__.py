"""What of a prediction is right: mentions compared with gold ones, counted, and how they overlap.

`spanloom.evaluate` makes reports of it. What only needs a score, such as a recognizer that is loaded, takes it from
here and does without SciPy.
"""

from spanloom.matching.compare import KEYS, Key, boundaries, exact, heads, score
from spanloom.matching.measures import Interval, Intervals, Score
from spanloom.matching.overlap import Overlaps, overlaps

__all__ = [
    "KEYS",
    "Interval",
    "Intervals",
    "Key",
    "Overlaps",
    "Score",
    "boundaries",
    "exact",
    "heads",
    "overlaps",
    "score",
]
