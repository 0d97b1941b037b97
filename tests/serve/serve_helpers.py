"""A real server: the command, in a process of its own."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import NamedTuple


class Server(NamedTuple):
    """A running server."""

    url: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(self.url.rstrip("/").rpartition(":")[2])

    def stop(self, number: int = signal.SIGTERM, seconds: float = 60) -> int:
        self.process.send_signal(number)
        return self.process.wait(seconds)


@contextmanager
def running(*arguments: str | Path | float, files: int | None = None) -> Iterator[Server]:
    """``spanloom serve`` with these arguments, on a port that is free; it must end without a traceback.

    Args:
        arguments: of the command.
        files: how many files and connections it may have open.
    """
    command = [sys.executable, "-m", "spanloom.cli", "serve", "--port", "0", *map(str, arguments)]
    if files is not None:
        command = ["bash", "-c", f'ulimit -n {files} && exec "$@"', "bash", *command]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert process.stderr is not None
    line, said = "", list[str]()
    while " at http" not in line:
        line = process.stderr.readline()
        assert line, f"the server ended: {said}"
        said.append(line)
    drain = Thread(target=lambda: said.extend(process.stderr or ()), daemon=True)
    drain.start()
    found = re.search(r" at (http://\S+/),", line)
    assert found
    try:
        yield Server(found[1], process)
        if process.poll() is None:
            process.terminate()
    finally:
        try:
            process.wait(60)
        finally:
            process.kill()
            drain.join(5)
    assert "Traceback" not in "".join(said), "".join(said)
