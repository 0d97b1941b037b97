"""The tables and figures of docs/papers.md, each declared with the record that it comes from.

How it works. In docs/papers.md a comment ``<!-- table NAME -->`` stands above each table. Below it
``python docs/papers.py`` writes the rows that ``TABLES[NAME]`` declares in one of the modules here, one module a paper;
a test writes them again and compares, so a wrong figure in any cell fails. To change a figure, make the record anew and
run the script; to add a row or a table, declare it.

A figure of ours is `ours(record, title, row, columns)`: of ``benchmarks/results/RECORD.json`` the table with that
title, the row that begins with those cells (`TUNED` and `ANY` are wild), the columns of those names (``F1#2`` is the
second one that is called F1), joined by `` / ``. Columns whose name begins with *ours* hold nothing else, but for
what `WORDS` lists. A paper's figures are plain strings. `beside` adds **lower** where ours is.

A figure in a sentence is declared in ``SENTENCES``: a part of the page's text with ``{}`` for each figure, and the
figures. The test looks for it, whatever its line breaks, and wants every figure of the page's text to be declared so,
or to be one of ``CITED``: what a paper says, a setting, or the difference of two figures of a table.

    >>> print(Table(("model", "ours"), [("chain", Ours("1.0"))]).markdown())
    | model | ours |
    |---|---|
    | chain | 1.0 |
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
TUNED = object()  # matches any cell but "-", which stands where no penalty was tuned
ANY = object()
WORDS = ("", "the same", "not run")
LOWER = ", **lower**"


class Ours(str):
    """A figure that comes from a record."""

    __slots__ = ()


class Sentence(NamedTuple):
    """A part of the page's text, and the figures that stand where it has ``{}``, or ``{:.1f}`` for a number."""

    text: str
    figures: Sequence[str | float]

    def __str__(self) -> str:
        return self.text.format(*self.figures)


class Table(NamedTuple):
    """A table of the page."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """The lines of the page.

        Raises:
            ValueError: a row of another length, or a cell of ours that comes from no record.
        """
        lines = [_line(self.columns), "|" + "---|" * len(self.columns)]
        for row in self.rows:
            for name, cell in zip(self.columns, row, strict=True):
                if name.startswith("ours") and not isinstance(cell, Ours) and cell not in WORDS:
                    raise ValueError(f"row {row[0]!r}, column {name!r}: {cell!r} comes from no record")
            lines.append(_line(row))
        return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    # no space twice where a cell is empty
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


@cache
def record(name: str) -> dict[str, Any]:
    """A record of the benchmarks."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def ours(name: str, title: str, row: Sequence[Any], columns: str | Sequence[str] = ("P", "R", "F1")) -> Ours:
    """Cells of a record's table, joined.

    Args:
        name: of the record.
        title: of its table; a beginning that no other title has is enough.
        row: the cells that its row begins with.
        columns: names.

    Raises:
        LookupError: no such table, row or column, or several.
    """
    table = _one(record(name)["tables"], lambda table: table["title"], title, f"table of {name}")
    where = f"row of {name}, {table['title']!r}"
    found = [cells for cells in table["rows"] if _begins(cells, row)]
    if len(found) != 1:
        raise LookupError(f"{row!r} is {len(found)} times a {where}, expected once")
    names = [columns] if isinstance(columns, str) else columns
    return Ours(" / ".join(shown(found[0][_column(table["columns"], column)]) for column in names))


def beside(paper: str, figure: Ours) -> Ours:
    """A figure on the same data as the paper's: marked where it is lower, by F1, or by recall if there is no more."""
    if paper.startswith("R "):
        return Ours(figure + "; recall **lower**") if float(figure.split(" / ")[1]) < float(paper[2:]) else figure
    last = [float(text.split(" / ")[-1]) for text in (figure, paper)] if paper else [0.0, 0.0]
    return Ours(figure + LOWER) if last[0] < last[1] else figure


def last(cell: str) -> str:
    """F1 alone of a cell with precision, recall and F1."""
    return type(cell)(cell.rpartition(" / ")[2])


def joined(figures: Sequence[str], by: str) -> Ours:
    """Several figures in one cell."""
    return Ours(by.join(figures))


def shown(value: Any) -> str:
    """A cell as the record's Markdown shows it, without the interval in brackets."""
    if isinstance(value, float):
        size = abs(value)
        return f"{value:.3g}" if size < 1 else f"{value:.2f}" if size < 1000 else f"{value:,.0f}"
    if isinstance(value, int):
        return f"{value:,}"
    return re.sub(r" \(.* to .*\)", "", "" if value is None else str(value))


def _one(items: Sequence[Any], name: Any, wanted: str, what: str) -> Any:
    found = [item for item in items if name(item) == wanted] or [i for i in items if name(i).startswith(wanted)]
    if len(found) != 1:
        raise LookupError(
            f"{wanted!r} is {len(found)} times a {what}, expected once; there are {list(map(name, items))}"
        )
    return found[0]


def _begins(cells: Sequence[Any], row: Sequence[Any]) -> bool:
    return all(
        want is ANY or (want is TUNED and cell != "-") or shown(cell) == want
        for cell, want in zip(cells, row, strict=False)
    )


def _column(columns: Sequence[str], wanted: str) -> int:
    name, _, number = wanted.partition("#")
    places = [i for i, column in enumerate(columns) if column == name]
    if len(places) < int(number or 1):
        raise LookupError(f"no column {wanted!r}; there are {', '.join(columns)}")
    return places[int(number or 1) - 1]
