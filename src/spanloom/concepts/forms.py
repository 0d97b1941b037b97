"""What can be known of the texts of mentions and their candidates, without regard to documents.

1. A *form* is a text, its type, its long form where the document abbreviates it, and whether the mention has a gap.
2. Its candidates are the concepts whose names are nearest, those that training mentions with such a text had, sets of
   concepts for phrases such as *breast and ovarian cancer*, and no concept at all, which comes last.
3. Each candidate gets numbers between about 0 and 1, and values for the templates of sparse features, which compare the
   words of the form with those of the candidate's nearest name.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from spanloom.concepts.similarity import NameVectors
from spanloom.features.conjunctions import conjunctions
from spanloom.hashing import Int64, UInt64, hash_text, hashes
from spanloom.sparse import gathered, row_offsets
from spanloom.text.coordination import coordinated
from spanloom.vocabulary.candidates import CandidateFinder
from spanloom.vocabulary.folding import fold_text
from spanloom.vocabulary.memory import Memory
from spanloom.vocabulary.store import Vocabulary

NIL: Final = -1
"""The concept of the candidate that is no concept."""
NUMBERS: Final = (
    "nil", "name", "memory", "share", "prior", "overlap", "of_form", "of_name", "edit", "loose_overlap", "last",
    "name_first", "memory_first", "several", "support", "related",
)  # fmt: skip
"""The numbers of each candidate; the last two depend on the document and are 0 in a form."""
BY_ENCODER: Final = ("similarity", "similarity_rank")
"""More numbers, where names have vectors: how near the nearest name is, and the inverse of the rank by that."""
TEMPLATES: Final = (
    "type|names_rank", "type|memory_rank", "type|names_rank|memory_rank", "type|source", "source", "type|share",
    "share|names_rank", "prior", "type|prefix", "prefix|gap", "digits", "type|digits", "lost|more", "last|lost",
    "lost0", "lost1", "more0", "more1", "lost0|more0", "type|known|names_rank", "known|memory_rank|share",
    "short|names_rank", "short|source", "several|share", "several|names_rank", "nil", "nil|type",
    "nil|type|best_source", "nil|best_share", "nil|form", "nil|type|best_name", "nil|word0", "nil|word1", "nil|short",
    "nil|gap", "type|root", "type|branch", "preferred|source", "type|preferred|names_rank",
)  # fmt: skip
_VALUES: Final = conjunctions(TEMPLATES).names
_AT: Final = {name: row for row, name in enumerate(_VALUES)}
_BINS: Final = np.array([0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 0.999])
_COUNTS: Final = np.array([0, 1, 3, 10, 30])
_DOUBLINGS: Final = 6  # of the steps to an ancestor: 64
_DIFFERENCES: Final = ("digits", "lost", "more", "lost0", "lost1", "more0", "more1")  # values by `Compared`
_CACHED: Final = 1 << 14  # texts, and pairs of a text and a name
_SHORT: Final = 5  # characters of a text that may be an abbreviation


class Form(NamedTuple):
    """A text that may mean a concept.

    Args:
        text: of a mention, with single spaces.
        type: of the mention.
        expanded: the text with its abbreviations written out; ``None`` if it has none that the document defines.
        gap: whether the mention has a gap.
    """

    text: str
    type: str
    expanded: str | None = None
    gap: bool = False


class FormTable(NamedTuple):
    """The C candidates of M forms; the last of each is `NIL`.

    Args:
        ptr: (M + 1,) where those of each form begin.
        concept: (C,) numbers of the vocabulary's V concepts; from V on, of the sets.
        sets: of concepts, each ascending.
        numbers: (C, D) float64, by `NUMBERS`.
        values: (V, C) uint64, in the order in which the templates read them; 0 for one that a candidate lacks.
        likely: (C,) float64 from 0 to 1, the prior of each from names and memory, before training.
    """

    ptr: Int64
    concept: Int64
    sets: tuple[tuple[int, ...], ...]
    numbers: NDArray[np.float64]
    values: UInt64
    likely: NDArray[np.float64]


class _Single(NamedTuple):
    """Single concepts as candidates, by form and concept: S rows; see `FormTable` and `NUMBERS`."""

    form: Int64
    concept: Int64
    name: NDArray[np.float64]
    memory: NDArray[np.float64]
    share: NDArray[np.float64]
    names_rank: Int64
    memory_rank: Int64
    source: Int64
    nearest: Int64

    def take(self, rows: Int64 | slice) -> _Single:
        """Return some rows."""
        return _Single._make(column[rows] for column in self)

    @property
    def likely(self) -> NDArray[np.float64]:
        """(S,) the noisy-or of names and memory."""
        found: NDArray[np.float64] = 1 - (1 - np.minimum(self.name, 1)) * (1 - np.minimum(self.memory, 1))
        return found


class NearestConcepts(NamedTuple):
    """The likeliest concept of each of M forms, by names and training mentions alone.

    Args:
        concept: (M,) numbers of the vocabulary; `NIL` where nothing is found.
        name, share: (M,) similarity of the nearest name, and the share of training mentions with such a text that have
            the concept; 0 for none.
        prior: (M,) how many training mentions have the concept.
        compared: (M, 6) the form beside the nearest name, see `Compared.numbers`.
    """

    concept: Int64
    name: NDArray[np.float64]
    share: NDArray[np.float64]
    prior: NDArray[np.float64]
    compared: NDArray[np.float64]


class VocabularyForms:
    """Candidates of forms in one vocabulary.

    Args:
        vocabulary: of V concepts.
        memory: of training mentions.
        k: candidates by names, and by the memory, at most so many each.
        finder: of the vocabulary's names, if there is one already.
        vectors: of the vocabulary's names, if candidates are compared by an encoder.
    """

    def __init__(
        self, vocabulary: Vocabulary, memory: Memory, k: int = 10, finder: CandidateFinder | None = None,
        vectors: NameVectors | None = None,
    ) -> None:  # fmt: skip
        self.vocabulary, self.k, self.vectors = vocabulary, k, vectors
        self.parents = Parents(vocabulary)
        self.finder = CandidateFinder(vocabulary, None, k=k) if finder is None else finder
        self._preferred = np.append(0, vocabulary.name_ends[:-1])
        self._remember(memory)

    def _remember(self, memory: Memory) -> None:
        self.memory, self.finder = memory, self.finder.with_memory(memory)
        self.prior = np.bincount(memory.rows.concept, memory.rows.mentions, len(self.vocabulary))

    def with_memory(self, memory: Memory) -> VocabularyForms:
        """Return the same with another memory; the index of names is shared."""
        found = copy(self)
        found._remember(memory)
        return found

    def table(self, forms: Sequence[Form]) -> FormTable:
        """Return the candidates of some forms.

        1. Names and memory are searched for all texts at once, those of the parts of coordinations among them.
        2. Concepts that both find are one candidate. Sets of concepts come from the memory, and from the best concept
           of each part of a coordination, in the way whose worst part is the likeliest.
        3. Numbers and values are computed for all candidates together.
        """
        ways = [coordinated(form.expanded or form.text) for form in forms]
        parts = list(dict.fromkeys(part for several in ways for way in several for part in way))
        texts = [*(form.text for form in forms), *parts]
        single = self._single(texts, [*(form.expanded for form in forms), *([None] * len(parts))])
        best = single.take(_best_rows(single))
        found = dict(
            zip(best.form.tolist(), zip(best.concept.tolist(), best.likely.tolist(), strict=True), strict=True)
        )
        of_part = {part: found.get(len(forms) + number, (NIL, 0.0)) for number, part in enumerate(parts)}
        sets: dict[tuple[int, ...], int] = {}
        several = [
            (number, sets.setdefault(concepts, len(sets)), share, likely)
            for number, form in enumerate(forms)
            for concepts, share, likely in self._several(form, ways[number], of_part)
        ]
        own = int(np.searchsorted(single.form, len(forms)))
        return self._filled(forms, single.take(slice(own)), several, tuple(sets))

    def nearest(self, forms: Sequence[Form]) -> NearestConcepts:
        """Return the likeliest concept of each form; of one that stands for a set, of one of its parts."""
        single = self._single([form.text for form in forms], [form.expanded for form in forms])
        best = single.take(_best_rows(single))
        beside = np.array([one.numbers for one in self._compared(forms, best)]).reshape(-1, 6)
        name, share, prior = np.zeros((3, len(forms)))
        found = NearestConcepts(np.full(len(forms), NIL), name, share, prior, np.zeros((len(forms), 6)))
        rows = best.concept, best.name, best.share, self.prior[best.concept], beside
        for column, own in zip(found, rows, strict=True):
            column[best.form] = own
        return found

    def _single(self, texts: Sequence[str], expansions: Sequence[str | None]) -> _Single:
        names, memory = self.finder.find_apart(texts, expansions)
        size = len(self.vocabulary)
        keys, ranks = [], []
        for found in (names, memory):
            counts = np.diff(found.ptr)
            keys.append(np.repeat(np.arange(len(texts)), counts) * size + found.concept)
            ranks.append(np.arange(len(found.concept)) - np.repeat(found.ptr[:-1], counts) + 1)
        every = np.unique(np.concatenate(keys))
        form, concept = np.divmod(every, size)
        by_name, by_memory = (np.searchsorted(every, own) for own in keys)
        name, remembered, share = np.zeros((3, len(every)))
        name[by_name], remembered[by_memory], share[by_memory] = names.score, memory.score, memory.share
        names_rank, memory_rank = (np.full(len(every), self.k + 1) for _ in range(2))
        names_rank[by_name], memory_rank[by_memory] = ranks
        source = np.zeros(len(every), np.int64)
        source[by_name] |= names.source
        source[by_memory] |= memory.source.astype(np.int64) << 6
        nearest = self._preferred[concept]
        nearest[by_name] = names.name
        return _Single(form, concept, name, remembered, share, names_rank, memory_rank, source, nearest)

    def _several(
        self, form: Form, ways: Sequence[Sequence[str]], of_part: dict[str, tuple[int, float]]
    ) -> list[tuple[tuple[int, ...], float, float]]:
        """Return the sets of concepts that a form may mean, with their share of training mentions, and how likely."""
        found: dict[tuple[int, ...], tuple[float, float]] = {}
        tried = [[of_part[part] for part in way] for way in ways]
        if tried:
            parts = max(tried, key=lambda way: min(likely for _, likely in way))
            concepts = tuple(sorted({concept for concept, _ in parts} - {NIL}))
            if len(concepts) > 1:
                found[concepts] = 0.0, min(likely for _, likely in parts)
        for text in filter(None, (form.text, form.expanded)):
            readings = self.memory.readings(text)
            total = sum(count for _, count in readings)
            for reading, count in readings:
                if len(reading) > 1:
                    before = found.get(reading, (0.0, 0.0))
                    found[reading] = max(before[0], count / total), max(before[1], count / total)
        return [(concepts, *shares) for concepts, shares in found.items()]

    def _filled(
        self, forms: Sequence[Form], single: _Single, several: Sequence[tuple[int, int, float, float]],
        sets: tuple[tuple[int, ...], ...],
    ) -> FormTable:  # fmt: skip
        # rows: single concepts, sets, and no concept; ordered by form at the end
        count, more, size = len(single.form), len(several), len(forms)
        form = np.concatenate([single.form, np.array([row[0] for row in several], np.int64), np.arange(size)])
        concept = np.concatenate([
            single.concept, len(self.vocabulary) + np.array([row[1] for row in several], np.int64), np.full(size, NIL),
        ])  # fmt: skip
        order = np.argsort(form, kind="stable")
        numbers = np.zeros((len(form), len(NUMBERS) + (len(BY_ENCODER) if self.vectors else 0)))
        values = np.zeros((len(_VALUES), len(form)), np.uint64)
        own, sets_at, nil = slice(0, count), slice(count, count + more), slice(count + more, None)
        share, likely = (np.array([row[place] for row in several]) for place in (2, 3))
        beside = self._compared(forms, single)
        prior = self.prior[single.concept]
        numbers[own, 1:5] = np.stack([single.name, single.memory, single.share, np.log1p(prior) / 5], 1)
        numbers[own, 5:11] = np.array([one.numbers for one in beside]).reshape(-1, 6)
        numbers[own, 11:13] = np.stack([single.names_rank == 1, single.memory_rank == 1], 1)
        numbers[sets_at, 13], numbers[sets_at, 3], numbers[sets_at, 1] = 1.0, share, likely
        numbers[nil, 0] = 1.0
        if self.vectors is not None:
            texts, members = [one.expanded or one.text for one in forms], [sets[row[1]] for row in several]
            lengths = np.array([len(one) for one in members], np.int64)
            owners = np.append(single.form, np.repeat(form[sets_at], lengths))
            every = np.append(single.concept, np.fromiter(chain.from_iterable(members), np.int64))
            near = self.vectors.similarities(texts, owners, every, self.vocabulary.name_ends)
            rank, nearest = np.empty(count), np.lexsort((-near[:count], single.form))
            rank[nearest] = np.arange(count) - np.searchsorted(single.form, single.form) + 1
            numbers[own, len(NUMBERS) :] = np.stack([near[:count], 1 / rank], 1)
            means = np.bincount(np.repeat(np.arange(more), lengths), near[count:], more) / lengths
            numbers[sets_at, len(NUMBERS)] = means  # of the concepts of a set

        def put(name: str, rows: slice, column: NDArray[np.generic]) -> None:
            values[_AT[name], rows] = column.astype(np.uint64)

        types = {kind: hash_text(kind) for kind in dict.fromkeys(one.type for one in forms)}
        of_form = {
            "type": np.array([types[one.type] for one in forms], np.uint64),
            "gap": np.array([1 + one.gap for one in forms]), "short": np.array([1 + _is_short(one) for one in forms]),
            "known": 1 + (_largest(single.form, single.share, size) > 0),
        }  # fmt: skip
        for name, column in of_form.items():
            put(name, own, column[single.form])
            put(name, sets_at, column[form[sets_at]])
            put(name, nil, column)
        put("names_rank", own, single.names_rank)
        put("memory_rank", own, single.memory_rank)
        put("source", own, single.source + 1)
        put("share", own, np.searchsorted(_BINS, single.share) + 1)
        put("prior", own, np.searchsorted(_COUNTS, prior) + 1)
        distinct, which = np.unique(single.concept, return_inverse=True)
        prefixes = (self.vocabulary.identifier(one).partition(":")[0] for one in distinct.tolist())
        put("prefix", own, hashes(list(prefixes))[which])
        counts = np.array([one.values for one in beside], np.int64).reshape(-1, 3).T
        words = hashes([word for one in beside for word in one.words]).reshape(-1, 4).T
        for name, column in zip(_DIFFERENCES, (*counts, *words), strict=True):
            put(name, own, column)
        put("last", own, 1 + numbers[own, 10])
        put("preferred", own, 1 + (single.nearest == self._preferred[single.concept]))
        put("root", own, 1 + self.parents.root[single.concept])
        put("branch", own, 1 + self.parents.branch[single.concept])
        put("several", sets_at, np.full(more, 1))
        put("share", sets_at, np.searchsorted(_BINS, share) + 1)
        put("names_rank", sets_at, np.searchsorted(_BINS, likely) + 1)
        put("nil", nil, np.ones(size))
        put("best_source", nil, 1 + _largest(single.form, single.source, size))
        put("best_share", nil, 1 + np.searchsorted(_BINS, _largest(single.form, single.share, size)))
        put("best_name", nil, 1 + np.searchsorted(_BINS, _largest(single.form, single.name, size)))
        folds = [folded(one.text)[0] for one in forms]
        joined = hashes([" ".join(sorted(one)) for one in folds])
        put("form", nil, np.where(joined == 0, np.uint64(hash_text("")), joined))
        for place in (0, 1):
            put(f"word{place}", nil, hashes([(*one, "", "")[place] for one in folds]))
        whole = np.concatenate([single.likely, likely, np.zeros(size)])
        ptr = np.append(0, np.cumsum(np.bincount(form, minlength=size)))
        return FormTable(ptr, concept[order], sets, numbers[order], values[:, order], whole[order])

    def _compared(self, forms: Sequence[Form], single: _Single) -> list[Compared]:
        """Return candidates beside their nearest names; of a text and its long form, the nearer."""
        found = []
        for number, nearest in zip(single.form.tolist(), single.nearest.tolist(), strict=True):
            texts = filter(None, (forms[number].text, forms[number].expanded))
            ways = [compared(text, self.vocabulary.names[nearest]) for text in texts]
            found.append(max(ways, key=lambda way: way.numbers[0]))
        return found


class Parents:
    """The parents of each concept that a vocabulary holds, by number.

    Args:
        vocabulary: of V concepts.

    Attributes: ``root`` and ``branch``, (V,) numbers of the last ancestor of each concept by way of first parents, and
    of the last but one; a root is its own branch. They separate types of mentions, and are any ancestor where parents
    are in a cycle.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        strings, ends = vocabulary.parents
        owners = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        named = strings.to_list()
        number = {parent: vocabulary.find(parent) for parent in dict.fromkeys(named)}
        found = np.array([number[parent] for parent in named], np.int64)
        owners, found = owners[found >= 0], found[found >= 0]
        _, first = np.unique(owners * len(ends) + found, return_index=True)  # a parent that is given twice counts once
        first.sort()
        self.ptr, self.numbers = row_offsets(owners[first], len(ends)), found[first]
        own, has = np.arange(len(ends)), np.diff(self.ptr) > 0
        up = own.copy()
        up[has] = self.numbers[self.ptr[:-1][has]]
        self.root, self.branch = up, np.where(has[up], up, own)
        for _ in range(_DOUBLINGS):
            self.root, self.branch = self.root[self.root], self.branch[self.branch]

    def of(self, concepts: Int64) -> tuple[Int64, Int64]:
        """Return pairs: the place of a concept, and the number of a parent."""
        rows, ptr = gathered(self.ptr, concepts)
        return np.repeat(np.arange(len(concepts)), np.diff(ptr)), self.numbers[rows]


