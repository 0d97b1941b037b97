"""Folders of formats 1 to 3, written by the last versions that wrote them, are read and say what they said then.

Each holds a small model, and ``says.json``: what it made of a few texts.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from spanloom.document import Document, Mention
from spanloom.errors import ModelError
from spanloom.formats import to_record
from spanloom.models import KINDS, load

FOLDERS = sorted(Path(__file__).parent.glob("format[1-3]/*/"))
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
    if name == "linker":  # which had no scores in format 1
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
    found: dict[int, set[str]] = {1: set(), 2: set(), 3: set()}
    for folder in FOLDERS:
        description = json.loads((folder / "model.json").read_text())
        assert folder.parent.name == f"format{description['format']}"
        found[description["format"]].add(description["kind"])
    assert found[1] == found[2] == {*KINDS, "cascade", "language-model"}
    assert found[3] == {*KINDS, "cascade"} - {"vocabulary"}  # compact models


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_an_older_model_says_what_it_said(folder: Path) -> None:
    wanted = json.loads((folder / "says.json").read_text())
    assert close(json.loads(json.dumps(says(folder.name, load(folder)))), wanted)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_an_older_model_is_saved_as_one_that_says_the_same(folder: Path, tmp_path: Path) -> None:
    load(folder).save(tmp_path / "model")
    wanted = json.loads((folder / "says.json").read_text())
    again = load(tmp_path / "model")
    assert close(json.loads(json.dumps(says(folder.name, again))), wanted)
    again.save(tmp_path / "again")
    for name in ("model.json", "weights.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "model" / name).read_bytes()


def test_stages_are_written_in_the_order_in_which_they_run(tmp_path: Path) -> None:
    [folder] = (one for one in FOLDERS if one.parent.name == "format3" and one.name == "recognizer-stages")
    load(folder).save(tmp_path / "model")
    description = json.loads((tmp_path / "model" / "model.json").read_text())
    assert description["format"] == 4
    assert [stage["stage"] for stage in description["stages"]] == [
        "profile", "split", "first_pass", "structure", "overlaps", "second_stage", "concepts", "attributes",
    ]  # fmt: skip


@pytest.mark.parametrize("parts", [None, [], 7, {"model": None}, {"pos": []}, {"zz": {}}])
@pytest.mark.parametrize("name", ["recognizer-stages", "linker-columns"])
def test_damaged_parts_of_format_2(name: str, parts: Any, tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(Path(__file__).with_name("format2") / name, model)
    description = json.loads((model / "model.json").read_text())
    (model / "model.json").write_text(json.dumps(description | {"parts": parts}))
    with pytest.raises(ModelError, match="damaged") as caught:
        load(model)
    assert "\n" not in str(caught.value)
