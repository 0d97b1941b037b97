"""A job that annotates a lake: fragments to processes, each fragment whole or absent, and none lost."""

from __future__ import annotations

import gc
import hashlib
import os
import signal
import socket
import stat
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from spanloom.errors import DataError, ModelError, SpanloomError, plural, reason_of, warnings_as_lines
from spanloom.files.staging import locked, sweep
from spanloom.files.walk import NO_LINK
from spanloom.lake.annotator import Annotator
from spanloom.lake.ledger import Fragment, Ledger, annotate_fragment
from spanloom.native import keep_memory

if TYPE_CHECKING:
    from pyarrow import Schema


DEATHS: Final = 2
"""Workers that a fragment may take with it before it is given up."""
_WAIT = 1.0  # seconds between two looks at fragments that another job has


class Pace(NamedTuple):
    """How far a job is.

    Args:
        fragments: that are done, those of other jobs among them.
        all_fragments: how many there are.
        rows: that this job annotated.
        share: of the bytes of what this job can do, that it has done.
        seconds: since it began.
    """

    fragments: int
    all_fragments: int
    rows: int
    share: float
    seconds: float


@dataclass
class Job:
    """A job; several may work on the same lake, each for itself.

    Args:
        annotator: model and settings.
        fragments: of the lake.
        ledger: of the output.
        jobs: processes.
        stop: whether the first fragment that fails ends it.
        log: called for each fragment that fails, and each worker that dies.
        pace: called with the progress.
        ready: processes that are started already, of which it takes those that it needs.

    Attributes: ``counts`` of what this job annotated; ``failed``, name of a fragment -> why.
    """

    annotator: Annotator
    fragments: Sequence[Fragment]
    ledger: Ledger
    jobs: int
    stop: bool
    log: Callable[[str], object]
    pace: Callable[[Pace], object]
    ready: list[Worker] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)

    def run(self) -> None:
        """Annotate all fragments that are not done yet.

        Raises:
            DataError: a fragment failed, and that is to end the job; or the system refuses to write.
            ModelError: the model is damaged, or was replaced while the job runs.
        """
        self._began, self._deaths = monotonic(), Counter[str]()
        self._waiting = deque(fragment for fragment in self.fragments if self.ledger.record(fragment) is None)
        self._finished = len(self.fragments) - len(self._waiting)
        self._bytes = [0, sum(fragment.size for fragment in self._waiting)]
        self._leases = Leases(self.ledger.folder / "claims")
        workers: list[Worker] = []
        try:
            self._work(workers)
            self._tidy()
        finally:
            for worker in workers:
                worker.kill()
            self._leases.close()

    def _work(self, workers: list[Worker]) -> None:
        beat = monotonic()
        others_logged = False
        while True:
            for worker in self._idle(workers):
                fragment = self._next()
                if fragment is None:
                    break
                worker.give(fragment, self.ledger.place(fragment))
            busy = [worker for worker in workers if worker.fragment is not None]
            if not busy and not self._waiting:
                return
            if not busy and not others_logged:
                others_logged = True
                self.log(f"other jobs are at {plural(len(self._waiting), 'fragment')}; waiting for them")
            received = False
            for worker, event in events(busy, _WAIT):
                received = True
                self._hear(workers, worker, event)
            if monotonic() - beat > BEAT or not received:
                beat = monotonic()
                self._leases.beat()
            done, of = self._bytes
            rows, seconds = self.counts["rows so far"], monotonic() - self._began
            self.pace(Pace(self._finished, len(self.fragments), rows, done / of if of else 1.0, seconds))

    def _tidy(self) -> None:
        """Remove what dead jobs left of fragments that are done: their leases, and what they had just put in place."""
        for fragment in self.fragments:
            name = fragment.name
            if self._leases.has(name) and self.ledger.record(fragment) is not None and self._leases.take(name):
                self._leases.release(name)
        sweep(self.ledger.output)

    def _idle(self, workers: list[Worker]) -> list[Worker]:
        """Return workers without work, as many as there is work for; more are started."""
        needed = min(self.jobs, len(self._waiting) + sum(worker.fragment is not None for worker in workers))
        while len(workers) < needed:
            worker = self.ready.pop() if self.ready else Worker()
            worker.prepare(self.annotator, self.ledger.schema)
            workers.append(worker)
        return [worker for worker in workers if worker.fragment is None]

    def _next(self) -> Fragment | None:
        """Return a fragment that this job has leased; ``None`` if others have all that are left."""
        for _ in range(len(self._waiting)):
            fragment = self._waiting.popleft()
            if self.ledger.record(fragment) is not None:
                self._settled(fragment)
            elif not self._leases.take(fragment.name):
                self._waiting.append(fragment)
            elif self.ledger.record(fragment) is not None:  # another job was done with it just before
                self._leases.release(fragment.name)
                self._settled(fragment)
            else:
                return fragment
        return None

    def _settled(self, fragment: Fragment) -> None:
        self._finished += 1
        self._bytes[1] -= fragment.size

    def _hear(self, workers: list[Worker], worker: Worker, event: Event) -> None:
        fragment = worker.fragment
        assert fragment is not None
        if isinstance(event, int):
            self.counts["rows so far"] += event
            return
        worker.fragment = None
        if isinstance(event, Killed):
            workers.remove(worker)
            worker.kill()
            self._leases.release(fragment.name)
            self._died(fragment, event)
            return
        if isinstance(event, Done):
            try:
                self.ledger.note(fragment, event.counts, event.seconds)
                self.counts.update(event.counts)
                self._finished += 1
                self._bytes[0] += fragment.size
            except SpanloomError as error:
                event = Failed(str(error))
        self._leases.release(fragment.name)
        if isinstance(event, Failed):
            if event.model:
                raise ModelError(event.reason)
            self._fail(fragment, event.reason)

    def _died(self, fragment: Fragment, event: Killed) -> None:
        self._deaths[fragment.name] += 1
        how = _how(event.code)
        if self._deaths[fragment.name] < DEATHS:
            self.log(f"a worker was {how} while it annotated {fragment.name}, which is tried again")
            self._waiting.append(fragment)
        else:
            self._fail(fragment, f"{DEATHS} workers were {how} while they annotated it; it may need more memory")

    def _fail(self, fragment: Fragment, reason: str) -> None:
        self.failed[fragment.name] = reason
        self._bytes[1] -= fragment.size
        if self.stop:
            raise DataError(f"fragment {fragment.name}: {reason}")
        self.log(f"left out: fragment {fragment.name}: {reason}")


