"""The chains of a segmenter: of words, of mentions, and of pairs of their tags; and the product of the first two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from spanloom.document import Batch, Document
from spanloom.hypergraph import Edges, Floats, Ints, Potentials
from spanloom.model.structured import AnyModel, LinearModel, StructuredModel
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring import LinearScorer, Named, Part, Scorer, Weights
from spanloom.scoring.section import Section, SectionScorer, sections_of
from spanloom.structures import MentionTable
from spanloom.structures.chain import Chain
from spanloom.structures.product import (
    MENTION_CHAIN,
    WORD_CHAIN,
    WORD_TYPES,
    Constraint,
    Labels,
    Product,
    check_types,
    halves,
)
from spanloom.structures.words import Words

WORDS: Final = "words"
MENTIONS: Final = "mentions"
PAIRS: Final = "pairs"
MOST_TYPES: Final = 60  # of a chain of mentions: making its template takes the cube of them


class Tagging(NamedTuple):
    """Tagging task of a chain: a structure and its types."""

    structure: Chain
    types: tuple[str, ...]


def taggings(types: Sequence[str], constraints: tuple[Constraint, ...], *, pairs: bool) -> dict[str, Tagging]:
    """The independent chains, by name: that of pairs, or that of words and that of mentions.

    Raises:
        UsageError: there are too many types for one chain.
    """
    if pairs:
        return {PAIRS: Tagging(Product(constraints, own=True), (*WORD_TYPES, *types))}
    check_types(types, MOST_TYPES)
    return {WORDS: Tagging(WORD_CHAIN, WORD_TYPES), MENTIONS: Tagging(MENTION_CHAIN, tuple(types))}


def write_labels(tagging: Tagging, labels: Labels, offsets: Ints) -> Edges:
    """The hyperedges of tags; all must be allowed."""
    structure, types = tagging
    if isinstance(structure, Product):
        tags = structure.join(labels, types)
    else:
        tags = labels.words if isinstance(structure, Words) else labels.mentions
    return structure.write_tags(tags, offsets, types)


def read_labels(model: StructuredModel[Scorer], edges: Edges) -> Labels:
    """The tags of hyperedges; an empty array for those that the chain has none of."""
    structure, types = model.structure, model.types
    assert isinstance(structure, Chain)  # as all chains of a segmenter are
    tags = structure.read_tags(edges, types)
    if isinstance(structure, Product):
        return structure.project(tags, types)
    return Labels(tags, tags[:0]) if isinstance(structure, Words) else Labels(tags[:0], tags)


@dataclass(frozen=True)
class Chains:
    """Chains that read the same features, or the same encoder, which is asked once for all of them.

    Args:
        scorer: of the roles and constants of all chains, side by side.
        models: the chains, by name: ``words``, ``mentions`` or ``pairs``.
    """

    scorer: Scorer
    models: dict[str, AnyModel]

    @classmethod
    def of(cls, models: dict[str, LinearModel]) -> Chains:
        """From models of the same features."""
        scorers = [model.scorer for model in models.values()]
        rows = np.concatenate([scorer.weights.features for scorer in scorers], axis=1)
        constants = np.concatenate([scorer.weights.constants for scorer in scorers])
        return cls(scorers[0].with_weights(Weights(rows, constants)), {**models})

    def scored_by(self, change: Callable[[Any], Scorer]) -> Chains:
        """Return the same with another scorer, made of that of all chains."""
        scorer = change(self.scorer)
        sections = sections_of([model.engine.template for model in self.models.values()])
        models = {
            name: model.scored_by(partial(_within, scorer, section))
            for (name, model), section in zip(self.models.items(), sections, strict=True)
        }
        return Chains(scorer, models)

    def with_penalty(self, penalty: float) -> Chains:
        """Return the same with another mention penalty."""
        models = {name: one if name == WORDS else one.with_penalty(penalty) for name, one in self.models.items()}
        return replace(self, models=models)

    def score(self, batch: Batch, run: Executor = SERIAL) -> dict[str, Scored]:
        """Each chain with its potentials.

        Args:
            batch: of characters, with the columns that the features read.
            run: how pieces of the work are run; the result does not depend on it.
        """
        potentials = self.scorer.score(batch, run)
        sections = sections_of([model.engine.template for model in self.models.values()])
        return {
            name: Scored(model, section.of(potentials))
            for (name, model), section in zip(self.models.items(), sections, strict=True)
        }


def _within(whole: Scorer, section: Section, _: Scorer) -> Scorer:
    """Return the scorer of one chain, in place of its former one; with features it has weights of its own."""
    if not isinstance(whole, LinearScorer):
        return SectionScorer(whole, section)
    rows = np.ascontiguousarray(whole.weights.features[:, section.roles])
    scales = None if whole.scales is None else whole.scales[section.roles]
    return replace(whole, weights=Weights(rows, whole.weights.constants[section.constants]), scales=scales)


class Scored(NamedTuple):
    """A chain and its potentials for a text.

    Args:
        model: whose penalty decides which tags are the best.
        potentials: of the text, without the penalty; they give probabilities.
    """

    model: StructuredModel[Scorer]
    potentials: Potentials

    def best(self, offsets: Ints, run: Executor = SERIAL) -> Labels:
        """The best tags of sentences."""
        return read_labels(self.model, self.model.best(self.potentials, offsets, run))

    def take(self, positions: Ints) -> Scored:
        """Of some characters."""
        return self._replace(potentials=Potentials(self.potentials.roles[positions], self.potentials.constants))

    def shifted(self, penalty: float) -> Scored:
        """With a larger penalty."""
        return self._replace(model=self.model.with_penalty(self.model.penalty + penalty))

    def numbered(self, mentions: MentionTable) -> MentionTable:
        """Mentions with the types' numbers in this chain, where those of words may come first."""
        first = isinstance(self.model.structure, Product)
        return mentions.of_kinds(mentions.kind + first)

    def log_answers(self, labels: Labels, offsets: Ints) -> Floats:
        """The exact log-probability of the tags of each sentence, (N,)."""
        structure = self.model.structure
        assert isinstance(structure, Chain)
        edges = write_labels(Tagging(structure, self.model.types), labels, offsets)
        return self.model.log_answers(self.potentials, offsets, edges)


