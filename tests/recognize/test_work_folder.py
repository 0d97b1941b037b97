"""Training with a folder: the same model as in memory, whatever happens on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spanloom import Document, Mention, Recognizer, read, write
from spanloom.data import clinical
from spanloom.document.batch import Picked
from spanloom.errors import DataError, DataWarning, UsageError
from spanloom.files.staging import locked
from spanloom.learn import Progress
from spanloom.model.spool import spooled
from spanloom.model.work import Work
from spanloom.text import prepare

TEMPLATES = ("bias", "w[-1..1]", "low[0]|low[1]", "suffix(1..3)", "shape[0]", "section[0]")
SETTINGS: dict[str, Any] = {
    "features": TEMPLATES, "epochs": 3, "iterations": 6, "l2": 1.0, "headless": "whole", "attributes": "off",
}  # fmt: skip


def part(name: str) -> list[Document]:
    return list(read(clinical() / name))[:6]


@pytest.fixture(scope="module")
def notes() -> tuple[list[Document], list[Document]]:
    return part("train"), part("dev")


def saved(model: Recognizer, folder: Path) -> dict[str, bytes]:
    model.save(folder)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def sentences(count: int) -> list[Document]:
    """Short documents with parts of speech, crossing mentions, and mentions that cut tokens."""
    kinds = ["anti-tumor drug", "anti-HIV drug", "anti-CD3 dose", "mild chest pain", "no pain"]
    documents = []
    for number in range(count):
        text = kinds[number % len(kinds)]
        words = text.split()
        starts = [text.index(word) for word in words]
        mentions = [Mention("whole", [(0, len(text))])]
        if text.startswith("anti-"):
            mentions.append(Mention("target", [(5, len(words[0]))]))
        if text.startswith("mild"):
            mentions += [Mention("sign", [(0, 10)]), Mention("sign", [(5, 15)])]
        tokens = [[start, start + len(word)] for start, word in zip(starts, words, strict=True)]
        tags = {"pos": ["JJ" if word != words[-1] else "NN" for word in words]}
        whole = [[0, len(words)]]
        documents.append(Document(text, str(number), tokens, whole, tags, mentions, {"n": number}))
    return documents


@pytest.fixture(scope="module")
def whole(notes: tuple[list[Document], list[Document]]) -> Recognizer:
    """What is trained in memory; change nothing about it."""
    train, dev = notes
    return Recognizer(**SETTINGS).fit(train, dev=dev)


@pytest.mark.parametrize(
    ("structure", "optimizer"),
    [
        ("separators", "adagrad"),
        ("separators", "lbfgs"),
        ("bio", "adagrad"),
        ("shared", "adagrad"),
        ("shared", "lbfgs"),
    ],
)
def test_the_model_is_the_same_as_in_memory(
    structure: str, optimizer: str, notes: tuple[list[Document], list[Document]], tmp_path: Path
) -> None:
    train, dev = notes
    settings = {**SETTINGS, "structure": structure, "optimizer": optimizer}
    settings["attributes"] = "auto" if structure == "bio" else "off"  # which takes longer than the rest
    one = Recognizer(**settings).fit(train, dev=dev)
    two = Recognizer(**settings).fit(iter(train), dev=dev, work=tmp_path / "work")
    assert saved(one, tmp_path / "one") == saved(two, tmp_path / "two")
    assert one.report_ == two.report_ and one.lost_ == two.lost_
    assert not (tmp_path / "work").exists()


def test_what_is_held_out_split_tagged_and_rescored_is_the_same(tmp_path: Path) -> None:
    settings = {
        **SETTINGS, "features": [*TEMPLATES, "pos[0]"], "names": 2, "l2": [0.1, 1.0], "min_count": 2, "runs": 2,
    }  # fmt: skip
    one = Recognizer(**settings).fit(sentences(90))
    two = Recognizer(**settings).fit(iter(sentences(90)), work=tmp_path / "work")
    assert saved(one, tmp_path / "one") == saved(two, tmp_path / "two")
    assert one.pos_ is not None and one.splitter_.patterns and one.report_.rescoring is not None


class StopError(Exception):
    """What ends a training in the middle."""


def until(stage: str, step: int = 0) -> Any:
    def tell(progress: Progress) -> None:
        if progress.stage.startswith(stage) and progress.step >= step:
            raise StopError

    return tell


@pytest.mark.parametrize("stage", [("features", 0), ("training", 2), ("second", 0)])
def test_an_interrupted_training_goes_on(
    stage: tuple[str, int], notes: tuple[list[Document], list[Document]], whole: Recognizer, tmp_path: Path
) -> None:
    train, dev = notes
    with pytest.raises(StopError):
        Recognizer(**SETTINGS).fit(train, dev=dev, work=tmp_path / "work", progress=until(*stage))
    steps: list[Progress] = []
    again = Recognizer(**SETTINGS).fit(train, dev=dev, work=tmp_path / "work", progress=steps.append)
    assert saved(whole, tmp_path / "one") == saved(again, tmp_path / "two")
    assert whole.report_ == again.report_
    passes = sum(step.stage.startswith("training") and step.step > 0 for step in steps)
    assert passes == {"features": 3, "training": 2, "second": 0}[stage[0]]


KILLED = """
import os, signal, sys
from test_work_folder import SETTINGS, Recognizer, part
def tell(progress):
    if progress.stage.startswith("training") and progress.step == 2:
        os.kill(os.getpid(), signal.SIGKILL)
