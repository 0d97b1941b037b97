"""A trained model: its chains, and how each method decodes with them. Using it changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from spanloom.errors import UsageError
from spanloom.hypergraph import Floats, Ints, Potentials
from spanloom.learn.platt import UNSCALED, Scalings
from spanloom.learn.target import tokens_of
from spanloom.learn.tuning import Chosen, Envelope, smooth_best
from spanloom.model.structured import StructuredModel
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring import Scorer
from spanloom.segment.chains import MENTIONS, PAIRS, WORDS, Chains, ProductScorer, Scored, product_model
from spanloom.segment.characters import Bools, Characters
from spanloom.segment.corpus import Corpus
from spanloom.segment.dual import Solution, solve_chains
from spanloom.structures import MentionTable
from spanloom.structures.product import (
    MENTION_CHAIN,
    MOST_TYPES,
    WORD_CHAIN,
    WORD_TAGS,
    Constraint,
    Labels,
    allowed_pairs,
)
from spanloom.text import Phrases

METHODS: Final = ("independent", "incremental", "joint_labels", "dual", "exact")
SHARING: Final = ("independent", "dual", "exact")
"""The methods that decode with the same two chains."""
WORD_COLUMN: Final = "word_tag"
MENTION_COLUMN: Final = "mention_tag"
PENALTIES: Final = tuple(step / 4 for step in range(-5, 10))  # that are tried as joint penalty


@dataclass(frozen=True)
class Decoded:
    """Result of a method for a text.

    Args:
        labels: the best tags.
        text: that was decoded, with all columns that the deciding chains read.
        make_sides: gives what probabilities of words and of mentions are computed with.
        solution: of dual decomposition, if that was the method.
        scalings: of the model.
    """

    labels: Labels
    text: Characters
    make_sides: Callable[[], tuple[Scored, Scored]]
    solution: Solution | None = None
    scalings: Scalings = UNSCALED

    @cached_property
    def words(self) -> MentionTable:
        """The best words."""
        return WORD_CHAIN.mentions_of(self.labels.words, self.text.offsets)

    @cached_property
    def mentions(self) -> MentionTable:
        """The best mentions."""
        return MENTION_CHAIN.mentions_of(self.labels.mentions, self.text.offsets)

    def probabilities(
        self, queried: MentionTable, *, words: bool, run: Executor = SERIAL, calibrated: bool = True
    ) -> Floats:
        """The probability of each word, or mention, (Q,): exact marginals, those of mentions calibrated if wanted."""
        if calibrated and not words:
            return self.scalings.mentions(self.chances(queried, run))
        side = self.side(words=words)
        table = queried if words else side.numbered(queried)
        return side.model.probabilities(side.potentials, self.text.offsets, table, run, calibrated=False)

    def chances(self, queried: MentionTable, run: Executor = SERIAL) -> Floats:
        """The probability of each mention, (Q,), not calibrated: its exact marginal."""
        return self.probabilities(queried, words=False, run=run, calibrated=False)

    def answers(self) -> Floats:
        """The calibrated probability that words and mentions of each sentence are right as a whole, (N,)."""
        return self.scalings.answers.of_log(self.log_answers())

    def log_answers(self) -> Floats:
        """The exact log-probability of the tags of each sentence, (N,); of two chains the product."""
        sides = {id(side): side for side in self._sides}.values()
        each = [side.log_answers(self.labels, self.text.offsets) for side in sides]
        total: Floats = np.sum(each, axis=0)
        return total

    def side(self, *, words: bool) -> Scored:
        """Return the scored chain with which probabilities of words, or of mentions, are computed."""
        return self._sides[0 if words else 1]

    @cached_property
    def _sides(self) -> tuple[Scored, Scored]:
        return self.make_sides()


@dataclass(frozen=True)
class SegmenterModel:
    """Chains and constraints.

    Args:
        types: K names.
        constraints: between words and mentions.
        parts: one, or for the method ``incremental`` three: the two independent chains, the words that see
            mentions, and the mentions that see words.
        phrases: of the dictionaries.
        joint_penalty: what ``exact`` and ``dual`` add to the scores of tags that begin a mention, beside the mention
            chain's own penalty, which was tuned for the chain alone.
        scalings: from the model's probabilities to how often such predictions of the trained method are right.
    """

    types: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    parts: tuple[Chains, ...]
    phrases: Phrases | None = None
    joint_penalty: float = 0.0
    scalings: Scalings = UNSCALED

    def scored_by(self, change: Callable[[Any], Scorer]) -> SegmenterModel:
        """Return the same with other scorers, made of those of its parts."""
        return replace(self, parts=tuple(part.scored_by(change) for part in self.parts))

    @property
    def penalty(self) -> float:
        """The mention penalty of the chain that decides on mentions."""
        models = self.parts[-1].models
        return models[PAIRS if PAIRS in models else MENTIONS].penalty

    def with_penalty(self, penalty: float) -> SegmenterModel:
        """The same with another mention penalty."""
        return replace(self, parts=tuple(part.with_penalty(penalty) for part in self.parts))

    @cached_property
    def allowed(self) -> Bools:
        """(4, L) which tags of words and of mentions are allowed at the same character."""
        return allowed_pairs(self.constraints, self.types)

    @cached_property
    def product(self) -> StructuredModel[ProductScorer]:
        """The product of the two independent chains."""
        return product_model(self.parts[0], self.constraints)

    def serves(self, method: str) -> bool:
        """Return whether its chains are those of a method."""
        if method == "joint_labels":
            return PAIRS in self.parts[0].models
        return WORDS in self.parts[0].models and (method in SHARING or len(self.parts) == 3)

    def decode(
        self, text: Characters, method: str, *, weight: float = 1.0, iterations: int = 50, run: Executor = SERIAL
    ) -> Decoded:
        """The best tags of a text.

        Args:
            text: with all columns that the features read, but those of ``incremental``.
            method: one of `METHODS` that the model serves.
            weight: of mentions, for ``dual`` and ``exact``.
            iterations: K, for ``dual``.
            run: how pieces of the work are run; the result does not depend on it.

        Raises:
            UsageError: the model was trained for another method.
        """
        if not self.serves(method):
            raise UsageError(f"the model was not trained for the method {method!r}; train it for that")
        return replace(self._decode(text, method, weight, iterations, run), scalings=self.scalings)

    def _decode(self, text: Characters, method: str, weight: float, iterations: int, run: Executor) -> Decoded:
        sides = _scored(self.parts[0], text, run)
        if method == "joint_labels":
            pairs = sides[PAIRS]
            return Decoded(pairs.best(text.offsets, run), text, lambda: (pairs, pairs))
        words, mentions = sides[WORDS], sides[MENTIONS]
        if method == "independent":
            return Decoded(_apart(words, mentions, text, run), text, lambda: (words, mentions))
        if method == "incremental":
            seen = text.with_columns(output_columns(_apart(words, mentions, text, run), self.types))
            own = _scored(self.parts[1], seen, run)[WORDS], _scored(self.parts[2], seen, run)[MENTIONS]
            return Decoded(_apart(*own, text, run), seen, lambda: own)
        mentions = mentions.shifted(self.joint_penalty)
        if method == "exact":
            labels = self._exact(words, mentions, _apart(words, mentions, text, run), text.offsets, weight, run)
            return Decoded(labels, text, lambda: (self._join(words, mentions, weight),) * 2)
        solution = solve_chains(words, mentions, text.offsets, self.constraints, weight, iterations, run)
        labels = Labels(solution.first, solution.second)
        if len(self.types) > MOST_TYPES:
            return Decoded(labels, text, lambda: (words, mentions), solution)
        return Decoded(labels, text, lambda: (self._join(words, mentions, weight),) * 2, solution)

    def tuned(self, dev: Corpus, weight: float, run: Executor = SERIAL) -> SegmenterModel:
        """The same with the joint penalty that development F1 prefers: the mean of words and mentions.

        Development F1 jumps from one penalty to the next, so the neighbours of a penalty on the grid count, too, by
        half. Where there are too many types for a product, the penalty stays 0.
        """
        if len(self.types) > MOST_TYPES:
            return self
        found = self._sweep(dev.text, weight, run)
        values = [dev.f1(found[penalty]) for penalty in PENALTIES]
        return replace(self, joint_penalty=smooth_best(PENALTIES, values))

    def _sweep(self, text: Characters, weight: float, run: Executor) -> dict[float, Labels]:
        """The exact tags at each of the joint penalties."""
        bounds = text.offsets
        sides = _scored(self.parts[0], text, run)
        words, mentions = sides[WORDS], sides[MENTIONS]
        alone = words.best(bounds, run).words  # the same at every penalty

        def decode(penalty: float, fixed: Chosen) -> Ints:
            offsets, positions = tokens_of(bounds, np.flatnonzero(fixed))
            own, shifted = words.take(positions), mentions.take(positions).shifted(penalty)
            apart = Labels(alone[positions], shifted.best(offsets, run).mentions)
            found = np.zeros((len(alone), 2), np.int64)
            found[positions] = np.stack(self._exact(own, shifted, apart, offsets, weight, run), 1)
            return found

        envelope = Envelope(decode, np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)))
        return {penalty: Labels(*found.T) for penalty, found in envelope.over(PENALTIES)}

    def _exact(
        self, words: Scored, mentions: Scored, labels: Labels, offsets: Ints, weight: float, run: Executor
    ) -> Labels:
        """The best tags of the product, written over those of the two chains alone.

        Where the two alone keep to the constraints, theirs are the best.
        """
        broken = np.append(0, np.cumsum(~self.allowed[labels.words, labels.mentions]))
        wrong = np.flatnonzero(broken[offsets[1:]] > broken[offsets[:-1]])
        if len(wrong):
            bounds, positions = tokens_of(offsets, wrong)
            joint = self._join(words.take(positions), mentions.take(positions), weight)
            best = joint.best(bounds, run)
            for own, found in zip(labels, best, strict=True):
                own[positions] = found
        return labels

    def _join(self, words: Scored, mentions: Scored, weight: float) -> Scored:
        scorer = replace(self.product.scorer, weight=weight)
        model = replace(self.product, scorer=scorer, penalty=weight * mentions.model.penalty)
        return Scored(model, scorer.join(words.potentials, mentions.potentials))


def output_columns(labels: Labels, types: Sequence[str]) -> dict[str, list[str]]:
    """Return the columns with the output of each chain, which the other one reads; empty for O."""
    words = np.array(WORD_TAGS)[labels.words]
    mentions = np.array(["", *MENTION_CHAIN.tags(types)[1:]])[labels.mentions]
    return {WORD_COLUMN: words.tolist(), MENTION_COLUMN: mentions.tolist()}


def output_templates(column: str) -> list[str]:
    """Return templates for the other chain's output: each tag nearby, and neighbours together."""
    return [f"{column}[-2..2]", f"{column}[-1]|{column}[0]", f"{column}[0]|{column}[1]", f"{column}[0]|w[0]"]


