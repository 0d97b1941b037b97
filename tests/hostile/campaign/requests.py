"""Requests to a server, sound and not: no answer is 500, nothing foreign is let in, and its memory stays what it is.

Each case is one request: JSON that is sound or damaged, odd methods, heads and paths, bodies that do not come, clients
that hang up. All are sent to one server, one after the other and some at the same time.
"""

from __future__ import annotations

import json
import random
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from campaign.frame import Record, generator
from campaign.mutate import WORDS, damaged
from campaign.outputs import make_data

_GROWTH = 24.0  # megabytes that the server may grow by after the first tenth of the requests
_TIMEOUT = 60.0  # seconds for the answer to a sound request
_SHORT = 0.3  # for one that the server may go on waiting for
_PATHS = (
    b"/predict", b"/explain", b"/models", b"/health", b"/", b"/docs", b"/openapi.json", b"/../../etc/passwd",
    b"/%2e%2e/", b"/predict?model=../x", b"/predict?threshold=2", b"/predict?others=true", b"//", b"/\xff",
)  # fmt: skip
_HEADERS = (
    b"Transfer-Encoding: chunked", b"Origin: http://evil.example", b"Connection: close", b"Expect: 100-continue",
    b"Content-Encoding: gzip", b"Upgrade: h2c", b"Cookie: " + b"a" * 9000,
    *(b"X: " + word.encode() for word in WORDS[:30]),
)  # fmt: skip
_METHODS = (b"POST", b"POST", b"POST", b"POST", b"GET", b"HEAD", b"PUT", b"OPTIONS", b"X" * 300, b"")
_RECORDS = (
    {"text": "No chest pain, severe migraine today."},
    [{"text": "History of headaches."}, {"text": "Knee fracture.", "id": "b"}],
    {"text": "Severe pain.", "tokens": [[0, 6], [7, 11]], "sentences": [[0, 2]]},
    {"document": {"text": "Severe migraine."}, "mention": {"type": "disease", "spans": [[7, 15]]}},
)  # fmt: skip


def run(cases: Iterable[int], seed: int, folder: Path) -> Record:
    """Send them all."""
    record = Record("requests", seed)
    data = folder / "data"
    data.mkdir()
    make_data(data, models=True)
    line = [sys.executable, "-m", "spanloom.cli", "serve", f"m={data / 'new' / 'model'}", "--port", "0", "--jobs", "1"]
    errors = folder / "stderr"
    with errors.open("w") as log, subprocess.Popen([*line, "--timeout", "10"], stderr=log) as server:
        try:
            port = _port(errors)
            numbers = list(cases)
            sizes: list[float] = []
            for done, case in enumerate(numbers, start=1):
                outcome, found = _case(port, generator("requests", seed, case))
                if found:
                    record.fail("request", outcome, case, found)
                else:
                    record.add("request", outcome)
                if done == max(1, len(numbers) // 10) or done == len(numbers):
                    sizes.append(_megabytes(server.pid))
            if sizes[-1] - sizes[0] > _GROWTH:
                record.fail("memory", "grown", numbers[-1], f"from {sizes[0]:.0f} to {sizes[-1]:.0f} MB")
            else:
                record.add("memory", f"at most {_GROWTH:g} MB more")
            if server.poll() is not None:
                record.fail("server", "ended", numbers[-1], str(server.returncode))
        finally:
            server.terminate()
            server.wait(60)
    if "Traceback" in (said := errors.read_text(encoding="utf-8")):
        record.fail("server", "foreign exception", 0, said.strip().splitlines()[-1][:300])
    return record


def _port(errors: Path) -> int:
    until = time.monotonic() + _TIMEOUT
    while time.monotonic() < until:
        if found := re.search(r"127\.0\.0\.1:(\d+)/", errors.read_text(encoding="utf-8")):
            return int(found[1])
        time.sleep(0.05)
    raise AssertionError(f"the server did not start: {errors.read_text(encoding='utf-8')}")


def _megabytes(process: int) -> float:
    """Of memory that a process has."""
    return float(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())[1]) / 1024  # type: ignore[index]


def _case(port: int, draw: random.Random) -> tuple[str, str]:
    """Send one request; its status, and what is wrong with the answer."""
    raw, foreign, sound = _request(draw)
    answer = b""
    client = socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT if sound else _SHORT)
    with client, suppress(ConnectionError, TimeoutError):
        client.sendall(raw)
        if draw.random() < 0.05:
            return "hung up", ""
        while not _is_whole(answer) and (data := client.recv(1 << 16)):
            answer += data
    if sound and not answer.startswith(b"HTTP/1.1 200"):
        return "a sound request is not served", repr(answer[:200])
    return _judged(answer, foreign)


def _is_whole(answer: bytes) -> bool:
    """Return whether an answer has come; one to HEAD may wait for a body that does not come."""
    head, end, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    return bool(end) and length is not None and len(body) >= int(length[1])


def _request(draw: random.Random) -> tuple[bytes, bool, bool]:
    """A request, whether it is one of a foreign page, and whether it has to be served."""
    sound = draw.random() < 0.5
    body = json.dumps(draw.choice(_RECORDS[: 3 if sound else 4])).encode()
    host, more, method, path, length = b"localhost", [], b"POST", _PATHS[0], len(body)
    if not sound:
        body = damaged(body, draw) if draw.random() < 0.6 else body
        method, path = draw.choice(_METHODS), path if draw.random() < 0.6 else draw.choice(_PATHS)
        host = draw.choice((host, host, host, b"evil.example", b"", b"[::1]"))
        length = len(body) if draw.random() < 0.9 else draw.choice((-1, 0, len(body) + 5, len(body) // 2, 10**30))
        more = [draw.choice(_HEADERS)] if draw.random() < 0.15 else []
    head = b"\r\n".join([b"%b %b HTTP/1.1" % (method, path), b"Host: " + host, b"Content-Length: %d" % length, *more])
    raw = head + b"\r\n\r\n" + body
    if not sound and draw.random() < 0.1:
        return damaged(raw, draw), False, False
    return raw, b"evil.example" in head, sound


def _judged(answer: bytes, foreign: bool) -> tuple[str, str]:
    answer = answer.removeprefix(b"HTTP/1.1 100 \r\n\r\n")
    if not answer:
        return "closed", ""
    status = re.match(rb"HTTP/1\.1 (\d{3})", answer)
    if status is None:
        return "no answer", repr(answer[:100])
    name = status[1].decode()
    if name == "500" or b"Traceback" in answer:
        return name, repr(answer[-300:])
    if foreign and name == "200":
        return "let in", repr(answer[:100])
    return name, ""
