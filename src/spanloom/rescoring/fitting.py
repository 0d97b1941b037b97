"""Training of the second stage: candidates of held-out first stages, and logistic regression tuned on other data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch, Document
from spanloom.features import FeatureSet, build_index
from spanloom.features.conjunctions import conjunctions
from spanloom.hypergraph import Edges, Floats, Ints, Potentials
from spanloom.learn import TrainingSet
from spanloom.learn.folds import FEW, deal
from spanloom.learn.held_out import Held, HeldOut, of_folds
from spanloom.learn.platt import UNSCALED
from spanloom.learn.subsets import subset
from spanloom.learn.target import PIECE_TOKENS, tokens_of
from spanloom.learn.tuning import nearest_best
from spanloom.model.calibration import CalibrationReport, fit_scalings, key_of
from spanloom.model.corpus import Gold, place
from spanloom.model.overlaps import OverlapRules, best_set
from spanloom.model.pairs import overlapping
from spanloom.model.report import RescoringReport
from spanloom.model.structured import AnyModel, LinearModel
from spanloom.parallel import SERIAL, Executor
from spanloom.rescoring.candidates import CandidateMentions, Proposing, Words, merge, propose
from spanloom.rescoring.logistic import ROUGH, Fitted, Regression, Rows, fit_regression
from spanloom.rescoring.parts import HeldOutParts, PairedParts
from spanloom.rescoring.rescorer import WORDS, EarlyExit, Rescorer, ScoredCandidates, odds_columns
from spanloom.rescoring.seen import HeldOutNames, SeenNames
from spanloom.rescoring.values import TEMPLATES, CandidateValues, TokenColumns, served, texts
from spanloom.scoring import Weights
from spanloom.structures import MentionTable
from spanloom.structures.base import concatenate, identities

if TYPE_CHECKING:  # imported where names of vocabularies are given
    from spanloom.rescoring.concept_lookup import ConceptLookup
    from spanloom.rescoring.listed import ListedIn, ListedNames

FOLDS: Final = 3
FEWEST: Final = 100  # training mentions, below which there is no second stage
LAMBDAS: Final = (8.0, 16.0, 32.0)
MIN_COUNT: Final = 2
EXITS: Final = (3.0, 4.0, 5.0, 6.0)
"""Thresholds of the early exit; the first whose cost in development F1 is at most `LOSS` is taken."""
LOSS: Final = 0.0005
_STEPS, _FARTHEST = 20, 40  # thresholds in log-odds: so many to 1, and so many on either side of 0
_FEWEST_GAPS: Final = 100  # right candidates with gaps, below which they have no weights of their own
_GAPS_LAMBDA: Final = 4.0
_SURE: Final = 50.0  # log-odds of what does not matter
_FEW = 300  # development mentions, of which the best threshold and half of F1 count alike


class FirstStage(NamedTuple):
    """A corpus as the first stage has seen it, and how it was trained.

    Args:
        model: trained.
        data: the corpus.
        edges: its gold structures, (T, K, D).
        training: how it was trained.
        reading: of overlapping mentions.
        f1: on development data.
    """

    model: LinearModel
    data: TrainingSet
    edges: Edges
    training: Held
    reading: str
    f1: float


def sampled(
    first: FirstStage, train: Batch, headless: str | None, most: int = PIECE_TOKENS
) -> tuple[FirstStage, Batch, Gold]:
    """Return a part of much training data, by documents evenly spread; with the columns that the first stage reads.

    Args:
        first: the whole corpus.
        train: its documents.
        headless: as for `Gold`.
        most: tokens of the part, about.
    """
    documents = len(train.documents)
    kept = min(documents, max(1, documents * most // len(train.tokens)))
    rows = [number * documents // kept for number in range(kept)]
    own = first.model.scorer.prepare(train.take(rows))
    bounds = train.firsts
    sentences = np.concatenate([np.arange(bounds[i], bounds[i + 1]) for i in rows])
    data = subset(first.data, first.edges, sentences)
    edges = first.edges[tokens_of(first.data.offsets, sentences)[1]]
    return first._replace(data=data, edges=edges), own, Gold(own, first.model.types, headless)


def held_out_candidates(
    first: FirstStage, text: Words, fold: Ints, named: MentionTable | None = None, pairs: HeldOutParts | None = None,
    run: Executor = SERIAL,
) -> CandidateMentions:  # fmt: skip
    """Return the candidates of the training data, each fold's by a first stage that was trained on the others.

    Args:
        first: the corpus.
        text: its sentences.
        fold: (N,) of each sentence that has gold mentions, or could have.
        named: mentions whose words are a name.
        pairs: proposes pairs of parts.
        run: runs folds side by side.
    """

    def use(weights: Weights, part: HeldOut) -> CandidateMentions:
        # of rows: the corpus has all features of a row, or none
        model = replace(first.model, scorer=first.model.scorer.with_weights(weights))
        own, names = part.sentences, None
        if named is not None:
            number = np.full(int(max(own.max(), named.sentence.max(initial=0))) + 1, -1)
            number[own] = np.arange(len(own))
            own_names = named.take(np.flatnonzero(number[named.sentence] >= 0))
            names = MentionTable(number[own_names.sentence], *own_names[1:])
        found = propose(
            model, part.potentials, text.take(own, part.tokens, part.offsets), first.reading, named=names,
            pairs=None if pairs is None else pairs.take(own),
        )  # fmt: skip
        return found.renumbered(own)

    return merge(of_folds(first.data, first.edges, fold, first.training, 1, use, run))


class GoldMentions(Protocol):
    """Gold mentions: those that can be held, and how many there are."""

    @property
    def table(self) -> MentionTable:
        """Those that can be held."""

    @property
    def total(self) -> int:
        """How many there are."""


class Proposer(NamedTuple):
    """A trained first stage, as the second sees it.

    Args:
        model: trained.
        features: whose columns templates may read.
        reading: of overlapping mentions.
        f1: on development data.
        silent: (N, K) sentences of the second stage's training data that are not annotated for a type.
        held_out: gives candidates of these data that models without them propose, from their words, the fold of each
            sentence, where names are, and pairs of parts; ``None`` if their potentials are of such models.
        seen: names of other training data; those of the second stage's own, of other folds, when ``None``.
    """

    model: Proposing
    features: FeatureSet
    reading: str
    f1: float
    silent: NDArray[np.bool_] | None
    held_out: Callable[[Words, Ints, MentionTable | None, HeldOutParts | None], CandidateMentions] | None
    seen: SeenNames | None = None

    @classmethod
    def of(cls, first: FirstStage, run: Executor, *, crossed: bool) -> Proposer:
        """Return a first stage of features; ``crossed`` if the potentials of its data are cross-validated."""
        held_out = None if crossed else partial(held_out_candidates, first, run=run)
        return cls(first.model, first.model.scorer.features, first.reading, first.f1, first.data.silent, held_out)


def fit_rescorer(
    first: Proposer,
    train: Batch,
    gold: GoldMentions,
    development: RescoringDevelopment,
    rules: OverlapRules,
    run: Executor,
    fold: Ints,
    *,
    every: bool = False,
    listed: ListedNames | None = None,
    paired: bool = False,
    lookup: ConceptLookup | None = None,
) -> tuple[Rescorer | None, RescoringReport | None, ScoredCandidates | None]:
    """Train the second stage of a model.

    Where ``first`` proposes no held-out candidates, the development data are the training data, with potentials of
    models that have not seen them. The second stage is then judged by regressions that are trained on the candidates
    of the other folds, too.

    Args:
        first: the trained first stage.
        train: its training data, with the columns that it reads.
        gold: their mentions.
        development: data that choose lambda and the threshold.
        rules: which mentions may overlap.
        run: how pieces of the work are run; the result does not depend on it.
        fold: (N,) of each sentence.
        every: whether it scores all candidates, without an early exit.
        listed: names of vocabularies, which propose candidates.
        paired: whether pairs of parts are proposed, too, if enough training mentions have a gap.
        lookup: looks up the concepts of candidates, by the mentions of ``train``, or with ``first.seen`` by others.

    Returns:
        Nothing where there are fewer than `FEWEST` training mentions, or too few sentences for folds; no second stage
        where it is not better. With ``fold``, the candidates and their log-odds by the regressions of the other folds.
    """
    if len(gold.table) < FEWEST or len(train.sentences) <= FOLDS or not development.gold.total:
        return None, None, None
    kinds, features = len(first.model.types), first.features
    listed_in = None if listed is None else listed.within(train).learning(gold.table)
    words = TokenColumns(train, (), features).words
    pairs, own_pairs = None, None
    if paired and not gold.table.contiguous.all() and not first.model.structure.heads:
        pairs = PairedParts.of(words, gold.table, kinds)
        if pairs is not None:
            own_pairs = HeldOutParts.of(words, gold.table, kinds, fold)
    known = {"listed": listed is not None, "paired": pairs is not None, "concepts": lookup is not None}
    templates = served(TEMPLATES, features, **known)
    tokens, crossed = TokenColumns(train, templates, features), first.held_out is None
    named = _named(listed_in, gold.table, fold)
    if first.held_out is not None:
        candidates = first.held_out(words, fold, named, own_pairs)
    else:
        candidates = propose(first.model, development.potentials, words, first.reading, run, None, named, own_pairs)
    table, text = gold.table, texts(words, gold.table)
    names = first.seen or HeldOutNames(text, table.kind, fold[table.sentence], fold[candidates.table.sentence])
    concepts = None
    if lookup is not None:
        held_out = first.seen is None
        concepts = lookup.held_out(train, candidates, fold) if held_out else lookup.values(train, candidates)
    values = CandidateValues(candidates, tokens, names, listed_in, own_pairs, concepts)
    made = conjunctions(templates)
    annotated = np.flatnonzero(_annotated(candidates, first.silent))
    built = build_index(made.keys(values.table(made.names, annotated)), min_count=MIN_COUNT)
    candidates = candidates.take(annotated)
    right = np.isin(identities(candidates.table), identities(table))
    blank = Rescorer(
        templates,
        built.index,
        Regression.zeros(len(built.index), 2 + kinds),
        first.seen or SeenNames.of(text, table.kind),
        rules,
        features,
        listed=None if listed_in is None else listed_in.names.with_mentions(listed_in.keys(table), table.kind),
        pairs=pairs,
        lookup=lookup,
    )
    numbers, sizes, tried = odds_columns(candidates, kinds), built.index.group_sizes, []
    rows, own = Rows(built.matrix, numbers, right, sizes), fold[candidates.table.sentence]
    gaps = _fit_gaps(rows, candidates, own, table, rules, run)
    if gaps is not None:
        blank = replace(blank, gapped=gaps.weights, gap_threshold=gaps.threshold)
    judge = _Judge(blank, development, first, run, candidates if crossed else None)
    fitted, parts = None, dict[int, Fitted]()  # each begins where that of the lambda before it has ended
    for l2 in LAMBDAS:
        fitted = fit_regression(*rows, l2, fitted)
        if crossed:
            odds = rows.odds_by_others(own, l2, run, parts)
            if gaps is not None:
                odds[~candidates.table.contiguous] = gaps.odds
        own_weights = fitted.weights.single(sizes)
        odds = judge.odds(own_weights) if not crossed else odds
        tried.append((l2, own_weights, odds, *judge.tuned(odds)))
    l2, chosen, odds, threshold, after = max(tried, key=lambda one: one[4])
    early_exit = None
    for exit_threshold in () if every else EXITS:
        tried_exit = EarlyExit.fitted(candidates, right, exit_threshold)
        if tried_exit is None:
            break
        scaled = tried_exit.scaling.slope * judge.candidates.odds + tried_exit.scaling.intercept
        new_odds = np.where(tried_exit.skips(judge.candidates), scaled, odds)
        new_threshold, f1 = judge.tuned(new_odds)
        if f1 >= after - LOSS:
            early_exit, odds, threshold, after = tried_exit, new_odds, new_threshold, f1
            break
    best = replace(blank, weights=chosen, threshold=threshold, early_exit=early_exit)
    report = RescoringReport(
        len(candidates), int(right.sum()), judge.reached, l2, 1 / (1 + float(np.exp(-best.threshold))), first.f1, after,
        kept=after > first.f1,
    )  # fmt: skip
    return (best if report.kept else None), report, ScoredCandidates(candidates, odds) if crossed else None


class _Gaps(NamedTuple):
    """The second stage of candidates with gaps.

    Args:
        weights: of each single feature, and of numbers.
        threshold: of their log-odds.
        odds: log-odds of training candidates with gaps, by the weights of the other folds.
    """

    weights: Regression
    threshold: float
    odds: Floats


def _fit_gaps(
    rows: Rows, candidates: CandidateMentions, fold: Ints, gold: MentionTable, rules: OverlapRules, run: Executor
) -> _Gaps | None:
    """Fit weights and a threshold for candidates with gaps alone.

    They are few, most of them are wrong, and other features decide. The threshold that is best for all mentions finds
    hardly any of them, so theirs is the best for mentions with gaps, in cross-validation.

    Returns:
        ``None`` where fewer than `_FEWEST_GAPS` are right.
    """
    gapped = ~candidates.table.contiguous
    own, table = rows.take(gapped), candidates.table.take(np.flatnonzero(gapped))
    if own.right.sum() < _FEWEST_GAPS:
        return None
    odds, total = own.odds_by_others(fold[gapped], _GAPS_LAMBDA, run), int((~gold.contiguous).sum())
    possible, (conflicts, _) = rules.gaps[table.kind], overlapping(table, rules.allowed)  # all have gaps

    def f1(threshold: float) -> float:
        chosen = best_set(np.where(possible, odds - threshold, -1.0), conflicts)
        return 2 * float(own.right[chosen].sum()) / max(1, int(chosen.sum()) + total)

    weights = fit_regression(*own, _GAPS_LAMBDA, tolerance=ROUGH).weights.single(own.sizes)
    return _Gaps(weights, _best_threshold(f1, total)[0], odds)


def _best_threshold(f1: Callable[[float], float], total: int) -> tuple[float, float]:
    """Return the threshold in log-odds with the best F1 for this number of gold mentions, and F1 with it."""
    tried: dict[float, float] = {step: f1(step / _STEPS) for step in range(-_FARTHEST, _FARTHEST + 1)}
    step = drawn_step(tried, total)
    return step / _STEPS, tried[step]


def _named(listed: ListedIn | None, gold: MentionTable, fold: Ints) -> MentionTable | None:
    """Return where training text has names, those of the training mentions of other folds among them."""
    if listed is None:
        return None
    keys, found = listed.keys(gold), []
    for number in np.unique(fold).tolist():
        others = fold[gold.sentence] != number
        own = replace(listed, names=listed.names.with_mentions(keys[others], gold.kind[others])).table()
        found.append(own.take(fold[own.sentence] == number))
    return concatenate(found)


def _annotated(candidates: CandidateMentions, silent: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Return (C,) whether the sentence of each candidate is annotated for its type; ``silent`` is (N, K)."""
    table = candidates.table
    return np.ones(len(candidates), np.bool_) if silent is None else ~silent[table.sentence, table.kind]


