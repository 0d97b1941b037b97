"""`spanloom train segmenter`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spanloom.cli.config import SegmenterOptions, checked
from spanloom.cli.train import train_model
from spanloom.errors import UsageError
from spanloom.segment import Segmenter


def run(config: str | None, dictionary: Sequence[str] | None, constraint: Sequence[str] | None, **flags: Any) -> None:
    """Train and save a segmenter."""
    flags |= {"dictionaries": dict(map(_labelled, dictionary or ())) or None, "constraints": constraint}
    options = checked(SegmenterOptions, flags, config)
    train_model(Segmenter(**options.recognizer_options()), options)


def _labelled(text: str) -> tuple[str, str]:
    label, equals, path = text.partition("=")
    if not label or not equals or not path:
        raise UsageError(f"--dictionary: found {text!r}, expected LABEL=FILE, such as medication=drugs.txt")
    return label, path
