"""Tokens split at patterns of characters, where an annotation cuts tokens and the tokenizer does not.

A pattern is text with one bar, where the token is cut, in a small language without repetition or alternatives:

- ``a|A`` is between characters of these classes, one or two on each side: ``a`` and ``A`` a small and a capital
  letter, ``ω`` and ``Ω`` Greek ones, ``x`` a letter of a script without capitals, ``0`` a digit, a blank white space;
  any other character means itself, as in ``-|a``.
- ``<anti|`` is after exactly these characters at the start of a word, ``|-induced>`` before them at its end.

No cut is made before a mark, such as an accent, or beside white space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch, Document, Offsets
from spanloom.errors import DataError, clip
from spanloom.hashing import code_points
from spanloom.modelfile import Described, ModelPart, Within
from spanloom.sparse import distinct_numbers
from spanloom.text.characters import MARKS
from spanloom.text.patterns import pattern

Codes = NDArray[np.uint32]
Flags = NDArray[np.bool_]

WIDEST: Final = 2
"""Classes on each side of a cut, at most."""
LONGEST: Final = 10
"""Characters of a word's start or end, at most."""
MOST: Final = 64
"""Patterns of a splitter, at most."""
_LETTERS: Final = "aAωΩx0"  # the classes of what words are made of
_RESERVED: Final = "<>|"
_PADDING: Final = LONGEST + WIDEST  # characters before and after a text, so that none needs to look whether it ends
_COMMON: Final = 0x600  # Latin, Greek, Cyrillic, Hebrew: looked up in a table
_MARK: Final = pattern(f"[{MARKS}]")


def class_of(character: str) -> str:
    """Return the class of a character: one of ``aAωΩx0``, a blank, or the character itself.

    >>> [class_of(character) for character in "pΔ5患-"]
    ['a', 'Ω', '0', 'x', '-']
    """
    if character.isdigit():
        return "0"
    if not character.isalpha():
        return " " if character.isspace() else character
    greek = "\u0370" <= character <= "\u03ff" or "\u1f00" <= character <= "\u1fff"
    if character.isupper():
        return "Ω" if greek else "A"
    if character.islower():
        return "ω" if greek else "a"
    return "x"


class CutPattern(NamedTuple):
    """Characters before and after a cut; see the module.

    >>> CutPattern.of("a|A"), CutPattern.of("<anti|")
    (CutPattern(left='a', right='A'), CutPattern(left='<anti', right=''))
    """

    left: str
    right: str

    @classmethod
    def of(cls, text: str) -> CutPattern:
        """Read a pattern.

        Raises:
            DataError: it is invalid.

        >>> CutPattern.of("[a-z]|A")
        Traceback (most recent call last):
        spanloom.errors.DataError: invalid pattern '[a-z]|A'; expected one such as 'a|A', '<anti|' or '|-induced>'
        """
        left, bar, right = text.partition("|")
        pattern = cls(left, right)
        if not bar or not (pattern._is_affix() if pattern.affix else _is_classes(left) and _is_classes(right)):
            expected = "expected one such as 'a|A', '<anti|' or '|-induced>'"
            raise DataError(f"invalid pattern {clip(text)}; {expected}")
        return pattern

    def __str__(self) -> str:
        return f"{self.left}|{self.right}"

    @property
    def affix(self) -> str:
        """The very characters at a word's start or end; empty for a pattern of classes."""
        return "" if self.left and self.right else self.left[1:] or self.right[:-1]

    def _is_affix(self) -> bool:
        edge = self.left[:1] == "<" if self.left else self.right[-1:] == ">"
        return edge and 2 <= len(self.affix) <= LONGEST and not any(c in _RESERVED or c.isspace() for c in self.affix)


def _is_classes(side: str) -> bool:
    return 1 <= len(side) <= WIDEST and all(c not in _RESERVED and (c in _LETTERS or class_of(c) == c) for c in side)


