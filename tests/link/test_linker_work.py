"""Linkers that train with a folder: the same model as in memory, whatever happens on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_linker import NAMES, make_documents

from spanloom import Linker
from spanloom.document import Document
from spanloom.errors import DataError, UsageError
from spanloom.learn import Progress
from spanloom.link import fitting
from spanloom.vocabulary import Concept
from spanloom.vocabulary.store import Vocabulary

SETTINGS: dict[str, Any] = {"features": "small", "iterations": 6, "folds": 3}
VOCABULARY = Vocabulary.build([Concept(concept, names[0], names[1:]) for concept, names in NAMES.items()])


def trained(settings: dict[str, Any], documents: list[Document], dev: list[Document] | None, **more: Any) -> Linker:
    return Linker(**settings).fit(documents, vocabulary=VOCABULARY, dev=dev, **more)


def saved(model: Linker, folder: Path) -> dict[str, bytes]:
    model.save(folder)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("params", "dev"),
    [
        ({}, True),
        ({"runs": 2, "pos": "none"}, False),
        ({"task": "normalize"}, True),
        ({"gold_candidates": True, "own_memory": True, "composites": False}, True),
        ({"split_tokens": True, "features": ["bias", "w[0]", "common[-1]", "category[0]"]}, False),
        ({"margin": 0.0, "iterations": 30, "patience": 30}, True),
    ],
)
def test_the_model_is_the_same_as_in_memory(
    params: dict[str, Any], dev: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, given = {**SETTINGS, **params}, make_documents(6, 1) if dev else None
    one = trained({**settings, "n_jobs": 1}, make_documents(24, 0), given)
    monkeypatch.setattr(fitting, "BLOCK", 40)  # so that each fold is read in parts, as of much text
    two = trained({**settings, "n_jobs": 2}, make_documents(24, 0), given, work=tmp_path / "work")
    assert saved(one, tmp_path / "one") == saved(two, tmp_path / "two")
    assert one.report_ == two.report_ and one.lost_ == two.lost_
    assert not (tmp_path / "work").exists()


class StopError(Exception):
    """What ends a training in the middle."""


@pytest.mark.parametrize(
    "params", [{"patience": 2, "runs": 2}, {"margin": 0.0, "patience": 30, "iterations": 30, "word_rate": 1.0}]
)
def test_a_training_resumes_from_each_pass(params: dict[str, Any], tmp_path: Path) -> None:
    settings, data = {**SETTINGS, **params}, make_documents(24, 0)
    whole: list[Progress] = []
    plain = saved(trained(settings, data, None, progress=whole.append), tmp_path / "whole")
    passes = sum(bool(step.step) and step.stage.startswith("training") for step in whole)
    model, made = None, 0
    while model is None:
        seen = [0]

        def tell(progress: Progress, seen: list[int] = seen) -> None:
            seen[0] += bool(progress.step) and progress.stage.startswith("training")
            if seen[0] == 2:  # the first of which was kept
                raise StopError

        try:
            model = trained(settings, data, None, work=tmp_path / "work", progress=tell)
        except StopError:
            made += 1
    assert saved(model, tmp_path / "again") == plain
    assert made == passes - 1
    if "word_rate" in params:  # which ends where all is right
        assert int(model.report_.history[-1][0]) == 0 and len(model.report_.history) < 30


KILLED = """
import os, signal, sys
from test_linker_work import SETTINGS, make_documents, trained
def tell(progress):
    if progress.stage.startswith("training") and progress.step == 3:
        os.kill(os.getpid(), signal.SIGKILL)
trained(SETTINGS, make_documents(24, 0), make_documents(6, 1), work=sys.argv[1], progress=tell)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signal")
def test_a_killed_training_resumes_and_no_other_does(tmp_path: Path) -> None:
    data, dev, work = make_documents(24, 0), make_documents(6, 1), tmp_path / "work"
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", KILLED, str(work)], env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == -signal.SIGKILL
    for other, documents in (({**SETTINGS, "beam": 3}, data), (SETTINGS, data[1:])):
        with pytest.raises(UsageError, match="another training"):
            trained(other, documents, dev, work=work)
    with pytest.raises(UsageError, match="another training"):
        smaller = Vocabulary.build([*VOCABULARY][1:])
        Linker(**SETTINGS).fit(data, vocabulary=smaller, dev=dev, work=work)
    steps: list[Progress] = []
    again = trained(SETTINGS, data, dev, work=work, progress=steps.append)
    assert saved(again, tmp_path / "one") == saved(trained(SETTINGS, data, dev), tmp_path / "two")
    assert min(step.step for step in steps if step.step and step.stage.startswith("training")) == 3
    assert not work.exists()


def test_kept_passes_that_are_damaged(tmp_path: Path) -> None:
    def tell(progress: Progress) -> None:
        if progress.stage.startswith("training") and progress.step == 2:
            raise StopError

    data, dev = make_documents(24, 0), make_documents(6, 1)
    with pytest.raises(StopError):
        trained(SETTINGS, data, dev, work=tmp_path, progress=tell)
    [folder] = tmp_path.glob("spanloom-training/passes-part-run-0")
    for name in ("keys-0-1", "own-0-1", "best-keys-0-1", "sums-0-1"):
        file = folder / f"{name}.array"
        good = file.read_bytes()
        file.write_bytes(good[:-8])
        with pytest.raises(DataError, match=r"the passes that are kept are damaged: .*; delete that folder"):
            trained(SETTINGS, data, dev, work=tmp_path)
        file.write_bytes(good)
    assert np.fromfile(folder / "counts-0-1.array", np.int64)[0] > 0


@pytest.mark.parametrize(
    ("params", "message"), [({"vectors": "x.txt"}, "vectors is 'x.txt', but"), ({"clusters": 5}, "clusters is 5, but")]
)
def test_what_needs_all_in_memory_is_refused_at_once(params: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        trained({**SETTINGS, **params}, [], None, work=tmp_path / "work")
    assert not (tmp_path / "work").exists()
