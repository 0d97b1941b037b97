"""A job that annotates a lake: fragments to processes, each fragment whole or absent, and none lost."""

from __future__ import annotations

import signal
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, NamedTuple

from spanloom.errors import DataError, ModelError, SpanloomError, plural
from spanloom.files.staging import sweep
from spanloom.lake.annotator import Annotator
from spanloom.lake.fragments import Fragment
from spanloom.lake.leases import BEAT, Leases
from spanloom.lake.ledger import Ledger
from spanloom.lake.workers import Done, Event, Failed, Killed, Rows, Worker, events

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
        say: called for each fragment that fails, and each worker that dies.
        pace: called with the progress.

    Attributes: ``counts`` of what this job annotated; ``failed``, name of a fragment -> why.
    """

    annotator: Annotator
    fragments: Sequence[Fragment]
    ledger: Ledger
    jobs: int
    stop: bool
    say: Callable[[str], object]
    pace: Callable[[Pace], object]
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
        told_of_others = False
        while True:
            for worker in self._idle(workers):
                fragment = self._next()
                if fragment is None:
                    break
                worker.give(fragment, self.ledger.place(fragment))
            busy = [worker for worker in workers if worker.fragment is not None]
            if not busy and not self._waiting:
                return
            if not busy and not told_of_others:
                told_of_others = True
                self.say(f"other jobs are at {plural(len(self._waiting), 'fragment')}; waiting for them")
            heard = False
            for worker, event in events(busy, _WAIT):
                heard = True
                self._hear(workers, worker, event)
            if monotonic() - beat > BEAT or not heard:
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
        wanted = min(self.jobs, len(self._waiting) + sum(worker.fragment is not None for worker in workers))
        while len(workers) < wanted:
            workers.append(Worker(self.annotator, self.ledger.schema))
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
        if isinstance(event, Rows):
            self.counts["rows so far"] += event.count
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
            self.say(f"a worker was {how} while it annotated {fragment.name}, which is tried again")
            self._waiting.append(fragment)
        else:
            self._fail(fragment, f"{DEATHS} workers were {how} while they annotated it; it may need more memory")

    def _fail(self, fragment: Fragment, reason: str) -> None:
        self.failed[fragment.name] = reason
        self._bytes[1] -= fragment.size
        if self.stop:
            raise DataError(f"fragment {fragment.name}: {reason}")
        self.say(f"left out: fragment {fragment.name}: {reason}")


def _how(code: int | None) -> str:
    """Return how a worker ended.

    >>> _how(-9), _how(1)
    ('killed (SIGKILL)', 'ended (exit code 1)')
    """
    if code is not None and code < 0:
        return f"killed ({signal.Signals(-code).name})"
    return f"ended (exit code {code})"