class Characters:
    """The characters of a batch's documents, from first to last token of each, in one array, and where cuts may be.

    Args:
        batch: D documents with T tokens.

    Attributes: ``text``, all of it as a string of C characters; ``points``, (C,) of each character itself; ``base``,
    (D,) the number to add to a document's offsets for a place here, and ``limits``, (D, 2) the first and last offsets
    that are included.
    """

    def __init__(self, batch: Batch) -> None:
        first, last = batch.starts[:-1], batch.starts[1:]
        full = np.flatnonzero(last > first)
        low, high = np.zeros((2, len(first)), np.int64)
        if full.size:
            low[full] = np.minimum.reduceat(batch.tokens[:, 0], first[full])
            high[full] = np.maximum.reduceat(batch.tokens[:, 1], first[full])
        self.limits = np.stack((low, high), 1)
        lengths = high - low + 1
        self.base = _PADDING + lengths.cumsum() - lengths - low
        pieces = [d.text[a:b] for d, a, b in zip(batch.documents, low.tolist(), high.tolist(), strict=True)]
        self.text = "\n" * _PADDING + "".join(piece + "\n" for piece in pieces) + "\n" * _PADDING
        self.points: Codes = code_points(self.text)
        self.tokens = batch.tokens + np.repeat(self.base, last - first)[:, None]

    def matches(self, pattern: CutPattern) -> Offsets:
        """Return the places of cuts, in order."""
        if pattern.left and pattern.right:
            symbols = list(enumerate(pattern.left + pattern.right, -len(pattern.left)))
            itself = next(((offset, symbol) for offset, symbol in symbols if symbol not in f" {_LETTERS}"), None)
            if itself is not None:  # a character, which is found without the classes of all others
                places: Offsets = np.flatnonzero(self.points == ord(itself[1])) - itself[0]
            else:
                places = self._changes if pattern.left[-1] != pattern.right[0] else self._inner
            for offset, symbol in symbols:
                places = places[_look_up(self.points[places + offset])[0] == ord(symbol)]
            return places if itself is None else places[self.allowed(places)]
        literal = pattern.affix
        starts = self._word_starts if pattern.left else self._word_ends - len(literal)
        for k, character in enumerate(literal):
            starts = starts[self.points[starts + k] == ord(character)]
        places = starts + len(literal) if pattern.left else starts
        return places[self.allowed(places)]

    def allowed(self, places: Offsets) -> Flags:
        """Return before which of some characters a cut may be: within a token, not beside a blank or before a mark."""
        starts, ends = self._borders
        within = starts.searchsorted(places) > ends.searchsorted(places, side="right")
        (classes, marks), (before, _) = _look_up(self.points[places]), _look_up(self.points[places - 1])
        allowed: Flags = within & (classes != ord(" ")) & (before != ord(" ")) & ~marks
        return allowed

    @cached_property
    def _borders(self) -> tuple[Offsets, Offsets]:
        """Starts and ends of the tokens, each ascending; a token that is empty ends behind its start."""
        starts, ends = self.tokens.T
        return _sorted(starts), _sorted(np.maximum(ends, starts + 1))

    @cached_property
    def classes(self) -> Codes:
        """(C,) of each character its class."""
        return _look_up(self.points)[0]

    @cached_property
    def _inner(self) -> Offsets:
        places = np.arange(_PADDING, len(self.points))
        return places[self.allowed(places)]

    @cached_property
    def _changes(self) -> Offsets:
        inner: Offsets = self._inner
        return inner.compress(self.classes[inner] != self.classes[inner - 1])

    @cached_property
    def _words(self) -> Flags:
        return np.isin(self.classes, np.array([ord(letter) for letter in _LETTERS], np.uint32))

    @cached_property
    def _word_starts(self) -> Offsets:
        starts = self._words & ~np.roll(self._words, 1)
        starts[self.tokens[:, 0]] |= self._words[self.tokens[:, 0]]
        return np.flatnonzero(starts)

    @cached_property
    def _word_ends(self) -> Offsets:
        ends = np.roll(self._words, 1) & ~self._words
        ends[self.tokens[:, 1]] |= self._words[self.tokens[:, 1] - 1]
        return np.flatnonzero(ends)


