"""The first stage of a recognizer whose scores come from an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from spanloom.document import Batch
from spanloom.errors import DataError
from spanloom.features import FeatureSet
from spanloom.hypergraph import Potentials
from spanloom.learn import Chosen, EdgeTarget, Listener, Progress, Target
from spanloom.learn.finetuning import Finetuning, finetune, step_size
from spanloom.learn.joint_loss import Task, joint_loss
from spanloom.learn.memory import check_memory, free_memory, needed_memory
from spanloom.learn.souping import train_seeds
from spanloom.model.corpus import Gold
from spanloom.model.development import HeldOut
from spanloom.model.report import EncoderReport
from spanloom.model.structured import AnyModel, StructuredModel
from spanloom.parallel import Executor
from spanloom.recognize.encoding.columns import ColumnWeights
from spanloom.recognize.encoding.resuming import checkpoint_of
from spanloom.recognize.parameters import EncoderParameters, RecognizerParameters
from spanloom.recognize.preparing import Prepared
from spanloom.recognize.stage import Learned, TrainedModel
from spanloom.scoring import Scorer
from spanloom.scoring.base import Outputs
from spanloom.scoring.encoder.network import torch_threads
from spanloom.scoring.encoder.packing import Reading
from spanloom.scoring.encoder.scorer import EncoderScorer
from spanloom.scoring.encoder.settings import EncoderSettings
from spanloom.scoring.section import sections_of
from spanloom.scoring.sum import SumScorer, averaged
from spanloom.structures import Structure

_SHARES = tuple(tenths / 10 for tenths in (5, 4, 6, 3, 7, 2, 8, 1, 9, 0, 10))  # of equal ones the first is taken


def learn_encoder(
    chosen: RecognizerParameters, ready: Prepared, structure: Structure, headless: str | None, run: Executor,
    callback: Listener, began: float, beside: Learned | None = None, columns: FeatureSet | None = None,
) -> tuple[TrainedModel, EncoderReport]:  # fmt: skip
    """Train an encoder with the exact loss of a structure.

    Args:
        chosen: parameters of the recognizer.
        ready: training and development data.
        structure: how mentions are written.
        headless: as for `Gold`.
        run: its workers are the threads of PyTorch and of the engine.
        callback: called at each step.
        began: when training began.
        beside: features whose scores are averaged with the encoder's, which learns what they have learned.
        columns: features of columns that the encoder cannot see, whose weights are trained along with it; not with
            ``beside``.

    Raises:
        DataError: no tokens.
        UsageError: the folder holds no encoder.
    """
    types, known, unseen = ready.types, ready.known, ready.unseen
    if not len(known.tokens):
        raise DataError("the training data hold no tokens; give annotated text")
    callback(Progress("opening the encoder"))
    template = structure.template(types)
    opened = open_scorer(chosen, template, structure.lanes(types), known)
    model: AnyModel = StructuredModel.build(structure, chosen.counting, types, opened)
    held: HeldOut
    if beside is None:
        gold = Gold(known, types, headless)
        encoded = structure.encode(gold.table, known.sentences, types)
        gold.lose(encoded.lost)
        gold.check_held()
        edges = encoded.edges
        target: Target = EdgeTarget(model.engine, known.sentences, encoded.edges)
        held = HeldOut(unseen, model, chosen.reading, headless, chosen.tune_penalty)
    else:
        known, gold, edges, held = beside.stage.known, beside.stage.gold, beside.stage.edges, beside.stage.held
        target = beside.data.target
    task = Task(model.engine, target, *sections_of([template]))
    trained = train_encoder(chosen, opened, [(task, held)], known, unseen, columns, types, run, callback, began)
    model, share = replace(model, scorer=trained.scorer), None
    potentials = held.speaking(task.section.of(trained.potentials))
    if beside is not None:
        share, potentials = best_share(beside.stage.potentials, potentials, held, run)
        model = replace(model, scorer=SumScorer.mean(beside.stage.model.scorer, opened, share))
    callback(Progress("tuning the mention penalty"))
    penalty, f1 = held.best_penalty(potentials, run)
    fit = replace(trained.fit, penalty=penalty, dev_f1=f1)
    stage = TrainedModel(model.with_penalty(penalty), known, unseen, gold, edges, held, potentials, fit, opened.trained)
    return stage, replace(trained.report, share=share)


class TrainedEncoder(NamedTuple):
    """An encoder that was trained on some structures.

    Args:
        fit: what training chose.
        potentials: of the development data.
        scorer: the encoder, with the weights of columns, where there are any.
        report: on it.
    """

    fit: Chosen
    potentials: Potentials
    scorer: Scorer
    report: EncoderReport


def train_encoder(
    chosen: EncoderParameters, scorer: EncoderScorer, tasks: Sequence[tuple[Task, HeldOut]], known: Batch,
    unseen: Batch, columns: FeatureSet | None, more: Any, run: Executor, callback: Listener, began: float,
) -> TrainedEncoder:  # fmt: skip
    """Train an encoder with the exact losses of some structures, added.

    The pass is kept in which the structures are best on the mean, each at the best of a few mention penalties.

    Args:
        chosen: parameters of the estimator.
        scorer: the encoder, with an untrained linear layer.
        tasks: the structures, and what is to be found in the development data.
        known, unseen: training and development data.
        columns: features of columns that the encoder cannot see, whose weights are trained along with it.
        more: as of `checkpoint_of`.
        run: its workers are the threads of PyTorch and of the engine.
        callback: called at each step.
        began: when training began.
    """
    weights = None if columns is None else ColumnWeights(scorer, columns, known, unseen, run)
    seen, dev = scorer.read(known), scorer.read(unseen)
    check_room(scorer, seen, chosen)
    added = None if weights is None else weights.scores
    loss = joint_loss([task for task, _ in tasks], known.sentences, run, added)

    def of_dev() -> Potentials:
        found = scorer.potentials(dev, run)
        return found if weights is None else weights.added(found)

    def measure(_: EncoderScorer) -> float:
        found = of_dev()
        values = [held.highest(held.speaking(task.section.of(found)), run) for task, held in tasks]
        return float(np.mean(values))

    def train(seed: int) -> Chosen:
        checkpoint = checkpoint_of(chosen, scorer, (known, unseen), more, seed)
        tuning = Finetuning(
            epochs=chosen.encoder_epochs, rate=chosen.encoder_rate, head_rate=chosen.head_rate,
            layer_decay=chosen.layer_decay, batch=chosen.step_subwords, seed=seed,
            accumulate=chosen.accumulate, recompute=chosen.recompute,
        )  # fmt: skip
        return finetune(scorer, loss, seen, tuning, measure, callback, began, checkpoint)

    seeds = range(chosen.random_state, chosen.random_state + chosen.seeds)
    with torch_threads(run.workers):
        fit, soup = train_seeds(scorer, seeds, train, measure)
        scorer.merge()
        potentials = of_dev()
    (subwords, windows), family = seen, scorer.network.encoder.config.model_type
    subwords.warn_unknown("the training tokens")
    report = EncoderReport(
        family, scorer.trained, len(subwords.ids), len(windows.first), windows.overlapping, subwords.unknown,
        subwords.shortened, *((soup.f1, soup.averaged, soup.best) if len(soup.f1) > 1 else ()),
    )  # fmt: skip
    return TrainedEncoder(fit, potentials, scorer if weights is None else weights.summed(), report)


def best_share(features: Potentials, encoder: Potentials, held: HeldOut, run: Executor) -> tuple[float, Potentials]:
    """Return the share of features at which the mean of two potentials has the best development F1, and that mean.

    Shares of 0 and 1 are among those that are tried, so it is no worse than either.
    """
    means = ((share, averaged(features, encoder, share)) for share in _SHARES)
    return max(means, key=lambda pair: held.best_penalty(pair[1], run)[1])


def open_scorer(chosen: EncoderParameters, outputs: Outputs, types: int, known: Batch) -> EncoderScorer:
    """Open the encoder that parameters name, with an untrained linear layer.

    Where each training document is one sentence, it never sees neighbours; so it does without them for good, for what
    it would make of them nothing has taught it.

    Args:
        chosen: parameters.
        outputs: roles and constants that are to have scores.
        types: K.
        known: training data.
    """
    neighbours = bool((np.diff(known.firsts) > 1).any())
    settings = EncoderSettings(
        pooling=chosen.pooling,
        window=chosen.window,
        context=chosen.context and neighbours,
        precision=chosen.precision,
        adapters=chosen.adapters,
    )
    return EncoderScorer.open(str(chosen.encoder), outputs, types, settings, chosen.random_state, chosen.device)


def check_room(scorer: EncoderScorer, seen: Reading, chosen: EncoderParameters) -> None:
    """Check that training fits into free memory, if the system reports it; a graphics card raises its own error."""
    config, windows = scorer.network.encoder.config, seen.windows
    if scorer.network.head.weight.device.type != "cpu" or not len(windows.first):
        return
    sizes = seen.subwords.ptr[windows.end] - seen.subwords.ptr[windows.first]
    units = [int(sizes[unit.start : unit.stop].sum()) for unit in windows.units()]
    step = step_size(chosen.step_subwords, sum(units))
    frozen = scorer.parameters if chosen.adapters else 0
    ends = scorer.trained * chosen.seeds if chosen.seeds > 1 else 0
    needed = needed_memory(
        scorer.trained, config.hidden_size, config.num_hidden_layers, config.num_attention_heads,
        step // chosen.accumulate + max(units), int(sizes.max()), recompute=chosen.recompute,
        checkpoint=chosen.checkpoint is not None, frozen=frozen + ends,
    )  # fmt: skip
    check_memory(needed, free_memory())
