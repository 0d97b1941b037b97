"""Start and end of processes for requests: they are copied from one that holds the models, or started afresh.

On Linux a process that has loaded the models and does nothing else is copied (``fork``): that takes milliseconds, and
the copies share the memory of the models. The server itself is not copied, since it holds the connections of clients.
Elsewhere copying is not safe, and each process loads the models itself.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from struct import Struct
from typing import NamedTuple, Protocol

from spanloom.errors import SpanloomError
from spanloom.serve.limits import Limits
from spanloom.serve.served import Served, open_models
from spanloom.serve.worker import work

_ORDER = Struct("!BQ")
_START, _START_BACKGROUND, _END, _LOAD = range(4)
_LONGEST = 16 * 1024  # bytes of an order
_ENDED = "the process that holds the models has ended; start the server again"


class Started(NamedTuple):
    """A process that works on requests.

    Args:
        channel: to it, not blocking.
        end: ends it, whatever it is doing.
    """

    channel: socket.socket
    end: Callable[[], None]


class Starter(Protocol):
    """Starter of processes for requests."""

    def start(self, background: bool) -> Started:
        """Start one; see `spanloom.serve.worker.work`."""

    def load(self, name: str, folder: str) -> None:
        """Have one more model in all processes that are started from now on; of those before only the last is kept.

        Raises:
            SpanloomError: the process that holds the models has ended, or the folder has no model.
        """

    def close(self) -> None:
        """End all of them."""


def starter(models: Mapping[str, Served], limits: Limits, opened: socket.socket) -> Starter:
    """Return the starter of processes for this system.

    Args:
        models: by name, loaded.
        limits: of requests.
        opened: the server's socket, which no other process may keep.
    """
    if sys.platform == "linux":  # a statement, which type checkers leave out elsewhere
        made: Starter = Copies(models, limits, opened)
    else:
        made = Loaded(models, limits)
    return made


if sys.platform != "win32":  # which has no copies of processes

    class Copies:
        """Processes that are copies of one that holds the models.

        Args:
            models: by name, loaded.
            limits: of requests.
            opened: the server's socket.
        """

        def __init__(self, models: Mapping[str, Served], limits: Limits, opened: socket.socket) -> None:
            self._orders, orders = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._count = 0
            self._process = _forked(lambda: _copy(orders, models, limits), opened, self._orders)
            orders.close()

        def start(self, background: bool) -> Started:
            """Start one.

            Raises:
                SpanloomError: the process that is copied has ended.
                OSError: the system has no more connections now.
            """
            self._count += 1
            number = self._count
            ours, theirs = socket.socketpair()
            ours.setblocking(False)
            with theirs:
                try:
                    order = _ORDER.pack(_START_BACKGROUND if background else _START, number)
                    socket.send_fds(self._orders, [order], [theirs.fileno()])
                except OSError as error:
                    ours.close()
                    if isinstance(error, ConnectionError):
                        raise SpanloomError(_ENDED) from None
                    raise
            return Started(ours, lambda: self._end(number))

        def load(self, name: str, folder: str) -> None:
            """Have the process load it before it is copied again; if it cannot, requests to the model are errors."""
            order = _ORDER.pack(_LOAD, 0) + json.dumps([name, folder]).encode()
            try:
                self._orders.send(order)
            except OSError:
                raise SpanloomError(_ENDED) from None

        def _end(self, number: int) -> None:
            with suppress(OSError):  # it has ended, and all of them with it
                self._orders.send(_ORDER.pack(_END, number))

        def close(self) -> None:
            """End all of them."""
            self._orders.close()
            with suppress(ChildProcessError):  # closed before
                os.waitpid(self._process, 0)

    def _copy(orders: socket.socket, models: Mapping[str, Served], limits: Limits) -> None:
        """Make copies of this process and end them, as it is ordered, until no more are ordered."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        running: dict[int, int] = {}  # number of the order -> process, which is not another's as long as we do not wait
        while True:
            order, channels, _, _ = socket.recv_fds(orders, _LONGEST, 1)
            for ended in [number for number, process in running.items() if os.waitpid(process, os.WNOHANG)[0]]:
                del running[ended]
            if not order:
                break
            kind, number = _ORDER.unpack_from(order)
            if kind == _LOAD:
                try:
                    models = _with_model(models, *json.loads(order[_ORDER.size :]))
                except Exception:  # of any kind: the other models are still served
                    traceback.print_exc()
                continue
            if kind == _END:
                if number in running:
                    os.kill(running[number], signal.SIGKILL)
                continue
            channel = socket.socket(fileno=channels[0])
            background = kind == _START_BACKGROUND
            with channel, suppress(OSError):  # where the system makes no more processes, the channel ends
                running[number] = _forked(partial(work, channel, models, limits, background), orders)
        for process in running.values():
            os.kill(process, signal.SIGKILL)

    def _forked(run: Callable[[], None], *closed: socket.socket) -> int:
        """A copy of this process that runs something, without some sockets, and ends."""
        process = os.fork()
        if process:
            return process
        code = 1
        try:
            for one in closed:
                one.close()
            run()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)


class Loaded:
    """Processes that load the models themselves.

    Args:
        models: by name; those that were loaded from a folder.
        limits: of requests.
    """

    def __init__(self, models: Mapping[str, Served], limits: Limits) -> None:
        self._models, self._limits = dict(models), limits
        self._context = multiprocessing.get_context("spawn")
        self._running: set[multiprocessing.process.BaseProcess] = set()

    def start(self, background: bool) -> Started:
        """Start one."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            arguments = (theirs, self._models, self._limits, background)
            process = self._context.Process(target=work, args=arguments, daemon=True)
            process.start()
        self._running = {other for other in self._running if other.is_alive()} | {process}
        return Started(ours, process.kill)

    def load(self, name: str, folder: str) -> None:
        """Load it here and in each process."""
        self._models = _with_model(self._models, name, folder)

    def close(self) -> None:
        """End all of them."""
        for process in self._running:
            process.kill()
            process.join()


def _with_model(models: Mapping[str, Served], name: str, folder: str) -> dict[str, Served]:
    """Return the last model and one more, which is loaded."""
    return dict(list(models.items())[-1:]) | open_models([f"{name}={folder}"])
