"""A process that learns from a store, again and again, while people annotate: ``python -m spanloom.annotate.learning``.

1. Documents are numbered in the order in which they were first finished. Of each ten one, drawn at random, is held out
   (of the first ten, the second or the third): no model learns from it, also when it is open again.
2. Finished documents are learned from as complete, others with any annotation as at least what is marked, with
   what was rejected as no mention. Until there are enough complete mentions to estimate how many to expect, only
   the finished sentences of these count.
3. The new model takes the place of the present one if its F1 on the finished held-out documents is larger. A model
   that was there at the start has learned from other text: it is replaced only if these documents have 20 mentions or
   more, and approximate randomization over their sentences gives p < 0.05. A model of an earlier round has learned in
   the same way from fewer documents; no more is asked.

What happens is written to standard output, one JSON object a line. The process ends when standard input does.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from spanloom.document import Document
from spanloom.errors import SpanloomError, UsageError
from spanloom.evaluate import paired_test, score
from spanloom.files.output import output_files
from spanloom.formats.store import ADJUDICATED, Store, document_of
from spanloom.hashing import hash_text
from spanloom.model.protocol import MentionModel, finds_mentions
from spanloom.models import load
from spanloom.recognize import Recognizer
from spanloom.text import prepare

MODEL: Final = "model"
CURVE: Final = "curve.json"
_TENTH: Final = 10
_ENOUGH: Final = 20  # complete mentions; with fewer the density is unknown, and models are not compared
_LEVEL: Final = 0.05  # of the test of two models
_POLL: Final = 1.0  # seconds between two looks at the store
_NICE: Final = 19  # actions of annotators come first
# parameters of a model that name files, or what another model learned
_ITS_OWN: Final = frozenset((
    "encoder", "checkpoint", "clusters", "vocabulary", "vectors", "link", "sections", "types", "density", "annotation",
    "n_jobs",
))  # fmt: skip


class Lesson(NamedTuple):
    """What a store has to learn from.

    Args:
        known: documents to learn from.
        held: finished documents that are held out.
        finished: how many of `known` are.
    """

    known: list[Document]
    held: list[Document]
    finished: int


class Round(NamedTuple):
    """One training.

    Args:
        time: when it ended, in UTC.
        seconds: that it took.
        finished: documents that were learned from and are finished.
        mentions: that were learned from.
        held: documents that F1 is on.
        f1: of the new model.
        before: that of the present model on the same documents; ``None`` if there was none.
        used: whether the new model took its place.
        why: it did not; empty if it did.
    """

    time: str
    seconds: float
    finished: int
    mentions: int
    held: int
    f1: float
    before: float | None
    used: bool
    why: str


def is_held_out(place: int, seed: str) -> bool:
    """Return whether the document that was finished as the nth is held out, from 0.

    >>> [sum(is_held_out(place, "a") for place in range(first, first + 10)) for first in (0, 10, 20)]
    [1, 1, 1]
    >>> any(is_held_out(place, "a") for place in (1, 2))
    True
    """
    block, place = divmod(place, _TENTH)
    drawn = hash_text(f"{seed} {block}")
    return place == (1 + drawn % 2 if block == 0 else drawn % _TENTH)


def lesson(store: Store) -> Lesson:
    """Return what a store has to learn from now."""
    rows = store.connection.execute(
        "SELECT document FROM actions WHERE json_extract(changes, '$.d') = 'finished' GROUP BY document"
        " ORDER BY min(number)"
    )
    numbers = store.numbers()
    seed = next(iter(numbers), "")
    held_out = {number for place, (number,) in enumerate(rows) if is_held_out(place, seed)}
    finished: list[Document] = []
    held: list[Document] = []
    others: list[Document] = []
    for number in numbers.values():
        there = store.layers(number)
        names = [ADJUDICATED] if ADJUDICATED in there else there or [""]
        states = {name: store.state(number, name) for name in names}
        # of several annotators one who has finished, so that nothing is learned twice
        name = next((name for name in names if states[name].values.get("d") == "finished"), names[0])
        document = prepare(document_of(store.record(number), states[name], name))
        if states[name].values.get("d") == "finished":
            (held if number in held_out else finished).append(document)
        elif number not in held_out and (document.mentions or states[name].version):
            annotation = document.meta.get("annotation", "at-least")
            others.append(document.copy(meta={**document.meta, "annotation": annotation}))
    if sum(len(one.mentions) for one in finished) < _ENOUGH:
        others = [_finished_zones(one) for one in others]
    return Lesson([*finished, *others], held, len(finished))


def _finished_zones(document: Document) -> Document:
    """Return a document of which only finished sentences count."""
    annotation = document.meta["annotation"]
    if annotation == "complete":
        return document
    zones = annotation.get("zones", []) if isinstance(annotation, dict) else []
    return document.copy(meta={**document.meta, "annotation": {"default": "unknown", "zones": zones}})


def learned(found: Lesson, present: MentionModel | None) -> Recognizer:
    """Train on a lesson, with the parameters of the present model if that is a recognizer on features.

    Raises:
        DataError: there is too little to learn from.
    """
    # `shared` holds mentions of all shapes; no second stage, so that a model comes soon
    given: dict[str, Any] = {"structure": "shared", "features": "fast", "rescore": False}
    if isinstance(present, Recognizer) and present.encoder is None:
        parameters = present.get_params()
        given = {name: value for name, value in parameters.items() if name not in _ITS_OWN}
        if isinstance(parameters["clusters"], int):
            given["clusters"] = parameters["clusters"]
        if parameters["vectors"] in (None, "none", "english"):
            given["vectors"] = parameters["vectors"]
    return Recognizer(**given).fit(found.known)


class Comparison(NamedTuple):
    """Two models on held-out documents.

    Args:
        f1: of the new model.
        before: that of the present model; ``None`` without one.
        why: the present model stays; empty if it gives way.
    """

    f1: float
    before: float | None
    why: str


def compared(
    held: Sequence[Document], new: Sequence[Document], present: Sequence[Document] | None, *, earlier: bool
) -> Comparison:
    """Compare what a new model and the present one find in held-out documents.

    Args:
        held: finished documents.
        new: what the new model finds.
        present: what the present one finds; ``None`` without one.
        earlier: the present model is of an earlier round.

    >>> from spanloom.document import Mention
    >>> held = [Document("pain", id=str(number), mentions=[Mention("problem", [(0, 4)])]) for number in range(12)]
    >>> compared(held, held, [one.copy(mentions=[]) for one in held], earlier=False)
    Comparison(f1=1.0, before=0.0, why='12 of 20 held-out mentions')
    """
    f1 = score(held, new).f1
    if present is None:
        return Comparison(f1, None, "" if f1 > 0 else "F1 is 0")
    before = score(held, present).f1
    count = sum(len(one.mentions) for one in held)
    why = ""
    if not earlier and count < _ENOUGH:
        why = f"{count} of {_ENOUGH} held-out mentions"
    elif f1 <= before:
        why = "F1 is not larger"
    elif not earlier and (p := paired_test(held, new, present).p_value) >= _LEVEL:
        why = f"F1 may be larger by chance, p = {p:.2f}"
    return Comparison(f1, before, why)


def found_by(model: MentionModel, documents: Sequence[Document]) -> list[Document]:
    """Return documents with what a model finds in place of their mentions."""
    return list(model.stream([one.copy(mentions=[]) for one in documents]))


class _Learning:
    """The work of the process.

    Args:
        store: the file.
        folder: of the model and the curve.
        model: the present model, if there is one.
    """

    def __init__(self, store: str, folder: Path, model: str | None) -> None:
        self._store, self._folder = store, folder
        self._present: MentionModel | None = None
        self._earlier = model is not None and Path(model) == folder / MODEL
        if model is not None:
            found = load(model)
            self._present = found if finds_mentions(found) else None

    def round(self) -> Round:
        """Learn once.

        Raises:
            SpanloomError: there is too little to learn from, or the folder cannot be written.
        """
        began = time.monotonic()
        with Store(self._store) as store:
            found = lesson(store)
        if not found.held or not found.finished:
            raise UsageError("two or three finished documents are needed: one of them is held out, to compare models")
        send({"state": "training", "finished": found.finished, "held": len(found.held)})
        new = learned(found, self._present)
        present = None if self._present is None else found_by(self._present, found.held)
        f1, before, why = compared(found.held, found_by(new, found.held), present, earlier=self._earlier)
        count = sum(len(one.mentions) for one in found.known)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        seconds = round(time.monotonic() - began, 1)
        one = Round(now, seconds, found.finished, count, len(found.held), f1, before, not why, why)
        if one.used:
            new.save(self._folder / MODEL, force=True)
            self._present, self._earlier = new, True
        curve = [*read_curve(self._folder), one._asdict()]
        with output_files([self._folder / CURVE], force=True) as [file]:
            file.write(json.dumps(curve, indent=1) + "\n")
        return one


def read_curve(folder: Path) -> list[dict[str, Any]]:
    """Return the rounds up to now, the first first."""
    try:
        found = json.loads((folder / CURVE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return found if isinstance(found, list) else []


def send(message: dict[str, Any]) -> None:
    """Write a line for the server."""
    print(json.dumps(message), flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Learn whenever something was finished, until standard input ends.

    Args:
        arguments: the store, the folder, and the present model if there is one.
    """
    store, folder, *model = sys.argv[1:] if arguments is None else arguments
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_read, args=(sys.stdin, lines), daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(_NICE)
    warnings.simplefilter("ignore")  # of each training again; those of the last one are in the model's report
    learning = _Learning(store, Path(folder), model[0] if model else None)
    seen = 0
    while True:
        with Store(store) as opened:
            [last] = opened.connection.execute(
                "SELECT coalesce(max(number), 0) FROM actions WHERE kind IN ('finish', 'reopen', 'undo', 'redo')"
            ).fetchone()
        if last == seen:
            time.sleep(_POLL)
            continue
        seen = last
        try:
            found = learning.round()
            send({"state": "learned", "round": found._asdict()})
            if found.used:
                lines.get()  # the server has loaded the model, and its files may be replaced
        except SpanloomError as error:
            send({"state": "waiting", "reason": str(error)})


def _read(source: Iterable[str], lines: queue.Queue[str]) -> None:
    """Pass on the lines of the server; end the process with it."""
    with suppress(OSError, ValueError):
        for line in source:
            lines.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
