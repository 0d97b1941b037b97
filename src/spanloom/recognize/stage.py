"""A trained first stage, wherever its scores come from, and the second stage behind it."""

from __future__ import annotations

from dataclasses import replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, NamedTuple

from spanloom.document import Batch, Document
from spanloom.features import Built, FeatureSet
from spanloom.files.scratch import MEMORY
from spanloom.hypergraph import Edges, Ints, Potentials
from spanloom.learn import Chosen, Fit, TrainingSet
from spanloom.learn.held_out import Held
from spanloom.learn.target import PIECE_TOKENS
from spanloom.model.corpus import Gold
from spanloom.model.development import HeldOut
from spanloom.model.overlaps import OverlapRules
from spanloom.model.report import AnnotatorsReport, CompletionReport, TrainingReport
from spanloom.model.store import features_of
from spanloom.model.structured import AnyModel
from spanloom.parallel import Executor
from spanloom.recognize.parameters import RecognizerParameters
from spanloom.rescoring import (
    WORDS,
    FirstStage,
    Proposer,
    Rescorer,
    RescoringDevelopment,
    calibrate_second,
    fit_rescorer,
)
from spanloom.rescoring.fitting import folds_of, names_of, sampled

if TYPE_CHECKING:  # imported where mentions are linked
    from spanloom.concepts.stage import ConceptStage

_PASSES = 10  # of AdaGrad over the folds of the second stage, where L-BFGS trains the first


class TrainedModel(NamedTuple):
    """A trained model of tokens, not calibrated yet.

    Args:
        model: with its mention penalty.
        known, unseen: training and development data.
        gold: mentions of the training data.
        edges: their structures, (T, K, D).
        held: what is to be found in the development data.
        potentials: of the development data.
        fit: what training chose.
        rows: of weights; with an encoder, numbers that were trained.
    """

    model: AnyModel
    known: Batch
    unseen: Batch
    gold: Gold
    edges: Edges
    held: HeldOut
    potentials: Potentials
    fit: Chosen
    rows: int


class Learned(NamedTuple):
    """What was trained on some features, before it is calibrated.

    Args:
        features: templates.
        built: index and matrix of the training data.
        data: the training data.
        fit: weights, and how they were chosen.
        stage: all that does not depend on there being features.
        tried: weights of raw text and the development F1 of each, where there is any.
        completion: of partial annotation.
        annotators: several of the same texts.
    """

    features: FeatureSet
    built: Built
    data: TrainingSet
    fit: Fit
    stage: TrainedModel
    tried: tuple[tuple[float, float], ...]
    completion: CompletionReport | None
    annotators: AnnotatorsReport | None

    @property
    def soft(self) -> bool:
        """Whether it was learned from what is expected, in place of gold mentions."""
        return self.completion is not None or self.annotators is not None


def fit_second(
    estimator: RecognizerParameters, model: AnyModel, report: TrainingReport, stage: TrainedModel,
    learned: Learned | None, rules: OverlapRules, run: Executor, annotated: int | None, fold: Ints | None,
    linking: ConceptStage | None,
) -> tuple[TrainingReport, Rescorer | None, list[Document] | None]:  # fmt: skip
    """Train the second stage, and keep it if development F1 is better.

    Where scores come from an encoder, it is trained on the development data, which the encoder has not learned from,
    and judged by cross-validation: to train an encoder for each fold would take too long.

    Args:
        estimator: parameters.
        model: the first stage, calibrated.
        report: on its training.
        stage: the first stage as it was trained.
        learned: its features; ``None`` if it has none.
        rules: which mentions may overlap.
        run: how pieces of the work are run; the result does not depend on it.
        annotated: how many of the training documents have gold mentions; all when ``None``.
        fold: (N,) of each sentence, where small training data are cross-validated.
        linking: the linking stage, whose vocabularies propose candidates and give their concepts, if there is one.

    Returns:
        The report, with that on the second stage; the second stage, ``None`` if development F1 is not better with it;
        and the development documents with what both stages find, ``None`` without a second stage.
    """
    types, seed = model.types, estimator.random_state
    headless = estimator.headless if model.structure.heads else None
    own, silent, potentials = Gold(stage.unseen, types, headless), stage.held.silent, stage.potentials
    if learned is None or estimator.encoder is not None:
        known, gold, fold = stage.unseen, own, folds_of(stage.unseen, seed)
        features, seen = features_of(model) or WORDS, names_of(stage.known, stage.gold.table)
        proposer = Proposer(model, features, estimator.reading, report.dev_f1, silent, None, seen)
    else:
        known = stage.known if annotated is None else stage.known.take(range(annotated))
        if annotated is not None:  # raw text may have the mentions that a teacher finds
            stage.gold.keep(stage.gold.table.sentence < len(known.sentences) - 1)
        gold, steps = stage.gold, learned.fit.steps if estimator.optimizer == "adagrad" else _PASSES
        training = Held(learned.fit.l2, steps, estimator.rate, seed)
        first = FirstStage(model, learned.data, stage.edges, training, estimator.reading, report.dev_f1)
        if annotated is None and (learned.data.scratch is not MEMORY or len(known.tokens) > PIECE_TOKENS):
            first, known, gold = sampled(first, known, headless)
        proposer = Proposer.of(first, run, crossed=fold is not None)
        fold = folds_of(known, seed) if fold is None else fold
    if silent is not None:
        own.keep(~silent[own.table.sentence, own.table.kind])
        potentials = stage.model.scorer.score(stage.unseen, run)  # candidates of all types, as in new text
    held = RescoringDevelopment(stage.unseen, potentials, own, silent)
    listed = lookup = None
    if linking is not None:
        vocabularies = [one.vocabulary for one in linking.vocabularies]
        listed = resolve_name("spanloom.rescoring.listed:listed_names")(vocabularies, linking.types, types, gold.table)
        lookup = resolve_name("spanloom.rescoring.concept_lookup:ConceptLookup.of")(linking, types)
    second, rescoring, scored = fit_rescorer(
        proposer, known, gold, held, rules, run, fold, every=estimator.rescore_all, listed=listed, paired=True,
        lookup=lookup,
    )  # fmt: skip
    report = replace(report, rescoring=rescoring)
    if second is None or rescoring is None:
        return report, None, None
    second, checked, found = calibrate_second(model, second, held, estimator.reading, run, scored)
    return replace(report, calibration=checked, dev_f1=rescoring.after), second, found
