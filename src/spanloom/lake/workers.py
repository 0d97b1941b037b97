"""Processes that annotate fragments: each has a pipe of its own, so that one that is killed takes nothing with it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from spanloom.errors import ModelError, SpanloomError, warnings_as_lines
from spanloom.lake.annotator import Annotator
from spanloom.lake.fragments import Fragment, annotate_fragment

if TYPE_CHECKING:
    from pyarrow import Schema


@dataclass(frozen=True)
class Rows:
    """Rows that were annotated just now.

    Args:
        count: how many.
    """

    count: int


class Done(NamedTuple):
    """A fragment is in place.

    Args:
        counts: of rows, mentions and problems.
        seconds: that it took.
    """

    counts: dict[str, int]
    seconds: float


class Failed(NamedTuple):
    """A fragment cannot be annotated.

    Args:
        reason: why.
        model: whether it is the model's fault, so that no other fragment can be annotated.
    """

    reason: str
    model: bool = False


class Killed(NamedTuple):
    """A worker died.

    Args:
        code: its exit code; negative, a signal.
    """

    code: int | None


Event = Rows | Done | Failed | Killed


class Worker:
    """A process.

    Args:
        annotator: what it works with.
        schema: of the outputs.
    """

    def __init__(self, annotator: Annotator, schema: Schema) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_work, args=(theirs, annotator, schema.serialize().to_pybytes()), daemon=True
        )
        self._process.start()
        theirs.close()
        self.fragment: Fragment | None = None

    def give(self, fragment: Fragment, output: Path) -> None:
        """Let it annotate a fragment; a dead worker is reported by its next event."""
        self.fragment = fragment
        try:
            self._pipe.send((fragment, output))
        except OSError:
            self._process.join()

    def kill(self) -> None:
        """End it at once; what it was writing is as if it had never begun."""
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def _event(self) -> Event:
        try:
            event: Event = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            return Killed(self._process.exitcode)
        return event


def events(workers: list[Worker], seconds: float) -> Iterator[tuple[Worker, Event]]:
    """Yield what workers report; nothing if they report nothing for so many seconds."""
    pipes = {worker._pipe: worker for worker in workers}
    for pipe in wait(list(pipes), seconds):
        worker = pipes[pipe]  # type: ignore[index]
        yield worker, worker._event()


def _work(pipe: Connection, annotator: Annotator, schema: bytes) -> None:
    """Annotate fragments until the pipe ends, as it does when its parent dies."""
    warnings_as_lines()
    import pyarrow as pa

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    kept = pa.ipc.read_schema(pa.py_buffer(schema))
    while True:
        try:
            fragment, output = pipe.recv()
        except EOFError:
            return
        began = monotonic()
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            for count in annotate_fragment(annotator, fragment, output, kept):
                pipe.send(Rows(count))
            pipe.send(Done(dict(annotator.counts), monotonic() - began))
        except BrokenPipeError:
            return
        except (SpanloomError, OSError, MemoryError) as error:
            pipe.send(Failed(str(error) or type(error).__name__, isinstance(error, ModelError)))
