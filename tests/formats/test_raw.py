"""Raw text in blocks: nothing is lost, added or cut in two, wherever blocks end."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanloom import Document, Mention, read, write
from spanloom.errors import DataError, UsageError
from spanloom.formats import text as module
from spanloom.formats.text import read_raw


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.sampled_from("ab \n\té漢😀"), max_size=60), st.integers(1, 20))
def test_blocks_are_the_text(tmp_path, monkeypatch, text, size):
    monkeypatch.setattr(module, "_BLOCK", size)
    path = tmp_path / "raw.txt"
    path.write_text(text, encoding="utf-8", newline="")
    blocks = [document.text for document in read_raw([path])]
    assert "".join(blocks).split() == text.split() or len(max(text.split(), key=len)) > size // 2 // 4
    assert "".join("".join(blocks).split()) == "".join(text.split())


def test_blocks_end_at_blank_lines_lines_or_spaces(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 20)
    path = tmp_path / "raw.txt"
    for text, first in [
        ("0123456789 a b\nc\n\nd e f g h", "0123456789 a b\nc\n\n"),
        ("0123456789 ab\nc d e f g", "0123456789 ab\n"),
        ("0123456789 ab c d e f g", "0123456789 ab c d e "),
    ]:
        path.write_text(text)
        assert next(read_raw([path])).text.startswith(first)


def test_marks_of_encoding_are_no_text_and_empty_files_no_documents(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfpain")
    (tmp_path / "b.txt").write_bytes(b"")
    assert [document.text for document in read_raw([tmp_path / "a.txt", tmp_path / "b.txt"])] == ["pain"]


def test_other_formats_and_folders_are_read_without_mentions(tmp_path):
    write([Document("pain", mentions=[Mention("problem", [(0, 4)])])], tmp_path / "a.jsonl")
    (tmp_path / "b.txt").write_text("fever")
    found = [*read_raw([tmp_path / "a.jsonl"]), *read_raw([tmp_path])]
    assert [(document.text, document.mentions) for document in found] == [("pain", []), ("pain", []), ("fever", [])]


def test_the_line_of_a_wrong_byte_is_told_or_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 8)
    path = tmp_path / "raw.txt"
    path.write_bytes(b"one\ntwo\nthree\nfo\xffur\nfive\nsix")
    with pytest.raises(DataError, match=r"raw.txt:4: byte 3 of the line is 0xFF, which is not UTF-8"):
        list(read_raw([path]))
    told: list[str] = []
    text = "".join(document.text for document in read_raw([path], on_error="skip", notice=told.append))
    assert text.split() == ["one", "two", "three", "five", "six"]
    assert len(told) == 1 and "left out 1 line that is not UTF-8, the first is line 4" in told[0]


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        list(read_raw([tmp_path / "none.txt"]))


def test_an_input_without_a_name_is_not_the_folder_that_one_is_in() -> None:
    for reading in (read, lambda path: read_raw([path])):
        with pytest.raises(UsageError, match="the name of an input is empty, expected a file or a folder"):
            list(reading(""))


def test_a_text_in_place_of_a_file_is_told_where_it_belongs() -> None:
    with pytest.raises(DataError, match="no such file or folder; spanloom predict and others take a text itself"):
        list(read("No chest pain."))
    with pytest.raises(DataError, match=r"^No fever\. No chest pain: there is no such file or folder; spanloom"):
        list(read("No fever. No chest pain"))
    with pytest.raises(DataError, match=r"^(no pain ){7}no p…: there is no such file or folder; spanloom p"):
        list(read("no pain " * 100))
    with pytest.raises(DataError, match=r"no such file or folder$"):
        list(read("my notes.txt"))
