"""Something happens at the k-th step of a process: a call that changes what is on the disk, or waits for it.

Steps are calls of `os` and of the file system's locks, files opened to be written and what is written to them, under
one folder. The calls themselves are the real ones; what happens, happens before the k-th.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spanloom.files import staging

KINDS = ("full disk", "dead disk", "kill -9", "SIGTERM", "SIGINT")
_SIGNALS = {"kill -9": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}
_CALLS = ("mkdir", "rename", "replace", "link", "unlink", "remove", "rmdir", "fsync", "chmod", "open")
_FREEING = ("unlink", "remove", "rmdir", "flock")  # need no space


class Injector:
    """What happens in a forked process.

    Args:
        k: at which step, from 1.
        kind: of `KINDS`: this step fails, or it and all later ones do, or a signal comes.
        folder: calls about other places are no steps.
        fired: a file that is made when it happens.
        exchange: whether the system can exchange two names.
    """

    def __init__(self, k: int, kind: str, folder: Path, fired: Path, exchange: bool) -> None:
        self._k, self._kind, self._folder, self._fired, self._exchange = k, kind, str(folder), fired, exchange
        self._steps = 0

    def install(self) -> None:
        """For the rest of this process' life."""
        self._opens, self._real_open = io.open, os.open
        for name in _CALLS:
            setattr(os, name, self._stepped(getattr(os, name)))
        fcntl.flock = self._stepped(fcntl.flock)  # type: ignore[assignment]
        io.open = self._open  # type: ignore[assignment]
        real = staging.exchange
        staging.exchange = lambda one, other: self._exchange and self._survives() and real(one, other)

    def _stepped(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **more: Any) -> Any:
            if self._is_step(real.__name__, arguments, more):
                self._step()
            return real(*arguments, **more)

        return call

    def _is_step(self, name: str, arguments: tuple[Any, ...], more: dict[str, Any]) -> bool:
        if name == "open" and not arguments[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return False
        if name in _FREEING and self._kind == "full disk":
            return False
        if isinstance(arguments[0], int) or "dir_fd" in more:
            return True
        return os.fspath(arguments[0]).startswith(self._folder)

    def _open(self, file: Any, mode: str = "r", *arguments: Any, **more: Any) -> Any:
        """As `open`, but each write to the system is a step."""
        if isinstance(file, int) or "opener" in more or "r" in mode or not os.fspath(file).startswith(self._folder):
            return self._opens(file, mode, *arguments, **more)
        self._step()
        raw = _Raw(file, mode.replace("b", "").replace("t", ""))
        raw.step = self._step
        buffered = io.BufferedWriter(raw)
        if "b" in mode:
            return buffered
        text = {"encoding": "utf-8", **{key: more[key] for key in ("encoding", "newline") if more.get(key) is not None}}
        return io.TextIOWrapper(buffered, **text)

    def _survives(self) -> bool:
        try:
            self._step()
        except OSError:
            return False
        return True

    def _step(self) -> None:
        self._steps += 1
        if self._steps == self._k:
            os.close(self._real_open(self._fired, os.O_CREAT | os.O_WRONLY))
            if self._kind in _SIGNALS:
                os.kill(os.getpid(), _SIGNALS[self._kind])
        if self._kind == "full disk" and self._steps == self._k:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self._kind == "dead disk" and self._steps >= self._k:
            raise OSError(errno.EIO, os.strerror(errno.EIO))


class _Raw(io.FileIO):
    step: Callable[[], None]

    def write(self, data: Any) -> int:
        self.step()
        return super().write(data)
