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
    """A line of a log: the time in UTC, the level (``info``, ``progress`` or ``error``), and what there is to say."""
    return json.dumps({"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "level": level, **fields})


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
