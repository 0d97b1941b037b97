"""Output is whole or not there; choosing formats by name."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.files.output import output_file, output_folder, own_files
from spanloom.formats import read, validate, write

FULL = Path("/dev/full")


def failing(error: BaseException) -> Iterator[Document]:
    yield Document("a", id="a", tokens=[[0, 1]])  # type: ignore[arg-type]
    raise error


@pytest.mark.parametrize(("name", "format"), [("a.jsonl", None), ("a.conll", None), ("a.ann", None), ("a", "brat")])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), DataError("bad"), OSError("gone")])
def test_nothing_half_written(tmp_path: Path, name: str, format: str | None, error: BaseException) -> None:
    with pytest.raises(type(error)):
        write(failing(error), tmp_path / name, format=format)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.jsonl", "a.ann", "a.conll", "a.xml", "a.json", "a.pubtator", "a.txt"])
def test_what_read_would_refuse_is_not_written(tmp_path: Path, name: str) -> None:
    document = Document("abc def", "n1", tokens=[[0, 3], [4, 7]], mentions=[Mention("x", [(0, 9)])])  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"document 'n1': mentions\[0\]: span 0-9 is outside the text of 7 characters"):
        write([document], tmp_path / name, format="bioc-json" if name == "a.json" else None)
    document.mentions = [("x", 0, 3)]  # type: ignore[list-item]
    with pytest.raises(DataError, match=r"mentions\[0\] is \('x', 0, 3\), expected a Mention"):
        write([document], tmp_path / name, format="bioc-json" if name == "a.json" else None)
    assert list(tmp_path.iterdir()) == []


def test_texts_in_subfolders_have_their_folder_in_the_id_and_other_files_are_told(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / ".hidden").mkdir()
    for name in ("a.txt", "s/a.txt", "s/b.pdf", "scan.pdf", "README.md", ".hidden/x.pdf"):
        (tmp_path / name).write_text("No pain.")
    told: list[str] = []
    assert [document.id for document in read(tmp_path, notice=told.append)] == ["a", "s/a"]
    assert told == [
        f"{tmp_path}/s/b.pdf: not read: a PDF; get the text out first (pdftotext IN.pdf OUT.txt), one .txt "
        "file for each document (2 such in 2 files; spanloom validate lists them)"
    ]
    assert [problem.path for problem in validate(tmp_path)] == [f"{tmp_path}/s/b.pdf", f"{tmp_path}/scan.pdf"]
    assert [document.id for document in read(tmp_path / "s" / "a.txt")] == ["a"]
    write(read(tmp_path, notice=str), tmp_path / "out", format="brat")
    (tmp_path / "out" / "more.jsonl").write_text('{"text": ""}')
    assert [document.id for document in read(tmp_path / "out", notice=told.append)] == ["a", "s/a"]
    assert told[1].startswith(f"{tmp_path}/out/more.jsonl: not read: ")


def test_the_old_file_stays_on_failure(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write([Document("old")], path)
    path.chmod(0o640)
    with pytest.raises(KeyboardInterrupt):
        write(failing(KeyboardInterrupt()), path, force=True)
    assert [document.text for document in read(path)] == ["old"]
    with pytest.raises(UsageError, match="--force"):
        write([Document("new")], path)
    write([Document("new")], path, force=True)
    assert [document.text for document in read(path)] == ["new"]
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_may_be_written_over_itself(tmp_path: Path) -> None:
    write([Document("a"), Document("b")], tmp_path / "a.jsonl")
    write(read(tmp_path / "a.jsonl"), tmp_path / "a.jsonl", force=True)
    assert len(list(read(tmp_path / "a.jsonl"))) == 2


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").write_text("")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    write([Document("a")], tmp_path / "link.jsonl", force=True)
    assert (tmp_path / "link.jsonl").is_symlink()
    assert (tmp_path / "real.jsonl").read_text().startswith("{")


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a device that is always full")
def test_a_full_disk() -> None:
    with pytest.raises(DataError, match=r"^/dev/full: cannot be written: No space left on device"):
        write([Document("a" * 100_000)], FULL, format="jsonl", force=True)


LIMITED = """
import resource, signal, sys
from spanloom import Document, write
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
documents = (Document("pain" * 1000, id=str(i), tokens=[[j, j + 1] for j in range(4000)]) for i in range(9))
write(documents if sys.argv[2] != "brat" else [Document("a" * 30_000)], sys.argv[1], sys.argv[2])
"""


@pytest.mark.skipif(not FULL.exists(), reason="limits on the size of a file are Unix's")
@pytest.mark.parametrize("format", ["jsonl", "conll", "brat"])
def test_a_disk_that_fills_up(tmp_path: Path, format: str) -> None:
    line = [sys.executable, "-c", LIMITED, str(tmp_path / "out"), format]
    result = subprocess.run(line, capture_output=True, encoding="utf-8", check=False, timeout=60)
    assert result.stderr.rstrip().splitlines()[-1] == (
        f"spanloom.errors.DataError: {tmp_path / 'out'}: cannot be written: File too large; nothing was kept"
    )
    assert list(tmp_path.iterdir()) == []


def test_folders(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with output_folder(target) as part:
        (part / "a").write_text("1")
    with pytest.raises(UsageError, match="--force"), output_folder(target):
        pass
    with pytest.raises(UsageError, match="not part of its output"), output_folder(target, force=True):
        pass
    with pytest.raises(ZeroDivisionError), output_folder(target, force=True, may_replace=lambda file: True) as part:
        (part / "b").write_text(str(1 / 0))
    assert [file.name for file in target.iterdir()] == ["a"]
    with output_folder(target, force=True, may_replace=lambda file: True) as part:
        (part / "b").write_text("2")
    assert [str(file.relative_to(tmp_path)) for file in sorted(tmp_path.rglob("*"))] == ["out", "out/b"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_in_a_folder_are_not_taken_away(tmp_path: Path) -> None:
    target, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    for folder in (target, elsewhere):
        folder.mkdir()
        (folder / "a").write_text("1")
    (target / "encoder").symlink_to(elsewhere)
    own = own_files(target, {"a"})
    with pytest.raises(
        UsageError, match="holds encoder, which is not part of its output; move it away, or name another"
    ):
        write_folder(target, own)
    assert (target / "encoder" / "a").read_text() == "1"
    (target / "encoder").unlink()
    write_folder(target, own)
    (tmp_path / "link").symlink_to(tmp_path)  # around the folder
    write_folder(tmp_path / "link" / "out", own_files(tmp_path / "link" / "out", {"a"}))
    assert (target / "a").read_text() == "2"


def test_a_folder_of_folders_is_none_of_them(tmp_path: Path) -> None:
    (tmp_path / "models" / "mine").mkdir(parents=True)
    (tmp_path / "models" / "mine" / "a").write_text("1")
    with pytest.raises(UsageError, match=r"holds mine.a, which is not part of its output"):
        write_folder(tmp_path / "models", own_files(tmp_path / "models", {"a"}))
    assert (tmp_path / "models" / "mine" / "a").read_text() == "1"


def write_folder(target: Path, may_replace: Callable[[Path], bool]) -> None:
    with output_folder(target, force=True, may_replace=may_replace) as part:
        (part / "a").write_text("2")


def test_an_empty_folder_needs_no_force(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    write([Document("a", id="x")], tmp_path / "out", format="brat")
    assert (tmp_path / "out/x.ann").exists()
    (tmp_path / "out/annotation.conf").write_text("[entities]")
    write([Document("b", id="y")], tmp_path / "out", format="brat", force=True)
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["annotation.conf", "y.ann", "y.txt"]
    (tmp_path / "out/thesis.doc").write_text("")
    with pytest.raises(UsageError, match=r"thesis\.doc"):
        write([Document("b", id="y")], tmp_path / "out", format="brat", force=True)


def test_files_and_folders_are_not_mixed_up(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a folder"), output_file(tmp_path / "a.jsonl", force=True):
        pass
    with pytest.raises(UsageError, match="is a file"), output_folder(tmp_path / "file", force=True):
        pass
    with pytest.raises(UsageError, match="does not exist"), output_file(tmp_path / "no/a.jsonl"):
        pass


def test_text_holds_one_document(tmp_path: Path) -> None:
    losses = write([Document("a", mentions=[])], tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_bytes() == b"a"
    assert not losses
    with pytest.raises(UsageError, match="one document"):
        write([Document("a"), Document("b")], tmp_path / "b.txt")
    with pytest.raises(DataError, match="no document"):
        write([], tmp_path / "b.txt")


def test_formats_are_told_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.dat").write_text("a")
    for call in (
        lambda: read(tmp_path / "a.dat"),
        lambda: write([], tmp_path / "b.dat"),
    ):
        with pytest.raises(UsageError, match=r"\.jsonl .*\(jsonl\), \.ann .* \(brat\), .*\.pubtator \(pubtator\)"):
            call()
    with pytest.raises(UsageError, match=r"the format of - is not clear; name it .*: jsonl, brat"):
        write([], "-")
    with pytest.raises(UsageError, match="expected one of: jsonl, brat"):
        read(tmp_path / "a.dat", format="word")
    with pytest.raises(UsageError, match="no option 'columns'"):
        read(tmp_path / "a.dat", format="text", columns=["word"])
    with pytest.raises(UsageError, match="holds no file"):
        read(tmp_path)
    with pytest.raises(DataError, match="no such file"):
        read(tmp_path / "none.jsonl")
    assert [document.text for document in read(tmp_path / "a.dat", format="text")] == ["a"]


def test_a_folder_is_no_file_and_standard_output_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="new/ is a folder; name a file"):
        write([], f"{tmp_path}/new/", format="jsonl")
    with pytest.raises(UsageError, match="the output is -, standard output"), output_folder("-"):
        raise AssertionError
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_read_is_an_error_and_links_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in" / "shut").mkdir(parents=True)
    (tmp_path / "in" / "a.jsonl").write_text('{"text": "x"}\n')
    (tmp_path / "in" / "link").symlink_to(tmp_path)
    (tmp_path / "in" / "gone.jsonl").symlink_to(tmp_path / "gone")
    told: list[str] = []
    assert len(list(read(tmp_path / "in", notice=lambda problem: told.append(str(problem))))) == 1
    assert "gone.jsonl: not read: a link to a folder or to nothing" in told[0]
    [*_, last] = [problem.path for problem in validate(tmp_path / "in")]
    assert Path(str(last)).name == "link"
    real = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(DataError, match="shut: the folder cannot be read: permission denied"):
        list(read(tmp_path / "in"))
