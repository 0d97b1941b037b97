"""Table 2 of Lou et al. (2017) in plain Python: what each action of a derivation says, written from the paper alone.

Nothing here comes from the package but the arrays that a sentence is given as. Features are tuples; those of words,
which are roles, are not among them. A label stands with each feature that the next label decides on, as the action is
a part of what is scored.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

OUTSIDE, NOTHING, END = 0, ("nothing",), ("end of sentence",)
LONGEST_SEGMENT = 9  # lengths of segments are told apart up to this


class Segment(NamedTuple):
    """An entity, or a single word outside: its normal form n, and what is asked of it."""

    form: Any
    start: Any
    end: Any
    size: int


ABSENT = Segment(NOTHING, NOTHING, NOTHING, 0)


def features(case: Any, labels: list[int], choices: list[int]) -> Counter[tuple[Any, ...]]:
    """All features of templates 2, 4b, 6 to 15 of a derivation of the case's first sentence.

    Args:
        case: with ``data`` and ``search.forms``.
        labels, choices: at each action; the last one closes what the last token leaves open.
    """
    data, forms = case.data, case.search.forms
    words = [("word", int(word)) for word in data.words]
    spans = {pair: n for n, pair in enumerate(zip(data.span_first.tolist(), data.span_end.tolist(), strict=True))}
    length = len(labels) - 1
    found: Counter[tuple[Any, ...]] = Counter()
    segments: list[Segment] = []
    entities: list[tuple[Any, ...]] = []  # e: the words of each entity that is closed
    first = -1
    for i, label in enumerate(labels):
        word = words[i] if i < length else END
        l1, l2 = (labels[i - back] if i >= back else OUTSIDE for back in (1, 2))
        if choices[i] >= 0:  # SEPNOR, or a plain SEP that links the entity to nothing
            text = tuple(words[first:i])
            concept = concept_of(data, spans.get((first, i), -1), choices[i])
            named = Segment(("text", text), text[0], text[-1], len(text))
            if concept >= 0:
                start, end = (("word", int(column[concept])) for column in (forms.first, forms.last))
                named = Segment(("concept", concept), start, end, int(forms.size[concept]))
            segments.append(named)
            entities.append(text)
            n1, n2 = segment(segments, 1), segment(segments, 2)
            size1, size2 = (min(part.size, LONGEST_SEGMENT) for part in (n1, n2))
            found.update([
                ("7a", n1.form, word), ("7b", n1.start, word),
                ("8a", size2, n1.form), ("8b", n2.end, n1.form), ("8c", n2.end, n1.end),
                ("9a", n1.form), ("9b", n1.form, n2.form),
                ("10a", n1.end, size1), ("10b", n2.form, size1), ("10c", n2.end, size1),
            ])  # fmt: skip
            if n1.size > 1:
                found["9c", n1.start, n1.end] += 1
            bigram, trigram = data.language[i].tolist() if i < length else (0, 0)
            found.update([("15a", bigram, concept >= 0), ("15b", trigram, concept >= 0)])
        if i == length:
            break
        if label > 0 and label % 2 == 0:  # APP
            span = spans.get((first, i + 1), -1)
            found["2", bool(span >= 0 and data.span_known[span]), label] += 1
        else:  # SEPN, SEPY, alone or after SEPNOR
            n1, n2 = segment(segments, 1), segment(segments, 2)
            size = min(n1.size, LONGEST_SEGMENT)
            e1, e2 = (entities[-back] if len(entities) >= back else NOTHING for back in (1, 2))
            found.update([
                ("4b", e1, l1, label), ("6", e2[-1], e1[-1], label),
                ("11a", n1.form, label), ("11b", n1.form, l1, label), ("11c", n1.form, l2, label),
                ("11d", n1.start, l1, label),
                ("12a", n1.end, l1, label), ("12b", n2.end, n1.form, l1, label),
                # 13a, l-2 l-1 len(n-1), is 14a, l-2 l-1 l0 len(n-1), once the action stands with it
                ("13b", n2.form, l1, label), ("13c", l1, label, size),
                ("14a", l2, l1, label, size), ("14b", l2, n1.form, label),
            ])  # fmt: skip
            first = i if label % 2 == 1 else -1
            if label == OUTSIDE:
                segments.append(Segment(("outside", word), word, word, 1))
    return found


def segment(segments: list[Segment], back: int) -> Segment:
    """The last segment, or the one before it."""
    return segments[-back] if len(segments) >= back else ABSENT


def concept_of(data: Any, span: int, choice: int) -> int:
    """The number of the concept that a choice means, -1 for nothing."""
    if span < 0 or choice >= data.cand_ptr[span + 1] - data.cand_ptr[span]:
        return -1
    return int(data.cand_concept[data.cand_ptr[span] + choice])
