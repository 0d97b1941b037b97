"""How long an action of `spanloom annotate` takes while a model learns in the background: p99 at most 50 ms.

    python benchmarks/annotate_latency.py [--actions 1000] [--copies 10]

It needs no corpora. The bundled notes, several times, are imported; half of them are finished with their mentions, some
at a time, so that the process of ``--learn`` trains. One client then marks mentions at the pace of a quick annotator
over one connection, as a browser does: first while nothing is learned, then only while a model is trained. An answer
comes when the action is on the disk. The client runs on the same cores.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from common import Result, options, say
from spanloom import Document, read
from spanloom.annotate import import_documents
from spanloom.data import clinical
from spanloom.formats.store import Store

MOST = 50.0  # milliseconds
PAUSE = 0.05  # seconds between two actions
TOGETHER = 20  # documents that are finished at once


class Client:
    """A client that keeps its connection."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def ask(self, path: str, body: Any = None) -> Any:
        """Return the answer as JSON."""
        if body is None:
            self._connection.request("GET", f"/api/{path}")
        else:
            self._connection.request("POST", f"/api/{path}", json.dumps(body), {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        value = json.loads(answer.read())
        if answer.status != 200:
            raise SystemExit(f"{path}: {value}")
        return value

    def act(self, number: int, version: int, kind: str, changes: dict[str, Any]) -> tuple[float, int]:
        """Do something; return the milliseconds until the answer, and the version of the document."""
        body = {"document": number, "layer": "ann", "author": "ann", "version": version, "kind": kind}
        began = time.perf_counter()
        answer = self.ask("act", {**body, "changes": changes})
        return 1000 * (time.perf_counter() - began), answer["version"]


@contextmanager
def running(store: Path, folder: Path) -> Iterator[Client]:
    """``spanloom annotate --learn`` in a process of its own."""
    line = [sys.executable, "-m", "spanloom.cli", "annotate", str(store), "--learn", str(folder), "--port", "0"]
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = next(filter(None, (re.search(r" at http://\S+?:(\d+)/", one) for one in process.stderr)), None)
        if found is None:
            raise SystemExit("the server did not start")
        try:
            yield Client(int(found[1]))
        finally:
            process.terminate()


def prepared(path: Path, copies: int, seed: int) -> tuple[list[int], list[tuple[int, dict[str, Any]]]]:
    """Make a store; return the documents to mark mentions in, and those to finish with their mentions."""
    notes = [note for part in ("train", "dev", "test") for note in read(clinical() / part)]

    documents = [note.copy(id=f"{copy}-{note.id}") for copy in range(copies) for note in notes]
    random.Random(seed).shuffle(documents)
    with Store(path, write=True, create=True) as store:
        import_documents(store, [Document(one.text, one.id) for one in documents])
    half = len(documents) // 2
    finished = []
    for number, one in enumerate(documents[:half], 1):
        spans = [{"type": mention.type, "spans": [list(span) for span in mention.spans]} for mention in one.mentions]
        distinct = {json.dumps(value): value for value in spans}
        finished.append((number, {f"m:#.{i}": value for i, value in enumerate(distinct.values())}))
    return list(range(half + 1, len(documents) + 1)), finished


def marked(client: Client, numbers: Iterator[int], count: int, finished: Iterator[Any] | None = None) -> list[float]:
    """Mark words; return the milliseconds of each action.

    With ``finished`` only those while a model is trained count; some of these documents are finished whenever none is.
    """
    found: list[float] = []
    training = finished is not None
    while len(found) < count:
        number = next(numbers)
        document = client.ask(f"document?number={number}&layer=ann")
        version, tokens = document["version"], document["tokens"][:20]
        if finished is not None and client.ask("learning")["state"] != "training":
            for other, changes in islice(finished, TOGETHER):
                now = client.act(other, 0, "add", changes)[1] if changes else 0
                client.act(other, now, "finish", {"d": "finished"})
        own = []
        for start, end in tokens:
            value = {"type": "drug", "spans": [[start, end]]}
            took, version = client.act(number, version, "add", {"m:#": value})
            own.append(took)
            time.sleep(PAUSE)
        if (client.ask("learning")["state"] == "training") == training:
            found += own
    return found


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--actions", type=int, default=1000, help="with a training, and without [1000]")
    parser.add_argument("--copies", type=int, default=10, help="of the bundled notes [10]")


def main() -> None:
    """Measure."""
    chosen = options("annotate_latency", __doc__, _more, corpora=False)
    result = Result("Time of an action of spanloom annotate while a model learns in the background", chosen.seed)
    loads = {"before": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory() as temporary:
        store = Path(temporary) / "notes.store"
        free, finished = prepared(store, chosen.copies, chosen.seed)
        numbers = iter(free)
        with running(store, Path(temporary) / "learned") as client:
            client.ask("store?layer=ann")  # starts the process that learns
            quiet = marked(client, numbers, chosen.actions)
            say(f"without training: p99 {np.percentile(quiet, 99):.1f} ms")
            busy = marked(client, numbers, chosen.actions, iter(finished))
            loads["during"] = os.getloadavg()[0]
            curve = client.ask("learning")["curve"]
    rows = [
        [name, len(found), *(float(np.percentile(found, q)) for q in (50, 95, 99)), max(found)]
        for name, found in (("nothing is learned", quiet), ("a model is trained", busy))
    ]
    result.table(
        "Milliseconds until an action is on the disk and answered",
        ("while", "actions", "p50", "p95", "p99", "slowest"),
        rows,
        f"Load average {loads['before']:.1f} before and {loads['during']:.1f} while a model was trained.",
    )
    result.at_most("p99 while a model is trained, ms", float(np.percentile(busy, 99)), MOST)
    result.data |= {"quiet": quiet, "training": busy, "curve": curve, "load": loads}
    result.save(chosen.out)


if __name__ == "__main__":
    main()
