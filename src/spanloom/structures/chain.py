"""Tagging chains: one lattice for all types, a tag for each token. BIO and BILOU."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import UsageError
from spanloom.hypergraph import Child, Edges, Hyperedge, Ints, Paths, Role, Template
from spanloom.sparse import places_of
from spanloom.structures.base import Encoded, MentionTable, Structure, check_covered, drop_gaps, placed_table

OVERLAP = "it overlaps a longer one, and a chain holds no overlaps"


def chain_template(
    tags: Sequence[str], follows: Callable[[str, str], bool], role_of: Callable[[str], str] = str
) -> Template:
    """Return a first-order chain (Lafferty et al. 2001): a role for each tag, a constant for each pair of neighbours.

    Args:
        tags: L names.
        follows: whether one tag may follow another; ``O`` is also the tag before and after the text.
        role_of: the role of a tag, alone and beside its neighbours; tags with the same role share weights.

    A tag is two nodes, one that scores it and one that selects the next tag. A token has therefore L scores to
    exponentiate, and the L x L transitions are the same at every token.
    """
    return Template(
        kinds=("START", *(f"{tag} " for tag in tags), *tags, "END"),
        root="START",
        final=frozenset({"END"}),
        edges=(
            *(Hyperedge(f"START {tag}", "START", (Child(f"{tag} "),)) for tag in tags if follows("O", tag)),
            *(Hyperedge(tag, f"{tag} ", (Child(tag),), (Role(role_of(tag)),)) for tag in tags),
            *(
                Hyperedge(f"{tag} {after}", tag, (Child(f"{after} ", 1),), constant=f"{role_of(tag)} {role_of(after)}")
                for tag in tags
                for after in tags
                if follows(tag, after)
            ),
            *(Hyperedge(f"{tag} END", tag, (Child("END", 1),)) for tag in tags if follows(tag, "O")),
        ),
    )


def write_chain(template: Template, tags: Sequence[str], numbers: NDArray[np.integer], offsets: Ints) -> Edges:
    """(T, K, 3) hyperedges of sequences of tags.

    Args:
        template: a `chain_template` of these tags.
        tags: L names.
        numbers: (T, K) of tags.
        offsets: (N + 1,) first token of each sentence.
    """
    number = {edge.label: i for i, edge in enumerate(template.edges)}
    start, score, end = (
        np.array([number.get(pattern.format(tag), -1) for tag in tags], np.int16)
        for pattern in ("START {}", "{}", "{} END")
    )
    pair = np.array([[number.get(f"{tag} {after}", -1) for after in tags] for tag in tags], np.int16)
    first, last = borders(offsets)
    edges = np.full((*numbers.shape, 3), -1, np.int16)
    own, onward = score[numbers], np.empty(numbers.shape, np.int16)
    onward[:-1] = pair[numbers[:-1], numbers[1:]]
    onward[last] = end[numbers[last]]
    edges[..., 0], edges[..., 1] = own, onward
    edges[first, :, 0], edges[first, :, 1], edges[first, :, 2] = start[numbers[first]], own[first], onward[first]
    return edges


def read_chain(template: Template, tags: Sequence[str], edges: Edges) -> Ints:
    """Return (T, K) numbers of tags from (T, K, D) hyperedges of a `chain_template`; 0 without hyperedges."""
    own = edges - np.int16(template.index(tags[0]))  # those of tags are side by side
    found = np.where((own >= 0) & (own < len(tags)), own, np.int16(0))
    numbers: Ints = reduce(np.maximum, np.moveaxis(found, 2, 0)).astype(np.int64)  # several times faster than `max`
    return numbers


def picking(template: Template, picked: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """(Q, E) hyperedges that steps of a path may pick in a `chain_template`: those of some tags, and all transitions.

    Args:
        template: of L tags.
        picked: (Q, L) which tags.
    """
    allowed = np.ones((len(picked), len(template.edges)), np.uint8)
    allowed[:, [i for i, edge in enumerate(template.edges) if edge.roles]] = picked
    return allowed


class Chain(Structure):
    """A chain of tags: its structures are sequences of tags, which `write_tags` and `read_tags` turn to hyperedges."""

    joint = True
    letters: ClassVar[Sequence[str]] = ()

    @abstractmethod
    def follows(self, tag: str, after: str) -> bool:
        """Return whether ``after`` may follow ``tag``."""

    def tags(self, types: Sequence[str]) -> list[str]:
        """The names of L tags: ``O``, unless every token is held, then the letters of each type."""
        outside = [] if self.covers else ["O"]
        return outside + [f"{letter}-{name}" for name in types for letter in self.letters]

    def template(self, types: Sequence[str]) -> Template:
        """A chain over the tags."""
        return _chain(self, tuple(types))

    def write_tags(self, tags: Ints, offsets: Ints, types: Sequence[str]) -> Edges:
        """(T, 1, 3) hyperedges of tags.

        Args:
            tags: (T,) numbers in `tags`.
            offsets: (N + 1,) first token of each sentence.
            types: K names.
        """
        return write_chain(self.template(types), self.tags(types), tags[:, None], offsets)

    def read_tags(self, edges: Edges, types: Sequence[str]) -> Ints:
        """Return (T,) numbers of tags from (T, 1, D) hyperedges; 0 without hyperedges."""
        return read_chain(self.template(types), self.tags(types), edges)[:, 0]


class FlatChain(Chain):
    """A chain of mentions without overlap and gaps, defined by its letters and how they spell a mention.

    Of two mentions that overlap, the shorter is left out of training, as in Lu and Roth (2015), section 4.1. A chain
    that `covers` all tokens has no tag O.

    >>> @dataclass(frozen=True)
    ... class Bioes(FlatChain):
    ...     name = "bioes"
    ...     letters = "BIES"
    ...
    ...     def spell(self, length):
    ...         return "S" if length == 1 else "B" + "I" * (length - 2) + "E"
    >>> [after for after in Bioes().tags(["x", "y"]) if Bioes().follows("B-x", after)]
    ['I-x', 'E-x']
    """

    letters: ClassVar[str]

    @abstractmethod
    def spell(self, length: int) -> str:
        """Return the letters of a mention of ``length`` tokens.

        Those between the first and the last are all the same, in mentions of any length. A letter that begins a mention
        occurs nowhere else in one.
        """

    def follows(self, tag: str, after: str) -> bool:
        """Return whether letters follow each other in a mention, or one may end where ``after`` begins one or is O."""
        alphabet = _alphabet(self)
        if after[0] in alphabet.inner:
            return tag[2:] == after[2:] and (tag[0], after[0]) in alphabet.pairs
        return tag[0] == "O" or tag[0] in alphabet.last

    def start_roles(self, types: Sequence[str]) -> frozenset[str]:
        """The tags whose letters begin a mention."""
        return frozenset(tag for tag in self.tags(types) if tag[0] in _alphabet(self).first)

    def encode(self, mentions: MentionTable, offsets: Ints, types: Sequence[str]) -> Encoded:
        """As `Structure.encode`; mentions with gaps and the shorter of two that overlap are lost."""
        tags, lost = self.tags_of(mentions, offsets)
        return Encoded(self.write_tags(tags, offsets, types), lost)

    def tags_of(self, mentions: MentionTable, offsets: Ints) -> tuple[Ints, dict[int, str]]:
        """The tags of mentions, (T,), and which mentions they do not hold; the arguments are those of `encode`.

        Raises:
            DataError: a token is in no mention, though every token is to be held.
        """
        whole, lost = drop_gaps(mentions)
        shorter = _overlapping(whole, offsets)
        if shorter.any():
            kept = np.flatnonzero(mentions.contiguous)
            lost |= dict.fromkeys(kept[shorter].tolist(), OVERLAP)
            whole = whole.take(~shorter)
        start, length = offsets[whole.sentence] + whole.first, whole.end - whole.first
        before, inner, last = self.spelled(whole).T
        tags = np.full(int(offsets[-1]), -1)
        tags[places_of(start, length)[0]] = np.repeat(inner, length)
        tags[start], tags[start + length - 1] = before, last
        if self.covers:
            check_covered(tags >= 0, offsets, self.name)
        return np.maximum(tags, 0), lost

    def spelled(self, mentions: MentionTable) -> Ints:
        """(M, 3) tags of mentions without gaps: the first, those between, the last; all the same where there is one."""
        words = map(self.spell, (1, 2, 3))
        letters = np.array([[self.letters.index(word[i]) for i in (0, len(word) // 2, -1)] for word in words])
        base = (not self.covers) + mentions.kind * len(self.letters)
        tags: Ints = base[:, None] + letters[np.minimum(mentions.end - mentions.first, 3) - 1]
        return tags

    def decode(self, edges: Edges, offsets: Ints, types: Sequence[str], reading: str = "enough") -> MentionTable:
        """As `Structure.decode`; a chain has one reading only."""
        return self.mentions_of(self.read_tags(edges, types), offsets)

    def mentions_of(self, tags: Ints, offsets: Ints) -> MentionTable:
        """The mentions of (T,) tags."""
        alphabet, (_, last) = _alphabet(self), borders(offsets)
        kind, letters = np.divmod(tags - (not self.covers), len(self.letters))
        letters[kind < 0] = -1  # the last of these tables is for O
        first, inner = (
            np.array([letter in some for letter in (*self.letters, "O")])[letters]
            for some in (alphabet.first, alphabet.inner)
        )
        starts, ends = np.flatnonzero(first), np.flatnonzero((letters >= 0) & (last | ~np.append(inner[1:], False)))
        return placed_table(offsets, kind[starts], starts, ends + 1)

    def paths(self, mentions: MentionTable, types: Sequence[str]) -> Paths:
        """As `Structure.paths`: the mention's tags, and that it ends where it does."""
        length = mentions.end - mentions.first
        ends = np.stack([length == 1, np.zeros(len(length), bool), length > 1], 1)
        row = (self.spelled(mentions) - (not self.covers)) * 2 + ends
        allowed = _allowed(self, tuple(types))
        lane = np.zeros_like(mentions.kind)
        return Paths.build(mentions.sentence, lane, mentions.first, row, run_sizes(length), allowed)


