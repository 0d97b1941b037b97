"""A second stage behind an encoder: trained on development data, judged by cross-validation."""

from __future__ import annotations

from pathlib import Path

import pytest
from encoder_helpers import write_encoder

from spanloom import Recognizer, load, read
from spanloom.data import clinical
from spanloom.evaluate import evaluate

QUICK = {
    "encoder_epochs": 3, "encoder_rate": 2e-3, "head_rate": 1e-2, "step_subwords": 128, "precision": "float32",
    "attributes": "off",
}  # fmt: skip
TRAIN, DEV, TEST = (list(read(clinical() / part)) for part in ("train", "dev", "test"))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Recognizer:
    folder = write_encoder(tmp_path_factory.mktemp("encoder") / "wide", width=32)
    vocabulary = str(clinical() / "vocabulary.tsv")
    return Recognizer("shared", encoder=folder, link=vocabulary, **QUICK).fit(TRAIN, dev=DEV)


def test_it_is_better_on_development_data(model: Recognizer) -> None:
    report = model.report_
    assert model.second_ is not None and report.rescoring is not None
    assert report.rescoring.after > report.rescoring.before
    assert report.dev_f1 == report.rescoring.after
    alone = Recognizer.from_part(model.to_part())
    alone.second_ = None
    assert evaluate(TEST, model.predict(TEST)).overall.f1 > evaluate(TEST, alone.predict(TEST)).overall.f1


def test_names_are_those_of_training_data(model: Recognizer) -> None:
    second = model.second_
    assert second is not None and second.listed is not None
    texts = {
        document.mentions[n].text(document.text).lower() for document in TRAIN for n in range(len(document.mentions))
    }
    assert len(texts) < len(second.seen.keys) < 3 * len(texts)  # texts, and texts with a type


def test_it_is_saved(model: Recognizer, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.predict(TEST) == model.predict(TEST)
    assert any(mention.concepts for document in again.predict(TEST) for mention in document.mentions)


def test_a_document_is_the_same_in_any_company(model: Recognizer) -> None:
    together = model.predict(TEST)
    assert [model.predict(document) for document in TEST] == together


def test_explanations_and_alternatives(model: Recognizer) -> None:
    [predicted] = model.predict(TEST[:1])
    explanations = model.explain(TEST[0])
    assert [one.mention for one in explanations] == list(predicted.mentions)
    assert all(one.whole and one.predicted for one in explanations)
    [others] = model.alternatives(TEST[:1])
    assert not {one.key for one in others.mentions} & {one.key for one in predicted.mentions}


def test_it_can_be_left_out(model: Recognizer) -> None:
    alone = Recognizer("shared", encoder=model.encoder, rescore=False, **QUICK).fit(TRAIN[:5], dev=DEV[:2])
    assert alone.second_ is None and alone.report_.rescoring is None


def test_few_development_mentions_train_none(model: Recognizer) -> None:
    few = Recognizer("shared", encoder=model.encoder, **{**QUICK, "encoder_epochs": 1}).fit(TRAIN[:5], dev=DEV[:1])
    assert few.second_ is None
