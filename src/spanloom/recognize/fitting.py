"""Training of a recognizer: first stage, second stage, and what follows."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from spanloom.document import Batch
from spanloom.document.annotation import completeness
from spanloom.errors import DataError, DataWarning
from spanloom.features import Built, FeatureSet
from spanloom.files.scratch import MEMORY
from spanloom.hypergraph import Edges
from spanloom.learn import EdgeTarget, Listener, Progress, Target, Training, TrainingSet, fit_together
from spanloom.model.calibration import calibrate
from spanloom.model.corpus import Gold, place
from spanloom.model.development import Development, trained
from spanloom.model.overlaps import best_consistent, rules_of
from spanloom.model.parameters import lambdas
from spanloom.model.partial import given_mentions
from spanloom.model.pieces import encode_pieces
from spanloom.model.report import FEW_MENTIONS, make_report
from spanloom.model.stages import Linked, learn_stages
from spanloom.model.strongest import strongest_features
from spanloom.model.structured import LinearModel, StructuredModel
from spanloom.model.work import IN_MEMORY, Work, check_executor, check_on_disk
from spanloom.parallel import Executor, threads
from spanloom.passes import PassSettings, choose_passes
from spanloom.recognize import encoding
from spanloom.recognize.annotating import Annotating, versioned
from spanloom.recognize.choosing import AUTO, choose_structure, structure_report
from spanloom.recognize.completing import Filled, completed, found_of, partly, silent_in
from spanloom.recognize.crossing import cross_fitted, f1_interval
from spanloom.recognize.lessons import Lessons
from spanloom.recognize.on_disk import prepared_on_disk
from spanloom.recognize.parameters import RecognizerParameters
from spanloom.recognize.preparing import Prepared, prepared
from spanloom.recognize.stage import Learned, TrainedModel, fit_second
from spanloom.structures import Structure

if TYPE_CHECKING:
    from spanloom.recognize.recognizer import Recognizer

__all__ = ["Work", "check_executor", "check_on_disk", "fit_prepared", "prepared", "prepared_on_disk"]

E = TypeVar("E", bound="Recognizer")
_SHORT = 6  # passes over the training data, to choose features


def fit_prepared(
    estimator: E, ready: Prepared, callback: Listener, began: float, lessons: Lessons | None = None,
    work: Work | None = None,
) -> E:  # fmt: skip
    """Train on what `fit`, or `spanloom.recognize.teach`, has prepared.

    Args:
        estimator: with the parameters; it becomes the trained one.
        ready: training and development data.
        callback: called at each step.
        began: when, by `monotonic`.
        lessons: what teachers expect of the raw documents, which follow the others.
        work: the folder that training data are in, where they are not in memory.
    """
    run = threads(estimator.n_jobs)
    linked = Linked.of(estimator.link, ready.known.documents, estimator.link_encoder)
    if estimator.structure == AUTO:
        confirming = ready.unseen if ready.fold is None else Batch.of([])
        estimator._picked = choose_structure(ready.known, confirming, ready.types, estimator.components)
    learned = estimator.pass_ = passes = read = None
    if ready.tried is not None:
        ready = ready._replace(features=_preferred(estimator, ready, ready.tried, run, callback, began))
    if estimator.featured:
        one = estimator.encoder is not None and estimator.passes == "auto"
        learned, estimator.pass_, passes = choose_passes(
            "one" if one else estimator.passes, ready.for_passes,
            PassSettings(rate=estimator.rate, min_count=estimator.min_count, seed=estimator.random_state),
            lambda known, unseen, features: _learned(
                estimator, ready, known, unseen, features, run, callback, began, lessons, work
            ),
            lambda learned: learned.fit.dev_f1, run,
        )  # fmt: skip
    if learned is not None and estimator.encoder is None:
        stage = learned.stage
    else:
        stage, read = encoding.learn_encoder(
            estimator, ready, estimator._structure, estimator._headless, run, callback, began, learned,
            estimator._columns(),
        )  # fmt: skip
    gold, unseen = stage.gold, stage.unseen
    estimator.types_, estimator.lost_, estimator.pos_ = ready.types, tuple(gold.lost), ready.pos
    silent = None if learned is None else learned.data.silent
    rules = rules_of(estimator.overlap, gold.table, len(ready.types), silent)
    if lessons is not None and not len(gold.table) and estimator.overlap == "learned":
        rules = lessons.overlaps
    estimator.overlaps_ = rules
    best = best_consistent(stage.model, rules, stage.potentials, unseen.sentences, estimator.reading, run)
    estimator.model_, checked = stage.model, None
    if stage.held.silent is not None or not partly(unseen.documents, estimator.types_):
        estimator.model_, checked = calibrate(stage.model, unseen, stage.potentials, best)
    report = make_report(
        stage.known, unseen, gold, stage.edges, stage.fit, stage.rows,
        None if learned is None else learned.features, estimator.model_, checked,
        MEMORY if work is None else work.scratch,
    )  # fmt: skip
    overlaps = rules.report(estimator.overlap, gold.table)
    f1 = stage.held.f1_of(best.table)
    found = place(unseen, best.table, estimator.types_)
    report = replace(report, splitting=ready.splitting, dev_f1=f1, overlaps=overlaps, passes=passes, encoder=read)
    if estimator.structure == AUTO:
        report = replace(report, structure=structure_report(stage.model.structure, gold, report))
    if learned is not None:
        report = replace(report, completion=learned.completion, annotators=learned.annotators)
    if lessons is not None and learned is not None:
        report = lessons.with_lessons(report, stage.known, learned.data, learned.tried)
    estimator.second_, estimator.report_, estimator.splitter_, estimator.strongest_ = None, report, ready.splitter, {}
    if learned is not None:
        linear = learned.stage.model
        estimator.strongest_ = strongest_features(linear, learned.features, stage.known, learned.built, estimator.names)
    held = unseen.documents if ready.fold is None else None
    following, reports = learn_stages(
        stage.known.documents[: None if lessons is None else lessons.annotated], held, linked, estimator.attributes,
        len(stage.known.tokens), estimator.random_state, run,
        lambda name: callback(Progress(name, seconds=monotonic() - began)),
    )  # fmt: skip
    estimator.report_ = replace(estimator.report_, **reports)
    if estimator.rescore and (learned is None or not learned.soft):
        callback(Progress("second stage", seconds=monotonic() - began))
        annotated = None if lessons is None else lessons.annotated
        linking: Any = next((one for one in following if one.name == "concepts"), None)
        estimator.report_, estimator.second_, by_both = fit_second(
            estimator, estimator.model_, estimator.report_, stage, learned, rules, run, annotated, ready.fold, linking
        )
        found = by_both or found
    if ready.fold is not None or sum(len(one.mentions) for one in unseen.documents) < FEW_MENTIONS:
        interval = f1_interval(unseen.documents, found, estimator.random_state)
        folds = 0 if ready.fold is None else int(ready.fold.max()) + 1
        estimator.report_ = replace(estimator.report_, interval=interval, folds=folds)
    estimator._follow(following, held)
    estimator._learn_profile(stage.known)
    estimator._warn_lost(stacklevel=4)
    if overlaps.against:
        against = f"forbids what training has: {overlaps.contradiction}; no such are predicted"
        warnings.warn(f"overlap {estimator.overlap!r} {against}", DataWarning, stacklevel=3)
    return estimator


def _preferred(
    estimator: Recognizer, ready: Prepared, tried: FeatureSet, run: Executor, callback: Listener, began: float
) -> FeatureSet:
    """Return the features, of those prepared and those tried, with the better development F1 of a short training."""
    short = copy(estimator)
    short.epochs, short.iterations = min(_SHORT, estimator.epochs), min(3 * _SHORT, estimator.iterations)
    grid = sorted(lambdas(estimator.l2))
    short.l2 = grid[len(grid) // 2]

    def on_step(progress: Progress) -> None:
        callback(replace(progress, stage=f"trying word vectors: {progress.stage}"))

    def f1(features: FeatureSet) -> float:
        known, unseen = ready.known, ready.unseen
        return _learned(short, ready, known, unseen, features, run, on_step, began, None, None).fit.dev_f1

    return max((ready.features, tried), key=f1)


def _learned(
    estimator: Recognizer, ready: Prepared, known: Batch, unseen: Batch, features: FeatureSet, run: Executor,
    callback: Listener, began: float, lessons: Lessons | None, work: Work | None,
) -> Learned:  # fmt: skip
    """Train on some features; with folds, `unseen` is not looked at."""
    types, fold = ready.types, ready.fold
    room = IN_MEMORY if work is None else work
    tagger, built, data, gold, edges = assembled(
        estimator, estimator._structure, estimator._headless, known, types, features, run, lessons, work
    )
    annotators = start = None
    if work is None and versioned(known.documents):
        voices = Annotating(tagger, known, gold, estimator._headless)
        agreement = voices.agree(data, lambdas(estimator.l2)[0], estimator.rate, estimator.random_state, run, callback)
        data, start, known, gold, edges, annotators = agreement
    filled = Filled(data, start)
    if work is None and annotators is None:
        filled = completed(estimator, tagger, known, unseen, data, gold, edges, run, callback)
    target_count, tunes, silent = None, estimator.tune_penalty, silent_in(unseen, tagger)
    if silent is None and partly(unseen.documents, types):
        target_count, tunes = found_of(unseen, known, gold, filled.report), tunes and annotators is None
    unseen = known if fold is not None else unseen
    development = Development(unseen, tagger, estimator.reading, estimator._headless, tunes, run, target_count, silent)
    training = Training(
        data=filled.data, judge=development, optimizer=estimator.optimizer, epochs=estimator.epochs,
        runs=estimator.runs, iterations=estimator.iterations, rate=estimator.rate, seed=estimator.random_state,
        executor=run, callback=callback, began=began,
        keeper=room.keeper, workers=room.workers,
        start=filled.start,
    )  # fmt: skip
    tried: tuple[tuple[float, float], ...] = ()
    potentials = None
    if lessons is not None:
        training, fit, tried = lessons.weighed(training, lambdas(estimator.l2))
    elif fold is not None:
        grid = lambdas(estimator.l2)
        fit, potentials = cross_fitted(training, edges, gold, fold, development, grid, run)
    else:
        [fit] = fit_together([training], lambdas(estimator.l2))
    data = training.data
    model = trained(tagger, data, fit)
    if potentials is None:
        potentials = development.score(model.scorer.weights)
    stage = TrainedModel(model, known, unseen, gold, edges, development, potentials, fit, len(data.group_sizes))
    return Learned(features, built, data, fit, stage, tried, filled.report, annotators)


# Training data as arrays: index and matrix of features, gold structures, and the target of learning.


def assembled(
    estimator: RecognizerParameters, structure: Structure, headless: str | None, train: Batch, types: tuple[str, ...],
    features: FeatureSet, run: Executor, lessons: Lessons | None = None, work: Work | None = None,
) -> tuple[LinearModel, Built, TrainingSet, Gold, Edges]:  # fmt: skip
    """Make the arrays of training data.

    Args:
        estimator: its parameters.
        structure: that they name.
        headless: as for `Gold`.
        train: documents with mentions.
        types: K names.
        features: of tokens.
        run: how pieces of the work are run; the result does not depend on it.
        lessons: what teachers expect of the raw documents among them.
        work: the folder that the arrays are made in; they are in memory when ``None``.

    Returns:
        The model, without weights; the index and the matrix; that with the target; mentions; and their structures.

    Raises:
        DataError: no tokens, or a folder without room.
    """
    if not len(train.tokens):
        raise DataError("the training data hold no tokens; give annotated text")
    room = IN_MEMORY if work is None else work
    built, scratch = room.built(features, train, estimator.min_count, run), room.scratch
    offsets = train.sentences
    model = StructuredModel.untrained(structure, estimator.counting, types, features, built.index)
    gold = Gold(train, types, headless)
    status = completeness(train, types) if work is None else None  # what comes to a folder is complete
    if status is not None:
        gold.keep(given_mentions(gold.table, status, offsets))
    encoded = encode_pieces(structure, gold.table, offsets, types, scratch)
    gold.lose(encoded.lost)
    if lessons is None:
        gold.check_held()
    target: Target = (
        EdgeTarget(model.engine, offsets, encoded.edges, scratch)
        if lessons is None
        else lessons.target(model.engine, offsets, encoded.edges)
    )
    sizes = built.index.group_sizes
    data = TrainingSet(model.engine, built.matrix, offsets, target, sizes, built.counts, scratch=scratch)
    return model, built, data, gold, encoded.edges
