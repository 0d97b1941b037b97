"""The server: one event loop that works on nothing itself, and processes that do; it ends soon when it is asked to.

What is then being worked on has a few seconds to be finished in; whatever takes longer is refused and ended.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import closing
from functools import partial

import uvicorn
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from spanloom.errors import SpanloomError, UsageError, reason_of
from spanloom.parallel import worker_count
from spanloom.serve.api import make_api
from spanloom.serve.guard import LOOPBACK, Guard, is_loopback
from spanloom.serve.limits import GRACE, Limits
from spanloom.serve.protocol import Protocol
from spanloom.serve.served import Served
from spanloom.serve.starting import Starter, starter
from spanloom.serve.work import Workers

if sys.platform != "win32":
    import resource

_MORE = 2  # seconds in which the last answers are sent


def bind(host: str, port: int) -> socket.socket:
    """A socket that will take connections once the server runs.

    Args:
        host: an address, or a name of this machine.
        port: 0 for any that is free.

    Raises:
        UsageError: the address cannot be had.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        opened = socket.socket(family, kind, protocol)
        if sys.platform == "win32":  # where SO_REUSEADDR would take an address that another program listens on
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind(address)
        except OSError:
            opened.close()
            raise
    except OSError as error:
        raise UsageError(f"{host}, port {port}: {reason_of(error)}; choose others with --host and --port") from None
    return opened


def url(opened: socket.socket) -> str:
    """Return the address of the server."""
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def serve(
    models: Mapping[str, Served], opened: socket.socket, *, host: str, limits: Limits, n_jobs: int | None,
    started: Callable[[], object], names: Iterable[str] = (), start: Starter | None = None,
    make: Callable[[Mapping[str, Served], Limits, Workers], ASGIApp] = make_api,
) -> int:  # fmt: skip
    """Serve until SIGINT or SIGTERM; requests in flight have a few seconds to finish.

    Args:
        models: by name; the first is used where a request names none.
        opened: as `bind` gives it.
        host: as it was asked for; where it is of this machine only, requests must call it by a name of this machine.
        limits: of requests.
        n_jobs: short requests that are worked on at once, and as many long ones in the background; -1 for as many as
            there are cores.
        started: called when connections are taken.
        names: by which requests may call the server, too. Without names, a server that is not local takes any.
        start: what starts processes; what the system is best at when ``None``.
        make: the application that is served.

    Returns:
        The signal.

    Raises:
        SpanloomError: the process that holds the models was ended from outside.
    """
    known = {*LOOPBACK, host.lower(), *map(str.lower, names)} if names or is_loopback(host) else None
    with closing(start or starter(models, limits, opened)) as processes:
        jobs = worker_count(n_jobs)
        workers = Workers(processes, jobs, limits)
        api = make(models, limits, workers)
        config = uvicorn.Config(
            Guard(api, known), interface="asgi3", http=Protocol, lifespan="off", ws="none", log_config=None,
            log_level="error", access_log=False, server_header=False, proxy_headers=False,
            timeout_graceful_shutdown=GRACE + _MORE,
        )  # fmt: skip
        server = _Server(config, limits, most_connections(jobs), Guard(only_health(api), known))
        return asyncio.run(_run(server, workers, opened, started))


class _Server(uvicorn.Server):
    """Accepts connections by a `Listener`, and keeps the signal that ended it, which the plain one would raise."""

    signal = 0

    def __init__(self, config: uvicorn.Config, limits: Limits, most: int, spare: ASGIApp) -> None:
        super().__init__(config)
        self._limits, self._most, self._spare = limits, most, spare

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        idle: dict[Protocol, float] = {}

        def make(spare: bool) -> Protocol:
            return Protocol(
                self.config, self.server_state, self.lifespan.state, limits=self._limits, idle=idle,
                app=self._spare if spare else None,
            )  # fmt: skip

        [opened] = sockets or []
        self.servers = [Listener(opened, make, self.server_state.connections, idle, self._most)]  # type: ignore[list-item]
        self.started = True

    def handle_exit(self, sig: int, frame: object) -> None:
        self.signal = self.signal or sig
        super().handle_exit(sig, None)
        self._captured_signals.clear()


async def _run(server: _Server, workers: Workers, opened: socket.socket, started: Callable[[], object]) -> int:
    failures: list[SpanloomError] = []

    def failed(error: SpanloomError) -> None:
        failures.append(error)
        server.should_exit = True

    async with workers.open(failed):
        serving = asyncio.ensure_future(server.serve(sockets=[opened]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        started()
        ending = asyncio.ensure_future(_end(server, workers))
        await serving
        ending.cancel()
    if failures:
        raise failures[0]
    return signal.Signals(server.signal) if server.signal else 0


async def _end(server: _Server, workers: Workers) -> None:
    """Once the server is to end, give up what is not finished some seconds later."""
    while not server.should_exit:
        await asyncio.sleep(0.1)
    await asyncio.sleep(GRACE)
    logging.getLogger("uvicorn.error").disabled = True  # what clients do not take in time is dropped, and no error
    workers.end()


# Connections of clients: how many are open at once, and which are closed when others wait.
#
# The server accepts connections itself, one after the other. When as many are open as may be, the one that has been
# idle for longest is closed, if that is `PATIENCE` or more; an idle one has sent no whole head of a request. If all are
# busy for so long, a few more are accepted, on which only `/health` is served, and all else refused at once. So clients
# that open connections and send nothing keep no other client out.

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
