"""Explanations of a linker: candidates whose scores are those of whole derivations, and what separates them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from test_linker import NAMES, make_documents

from spanloom.document import Batch, Document, Mention
from spanloom.errors import UsageError
from spanloom.link import Linker, phases
from spanloom.link.explain import _Closing, _derive
from spanloom.link.learning import FREE
from spanloom.link.templates import of_phase
from spanloom.models import explain
from spanloom.native import Kernel
from spanloom.text import prepare
from spanloom.vocabulary import Concept
from spanloom.vocabulary.store import Vocabulary

PAPER = {"state_features": True, "nonlocal_features": True, "word_rate": 1}


@pytest.fixture(scope="module", params=[{}, {"evidence": False, "history": False, "nil": False}, PAPER])
def linker(request):
    vocabulary = Vocabulary.build([Concept(concept, names[0], names[1:]) for concept, names in NAMES.items()])
    settings = {"features": "small", "iterations": 2, "folds": 2, **request.param}
    return Linker(**settings).fit(make_documents(10, 0), dev=make_documents(3, 1), vocabulary=vocabulary)


@pytest.fixture(scope="module")
def document():
    text = "Rifampicin caused renal disease and low blood pressure. Then nausea, no emesis, and kidney diseases again."
    return Document(text)


def test_it_explains_what_is_predicted(linker, document):
    [predicted] = linker.predict([document])
    explanations = explain(linker, document)
    assert explanations
    assert [item.mention for item in explanations] == predicted.mentions
    for item in explanations:
        assert item.predicted
        assert item.mention.concepts in [candidate.concepts for candidate in item.candidates]
        scores = [candidate.score for candidate in item.candidates]
        assert scores == sorted(scores, reverse=True)
        json.dumps(item.record(3))


def test_features_add_up_to_the_difference(linker, document):
    for item in linker.explain(document):
        first, *others = item.candidates
        for candidate in others:
            whole = sum(part.score for part in candidate.features)
            assert whole == pytest.approx(candidate.score - first.score, abs=1e-2)
        if others:
            assert sum(part.score for part in first.features) == pytest.approx(first.score - others[0].score, abs=1e-2)


def test_scores_are_those_of_the_search(linker, document):
    """The walk that scores the chosen candidate finds the score that the search found."""
    system = linker.fitted
    ready = system.columns(Batch.of([prepare(document)]))
    derived = _derive(system, ready, ())
    data, search = derived.instance.data, derived.search
    scores = np.zeros(len(data.offsets) - 1)
    labels, choices = np.zeros(len(data.words), np.int32), np.full(len(data.words), -1, np.int32)
    free = np.full(len(labels), FREE, np.int32)
    Kernel("link_predict")(
        search.model(system.weights.table), data, 0, len(scores), derived.local, 0, search.workspace(data),
        search.width, free, labels, choices, scores,
    )  # fmt: skip
    for first, end, _, _ in system.segments(derived.instance, labels, choices):
        closing = _Closing(system, derived, first, end)
        sentence = int(np.searchsorted(data.offsets, first, side="right")) - 1
        assert closing.score(closing.chosen) == pytest.approx(scores[sentence], rel=1e-4)


def test_every_key_of_the_closing_action_has_a_name(linker, document):
    system = linker.fitted
    ready = system.columns(Batch.of([prepare(document)]))
    derived = _derive(system, ready, ())
    data = derived.instance.data
    templates = len(of_phase(derived.search.groups, phases.SEGMENT))
    for first, end, _, _ in system.segments(derived.instance, derived.labels, derived.choices):
        closing = _Closing(system, derived, first, end)
        sentence = int(np.searchsorted(data.offsets, first, side="right")) - 1
        base = int(data.offsets[sentence])
        own = templates + (data.span_keys.shape[2] if templates and closing._span >= 0 else 0)
        for choice in closing.choices():
            _, weights = closing._walk(choice, end - base, end - base + 1)
            assert len(weights) == own + len(closing.names(choice))


def test_a_mention_that_is_asked_for(linker, document):
    [item] = linker.explain(document, [Mention("Disease", [(18, 31)])])
    assert item.mention.spans == ((18, 31),)
    [odd] = linker.explain(document, [Mention("Disease", [(0, 10)])])
    assert not odd.predicted
    assert odd.log_odds is None and odd.probability is not None and odd.probability < 0.5
    assert odd.candidates


@pytest.mark.parametrize(
    "mention",
    [Mention("Disease", [(0, 3)]), Mention("Disease", [(0, 10), (18, 23)]), Mention("Disease", [(49, 67)])],
    ids=["cuts a token", "a gap", "two sentences"],
)
def test_what_it_cannot_hold(linker, document, mention):
    with pytest.raises(UsageError, match="the model cannot hold the mention at characters"):
        linker.explain(document, [mention])


def test_unknown_type(linker, document):
    with pytest.raises(UsageError, match="no type 'Drug'; the model knows Disease"):
        linker.explain(document, [Mention("Drug", [(0, 10)])])


def test_no_text(linker):
    assert linker.explain(Document("")) == []