class RescoringDevelopment(NamedTuple):
    """Development data of the second stage.

    Args:
        batch: with the columns that the first stage reads.
        potentials: of it.
        gold: its mentions.
        silent: (N, K) sentences that are not annotated for a type; candidates of it are found there, but not counted.
    """

    batch: Batch
    potentials: Potentials
    gold: GoldMentions
    silent: NDArray[np.bool_] | None = None


def calibrate_second(
    model: AnyModel, second: Rescorer, development: RescoringDevelopment, reading: str, run: Executor = SERIAL,
    scored: ScoredCandidates | None = None,
) -> tuple[Rescorer, CalibrationReport, list[Document]]:  # fmt: skip
    """Return a second stage with maps fitted to what it finds in development data; see `spanloom.model.calibration`.

    Args:
        model: the first stage.
        second: not calibrated yet.
        development: the data.
        reading: of the structures that propose.
        run: how pieces of the work are run; the result does not depend on it.
        scored: cross-validated candidates, in place of those of the second stage.

    Returns:
        The second stage, the report on it, and the development documents with what is found.
    """
    batch, potentials = development.batch, development.potentials
    if scored is None:
        scored = second.scored(model, batch, potentials, reading, run)
    annotated = _annotated(scored.candidates, development.silent)
    chosen = second.chosen(scored) & annotated
    scored = scored._replace(odds=np.where(annotated, scored.odds, -_SURE))
    scores = replace(second, scalings=UNSCALED).probabilities(scored.odds[chosen])
    predicted = place(batch, scored.candidates.table.take(chosen), model.types, scores)
    answers = second.log_answers(scored, chosen, len(batch.sentences) - 1)
    scalings, report = fit_scalings(batch.documents, predicted, answers, key_of(model))
    return replace(second, scalings=scalings), report, predicted


