"""A density as a term of training: the expected number of mentions is pulled to a known one.

It is what Effland and Collins (2021) call the expected entity ratio, for any structure. The expected number of mentions
is E[c . y], a linear function of expected counts of roles, so its gradient in the scores is the covariance of c . y and
y; and that is how much all expected counts change where the scores go along c. So central differences of
`Engine.expectations` are the gradient, whatever the template and the counting: no kernel knows of second moments.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from spanloom.errors import UsageError
from spanloom.hypergraph import Engine, Expectations, Floats, Ints, Potentials
from spanloom.learn.corpus_target import CorpusTarget
from spanloom.learn.readings import ReadingsTarget
from spanloom.learn.target import TargetCounts, tokens_of

_STEP: Final = 2.0**-5  # along c: what is left out is of the order of its square, and sums are good to about 1e-6
_TOLERANCE: Final = 0.1


@dataclass(frozen=True)
class DensityTarget:
    """A target, and a number of mentions that a model is to expect beside it.

    The loss of some sentences in which n mentions are expected and w are wanted grows by weight * d^2 / 2w for each
    type, where d is how far n is from what is tolerated: as if mentions had been counted, with the variance of a
    Poisson distribution. Sentences are as many as a step sees: all of them with L-BFGS, a batch with AdaGrad. The term
    is not convex, so where training begins matters.

    Args:
        engine: of the structures.
        offsets: (N + 1,) first token of each sentence.
        target: what is wanted otherwise: partial annotation, or expected counts.
        starts: (S,) the numbers of the roles that start mentions.
        density: (K,) starts for each token, above 0; no number for a type without a term.
        weight: of the term.
        tolerance: as a share of what is wanted; differences that are smaller cost nothing.

    Raises:
        UsageError: a density, a weight or a tolerance that is not valid.

    >>> from spanloom.hypergraph import SubgraphEngine
    >>> from spanloom.learn.readings import AllowedTarget
    >>> from spanloom.structures import STRUCTURES
    >>> structure, offsets = STRUCTURES["separators"], np.array([0, 3])
    >>> engine = SubgraphEngine(structure.template(["x"]))
    >>> starts = np.flatnonzero([role in structure.start_roles(["x"]) for role in engine.template.roles])
    >>> scores = Potentials(np.ones((3, len(engine.template.roles), 1), np.float32), np.zeros((0, 1), np.float32))
    >>> free = AllowedTarget(engine, offsets, np.ones((3, len(engine.template.edges), 1), bool))
    >>> few = DensityTarget(engine, offsets, free, starts, np.array([0.1]))
    >>> bool((few.target_counts(scores).roles < free.target_counts(scores).roles)[:, starts].all())  # fewer
    True
    """

    engine: Engine
    offsets: Ints
    target: CorpusTarget | ReadingsTarget
    starts: Ints
    density: Floats
    weight: float = 1.0
    tolerance: float = _TOLERANCE

    def __post_init__(self) -> None:
        valid = np.isnan(self.density) | (np.isfinite(self.density) & (self.density > 0))
        if self.density.shape != (self.shape[-1],) or not valid.all():
            raise UsageError(
                f"the density is {self.density.tolist()}, expected {self.shape[-1]} numbers of starts a token, above 0"
            )
        for name, value in (("weight", self.weight), ("tolerance", self.tolerance)):
            if not 0 <= value < np.inf:
                raise UsageError(f"{name} is {value}, expected a number that is not below 0")

    @property
    def shape(self) -> tuple[int, int, int, int, int]:
        """(N, T, R, C, K)."""
        return self.target.shape

    def target_counts(
        self, potentials: Potentials, sentences: Ints | None = None, tokens: Ints | None = None
    ) -> TargetCounts:
        """Return what is wanted of some sentences, less the gradient of the term; see `spanloom.learn.Target`."""
        plain = self.target.target_counts(potentials, sentences, tokens)
        offsets = self.offsets if sentences is None else tokens_of(self.offsets, sentences)[0]
        (less, few), (more, many) = (self._along(potentials, offsets, step) for step in (-_STEP, _STEP))
        number = (few + many) / 2
        target_counts = self.density * int(offsets[-1])
        beyond = np.nan_to_num(
            number - np.clip(number, (1 - self.tolerance) * target_counts, (1 + self.tolerance) * target_counts)
        )
        slope = np.divide(self.weight * beyond, target_counts, where=beyond != 0, out=np.zeros_like(target_counts))
        pull = slope / (2 * _STEP)
        roles = plain.roles - pull.astype(np.float32) * (more.roles - less.roles)
        constants = plain.constants - pull * (more.constants - less.constants)
        return TargetCounts(roles, constants, (plain.score[0] - float(slope @ beyond) / 2, plain.score[1]))

    def _along(self, potentials: Potentials, offsets: Ints, step: float) -> tuple[Expectations, Floats]:
        """Return what is expected where the scores are a step further along c, and the starts (K,) in it."""
        roles = potentials.roles.copy()
        roles[:, self.starts] += np.float32(step)
        found = self.engine.expectations(Potentials(roles, potentials.constants), offsets)
        return found, found.roles[:, self.starts].sum((0, 1), dtype=float)

    def take(self, sentences: Ints) -> DensityTarget:
        """Return the target of some sentences."""
        own, _ = tokens_of(self.offsets, sentences)
        return replace(self, offsets=own, target=self.target.take(sentences))
