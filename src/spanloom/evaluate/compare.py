"""Comparison of predicted mentions with gold ones, and the keys by which they are equal.

A *key* yields the items of a document that are compared, each as the values that must be equal and a
mention with the item's place. A comparison of anything else (concepts, words) is one more such
function, and one more line in `KEYS`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Document, Mention, Span
from spanloom.document.annotation import doubt
from spanloom.document.span import join_spans
from spanloom.errors import DataError
from spanloom.evaluate.measures import Score
from spanloom.evaluate.units import ResamplingUnits, name, pair
from spanloom.formats.inputs import documents_given
from spanloom.sparse import largest_matching

Item = tuple[Hashable, Mention]
Key = Callable[[Document], Iterable[Item]]
V = TypeVar("V")
Ints = NDArray[np.int64]


def exact(document: Document) -> Iterator[Item]:
    """Return mentions keyed by type and all boundaries; spans with nothing or only white space between are joined."""
    return ((one.key, one) for one in joined(document))


def boundaries(document: Document) -> Iterator[Item]:
    """Return mentions keyed by all boundaries, without the type: mentions of the same spans are one item."""
    return ((one.spans, one) for one in joined(document))


def heads(document: Document) -> Iterator[Item]:
    """Return mentions keyed by type, all boundaries, and head (Lu and Roth 2015, section 4.1.2)."""
    return (((one.key, one.head), one) for one in joined(document))


def of_type(documents: Sequence[Document], kind: str) -> list[Document]:
    """Return documents with their mentions of one type."""
    return [document.copy(mentions=[m for m in document.mentions if m.type == kind]) for document in documents]


def require_heads(gold: Sequence[Document]) -> None:
    """Check that every gold mention has a head.

    Raises:
        DataError: one has none; the message names it.
    """
    for i, document in enumerate(gold):
        for mention in document.mentions:
            if mention.head is None:
                raise DataError(
                    f"document {name(document, i)}, characters {mention.start}-{mention.end}: the gold mention of type "
                    f"{mention.type!r} has no head; annotate it, or evaluate without heads"
                )


def require_complete(gold: Sequence[Document], *predictions: Sequence[Document]) -> None:
    """Check that all gold mentions of the compared types are annotated.

    Raises:
        DataError: ``meta["annotation"]`` declares otherwise; the message names the document.
    """
    types = sorted({mention.type for document in chain(gold, *predictions) for mention in document.mentions})
    for i, document in enumerate(gold):
        found = doubt(document, types)
        if found is not None:
            raise DataError(
                f"document {name(document, i)}: its annotation is {found} (meta.annotation), so it is unknown whether "
                "what is predicted there is right; evaluate on complete annotation, or take out meta.annotation where "
                "it is complete"
            )


def paired(gold: Sequence[Document], *predictions: Sequence[Document]) -> list[list[Document]]:
    """Return predictions in the order of gold documents, whose annotation is complete.

    Raises:
        UsageError, DataError: as of `pair` and `require_complete`.
    """
    found = [pair(gold, prediction) for prediction in predictions]
    require_complete(gold, *found)
    return found


def joined(document: Document) -> Iterator[Mention]:
    """Yield mentions whose spans are joined, where nothing or only white space is between them."""
    for one in document.mentions:
        yield one if len(one.spans) == 1 else one.replace(spans=join_spans(document.text, one.spans))


def in_both(
    gold: Sequence[Document], predicted: Sequence[Document], value: Callable[[Mention], V], merge: Callable[[V, V], V]
) -> list[tuple[int, V, V]]:
    """Return document, gold value and predicted value of each mention whose type and spans are on both sides.

    Args:
        gold: N documents.
        predicted: N documents, in the same order.
        value: of a mention, spans joined.
        merge: the value of two mentions of the same type and spans.
    """

    def at(document: Document) -> dict[Hashable, V]:
        places: dict[Hashable, V] = {}
        for one in joined(document):
            places[one.key] = merge(places[one.key], value(one)) if one.key in places else value(one)
        return places

    found = []
    for number, (expected, there) in enumerate(zip(map(at, gold), map(at, predicted), strict=True)):
        found += [(number, own, there[place]) for place, own in expected.items() if place in there]
    return found


KEYS: dict[str, Key] = {"exact": exact, "boundaries": boundaries, "heads": heads}


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """The M different mentions of one side of a comparison, document by document.

    Args:
        mentions: M; spans joined.
        document: (M,) the document of each.
        unit: (M,) the unit of resampling of each.
        hit: (M,) bool, the other side has the same item.
        overlaps: (M,) nested, crossing and discontiguous mentions of the side.
        duplicates: the number of mentions that repeated another, and were left out.
    """

    mentions: list[Mention]
    document: Ints
    unit: Ints
    hit: NDArray[np.bool_]
    overlaps: Overlaps
    duplicates: int


@dataclass(frozen=True, slots=True)
class MentionComparison:
    """The two sides of a comparison: gold and prediction."""

    gold: ComparedSide
    predicted: ComparedSide


def compare(
    gold: Sequence[Document], predicted: Sequence[Document], units: ResamplingUnits, key: Key = exact
) -> MentionComparison:
    """Compare documents with predictions for them, item by item.

    Args:
        gold: N documents.
        predicted: N documents, in the same order; see `pair`.
        units: where the documents are cut for resampling.
        key: the values that are compared.

    Raises:
        DataError: heads are compared, and a gold mention has none.
    """
    if key is heads:
        require_heads(gold)
    expected = [_distinct(key(document)) for document in gold]
    found = [_distinct(key(document)) for document in predicted]
    return MentionComparison(_side(expected, found, units), _side(found, expected, units))


def score(gold: Sequence[Document], predicted: Sequence[Document], *, key: Key = exact) -> Score:
    """Compute the overall score without intervals, fast enough for each training step.

    Args:
        gold: N documents.
        predicted: predictions for the same texts.
        key: the values that are compared.

    Raises:
        DataError: a document is missing or extra, or its text differs; or heads are compared, and a gold mention has
            none.

    >>> gold = Document("chest pain", mentions=[Mention("part", [(0, 5)]), Mention("problem", [(0, 10)])])
    >>> score([gold], [gold.copy(mentions=gold.mentions[:1])]).recall
    0.5
    """
    gold, predicted = documents_given(gold, "gold"), documents_given(predicted, "the prediction")
    if key is heads:
        require_heads(gold)
    sides = [({k for k, _ in key(g)}, {k for k, _ in key(p)}) for g, p in zip(gold, pair(gold, predicted), strict=True)]
    hits = sum(len(expected & found) for expected, found in sides)
    return Score(hits, sum(len(found) for _, found in sides), hits, sum(len(expected) for expected, _ in sides))


class _Distinct(dict[Hashable, Mention]):
    """The different items of a document, and the number of duplicates."""

    duplicates = 0


def _distinct(items: Iterable[Item]) -> _Distinct:
    """Remove duplicates: of equal items the one with the highest score is kept, so that order does not matter."""
    distinct = _Distinct()
    for key, mention in items:
        distinct.duplicates += key in distinct
        distinct[key] = surer(distinct[key], mention) if key in distinct else mention
    return distinct


def surer(one: Mention, other: Mention) -> Mention:
    """Return the mention with the higher score; of equal ones the first."""
    return max(one, other, key=lambda mention: mention.score or 0.0)


def _side(own: list[_Distinct], other: list[_Distinct], units: ResamplingUnits) -> ComparedSide:
    mentions = [list(items.values()) for items in own]
    found = [overlaps(group) for group in mentions]
    unit = [units.of(i, group) for i, group in enumerate(mentions)]
    return ComparedSide(
        mentions=[mention for group in mentions for mention in group],
        document=np.repeat(np.arange(len(mentions)), [len(group) for group in mentions]),
        unit=np.concatenate([np.zeros(0, np.int64), *unit]),
        hit=np.array([key in there for here, there in zip(own, other, strict=True) for key in here], np.bool_),
        overlaps=Overlaps(*(np.concatenate(flags) for flags in zip(overlaps([]), *found, strict=True))),
        duplicates=sum(items.duplicates for items in own),
    )


# Overlaps of mentions: nested, crossing and discontiguous ones, by their characters, without regard to types.

Bools = NDArray[np.bool_]


class Overlaps(NamedTuple):
    """Kinds of overlap of M mentions; a mention may be of several kinds.

    Two mentions *overlap* if they share a character. If one of them then covers all that the other covers, both are
    *nested* (also two mentions of the same characters and different types); if not, both are *crossing*. A mention in
    the gap of another shares no character with it, and is neither.

    Args:
        nested: (M,) contains a mention, or is contained in one.
        crossing: (M,) shares characters with a mention, and neither contains the other.
        discontiguous: (M,) has more than one span.
    """

    nested: Bools
    crossing: Bools
    discontiguous: Bools

    @property
    def overlapping(self) -> Bools:
        """(M,) bool, the mention shares a character with another."""
        return self.nested | self.crossing

    @property
    def flat(self) -> Bools:
        """(M,) bool, the mention is of none of the three kinds."""
        return ~(self.nested | self.crossing | self.discontiguous)


def overlaps(mentions: Sequence[Mention]) -> Overlaps:
    """Find the nested, the crossing and the discontiguous ones among the mentions of one text.

    The mentions are sorted by their start; each is compared, in numpy, to those whose extent (first start to last
    end) meets its own, which are found by bisection. Time is O(M log M) plus the pairs compared.

    Args:
        mentions: M different ones (no two with the same type and spans); spans joined as by `join_spans`.

    >>> pain, chest, chest_pain = [(6, 10)], [(0, 5)], [(0, 10)]
    >>> found = overlaps([Mention("problem", pain), Mention("part", chest), Mention("problem", chest_pain)])
    >>> found.nested.tolist(), found.crossing.tolist()
    ([True, True, True], [False, False, False])
    """
    nested = np.zeros(len(mentions), np.bool_)
    crossing = np.zeros(len(mentions), np.bool_)
    discontiguous = np.array([len(mention.spans) > 1 for mention in mentions], np.bool_)
    if not len(mentions):
        return Overlaps(nested, crossing, discontiguous)
    order = np.argsort([mention.start for mention in mentions], kind="stable")
    ordered = [mentions[i] for i in order.tolist()]
    spans, first = flatten(ordered)
    size = np.add.reduceat(spans[:, 1] - spans[:, 0], first)
    bounds = np.append(first, len(spans))
    # the range of the mentions that the extent of each may meet
    starts, ends = (np.array([getattr(one, side) for one in ordered], np.int64) for side in ("start", "end"))
    own = np.arange(len(ordered))  # which an empty one would not meet
    low = np.minimum(np.searchsorted(np.maximum.accumulate(ends), starts, side="right"), own)
    high = np.maximum(np.searchsorted(starts, ends, side="left"), own + 1)
    for i in np.flatnonzero(high - low > 1).tolist():
        window = slice(low[i], high[i])
        common = shared(spans[bounds[low[i]] : bounds[high[i]]], first[window] - first[low[i]], ordered[i].spans)
        common[i - low[i]] = 0
        contains = (common == size[i]) | (common == size[window])
        nested[order[i]] = bool(np.any(contains & (common > 0)))
        crossing[order[i]] = bool(np.any(~contains & (common > 0)))
    return Overlaps(nested, crossing, discontiguous)


def flatten(mentions: Sequence[Mention]) -> tuple[Ints, Ints]:
    """Return the spans of M mentions in one array.

    Returns:
        (S, 2) start and end of each span; (M,) the row of each mention's first span.
    """
    spans = np.array([span for mention in mentions for span in mention.spans], np.int64).reshape(-1, 2)
    sizes = [len(mention.spans) for mention in mentions]
    return spans, np.cumsum([0, *sizes[:-1]])


def shared(spans: Ints, first: Ints, own: Sequence[Span]) -> Ints:
    """Count the characters (M,) that each of the flattened mentions shares with one mention of the spans ``own``."""
    common = np.zeros(len(spans), np.int64)
    for start, end in own:
        common += np.maximum(np.minimum(spans[:, 1], end) - np.maximum(spans[:, 0], start), 0)
    return np.asarray(np.add.reduceat(common, first), np.int64)


# Partial matches and kinds of error.
#
# Mentions that do not match exactly are paired in this order, one to one:
#
# 0. *head* error, where heads are compared: same type and spans, another head.
# 1. *boundary* error: same type, at least one character shared. As many pairs as possible (a maximum matching, so that
#    the count depends neither on the order of the mentions nor on which side is called gold).
# 2. *type* error: same spans, another type.
# 3. Remaining gold mentions are *missed*, remaining predicted ones are *spurious*.
#
# The partial score is that of MUC: an exact match counts 1, a boundary error 1/2, for precision and for recall. It is
# not the measure *partial* of SemEval-2013 task 9, which does not look at types. Where heads are compared, a head
# error counts 1/2, too.


class Errors(NamedTuple):
    """The errors of a prediction, as rows of the two sides of a `MentionComparison`.

    Args:
        head: (A, 2) gold and predicted mention of each head error.
        boundary: (B, 2) gold and predicted mention of each boundary error.
        type: (C, 2) gold and predicted mention of each type error.
        missed: (D,) gold mentions.
        spurious: (E,) predicted mentions.
    """

    head: Ints
    boundary: Ints
    type: Ints
    missed: Ints
    spurious: Ints


def errors(comparison: MentionComparison) -> Errors:
    """Sort the mentions that do not match exactly into kinds of error."""
    gold, predicted = comparison.gold, comparison.predicted
    missed, spurious = _rest(gold, np.flatnonzero(~gold.hit)), _rest(predicted, np.flatnonzero(~predicted.hit))
    heads = _pair_equal(gold, missed, predicted, spurious, lambda mention: mention.key)
    missed, spurious = _without(missed, heads[:, 0]), _without(spurious, heads[:, 1])
    columns, rows = _edges(gold, missed, predicted, spurious)
    match = largest_matching(rows, columns, (len(missed), len(spurious)))
    paired = np.flatnonzero(match >= 0)
    boundary = np.stack([missed[paired], spurious[match[paired]]], axis=1)
    missed, spurious = _without(missed, boundary[:, 0]), _without(spurious, boundary[:, 1])
    types = _pair_equal(gold, missed, predicted, spurious, lambda mention: mention.spans)
    return Errors(heads, boundary, types, _without(missed, types[:, 0]), _without(spurious, types[:, 1]))


def _rest(side: ComparedSide, rows: Ints) -> Ints:
    """Return the rows without a hit, in an order that depends on their content alone."""

    def place(row: int) -> tuple[object, ...]:
        one = side.mentions[row]
        return int(side.document[row]), one.spans, one.type, one.head or (), row

    return np.array(sorted(rows.tolist(), key=place), np.int64)


def _without(rows: Ints, used: Ints) -> Ints:
    return rows[~np.isin(rows, used)]


def _place(side: ComparedSide, row: int) -> tuple[int, str]:
    return int(side.document[row]), side.mentions[row].type


def _edges(gold: ComparedSide, missed: Ints, predicted: ComparedSide, spurious: Ints) -> tuple[Ints, Ints]:
    """Return the possible boundary errors as positions in ``missed`` and in ``spurious``."""
    candidates: dict[tuple[int, str], list[int]] = defaultdict(list)
    for j, row in enumerate(spurious.tolist()):
        candidates[_place(predicted, row)].append(j)
    flat = {
        place: (np.array(there), *flatten([predicted.mentions[spurious[j]] for j in there]))
        for place, there in candidates.items()
    }
    columns, rows = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for i, row in enumerate(missed.tolist()):
        place = _place(gold, row)
        if place in flat:
            there, spans, first = flat[place]
            columns.append(there[shared(spans, first, gold.mentions[row].spans) > 0])
            rows.append(np.full(len(columns[-1]), i))
    return np.concatenate(columns), np.concatenate(rows)


def _pair_equal(
    gold: ComparedSide, missed: Ints, predicted: ComparedSide, spurious: Ints, part: Callable[[Mention], Hashable]
) -> Ints:
    """Pair mentions of which a part is equal, one to one."""
    waiting: dict[tuple[int, Hashable], list[int]] = defaultdict(list)
    for row in spurious.tolist():
        waiting[int(predicted.document[row]), part(predicted.mentions[row])].append(row)
    pairs = []
    for row in missed.tolist():
        rows = waiting.get((int(gold.document[row]), part(gold.mentions[row])))
        if rows:
            pairs.append((row, rows.pop(0)))
    return np.array(pairs, np.int64).reshape(-1, 2)