def _best_rows(single: _Single) -> Int64:
    """Return the row of the likeliest concept of each form that has one; of equal ones the least number counts."""
    order = np.lexsort((-single.concept, single.likely, single.form))
    last = np.append(np.diff(single.form[order]) > 0, True)[: len(order)]
    return order.compress(last)


def _largest(form: Int64, values: NDArray[np.generic], forms: int) -> NDArray[np.float64]:
    found = np.zeros(forms)
    np.maximum.at(found, form, values)
    return found


def _is_short(form: Form) -> bool:
    return form.expanded is None and len(form.text) <= _SHORT and form.text[:1].isupper() and " " not in form.text


# How texts and names differ, word by word.


class Compared(NamedTuple):
    """A text beside a name.

    Args:
        numbers: the share of their closely folded words that both have (Jaccard), the share of the words of the text,
            and of the name, that the other has, Levenshtein similarity without case, the share of their loosely folded
            words that both have, and whether they end with the same word.
        values: how their numbers differ: 1 no numbers, 2 the same, 3 only the text has some, 4 only the name, 5 others;
            1 more than how many words only the text has, and only the name, at most 4.
        words: the first two of the former and of the latter, in the order of the alphabet; empty for none.
    """

    numbers: tuple[float, ...]
    values: tuple[int, ...]
    words: tuple[str, ...]


