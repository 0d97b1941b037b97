"""The two chains as oracles of dual decomposition, whose indicators are the sides of constraints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spanloom.hypergraph import Floats, Ints, Potentials
from spanloom.segment.constraints import Constraint
from spanloom.segment.dual import Answer, Solution, gather, solve
from spanloom.segment.lattice import Lattice
from spanloom.segment.parameters import DUAL_ITERATIONS
from spanloom.segment.tags import Bools


class ChainOracle:
    """A chain: `spanloom.segment.dual.Oracle`.

    Args:
        lattice: of words, or of mentions.
        potentials: of all sentences.
        offsets: (N + 1,) first character of each.
        indicators: (C, L) which tags each indicator holds of.
        n_jobs: threads.
    """

    def __init__(
        self, lattice: Lattice, potentials: Potentials, offsets: Ints, indicators: Bools, n_jobs: int = 1
    ) -> None:
        self._lattice = lattice
        self._potentials = potentials
        self._offsets = offsets
        self._indicators = indicators
        self._n_jobs = n_jobs

    def __call__(self, sentences: Ints, penalties: Floats | None = None, forbidden: Bools | None = None) -> Answer:
        """See `spanloom.segment.dual.Oracle`."""
        roles, offsets = self._potentials.roles, self._offsets
        if len(sentences) < len(offsets) - 1:
            positions, offsets = gather(offsets, sentences)
            roles = roles[positions]
        if penalties is not None:
            roles = (roles[:, :, 0] - penalties @ self._indicators).astype(np.float32)[:, :, None]
        if forbidden is not None:
            roles = np.where((forbidden.astype(float) @ self._indicators > 0)[:, :, None], np.float32(-np.inf), roles)
        best = self._lattice.engine.viterbi(Potentials(roles, self._potentials.constants), offsets, self._n_jobs)
        labels = self._lattice.read(best.edges)
        tags = labels.words if len(labels.words) else labels.mentions
        return Answer(best.score[:, 0], self._indicators.T[tags], tags)


def solve_chains(
    words: tuple[Lattice, Potentials], mentions: tuple[Lattice, Potentials], offsets: Ints,
    constraints: Sequence[Constraint], weight: float = 1.0, iterations: int = DUAL_ITERATIONS, n_jobs: int = 1,
) -> Solution:  # fmt: skip
    """The best words and mentions that keep to constraints, by dual decomposition.

    Args:
        words, mentions: the trained chains and their potentials.
        offsets: (N + 1,) first character of each sentence.
        constraints: of words and mentions.
        weight: w of equation 5 (Xu et al. 2014): the scores of mentions are multiplied by it.
        iterations: K.
        n_jobs: threads.
    """
    sides = _sides(constraints, mentions[0].types)
    scaled = Potentials(*(np.float32(weight) * array for array in mentions[1])) if weight != 1 else mentions[1]
    first = ChainOracle(*words, offsets, sides[0], n_jobs)
    second = ChainOracle(mentions[0], scaled, offsets, sides[1], n_jobs)
    return solve(first, second, offsets, iterations)


def _sides(constraints: Sequence[Constraint], types: Sequence[str]) -> tuple[Bools, Bools]:
    """(C, 4) and (C, L): the word tags and the mention tags that must not meet."""
    return (
        np.array([constraint.excluded_words() for constraint in constraints]),
        np.array([constraint.excluding_mentions(types) for constraint in constraints]),
    )
