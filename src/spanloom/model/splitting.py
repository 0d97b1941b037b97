"""Patterns at which tokens are split, learned where training mentions begin or end inside tokens.

Candidates describe the text around such ends: classes of the nearest characters, and starts and ends of words. The best
is taken, then the best of what is left, and so on (a greedy cover). A pattern is worth the ends that it reaches less a
price for each other place where it would cut. Both are counted on folds: a pattern counts in a fold only where the
others alone would have chosen it, so that what is peculiar to one document brings nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, NamedTuple

import numpy as np

from spanloom.document import Batch, Document
from spanloom.errors import plural
from spanloom.hypergraph import Floats, Ints
from spanloom.learn.folds import FEW, deal, spread
from spanloom.text.splitting import LONGEST, MOST, WIDEST, Characters, CutPattern, Splitter, class_of

_FOLDS = 5
_LEAST = 3.0  # ends that a pattern must bring, less its price
_DOCUMENTS = 5  # that a word's start or end must occur in: a model names no words of fewer, see `docs/privacy.md`
_LOOKED_AT = 50_000  # ends inside tokens that candidates come from
_PRICE: Final = 0.25  # of a cut where no mention begins or ends, in ends that are reached


@dataclass(frozen=True)
class SplittingReport:
    """Report of the patterns at which tokens are split.

    Args:
        patterns: in the order in which they were chosen.
        cutting: mentions of the training data that began or ended inside a token.
        still: those that do so after all splits.
        tokens: of the training data, before.
        parts: after.
    """

    patterns: tuple[str, ...]
    cutting: int
    still: int
    tokens: int
    parts: int

    def lines(self) -> Iterator[str]:
        """Yield the report as lines of text."""
        yield (
            f"tokens are split at {plural(len(self.patterns), 'pattern')}: {'  '.join(self.patterns)}; "
            f"{plural(self.cutting, 'mention')} began or ended inside a token, {self.still:,} still "
            f"{'does' if self.still == 1 else 'do'}; {self.tokens:,} tokens are {self.parts:,}"
        )


class _Candidate(NamedTuple):
    """A pattern and the places where it cuts."""

    pattern: CutPattern
    places: Ints


class _Annotated(NamedTuple):
    """Training data by characters, C of them.

    Args:
        characters: of the documents.
        ends: (C,) how many spans of mentions begin or end before each, inside a token.
        worth: (C,) what a cut before it brings.
        document: (D,) the first character of each document.
        unit: (U,) the first character of each document, or of each sentence where documents are few.
        fold: (U,) of each of these.
        cutting: mentions that begin or end inside a token.
    """

    characters: Characters
    ends: Ints
    worth: Floats
    document: Ints
    unit: Ints
    fold: Ints
    cutting: int

    @classmethod
    def of(cls, batch: Batch, seed: int) -> _Annotated:
        """Count the mentions of a batch's documents."""
        characters = Characters(batch)
        size = len(characters.points)
        numbered = ((i, d) for i, d in enumerate(batch.documents))
        rows = [(i, n, *span) for i, d in numbered for n, m in enumerate(d.mentions) for span in m.spans]
        owner, mention, *spans = np.array(rows, np.int64).reshape(-1, 4).T
        low, high = characters.limits[owner].T
        held = (spans[0] >= low) & (spans[1] <= high)
        owner, mention = owner[held], mention[held]
        start, end = (offset[held] + characters.base[owner] for offset in spans)
        first, last = np.zeros((2, size), bool)
        first[characters.tokens[:, 0]] = last[characters.tokens[:, 1]] = True
        cut = ~first[start] | ~last[end]
        ends = np.bincount(start[~first[start]], minlength=size) + np.bincount(end[~last[end]], minlength=size)
        ends[~characters.allowed(np.arange(len(ends)))] = 0
        worth = np.where(ends > 0, ends, -_PRICE)
        document = characters.base + characters.limits[:, 0]
        unit = document if len(document) >= FEW else np.unique(characters.tokens[batch.sentences[:-1], 0])
        cutting = len(np.unique(np.stack((owner, mention))[:, cut], axis=1).T)
        return cls(characters, ends, worth, document, unit, deal(len(unit), _FOLDS, seed), cutting)


