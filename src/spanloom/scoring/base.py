"""Protocol of scorers, which give the roles of a batch's tokens their scores."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from spanloom.document import Batch, Document
from spanloom.hypergraph import Potentials
from spanloom.parallel import SERIAL, Executor


class Part(NamedTuple):
    """A feature and what it adds to the score.

    Args:
        name: readable, such as ``low[0]=pain``.
        score: what it adds; below 0 it speaks against.
    """

    name: str
    score: float


class Named(Protocol):
    """A scorer's view of one token, by name."""

    def parts(self, role: int, kind: int, factor: float = 1.0) -> list[Part]:
        """Return what the score of a role is the sum of, times a factor; what adds nothing is left out.

        Args:
            role: its number, R.
            kind: the type's number, K.
            factor: of all scores.
        """


class Outputs(Protocol):
    """What is to have scores: a template, or those of several side by side."""

    @property
    def roles(self) -> tuple[str, ...]:
        """The R axis."""

    @property
    def constants(self) -> tuple[str, ...]:
        """The C axis."""


class Scorer(Protocol):
    """Gives (T, R, K) role scores. Using one changes nothing, so threads may share it.

    Nothing below `Potentials` and nothing above a model knows which kind of scorer it has.
    """

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that documents must bring."""

    def prepare(self, batch: Batch) -> Batch:
        """Return the batch with all columns that can be computed; done before, it is not done again."""

    def score(self, batch: Batch, run: Executor = SERIAL) -> Potentials:
        """Return the potentials of a batch."""

    def describe(self) -> dict[str, Any]:
        """Describe the scorer for `spanloom inspect`, ready for JSON."""

    def named(self, document: Document, token: int) -> Named:
        """Return what is seen of a token.

        Args:
            document: prepared, with all columns.
            token: counted in the document.
        """
