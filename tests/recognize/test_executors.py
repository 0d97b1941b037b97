"""Training by processes that share a folder: the same model as in one, whoever dies on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from test_work_folder import SETTINGS, part, saved

from spanloom import Recognizer
from spanloom.data import clinical
from spanloom.errors import SpanloomError, UsageError
from spanloom.learn import Progress, shards
from spanloom.parallel import SERIAL, Processes, Threads

LBFGS: dict[str, Any] = {**SETTINGS, "optimizer": "lbfgs", "rescore": False}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many shards as a large corpus has."""
    monkeypatch.setattr(shards, "_LEAST", 40)


def test_the_model_is_the_same_whoever_trains_it(tmp_path: Path) -> None:
    train, dev = part("train"), part("dev")
    settings = {**LBFGS, "l2": [0.5, 1.0]}
    whole = saved(Recognizer(**settings).fit(train, dev=dev), tmp_path / "whole")
    with Processes(3) as processes:
        ways: list[tuple[Any, int]] = [("processes", 2), (processes, 1), (Threads(2), 1)]
        for number, (executor, jobs) in enumerate(ways):
            model = Recognizer(**settings, n_jobs=jobs).fit(train, dev=dev, work=tmp_path / "work", executor=executor)
            found = saved(model, tmp_path / str(number))
            assert found["weights.safetensors"] == whole["weights.safetensors"], executor
            assert not (tmp_path / "work").exists()


class Lazy:
    """An executor that begins a piece when its result is asked for, as the built-in `map` does."""

    workers, shared = 1, SERIAL

    def map(self, function: Any, pieces: Any, /) -> Any:
        return map(function, pieces)


def test_an_executor_that_gives_results_as_they_come(tmp_path: Path) -> None:
    train, dev = part("train"), part("dev")
    model = Recognizer(**LBFGS).fit(train, dev=dev, work=tmp_path / "work", executor=Lazy())
    assert saved(model, tmp_path / "one") == saved(Recognizer(**LBFGS).fit(train, dev=dev), tmp_path / "two")


class Losing(Lazy):
    """An executor that loses the last result."""

    def map(self, function: Any, pieces: Any, /) -> Any:
        return [function(piece) for piece in pieces][:-1]


def test_an_executor_that_loses_results(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the executor Losing gave \d+ results for \d+ pieces of work"):
        Recognizer(**LBFGS).fit(part("train"), dev=part("dev"), work=tmp_path / "work", executor=Losing())


@pytest.mark.parametrize(
    ("executor", "params", "work", "message"),
    [
        ("processes", {}, None, r"executor is 'processes', which needs a folder that its workers share; name one"),
        ("ray", {"optimizer": "adagrad"}, "work", r"executor is 'ray', which needs the optimizer 'lbfgs', as steps"),
        ("thread", {}, "work", r"executor is 'thread', expected threads, processes, ray, spark, or, in Python, one"),
        (7, {}, "work", r"executor is 7, expected a name, or an executor, which has map, shared and workers"),
        (Threads, {}, "work", r"executor is <class .*>, expected a name, or an executor, which has map"),
        (SERIAL, {"optimizer": "adagrad"}, "work", r"needs the optimizer 'lbfgs'"),
    ],
)
def test_what_an_executor_needs_is_told_at_once(
    executor: Any, params: dict[str, Any], work: str | None, message: str, tmp_path: Path
) -> None:
    def never() -> Iterator[Any]:
        raise AssertionError("nothing is read")
        yield

    with pytest.raises(UsageError, match=message):
        Recognizer(**{**LBFGS, **params}).fit(never(), work=work and tmp_path / work, executor=executor)
    assert not [*tmp_path.iterdir()]


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signal")
def test_a_worker_that_is_killed_is_told_and_training_goes_on(tmp_path: Path) -> None:
    train, dev, others = part("train"), part("dev"), {*active_children()}

    def kill(progress: Progress) -> None:
        if progress.stage.startswith("training") and progress.step == 2:
            os.kill(({*active_children()} - others).pop().pid or 0, signal.SIGKILL)

    def fit(**more: Any) -> Recognizer:
        return Recognizer(**LBFGS, n_jobs=2).fit(train, dev=dev, work=tmp_path / "work", executor="processes", **more)

    with pytest.raises(SpanloomError, match=r"a worker process did not finish its work: .*Give the same command again"):
        fit(progress=kill)
    assert (tmp_path / "work" / "spanloom-training" / "work.json").exists()
    assert others.issuperset(active_children())
    whole = Recognizer(**LBFGS).fit(train, dev=dev)
    assert saved(fit(), tmp_path / "one") == saved(whole, tmp_path / "two")
    assert not (tmp_path / "work").exists()


KILLED = """
import os, signal, sys
from multiprocessing import active_children
from test_executors import LBFGS, Recognizer, part, shards

def tell(progress):
    if progress.stage.startswith("training") and progress.step == 2:
        print(len(active_children()), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    shards._LEAST = 40
    model = Recognizer(**LBFGS, n_jobs=2)
    model.fit(part("train"), dev=part("dev"), work=sys.argv[1], progress=tell, executor="processes")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signal")
def test_a_training_that_is_killed_leaves_no_worker_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(KILLED)
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    line = [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "work")]
    # whose output ends with the last process that has it
    done = subprocess.run(line, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True, timeout=600)
    assert done.returncode == -signal.SIGKILL and done.stdout == "2\n"
    train, dev = part("train"), part("dev")
    model = Recognizer(**LBFGS, n_jobs=2)
    model.fit(train, dev=dev, work=tmp_path / "work", executor="processes")
    assert saved(model, tmp_path / "one") == saved(Recognizer(**LBFGS).fit(train, dev=dev), tmp_path / "two")


def test_the_command_line(command: Any, tmp_path: Path) -> None:
    line = ["train", "recognizer", "--train", clinical() / "train", "--dev", clinical() / "dev", "--features", "small"]
    line += ["--optimizer", "lbfgs", "--iterations", "3", "--l2", "1", "--no-rescore", "--quiet"]
    spread = ["--work", tmp_path / "work", "--executor", "processes", "--jobs", "2"]
    for more in ([], spread):
        done = command(*line, *more, "--output", tmp_path / f"model-{len(more)}")
        assert done.returncode == 0, done.stderr
    one, two = (tmp_path / f"model-{n}" / "weights.safetensors" for n in (0, 6))
    assert one.read_bytes() == two.read_bytes() and not (tmp_path / "work").exists()
    done = command(*line, "--executor", "ray", "--output", tmp_path / "other")
    assert done.returncode == 2 and "executor is 'ray', which needs a folder" in done.stderr