def learn_splitter(documents: Sequence[Document], seed: int) -> tuple[Splitter, SplittingReport | None]:
    """Choose patterns at which it pays to split tokens.

    Args:
        documents: training data, prepared; of much text a part is looked at.
        seed: of the draw of folds.

    Returns:
        A splitter and the report on it; one without patterns, and ``None``, where no mention cuts a token, or where
        nothing pays.

    >>> from spanloom.document import Mention
    >>> words = "anti-tumor anti-HIV anti-CD3".split()
    >>> texts = [Document(word, tokens=[[0, len(word)]], sentences=[[0, 1]]) for word in words * 10]
    >>> data = [text.copy(mentions=[Mention("target", [(5, len(text.text))])]) for text in texts]
    >>> splitter, report = learn_splitter(data, seed=0)
    >>> [str(pattern) for pattern in splitter.patterns], report.cutting, report.still
    (['<anti-|'], 30, 0)
    """
    tokens = sum(document.token_count for document in documents)
    batch = Batch.of(spread(documents, tokens))
    data = _Annotated.of(batch, seed)
    if not data.cutting:
        return Splitter(), None
    splitter = Splitter(tuple(_choose(list(_candidates(data)), data)))
    split = splitter.split_batch(batch)
    if split is batch:
        return Splitter(), None
    still = _Annotated.of(split, seed).cutting
    patterns = tuple(map(str, splitter.patterns))
    return splitter, SplittingReport(patterns, data.cutting, still, len(batch.tokens), len(split.tokens))


def _candidates(data: _Annotated) -> Iterator[_Candidate]:
    """Yield the patterns around ends of mentions that are seen often enough, in different words."""
    seen: dict[CutPattern, set[tuple[str, str]]] = {}
    places = np.flatnonzero(data.ends)
    for place in places[:: len(places) // _LOOKED_AT + 1].tolist():
        word = _word(data.characters.text, place)
        for pattern in _around(data.characters.text, place, word):
            seen.setdefault(pattern, set()).add(word)
    most = data.ends.sum()  # no set of patterns may cost more than it can bring
    for pattern, words in seen.items():
        if len(words) > 1:
            found = data.characters.matches(pattern)
            right = found[data.ends[found] > 0]
            least, of = (_DOCUMENTS, data.document) if pattern.affix else (2, data.unit)
            if len(np.unique(np.searchsorted(of, right, side="right"))) >= least and data.worth[found].sum() > -most:
                yield _Candidate(pattern, found)


def _word(text: str, place: int) -> tuple[str, str]:
    """Return the parts of a word before and after a place: letters and digits, and a mark beside the place."""
    start, end = place, place
    if not text[place - 1].isalnum():
        start -= 1
    elif not text[place].isalnum():
        end += 1
    while text[start - 1].isalnum() and place - start <= LONGEST:
        start -= 1
    while text[end].isalnum() and end - place <= LONGEST:
        end += 1
    return text[start:place], text[place:end]


def _around(text: str, place: int, word: tuple[str, str]) -> Iterator[CutPattern]:
    """Yield the patterns that cut here."""
    before, after = word
    if 2 <= len(before) <= LONGEST and before[0].isalnum():
        yield CutPattern("<" + before, "")
    if 2 <= len(after) <= LONGEST and after[-1].isalnum():
        yield CutPattern("", after + ">")
    for left, right in product(range(1, WIDEST + 1), repeat=2):
        near = "".join(map(class_of, text[place - left : place + right]))
        yield CutPattern(near[:left], near[left:])


def _choose(candidates: list[_Candidate], data: _Annotated) -> Iterator[CutPattern]:
    """Yield the patterns that bring most, each counted where no earlier one cuts."""
    for _ in range(MOST):
        values = [_value(candidate, data) for candidate in candidates]
        if not values or max(values) < _LEAST:
            return
        best = candidates[int(np.argmax(values))]
        yield best.pattern
        left = (_Candidate(each, np.setdiff1d(places, best.places, True)) for each, places in candidates)
        candidates = [candidate for candidate in left if len(candidate.places)]


def _value(candidate: _Candidate, data: _Annotated) -> float:
    """Return what a pattern brings on folds whose others would have chosen it."""
    worth = data.worth[candidate.places]
    fold = data.fold[np.searchsorted(data.unit, candidate.places, side="right") - 1]
    folds = np.bincount(fold, worth, _FOLDS)
    return float(folds[folds.sum() - folds >= _LEAST].sum())
