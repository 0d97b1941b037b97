"""Dual decomposition: two models that must agree, by subgradients (Rush et al. 2010; Xu et al. 2014, Box 1).

Two models each give a best structure x, y of a sentence. C *indicators* are true or false of x and of y at each
position, and at no position may a_c(x) and b_c(y) both hold. (That a_c and b_c are equal is two such constraints, each
with one of them negated.) With multipliers u >= 0, at every u

    L(u)  =  max_x [f(x) - sum u a(x)]  +  max_y [g(y) - sum u b(y)]  +  sum u   >=   f(x) + g(y) of every agreeing pair

and the smallest L(u) is looked for by steps along a(x) + b(y) - 1. The solver knows no more of the models than that.

**Certificate.** An agreeing pair is optimal if its score reaches the bound L(u). Agreement alone is no proof, though
Box 1 returns it: the constraints are inequalities, so a multiplier may be above zero at a position where neither
indicator holds, and then the bound is not reached.

**An agreeing pair** is had at every iteration: x, and the best y that agrees with it. The best one seen is the answer.

**Steps** are Polyak's (1969): the distance from the bound to the best score seen, over the squared length of the
subgradient. They need no constant that fits the scale of the scores, as steps that shrink with the iterations do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

import numpy as np

from spanloom.hypergraph import Floats, Ints, Potentials
from spanloom.learn.target import tokens_of
from spanloom.parallel import SERIAL, Executor
from spanloom.segment.chains import Scored, read_labels
from spanloom.segment.characters import Bools
from spanloom.segment.parameters import DUAL_ITERATIONS
from spanloom.structures.product import Constraint

TOLERANCE: Final = 1e-4
"""Distance below the bound within which a score counts as optimal: what rounding to single precision can do."""


class OracleAnswer(NamedTuple):
    """The best structures of n sentences with t positions.

    Args:
        score: (n,) with the penalties; -inf where everything is forbidden.
        indicators: (t, C).
        labels: (t,) the structures themselves.
    """

    score: Floats
    indicators: Bools
    labels: Ints


class Oracle(Protocol):
    """A model that finds the best structures of some sentences."""

    def __call__(
        self, sentences: Ints, penalties: Floats | None = None, forbidden: Bools | None = None
    ) -> OracleAnswer:
        """The best structures.

        Args:
            sentences: (n,) which.
            penalties: (t, C) taken off the score where an indicator holds.
            forbidden: (t, C) where an indicator must not hold.
        """


class Solution(NamedTuple):
    """The answers for N sentences with T positions.

    Args:
        first, second: (T,) labels of the two models; they agree.
        score: (N,) f(x) + g(y).
        bound: (N,) no agreeing pair scores more.
        optimal: (N,) whether the score reaches the bound.
        iterations: (N,) how often both models were asked: once, where they agreed at once.
    """

    first: Ints
    second: Ints
    score: Floats
    bound: Floats
    optimal: Bools
    iterations: Ints

    @property
    def gap(self) -> Floats:
        """(N,) how much more than the answer another one could score; 0 where it is optimal."""
        return np.where(self.optimal, 0.0, self.bound - self.score)


def solve(first: Oracle, second: Oracle, offsets: Ints, iterations: int = DUAL_ITERATIONS) -> Solution:
    """The best agreeing structures of all sentences.

    Only sentences whose two structures clash are looked at again, all of them together in each iteration.

    Args:
        first, second: the models, with the same indicators. For each structure of the first, the second must
            have one that agrees.
        offsets: (N + 1,) first position of each sentence.
        iterations: K, how often a sentence's models are asked at most.
    """
    sentences = np.arange(len(offsets) - 1)
    one, two = first(sentences), second(sentences)
    clash = (one.indicators & two.indicators).any(1)
    score = one.score + two.score
    solution = Solution(
        one.labels.copy(), two.labels.copy(), score, score.copy(), np.ones(len(sentences), bool),
        np.ones(len(sentences), np.int64),
    )  # fmt: skip
    count = np.append(0, np.cumsum(clash))
    wrong = np.flatnonzero(count[offsets[1:]] > count[offsets[:-1]])
    if len(wrong):
        solution.score[wrong] = -np.inf
        solution.optimal[wrong] = False
        _, positions = tokens_of(offsets, wrong)
        begun = [
            OracleAnswer(side.score[wrong], side.indicators[positions], side.labels[positions]) for side in (one, two)
        ]
        _descend(first, second, offsets, wrong, begun, solution, iterations)
    return solution


def _descend(
    first: Oracle, second: Oracle, offsets: Ints, active: Ints, begun: Sequence[OracleAnswer], solution: Solution,
    iterations: int,
) -> None:  # fmt: skip
    """Subgradient steps for the sentences whose structures clash; writes into ``solution``."""
    local, positions = tokens_of(offsets, active)
    one, two = begun
    u = np.zeros(one.indicators.shape)
    for k in range(1, iterations + 1):
        if k > 1:
            one, two = first(active, u), second(active, u)
        starts = local[:-1]
        a, b = one.indicators, two.indicators
        bound = one.score + two.score + np.add.reduceat(u.sum(1), starts)
        solution.bound[active] = np.minimum(solution.bound[active], bound)
        _keep_better(second, active, positions, local, one, u, solution)
        solution.iterations[active] = k
        gap = solution.bound[active] - solution.score[active]
        solution.optimal[active] = gap <= TOLERANCE
        left = gap > TOLERANCE
        if not left.any() or k == iterations:
            return
        step = a.astype(float) + b - 1
        step[(step < 0) & (u <= 0)] = 0  # a multiplier stays at 0 or above
        squares = np.add.reduceat((step * step).sum(1), starts)
        distance = np.maximum(bound - solution.score[active], 0)
        length = np.divide(distance, squares, out=np.zeros_like(distance), where=squares > 0)
        u = np.maximum(0, u + np.repeat(length, np.diff(local))[:, None] * step)
        if not left.all():
            u = u[np.repeat(left, np.diff(local))]
            active = active[left]
            local, positions = tokens_of(offsets, active)


def _keep_better(
    second: Oracle, active: Ints, positions: Ints, local: Ints, one: OracleAnswer, u: Floats, solution: Solution
) -> None:
    """Complete the first model's structures to agreeing pairs; keep those that score more than any seen before."""
    other = second(active, None, one.indicators)
    score = one.score + np.add.reduceat((u * one.indicators).sum(1), local[:-1]) + other.score
    better = score > solution.score[active]
    solution.score[active[better]] = score[better]
    taken = np.repeat(better, np.diff(local))
    solution.first[positions[taken]] = one.labels[taken]
    solution.second[positions[taken]] = other.labels[taken]


class ChainOracle:
    """A chain of words or mentions as an `Oracle`, whose indicators are the sides of constraints.

    Args:
        scored: the chain, and all sentences; its penalty is included.
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
        """See `Oracle`."""
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
    """Return the best words and mentions under constraints, by dual decomposition.

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
