"""Requests that take long: the short ones beside them do not wait, and work for nobody ends."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from serve_helpers import Server, running

SHORT = {"text": "No chest pain."}
LONG = [{"text": "No chest pain. " * 20_000}] * 3  # takes seconds
ENDLESS = LONG * 10


@pytest.fixture(scope="module")
def narrow(models: dict[str, Path]) -> Iterator[Server]:
    """A server with one place for short requests and one for long ones."""
    limits = ("--max-text", 10_000_000, "--max-body", 10_000_000, "--max-memory", 4096, "--timeout", 600)
    with running(models["clinical"], "--jobs", 1, *limits) as server:
        yield server


def children(server: Server) -> set[int]:
    """The processes that work on requests."""
    found, parents = set(), {server.process.pid}
    while parents:
        parents = {child for parent in parents for child in of(parent)}
        found |= parents
    return found


def of(parent: int) -> set[int]:
    file = Path(f"/proc/{parent}/task/{parent}/children")
    if not file.exists():
        pytest.skip("the children of a process are read from /proc")
    return set(map(int, file.read_text().split()))


def begin(server: Server, body: object) -> socket.socket:
    """A connection on which a request was sent."""
    opened = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    data = json.dumps(body).encode()
    opened.sendall(b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b" % (len(data), data))
    return opened


def test_a_short_request_is_answered_before_the_long_ones_that_came_first(narrow: Server) -> None:
    opened = [begin(narrow, ENDLESS) for _ in range(3)]
    with httpx.Client(base_url=narrow.url, timeout=60) as client:
        for _ in range(20):
            assert client.post("/predict", json=SHORT).status_code == 200
    assert select.select(opened, [], [], 0) == ([], [], [])
    for one in opened:
        one.close()


def test_a_request_that_only_looks_short_gets_its_answer(narrow: Server) -> None:
    assert httpx.post(narrow.url + "predict", json=SHORT, timeout=60).status_code == 200
    before = children(narrow)
    body = [{"text": "chest pain " * 72}] * 18  # 14 kB, and four tenths of a second
    answer = httpx.post(narrow.url + "predict?others=true", json=body, timeout=60)
    assert len(answer.json()) == 18
    assert children(narrow) != before  # a process was ended, and another one took its place
    assert httpx.post(narrow.url + "predict", json=SHORT, timeout=60).status_code == 200


def test_work_for_nobody_ends(narrow: Server) -> None:
    for _ in range(5):  # each would keep the place for a minute
        with closing(begin(narrow, ENDLESS)):
            assert httpx.post(narrow.url + "predict", json=SHORT, timeout=60).status_code == 200
    # 20 kB are a long request, too: it gets the place that all of them have left
    answer = httpx.post(narrow.url + "predict", json={"text": "No chest pain. " * 1400}, timeout=30)
    assert answer.status_code == 200


def test_work_that_takes_too_much_memory_is_refused(models: dict[str, Path]) -> None:
    with running(models["clinical"], "--max-memory", 16) as server:
        answer = httpx.post(server.url + "predict", json={"text": "No chest pain. " * 60_000}, timeout=60)
        assert answer.status_code == 413
        assert "more memory than 16 MB" in answer.json()["error"]
        assert httpx.post(server.url + "predict", json=SHORT, timeout=60).status_code == 200


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_in_time_whatever_it_is_doing(models: dict[str, Path], number: int) -> None:
    with running(models["clinical"], "--jobs", 1) as server:
        opened = [begin(server, LONG) for _ in range(16)]  # takes longer than a server has to end
        late = begin(server, SHORT)
        assert late.recv(12) == b"HTTP/1.1 200"
        assert server.stop(number, 45) == (130 if number == signal.SIGINT else 0)
        answers = [one.recv(12) for one in opened]
        assert b"HTTP/1.1 503" in answers
        for one in (*opened, late):
            one.close()


def test_no_process_outlives_the_server(models: dict[str, Path]) -> None:
    with running(models["clinical"]) as server, closing(begin(server, LONG)):
        assert httpx.post(server.url + "predict", json=SHORT, timeout=60).status_code == 200
        there = children(server)
        assert len(there) > 1  # one that holds the models, and copies of it
        server.process.kill()
        server.process.wait(60)
        for child in there:
            gone(child)


def gone(process: int) -> None:
    """Wait until a process has ended, which the end of a socket tells it to."""
    try:
        ended = os.pidfd_open(process)
    except ProcessLookupError:
        return
    ready, _, _ = select.select([ended], [], [], 30)
    os.close(ended)
    assert ready
