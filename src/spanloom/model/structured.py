"""The structured model: a structure, an engine and a scorer, applied to batches of documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from spanloom.features import FeatureIndex, FeatureSet
from spanloom.hypergraph import ENGINES, Edges, Engine, Floats, Ints, Potentials
from spanloom.learn.platt import UNSCALED, Scalings
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring import LinearScorer, Scorer, Weights
from spanloom.structures import MentionTable, Structure

S = TypeVar("S", bound=Scorer, covariant=True)
B = TypeVar("B", bound=Scorer)


@dataclass(frozen=True)
class StructuredModel(Generic[S]):
    """A trained model of mentions. Using it changes nothing, so threads may share it.

    Args:
        structure: how mentions are written as hyperedges.
        types: K names.
        engine: the structure's template with a way of counting.
        scorer: gives tokens the scores of the structure's roles.
        penalty: added to the scores of roles that start a mention (Lu and Roth 2015, section 3.7). It changes
            predictions, but no probability.
        scalings: from the model's probabilities to how often such predictions are right.
    """

    structure: Structure
    types: tuple[str, ...]
    engine: Engine
    scorer: S
    penalty: float = 0.0
    scalings: Scalings = UNSCALED

    @staticmethod
    def build(
        structure: Structure, counting: str, types: Sequence[str], scorer: B, penalty: float = 0.0,
        scalings: Scalings = UNSCALED,
    ) -> StructuredModel[B]:  # fmt: skip
        """From a structure and the name of a way of counting."""
        engine = ENGINES[counting](structure.template(types))
        return StructuredModel(structure, tuple(types), engine, scorer, penalty, scalings)

    @staticmethod
    def untrained(
        structure: Structure, counting: str, types: Sequence[str], features: FeatureSet, index: FeatureIndex
    ) -> LinearModel:
        """Return a model of features, without weights."""
        scorer = LinearScorer(features, index, Weights.zeros(0, 0, 0, structure.lanes(types)))
        return StructuredModel.build(structure, counting, types, scorer)

    def with_penalty(self, penalty: float) -> StructuredModel[S]:
        """The same with another mention penalty."""
        return replace(self, penalty=penalty)

    def scored_by(self, change: Callable[[Any], Scorer]) -> StructuredModel[Scorer]:
        """The same with another scorer, made of its own."""
        return StructuredModel(
            self.structure, self.types, self.engine, change(self.scorer), self.penalty, self.scalings
        )

    @cached_property
    def start_rows(self) -> list[int]:
        """The numbers of the roles that start a mention."""
        starts = self.structure.start_roles(self.types)
        return [i for i, role in enumerate(self.engine.template.roles) if role in starts]

    @cached_property
    def _starting(self) -> list[bool]:
        """Whether each hyperedge has a role that starts a mention."""
        starts = self.structure.start_roles(self.types)
        return [any(role.name in starts for role in edge.roles) for edge in self.engine.template.edges]

    def penalized(self, potentials: Potentials) -> Potentials:
        """Potentials with the penalty added."""
        if not self.penalty:
            return potentials
        roles = potentials.roles.copy()
        roles[:, self.start_rows] += np.float32(self.penalty)
        return Potentials(roles, potentials.constants)

    def best(self, potentials: Potentials, offsets: Ints, run: Executor = SERIAL) -> Edges:
        """The hyperedges of the best structures, (T, K, D)."""
        return self.engine.viterbi(self.penalized(potentials), offsets, run).edges

    def decode(
        self, potentials: Potentials, offsets: Ints, reading: str = "enough", run: Executor = SERIAL
    ) -> MentionTable:
        """The mentions of the best structures."""
        return self.structure.decode(self.best(potentials, offsets, run), offsets, self.types, reading)

    def under(
        self, penalties: Sequence[float], potentials: Potentials, offsets: Ints, reading: str = "enough",
        run: Executor = SERIAL,
    ) -> tuple[MentionTable, Ints]:  # fmt: skip
        """The mentions of the best structures under each of some mention penalties, which rise, and its number of each.

        The largest comes first. Where the best structure of a sentence and type starts no mention, none does under a
        smaller penalty: its score is the same, and no other's is larger. So most are decoded once. Where mentions hold
        every token, they need no role to start them, and all are decoded each time.
        """
        every, lengths = self.structure.covers or not self.start_rows, np.diff(offsets)
        mark, kinds = np.array([every or one for one in self._starting], np.uint8), potentials.roles.shape[2]
        sentence, kind = np.divmod(np.arange(len(lengths) * kinds), kinds)
        found: list[tuple[Edges, Ints, Ints]] = []
        for penalty in reversed(penalties):
            added = np.zeros(potentials.roles.shape[1], np.float32)
            added[self.start_rows] = penalty
            lanes, edges = self.engine.best_marked(potentials, offsets, sentence, kind, added, mark, run)
            sentence, kind = sentence[lanes], kind[lanes]
            found.insert(0, (edges, sentence, kind))
        number = np.repeat(np.arange(len(penalties)), [len(lanes) for _, lanes, _ in found])
        edges, sentence, kind = (np.concatenate(columns) for columns in zip(*found, strict=True))
        own = np.append(0, lengths[sentence].cumsum())  # each sentence and type, under each penalty, as a sentence
        table = self.structure.decode(edges, own, self.types if self.structure.joint else self.types[:1], reading)
        kinds_of = table.kind if self.structure.joint else kind[table.sentence]
        return MentionTable(sentence[table.sentence], kinds_of, *table[2:]), number[table.sentence]

    def starting(self, edges: Edges) -> int:
        """Count the mentions that begin in given structures; with seven tags, the components that may."""
        return int(np.array([*self._starting, False])[edges].sum())  # -1, for no hyperedge, picks the last

    def probabilities(
        self, potentials: Potentials, offsets: Ints, mentions: MentionTable, run: Executor = SERIAL, *,
        calibrated: bool = True,
    ) -> Floats:  # fmt: skip
        """The probability of each mention: calibrated, or the exact marginal of its paths under the trained model."""
        if not len(mentions):
            return np.zeros(0)
        paths = self.structure.paths(mentions, self.types)
        marginals = self.engine.path_probability(potentials, offsets, paths, run).reshape(len(mentions), -1).sum(1)
        return self.scalings.mentions(marginals) if calibrated else marginals

    def answers(self, potentials: Potentials, offsets: Ints, edges: Edges) -> Floats:
        """The calibrated probability that each sentence's structure is right as a whole, (N,)."""
        return self.scalings.answers.of_log(self.log_answers(potentials, offsets, edges))

    def log_likelihood(self, potentials: Potentials, offsets: Ints, edges: Edges) -> Floats:
        """Return the exact log-probability (N, K) of the mentions of given structures, under the trained model.

        It sums over all encodings of the same mentions if `Structure.all_encodings` returns them. Otherwise it is that
        of the given structures.
        """
        allowed = self.structure.all_encodings(edges, offsets)
        if allowed is None:
            return self.engine.log_probability(potentials, offsets, edges)
        own, every = (self.engine.log_partition(potentials, offsets, allowed=a) for a in (allowed, None))
        return np.minimum(own - every, 0.0)

    def log_answers(self, potentials: Potentials, offsets: Ints, edges: Edges) -> Floats:
        """The exact log-probability of each sentence's mentions under the trained model, (N,); see `log_likelihood`.

        Copies of the template for different types do not interact, so it is the sum over them.
        """
        total: Floats = self.log_likelihood(potentials, offsets, edges).sum(1)
        return total


LinearModel: TypeAlias = StructuredModel[LinearScorer]
"""A structured model whose scores are sums of weights of features."""

AnyModel: TypeAlias = StructuredModel[Any]
"""A structured model, whatever its scores come from."""


def of_structures(types: Sequence[str], models: Sequence[AnyModel]) -> dict[str, Any]:
    """Describe structured models for `describe`: types, roles, and the scorer of the last, which has all templates."""
    return {
        "types": list(types),
        "roles": list(dict.fromkeys(role for model in models for role in model.engine.template.roles)),
        **models[-1].scorer.describe(),
    }