class _Described(Described):
    """Values of a splitter in a model file."""

    patterns: Annotated[list[str], Within(0, MOST)]


@dataclass(frozen=True)
class Splitter:
    """Patterns at which tokens are split; without any, nothing is.

    >>> document = Document("anti-tumor", tokens=[[0, 10]], sentences=[[0, 1]], columns={"pos": ["JJ"]})
    >>> [split] = Splitter((CutPattern.of("-|a"),)).split([document])
    >>> split.words, split.sentences.tolist(), split.columns
    (['anti-', 'tumor'], [[0, 2]], {'pos': ['JJ', 'JJ']})
    """

    patterns: tuple[CutPattern, ...] = ()

    def to_part(self) -> ModelPart | None:
        """Return it as a part of a model file; ``None`` without patterns."""
        return _Described(patterns=list(map(str, self.patterns))).part() if self.patterns else None

    @classmethod
    def from_part(cls, part: ModelPart) -> Splitter:
        """Return what `to_part` gave.

        Raises:
            ModelError, DataError: it holds no patterns; `spanloom.modelfile.damaged` makes one error of both.
        """
        return cls(tuple(map(CutPattern.of, part.read(_Described).patterns)))

    def split(self, documents: Sequence[Document]) -> list[Document]:
        """Return prepared documents; of those with tokens that are split, copies. A token's parts have its columns."""
        return list(self.split_batch(Batch.of(documents)).documents) if self.patterns else list(documents)

    def split_batch(self, batch: Batch) -> Batch:
        """Return the batch with split tokens, also in its documents; the batch itself where no token is split."""
        if not self.patterns:
            return batch
        characters = Characters(batch)
        places = distinct_numbers(np.concatenate([characters.matches(pattern) for pattern in self.patterns]))
        if not len(places):
            return batch
        parts = _Parts.of(characters.tokens, places)
        bounds = parts.bounds[batch.starts]
        tokens = parts.tokens - np.repeat(characters.base, np.diff(bounds))[:, None]
        documents = [
            _with_parts(document, _Parts(tokens[a:b], parts.bounds[first : end + 1] - a))
            for document, (first, end), (a, b) in zip(
                batch.documents, pairwise(batch.starts.tolist()), pairwise(bounds.tolist()), strict=True
            )
        ]
        columns = {name: parts.values(values) for name, values in batch.columns.items()}
        return Batch(tuple(documents), tokens, parts.bounds[batch.sentences], batch.firsts, columns)


class _Parts(NamedTuple):
    """T tokens in P parts.

    Args:
        tokens: (P, 2) the parts.
        bounds: (T + 1,) the first part of each token, and P.
    """

    tokens: Offsets
    bounds: Offsets

    @classmethod
    def of(cls, tokens: Offsets, places: Offsets) -> _Parts:
        """Cut (T, 2) tokens at places, which are in order."""
        before = np.searchsorted(places, tokens[:, 0], side="right")
        cuts = np.maximum(np.searchsorted(places, tokens[:, 1]) - before, 0)  # within each token
        bounds, found = np.append(0, (cuts + 1).cumsum()), np.repeat(tokens, cuts + 1, axis=0)
        few = np.flatnonzero(cuts)
        count = cuts[few]
        rank = np.arange(count.sum()) - np.repeat(count.cumsum() - count, count)
        part = np.repeat(bounds[few], count) + rank
        found[part, 1] = found[part + 1, 0] = places[np.repeat(before[few], count) + rank]
        return cls(found, bounds)

    def values(self, column: Sequence[str]) -> list[str]:
        """Return the values of a column of tokens for the parts."""
        return [column[i] for i in np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds)).tolist()]


