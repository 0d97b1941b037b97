"""Chains of a segmenter whose scores come from one encoder, whose tokens are characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import monotonic, process_time
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from spanloom.errors import DataError
from spanloom.hypergraph import Ints
from spanloom.learn import Chosen, EdgeTarget, Listener, Progress
from spanloom.learn.exact_loss import ExactLoss, Step
from spanloom.learn.finetuning import Loss, finetune
from spanloom.learn.souping import train_seeds
from spanloom.model.structured import AnyModel, StructuredModel
from spanloom.parallel import Executor
from spanloom.recognize.encoding.learning import check_room, finetuning_of, open_scorer, report_of, seeds_of
from spanloom.recognize.encoding.resuming import checkpoint_of
from spanloom.scoring.encoder import EncoderScorer
from spanloom.scoring.encoder.network import Network, torch_threads
from spanloom.scoring.encoder.packing import Packed
from spanloom.scoring.section import Section, SectionScorer, SideBySide, sections_of
from spanloom.segment.chains import Chains, Tagging, write_labels
from spanloom.segment.corpus import Corpus
from spanloom.segment.training import Settings, TagsHeldOut, Trained

__all__ = ["Task", "learn_chains", "summed_loss"]


class Task(NamedTuple):
    """A chain whose scores are a section of a network's.

    Args:
        model: the chain.
        section: of the scores.
        target: what is wanted of the corpus.
    """

    model: AnyModel
    section: Section
    target: EdgeTarget


def learn_chains(
    taggings: Mapping[str, Tagging], train: Corpus, dev: Corpus, settings: Settings, tell: Listener, began: float
) -> Trained:
    """Train one encoder with the exact losses of all chains, added.

    The pass is kept in which the chains are best on the mean: each at the best of a few mention penalties, which are
    tuned afterwards, for each chain by itself.

    Args:
        taggings: what the chains tag, by name.
        train: characters with gold tags.
        dev: the same, to choose by.
        settings: of learning; what they say of features is not looked at.
        tell: told of each step.
        began: when training began.

    Raises:
        DataError: no characters at all.
        UsageError: the folder holds no encoder.
    """
    chosen, run, start = settings.parameters, settings.run, process_time()
    known, unseen = train.text.batch, dev.text.batch
    if not len(known.tokens):
        raise DataError("the training data hold no characters; give annotated text")
    tell(Progress("opening the encoder", seconds=monotonic() - began))
    templates = [tagging.structure.template(tagging.types) for tagging in taggings.values()]
    scorer = open_scorer(chosen, SideBySide.of(templates), 1)
    tasks: dict[str, Task] = {}
    for (name, tagging), section in zip(taggings.items(), sections_of(templates), strict=True):
        own = SectionScorer(scorer, section)
        model: AnyModel = StructuredModel.build(tagging.structure, "subgraphs", tagging.types, own)
        edges = write_labels(tagging, train.labels, known.sentences)
        tasks[name] = Task(model, section, EdgeTarget(model.engine, known.sentences, edges))
    held = {name: TagsHeldOut(task.model, dev, chosen.tune_penalty) for name, task in tasks.items()}
    seen, waiting = scorer.read(known), scorer.read(unseen)
    check_room(scorer, seen, chosen)
    types = {name: tagging.types for name, tagging in taggings.items()}
    labels = [[tags.tolist() for tags in part.labels] for part in (train, dev)]
    seconds = {"features": process_time() - start}
    start = process_time()

    def measure(scorer: EncoderScorer) -> float:
        potentials = scorer.potentials(waiting)
        return float(np.mean([held[name].highest(task.section.of(potentials), run) for name, task in tasks.items()]))

    def train_with(seed: int) -> Chosen:
        checkpoint = checkpoint_of(chosen, scorer, (known, unseen), [types, labels], seed)
        return finetune(scorer, loss, seen, finetuning_of(chosen, seed), measure, tell, began, checkpoint)

    loss = summed_loss(list(tasks.values()), known.sentences, run)
    with torch_threads(run.workers):
        fit, soup = train_seeds(scorer, seeds_of(chosen), train_with, measure)
        scorer.merge()
        potentials = scorer.potentials(waiting)
    models: dict[str, AnyModel] = {}
    fits: dict[str, Chosen] = {}
    for name, task in tasks.items():
        penalty, f1 = held[name].best_penalty(task.section.of(potentials), run)
        models[name], fits[name] = task.model.with_penalty(penalty), replace(fit, penalty=penalty, dev_f1=f1)
    seconds["chains"] = process_time() - start
    report = report_of(scorer, seen, len(known.tokens), soup)
    return Trained(Chains(scorer, models), fits, {}, seconds, scorer.trained, report)


def summed_loss(tasks: Sequence[Task], sentences: Ints, run: Executor) -> Loss:
    """Return the sum of the chains' exact losses: see `spanloom.learn.exact_loss`.

    Args:
        tasks: chains whose scores one network gives.
        sentences: (N + 1,) first character of each.
        run: how pieces of the engine's work are run.
    """
    lengths = np.diff(sentences)

    def loss(network: Network, packed: Packed, chosen: Ints) -> Tensor:
        bounds = np.append(0, lengths[chosen].cumsum())
        scores = network(packed)
        losses = []
        for model, section, target in tasks:
            step = Step(model.engine, target, bounds, chosen, packed.rows, run)
            roles, constants = scores[:, section.roles].contiguous(), network.constants[section.constants]
            losses.append(ExactLoss.apply(roles, constants, step))
        return torch.stack(losses).sum()

    return loss
