"""The lattices: words, mentions, pairs of their tags, and the product of the two trained chains.

All are chains on the same engine, and each tag of each says what word tag and what mention tag it stands for. So best
labels and probabilities are read the same way, whichever lattice gave them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import UsageError
from spanloom.hypergraph import Edges, Engine, Floats, Ints, Paths, Potentials, Role, SubgraphEngine, Template
from spanloom.segment.tags import MENTIONS, WORD_TAGS, WORDS, Bools, edge_rows, mention_tags, spelled
from spanloom.structures import Encoded, MentionTable
from spanloom.structures.base import no_heads
from spanloom.structures.chain import Chain, chain_template

MOST_TYPES, MOST_PAIRED = 60, 24  # of a chain of mentions, and of pairs: making a template takes the cube of them


class Labels(NamedTuple):
    """Tags of T characters; an empty array where a lattice has none.

    Args:
        words: numbers in `WORD_TAGS`.
        mentions: numbers in `mention_tags`.
    """

    words: Ints
    mentions: Ints


class Segments(NamedTuple):
    """Q words or mentions.

    Args:
        sentence: (Q,).
        first, end: (Q,) characters, counted in the sentence.
        base: (Q,) number of the tag that begins it: 0 for a word, and 1 + 4 k for a mention of type k.
    """

    sentence: Ints
    first: Ints
    end: Ints
    base: Ints

    @property
    def kinds(self) -> Ints:
        """(Q,) types of mentions."""
        kinds: Ints = (self.base - 1) // 4
        return kinds

    @property
    def table(self) -> MentionTable:
        """The mentions as a table."""
        count = len(self.sentence)
        return MentionTable(self.sentence, self.kinds, np.arange(count + 1), self.first, self.end, no_heads(count))


def segments(tags: Ints, offsets: Ints, *, outside: bool) -> Segments:
    """The words, or mentions, of tags.

    Args:
        tags: (T,) as `Labels` has them.
        offsets: (N + 1,) first character of each sentence.
        outside: whether the first tag is O, as for mentions.
    """
    letters = (tags - outside) % 4
    held = tags >= outside
    starts = np.flatnonzero(held & ((letters == 0) | (letters == 3)))
    ends = np.flatnonzero(held & (letters >= 2)) + 1
    sentence = np.searchsorted(offsets, starts, side="right") - 1
    base = tags[starts] - letters[starts]
    return Segments(sentence, starts - offsets[sentence], ends - offsets[sentence], base)


class Pairs(Chain):
    """A chain over the allowed pairs of a word tag and a mention tag (Xu et al. 2014, equation 3).

    Args:
        types: K names.
        allowed: (4, L) see `spanloom.segment.constraints.allowed_pairs`.
        own: whether a pair has weights of its own, beside those of its two tags, which it shares with other pairs. The
            paper's joint model has only the former, and then has few examples of most pairs.

    Raises:
        UsageError: there are too many types for one lattice.
    """

    name = "pairs"
    letters = ""

    def __init__(self, types: Sequence[str], allowed: Bools, *, own: bool) -> None:
        _check_types(types, MOST_PAIRED)
        mentions = mention_tags(types)
        self.pairs = [(w, m) for m in range(len(mentions)) for w in range(len(WORD_TAGS)) if allowed[w, m]]
        self._names = [f"{WORD_TAGS[w]}+{mentions[m]}" for w, m in self.pairs]
        plain = chain_template(self._names, self.follows)
        edges = (
            replace(edge, roles=(*map(Role, _halves(edge.label)), *(edge.roles if own else ()))) if edge.roles else edge
            for edge in plain.edges
        )
        self._template = Template(plain.kinds, plain.root, plain.final, tuple(edges))

    def template(self, types: Sequence[str]) -> Template:
        """A chain over the pairs; a pair scores its two tags, and perhaps itself."""
        return self._template

    def tags(self, types: Sequence[str]) -> list[str]:
        """Such as ``B+O``."""
        return self._names

    def follows(self, tag: str, after: str) -> bool:
        """Whether both tags of a pair may follow."""
        (one, two), (word, mention) = _halves(tag), _halves(after)
        return WORDS.follows(one, word) and MENTIONS.follows(two, mention)

    def encode(self, mentions: MentionTable, offsets: Ints, types: Sequence[str]) -> Encoded:
        """Not from mentions alone: a pair needs words; use `write_tags`."""
        raise UsageError("a chain of pairs is encoded from tags of words and of mentions")

    def decode(self, edges: Edges, offsets: Ints, types: Sequence[str], reading: str = "enough") -> MentionTable:
        """The mentions, as `Structure.decode`."""
        tags = np.array([m for _, m in self.pairs])[self.read_tags(edges, types)]
        return segments(tags, offsets, outside=True).table

    def paths(self, mentions: MentionTable, types: Sequence[str]) -> Paths:
        """As `Structure.paths`: the mention's tags, whatever the words."""
        lattice = Lattice(SubgraphEngine(self.template(types)), self, tuple(types), *_columns(self.pairs))
        return lattice.questions(
            Segments(mentions.sentence, mentions.first, mentions.end, 1 + 4 * mentions.kind), words=False
        )

    def start_roles(self, types: Sequence[str]) -> frozenset[str]:
        """The mention tags that begin one."""
        return MENTIONS.start_roles(types)