@lru_cache(_CACHED)
def folded(text: str) -> tuple[tuple[str, ...], frozenset[str], frozenset[str]]:
    """Return the closely folded words of a text in its order, the distinct ones, and the loosely folded ones."""
    close = tuple(fold_text(text))
    return close, frozenset(close), frozenset(fold_text(text, loose=True))


@lru_cache(_CACHED)
def compared(text: str, name: str) -> Compared:
    """Compare a text with a name.

    >>> found = compared("renal cell tumour", "Renal tumors, type 2")
    >>> [round(number, 2) for number in found.numbers], found.values, found.words
    ([0.5, 0.67, 0.67, 0.4, 0.5, 0], (4, 2, 2), ('cell', '', '2', ''))
    """
    (words, close, loose), (others, its_close, its_loose) = folded(text), folded(name)
    lost, more = sorted(close - its_close), sorted(its_close - close)
    both = len(close) - len(lost)
    own, its, differing = (any(map(str.isdigit, part)) for part in (close, its_close, close ^ its_close))
    numbers = (
        both / max(1, len(close | its_close)),
        both / max(1, len(close)),
        both / max(1, len(its_close)),
        Levenshtein.normalized_similarity(text.casefold(), name.casefold()),
        len(loose & its_loose) / max(1, len(loose | its_loose)),
        words[-1:] == others[-1:] != (),
    )
    digits = 1 + own if not differing else 4 + own if its else 3
    values = digits, 1 + min(3, len(lost)), 1 + min(3, len(more))
    return Compared(numbers, values, (*[*lost, "", ""][:2], *[*more, "", ""][:2]))
