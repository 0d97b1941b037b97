"""A trained model: its chains, and how each method decodes with them. Using it changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from spanloom.errors import UsageError
from spanloom.hypergraph import Floats, Ints, Potentials
from spanloom.learn.platt import UNSCALED, Scalings
from spanloom.model.structured import StructuredModel
from spanloom.scoring import Scorer
from spanloom.segment.chains import MENTIONS, PAIRS, WORDS, Chains, ProductScorer, Scored, product_model
from spanloom.segment.characters import Bools, Characters
from spanloom.segment.corpus import Corpus
from spanloom.segment.dual import Solution, gather
from spanloom.segment.oracles import solve_chains
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
WORD_COLUMN, MENTION_COLUMN = "word_tag", "mention_tag"
PENALTIES: Final = tuple(step / 4 for step in range(-5, 10))  # that are tried as joint penalty


@dataclass(frozen=True)
class Decoded:
    """What a method says of a text.

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

    def probabilities(self, asked: MentionTable, *, words: bool, n_jobs: int = 1, calibrated: bool = True) -> Floats:
        """The probability of each word, or mention, (Q,): exact marginals, those of mentions calibrated if wanted."""
        side = self.side(words=words)
        table = asked if words else side.numbered(asked)
        exact = side.model.probabilities(side.potentials, self.text.offsets, table, n_jobs, calibrated=False)
        return self.scalings.mentions(exact) if calibrated and not words else exact

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
        """What probabilities of words, or of mentions, are computed with."""
        return self._sides[0 if words else 1]

    @cached_property
    def _sides(self) -> tuple[Scored, Scored]:
        return self.make_sides()


@dataclass(frozen=True)
class Model:
    """Chains and constraints.

    Args:
        types: K names.
        constraints: between words and mentions.
        parts: one, or for the method ``incremental`` three: the two chains that stand alone, the words that see
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

    @cached_property
    def allowed(self) -> Bools:
        """(4, L) which tags of words and of mentions may stand at one character."""
        return allowed_pairs(self.constraints, self.types)

    @cached_property
    def product(self) -> StructuredModel[ProductScorer]:
        """The product of the two chains that stand alone."""
        return product_model(self.parts[0], self.constraints)

    def serves(self, method: str) -> bool:
        """Whether its chains are those of a method."""
        if method == "joint_labels":
            return PAIRS in self.parts[0].models
        return WORDS in self.parts[0].models and (method in SHARING or len(self.parts) == 3)

    def decode(
        self, text: Characters, method: str, *, weight: float = 1.0, iterations: int = 50, n_jobs: int = 1
    ) -> Decoded:
        """The best tags of a text.

        Args:
            text: with all columns that the features read, but those of ``incremental``.
            method: one of `METHODS` that the model serves.
            weight: of mentions, for ``dual`` and ``exact``.
            iterations: K, for ``dual``.
            n_jobs: threads.

        Raises:
            UsageError: the model was trained for another method.
        """
        if not self.serves(method):
            raise UsageError(f"the model was not trained for the method {method!r}; train it for that")
        return replace(self._decode(text, method, weight, iterations, n_jobs), scalings=self.scalings)

    def _decode(self, text: Characters, method: str, weight: float, iterations: int, n_jobs: int) -> Decoded:
        sides = _scored(self.parts[0], text, n_jobs)
        if method == "joint_labels":
            pairs = sides[PAIRS]
            return Decoded(pairs.best(text.offsets, n_jobs), text, lambda: (pairs, pairs))
        words, mentions = sides[WORDS], sides[MENTIONS]
        if method == "independent":
            return Decoded(_apart(words, mentions, text, n_jobs), text, lambda: (words, mentions))
        if method == "incremental":
            seen = text.with_columns(output_columns(_apart(words, mentions, text, n_jobs), self.types))
            own = _scored(self.parts[1], seen, n_jobs)[WORDS], _scored(self.parts[2], seen, n_jobs)[MENTIONS]
            return Decoded(_apart(*own, text, n_jobs), seen, lambda: own)
        mentions = mentions.shifted(self.joint_penalty)
        if method == "exact":
            labels = self._exact(words, mentions, _apart(words, mentions, text, n_jobs), text.offsets, weight, n_jobs)
            return Decoded(labels, text, lambda: (self._join(words, mentions, weight),) * 2)
        solution = solve_chains(words, mentions, text.offsets, self.constraints, weight, iterations, n_jobs)
        labels = Labels(solution.first, solution.second)
        if len(self.types) > MOST_TYPES:
            return Decoded(labels, text, lambda: (words, mentions), solution)
        return Decoded(labels, text, lambda: (self._join(words, mentions, weight),) * 2, solution)

    def tuned(self, dev: Corpus, weight: float, n_jobs: int = 1) -> Model:
        """The same with the joint penalty that development F1 prefers: the mean of words and mentions.

        Development F1 jumps from one penalty to the next, so the neighbours of a penalty on the grid count, too, by
        half. Where there are too many types for a product, the penalty stays 0.
        """
        if len(self.types) > MOST_TYPES:
            return self
        values = [dev.f1(labels) for labels in self._sweep(dev.text, weight, n_jobs)]
        return replace(self, joint_penalty=smooth_best(PENALTIES, values))

    def _sweep(self, text: Characters, weight: float, n_jobs: int) -> list[Labels]:
        """The exact tags at each of the joint penalties.

        A score is linear in the penalty, so tags that are the best ones at two penalties are the best ones everywhere
        between. The middle is decoded only in sentences where the two differ, and so on in both halves.
        """
        bounds = text.offsets
        sides = _scored(self.parts[0], text, n_jobs)
        words, mentions = sides[WORDS], sides[MENTIONS]
        alone = words.best(bounds, n_jobs).words  # the same at every penalty

        def solve(number: int, positions: Ints, offsets: Ints) -> Labels:
            own, shifted = words.take(positions), mentions.take(positions).shifted(PENALTIES[number])
            apart = Labels(alone[positions], shifted.best(offsets, n_jobs).mentions)
            return self._exact(own, shifted, apart, offsets, weight, n_jobs)

        def fill(low: int, high: int) -> None:
            middle = (low + high) // 2
            if middle == low:
                return
            positions, offsets = gather(bounds, differing(found[low], found[high], bounds))
            found[middle] = Labels(*(tags.copy() for tags in found[low]))
            for tags, own in zip(found[middle], solve(middle, positions, offsets), strict=True):
                tags[positions] = own
            fill(low, middle)
            fill(middle, high)

        last = len(PENALTIES) - 1
        found = {end: solve(end, np.arange(bounds[-1]), bounds) for end in (0, last)}
        fill(0, last)
        return [found[number] for number in range(last + 1)]

    def _exact(
        self, words: Scored, mentions: Scored, labels: Labels, offsets: Ints, weight: float, n_jobs: int
    ) -> Labels:
        """The best tags of the product, written over those of the two chains alone.

        Where the two alone keep to the constraints, theirs are the best.
        """
        broken = np.append(0, np.cumsum(~self.allowed[labels.words, labels.mentions]))
        wrong = np.flatnonzero(broken[offsets[1:]] > broken[offsets[:-1]])
        if len(wrong):
            positions, bounds = gather(offsets, wrong)
            joint = self._join(words.take(positions), mentions.take(positions), weight)
            best = joint.best(bounds, n_jobs)
            for own, found in zip(labels, best, strict=True):
                own[positions] = found
        return labels

    def _join(self, words: Scored, mentions: Scored, weight: float) -> Scored:
        scorer = replace(self.product.scorer, weight=weight)
        model = replace(self.product, scorer=scorer, penalty=weight * mentions.model.penalty)
        return Scored(model, scorer.join(words.potentials, mentions.potentials))


def smooth_best(places: Sequence[float], values: Sequence[float]) -> float:
    """The place of the largest value, each averaged with its neighbours; of equal ones that nearest to 0.

    Args:
        places: ascending; the first and the last are only neighbours.
        values: at the places.

    >>> smooth_best([-1, 0, 1, 2, 3, 4], [0, 9, 0, 6, 7, 6])
    3
    """
    inner = np.convolve(values, (0.25, 0.5, 0.25), "valid").round(9).tolist()
    return max(zip(inner, places[1:-1], strict=True), key=lambda pair: (pair[0], -abs(pair[1])))[1]


def output_columns(labels: Labels, types: Sequence[str]) -> dict[str, list[str]]:
    """The columns in which a chain sees what the other one said; nothing for O."""
    words = np.array(WORD_TAGS)[labels.words]
    mentions = np.array(["", *MENTION_CHAIN.tags(types)[1:]])[labels.mentions]
    return {WORD_COLUMN: words.tolist(), MENTION_COLUMN: mentions.tolist()}


def output_templates(column: str) -> list[str]:
    """What a chain sees of the other's output: each tag nearby, and neighbours together."""
    return [f"{column}[-2..2]", f"{column}[-1]|{column}[0]", f"{column}[0]|{column}[1]", f"{column}[0]|w[0]"]


