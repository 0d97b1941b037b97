"""Short requests that wait together are predicted as one batch, which no answer shows."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from serve_helpers import running

from spanloom.data import clinical
from spanloom.formats import read
from spanloom.serve import Limits, open_models
from spanloom.serve.answers import Job
from spanloom.serve.limits import BATCH
from spanloom.serve.worker import AGAIN, answer, answers

LINES = [line for document in read(clinical() / "test") for line in document.text.splitlines() if line][:60]
BODIES = [json.dumps({"text": line, "id": str(n)}).encode() for n, line in enumerate(LINES)]
JOBS = [{}, {"threshold": 0.5}, {"others": True}, {"expand": True}]


@pytest.mark.parametrize("options", JOBS)
@pytest.mark.parametrize("kind", ["clinical", "linker", "segmenter"])
def test_answers_are_those_of_single_requests(models: dict[str, Path], kind: str, options: dict[str, bool]) -> None:
    served = open_models([str(models[kind])])
    given = options if kind != "segmenter" else {name: value for name, value in options.items() if name == "expand"}
    job = Job("predict", kind, **given)  # type: ignore[arg-type]
    alone = [answer(served, job, body, Limits()) for body in BODIES]
    for size in (2, 7, BATCH):
        together = [answers(served, job, BODIES[n : n + size], Limits()) for n in range(0, len(BODIES), size)]
        assert [found for some in together for found in some] == alone


def test_lists_and_records_together(models: dict[str, Path]) -> None:
    served, job = open_models([str(models["clinical"])]), Job("predict", "clinical")
    raws = [b"[" + b",".join(BODIES[:3]) + b"]", BODIES[3], b"[]", b"[" + BODIES[4] + b"]", b'{"text": ""}']
    assert answers(served, job, raws, Limits()) == [answer(served, job, raw, Limits()) for raw in raws]


@pytest.mark.parametrize("bad", [b"{", b"[1]", b'{"text": 1}', b'{"text":"a"},{"text":"b"}'])
def test_a_batch_with_an_invalid_request_is_asked_for_again(models: dict[str, Path], bad: bytes) -> None:
    served, job = open_models([str(models["clinical"])]), Job("predict", "clinical")
    assert answers(served, job, [BODIES[0], bad, BODIES[1]], Limits()) == [(AGAIN, b"")] * 3
    assert answers(served, job, [bad], Limits())[0][0] in (400, 422)


def test_requests_at_once_get_the_answers_of_single_ones(models: dict[str, Path]) -> None:
    hostile = json.dumps({"text": "(" * 3000}).encode()  # short to look at, and long to work on
    bodies = [body for body in BODIES for _ in range(3)] + [b"{", b"[1]", hostile] * 4
    with running(models["clinical"], "--jobs", 1) as server, httpx.Client(base_url=server.url, timeout=60) as client:

        def ask(body: bytes) -> tuple[int, bytes]:
            found = client.post("/predict", content=body)
            return found.status_code, found.content

        alone = {body: ask(body) for body in bodies}
        with ThreadPoolExecutor(40) as threads:
            assert list(threads.map(ask, bodies)) == [alone[body] for body in bodies]
