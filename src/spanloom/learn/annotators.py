"""Several annotators of one corpus: the probable annotation, given the text and all their versions.

After Dawid and Skene (1979), with structures in place of labels. The posterior of a structure y is
p(y | text) times the product of p(version | y) over annotators. Each version is a structure, too, and its probability
is factored by tokens and roles, so that its logarithm is a sum of scores of y's roles, which the engine adds up
exactly, for every template:

1. roles that start mentions: an annotator has the role where y has it with one probability (the recall), and where y
   does not with another; a missing mark counts against y, once for each mention;
2. all other roles, such as those of borders: given the annotator's roles at the token before, and whether a mention
   starts, the roles are drawn from a distribution for each role of y; where y has no such role, from that of all
   tokens. So where an annotator has marked nothing, these roles have no effect, and a missed mention counts once,
   regardless of its length.

The probabilities are estimated from expected counts of y's roles, and these with the probabilities (EM). p(y | text)
comes from models that were trained on other folds, on the expected counts of the round before.

A model of the expected counts is then trained on the likelihood of all versions, with fixed probabilities. Its gradient
is the expectation without the votes minus the expectation with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.hypergraph import Edges, Engine, Floats, Ints, Potentials, Singles
from spanloom.learn.corpus_target import CorpusTarget, SoftCounts
from spanloom.learn.data import TrainingSet
from spanloom.learn.descent import adagrad
from spanloom.learn.held_out import Held, HeldOut, held_out, in_order
from spanloom.learn.target import EdgeTarget, TargetCounts, tokens_of
from spanloom.parallel import SERIAL, Executor
from spanloom.scoring import Weights

ROUNDS: Final = 3
STEPS: Final = 5  # of EM in a round
_FOUND = 0.8  # of true starts, before anything is known
_STARTS = 4.0  # true starts that this is worth
_TOKENS = 50.0  # tokens that the false starts of all types are worth, for one type
_DRAWS = 4.0  # draws that the distribution of all tokens is worth, for one role
_LEAST = 1e-5  # of a probability
# Wrong marks are where a mention could be, or overlap one: more often there than their rate by token suggests.
# So a mark counts for less than this suggests. Chosen on simulated annotators of 100 of GENIA's training abstracts.
_SHARE = 0.7
_OF_KIND, _SILENT = (1e-3, 1.0), 1e-9  # weights in a mixture: of voices that are not whole and that are; of no voice
Flags = NDArray[np.bool_]


class Voice(NamedTuple):
    """The annotation of a corpus of T tokens by one annotator, in structures of R roles, S of which start mentions.

    Args:
        edges: (T, K, D) the structures.
        starts: (T, S, K) whether they have roles that start mentions.
        marks: (T, K) the number of the combination of other roles, of M.
        context: (M,) the number of the combination before it, of C.
        speaks: (T, K) whether the annotator annotated the token.
        whole: whether unmarked text is annotated as without mentions.
    """

    edges: Edges
    starts: Flags
    marks: Ints
    context: Ints
    speaks: Flags
    whole: bool

    @classmethod
    def of(cls, engine: Engine, offsets: Ints, edges: Edges, starts: Ints, speaks: Flags, whole: bool) -> Voice:
        """Return the voice of structures.

        Args:
            engine: of the structures.
            offsets: (N + 1,) first token of each sentence.
            edges: (T, K, D).
            starts: (S,) the numbers of the roles that start mentions.
            speaks, whole: as above.
        """
        has = engine.role_counts(edges, offsets)[0] > 0
        others = np.setdiff1d(np.arange(has.shape[1]), starts)
        begins, rest = _numbers(has[:, starts]), _numbers(has[:, others])
        every = begins + (begins.max(initial=0) + 1) * rest
        before = np.zeros_like(every)
        before[1:] = every[:-1] + 1
        before[offsets[:-1][np.diff(offsets) > 0]] = 0
        context = _unique(before, begins)
        marks = _unique(context, rest)
        table = np.zeros(marks.max(initial=-1) + 1, np.int64)
        table[marks] = context
        return cls(edges, has[:, starts], marks, table, speaks, whole)


def _numbers(has: Flags) -> Ints:
    """Return a number (T, K) for each set of roles (T, R, K); 0 for the empty one."""
    tokens, roles, types = has.shape
    packed = np.packbits(np.moveaxis(has, 1, 2).reshape(-1, roles), axis=1)
    none = np.zeros((1, packed.shape[1]), np.uint8)
    _, found = np.unique(np.concatenate([none, packed]), axis=0, return_inverse=True)  # the empty set is the first
    return found.reshape(-1)[1:].reshape(tokens, types)


def _unique(one: Ints, other: Ints) -> Ints:
    """Return a number for each pair of numbers."""
    _, found = np.unique(one * (other.max(initial=0) + 1) + other, return_inverse=True)
    return found.reshape(one.shape)


class Rates(NamedTuple):
    """The reliability of an annotator.

    Args:
        found: (S, K) the probability of a start that is there.
        false: (S, K) that of a start that is not.
        others: (M, R) the log of the factor by which a role of y makes the annotation more likely; 0 for starts.
    """

    found: Floats
    false: Floats
    others: Floats


def rates_of(voice: Voice, roles: Singles, starts: Ints) -> Rates:
    """Estimate the reliability of an annotator.

    Args:
        voice: the annotation.
        roles: (T, R, K) the expected count of each role.
        starts: (S,) the numbers of the roles that start mentions.
    """
    speaks, marks = voice.speaks[:, None], voice.starts
    true = np.where(speaks, np.minimum(roles[:, starts], 1.0), 0.0)
    both = np.where(marks, true, 0.0).sum(0, dtype=float)
    total = true.sum(0, dtype=float)
    marked = (marks & speaks).sum(0).astype(float)
    tokens = speaks.sum(0).astype(float)
    share = (both.sum() + _FOUND * _STARTS) / (total.sum() + _STARTS)
    wrong = (marked - both).sum() / max((tokens * np.ones_like(total) - total).sum(), 1.0)
    found = (both + _STARTS * share) / (total + _STARTS)
    false = (marked - both + _TOKENS * wrong) / (tokens - total + _TOKENS)
    least = np.clip(found, _LEAST, 1 - _LEAST), np.clip(false, _LEAST, 1 - _LEAST)
    return Rates(*least, _others(voice, roles, starts))


def _others(voice: Voice, roles: Singles, starts: Ints) -> Floats:
    """Return (M, R) the factor by which each role of y makes roles more likely, given the roles before."""
    marks, context = voice.marks[voice.speaks], voice.context
    size, contexts = len(context), int(context.max(initial=-1)) + 1
    of_marks = np.bincount(marks, minlength=size).astype(float)
    of_context = np.bincount(context, of_marks, minlength=contexts)
    usual = of_marks / np.maximum(of_context[context], 1.0)
    found = np.zeros((size, roles.shape[1]))
    for role in np.setdiff1d(np.arange(roles.shape[1]), starts).tolist():
        counts = np.bincount(marks, np.minimum(roles[:, role][voice.speaks], 1.0), minlength=size)
        total = np.bincount(context, counts, minlength=contexts)[context]
        chance = (counts + _DRAWS * usual) / (total + _DRAWS)
        found[:, role] = np.log(np.maximum(chance, _LEAST)) - np.log(np.maximum(usual, _LEAST))
    return found


def votes_of(voice: Voice, rates: Rates, starts: Ints, tokens: Ints) -> Singles:
    """Return (T, R, K) what an annotator adds to the scores of roles at some tokens."""
    marks, speaks = voice.starts[tokens], voice.speaks[tokens]
    for_it = _SHARE * np.log(rates.found / rates.false)
    against = np.log((1 - rates.found) / (1 - rates.false)) if voice.whole else np.zeros_like(for_it)
    votes = np.float32(_SHARE) * np.moveaxis(rates.others.astype(np.float32)[voice.marks[tokens]], 2, 1)
    votes = np.where(speaks[:, None], votes, np.float32(0))
    votes[:, starts] = np.where(speaks[:, None], np.where(marks, for_it, against), 0.0)
    return votes


@dataclass(frozen=True)
class VotesTarget:
    """The annotators' versions, as scores that are added to a model's.

    The loss is log Z minus log Z with the votes: minus the log-likelihood of all versions, except for terms that do
    not depend on the model. It is not convex, so the result depends on the initial weights.

    Args:
        engine: of the structures.
        offsets: (N + 1,) first token of each sentence.
        votes: (T, R, K) added to the scores of roles.
    """

    engine: Engine
    offsets: Ints
    votes: Singles

    @property
    def shape(self) -> tuple[int, int, int, int, int]:
        """(N, T, R, C, K)."""
        tokens, roles, types = self.votes.shape
        return len(self.offsets) - 1, tokens, roles, len(self.engine.template.constants), types

    def target_counts(
        self, potentials: Potentials, sentences: Ints | None = None, tokens: Ints | None = None
    ) -> TargetCounts:
        """Return what is wanted of some sentences; see `spanloom.learn.Target`."""
        offsets, votes = self.offsets, self.votes
        if sentences is not None and tokens is not None:
            offsets, votes = tokens_of(self.offsets, sentences)[0], votes[tokens]
        found = self.engine.expectations(Potentials(potentials.roles + votes, potentials.constants), offsets)
        return TargetCounts(found.roles, found.constants, (float(found.log_partition.sum()), 0.0))


@dataclass(frozen=True)
class Agreement:
    """Settings.

    Args:
        starts: (S,) the numbers of the roles that start mentions.
        models: training of the models of p(y | text).
        rounds: the number of repetitions.
    """

    starts: Ints
    models: Held
    rounds: int = ROUNDS


class Agreed(NamedTuple):
    """The probable annotation.

    Args:
        target: the annotators' versions.
        start: weights of a model of the expected counts, from which training continues.
        rates: of each voice.
        folds: of the last round, with votes added to potentials.
    """

    target: VotesTarget
    start: Weights
    rates: list[Rates]
    folds: list[HeldOut]


def mixture(engine: Engine, offsets: Ints, voices: Sequence[Voice]) -> SoftCounts:
    """Return the mean counts of each sentence, over the annotators who annotated it."""
    begin = np.minimum(offsets[:-1], max(int(offsets[-1]) - 1, 0))
    parts = [EdgeTarget(engine, offsets, voice.edges).as_counts() for voice in voices]
    weights = np.stack(
        [np.where(np.logical_or.reduceat(voice.speaks, begin), _OF_KIND[voice.whole], _SILENT) for voice in voices]
    )
    weights /= weights.sum(0)
    roles, constants = np.zeros_like(parts[0].roles), np.zeros_like(parts[0].constants)
    for part, weight in zip(parts, weights, strict=True):
        roles += part.roles * np.repeat(weight, np.diff(offsets), axis=0)[:, None].astype(np.float32)
        constants += part.constants * weight[:, None]
    return SoftCounts.of(roles, constants, offsets)


def agree(
    data: TrainingSet, voices: Sequence[Voice], settings: Agreement, run: Executor = SERIAL,
    callback: Callable[[int], object] = lambda _: None,
) -> Agreed:  # fmt: skip
    """Return what is probably there, given the text and what annotators marked.

    Args:
        data: the corpus; its target is not looked at.
        voices: of the annotators.
        settings: how.
        run: how folds and pieces of the work are run; the result does not depend on it.
        callback: called for each round, from 1.
    """
    engine, offsets, starts = data.engine, data.offsets, settings.starts
    none = voices[0].edges[:0]
    empty = EdgeTarget(engine, offsets[:1], none)
    soft = mixture(engine, offsets, voices)
    rates = [rates_of(voice, soft.roles.astype(np.float32), starts) for voice in voices]
    folds: list[HeldOut] = []
    for number in range(1, settings.rounds + 1):
        callback(number)
        current = replace(data, target=CorpusTarget(empty, soft))
        folds = held_out(current, none, settings.models, number, run)
        for _ in range(STEPS):
            marks = []
            for fold in folds:
                roles = fold.potentials.roles.copy()
                for voice, own in zip(voices, rates, strict=True):
                    roles += votes_of(voice, own, starts, fold.tokens)
                marks.append(fold._replace(potentials=Potentials(roles, fold.potentials.constants)))
            soft = in_order(folds, [engine.expectations(fold.potentials, fold.offsets, run) for fold in marks])
            rates = [rates_of(voice, soft.roles.astype(np.float32), starts) for voice in voices]
        folds = marks
    l2, epochs, rate, seed = settings.models
    expected = replace(data, target=CorpusTarget(empty, soft))
    start = adagrad(expected, l2=l2, epochs=epochs, rate=rate, seed=(seed, 0), run=run)
    votes = np.zeros(soft.roles.shape, np.float32)
    for voice, own in zip(voices, rates, strict=True):
        votes += votes_of(voice, own, starts, np.arange(len(votes)))
    return Agreed(VotesTarget(engine, offsets, votes), start, rates, folds)
