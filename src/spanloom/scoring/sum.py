"""The sum of two scorers: features and an encoder under one decoder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from spanloom.document import Batch, Document
from spanloom.hypergraph import Potentials
from spanloom.modelfile import ModelPart
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring.base import Named, Part, Scorer
from spanloom.scoring.encoded import encoded_parts
from spanloom.scoring.linear import LinearScorer

__all__ = ["SumScorer", "summed"]


class Stored(Scorer, Protocol):
    """A scorer that is kept in a model file."""

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file."""
        ...


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
        encoder: trained beside it.
    """

    linear: LinearScorer
    encoder: Stored

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
