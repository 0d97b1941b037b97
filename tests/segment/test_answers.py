"""The probability of a segmenter's answer, against the listing of all tags of short texts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from spanloom.document import Document, Mention
from spanloom.evaluate import calibration
from spanloom.hypergraph import reference
from spanloom.learn.platt import UNSCALED, Platt, Scalings
from spanloom.parallel import SERIAL
from spanloom.segment import METHODS, Segmenter
from spanloom.segment.chains import Tagging, write_labels
from spanloom.segment.characters import split
from spanloom.text import prepare

TRAIN = [
    Document("无胸痛", tokens=[[0, 1], [1, 3]], mentions=[Mention("x", [(1, 3)])]),
    Document("痛", tokens=[[0, 1]], mentions=[Mention("x", [(0, 1)])]),
    Document("胸痛重", tokens=[[0, 2], [2, 3]], mentions=[Mention("x", [(0, 3)])]),
    Document("无胸", tokens=[[0, 1], [1, 2]]),
] * 6
TEXTS = ["痛", "无痛", "无胸痛", "胸痛重无", "胸 痛"]


@pytest.fixture(scope="module", params=METHODS)
def segmenter(request):
    trained = Segmenter(request.param, ["bias", "w[-1..1]"], epochs=3, weight=1.3).fit(TRAIN, dev=TRAIN[:8])
    parts = [
        replace(part, models={name: model.with_penalty(0.7) for name, model in part.models.items()})
        for part in trained.model_.parts
    ]  # fmt: skip
    scalings = Scalings(Platt(0.7, 0.1), Platt(1.2, -0.4))
    trained.model_ = replace(trained.model_, parts=tuple(parts), joint_penalty=0.4, scalings=scalings)
    return trained


def listed(side, labels):
    """Log-probability of tags among all that a chain has for one sentence."""
    model, potentials = side
    template = model.engine.template
    rows = [dict(zip(template.roles, row, strict=True)) for row in potentials.roles[:, :, 0].tolist()]
    constants = dict(zip(template.constants, potentials.constants[:, 0].tolist(), strict=True))
    table = reference.edge_scores(template, rows, constants)
    totals = {choices: sum(table[t][e] for t, e in choices) for choices in reference.subgraphs(template, len(table))}
    edges = write_labels(Tagging(model.structure, model.types), labels, np.array([0, len(table)]))
    own = tuple(sorted((t, e) for t, row in enumerate(edges[:, 0].tolist()) for e in row if e >= 0))
    return totals[own] - reference.log_sum([total for total in totals.values() if total > -math.inf])


@pytest.mark.parametrize("text", TEXTS)
def test_it_is_the_share_of_the_tags(segmenter, text):
    decoded = segmenter._decode(segmenter.model_, split([prepare(Document(text))]), SERIAL)
    sides = {id(side): side for side in (decoded.side(words=True), decoded.side(words=False))}
    assert len(sides) == (2 if segmenter.method in ("independent", "incremental") else 1)
    exact = sum(listed(side, decoded.labels) for side in sides.values())
    assert decoded.log_answers().tolist() == pytest.approx([exact], abs=1e-4)
    [found] = segmenter.predict([Document(text)], answers=True)
    logit = exact - math.log1p(-math.exp(exact))
    expected = pytest.approx(1 / (1 + math.exp(-1.2 * logit + 0.4)), abs=1e-4)
    assert found.meta["answer"] == {"probability": expected, "sentences": [expected]}


def test_penalties_decide_and_move_no_probability(segmenter):
    documents = [Document("无胸痛"), Document("胸痛重")]
    found = list(segmenter.predict(documents))
    before = segmenter.marginals(found)
    bare = Segmenter(**segmenter.get_params())
    chains = [
        replace(part, models={name: model.with_penalty(0.0) for name, model in part.models.items()})
        for part in segmenter.model_.parts
    ]  # fmt: skip
    bare.model_ = replace(segmenter.model_, parts=tuple(chains), joint_penalty=0.0)
    if segmenter.method != "incremental":  # there the tags of one chain are what the other one sees
        for one, other in zip(before, bare.marginals(found), strict=True):
            assert one.mentions == pytest.approx(other.mentions, abs=1e-6)
            assert one.words == pytest.approx(other.words, abs=1e-6)
    for document in found:
        for explanation in segmenter.explain(document.copy(mentions=[])):
            assert explanation.mention in document.mentions
            assert 0 < explanation.marginal < 1


def test_answers_are_of_each_sentence(segmenter):
    text = "无胸痛。痛。"
    [found] = segmenter.predict([Document(text)], answers=True)
    answer = found.meta["answer"]
    assert len(answer["sentences"]) == len(found.sentences) == 2
    assert answer["probability"] == pytest.approx(math.prod(answer["sentences"]))
    [plain] = segmenter.predict([Document(text)])
    assert (plain.mentions, "answer" in plain.meta) == (found.mentions, False)


def test_scores_become_what_development_data_say(stacked, chinese):
    checked = stacked.report_.calibration
    raw = Segmenter(**stacked.get_params())
    raw.types_, raw.model_ = stacked.types_, replace(stacked.model_, scalings=UNSCALED)
    for model, error in ((raw, checked.mentions.before), (stacked, checked.mentions.after)):
        measured = calibration(chinese[1], list(model.predict(chinese[1])))
        assert (measured.error, measured.count) == (pytest.approx(error, abs=1e-6), checked.mentions.count)
    assert stacked.model_.scalings.answers == Platt(checked.answers.slope, checked.answers.intercept)
