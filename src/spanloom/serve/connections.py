"""Connections of clients: how many are open at once, and which are closed when others wait.

The server accepts connections itself, one after the other. When as many are open as may be, the one that has been idle
for longest is closed, if that is `PATIENCE` or more; an idle one has sent no whole head of a request. If all are
busy for so long, a few more are accepted, on which only `/health` is served, and all else refused at once. So clients
that open connections and send nothing keep no other client out.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable, Collection
from functools import partial

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from spanloom.serve.protocol import Protocol

if sys.platform != "win32":
    import resource

BACKLOG = 2048  # connections that wait to be accepted
PATIENCE = 1.0
"""Seconds for which a connection may be idle though others wait, and all may be busy before some are refused."""
_MOST = 4096  # connections, where the system allows as many
_SPARE = 8  # for `/health`
_OTHER_FILES = 32  # that the server has open, and four more for each job
_AGAIN = 0.05  # seconds between two looks for room


def most_connections(jobs: int) -> int:
    """Return how many connections may be open, so that the system's limit on open files is not reached."""
    if sys.platform != "win32":
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if files != resource.RLIM_INFINITY:
            return min(_MOST, max(files - _OTHER_FILES - _SPARE - 4 * jobs, files // 2))
    return _MOST


class Listener:
    """Accepts connections; closed and awaited as a server of `asyncio` is.

    Args:
        opened: the socket that clients connect to.
        make: what makes the protocol of a connection, from whether it is a spare one.
        connections: that are open; each enters and leaves the set itself.
        idle: those that wait for the head of a request, the longest first, and since when.
        most: how many connections may be open.
    """

    def __init__(
        self, opened: socket.socket, make: Callable[[bool], Protocol], connections: Collection[object],
        idle: dict[Protocol, float], most: int,
    ) -> None:  # fmt: skip
        self._opened, self._make, self._most = opened, make, most
        self._connections, self._idle = connections, idle
        self._full: float | None = None  # since when all are busy
        opened.listen(BACKLOG)
        opened.setblocking(False)
        self._task = asyncio.ensure_future(self._accept())

    def close(self) -> None:
        """Accept no more connections."""
        self._task.cancel()

    async def wait_closed(self) -> None:
        """Wait until no more are accepted."""
        await asyncio.gather(self._task, return_exceptions=True)

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, _ = await loop.sock_accept(self._opened)
            except OSError:  # the client has gone, or other programs have taken what the system has
                await asyncio.sleep(_AGAIN)
                continue
            spare = await self._room(loop)
            try:
                await loop.connect_accepted_socket(partial(self._make, spare), accepted)
            except OSError:
                accepted.close()

    async def _room(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Wait for room for one more connection; return whether it is a spare one."""
        while len(self._connections) >= self._most:
            self._full = self._full or loop.time()
            oldest = next(iter(self._idle), None)
            if oldest is not None and loop.time() - self._idle[oldest] >= PATIENCE:
                oldest.abort()
                await asyncio.sleep(0)  # until it has ended
            elif loop.time() - self._full >= PATIENCE and len(self._connections) < self._most + _SPARE:
                return True
            else:
                await asyncio.sleep(_AGAIN)
        self._full = None
        return False


def only_health(app: ASGIApp) -> ASGIApp:
    """Return an application that serves `/health`, and refuses all else."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/health":
            await app(scope, receive, send)
            return
        headers = {"Retry-After": "1", "Connection": "close"}
        message = "all connections of the server are in use; try again in a moment"
        await JSONResponse({"error": message}, 503, headers)(scope, receive, send)

    return answer
