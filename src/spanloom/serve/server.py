"""The server: one process, one event loop, a few threads; it ends when it is asked to, after what it is doing."""

from __future__ import annotations

import asyncio
import errno
import math
import signal
import socket
from collections.abc import Callable, Mapping
from typing import Any

import uvicorn

from spanloom.errors import UsageError
from spanloom.hypergraph.threads import worker_count
from spanloom.serve.api import make_api
from spanloom.serve.guard import LOOPBACK, Guard, is_loopback
from spanloom.serve.limits import Limits
from spanloom.serve.served import Served
from spanloom.serve.work import Workers

_BACKLOG = 2048  # connections that wait to be accepted


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
    """Where the server will be found."""
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def serve(
    models: Mapping[str, Served], opened: socket.socket, *, host: str, limits: Limits, n_jobs: int | None,
    started: Callable[[], object],
) -> int:  # fmt: skip
    """Serve until a signal says to stop (SIGINT, SIGTERM); requests in flight are finished.

    Args:
        models: by name; the first is used where a request names none.
        opened: as `bind` gives it.
        host: as it was asked for; where it is of this machine only, requests must call it by a name of this machine.
        limits: of requests.
        n_jobs: requests that are worked on at once; -1 for as many as there are cores.
        started: called when connections are taken.

    Returns:
        The signal.
    """
    workers = Workers(worker_count(n_jobs), limits)
    names = {*LOOPBACK, host.lower()} if is_loopback(host) else None
    app = Guard(make_api(models, limits, workers), names)
    config = uvicorn.Config(
        app, interface="asgi3", lifespan="off", ws="none", log_config=None, log_level="error", access_log=False,
        server_header=False, proxy_headers=False, backlog=_BACKLOG,
        timeout_graceful_shutdown=math.ceil(limits.seconds) + 1,
    )  # fmt: skip
    return asyncio.run(_run(_Server(config), workers, opened, started))


class _Server(uvicorn.Server):
    """Keeps the signal that ended it, which the plain one would raise once more."""

    signal = 0

    def handle_exit(self, sig: int, frame: object) -> None:
        self.signal = self.signal or sig
        super().handle_exit(sig, None)
        self._captured_signals.clear()


async def _run(server: _Server, workers: Workers, opened: socket.socket, started: Callable[[], object]) -> int:
    asyncio.get_running_loop().set_exception_handler(_tell)
    with workers.open():
        serving = asyncio.ensure_future(server.serve(sockets=[opened]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        started()
        await serving
    return signal.Signals(server.signal) if server.signal else 0


def _tell(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what went wrong outside of a request, but for one thing.

    Where the system lets us open no more connections, those that come wait until others are closed. The loop tries
    again by itself a second later, and says so thousands of times; and if the server ends within that second, it tries
    with a socket that is closed.
    """
    error = context.get("exception")
    crowded = isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)
    late = isinstance(error, ValueError) and "_start_serving" in context["message"]
    if not (crowded or late):
        loop.default_exception_handler(context)
