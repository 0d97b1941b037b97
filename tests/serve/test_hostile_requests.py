"""Requests that nobody should send: a clear refusal, and a server that goes on."""

from __future__ import annotations

import json
import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import httpx
import pytest
from serve_helpers import Server, running

SURROGATE = '{"text": "a\\ud800"}'


def refused(answer: httpx.Response, status: int, *words: str) -> None:
    """One JSON shape, one line, and what was wrong in it."""
    assert answer.status_code == status, answer.text
    assert answer.json().keys() == {"error"}
    error = answer.json()["error"]
    assert "\n" not in error
    for word in words:
        assert word in error


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        (b"", 400, "not JSON"),
        (b"text=pain", 400, "not JSON"),
        (b'{"text": "pain"', 400, "not JSON"),
        (b'{"text": "\xff"}', 400, "not UTF-8"),
        (b"\xff\xfe{\0}\0", 400, "utf-16"),
        (b'{"text": "a", "text": "b"}', 400, "twice"),
        (b'{"text": "a", "meta": {"x": NaN}}', 400, "NaN"),
        (b"[" * 100_000, 400, "nested"),
        (SURROGATE.encode(), 400, "surrogate"),
        (b'{"text": "a\0b"}', 400, "NUL"),
        (b'{"text": "a\\u0000b"}', 422, "NUL"),
        (b"3", 422, "the record is 3"),
        (b'"pain"', 422, "JSON object"),
        (b"null", 422, "record"),
        (b"{}", 422, "text is missing"),
        (b'{"text": null}', 422, "text is missing"),
        (b'{"text": ["pain"]}', 422, "text is"),
        (b'[{"text": "pain"}, {"text": 3}]', 422, "record 1: text is 3"),
        (b'{"text": "pain", "tokens": [[0, 99]]}', 422, "outside the text"),
        (b'{"text": "pain", "tokens": [[3, 1]]}', 422, "empty"),
        (b'{"text": "pain", "sentences": [[0, 1]]}', 422, "no tokens"),
        (b'{"text": "pain", "columns": {"pos": ["NN"]}}', 422, "no tokens"),
        (b'{"text": "pain", "tokens": [[0, 4]], "sentences": []}', 422, "cover"),
    ],
)
def test_bodies(client: httpx.Client, body: bytes, status: int, word: str) -> None:
    refused(client.post("/predict", content=body), status, word)


@pytest.mark.parametrize(
    "name", ["nothing", "../clinical", "/etc/passwd", "clinical/", "", "CLINICAL", "clin%00ical", "x" * 256, "\u202e"]
)
def test_a_model_is_a_name_and_never_a_path(client: httpx.Client, name: str) -> None:
    refused(client.post("/predict", params={"model": name}, json={"text": "pain"}), 404, "no model is called")


def test_the_path_of_a_model_is_no_name(client: httpx.Client, models: dict[str, Path]) -> None:
    refused(client.post("/predict", params={"model": str(models["linker"])[:256]}, json={"text": "pain"}), 404)


@pytest.mark.parametrize(
    "query", ["threshold=2", "threshold=-1", "threshold=nan", "threshold=x", "others=maybe", "model=" + "x" * 300]
)
def test_parameters(client: httpx.Client, query: str) -> None:
    refused(client.post(f"/predict?{query}", json={"text": "pain"}), 422, query.split("=")[0])


def test_unknown_parameters(client: httpx.Client) -> None:
    expected = "the parameter is 'treshold', expected model, threshold, others, expand; did you mean threshold?"
    refused(client.post("/predict?treshold=0.9", json={"text": "pain"}), 422, expected)
    refused(client.post("/explain?threshold=1", json={}), 422, "the parameter is 'threshold', expected model")
    assert client.get("/health?at=1").status_code == 200  # as probes ask


@pytest.mark.parametrize(
    "path",
    ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/static/page.html", "/static/../api.py", "/models/clinical"],
)
def test_no_path_leads_to_a_file(client: httpx.Client, path: str) -> None:
    refused(client.get(path), 404)


def test_methods(client: httpx.Client) -> None:
    refused(client.get("/predict"), 405)
    refused(client.delete("/models"), 405)


