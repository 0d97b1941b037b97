"""Every step of writing an output fails once, or is the process' last.

A step is a call that changes what is on the disk, or waits for it: make, open to write, write, flush, lock, rename,
exchange, link, remove. For k = 1, 2, ... until a run has no k-th step: the k-th fails, or it and all that follow fail,
or the process is killed, terminated or interrupted there. Nothing is drawn; a case is a verb, what stood there before,
whether names can be exchanged, and a kind of fault.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count, product
from pathlib import Path
from typing import NamedTuple

from campaign.frame import Record
from campaign.inject import KINDS, Injector
from campaign.judge import DIED, PROMISES, Run, judged
from campaign.outputs import MODELS, QUICK, Output, Prepared, ended, make_data, start

_CLEAN = ("full disk", "SIGTERM", "SIGINT")  # what a process survives for long enough to clean up after itself
_CODES = {"kill -9": {DIED}, "SIGTERM": {0, 143}, "SIGINT": {0, 130}, "full disk": {0, 1}, "dead disk": {0, 1}}


class Case(NamedTuple):
    """What is tried, at every step."""

    output: Output
    before: str
    exchange: bool
    kind: str


def cases_of(outputs: Iterable[Output]) -> list[Case]:
    """All cases: nothing there, something there, and a folder there where names cannot be exchanged."""
    starts = [("none", True), ("old", True), ("old", False)]
    return [
        Case(output, before, exchange, kind)
        for output, (before, exchange), kind in product(outputs, starts, KINDS)
        if exchange or output.folder
    ]


def run(cases: Iterable[int], seed: int, folder: Path) -> Record:
    """Verbs that take no time."""
    return _run(cases_of(QUICK), cases, Record("faults", seed), folder)


def run_models(cases: Iterable[int], seed: int, folder: Path) -> Record:
    """Verbs that train, or need a model."""
    return _run(cases_of(MODELS), cases, Record("faults-models", seed), folder)


def _run(known: list[Case], cases: Iterable[int], record: Record, folder: Path) -> Record:
    data = folder / "data"
    data.mkdir()
    make_data(data, models=any(case.output in MODELS for case in known))
    prepared: dict[str, Prepared] = {}
    for number in (number for number in cases if number < len(known)):
        output = known[number].output
        if output.name not in prepared:
            prepared[output.name] = Prepared.make(output, data, folder / f"state-{len(prepared)}")
        _try_every_step(known[number], number, prepared[output.name], record, folder)
    return record


def _try_every_step(case: Case, number: int, prepared: Prepared, record: Record, folder: Path) -> None:
    place, said, fired = folder / "place", folder / "said", folder / "fired"
    for k in count(1):
        prepared.start(place, case.before)
        injector = Injector(k, case.kind, place, fired, case.exchange)
        code = ended(start(prepared.command(place), said, injector.install))
        if not fired.exists():
            assert code == 0, said.read_text(encoding="utf-8")
            return
        fired.unlink()
        if code in _CODES[case.kind]:
            outcome, found = judged(Run(prepared, place, case.before, code, said), cleans_up=case.kind in _CLEAN)
        else:
            outcome, found = "exit code", f"{code}: {said.read_text(encoding='utf-8')[-500:]}"
        if outcome in PROMISES:
            how = "exchanged" if case.exchange else "in steps"
            record.fail(case.kind, outcome, number, f"{case.output.name}, {case.before}, {how}, step {k}: {found}")
        else:
            record.add(case.kind, outcome)