Recognizer(**SETTINGS).fit(part("train"), dev=part("dev"), work=sys.argv[1], progress=tell)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signal")
def test_a_killed_training_goes_on_and_no_other_does(
    notes: tuple[list[Document], list[Document]], whole: Recognizer, tmp_path: Path
) -> None:
    train, dev = notes
    work = tmp_path / "work"
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", KILLED, str(work)], env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == -signal.SIGKILL
    with pytest.raises(UsageError, match="another training"):
        Recognizer(**{**SETTINGS, "l2": 2.0}).fit(train, dev=dev, work=work)
    with pytest.raises(UsageError, match="another training"):
        Recognizer(**SETTINGS).fit(train[1:], dev=dev, work=work)
    with pytest.raises(UsageError, match="another training"):
        Recognizer(**SETTINGS).fit(train, dev=dev[1:], work=work)
    steps: list[Progress] = []
    again = Recognizer(**SETTINGS).fit(train, dev=dev, work=work, progress=steps.append)
    assert saved(again, tmp_path / "one") == saved(whole, tmp_path / "two")
    assert sum(step.stage.startswith("training") and step.step > 0 for step in steps) == 2  # the first was kept


def test_a_removal_that_was_cut_short_is_no_training_to_go_on_with(
    notes: tuple[list[Document], list[Document]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train, dev = notes
    work, remove, gone = tmp_path / "work", Path.unlink, list[str]()

    def unlink(path: Path, missing_ok: bool = False) -> None:
        if any(name.endswith(".array") for name in gone):
            raise StopError
        remove(path, missing_ok)
        gone.append(path.name)

    opened = Work(work)
    training = Recognizer(**SETTINGS).fit(train, dev=dev, work=opened)
    monkeypatch.setattr(Path, "unlink", unlink)
    with pytest.raises(StopError):
        opened.__exit__(None)
    monkeypatch.undo()
    os.close(opened._lock)
    assert list((work / "spanloom-training").glob("*.array"))
    again = Recognizer(**SETTINGS).fit(train, dev=dev, work=work)
    assert saved(training, tmp_path / "one") == saved(again, tmp_path / "two")


def test_passes_without_a_state_are_not_taken(notes: tuple[list[Document], list[Document]], tmp_path: Path) -> None:
    train, dev = notes
    work = tmp_path / "work"
    with pytest.raises(StopError):
        Recognizer(**SETTINGS).fit(train, dev=dev, work=work, progress=until("training", 2))
    (work / "spanloom-training" / "work.json").unlink()
    other = Recognizer(**SETTINGS).fit(train[1:], dev=dev, work=work)
    assert saved(other, tmp_path / "one") == saved(Recognizer(**SETTINGS).fit(train[1:], dev=dev), tmp_path / "two")


def test_what_is_damaged_is_told(notes: tuple[list[Document], list[Document]], tmp_path: Path) -> None:
    train, dev = notes
    work = tmp_path / "work"
    with pytest.raises(StopError):
        Recognizer(**SETTINGS).fit(train, dev=dev, work=work, progress=until("tuning"))
    work /= "spanloom-training"
    state = work / "work.json"
    good = state.read_bytes()
    said = json.loads(good)
    wrong: list[Any] = [[], {"table": ["uint64", 8]}]
    wrong += [{**said["whole"], "table": table} for table in (["O", 8], ["nonsense", 8], ["uint64", "x"])]
    wrong.append({**said["whole"], "table": ["uint64", 1 << 40]})
    for damage in (b"{", b"[]", *(json.dumps({**said, "whole": whole}).encode() for whole in wrong)):
        state.write_bytes(damage)
        with pytest.raises(DataError, match=r"is damaged: .*; delete the folder"):
            Recognizer(**SETTINGS).fit(train, dev=dev, work=work.parent)
    state.write_bytes(good)
    table = (work / "table.array").read_bytes()
    for short in (b"", table[:803]):
        (work / "table.array").write_bytes(short)
        with pytest.raises(DataError, match=r"table.array: is damaged: .*; delete the folder"):
            Recognizer(**SETTINGS).fit(train, dev=dev, work=work.parent)
    (work / "table.array").unlink()
    with pytest.raises(DataError, match=r"table.array: is damaged: no such file"):
        Recognizer(**SETTINGS).fit(train, dev=dev, work=work.parent)
    (work / "table.array").write_bytes(table)
    matrix = (work / "matrix.array").read_bytes()
    (work / "matrix.array").write_bytes(b"\xff\xff\xff\x7f" + matrix[4:])
    with pytest.raises(DataError, match="its features are damaged"):
        Recognizer(**SETTINGS).fit(train, dev=dev, work=work.parent)
    (work / "matrix.array").write_bytes(matrix)
    counts = (work / "counts.array").read_bytes()
    (work / "counts.array").write_bytes(bytes(len(counts)))
    with pytest.raises(DataError, match="its features are damaged"):
        Recognizer(**SETTINGS).fit(train, dev=dev, work=work.parent)
    (work / "counts.array").write_bytes(counts)
    [file] = work.glob("passes-*/best-features-*.array")
    best = file.read_bytes()
    file.write_bytes(bytes(len(best)))
    with pytest.raises(DataError, match=f"{file.name} is not what was written"):
        Recognizer(**SETTINGS).fit(train, dev=dev, work=work.parent)
    os.truncate(file, 8)
    with pytest.raises(DataError, match="damaged"):
        Recognizer(**SETTINGS).fit(train, dev=dev, work=work.parent)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"passes": "auto"}, "passes is 'auto', but training with a folder"),
        ({"clusters": 5}, "clusters is 5, .* train clusters"),
        ({"annotation": "at-least"}, "annotation is 'at-least'"),
        ({"vectors": "x.txt"}, "vectors is 'x.txt'"),
    ],
)
def test_what_needs_all_in_memory_is_refused_at_once(params: dict[str, Any], message: str, tmp_path: Path) -> None:
    def never() -> Iterator[Document]:
        raise AssertionError("nothing is read")
        yield

    with pytest.raises(UsageError, match=message):
        Recognizer(**SETTINGS, **params).fit(never(), work=tmp_path / "work")
    assert not (tmp_path / "work").exists()


