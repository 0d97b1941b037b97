"""Names of vocabularies for the second stage: which candidates have one, and where text has one, gaps closed.

The key of a folded text is the sum of its words' hashes (see `spanloom.vocabulary.folding`), so that of a mention with
gaps is the sum over its parts, and *T and B cells* has the name *T cells* as well as *B cells*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch
from spanloom.errors import ModelError
from spanloom.hashing import UInt64, find_numbers, mixed
from spanloom.hypergraph import Ints
from spanloom.modelfile import Array, ModelPart
from spanloom.sparse import found_in
from spanloom.structures import MentionTable
from spanloom.structures.base import concatenate
from spanloom.vocabulary.folding import CLOSE, LOOSE
from spanloom.vocabulary.key_table import KeyTable
from spanloom.vocabulary.lexicon import Lexicon, Runs, lexicon_of, runs
from spanloom.vocabulary.store import Vocabulary

LONGEST: Final = 8
"""Tokens of a name that is looked for in text."""
_FIRST, _SECOND, _GAP = 4, 3, 5  # tokens of the parts of a name with a gap, and of the gap, at most
_OUTER, _BEHIND = 3, 4  # tokens of the first part and of the second gap of a name of three parts, at most
_FEWEST = 5  # parts of training mentions that a word must end, to be among the links


@dataclass(frozen=True, eq=False)
class ListedNames:
    """Folded names, of vocabularies and of training mentions.

    Args:
        close, loose: ascending keys of a vocabulary's names, folded closely and loosely, each with a type of mentions
            that are linked to it.
        proposing: keys of names, and of training mentions, folded closely -> the types that they propose.
        linked: (K,) which types have a vocabulary.
        gaps: (K,) of which types training mentions have gaps.
        links: hashes of words that folded names lack, but that parts of training mentions end with, in lower case.
    """

    close: UInt64
    loose: UInt64
    proposing: KeyTable
    linked: NDArray[np.bool_]
    gaps: NDArray[np.bool_]
    links: UInt64 = field(default_factory=lambda: np.empty(0, np.uint64))

    @classmethod
    def of(
        cls, lexicons: Sequence[Lexicon], types: Mapping[str, int], kinds: Sequence[str], gaps: NDArray[np.bool_]
    ) -> ListedNames:
        """From the names of vocabularies.

        Args:
            lexicons: of their names.
            types: type -> number of its vocabulary.
            kinds: the types of the model.
            gaps: as above.
        """
        numbers = [types.get(kind, -1) for kind in kinds]
        pairs = [
            [_pairs(lexicons[number].keys[degree], kind) for kind, number in enumerate(numbers) if number >= 0]
            for degree in (CLOSE, LOOSE)
        ]
        (close, kind), (loose, other) = (np.concatenate(columns, 1) for columns in pairs)
        return cls(
            np.unique(mixed(0, close, kind)), np.unique(mixed(0, loose, other)),
            KeyTable.build(close, kind.astype(np.int32)), np.array(numbers) >= 0, gaps,
        )  # fmt: skip

    def with_mentions(self, keys: UInt64, kinds: Ints) -> ListedNames:
        """Return the same, to which training mentions are names, too, where text is looked through.

        Args:
            keys: (M,) of their words, folded closely; see `ListedIn.keys`.
            kinds: (M,) their types.
        """
        own = self.proposing
        every = np.concatenate([np.repeat(own.keys, np.diff(own.ptr)), keys])
        return replace(self, proposing=KeyTable.build(every, np.concatenate([own.values, kinds.astype(np.int32)])))

    def within(self, batch: Batch) -> ListedIn:
        """Return the tokens of a batch, to compare the names with."""
        return ListedIn(self, runs(batch.words), batch.sentences)

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file."""
        own = self.proposing
        arrays: dict[str, Array] = {
            "close": self.close, "loose": self.loose, "keys": own.keys, "ptr": own.ptr, "kinds": own.values,
            "linked": self.linked.astype(np.uint8), "gaps": self.gaps.astype(np.uint8), "links": self.links,
        }  # fmt: skip
        return ModelPart(arrays=arrays)

    @classmethod
    def from_part(cls, part: ModelPart, types: int) -> ListedNames:
        """Return what `to_part` gave.

        Raises:
            ModelError: it is damaged.
        """
        close, loose, keys = (part.array(name, np.uint64, None) for name in ("close", "loose", "keys"))
        kinds = part.array("kinds", np.int32, None)
        if len(kinds) and not 0 <= kinds.min() <= kinds.max() < types:
            raise ModelError(f"{part.name}kinds names types beyond the {types} of the model; train the model again")
        table = KeyTable(keys, part.array("ptr", np.int64, len(keys) + 1), kinds, np.ones(len(kinds), np.int32))
        linked, gaps = (part.array(name, np.uint8, types) > 0 for name in ("linked", "gaps"))
        links = part.array("links", np.uint64, None) if "links" in part.arrays else np.empty(0, np.uint64)
        return cls(close, loose, table, linked, gaps, links)


