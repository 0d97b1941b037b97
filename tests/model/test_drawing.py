"""Draws, entropy and expected F1 of trained models, against enumeration."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from spanloom import Document, Mention, Recognizer
from spanloom.document import Batch
from spanloom.errors import UsageError
from spanloom.hypergraph import Potentials, reference
from spanloom.model.drawing import draw_edges, entropies
from spanloom_lab.two_layer import TwoLayer

SETTINGS: dict[str, Any] = {
    "features": ["bias", "low[0]", "low[-1]"], "epochs": 3, "l2": 1.0, "rescore": False, "overlap": "free",
}  # fmt: skip
NOTES = ["no chest pain", "chest and back pain", "he went home", "back pain"]


def note(number: int) -> Document:
    text = NOTES[number % len(NOTES)]
    at, back = text.find("pain"), text.find("back")
    mentions = [Mention("problem", [(at, at + 4)])] if at >= 0 else []
    if back >= 0 and number % 3:
        mentions += [Mention("body", [(back, back + 4)]), Mention("problem", [(back, len(text))])]
    return Document(text, id=str(number), mentions=mentions)


@pytest.fixture(scope="module", params=["separators", "bio", "shared", TwoLayer()], ids=str)
def model(request: Any) -> Recognizer:
    return Recognizer(request.param, **SETTINGS).fit([note(n) for n in range(48)], dev=[note(n) for n in range(12)])


def distribution(model: Recognizer, text: str) -> Counter[frozenset[Any]]:
    """The probability of each set of mentions of a short text."""
    tagger = model.fitted
    batch = Batch.of(model.ready([Document(text)]))
    potentials, length = tagger.scorer.score(batch), len(batch.tokens)
    found: Counter[frozenset[Any]] = Counter({frozenset(): 1.0})
    for k in range(potentials.roles.shape[2]):
        own = Potentials(potentials.roles[:, :, k : k + 1], potentials.constants[:, k : k + 1])
        scores = reference.edge_scores(
            tagger.engine.template,
            [dict(zip(tagger.engine.template.roles, row, strict=True)) for row in own.roles[:, :, 0].tolist()],
            dict(zip(tagger.engine.template.constants, own.constants[:, 0].tolist(), strict=True)),
        )
        part: Counter[frozenset[Any]] = Counter()
        for picks in reference.subgraphs(tagger.engine.template, length):
            edges = np.full((length, potentials.roles.shape[2], tagger.engine.depth), -1, np.int16)
            for token, edge in picks:
                edges[token, k, int((edges[token, k] >= 0).sum())] = edge
            table = tagger.structure.decode(edges, batch.sentences, tagger.types)
            part[frozenset(table.rows())] += math.exp(sum(scores[token][edge] for token, edge in picks))
        whole = sum(part.values())
        found = _product(found, part, whole)
    return found


def _product(one: Counter[Any], two: Counter[Any], whole: float) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for a, p in one.items():
        for b, q in two.items():
            found[a | b] += p * q / whole
    return found


def rows(documents: list[Document]) -> frozenset[Any]:
    return frozenset((m.type, tuple(m.spans)) for m in documents[0].mentions)


TEXT = "back pain now"


def test_draws_come_with_their_probabilities(model: Recognizer) -> None:
    expected, draws = distribution(model, TEXT), 3000
    assert sum(expected.values()) == pytest.approx(1)
    tagger = model.fitted
    batch = Batch.of(model.ready([Document(TEXT)]))
    edges = draw_edges(tagger, tagger.scorer.score(batch), batch.sentences, draws, seed=(1,))
    found = Counter(frozenset(tagger.structure.decode(one, batch.sentences, tagger.types).rows()) for one in edges)
    for mentions, p in expected.items():
        assert abs(found[mentions] - draws * p) <= 6 * math.sqrt(draws * p * (1 - p)) + 3


def test_samples_are_documents(model: Recognizer) -> None:
    one, other = model.sample(TEXT, 5, seed=3), model.sample(TEXT, 5, seed=3)
    assert one == other
    assert len(one) == 5
    assert {document.text for [document] in one} == {TEXT}
    assert len({rows(each) for each in model.sample(TEXT, 40)}) > 1


def test_entropy_of_sentences(model: Recognizer) -> None:
    engine = model.fitted.engine
    found = model.entropy([TEXT, "he went home"])
    assert found.shape == (2,)
    if len(engine.template.edges) < 100:  # of which each set of mentions has one structure
        p = np.array([value for value in distribution(model, TEXT).values() if value > 0])
        assert found[0] == pytest.approx(-(p * np.log(p)).sum(), rel=1e-4)
    assert found[0] > found[1] >= 0
    batch = Batch.of(model.ready([Document(TEXT)]))
    assert entropies(model.fitted, model.fitted.scorer.score(batch), batch)[0] == pytest.approx(found[0])


def test_expected_f1_is_that_of_all_answers(model: Recognizer) -> None:
    batch = Batch.of(model.ready([Document(TEXT)]))
    tagger = model.fitted
    answer = model._finder().find(batch, tagger.scorer.score(batch), lambda _: None).table
    own = set(answer.rows())
    expected = 0.0
    for mentions, p in distribution(model, TEXT).items():
        both = len(own) + len(mentions)
        expected += p * (1.0 if not both else 2 * len(own & mentions) / both)
    found = model.expected_f1(TEXT, 2000, seed=2)
    assert found.mean == pytest.approx(expected, abs=0.05)
    assert 0 <= found.low <= found.mean <= found.high <= 1


@pytest.mark.parametrize("what", ["sample", "expected_f1"])
def test_what_cannot_be_drawn(what: str) -> None:
    documents = [note(n) for n in range(24)]
    model = Recognizer("separators", counting="derivations", **SETTINGS).fit(documents, dev=documents)
    with pytest.raises(UsageError, match="counts derivations"):
        getattr(model, what)(TEXT)
    with pytest.raises(UsageError, match="expected a whole number from 1"):
        getattr(model, what)(TEXT, 0)
