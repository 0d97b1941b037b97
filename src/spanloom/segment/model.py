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
from spanloom.segment.characters import Characters
from spanloom.segment.constraints import Constraint, allowed_pairs
from spanloom.segment.corpus import Corpus
from spanloom.segment.dual import Solution, gather
from spanloom.segment.lattice import MOST_PAIRED, Labels, Lattice, Product, Segments, product_lattice
from spanloom.segment.oracles import solve_chains
from spanloom.segment.tags import WORD_TAGS, Bools, mention_tags
from spanloom.segment.training import Part
from spanloom.text import Phrases

METHODS: Final = ("independent", "incremental", "joint_labels", "dual", "exact")
SHARING: Final = ("independent", "dual", "exact")
"""The methods that decode with the same two chains."""
WORD_COLUMN, MENTION_COLUMN = "word_tag", "mention_tag"
PENALTIES: Final = tuple(step / 4 for step in range(-5, 10))  # that are tried as joint penalty
WORDS, MENTIONS, PAIRS = "words", "mentions", "pairs"


@dataclass(frozen=True)
class Side:
    """A lattice with its potentials.

    Args:
        lattice: its tags.
        potentials: of the trained model, which give probabilities.
        penalty: added where a mention begins, to decide which tags are the best.
    """

    lattice: Lattice
    potentials: Potentials
    penalty: float = 0.0

    @cached_property
    def deciding(self) -> Potentials:
        """The potentials with the penalty."""
        if not self.penalty:
            return self.potentials
        starts = self.lattice.structure.start_roles(self.lattice.types)
        rows = [i for i, role in enumerate(self.lattice.engine.template.roles) if role in starts]
        roles = self.potentials.roles.copy()
        roles[:, rows] += np.float32(self.penalty)
        return Potentials(roles, self.potentials.constants)

    def best(self, offsets: Ints, n_jobs: int) -> Labels:
        """The best tags of sentences."""
        return self.lattice.best(self.deciding, offsets, n_jobs)

    def take(self, positions: Ints) -> Side:
        """Of some characters."""
        return replace(self, potentials=Potentials(self.potentials.roles[positions], self.potentials.constants))

    def shifted(self, penalty: float) -> Side:
        """The same with a larger penalty."""
        return replace(self, penalty=self.penalty + penalty)


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
    make_sides: Callable[[], tuple[Side, Side]]
    solution: Solution | None = None
    scalings: Scalings = UNSCALED

    def probabilities(self, asked: Segments, *, words: bool, n_jobs: int = 1, calibrated: bool = True) -> Floats:
        """The probability of each word, or mention, (Q,): exact marginals, those of mentions calibrated if wanted."""
        side = self.side(words=words)
        exact = side.lattice.probabilities(side.potentials, self.text.offsets, asked, words=words, n_jobs=n_jobs)
        return self.scalings.mentions(exact) if calibrated and not words else exact

    def answers(self) -> Floats:
        """The calibrated probability that words and mentions of each sentence are right as a whole, (N,)."""
        return self.scalings.answers.of_log(self.log_answers())

    def log_answers(self) -> Floats:
        """The exact log-probability of the tags of each sentence, (N,); of two chains the product."""
        words, mentions = self._sides
        offsets = self.text.offsets
        total = np.zeros(len(offsets) - 1)
        for lattice, potentials in {id(side): (side.lattice, side.potentials) for side in (words, mentions)}.values():
            total += lattice.engine.log_probability(potentials, offsets, lattice.write(self.labels, offsets))[:, 0]
        return total

    def side(self, *, words: bool) -> Side:
        """What probabilities of words, or of mentions, are computed with."""
        return self._sides[0 if words else 1]

    @cached_property
    def _sides(self) -> tuple[Side, Side]:
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
    parts: tuple[Part, ...]
    phrases: Phrases | None = None
    joint_penalty: float = 0.0
    scalings: Scalings = UNSCALED

    @cached_property
    def allowed(self) -> Bools:
        """(4, L) which tags of words and of mentions may stand at one character."""
        return allowed_pairs(self.constraints, self.types)

    @cached_property
    def product(self) -> Product:
        """The product of the two chains."""
        return product_lattice(self.types, self.allowed)

    def serves(self, method: str) -> bool:
        """Whether its chains are those of a method."""
        if method == "joint_labels":
            return PAIRS in self.parts[0].chains
        return WORDS in self.parts[0].chains and (method in SHARING or len(self.parts) == 3)

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
        sides = _sides(self.parts[0], text, n_jobs)
        if method == "joint_labels":
            pairs = sides[PAIRS]
            return Decoded(pairs.best(text.offsets, n_jobs), text, lambda: (pairs, pairs))
        words, mentions = sides[WORDS], sides[MENTIONS]
        if method == "independent":
            return Decoded(_apart(words, mentions, text, n_jobs), text, lambda: (words, mentions))
        if method == "incremental":
            seen = text.with_columns(output_columns(_apart(words, mentions, text, n_jobs), self.types))
            own = _sides(self.parts[1], seen, n_jobs)[WORDS], _sides(self.parts[2], seen, n_jobs)[MENTIONS]
            return Decoded(_apart(*own, text, n_jobs), seen, lambda: own)
        mentions = mentions.shifted(self.joint_penalty)
        if method == "exact":
            labels = self._exact(words, mentions, _apart(words, mentions, text, n_jobs), text.offsets, weight, n_jobs)
            return Decoded(labels, text, lambda: (self._join(words, mentions, weight),) * 2)
        chains = (words.lattice, words.deciding), (mentions.lattice, mentions.deciding)
        solution = solve_chains(*chains, text.offsets, self.constraints, weight, iterations, n_jobs)
        labels = Labels(solution.first, solution.second)
        if len(self.types) > MOST_PAIRED:
            return Decoded(labels, text, lambda: (words, mentions), solution)
        return Decoded(labels, text, lambda: (self._join(words, mentions, weight),) * 2, solution)

    def tuned(self, dev: Corpus, weight: float, n_jobs: int = 1) -> Model:
        """The same with the joint penalty that development F1 prefers: the mean of words and mentions.

        Development F1 jumps from one penalty to the next, so the neighbours of a penalty on the grid count, too, by
        half. Where there are too many types for a product, the penalty stays 0.
        """
        if len(self.types) > MOST_PAIRED:
            return self
        values = [dev.f1(labels) for labels in self._sweep(dev.text, weight, n_jobs)]
        return replace(self, joint_penalty=smooth_best(PENALTIES, values))

    def _sweep(self, text: Characters, weight: float, n_jobs: int) -> list[Labels]:
        """The exact tags at each of the joint penalties.

        A score is linear in the penalty, so tags that are the best ones at two penalties are the best ones everywhere
        between. The middle is decoded only in sentences where the two differ, and so on in both halves.
        """
        bounds = text.offsets
        sides = _sides(self.parts[0], text, n_jobs)
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

    def _exact(self, words: Side, mentions: Side, labels: Labels, offsets: Ints, weight: float, n_jobs: int) -> Labels:
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

    def _join(self, words: Side, mentions: Side, weight: float) -> Side:
        potentials = self.product.potentials(words.potentials, mentions.potentials, weight)
        return Side(self.product, potentials, weight * mentions.penalty)


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
    mentions = np.array(["", *mention_tags(types)[1:]])[labels.mentions]
    return {WORD_COLUMN: words.tolist(), MENTION_COLUMN: mentions.tolist()}