def _overlapping(mentions: MentionTable, offsets: Ints) -> NDArray[np.bool_]:
    """(M,) which mentions overlap one that is kept; the longest are kept first, of equals the one given first."""
    start, end = (offsets[mentions.sentence] + border for border in (mentions.first, mentions.end))
    change = np.zeros(int(offsets[-1]) + 1, np.int64)
    np.add.at(change, start, 1)
    np.subtract.at(change, end, 1)
    shorter = np.zeros(len(mentions), bool)
    if change.cumsum().max() < 2:
        return shorter
    taken = np.zeros(len(change), bool)
    for i in np.argsort(start - end, kind="stable").tolist():
        place = slice(start[i], end[i])
        shorter[i] = taken[place].any()
        taken[place] |= not shorter[i]
    return shorter


def run_sizes(length: Ints) -> Ints:
    """(M, 3) how many of so many tokens are the first, those between, and the last, where there are several."""
    return np.stack([np.ones_like(length), np.maximum(length - 2, 0), (length > 1).astype(np.int64)], 1)


@dataclass(frozen=True)
class Bio(FlatChain):
    """Tags B, I and O: Lu and Roth (2015), section 4.1.

    - Finds: mentions that do not overlap.
    - Cannot: hold overlaps, also of two types, or gaps: of two overlapping mentions the shorter is left out of
      training.
    - Use: it as a baseline.

    >>> table, offsets = MentionTable.build([(0, 0, ((0, 3),)), (0, 0, ((1, 2),))]), np.array([0, 4])  # they nest
    >>> edges = Bio().encode(table, offsets, ["x"]).edges
    >>> [spans for _, _, spans in Bio().decode(edges, offsets, ["x"]).rows()]
    [((0, 3),)]
    """

    name = "bio"
    letters = "BI"

    def spell(self, length: int) -> str:
        """B, then I."""
        return "B" + "I" * (length - 1)


