"""Tuning of the mention penalty does not read out what starts everywhere."""

from __future__ import annotations

import pytest

from spanloom import Document, Mention, Recognizer
from spanloom.document import Batch
from spanloom.learn import search_step
from spanloom.model.development import Development
from spanloom.text import prepare

TYPES, TOKENS = 50, 3


def test_a_penalty_that_starts_a_mention_of_each_type_at_each_token():
    """To read 7,500 mentions of 50 takes long, and 500 types in 500 documents took for ever."""
    notes = [Document("No chest pain", mentions=[Mention(f"t{i}", [(3, 13)])]) for i in range(TYPES)]
    documents = list(map(prepare, notes))
    tagger = Recognizer(features=["bias", "w[0]"], epochs=1, l2=1.0).fit(documents, dev=documents).model_
    batch = Batch.of(documents)
    development = Development(batch, tagger, "enough")
    potentials, offsets = development.score(tagger.scorer.weights), batch.sentences
    everywhere = tagger.with_penalty(20.0)
    assert everywhere.starting(everywhere.best(potentials, offsets)) == TYPES * TYPES * TOKENS
    assert development.f1(everywhere, potentials) == 0.0
    assert everywhere.starting(tagger.with_penalty(-20.0).best(potentials, offsets)) == 0


@pytest.mark.parametrize("structure", ["separators", "split", "mention_hypergraph", "semi_markov(longest=4)"])
def test_what_is_tuned_is_what_decoding_at_every_penalty_gives(structure: str, notes):
    """Only the sentences that may change from one penalty to the next are decoded again."""
    train, dev = notes.train[:80], notes.dev[:3]
    few = {"features": ["bias", "low[-1..1]"], "epochs": 1, "l2": 1.0, "rescore": False}
    tagger = Recognizer(structure, **few).fit(train, dev=dev).model_
    batch = Batch.of(list(map(prepare, dev)))
    development = Development(batch, tagger, "enough", tunes=True)
    potentials = development.score(tagger.scorer.weights)

    def f1(penalty: float) -> float:
        return development.f1(tagger.with_penalty(penalty), potentials)

    best = search_step(f1)
    assert development.best_penalty(potentials) == (best, f1(best))
    assert development.highest(potentials) == max(map(f1, (0.0, 0.5, 1.0, 1.5)))
