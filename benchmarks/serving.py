"""`spanloom serve` under load: latency, errors and memory over 50,000 requests, 200 a second; and under hostile load.

    python benchmarks/serving.py
    python benchmarks/serving.py --hostile-only --out FILE

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
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
HOSTILE, BESIDE = (2, 8), 20  # clients that send hostile requests, at once; short requests a second beside them
BESIDE_P99, END = 200.0, 10.0  # milliseconds; seconds from SIGTERM to the end


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
        lines = iter(process.stderr.readline, "")
        found = next(filter(None, (re.search(r" at http://\S+?:(\d+)/", line) for line in lines)), None)
        if found is None:
            raise SystemExit("the server did not start")
        try:
            yield Server(process.pid, int(found[1]))
        finally:
            process.terminate()


def family(pid: int) -> list[int]:
    """A process and all that it started."""
    children: list[str] = []
    with suppress(OSError):  # it has just ended
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(other for child in children for other in family(int(child)))]


def memory(pid: int) -> float:
    """Memory of a process and all that it started, what they share counted once, in MB (2^20 bytes)."""
    total = 0
    for one in family(pid):
        with suppress(OSError):  # it has just ended
            text = Path(f"/proc/{one}/smaps_rollup").read_text()
            total += int(re.search(r"^Pss:\s+(\d+)", text, re.MULTILINE)[1])  # type: ignore[index]
    return total / 1024


def sentences() -> list[str]:
    """The sentences of the bundled notes that the model has not seen."""
    found = []
    for document in map(prepare, read(clinical() / "test")):
        assert document.tokens is not None
        assert document.sentences is not None
        for first, end in document.sentences.tolist():
            found.append(document.text[document.tokens[first][0] : document.tokens[end - 1][1]])
    return found


def hostile() -> dict[str, bytes]:
    """Bodies that are made to take long: what they are made of, and the body."""
    keys = 90_000
    fields = ",".join(f'"k{i}":1' for i in range(keys))
    texts = {
        "20,000 parentheses": "(" * 20_000,
        "8,000 parentheses": "(" * 8_000,
        "one sentence of 18,000 Chinese characters": "无关节疼痛" * 3_600,
        "one mention, 18,000 times": "chest pain " * 9_000,
    }
    found = {name: json.dumps({"text": text}, ensure_ascii=False).encode() for name, text in texts.items()}
    return {**found, f"a field twice among {keys:,}": f'{{{fields},"k1":2}}'.encode()}


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
        if end and length and len(body) >= int(length[1]) and self.answer is not None and not self.answer.done():
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
        status = await connection.ask(sent)  # not within the sum, which would lose what others add meanwhile
        self.errors += status != 200
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
        "Memory of the server and its processes, what they share counted once (PSS), MB (2^20 bytes)",
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
    """Processor time of a process and all that it started so far, in seconds."""
    ticks = 0
    for one in family(pid):
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


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


async def _attack(port: int, clients: int, until: float, statuses: Counter[int]) -> None:
    """Send hostile requests from some clients at once, one after the other each, over connections of their own."""
    loop = asyncio.get_running_loop()
    bodies = [
        b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        for body in hostile().values()
    ]

    async def client(number: int) -> None:
        while loop.time() < until:
            try:
                _, connection = await loop.create_connection(Connection, "127.0.0.1", port)
            except OSError:  # the server has ended
                return
            statuses[await connection.ask(bodies[number % len(bodies)])] += 1
            connection.transport.close()
            number += 1

    await asyncio.gather(*map(client, range(clients)))


def attacker(chosen: argparse.Namespace) -> None:
    """Hostile requests, in this process; the statuses of the answers go to standard output as JSON."""
    statuses: Counter[int] = Counter()

    async def run() -> None:
        print(flush=True)  # the parent process waits for it
        await _attack(chosen.port, chosen.clients, asyncio.get_running_loop().time() + chosen.seconds, statuses)

    asyncio.run(run())
    json.dump(statuses, sys.stdout)


def under_attack(result: Result, model: Path, chosen: argparse.Namespace) -> None:
    """(d) Short requests while others send hostile ones; then the end of the server, which still come in."""
    rows = []
    for clients in (0, *HOSTILE):
        with running(model) as server:
            rows.append(_row(server, clients, chosen))
            say(f"{clients} hostile clients: p99 {rows[-1]['p99']:.1f} ms, end after {rows[-1]['end']:.2f} s")
    result.table(
        f"{BESIDE} short requests a second, beside clients that send hostile ones all the time, {chosen.seconds:g} s",
        ("hostile clients", "short requests", "errors", "p50, ms", "p99, ms", "max, ms", "MB at most", "MB at the end",
         "answers to hostile ones", "end after SIGTERM, s"),
        [[clients, *(row[name] for name in ("count", "errors", "p50", "p99", "max", "most", "last", "hostile", "end"))]
         for clients, row in zip((0, *HOSTILE), rows, strict=True)],
        "Hostile: " + "; ".join(hostile()) + ". Memory is that of all processes of the server, shared parts once "
        "(PSS). SIGTERM comes while hostile requests are worked on.",
    )  # fmt: skip
    for clients, row in zip((0, *HOSTILE), rows, strict=True):
        result.at_most(f"p99 of short requests beside {clients} hostile clients, ms", row["p99"], BESIDE_P99)
        result.at_most(f"errors of short requests beside {clients} hostile clients", row["errors"], 0)
        result.at_most(f"end after SIGTERM with {clients} hostile clients, s", row["end"], END)
    result.data["hostile"] = rows


def _row(server: Server, clients: int, chosen: argparse.Namespace) -> dict[str, Any]:
    def start(seconds: float) -> subprocess.Popen[str]:
        command = [sys.executable, __file__, "--port", server.port, "--clients", clients, "--seconds", seconds]
        started = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
        assert started.stdout is not None
        started.stdout.readline()
        return started

    attack = start(chosen.seconds)
    load = Load(server, int(BESIDE * chosen.seconds), BESIDE, chosen.seed)
    sizes: list[float] = []

    async def both() -> None:
        asking = asyncio.ensure_future(load.run())
        while not asking.done():
            sizes.append(memory(server.pid))
            await asyncio.wait([asking], timeout=0.5)
        await asking

    asyncio.run(both())
    answers, _ = attack.communicate()
    found = {"last": memory(server.pid)}
    last = start(60)
    time.sleep(1)
    began = time.perf_counter()
    os.kill(server.pid, signal.SIGTERM)
    ended = os.pidfd_open(server.pid)
    select.select([ended], [], [])
    os.close(ended)
    found["end"] = time.perf_counter() - began
    last.kill()
    last.communicate()
    quantiles = {"p50": 0.5, "p99": 0.99, "max": 1.0}
    return {
        **found, **{name: float(np.quantile(load.latencies, at)) for name, at in quantiles.items()},
        "count": len(load.latencies), "errors": load.errors, "most": max(sizes),
        "hostile": ", ".join(f"{count:,} x {status}" for status, count in json.loads(answers).items()) or "none",
    }  # fmt: skip


def train(folder: Path) -> Path:
    """The model of the demo."""
    command = [sys.executable, "-m", "spanloom.cli", "demo", "--quiet", "--output", str(folder / "demo")]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return folder / "demo" / "model"


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--requests", type=int, default=50_000, help="how many [50,000]")
    parser.add_argument("--rate", type=float, default=RATE, help=f"requests a second [{RATE}]")
    parser.add_argument("--seconds", type=float, default=60, help="of hostile load [60]")
    parser.add_argument("--hostile-only", action="store_true", help="measure short requests beside hostile ones only")
    for hidden in ("--pid", "--port", "--clients"):
        parser.add_argument(hidden, type=int, help=argparse.SUPPRESS)


def main() -> None:
    """Measure, or be the client."""
    chosen = options("serving", __doc__, _more, corpora=False)
    if chosen.port:
        client(chosen) if chosen.clients is None else attacker(chosen)
        return
    result = Result("spanloom serve under load", chosen.seed)
    with tempfile.TemporaryDirectory() as folder:
        model = train(Path(folder))
        say("the model is trained")
        if not chosen.hostile_only:
            with running(model) as server:
                steady(result, server, chosen)
                long_document(result, server)
                at_once(result, server)
        under_attack(result, model, chosen)
    result.save(chosen.out)


if __name__ == "__main__":
    main()
