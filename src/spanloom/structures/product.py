"""Words and mentions of one text at once: the product of their chains, without what constraints forbid."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import UsageError
from spanloom.hypergraph import Edges, Ints, Paths, Role, Template
from spanloom.structures.base import Encoded, MentionTable, concatenate
from spanloom.structures.chain import Bilou, Chain, chain_template, picking, run_sizes
from spanloom.structures.words import Words

Bools = NDArray[np.bool_]
WORD_CHAIN: Final = Words()
MENTION_CHAIN: Final = Bilou()  # a tag alone shows where a mention begins and ends: what constraints need
WORD_TYPES: Final = ("word",)
WORD_TAGS: Final = (*WORD_CHAIN.letters,)
WORD_INDICATORS: Final = {"begins": "BS", "ends": "ES", "continues": "IE"}  # -> letters of the tags that do
MENTION_INDICATORS: Final = {"begins": "BU", "ends": "LU", "continues": "IL", "inside": "BILU"}
ANY: Final = "*"
MOST_TYPES: Final = 24  # of mentions: making the template takes the cube of them


class Labels(NamedTuple):
    """Tags of T characters.

    Args:
        words: numbers of B, I, E and S.
        mentions: numbers of O, and of B, I, L and U of each type.
    """

    words: Ints
    mentions: Ints


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint: where a mention has this property at a character, the word must (or must not) have that one.

    Args:
        type: of the mention, or ``*``.
        mention: a key of `MENTION_INDICATORS`.
        word: a key of `WORD_INDICATORS`.
        negated: whether the word must not have the property.

    >>> str(Constraint("problem", "begins", "begins"))
    'problem begins -> word begins'
    """

    type: str
    mention: str
    word: str
    negated: bool = False

    def __str__(self) -> str:
        return f"{self.type} {self.mention} -> {'not ' * self.negated}word {self.word}"

    def excluded_words(self) -> Bools:
        """Return (4,) the word tags that it forbids where the mention has the property."""
        agree = [(tag in WORD_INDICATORS[self.word]) == self.negated for tag in WORD_TAGS]
        return np.array(agree)

    def excluding_mentions(self, types: Sequence[str]) -> Bools:
        """Return (L,) the mention tags with the property."""
        letters = MENTION_INDICATORS[self.mention]
        return np.array(
            [tag != "O" and tag[0] in letters and self.type in (ANY, tag[2:]) for tag in MENTION_CHAIN.tags(types)]
        )


def allowed_pairs(constraints: Iterable[Constraint], types: Sequence[str]) -> Bools:
    """Return (4, L) which word tag and mention tag may occur at one character.

    Args:
        constraints: on the pairs.
        types: K names.

    >>> whole = Constraint("*", "begins", "begins"), Constraint("*", "ends", "ends")
    >>> allowed_pairs(whole, ["x"]).astype(int).tolist()  # B I E S by O B I L U
    [[1, 1, 1, 0, 0], [1, 0, 1, 0, 0], [1, 0, 1, 1, 0], [1, 1, 1, 1, 1]]
    """
    allowed = np.ones((len(WORD_TAGS), len(MENTION_CHAIN.tags(types))), bool)
    for constraint in constraints:
        allowed &= ~np.outer(constraint.excluded_words(), constraint.excluding_mentions(types))
    return allowed


