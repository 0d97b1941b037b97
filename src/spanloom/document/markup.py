"""HTML for notebooks: tables and preformatted text, in which all text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


class Printed:
    """Base class of results that `print` and notebooks show as a table of text."""

    __slots__ = ()

    def to_text(self) -> str:
        """Return the table as text."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return preformatted(self.to_text())


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
