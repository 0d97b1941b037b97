"""Cross-validation of small training data, the interval of the estimate, and the caution."""

import random

import numpy as np
import pytest

from spanloom import Document, Mention, Recognizer, load
from spanloom.document import Batch
from spanloom.evaluate import evaluate
from spanloom.recognize.crossing import crossed_folds, f1_interval, needs_folds
from spanloom.text import prepare

SETTINGS = {"features": ["bias", "w[0]", "w[-1]", "low[0]"], "epochs": 4, "l2": [0.1, 1.0]}
SIGNS = ("chest pain", "cough", "mild fever", "rash", "back pain", "nausea")


def note(number, sentences=6):
    """Sentences of which half name a sign, in words of which some are rare."""
    draw, text, mentions = random.Random(number), "", []
    for _ in range(sentences):
        sign = draw.choice(SIGNS) if draw.random() < 0.8 else f"x{draw.randrange(40)}"
        lead = draw.choice(("He has", "No", "She reports", f"Word{draw.randrange(30)} with"))
        if draw.random() < 0.7:
            mentions.append(Mention("sign", [(len(text) + len(lead) + 1, len(text) + len(lead) + 1 + len(sign))]))
        text += f"{lead} {sign}. "
    return Document(text, id=f"n{number}", mentions=mentions)


@pytest.fixture(scope="module")
def small():
    return Recognizer(**SETTINGS).fit([note(n) for n in range(8)])


def test_all_few_documents_are_trained_on_and_judged_by_models_of_the_others(small):
    report = small.report_
    assert (report.documents, report.folds) == (8, 8)
    lines = list(small.summary())
    assert "tuned by cross-validation, 8 folds" in lines[0]
    assert lines[-2].startswith(f"caution: trained on {report.mentions} mentions: expect F1 to vary; the estimate ")
    assert lines[-1].endswith(", by cross-validation")
    low, high = report.interval
    assert 0 <= low < report.dev_f1 < high <= 1


def test_the_estimate_is_not_that_of_the_training_data():
    """Signs and words that only one note has are not known to the model of the others."""
    known = [note(n) for n in range(300, 308)]
    small = Recognizer(**SETTINGS).fit(known)
    on_training = evaluate(known, small.predict(known), bootstrap=0).overall.f1
    others = [note(n) for n in range(100, 180)]
    truth = evaluate(others, small.predict(others), bootstrap=0).overall.f1
    low, high = small.report_.interval
    assert low <= truth <= high
    assert on_training > small.report_.dev_f1


def test_the_model_file_keeps_interval_and_folds(small, tmp_path):
    small.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.report_ == small.report_
    assert isinstance(again.report_.interval, tuple)


@pytest.mark.parametrize("params", [{"structure": "bio"}, {"optimizer": "lbfgs", "iterations": 5}, {"runs": 2}])
def test_every_way_of_training_can_be_cross_validated(params):
    documents = [note(n) for n in range(6)]
    models = [Recognizer(**SETTINGS | params, n_jobs=jobs).fit(documents) for jobs in (1, 2)]
    assert models[0].report_ == models[1].report_
    assert models[0].report_.folds == 6
    assert models[0].report_.dev_f1 > 0.3
    assert models[0].predict(documents[0]) == models[1].predict(documents[0])


def test_a_second_stage_of_small_data_is_judged_out_of_fold():
    documents = [note(n, 14) for n in range(15)]
    report = Recognizer(**SETTINGS).fit(documents).report_
    assert report.folds == 10
    assert report.rescoring is not None
    assert report.rescoring.after <= report.interval[1]


def test_development_data_that_are_given_are_used_and_have_an_interval():
    report = Recognizer(**SETTINGS).fit([note(n) for n in range(8)], dev=[note(n) for n in range(20, 30)]).report_
    assert report.folds == 0
    assert report.interval[0] < report.dev_f1 < report.interval[1]


def test_one_document_is_told_to_be_one():
    model = Recognizer(**SETTINGS).fit([note(1, 10)])
    lines = list(model.summary())
    assert any("it is unreliable for other documents, as there is one" in line for line in lines)
    assert "calibration error: mentions not known: " in "\n".join(lines)


def test_many_mentions_have_neither_folds_nor_caution():
    documents = [note(n, 40) for n in range(60)]
    model = Recognizer(**SETTINGS | {"l2": 1.0, "epochs": 1, "rescore": False}).fit(documents)
    assert model.report_.folds == 0
    assert not any("caution" in line for line in model.summary())


def test_folds_are_documents_and_of_one_document_sentences():
    documents = [prepare(note(n)) for n in range(7)]
    batch = Batch.of(documents)
    fold = crossed_folds(batch, seed=0)
    for first, end in zip(batch.firsts[:-1], batch.firsts[1:], strict=True):
        assert len(set(fold[first:end].tolist())) == 1
    assert len(set(crossed_folds(Batch.of(documents[:1]), seed=0).tolist())) == 6


@pytest.mark.parametrize(
    ("documents", "mentions", "sentences", "wanted"),
    [(5, 40, 30, True), (500, 999, 900, True), (500, 1000, 900, False), (19, 2500, 900, True), (19, 3001, 900, False),
     (1, 3, 2, False)],
)  # fmt: skip
def test_few_documents_or_mentions_want_folds(documents, mentions, sentences, wanted):
    assert needs_folds(documents, mentions, sentences) == wanted


def test_the_interval_holds_the_truth_of_most_draws():
    """Documents of two kinds, one easy and one hard; the truth is known."""
    pairs = [Document(f"a b {n}", mentions=[Mention("x", [(0, 1)]), Mention("x", [(2, 3)])]) for n in range(2)]
    easy, hard = pairs[0], pairs[1].copy(mentions=pairs[1].mentions[:1])
    random_draws = np.random.default_rng(0)
    inside = 0
    for _ in range(100):
        kinds = random_draws.random(6) < 0.5
        gold = [pairs[int(kind)] for kind in kinds]
        found = [hard if kind else easy for kind in kinds]
        low, high = f1_interval(gold, found, seed=1)
        correct = sum(len(one.mentions) for one in (easy, hard))
        inside += low <= 2 * correct / (correct + 4) <= high
    assert inside >= 90


def test_nothing_found_in_one_document_says_nothing():
    assert f1_interval([Document("a", mentions=[Mention("x", [(0, 1)])])], [Document("a")], seed=0) == (0.0, 1.0)
