"""What notebooks show: tables and preformatted text as HTML, in which text is never read as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


class Printed:
    """A result that is a table of text: `print` and notebooks show it."""

    __slots__ = ()

    def to_text(self) -> str:
        """The table."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return preformatted(self.to_text())


def preformatted(text: str) -> str:
    """Text as it stands.

    >>> preformatted("a < b")
    '<pre>a &lt; b</pre>'
    """
    return f"<pre>{escape(text)}</pre>"


def table(title: str, rows: Iterable[Sequence[object]], header: Sequence[str] = ()) -> str:
    """A table with a title above it.

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
    """Text of so many characters at most.

    >>> shorten("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _row(tag: str, values: Iterable[object]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(str(value))}</{tag}>' for value in values)}</tr>"
