"""`spanloom compact`, and the other verbs with a compact model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


def size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.iterdir())


def test_with_development_data(model: Path, corpus: Path, tmp_path: Path, command: Any) -> None:
    out, dev = tmp_path / "small", corpus / "dev.jsonl"
    done = command("compact", model, "--output", out, "--dev", dev, "--loss", "0.5")
    assert done.returncode == 0, done.stderr
    assert not done.stdout
    *_, told, saved = done.stderr.splitlines()
    assert told.startswith("compact: weights below ")
    assert "F1 on the data given " in told
    assert saved == f"saved as {out}, {size(out) / 1e6:,.2f} MB"
    assert size(out) < size(model)
    assert command("predict", out, dev).returncode == 0
    report = json.loads(command("evaluate", dev, "--model", out, "--json").stdout)
    before = json.loads(command("evaluate", dev, "--model", model, "--json").stdout)
    assert report["overall"]["f1"] == pytest.approx(before["overall"]["f1"], abs=0.05)
    shown = json.loads(command("inspect", out, "--json").stdout)
    assert shown["training"]["compact"]["f1_after"] == pytest.approx(report["overall"]["f1"])
    assert shown["strongest"] == {}
    assert "compact " in command("inspect", out).stdout
    assert command("explain", out, "--text", "Chest pain.").returncode == 0


def test_without_development_data(model: Path, tmp_path: Path, command: Any) -> None:
    out = tmp_path / "small"
    done = command("compact", model, "--output", out)
    assert "weights below 0.02 left out" in done.stderr
    assert "F1" not in done.stderr
    assert command("compact", model, "--output", out).returncode == 2
    assert command("compact", model, "--output", out, "--force", "--quiet", "--threshold", "0.1").stderr == ""


@pytest.mark.parametrize(
    ("more", "code", "told"),
    [
        (["--loss", "0.3"], 2, "there is no dev"),
        (["--threshold", "-1"], 2, "--threshold"),
        (["--loss", "101"], 2, "--loss"),
        (["--dev", "missing.jsonl"], 1, "missing.jsonl"),
    ],
)
def test_wrong_usage(more: list[str], code: int, told: str, model: Path, tmp_path: Path, command: Any) -> None:
    done = command("compact", model, "--output", tmp_path / "small", *more)
    assert done.returncode == code
    assert told in done.stderr
    assert not (tmp_path / "small").exists()


def test_twice(model: Path, tmp_path: Path, command: Any) -> None:
    command("compact", model, "--output", tmp_path / "small")
    done = command("compact", tmp_path / "small", "--output", tmp_path / "smaller")
    assert done.returncode == 2
    assert "compact already" in done.stderr
