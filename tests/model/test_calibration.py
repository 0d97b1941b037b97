"""Scores as shares of right predictions: what calibration is fitted to, what it changes, what is stored."""

from __future__ import annotations

import json
import math
from copy import copy
from dataclasses import asdict, replace

import numpy as np
import pytest

from spanloom import modelfile
from spanloom.document import Document, Mention
from spanloom.evaluate import calibration
from spanloom.learn.platt import IDENTITY, UNSCALED, Platt, Scalings
from spanloom.model.calibration import fit_scalings, judged_sentences
from spanloom.recognize import Recognizer, load
from spanloom.text import prepare
from spanloom_lab import Cascade


def scores(recognizer, documents):
    return [[mention.score for mention in document.mentions] for document in recognizer.predict(documents)]


def with_tagger(recognizer, **changes):
    other = copy(recognizer)
    other.model_ = replace(recognizer.model_, **changes)
    return other


@pytest.fixture(scope="module")
def trained(notes):
    """A recognizer without a second stage, whose maps are those of the first."""
    templates = ["bias", "low[-1..1]", "suffix(2..3)"]
    return Recognizer(features=templates, rate=0.3, l2=0.1, epochs=3, rescore=False).fit(notes.train, dev=notes.dev)


def test_the_penalty_decides_what_is_found_and_moves_no_score(trained, notes):
    found = {}
    for penalty in (-1.0, 0.0, 2.0):
        model = with_tagger(trained, penalty=penalty)
        for document in model.predict(notes.test):
            found.setdefault(penalty, {}).update(
                {(document.id, mention.key): mention.score for mention in document.mentions}
            )
    assert len(found[-1.0]) < len(found[0.0]) < len(found[2.0])
    for few, more in [(-1.0, 0.0), (0.0, 2.0)]:
        both = found[few].keys() & found[more].keys()
        assert len(both) > 40
        assert all(found[few][key] == pytest.approx(found[more][key], abs=1e-6) for key in both)


def test_scores_become_what_development_data_say(trained, notes):
    checked = trained.report_.calibration
    raw = with_tagger(trained, scalings=UNSCALED)
    for model, error in ((raw, checked.mentions.before), (trained, checked.mentions.after)):
        measured = calibration(notes.dev, list(model.predict(notes.dev)))
        assert measured.error == pytest.approx(error, abs=1e-6)
        assert measured.count == checked.mentions.count
    assert checked.mentions.enough and checked.answers.enough
    assert trained.model_.scalings.mentions == Platt(checked.mentions.slope, checked.mentions.intercept)
    assert trained.model_.scalings.answers == Platt(checked.answers.slope, checked.answers.intercept)


def test_a_model_that_is_too_sure_is_mended(notes):
    """Long training with hardly any regularization on six notes: of what it is sure of much is wrong."""
    model = Recognizer(features=["bias", "low[-1..1]", "suffix(2..3)"], l2=1e-3, epochs=30, rate=1.0, rescore=False)
    others = [*notes.train[6:], *notes.dev, *notes.test]
    dev, test = others[::2], others[1::2]
    model.fit(notes.train[:6], dev=dev)
    raw = with_tagger(model, scalings=UNSCALED)
    before, after = (calibration(test, list(one.predict(test))) for one in (raw, model))
    assert before.error > 0.3
    assert after.error < before.error / 2
    assert after.brier < before.brier
    assert model.report_.calibration.mentions.after < 0.1


def test_marginals_keep_the_order_calibrated_or_not(trained, notes):
    exact = np.concatenate(trained.marginals(notes.test, calibrated=False))
    mapped = np.concatenate(trained.marginals(notes.test))
    assert (np.diff(mapped[np.argsort(exact)]) >= 0).all()
    assert mapped == pytest.approx(trained.model_.scalings.mentions(exact))
    assert mapped != pytest.approx(exact, abs=1e-3)


def test_a_threshold_is_one_on_scores(trained, notes):
    every = list(trained.predict(notes.test))
    kept = list(trained.predict(notes.test, threshold=0.8))
    assert [[m for m in document.mentions if m.score >= 0.8] for document in every] == [d.mentions for d in kept]
    assert trained.marginals(every)[0] == pytest.approx([mention.score for mention in every[0].mentions])


def test_explanations_say_both(trained, notes):
    document = notes.test[0]
    [predicted] = trained.predict([document])
    for explanation, mention in zip(trained.explain(document), predicted.mentions, strict=True):
        assert explanation.mention == mention
        assert explanation.probability == mention.score
        assert trained.model_.scalings.mentions(np.array([explanation.marginal]))[0] == pytest.approx(mention.score)
        assert explanation.record()["marginal"] == explanation.marginal


