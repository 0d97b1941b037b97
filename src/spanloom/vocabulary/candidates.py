"""Candidates: the concepts that a mention's text may mean, searched among all names of a vocabulary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from spanloom.errors import UsageError
from spanloom.hashing import hashes, numbered
from spanloom.native import Kernel
from spanloom.sparse import changes, places_of, row_offsets
from spanloom.vocabulary.cosine import CosineIndex, TermWeights, Vectors
from spanloom.vocabulary.folding import pieces, text_form, text_keys
from spanloom.vocabulary.key_table import Hits, KeyTable, damaged
from spanloom.vocabulary.lexicon import CLOSE, KEPT, LOOSE, Lexicon, lexicon_of
from spanloom.vocabulary.memory import Memory
from spanloom.vocabulary.store import Vocabulary, take_numbers

EXACT, FOLDED, MEMORY, TRIGRAM, EDIT, LOOSELY = 1, 2, 4, 8, 16, 32


__all__ = ["EDIT", "EXACT", "FOLDED", "LOOSELY", "MEMORY", "METHODS", "TRIGRAM", "CandidateFinder", "Candidates"]

METHODS: Final[Mapping[str, str | None]] = MappingProxyType({"best": "both", "trigram": "close", "edit": None})
"""Methods of search, each with its kind of vectors, see `spanloom.vocabulary.cosine`; none for edit distance."""

Keys = NDArray[np.uint64]
_best_concepts = Kernel("best_concepts")
_TEXTS: Final = 64  # compared at a time: RapidFuzz is faster for several, and the table of similarities stays small
_CACHED: Final = 200_000  # texts whose concepts are cached, at most
_Best = tuple[int, NDArray[np.int32], NDArray[np.float32]]  # how many were asked for; rows and scores


# Scores of the ways of `best`, by degree of folding and by the cosine: of names, with what each way is called, and of
# the memory; chosen on the development data of BC5CDR and of the NCBI corpus. The choice is flat: docs/candidates.md.
_NAMED: Final = ((0.8, EXACT), (0.8, FOLDED), (0.5, LOOSELY), (0.7, TRIGRAM))
_REMEMBERED: Final = (0.95, 0.95, 0.5, 0.8)
_LEXICON: Final = "lexicon."  # arrays of the names


class CandidateFinder:
    """Finds the concepts that texts of mentions may mean.

    - ``best`` joins a dictionary of names, as written and folded (`spanloom.vocabulary.folding`), the memory of
      training mentions, as written and folded, and the nearest names and remembered mentions by the cosine of
      trigrams. What several ways find counts more: ``1 - product of (1 - score)``.
    - ``trigram`` is the cosine of trigrams with the names alone.
    - ``edit`` is equation 2 of Lou et al. (2017): `EditSearch`, with the synonyms that the memory has.

    Each way is exact: no concept that it leaves out is better than one that it gives. ``best`` takes the best 2 k of
    each way.

    Args:
        vocabulary: V concepts.
        memory: of training mentions; its concepts are numbers of the vocabulary's.
        k: candidates of a query at most.
        method: ``best``, ``trigram`` or ``edit``.

    >>> from spanloom.vocabulary import Concept
    >>> vocabulary = Vocabulary.build([
    ...     Concept("MESH:D007674", "Kidney Diseases"),
    ...     Concept("MESH:D051437", "Renal Insufficiency", ("Kidney Failure",)),
    ... ])
    >>> finder = CandidateFinder(vocabulary, Memory({"nephrotoxicity": {(0,): 3}}))
    >>> found = finder.find(["Nephrotoxicity", "AKF"], [None, "acute kidney failure"])
    >>> [vocabulary[number].id for number in found.concept], found.ptr.tolist()
    (['MESH:D007674', 'MESH:D051437', 'MESH:D051437', 'MESH:D007674'], [0, 2, 4])
    """

    def __init__(
        self, vocabulary: Vocabulary, memory: Memory | None = None, *, k: int = 10, method: str = "best"
    ) -> None:
        if k < 1:
            raise UsageError(f"found k = {k}, expected at least one candidate of a mention")
        if method not in METHODS:
            raise UsageError(f"found the method {method!r}, expected one of {', '.join(METHODS)}")
        if method not in vocabulary.indexes:
            names, kind = vocabulary.names, METHODS[method]
            vocabulary.indexes[method] = (
                EditSearch(names, vocabulary.name_concept)
                if kind is None
                else TextIndex.build(names, lexicon_of(vocabulary), kind=kind)
            )
        self.vocabulary, self.memory, self.k, self.method = vocabulary, memory, k, method
        self._index: TextIndex | EditSearch = vocabulary.indexes[method]
        self._remembered = None
        if memory is not None and isinstance(self._index, TextIndex) and method == "best":
            rows = memory.rows
            self._remembered = TextIndex.build(
                rows.texts, Lexicon.of_names(rows.texts, rows.concept), self._index.cosine.weights
            )

    @property
    def lexicon(self) -> Lexicon:
        """Of the vocabulary's names."""
        return lexicon_of(self.vocabulary)

    def with_memory(self, memory: Memory | None) -> CandidateFinder:
        """The same with another memory; the vocabulary's index is shared, so this is quick."""
        return CandidateFinder(self.vocabulary, memory, k=self.k, method=self.method)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The index of the vocabulary's names, to be saved; the memory has arrays of its own."""
        lexicon = self.lexicon.arrays(_LEXICON)
        return lexicon | self._index.arrays() if isinstance(self._index, TextIndex) else lexicon

    @classmethod
    def from_arrays(
        cls,
        vocabulary: Vocabulary,
        arrays: Mapping[str, NDArray[Any]],
        memory: Memory | None = None,
        *,
        k: int = 10,
        method: str = "best",
    ) -> CandidateFinder:
        """Restore a finder from `arrays`, for the same vocabulary and method; several times faster than building one.

        Raises:
            ModelError: the arrays are not from `arrays` of a vocabulary of this size.
        """
        if arrays:  # else they are made again
            lexicon = vocabulary.indexes[KEPT] = Lexicon.from_arrays(arrays, _LEXICON, vocabulary.name_concept)
            if (kind := METHODS.get(method)) is not None:
                vocabulary.indexes[method] = TextIndex.from_arrays(vocabulary.names, lexicon, kind, arrays)
        return cls(vocabulary, memory, k=k, method=method)

    def find(self, texts: Sequence[str], expansions: Sequence[str | None] | None = None) -> Candidates:
        """The candidates of some mentions.

        Args:
            texts: Q texts of mentions. Equal ones are searched once.
            expansions: of each, the text with its abbreviations written out, or ``None``; a concept gets the better of
                the two scores. See `spanloom.text.abbreviations`.
        """
        ways, query, text = self._searched(texts, expansions)
        return join(ways, query, text, len(texts), self.k)

    def find_apart(
        self, texts: Sequence[str], expansions: Sequence[str | None] | None = None
    ) -> tuple[Candidates, Candidates]:
        """The candidates of some mentions by names of the vocabulary, and those by the memory, apart.

        A memory outscores names: where both are joined, `k` candidates may hold none whose name fits best. The
        arguments are those of `find`.

        Raises:
            UsageError: the method is not ``best``, or there is no memory.
        """
        if self._remembered is None:
            raise UsageError("candidates apart need a memory and the method 'best'; use find in place of find_apart")
        ways, query, text = self._searched(texts, expansions)
        names, memory = (
            join(part, query, text, len(texts), self.k) for part in (ways[: len(_NAMED)], ways[len(_NAMED) :])
        )
        return names, memory

    def _searched(
        self, texts: Sequence[str], expansions: Sequence[str | None] | None
    ) -> tuple[list[FoundPairs], NDArray[np.int64], NDArray[np.int64]]:
        """Search each distinct text once; return what each way finds, and pairs of a query and one of its texts."""
        if expansions is None:
            expansions = [None] * len(texts)
        forms = [[text] if long is None else [text, long] for text, long in zip(texts, expansions, strict=True)]
        distinct, text = numbered([form for pair in forms for form in pair])
        query = np.repeat(np.arange(len(forms)), [len(pair) for pair in forms])
        return self._ways(distinct), query, text

    def _ways(self, texts: list[str]) -> list[FoundPairs]:
        if isinstance(self._index, EditSearch):
            return [self._edit(self._index, texts)]
        words, index = pieces(texts), self._index
        vectors = index.cosine.weights.vectors(words)
        if self.method == "trigram":
            return [self._named(index.nearest(vectors, self.k), 1.0, TRIGRAM)]
        keys = text_keys(words)
        found = index.find(texts, keys, vectors, 2 * self.k)
        ways = [self._named(hits, *how) for hits, how in zip(found, _NAMED, strict=True)]
        if self._remembered is None:
            return ways
        # of the memory, the first of the three degrees with hits gives the shares of training mentions
        *written, near = self._remembered.find(texts, keys, vectors, 2 * self.k)
        free = np.ones(len(texts), np.bool_)
        for hits, score in zip(written, _REMEMBERED, strict=False):
            pairs = self._shared(hits, score)
            ways.append(pairs._replace(share=np.where(free[pairs.text], pairs.share, 0)))
            free &= np.diff(hits.ptr) == 0
        concept, nowhere = self._remembered.lexicon.concept[near.name], np.full(len(near.name), -1, np.int32)
        return [*ways, _found(near, _REMEMBERED[-1], TRIGRAM, concept, nowhere)]

    def _shared(self, hits: Hits, score: float) -> FoundPairs:
        """Remembered mentions: each concept of a text with its share of them."""
        assert self.memory is not None
        rows = self.memory.rows
        key = _owners(hits.ptr) * len(self.vocabulary) + rows.concept[hits.name]
        pairs, inverse = np.unique(key, return_inverse=True)
        count = np.bincount(inverse, rows.mentions[hits.name], len(pairs))
        text, concept = np.divmod(pairs, len(self.vocabulary))
        share = count / np.bincount(text, count, len(hits.ptr) - 1)[text]
        nowhere, source = np.full(len(pairs), -1, np.int32), np.full(len(pairs), MEMORY, np.uint8)
        return FoundPairs(text, concept.astype(np.int32), score * share, source, nowhere, share)

    def _named(self, hits: Hits, score: float, source: int) -> FoundPairs:
        return _found(hits, score, source, self.vocabulary.name_concept[hits.name], hits.name)

    def _edit(self, search: EditSearch, texts: list[str]) -> FoundPairs:
        """Equation 2: each text with the synonyms that the memory has; the best of them counts."""
        sets = [[text, *(self.memory.synonyms(text) if self.memory else ())] for text in texts]
        distinct, member = numbered([text for members in sets for text in members])
        owner = np.repeat(np.arange(len(texts)), [len(members) for members in sets])
        return _of_texts(self._named(search.find(distinct, self.k), 1.0, EDIT), owner, member)


