"""Folders of format 1, written by the last version that wrote it, are read and say what they said then.

Each holds a small model, and ``says.json``: what it made of a few texts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spanloom.document import Document, Mention
from spanloom.formats import to_record
from spanloom.models import KINDS, load

FOLDERS = sorted(path for path in Path(__file__).with_name("format1").iterdir() if path.is_dir())
TEXTS = (
    "No chest pain today. Severe pain in the left chest and arm.",
    "Renal failure and severe dyspnea today.",
    "Left arm.",
)
CHINESE = ("患者无关节疼痛", "无疼痛")
GIVEN = ([(3, 13)], [(0, 13)], None)  # mentions of the texts, for the linker that finds none by itself


def says(name: str, model: Any) -> Any:
    """What a model makes of the texts."""
    if name == "language-model":
        documents = [Document(text) for text in TEXTS]
        return [
            {"log_probabilities": model.log_probabilities([each]).tolist(), "ranges": model.ranges([each]).tolist()}
            for each in documents
        ]
    if name == "vocabulary":
        return [[*map(str, model.counts().values())], *map(repr, model)]
    documents = [Document(text, id=str(i)) for i, text in enumerate(CHINESE if name.startswith("segmenter") else TEXTS)]
    if name == "linker-columns":
        documents = [
            each.copy(mentions=[Mention("problem", spans)] if spans else [])
            for each, spans in zip(documents, GIVEN, strict=True)
        ]
    found = list(model.predict(documents))
    if name == "linker":  # which had no scores then
        found = [one.copy(mentions=[mention.replace(score=None) for mention in one.mentions]) for one in found]
    return [to_record(document) for document in found]


def close(found: Any, wanted: Any) -> bool:
    """Whether both are the same, but for the last digits of numbers."""
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(close(found[key], value) for key, value in wanted.items())
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(close, found, wanted))
    return bool(found == (pytest.approx(wanted, rel=1e-5, abs=1e-9) if isinstance(wanted, float) else wanted))


def test_there_is_a_folder_of_each_kind() -> None:
    kinds = {json.loads((folder / "model.json").read_text())["kind"] for folder in FOLDERS}
    assert kinds == {*KINDS, "cascade", "language-model"}
    assert {json.loads((folder / "model.json").read_text())["format"] for folder in FOLDERS} == {1}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_model_of_format_1_says_what_it_said(folder: Path) -> None:
    wanted = json.loads((folder / "says.json").read_text())
    assert close(json.loads(json.dumps(says(folder.name, load(folder)))), wanted)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_model_of_format_1_is_saved_as_one_that_says_the_same(folder: Path, tmp_path: Path) -> None:
    load(folder).save(tmp_path / "model")
    wanted = json.loads((folder / "says.json").read_text())
    again = load(tmp_path / "model")
    assert close(json.loads(json.dumps(says(folder.name, again))), wanted)
    again.save(tmp_path / "again")
    for name in ("model.json", "weights.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "model" / name).read_bytes()
