"""Lines on standard error: text for people, or JSON for a program that collects logs."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from typing import Any

LOG = "SPANLOOM_LOG"
"""The environment variable that says what lines on standard error are: ``json``, or text."""


def as_json() -> bool:
    """Return whether lines on standard error are JSON, for a program that collects them."""
    return os.environ.get(LOG) == "json"


def log_line(level: str, **fields: Any) -> str:
    """A line of a log: time in UTC, level (``info``, ``warning``, ``progress`` or ``error``), what there is to say."""
    return json.dumps({"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "level": level, **fields})


def notice_line(message: str) -> str:
    """The line for what was read other than it stands, left out or lost."""
    return log_line("warning", message=message) if as_json() else f"spanloom: {message}"


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
        """Print what was read other than it stands, left out or lost."""
        if not self._quiet:
            print(notice_line(message), file=sys.stderr, flush=True)
