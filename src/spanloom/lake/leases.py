"""Leases of fragments by jobs that know nothing of each other: a file for each, made by one of them and locked.

A lease ends when its owner removes it, or dies. On the owner's machine a lock of the system's shows that, which ends
with the process, however it ends. From other machines it is judged by the lease's time, which the owner changes every
few seconds: a lease whose time stays the same, while the one who waits counts his own seconds, is abandoned. Clocks are
never compared, so one that jumps does no harm. Where all that fails, two jobs do the same work, and the second puts
the same file in place of the first one's.
"""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Final

from spanloom.errors import DataError, reason_of
from spanloom.files.staging import locked
from spanloom.files.walk import NO_LINK

BEAT: Final = 5.0
"""Seconds between two signs of life."""
PATIENCE: Final = 60.0
"""Seconds without one after which the lease of another machine is abandoned."""


class Leases:
    """The leases of one job.

    Args:
        folder: where all jobs have them.
        machine: the name of this one.
        patience: seconds.
    """

    def __init__(self, folder: Path, machine: str | None = None, patience: float = PATIENCE) -> None:
        self._folder, self._patience = folder, patience
        self._machine = (machine or _machine()).encode()
        self._held: dict[str, int] = {}
        self._seen: dict[str, tuple[int, float]] = {}

    def take(self, name: str) -> bool:
        """Return whether a fragment is leased by this job from now on.

        Raises:
            DataError: what is in the place of the lease is no file.
            OSError: the system refused.
        """
        path = self._path(name)
        handle: int | None
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
            made = True
        except FileExistsError:
            handle, made = self._abandoned(name, path), False
        if handle is None:
            return False
        if locked(handle) is False and made:  # another job found the new file before it was locked, and has the lease
            os.close(handle)
            return False
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, self._machine)
        self._held[name] = handle
        return True

    def has(self, name: str) -> bool:
        """Return whether a fragment is leased, by whichever job, alive or dead."""
        return self._path(name).exists()

    def beat(self) -> None:
        """Give a sign of life for all leases."""
        for name in self._held:
            with suppress(FileNotFoundError):  # somebody believed us dead; both do the work
                os.utime(self._path(name))

    def release(self, name: str) -> None:
        """Remove a lease."""
        handle = self._held.pop(name)
        if sys.platform == "win32":  # which removes no file that is open, also if another job is looking at it
            os.close(handle)
            with suppress(OSError):
                self._path(name).unlink()
        else:
            with suppress(FileNotFoundError):
                self._path(name).unlink()
            os.close(handle)

    def close(self) -> None:
        """Remove all leases."""
        for name in list(self._held):
            self.release(name)

    def _path(self, name: str) -> Path:
        return self._folder / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.lease"

    def _abandoned(self, name: str, path: Path) -> int | None:
        """Return a handle to the lease of another job, if that job is dead."""
        try:
            handle = os.open(path, os.O_RDWR | NO_LINK)
        except FileNotFoundError:
            return None  # released just now; whoever asks again will see what came of it
        except OSError as error:
            raise DataError(f"not a lease: {reason_of(error)}; remove it", path=path) from None
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            os.close(handle)
            raise DataError("not a lease, but a pipe or the like; remove it", path=path)
        free = locked(handle)
        if free and os.read(handle, len(self._machine) + 1) in (self._machine, b""):
            dead = os.path.lexists(path) and os.path.samestat(status, path.stat())
        else:
            before, since = self._seen.setdefault(name, (status.st_mtime_ns, monotonic()))
            if before != status.st_mtime_ns:
                self._seen[name] = status.st_mtime_ns, monotonic()
            dead = before == status.st_mtime_ns and monotonic() - since > self._patience
        if dead:
            return handle
        os.close(handle)
        return None


def _machine() -> str:
    """Return a name of this machine until it is started again."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    with suppress(OSError):
        return f"{socket.gethostname()} {boot.read_text().strip()}"
    return socket.gethostname()
