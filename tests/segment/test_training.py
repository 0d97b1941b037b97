"""Chains that are trained together, and what is tuned when they are trained."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic

import numpy as np
import pytest

from spanloom.learn.tuning import smooth_best
from spanloom.parallel import SERIAL, Threads
from spanloom.segment.chains import taggings
from spanloom.segment.corpus import Corpus, with_words
from spanloom.segment.feature_sets import make_features, own_columns
from spanloom.segment.gold import gold_labels
from spanloom.segment.model import PENALTIES
from spanloom.segment.parameters import SegmenterParameters
from spanloom.segment.training import Settings, train_chains

SETTINGS = Settings(SegmenterParameters(l2=0.1, epochs=7, iterations=20), SERIAL)


def corpus_of(documents, features, types, phrases=None):
    gold = gold_labels(list(map(with_words, documents)), types, None)
    return Corpus(gold.batch.with_own_columns(own_columns(features), phrases), gold.labels, len(gold.lost))


@pytest.mark.parametrize(
    "settings",
    [
        SETTINGS,
        SETTINGS._replace(parameters=replace(SETTINGS.parameters, l2=(3.0, 0.1))),
        SETTINGS._replace(l2_of={"words": 1.0, "mentions": 0.3}),
        SETTINGS._replace(l2_of={"words": 1.0}, run=Threads(2)),
        SETTINGS._replace(parameters=replace(SETTINGS.parameters, optimizer="lbfgs")),
    ],
    ids=["one lambda", "a grid", "a lambda each", "one grid, one lambda", "lbfgs"],
)
def test_chains_trained_together_are_those_trained_apart(settings, chinese):
    types = tuple(sorted({mention.type for document in chinese[0] for mention in document.mentions}))
    features = make_features("set1", False)
    train, dev = (corpus_of(documents, features, types) for documents in (chinese[0][:15], chinese[1][:8]))
    tagged = taggings(types, (), pairs=False)
    told = []
    settings = settings._replace(callback=told.append, began=monotonic())
    both = train_chains(tagged, features, train, dev, settings)
    assert list(both.chains.models) == list(both.fits) == ["words", "mentions"]
    assert {progress.stage.partition(":")[0] for progress in told} == {"features", "words", "mentions"}
    for name, own in tagged.items():
        alone = train_chains({name: own}, features, train, dev, settings)
        one, other = both.chains.models[name], alone.chains.models[name]
        for left, right in zip(one.scorer.weights, other.scorer.weights, strict=True):
            np.testing.assert_array_equal(left, right)
        assert one.penalty == other.penalty
        mine, theirs = both.fits[name], alone.fits[name]
        assert (mine.l2, mine.steps, mine.dev_f1) == (theirs.l2, theirs.steps, theirs.dev_f1)
        np.testing.assert_allclose(mine.history, theirs.history, rtol=1e-9)


@pytest.mark.parametrize("weight", [0.3, 1.0, 3.0])
def test_the_joint_penalty_is_that_of_decoding_at_each(weight, stacked, chinese):
    model = replace(stacked.model_, joint_penalty=0.0)
    dev = corpus_of(chinese[1], model.parts[0].scorer.features, model.types, model.phrases)
    values = [
        dev.f1(replace(model, joint_penalty=penalty).decode(dev.text, "exact", weight=weight).labels)
        for penalty in PENALTIES
    ]
    assert len(set(values)) > 3
    assert model.tuned(dev, weight).joint_penalty == smooth_best(PENALTIES, values)
