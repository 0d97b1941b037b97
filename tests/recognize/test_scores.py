"""Scores of mentions against the listing of all sub-hypergraphs, with features scored one by one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from spanloom.document import Batch, Document, Mention, align
from spanloom.hypergraph import ENGINES, reference
from spanloom.learn.platt import Platt, Scalings
from spanloom.recognize import Recognizer
from spanloom.structures import STRUCTURES
from spanloom.structures.base import NO_HEAD
from spanloom.text import prepare
from spanloom_lab.sharing import shares_nodes

TRAIN = [
    Document("mild chest pain", mentions=[Mention("p", [(0, 15)]), Mention("p", [(5, 15)]), Mention("b", [(5, 10)])]),
    Document("no chest pain", mentions=[Mention("p", [(3, 13)]), Mention("b", [(3, 8)])]),
    Document("chest clear", mentions=[Mention("b", [(0, 5)])]),
    Document("no pain", mentions=[Mention("p", [(3, 7)])]),
    Document("pain , mild", mentions=[Mention("p", [(0, 4)])]),
]
TEXTS = ["pain", "chest pain", "no mild pain", "mild chest pain ,", "no chest pain , mild"]


def role_scores(tagger, document):
    """For each token and type: role -> score, from named features, without the penalty."""
    template, lanes = tagger.engine.template, tagger.structure.lanes(tagger.types)
    result = []
    for token in range(len(document.tokens)):
        ids = np.array([key for _, key in tagger.scorer.features.named_keys(document, [token])[0]], np.uint64)
        rows = [row for row in tagger.scorer.index.rows(ids).tolist() if row >= 0]
        weights = tagger.scorer.weights.features[rows].sum(0, dtype=float)
        result.append([{role: float(weights[r, k]) for r, role in enumerate(template.roles)} for k in range(lanes)])
    return result


def enumerate_mentions(tagger, document):
    """Probability of each ((sentence, type, ranges), head) with a path in any sub-hypergraph, by listing them all."""
    template, structure, types = tagger.engine.template, tagger.structure, tagger.types
    length, lanes = len(document.tokens), structure.lanes(types)
    scores = role_scores(tagger, document)
    every = list(reference.subgraphs(template, length))
    probability: dict[tuple, float] = {}
    likelihood = []
    for k in range(lanes):
        constants = dict(zip(template.constants, tagger.scorer.weights.constants[:, k].tolist(), strict=True))
        table = reference.edge_scores(template, [token[k] for token in scores], constants)
        totals = [sum(table[t][e] for t, e in choices) for choices in every]
        log_z = reference.log_sum(totals)
        likelihood.append({choices: total - log_z for choices, total in zip(every, totals, strict=True)})
        for choices, total in zip(every, totals, strict=True):
            edges = np.full((length, lanes, tagger.engine.depth), -1, np.int16)
            edges[:, :, :] = empty(tagger, length)
            edges[:, k] = -1
            for t in range(length):
                picked = [e for token, e in choices if token == t]
                edges[t, k, : len(picked)] = picked
            for row in structure.decode(edges, np.array([0, length]), types, "all").headed():
                if lanes == 1 or row[0][1] == k:
                    probability[row] = probability.get(row, 0.0) + math.exp(total - log_z)
    return probability, likelihood


def empty(tagger, length):
    """(T, K, D) the structure without mentions."""
    from_none = tagger.structure.encode(no_mentions(), np.array([0, length]), tagger.types)
    return from_none.edges


def head_of(document, mention):
    if mention.head is None:
        return NO_HEAD
    [alignment] = align(document, [mention.replace(spans=(mention.head,))])
    return tuple(alignment.ranges[0])


def no_mentions():
    return next(iter(STRUCTURES.values())).decode(np.zeros((0, 1, 3), np.int16), np.array([0]), ["p"], "enough")


def with_penalty_and_scalings(recognizer):
    """Whatever training chose: a penalty that no score may depend on, and maps that all scores do."""
    scalings = Scalings(mentions=Platt(0.6, 0.3), answers=Platt(1.4, -0.5))
    recognizer.model_ = replace(recognizer.model_, penalty=0.8, scalings=scalings)
    return recognizer


def mapped(slope, intercept, probability):
    if probability in (0.0, 1.0):
        return probability
    logit = math.log(probability) - math.log1p(-probability)
    return 1 / (1 + math.exp(-slope * logit - intercept))


@pytest.mark.parametrize("optimizer", ["adagrad", "lbfgs"])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_scores_are_the_marginals_of_listed_structures(structure, optimizer):
    settings = {"headless": "whole", "optimizer": optimizer, "l2": 0.3, "epochs": 6, "iterations": 10}
    recognizer = Recognizer(structure, ["bias", "low[-1..1]", "suffix(2..3)"], **settings).fit(TRAIN, dev=TRAIN)
    tagger = with_penalty_and_scalings(recognizer).model_
    assert (tagger.scorer.index.group_sizes > 1).any()
    checked = 0
    for text in TEXTS[: reference.listable(tagger.engine.template)]:
        document = prepare(Document(text))
        probability, likelihood = enumerate_mentions(tagger, document)
        for reading in ("enough", "all"):
            [predicted] = recognizer.set_params(reading=reading).predict([document])
            for alignment in align(predicted):
                row = (0, tagger.types.index(alignment.mention.type), tuple(map(tuple, alignment.ranges)))
                row = row, head_of(predicted, alignment.mention)
                assert alignment.mention.score == pytest.approx(mapped(0.6, 0.3, probability[row]), abs=3e-5)
                checked += 1
        # all others, too: `marginals` takes any mention
        tokens = document.tokens.tolist()
        others = [
            Mention(
                tagger.types[k],
                [(tokens[a][0], tokens[b - 1][1]) for a, b in ranges],
                head=None if head == NO_HEAD else (tokens[head[0]][0], tokens[head[1] - 1][1]),
            )
            for (_, k, ranges), head in sorted(probability)
        ]
        every = [document.copy(mentions=others)]
        exact = [probability[row] for row in sorted(probability)]
        assert recognizer.marginals(every, calibrated=False)[0] == pytest.approx(exact, abs=2e-5)
        assert recognizer.marginals(every)[0] == pytest.approx([mapped(0.6, 0.3, p) for p in exact], abs=3e-5)
        [alone] = recognizer.log_likelihood([document]).tolist()
        none = empty(tagger, len(tokens))
        for k, value in enumerate(alone):
            choices = tuple(sorted((t, e) for t, row in enumerate(none[:, k].tolist()) for e in row if e >= 0))
            assert value == pytest.approx(likelihood[k][choices], abs=1e-4)
    assert checked > 3


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_an_answer_has_the_share_of_its_structure(structure, counting):
    settings = {"headless": "whole", "overlap": "free", "counting": counting, "rate": 0.5, "epochs": 2}
    recognizer = Recognizer(structure, ["bias", "low[-1..1]"], **settings).fit(TRAIN, dev=TRAIN)
    tagger = with_penalty_and_scalings(recognizer).model_
    template = tagger.engine.template
    listed = reference.subgraphs if counting == "subgraphs" else reference.derivations
    texts = TEXTS[: reference.listable(template)]
    documents = [prepare(Document(text)) for text in texts]
    found = list(recognizer.predict(documents, answers=True))
    for document, answered in zip(documents, found, strict=True):
        batch, length, exact = Batch.of([document]), len(document.tokens), 0.0
        every = list(listed(template, length))
        edges = tagger.best(tagger.scorer.score(batch), batch.sentences)
        scores = role_scores(tagger, document)
        for k in range(edges.shape[1]):
            constants = dict(zip(template.constants, tagger.scorer.weights.constants[:, k].tolist(), strict=True))
            table = reference.edge_scores(template, [token[k] for token in scores], constants)
            picked = tuple(sorted((t, e) for t, row in enumerate(edges[:, k].tolist()) for e in row if e >= 0))
            if counting == "derivations":
                picked = tuple(reference.multiplicity(template, picked, length).elements())
            exact += sum(table[t][e] for t, e in picked)
            exact -= reference.log_sum([sum(table[t][e] for t, e in choices) for choices in every])
        assert tagger.log_answers(tagger.scorer.score(batch), batch.sentences, edges).tolist() == pytest.approx(
            [exact], abs=1e-4
        )
        expected = pytest.approx(mapped(1.4, -0.5, math.exp(exact)), abs=1e-4)
        assert answered.meta["answer"] == {"probability": expected, "sentences": [expected]}
    two = Document(
        "chest pain\n\nno pain", tokens=[[0, 5], [6, 10], [12, 14], [15, 19]], sentences=[[0, 2], [2, 2], [2, 4]]
    )
    [both] = recognizer.predict([two], answers=True)
    one, none, other = both.meta["answer"]["sentences"]
    assert none == 1.0
    assert both.meta["answer"]["probability"] == pytest.approx(one * other)
    assert "answer" not in next(iter(recognizer.predict([two]))).meta


@pytest.mark.parametrize(
    "structure", [name for name, structure in STRUCTURES.items() if not shares_nodes(structure.template("K"))]
)
def test_both_countings_score_alike_where_no_node_is_shared(structure):
    models = {}
    for counting in ENGINES:
        recognizer = Recognizer(structure, ["bias", "low[0]"], counting=counting, epochs=3).fit(TRAIN, dev=TRAIN)
        models[counting] = [document.mentions for document in recognizer.predict(TRAIN)]
    one, other = models.values()
    assert [[m.key for m in mentions] for mentions in one] == [[m.key for m in mentions] for mentions in other]
    for a, b in zip(one, other, strict=True):
        assert [m.score for m in a] == pytest.approx([m.score for m in b], abs=1e-4)
