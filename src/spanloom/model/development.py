"""Development data of a structured model: what passes, lambda and the mention penalty are chosen by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch
from spanloom.hypergraph import Edges, Ints, Potentials
from spanloom.learn import Fit, TrainingSet, search_step
from spanloom.learn.target import tokens_of
from spanloom.learn.tuning import Chosen, Envelope
from spanloom.model.corpus import Gold
from spanloom.model.structured import AnyModel, LinearModel
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring import Weights, role_scores
from spanloom.sparse import distinct_numbers, found_in
from spanloom.structures import MentionTable
from spanloom.structures.base import identities

_ASTRAY = 100  # times as many mentions as there are: F1 is below 2 %
_PENALTIES = (0.0, 0.5, 1.0, 1.5)  # of which a pass is given the best, since it is used with a tuned one


class HeldOut:
    """Development data with what a model is to find in them, whatever its scores come from.

    Args:
        batch: with mentions.
        model: whose structure, types and engine are used.
        reading: of what is decoded.
        headless: as for `Gold`.
        tunes: whether the mention penalty is tuned.
        target_count: how many mentions it is to make found, where too few are annotated to tune it by F1.
        silent: (N, K) sentences whose annotation of a type is unknown; mentions of it found there do not count.
    """

    _target_count: float | None = None
    silent: NDArray[np.bool_] | None = None

    def __init__(
        self, batch: Batch, model: AnyModel, reading: str, headless: str | None = None, tunes: bool = False,
        target_count: float | None = None, silent: NDArray[np.bool_] | None = None,
    ) -> None:  # fmt: skip
        gold = Gold(batch, model.types, headless)
        if silent is not None:
            gold.keep(~silent[gold.table.sentence, gold.table.kind])
        self._reading = reading
        self._gold = np.unique(identities(gold.table))
        self._total = gold.total
        self._offsets: Ints = batch.sentences
        self._model, self.tunes, self._target_count, self.silent = model, tunes, target_count, silent

    def f1(self, model: AnyModel, potentials: Potentials, run: Executor = SERIAL) -> float:
        """F1 of exact boundaries, types and heads, if there are; mentions that no model can hold count as missed."""
        return self.measured(model.best(potentials, self._offsets, run))

    def measured(self, edges: Edges) -> float:
        """F1 of structures."""
        model = self._model
        if model.starting(edges) > _ASTRAY * max(1, self._total):
            return 0.0  # a penalty of 10 may start a mention of each type at each token; to read them takes long
        return self.f1_of(model.structure.decode(edges, self._offsets, model.types, self._reading))

    def f1_of(self, found: MentionTable) -> float:
        """F1 of mentions of the data, as `f1` counts them."""
        mentions = distinct_numbers(identities(found))
        return 2 * int((found_in(self._gold, mentions) >= 0).sum()) / max(1, len(mentions) + self._total)

    def speaking(self, potentials: Potentials) -> Potentials:
        """Change potentials in place, so that no mention starts where the annotation of its type is unknown."""
        if self.silent is not None:
            silent = np.repeat(self.silent, np.diff(self._offsets), axis=0)
            for row in self._model.start_rows:
                potentials.roles[:, row][silent] = -np.inf
        return potentials

    def highest(self, potentials: Potentials, run: Executor = SERIAL) -> float:
        """F1 at the best of a few penalties; at none where F1 cannot decide."""
        found = self._under(potentials, run).over(_PENALTIES if self.tunes and self._target_count is None else (0.0,))
        return max(self.measured(edges) for _, edges in found)

    def best_penalty(self, potentials: Potentials, run: Executor = SERIAL) -> tuple[float, float]:
        """The mention penalty of the largest F1, or with which as many are found as are wanted; and F1 with it."""
        best, judged = self._under(potentials, run), self.measured if self._target_count is None else self._nearness
        penalty = search_step(lambda value: judged(best.at(value))) if self.tunes else 0.0
        return penalty, self.measured(best.at(penalty))

    def _nearness(self, edges: Edges) -> float:
        """How near the number of mentions is to what is wanted; larger is nearer."""
        assert self._target_count is not None
        number = self._model.starting(edges)
        if number <= _ASTRAY * max(1.0, self._target_count):
            number = len(self._model.structure.decode(edges, self._offsets, self._model.types, self._reading))
        return -abs(number - self._target_count)

    def _under(self, potentials: Potentials, run: Executor) -> Envelope:
        """Return the best structures under each mention penalty."""

        def decode(penalty: float, target_count: Chosen) -> Edges:
            model, own = self._model.with_penalty(penalty), np.flatnonzero(target_count)
            if target_count.all():
                return model.best(potentials, self._offsets, run)
            offsets, tokens = tokens_of(self._offsets, own)
            roles = potentials.roles[tokens]
            found = model.best(Potentials(roles, potentials.constants), offsets, run)
            every = np.zeros((len(potentials.roles), *found.shape[1:]), found.dtype)
            every[tokens] = found
            return every

        return Envelope(decode, np.repeat(np.arange(len(self._offsets) - 1), np.diff(self._offsets)))


class Development(HeldOut):
    """Development data whose features are looked up once; a `spanloom.learn.Judge`.

    Args:
        batch, model, reading, headless, tunes, target_count, silent: as for `HeldOut`; the model has any weights.
        run: how the look-up is run.
    """

    def __init__(
        self, batch: Batch, model: LinearModel, reading: str, headless: str | None = None, tunes: bool = False,
        run: Executor = SERIAL, target_count: float | None = None, silent: NDArray[np.bool_] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(batch, model, reading, headless, tunes, target_count, silent)
        self._matrix = model.scorer.matrix(batch, run)

    def score(self, weights: Weights, run: Executor = SERIAL) -> Potentials:
        """Return potentials under weights of single features, as `speaking` changes them."""
        return self.speaking(role_scores(self._matrix, weights, run=run))

    def metric(self, weights: Weights, run: Executor) -> float:
        """F1, as `highest` has it."""
        return self.highest(self.score(weights, run), run)

    def tuned(self, weights: Weights, run: Executor) -> tuple[float, float]:
        """The mention penalty and F1, as `best_penalty` has them."""
        return self.best_penalty(self.score(weights, run), run)


def trained(model: LinearModel, data: TrainingSet, fit: Fit) -> LinearModel:
    """Return a model with what was fitted on a corpus."""
    return replace(model, scorer=model.scorer.with_weights(data.single(fit.weights)), penalty=fit.penalty)