def _found(
    hits: Hits, score: float, source: int, concept: NDArray[np.int32], name: NDArray[np.int32]
) -> FoundPairs:  # fmt: skip
    """Hits, at a fixed score or at that of their similarity."""
    size = len(hits.name)
    scores = np.full(size, score) if hits.score is None else score * hits.score.astype(np.float64)
    return FoundPairs(_owners(hits.ptr), concept, scores, np.full(size, source, np.uint8), name, np.zeros(size))


def _owners(ptr: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))


class EditSearch:
    """Exact search for the concepts with the most similar names, by Levenshtein distance with RapidFuzz.

    Equation 2 of Lou et al. (2017) scores a concept by ``1 - LED(m, c) / max LED(m, c)``, maximized over the extended
    mention set. Taken literally, the maximum in the denominator is over that set as well, and a mention without
    synonyms would score 0 with every concept. The paper calls it "the maximum Levenshtein distance between m and c".
    Two strings can differ at most by the length of the longer one, so the score here is the largest
    ``1 - LED(m, c) / max(len(m), len(c))``. Case does not matter.

    Every name is compared, with several mentions at once. A filter by the characters that a name shares with the
    mention saved no time: for many mentions the tenth concept is so dissimilar that most names pass it. Results are
    cached.

    Args:
        names: M strings.
        name_concept: (M,) int32, ascending.

    >>> search = EditSearch(["Dystonia", "Dystonic Disorders", "Dystrophy"], np.array([0, 1, 2], np.int32))
    >>> found = search.find(["dystonic"], 2)
    >>> found.name.tolist(), [round(score, 3) for score in found.score.tolist()]
    ([0, 2], [0.875, 0.556])
    """

    def __init__(self, names: Sequence[str], name_concept: NDArray[np.int32]) -> None:
        self._names = [name.casefold() for name in names]
        self._concept = name_concept
        self._kept: dict[str, _Best] = {}

    def find(self, texts: Sequence[str], k: int) -> Hits:
        """The k most similar concepts of each text, by each concept's most similar name; similarities above 0 only.

        Args:
            texts: Q strings.
            k: how many.
        """
        forms = [text.casefold() for text in texts]
        kept = self._kept
        best = {form: kept[form] for form in forms if form in kept and kept[form][0] >= k}
        row, score = np.empty(k, np.int32), np.empty(k, np.float32)
        missing = [form for form in dict.fromkeys(forms) if form not in best]
        for first in range(0, len(missing), _TEXTS):
            batch = missing[first : first + _TEXTS]
            table = cdist(batch, self._names, scorer=Levenshtein.normalized_similarity, dtype=np.float32)
            for form, similarities in zip(batch, table, strict=True):
                size = _best_concepts(similarities, self._concept, row, score)
                best[form] = k, row[:size].copy(), score[:size].copy()
        self._kept = {**(kept if len(kept) + len(best) <= _CACHED else {}), **best}
        found = [best[form] for form in forms]
        rows = [np.empty(0, np.int32), *(row[:k] for _, row, _ in found)]
        scores = [np.empty(0, np.float32), *(score[:k] for _, _, score in found)]
        return Hits(np.cumsum(list(map(len, rows))), np.concatenate(rows), np.concatenate(scores))


