"""`spanloom serve` under load: latency, errors and memory over 50,000 requests, 200 a second.

    python benchmarks/serving.py

The model is that of `spanloom demo`, trained in the run on the bundled notes; the texts are their sentences, one a
request. Server and client are processes of their own on the same two cores. The client keeps to its clock whatever the
server does (an open loop): a latency counts from the moment at which the request was due, so that a server that stalls
is charged for all that had to wait.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from common import Result, options, say
from spanloom.data import clinical
from spanloom.formats import read
from spanloom.text import prepare

P99, GROWTH, RATE = 100.0, 10.0, 200  # milliseconds; MB (2^20 bytes) after the first 10,000 requests; a second
STEP = 10_000  # requests between two looks at the memory
PAGES, PAGE = 100, 3000  # of a long document; characters of a page
CONNECTIONS = 1000


class Server(NamedTuple):
    """A running server."""

    pid: int
    port: int


@contextmanager
def running(model: Path) -> Iterator[Server]:
    """``spanloom serve`` in a process of its own."""
    command = [sys.executable, "-m", "spanloom.cli", "serve", str(model), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r" at http://\S+?:(\d+)/", process.stderr.readline())
        if found is None:
            raise SystemExit("the server did not start")
        try:
            yield Server(process.pid, int(found[1]))
        finally:
            process.terminate()


def memory(pid: int) -> float:
    """Resident memory of a process, in MB (2^20 bytes)."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]


def sentences() -> list[str]:
    """The sentences of the bundled notes that the model has not seen."""
    found = []
    for document in map(prepare, read(clinical() / "test")):
        assert document.tokens is not None
        assert document.sentences is not None
        for first, end in document.sentences.tolist():
            found.append(document.text[document.tokens[first][0] : document.tokens[end - 1][1]])
    return found


class Connection(asyncio.Protocol):
    """One connection that is kept: it sends a request and waits for the end of the answer.

    A client library takes longer for a request than the server does, so this one knows no more HTTP than it needs.
    """

    def __init__(self) -> None:
        self.received = b""
        self.answer: asyncio.Future[int] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The transport is for writing."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Note the status once the body is complete."""
        self.received += data
        head, end, body = self.received.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        if end and length and len(body) >= int(length[1]) and self.answer is not None:
            self.received = b""
            self.answer.set_result(int(head[9:12]))

    def connection_lost(self, error: Exception | None) -> None:
        """An answer that does not come is an error."""
        if self.answer is not None and not self.answer.done():
            self.answer.set_result(0)

    async def ask(self, request: bytes) -> int:
        """The status of the answer."""
        self.answer = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return await self.answer


def request(text: str) -> bytes:
    """A request to mark up a text."""
    body = json.dumps({"text": text}).encode()
    return b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


