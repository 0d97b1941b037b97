"""The method ``incremental``: chains that see the other task's output, trained on outputs of held-out text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from spanloom.features import FeatureSet
from spanloom.learn.folds import cross_fit, deal
from spanloom.parallel import Executor
from spanloom.segment import encoding
from spanloom.segment.chains import MENTIONS, WORDS, Tagging
from spanloom.segment.corpus import Corpus
from spanloom.segment.model import MENTION_COLUMN, WORD_COLUMN, SegmenterModel, output_columns, output_templates
from spanloom.segment.training import Settings, Trained, train_chains

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
