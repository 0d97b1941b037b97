"""The invented notes that the model `clinical` learns from: their format, and that all of them are read."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from spanloom.errors import DataError

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def clinical() -> Iterator[Any]:
    sys.path.insert(0, str(ROOT / "models"))  # where the other recipes are that it imports
    spec = spec_from_file_location("clinical_notes", ROOT / "models" / "clinical.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(ROOT / "models"))


NOTE = """Echo:
The left and right atria were enlarged; no pericardial
> problem left ... atria ... enlarged
> anatomy right atria
> anatomy pericardial
effusion. Warm arm, then arm pain.
>2 problem pericardial ... effusion [negated]
> problem arm pain
> anatomy arm
> anatomy arm #2
> problem pain [experiencer family, historical]
"""


def test_a_note_is_read(clinical: Any, tmp_path: Path) -> None:
    path = tmp_path / "echo-01.txt"
    path.write_text(NOTE, encoding="utf-8")
    read = clinical.note(path)
    assert read.id == "echo-01"
    assert read.text == (
        "Echo:\nThe left and right atria were enlarged; no pericardial\neffusion. Warm arm, then arm pain.\n"
    )
    assert [(one.type, one.text(read.text), one.start, len(one.spans), one.attributes) for one in read.mentions] == [
        ("problem", "left atria enlarged", 10, 3, {}),
        ("anatomy", "right atria", 19, 1, {}),
        ("anatomy", "pericardial", 49, 1, {}),
        ("problem", "pericardial\neffusion", 49, 1, {"negated": True}),
        ("anatomy", "arm", 76, 1, {}),
        ("anatomy", "arm", 86, 1, {}),
        ("problem", "arm pain", 86, 1, {}),
        ("problem", "pain", 90, 1, {"experiencer": "family", "historical": True}),
    ]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("> problem pain\nNo pain.", r"a-1.txt:1: '> problem pain': expected '> TYPE PART .* below a line of the note"),
        ("No pain.\n> problem", "a-1.txt:2: '> problem': expected '> TYPE"),
        ("No pain.\n> pain pain", "found the type 'pain', expected one of problem, test"),
        ("No pain.\n> problem pai", "'pai' is not in 'No pain.'; quote whole words"),
        ("No pain, no gain.\n> problem gain ... pain", "'pain' is not in '.'; quote whole words, in the order"),
        ("No pain.\n> problem pain #2", "'pain' is not in '.'"),
        ("No pain.\n> problem pain [denied]", "expected attributes of negated, uncertain, historical, exp"),
        ("No leg.\n> anatomy leg [negated]", "expected attributes of .*, and none of anatomy"),
        ("No pain.\n> problem pain\n> problem pain [negated]", "a-1.txt:3: .*the mention is there already"),
    ],
)
def test_errors_have_a_line(clinical: Any, tmp_path: Path, lines: str, message: str) -> None:
    path = tmp_path / "a-1.txt"
    path.write_text(lines, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        clinical.note(path)


def test_a_number_decides_the_part(clinical: Any, tmp_path: Path) -> None:
    for number in (1, 2, 5, 6, 12):
        (tmp_path / f"mri-brain-{number:02}.txt").write_text("No pain.", encoding="utf-8")
    parts = clinical.notes(tmp_path)
    assert {name: [one.id[-2:] for one in notes] for name, notes in parts.items()} == {
        "train": ["02", "05"],
        "dev": ["06", "12"],
        "test": ["01"],
    }


def test_the_notes_are_read(clinical: Any) -> None:
    train, dev, test = clinical.material(ROOT)
    texts = [one.text for one in (*train, *dev, *test)]
    assert len({text.lower() for text in texts}) == 245
    assert len(texts) == len({*texts}) == 245 + 90  # half of the 178 for training have a copy
    assert {one.meta["corpus"] for one in test} == {"bundled notes", "new notes"}