# Results of several ways of searching, joined into candidates.


class Candidates(NamedTuple):
    """C candidates of Q queries: best first within a query, of equal ones the concept with the lower number first.

    Args:
        ptr: (Q + 1,) int64, where the candidates of each query begin.
        concept: (C,) int32, numbers of concepts.
        score: (C,) float32, between 0 and 1; not a probability.
        source: (C,) uint8, which searches found it, as bits: ``EXACT`` a name as written except for case, ``FOLDED`` a
            closely folded name, ``LOOSELY`` a loosely folded one, ``MEMORY`` a training mention, as written or folded,
            ``TRIGRAM`` the cosine of trigrams, with a name or a training mention, ``EDIT`` equation 2.
        name: (C,) int32, the number of the name that matched best; -1 if only the memory knew the concept.
        share: (C,) float32, the share of the training mentions with this text that was linked to the concept: of those
            with the text as written if there are any, else folded closely, else loosely; 0 without any.
    """

    ptr: NDArray[np.int64]
    concept: NDArray[np.int32]
    score: NDArray[np.float32]
    source: NDArray[np.uint8]
    name: NDArray[np.int32]
    share: NDArray[np.float32]


class FoundPairs(NamedTuple):
    """Results of searching for some texts, F pairs of a text, or a query, and a concept.

    Args:
        text: (F,) int64, numbers of texts.
        concept: (F,) int32.
        score: (F,) float64, between 0 and 1.
        source: (F,) uint8, the bit of the way; after joining all bits of each pair.
        name: (F,) int32, -1 where no name of the vocabulary was matched.
        share: (F,) float64.
    """

    text: NDArray[np.int64]
    concept: NDArray[np.int32]
    score: NDArray[np.float64]
    source: NDArray[np.uint8]
    name: NDArray[np.int32]
    share: NDArray[np.float64]


