"""Concepts of i2b2: lines that count words of the text beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanloom.document import Document
from spanloom.errors import DataError, UsageError
from spanloom.formats import read, validate, write

TEXT = "Admission :\nShe had Chest  pain .\nNo fever or severe cough .\n"
LINES = """c="chest  pain" 2:2 2:3||t="problem"
c="fever" 3:1 3:1||t="problem"

c="severe cough or fever" 3:3 3:4,3:2 3:2,3:1 3:1||t="problem"
c="she" 2:0 2:0||t="person"
"""
FOUND = [("problem", "Chest  pain"), ("problem", "fever"), ("person", "She")]


def corpus(root: Path, concepts: str, texts: str, lines: str = LINES, text: str = TEXT) -> Path:
    for folder, suffix, content in ((concepts, "con", lines), (texts, "txt", text)):
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / f"a.{suffix}").write_bytes(content.encode())
    return root


def found(document: Document) -> list[tuple[str, str]]:
    return [(one.type, one.text(document.text)) for one in document.mentions if len(one.spans) == 1]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("folders", [(".", "."), ("concept", "txt"), ("beth/concept", "beth/txt")])
def test_concepts_beside_their_texts(tmp_path: Path, folders: tuple[str, str], newline: str) -> None:
    lines, text = LINES.replace("\n", newline), TEXT.replace("\n", newline)
    corpus(tmp_path, *folders, lines=lines, text=text)
    for path in (tmp_path, tmp_path / folders[0] / "a.con"):
        [document] = read(path, notice=lambda _: None)
        assert (document.id, document.text) == ("a", text)
        assert found(document) == FOUND
        assert [len(one.spans) for one in document.mentions] == [1, 1, 3, 1]
    assert [one.mentions for one in read(tmp_path, mentions=False)] == [[]]


def test_blanks_that_divide_words_each(tmp_path: Path) -> None:
    corpus(tmp_path, ".", ".", 'c="pain" 2:4 2:4||t="problem"\n')
    [document] = read(tmp_path)
    assert found(document) == [("problem", "pain")]


def test_what_is_wrong_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    lines = LINES + 'c="x" 99:0 99:0||t="p"\nc="x" 2:9 2:9||t="p"\nc="x" 2:3 2:1||t="p"\nodd\n'
    lines += 'c="fever" 3:1 3:1||t="p"||a="present"\n'
    corpus(tmp_path, ".", ".", lines)
    (tmp_path / "a.ast").write_text("")
    (tmp_path / "b.txt").write_text("Alone.")
    notices: list[str] = []
    first, second = read(tmp_path, notice=notices.append)
    assert (found(first), found(second)) == ([*FOUND, ("p", "fever")], [])
    told = "\n".join(notices)
    assert "the text has no words 99:0 99:0 for 'x'; the line is left out (3 such" in told
    assert 'found \'odd\', expected c="TEXT" 1:0 1:1||t="TYPE"; the line is left out' in told
    assert "behind the type is not read" in told
    assert "not read: assertions of i2b2" in told


def test_errors(tmp_path: Path) -> None:
    corpus(tmp_path, ".", ".", 'c="cough" 3:1 3:1||t="p"\n')
    with pytest.raises(DataError, match=r"a\.con:1: .*the text is 'cough', but 'fever' is at"):
        list(read(tmp_path))
    (tmp_path / "a.txt").unlink()
    with pytest.raises(DataError, match=r"no a\.txt beside it"):
        list(read(tmp_path / "a.con"))
    with pytest.raises(UsageError, match="standard input"):
        list(read("-", format="i2b2"))
    with pytest.raises(UsageError, match="read, not written"):
        write([Document("a")], tmp_path / "out", format="i2b2")


def test_texts_of_several_folders_keep_their_names_apart(tmp_path: Path) -> None:
    for folder in ("beth", "partners"):
        corpus(tmp_path, f"{folder}/concept", f"{folder}/txt")
    documents = list(read(tmp_path))
    assert [one.id for one in documents] == ["beth/concept/a", "partners/concept/a"]
    assert [problem for problem in validate(tmp_path) if problem.severity == "error"] == []
