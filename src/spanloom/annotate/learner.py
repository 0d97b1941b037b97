"""The server's side of learning: the process, and the change of the model."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from spanloom.annotate.learning import CURVE, MODEL, read_curve
from spanloom.annotate.suggestions import Suggestions
from spanloom.errors import UsageError, one_line

_AGAIN: Final = 5.0  # seconds before a process that ended is started again
_LINE: Final = 2**20  # bytes


def check_folder(folder: str, data: str) -> str | None:
    """Return the model in a folder in which an earlier run has learned; ``None`` before the first model.

    Raises:
        UsageError: the folder has other content, or is within the data.
    """
    place, source = Path(folder), Path(data)
    if source.is_dir() and place.resolve().is_relative_to(source.resolve()):
        raise UsageError(f"--learn {folder} is in the folder of the data, where nothing is written; name another")
    if place.exists() and not (place.is_dir() and ((place / CURVE).is_file() or not any(place.iterdir()))):
        raise UsageError(f"--learn {folder} is there, and not of an earlier run; name a new folder")
    place.mkdir(parents=True, exist_ok=True)
    return str(place / MODEL) if (place / MODEL).is_dir() else None


class Learner:
    """Learning in the background.

    Args:
        suggestions: of which the model is replaced.
        store: the file.
        folder: of the model and the curve.
        model: that is there at the beginning.
        log: writes to the log.
    """

    def __init__(
        self, suggestions: Suggestions, store: str, folder: str, model: str | None, log: Callable[[str], object]
    ) -> None:
        self._suggestions, self._store, self._folder, self._log = suggestions, store, folder, log
        self._model = model
        self._state: dict[str, Any] = {"state": "waiting", "reason": "no document was finished since the start"}
        self._models = 0  # that took the place of another
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start, unless that was done before; within the event loop."""
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())

    def record(self) -> dict[str, Any]:
        """Return what the page shows: what is going on, the curve, and how often the model was replaced."""
        return {**self._state, "curve": read_curve(Path(self._folder)), "models": self._models}

    async def _run(self) -> None:
        while True:
            arguments = [self._store, self._folder, *([self._model] if self._model else [])]
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "spanloom.annotate.learning", *arguments, limit=_LINE,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            )  # fmt: skip
            try:
                await self._listen(process)
            finally:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
            self._state = {"state": "waiting", "reason": "the process that learns has ended, and is started again"}
            self._log(f"spanloom: {self._state['reason']} in {_AGAIN:g} s")
            await asyncio.sleep(_AGAIN)

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None and process.stdin is not None
        while line := await process.stdout.readline():
            try:
                message = json.loads(line)
            except ValueError:
                continue  # the library of another wrote to standard output
            self._state = message
            if message["state"] != "learned":
                continue
            found = message["round"]
            before = "no model" if found["before"] is None else f"{100 * found['before']:.1f}"
            text = f"F1 {100 * found['f1']:.1f} after {before}, on {found['held']} held out"
            if not found["used"]:
                text = f"{text}; not used: {found['why']}"
                self._log(f"spanloom: learned from {found['finished']} finished documents: {text}")
                continue
            self._model = str(Path(self._folder) / MODEL)
            problem = await self._suggestions.replace(self._model)
            if problem:
                self._log(f"spanloom: the model that was learned cannot be used: {one_line(problem)}")
            else:
                self._models += 1
                self._log(f"spanloom: learned from {found['finished']} finished documents: {text}; it suggests now")
            process.stdin.write(b"loaded\n")
            await process.stdin.drain()
