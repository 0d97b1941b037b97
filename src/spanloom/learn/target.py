"""Targets: what a model is to expect of a corpus. The gradient is what it expects minus what the target wants."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

import numpy as np

from spanloom.errors import UsageError
from spanloom.files.scratch import MEMORY, Scratch
from spanloom.hypergraph import Edges, Engine, Floats, Ints, Potentials, Singles
from spanloom.parallel import SERIAL, Executor, whole_ranges
from spanloom.sparse import gathered

PIECE_TOKENS: Final = 1 << 20
"""Tokens of a piece of a corpus, at most, unless one sentence has more: of what is gone over in pieces one is held."""


class TargetCounts(NamedTuple):
    """Counts of roles and constants that a target wants in N sentences with T tokens.

    Args:
        roles: (T, R, K) how often each role is to occur at each token; not to be written to.
        constants: (C, K) how often each constant is to be used.
        score: under the model, of the roles and of the constants: the loss is log-partition minus both.
    """

    roles: Singles
    constants: Floats
    score: tuple[float, float]


class Target(Protocol):
    """A replacement for gold structures in training.

    Both optimizers ask for what is wanted under the model as it is, so that a target may depend on it.
    """

    @property
    def shape(self) -> tuple[int, int, int, int, int]:
        """(N, T, R, C, K): sentences, tokens, roles, constants, types."""

    def target_counts(
        self, potentials: Potentials, sentences: Ints | None = None, tokens: Ints | None = None
    ) -> TargetCounts:
        """Return what is wanted of some sentences.

        Args:
            potentials: the model's, of these tokens.
            sentences: (N,) their numbers in the corpus; all when ``None``.
            tokens: (T,) the numbers of their tokens in the corpus.
        """


@dataclass(frozen=True)
class EdgeTarget:
    """Complete annotation: one structure for each sentence and type.

    Args:
        engine: counts the structures' roles as it counts all others.
        offsets: (N + 1,) first token of each sentence.
        edges: (T, K, D) the hyperedges of the gold structures.
        scratch: where the counts are made.
        name: of what is made, before other names; of several targets in one scratch each has its own.

    Raises:
        SpanloomError: the hyperedges are not one structure for each sentence and type.
    """

    engine: Engine
    offsets: Ints
    edges: Edges
    scratch: Scratch = MEMORY
    name: str = ""
    roles: Singles = field(init=False)
    """(T, R, K) how often the structures have each role."""
    constants: Floats = field(init=False)
    """(C, K) how often they use each constant."""

    def __post_init__(self) -> None:
        template, types = self.engine.template, self.edges.shape[1]
        roles = self.scratch.zeros(f"{self.name}roles", (len(self.edges), len(template.roles), types), np.float32)
        constants = np.zeros((len(template.constants), types))
        for first, end in whole_ranges(self.offsets, PIECE_TOKENS):
            constants += self.engine.role_counts(self.edges, self.offsets, np.arange(first, end), roles)[1]
            self.scratch.release()
        object.__setattr__(self, "roles", roles)
        object.__setattr__(self, "constants", constants)

    @property
    def shape(self) -> tuple[int, int, int, int, int]:
        """(N, T, R, C, K)."""
        tokens, roles, types = self.roles.shape
        return len(self.offsets) - 1, tokens, roles, len(self.constants), types

    def target_counts(
        self, potentials: Potentials, sentences: Ints | None = None, tokens: Ints | None = None
    ) -> TargetCounts:
        """Return what is wanted of some sentences; see `Target`."""
        if sentences is None or tokens is None:
            return scored(potentials, self.roles, self.constants)
        constants = self.constants
        if len(constants):
            constants = self.engine.constant_counts(self.edges, self.offsets, sentences)
        return scored(potentials, self.roles.take(tokens, axis=0), constants)

    def as_counts(self) -> CountTarget:
        """Return the same as counts, to be joined with those of sentences without gold structures."""
        sentences = np.arange(len(self.offsets) - 1)
        every = [self.engine.constant_counts(self.edges, self.offsets, sentences[n : n + 1]) for n in sentences]
        return CountTarget(self.roles, np.stack(every) if every else np.zeros((0, *self.constants.shape)))


@dataclass(frozen=True)
class CountTarget:
    """Soft annotation: expected counts, such as those of a teacher, or the mean over several annotators.

    The loss is log Z - <counts, scores>, the cross entropy of the model and the source of the counts, but for what
    does not depend on the model. It is convex, as that of gold structures is.

    Args:
        roles: (T, R, K) how often each role is expected at each token.
        constants: (N, C, K) how often each constant is expected in each sentence.

    Raises:
        UsageError: counts that are below 0 or no numbers, or arrays of different types K.

    A student with the teacher's structure, which learns from what the teacher expects of raw text:

    >>> from spanloom.hypergraph import SubgraphEngine
    >>> from spanloom.structures import STRUCTURES
    >>> engine, offsets = SubgraphEngine(STRUCTURES["separators"].template(["x"])), np.array([0, 3])
    >>> scores = Potentials(np.ones((3, len(engine.template.roles), 1), np.float32), np.zeros((0, 1), np.float32))
    >>> target = CountTarget.expected(engine, scores, offsets)
    >>> target.roles.shape == scores.roles.shape
    True
    """

    roles: Singles
    constants: Floats
    total: Floats = field(init=False)
    """(C, K) constants of all sentences."""

    def __post_init__(self) -> None:
        if self.roles.ndim != 3 or self.constants.ndim != 3 or self.roles.shape[2] != self.constants.shape[2]:
            raise UsageError(
                f"the counts have the shapes {self.roles.shape} and {self.constants.shape}, expected (tokens, roles, "
                "types) and (sentences, constants, types)"
            )
        for name, counts in (("roles", self.roles), ("constants", self.constants)):
            if not (np.isfinite(counts) & (counts >= 0)).all():
                raise UsageError(f"the counts of {name} hold one that is below 0 or no number; give expected counts")
        object.__setattr__(self, "total", self.constants.sum(0))

    @classmethod
    def expected(cls, engine: Engine, potentials: Potentials, offsets: Ints, run: Executor = SERIAL) -> CountTarget:
        """Return what a teacher expects: `Engine.expectations`, its constants for each sentence.

        Args:
            engine: of the student, which has the teacher's template.
            potentials: the teacher's.
            offsets: (N + 1,) first token of each sentence.
            run: how pieces of the work are run; the result does not depend on it.
        """
        found = engine.expectations(potentials, offsets, run)
        return cls(found.roles, found.each)

    @property
    def shape(self) -> tuple[int, int, int, int, int]:
        """(N, T, R, C, K)."""
        (tokens, roles, types), (sentences, constants, _) = self.roles.shape, self.constants.shape
        return sentences, tokens, roles, constants, types

    def target_counts(
        self, potentials: Potentials, sentences: Ints | None = None, tokens: Ints | None = None
    ) -> TargetCounts:
        """Return what is wanted of some sentences; see `Target`."""
        if sentences is None or tokens is None:
            return scored(potentials, self.roles, self.total)
        return scored(potentials, self.roles.take(tokens, axis=0), self.constants[sentences].sum(0))


def scored(potentials: Potentials, roles: Singles, constants: Floats) -> TargetCounts:
    """Return what is wanted with its score under a model."""
    of_roles = float(np.einsum("trk,trk->", potentials.roles, roles, dtype=np.float64))
    return TargetCounts(roles, constants, (of_roles, float((potentials.constants * constants).sum())))


def tokens_of(offsets: Ints, sentences: Ints) -> tuple[Ints, Ints]:
    """Return the offsets of some sentences among their own tokens, and the numbers of these.

    >>> tokens_of(np.array([0, 2, 5, 6]), np.array([1, 2]))
    (array([0, 3, 4]), array([2, 3, 4, 5]))
    """
    tokens, own = gathered(offsets, sentences)
    return own, tokens
