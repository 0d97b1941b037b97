"""Requests and the processes that work on them: so many at once, the others wait; abandoned work is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple, Self

from spanloom.errors import SpanloomError
from spanloom.serve.answers import Job
from spanloom.serve.starting import Starter
from spanloom.serve.worker import ANSWER, framed

_AGAIN = 0.1  # seconds after which the system is asked again for what it refused
_BUFFER = 2**20  # bytes of an answer that are taken from a process before they are asked for


class Answer(NamedTuple):
    """Answer of a process: an HTTP status, and JSON."""

    status: int
    body: bytes


class Ended(Exception):  # noqa: N818 - no error of ours
    """The process ended before its answer: it took too long for its lane, too much memory, or a kernel failed."""


class _Process:
    """A process as the event loop sees it."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, end: Callable[[], None], models: int
    ) -> None:
        self._reader, self._writer, self._end = reader, writer, end
        self.models = models  # how often they had changed when it was started

    @classmethod
    async def start(cls, starter: Starter, background: bool, models: int) -> Self:
        started = starter.start(background)
        reader, writer = await asyncio.open_connection(sock=started.channel, limit=_BUFFER)
        return cls(reader, writer, started.end, models)

    async def answer(self, job: Job, raw: bytes) -> Answer:
        try:
            self._writer.write(framed(job, len(raw)))
            self._writer.write(raw)
            await self._writer.drain()
            status, length = ANSWER.unpack(await self._reader.readexactly(ANSWER.size))
            return Answer(status, await self._reader.readexactly(length))
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


class Lane:
    """Some processes, and the requests that wait for one of them, first come first served.

    A process whose request is given up before its answer is ended, and another one takes its place.

    Args:
        starter: of processes.
        places: how many work at once.
        background: whether each works on one long request in the background; else on many short ones.
    """

    def __init__(self, starter: Starter, places: int, background: bool) -> None:
        self._starter, self._places, self._background = starter, places, background
        self._free: asyncio.Queue[_Process] = asyncio.Queue()
        self._starting: set[asyncio.Task[None]] = set()
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
        while not self._free.empty():
            self._free.get_nowait().close()

    def renew(self) -> None:
        """Give no more work to processes that were started before: their models have changed."""
        self._models += 1
        for _ in range(self._free.qsize()):
            self._replace(self._free.get_nowait())

    async def _start(self) -> None:
        while self._failed is not None:
            try:
                self._free.put_nowait(await _Process.start(self._starter, self._background, self._models))
                return
            except SpanloomError as error:
                if self._failed is not None:
                    self._failed(error)
                return
            except OSError:  # clients hold all connections that the system allows; some will be closed
                await asyncio.sleep(_AGAIN)

    def _replace(self, process: _Process) -> None:
        process.close()
        if self._failed is not None:
            task = asyncio.ensure_future(self._start())
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    async def run(self, job: Job, raw: bytes) -> Answer:
        """The answer of the first process that is free.

        Raises:
            Ended: the process ended before its answer.
        """
        process = await self._free.get()
        while process.ended or process.models != self._models:
            self._replace(process)
            process = await self._free.get()
        kept = False
        try:
            found = await process.answer(job, raw)
            kept = not self._background
            return found
        finally:
            if kept:
                self._free.put_nowait(process)
            else:
                self._replace(process)
