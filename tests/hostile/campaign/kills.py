"""Runs are killed, terminated and interrupted at moments drawn at random.

A moment is the n-th call of a function, Python's or C's, so that the same seed kills at the same place on every machine
(`run`); or it is a moment of the clock, at which another process sends the signal, wherever the run is then
(`by_clock`). Half of the moments lie in the last tenth, where outputs are put in place.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, NamedTuple

from campaign.frame import Record, generator
from campaign.judge import DIED, PROMISES, Run, judged
from campaign.outputs import MODELS, QUICK, Output, Prepared, ended, make_data, start
from spanloom.files import staging

_SIGNALS = {"kill -9": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}
_WEIGHTS = (3, 1, 1)
_CODES = {"kill -9": {DIED, 0}, "SIGTERM": {0, 143, -15}, "SIGINT": {0, 130}}  # -15: before the verb began
_LATE = 0.1  # of a run
_SOONER = 0.9  # each time that a run had ended before


class Case(NamedTuple):
    """What is done to one run.

    Args:
        output: the verb.
        before: what stands there, ``old`` or ``none``.
        exchange: whether the system can exchange two names.
        kind: the signal.
        moment: when, as a part of the run.
    """

    output: Output
    before: str
    exchange: bool
    kind: str
    moment: float

    @classmethod
    def draw(cls, outputs: tuple[Output, ...], number: int, random: Random) -> Case:
        """All verbs in turn; the rest at random."""
        moment = random.random()
        return cls(
            outputs[number % len(outputs)],
            random.choice(("old", "old", "none")),
            random.random() < 0.7,
            random.choices(list(_SIGNALS), _WEIGHTS)[0],
            moment if random.random() < 0.5 else 1 - _LATE * moment,
        )


def run(cases: Iterable[int], seed: int, folder: Path) -> Record:
    """Verbs that take no time, at the n-th call."""
    return _run(QUICK, _at_a_call, cases, Record("kills", seed), folder)


def by_clock(cases: Iterable[int], seed: int, folder: Path) -> Record:
    """All verbs, at a moment of the clock."""
    return _run(QUICK + MODELS, _at_a_moment, cases, Record("kills-by-clock", seed), folder)


def of_models(cases: Iterable[int], seed: int, folder: Path) -> Record:
    """Verbs that train, or need a model, at a moment of the clock: `teach`, `clean` and `evaluate` first."""
    return _run(MODELS[::-1], _at_a_moment, cases, Record("kills-models", seed), folder)


Kill = Callable[[Case, Prepared, Path, Path], int]


def _run(outputs: tuple[Output, ...], kill: Kill, cases: Iterable[int], record: Record, folder: Path) -> Record:
    data, place, said = folder / "data", folder / "place", folder / "said"
    data.mkdir()
    make_data(data, models=outputs != QUICK)
    prepared: dict[str, Prepared] = {}
    for number in cases:
        case = Case.draw(outputs, number, generator("kills", record.seed, number))
        name = case.output.name
        if name not in prepared:
            prepared[name] = Prepared.make(case.output, data, folder / f"state-{len(prepared)}")
        prepared[name].start(place, case.before)
        code = kill(case, prepared[name], place, said)
        if code in _CODES[case.kind]:
            outcome, found = judged(Run(prepared[name], place, case.before, code, said), case.kind != "kill -9")
        else:
            outcome, found = "exit code", f"{code}: {said.read_text(encoding='utf-8')[-500:]}"
        if outcome in PROMISES:
            record.fail(case.kind, outcome, number, f"{case}: {found}")
        else:
            record.add(case.kind, outcome if code else f"{outcome}, ended before")
    return record


def _set_up(case: Case) -> None:
    if not case.exchange:
        staging.exchange = lambda one, other: False


def _at_a_call(case: Case, prepared: Prepared, place: Path, said: Path) -> int:
    counted = said.with_name("calls")

    def counting() -> None:
        _set_up(case)
        counter = _Counter(0, 0)
        sys.setprofile(counter)
        real = os._exit

        def leave(code: int) -> None:
            sys.setprofile(None)
            counted.write_text(str(counter.calls), encoding="ascii")
            real(code)

        os._exit = leave  # type: ignore[assignment]

    assert ended(start(prepared.command(place), said, counting)) == 0
    calls = int(counted.read_text(encoding="ascii"))
    prepared.start(place, case.before)

    def killing() -> None:
        _set_up(case)
        sys.setprofile(_Counter(max(1, int(case.moment * calls)), _SIGNALS[case.kind]))

    return ended(start(prepared.command(place), said, killing))


class _Counter:
    """Counts the calls of a process, and sends it a signal at one of them."""

    def __init__(self, at: int, number: int) -> None:
        self.calls, self._at, self._number = 0, at, number

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event in ("call", "c_call"):
            self.calls += 1
            if self.calls == self._at:
                os.kill(os.getpid(), self._number)


def _at_a_moment(case: Case, prepared: Prepared, place: Path, said: Path) -> int:
    began = time.monotonic()
    assert ended(start(prepared.command(place), said, lambda: _set_up(case))) == 0
    seconds = time.monotonic() - began
    code = 0
    while not code:  # the signal came too late: again, earlier
        prepared.start(place, case.before)
        child = start(prepared.command(place), said, lambda: _set_up(case))
        time.sleep(case.moment * seconds)
        os.kill(child, _SIGNALS[case.kind])
        code = ended(child)
        seconds *= _SOONER
    return code
