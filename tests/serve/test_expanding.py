"""`/predict?expand=true`: what `spanloom predict --expand` writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from serve_helpers import running

from spanloom import Document, Mention, Recognizer

TEXTS = ["no chest pain and back pain", "no fever", "no right and left arm pain"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, notes: Any) -> Path:
    """A model that finds coordinations as one mention; with a second stage, whose names speak for expansions."""
    whole = [Document(text, mentions=[Mention("problem", [(3, len(text))])]) for text in TEXTS]
    small = ["bias", "low[-1..1]", "suffix(2..3)"]
    found = Recognizer("separators", small, rate=0.3, l2=0.1, epochs=3).fit([*notes.train, *whole * 20], dev=notes.dev)
    assert found.second_ is not None
    found.save(folder := tmp_path_factory.mktemp("expanding") / "notes")
    return folder


@pytest.fixture(scope="module")
def client(model: Path) -> Iterator[httpx.Client]:
    with running(model, "--jobs", 1) as server, httpx.Client(base_url=server.url, timeout=60) as found:
        yield found


@pytest.mark.parametrize("threshold", [0, 0.5])
def test_answers_are_the_lines_of_the_command(
    client: httpx.Client, model: Path, tmp_path: Path, command: Any, threshold: float
) -> None:
    records = [{"text": text, "id": str(i)} for i, text in enumerate(TEXTS)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    options = ["--expand", "--threshold", threshold, "--output", tmp_path / "out.jsonl"]
    assert command("predict", model, tmp_path / "in.jsonl", *options).returncode == 0
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    answers = [
        client.post("/predict", params={"expand": True, "threshold": threshold}, json=record).json()
        for record in records
    ]
    assert [json.dumps(answer) for answer in answers] == [json.dumps(json.loads(line)) for line in lines]
    assert client.post("/predict", params={"expand": True, "threshold": threshold}, json=records).json() == answers
    made = [sum("expanded" in mention.get("attributes", {}) for mention in answer["mentions"]) for answer in answers]
    assert made == [2, 0, 2]


def test_without_it_nothing_is_added(client: httpx.Client) -> None:
    plain, expanded = (
        client.post("/predict", params=asked, json={"text": TEXTS[0]}).json()["mentions"]
        for asked in ({}, {"expand": True})
    )
    assert len(plain) == 1 and expanded[:1] == plain
    assert [mention["spans"] for mention in expanded[1:]] == [[[3, 13]], [[18, 27]]]


def test_what_is_added_is_not_also_among_the_others(client: httpx.Client) -> None:
    answer = client.post("/predict", params={"expand": True, "others": True}, json={"text": TEXTS[0]}).json()
    found = [(mention["type"], mention["spans"]) for mention in answer["mentions"]]
    assert len(found) == 3
    assert not [one for one in answer["meta"]["others"] if (one["type"], one["spans"]) in found]


def test_it_is_described_and_checked(client: httpx.Client) -> None:
    described = client.get("/openapi.json").json()["paths"]["/predict"]["post"]["parameters"]
    [own] = [parameter for parameter in described if parameter["name"] == "expand"]
    assert (
        own["schema"]["type"] == "boolean" and own["schema"]["default"] is False and "`expanded`" in own["description"]
    )
    assert client.post("/predict", params={"expand": "maybe"}, json={"text": "pain"}).status_code == 422
