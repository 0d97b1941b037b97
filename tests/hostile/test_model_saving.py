"""Saving over what is there: the old model stays whole until the new one is, and nothing else is ever replaced."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from spanloom.errors import DataError, UsageError
from spanloom.modelfile import ModelPart, read, write


@pytest.fixture
def model(tmp_path):
    write(tmp_path / "model", "recognizer", ModelPart({"a": 0}, {"weights": np.zeros(2, np.float32)}))
    return tmp_path / "model"


def written(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def save_again(path, **options):
    write(path, "recognizer", ModelPart({"a": 1}, {"weights": np.ones(3, np.float32)}), **options)


def test_a_model_is_replaced_only_when_told(model):
    before = written(model)
    with pytest.raises(UsageError, match="force"):
        save_again(model)
    assert written(model) == before
    save_again(model, force=True)
    found = read(model, "recognizer")
    assert (found.values, found.arrays["weights"].tolist()) == ({"a": 1}, [1, 1, 1])
    assert sorted(path.name for path in model.parent.iterdir()) == ["model"]


@pytest.mark.parametrize("other", ["thesis.tex", "deep/notes.txt", ".hidden", "deep/model.json"])
def test_a_folder_that_holds_anything_else_is_never_replaced(model, other):
    """Also a folder of models: named by mistake, with force, it would take them all along."""
    (model / other).parent.mkdir(exist_ok=True)
    (model / other).write_text("precious")
    before = written(model)
    with pytest.raises(UsageError, match=Path(other).name) as caught:
        save_again(model, force=True)
    assert str(model) in str(caught.value)
    assert written(model) == before


def test_a_folder_of_models_is_never_replaced(tmp_path):
    models = tmp_path / "models"
    models.mkdir()
    for name in ("one", "two"):
        save_again(models / name)
    before = written(models)
    with pytest.raises(UsageError, match="models"):
        save_again(models, force=True)
    assert written(models) == before


def test_a_link_to_a_model_stays_a_link(model, tmp_path):
    (tmp_path / "link").symlink_to(model)
    save_again(tmp_path / "link", force=True)
    assert (tmp_path / "link").is_symlink()
    assert read(model, "recognizer").values == {"a": 1}


@pytest.mark.parametrize("stop", [1, 2])
@pytest.mark.parametrize(
    ("error", "expected"),
    [(OSError(28, "No space left on device"), DataError), (KeyboardInterrupt(), KeyboardInterrupt)],
    ids=["full disk", "interrupt"],
)
def test_a_save_that_fails_leaves_the_old_model_whole(model, monkeypatch, stop, error, expected):
    """While either of the two files is written; nothing is left beside the model."""
    before = written(model)
    real, calls = os.fsync, []

    def refuse(handle):
        calls.append(handle)
        if len(calls) == stop:
            raise error
        real(handle)

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(expected):
        save_again(model, force=True)
    assert len(calls) == stop
    assert written(model) == before
    assert [path.name for path in model.parent.iterdir()] == ["model"]


def test_numbers_that_are_not_finite_are_never_saved(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write(tmp_path / "model", "recognizer", ModelPart({"a": float("nan")}))
    assert list(tmp_path.iterdir()) == []