@pytest.mark.parametrize("path", ["/", "/docs", "/health", "/models", "/openapi.json", "/none"])
def test_head_is_get_without_a_body(client: httpx.Client, path: str) -> None:
    head, get = client.head(path), client.get(path)
    assert (head.status_code, head.content) == (get.status_code, b"")
    del head.headers["date"], get.headers["date"]
    assert head.headers == get.headers
    assert client.head("/predict").status_code == 405


def test_html_is_text(client: httpx.Client) -> None:
    text = "<script>alert(1)</script> & chest pain"
    answer = client.post("/predict", json={"text": text, "id": "<b>"})
    assert answer.headers["content-type"] == "application/json"
    assert (answer.json()["text"], answer.json()["id"]) == (text, "<b>")
    refused(client.get("/<script>"), 404)


def chunks(total: int) -> Iterator[bytes]:
    yield b'{"text": "'
    for _ in range(total // 65536):
        yield b"a" * 65536
    yield b'"}'


def test_large_bodies_are_refused_before_they_are_held(server: Server, client: httpx.Client) -> None:
    before = memory(server)
    for _ in range(3):
        refused(client.post("/predict", content=b'{"text": "' + b"a" * 50_000_000 + b'"}'), 413, "4,194,304 bytes")
        refused(client.post("/predict", content=chunks(50_000_000)), 413, "4,194,304 bytes")  # of no declared length
    assert memory(server) - before < 30_000_000


def memory(server: Server) -> int:
    status = Path(f"/proc/{server.process.pid}/status")
    if not status.exists():
        pytest.skip("the memory of a process is read from /proc")
    return 1024 * int(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmRSS")))


def test_long_texts_are_refused(client: httpx.Client) -> None:
    refused(client.post("/predict", json={"text": "a " * 200_001}), 413, "400,002 characters", "400,000")
    half = {"text": "a " * 100_001}
    refused(client.post("/predict", json=[half, half]), 413, "400,004 characters")
    refused(client.post("/predict", json=[{"text": ""}] * 1001), 413, "1,001 records")
    refused(client.post("/explain", json={"document": {"text": "a " * 200_001}, "mention": MENTION}), 413)


MENTION = {"type": "problem", "spans": [[0, 1]]}


def test_a_word_of_100_000_letters_and_a_sentence_of_20_000_words(client: httpx.Client) -> None:
    assert client.post("/predict", json={"text": "a" * 100_000}).status_code == 200
    assert client.post("/predict", json={"text": "pain " * 20_000}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "word"),
    [
        ({"Host": "evil.example"}, "Host"),
        ({"Host": "localhost.evil.example:80"}, "Host"),
        ({"Host": "["}, "Host"),
        ({"Host": "evil@localhost"}, "Host"),
        ({"Host": "localhost/evil"}, "Host"),
        ({"Host": "localhost:80:80"}, "Host"),
        ({"Origin": "http://evil.example"}, "Origin"),
        ({"Origin": "null"}, "Origin"),
        ({"Origin": "http://["}, "Origin"),
        ({"Origin": ""}, "Origin"),
    ],
)
def test_pages_of_other_sites(client: httpx.Client, headers: dict[str, str], word: str) -> None:
    refused(client.post("/predict", json={"text": "pain"}, headers=headers), 403, word)


def test_the_own_page_is_served(client: httpx.Client, server: Server) -> None:
    for host in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        place = f"{host}:{server.port}"
        for scheme in ("http", "https"):  # the latter behind a proxy with TLS
            answer = client.get("/health", headers={"Host": place, "Origin": f"{scheme}://{place}"})
            assert answer.status_code == 200


@pytest.mark.parametrize(
    "said",
    [
        b"\0\1\2\3\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    ],
)
def test_what_is_no_request(server: Server, client: httpx.Client, said: bytes) -> None:
    with closing(socket.create_connection(("127.0.0.1", server.port), timeout=20)) as open_:
        open_.sendall(said)
        open_.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: open_.recv(1000), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith((b"HTTP/1.1 4", b"HTTP/1.1 2"))
    if head.startswith(b"HTTP/1.1 4"):
        assert b"application/json" in head
        assert json.loads(body).keys() == {"error"}
    assert client.get("/health").status_code == 200


def test_who_goes_on_sending_still_reads_the_answer(server: Server) -> None:
    with closing(socket.create_connection(("127.0.0.1", server.port), timeout=20)) as open_:
        open_.sendall(b"\0\1\2\3\r\n\r\n")
        answer = open_.recv(1000)
        open_.sendall(b"a" * 1_000_000)
        open_.shutdown(socket.SHUT_WR)
        answer += b"".join(iter(lambda: open_.recv(1000), b""))
    assert answer.startswith(b"HTTP/1.1 400")


def post(text: str) -> bytes:
    body = json.dumps({"text": text}).encode()
    return b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


def test_a_thousand_connections_at_once(server: Server, client: httpx.Client) -> None:
    opened = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(1000)]
    try:
        for one in opened:
            one.sendall(post("No chest pain."))
        for one in opened:
            assert one.recv(12) == b"HTTP/1.1 200"
    finally:
        for one in opened:
            one.close()
    assert client.get("/health").status_code == 200


def test_more_requests_than_may_wait(server: Server, client: httpx.Client) -> None:
    opened = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(1100)]
    try:
        for one in opened:
            one.sendall(post("No chest pain.")[:-1])
        assert comes(opened, b"HTTP/1.1 503") == 1100 - 1024
    finally:
        for one in opened:
            one.close()
    for _ in range(100):
        if client.post("/predict", json={"text": "No pain."}).status_code == 200:
            return
        time.sleep(0.1)
    pytest.fail("the places are not given back")


