"""Base class of structures: a template and two pure functions, mentions -> hyperedges and hyperedges -> mentions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import DataError, UsageError
from spanloom.hashing import UInt64
from spanloom.hypergraph import Edges, Ints, Paths, Template
from spanloom.native import Kernel
from spanloom.sparse import ascending, gathered

TokenMention = tuple[int, int, tuple[tuple[int, int], ...]]  # sentence, type, ranges of tokens in the sentence
NO_HEAD = (-1, -1)
_identities = Kernel("identities")


class MentionTable(NamedTuple):
    """M mentions of a batch of sentences, in tokens counted in their sentence.

    Args:
        sentence: (M,).
        kind: (M,) the type's number.
        ptr: (M + 1,) where each mention's ranges begin.
        first: first token of each range.
        end: end of each range, half-open.
        heads: (M, 2) the tokens of each mention's head, half-open; -1 where it has none.
    """

    sentence: Ints
    kind: Ints
    ptr: Ints
    first: Ints
    end: Ints
    heads: Ints

    @classmethod
    def build(
        cls, mentions: Iterable[TokenMention], heads: Sequence[tuple[int, int]] | Ints | None = None
    ) -> MentionTable:
        """From ``(sentence, type, ranges)``, and the tokens of their heads, if they have heads.

        >>> MentionTable.build([(0, 1, ((2, 3), (5, 6)))]).first.tolist()
        [2, 5]
        >>> MentionTable.build([(0, 1, ((2, 5),))], heads=[(3, 4)]).heads.tolist()
        [[3, 4]]
        """
        rows = list(mentions)
        ranges = [piece for _, _, pieces in rows for piece in pieces]
        return cls(
            np.array([row[0] for row in rows], np.int64),
            np.array([row[1] for row in rows], np.int64),
            np.cumsum([0, *(len(row[2]) for row in rows)]).astype(np.int64),
            np.array([piece[0] for piece in ranges], np.int64),
            np.array([piece[1] for piece in ranges], np.int64),
            np.full((len(rows), 2), -1) if heads is None else np.array(heads, np.int64).reshape(len(rows), 2),
        )

    @classmethod
    def merge(cls, tables: Sequence[MentionTable]) -> MentionTable:
        """Several tables as one, in the order of `order`."""
        every = concatenate(tables)
        return every.take(every.order())

    def rows(self) -> list[TokenMention]:
        """The mentions as ``(sentence, type, ranges)``."""
        pieces = list(zip(self.first.tolist(), self.end.tolist(), strict=True))
        ptr = self.ptr.tolist()
        return [
            (n, k, tuple(pieces[a:b]))
            for n, k, a, b in zip(self.sentence.tolist(), self.kind.tolist(), ptr[:-1], ptr[1:], strict=True)
        ]

    def headed(self) -> list[tuple[TokenMention, tuple[int, int]]]:
        """The mentions as ``((sentence, type, ranges), head)``."""
        return [(row, (first, end)) for row, (first, end) in zip(self.rows(), self.heads.tolist(), strict=True)]

    def __len__(self) -> int:
        return len(self.sentence)

    def take(self, rows: NDArray[np.bool_] | Ints) -> MentionTable:
        """Return some of the mentions: those of a mask, or those of these numbers, in their order."""
        kept: Ints = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows.astype(np.int64, copy=False)
        ptr, ranges = np.arange(len(kept) + 1), kept
        if len(self.first) > len(self):  # some have several
            ranges, ptr = gathered(self.ptr, kept)
        return MentionTable(  # `take` copies the rows of a matrix in half the time
            self.sentence[kept], self.kind[kept], ptr, self.first[ranges], self.end[ranges], self.heads.take(kept, 0)
        )

    def order(self) -> Ints:
        """(M,) the numbers of the mentions by sentence, first token, longest first, type, ranges, and head.

        It is the order in which mentions are predicted: one that depends on the mentions alone.

        >>> table = MentionTable.build([(0, 0, ((1, 3), (4, 5))), (0, 0, ((1, 2), (4, 5))), (0, 1, ((1, 9),))])
        >>> table.order().tolist()
        [2, 1, 0]
        """
        count = np.diff(self.ptr)
        most = int(count.max(initial=1))
        columns = [self.sentence, self.first[self.ptr[:-1]], -self.end[self.ptr[1:] - 1], self.kind]
        if most > 1:
            ranges = np.full((len(self), most, 2), -1)
            ranges[np.arange(most) < count[:, None]] = np.stack([self.first, self.end], 1)
            columns += [*ranges.reshape(len(self), 2 * most).T[1:]]
        return ascending(*columns, *self.heads.T)

    def of_kinds(self, kind: Ints) -> MentionTable:
        """The same mentions with other types, (M,)."""
        return MentionTable(self.sentence, kind, *self[2:])

    @property
    def contiguous(self) -> NDArray[np.bool_]:
        """(M,) whether a mention has one range."""
        one: NDArray[np.bool_] = self.ptr[1:] - self.ptr[:-1] == 1  # `np.diff` takes longer
        return one


def identities(table: MentionTable) -> UInt64:
    """Return a hash of each mention: of its sentence, type, ranges and head, (M,); equal for equal mentions only."""
    found = np.empty(len(table), np.uint64)
    _identities(table, found)
    return found


def contiguous_table(sentence: Ints, kind: Ints, first: Ints, end: Ints) -> MentionTable:
    """Mentions of one range each, without heads; the arguments are those of `MentionTable`."""
    return MentionTable(sentence, kind, np.arange(len(sentence) + 1), first, end, np.full((len(sentence), 2), -1))


def placed_table(offsets: Ints, kind: Ints, first: Ints, end: Ints) -> MentionTable:
    """Mentions of one range each, whose tokens are counted in the batch, without heads.

    Args:
        offsets: (N + 1,) first token of each sentence.
        kind: (M,) the type's number.
        first, end: (M,) tokens, half-open.
    """
    sentence = np.searchsorted(offsets, first, side="right") - 1
    base = offsets[sentence]
    return contiguous_table(sentence, kind, first - base, end - base)


class Encoded(NamedTuple):
    """Gold hyperedges, and which mentions they do not hold.

    Args:
        edges: (T, K, D) int16, as the engine's Viterbi gives them.
        lost: number of a mention -> why the structure cannot hold it.
    """

    edges: Edges
    lost: dict[int, str]


class Crowd(NamedTuple):
    """A sentence that has more mentions of a type than the reading ``all`` gives.

    Args:
        sentence: its number.
        kind: the type's number.
        mentions: how many have a path.
    """

    sentence: int
    kind: int
    mentions: int


@dataclass(frozen=True, eq=False)
class Structure(ABC):
    """One way to write mentions as sub-hypergraphs.

    A structure is a value: its class is a frozen dataclass whose fields are its parameters. It holds no types: they
    come with each call, as ``types`` names or as their count.
    """

    name: ClassVar[str]
    joint: ClassVar[bool] = False
    """True if all types share one lattice (K = 1 for the engine), False if each has its own copy of the template."""
    heads: ClassVar[bool] = False
    """True if its mentions have heads."""
    only_canonical: ClassVar[bool] = True
    """True if every sub-hypergraph is the encoding of some mentions."""
    covers: ClassVar[bool] = False
    """True if its mentions hold every token, as words do, and tags; `encode` then wants such mentions."""

    def __str__(self) -> str:
        """The name, and those parameters that are not the default's, as in ``semi_markov(longest=6)``."""
        values = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        chosen = [f"{name}={value}" for name, value, default in values if value != default]
        return f"{self.name}({', '.join(chosen)})" if chosen else self.name

    def templates(self) -> tuple[str, ...]:
        """Templates of features that the structure needs beside those that are given."""
        return ()

    @abstractmethod
    def template(self, types: Sequence[str]) -> Template:
        """The template; it mentions the types only where the structure is joint."""

    @abstractmethod
    def encode(self, mentions: MentionTable, offsets: Ints, types: Sequence[str]) -> Encoded:
        """The hyperedges of gold mentions.

        Args:
            mentions: each within one sentence.
            offsets: (N + 1,) first token of each sentence.
            types: K names.
        """

    def all_encodings(self, edges: Edges, offsets: Ints) -> NDArray[np.uint8] | None:
        """Return (T, E, K) 1 where a hyperedge is in an encoding of the same mentions; only these keep to all.

        ``None`` for a structure that is to be asked for one encoding alone: it has no other, or, if it is not
        ``only_canonical``, their set has no such form.

        Args:
            edges: (T, K, D) one of the encodings.
            offsets: (N + 1,) first token of each sentence.
        """
        return None

    @abstractmethod
    def decode(self, edges: Edges, offsets: Ints, types: Sequence[str], reading: str = "enough") -> MentionTable:
        """The mentions of hyperedges.

        Args:
            edges: (T, K, D).
            offsets: (N + 1,) first token of each sentence.
            types: K names.
            reading: ``enough`` gives as few mentions as use every hyperedge, nested rather than crossing (Muis and Lu
                2017, footnote 3); ``all`` gives every mention that has a path. Muis and Lu (2016), supplement,
                section 3.
        """

    def crowded(self, edges: Edges, offsets: Ints, types: Sequence[str]) -> list[Crowd]:
        """Return the sentences and types where ``all`` is cut short: more than `MOST_MENTIONS` mentions have a path."""
        return []

    def holds(self, mentions: MentionTable) -> NDArray[np.bool_]:
        """(M,) whether the structure can hold each mention by itself."""
        return mentions.contiguous

    @abstractmethod
    def paths(self, mentions: MentionTable, types: Sequence[str]) -> Paths:
        """The paths of each mention, as questions for the engine: a structure has the mention if it keeps to one.

        What the table holds are questions, not a set of mentions: a mention's paths depend on that mention alone. Where
        a mention may be written in V ways, it has V rows, side by side, in one copy of the template. No structure keeps
        to two of them, so their probabilities add; a way that is closed to a mention is a row that allows nothing.

        Args:
            mentions: M that the structure can hold.
            types: K names.

        Returns:
            M V questions.
        """

    @abstractmethod
    def start_roles(self, types: Sequence[str]) -> frozenset[str]:
        """Return the roles that mean the start of a mention; the mention penalty is added to them."""

    def lanes(self, types: Sequence[str]) -> int:
        """The engine's K axis."""
        return 1 if self.joint else len(types)


