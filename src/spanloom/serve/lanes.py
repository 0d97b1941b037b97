"""Requests and the processes that work on them: so many at once, the others wait; abandoned work is cancelled.

A process that becomes free takes the request that has waited for longest, and with it short ones for the same job, so
that all are predicted as one batch: most of the time for a sentence is that of calls, which a batch shares. Nothing
waits for a batch to become larger. If a batch fails, or takes too long, each of its requests is worked on alone.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NamedTuple, Self

from spanloom.errors import SpanloomError
from spanloom.serve.answers import Job
from spanloom.serve.limits import BATCH, BATCH_BYTES, SOON
from spanloom.serve.starting import Starter
from spanloom.serve.worker import AGAIN, ANSWER, framed

_RETRY = 0.1  # seconds after which the system is asked again for what it refused
_BUFFER = 2**20  # bytes of an answer that are taken from a process before they are asked for
_BATCH_TIME = SOON / 2  # seconds of processor time that a batch is meant to take at most
_WEIGHT = 0.2  # of the last batch in the mean time of a request


class Answer(NamedTuple):
    """Answer of a process: an HTTP status, and JSON; and the processor time for the batch, in seconds."""

    status: int
    body: bytes
    seconds: float


class Ended(Exception):  # noqa: N818 - no error of ours
    """The process ended before its answer: it took too long for its lane, too much memory, or a kernel failed."""


@dataclass(eq=False)
class _Process:
    """A process as the event loop sees it; ``models`` is how often they had changed when it was started."""

    _reader: asyncio.StreamReader
    _writer: asyncio.StreamWriter
    _end: Callable[[], None]
    models: int

    @classmethod
    async def start(cls, starter: Starter, background: bool, models: int) -> Self:
        started = starter.start(background)
        reader, writer = await asyncio.open_connection(sock=started.channel, limit=_BUFFER)
        return cls(reader, writer, started.end, models)

    async def answers(self, job: Job, raws: Sequence[bytes]) -> list[Answer]:
        try:
            self._writer.write(framed(job, raws))
            await self._writer.drain()
            found = []
            for _ in raws:
                status, seconds, length = ANSWER.unpack(await self._reader.readexactly(ANSWER.size))
                found.append(Answer(status, await self._reader.readexactly(length), seconds))
            return found
        except (asyncio.IncompleteReadError, ConnectionError):
            raise Ended from None

    @property
    def ended(self) -> bool:
        """True if the process is gone, as after a lack of memory in the system."""
        return self._reader.at_eof()

    def close(self) -> None:
        """End it, whatever it is doing."""
        self._end()
        self._writer.close()


@dataclass(eq=False)
class _Request:
    """A request that waits for its answer, which is cancelled when it is given up."""

    job: Job
    raw: bytes
    answer: asyncio.Future[Answer]
    alone: bool


class Lane:
    """Some processes, and the requests that wait for one of them, first come first served.

    A process whose requests are all given up before their answers is ended, and another one takes its place.

    Args:
        starter: of processes.
        places: how many work at once.
        background: whether each works on one long request in the background; else on many short ones.
    """

    def __init__(self, starter: Starter, places: int, background: bool) -> None:
        self._starter, self._places, self._background = starter, places, background
        self._free: deque[_Process] = deque()
        self._waiting: OrderedDict[_Request, None] = OrderedDict()
        self._seconds: dict[Job, float] = {}  # processor time of a request of each kind, a moving average
        self._tasks: set[asyncio.Task[None]] = set()
        self._models = 0  # how often they changed
        self._failed: Callable[[SpanloomError], None] | None = None

    async def open(self, failed: Callable[[SpanloomError], None]) -> None:
        """Start the processes.

        Args:
            failed: called if none can be started any more.
        """
        self._failed = failed
        for _ in range(self._places):
            await self._start()

    def close(self) -> None:
        """End the processes that are free; start no more."""
        self._failed = None
        while self._free:
            self._free.pop().close()

    def renew(self) -> None:
        """Give no more work to processes that were started before: their models have changed."""
        self._models += 1
        self._seconds.clear()
        for _ in range(len(self._free)):
            self._replace(self._free.popleft())

    async def run(self, job: Job, raw: bytes) -> Answer:
        """The answer of a process.

        Raises:
            Ended: the process ended before its answer.
        """
        alone = self._background or job.verb != "predict"
        request = _Request(job, raw, asyncio.get_running_loop().create_future(), alone)
        self._waiting[request] = None
        self._give()
        try:
            return await request.answer
        finally:
            self._waiting.pop(request, None)

    async def _start(self) -> None:
        while self._failed is not None:
            try:
                self._free.append(await _Process.start(self._starter, self._background, self._models))
            except SpanloomError as error:
                if self._failed is not None:
                    self._failed(error)
                return
            except OSError:  # clients hold all connections that the system allows; some will be closed
                await asyncio.sleep(_RETRY)
            else:
                self._give()
                return

    def _replace(self, process: _Process) -> None:
        process.close()
        if self._failed is not None:
            self._keep(asyncio.ensure_future(self._start()))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _give(self) -> None:
        """Give what waits to the processes that are free."""
        while self._free and self._waiting:
            process = self._free.popleft()
            if process.ended or process.models != self._models:
                self._replace(process)
                continue
            batch = self._batch()
            work = asyncio.ensure_future(self._work(process, batch))
            self._keep(work)
            for request in batch:
                request.answer.add_done_callback(partial(_give_up, work, batch))

    def _batch(self) -> list[_Request]:
        """Take the request that has waited for longest, and those that are worked on together with it."""
        first = next(iter(self._waiting))
        batch, size = [first], len(first.raw)
        seconds = self._seconds.get(_kind(first.job), _BATCH_TIME)
        most = 1 if first.alone else int(_BATCH_TIME / max(seconds, _BATCH_TIME / BATCH))
        for request in islice(self._waiting, 1, None):
            if len(batch) >= most:
                break
            if not request.alone and request.job == first.job and size + len(request.raw) <= BATCH_BYTES:
                batch.append(request)
                size += len(request.raw)
        for request in batch:
            del self._waiting[request]
        return batch

    async def _work(self, process: _Process, batch: list[_Request]) -> None:
        """Answer requests, or have each of them worked on alone, those that look shortest first."""
        kept = False
        try:
            answers = await process.answers(batch[0].job, [request.raw for request in batch])
            kept = not self._background
        except Ended:
            answers = [Answer(AGAIN, b"", SOON * len(batch))] * len(batch)
        finally:
            if kept:
                self._free.append(process)
            else:
                self._replace(process)
        kind, seconds = _kind(batch[0].job), answers[0].seconds / len(batch)
        self._seconds[kind] = (1 - _WEIGHT) * self._seconds.get(kind, seconds) + _WEIGHT * seconds
        both = zip(batch, answers, strict=True)
        for request, answer in sorted(both, key=lambda one: len(one[0].raw), reverse=True):
            if request.answer.done():  # given up
                continue
            if answer.status != AGAIN:
                request.answer.set_result(answer)
            elif len(batch) == 1:
                request.answer.set_exception(Ended())
            else:
                request.alone = True
                self._waiting[request] = None
                self._waiting.move_to_end(request, last=False)
        self._give()


def _give_up(work: asyncio.Task[None], batch: Sequence[_Request], _: object) -> None:
    """End the work on requests that are all given up."""
    if all(request.answer.cancelled() for request in batch):
        work.cancel()


def _kind(job: Job) -> Job:
    """What the time for a request depends on."""
    return job._replace(threshold=0.0)