def test_documents_that_need_all_in_memory_are_refused(tmp_path: Path) -> None:
    given = sentences(30)
    metas: list[dict[str, Any]] = [{"annotation": "unknown"}, {"annotator": "Ada"}, {"annotator": "Eve"}]
    partial, ada, eve = (given[7].copy(meta=meta) for meta in metas)
    with pytest.raises(UsageError, match=r"'7': its annotation is incomplete"):
        Recognizer(**SETTINGS).fit([*given, partial], work=tmp_path / "work")
    with pytest.raises(UsageError, match=r"texts have several annotators .* training with a folder"):
        Recognizer(**SETTINGS).fit([*given[:7], ada, eve], work=tmp_path / "work")
    assert not (tmp_path / "work").exists()  # nothing in it was worth keeping


def test_too_few_documents_to_hold_out(tmp_path: Path) -> None:
    pains = [Mention("x", [(5 * number, 5 * number + 4)]) for number in range(700)]
    with pytest.raises(UsageError, match="there are 5, expected 20; give development data"):
        Recognizer(**SETTINGS).fit([Document("pain " * 700, mentions=pains)] * 5, work=tmp_path / "work")
    with pytest.raises(DataError, match="none of the 30 training documents has a mention"):
        Recognizer(**SETTINGS).fit([one.copy(mentions=[]) for one in sentences(30)], work=tmp_path / "work")


