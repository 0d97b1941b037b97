"""Error analysis: every error of a prediction with its kind, finer than in a `Report`: gaps, heads, concepts.

A boundary error (see `spanloom.evaluate.partial`) is, in this order:

1. *gap missed*: a predicted component joins two gold components over the gap between them.
2. *gap invented*: a gold component joins two predicted components.
3. *fragment wrong*: a component, gold or predicted, shares no character with the other mention.
4. *boundary*: all others; each component shares a character with the other mention, and only ends are wrong.

Of mentions whose type and spans are right, the *head* may be wrong, and the *concept*; or only one side has a concept:
*NIL* (a mention that no concept of the vocabulary fits was given one, or the other way round). A mention can be wrong
in both, and then occurs twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from spanloom.document import Document, Mention, Span
from spanloom.evaluate.compare import MentionComparison, compare, exact, require_complete
from spanloom.evaluate.partial import errors
from spanloom.evaluate.units import pair, units

BOUNDARY_KINDS = ("boundary", "gap missed", "gap invented", "fragment wrong")
ERROR_KINDS = (
    "missed", "spurious", "boundary", "type", "gap missed", "gap invented", "fragment wrong", "head", "concept", "NIL",
)  # fmt: skip


class Finding(NamedTuple):
    """An error of a prediction.

    Args:
        kind: one of `ERROR_KINDS`.
        document: the number of the gold document, from 0.
        gold: the gold mention, spans joined; ``None`` if it is spurious.
        predicted: the predicted mention, spans joined; ``None`` if it is missed.
    """

    kind: str
    document: int
    gold: Mention | None
    predicted: Mention | None


def findings(gold: Sequence[Document], predicted: Sequence[Document]) -> list[Finding]:
    """Return all errors of a prediction, document by document, in text order.

    Heads are compared where gold has one, and concepts, without regard to their order, everywhere; either only if both
    sides have any at all.

    Args:
        gold: N documents.
        predicted: predictions for the same texts.

    Raises:
        DataError: a document is missing or extra, or its text differs; or gold annotation is not complete.

    >>> gold = Document("left and right arm", mentions=[Mention("part", [(0, 4), (15, 18)])])
    >>> [error.kind for error in findings([gold], [gold.copy(mentions=[Mention("part", [(0, 18)])])])]
    ['gap missed']
    """
    require_complete(gold, predicted)
    predicted = pair(gold, predicted)
    comparison = compare(gold, predicted, units(gold, predicted), exact)
    kinds = compared_kinds(gold, predicted)
    found = [*_unmatched(comparison), *_matched(comparison, "head" in kinds, "concept" in kinds)]
    return sorted(found, key=_order)


def compared_kinds(gold: Sequence[Document], predicted: Sequence[Document]) -> tuple[str, ...]:
    """Return the kinds of error that `findings` compares: heads and concepts only if both sides have some.

    >>> documents = [Document("pain", mentions=[Mention("problem", [(0, 4)], head=(0, 4))])]
    >>> [kind for kind in ERROR_KINDS if kind not in compared_kinds(documents, documents)]
    ['concept', 'NIL']
    """
    sides = [[mention for document in side for mention in document.mentions] for side in (gold, predicted)]
    headed = all(any(mention.head is not None for mention in side) for side in sides)
    linked = all(any(mention.concepts for mention in side) for side in sides)
    wanted = {"head": headed, "concept": linked, "NIL": linked}
    return tuple(kind for kind in ERROR_KINDS if wanted.get(kind, True))


def boundary_kind(gold: Mention, predicted: Mention) -> str:
    """Return the kind of a boundary error.

    Args:
        gold: with joined spans.
        predicted: with joined spans, of which one at least shares a character with gold.

    >>> boundary_kind(Mention("part", [(0, 18)]), Mention("part", [(0, 4), (15, 18)]))
    'gap invented'
    >>> boundary_kind(Mention("part", [(0, 4), (15, 18)]), Mention("part", [(15, 18)]))
    'fragment wrong'
    >>> boundary_kind(Mention("part", [(0, 4), (15, 18)]), Mention("part", [(1, 4), (15, 18)]))
    'boundary'
    """
    if _joins_a_gap(predicted, gold):
        return "gap missed"
    if _joins_a_gap(gold, predicted):
        return "gap invented"
    if _has_lone_component(gold, predicted) or _has_lone_component(predicted, gold):
        return "fragment wrong"
    return "boundary"


def _joins_a_gap(one: Mention, other: Mention) -> bool:
    """Return whether a component of ``one`` reaches from a component of ``other`` over the gap into the next."""
    gaps = [(left.end, right.start) for left, right in pairwise(other.spans)]
    return any(span.start < low and span.end > high for span in one.spans for low, high in gaps)


def _has_lone_component(one: Mention, other: Mention) -> bool:
    return not all(any(low < span.end and span.start < high for low, high in other.spans) for span in one.spans)


def _unmatched(comparison: MentionComparison) -> Iterator[Finding]:
    gold, predicted = comparison.gold, comparison.predicted
    kinds = errors(comparison)
    for i, j in kinds.boundary.tolist():
        kind = boundary_kind(gold.mentions[i], predicted.mentions[j])
        yield Finding(kind, int(gold.document[i]), gold.mentions[i], predicted.mentions[j])
    for i, j in kinds.type.tolist():
        yield Finding("type", int(gold.document[i]), gold.mentions[i], predicted.mentions[j])
    for i in kinds.missed.tolist():
        yield Finding("missed", int(gold.document[i]), gold.mentions[i], None)
    for j in kinds.spurious.tolist():
        yield Finding("spurious", int(predicted.document[j]), None, predicted.mentions[j])


def _matched(comparison: MentionComparison, headed: bool, linked: bool) -> Iterator[Finding]:
    """Yield the errors of mentions whose type and spans are right."""
    gold, predicted = comparison.gold, comparison.predicted
    there = {
        (document, mention.key): mention
        for document, mention in zip(predicted.document.tolist(), predicted.mentions, strict=True)
    }
    for document, mention in zip(gold.document.tolist(), gold.mentions, strict=True):
        found = there.get((document, mention.key))
        if found is None:
            continue
        if headed and mention.head is not None and mention.head != found.head:
            yield Finding("head", document, mention, found)
        if linked and set(mention.concepts) != set(found.concepts):
            kind = "concept" if mention.concepts and found.concepts else "NIL"
            yield Finding(kind, document, mention, found)


def _order(finding: Finding) -> tuple[int, tuple[Span, ...], str, int]:
    mention = finding.gold or finding.predicted
    assert mention is not None
    return finding.document, mention.spans, mention.type, ERROR_KINDS.index(finding.kind)
