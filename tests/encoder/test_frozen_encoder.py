"""Outputs of an encoder that is not trained, as dense columns of features."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import spanloom
from spanloom import Document, Recognizer
from spanloom.document import Batch
from spanloom.errors import ModelError, UsageError
from spanloom.scoring.encoder import FrozenEncoder
from spanloom.text import prepare
from spanloom_lab import Cascade


@pytest.fixture(scope="module")
def batch(notes: list[Document]) -> Batch:
    return Batch.of([prepare(note) for note in notes])


@pytest.fixture(scope="module")
def frozen(folder: Path, batch: Batch) -> FrozenEncoder:
    return FrozenEncoder.open(folder, batch)


@pytest.fixture(scope="module")
def model(folder: Path, notes: list[Document]) -> Recognizer:
    return Recognizer(features=["vector[0]"], vectors=folder, rescore=False, epochs=20).fit(notes, dev=notes[:10])


def test_outputs_have_the_mean_and_the_length_of_word_vectors(frozen: FrozenEncoder, batch: Batch) -> None:
    found = frozen.outputs(batch)
    assert found.shape == (len(batch.tokens), frozen.size)
    assert np.allclose(found.mean(0), 0, atol=1e-5)
    assert np.square(found).sum(1).mean() == pytest.approx(1, abs=1e-4)


def test_columns_stand_at_their_positions(frozen: FrozenEncoder, batch: Batch) -> None:
    dense = frozen.columns(batch, (-1, 0))
    outputs = frozen.outputs(batch)
    assert dense.width == 2 * (frozen.size + 1)
    for token in range(6):
        before, here = dense.at(token)
        assert np.array_equal(here[:-1], outputs[token])
        begins = token in batch.sentences
        assert np.array_equal(before[:-1], np.zeros(frozen.size) if begins else outputs[token - 1])
        assert here[-1] == before[-1] == 0


def test_an_output_knows_its_neighbours(frozen: FrozenEncoder) -> None:
    one, two = (Batch.of([prepare(Document(text))]) for text in ("no pain", "chest pain"))
    assert not np.allclose(frozen.outputs(one)[1], frozen.outputs(two)[1], atol=1e-3)


def test_it_learns_and_is_saved(model: Recognizer, notes: list[Document], tmp_path: Path) -> None:
    assert model.score(notes) > 0.7
    model.save(tmp_path / "model")
    again = spanloom.load(tmp_path / "model")
    assert again.predict(notes) == model.predict(notes)
    assert again.describe()["vectors"] == "outputs of a bert encoder, 16 numbers each"
    assert again.report_ == model.report_
    assert model.report_.vectors is None


def test_any_number_of_threads_gives_the_same_bytes(folder: Path, notes: list[Document], tmp_path: Path) -> None:
    for jobs in (1, 2):
        Recognizer(vectors=folder, n_jobs=jobs, epochs=3).fit(notes, dev=notes[:10]).save(tmp_path / str(jobs))
    for file in ("model.json", "weights.safetensors"):
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes()


def test_lbfgs_and_presets(folder: Path, notes: list[Document]) -> None:
    model = Recognizer(vectors=folder, optimizer="lbfgs", iterations=20, rescore=False).fit(notes, dev=notes[:10])
    assert "vector[0]" in model.describe()["templates"]
    assert model.score(notes) > 0.7


def test_a_cascade(folder: Path, notes: list[Document]) -> None:
    assert Cascade(vectors=folder, epochs=3).fit(notes, dev=notes[:10]).predict(notes)


def test_it_explains(model: Recognizer, notes: list[Document]) -> None:
    [explanation] = model.explain("no chest pain .", model.predict(notes[0]).mentions[:1])
    names = {part.name for contribution in explanation.contributions for part in contribution.features}
    assert "vector[0]" in names


def test_a_folder_that_is_no_encoder(tmp_path: Path, notes: list[Document]) -> None:
    with pytest.raises(UsageError, match=r"config\.json"):
        Recognizer(vectors=tmp_path).fit(notes)


def test_a_layer_of_another_size(frozen: FrozenEncoder) -> None:
    part = frozen.to_part()
    short = {**part.arrays, "head.bias": part.arrays["head.bias"][:-1]}
    with pytest.raises(ModelError, match=r"head\.weight"):
        FrozenEncoder.from_part(replace(part, arrays=short))