def _with_parts(document: Document, parts: _Parts) -> Document:
    """Return the prepared document with parts of its tokens; itself, where there are as many.

    Raises:
        DataError: a column has more or fewer values than there are tokens.
    """
    if len(parts.tokens) == document.token_count or document.sentences is None:
        return document
    for name, values in document.columns.items():
        if len(values) != document.token_count:
            raise DataError(
                f"document {clip(document.id)} has {len(values)} values in column {name!r}, expected "
                f"{document.token_count}, one a token"
            )
    columns = {name: parts.values(values) for name, values in document.columns.items()}
    return document.copy(tokens=parts.tokens, sentences=parts.bounds[document.sentences], columns=columns)


def split_at_mentions(document: Document) -> Document:
    """Return a prepared document whose tokens are split where its mentions and their heads begin or end inside them.

    >>> from spanloom.document import Mention
    >>> document = Document("anti-tumor", tokens=[[0, 10]], sentences=[[0, 1]], mentions=[Mention("x", [(5, 10)])])
    >>> split_at_mentions(document).words
    ['anti-', 'tumor']
    """
    if document.tokens is None:
        return document
    spans = [span for m in document.mentions for span in (*m.spans, *([m.head] if m.head else []))]
    return _with_parts(document, _Parts.of(document.tokens, distinct_numbers(np.array(spans, np.int64).ravel())))


@dataclass
class SplittingStream:
    """Splits the batches of a stream of documents, and joins again in predictions what no mention needs split.

    Args:
        splitter: what splits.
        notice: called once, where tokens that a document brought stay split.
    """

    splitter: Splitter
    notice: Callable[[str], object]
    _given: Sequence[Document] = field(default=(), init=False)  # those of the batch at hand
    _whole: Sequence[Document] = field(default=(), init=False)  # with tokens, before these were split
    _splits = _warned = False

    def split(self, batch: Batch, given: Sequence[Document]) -> Batch:
        """Split a batch of documents, which may have brought tokens as they were given."""
        self._whole, self._given = batch.documents, given
        split = self.splitter.split_batch(batch)
        self._splits = split is not batch
        return split

    def predicted(self, placed: Callable[[], Iterable[Document]]) -> Sequence[Document]:
        """Return the documents of the batch as of `join`, of which ``placed`` gives those with mentions where needed.

        Without split tokens these are the documents of the batch themselves, without predicted mentions.
        """
        return list(self.join(placed())) if self._splits else self._whole

    def join(self, predicted: Iterable[Document]) -> Iterator[Document]:
        """Yield the predicted documents of the batch with their first tokens, split where mentions begin or end."""
        for document, whole, given in zip(predicted, self._whole, self._given, strict=True):
            if document.tokens is whole.tokens:
                yield document
                continue
            found = {"mentions": document.mentions, "meta": document.meta, "sections": document.sections}
            joined = split_at_mentions(whole.copy(**found))
            if given.tokens is not None and not self._warned and joined.token_count > whole.token_count:
                self._warned = True
                self.notice(
                    f"document {clip(document.id)} brings tokens that mentions are found in a part of; they are split "
                    "in what is predicted, here and elsewhere"
                )
            yield joined


def _sorted(places: Offsets) -> Offsets:
    """Return places in order, in which they mostly are."""
    return places if (places[1:] >= places[:-1]).all() else np.sort(places)


def _look_up(points: Codes) -> tuple[Codes, Flags]:
    """Return the class of each character, and whether it is a mark; each rare character is looked at once."""
    common = np.minimum(points, _COMMON)
    classes, marks = _CLASSES[common], _MARKS[common]
    rare = np.flatnonzero(points >= _COMMON)
    if rare.size:
        found, which = np.unique(points[rare], return_inverse=True)
        own, are = _classes(found.tolist())
        classes[rare], marks[rare] = own[which], are[which]
    return classes, marks


def _classes(points: Iterable[int]) -> tuple[Codes, Flags]:
    characters = [chr(point) for point in points]
    classes = np.array([ord(class_of(character)) for character in characters], np.uint32)
    return classes, np.array([bool(_MARK.match(character)) for character in characters], bool)


_CLASSES, _MARKS = _classes(range(_COMMON + 1))