def join(
    ways: Sequence[FoundPairs], query: NDArray[np.int64], text: NDArray[np.int64], queries: int, k: int
) -> Candidates:
    """Return the best k candidates of each query.

    Within a text, a concept gets ``1 - product of (1 - score)`` over the ways, with its best score in each way; a query
    with two texts, a mention and its long form, gets the better one.

    Args:
        ways: the findings of each way.
        query, text: pairs that assign texts to queries; several queries may share a text.
        queries: Q.
        k: the number of candidates.
    """
    best = [_distinct(way, one=True) for way in ways]
    joined = FoundPairs(*(np.concatenate(column) for column in zip(*best, strict=True)))
    texts = _distinct(joined, one=False)
    rows = _distinct(_of_texts(texts, query, text), one=True)
    score = rows.score.astype(np.float32)  # compared as it is given, so that ties are ties
    order = np.lexsort((rows.concept, -score, rows.text))
    sizes = np.bincount(rows.text, minlength=queries)
    begin = np.cumsum(sizes) - sizes
    order = order[np.arange(len(order)) - begin[rows.text[order]] < k]
    ptr = np.append(0, np.cumsum(np.minimum(sizes, k)))
    share = rows.share[order].astype(np.float32)
    return Candidates(ptr, rows.concept[order], score[order], rows.source[order], rows.name[order], share)


def _of_texts(found: FoundPairs, owner: NDArray[np.int64], text: NDArray[np.int64]) -> FoundPairs:
    """The rows of some texts, which ascend in what was found, with other owners in place of the texts."""
    first, end = (np.searchsorted(found.text, text, side) for side in ("left", "right"))
    rows = places_of(first, end - first)[0]
    return FoundPairs._make([np.repeat(owner, end - first), *(column[rows] for column in found[1:])])


def _distinct(rows: FoundPairs, *, one: bool) -> FoundPairs:
    """One row for each group and concept: all sources, the best named row's name, the best score, or all joined."""
    order = np.lexsort((-rows.score, rows.name < 0, rows.concept, rows.text))
    if not len(order):
        return rows
    rows = FoundPairs._make(column[order] for column in rows)
    at = np.flatnonzero(changes(rows.text, rows.concept))
    score = np.maximum.reduceat(rows.score, at) if one else 1 - np.multiply.reduceat(1 - rows.score, at)
    source, share = np.bitwise_or.reduceat(rows.source, at), np.maximum.reduceat(rows.share, at)
    return FoundPairs(rows.text[at], rows.concept[at], score, source, rows.name[at], share)


