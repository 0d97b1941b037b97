"""The table of docs/capabilities.md: it is what its record says, and the record what happens."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))

import capabilities

FOUND = json.loads(capabilities.RECORD.read_text(encoding="utf-8"))
CHEAP = ("partial_annotation", "claims", "annotators", "split_tokens", "on_disk", "sweep", "alternatives", "rely")
"""Capabilities of which a trained model, or none, is all that is needed to try them."""


def test_the_page_is_that_of_the_record() -> None:
    text = capabilities.PAGE.read_text(encoding="utf-8")
    assert capabilities.page(FOUND, text) == text
    assert all(column.keys() == {row.__name__ for row in capabilities.ROWS} for column in FOUND.values())


@pytest.mark.parametrize("name", ["segmenter", "joint linker", "tagger"])
def test_some_combinations(name: str, tmp_path: Path) -> None:
    [kind] = [kind for kind in capabilities.kinds(tmp_path) if kind.name == name]
    for row in capabilities.ROWS:
        if row.__name__ in CHEAP:
            assert capabilities.tried(kind, row) == FOUND[name][row.__name__], row.__name__


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUND)
def test_every_combination(name: str, tmp_path: Path) -> None:
    if "encoder" in name:
        pytest.importorskip("torch")
    [kind] = [kind for kind in capabilities.kinds(tmp_path) if kind.name == name]
    assert {row.__name__: capabilities.tried(kind, row) for row in capabilities.ROWS} == FOUND[name]