class _Judge:
    """Development data whose candidates are looked at once.

    Args:
        made: the second stage, untrained.
        development: the data.
        first: the first stage.
        run: how pieces of the work are run.
        candidates: cross-validated ones, whose log-odds are given; proposed when ``None``.
    """

    def __init__(
        self, made: Rescorer, development: RescoringDevelopment, first: Proposer, run: Executor,
        candidates: CandidateMentions | None = None,
    ) -> None:  # fmt: skip
        batch, potentials, gold, silent = development
        self._made, self._run, self._total = made, run, gold.total
        self._values: CandidateValues | None = None
        if candidates is None:
            candidates, _, self._values = made.scored(first.model, batch, potentials, first.reading, run)
        self.candidates = candidates
        self._right = np.isin(identities(self.candidates.table), identities(gold.table))
        self._annotated = _annotated(self.candidates, silent)
        self._conflicts, _ = overlapping(self.candidates.table, made.rules.allowed)
        self._possible = self.candidates.table.contiguous | made.rules.gaps[self.candidates.table.kind]
        self.reached = float(self._right.sum()) / max(1, gold.total)

    def odds(self, weights: Regression) -> Floats:
        """Return the log-odds of proposed candidates with these weights, (C,)."""
        assert self._values is not None
        return replace(self._made, weights=weights).odds(self.candidates, self._values, self._run)

    def tuned(self, odds: Floats) -> tuple[float, float]:
        """Return the threshold for these log-odds of the candidates, (C,), and F1 with it."""
        return _best_threshold(partial(self._f1, odds), self._total)

    def _f1(self, odds: Floats, threshold: float) -> float:
        weights = replace(self._made, threshold=threshold).margins(self.candidates, odds)
        chosen = best_set(np.where(self._possible, weights, -1.0), self._conflicts) & self._annotated
        return 2 * float(self._right[chosen].sum()) / max(1, int(chosen.sum()) + self._total)


