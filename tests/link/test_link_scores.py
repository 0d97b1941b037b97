"""Probabilities of what a linker finds: exact marginals of its tagging chain, calibrated on development data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_linker import NAMES, bare, make_documents

from spanloom import load
from spanloom.document import Batch
from spanloom.errors import UsageError
from spanloom.link import Linker
from spanloom.model.corpus import Gold
from spanloom.vocabulary import Concept
from spanloom.vocabulary.store import Vocabulary


@pytest.fixture(scope="module")
def linker() -> Linker:
    vocabulary = Vocabulary.build([Concept(concept, names[0], names[1:]) for concept, names in NAMES.items()])
    train, dev = make_documents(12, 0), make_documents(8, 1)
    return Linker("small", iterations=2, folds=2).fit(train, dev=dev, vocabulary=vocabulary)


def test_scores_are_calibrated_marginals_of_the_chain(linker: Linker) -> None:
    documents = make_documents(4, 2)
    system = linker.fitted
    chain = system.reader.tagger
    for document in linker.predict(bare(documents)):
        batch = system.columns(Batch.of([document]))
        table = Gold(batch, linker.types_).table
        exact = chain.probabilities(chain.scorer.score(batch), batch.sentences, table, calibrated=False)
        scores = sorted(one.score or 0.0 for one in document.mentions)
        np.testing.assert_allclose(sorted(system.scalings.mentions(exact)), scores, rtol=1e-6)


def test_a_threshold_leaves_out_what_is_less_probable(linker: Linker) -> None:
    documents = bare(make_documents(6, 3))
    every = [one for document in linker.predict(documents) for one in document.mentions]
    scores = sorted(one.score for one in every if one.score is not None)
    assert len(scores) == len(every) > 2 and 0 < scores[0] < scores[-1] < 1
    some = [one for document in linker.predict(documents, threshold=scores[2]) for one in document.mentions]
    assert len(some) == sum(score >= scores[2] for score in scores)
    for document in linker.predict(documents, answers=True):
        own = document.meta["answer"]
        assert len(own["sentences"]) == document.sentence_count
        assert own["probability"] == pytest.approx(np.prod(own["sentences"]))


def test_they_are_saved(linker: Linker, tmp_path: Path) -> None:
    documents = bare(make_documents(3, 4))
    linker.save(tmp_path / "model")
    again = load(tmp_path / "model")
    found, expected = (model.predict(documents) for model in (again, linker))
    assert [one.mentions for one in found] == [one.mentions for one in expected]
    assert linker.report_.calibration is not None and linker.report_.calibration.mentions.count > 0


def test_given_mentions_keep_their_scores(linker: Linker) -> None:
    with pytest.raises(UsageError, match="given mentions keep their scores"):
        linker.stream(make_documents(1, 5), mentions="given", threshold=0.5)
    with pytest.raises(UsageError, match=r"threshold is 2"):
        linker.predict(["nausea"], threshold=2)
