"""The two chains as oracles of dual decomposition, whose indicators are the sides of constraints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spanloom.hypergraph import Floats, Ints, Potentials
from spanloom.learn.target import tokens_of
from spanloom.parallel import SERIAL, Executor
from spanloom.segment.chains import Scored, read_labels
from spanloom.segment.characters import Bools
from spanloom.segment.dual import OracleAnswer, Solution, solve
from spanloom.segment.parameters import DUAL_ITERATIONS
from spanloom.structures.product import Constraint


class ChainOracle:
    """A chain: `spanloom.segment.dual.Oracle`.

    Args:
        scored: a chain of words, or of mentions, and all sentences; the penalty decides, too.
        offsets: (N + 1,) first character of each.
        indicators: (C, L) which tags each indicator holds of.
        weight: of the scores.
        run: how pieces of the work are run; the result does not depend on it.
    """

    def __init__(
        self, scored: Scored, offsets: Ints, indicators: Bools, weight: float = 1.0, run: Executor = SERIAL
    ) -> None:
        self._model = scored.model
        self._potentials = scored.model.penalized(scored.potentials)
        if weight != 1:
            self._potentials = Potentials(*(np.float32(weight) * each for each in self._potentials))
        self._offsets = offsets
        self._indicators = indicators
        self._run = run

    def __call__(
        self, sentences: Ints, penalties: Floats | None = None, forbidden: Bools | None = None
    ) -> OracleAnswer:
        """See `spanloom.segment.dual.Oracle`."""
        roles, offsets = self._potentials.roles, self._offsets
        if len(sentences) < len(offsets) - 1:
            offsets, positions = tokens_of(offsets, sentences)
            roles = roles[positions]
        if penalties is not None:
            roles = (roles[:, :, 0] - penalties @ self._indicators).astype(np.float32)[:, :, None]
        if forbidden is not None:
            roles = np.where((forbidden.astype(float) @ self._indicators > 0)[:, :, None], np.float32(-np.inf), roles)
        best = self._model.engine.viterbi(Potentials(roles, self._potentials.constants), offsets, self._run)
        labels = read_labels(self._model, best.edges)
        tags = labels.words if len(labels.words) else labels.mentions
        return OracleAnswer(best.score[:, 0], self._indicators.T[tags], tags)


def solve_chains(
    words: Scored, mentions: Scored, offsets: Ints, constraints: Sequence[Constraint], weight: float = 1.0,
    iterations: int = DUAL_ITERATIONS, run: Executor = SERIAL,
) -> Solution:  # fmt: skip
    """The best words and mentions that keep to constraints, by dual decomposition.

    Args:
        words, mentions: the trained chains and their potentials.
        offsets: (N + 1,) first character of each sentence.
        constraints: of words and mentions.
        weight: w of equation 5 (Xu et al. 2014): the scores of mentions are multiplied by it.
        iterations: K.
        run: how pieces of the work are run; the result does not depend on it.
    """
    excluded = np.array([constraint.excluded_words() for constraint in constraints])
    excluding = np.array([constraint.excluding_mentions(mentions.model.types) for constraint in constraints])
    first = ChainOracle(words, offsets, excluded, run=run)
    second = ChainOracle(mentions, offsets, excluding, weight, run)
    return solve(first, second, offsets, iterations)
