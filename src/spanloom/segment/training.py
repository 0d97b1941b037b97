"""Training the chains on one matrix of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import monotonic, process_time
from types import MappingProxyType
from typing import NamedTuple

from spanloom.errors import DataError
from spanloom.features import FeatureSet, Sparse
from spanloom.files.scratch import FolderScratch
from spanloom.hypergraph import Edges
from spanloom.learn import Chosen, Fit, Listener, Progress, Training, TrainingSet, fit_together
from spanloom.learn.folds import cross_fit, deal
from spanloom.model.development import Development, HeldOut, trained
from spanloom.model.parameters import lambdas
from spanloom.model.report import EncoderReport
from spanloom.model.strongest import Strongest, strongest_features
from spanloom.model.structured import AnyModel, LinearModel, StructuredModel
from spanloom.model.work import IN_MEMORY, Room
from spanloom.parallel import Executor
from spanloom.segment import encoding
from spanloom.segment.chains import MENTIONS, WORDS, Chains, Tagging, read_labels, write_labels
from spanloom.segment.corpus import Corpus
from spanloom.segment.model import MENTION_COLUMN, WORD_COLUMN, SegmenterModel, output_columns, output_templates
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
        models[name] = tagger = StructuredModel.untrained(
            tagging.structure, "subgraphs", tagging.types, features, built.index
        )
        edges = write_labels(tagging, train.labels, offsets)
        if isinstance(scratch, FolderScratch):
            edges = scratch.written(f"{name}-edges", edges)
        data = TrainingSet.of_edges(tagger.engine, built, offsets, edges, scratch, f"{name}-")
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


# The method incremental: chains that see the other task's output, trained on outputs of held-out text.

FOLDS = 3


def train_stack(
    alone: Trained, model: SegmenterModel, tagged: Mapping[str, Tagging], features: FeatureSet, train: Corpus,
    dev: Corpus, settings: Settings,
) -> tuple[Trained, Trained]:  # fmt: skip
    """The chain of words that sees mentions, and the chain of mentions that sees words.

    What they see of the training data comes from chains that were not trained on it (Wolpert 1992), as what they will
    see of new text does. Gold would teach them to trust the other task too much.

    Args:
        alone: the two independent chains.
        model: of them.
        tagged: what the two chains tag.
        features: of the independent chains.
        train: the training data.
        dev: the development data.
        settings: of learning.
    """
    settings.report("outputs on held-out text")
    models = held_out_models(alone, model, tagged, train, dev, settings, features)
    columns = held_out_outputs(models, train, settings.run)
    seen = train.with_columns(columns)
    seen_dev = dev.with_columns(_outputs(model, dev, settings.run))
    stacked = []
    for name, column in ((WORDS, MENTION_COLUMN), (MENTIONS, WORD_COLUMN)):
        own = features.extended(output_templates(column))
        stacked.append(learn_chains({name: tagged[name]}, own, seen, seen_dev, settings))
    return stacked[0], stacked[1]


def learn_chains(
    tagged: Mapping[str, Tagging], features: FeatureSet, train: Corpus, dev: Corpus, settings: Settings
) -> Trained:
    """Train chains on features, or with an encoder, beside which features are those of columns that it cannot see.

    The arguments are those of `spanloom.segment.training.train_chains`.
    """
    way = train_chains if settings.parameters.encoder is None else encoding.learn_chains
    trained: Trained = way(tagged, features, train, dev, settings)
    return trained


def held_out_models(
    alone: Trained, model: SegmenterModel, tagged: Mapping[str, Tagging], train: Corpus, dev: Corpus,
    settings: Settings, features: FeatureSet,
) -> list[tuple[SegmenterModel, list[int]]]:  # fmt: skip
    """Return models of chains with the same features, each with the documents of a fold that it was not trained on."""
    chosen = settings._replace(
        parameters=replace(settings.parameters, epochs=max(fit.steps for fit in alone.fits.values())),
        l2_of={name: fit.l2 for name, fit in alone.fits.items()},
        callback=lambda _: None,
    )

    def fit(rest: list[int]) -> SegmenterModel:
        trained = learn_chains(tagged, features, train.take(rest), dev, chosen)
        return replace(model, parts=(trained.chains,))

    fold = deal(len(train.text.batch.documents), FOLDS, settings.parameters.random_state)
    return cross_fit(fold, fit, lambda other, held: (other, held))


def held_out_outputs(
    models: Sequence[tuple[SegmenterModel, list[int]]], train: Corpus, run: Executor
) -> dict[str, list[str]]:
    """Return the outputs of models of `held_out_models` for training data."""
    every: list[dict[str, list[str]]] = [{} for _ in train.text.batch.documents]
    for other, held in models:
        part = train.take(held)
        found = _outputs(other, part, run)
        own = {name: part.text.batch.split(values) for name, values in found.items()}
        for row in held:
            every[row] = {name: list(next(values)) for name, values in own.items()}
    return {name: [value for own in every for value in own[name]] for name in (WORD_COLUMN, MENTION_COLUMN)}


def _outputs(model: SegmenterModel, corpus: Corpus, run: Executor) -> dict[str, list[str]]:
    """Return the outputs of the two independent chains."""
    return output_columns(model.decode(corpus.text, "independent", run=run).labels, model.types)
