"""Candidate mentions: of the best structures under several mention penalties, and of the same words elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np

from spanloom.hashing import UInt64
from spanloom.hypergraph import Floats, Ints, Potentials
from spanloom.learn.platt import logits
from spanloom.native import Kernel
from spanloom.parallel import SERIAL, Executor
from spanloom.sparse import distinct, found_in
from spanloom.structures import MentionTable, Structure
from spanloom.structures.base import concatenate, contiguous_table, identities

if TYPE_CHECKING:  # imported for models that have mentions with gaps
    from spanloom.rescoring.parts import HeldOutParts, PairedParts

PENALTIES: Final = (0.0, 2.0, 4.0)
"""The mention penalties whose best structures propose; with 4, a mention at odds of 1 to 50 may be proposed."""
ELSEWHERE: Final = len(PENALTIES)
"""The level of a candidate that no structure proposes, but which has the words of a likely one of its document."""
NAMED: Final = ELSEWHERE + 1
"""The level of a candidate that neither proposes, but whose words are a name of a vocabulary, gaps closed."""
PAIRED: Final = NAMED + 1
"""The level of a candidate of two parts that is proposed by the words at their edges alone; see `parts`."""
GIVEN: Final = PAIRED + 1
"""The level of a candidate that is only given."""
LONGEST: Final = 8
"""Tokens of a candidate whose words are looked for elsewhere, at most."""
_elsewhere = Kernel("elsewhere")
FARTHEST = 15.0  # log-odds are at most so far from 0: marginals are exact to about 1e-7


class Proposing(Protocol):
    """A first stage: a structured model, or whatever gives mentions and their exact marginals."""

    @property
    def types(self) -> tuple[str, ...]:
        """K names."""

    @property
    def structure(self) -> Structure:
        """What holds the mentions."""

    def under(
        self, penalties: Sequence[float], potentials: Potentials, offsets: Ints, reading: str = ...,
        run: Executor = ...,
    ) -> tuple[MentionTable, Ints]:  # fmt: skip
        """Return the mentions of the best structures under each of some rising mention penalties, and its number."""

    def probabilities(
        self, potentials: Potentials, offsets: Ints, mentions: MentionTable, run: Executor = ..., *,
        calibrated: bool = ...,
    ) -> Floats:  # fmt: skip
        """Return the probability of each mention."""


class CandidateMentions(NamedTuple):
    """C candidates of a batch of sentences, each once, in the order of `MentionTable.order`.

    Args:
        table: the mentions.
        level: (C,) number of the lowest penalty that proposes each, `ELSEWHERE`, or `GIVEN`.
        odds: (C,) logarithm of the odds of each exact marginal.
    """

    table: MentionTable
    level: Ints
    odds: Floats

    def __len__(self) -> int:
        return len(self.level)

    def renumbered(self, sentences: Ints) -> CandidateMentions:
        """Return the same with the numbers that their sentences have elsewhere."""
        return CandidateMentions(MentionTable(sentences[self.table.sentence], *self.table[1:]), self.level, self.odds)

    def take(self, rows: Ints) -> CandidateMentions:
        """Return those of these numbers, in their order."""
        return CandidateMentions(self.table.take(rows), self.level[rows], self.odds[rows])


class Words(NamedTuple):
    """The words of N sentences.

    Args:
        offsets: (N + 1,) first token of each sentence.
        documents: (N,) number of each one's document.
        words: (T,) hash of each token's word, in lower case.
    """

    offsets: Ints
    documents: Ints
    words: UInt64

    def take(self, sentences: Ints, tokens: Ints, offsets: Ints) -> Words:
        """Return some of the sentences, whose tokens and own offsets are given."""
        return Words(offsets, self.documents[sentences], self.words[tokens])


def propose(
    model: Proposing, potentials: Potentials, text: Words, reading: str = "enough", run: Executor = SERIAL,
    given: MentionTable | None = None, named: MentionTable | None = None,
    pairs: PairedParts | HeldOutParts | None = None,
) -> CandidateMentions:  # fmt: skip
    """Return the candidates of some sentences.

    Args:
        model: trained; its own mention penalty does not matter.
        potentials: of the sentences, without a penalty.
        text: the sentences.
        reading: of overlapping mentions.
        run: how pieces of the work are run; the result does not depend on it.
        given: mentions that are candidates, proposed or not; the structure must be able to hold each of them.
        named: mentions whose words are a name; those without a gap that the structure cannot hold are left out.
        pairs: proposes pairs of parts, whatever the structure can hold.
    """

    def weighed(table: MentionTable, level: Ints) -> CandidateMentions:
        held = model.structure.holds(table)
        marginals = np.zeros(len(table))  # of what the structure cannot hold
        own = table if held.all() else table.take(held)
        marginals[held] = model.probabilities(potentials, text.offsets, own, run, calibrated=False)
        with np.errstate(divide="ignore"):
            return CandidateMentions(table, level, np.clip(logits(np.log(marginals)), -FARTHEST, FARTHEST))

    # 1. All candidates that are known without a probability are weighed in one call, which sums over each sentence and
    #    type once; of equal ones the first counts, which has the lowest level.
    every, level = model.under(PENALTIES, potentials, text.offsets, reading, run)
    if named is not None and not model.structure.heads:
        named = named.take(model.structure.holds(named) | ~named.contiguous)
        every, level = concatenate([every, named]), np.append(level, np.full(len(named), NAMED))
    if given is not None:
        every, level = concatenate([every, given]), np.append(level, np.full(len(given), GIVEN))
    known, kept = distinct(identities(every))
    found = weighed(every.take(kept), level[kept])
    if model.structure.heads:
        return merge([found])
    # 2. Words of likely ones elsewhere, and pairs of parts; those that are known have their probability.
    proposed = found.take(np.flatnonzero(found.level < ELSEWHERE))
    places = elsewhere(proposed, text)
    tables = [places.take(model.structure.holds(places)), *([] if pairs is None else [pairs.table(proposed, text)])]
    levels = [ELSEWHERE, PAIRED][: len(tables)]
    every = concatenate(tables)
    sought, kept = distinct(identities(every))
    level = np.repeat(levels, [len(table) for table in tables])[kept]
    at = found_in(known, sought)
    new = at < 0
    found.level[at[~new]] = np.minimum(found.level[at[~new]], level[~new])
    return merge([found, weighed(every.take(kept[new]), level[new])])


def elsewhere(found: CandidateMentions, text: Words) -> MentionTable:
    """Return the places in their documents that have the words of likely candidates, with their types.

    Candidates count that have no gap, a marginal above one half, and at most `LONGEST` tokens; they are among the
    places.

    Args:
        found: candidates.
        text: their sentences.
    """
    places = np.empty((2 * len(found), 4), np.int64)  # mostly enough
    while len(places) < (count := _elsewhere(found, text, LONGEST, places)):
        places = np.empty((count, 4), np.int64)
    return contiguous_table(*places[:count].T.copy())


def merge(parts: list[CandidateMentions]) -> CandidateMentions:
    """Return the candidates of several parts of a corpus as one; no candidate is in two of them."""
    table = concatenate([part.table for part in parts])
    level, odds = (np.concatenate([getattr(part, name) for part in parts]) for name in ("level", "odds"))
    return CandidateMentions(table, level, odds).take(table.order())
