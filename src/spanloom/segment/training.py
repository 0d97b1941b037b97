"""Training the chains on one matrix of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import monotonic, process_time
from types import MappingProxyType
from typing import NamedTuple

from spanloom.errors import DataError
from spanloom.features import FeatureSet, Sparse, build_index
from spanloom.hypergraph import Potentials
from spanloom.learn import TrainingSet
from spanloom.model.strongest import Strongest, strongest_features
from spanloom.model.structured import LinearModel, StructuredModel
from spanloom.model.training import Development, Fit, Listener, Progress, Trainer, fit_together
from spanloom.parallel import parallel_map
from spanloom.scoring import LinearScorer, Weights
from spanloom.segment.chains import Chains, Scored, Tagging, write_labels
from spanloom.segment.corpus import Corpus


class Settings(NamedTuple):
    """The parameters of learning, as those of `Segmenter`; ``l2_of`` is a lambda that some chains must have."""

    optimizer: str
    l2: tuple[float, ...]
    epochs: int
    iterations: int
    rate: float
    min_count: int
    names: bool | int
    tune_penalty: bool
    seed: int
    n_jobs: int
    l2_of: Mapping[str, float] = MappingProxyType({})


class Trained(NamedTuple):
    """Chains and how they were trained.

    Args:
        chains: trained.
        fits: of each chain.
        strongest: features of each tag of each chain.
        seconds: of the processor, for the ``features`` and for the ``chains``.
        rows: of weights.
    """

    chains: Chains
    fits: dict[str, Fit]
    strongest: Strongest
    seconds: dict[str, float]
    rows: int


class _Development(Development):
    """Development data as tags of characters; words count as mentions do."""

    def __init__(self, corpus: Corpus, matrix: Sparse) -> None:
        self._matrix, self._offsets = matrix, corpus.text.offsets
        self._corpus = corpus

    def f1(self, tagger: LinearModel, potentials: Potentials, n_jobs: int = 1) -> float:
        """F1 of words, of mentions, or the mean of both, as the chain has tags of them."""
        return self._corpus.f1(Scored(tagger, potentials).best(self._offsets, n_jobs))


def train_chains(
    taggings: Mapping[str, Tagging], features: FeatureSet, train: Corpus, dev: Corpus, settings: Settings,
    tell: Listener, began: float,
) -> Trained:  # fmt: skip
    """Train chains on the same features.

    Args:
        taggings: what the chains tag, by name.
        features: templates.
        train: with all columns that the features read.
        dev: the same, to choose by.
        settings: of learning.
        tell: told of each step.
        began: when training began.

    Raises:
        DataError: no characters at all.
    """
    batch = train.text.batch
    tell(Progress("features", seconds=monotonic() - began))
    start = process_time()
    if not len(batch.tokens):
        raise DataError("the training data hold no characters; give annotated text")
    built = build_index(features.keys(batch, n_jobs=settings.n_jobs), min_count=settings.min_count)
    offsets = batch.sentences
    seconds = {"features": process_time() - start}
    start = process_time()
    dev_matrix = built.index.lookup(features.keys(dev.text.batch, n_jobs=settings.n_jobs), n_jobs=settings.n_jobs)
    trainers: dict[str, Trainer] = {}
    for name, tagging in taggings.items():
        scorer = LinearScorer(features, built.index, Weights.zeros(0, 0, 0, 1))
        tagger = StructuredModel.build(tagging.structure, "subgraphs", tagging.types, scorer)
        edges = write_labels(tagging, train.labels, offsets)
        data = TrainingSet(tagger.engine, built.matrix, offsets, edges, built.index.group_sizes, built.counts)
        # All weights whose sum a tag scores take a step at once; together they are to take one.
        rate = settings.rate / max(len(edge.roles) for edge in tagger.engine.template.edges)
        trainers[name] = Trainer(
            data, tagger, _Development(dev, dev_matrix), settings.optimizer, settings.epochs, 1, settings.iterations,
            rate, settings.tune_penalty and bool(tagging.structure.start_roles(tagging.types)), settings.seed,
            settings.n_jobs, _named(tell, name), began,
        )  # fmt: skip
    fits = _fits(trainers, settings)
    seconds["chains"] = process_time() - start
    models = {name: trainer.finished(fits[name]) for name, trainer in trainers.items()}
    strongest: Strongest = {}
    for model in models.values():
        strongest |= strongest_features(model, features, batch, built, settings.names)
    return Trained(Chains.of(models), fits, strongest, seconds, len(built.counts))


def _fits(trainers: Mapping[str, Trainer], settings: Settings) -> dict[str, Fit]:
    """The fit of each chain; chains with the same first step and the same lambdas are trained together."""
    alike: dict[tuple[float, tuple[float, ...]], list[str]] = {}
    for name, trainer in trainers.items():
        grid = (settings.l2_of[name],) if name in settings.l2_of else settings.l2
        alike.setdefault((trainer.rate, grid), []).append(name)
    fits: dict[str, Fit] = {}
    for (_, grid), names in alike.items():
        fits |= dict(zip(names, _best([trainers[name] for name in names], grid, settings.n_jobs), strict=True))
    return {name: fits[name] for name in trainers}


def _best(trainers: Sequence[Trainer], grid: Sequence[float], n_jobs: int) -> list[Fit]:
    """For each chain the fit of the lambda that development F1 prefers."""
    if len(grid) == 1:
        return fit_together(trainers, grid[0])
    alone = [replace(trainer, n_jobs=1) for trainer in trainers]
    tried = parallel_map(lambda l2: fit_together(alone, l2), grid, n_jobs)
    return [max(fits, key=lambda fit: fit.dev_f1) for fits in zip(*tried, strict=True)]


def _named(tell: Listener, name: str) -> Listener:
    return lambda progress: tell(replace(progress, stage=f"{name}: {progress.stage}"))