def _how(code: int | None) -> str:
    """Return how a worker ended.

    >>> _how(-9), _how(1)
    ('killed (SIGKILL)', 'ended (exit code 1)')
    """
    if code is not None and code < 0:
        return f"killed ({signal.Signals(-code).name})"
    return f"ended (exit code {code})"


# Leases of fragments by jobs that know nothing of each other: a file for each, made by one of them and locked.
#
# A lease ends when its owner removes it, or dies. On the owner's machine a lock of the system's shows that, which ends
# with the process, however it ends. From other machines it is judged by the lease's time, which the owner changes every
# few seconds: a lease whose time stays the same, while the one who waits counts his own seconds, is abandoned. Clocks
# are
# never compared, so one that jumps does no harm. Where all that fails, two jobs do the same work, and the second puts
# the same file in place of the first one's.

BEAT: Final = 5.0
"""Seconds between two signs of life."""
PATIENCE: Final = 60.0
"""Seconds without one after which the lease of another machine is abandoned."""


class Leases:
    """The leases of one job.

    Args:
        folder: where all jobs have them.
        machine: the name of this one.
        patience: seconds.
    """

    def __init__(self, folder: Path, machine: str | None = None, patience: float = PATIENCE) -> None:
        self._folder, self._patience = folder, patience
        self._machine = (machine or _machine()).encode()
        self._held: dict[str, int] = {}
        self._seen: dict[str, tuple[int, float]] = {}

    def take(self, name: str) -> bool:
        """Return whether a fragment is leased by this job from now on.

        Raises:
            DataError: what is in the place of the lease is no file.
            OSError: the system refused.
        """
        path = self._path(name)
        handle: int | None
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
            made = True
        except FileExistsError:
            handle, made = self._abandoned(name, path), False
        if handle is None:
            return False
        if locked(handle) is False and made:  # another job found the new file before it was locked, and has the lease
            os.close(handle)
            return False
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, self._machine)
        self._held[name] = handle
        return True

    def has(self, name: str) -> bool:
        """Return whether a fragment is leased, by whichever job, alive or dead."""
        return self._path(name).exists()

    def beat(self) -> None:
        """Give a sign of life for all leases."""
        for name in self._held:
            with suppress(FileNotFoundError):  # another job believed us dead; both do the work
                os.utime(self._path(name))

    def release(self, name: str) -> None:
        """Remove a lease."""
        handle = self._held.pop(name)
        if sys.platform == "win32":  # which removes no file that is open, also if another job is looking at it
            os.close(handle)
            with suppress(OSError):
                self._path(name).unlink()
        else:
            with suppress(FileNotFoundError):
                self._path(name).unlink()
            os.close(handle)

    def close(self) -> None:
        """Remove all leases."""
        for name in list(self._held):
            self.release(name)

    def _path(self, name: str) -> Path:
        return self._folder / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.lease"

    def _abandoned(self, name: str, path: Path) -> int | None:
        """Return a handle to the lease of another job, if that job is dead."""
        try:
            handle = os.open(path, os.O_RDWR | NO_LINK)
        except FileNotFoundError:
            return None  # released just now; the next call sees the result
        except OSError as error:
            raise DataError(f"not a lease: {reason_of(error)}; remove it", path=path) from None
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            os.close(handle)
            raise DataError("not a lease, but a pipe or the like; remove it", path=path)
        free = locked(handle)
        if free and os.read(handle, len(self._machine) + 1) in (self._machine, b""):
            dead = os.path.lexists(path) and os.path.samestat(status, path.stat())
        else:
            before, since = self._seen.setdefault(name, (status.st_mtime_ns, monotonic()))
            if before != status.st_mtime_ns:
                self._seen[name] = status.st_mtime_ns, monotonic()
            dead = before == status.st_mtime_ns and monotonic() - since > self._patience
        if dead:
            return handle
        os.close(handle)
        return None


