"""Recognizers with an encoder: every structure, files, windows, and what is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import spanloom
from spanloom import Document, Mention, Recognizer
from spanloom.document import Batch
from spanloom.errors import DataWarning, UsageError
from spanloom.text import prepare

QUICK = {"encoder_epochs": 2, "encoder_rate": 1e-3, "head_rate": 1e-2, "step_subwords": 64, "precision": "float32"}


@pytest.fixture(scope="module")
def model(folder: Path, notes: list[Document]) -> Recognizer:
    return Recognizer(encoder=folder, **{**QUICK, "encoder_epochs": 8}).fit(notes, dev=notes[:10])


@pytest.mark.parametrize("structure", ["bio", "bilou", "semi_markov", "separators", "shared", "split", "seven_tag"])
def test_every_structure(structure: str, folder: Path, notes: list[Document]) -> None:
    flat = [note.copy(mentions=[m for m in note.mentions if m.type == "site"]) for note in notes]
    model = Recognizer(structure, encoder=folder, **QUICK).fit(flat, dev=flat[:10])
    found = model.predict(flat)
    assert all(0 <= mention.score <= 1 for document in found for mention in document.mentions)
    marginals = model.marginals(flat, calibrated=False)
    assert all(0 <= value <= 1 for values in marginals for value in values)


def test_heads(folder: Path, notes: list[Document]) -> None:
    headed = [
        note.copy(mentions=[m.replace(head=(m.end - 4, m.end)) for m in note.mentions if m.type == "problem"])
        for note in notes
    ]
    assert Recognizer("heads", encoder=folder, **QUICK).fit(headed, dev=headed[:10]).predict(headed)


def test_what_is_saved_says_the_same(model: Recognizer, notes: list[Document], tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    again = spanloom.load(tmp_path / "model")
    assert again.predict(notes) == model.predict(notes)
    assert again.predict(notes)[0].mentions
    assert again.report_ == model.report_
    assert again.describe()["encoder"]["family"] == "bert"
    model.save(tmp_path / "twice")
    for file in ("model.json", "weights.safetensors"):
        assert (tmp_path / "model" / file).read_bytes() == (tmp_path / "twice" / file).read_bytes()


def test_a_mention_is_explained(model: Recognizer) -> None:
    [explanation] = model.explain("no chest pain .", [Mention("problem", [(9, 13)])])
    names = {part.name for contribution in explanation.contributions for part in contribution.features}
    assert "encoder" in names
    difference = sum(contribution.score for contribution in explanation.contributions)
    assert difference == pytest.approx(explanation.log_odds, abs=1e-3)


def test_context_is_what_an_encoder_reads_of_neighbours(model: Recognizer) -> None:
    scorer = model.fitted.scorer.with_settings(context=True)
    alone = Batch.of([prepare(Document("No pain."))])
    two = Batch.of([prepare(Document("No pain. Chest clear."))])
    tokens = len(alone.tokens)
    assert not np.allclose(scorer.score(alone).roles, scorer.score(two).roles[:tokens], atol=1e-6)
    without = scorer.with_settings(context=False)
    assert np.allclose(without.score(alone).roles, without.score(two).roles[:tokens], atol=1e-5)


@pytest.mark.parametrize("neighbours", [False, True])
def test_neighbours_are_read_only_where_training_has_some(neighbours: bool, folder: Path) -> None:
    more = " Chest clear." if neighbours else ""
    train = [Document(f"No {word}.{more}", mentions=[Mention("problem", [(3, 7)])]) for word in ("pain", "cold")] * 10
    model = Recognizer(encoder=folder, **QUICK).fit(train, dev=train)
    assert model.describe()["encoder"]["context"] is neighbours
    one, two = (Batch.of([prepare(Document(text))]) for text in ("No pain.", "No pain. Chest clear."))
    found = model.fitted.scorer.score(two).roles[: len(one.tokens)]
    assert np.allclose(found, model.fitted.scorer.score(one).roles, atol=1e-5) is not neighbours


def test_scores_do_not_depend_on_what_else_is_read(model: Recognizer, notes: list[Document]) -> None:
    scorer = model.fitted.scorer
    ready = [prepare(note) for note in notes[:7]]
    whole = scorer.score(Batch.of(ready)).roles
    each = np.concatenate([scorer.score(Batch.of([note])).roles for note in ready])
    assert np.allclose(whole, each, atol=1e-5)


@pytest.mark.parametrize("pooling", ["first", "last", "mean"])
def test_pooling_by_hand(pooling: str, model: Recognizer) -> None:
    scorer = model.fitted.scorer.with_settings(pooling=pooling)
    batch = Batch.of([prepare(Document("Abc chest de"))])
    reading = scorer.read(batch)
    packed = scorer.pack(reading, [0])
    with torch.inference_mode():
        ids, mask = torch.from_numpy(packed.ids), torch.from_numpy(packed.mask)
        hidden = scorer.network.encoder(input_ids=ids, attention_mask=mask).last_hidden_state[0]
        found = scorer.network.vectors(packed)
    assert reading.subwords.ptr.tolist() == [0, 3, 4, 6]
    parts = [hidden[1:4], hidden[4:5], hidden[5:7]]  # after [CLS]
    choose = {"first": lambda part: part[0], "last": lambda part: part[-1], "mean": lambda part: part.mean(0)}[pooling]
    assert torch.allclose(found, torch.stack([choose(part) for part in parts]), atol=1e-6)


def test_long_sentences_and_strange_tokens(model: Recognizer) -> None:
    long = Document(" ".join(["pain"] * 500))
    found = model.predict(long)
    assert len(found.mentions) > 100
    with pytest.warns(DataWarning, match=r"about \d+ % of the tokens have letters that the encoder's vocabulary lacks"):
        strange = model.predict("\u0001 \u4e2d\u6587 pain")
    assert any(mention.text(strange.text) == "pain" for mention in strange.mentions)
    with pytest.warns(DataWarning, match="1 token of more than 31 sub-words"):
        model.predict("b" * 90)
    assert not model.predict("").mentions


def test_text_that_the_vocabulary_lacks_is_told(folder: Path, notes: list[Document]) -> None:
    other = [note.copy(text=note.text.replace("a", "\u4e2d")) for note in notes]
    with pytest.warns(DataWarning, match="vocabulary lacks"):
        Recognizer(encoder=folder, **{**QUICK, "encoder_epochs": 1}).fit(other, dev=other[:5])


def test_what_is_of_features_is_refused(folder: Path, notes: list[Document]) -> None:
    with pytest.raises(UsageError, match="one pass over documents"):
        Recognizer(encoder=folder, passes="two").fit(notes)
    with pytest.raises(UsageError, match="clusters are given beside an encoder"):
        Recognizer(encoder=folder, clusters=10).fit(notes)


def test_training_reports_windows(folder: Path, notes: list[Document]) -> None:
    lines = list(Recognizer(encoder=folder, window=16, **QUICK).fit(notes, dev=notes[:10]).summary())
    assert any("encoder: bert" in line and "sub-words in 30 windows" in line for line in lines)