def comes(opened: list[socket.socket], answer: bytes) -> int:
    """How many connections are answered so: all that come within a minute, until none came for two seconds."""
    found = 0
    with selectors.DefaultSelector() as waiting:
        for one in opened:
            waiting.register(one, selectors.EVENT_READ)
        while ready := waiting.select(2 if found else 60):
            for key, _ in ready:
                waiting.unregister(key.fileobj)
                found += key.fileobj.recv(len(answer)) == answer  # type: ignore[union-attr]
    return found


def test_clients_that_hang_up(server: Server, client: httpx.Client) -> None:
    long = post("No chest pain. " * 10_000)
    for part in (long, long[:200_00], long[:40], post("pain")):
        for _ in range(10):
            with closing(socket.create_connection(("127.0.0.1", server.port), timeout=20)) as gone:
                gone.sendall(part)
    # what nobody waits for is not worked on: all of it would take longer than a request may, and the answer be 503
    assert client.post("/predict", json={"text": "No chest pain."}).status_code == 200


@pytest.fixture(scope="module")
def hurried(models: dict[str, Path]) -> Iterator[Server]:
    """A server with little time and little room."""
    with running(models["clinical"], "--timeout", 0.5, "--max-body", 1_000_000, "--jobs", 1, files=100) as server:
        yield server


def comes_back(server: Server) -> bool:
    """Whether the server answers in time again, soon."""
    for _ in range(100):
        if httpx.post(server.url + "predict", json={"text": "No pain."}, timeout=60).status_code == 200:
            return True
        time.sleep(0.1)
    return False


def test_work_that_takes_too_long(hurried: Server) -> None:
    answer = httpx.post(hurried.url + "predict", json=[{"text": "No chest pain. " * 2_000}] * 30, timeout=60)
    refused(answer, 503, "0.5 s")
    assert answer.headers["retry-after"] == "1"
    assert comes_back(hurried)


def test_a_body_that_does_not_come(hurried: Server) -> None:
    with closing(socket.create_connection(("127.0.0.1", hurried.port), timeout=20)) as slow:
        slow.sendall(post("pain")[:-2])
        assert slow.recv(12) == b"HTTP/1.1 408"


@pytest.fixture(scope="module")
def crowded(models: dict[str, Path]) -> Iterator[Server]:
    """A server with little room."""
    with running(models["clinical"], "--max-body", 1_000_000, "--max-sentence", 200, "--jobs", 1, files=100) as server:
        yield server