@dataclass(frozen=True)
class Product(Chain):
    """A chain over the allowed pairs of a word tag and a mention tag (Xu et al. 2014, equation 3).

    The first type is that of words, which hold every character; the others are those of mentions.

    Args:
        constraints: which pairs are not allowed.
        own: whether a pair has a role of its own, beside those of its two tags, which it shares with other pairs. The
            paper's joint model has only the former, and then has few examples of most pairs.

    >>> structure, offsets, types = Product((Constraint("*", "begins", "begins"),)), np.array([0, 3]), ["word", "x"]
    >>> table = MentionTable.build([(0, 0, ((0, 2),)), (0, 0, ((2, 3),)), (0, 1, ((0, 3),)), (0, 1, ((1, 2),))])
    >>> encoded = structure.encode(table, offsets, types)
    >>> encoded.lost
    {3: "it breaks the constraint '* begins -> word begins'"}
    >>> tags = structure.read_tags(encoded.edges, types)
    >>> [structure.tags(types)[tag] for tag in tags]
    ['B+B-x', 'E+I-x', 'S+L-x']
    >>> structure.project(tags, types).words.tolist()
    [0, 2, 3]
    """

    name = "product"
    covers = True

    constraints: tuple[Constraint, ...] = ()
    own: bool = False

    def tags(self, types: Sequence[str]) -> list[str]:
        """Such as ``B+O``."""
        mentions = MENTION_CHAIN.tags(types[1:])
        return [f"{WORD_TAGS[w]}+{mentions[m]}" for w, m in zip(*self.sides(types), strict=True)]

    def sides(self, types: Sequence[str]) -> Labels:
        """The word tag and the mention tag of each tag."""
        mentions, words = np.nonzero(allowed_pairs(self.constraints, types[1:]).T)
        return Labels(words, mentions)

    def follows(self, tag: str, after: str) -> bool:
        """Return whether both tags of a pair may follow."""
        (one, two), (word, mention) = halves(tag), halves(after)
        return WORD_CHAIN.follows(one, word) and MENTION_CHAIN.follows(two, mention)

    def template(self, types: Sequence[str]) -> Template:
        """A chain over the pairs; a pair scores its two tags, and perhaps itself.

        Raises:
            UsageError: there are too many types.
        """
        check_types(types[1:], MOST_TYPES)
        return _pairs(self, tuple(types))

    def start_roles(self, types: Sequence[str]) -> frozenset[str]:
        """The mention tags that begin one."""
        return MENTION_CHAIN.start_roles(types[1:])

    def project(self, tags: Ints, types: Sequence[str]) -> Labels:
        """The tags of words and those of mentions in (T,) tags of pairs."""
        words, mentions = self.sides(types)
        return Labels(words[tags], mentions[tags])

    def join(self, labels: Labels, types: Sequence[str]) -> Ints:
        """The (T,) tags of pairs of two sequences, all of which must be allowed."""
        numbers = np.full((len(WORD_TAGS), len(MENTION_CHAIN.tags(types[1:]))), -1)
        sides = self.sides(types)
        numbers[sides] = np.arange(len(sides.words))
        joined: Ints = numbers[labels]
        return joined

    def beside(
        self, words: Ints, mentions: MentionTable, offsets: Ints, types: Sequence[str]
    ) -> tuple[Ints, dict[int, str]]:
        """The tags of mentions beside given words, (T,), and which mentions they do not hold.

        Args:
            words: (T,) tags.
            mentions: without the words.
            offsets: (N + 1,) first character of each sentence.
            types: K names, of mentions alone.
        """
        whole = mentions.take(mentions.contiguous)
        number, tags = np.flatnonzero(mentions.contiguous), MENTION_CHAIN.spelled(whole)
        first, last = (offsets[whole.sentence] + place for place in (whole.first, whole.end - 1))
        lost: dict[int, str] = {}
        for constraint in self.constraints:
            forbids = constraint.excluded_words()[words]
            before = np.append(0, forbids.cumsum())
            between = before[last] > before[np.minimum(first + 1, last)]
            met = np.stack([forbids[first], between, forbids[last]], 1) & constraint.excluding_mentions(types)[tags]
            for i in number[met.any(1)].tolist():
                lost.setdefault(i, f"it breaks the constraint '{constraint}'")
        keep = np.ones(len(mentions), bool)
        keep[list(lost)] = False
        found, more = MENTION_CHAIN.tags_of(mentions.take(keep), offsets)
        kept = np.flatnonzero(keep).tolist()
        return found, lost | {kept[i]: reason for i, reason in more.items()}

    def encode(self, mentions: MentionTable, offsets: Ints, types: Sequence[str]) -> Encoded:
        """As `Structure.encode`: as words and as mentions; mentions that break a constraint are lost, too.

        Raises:
            DataError: a character is in no word.
        """
        sides = (mentions.kind == 0, mentions.kind > 0)
        words, lost_words = WORD_CHAIN.tags_of(mentions.take(sides[0]), offsets)
        own = mentions.take(sides[1])
        tags, lost = self.beside(words, own.of_kinds(own.kind - 1), offsets, types[1:])
        edges = self.write_tags(self.join(Labels(words, tags), types), offsets, types)
        numbers = [np.flatnonzero(side).tolist() for side in sides]
        reasons = [(numbers[side][i], why) for side, found in enumerate((lost_words, lost)) for i, why in found.items()]
        return Encoded(edges, dict(reasons))

    def decode(self, edges: Edges, offsets: Ints, types: Sequence[str], reading: str = "enough") -> MentionTable:
        """As `Structure.decode`: the words, and then the mentions."""
        labels = self.project(self.read_tags(edges, types), types)
        found = MENTION_CHAIN.mentions_of(labels.mentions, offsets)
        return concatenate([WORD_CHAIN.mentions_of(labels.words, offsets), found.of_kinds(found.kind + 1)])

    def paths(self, mentions: MentionTable, types: Sequence[str]) -> Paths:
        """As `Structure.paths`: of a word its tags, whatever the mentions; of a mention the other way round."""
        letters, is_word = len(WORD_TAGS), mentions.kind[:, None] == 0
        beside = MENTION_CHAIN.spelled(mentions.of_kinds(mentions.kind - 1))
        row = np.where(is_word, WORD_CHAIN.spelled(mentions), letters + beside)
        words, tags = self.sides(types)
        picked = [words == word for word in range(letters)] + [tags == tag for tag in range(int(tags.max()) + 1)]
        lane, size = np.zeros_like(mentions.kind), run_sizes(mentions.end - mentions.first)
        allowed = picking(self.template(types), np.array(picked))
        return Paths.build(mentions.sentence, lane, mentions.first, row, size, allowed)


def check_types(types: Sequence[str], most: int) -> None:
    """Refuse more types than a chain holds.

    Raises:
        UsageError: there are more.
    """
    if len(types) > most:
        found = f"there are {len(types)} mention types, but this lattice holds at most {most}"
        raise UsageError(f"{found}; train fewer, or the method dual")


def halves(tag: str) -> tuple[str, str]:
    """The two tags of a pair; O, which stands for what lies before and after the text, is O for both."""
    word, _, mention = tag.partition("+")
    return (word, mention) if mention else (tag, tag)


@lru_cache(maxsize=16)
def _pairs(structure: Product, types: tuple[str, ...]) -> Template:
    plain = chain_template(structure.tags(types), structure.follows)
    edges = (
        replace(edge, roles=(*map(Role, halves(edge.label)), *(edge.roles if structure.own else ())))
        if edge.roles
        else edge
        for edge in plain.edges
    )
    return Template(plain.kinds, plain.root, plain.final, tuple(edges))
