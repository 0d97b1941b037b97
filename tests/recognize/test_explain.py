"""Explanations: they add up, name the features of the text, and say what a model would say instead."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from spanloom.document import Document, Mention
from spanloom.errors import UsageError
from spanloom.model.explain import PENALTY
from spanloom.models import explain
from spanloom.recognize import Recognizer
from spanloom.structures import STRUCTURES
from spanloom.tag.pos_tagger import PosTagger
from spanloom_lab import Cascade

TEXT = "The patient has left and right lower lobe infiltrates without chest pain. No fever."
SMALL = ["bias", "low[-1..1]"]


@pytest.fixture(scope="module")
def gapped(notes):
    return Recognizer("shared", SMALL, rate=0.3, l2=0.1, epochs=2).fit(notes.train[:12], dev=notes.dev[:2])


def flat(notes):
    """Mentions that every structure holds, with heads."""
    documents = []
    for document in notes.train[:8]:
        kept, end = [], 0
        for mention in sorted(document.mentions, key=lambda mention: mention.start):
            if len(mention.spans) == 1 and mention.start >= end:
                kept.append(mention.replace(head=mention.spans[0]))
                end = mention.end
        documents.append(document.copy(mentions=kept))
    return documents


def check(recognizer, document, explanations):
    """An explanation is a sum, of the texts' own features, and its two structures are what it says."""
    for explanation in explanations:
        assert explanation.log_odds == pytest.approx(sum(item.score for item in explanation.contributions), abs=1e-4)
        [probability] = recognizer.marginals([document.copy(mentions=[explanation.mention])])[0]
        assert explanation.probability == pytest.approx(probability)
        keys = {(mention.key, mention.head) for mention in explanation.runner_up}
        assert (explanation.mention.key, explanation.mention.head) not in keys
        for item in explanation.contributions:
            if item.token is None:
                continue
            assert item.score == pytest.approx(item.times * sum(part.score for part in item.features), abs=1e-4)
            assert document.text[item.span.start : item.span.end] == item.text
            words = [part.name.removeprefix("low[0]=") for part in item.features if part.name.startswith("low[0]=")]
            assert words in ([], [item.text.lower()])
        json.dumps(explanation.record())


@pytest.mark.parametrize("counting", ["subgraphs", "derivations"])
@pytest.mark.parametrize("name", STRUCTURES)
def test_every_structure(notes, name, counting):
    documents = flat(notes)
    recognizer = Recognizer(name, SMALL, counting=counting, rate=0.3, epochs=1, rescore=False)
    recognizer.fit(documents, dev=documents[:1])
    document = Document(TEXT)
    [predicted] = recognizer.predict([document])
    explanations = recognizer.explain(document)
    assert [item.mention for item in explanations] == predicted.mentions
    assert all(item.predicted for item in explanations)
    assert all(item.log_odds >= -1e-4 for item in explanations)
    check(recognizer, document, explanations)
    asked = recognizer.explain(document, [Mention("problem", [(31, 53)]), Mention("problem", [(77, 82)])])
    assert [item.mention.spans[0].start for item in asked] == [31, 77]
    check(recognizer, document, asked)
    for item in asked:
        assert (item.log_odds > 0) >= item.predicted


def test_gaps(gapped):
    document = Document(TEXT)
    asked = [Mention("anatomy", [(16, 20), (31, 41)]), Mention("problem", [(16, 20), (31, 53)])]
    explanations = gapped.explain(document, asked)
    assert [item.mention.spans for item in explanations] == [mention.spans for mention in asked]
    check(gapped, document, explanations)


def test_the_best_without_is_what_is_predicted_where_the_mention_is_not(gapped):
    document = Document(TEXT)
    [predicted] = gapped.predict([document])
    unlikely = Mention("problem", [(4, 11)])
    [explanation] = gapped.explain(document, [unlikely])
    assert not explanation.predicted
    assert explanation.log_odds < 0
    first = [Mention(m.type, m.spans) for m in predicted.mentions if m.type == "problem" and m.end < 75]
    assert list(explanation.runner_up) == first
    assert unlikely.key in [mention.key for mention in explanation.winner]


def test_the_penalty_is_a_part(notes, gapped):
    assert gapped.fitted.penalty
    explanations = gapped.explain(Document(TEXT))
    starts = [item for found in explanations for item in found.contributions if item.role == "S"]
    assert starts
    for item in starts:
        assert [part.score for part in item.features if part.name == PENALTY] == [gapped.fitted.penalty]
    other = [item for found in explanations for item in found.contributions if item.role != "S"]
    assert not [part for item in other for part in item.features if part.name == PENALTY]


def test_transitions_have_no_token(notes):
    documents = flat(notes)
    recognizer = Recognizer("bio", SMALL, rate=0.3, epochs=2).fit(documents, dev=documents[:1])
    found = [item for explanation in recognizer.explain(Document(TEXT)) for item in explanation.contributions]
    constants = {item.role for item in found if item.token is None}
    assert constants and constants <= set(recognizer.fitted.engine.template.constants)


def test_a_head_that_is_not_given_is_the_most_probable(notes):
    documents = flat(notes)
    recognizer = Recognizer("heads", SMALL, rate=0.3, epochs=1).fit(documents, dev=documents[:1])
    document, whole = Document(TEXT), Mention("problem", [(62, 72)])
    [explanation] = recognizer.explain(document, [whole])
    every = [whole.replace(head=head) for head in ((62, 67), (62, 72), (68, 72))]
    chances = recognizer.marginals([document.copy(mentions=every)])[0]
    assert explanation.probability == pytest.approx(max(chances))
    assert explanation.mention.head == every[int(np.argmax(chances))].head


def test_cascade(notes):
    documents = notes.train[:8]
    cascade = Cascade(features=SMALL, rate=0.3, epochs=1).fit(documents, dev=notes.dev[:1])
    document = Document(TEXT)
    [predicted] = cascade.predict([document])
    explanations = cascade.explain(document)
    assert [item.mention for item in explanations] == predicted.mentions
    backwards = [item.mention for item in reversed(explanations)]
    assert [item.mention for item in cascade.explain(document, backwards)] == backwards
    for item in explanations:
        assert item.log_odds == pytest.approx(sum(part.score for part in item.contributions), abs=1e-4)


@pytest.mark.parametrize(
    ("mention", "message"),
    [
        (Mention("nonsense", [(0, 3)]), "no type 'nonsense'; the model knows "),
        (Mention("problem", [(0, 2)]), "the model cannot hold the mention at characters 0-2: "),
        (Mention("problem", [(62, 72), (77, 82)]), "the model cannot hold the mention at characters 62-72, 77-82: "),
        (Mention("problem", [(5000, 5001)]), "characters 5000 to 5001 are outside the text, which has"),
    ],
)
def test_mentions_that_no_model_holds(gapped, mention, message):
    with pytest.raises(UsageError, match=message):
        gapped.explain(Document(TEXT), [mention])


@pytest.mark.parametrize("text", ["", " ", "x", "\0\0", "a\ud800b", "‮evil"])
def test_odd_texts(gapped, text):
    for item in gapped.explain(Document(text)):
        assert math.isfinite(item.log_odds)


def test_other_kinds_of_model():
    with pytest.raises(UsageError, match="a PosTagger explains no mentions"):
        explain(PosTagger(), Document(TEXT))
