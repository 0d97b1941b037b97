"""Processes for requests, started in both ways: as copies, and anew."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from spanloom.serve import Limits, Served, open_models
from spanloom.serve.answers import Job
from spanloom.serve.starting import Copies, Loaded, Starter
from spanloom.serve.worker import ANSWER, framed

BODY = b'{"text": "No chest pain."}'


@pytest.fixture(scope="module")
def served(models: dict[str, Path]) -> dict[str, Served]:
    return open_models([f"notes={models['clinical']}"])


def copies(served: dict[str, Served], limits: Limits) -> Starter:
    return Copies(served, limits, socket.create_server(("127.0.0.1", 0)))


STARTERS: dict[str, Callable[[dict[str, Served], Limits], Starter]] = {"loaded": Loaded}
if sys.platform == "linux":
    STARTERS["copies"] = copies


@pytest.fixture(params=STARTERS)
def starter(request: pytest.FixtureRequest, served: dict[str, Served]) -> Iterator[Starter]:
    with closing(STARTERS[request.param](served, Limits())) as found:
        yield found


def ask(channel: socket.socket, body: bytes) -> tuple[int, dict[str, object]]:
    channel.setblocking(True)
    with channel.makefile("rwb") as stream:
        stream.write(framed(Job("predict", "notes"), [body]))
        stream.flush()
        status, _, length = ANSWER.unpack(stream.read(ANSWER.size))
        return status, json.loads(stream.read(length))


def test_a_process_for_short_requests_answers_one_after_the_other(starter: Starter) -> None:
    with closing(starter.start(background=False).channel) as channel:
        assert ask(channel, BODY)[1] == ask(channel, BODY)[1]
        assert ask(channel, b"[")[0] == 400
        assert ask(channel, BODY)[0] == 200


def test_a_process_for_long_requests_answers_one(starter: Starter) -> None:
    with closing(starter.start(background=True).channel) as channel:
        assert ask(channel, BODY)[0] == 200
        assert channel.recv(1) == b""


def test_a_process_is_ended_and_others_are_not(starter: Starter) -> None:
    one, other = starter.start(background=False), starter.start(background=False)
    with closing(one.channel), closing(other.channel):
        assert ask(one.channel, BODY)[0] == 200
        one.end()
        assert one.channel.recv(1) == b""
        one.end()  # again does not matter
        assert ask(other.channel, BODY)[0] == 200


def test_all_end_with_what_started_them(starter: Starter) -> None:
    with closing(starter.start(background=False).channel) as channel:
        assert ask(channel, BODY)[0] == 200
        starter.close()
        assert channel.recv(1) == b""
