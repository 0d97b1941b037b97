"""The weighted mean of two scorers, as a sum: features and an encoder under one decoder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from spanloom.document import Batch, Document
from spanloom.hypergraph import Potentials
from spanloom.modelfile import ModelPart
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring.base import Named, Part, Scorer
from spanloom.scoring.encoded import encoded_parts
from spanloom.scoring.linear import LinearScorer


class Stored(Scorer, Protocol):
    """A scorer that is kept in a model file."""

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file."""


class Scaling(Stored, Protocol):
    """A scorer whose weights can be scaled."""

    def scale(self, factor: float) -> None:
        """Multiply all scores that it gives from now on."""


class NamedSum(NamedTuple):
    """Two views of one token."""

    linear: Named
    encoder: Named

    def parts(self, role: int, kind: int, factor: float = 1.0) -> list[Part]:
        """See `spanloom.scoring.base.Named`."""
        return [*self.linear.parts(role, kind, factor), *self.encoder.parts(role, kind, factor)]


@dataclass(frozen=True)
class SumScorer:
    """Gives tokens the sum of what features and an encoder give them.

    Args:
        linear: of features.
        encoder: of the same roles and types.
    """

    linear: LinearScorer
    encoder: Stored

    @classmethod
    def mean(cls, linear: LinearScorer, encoder: Scaling, share: float) -> SumScorer:
        """Return the weighted mean of features and an encoder, whose own weights are changed.

        Args:
            linear: features.
            encoder: it stays the same object.
            share: of the features, from 0 to 1.
        """
        encoder.scale(1 - share)
        return cls(linear.scaled(share), encoder)

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that documents must bring."""
        return self.linear.needs

    def prepare(self, batch: Batch) -> Batch:
        """Return the batch with the computed columns that templates name."""
        return self.linear.prepare(batch)

    def score(self, batch: Batch, run: Executor = SERIAL) -> Potentials:
        """Return the potentials of a batch."""
        return summed(self.linear.score(batch, run), self.encoder.score(batch, run))

    def describe(self) -> dict[str, Any]:
        """Describe both."""
        return {**self.linear.describe(), **self.encoder.describe()}

    def named(self, document: Document, token: int) -> NamedSum:
        """Return what both see of a token."""
        return NamedSum(self.linear.named(document, token), self.encoder.named(document, token))

    def to_part(self) -> ModelPart:
        """Return the linear scorer's part of a model file, with the encoder's in it."""
        own = self.linear.to_part()
        return replace(own, parts={**own.parts, **encoded_parts(self.encoder)})


def summed(a: Potentials, b: Potentials) -> Potentials:
    """Return the sum of two potentials of the same tokens, roles and types."""
    return Potentials(a.roles + b.roles, a.constants + b.constants)


def averaged(a: Potentials, b: Potentials, share: float) -> Potentials:
    """Return the weighted mean of two potentials of the same tokens, roles and types.

    Args:
        a, b: the two.
        share: of the first, from 0 to 1.

    >>> import numpy as np
    >>> one, other = (Potentials(np.full((1, 1, 1), x, np.float32), np.zeros((0, 1), np.float32)) for x in (4, 8))
    >>> float(averaged(one, other, 0.25).roles[0, 0, 0])
    7.0
    """
    own, rest = np.float32(share), np.float32(1 - share)
    return Potentials(own * a.roles + rest * b.roles, own * a.constants + rest * b.constants)