READINGS = ("enough", "all")
MOST_COMPONENTS = 20  # of a mention: more is a slip, and each costs two nodes a token
MOST_MENTIONS = 1000  # that the reading ``all`` gives of one sentence and type: their number grows exponentially


GAP = "it has a gap; the structures shared, split and seven_tag hold gaps"


def too_many_components(mentions: MentionTable, most: int) -> dict[int, str]:
    """Return why each mention of more than ``most`` components is lost."""
    count = np.diff(mentions.ptr)
    return {
        i: f"it has {count[i]} components, and the model was made for at most {most}"
        for i in np.flatnonzero(count > most).tolist()
    }


def drop_gaps(mentions: MentionTable) -> tuple[MentionTable, dict[int, str]]:
    """The mentions that have one range, and why the others are lost."""
    whole = mentions.contiguous
    if whole.all():
        return mentions, {}
    return mentions.take(whole), dict.fromkeys(np.flatnonzero(~whole).tolist(), GAP)


def concatenate(tables: Sequence[MentionTable]) -> MentionTable:
    """Several tables as one, one after the other."""
    starts = np.cumsum([0, *(len(table.first) for table in tables)]).tolist()
    ptr = np.concatenate([[0], *(table.ptr[1:] + start for table, start in zip(tables, starts, strict=False))])
    sentence, kind, _, first, end, heads = (np.concatenate(columns) for columns in zip(*tables, strict=True))
    return MentionTable(sentence, kind, ptr, first, end, heads)


def check_covered(held: NDArray[np.bool_], offsets: Ints, name: str) -> None:
    """Refuse mentions that leave tokens out, for a structure that `covers` them.

    Args:
        held: (T,) whether a token is in a mention.
        offsets: (N + 1,) first token of each sentence.
        name: of the structure.

    Raises:
        DataError: a token is in none.
    """
    if not held.all():
        token = int(np.argmin(held))
        sentence = int(np.searchsorted(offsets, token, side="right")) - 1
        raise DataError(
            f"token {token - offsets[sentence]} of sentence {sentence} is in no mention; the structure {name} holds "
            "every token, give a mention for each"
        )


def check_number(name: str, value: Any, most: int) -> None:
    """Check that a parameter is a whole number from 1.

    Raises:
        UsageError: it is not, or is above ``most``.
    """
    if not isinstance(value, int | np.integer) or not 1 <= value <= most:
        raise UsageError(f"{name} is {value!r}, expected a whole number from 1 to {most}")