def _scored(chains: Chains, text: Characters, n_jobs: int) -> dict[str, Scored]:
    scored = chains.score(text.batch, n_jobs)
    return {name: Scored(model, _masked(model, own, text)) for name, (model, own) in scored.items()}


def _apart(words: Scored, mentions: Scored, text: Characters, n_jobs: int) -> Labels:
    return Labels(words.best(text.offsets, n_jobs).words, mentions.best(text.offsets, n_jobs).mentions)


def differing(one: Labels, other: Labels, offsets: Ints) -> Ints:
    """The sentences whose tags are not the same."""
    unlike = (one.words != other.words) | (one.mentions != other.mentions)
    return np.flatnonzero(np.diff(np.append(0, np.cumsum(unlike))[offsets]))


def _masked(model: StructuredModel[Scorer], potentials: Potentials, text: Characters) -> Potentials:
    """Without the tags by which a word would hold white space, or begin at a mark."""
    names = np.array(model.engine.template.roles)
    starts = text.offsets[:-1][np.diff(text.offsets) > 0]
    gaps = np.setdiff1d(np.flatnonzero(text.first), starts, assume_unique=True)
    inner = np.flatnonzero(text.inner)
    if not np.isin(WORD_TAGS, names).any() or not (len(gaps) or len(inner)):
        return potentials
    roles = potentials.roles.copy()
    for places, excluded in ((gaps, "IE"), (gaps - 1, "BI"), (inner, "BS"), (inner - 1, "ES")):
        columns = np.flatnonzero(np.isin(names, list(excluded)))
        roles[places[:, None], columns] = -np.inf
    return Potentials(roles, potentials.constants)