def test_long_sentences_are_refused(crowded: Server) -> None:
    with httpx.Client(base_url=crowded.url, timeout=60) as client:
        text = "No pain. " + "无关节疼痛" * 50
        refused(client.post("/predict", json={"text": text}), 413, "character 9 ", "250 tokens", "200 are taken")
        given = {"text": "pain " * 250, "tokens": [[5 * i, 5 * i + 4] for i in range(250)]}
        refused(client.post("/predict", json={**given, "sentences": [[0, 250]]}), 413, "character 0 ")
        assert client.post("/predict", json={**given, "sentences": [[0, 125], [125, 250]]}).status_code == 200


def test_what_waits_is_bounded(crowded: Server) -> None:
    opened = [socket.create_connection(("127.0.0.1", crowded.port), timeout=60) for _ in range(40)]
    try:
        for one in opened:
            one.sendall(post("a" * 900_000)[:-1])
        assert comes(opened, b"HTTP/1.1 503") == 40 - 16_000_000 // 900_025
    finally:
        for one in opened:
            one.close()
    assert comes_back(crowded)


def test_more_connections_than_the_system_allows(crowded: Server) -> None:
    asked = post("No pain.").replace(b"localhost", b"localhost\r\nConnection: close")
    opened = [socket.create_connection(("127.0.0.1", crowded.port), timeout=60) for _ in range(300)]
    try:
        for one in opened:
            one.sendall(asked)
        assert {one.recv(12) for one in opened} <= {b"HTTP/1.1 200", b"HTTP/1.1 503"}
    finally:
        for one in opened:
            one.close()
    assert comes_back(crowded)


HALF = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: "


def opened_by(server: Server, count: int, *sent: bytes) -> list[socket.socket]:
    """So many connections, on each of which one of these is sent, in turn."""
    found = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(count)]
    for number, one in enumerate(found):
        one.sendall(sent[number % len(sent)])
    return found


def rest_of(one: socket.socket) -> bytes:
    """All that comes until the connection is closed, in one way or the other."""
    found = b""
    with suppress(ConnectionError):
        while data := one.recv(1000):
            found += data
    return found


def test_heads_that_do_not_come(hurried: Server) -> None:
    with ExitStack() as stack:
        for one in (silent := opened_by(hurried, 20, b"")) + (half := opened_by(hurried, 20, HALF)):
            stack.enter_context(closing(one))
        began = time.monotonic()
        for one in half:
            answer = rest_of(one)
            assert answer.startswith(b"HTTP/1.1 408") and b"the head of the request did not come within 0.5 s" in answer
        assert {rest_of(one) for one in silent} == {b""}
        assert time.monotonic() - began < 20


def test_a_head_that_comes_letter_by_letter_is_not_waited_for(hurried: Server) -> None:
    with closing(socket.create_connection(("127.0.0.1", hurried.port), timeout=20)) as slow:
        answer, deadline = b"", time.monotonic() + 20
        slow.settimeout(0.01)
        while b"408" not in answer and time.monotonic() < deadline:
            slow.sendall(b"a")
            with suppress(TimeoutError):
                answer += slow.recv(1000)
    assert answer.startswith(b"HTTP/1.1 408")


def test_an_answer_that_is_waited_for_is_not_cut_off_by_the_time_for_heads(hurried: Server) -> None:
    with closing(socket.create_connection(("127.0.0.1", hurried.port), timeout=20)) as one:
        for _ in range(3):  # on the same connection, each request has its own time
            time.sleep(0.3)
            one.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = one.recv(1000)
            while not answer.endswith(b"}"):
                answer += one.recv(1000)
            assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("sent", [(b"", HALF), (post("pain")[:-1],)], ids=["idle", "busy"])
def test_health_is_answered_when_all_connections_are_taken(crowded: Server, sent: tuple[bytes, ...]) -> None:
    taken = opened_by(crowded, 300, *sent)
    try:
        for _ in range(5):
            began = time.monotonic()
            assert httpx.get(crowded.url + "health", timeout=60).json()["status"] == "ok"
            assert time.monotonic() - began < 15
        if sent[0]:
            refused(httpx.get(crowded.url + "models", timeout=60), 503, "all connections of the server are in use")
        else:
            assert httpx.post(crowded.url + "predict", json={"text": "No pain."}, timeout=60).status_code == 200
    finally:
        for one in taken:
            one.close()
    assert comes_back(crowded)