@dataclass(frozen=True)
class ProductScorer:
    """Adds the scores of a chain of words and of a chain of mentions.

    Args:
        chains: the two.
        roles: (R,) each role among those of words and then those of mentions.
        constants: (C, 2) the transition of words and that of mentions in each constant.
        weight: of the mentions' scores.
    """

    chains: Chains
    roles: Ints
    constants: Ints
    weight: float = 1.0

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that documents must bring."""
        return self.chains.scorer.needs

    def prepare(self, batch: Batch) -> Batch:
        """Return the batch with the computed columns that templates name."""
        return self.chains.scorer.prepare(batch)

    def score(self, batch: Batch, run: Executor = SERIAL) -> Potentials:
        """Return the potentials of a batch."""
        scored = self.chains.score(batch, run)
        return self.join(scored[WORDS].potentials, scored[MENTIONS].potentials)

    def describe(self) -> dict[str, Any]:
        """Describe the templates."""
        return self.chains.scorer.describe()

    def join(self, words: Potentials, mentions: Potentials) -> Potentials:
        """The potentials of the product, from those of the two."""
        factor = np.float32(self.weight)
        roles = np.concatenate([words.roles, factor * mentions.roles], axis=1).take(self.roles, axis=1)
        one, two = self.constants.T
        return Potentials(roles, words.constants[one] + factor * mentions.constants[two])

    def named(self, document: Document, token: int) -> Named:
        """Return the features of a token; those that the index does not know are left out."""
        return _NamedProduct(self, self.chains.scorer.named(document, token))


class _NamedProduct(NamedTuple):
    scorer: ProductScorer
    features: Named

    def parts(self, role: int, kind: int, factor: float = 1.0) -> list[Part]:
        """See `spanloom.scoring.base.Named`."""
        source = int(self.scorer.roles[role])
        is_word = source < len(WORD_CHAIN.letters)
        return self.features.parts(source, kind, factor * (1.0 if is_word else self.scorer.weight))


def product_model(chains: Chains, constraints: tuple[Constraint, ...]) -> StructuredModel[ProductScorer]:
    """The product of a chain of words and a chain of mentions, without the pairs that are not allowed.

    Its scores are the sums of the two chains' scores; so its best structure is the exact joint optimum, which dual
    decomposition looks for, and its probabilities are those of the two chains given that they agree.
    """
    words, mentions = (chains.models[name] for name in (WORDS, MENTIONS))
    structure, types = Product(constraints), (*WORD_TYPES, *mentions.types)
    template = structure.template(types)
    tags = [*words.engine.template.roles, *mentions.engine.template.roles]
    one, two = ({name: i for i, name in enumerate(side.engine.template.constants)} for side in (words, mentions))
    names = [(tag, *halves(tag)) for tag in structure.tags(types)]
    sources = {f"{a} {b}": (one.get(f"{w} {v}"), two.get(f"{m} {n}")) for a, w, m in names for b, v, n in names}
    constants = [sources[name] for name in template.constants]
    scorer = ProductScorer(chains, np.array([tags.index(role) for role in template.roles]), np.array(constants))
    return StructuredModel.build(structure, "subgraphs", types, scorer)
