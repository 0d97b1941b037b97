"""Training the chains on one matrix of features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import monotonic, process_time
from types import MappingProxyType
from typing import NamedTuple

from spanloom.errors import DataError
from spanloom.features import FeatureSet, Sparse
from spanloom.files.scratch import FolderScratch
from spanloom.hypergraph import Edges
from spanloom.learn import Chosen, EdgeTarget, Fit, Listener, Progress, Training, TrainingSet, fit_together
from spanloom.model.development import Development, HeldOut, trained
from spanloom.model.parameters import lambdas
from spanloom.model.report import EncoderReport
from spanloom.model.strongest import Strongest, strongest_features
from spanloom.model.structured import AnyModel, LinearModel, StructuredModel
from spanloom.model.work import IN_MEMORY, Room
from spanloom.parallel import Executor
from spanloom.scoring import LinearScorer, Weights
from spanloom.segment.chains import Chains, Tagging, read_labels, write_labels
from spanloom.segment.corpus import Corpus
from spanloom.segment.parameters import LAMBDAS, SegmenterParameters


class Settings(NamedTuple):
    """Settings for the training of chains.

    Args:
        parameters: of the segmenter.
        run: does pieces of work that do not depend on one another.
        callback: called at each step.
        began: when training began.
        l2_of: chain -> the lambda that it must have.
        room: of arrays and passes.
    """

    parameters: SegmenterParameters
    run: Executor
    callback: Listener = lambda _: None
    began: float = 0.0
    l2_of: Mapping[str, float] = MappingProxyType({})
    room: Room = IN_MEMORY

    def report(self, stage: str) -> None:
        """Call the callback with the name of a stage that begins."""
        self.callback(Progress(stage, seconds=monotonic() - self.began))


class Trained(NamedTuple):
    """Chains and how they were trained.

    Args:
        chains: trained.
        fits: of each chain.
        strongest: features of each tag of each chain.
        seconds: of the processor, for the ``features`` and for the ``chains``.
        rows: of weights; with an encoder, numbers that were trained.
        encoder: what an encoder read, where there is one.
    """

    chains: Chains
    fits: Mapping[str, Chosen]
    strongest: Strongest
    seconds: dict[str, float]
    rows: int
    encoder: EncoderReport | None = None


class TagsHeldOut(HeldOut):
    """Development data as tags of characters; words count as mentions do.

    Args:
        model: a chain.
        corpus: with gold tags.
        tunes: whether the mention penalty is tuned, where the chain has one.
    """

    def __init__(self, model: AnyModel, corpus: Corpus, tunes: bool) -> None:
        self._model, self._corpus, self._offsets = model, corpus, corpus.text.offsets
        self.tunes = tunes and bool(model.structure.start_roles(model.types))

    def measured(self, edges: Edges) -> float:
        """F1 of words, of mentions, or the mean of both, as the chain has tags of them."""
        return self._corpus.f1(read_labels(self._model, edges))


class _Development(TagsHeldOut, Development):
    """The same, whose features are looked up once."""

    def __init__(self, model: LinearModel, corpus: Corpus, matrix: Sparse, tunes: bool) -> None:
        TagsHeldOut.__init__(self, model, corpus, tunes)
        self._matrix = matrix


def train_chains(
    taggings: Mapping[str, Tagging], features: FeatureSet, train: Corpus, dev: Corpus, settings: Settings
) -> Trained:
    """Train chains on the same features.

    Args:
        taggings: what the chains tag, by name.
        features: templates.
        train: with all columns that the features read.
        dev: the same, to choose by.
        settings: of learning.

    Raises:
        DataError: no characters at all.
    """
    parameters, batch = settings.parameters, train.text.batch
    settings.report("features")
    start = process_time()
    if not len(batch.tokens):
        raise DataError("the training data hold no characters; give annotated text")
    room, scratch = settings.room, settings.room.scratch
    built = room.built(features, batch, parameters.min_count, settings.run)
    offsets = batch.sentences
    seconds = {"features": process_time() - start}
    start = process_time()
    dev_matrix = built.index.lookup_shared(features.shared_keys(dev.text.batch, run=settings.run), run=settings.run)
    trainings: dict[str, Training] = {}
    models: dict[str, LinearModel] = {}
    for name, tagging in taggings.items():
        scorer = LinearScorer(features, built.index, Weights.zeros(0, 0, 0, 1))
        models[name] = tagger = StructuredModel.build(tagging.structure, "subgraphs", tagging.types, scorer)
        edges = write_labels(tagging, train.labels, offsets)
        if isinstance(scratch, FolderScratch):
            edges = scratch.written(f"{name}-edges", edges)
        target = EdgeTarget(tagger.engine, offsets, edges, scratch, f"{name}-")
        sizes = built.index.group_sizes
        data = TrainingSet(tagger.engine, built.matrix, offsets, target, sizes, built.counts, scratch=scratch)
        # All weights whose sum a tag scores take a step at once; together they are to take one.
        rate = parameters.rate / max(len(edge.roles) for edge in tagger.engine.template.edges)
        trainings[name] = Training(
            data=data, judge=_Development(tagger, dev, dev_matrix, parameters.tune_penalty),
            optimizer=parameters.optimizer, epochs=parameters.epochs, iterations=parameters.iterations, rate=rate,
            seed=parameters.random_state,
            executor=settings.run, callback=_named(settings.callback, name), began=settings.began,
            keeper=room.keeper, workers=room.workers,
        )  # fmt: skip
    fits = _fits(trainings, settings)
    seconds["chains"] = process_time() - start
    models = {name: trained(model, trainings[name].data, fits[name]) for name, model in models.items()}
    strongest: Strongest = {}
    for model in models.values():
        strongest |= strongest_features(model, features, batch, built, parameters.names)
    return Trained(Chains.of(models), fits, strongest, seconds, len(built.counts))


def _fits(trainings: Mapping[str, Training], settings: Settings) -> dict[str, Fit]:
    """The fit of each chain; chains with the same first step and the same lambdas are trained together."""
    alike: dict[tuple[float, tuple[float, ...]], list[str]] = {}
    for name, training in trainings.items():
        grid = (settings.l2_of[name],) if name in settings.l2_of else lambdas(settings.parameters.l2, LAMBDAS)
        alike.setdefault((training.rate, grid), []).append(name)
    fits: dict[str, Fit] = {}
    for (_, grid), names in alike.items():
        fits |= dict(zip(names, fit_together([trainings[name] for name in names], grid), strict=True))
    return {name: fits[name] for name in trainings}


def _named(callback: Listener, name: str) -> Listener:
    return lambda progress: callback(replace(progress, stage=f"{name}: {progress.stage}"))
