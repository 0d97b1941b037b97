"""Work for requests: a few threads, a bound on what waits for them, and an end in time.

A thread cannot be stopped from outside, so a time limit has two halves. The *answer* comes in time: whoever waits is
told when the time is over. The *work* looks at its ticket before each document, and stops there; the document that it
is at is bounded by the limit on text, and its thread serves nobody else until it is done.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from spanloom.serve.limits import Limits, Refused

T = TypeVar("T")


class Gone(Exception):  # noqa: N818 - no error of ours
    """The client hung up, so nobody waits for an answer."""


class Ticket:
    """The time that a request has.

    Args:
        seconds: from now on.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._returned = False

    def hand_back(self) -> None:
        """Nobody wants the result any more."""
        self._returned = True

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return max(0.0, self._deadline - time.monotonic())

    def over(self) -> Refused:
        """What to say when the time is over."""
        return Refused(503, f"no answer within {self._seconds:g} s; send less text at once, or try again later")

    def watch(self, items: Iterable[T]) -> Iterator[T]:
        """The same items; an error in place of the next one when the time is over, or nobody waits.

        >>> list(Ticket(60).watch("ab"))
        ['a', 'b']
        >>> list(Ticket(0).watch("ab"))
        Traceback (most recent call last):
        spanloom.serve.limits.Refused: no answer within 0 s; send less text at once, or try again later
        """
        for item in items:
            if self._returned or not self.left:
                raise self.over()
            yield item


class Workers:
    """Threads for requests.

    Args:
        threads: how many work at once.
        limits: of requests.
    """

    def __init__(self, threads: int, limits: Limits) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="spanloom")
        self._limits = limits
        self._held = 0
        self._requests = 0

    @contextmanager
    def ticket(self) -> Iterator[Ticket]:
        """For a request, from its beginning to its answer.

        Raises:
            Refused: too many requests have one.
        """
        if self._requests >= self._limits.waiting:
            raise _busy()
        self._requests += 1
        try:
            yield Ticket(self._limits.seconds)
        finally:
            self._requests -= 1

    def hold(self, size: int) -> None:
        """Count bytes that a request keeps in memory; `release` them.

        Raises:
            Refused: all requests together hold too many.
        """
        if self._held + size > self._limits.held:
            raise _busy()
        self._held += size

    def release(self, size: int) -> None:
        """Bytes that are no longer kept."""
        self._held -= size

    async def run(self, work: Callable[[], T], ticket: Ticket, size: int, gone: Callable[[], Awaitable[None]]) -> T:
        """The result of some work, done by a thread.

        Args:
            work: called once, or not at all if the time is over before a thread is free.
            ticket: of the work, which looks at it.
            size: bytes that are held until the work has ended, even if nobody waits for it any more.
            gone: returns when the client has hung up.

        Raises:
            Refused: the time is over.
            Gone: the client has hung up.
        """
        loop = asyncio.get_running_loop()
        submitted = self._pool.submit(work)
        submitted.add_done_callback(lambda _: loop.call_soon_threadsafe(self.release, size))
        future = asyncio.wrap_future(submitted)
        watch = asyncio.ensure_future(gone())
        both: set[asyncio.Future[Any]] = {future, watch}
        try:
            await asyncio.wait(both, timeout=ticket.left, return_when=asyncio.FIRST_COMPLETED)
            if future.done():
                return future.result()
        finally:
            left = watch.done()
            watch.cancel()
            ticket.hand_back()
            future.cancel()
        raise Gone if left else ticket.over()

    @contextmanager
    def open(self) -> Iterator[None]:
        """At the end of this context what waits is dropped, and what runs is waited for."""
        try:
            yield
        finally:
            self._pool.shutdown(cancel_futures=True)


def _busy() -> Refused:
    return Refused(503, "too many requests are waiting; try again in a moment")
