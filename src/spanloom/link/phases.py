"""The groups and phases of the templates of the linker's search, and the values that each phase reads.

`native/link.h` has the same phases, the values at the same places, and room for as many keys and values.
"""

from __future__ import annotations

from typing import Final

# groups of templates, as bits; see `spanloom.link.templates`
RECOGNITION, NORMALIZATION, JOINT, SEGMENTS, CANDIDATES, HISTORY, LANGUAGE = 1, 2, 4, 8, 16, 32, 64
NIL = 128  # no group of features: whether an entity that has candidates may be linked to none of them

NOTHING: Final = 0x51ED270B35A5F4C9  # stands for a segment or an entity that is not there
MOST = 64  # keys that one step gives, at most
APPEND, NEXT, NEXT_FAR, CLOSE, CLOSE_SEVERAL, CLOSE_LAST, CLOSE_FAR, SEGMENT, UNPROPOSED = range(9)
CLOSING = (
    "bias", "word", "n[-1]", "n[-1].first", "n[-1].last", "n[-1].len:9", "n[-2]", "n[-2].last", "n[-2].len:9", "bigram",
    "trigram", "linked", "cand.way", "linked-before",
)  # fmt: skip
ATOMS = (
    ("bias", "known", "label"),
    (
        "bias", "label", "label[-1]", "label[-2]", "n[-1]", "n[-1].first", "n[-1].last", "n[-1].len:9", "n[-2]",
        "n[-2].last",
    ),
    ("bias", "label", "label[-1]", "e[-1]", "e[-1].last", "e[-2].last"),
    CLOSING,
    CLOSING,
    CLOSING,
    ("bias", "same", "between", "type", "gap:8", "cand.way", "e[-1].concept", "n"),
    (
        "bias", "type", "len:12", "len:5", "words", "word[first]", "word[last]", "word[first-1]", "word[last+1]",
        "ending[first]", "ending[last]", "shapes", "proposed",
    ),
    ("bias",),
)  # fmt: skip
"""The values of each phase by their places; the first is 0 everywhere."""
