"""What a verb says on standard error, and how it puts numbers into words."""

from __future__ import annotations

import sys


class Messages:
    """Lines on standard error.

    Args:
        quiet: say nothing.
    """

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet

    def __call__(self, message: str = "") -> None:
        """Print a line."""
        if not self._quiet:
            print(message, file=sys.stderr, flush=True)


def plural(number: int, noun: str) -> str:
    """A number and its noun.

    >>> plural(1, "sentence"), plural(1200, "sentence")
    ('1 sentence', '1,200 sentences')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