def drawn_step(tried: Mapping[float, float], mentions: int) -> int:
    """Return the threshold with the largest F1, drawn towards half of F1 if there are few development mentions.

    On few mentions the best threshold is a matter of chance. That of calibrated probabilities is half of the largest
    F1 (Lipton, Elkan and Naryanaswamy 2014). Both count alike for `_FEW` mentions; for thousands the steps of the grid
    are larger than what is left of the second.

    Args:
        tried: threshold, in steps of log-odds -> development F1.
        mentions: of the development data.

    >>> tried = {step: 0.6 - abs(step - 8) / 100 for step in range(-40, 41)}
    >>> [drawn_step(tried, mentions) for mentions in (10, 300, 30_000)]
    [-17, -4, 8]
    """
    best = int(nearest_best(tried))
    half = min(max(tried[best] / 2, 1e-9), 0.5)
    share = mentions**2 / (mentions**2 + _FEW**2)
    drawn = share * best + (1 - share) * _STEPS * float(np.log(half / (1 - half)))
    return max(round(drawn), -_FARTHEST)


def names_of(known: Batch, gold: MentionTable) -> SeenNames:
    """Return the names of training mentions.

    Args:
        known: training data.
        gold: their mentions.
    """
    return SeenNames.of(texts(TokenColumns(known, (), WORDS).words, gold), gold.kind)


def folds_of(train: Batch, seed: int) -> Ints:
    """Return the fold of each sentence: that of its document, unless documents are few."""
    documents = len(train.documents)
    if documents < FEW:
        return deal(len(train.sentences) - 1, FOLDS, seed)
    return np.repeat(deal(documents, FOLDS, seed), np.diff(train.firsts))
