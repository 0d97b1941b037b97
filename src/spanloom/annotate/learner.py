"""The server's side of learning: the process, the change of the model, and the order of what to annotate next."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from spanloom.annotate.learning import CURVE, MODEL, read_curve
from spanloom.annotate.suggestions import Suggestions
from spanloom.document import Document
from spanloom.errors import UsageError, one_line
from spanloom.hashing import hash_text
from spanloom.model.protocol import MentionModel, considers
from spanloom.recognize import Recognizer
from spanloom.text import prepare

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


# What to annotate next: documents by what a model does not know, unlike one another, and some at random.
#
# The random share is an unbiased sample: it is for the evaluation of a model that learns from all the others.

Order = Literal["gain", "entropy", "errors", "random"]
ORDERS: Final[tuple[Order, ...]] = ("gain", "entropy", "errors", "random")
_DOCUMENT, _TOKEN = 3.0, 0.4  # seconds of reading
_WIDTH: Final = 2048  # of a vector of hashed words
Floats = NDArray[np.float64]


class Chosen(NamedTuple):
    """A document to annotate.

    Args:
        number: of the document, from 0.
        value: of the measure; 0 where it was drawn at random.
        random: whether it was.
    """

    number: int
    value: float
    random: bool


def ranked(
    documents: Sequence[Document], model: MentionModel | None, count: int, *, by: Order = "gain", share: float = 0.1,
    seed: int = 0,
) -> list[Chosen]:  # fmt: skip
    """Return the documents to annotate next, the first first.

    Args:
        documents: to choose from.
        model: that is to learn from them; none is needed for ``random``.
        count: how many to choose.
        by: ``entropy``, per token; ``errors``, the expected number of mentions that the model gets wrong or misses;
            ``gain``, that number for each second of reading; ``random``.
        share: of those that are chosen, how many are drawn at random from all documents.
        seed: of what is drawn.

    Raises:
        UsageError: a model without probabilities, or without entropy where that is asked for.
    """
    draw = random.Random(seed)
    rest = list(range(len(documents)))
    count = min(count, len(rest))
    drawn = draw.sample(rest, count if by == "random" else min(count, round(share * count)))
    if by == "random":
        return [Chosen(number, 0.0, True) for number in drawn]
    if model is None:
        raise UsageError(f"the order {by} needs a model; name it with --model, or use --order random")
    ready = [prepare(document.copy(mentions=[])) for document in documents]
    lengths = np.array([max(document.token_count, 1) for document in ready])
    values = _entropy(model, ready) / lengths if by == "entropy" else _errors(model, ready)
    if by == "gain":
        values = values / (_DOCUMENT + _TOKEN * lengths)
    open_ = np.ones(len(ready), bool)
    open_[drawn] = False
    others = _diverse(values, ready, open_, count - len(drawn))
    best = [Chosen(number, float(values[number]), False) for number in others]
    for number in drawn:  # spread among the others, so that they are annotated in the same way
        best.insert(draw.randint(0, len(best)), Chosen(number, 0.0, True))
    return best


def _entropy(model: MentionModel, ready: Sequence[Document]) -> Floats:
    if not isinstance(model, Recognizer):
        raise UsageError(f"a {type(model).__name__} has no entropy; order by gain, errors or random")
    ends = np.cumsum([document.sentence_count for document in ready])
    sums = np.concatenate([[0.0], np.cumsum(model.entropy(ready))])
    return cast(Floats, np.diff(np.concatenate([[0.0], sums[ends]])))


def _errors(model: MentionModel, ready: Sequence[Document]) -> Floats:
    """Return the expected number of wrong and missed mentions of each document."""
    if "scores" not in model.capable:
        raise UsageError(f"a {type(model).__name__} gives no probabilities; order by random")
    found = np.array([sum(1 - (one.score or 0.0) for one in document.mentions) for document in model.stream(ready)])
    if considers(model):
        found = found + [sum(one.score or 0.0 for one in document.mentions) for document in model.alternatives(ready)]
    return cast(Floats, found.astype(float))


def _diverse(values: Floats, ready: Sequence[Document], open_: NDArray[np.bool_], count: int) -> list[int]:
    """Return documents by value, each reduced by its likeness to those before it.

    1. A document is the set of its words, hashed, as a vector of length 1.
    2. The next one has the largest value times (1 - its largest cosine with one that was taken).
    """
    vectors = np.zeros((len(ready), _WIDTH), np.float32)
    for row, document in zip(vectors, ready, strict=True):
        row[[hash_text(word.casefold()) % _WIDTH for word in {*document.words}]] = 1
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)
    like = np.zeros(len(ready), np.float32)
    taken: list[int] = []
    for _ in range(count):
        left = np.where(open_, values * (1 - np.minimum(like, 1)), -np.inf)
        number = int(left.argmax())
        taken.append(number)
        open_[number] = False
        like = np.maximum(like, vectors @ vectors[number])
    return taken
