"""Work for requests: two lanes, a bound on what waits for them, and an end in time.

A short request is tried in the lane of short ones. If it takes longer than short ones do, its process is ended, and it
is begun again in the lane of long ones, as are requests with a large body: at the same time as short ones, but in the
background. So a long request delays short ones no longer than a short one may take, whatever its text.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from spanloom.errors import SpanloomError
from spanloom.serve.answers import Job
from spanloom.serve.lanes import Answer, Ended, Lane
from spanloom.serve.limits import SHORT, Limits, Refused
from spanloom.serve.starting import Starter


class Gone(Exception):  # noqa: N818 - no error of ours
    """The client disconnected, so no answer is needed."""


class Ticket:
    """Resources of a request: time, and bytes that it holds in memory.

    Args:
        scope: in which it is served, and which ends when its time does.
    """

    def __init__(self, scope: asyncio.Timeout) -> None:
        self.scope = scope
        self.held = 0
        self.complete = False  # whether its body has come


class Workers:
    """Processes for requests.

    Args:
        starter: of processes.
        places: how many short requests are worked on at once, and how many long ones beside them.
        limits: of requests.
    """

    def __init__(self, starter: Starter, places: int, limits: Limits) -> None:
        self._starter = starter
        self._lanes = [Lane(starter, places, background=background) for background in (False, True)]
        self._limits = limits
        self._held = 0
        self._tickets: set[Ticket] = set()
        self._ending = False

    @asynccontextmanager
    async def open(self, failed: Callable[[SpanloomError], None]) -> AsyncIterator[None]:
        """Start the processes, and leave them alone at the end.

        Args:
            failed: called if none can be started any more.
        """
        for lane in self._lanes:
            await lane.open(failed)
        try:
            yield
        finally:
            for lane in self._lanes:
                lane.close()

    def load(self, name: str, folder: str) -> None:
        """Have one more model, in all work that begins from now on; of those before only the last one is kept.

        Raises:
            SpanloomError: the process that holds the models has ended, or the folder has no model.
        """
        self._starter.load(name, folder)
        for lane in self._lanes:
            lane.renew()

    @asynccontextmanager
    async def ticket(self) -> AsyncIterator[Ticket]:
        """For a request, from its beginning to its answer.

        Raises:
            Refused: too many requests have one, or its time is over.
        """
        if len(self._tickets) >= self._limits.waiting:
            raise _busy()
        try:
            async with asyncio.timeout(0.0 if self._ending else self._limits.seconds) as scope:
                ticket = Ticket(scope)
                self._tickets.add(ticket)
                try:
                    yield ticket
                finally:
                    self._tickets.discard(ticket)
                    self._held -= ticket.held
        except TimeoutError:
            seconds = self._limits.seconds
            if self._ending:
                raise Refused(503, "the server is ending; try again when it is there again") from None
            if not ticket.complete:
                raise Refused(408, f"the body did not come within {seconds:g} s") from None
            late = f"no answer within {seconds:g} s; send less text at once, or try again later"
            raise Refused(503, late) from None

    def end(self) -> None:
        """Give up all requests, and those that still come."""
        self._ending = True
        for ticket in self._tickets:
            ticket.scope.reschedule(asyncio.get_running_loop().time())

    def hold(self, ticket: Ticket, size: int) -> None:
        """Count bytes that a request keeps in memory until its answer.

        Raises:
            Refused: all requests together hold too many.
        """
        if self._held + size > self._limits.held:
            raise _busy()
        self._held += size
        ticket.held += size

    async def run(self, job: Job, raw: bytes, gone: Callable[[], Awaitable[None]]) -> Answer:
        """The answer to a request.

        Args:
            job: what is asked.
            raw: the body.
            gone: returns when the client has hung up.

        Raises:
            Gone: the client has hung up.
        """
        work = asyncio.ensure_future(self._run(job, raw))
        watch = asyncio.ensure_future(gone())
        both: set[asyncio.Future[Any]] = {work, watch}
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            raise Gone
        finally:
            work.cancel()
            watch.cancel()

    async def _run(self, job: Job, raw: bytes) -> Answer:
        short, long = self._lanes
        if len(raw) <= SHORT:
            try:
                return await short.run(job, raw)
            except Ended:
                pass  # a long one, though it did not look so
        try:
            return await long.run(job, raw)
        except Ended:
            raise Refused(500, "the work on this request ended unexpectedly; send less text at once") from None


def _busy() -> Refused:
    return Refused(503, "too many requests are waiting; try again in a moment")
