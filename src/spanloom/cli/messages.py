"""Lines on standard error: text for people, or JSON for a program that collects logs; and a line of progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from time import monotonic

from spanloom.document import Document
from spanloom.errors import as_json, log_line, notice_line


class Messages:
    """Lines on standard error.

    Args:
        quiet: print errors only.
    """

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet

    def __call__(self, *messages: str) -> None:
        """Print lines."""
        for message in () if self._quiet else messages:
            if message or not as_json():
                print(log_line("info", message=message) if as_json() else message, file=sys.stderr, flush=True)

    def notice(self, *messages: str) -> None:
        """Print warnings about input that was repaired, skipped or lost."""
        for message in () if self._quiet else messages:
            print(notice_line(message), file=sys.stderr, flush=True)


EVERY = 0.2  # seconds between two states of a line
_CLEAR = "\r\x1b[2K"
_WIDTH = 30


class Line:
    """A line that is rewritten, on a terminal only.

    Args:
        quiet: show nothing.
    """

    def __init__(self, quiet: bool) -> None:
        self.shown = not quiet and not as_json() and sys.stderr.isatty()
        self._last = monotonic()

    def due(self, seconds: float) -> bool:
        """Return whether some seconds have passed since the line was last due."""
        due = monotonic() - self._last >= seconds
        self._last = monotonic() if due else self._last
        return due

    def show(self, text: str) -> None:
        """Show a text in place of the one before."""
        sys.stderr.write(_CLEAR + text)
        sys.stderr.flush()

    def clear(self) -> None:
        """Remove the line."""
        if self.shown:
            self.show("")


def counted(
    documents: Iterable[Document], stage: str, *, quiet: bool, total: Callable[[], int | None]
) -> Iterator[Document]:
    """The documents, while a line shows how many there were.

    Args:
        documents: as they come.
        stage: what is done with them.
        quiet: show nothing.
        total: how many there will be, if that is known; asked only where the line is shown.
    """
    line = Line(quiet)
    if not line.shown:
        yield from documents
        return
    count = total()
    began = first = monotonic()
    try:
        for number, document in enumerate(documents, 1):
            yield document
            if number == 1:
                first = monotonic()
            if line.due(EVERY):
                line.show(pace(stage, number, count, monotonic() - began, first - began))
    finally:
        line.clear()


def pace(stage: str, number: int, total: int | None, seconds: float, first: float = 0.0) -> str:
    """Return the line; the estimate leaves out the first document, whose ``first`` seconds include the loading.

    >>> pace("predicting", 2000, 6000, 30.0)
    'predicting ━━━━━━━━━━╺━━━━━━━━━━━━━━━━━━━ 2,000 documents · 30 s · 1 min 0 s left'
    >>> pace("predicting", 1, 4000, 2.0, 2.0)
    'predicting ╺━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 1 document · 2 s'
    >>> pace("predicting", 11, 21, 3.0, 2.0)
    'predicting ━━━━━━━━━━━━━━━╺━━━━━━━━━━━━━━ 11 documents · 3 s · 1 s left'
    >>> pace("converting", 1, None, 0.2)
    'converting 1 document · 0 s'
    """
    figures = [f"{number:,} document{'s' * (number != 1)}", duration(seconds)]
    if total is None:
        return f"{stage} {' · '.join(figures)}"
    if number > 1:
        figures.append(f"{duration((seconds - first) / (number - 1) * max(0, total - number))} left")
    done = min(_WIDTH, _WIDTH * number // max(1, total))
    bar = "━" * done + ("╺" + "━" * (_WIDTH - done - 1) if done < _WIDTH else "")
    return f"{stage} {bar} {' · '.join(figures)}"


def duration(seconds: float) -> str:
    """A time as a person reads it.

    >>> duration(0.4), duration(125), duration(28020)
    ('0 s', '2 min 5 s', '7 h 47 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


# Progress of a verb that reads many documents: one line that is rewritten, on a terminal only.
