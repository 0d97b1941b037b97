"""HTML for notebooks: tables, preformatted text and figures, in which all text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from html import escape
from pathlib import Path
from typing import Any

from spanloom.errors import UsageError
from spanloom.files.output import output_file


class Printed:
    """Base class of results, dataclasses that `print` and notebooks show as a table of text."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values; fractions from 0 to 1."""
        return {one.name: _plain(getattr(self, one.name)) for one in fields(self)}  # type: ignore[arg-type]

    def to_text(self) -> str:
        """Return the table as text."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return preformatted(self.to_text())


def _plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "_asdict"):  # of a named tuple
        value = value._asdict()
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return list(map(_plain, value)) if isinstance(value, tuple) else value


@dataclass(frozen=True)
class Figure:
    """A drawing that a notebook shows.

    Args:
        svg: one SVG element, which loads nothing.
    """

    svg: str

    def __repr__(self) -> str:
        return f"Figure({len(self.svg):,} characters of SVG)"

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x: auto">{self.svg}</div>'

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the drawing to a file, in full or not at all.

        Args:
            path: its name ends in ``.svg``.
            force: replace a file that is there.

        Raises:
            UsageError: another ending, or the file is there.
            DataError: the file cannot be written.
        """
        if Path(path).suffix.lower() != ".svg":
            raise UsageError(f"found {path}, expected a name that ends in .svg")
        with output_file(path, force=force) as file:
            file.write(self.svg)


def preformatted(text: str) -> str:
    """Return preformatted text as HTML.

    >>> preformatted("a < b")
    '<pre>a &lt; b</pre>'
    """
    return f"<pre>{escape(text)}</pre>"


def table(title: str, rows: Iterable[Sequence[object]], header: Sequence[str] = ()) -> str:
    """Return an HTML table with a title above it.

    Args:
        title: in plain text.
        rows: one value for each column.
        header: names of the columns, if they have any.

    >>> table("a < b", [("c", 1)])
    '<table><caption>a &lt; b</caption><tr><td>c</td><td>1</td></tr></table>'
    """
    lines = [_row("th", header)] if header else []
    lines += [_row("td", row) for row in rows]
    return f"<table><caption>{escape(title)}</caption>{''.join(lines)}</table>"


def shorten(text: str, most: int = 60) -> str:
    """Return a text shortened to at most ``most`` characters.

    >>> shorten("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _row(tag: str, values: Iterable[object]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(str(value))}</{tag}>' for value in values)}</tr>"
