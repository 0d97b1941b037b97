"""Training with a folder gives the same model as in memory, whatever is trained, and resumes where it was killed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from spanloom import write
from spanloom.errors import UsageError
from spanloom.parallel import threads

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import capabilities

NAMES = ("tagger", "cascade", "segmenter", "joint linker")


@pytest.fixture(params=NAMES)
def kind(request, tmp_path):
    [kind] = [one for one in capabilities.kinds(tmp_path) if one.name == request.param]
    return kind


def written(model, folder: Path) -> list[bytes]:
    model.save(folder)
    return [path.read_bytes() for path in sorted(folder.iterdir())]


@pytest.mark.parametrize("dev", [True, False])
def test_a_folder_gives_the_same_model(kind, tmp_path: Path, dev: bool) -> None:
    given = {"dev": kind.data[:30]} if dev else {}
    plain = kind.make().fit(kind.data, **kind.fitting, **given)
    other = kind.make().fit(iter(kind.data), work=tmp_path / "work", **kind.fitting, **given)
    assert written(other, tmp_path / "other") == written(plain, tmp_path / "plain")
    assert other.report_ == plain.report_ and not (tmp_path / "work").exists()


@pytest.mark.parametrize("kind", NAMES[:-1], indirect=True)
def test_an_executor_gives_the_same_model(kind, tmp_path: Path) -> None:
    settings = {"optimizer": "lbfgs", "iterations": 5}
    plain = kind.fit(**settings)
    other = kind.fit(iter(kind.data), given={"work": tmp_path / "work", "executor": threads(2)}, **settings)
    assert written(other, tmp_path / "other") == written(plain, tmp_path / "plain")


class KilledError(Exception):
    pass


def test_a_killed_training_resumes(kind, tmp_path: Path) -> None:
    passes = {"epochs": 6} if "epochs" in kind.make().get_params() else {"iterations": 6, "runs": 2}
    plain, seen, again = kind.fit(**passes), [], []

    def killed(progress) -> None:
        seen.append(progress)
        if "training" in progress.stage and progress.step == 2:
            raise KilledError

    with pytest.raises(KilledError):
        kind.fit(given={"work": tmp_path / "work", "progress": killed}, **passes)
    other = kind.fit(given={"work": tmp_path / "work", "progress": again.append}, **passes)
    assert written(other, tmp_path / "other") == written(plain, tmp_path / "plain")
    steps = [[one.step for one in own if one.step] for own in (seen, again)]
    assert steps[0][0] == 1 and steps[0][-1] == 2 and steps[1][0] > 1


def test_what_needs_all_text_is_refused(kind, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"clusters is 4, but training with a folder \(work\) takes a file"):
        kind.fit(given={"work": tmp_path / "work"}, clusters=4, features=["bias", "cluster[0]"])
    if kind.name != "joint linker":
        with pytest.raises(UsageError, match=r"which needs a folder that its workers share; name one \(work\)"):
            kind.fit(given={"executor": threads(2)})


def test_chains_that_were_trained_are_not_trained_again(tmp_path: Path) -> None:
    [kind] = [one for one in capabilities.kinds(tmp_path) if one.name == "cascade"]
    again = []

    def killed(progress) -> None:
        if progress.stage.startswith("site after disease: training"):
            raise KilledError

    with pytest.raises(KilledError):
        kind.fit(given={"work": tmp_path / "work", "progress": killed})
    kind.fit(given={"work": tmp_path / "work", "progress": again.append})
    assert not [one for one in again if one.stage.startswith("disease: training") and one.step]
    assert [one for one in again if one.stage.startswith("site after disease: training") and one.step]


@pytest.mark.parametrize("kind", ["tagger", "joint linker"], indirect=True)
def test_the_command_line(command, kind, tmp_path: Path) -> None:
    write(kind.data, tmp_path / "data.jsonl")
    line = ["train", kind.name.split()[-1], "--train", tmp_path / "data.jsonl", "--min-count", "1", "--epochs", "2"]
    if kind.fitting:
        line = [*line[:4], "--vocabulary", kind.fitting["vocabulary"], "--features", "small", "--iterations", "2"]
    for more in ((), ("--work", tmp_path / "work")):
        done = command(*line, *more, "--quiet", "--output", tmp_path / f"model-{len(more)}")
        assert done.returncode == 0, done.stderr
    one, two = (tmp_path / f"model-{n}" / "weights.safetensors" for n in (0, 2))
    assert one.read_bytes() == two.read_bytes() and not (tmp_path / "work").exists()