def _machine() -> str:
    """Return a name of this machine until it is started again."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    with suppress(OSError):
        return f"{socket.gethostname()} {boot.read_text().strip()}"
    return socket.gethostname()


# Processes that annotate fragments: each has a pipe of its own, so that one that is killed takes nothing with it.


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


Event = int | Done | Failed | Killed
"""What a worker reports; a number is that of rows that were annotated just now."""


class Worker:
    """A process, which imports what it needs while its parent does something else."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), daemon=True)
        if sys.platform == "win32":
            self._process.start()
        else:  # Ctrl-C is for the parent, which ends us, also while we start; the tracker's own start would unblock it
            resource_tracker.ensure_running()
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                self._process.start()
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        self.fragment: Fragment | None = None

    def prepare(self, annotator: Annotator, schema: Schema) -> None:
        """Send it what it works with, and the schema of the outputs; a dead worker is reported by its next event."""
        with suppress(OSError):
            self.pipe.send((annotator, schema))

    def give(self, fragment: Fragment, output: Path) -> None:
        """Let it annotate a fragment; a dead worker is reported by its next event."""
        self.fragment = fragment
        try:
            self.pipe.send((fragment, output))
        except OSError:
            self._process.join()

    def kill(self) -> None:
        """End it at once; what it was writing is as if it had never begun."""
        self._process.kill()
        self._process.join()
        self.pipe.close()

    def event(self) -> Event:
        """Return what it reports, which it has sent already, or that it is dead."""
        try:
            return cast("Event", self.pipe.recv())
        except (EOFError, OSError):
            self._process.join()
            return Killed(self._process.exitcode)


def events(workers: list[Worker], seconds: float) -> Iterator[tuple[Worker, Event]]:
    """Yield what workers report; nothing if they report nothing for so many seconds."""
    ready = wait([worker.pipe for worker in workers], seconds)
    yield from ((worker, worker.event()) for worker in workers if worker.pipe in ready)


def _work(pipe: Connection) -> None:
    """Annotate fragments until the pipe ends, as it does when its parent dies."""
    warnings_as_lines()
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.parquet

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    keep_memory()
    gc.freeze()  # what is imported stays: the collector need not go through it again and again
    gc.set_threshold(50_000)  # batches hold no cycles: their objects are freed by reference counts
    with suppress(EOFError):
        annotator, kept = pipe.recv()
        while True:
            fragment, output = pipe.recv()
            began = monotonic()
            try:
                output.parent.mkdir(parents=True, exist_ok=True)
                for count in annotate_fragment(annotator, fragment, output, kept):
                    pipe.send(count)
                pipe.send(Done(dict(annotator.counts), monotonic() - began))
            except BrokenPipeError:
                return
            except (SpanloomError, OSError, MemoryError) as error:
                pipe.send(Failed(str(error) or type(error).__name__, isinstance(error, ModelError)))
