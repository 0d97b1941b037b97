"""What a verb says on standard error, and how it puts numbers into words."""

from __future__ import annotations

import sys

from spanloom.cli.log import as_json, log_line
from spanloom.formats import FORMATS, Losses
from spanloom.formats.base import DISCONTIGUOUS


class Messages:
    """Lines on standard error.

    Args:
        quiet: say nothing.
    """

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet

    def __call__(self, message: str = "") -> None:
        """Print a line."""
        if self._quiet or (as_json() and not message):
            return
        print(log_line("info", message=message) if as_json() else message, file=sys.stderr, flush=True)

    def notice(self, message: str) -> None:
        """Print what was read other than it stands."""
        self(f"spanloom: {message}")


def plural(number: int, noun: str) -> str:
    """A number and its noun.

    >>> plural(1, "sentence"), plural(1200, "sentence")
    ('1 sentence', '1,200 sentences')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def lost(losses: Losses) -> str:
    """What an output could not hold, and which formats would have held the gaps.

    >>> losses = Losses()
    >>> losses.add(DISCONTIGUOUS, 310)
    >>> print(lost(losses))  # doctest: +ELLIPSIS
    not written: 310 discontiguous mentions; this format has no place for gaps, but jsonl, brat, ... and xmi have
    """
    if not losses.counts[DISCONTIGUOUS]:
        return str(losses)
    *others, last = (kind.name for kind in FORMATS.values() if kind.gaps)
    return f"{losses}; this format has no place for gaps, but {', '.join(others)} and {last} have"