class Load:
    """Requests at a steady rate.

    Args:
        server: to ask.
        count: of requests.
        rate: a second.
        seed: of the order of the texts.
    """

    def __init__(self, server: Server, count: int, rate: float, seed: int) -> None:
        self.server = server
        self.rate = rate
        requests = list(map(request, sentences()))
        self.requests = [requests[i] for i in np.random.default_rng(seed).integers(0, len(requests), count)]
        self.latencies = np.zeros(count)
        self.errors = 0
        self.memory = {0: memory(server.pid)}
        self.idle: list[Connection] = []
        self.connections = 0

    async def run(self) -> None:
        """All requests, each when it is due."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        running: set[asyncio.Task[None]] = set()
        for number, sent in enumerate(self.requests):
            due = began + number / self.rate
            if due > loop.time():
                await asyncio.sleep(due - loop.time())
            task = loop.create_task(self.one(number, sent, due))
            running.add(task)
            task.add_done_callback(running.discard)
            if number and number % STEP == 0:
                self.memory[number] = memory(self.server.pid)
        await asyncio.gather(*running)
        self.memory[len(self.requests)] = memory(self.server.pid)
        self.seconds = loop.time() - began

    async def one(self, number: int, sent: bytes, due: float) -> None:
        """One request, over a connection that is free or a new one."""
        loop = asyncio.get_running_loop()
        connection = next((kept for kept in iter(self._kept, None) if not kept.transport.is_closing()), None)
        if connection is None:
            _, connection = await loop.create_connection(Connection, "127.0.0.1", self.server.port)
            self.connections += 1
        self.errors += await connection.ask(sent) != 200
        self.latencies[number] = 1000 * (loop.time() - due)
        self.idle.append(connection)

    def _kept(self) -> Connection | None:
        """A connection that was free; the server may have closed it since."""
        return self.idle.pop() if self.idle else None


def client(chosen: argparse.Namespace) -> None:
    """The load, in this process; what it found goes to standard output as JSON."""
    load = Load(Server(chosen.pid, chosen.port), chosen.requests, chosen.rate, chosen.seed)
    asyncio.run(load.run())
    quantiles = dict(zip(("p50", "p90", "p99", "p99.9", "max"), (0.5, 0.9, 0.99, 0.999, 1.0), strict=True))
    json.dump(
        {
            "latencies": {name: float(np.quantile(load.latencies, at)) for name, at in quantiles.items()},
            "errors": load.errors, "memory": load.memory, "connections": load.connections,
            "rate": chosen.requests / load.seconds, "client_cpu": time.process_time(),
        },
        sys.stdout,
    )  # fmt: skip


def steady(result: Result, server: Server, chosen: argparse.Namespace) -> None:
    """(a) One-sentence texts at a steady rate."""
    before = cpu(server.pid)
    command = [sys.executable, __file__, "--pid", server.pid, "--port", server.port, "--seed", chosen.seed]
    command += ["--requests", chosen.requests, "--rate", chosen.rate]
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    busy = cpu(server.pid) - before
    per_request = 1000 * busy / chosen.requests
    result.table(
        f"{chosen.requests:,} requests of one sentence, {chosen.rate:g} a second",
        ("requests a second", "errors", *(f"{name}, ms" for name in found["latencies"]), "CPU of the server, ms each",
         "connections"),
        [[found["rate"], found["errors"], *found["latencies"].values(), per_request, found["connections"]]],
        "A latency counts from the moment at which the request was due. The client runs on the same cores.",
    )  # fmt: skip
    sizes = {int(at): size for at, size in found["memory"].items()}
    result.table(
        "Resident memory of the server, MB (2^20 bytes)",
        ("after requests", *(f"{at:,}" for at in sizes)),
        [["MB", *sizes.values()]],
    )
    result.at_most("p99 of the latency, ms", found["latencies"]["p99"], P99)
    result.at_most("errors", found["errors"], 0)
    result.at_least("requests a second", found["rate"], 0.99 * chosen.rate)
    later = [size for at, size in sizes.items() if at >= STEP] or list(sizes.values())
    result.at_most(f"growth of the memory after the first {STEP:,} requests, MB", later[-1] - later[0], GROWTH)
    result.data["steady"] = {**found, "server_cpu": busy}


def cpu(pid: int) -> float:
    """Processor time of a process so far, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def long_document(result: Result, server: Server) -> None:
    """(b) A document of a hundred pages, alone."""
    text = "\n\n".join(document.text for document in read(clinical() / "test"))
    text = (text * (PAGES * PAGE // len(text) + 1))[: PAGES * PAGE]
    seconds = []
    for _ in range(3):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        began = time.perf_counter()
        connection.request("POST", "/predict", json.dumps({"text": text}))
        answer = connection.getresponse()
        record = json.loads(answer.read())
        seconds.append(time.perf_counter() - began)
        connection.close()
    result.table(
        f"A document of {PAGES} pages ({len(text):,} characters)",
        ("tokens", "sentences", "mentions", "seconds (median of 3)", "MB after it"),
        [[len(record["tokens"]), len(record["sentences"]), len(record["mentions"]), float(np.median(seconds)),
          memory(server.pid)]],
    )  # fmt: skip
    result.data["long"] = seconds


async def _at_once(server: Server, requests: list[bytes]) -> tuple[float, float, int]:
    loop = asyncio.get_running_loop()
    opened = [(await loop.create_connection(Connection, "127.0.0.1", server.port))[1] for _ in requests]
    began = loop.time()

    async def one(connection: Connection, sent: bytes) -> tuple[int, float]:
        return await connection.ask(sent), loop.time() - began

    found = await asyncio.gather(*map(one, opened, requests))
    for connection in opened:
        connection.transport.close()
    times = [seconds for _, seconds in found]
    return float(np.median(times)), max(times), sum(status != 200 for status, _ in found)


def at_once(result: Result, server: Server) -> None:
    """(c) A thousand connections, all of which ask at the same time."""
    texts = sentences()
    requests = [request(texts[i % len(texts)]) for i in range(CONNECTIONS)]
    middle, last, errors = asyncio.run(_at_once(server, requests))
    result.table(
        f"{CONNECTIONS:,} connections that ask for a sentence at the same time",
        ("errors", "answered, half of them after s", "all after s"),
        [[errors, middle, last]],
    )
    result.at_most(f"errors of {CONNECTIONS:,} connections at once", errors, 0)
    result.data["at_once"] = {"median": middle, "last": last, "errors": errors}


def train(folder: Path) -> Path:
    """The model of the demo."""
    command = [sys.executable, "-m", "spanloom.cli", "demo", "--quiet", "--output", str(folder / "demo")]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return folder / "demo" / "model"


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--requests", type=int, default=50_000, help="how many [50,000]")
    parser.add_argument("--rate", type=float, default=RATE, help=f"requests a second [{RATE}]")
    for hidden in ("--pid", "--port"):
        parser.add_argument(hidden, type=int, help=argparse.SUPPRESS)


def main() -> None:
    """Measure, or be the client."""
    chosen = options("serving", __doc__, _more, corpora=False)
    if chosen.port:
        client(chosen)
        return
    result = Result("spanloom serve under load", chosen.seed)
    with tempfile.TemporaryDirectory() as folder:
        model = train(Path(folder))
        say("the model is trained")
        with running(model) as server:
            steady(result, server, chosen)
            long_document(result, server)
            at_once(result, server)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
