"""The tables of docs/papers.md are what docs/papers.py makes of the records, and so are the figures of its text."""

from __future__ import annotations

import doctest
import re
import runpy
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
SCRIPT = runpy.run_path(str(DOCS / "papers.py"))
PAGE = (DOCS / "papers.md").read_text(encoding="utf-8")
frame = sys.modules["paper_tables"]


def test_tables_are_those_of_the_records() -> None:
    assert SCRIPT["written"](PAGE, SCRIPT["TABLES"]) == PAGE, "run: python docs/papers.py"


def test_figures_of_the_text_are_declared() -> None:
    assert SCRIPT["undeclared"](PAGE) == ([], [])


def test_each_wrong_figure_of_a_table_is_found() -> None:
    table_lines = list(re.finditer(r"^\|.*$", PAGE, re.MULTILINE))
    figures = [i for line in table_lines for i in range(*line.span()) if re.fullmatch(r"\d\D", PAGE[i : i + 2])]
    assert len(figures) > 600
    for place in figures:
        wrong = f"{PAGE[:place]}{(int(PAGE[place]) + 1) % 10}{PAGE[place + 1 :]}"
        assert SCRIPT["written"](wrong, SCRIPT["TABLES"]) != wrong, PAGE[place - 40 : place + 10]


def test_no_cell_of_ours_is_typed() -> None:
    with pytest.raises(ValueError, match=r"row 'chain', column 'ours, GUM': '1\.0' comes from no record"):
        frame.Table(("model", "ours, GUM"), [("chain", "1.0")]).markdown()


def test_a_row_is_one_row_of_the_record() -> None:
    assert frame.ours("gum", "Test data, adagrad", ["bilou", "no"], "lambda") == "5"
    with pytest.raises(LookupError, match=r"\['bilou'\] is 2 times a row of gum, 'Test data, adagrad', expected once"):
        frame.ours("gum", "Test data, adagrad", ["bilou"])
    with pytest.raises(LookupError, match="no column 'F1#3'; there are"):
        frame.ours("gum", "Test data, adagrad", ["bilou", "no"], "F1#3")
    with pytest.raises(LookupError, match="'Nothing' is 0 times a table of gum"):
        frame.ours("gum", "Nothing", ["bilou"])


def test_lower_is_said_by_the_last_figure_or_by_recall() -> None:
    assert frame.beside("1.0 / 2.0 / 3.0", frame.Ours("9.0 / 9.0 / 2.9")) == "9.0 / 9.0 / 2.9, **lower**"
    assert frame.beside("1.0 / 2.0 / 3.0", frame.Ours("0.0 / 0.0 / 3.0")) == "0.0 / 0.0 / 3.0"
    assert frame.beside("R 2.0", frame.Ours("9.0 / 1.9 / 9.0")) == "9.0 / 1.9 / 9.0; recall **lower**"
    assert frame.beside("", frame.Ours("1.0 / 1.0 / 1.0")) == "1.0 / 1.0 / 1.0"


def test_the_example_holds() -> None:
    assert doctest.testmod(frame).failed == 0
