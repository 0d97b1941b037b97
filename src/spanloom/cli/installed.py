"""`spanloom models`: the models that are installed; and the verb `warm`, which has nothing to do any more."""

from __future__ import annotations

import json
from typing import Any

from spanloom.cli.messages import Messages
from spanloom.models import Installed, installed


def run(as_json: bool) -> None:
    """List the installed models."""
    there = list(installed().values())
    if as_json:
        print(json.dumps([_plain(one) for one in there], indent=2))
        return
    if not there:
        print(
            "no models are installed; pip install ./models ./models-sa ./models-zh, in Spanloom's folder, brings some"
        )
        return
    rows = [("name", "F1", "MB", "licence", "finds")]
    rows += [(one.name, f"{100 * one.f1:.1f}", f"{one.size / 1e6:.1f}", one.licence, one.finds) for one in there]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def warm(quiet: bool) -> None:
    """Compile nothing: kernels are compiled when the package is built. The verb goes with the next minor version."""
    Messages(quiet)("kernels are compiled when Spanloom is installed; leave this command out, it will be removed")


def _plain(one: Installed) -> dict[str, Any]:
    return {**one._asdict(), "folder": str(one.folder)}