# Texts of concepts, to be found as written, folded, and by cosine: names of a vocabulary, or remembered mentions.

_BLOCK: Final = 1 << 18  # texts that are hashed together


class TextIndex:
    """M texts, each of one concept.

    Args:
        texts: M strings.
        lexicon: of the texts; its concepts ascend.
        cosine: the inverted index of the distinct folded texts of each concept.
        rows: (rows,) int32, which text each row of ``cosine`` is.

    >>> texts = ["Renal Failure", "Failure, Renal", "Heart Failure"]
    >>> index = TextIndex.build(texts, Lexicon.of_names(texts, np.array([0, 0, 1], np.int32)))
    >>> index.exact(["heart failure", "failing heart"]).name.tolist(), len(index.rows)
    ([2], 2)
    """

    def __init__(self, texts: Sequence[str], lexicon: Lexicon, cosine: CosineIndex, rows: NDArray[np.int32]) -> None:
        self.texts, self.lexicon, self.cosine, self.rows = texts, lexicon, cosine, rows
        self._exact = KeyTable.build(_hashed_forms(texts), np.arange(len(texts), dtype=np.int32))

    @classmethod
    def build(
        cls, texts: Sequence[str], lexicon: Lexicon, weights: TermWeights | None = None, kind: str = "both"
    ) -> TextIndex:
        """An index of texts.

        Args:
            texts: M strings.
            lexicon: of them.
            weights: of trigrams; ``None`` for those of the texts themselves.
            kind: of the vectors, if there are no weights: see `spanloom.vocabulary.cosine`.
        """
        words = pieces(texts)
        weights = TermWeights.of(kind, words) if weights is None else weights
        # the first text of each key within each concept
        concept, keys = lexicon.concept, lexicon.keys[CLOSE]
        order = np.lexsort((keys, concept))
        rows = np.sort(order[changes(concept[order], keys[order])]).astype(np.int32)
        return cls(texts, lexicon, CosineIndex.build(words.take(rows), lexicon.concept[rows], weights), rows)

    def exact(self, texts: Sequence[str]) -> Hits:
        """The texts that are equal but for case and white space."""
        ptr, names = self._exact.gather(self._exact.find(_hashed_forms(texts)))
        owner = np.repeat(np.arange(len(texts)), np.diff(ptr))
        pairs = zip(owner.tolist(), names.tolist(), strict=True)
        equal = np.array([text_form(texts[text]) == text_form(self.texts[name]) for text, name in pairs], np.bool_)
        return Hits(row_offsets(owner[equal], len(texts)), names[equal])

    def nearest(self, vectors: Vectors, k: int) -> Hits:
        """The nearest texts of the k nearest concepts by cosine."""
        found = self.cosine.find(vectors, k)
        return found._replace(name=self.rows[found.name])

    def find(self, texts: Sequence[str], keys: Keys, vectors: Vectors, k: int) -> list[Hits]:
        """The texts that are equal, that fold closely, and loosely, like some texts, and the nearest ones."""
        folded = [self.lexicon.find(keys[degree], degree) for degree in (CLOSE, LOOSE)]
        return [self.exact(texts), *folded, self.nearest(vectors, k)]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All but texts and lexicon, to be saved."""
        return {"rows": self.rows, **{f"cosine.{name}": array for name, array in self.cosine.arrays().items()}}

    @classmethod
    def from_arrays(
        cls, texts: Sequence[str], lexicon: Lexicon, kind: str, arrays: Mapping[str, NDArray[Any]]
    ) -> TextIndex:
        """Restore an index of these texts from the result of `arrays`.

        Raises:
            ModelError: the arrays are not from `arrays` with this number of texts.
        """
        rows = take_numbers(arrays, "rows", np.int32, len(texts))
        if (np.diff(rows) < 1).any():
            raise damaged("rows", "is not ascending")
        cosine = {name.removeprefix("cosine."): array for name, array in arrays.items()}
        return cls(texts, lexicon, CosineIndex.from_arrays(kind, cosine, lexicon.concept[rows]), rows)


def _hashed_forms(texts: Sequence[str]) -> NDArray[np.uint64]:
    """(M,) a hash of each text without regard to case and white space."""
    blocks = (texts[first : first + _BLOCK] for first in range(0, len(texts), _BLOCK))
    # a blank stands for an empty text, whose hash would be 0
    found = (hashes([text_form(text) or " " for text in block]) for block in blocks)
    return np.concatenate([np.empty(0, np.uint64), *found])
