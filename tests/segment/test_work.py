"""Segmenters that train with a folder: the same model as in memory, whatever happens on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import spanloom
from spanloom import Document, Segmenter
from spanloom.data import chinese_clinical
from spanloom.errors import UsageError
from spanloom.learn import Progress, shards
from spanloom.parallel import Processes

SETTINGS: dict[str, Any] = {"epochs": 12, "l2": 0.1, "iterations": 5, "single_word": ["medication"]}


def part(name: str, count: int = 30) -> list[Document]:
    return list(spanloom.read(chinese_clinical() / f"{name}.jsonl"))[:count]


def saved(model: Segmenter, folder: Path) -> dict[str, bytes]:
    model.save(folder)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("params", "dev"),
    [
        ({}, True),
        ({"l2": None, "epochs": 4, "n_jobs": 2}, True),
        ({"method": "dual", "optimizer": "lbfgs"}, True),
        ({"method": "independent", "names": 2}, False),
        ({"method": "joint_labels", "features": "set1"}, True),
        ({"features": "set3", "dictionaries": {"drug": ["阿司匹林", "药"]}}, True),
    ],
)
def test_the_model_is_the_same_as_in_memory(params: dict[str, Any], dev: bool, tmp_path: Path) -> None:
    settings, given = {**SETTINGS, **params}, {"dev": part("dev")} if dev else {}
    one = Segmenter(**settings).fit(part("train"), **given)
    two = Segmenter(**{**settings, "n_jobs": 3 - settings.get("n_jobs", 1)}).fit(
        iter(part("train")), work=tmp_path / "work", **given
    )
    assert saved(one, tmp_path / "one") == saved(two, tmp_path / "two")
    assert one.report_ == two.report_ and one.lost_ == two.lost_
    assert not (tmp_path / "work").exists()


class StopError(Exception):
    """What ends a training in the middle."""


def test_a_training_resumes_from_each_pass_also_when_one_chain_has_stopped(tmp_path: Path) -> None:
    train, dev = part("train"), part("dev")
    whole: list[Progress] = []
    plain = saved(Segmenter(**SETTINGS).fit(train, dev=dev, progress=whole.append), tmp_path / "whole")
    passes = [step.stage.split(":")[0] for step in whole if step.step and "training" in step.stage]
    alone = len(passes) - 2 * min(passes.count(name) for name in set(passes))
    assert alone > 1  # passes of the chain that stops last, which makes them alone
    left, times = 1, 0
    while left:
        seen = [0]

        def tell(progress: Progress, seen: list[int] = seen) -> None:
            if progress.step and "training" in progress.stage:
                seen[0] += 1
            if (seen[0] and "training" not in progress.stage) or seen[0] == 3:
                raise StopError

        try:
            model = Segmenter(**SETTINGS).fit(iter(train), dev=dev, work=tmp_path / "work", progress=tell)
            left = 0
        except StopError:
            times += 1
    assert saved(model, tmp_path / "again") == plain and times >= alone


KILLED = """
import os, signal, sys
from test_work import SETTINGS, Segmenter, part
def tell(progress):
    if "training" in progress.stage and progress.step == 3:
        os.kill(os.getpid(), signal.SIGKILL)
Segmenter(**SETTINGS).fit(part("train"), dev=part("dev"), work=sys.argv[1], progress=tell)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signal")
def test_a_killed_training_resumes_and_no_other_does(tmp_path: Path) -> None:
    train, dev, work = part("train"), part("dev"), tmp_path / "work"
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", KILLED, str(work)], env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == -signal.SIGKILL
    with pytest.raises(UsageError, match="another training"):
        Segmenter(**{**SETTINGS, "l2": 2.0}).fit(train, dev=dev, work=work)
    with pytest.raises(UsageError, match="another training"):
        Segmenter(**SETTINGS).fit(train, dev=dev[1:], work=work)
    steps: list[Progress] = []
    again = Segmenter(**SETTINGS).fit(train, dev=dev, work=work, progress=steps.append)
    assert saved(again, tmp_path / "one") == saved(Segmenter(**SETTINGS).fit(train, dev=dev), tmp_path / "two")
    assert min(step.step for step in steps if step.step and "training" in step.stage) == 3


def test_processes_that_share_the_folder_give_the_same_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "_LEAST", 200)  # as many shards as a large corpus has
    settings, train, dev = {**SETTINGS, "optimizer": "lbfgs"}, part("train"), part("dev")
    whole = saved(Segmenter(**settings).fit(train, dev=dev), tmp_path / "whole")
    with Processes(2) as processes:
        for number, executor in enumerate(("threads", processes)):
            model = Segmenter(**settings).fit(train, dev=dev, work=tmp_path / "work", executor=executor)
            assert saved(model, tmp_path / str(number)) == whole, executor


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"method": "incremental"}, "method is 'incremental', but a segmenter with a folder"),
        ({"rescore": True}, "rescore is True, but a segmenter with a folder"),
        ({"passes": "two"}, "passes is 'two', but training with a folder"),
        ({"clusters": 5}, "clusters is 5, .* train clusters"),
    ],
)
def test_what_needs_all_in_memory_is_refused_at_once(params: dict[str, Any], message: str, tmp_path: Path) -> None:
    def never() -> Iterator[Document]:
        raise AssertionError("nothing is read")
        yield

    with pytest.raises(UsageError, match=message):
        Segmenter(**params).fit(never(), work=tmp_path / "work")
    assert not (tmp_path / "work").exists()


def test_the_command_line(command: Any, tmp_path: Path) -> None:
    data = chinese_clinical()
    shared = ["train", "segmenter", "--train", data / "train.jsonl", "--dev", data / "dev.jsonl", "--epochs", "2"]
    assert command(*shared, "--output", tmp_path / "one").returncode == 0
    assert command(*shared, "--output", tmp_path / "two", "--work", tmp_path / "work").returncode == 0
    for name in ("model.json", "weights.safetensors"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    refused = command(*shared, "--output", tmp_path / "three", "--work", tmp_path / "work", "--executor", "processes")
    assert refused.returncode == 2 and "which needs the optimizer 'lbfgs'" in refused.stderr