@dataclass(frozen=True)
class Bilou(FlatChain):
    """Tags B, I, L, O and U: Ratinov and Roth (2009), as Lu and Roth (2015), section 4.1.

    - Finds: the mentions of `Bio`.
    - Cannot: what `Bio` cannot.
    - Use: it as a baseline; the last token and single tokens have weights of their own.

    >>> Bilou().tags(["x"])
    ['O', 'B-x', 'I-x', 'L-x', 'U-x']
    """

    name = "bilou"
    letters = "BILU"

    def spell(self, length: int) -> str:
        """U alone, or B, I and L."""
        return "U" if length == 1 else "B" + "I" * (length - 2) + "L"


class _Alphabet(NamedTuple):
    """Letters of a chain by function: begin a mention, continue it, end it, follow each other in it."""

    first: frozenset[str]
    inner: frozenset[str]
    last: frozenset[str]
    pairs: frozenset[tuple[str, str]]


@lru_cache(maxsize=64)
def _alphabet(chain: FlatChain) -> _Alphabet:
    words = [chain.spell(length) for length in range(1, 6)]
    found = _Alphabet(
        frozenset(word[0] for word in words),
        frozenset(letter for word in words for letter in word[1:]),
        frozenset(word[-1] for word in words),
        frozenset(pair for word in words for pair in pairwise(word)),
    )
    long = [words[2][0] + words[2][1] * length + words[2][2] for length in (1, 2, 3)]
    if found.first & found.inner or words[2:] != long:
        raise UsageError(
            f"{chain.name} spells mentions {', '.join(words)}; expected all letters between the first and the "
            "last to be the same, and no first letter elsewhere"
        )
    if not found.first | found.inner <= set(chain.letters) - {"O"}:
        raise UsageError(f"{chain.name} spells mentions {', '.join(words)}; expected letters of {chain.letters!r}")
    return found


