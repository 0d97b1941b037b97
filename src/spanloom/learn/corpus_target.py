"""Gold structures of annotated sentences beside the expected counts of raw ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import UsageError
from spanloom.hypergraph import Floats, Ints, Potentials, Singles
from spanloom.learn.target import CountTarget, EdgeTarget, TargetCounts, scored, tokens_of

_MOST = 60_000  # that a number of 16 bits holds, with room to spare


class SoftCounts(NamedTuple):
    """Expected counts of N sentences with T tokens, kept as numbers of 16 bits: to 3 digits, and down to 1e-7.

    Not as a list of those that are not small, which is no smaller: counts below 0.001 are 1 to 3 % of all that a model
    of GENIA expects of other text (`benchmarks/teaching.py`), and most counts are above 0.0001.

    Args:
        offsets: (N + 1,) first token of each sentence.
        roles: (T, R, K) how often each role is expected at each token.
        constants: (N, C, K) how often each constant is expected in each sentence.

    >>> counts = np.array([[[0.9], [0.1]], [[0.0], [1.0]]], np.float32)
    >>> soft = SoftCounts.of(counts, np.zeros((1, 0, 1)), np.array([0, 2]))
    >>> soft.roles.dtype, soft.dense(np.array([1])).tolist()
    (dtype('float16'), [[[0.0], [1.0]]])
    """

    offsets: Ints
    roles: NDArray[np.float16] | Singles
    constants: Floats

    @classmethod
    def of(cls, roles: Singles, constants: Floats, offsets: Ints) -> SoftCounts:
        """Return counts that take half the memory, where 16 bits hold them.

        Args:
            roles: (T, R, K).
            constants: (N, C, K).
            offsets: (N + 1,) first token of each sentence.

        Raises:
            UsageError: counts that are below 0 or no numbers.
        """
        counts = CountTarget(roles, constants)
        # a derivation may use a role many times at one token
        small = counts.roles.astype(np.float16) if roles.max(initial=0) < _MOST else roles
        return cls(offsets, small, constants)

    @classmethod
    def join(cls, parts: Sequence[SoftCounts]) -> SoftCounts:
        """Return several, of one structure, as one, one after the other."""
        starts = np.cumsum([0, *(part.offsets[-1] for part in parts)])
        offsets = [part.offsets[1:] + start for part, start in zip(parts, starts, strict=False)]
        return cls(
            np.concatenate([[0], *offsets]),
            np.concatenate([part.roles for part in parts]),
            np.concatenate([part.constants for part in parts]),
        )

    def dense(self, tokens: Ints) -> Singles:
        """Return the counts of some tokens, (T, R, K)."""
        return self.roles[tokens].astype(np.float32)

    def take(self, sentences: Ints) -> SoftCounts:
        """Return those of some sentences."""
        offsets, tokens = tokens_of(self.offsets, sentences)
        return SoftCounts(offsets, self.roles[tokens], self.constants[sentences])


@dataclass(frozen=True)
class CorpusTarget:
    """Annotated sentences followed by raw ones, with a teacher's expected counts of the latter.

    The weight of the raw sentences is not part of the target: see ``weights`` of `spanloom.learn.TrainingSet`.

    Args:
        gold: of the annotated sentences; possibly empty.
        soft: of the raw ones.

    Raises:
        UsageError: the two are of different structures or types.
    """

    gold: EdgeTarget
    soft: SoftCounts

    def __post_init__(self) -> None:
        _, _, *found = self.gold.shape
        expected = [self.soft.roles.shape[1], *self.soft.constants.shape[1:]]
        if found != expected:
            raise UsageError(
                f"the gold structures have {found} roles, constants and types, the counts of raw text {expected}; give "
                "a teacher of the same structure and types"
            )

    @property
    def shape(self) -> tuple[int, int, int, int, int]:
        """(N, T, R, C, K)."""
        sentences, tokens, roles, constants, types = self.gold.shape
        return sentences + len(self.soft.offsets) - 1, tokens + len(self.soft.roles), roles, constants, types

    def target_counts(
        self, potentials: Potentials, sentences: Ints | None = None, tokens: Ints | None = None
    ) -> TargetCounts:
        """Return what is wanted of some sentences; see `spanloom.learn.Target`."""
        known, known_tokens, _, _, _ = self.gold.shape
        every, all_tokens, _, constants, _ = self.shape
        sentences = np.arange(every) if sentences is None else sentences
        tokens = np.arange(all_tokens) if tokens is None else tokens
        raw = tokens >= known_tokens
        roles = np.empty(potentials.roles.shape, np.float32)
        roles[~raw] = self.gold.roles[tokens[~raw]]
        roles[raw] = self.soft.dense(tokens[raw] - known_tokens)
        total = self.soft.constants[sentences[sentences >= known] - known].sum(0)
        if constants:
            total += self.gold.engine.constant_counts(self.gold.edges, self.gold.offsets, sentences[sentences < known])
        return scored(potentials, roles, total)

    def take(self, sentences: Ints) -> CorpusTarget:
        """Return the target of some sentences, the annotated ones first."""
        gold, known = self.gold, self.gold.shape[0]
        own = sentences[sentences < known]
        offsets, tokens = tokens_of(gold.offsets, own)
        return CorpusTarget(
            EdgeTarget(gold.engine, offsets, gold.edges[tokens]), self.soft.take(sentences[sentences >= known] - known)
        )
