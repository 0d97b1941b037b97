"""Training that is killed, and goes on: the same bytes as if it had never been interrupted."""

from __future__ import annotations

import hashlib
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import spanloom
from spanloom import Document, Mention, Recognizer, Segmenter
from spanloom.errors import ModelError, UsageError
from spanloom.formats import write

FILES = ("model.json", "weights.safetensors")
SETTINGS = {
    "encoder_epochs": 4, "encoder_rate": 1e-3, "head_rate": 1e-2, "step_subwords": 64, "precision": "float32",
}  # fmt: skip
# The child kills itself after a step of its own; where EVERY is 0, each step has a checkpoint.
CHILD = """
import os, signal, sys
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook
import spanloom
from spanloom.learn import keeping
keeping.EVERY = float(sys.argv[2])
last, steps = int(sys.argv[1]), 0
def count(*_):
    global steps
    steps += 1
    if steps == last:
        os.kill(os.getpid(), signal.SIGKILL)
register_optimizer_step_post_hook(count)
notes = list(spanloom.read("notes.jsonl"))
model = spanloom.Recognizer(encoder=sys.argv[3], checkpoint="kept", **eval(sys.argv[4]))
model.fit(notes, dev=notes[:10]).save("model")
"""


def child(folder: Path, steps: int, every: float) -> int:
    arguments = [str(steps), str(every), str(folder), repr(SETTINGS)]
    done = subprocess.run([sys.executable, "-c", CHILD, *arguments], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_training_that_is_killed_again_and_again_gives_the_same_bytes(
    folder: Path, notes: list[Document], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(notes, "notes.jsonl")
    same = list(spanloom.read("notes.jsonl"))
    Recognizer(encoder=str(folder), **SETTINGS).fit(same, dev=same[:10]).save("whole")
    passes: list[tuple[int, int]] = []
    # 30 steps a pass; in the second run there is a checkpoint after each, elsewhere after each pass
    for steps, every in ((40, 600), (4, 0), (13, 600)):
        assert child(folder, steps, every) != 0
        assert not Path("model").exists()
        said = Path("kept/seed-0/checkpoint.json")
        passes.append(tuple(json.loads(said.read_text())["kept"]["place"][:2]) if said.exists() else (0, 0))
    assert passes[0] == (1, 0)
    assert passes == sorted(passes)
    assert any(steps for _, steps in passes)
    assert child(folder, 10**6, 600) == 0
    for name in FILES:
        assert Path("model", name).read_bytes() == Path("whole", name).read_bytes()
    assert not Path("kept").exists()


class EnoughError(Exception):
    """Somebody has seen enough."""


def interrupted(folder: Path, notes: list[Document], kept: Path, **more: object) -> Recognizer:
    """Train until the second pass is told of, and leave the checkpoint of the first."""

    def tell(progress: spanloom.learn.Progress) -> None:
        if progress.step == 2 and progress.dev_f1 is not None:
            raise EnoughError

    model = Recognizer(encoder=folder, checkpoint=kept, **{**SETTINGS, **more})
    with pytest.raises(EnoughError):
        model.fit(notes, dev=notes[:10], progress=tell)
    return model


def test_a_checkpoint_of_another_training_is_refused(folder: Path, notes: list[Document], tmp_path: Path) -> None:
    model = interrupted(folder, notes, tmp_path / "kept")
    with pytest.raises(UsageError, match=r"seed-0 is of another training, whose settings differ; train as"):
        Recognizer(encoder=folder, checkpoint=tmp_path / "kept", **{**SETTINGS, "head_rate": 0.5}).fit(
            notes, dev=notes[:10]
        )
    with pytest.raises(UsageError, match="whose data differ"):
        model.fit(notes, dev=notes[:9])
    other = Path(shutil.copytree(folder, tmp_path / "other"))  # the same weights, of an encoder that computes otherwise
    said = json.loads((other / "config.json").read_text()) | {"hidden_act": "relu"}
    (other / "config.json").write_text(json.dumps(said))
    with pytest.raises(UsageError, match="whose encoder differs"):
        Recognizer(encoder=other, checkpoint=tmp_path / "kept", **SETTINGS).fit(notes, dev=notes[:10])
    told: list[str] = []
    model.fit(notes, dev=notes[:10], progress=lambda progress: told.append(progress.stage))
    assert any("going on from the checkpoint, pass 2, 25 %" in stage for stage in told)
    assert model.report_ == Recognizer(encoder=folder, **SETTINGS).fit(notes, dev=notes[:10]).report_


def test_other_files_stay_where_they_are(folder: Path, notes: list[Document], tmp_path: Path) -> None:
    (tmp_path / "kept" / "seed-0").mkdir(parents=True)
    (tmp_path / "kept" / "seed-0" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"holds mine\.txt, which is not part of its output"):
        Recognizer(encoder=folder, checkpoint=tmp_path / "kept", **SETTINGS).fit(notes, dev=notes[:10])
    (tmp_path / "kept" / "seed-0" / "mine.txt").rename(tmp_path / "kept" / "mine.txt")
    model = Recognizer(encoder=folder, checkpoint=tmp_path / "kept", **SETTINGS).fit(notes, dev=notes[:10])
    model.save(tmp_path / "model")
    assert [file.name for file in (tmp_path / "kept").iterdir()] == ["mine.txt"]


def test_a_checkpoint_without_an_encoder_is_refused(notes: list[Document], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="checkpoint is given without an encoder"):
        Recognizer(checkpoint=tmp_path / "kept").fit(notes)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-40])


