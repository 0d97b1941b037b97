"""Sums over shards: in this process, by threads and by processes they are the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from learn_helpers import corpus

from spanloom.errors import DataError, UsageError
from spanloom.features import Sparse
from spanloom.files.scratch import FolderScratch, Handle, opened, read_into, write_whole
from spanloom.learn import EdgeTarget, Objective, TrainingSet, minimize
from spanloom.parallel import Executor, Processes, Threads

LENGTHS = [9, 3, 0, 14, 2] * 6
KINDS: list[tuple[type[Processes] | type[Threads], int]] = [
    (Threads, 3),
    (Processes, 1),
    (Processes, 2),
    (Processes, 3),
]


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: f"{kind[0].__name__}-{kind[1]}")
def workers(request: pytest.FixtureRequest) -> Iterator[Executor]:
    kind, count = request.param
    with kind(count) as executor:
        yield executor


def on_disk(data: TrainingSet, folder: Path) -> TrainingSet:
    """The same corpus in files."""
    scratch = FolderScratch(folder)
    indices, offsets, *_ = data.matrix
    matrix = Sparse(scratch.written("matrix", indices), scratch.written("offsets", offsets))
    assert isinstance(data.target, EdgeTarget)
    target = EdgeTarget(data.engine, data.offsets, scratch.written("edges", data.target.edges), scratch)
    return replace(data, matrix=matrix, target=target, scratch=scratch)


def found(objective: Objective, seed: int = 0) -> tuple[float, bytes]:
    gradient = np.full(objective.size, np.nan, np.float32)
    point = np.random.default_rng(seed).normal(0, 1, objective.size).astype(np.float32)
    return objective.value_and_gradient(point, gradient), gradient.tobytes()


@pytest.mark.parametrize("name", ["bio", "semi_markov", "separators", "shared"])
def test_workers_find_the_same_bytes(name: str, workers: Executor, tmp_path: Path) -> None:
    data, *_ = corpus(name, "subgraphs", 4, LENGTHS, vocabulary=20)
    here, spread = Objective(data, 0.5, shard=9), Objective(on_disk(data, tmp_path), 0.5, shard=9, workers=workers)
    whole = Objective(data, 0.5)
    for seed in (0, 1):
        value, gradient = found(here, seed)
        assert found(spread, seed) == (value, gradient)
        loss, unsharded = found(whole, seed)
        assert value == pytest.approx(loss, rel=1e-6)
        np.testing.assert_allclose(
            *(np.frombuffer(each, np.float32) for each in (gradient, unsharded)), rtol=1e-5, atol=1e-4
        )
    assert {path.name.rpartition("-")[2] for path in tmp_path.glob("sums/*")} <= {"0"}  # used again by the next step


def test_the_gradient_is_the_difference_quotient(workers: Executor, tmp_path: Path) -> None:
    data, *_ = corpus("separators", "subgraphs", 3, LENGTHS, vocabulary=8)
    objective, rng = Objective(on_disk(data, tmp_path), 0.3, shard=20, workers=workers), np.random.default_rng(5)
    point, gradient = rng.normal(0, 0.5, objective.size), np.empty(objective.size, np.float32)
    objective.value_and_gradient(point.astype(np.float32), gradient)
    direction, nothing = rng.normal(0, 1, objective.size), np.empty(objective.size, np.float32)
    direction /= np.linalg.norm(direction)
    near, far = (
        objective.value_and_gradient((point + step * direction).astype(np.float32), nothing)
        - objective.value_and_gradient((point - step * direction).astype(np.float32), nothing)
        for step in (0.1, 0.2)
    )
    assert gradient @ direction == pytest.approx((8 * near - far) / 1.2, rel=5e-3, abs=5e-3)


def test_weights_of_sentences_and_the_optimum(workers: Executor, tmp_path: Path) -> None:
    data, *_ = corpus("shared", "subgraphs", 7, LENGTHS, vocabulary=20)
    data = replace(data, weights=np.random.default_rng(0).integers(0, 3, len(LENGTHS)).astype(float))
    spread = Objective(on_disk(data, tmp_path), 0.5, shard=16, workers=workers)
    points = [
        minimize(one.value_and_gradient, np.zeros(one.size, np.float32), iterations=10, tolerance=1e-9)
        for one in (Objective(data, 0.5, shard=16), spread)
    ]
    assert points[0].tobytes() == points[1].tobytes()


def test_what_workers_need_is_told(tmp_path: Path) -> None:
    data, *_ = corpus("bio", "subgraphs", 4, LENGTHS)
    with pytest.raises(UsageError, match=r"a corpus in memory; make it in a folder that they share"):
        Objective(data, 0.5, workers=Processes(2))
    for count in (1, 2):
        with Processes(count) as workers:
            objective = Objective(on_disk(data, tmp_path), 0.5, shard=9, workers=workers)
            (tmp_path / "matrix.array").write_bytes(b"short")
            with pytest.raises(DataError, match=r"matrix\.array: cannot be read: .*; name a folder"):
                found(objective)


def test_a_handle_opens_what_is_in_files(tmp_path: Path) -> None:
    scratch = FolderScratch(tmp_path)
    numbers = scratch.written("numbers", np.arange(60, dtype=np.int32))
    value: dict[str, Any] = {
        "whole": numbers, "part": numbers[7:11], "turned": numbers[::2], "none": numbers[:0],
        "square": numbers.reshape(6, 10)[2:], "own": np.arange(3), "scratch": scratch,
    }  # fmt: skip
    handle = Handle.of(value, scratch)
    assert scratch.place(value["part"]) is not None and scratch.place(value["own"]) is None
    assert len(Handle.of(numbers, scratch).pickled) < 200 and opened(handle) is opened(handle)
    again = opened(handle)
    again["scratch"].release()
    assert all((again[name] == value[name]).all() for name in value if name != "scratch")
    again["part"][:] = 0  # a worker cannot damage what others read
    assert numbers[7] == 7


def test_files_of_workers_are_whole(tmp_path: Path) -> None:
    write_whole(tmp_path / "x", np.arange(3), np.zeros(0, np.float32))
    write_whole(tmp_path / "z", np.arange(3), over=tmp_path / "w")
    write_whole(tmp_path / "x", np.arange(3), over=tmp_path / "z")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    again = np.empty(2, np.int64)
    read_into(again, tmp_path / "x", 8)
    assert again.tolist() == [1, 2]
    for odd, message in (("y", "no such file"), ("x", "too short")):
        with pytest.raises(DataError, match=message):
            read_into(again, tmp_path / odd, 16)
    write_whole(tmp_path / "long", np.arange(9))
    write_whole(tmp_path / "x", np.arange(3), over=tmp_path / "long")  # of which nothing stays
    assert (tmp_path / "x").stat().st_size == 24
    with pytest.raises(DataError, match="cannot be written"):
        write_whole(tmp_path / "none" / "x", again)
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match="cannot be written"):
        write_whole(tmp_path / "folder", again)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "x"]
