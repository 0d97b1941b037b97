"""The linker's features of spans, candidates and states of the search: templates in text, compiled to keys.

The notation is that of `spanloom.features.conjunctions`.
Of a segment, ``n[-1]`` is the last one before the action and ``n[-2]`` the one before; ``e[-1]`` is the last entity,
``label[-1]`` the last label, as in Table 2 of Lou et al. (2017). ``label`` is the next label, and ``word`` the next
word. A template's key contains its values and its number; model files depend on the number.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from spanloom.features.conjunctions import Values, conjoined
from spanloom.hashing import UInt64, mix
from spanloom.link import phases

Templates = Mapping[int, str]  # number -> text

SPAN: Templates = {
    1: "mention.exact|seen.exact", 2: "mention.close|seen.close", 3: "best.way|len:6", 4: "best.way|count|best.share",
    5: "best.way|mention.close", 6: "abbreviation|best.way",
}  # fmt: skip
"""Of a span as a mention of a type."""
SPAN_EVIDENCE: Templates = {
    11: "p", 12: "p|best.way", 13: "p.coarse|mention.exact", 14: "p.coarse|mention.close|best.way",
    15: "again.exact|p.coarse", 16: "again.close|p.coarse", 17: "again.concept|p.coarse", 18: "abbreviation|p.coarse",
    19: "rival|p.coarse", 20: "rival|p", 21: "p.coarse|len:6", 22: "again.concept|again.close|p.coarse|best.way",
    23: "long", 24: "long|p.coarse", 25: "long|mention.exact|best.way",
}  # fmt: skip
"""The same, with the probabilities of the tagging chain."""
CANDIDATE: Templates = {
    31: "cand.way|cand.share", 32: "cand.ways", 33: "cand.rank:6|cand.way", 34: "cand.similarity|cand.way",
    35: "cand.margin|cand.rank:3|cand.way", 36: "cand.prior|cand.way", 37: "cand", 38: "cand|words.close",
    39: "cand.preferred|cand.way|count", 40: "cand.way|best.way|cand.rank:3",
    41: "cand.last=word[last]|cand.first=word[first]|len:5|cand.way", 42: "abbreviation|cand.way|cand.share",
    43: "cand|word[last]", 44: "cand.ways|cand.prior|cand.rank:3",
    45: "cand.similarity|cand.margin|cand.last=word[last]", 46: "cand.others|cand.way|cand.rank:3",
}  # fmt: skip
"""Of a candidate."""
CANDIDATE_EVIDENCE: Templates = {51: "p.best|cand.way", 52: "p.best|cand.similarity|cand.rank:3"}
NIL: Templates = {
    61: "best.way", 62: "best.way|best.similarity", 63: "nil.share|best.way", 64: "words.close", 65: "count|best.way",
    66: "len:5|best.way", 67: "word[last]",
}  # fmt: skip
"""Of there being no candidate that is meant."""
NIL_EVIDENCE: Templates = {71: "p.best|best.way", 72: "p.best|best.similarity"}
STATES: Mapping[int, Mapping[int, Templates]] = {
    phases.APPEND: {phases.RECOGNITION: {200: "known|label"}},
    phases.NEXT: {
        phases.JOINT: {
            1101: "n[-1]|label", 1103: "n[-1]|label[-2]|label", 1302: "n[-2]|label[-1]|label|bias",
            1303: "label[-1]|label|n[-1].len:9", 1401: "label[-2]|label[-1]|label|n[-1].len:9",
            1402: "label[-2]|n[-1]|label", 1104: "n[-1].first|label[-1]|label|bias",
            1201: "n[-1].last|label[-1]|label|bias", 1202: "n[-2].last|n[-1]|label[-1]|label",
            1102: "n[-1]|label[-1]|label",
        }
    },
    phases.NEXT_FAR: {
        phases.RECOGNITION: {401: "e[-1]|label[-1]|label", 601: "e[-2].last|e[-1].last|label"},
    },
    phases.CLOSE: {
        phases.NORMALIZATION: {
            701: "n[-1]|word", 702: "n[-1].first|word", 801: "n[-2].len:9|n[-1]", 802: "n[-2].last|n[-1]",
            803: "n[-2].last|n[-1].last", 901: "n[-1]", 902: "n[-1]|n[-2]", 1001: "n[-1].last|n[-1].len:9",
            1002: "n[-2]|n[-1].len:9", 1003: "n[-2].last|n[-1].len:9",
        }
    },
    phases.CLOSE_SEVERAL: {phases.NORMALIZATION: {903: "n[-1].first|n[-1].last"}},
    phases.CLOSE_LAST: {
        phases.LANGUAGE: {1501: "bigram|linked", 1502: "trigram|linked"},
        phases.HISTORY: {2001: "linked-before|cand.way|linked"},
    },
    phases.CLOSE_FAR: {
        phases.HISTORY: {2002: "same|between|type", 2003: "same|gap:8|cand.way", 2004: "e[-1].concept|n|type"},
    },
    phases.SEGMENT: {
        phases.SEGMENTS: {
            3001: "len:12|type", 3002: "words|type", 3003: "word[first]|word[last]|type",
            3004: "word[first-1]|word[last+1]|type", 3005: "word[last]|len:5|type", 3006: "word[first]|len:5|type",
            3007: "word[first-1]|word[first]|type", 3008: "word[last]|word[last+1]|type",
            3009: "ending[first]|ending[last]|len:5|type", 3010: "shapes|type", 3011: "proposed|type",
        }
    },
    phases.UNPROPOSED: {phases.CANDIDATES: {4001: "bias"}},
}  # fmt: skip
"""Of the actions of the search, by phase and by group: see `spanloom.link.phases`."""


def keys(templates: Templates, values: Values) -> list[UInt64]:
    """Return the keys of each template, (N,), from N values of each name; a template's number is its seed."""
    return [conjoined(text, number, values) for number, text in templates.items()]


def of_phase(groups: int, phase: int) -> list[str]:
    """The templates of a phase of the search, in the order of their keys."""
    return [text for group, own in STATES[phase].items() if groups & group for text in own.values()]


def compiled(groups: int) -> UInt64:
    """The templates of some groups, given as bits, as `native/link.h` reads them."""
    starts: list[int] = []
    code: list[int] = []
    for phase, names in enumerate(phases.ATOMS):
        starts.append(len(phases.ATOMS) + 1 + len(code))
        for group, templates in STATES[phase].items():
            for number, text in templates.items() if groups & group else ():
                places = [names.index(name) for name in text.split("|")]
                code += [mix(phases.NOTHING, number), len(places), *places]
    return np.array([*starts, len(phases.ATOMS) + 1 + len(code), *code], np.uint64)