@dataclass(frozen=True)
class Lattice:
    """A chain with its engine.

    Args:
        engine: of the structure's template.
        structure: how tags are written as hyperedges.
        types: K names.
        words: (tags,) the word tag of each of the structure's tags; -1 for none.
        mentions: (tags,) the mention tag.
    """

    engine: Engine
    structure: Chain
    types: tuple[str, ...]
    words: Ints
    mentions: Ints

    def write(self, labels: Labels, offsets: Ints) -> Edges:
        """The hyperedges of tags; all must be allowed."""
        sides = [(own, given) for own, given in zip((self.words, self.mentions), labels, strict=True) if own[0] >= 0]
        width = 1 + max(int(max(own.max(), given.max(initial=0))) for own, given in sides)
        code = np.zeros(len(self.words), np.int64)
        tags = np.zeros(len(sides[0][1]), np.int64)
        for own, given in sides:
            code, tags = code * width + own, tags * width + given
        number = np.full(max(int(code.max()), int(tags.max(initial=0))) + 1, -1, np.int64)
        number[code] = np.arange(len(code))
        return self.structure.write_tags(number[tags], offsets, self.types)

    def read(self, edges: Edges) -> Labels:
        """The tags of hyperedges."""
        tags = self.structure.read_tags(edges, self.types)
        return Labels(*(own[tags] if own[0] >= 0 else tags[:0] for own in (self.words, self.mentions)))

    def best(self, potentials: Potentials, offsets: Ints, n_jobs: int = 1) -> Labels:
        """The tags of the best structures."""
        return self.read(self.engine.viterbi(potentials, offsets, n_jobs).edges)

    def questions(self, asked: Segments, *, words: bool) -> Paths:
        """Whether structures hold some words, or mentions."""
        row, size = spelled(asked.first, asked.end, asked.base)
        rows = self._word_rows if words else self._mention_rows
        return Paths.build(asked.sentence, np.zeros_like(asked.sentence), asked.first, row, size, rows)

    def probabilities(
        self, potentials: Potentials, offsets: Ints, asked: Segments, *, words: bool, n_jobs: int = 1
    ) -> Floats:
        """The exact probability of each word, or mention, (Q,)."""
        if not len(asked.sentence):
            return np.zeros(0)
        return self.engine.path_probability(potentials, offsets, self.questions(asked, words=words), n_jobs)

    @cached_property
    def _word_rows(self) -> NDArray[np.uint8]:
        return self._rows(self.words)

    @cached_property
    def _mention_rows(self) -> NDArray[np.uint8]:
        return self._rows(self.mentions)

    def _rows(self, side: Ints) -> NDArray[np.uint8]:
        template = self.engine.template
        return np.array([edge_rows(template, (side == tag).tolist()) for tag in range(int(side.max()) + 1)])


@dataclass(frozen=True)
class Product(Lattice):
    """The product of a chain of words and a chain of mentions, without the pairs that are not allowed.

    Its scores are the sums of the two chains' scores; so its best structure is the exact joint optimum, which dual
    decomposition looks for, and its probabilities are those of the two chains given that they agree.
    """

    role_sources: Ints
    """(R,) each role among the word tags and then the mention tags."""
    constant_sources: Ints
    """(C, 2) the transition of words and that of mentions in each constant."""

    def potentials(self, words: Potentials, mentions: Potentials, weight: float = 1.0) -> Potentials:
        """Those of the product; those of the mentions are multiplied by a weight."""
        factor = np.float32(weight)
        roles = np.concatenate([words.roles, factor * mentions.roles], axis=1).take(self.role_sources, axis=1)
        one, two = self.constant_sources.T
        return Potentials(roles, words.constants[one] + factor * mentions.constants[two])


def word_lattice() -> Lattice:
    """The chain of words."""
    none = np.full(len(WORD_TAGS), -1)
    return Lattice(SubgraphEngine(WORDS.template(())), WORDS, ("word",), np.arange(len(WORD_TAGS)), none)


def mention_lattice(types: Sequence[str]) -> Lattice:
    """The chain of mentions.

    Raises:
        UsageError: there are too many types for one lattice.
    """
    _check_types(types, MOST_TYPES)
    count = len(mention_tags(types))
    return Lattice(
        SubgraphEngine(MENTIONS.template(types)), MENTIONS, tuple(types), np.full(count, -1), np.arange(count)
    )


def pair_lattice(types: Sequence[str], allowed: Bools) -> Lattice:
    """The chain of pairs, with weights for each tag and for each pair."""
    structure = Pairs(types, allowed, own=True)
    engine = SubgraphEngine(structure.template(types))
    return Lattice(engine, structure, tuple(types), *_columns(structure.pairs))


def product_lattice(types: Sequence[str], allowed: Bools) -> Product:
    """The product of the two chains."""
    structure = Pairs(types, allowed, own=False)
    template = structure.template(types)
    tags = [*WORD_TAGS, *mention_tags(types)]
    words, mentions = WORDS.template(()).constants, MENTIONS.template(types).constants
    names = structure.tags(types)
    sources = {}
    for one in names:
        for two in names:
            (w, m), (v, n) = _halves(one), _halves(two)
            if structure.follows(one, two):
                sources[f"{one} {two}"] = words.index(f"{w} {v}"), mentions.index(f"{m} {n}")
    return Product(
        SubgraphEngine(template), structure, tuple(types), *_columns(structure.pairs),
        np.array([tags.index(role) for role in template.roles]),
        np.array([sources[name] for name in template.constants]),
    )  # fmt: skip


def _check_types(types: Sequence[str], most: int) -> None:
    if len(types) > most:
        found = f"there are {len(types)} mention types, but this lattice holds at most {most}"
        raise UsageError(f"{found}; train fewer, or the method dual")


def _columns(pairs: Sequence[tuple[int, int]]) -> tuple[Ints, Ints]:
    columns = np.array(pairs, np.int64)
    return columns[:, 0].copy(), columns[:, 1].copy()


def _halves(tag: str) -> tuple[str, str]:
    """The two tags of a pair; O, which stands for what lies before and after the text, is O for both."""
    word, _, mention = tag.partition("+")
    return (word, mention) if mention else (tag, tag)
