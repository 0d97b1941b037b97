"""Documents as characters: what the chains see, and the words that come of their tags.

A *character* is a code point that is no white space; white space belongs to no word. The chains run over characters, in
a batch whose tokens they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch, Document
from spanloom.errors import DataError, clip
from spanloom.hypergraph import Ints
from spanloom.structures import MentionTable
from spanloom.structures.base import placed_table
from spanloom.text import Phrases, prepare
from spanloom.text.characters import IGNORED, MARKS

Bools = NDArray[np.bool_]
COLUMNS = ("class", "same", "dictionary")
_SHOWN = 20  # characters of quoted text in a message
NO_WORD, MARK, JOINER = 1, 2, 4
_ZERO_WIDTH_JOINER = 0x200D
_LISTS: Final = {
    "numeral": "〇零一二三四五六七八九十百千万亿兩两半几数壹贰叁肆伍陆柒捌玖拾佰仟萬億Ⅰ-Ⅻⅰ-ⅻ①-⑳",
    "time": "年月日号時时分秒点點周週天岁歲",
    "conjunction": "和与與及或并並且伴而但",
    "position": "上下左右前后後内內外中侧側双雙旁间間",
    "negation": "无無未不否非没沒",
}
_LATIN = re.compile("[A-Za-zＡ-Ｚａ-ｚµΑ-Ωα-ωÀ-ɏ]")


class KeptWord(NamedTuple):
    """A word that a dictionary of the user's keeps whole.

    Args:
        first, end: its characters, half-open, counted in the batch.
        type: of the mention that it is, if it must be one.
    """

    first: int
    end: int
    type: str | None


class Characters(NamedTuple):
    """D documents with T characters in N sentences.

    Args:
        batch: whose tokens are characters; its documents are as they were given, with words and sentences.
        first: (T,) where a word must begin: at the beginning of a sentence, and after white space.
        inner: (T,) where none may begin: at marks, at what has no width, and after a zero-width joiner.
        kept: words that must be found; they do not overlap, and conform to ``first`` and ``inner``.
    """

    batch: Batch
    first: Bools
    inner: Bools
    kept: tuple[KeptWord, ...] = ()

    @property
    def offsets(self) -> Ints:
        """(N + 1,) first character of each sentence, counted in the batch."""
        return self.batch.sentences

    def with_columns(self, columns: Mapping[str, Sequence[str]]) -> Characters:
        """With further columns, of one value for each of the T characters."""
        return self._replace(batch=self.batch.with_columns(columns))

    def with_own_columns(self, names: Sequence[str], phrases: Phrases | None = None) -> Characters:
        """With some of `COLUMNS`.

        Args:
            names: of the columns.
            phrases: of the column ``dictionary``, their words being characters.
        """
        texts = [list("".join(document.text.split())) for document in self.batch.documents]
        columns: dict[str, list[str]] = {}
        if "class" in names:
            columns["class"] = [value for text in texts for value in classes(text)]
        if "same" in names:
            columns["same"] = [value for text in texts for value in _same(text)]
        if "dictionary" in names and phrases is not None:
            words, sentences = list(chain.from_iterable(texts)), pairwise(self.offsets.tolist())
            columns["dictionary"] = phrases.column(words, sentences, ends=True)
        return self.with_columns(columns)


def split(documents: Sequence[Document]) -> Characters:
    """Return the characters of documents; sentences are made where they are missing, columns of words are left out.

    >>> found = split([Document("无 发热。", tokens=[[0, 1], [2, 4], [4, 5]], sentences=[[0, 3]])])
    >>> found.batch.tokens[:, 0].tolist(), found.first.tolist()
    ([0, 2, 3, 4], [True, True, False, False])
    """
    prepared = map(prepare, documents)
    ready = [document.copy(columns={}) if document.columns else document for document in prepared]
    text = "".join(document.text for document in ready)
    lengths = np.array([len(document.text) for document in ready], np.int64)
    kinds = flags()[np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.dtype("<u4"))]
    visible = (kinds & NO_WORD) == 0
    ends = lengths.cumsum()
    starts = ends - lengths
    every = np.flatnonzero(visible)
    cuts = np.searchsorted(every, np.append(starts, ends[-1:]))
    after_gap = np.ones(len(every), bool)
    after_gap[1:] = np.diff(every) > 1
    marks = (kinds[every] & MARK) > 0
    marks[1:] |= (kinds[every[:-1]] & JOINER) > 0
    positions = [every[a:b] - start for a, b, start in zip(cuts, cuts[1:], starts, strict=False)]
    sentences = [_sentences(document, where) for document, where in zip(ready, positions, strict=True)]
    begin = [part[:, 0] + cut for part, cut in zip(sentences, cuts, strict=False)]
    offsets = np.concatenate([*begin, [len(every)]]).astype(np.int64)
    after_gap[offsets[:-1]] = True
    places = np.concatenate([np.zeros(0, np.int64), *positions])
    firsts = np.cumsum([0, *map(len, sentences)])
    batch = Batch(tuple(ready), np.stack([places, places + 1], 1), offsets, firsts)
    return Characters(batch, after_gap, marks & ~after_gap)


def word_starts(batch: Batch) -> Bools:
    """(T,) where the documents' own words begin.

    Raises:
        DataError: the words of a document do not add up to its text: a character is in none, or one holds white space.
    """
    parts = [np.zeros(0, bool)]
    for document, positions in zip(batch.documents, positions_of(batch), strict=True):
        tokens = np.zeros((0, 2), np.int64) if document.tokens is None else document.tokens
        inside = np.zeros(len(document.text) + 1, np.int64)
        np.add.at(inside, tokens[:, 0], 1)
        np.add.at(inside, tokens[:, 1], -1)
        held = np.flatnonzero(inside.cumsum())
        if not np.array_equal(held, positions):
            raise _mismatch(document, positions, held)
        starts = np.zeros(len(document.text) + 1, bool)
        starts[tokens[:, 0]] = True
        parts.append(starts[positions])
    return np.concatenate(parts)


def words_at(batch: Batch, begins: Bools) -> MentionTable:
    """The words that begin at (T,) characters."""
    first = np.flatnonzero(begins)
    end = np.append(first[1:], len(begins))[: len(first)]
    return placed_table(batch.sentences, np.zeros(len(first), np.int64), first, end)


def positions_of(batch: Batch) -> list[Ints]:
    """Return the positions of the characters of each document in its text."""
    return np.split(batch.tokens[:, 0], batch.starts[1:-1]) if batch.documents else []


def place_words(batch: Batch, words: MentionTable) -> list[tuple[Ints, Ints]]:
    """Return for each document its words, (W, 2), and its sentences in words."""
    begins = np.zeros(len(batch.tokens), bool)
    begins[batch.sentences[words.sentence] + words.first] = True
    before = np.append(0, begins.cumsum())  # words before each character
    first, starts = np.flatnonzero(begins), batch.starts
    of_document = before[starts]
    ends = np.repeat(starts[1:], np.diff(of_document))
    last = np.minimum(np.append(first[1:], len(begins))[: len(first)], ends) - 1
    tokens = np.stack([batch.tokens[first, 0], batch.tokens[last, 1]], 1)
    bounds = before[batch.sentences]
    shift = np.repeat(of_document[:-1], np.diff(batch.firsts))
    sentences = np.stack([bounds[:-1] - shift, bounds[1:] - shift], 1)
    cuts = zip(pairwise(of_document.tolist()), pairwise(batch.firsts.tolist()), strict=True)
    return [(tokens[a:b], sentences[c:d]) for (a, b), (c, d) in cuts]


def _sentences(document: Document, positions: Ints) -> Ints:
    """(N, 2) the sentences in characters; one that holds no character is left out."""
    tokens, given = document.tokens, document.sentences
    if tokens is None or given is None or not len(positions):
        return np.zeros((0, 2), np.int64)
    if len(given) < 2:
        return np.array([[0, len(positions)]], np.int64)
    starts = tokens[given[1:, 0], 0]
    edges = np.concatenate([[0], np.searchsorted(positions, starts), [len(positions)]]).astype(np.int64)
    filled = np.diff(edges) > 0
    return np.stack([edges[:-1][filled], edges[1:][filled]], 1)


def _same(text: Sequence[str]) -> list[str]:
    """Return for each character whether it is the one before it, or the one before that."""
    codes = np.array(text or [""])
    values = np.full(len(codes), "", "<U1")
    values[2:][codes[2:] == codes[:-2]] = "2"
    values[1:][codes[1:] == codes[:-1]] = "1"
    same: list[str] = values.tolist()
    return same[: len(text)]


def _mismatch(document: Document, positions: Ints, held: Ints) -> DataError:
    missing = np.setdiff1d(positions, held)
    name = f"document {clip(document.id)}: the words do not add up to the text: "
    remedy = "; give words that cover the whole text, white space left out"
    if len(missing):
        at = int(missing[0])
        return DataError(f"{name}{document.text[at : at + _SHOWN]!r} at {at} is in no word{remedy}")
    at = int(np.setdiff1d(held, positions)[0])
    tokens = np.zeros((0, 2), np.int64) if document.tokens is None else document.tokens
    start, end = tokens[np.searchsorted(tokens[:, 1], at, side="right")].tolist()
    return DataError(f"{name}the word {document.text[start:end][:_SHOWN]!r} at {start} holds white space{remedy}")


@lru_cache(1)
def flags() -> NDArray[np.uint8]:
    """Return the class of each code point, a sum of `NO_WORD` (white space), `MARK` and `JOINER`.

    Characters without width or ink are marks: they stay with the character before them.
    """
    table = np.zeros(0x110000, np.uint8)
    everything = "".join(map(chr, range(0x110000)))
    for match in re.finditer(f"[{IGNORED}{MARKS}]+", everything):
        table[match.start() : match.end()] = MARK
    for match in re.finditer(r"\s+", everything):
        table[match.start() : match.end()] = NO_WORD
    table[_ZERO_WIDTH_JOINER] |= JOINER
    return table


def character_class(character: str) -> str:
    """The column ``class``: after Xu et al. (2014), feature set 2.

    >>> [character_class(character) for character in "左三5ｍ，和痛"]
    ['position', 'numeral', 'digit', 'letter', 'punctuation', 'conjunction', '']
    """
    for name, members in _listed().items():
        if character in members:
            return name
    if character.isdigit():
        return "digit"
    if _LATIN.match(character):
        return "letter"
    category = unicodedata.category(character)
    return {"P": "punctuation", "S": "symbol"}.get(category[0], "")


class _Classes(dict[str, str]):
    """Classes of the characters seen so far; a function of the character, so threads may share it."""

    def __missing__(self, character: str) -> str:
        name = self[character] = character_class(character)
        return name


_CLASSES = _Classes()


def classes(characters: Iterable[str]) -> list[str]:
    """The class of each character."""
    return list(map(_CLASSES.__getitem__, characters))


@lru_cache(1)
def _listed() -> dict[str, frozenset[str]]:
    everything = "".join(map(chr, range(0x3000))) + "".join(_LISTS.values())
    return {name: frozenset(re.findall(f"[{members}]", everything)) for name, members in _LISTS.items()}
