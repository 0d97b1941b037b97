"""What came of a run that was killed, interrupted or refused something: whole and clean, or a broken promise."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import NamedTuple

from campaign.outputs import Prepared, ended, leftovers, start, tree

DIED = -9  # exit code of kill -9
FOREIGN = ("Traceback", "Exception ignored", "Error in sys.")  # what an error that nobody expected leaves


class Run(NamedTuple):
    """A run that something happened to.

    Args:
        prepared: the verb.
        place: the folder in which it ran.
        before: what was there, ``old`` or ``none``.
        code: its exit code.
        said: the file of its standard error.
    """

    prepared: Prepared
    place: Path
    before: str
    code: int
    said: Path


def judged(run: Run, cleans_up: bool) -> tuple[str, str]:
    """The outcome: ``old`` or ``new``, or a broken promise and what was found.

    Args:
        run: what happened.
        cleans_up: whether the process had to leave nothing; otherwise the next one has to remove it.

    Outcomes: ``undone`` is old after what was half-replaced was put back by the next writer.
    """
    text = run.said.read_text(encoding="utf-8", errors="replace")
    if any(word in text for word in FOREIGN):
        return "foreign exception", text.strip().splitlines()[-1]
    found = run.prepared.state(run.place)
    left = leftovers(run.place)
    before = tree(run.place)
    with warnings.catch_warnings(action="ignore"):
        run.prepared.read(run.place)
    if tree(run.place) != before:
        return "changed by a reader", f"{found} before, {run.prepared.state(run.place)} after it"
    run.prepared.recover(run.place)
    read = run.prepared.state(run.place)
    whole = {run.before, "new"}
    if read not in whole:
        return "torn", f"before {run.before}, then {found}, undone {read}, exit code {run.code}"
    if cleans_up and (left or found not in whole):
        return "left by its own process", f"{found}, {left}, exit code {run.code}"
    if run.code == 0 and read != "new":
        return "lost", f"exit code 0, but {read} is there"
    if run.code in (1, 2) and read == "new":
        return "kept", "a failure was told, but the new output is there"
    if not left and found == read:
        return read, ""
    again = ended(start(run.prepared.command(run.place), run.said))
    left = leftovers(run.place)
    if again or left or run.prepared.state(run.place) != "new":
        state = run.prepared.state(run.place)
        return "leftover", f"the next run: exit code {again}, {state}, {left}: {run.said.read_text()[-200:]}"
    return (read if found == read else "undone"), ""


PROMISES = (
    "torn",
    "changed by a reader",
    "left by its own process",
    "lost",
    "kept",
    "leftover",
    "foreign exception",
    "exit code",
)
"""The outcomes that break one."""
