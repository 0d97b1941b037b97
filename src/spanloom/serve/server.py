"""The server: one event loop that works on nothing itself, and processes that do; it ends soon when it is asked to.

What is then being worked on has a few seconds to be finished in; whatever takes longer is refused and ended.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing

import uvicorn
from starlette.types import ASGIApp

from spanloom.errors import SpanloomError, UsageError
from spanloom.parallel import worker_count
from spanloom.serve.api import make_api
from spanloom.serve.connections import Listener, most_connections, only_health
from spanloom.serve.guard import LOOPBACK, Guard, is_loopback
from spanloom.serve.limits import GRACE, Limits
from spanloom.serve.protocol import Protocol
from spanloom.serve.served import Served
from spanloom.serve.starting import Starter, starter
from spanloom.serve.work import Workers

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
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"{host}, port {port}: {reason}; choose others with --host and --port") from None
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