def borders(offsets: Ints) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(T,) whether a token is the first, and the last, of its sentence."""
    filled = np.diff(offsets) > 0
    first, last = np.zeros(int(offsets[-1]), bool), np.zeros(int(offsets[-1]), bool)
    first[offsets[:-1][filled]] = True
    last[offsets[1:][filled] - 1] = True
    return first, last


@lru_cache(maxsize=64)
def _chain(chain: Chain, types: tuple[str, ...]) -> Template:
    return chain_template(chain.tags(types), chain.follows)


@lru_cache(maxsize=64)
def _allowed(chain: FlatChain, types: tuple[str, ...]) -> NDArray[np.uint8]:
    """The hyperedges that a path may pick, by type, then letter, then whether the mention ends there."""
    template, tags, size = chain.template(types), chain.tags(types), len(chain.letters)
    inner = [chain.letters.index(letter) for letter in _alphabet(chain).inner]
    rows: list[NDArray[np.uint8]] = []
    for i, tag in enumerate(tags[not chain.covers :]):
        base = i - i % size + (not chain.covers)
        goes_on = {f"{tags[base + letter]} " for letter in inner}
        for ends in (False, True):
            row = np.zeros(len(template.edges), np.uint8)
            for e, edge in enumerate(template.edges):
                if edge.head == "START":
                    row[e] = edge.children[0].kind == f"{tag} "
                elif edge.head == tag:
                    row[e] = (edge.children[0].kind in goes_on) != ends
                else:
                    row[e] = edge.label == tag and edge.head == f"{tag} "
            rows.append(row)
    return np.array(rows, np.uint8)
