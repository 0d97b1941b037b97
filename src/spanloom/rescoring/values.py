"""Features of candidates as wholes: templates, and the named values that they conjoin."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch
from spanloom.errors import ModelError, UsageError, clip
from spanloom.features import FeatureSet
from spanloom.features.clusters import Clusters
from spanloom.features.columns import is_cluster_column, word_column
from spanloom.features.conjunctions import atoms
from spanloom.features.tables import tabulate
from spanloom.features.template import Column, parse
from spanloom.hashing import RangeHashes, Slots, UInt64, hash_text, mixed
from spanloom.hypergraph import Floats, Ints
from spanloom.native import Kernel
from spanloom.rescoring.candidates import CandidateMentions, Words
from spanloom.rescoring.relations import RELATIONS, strongest
from spanloom.rescoring.seen import Names
from spanloom.structures import MentionTable

if TYPE_CHECKING:  # what reads names of vocabularies is imported for models that have some
    from spanloom.rescoring.listed import ListedIn
    from spanloom.rescoring.parts import Pairing

Array = NDArray[Any]
_bins, _bins_of_related, _best_but = Kernel("bins"), Kernel("bins_of_related"), Kernel("best_but")
_values_at = Kernel("values_at")
_COLUMN = re.compile(r"(.+)\[(.+)\]")
_PLACE = re.compile(r"(first|last|gap|join)([+-]\d+)?")
_PLACES: Final = ("first", "last", "gap", "join")
_BEFORE, _BEHIND = 1, 2  # the sentence: in place of a hash
_TEXT: Final = Column("low")
_OPEN, _CLOSE = (np.array([hash_text(mark) for mark in marks], np.uint64) for marks in ("([{", ")]}"))
_JOINS, _PREPOSITIONS = (
    np.array([hash_text(word) for word in words.split()], np.uint64)
    for words in ("and or / & and/or but nor versus und oder y o et ou e", "of in with between to from on for by at")
)
_COMMA = np.uint64(hash_text(","))
_USUAL = 10.0  # what is added to the log-odds of pairs, so that bins are where they differ
_NAMES = frozenset((
    "type", "odds", "odds.coarse", "level", "len", "text", "parts", "brackets", "gap.len", "gap.text", "seen", "listed",
    "pair", "pair.gap", "pair.first", "pair.second", "again", "again.other", *RELATIONS,
    *(f"{name}.less" for name in RELATIONS),
))  # fmt: skip
_FINE, _COARSE = 0.5, 1.5
GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "marginal": ("type", "odds", "odds|type", "level", "level|type", "level|odds.coarse"),
    "length": ("len:12", "len:12|type", "len:12|odds.coarse"),
    "edges": (
        "low[first]|type", "low[last]|type", "low[last-1]|low[last]|type", "low[first]|low[first+1]|type",
        "suffix3[last]|type", "suffix4[last]|type", "shape[first]|type", "shape[last]|type", "shape[first]|shape[last]",
        "low[first]|odds.coarse", "low[last]|odds.coarse", "cluster:6[last]|type", "cluster:10[last]|type",
        "pos[first]|type", "pos[last]|type", "pos[first]|pos[last]|len:6", "category[first]|category[last]|type",
        "brackets", "brackets|odds.coarse",
    ),
    "around": (
        "low[first-1]|type", "low[last+1]|type", "low[first-1]|low[last+1]", "low[first-1]|low[first]",
        "low[last]|low[last+1]", "low[first-1]|odds.coarse", "low[last+1]|odds.coarse", "pos[first-1]|pos[first]|type",
        "pos[last]|pos[last+1]|type", "pos[first-1]|pos[last+1]", "suffix3[last]|low[last+1]",
    ),
    "text": ("text|type", "text"),
    "seen": ("seen", "seen|odds.coarse", "seen|len:4", "seen|type"),
    "listed": (
        "listed", "listed|type", "listed|odds.coarse", "listed|type|odds.coarse", "listed|seen", "listed|level",
        "listed|len:6", "listed|parts|type", "listed|parts|gap.len:6", "listed|parts|odds.coarse",
    ),
    "pairs": (
        "pair", "pair|type", "pair|odds.coarse", "pair|level", "pair.gap", "pair.gap|type", "pair.gap|pair",
        "pair.gap|gap.len:6", "pair.gap|odds.coarse", "pair.first|pair.second", "pair.first|pair.second|type",
        "pair.first|pair.second|pair.gap", "pair|seen", "pair.gap|seen", "pair.first|type", "pair.second|type",
        "pair|len:6",
    ),
    "relations": tuple(
        text for name in RELATIONS for text in (name, f"{name}|odds.coarse", f"{name}.less", f"{name}.less|type")
    ),
    "document": (
        "again", "again|odds.coarse", "again.other", "again.other|odds.coarse", "again|again.other",
        "again|type",
    ),
    "gaps": (
        "parts", "parts|type", "parts|odds.coarse", "gap.len:12", "gap.len:12|odds.coarse", "gap.text", "low[gap]",
        "low[join-1]", "low[gap-1]|low[join]", "low[gap-1]|low[gap]", "low[join-1]|low[join]", "low[join]|type",
        "suffix3[gap-1]|suffix3[join-1]", "pos[gap]", "pos[join-1]", "pos[gap-1]|pos[gap]|pos[join-1]|pos[join]",
        "cluster:6[gap-1]|cluster:6[join-1]",
    ),
}  # fmt: skip
"""Templates of the second stage by what they look at."""
TEMPLATES: Final = tuple(text for group in GROUPS.values() for text in group)


@lru_cache(maxsize=1024)
def columns_of(template: str) -> tuple[Column, ...]:
    """Return the columns of tokens that a template reads.

    >>> [str(column) for column in columns_of("low[first-1]|len:5|cluster:10[last]")]
    ['low', 'cluster:10']
    """
    return tuple(read[0] for atom in atoms(template) if (read := read_column(atom.name)))


@lru_cache(maxsize=1024)
def read_column(name: str) -> tuple[Column, str, int] | None:
    """Return the column of a value, and the place that it is read at; ``None`` for a value of another kind."""
    found = _COLUMN.fullmatch(name)
    if not found:
        return None
    place = _PLACE.fullmatch(found[2])
    if not place:
        raise ValueError(f"no place {found[2]!r}")
    [column] = parse(f"{found[1]}[0]").columns
    return column, place[1], int(place[2] or 0)


def served(
    templates: Sequence[str], features: FeatureSet, *, listed: bool = False, paired: bool = False
) -> tuple[str, ...]:
    """Return the templates whose columns are those of words, or such as the first stage reads.

    Args:
        templates: to choose from.
        features: of the first stage.
        listed: whether there are names of vocabularies.
        paired: whether pairs of parts are proposed.
    """
    have = {*features.needs, *features.computed}

    def there(column: Column) -> bool:
        if is_cluster_column(column.name):
            return features.clusters is not None
        return word_column(column) is not None or column.name in have

    wanted = (
        template for template in templates
        if (listed or "listed" not in template) and (paired or not template.startswith("pair"))
    )  # fmt: skip
    return tuple(template for template in wanted if all(map(there, columns_of(template))))


def check_templates(templates: Sequence[str], features: FeatureSet) -> None:
    """Check that templates of a model file can be computed.

    Raises:
        ModelError: one names a value that is not there.
    """
    for template in templates:
        for atom in atoms(template):
            if atom.name not in _NAMES and not _reads_column(atom.name, features):
                raise ModelError(f"unknown value in the second-stage template {clip(template)}")


def _reads_column(name: str, features: FeatureSet) -> bool:
    try:
        return read_column(name) is not None and bool(served([name], features))
    except (UsageError, ValueError):
        return False


def binned(odds: Floats, width: float) -> Ints:
    """Return the number of each bin of log-odds, from 1; -inf has no bin and gives 0.

    >>> binned(np.array([-np.inf, -100, -0.1, 0.0, 100]), 0.5).tolist()
    [0, 1, 16, 17, 32]
    """
    found = np.empty(len(odds), np.int64)
    _bins(np.asarray(odds, np.float64), width, found)
    return found


class TokenColumns:
    """Columns of the tokens of a batch, as hashes.

    Args:
        batch: T tokens, with the columns that the first stage reads.
        templates: whose columns are wanted.
        features: of the first stage: its clusters.

    Attributes:
        hashes: (T,) hash of each token's word, in lower case.
    """

    def __init__(self, batch: Batch, templates: Sequence[str], features: FeatureSet) -> None:
        columns = [_TEXT, *(column for template in templates for column in columns_of(template))]
        self._number = {column: number for number, column in enumerate(dict.fromkeys(columns))}
        self._table = tabulate(batch, list(self._number), Clusters.of(features.clusters))
        number = self._number[_TEXT]
        by_word = self._table.values[self._table.base[number] :: self._table.stride[number]]
        self.hashes: UInt64 = by_word[self._table.ids[0]]
        self._ranges = RangeHashes(self.hashes)

    def words(self, batch: Batch) -> Words:
        """Return the words of the batch, as candidates are proposed from them."""
        documents = np.repeat(np.arange(len(batch.documents)), np.diff(batch.firsts))
        return Words(batch.sentences, documents, self.hashes)

    def at(self, reads: Sequence[tuple[Column, str, int]], places: _Places) -> UInt64:
        """Return the hashes of V columns at places of C candidates, (V, C); 0 where there is no such place.

        Args:
            reads: the column, the place and the distance of each.
            places: of the candidates.
        """
        columns = np.array([self._number[column] for column, _, _ in reads], np.int64)
        numbers = np.array([_PLACES.index(place) for _, place, _ in reads], np.int64)
        distances = np.array([distance for _, _, distance in reads], np.int64)
        found = np.empty((len(reads), len(places.low)), np.uint64)
        _values_at(self._table, columns, numbers, distances, *places, _BEFORE, _BEHIND, found)
        return found

    def texts(self, mentions: MentionTable, base: Ints) -> UInt64:
        """Return the hash of the words of each mention, in lower case, without what lies in its gaps.

        Args:
            mentions: M.
            base: (M,) first token of each one's sentence.
        """
        sizes, own = mentions.end - mentions.first, np.repeat(base, np.diff(mentions.ptr))
        total = np.append(0, sizes.cumsum())
        before = total[:-1] - np.repeat(total[mentions.ptr[:-1]], np.diff(mentions.ptr))
        parts = self._ranges.of(own + mentions.first, own + mentions.end, before)
        sums = np.add.reduceat(parts, mentions.ptr[:-1]) if len(parts) else parts
        return mixed(0, sums, np.diff(total[mentions.ptr]))


class _Places(NamedTuple):
    """Where candidates are read, as tokens of the batch.

    Args:
        tokens: (P, C) the token of each of `_PLACES`.
        low, high: (C,) first token and end of each one's sentence.
        there: (P, C) whether there is such a place.
    """

    tokens: Ints
    low: Ints
    high: Ints
    there: NDArray[np.bool_]

    def take(self, rows: Ints) -> _Places:
        """Return those of some candidates."""
        return _Places(
            np.ascontiguousarray(self.tokens[:, rows]), self.low[rows], self.high[rows],
            np.ascontiguousarray(self.there[:, rows]),
        )  # fmt: skip


class CandidateValues:
    """Named values of C candidates; 0 where a candidate has none.

    ``type``; ``odds`` of the exact marginal, in bins of half a unit, ``odds.coarse`` of one and a half; ``level``, the
    lowest mention penalty that proposes it; ``len`` in tokens; ``text``; ``parts``; ``brackets``, whether they balance;
    ``gap.len`` and ``gap.text``; ``seen``, how training has its text; ``listed``, whether it is a name of its type's
    vocabulary; of two parts ``pair``, their log-odds by words and marginals, ``pair.gap``, what is in the gap, and
    ``pair.first`` and ``pair.second``, how training has each part; each of `RELATIONS`, the odds of the likeliest
    candidate that is this to it, and with ``.less`` how much less they are; ``again`` and ``again.other``, the odds of
    the likeliest candidate elsewhere in the document with its text and its type, or another; ``column[place]``, where a
    place is ``first``, ``last``, ``gap`` or ``join``, which is the token behind the first gap, perhaps with a distance.

    Args:
        candidates: of the batch.
        batch: the sentences, and the documents that they are in.
        tokens: of the batch.
        seen: names of training mentions.
        listed: names of vocabularies, if there are any.
        pairs: scores mentions of two parts, if there is something that does.
    """

    def __init__(
        self, candidates: CandidateMentions, batch: Batch, tokens: TokenColumns, seen: Names,
        listed: ListedIn | None = None, pairs: Pairing | None = None,
    ) -> None:  # fmt: skip
        table = candidates.table
        words = tokens.words(batch)
        self.candidates, self._tokens, self._seen = candidates, tokens, seen
        self._low, self._high = batch.sentences[table.sentence], batch.sentences[table.sentence + 1]
        self._document = np.searchsorted(batch.firsts, table.sentence, side="right") - 1
        self._plain: dict[str, Callable[[], Array]] = {
            "type": lambda: table.kind + 1,
            "odds": lambda: binned(candidates.odds, _FINE),
            "odds.coarse": lambda: binned(candidates.odds, _COARSE),
            "level": lambda: candidates.level + 1,
            "len": lambda: self._sizes,
            "text": lambda: self.text,
            "parts": lambda: np.diff(table.ptr),
            "brackets": self._brackets,
            "gap.len": lambda: self._gap[1] - self._gap[0],
            "gap.text": self._gap_text,
            "seen": lambda: seen.recall(self.text, table.kind) + 1,
            "listed": lambda: table.kind * 0 if listed is None else listed.degrees(table),
            "pair": lambda: table.kind * 0 if pairs is None else binned(pairs.scores(candidates, words) + _USUAL, 1.0),
            "pair.gap": self._gap_kind,
            "pair.first": lambda: self._part_seen(0),
            "pair.second": lambda: self._part_seen(1),
            "again": lambda: self._again[0],
            "again.other": lambda: self._again[1],
            **{name: partial(self._relation, 0, number) for number, name in enumerate(RELATIONS)},
            **{f"{name}.less": partial(self._relation, 1, number) for number, name in enumerate(RELATIONS)},
        }

    def table(self, names: Sequence[str], rows: Ints | None = None) -> UInt64:
        """Return values, (V, C).

        Args:
            names: V of them.
            rows: numbers of the candidates that are wanted; all when ``None``.
        """
        count = len(self.candidates) if rows is None else len(rows)
        found = np.empty((len(names), count), np.uint64)
        reads = {number: read for number, name in enumerate(names) if (read := read_column(name)) is not None}
        if reads:
            places = self._places if rows is None else self._places.take(rows)
            found[list(reads)] = self._tokens.at(list(reads.values()), places)
        for number, name in enumerate(names):
            if number not in reads:
                values = self._plain[name]().astype(np.int64, copy=False).view(np.uint64)
                found[number] = values if rows is None else values[rows]
        return found

    def __getitem__(self, name: str) -> UInt64:
        """Return the values of a name, (C,)."""
        found: UInt64 = self.table([name])[0]
        return found

    @cached_property
    def _places(self) -> _Places:
        own = (self.candidates.first, self.candidates.end - 1, *self._gap)
        there = np.ones((len(own), len(self._low)), np.bool_)
        there[2:] = self._gapped
        return _Places(self._low + np.array(own), self._low, self._high, there)

    def tokens_at(self, place: str, distance: int) -> Ints:
        """Return the token of the batch at a place of each, (C,); it may lie outside its sentence."""
        found: Ints = self._places.tokens[_PLACES.index(place)] + distance
        return found

    @cached_property
    def text(self) -> UInt64:
        """(C,) hash of each one's words."""
        return self._tokens.texts(self.candidates.table, self._low)

    @cached_property
    def _sizes(self) -> Ints:
        table = self.candidates.table
        total = np.append(0, (table.end - table.first).cumsum())
        found: Ints = np.diff(total[table.ptr])
        return found

    @cached_property
    def _gapped(self) -> NDArray[np.bool_]:
        return ~self.candidates.table.contiguous

    @cached_property
    def _gap(self) -> tuple[Ints, Ints]:
        """(C,) first token and end of each one's first gap; both are the same without a gap."""
        table = self.candidates.table
        begin = table.end[table.ptr[:-1]]
        behind = np.minimum(table.ptr[:-1] + 1, max(0, len(table.first) - 1))
        return begin, np.where(self._gapped, table.first[behind], begin)

    def _gap_text(self) -> Array:
        return self._range_text(*self._gap)

    def _range_text(self, begin: Ints, end: Ints) -> UInt64:
        """(C,) hash of the words of a range of each candidate with a gap; 0 for others."""
        rows = np.flatnonzero(self._gapped)
        table = self.candidates.table
        ranges = MentionTable(
            table.sentence[rows], table.kind[rows], np.arange(len(rows) + 1), begin[rows], end[rows], table.heads[rows]
        )
        found = np.zeros(len(begin), np.uint64)
        found[rows] = self._tokens.texts(ranges, self._low[rows])
        return found

    def _part_seen(self, number: int) -> Ints:
        """(C,) how training has the first or the second part of each candidate with a gap; 0 for others."""
        table = self.candidates.table
        at = np.where(self._gapped, table.ptr[:-1] + number, 0)
        seen = self._seen.recall(self._range_text(table.first[at], table.end[at]), table.kind)
        return np.where(self._gapped, seen + 1, 0)

    def _gap_kind(self) -> Ints:
        """(C,) what the first gap is; 0 without one.

        Bits: 1 always; 2 it begins with a coordinator or comma, 4 it ends with a coordinator, 8 one is in it, 16 it
        begins with a bracket, 32 its brackets do not balance, 64 a preposition is before it.
        """
        hashes, (begin, end) = self._tokens.hashes, self._gap
        first, last = self._low + begin, self._low + end
        rows = np.flatnonzero(self._gapped)
        first, last = first[rows], last[rows]
        joins = np.isin(hashes, _JOINS)
        marks = np.append(0, joins.cumsum())
        brackets = np.append(0, (np.isin(hashes, _OPEN).astype(np.int64) - np.isin(hashes, _CLOSE)).cumsum())
        bits = np.stack([
            np.ones(len(rows), np.bool_), joins[first] | (hashes[first] == _COMMA), joins[last - 1],
            marks[last] > marks[first], np.isin(hashes[first], _OPEN), brackets[last] != brackets[first],
            np.isin(hashes[first - 1], _PREPOSITIONS),
        ])  # fmt: skip
        found = np.zeros(len(begin), np.int64)
        found[rows] = (bits << np.arange(len(bits))[:, None]).sum(0)
        return found

    def _brackets(self) -> Ints:
        """(C,) 1 without brackets, 2 where they balance, 3 where one is not closed, 4 where one is not opened."""
        opened, closed = (np.append(0, np.isin(self._tokens.hashes, marks).cumsum()) for marks in (_OPEN, _CLOSE))
        first, end = self._low + self.candidates.first, self._low + self.candidates.end
        opens, closes = opened[end] - opened[first], closed[end] - closed[first]
        return np.where(opens > closes, 3, np.where(closes > opens, 4, 1 + (opens > 0)))

    @cached_property
    def _related(self) -> Ints:
        """(2, R, C) bins of the log-odds of `RELATIONS`, and of how much less they are."""
        odds = strongest(self.candidates)
        found = np.empty((2, *odds.shape), np.int64)
        _bins_of_related(self.candidates.odds, odds, _COARSE, *found)
        return found

    def _relation(self, less: int, number: int) -> Ints:
        found: Ints = self._related[less, number]
        return found

    @cached_property
    def _again(self) -> tuple[Ints, Ints]:
        """(C,) bins of the largest log-odds of another candidate of the document with the same text.

        Of those of its type, and of those of others.
        """
        proposed, odds, kind = self.candidates.proposed, self.candidates.odds, self.candidates.table.kind
        own, text = mixed(0, self._document, self.text, kind), mixed(0, self._document, self.text)
        same = _largest_but(own, odds, np.arange(len(odds)), proposed)
        return binned(same, _COARSE), binned(_largest_but(text, odds, kind, proposed), _COARSE)


def _largest_but(group: UInt64, odds: Floats, label: Ints, counts: NDArray[np.bool_]) -> Floats:
    """Return for each candidate the largest of those log-odds in its group that count and have another label."""
    found = np.empty(len(odds))
    _best_but(group, odds, label, counts, *Slots.empty(len(group)), np.empty_like(group), found)
    return found
