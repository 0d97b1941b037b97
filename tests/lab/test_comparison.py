"""Comparisons in Python: the same as fitting, predicting and evaluating by hand."""

from __future__ import annotations

import pytest

from spanloom import Recognizer, read
from spanloom.errors import UsageError
from spanloom.evaluate import evaluate
from spanloom_lab.comparison import CASCADE, build, compare, divide, variants, without_penalty


def small(structure: str, **parameters) -> Recognizer:
    return Recognizer(structure, ["bias", "w[-1..1]"], epochs=2, **parameters)


@pytest.fixture
def documents(corpus):
    return list(read(corpus / "train.jsonl"))


def test_rows_are_those_of_the_recognizer(documents):
    models = {"first": small("separators"), "second": small("bio", tune_penalty=False)}
    told = set()
    rows = list(compare(models, documents, documents[:4], documents[4:], progress=lambda name, _: told.add(name)))
    assert told == set(models)
    assert [(row.name, row.tuned) for row in rows] == [("first", False), ("first", True), ("second", False)]
    tuned, recognizer = rows[1], small("separators").fit(documents, dev=documents[:4])
    predicted = recognizer.predict(documents[4:])
    assert [found.mentions for found in tuned.predicted] == [found.mentions for found in predicted]
    assert tuned.test.overall == evaluate(documents[4:], tuned.predicted).overall
    assert tuned.penalty == recognizer.report_.penalty == models["first"].model_.penalty
    assert rows[0].penalty == 0
    assert (
        tuned.weights
        == recognizer.model_.scorer.weights.features.size + recognizer.model_.scorer.weights.constants.size
    )


def test_a_cascade_is_one_of_the_models(documents):
    [variant] = variants([CASCADE])
    model = build(variant, {"features": ["bias", "w[0]"], "epochs": 2, "reading": "all", "components": 2})
    untuned, tuned = compare({CASCADE: model}, documents, documents[:4])
    assert (untuned.penalty, tuned.penalty) == (0.0, None)
    assert tuned.dev_f1 == pytest.approx(model.report_.dev_f1)
    assert tuned.rows == model.report_.rows
    assert any(chain.model_.penalty for chain in model.model_)
    assert all(chain.model_.penalty == 0 for chain in without_penalty(model).model_)


def test_a_row_is_given_as_soon_as_it_is_there(documents):
    models = {"first": small("bio"), "second": small("bio")}
    next(compare(models, documents, documents[:4]))
    assert not hasattr(models["second"], "model_")


def test_the_tenth_that_is_held_out_is_the_one_of_fit(documents):
    times = 1 + 1000 // sum(len(document.mentions) for document in documents)  # fewer are cross-validated
    documents = [one.copy(id=f"{one.id}-{time}") for time in range(times) for one in documents]
    parts = divide(documents, None, None, seed=3)
    by_hand = small("bio", random_state=3).fit(documents)
    given = small("bio", random_state=3).fit(parts.train, dev=parts.dev)
    assert parts.test is parts.dev
    assert given.report_ == by_hand.report_


def test_both_ways_of_counting_only_where_they_differ():
    found = variants(["shared", "bio", "shared"], components=2)
    assert [tuple(variant) for variant in found] == [
        ("shared-subgraphs", "shared", "subgraphs"),
        ("shared-derivations", "shared", "derivations"),
        ("bio", "bio", "subgraphs"),
    ]
    assert [variant.name for variant in variants(["split", "bilou"], "derivations")] == ["split-derivations", "bilou"]


def test_parameters_of_structures():
    found = variants(["semi_markov:6", "semi_markov(longest=6)", "split(components=2)"], "subgraphs")
    assert [(variant.name, variant.structure) for variant in found] == [
        ("semi_markov-6", "semi_markov(longest=6)"),
        ("split-2-subgraphs", "split(components=2)"),
    ]


@pytest.mark.parametrize("given", [(["tree"],), (["bio"], "twice")])
def test_unknown_names(given):
    with pytest.raises(UsageError, match="expected one of"):
        variants(*given)