def _scored(chains: Chains, text: Characters, run: Executor) -> dict[str, Scored]:
    scored = chains.score(text.batch, run)
    return {name: Scored(model, _masked(model, own, text)) for name, (model, own) in scored.items()}


def _apart(words: Scored, mentions: Scored, text: Characters, run: Executor) -> Labels:
    return Labels(words.best(text.offsets, run).words, mentions.best(text.offsets, run).mentions)


def differing(one: Labels, other: Labels, offsets: Ints) -> Ints:
    """The sentences whose tags are not the same."""
    unlike = (one.words != other.words) | (one.mentions != other.mentions)
    return np.flatnonzero(np.diff(np.append(0, np.cumsum(unlike))[offsets]))


def _masked(model: StructuredModel[Scorer], potentials: Potentials, text: Characters) -> Potentials:
    """Without the tags by which a word would hold white space, or begin at a mark, or a kept word would be another."""
    names = np.array(model.engine.template.roles)
    of_words, of_mentions = np.isin(names, WORD_TAGS), np.isin(names, MENTION_CHAIN.tags(model.types))
    starts = text.offsets[:-1][np.diff(text.offsets) > 0]
    gaps = np.setdiff1d(np.flatnonzero(text.first), starts, assume_unique=True)
    inner = np.flatnonzero(text.inner)
    masks: list[tuple[Ints, Bools]] = []  # places, and the roles that they may not have
    if of_words.any():
        pairs = ((gaps, "IE"), (gaps - 1, "BI"), (inner, "BS"), (inner - 1, "ES"))
        masks += [(places, np.isin(names, list(excluded))) for places, excluded in pairs if len(places)]
    fixed: dict[str, list[int]] = {}
    for first, end, kind in text.kept:
        tags = list(WORD_CHAIN.spell(end - first)) if of_words.any() else []
        if kind is not None and of_mentions.any():
            tags += [f"{letter}-{kind}" for letter in MENTION_CHAIN.spell(end - first)]
        for number, tag in enumerate(tags):
            fixed.setdefault(tag, []).append(first + number % (end - first))
    for tag, where in fixed.items():
        masks.append((np.array(where), (of_words if tag in WORD_TAGS else of_mentions) & (names != tag)))
    if not masks:
        return potentials
    roles = potentials.roles.copy()
    for places, excluded in masks:
        roles[places[:, None], np.flatnonzero(excluded)] = -np.inf
    return Potentials(roles, potentials.constants)
