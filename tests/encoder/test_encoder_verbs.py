"""Encoders on the command line, and what is said where PyTorch is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from spanloom import Document, Recognizer
from spanloom.formats import write


def test_train_predict_inspect(folder: Path, notes: list[Document], tmp_path: Path, command: Any) -> None:
    write(notes, tmp_path / "notes.jsonl")
    trained = command(
        "train", "recognizer", "--encoder", folder, "--train", tmp_path / "notes.jsonl", "--dev",
        tmp_path / "notes.jsonl", "--output", tmp_path / "model", "--encoder-epochs", "3", "--encoder-rate", "0.001",
        "--head-rate", "0.01", "--step-subwords", "64", "--no-context", "--pooling", "mean",
    )  # fmt: skip
    assert trained.returncode == 0
    assert "encoder: bert" in trained.stderr
    again = command("predict", tmp_path / "model", tmp_path / "notes.jsonl")
    assert again.returncode == 0
    assert len(again.stdout.splitlines()) == len(notes)
    said = command("inspect", tmp_path / "model", "--json")
    described = json.loads(said.stdout)
    assert described["encoder"]["context"] is False
    assert described["encoder"]["pooling"] == "mean"
    assert command("evaluate", tmp_path / "notes.jsonl", "--model", tmp_path / "model").returncode == 0
    absent = command(
        "train", "recognizer", "--encoder", tmp_path / "absent", "--train", tmp_path / "notes.jsonl", "--output",
        tmp_path / "other",
    )  # fmt: skip
    assert absent.returncode in (1, 2)
    assert "is no folder" in absent.stderr
    assert not (tmp_path / "other").exists()


def test_without_pytorch_it_says_what_to_install(folder: Path, notes: list[Document], tmp_path: Path) -> None:
    Recognizer(encoder=folder, encoder_epochs=1).fit(notes, dev=notes[:5]).save(tmp_path / "model")
    code = (
        "import sys\nsys.modules['torch'] = None\nimport spanloom\n"
        f"try:\n    spanloom.load({str(tmp_path / 'model')!r})\n"
        "except spanloom.SpanloomError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert 'needs torch; install it with: pip install "spanloom[torch]"' in done.stdout
    assert len(done.stdout.splitlines()) == 1
