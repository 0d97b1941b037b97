"""Breakdown of a prediction: confusions of types, and scores by length, by novelty and by section.

Recall counts the gold mentions with a property (of three words, not seen in training, in the section *plan*),
precision the predicted mentions with it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from spanloom.document import Document, Mention, Span
from spanloom.document.span import join_spans
from spanloom.evaluate.compare import MentionComparison, compare, errors, exact
from spanloom.evaluate.measures import Score
from spanloom.evaluate.rows import row, scores
from spanloom.evaluate.units import pair, units, with_sentences
from spanloom.text import SECTIONS, section_names

_LENGTHS = {1: "1 word", 2: "2 words", 3: "3 words", 5: "4 to 5 words", 9: "6 to 9 words"}  # the most words of each
_LONGER = "10 words and more"
_SEEN = ("seen in training", "not seen in training")
_NO_SECTION = "no known heading"

Cell = tuple[str | None, str | None]


class Breakdown(NamedTuple):
    """Right and wrong parts of a prediction.

    Args:
        confusions: (gold type, predicted type) -> mentions. Each gold mention counts once: with its own type, its spans
            right or not; with another type, its spans right; with ``None`` if it is missed. So does each predicted one,
            with ``None`` for the gold type if it is no mention.
        borders: type -> the number of those with their own type that have wrong spans.
        lengths: words -> score.
        seen: whether a mention of these words and this type occurs in the training data -> score; empty without
            training data.
        sections: name of a section -> score; empty if no document has headings.
    """

    confusions: dict[Cell, int]
    borders: dict[str, int]
    lengths: dict[str, Score]
    seen: dict[str, Score]
    sections: dict[str, Score]


def breakdown(
    gold: Sequence[Document], predicted: Sequence[Document], *, known: Iterable[Document] | None = None
) -> Breakdown:
    """Break a prediction down by confusions of types, by length, by novelty and by section.

    Args:
        gold: N documents.
        predicted: predictions for the same texts.
        known: the training data, whose mentions are not new.

    Raises:
        DataError: a document is missing or extra, or its text differs.

    >>> gold = Document("IL-2 gene and NF-kB", mentions=[Mention("DNA", [(0, 9)]), Mention("protein", [(14, 19)])])
    >>> found = gold.copy(mentions=[Mention("protein", [(0, 9)])])
    >>> breakdown([gold], [found]).confusions
    {('DNA', 'protein'): 1, ('protein', None): 1}
    """
    gold = with_sentences(gold)
    predicted = pair(gold, predicted)
    comparison = compare(gold, predicted, units(gold, predicted), exact)

    def length(number: int, mention: Mention) -> str:
        words = len(words_in(gold[number], mention.spans))
        return next((name for most, name in _LENGTHS.items() if words <= most), _LONGER)

    lengths = _by(comparison, length, [*_LENGTHS.values(), _LONGER])
    seen: dict[str, Score] = {}
    if known is not None:
        surfaces = {(mention.type, _surface(document, mention)) for document in known for mention in document.mentions}
        seen = _by(comparison, lambda i, one: _SEEN[(one.type, _surface(gold[i], one)) not in surfaces], _SEEN)
    known_sections = list(map(_starts_and_sections, gold))

    def section(number: int, mention: Mention) -> str:
        starts, names = known_sections[number]
        return (names[max(bisect_right(starts, mention.start) - 1, 0)] if names else "") or _NO_SECTION

    sections = _by(comparison, section, [*sorted(SECTIONS), _NO_SECTION])
    one, other, kinds = comparison.gold.mentions, comparison.predicted.mentions, errors(comparison)
    borders = Counter(one[i].type for i in kinds.boundary[:, 0].tolist())
    cells = Counter[Cell]()
    cells.update((one[i].type, one[i].type) for i in np.flatnonzero(comparison.gold.hit).tolist())
    cells.update({(name, name): count for name, count in borders.items()})
    cells.update((one[i].type, other[j].type) for i, j in kinds.type.tolist())
    cells.update((one[i].type, None) for i in kinds.missed.tolist())
    cells.update((None, other[j].type) for j in kinds.spurious.tolist())
    sections = {} if [*sections] == [_NO_SECTION] else sections
    return Breakdown(dict(cells), dict(borders), lengths, seen, sections)


def words_in(document: Document, spans: Iterable[Span]) -> set[int]:
    """Return the numbers of the tokens of which spans hold a character.

    >>> from spanloom.text import prepare
    >>> words_in(prepare(Document("no chest pain")), [Span(3, 13)])
    {1, 2}
    """
    if document.tokens is None:
        return set()
    found: set[int] = set()
    for start, end in spans:
        low = int(np.searchsorted(document.tokens[:, 1], start, side="right"))
        found.update(range(low, int(np.searchsorted(document.tokens[:, 0], end, side="left"))))
    return found


def _by(comparison: MentionComparison, name: Callable[[int, Mention], str], order: Sequence[str]) -> dict[str, Score]:
    """Return the scores of the mentions of each name that occurs.

    Args:
        comparison: of gold and predicted mentions.
        name: of a mention, from the number of its document and the mention.
        order: all names, in the order of the scores.
    """
    sides = comparison.gold, comparison.predicted
    gold, predicted = (np.array(list(map(name, side.document.tolist(), side.mentions)), np.object_) for side in sides)
    there = [one for one in order if one in {*gold, *predicted}]
    if not there:
        return {}
    rows = [row(comparison, gold == one, predicted == one) for one in there]
    return dict(zip(there, scores(rows, 1 + max(int(side.unit.max(initial=0)) for side in sides), 0, 0), strict=True))


def _surface(document: Document, mention: Mention) -> str:
    """Return the words of a mention, without regard to case, white space and gaps."""
    parts = join_spans(document.text, mention.spans)
    return " ".join(" ".join(document.text[start:end] for start, end in parts).casefold().split())


def _starts_and_sections(document: Document) -> tuple[list[int], list[str]]:
    """Return the start of each sentence with tokens, and its section."""
    if document.tokens is None or document.sentences is None:
        return [], []
    filled = np.flatnonzero(document.sentences[:, 0] < document.sentences[:, 1])
    names = section_names(document)
    return document.tokens[document.sentences[filled, 0], 0].tolist(), [names[i] for i in filled.tolist()]
