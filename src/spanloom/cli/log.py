"""The form of lines on standard error: text for people, or JSON for a program that collects logs."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import Any

LOG = "SPANLOOM_LOG"
"""The environment variable that says what lines on standard error are: ``json``, or text."""


def as_json() -> bool:
    """Whether lines on standard error are JSON, for a program that collects them."""
    return os.environ.get(LOG) == "json"


def log_line(level: str, **fields: Any) -> str:
    """A line of a log: the time in UTC, the level (``info``, ``progress`` or ``error``), and what there is to say."""
    return json.dumps({"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "level": level, **fields})


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