def test_too_few_predictions_leave_exact_marginals(notes):
    model = Recognizer(features=["bias", "low[-1..1]"], epochs=2, rate=0.3, rescore=False)
    model.fit(notes.train, dev=notes.train[:1])
    checked = model.report_.calibration
    assert model.model_.scalings == UNSCALED
    assert not checked.mentions.enough and checked.mentions.before == checked.mentions.after
    assert scores(model, notes.test[:2]) == [
        pytest.approx(chances) for chances in model.marginals(list(model.predict(notes.test[:2])), calibrated=False)
    ]


def test_they_are_saved_and_loaded(trained, notes, tmp_path):
    trained.save(tmp_path / "model")
    structure = modelfile.read(tmp_path / "model", "recognizer").part("structure")
    assert structure.values["scalings"] == asdict(trained.model_.scalings)
    again = load(tmp_path / "model")
    assert again.model_.scalings == trained.model_.scalings
    assert again.report_ == trained.report_
    assert scores(again, notes.test) == scores(trained, notes.test)


def test_a_model_of_before_gives_exact_marginals(trained, notes, tmp_path):
    trained.save(tmp_path / "model")
    file = tmp_path / "model" / "model.json"
    description = json.loads(file.read_text())
    [structure] = (stage for stage in description["stages"] if stage["stage"] == "structure")
    del structure["scalings"], description["report"]["calibration"]
    file.write_text(json.dumps(description))
    old = load(tmp_path / "model")
    assert (old.model_.scalings, old.report_.calibration) == (UNSCALED, None)
    found = list(old.predict(notes.test[:2]))
    assert scores(old, notes.test[:2]) == [pytest.approx(p) for p in trained.marginals(found, calibrated=False)]


def test_threads_change_no_byte(notes, tmp_path):
    for jobs in (1, 3):
        model = Recognizer(features=["bias", "low[-1..1]"], epochs=2, rate=0.3, n_jobs=jobs)
        model.fit(notes.train, dev=notes.dev).save(tmp_path / str(jobs))
    one, other = ((tmp_path / str(jobs) / "model.json").read_bytes() for jobs in (1, 3))
    assert one == other


@pytest.mark.parametrize("order", ["frequency", ["problem", "anatomy", "finding", "test", "treatment"]])
def test_the_answer_of_a_cascade_is_a_product_over_its_chains(notes, order):
    types = sorted({mention.type for document in notes.train for mention in document.mentions})
    order = order if isinstance(order, str) else types
    settings = {"features": ["bias", "low[-1..1]"], "epochs": 2, "rate": 0.3, "passes": "one"}
    cascade = Cascade(order, **settings).fit(notes.train, dev=notes.dev)
    found = list(cascade.predict(notes.test, answers=True))
    assert [d.mentions for d in found] == [d.mentions for d in cascade.predict(notes.test)]
    first = cascade.model_[0]
    assert first.report_.calibration is not None
    for document, alone in zip(found, first.predict(map(prepare, notes.test), answers=True), strict=True):
        answer = document.meta["answer"]
        assert len(answer["sentences"]) == len(document.sentences)
        assert answer["probability"] == pytest.approx(math.prod(answer["sentences"]))
        pairs = zip(answer["sentences"], alone.meta["answer"]["sentences"], strict=True)
        assert all(0 <= together <= one for together, one in pairs)


def document(*mentions, identifier=""):
    tokens = [[0, 2], [3, 8], [9, 13], [15, 20], [21, 26]]
    return Document("No chest pain. Clear lungs", identifier, tokens, [[0, 3], [3, 3], [3, 5]], mentions=list(mentions))


PAIN, LUNGS, PART = (Mention("x", [span], score=0.5) for span in ((3, 13), (21, 26), (3, 8)))


@pytest.mark.parametrize(
    ("gold", "found", "right"),
    [
        ([], [], [True, True]),
        ([PAIN, LUNGS], [LUNGS, PAIN], [True, True]),
        ([PAIN], [], [False, True]),
        ([PAIN], [PAIN, LUNGS], [True, False]),
        ([PAIN, LUNGS], [PART, LUNGS], [False, True]),
        ([PAIN], [PAIN.replace(type="y")], [False, True]),
    ],
)
def test_a_sentence_is_right_if_it_has_the_gold_mentions_and_no_others(gold, found, right):
    asked, is_right = judged_sentences([document(*gold), Document("")], [document(*found), Document("")])
    assert asked.tolist() == [True, False, True]
    assert is_right[asked].tolist() == right


def test_what_is_wrong_for_other_reasons_counts_as_wrong():
    gold, found = [document(PAIN)] * 60, [document(PAIN)] * 60
    log_answers = np.log(np.full(180, 0.5))
    scalings, report = fit_scalings(gold, found, log_answers, wrong=np.arange(180) % 3 == 2)
    assert (report.answers.count, report.mentions.count) == (120, 60)
    assert scalings.mentions.intercept > 0
    assert report.answers.after == pytest.approx(0, abs=0.05)
    assert scalings != Scalings(IDENTITY, IDENTITY)
