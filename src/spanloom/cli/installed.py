"""`spanloom models`: the models that are installed; and the verb `warm`, which has nothing to do any more."""

from __future__ import annotations

import json

from spanloom.cli.messages import Messages
from spanloom.models import installed
from spanloom.view.cells import aligned


def run(as_json: bool) -> None:
    """List the installed models."""
    there = list(installed().values())
    if as_json:
        print(json.dumps([{**one._asdict(), "folder": str(one.folder)} for one in there], indent=2))
        return
    if not there:
        print("no models are installed; in Spanloom's folder: pip install ./models ./models-sa ./models-zh")
        return
    rows = [("name", "F1", "MB", "licence", "finds")]
    rows += [(one.name, f"{100 * one.f1:.1f}", f"{one.size / 1e6:.1f}", one.licence, one.finds) for one in there]
    print(*aligned(rows), sep="\n")


def warm(quiet: bool) -> None:
    """Compile nothing: kernels are compiled when the package is built. The verb goes with the next minor version."""
    Messages(quiet)("kernels are compiled when Spanloom is installed; leave this command out, it will be removed")
