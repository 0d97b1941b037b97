"""Chains of a segmenter whose scores come from one encoder, whose tokens are characters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import process_time

from spanloom.errors import DataError
from spanloom.features import FeatureSet
from spanloom.learn import Chosen, EdgeTarget
from spanloom.learn.joint_loss import Task
from spanloom.model.structured import AnyModel, StructuredModel
from spanloom.recognize.encoding.learning import open_scorer, train_encoder
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
    tasks: dict[str, tuple[Task, TagsHeldOut]] = {}
    for (name, tagging), section in zip(taggings.items(), sections_of(templates), strict=True):
        model: AnyModel = StructuredModel.build(tagging.structure, "subgraphs", tagging.types, scorer)
        edges = write_labels(tagging, train.labels, known.sentences)
        task = Task(model.engine, EdgeTarget(model.engine, known.sentences, edges), section)
        tasks[name] = task, TagsHeldOut(model, dev, chosen.tune_penalty)
    columns = features if features.templates else None
    types = {name: tagging.types for name, tagging in taggings.items()}
    more = [types, [[tags.tolist() for tags in part.labels] for part in (train, dev)]]
    seconds = {"features": process_time() - start}
    start = process_time()
    found = train_encoder(
        chosen, scorer, list(tasks.values()), known, unseen, columns, more, run, settings.callback, settings.began
    )
    models: dict[str, AnyModel] = {}
    fits: dict[str, Chosen] = {}
    for name, (task, held) in tasks.items():
        tagging, section = taggings[name], task.section
        penalty, f1 = held.best_penalty(section.of(found.potentials), run)
        own = SectionScorer(found.scorer, section)
        models[name] = StructuredModel.build(tagging.structure, "subgraphs", tagging.types, own, penalty)
        fits[name] = replace(found.fit, penalty=penalty, dev_f1=f1)
    seconds["chains"] = process_time() - start
    return Trained(Chains(found.scorer, models), fits, {}, seconds, scorer.trained, found.report)
