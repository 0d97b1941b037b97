"""What killed processes leave beside an output: who removes it, who must not, and what is put back."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.files import staging
from spanloom.files.output import output_file, output_files, output_folder
from spanloom.files.staging import is_part
from spanloom.formats import read, validate, write

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked, to be killed at a chosen step")


def killed(work: Callable[[], None]) -> None:
    """Runs something that kills its own process, in a process of its own."""
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def half_written(path: Path) -> None:
    with output_file(path, force=True) as sink:
        sink.write("half")
        die()


def in_steps(one: Path, other: Path) -> bool:
    """A system that cannot exchange two names."""
    return False


def die_after(renames: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has this process die when so many outputs are in place, and one more is to follow."""
    real, done = os.replace, list[object]()

    def replace(source: Path, target: Path) -> None:
        if len(done) == renames:
            die()
        done.append(target)
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """All that is in a folder, with times and contents."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
    }


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_next_run_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    target = tmp_path / "a.jsonl"
    target.write_text("old")
    killed(lambda: half_written(target))
    [left] = [name for name in names(tmp_path) if is_part(name)]
    assert target.read_text() == "old"
    assert (tmp_path / left).stat().st_mode & 0o077 == 0
    write([Document("b")], tmp_path / "b.jsonl")
    assert names(tmp_path) == sorted([left, "a.jsonl", "b.jsonl"])
    write([Document("a")], target, force=True)
    assert names(tmp_path) == ["a.jsonl", "b.jsonl"]


def test_what_a_living_process_writes_stays(tmp_path: Path) -> None:
    target = tmp_path / "a.jsonl"
    with output_file(target) as first:
        first.write("first")
        with output_file(target) as second:
            second.write("second")
        assert target.read_text() == "second"
    assert target.read_text() == "first"
    assert names(tmp_path) == ["a.jsonl"]


def test_a_name_as_long_as_names_may_be(tmp_path: Path) -> None:
    one, other = (tmp_path / (letter * 249 + ".jsonl") for letter in "ab")
    killed(lambda: half_written(one))
    write([Document("b")], other)
    assert len(names(tmp_path)) == 2
    write([Document("a")], one)
    assert set(tmp_path.iterdir()) == {one, other}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give folders away")
def test_a_folder_that_somebody_else_made_is_left_alone(tmp_path: Path) -> None:
    killed(lambda: half_written(tmp_path / "a.jsonl"))
    [left] = tmp_path.iterdir()
    os.chown(left, 12345, 12345)
    write([Document("a")], tmp_path / "a.jsonl")
    assert names(tmp_path) == sorted([left.name, "a.jsonl"])


def test_leftovers_are_not_read(tmp_path: Path) -> None:
    write([Document("a", id="a")], tmp_path / "a.jsonl")
    killed(lambda: half_brat(tmp_path / "notes"))
    assert [document.text for document in read(tmp_path)] == ["a"]
    assert [document.text for document in read(tmp_path, format="jsonl")] == ["a"]


def half_brat(path: Path) -> None:
    def documents():
        yield Document("b", id="b")
        die()

    write(documents(), path, format="brat")


def test_a_leftover_does_not_keep_a_folder_from_being_replaced(tmp_path: Path) -> None:
    write([Document("a", id="a")], tmp_path / "notes", format="brat")
    killed(lambda: half_written(tmp_path / "notes" / "a.ann"))
    write([Document("b", id="b")], tmp_path / "notes", format="brat", force=True)
    assert names(tmp_path) == ["notes"]
    assert names(tmp_path / "notes") == ["b.ann", "b.txt"]


OLD = Document("Chest pain.", mentions=[Mention("problem", [(0, 10)])])
NEW = Document("No dyspnea.", mentions=[Mention("problem", [(3, 10)])])


@pytest.mark.parametrize("renames", [0, 1])
@pytest.mark.parametrize("named", ["n.ann", "n.txt", "."])
def test_half_a_pair_is_reported_by_readers_and_undone_by_the_next_write(tmp_path, monkeypatch, renames, named) -> None:
    write([OLD], tmp_path / "n.ann")
    with monkeypatch.context() as patch:
        die_after(renames, patch)
        killed(lambda: write([NEW], tmp_path / "n.ann", force=True))
    [part] = [name for name in names(tmp_path) if is_part(name)]
    before = state(tmp_path)
    [problem] = [problem for problem in validate(tmp_path / named) if problem.kind == "interrupted write"]
    assert problem.path == str(tmp_path / part)
    told: list[str] = []
    list(read(tmp_path / named, notice=told.append, on_error="skip"))
    assert told[0] == (
        f"{tmp_path / part}: left by an interrupted write, and not used; the files beside it may be partly old and "
        "partly new; write that output again, or delete this folder"
    )
    assert state(tmp_path) == before
    with pytest.raises(ZeroDivisionError):
        write((1 / 0 for _ in "a"), tmp_path / "n.ann", force=True)  # type: ignore[misc]
    assert names(tmp_path) == ["n.ann", "n.txt"]
    [document] = read(tmp_path / "n.ann")
    assert (document.text, document.mentions[0].spans) == (OLD.text, OLD.mentions[0].spans)


@pytest.mark.parametrize("there", [[], ["n.txt"], ["n.ann", "n.txt"]], ids=len)
def test_half_a_pair_is_undone_before_it_is_written(tmp_path, monkeypatch, there) -> None:
    for name in there:
        (tmp_path / name).write_text("" if name == "n.ann" else "old")
    with monkeypatch.context() as patch:
        die_after(1, patch)
        killed(lambda: write([NEW], tmp_path / "n.ann", force=True))
    with pytest.raises(ZeroDivisionError), output_files([tmp_path / "n.ann", tmp_path / "n.txt"], force=True):
        raise ZeroDivisionError
    assert names(tmp_path) == there
    assert all((tmp_path / name).read_text() in ("", "old") for name in there)


def test_what_somebody_wrote_since_is_not_undone(tmp_path, monkeypatch) -> None:
    write([OLD], tmp_path / "n.ann")
    with monkeypatch.context() as patch:
        die_after(1, patch)
        killed(lambda: write([NEW], tmp_path / "n.ann", force=True))
    (tmp_path / "n.ann").write_text("T1\tsymptom 0 5\tChest\n")
    with pytest.raises(ZeroDivisionError):
        write((1 / 0 for _ in "a"), tmp_path / "n.ann", force=True)  # type: ignore[misc]
    [document] = read(tmp_path / "n.txt")
    assert [mention.type for mention in document.mentions] == ["symptom"]


def test_only_what_changed_is_replaced(tmp_path) -> None:
    write([OLD], tmp_path / "n.ann")
    before = (tmp_path / "n.txt").stat()
    write([OLD.copy(mentions=[])], tmp_path / "n.ann", force=True)
    after = (tmp_path / "n.txt").stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_size) == (before.st_ino, before.st_mtime_ns, before.st_size)
    assert (tmp_path / "n.ann").read_text() == ""


@pytest.mark.parametrize("refused", [1, 2])
def test_half_a_pair_that_the_system_refuses_is_undone_at_once(tmp_path, monkeypatch, refused) -> None:
    write([OLD], tmp_path / "n.ann")
    real, calls = os.replace, []

    def replace(source, target):
        calls.append(target)
        if len(calls) == refused:
            raise OSError(5, "Input/output error")
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(DataError, match="Input/output error"):
        write([NEW], tmp_path / "n.ann", force=True)
    monkeypatch.undo()
    assert names(tmp_path) == ["n.ann", "n.txt"]
    assert [document.text for document in read(tmp_path / "n.ann")] == [OLD.text]


def test_a_folder_is_exchanged_or_put_back(tmp_path, monkeypatch) -> None:
    """Killed between the two renames, where the system has no exchange; the next write finds the old folder."""
    write([OLD], tmp_path / "notes", format="brat")
    real = os.rename

    def rename(source, target):
        real(source, target)
        if Path(source) == tmp_path / "notes":
            die()

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", rename)
        write([OLD], tmp_path / "notes", format="brat", force=True)  # one step: there is no such rename
        patch.setattr(staging, "exchange", in_steps)
        killed(lambda: write([NEW], tmp_path / "notes", format="brat", force=True))
    before = state(tmp_path)
    with pytest.raises(DataError, match=r"no such file or folder, but .*part is there, left by an interrupted write"):
        read(tmp_path / "notes")
    assert state(tmp_path) == before
    with pytest.raises(UsageError, match="is there already"):  # the old folder is back, and is not written over
        write([NEW], tmp_path / "notes", format="brat")
    assert [document.text for document in read(tmp_path / "notes")] == [OLD.text]
    assert names(tmp_path) == ["notes"]


def test_permissions(tmp_path) -> None:
    (tmp_path / "a").mkdir(mode=0o750)
    with output_folder(tmp_path / "a") as folder:
        (folder / "x").write_text("")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o750
    before = os.umask(0o027)
    try:
        with output_file(tmp_path / "f") as sink:
            sink.write("")
        with output_folder(tmp_path / "d") as folder:
            (folder / "x").write_text("")
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "f", tmp_path / "d", tmp_path / "d/x")}
    assert modes == {"f": 0o640, "d": 0o750, "x": 0o640}


def test_work_added_to_a_folder_while_it_is_made_anew_is_not_lost(tmp_path) -> None:
    write([OLD], tmp_path / "notes", format="brat")

    def documents():
        yield NEW
        (tmp_path / "notes" / "thesis.tex").write_text("precious")

    with pytest.raises(Exception, match=r"thesis\.tex"):
        write(documents(), tmp_path / "notes", format="brat", force=True)
    assert (tmp_path / "notes" / "thesis.tex").read_text() == "precious"
    assert [document.text for document in read(tmp_path / "notes")] == [OLD.text]
