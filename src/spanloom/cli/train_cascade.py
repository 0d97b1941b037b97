"""`spanloom train cascade`."""

from __future__ import annotations

from typing import Any

from spanloom.cli.config import CommonOptions, checked, options_of
from spanloom.cli.summary import summary
from spanloom.cli.train import train_model
from spanloom.recognize import Cascade


def run(config: str | None, **flags: Any) -> int | None:
    """Train and save a cascade."""
    options = checked(options_of(Cascade, CommonOptions), flags, config)
    cascade = Cascade(**options.parameters())
    return train_model(cascade, options, lambda seconds: summary(cascade, seconds))
