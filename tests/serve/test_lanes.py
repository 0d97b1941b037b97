"""The queue before the processes: what is put together, and what becomes of it. Processes are played by the test."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from spanloom.serve.answers import Job
from spanloom.serve.lanes import Answer, Ended, Lane
from spanloom.serve.limits import BATCH, BATCH_BYTES, SOON


class Process:
    """A process that a test plays the part of: it keeps what it is asked, and answers when the test lets it."""

    models, ended, log, seconds = 0, False, list[list[str]](), 0.001
    gate: asyncio.Event
    closed = 0

    @classmethod
    async def start(cls, *_: object) -> Process:
        return cls()

    async def answers(self, _: Job, raws: Sequence[bytes]) -> list[Answer]:
        self.log.append([raw.decode() for raw in raws])
        await self.gate.wait()
        if b"poison" in raws:
            raise Ended
        return [Answer(200, raw, self.seconds * len(raws)) for raw in raws]

    def close(self) -> None:
        type(self).closed += 1


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> type[Process]:
    monkeypatch.setattr("spanloom.serve.lanes._Process", Process)
    Process.log, Process.closed, Process.seconds = [], 0, 0.001
    return Process


async def outcomes(process: type[Process], *raws: str | tuple[str, Job], drop: Sequence[int] = ()) -> list[str]:
    """What becomes of requests, some of which are given up while they are worked on."""
    process.gate = asyncio.Event()
    lane = Lane(None, 1, background=False)  # type: ignore[arg-type]
    await lane.open(lambda _: None)
    process.gate.set()
    await lane.run(Job("predict", "m"), b"first")
    process.log.clear()
    process.gate.clear()
    tasks = [asyncio.ensure_future(lane.run(*_split(raw))) for raw in raws]
    await asyncio.sleep(0.01)
    for number in drop:
        tasks[number].cancel()
    await asyncio.sleep(0.01)
    process.gate.set()
    found = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)
    lane.close()
    return [one.body.decode() if isinstance(one, Answer) else type(one).__name__ for one in found]


def _split(raw: str | tuple[str, Job]) -> tuple[Job, bytes]:
    body, job = raw if isinstance(raw, tuple) else (raw, Job("predict", "m"))
    return job, body.encode()


def test_one_that_comes_to_a_free_process_does_not_wait_for_others(played: type[Process]) -> None:
    assert asyncio.run(outcomes(played, "a", "b", "c")) == ["a", "b", "c"]
    assert played.log == [["a"], ["b", "c"]]


def test_only_short_requests_for_the_same_job_are_put_together(played: type[Process]) -> None:
    other, verb, large = Job("predict", "m", 0.5), Job("explain", "m"), "x" * BATCH_BYTES
    raws = ["a", "b", ("c", other), ("d", verb), ("e", verb), large, "f", ("g", other)]
    asyncio.run(outcomes(played, *raws))
    assert played.log == [["a"], ["b", "f"], ["c", "g"], ["d"], ["e"], [large]]


@pytest.mark.parametrize(("seconds", "expected"), [(0.0, [BATCH] * 3), (SOON / 10, [5] * 19 + [1]), (SOON, [1] * 96)])
def test_a_batch_is_bounded_by_number_and_time(played: type[Process], seconds: float, expected: list[int]) -> None:
    played.seconds = seconds
    raws = [str(n) for n in range(1 + 3 * BATCH)]
    assert asyncio.run(outcomes(played, *raws)) == raws
    assert list(map(len, played.log)) == [1, *expected]


def test_when_a_batch_ends_each_is_worked_on_alone_the_shortest_first(played: type[Process]) -> None:
    assert asyncio.run(outcomes(played, "a", "long one", "poison", "b", "c")) == ["a", "long one", "Ended", "b", "c"]
    assert played.log[:2] == [["a"], ["long one", "poison", "b", "c"]]
    assert sorted(map(len, played.log[2:])) == [1] * 4
    assert {*map(tuple, played.log[2:4])} == {("b",), ("c",)}
    assert played.closed == 3  # after the batch, after the poison, and at the end


def test_who_gives_up_in_a_batch_costs_the_others_nothing(played: type[Process]) -> None:
    assert asyncio.run(outcomes(played, "a", "b", "c", drop=[1])) == ["a", "CancelledError", "c"]
    assert played.log == [["a"], ["c"]]
    assert played.closed == 1  # at the end
    played.log, played.closed = [], 0
    assert asyncio.run(outcomes(played, "a", "b", "c", drop=[0])) == ["CancelledError", "b", "c"]
    assert played.log == [["a"], ["b", "c"]]
    assert played.closed == 2  # the work that nobody waits for ended