def reworded(said: Path, values: dict[str, object]) -> None:
    said.write_text(json.dumps(json.loads(said.read_text()) | values))


def kept_as(said: Path, **values: object) -> None:
    reworded(said, {"kept": {**json.loads(said.read_text())["kept"], **values}})


def placed(said: Path, number: int, value: object) -> None:
    """Change one number of the place where training is."""
    place = json.loads(said.read_text())["kept"]["place"]
    kept_as(said, place=[*place[:number], value, *place[number + 1 :]])


def changed(said: Path, arrays: Path, name: str, array: np.ndarray | None) -> None:
    """Change an array, and the checksum with it."""
    found = {key: value for key, value in {**load_file(arrays), name: array}.items() if value is not None}
    save_file(found, arrays)
    reworded(said, {"sha256": hashlib.sha256(arrays.read_bytes()).hexdigest()})


DAMAGE = {
    "arrays are cut off": (lambda said, arrays: cut(arrays), "checksum"),
    "arrays are missing": (lambda said, arrays: arrays.unlink(), r"checkpoint\.safetensors: no such file"),
    "JSON is cut off": (lambda said, arrays: cut(said), "Invalid JSON"),
    "JSON is missing": (lambda said, arrays: said.unlink(), r"checkpoint\.json: no such file"),
    "a list": (lambda said, arrays: said.write_text("[]"), "checkpoint.json"),
    "another format": (
        lambda said, arrays: said.write_text(said.read_text().replace('"format": 1', '"format": 7')),
        "format 7, expected 1",
    ),
    "a pass that was not measured": (
        lambda said, arrays: kept_as(said, place=[3, 0, 0, 0], entries=[], best=None),
        "3 passes, and what was measured of 0",
    ),
    "an array less": (lambda said, arrays: changed(said, arrays, "weights.head.bias", None), "head.bias"),
    "another shape": (
        lambda said, arrays: changed(said, arrays, "best.head.bias", np.zeros(1, np.float32)), "head.bias is"
    ),
    "moments of another shape": (
        lambda said, arrays: changed(said, arrays, "optimizer.0.exp_avg", np.zeros(1, np.float32)), "optimizer.0.exp_"
    ),
    "moments of nothing": (
        lambda said, arrays: changed(said, arrays, "optimizer.x.exp_avg", np.zeros(1, np.float32)), "x.exp_avg"
    ),
    "moments beyond the last": (
        lambda said, arrays: changed(said, arrays, "optimizer.999.exp_avg", np.zeros(1, np.float32)), "999.exp_avg"
    ),
    "moments below zero": (
        lambda said, arrays: changed(said, arrays, "optimizer.0.step", np.array(-1, np.float32)), "below 0"
    ),
    "weights that are no numbers": (
        lambda said, arrays: changed(said, arrays, "best.head.bias", np.full(6, np.nan, np.float32)), "not finite"
    ),
    "arrays of something else": (
        lambda said, arrays: changed(said, arrays, "more.bias", np.zeros(1, np.float32)), "more.bias"
    ),
    "a key that nobody knows": (lambda said, arrays: reworded(said, {"more": 1}), "more: Extra inputs"),
    "a key within that nobody knows": (lambda said, arrays: kept_as(said, more=1), "kept.more: Extra inputs"),
    "passes as text": (lambda said, arrays: placed(said, 0, "1"), r"kept\.place\.0: Input should be a valid integer"),
    "passes below zero": (lambda said, arrays: placed(said, 0, -1), "greater than or equal to 0"),
    "passes without an end": (lambda said, arrays: placed(said, 0, 10**400), r"kept\.place\.0"),
    "more passes than there are": (
        lambda said, arrays: kept_as(said, place=[9, 0, 0, 0], entries=[[1, 0.5]] * 9, best=[1, 1, 0.5]),
        "9 passes and 0 steps, of 4 passes",
    ),
    "steps beyond the pass": (lambda said, arrays: placed(said, 1, 10**6), "steps of 30, expected"),
    "another number of sub-words": (lambda said, arrays: placed(said, 2, 1), "1 sub-words seen after 1 passes and 0"),
    "an objective of no step": (lambda said, arrays: placed(said, 3, 7.5), "an objective of 7.5 before the first step"),
    "a best pass that never was": (
        lambda said, arrays: kept_as(said, best=[7, 1.0, 0.5]), r"the best pass is \(7, 1.0, 0.5\), expected that of"
    ),
    "a better best pass": (lambda said, arrays: kept_as(said, best=[1, 1.0, 1.0]), "the best pass is"),
    "a measure that is no number": (
        lambda said, arrays: kept_as(said, entries=[[1.0, float("nan")]]), r"kept\.entries\.0\.1: .*finite"
    ),
    "no random numbers": (lambda said, arrays: changed(said, arrays, "random.cpu", None), "random numbers of cpu"),
    "other random numbers": (
        lambda said, arrays: changed(said, arrays, "random.cpu", np.zeros(3, np.uint8)), "RNG state"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def kept(folder: Path, notes: list[Document], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    around = tmp_path_factory.mktemp("checkpoint") / "kept"
    interrupted(folder, notes, around)
    return {file.name: file.read_bytes() for file in (around / "seed-0").iterdir()}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_checkpoint_is_one_clear_line(
    case: str, kept: dict[str, bytes], folder: Path, notes: list[Document], tmp_path: Path
) -> None:
    damage, words = DAMAGE[case]
    place = tmp_path / "kept" / "seed-0"
    place.mkdir(parents=True)
    for name, data in kept.items():
        (place / name).write_bytes(data)
    damage(place / "checkpoint.json", place / "checkpoint.safetensors")
    with pytest.raises(ModelError, match=words) as error:
        Recognizer(encoder=folder, checkpoint=tmp_path / "kept", **SETTINGS).fit(notes, dev=notes[:10])
    assert "\n" not in str(error.value)
    assert f"checkpoint {place} is damaged" in str(error.value)
    assert str(error.value).endswith("delete that folder to train from the beginning")


def test_a_segmenter_goes_on_from_its_checkpoint(folder: Path, tmp_path: Path) -> None:
    words = [Document("no pain", tokens=[[0, 2], [3, 7]], mentions=[Mention("problem", [(3, 7)])])] * 20
    settings = {**SETTINGS, "encoder_epochs": 2, "encoder": folder}
    whole = Segmenter(**settings).fit(words, dev=words[:5])

    def tell(progress: spanloom.learn.Progress) -> None:
        if progress.step == 2 and progress.dev_f1 is not None:
            raise EnoughError

    with pytest.raises(EnoughError):
        Segmenter(checkpoint=tmp_path / "kept", **settings).fit(words, dev=words[:5], progress=tell)
    told: list[str] = []
    other = Segmenter(checkpoint=tmp_path / "kept", **settings).fit(
        words, dev=words[:5], progress=lambda progress: told.append(progress.stage)
    )
    assert any("going on from the checkpoint, pass 2" in stage for stage in told)
    whole.save(tmp_path / "whole")
    other.save(tmp_path / "other")
    one, two = ((tmp_path / name / FILES[1]).read_bytes() for name in ("whole", "other"))
    assert one == two
    assert not (tmp_path / "kept").exists()
