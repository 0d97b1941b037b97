"""Notebooks and scripts such as a new user writes: run from the first line to the last."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
RUN: Callable[[dict[str, Any]], dict[str, Any]] = runpy.run_path(str(ROOT / "docs" / "notebook.py"))["run"]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def shown(notebook: dict[str, Any]) -> list[list[str]]:
    """The kinds of output of each cell."""
    return [sorted(output["data"]) for cell in notebook["cells"] for output in cell.get("outputs", ())]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_and_shows_what_it_showed(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    done = RUN(notebook)
    assert shown(done) == shown(notebook), "write the outputs again: python docs/notebook.py"
    assert [cell["execution_count"] for cell in done["cells"] if cell["cell_type"] == "code"] == [
        cell["execution_count"] for cell in notebook["cells"] if cell["cell_type"] == "code"
    ]


def test_the_first_steps_show_drawings_and_tables() -> None:
    notebook = json.loads((ROOT / "docs" / "notebooks" / "first_steps.ipynb").read_text(encoding="utf-8"))
    html = [
        "".join(output["data"].get("text/html", ())) for cell in notebook["cells"] for output in cell.get("outputs", ())
    ]
    assert [next((kind for kind in ("<svg", "<pre", "<table") if kind in text), "") for text in html] == [
        *("<table", "<svg", "<table", "<table", "<pre", "<svg", "", ""),
    ]
    assert "<script" not in "".join(html)


def test_a_cell_that_fails_is_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        RUN({"cells": [{"cell_type": "code", "source": ["1 / 0"]}]})


def test_a_script_of_a_new_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "docs" / "notebooks" / "first_steps.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("exact ")
    assert Path("mentions.csv").read_text(encoding="utf-8").startswith("id,type,start,end,text,probability\n")
    assert Path("model", "model.json").exists()
