"""`spanloom export`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spanloom import Document, Recognizer
from spanloom.formats import write


@pytest.fixture(scope="module")
def trained(folder: Path, notes: list[Document], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model"
    settings: dict[str, Any] = {"encoder_epochs": 4, "encoder_rate": 1e-3, "head_rate": 1e-2, "step_subwords": 64}
    Recognizer(encoder=folder, precision="float32", **settings).fit(notes, dev=notes[:5]).save(path)
    return path


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_export_and_all_verbs(
    precision: str, trained: Path, notes: list[Document], tmp_path: Path, command: Any
) -> None:
    write(notes, tmp_path / "notes.jsonl")
    out = tmp_path / "out"
    done = command("export", trained, "--onnx", "--output", out, "--precision", precision)
    assert done.returncode == 0, done.stderr
    assert not done.stdout
    assert f"products of {precision}" in done.stderr
    assert len(done.stderr.splitlines()) == 2
    assert sorted(file.name for file in out.iterdir()) == ["model.json", "weights.safetensors"]
    said = json.loads(command("inspect", out, "--json").stdout)
    assert said["encoder"]["form"] == "onnx"
    assert said["encoder"]["precision"] == precision
    found = command("predict", out, tmp_path / "notes.jsonl")
    assert found.returncode == 0
    assert len(found.stdout.splitlines()) == len(notes)
    assert command("evaluate", tmp_path / "notes.jsonl", "--model", out).returncode == 0
    assert command("explain", out, "--text", "no chest pain .").returncode == 0


def test_a_model_of_16_bits_is_told(folder: Path, notes: list[Document], tmp_path: Path, command: Any) -> None:
    settings: dict[str, Any] = {"encoder_epochs": 1, "step_subwords": 64, "precision": "bfloat16"}
    Recognizer(encoder=folder, **settings).fit(notes, dev=notes[:5]).save(tmp_path / "model")
    done = command("export", tmp_path / "model", "--onnx", "--output", tmp_path / "out")
    assert done.returncode == 0
    first, *others = done.stderr.splitlines()
    assert "computes this model in 16 bits, for which it was tuned and calibrated, its graph in 32: prob" in first
    assert len(others) == 2


def test_an_output_that_is_there(trained: Path, tmp_path: Path, command: Any) -> None:
    out = tmp_path / "out"
    assert command("export", trained, "--onnx", "--output", out, "--quiet").stderr == ""
    before = (out / "weights.safetensors").read_bytes()
    again = command("export", trained, "--onnx", "--output", out)
    assert again.returncode == 2
    assert "is there already" in again.stderr
    assert command("export", trained, "--onnx", "--output", out, "--precision", "int8", "--force").returncode == 0
    assert (out / "weights.safetensors").read_bytes() != before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_cannot_be_exported_is_one_line(
    trained: Path, notes: list[Document], tmp_path: Path, command: Any
) -> None:
    Recognizer(features=["w[0]"], epochs=1).fit(notes).save(tmp_path / "linear")
    cases = {
        (tmp_path / "linear", "--onnx"): "this recognizer has no encoder",
        (tmp_path / "absent", "--onnx"): "no model here",
        (trained,): "there is one: --onnx",
        (trained, "--onnx", "--precision", "int4"): "expected float32 or int8",
    }
    for line, words in cases.items():
        done = command("export", *line, "--output", tmp_path / "out")
        assert done.returncode in (1, 2)
        assert words in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert not (tmp_path / "out").exists()
