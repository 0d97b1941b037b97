"""What a run changes in the file system, by Python's audit events, and by the system calls of whole processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_EVENTS = {
    "os.rename": 2, "os.link": 2, "os.symlink": 2, "os.mkdir": 1, "os.remove": 1, "os.rmdir": 1, "os.truncate": 1,
    "os.chmod": 1, "os.chown": 1, "os.utime": 1, "shutil.rmtree": 1, "shutil.move": 2, "shutil.copyfile": 2,
}  # fmt: skip
_RUNNING = ("subprocess.Popen", "os.exec", "os.system", "os.posix_spawn", "socket.connect")
_active: list[list[str]] = []


@contextmanager
def changes() -> Iterator[list[str]]:
    """Yield a list of what this process changes, runs or connects to meanwhile, as ``event path``."""
    if not getattr(changes, "hooked", False):
        sys.addaudithook(_hook)
        changes.hooked = True  # type: ignore[attr-defined]
    found: list[str] = []
    _active.append(found)
    try:
        yield found
    finally:
        _active.remove(found)


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if not _active:
        return
    if event == "open":
        path, _, flags = arguments
        opened = isinstance(path, int)  # a handle, which was seen when it was opened by its path
        names = [path] if isinstance(flags, int) and flags & _FLAGS and not opened else []
    elif event in _EVENTS:
        names = list(arguments[: _EVENTS[event]])
        if event == "os.symlink":  # which changes nothing where it points to
            del names[0]
    elif event in _RUNNING:
        names = [repr(arguments)]
    else:
        return
    for name in names:
        text = os.fsdecode(name) if isinstance(name, str | bytes | os.PathLike) else f"handle {name}"
        if not _is_own(text):
            _active[-1].append(f"{event} {text}")


def _is_own(path: str) -> bool:
    """Return whether a path is one of compiled code, or no file; in ``/dev/shm``, where homes are, files lie."""
    return "__pycache__" in path or (path.startswith(("/dev/", "/proc/")) and not path.startswith("/dev/shm/"))


_CALL = re.compile(r"^(?:\[pid +\d+\] |\d+ +)?(\w+)\((.*)\) += (-?\d+|\?)")
_PATH = re.compile(r'"((?:[^"\\]|\\.)*)"')
_IN_FOLDER = re.compile(r'(?:AT_FDCWD|\d+)<([^>]*)>, "((?:[^"\\]|\\.)*)"')  # as strace writes them with -y
_CALLS = (
    "open,openat,openat2,creat,rename,renameat,renameat2,mkdir,mkdirat,mknod,mknodat,unlink,unlinkat,rmdir,link,linkat,"
    "symlink,symlinkat,truncate,chmod,fchmodat,chown,lchown,fchownat,utimensat,utime,connect"
)


def system_calls(line: Sequence[str | Path], folder: Path, log: Path) -> tuple[int, list[str]]:
    """Run a command line under strace; return its exit code, and the calls that change files, as ``call path``.

    Args:
        line: the command line.
        folder: in which it is run.
        log: a file for what strace writes.
    """
    traced = ["strace", "-f", "-y", "-qq", "-s", "4096", "-e", f"trace={_CALLS}", "-o", str(log), *map(str, line)]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(traced, cwd=folder, env=environment, capture_output=True, check=False)
    found = []
    for text in log.read_text(errors="replace").splitlines():
        match = _CALL.match(text)
        if match is None:
            continue
        call, arguments, result = match.groups()
        if result.startswith("-") or result == "?":
            continue
        if call.startswith("open") and not re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND", arguments):
            continue
        if call == "connect" and "AF_UNIX" in arguments:
            continue
        inside = [os.path.join(*pair) for pair in _IN_FOLDER.findall(arguments)]  # noqa: PTH118
        paths = inside or _PATH.findall(arguments) or [arguments]
        found += [f"{call} {path}" for path in paths if not _is_own(path)]
    return done.returncode, found
