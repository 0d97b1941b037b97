"""Lines on standard error: text for people, or JSON for a program that collects logs."""

from __future__ import annotations

import sys

from spanloom.errors import as_json, log_line, notice_line


class Messages:
    """Lines on standard error.

    Args:
        quiet: print errors only.
    """

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet

    def __call__(self, message: str = "") -> None:
        """Print a line."""
        if self._quiet or (as_json() and not message):
            return
        print(log_line("info", message=message) if as_json() else message, file=sys.stderr, flush=True)

    def notice(self, message: str) -> None:
        """Print a warning about input that was repaired, skipped or lost."""
        if not self._quiet:
            print(notice_line(message), file=sys.stderr, flush=True)
