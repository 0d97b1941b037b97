"""Concepts of documents with probabilities: from mentions, and `predict --document-concepts`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spanloom import Document, Mention, Recognizer, load, read
from spanloom.concepts.report import document_concepts, fit_document_scaling, with_document_concepts
from spanloom.data import clinical
from spanloom.learn.platt import IDENTITY


def mention(concepts: list[str], score: float | None = None, concept_scores: list[float] | None = None) -> Mention:
    return Mention("problem", [(0, 4)], concepts=concepts, score=score, concept_scores=concept_scores or ())


def test_the_probability_is_the_largest_of_the_mentions() -> None:
    mentions = [
        mention(["D1"], 0.5, [0.5]), mention(["D2", "D1"], 0.75, [1.0, 0.5]), mention([]), mention(["D3"]),
        mention(["D4"], 0.5), mention(["D5"], None, [0.25]), mention(["D3"]), mention(["D0"], 0.5, [1.0]),
    ]  # fmt: skip
    document = Document("pain", mentions=mentions, meta={"own": 1})
    expected = {"D2": 0.75, "D0": 0.5, "D4": 0.5, "D1": 0.375, "D5": 0.25, "D3": None}
    assert list(document_concepts(document).items()) == list(expected.items())
    [found] = with_document_concepts([document])
    assert found.mentions == document.mentions and found.meta["own"] == 1
    counts = {"D2": 1, "D0": 1, "D4": 1, "D1": 2, "D5": 1, "D3": 2}
    assert found.meta["concepts"] == [
        {"concept": name, "probability": value, "mentions": counts[name]} for name, value in expected.items()
    ]


def test_an_unscored_mention_does_not_hide_the_probability_of_another() -> None:
    for mentions in ([mention(["D1"]), mention(["D1"], 0.5)], [mention(["D1"], 0.5), mention(["D1"])]):
        assert document_concepts(Document("pain", mentions=mentions)) == {"D1": 0.5}
    assert document_concepts(Document("pain")) == {}


def test_probabilities_are_learned_from_development_data() -> None:
    gold = [Document("pain", mentions=[mention(["D1"])])] * 40 + [Document("pain")] * 20
    found = [Document("pain", mentions=[mention(["D1"], 0.5, [0.5])])] * 60
    scaling = fit_document_scaling(found, gold, ByIdentifier())
    assert 0.5 < document_concepts(found[0], scaling)["D1"] < 2 / 3  # type: ignore[operator]
    assert with_document_concepts(found[:1], scaling).__next__().meta["concepts"][0]["probability"] > 0.5
    assert fit_document_scaling(found[:49], gold[:49], ByIdentifier()) == IDENTITY
    assert fit_document_scaling([Document("pain")], [Document("pain")], ByIdentifier()) == IDENTITY


class ByIdentifier:
    """A vocabulary of D1 to D9."""

    def find(self, id: str, /) -> int:
        """Return the number of a concept."""
        return int(id[1:])


def test_predict_writes_them(tmp_path: Path, command: Any) -> None:
    train, dev = (list(read(clinical() / part)) for part in ("train", "dev"))
    model = Recognizer("shared", "small", epochs=3, l2=1.0, link=clinical() / "vocabulary.tsv").fit(train, dev=dev)
    assert model.document_scaling != IDENTITY
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").document_scaling == model.document_scaling
    (tmp_path / "in.txt").write_text("Left atrial enlargement. No chest pain. Chest pain again.", encoding="utf-8")
    line = ["predict", tmp_path / "model", tmp_path / "in.txt"]
    done = command(*line, "--document-concepts", "--output", tmp_path / "out.jsonl")
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "out.jsonl").read_text())
    listed = record["meta"]["concepts"]
    assert len(listed) > 1 and max(one["mentions"] for one in listed) > 1
    for one in listed:
        own = [
            found["score"] * found["concept_scores"][found["concepts"].index(one["concept"])]
            for found in record["mentions"] if one["concept"] in found.get("concepts", ())
        ]  # fmt: skip
        assert one["mentions"] == len(own)
        assert one["probability"] == pytest.approx(float(model.document_scaling(np.array([max(own)]))[0]))
    assert command(*line, "--output", tmp_path / "plain.jsonl").returncode == 0
    assert "concepts" not in json.loads((tmp_path / "plain.jsonl").read_text()).get("meta", {})


def test_a_model_that_links_nothing_is_refused(tmp_path: Path, command: Any) -> None:
    notes = [Document("no chest pain", mentions=[Mention("problem", [(3, 13)])])] * 50
    Recognizer(features=["bias", "w[0]", "w[-1]"]).fit(notes).save(tmp_path / "model")
    (tmp_path / "in.txt").write_text("no chest pain", encoding="utf-8")
    done = command("predict", tmp_path / "model", tmp_path / "in.txt", "--document-concepts")
    assert done.returncode == 2
    assert "--document-concepts needs a model that links, found a recognizer; leave it out" in done.stderr
