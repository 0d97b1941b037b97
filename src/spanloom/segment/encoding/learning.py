"""Chains of a segmenter whose scores come from one encoder, whose tokens are characters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import process_time

import numpy as np

from spanloom.errors import DataError
from spanloom.features import FeatureSet
from spanloom.hypergraph import Potentials
from spanloom.learn import Chosen, EdgeTarget
from spanloom.learn.finetuning import finetune
from spanloom.learn.joint_loss import Task, joint_loss
from spanloom.learn.souping import train_seeds
from spanloom.model.structured import AnyModel, StructuredModel
from spanloom.recognize.encoding.columns import ColumnWeights
from spanloom.recognize.encoding.learning import check_room, finetuning_of, open_scorer, report_of, seeds_of
from spanloom.recognize.encoding.resuming import checkpoint_of
from spanloom.scoring import Scorer
from spanloom.scoring.encoder.network import torch_threads
from spanloom.scoring.encoder.scorer import EncoderScorer
from spanloom.scoring.section import SectionScorer, SideBySide, sections_of
from spanloom.segment.chains import Chains, Tagging, write_labels
from spanloom.segment.corpus import Corpus
from spanloom.segment.training import Settings, TagsHeldOut, Trained


def learn_chains(
    taggings: Mapping[str, Tagging], features: FeatureSet, train: Corpus, dev: Corpus, settings: Settings
) -> Trained:
    """Train one encoder with the exact losses of all chains, added.

    The pass is kept in which the chains are best on the mean: each at the best of a few mention penalties, which are
    tuned afterwards, for each chain by itself.

    Args:
        taggings: what the chains tag, by name.
        features: of columns that the encoder cannot see, whose scores are added to its own; perhaps none.
        train: characters with gold tags.
        dev: the same, to choose by.
        settings: of learning; those of features are ignored.

    Raises:
        DataError: no characters at all.
        UsageError: the folder holds no encoder.
    """
    chosen, run, start = settings.parameters, settings.run, process_time()
    known, unseen = train.text.batch, dev.text.batch
    if not len(known.tokens):
        raise DataError("the training data hold no characters; give annotated text")
    settings.report("opening the encoder")
    templates = [tagging.structure.template(tagging.types) for tagging in taggings.values()]
    scorer = open_scorer(chosen, SideBySide.of(templates), 1, known)
    tasks: dict[str, Task] = {}
    held: dict[str, TagsHeldOut] = {}
    for (name, tagging), section in zip(taggings.items(), sections_of(templates), strict=True):
        model: AnyModel = StructuredModel.build(tagging.structure, "subgraphs", tagging.types, scorer)
        edges = write_labels(tagging, train.labels, known.sentences)
        tasks[name] = Task(model.engine, EdgeTarget(model.engine, known.sentences, edges), section)
        held[name] = TagsHeldOut(model, dev, chosen.tune_penalty)
    columns = ColumnWeights(scorer, features, known, unseen, run) if features.templates else None
    seen, waiting = scorer.read(known), scorer.read(unseen)
    check_room(scorer, seen, chosen)
    types = {name: tagging.types for name, tagging in taggings.items()}
    labels = [[tags.tolist() for tags in part.labels] for part in (train, dev)]
    seconds = {"features": process_time() - start}
    start = process_time()

    def potentials() -> Potentials:
        found = scorer.potentials(waiting, run)
        return found if columns is None else columns.added(found)

    def measure(_: EncoderScorer) -> float:
        found = potentials()
        return float(np.mean([held[name].highest(task.section.of(found), run) for name, task in tasks.items()]))

    def train_with(seed: int) -> Chosen:
        checkpoint = checkpoint_of(chosen, scorer, (known, unseen), [types, labels], seed)
        tuning = finetuning_of(chosen, seed)
        return finetune(scorer, loss, seen, tuning, measure, settings.callback, settings.began, checkpoint)

    loss = joint_loss(list(tasks.values()), known.sentences, run, None if columns is None else columns.scores)
    with torch_threads(run.workers):
        fit, soup = train_seeds(scorer, seeds_of(chosen), train_with, measure)
        scorer.merge()
        found = potentials()
    whole: Scorer = scorer if columns is None else columns.summed()
    report = report_of(scorer, seen, soup)
    models: dict[str, AnyModel] = {}
    fits: dict[str, Chosen] = {}
    for name, task in tasks.items():
        tagging, section = taggings[name], task.section
        penalty, f1 = held[name].best_penalty(section.of(found), run)
        own = SectionScorer(whole, section)
        models[name] = StructuredModel.build(tagging.structure, "subgraphs", tagging.types, own, penalty)
        fits[name] = replace(fit, penalty=penalty, dev_f1=f1)
    seconds["chains"] = process_time() - start
    return Trained(Chains(whole, models), fits, {}, seconds, scorer.trained, report)