def output_templates(column: str) -> list[str]:
    """What a chain sees of the other's output: each tag nearby, and neighbours together."""
    return [f"{column}[-2..2]", f"{column}[-1]|{column}[0]", f"{column}[0]|{column}[1]", f"{column}[0]|w[0]"]


def _sides(part: Part, text: Characters, n_jobs: int) -> dict[str, Side]:
    scores = part.score(text.batch, n_jobs)
    return {
        name: Side(chain.lattice, _masked(chain.lattice, scores[name], text), chain.tagger.penalty)
        for name, chain in part.chains.items()
    }


def _apart(words: Side, mentions: Side, text: Characters, n_jobs: int) -> Labels:
    return Labels(words.best(text.offsets, n_jobs).words, mentions.best(text.offsets, n_jobs).mentions)


def differing(one: Labels, other: Labels, offsets: Ints) -> Ints:
    """The sentences whose tags are not the same."""
    unlike = (one.words != other.words) | (one.mentions != other.mentions)
    return np.flatnonzero(np.diff(np.append(0, np.cumsum(unlike))[offsets]))


def _masked(lattice: Lattice, potentials: Potentials, text: Characters) -> Potentials:
    """Without the tags by which a word would hold white space, or begin at a mark."""
    if lattice.words[0] < 0:  # it says nothing of words
        return potentials
    starts = text.offsets[:-1][np.diff(text.offsets) > 0]
    gaps = np.setdiff1d(np.flatnonzero(text.first), starts, assume_unique=True)
    inner = np.flatnonzero(text.inner)
    if not len(gaps) and not len(inner):
        return potentials
    roles = potentials.roles.copy()
    letters = np.array(lattice.engine.template.roles)
    for places, excluded in ((gaps, "IE"), (gaps - 1, "BI"), (inner, "BS"), (inner - 1, "ES")):
        columns = np.flatnonzero(np.isin(letters, list(excluded)))
        roles[places[:, None], columns] = -np.inf
    return Potentials(roles, potentials.constants)