def listed_names(
    vocabularies: Sequence[Vocabulary], types: Mapping[str, int], kinds: Sequence[str], gold: MentionTable
) -> ListedNames:
    """Return the names of the vocabularies that types of mentions are linked to.

    Args:
        vocabularies: that training mentions have concepts of.
        types: type -> number of its vocabulary.
        kinds: the types of the model.
        gold: training mentions.
    """
    gaps = np.bincount(gold.kind[~gold.contiguous], minlength=len(kinds)) > 0
    return ListedNames.of([lexicon_of(one) for one in vocabularies], types, kinds, gaps)


def _pairs(keys: UInt64, kind: int) -> UInt64:
    own = keys[keys != 0]
    return np.stack([own, np.full(len(own), kind, np.uint64)])


@dataclass(frozen=True)
class ListedIn:
    """The tokens of a batch, as names are compared with them.

    Args:
        names: that are looked for.
        tokens: T.
        sentences: (N + 1,) first token of each sentence.
    """

    names: ListedNames
    tokens: Runs
    sentences: Ints

    def keys(self, table: MentionTable, degree: int = CLOSE) -> UInt64:
        """Return the key of the folded words of each mention, gaps closed, (M,); 0 for words that mean nothing."""
        base = np.repeat(self.sentences[table.sentence], np.diff(table.ptr))
        sums = self.tokens.sums[degree]
        parts = sums[base + table.end] - sums[base + table.first]
        return np.add.reduceat(parts, table.ptr[:-1]) if len(parts) else parts

    def learning(self, gold: MentionTable) -> ListedIn:
        """Return the same, with the links of training mentions, such as *of* in *cortex of* the *kidney*."""
        inner = np.ones(len(gold.end), np.bool_)
        inner[gold.ptr[1:] - 1] = False  # the last part of each
        at = (np.repeat(self.sentences[gold.sentence], np.diff(gold.ptr)) + gold.end - 1)[inner]
        words, counts = np.unique(self.tokens.low[at[~self.tokens.solid[at]]], return_counts=True)
        return replace(self, names=replace(self.names, links=words[counts >= _FEWEST]))

    def degrees(self, table: MentionTable) -> Ints:
        """Return whether the words of each mention, gaps closed, are a name of its type's vocabulary, (M,).

        1 is no, 2 a name folded loosely, 3 one folded closely; 0 where a type has no vocabulary.
        """
        found = self.names.linked[table.kind].astype(np.int64)
        for degree, value, names in ((LOOSE, 2, self.names.loose), (CLOSE, 3, self.names.close)):
            keys = self.keys(table, degree)
            found[(found_in(names, mixed(0, keys, table.kind)) >= 0) & (keys != 0)] = value
        return found

    def table(self) -> MentionTable:
        """Return the mentions whose words are a name of their type, folded closely.

        1. Runs of up to `LONGEST` tokens.
        2. If a type has gaps, two parts of up to four and three tokens with up to five between them. The sum of both
           keys is looked up, so that no text is built. The first may end with a link: *tip of* each *digit*.
        3. Then also three parts, the second a link: *growth* and division *of* hair *cells*.

        Parts begin and end with words that mean something, but for links.
        """
        bounds = np.repeat(self.sentences[1:], np.diff(self.sentences))
        solid, sums, tokens = self.tokens.solid, self.tokens.sums[CLOSE], np.flatnonzero(self.tokens.solid)
        names = self.names.proposing
        whole = names.spans(np.diff(sums), self.sentences, LONGEST)
        found = [self._mentions([whole[:2]], whole[2:])]

        def named(keys: UInt64) -> Ints:
            numbers = np.empty(len(keys), np.int64)
            find_numbers(keys, *names.slots, names.keys, numbers)
            return numbers

        links = ~solid & np.isin(self.tokens.low, self.names.links)
        ends = solid | links
        shapes = (
            (one, gap, two)
            for one in range(1, _FIRST + 1) for gap in range(1, _GAP + 1) for two in range(1, _SECOND + 1)
        )  # fmt: skip
        for one, gap, two in shapes if self.names.gaps.any() else ():
            start = tokens[tokens + one + gap + two <= bounds[tokens]]
            other, end = start + one + gap, start + one + gap + two
            kept = np.flatnonzero(ends[start + one - 1] & solid[other] & solid[end - 1])
            start, other, end = start[kept], other[kept], end[kept]
            at = named(sums[start + one] - sums[start] + (sums[end] - sums[other]))
            start, other, end = (places[at >= 0] for places in (start, other, end))
            found.append(self._mentions([(start, start + one), (other, end)], names.gather(at[at >= 0])))
        link, low = np.flatnonzero(links), np.repeat(self.sentences[:-1], np.diff(self.sentences))
        before, behind = (sizes.ravel() + 1 for sizes in np.indices((_GAP, _BEHIND)))
        for one, two in np.ndindex(_OUTER, _SECOND) if self.names.gaps.any() and len(link) else ():
            at = np.repeat(link, len(before))
            start, other = (link[:, None] - before - (one + 1)).ravel(), (link[:, None] + 1 + behind).ravel()
            kept = np.flatnonzero((start >= low[at]) & (other + two < bounds[at]))
            start, at, other = start[kept], at[kept], other[kept]
            kept = np.flatnonzero(solid[start] & solid[start + one] & solid[other] & solid[other + two])
            start, at, other = start[kept], at[kept], other[kept]
            number = named(sums[start + one + 1] - sums[start] + (sums[other + two + 1] - sums[other]))
            start, at, other = (places[number >= 0] for places in (start, at, other))
            parts = [(start, start + one + 1), (at, at + 1), (other, other + two + 1)]
            found.append(self._mentions(parts, names.gather(number[number >= 0])))
        return concatenate(found)

    def _mentions(self, parts: Sequence[tuple[Ints, Ints]], kinds: tuple[Ints, NDArray[np.int32]]) -> MentionTable:
        """Return mentions of each place and each of its types, whose parts have these first tokens and ends."""
        ptr, kind = kinds
        rows = np.repeat(np.arange(len(parts[0][0])), np.diff(ptr))
        if len(parts) > 1:
            kept = self.names.gaps[kind]
            rows, kind = rows[kept], kind[kept]
        sentence = np.searchsorted(self.sentences, parts[0][0][rows], side="right") - 1
        base = self.sentences[sentence]
        firsts, ends = (np.stack([part[side][rows] - base for part in parts], 1).reshape(-1) for side in (0, 1))
        every = len(parts) * np.arange(len(rows) + 1)
        return MentionTable(sentence, kind.astype(np.int64), every, firsts, ends, np.full((len(rows), 2), -1))
