"""The method ``incremental``: chains that see the other task's output, trained on outputs of held-out text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import monotonic

import numpy as np

from spanloom.learn import Listener, Progress
from spanloom.learn.folds import deal
from spanloom.parallel import worker_count
from spanloom.segment.chains import MENTIONS, WORDS, Tagging
from spanloom.segment.corpus import Corpus
from spanloom.segment.feature_sets import make_features
from spanloom.segment.model import MENTION_COLUMN, WORD_COLUMN, Model, output_columns, output_templates
from spanloom.segment.training import Settings, Trained, train_chains

FOLDS = 3


def train_stack(
    alone: Trained, model: Model, tagged: Mapping[str, Tagging], templates: Sequence[str], train: Corpus, dev: Corpus,
    settings: Settings, tell: Listener, began: float,
) -> tuple[Trained, Trained]:  # fmt: skip
    """The chain of words that sees mentions, and the chain of mentions that sees words.

    What they see of the training data comes from chains that were not trained on it (Wolpert 1992), as what they will
    see of new text does. Gold would teach them to trust the other task too much.

    Args:
        alone: the two chains that stand alone.
        model: of them.
        tagged: what the two chains tag.
        templates: of the features.
        train: the training data.
        dev: the development data.
        settings: of learning.
        tell: told of each step.
        began: when training began.
    """
    columns = held_out_outputs(alone, model, tagged, train, dev, settings, tell, began)
    seen = train.with_columns(columns)
    seen_dev = dev.with_columns(_outputs(model, dev, settings.n_jobs))
    stacked = []
    for name, column in ((WORDS, MENTION_COLUMN), (MENTIONS, WORD_COLUMN)):
        features = make_features(templates, output_templates(column), model.phrases is not None)
        stacked.append(train_chains({name: tagged[name]}, features, seen, seen_dev, settings, tell, began))
    return stacked[0], stacked[1]


def held_out_outputs(
    alone: Trained, model: Model, tagged: Mapping[str, Tagging], train: Corpus, dev: Corpus, settings: Settings,
    tell: Listener, began: float,
) -> dict[str, list[str]]:  # fmt: skip
    """What chains that were trained on the other folds say of each fold."""
    fold = deal(len(train.text.batch.documents), FOLDS, settings.seed)
    where = fold[train.text.batch.owners]
    columns = {name: np.empty(len(where), object) for name in (WORD_COLUMN, MENTION_COLUMN)}
    for number in range(FOLDS):
        tell(Progress(f"outputs on held-out text, {number + 1} of {FOLDS}", seconds=monotonic() - began))
        rest = train.take(np.flatnonzero(fold != number).tolist())
        held = train.take(np.flatnonzero(fold == number).tolist())
        if not held.text.batch.documents:
            continue
        chosen = settings._replace(
            l2_of={name: fit.l2 for name, fit in alone.fits.items()},
            epochs=max(fit.steps for fit in alone.fits.values()),
        )
        trained = train_chains(tagged, alone.chains.scorer.features, rest, dev, chosen, lambda _: None, began)
        other = replace(model, parts=(trained.chains,))
        for name, values in _outputs(other, held, worker_count(settings.n_jobs)).items():
            columns[name][where == number] = values
    return {name: values.tolist() for name, values in columns.items()}


def _outputs(model: Model, corpus: Corpus, n_jobs: int) -> dict[str, list[str]]:
    """What the two chains that stand alone say."""
    return output_columns(model.decode(corpus.text, "independent", n_jobs=n_jobs).labels, model.types)