def test_what_else_is_in_the_folder_is_never_touched(tmp_path: Path) -> None:
    names = ["documents.jsonl", "matrix.array", "work.json", "lock", "thesis.txt", "passes-of-mine/important"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    with pytest.raises(DataError, match="none of the 30 training documents has a mention"):
        Recognizer(**SETTINGS).fit([one.copy(mentions=[]) for one in sentences(30)], work=tmp_path)
    Recognizer(**SETTINGS).fit(sentences(30), work=tmp_path)
    found = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(found) == sorted(names) and {(tmp_path / name).read_text() for name in names} == {"mine"}


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    own = tmp_path / "own" / "spanloom-training"
    own.mkdir(parents=True)
    (own / "documents.jsonl").write_text("mine")
    with pytest.raises(UsageError, match=r"spanloom-training holds files, but none of a training"):
        Recognizer(**SETTINGS).fit(sentences(30), work=own.parent)
    assert (own / "documents.jsonl").read_text() == "mine"
    with pytest.raises(DataError, match="cannot be written: not a directory; name another folder"):
        Recognizer(**SETTINGS).fit(sentences(30), work=own / "documents.jsonl" / "work")
    for odd in (3, "", "a\0b"):
        with pytest.raises(UsageError, match="expected the name of a folder"):
            Recognizer(**SETTINGS).fit(sentences(30), work=odd)  # type: ignore[arg-type]
    with Work(tmp_path / "work"), pytest.raises(UsageError, match="another process trains in"):
        Work(tmp_path / "work")


def test_a_work_is_that_of_one_training(tmp_path: Path) -> None:
    given = sentences(30)
    with Work(tmp_path) as work:
        Recognizer(**SETTINGS).fit(given, work=work)
        with pytest.raises(UsageError, match="expected one for each; open another"):
            Recognizer(**SETTINGS).fit(given, work=work)


def test_a_lock_that_was_removed_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a process opens the lock of another, which ends and removes it before it is asked for."""

    def late(handle: int) -> bool | None:
        (tmp_path / "spanloom-training" / "spanloom.lock").unlink()
        return locked(handle)

    monkeypatch.setattr("spanloom.model.work.locked", late)
    with pytest.raises(UsageError, match="another process trains in"):
        Work(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="has no limits of files")
@pytest.mark.parametrize("room", [100, 20_000])
def test_a_full_disk_is_one_line(room: int, tmp_path: Path) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with pytest.raises(DataError, match=r"cannot be written: file too large; make room, or name a folder"):
            Recognizer(**SETTINGS).fit(sentences(300), work=tmp_path / "work")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_documents_come_back_as_they_were(tmp_path: Path) -> None:
    odd = Document(
        "a\x85b\n\ud800 c", "", [[0, 1]], [[0, 1]], {"pos": ["\u2028"]},
        [Mention("x", [(0, 1), (4, 5)], "T1", (0, 1), ("C:1",), 0.25, {"a": True}, {"a": 0.5}, (0.75,))],
        {"deep": [1, {"x": None}]}, [("plan", (0, 2))],
    )  # fmt: skip
    given = [odd, *map(prepare, part("dev")), Document("", tokens=[], sentences=[])]
    lines: list[bytes] = []
    with Work(tmp_path / "work") as work:
        batch = spooled([given[:2], given[2:]], "documents", work.scratch, lines.append)
        assert list(batch.documents) == given == [batch.documents[i] for i in range(len(given))]
        assert list(batch.documents[-3:]) == given[-3:] and list(batch.documents[::2]) == given[::2]
        assert batch.words == [word for document in given for word in document.words]
        assert list(Picked(batch.documents, [2, 0])[1:]) == [odd] and len(lines) == len(given)
        with pytest.raises(UsageError, match=r"cannot be kept on disk: .*; leave out of its meta"):
            spooled([[odd.copy(meta={"x": object()})]], "other", work.scratch, lines.append)


def test_what_cannot_be_saved_is_not_lost(command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = ["train", "recognizer", "--train", clinical() / "train", "--dev", clinical() / "dev", "--features", "small"]
    line += ["--epochs", "1", "--no-rescore", "--attributes", "off", "--quiet"]
    line += ["--work", tmp_path / "work", "--output", tmp_path / "model"]
    with monkeypatch.context() as patch:
        patch.setattr(Recognizer, "save", lambda *_: (_ for _ in ()).throw(DataError("cannot be written: no space")))
        assert command(*line).returncode == 1
    assert (tmp_path / "work" / "spanloom-training" / "work.json").exists()
    assert command(*line).returncode == 0 and not (tmp_path / "work").exists()


def test_a_model_is_not_saved_in_what_is_removed(command: Any, tmp_path: Path) -> None:
    line = ["train", "recognizer", "--train", clinical() / "train", "--work", tmp_path / "work"]
    result = command(*line, "--output", tmp_path / "work" / "spanloom-training" / "model")
    assert result.returncode == 2 and "which is removed; name another folder" in result.stderr
    assert not list(tmp_path.iterdir())


def test_the_command_line(command: Any, tmp_path: Path) -> None:
    line = ["train", "recognizer", "--train", clinical() / "train", "--dev", clinical() / "dev", "--features", "small"]
    line += ["--epochs", "1", "--no-rescore", "--attributes", "off", "--quiet"]
    for more in ([], ["--work", tmp_path / "work"]):
        done = command(*line, *more, "--output", tmp_path / f"model-{len(more)}")
        assert done.returncode == 0, done.stderr
    one, two = (tmp_path / f"model-{n}" / "weights.safetensors" for n in (0, 2))
    assert one.read_bytes() == two.read_bytes() and not (tmp_path / "work").exists()
    done = command(*line, "--passes", "two", "--work", tmp_path / "work", "--output", tmp_path / "other")
    assert done.returncode == 2 and "passes is 'two', but training with a folder (work) takes 'one'" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("name", [".", "work.json", "work.json.new", "table.array", "passes-1.0-0", "spanloom.lock"])
def test_a_link_in_the_folder_is_refused(name: str, tmp_path: Path) -> None:
    own, elsewhere = tmp_path / "work" / "spanloom-training", tmp_path / "project"
    elsewhere.mkdir()
    (elsewhere / "thesis.array").write_text("mine")
    own.parent.mkdir()
    if name == ".":
        own.symlink_to(elsewhere)
    else:
        own.mkdir()
        (own / "spanloom.lock").touch()
        (own / name).unlink(missing_ok=True)
        (own / name).symlink_to(elsewhere if name.startswith("passes") else elsewhere / "thesis.array")
    with pytest.raises(DataError, match="a link, where files that Spanloom made are expected; remove it"):
        Work(tmp_path / "work")
    assert [(file.name, file.read_text()) for file in elsewhere.iterdir()] == [("thesis.array", "mine")]


def test_files_that_are_called_as_a_value_are_not_of_the_training(
    notes: tuple[list[Document], list[Document]], whole: Recognizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train, dev = notes
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StopError):
        Recognizer(**SETTINGS).fit(train, dev=dev, work="work", progress=until("tuning"))
    (tmp_path / str(whole.structure)).write_text("a file of the user")
    assert saved(Recognizer(**SETTINGS).fit(train, dev=dev, work="work"), tmp_path / "one") == saved(
        whole, tmp_path / "two"
    )


def test_the_folder_is_no_input(notes: tuple[list[Document], list[Document]], tmp_path: Path) -> None:
    train, dev = notes
    write(train, tmp_path / "notes.jsonl")
    with pytest.raises(StopError):
        Recognizer(**SETTINGS).fit(read(tmp_path), dev=dev, work=tmp_path, progress=until("tuning"))
    with pytest.warns(DataWarning, match=r"spanloom-training: not read: the folder of a training \(--work\)"):
        assert len(list(read(tmp_path))) == len(train)


def test_kept_passes_that_do_not_fit_are_damaged(notes: tuple[list[Document], list[Document]], tmp_path: Path) -> None:
    train, dev = notes
    with pytest.raises(StopError):
        Recognizer(**SETTINGS).fit(train, dev=dev, work=tmp_path, progress=until("tuning"))
    [state] = tmp_path.glob("spanloom-training/passes-*/passes.json")
    said = json.loads(state.read_bytes())
    [run] = said["runs"]
    rows, roles, labels = run["shapes"]["features"]
    shapes = [[rows, labels, roles], [rows, roles * labels], [1, rows, roles * labels], [1 << 40, 1 << 20], [-1], ["x"]]
    runs = [run | {"shapes": {**run["shapes"], "features": shape}} for shape in shapes]
    runs += [run | one for one in ({"best": 0}, {"best": 99}, {"entries": []}, {"shapes": {}})]
    wrong = [{"runs": [one]} for one in runs]
    wrong += [{"passes": 10**400}, {"passes": "../../x"}, {"passes": 9}, {"runs": []}, {"runs": [run, run]}]
    for damage in (*(json.dumps(said | one).encode() for one in wrong), b"[" * 100_000, b" " * (1 << 21)):
        state.write_bytes(damage)
        with pytest.raises(DataError, match=r"the passes that are kept are damaged: .*; delete that folder"):
            Recognizer(**SETTINGS).fit(train, dev=dev, work=tmp_path)
