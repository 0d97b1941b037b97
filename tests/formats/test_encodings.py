"""Files in other encodings than UTF-8, in each reader of text."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import pytest

from spanloom.cli import main
from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.formats import read, validate, write
from spanloom.formats.source import likely_encoding
from spanloom.formats.text import read_raw

TEXT = "Señora con náusea y fiebre."
MENTION = Mention("síntoma", [(11, 17)])
NAMES = (
    "a.jsonl", "a.json", "a.pubtator", "a.conll", "a.conllu", "a.xml", "bioc.json", "tasks.json", "a.csv", "a.tsv", "a",
    "a.jsonl.gz",
)  # fmt: skip
FORMATS = {"bioc.json": "bioc-json", "tasks.json": "label-studio", "a": "brat"}


def recoded(path: Path, encoding: str) -> Path:
    """The same files in another encoding."""
    for file in path.rglob("*") if path.is_dir() else [path]:
        packed = file.suffix == ".gz"
        raw = gzip.decompress(file.read_bytes()) if packed else file.read_bytes()
        raw = raw.decode().encode(encoding)
        file.write_bytes(gzip.compress(raw) if packed else raw)
    return path


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig", "gb18030"])
@pytest.mark.parametrize("name", NAMES)
def test_every_reader_of_text_reads_what_it_would_in_utf_8(tmp_path: Path, name: str, encoding: str) -> None:
    path, kind = tmp_path / name, FORMATS.get(name)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts/note.txt").write_text(TEXT, encoding="utf-8")
    tokens = [[0, 6], [7, 10], [11, 17], [18, 19], [20, 26], [26, 27]]
    write([Document(TEXT, "note", tokens, [[0, 6]], mentions=[MENTION])], path, format=kind)
    options = {"texts": tmp_path / "texts"} if name in ("a.csv", "a.tsv") else {}
    before = list(read(path, format=kind, **options))
    assert [mention.key for document in before for mention in document.mentions] == [MENTION.key]
    for one in (path, tmp_path / "texts"):
        recoded(one, encoding)
    assert list(read(path, format=kind, encoding=encoding, **options)) == before
    assert not [one for one in validate(path, format=kind, encoding=encoding, **options) if one.severity == "error"]


def test_text_is_read_in_blocks(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes((TEXT + "\n").encode("utf-16") + (TEXT + "\n").encode("utf-16-le") * 60_000)
    found = list(read_raw([tmp_path / "a.txt"], encoding="utf-16"))
    assert "".join(document.text for document in found) == (TEXT + "\n") * 60_001
    assert len(found) > 1


def test_standard_input_is_read_in_an_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps({"text": "x"}).encode("utf-16"))))
    assert [document.text for document in read("-", format="jsonl", encoding="utf-16")] == ["x"]


def test_the_command_line_names_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT.encode("cp1252"))
    (tmp_path / "a.ann").write_bytes("T1\tsíntoma 11 17\tnáusea\n".encode("cp1252"))

    def run(*arguments: str) -> int:
        with pytest.raises(SystemExit) as caught:
            main(["convert", *arguments])
        return int(caught.value.code or 0)

    assert run(str(tmp_path / "a.ann"), str(tmp_path / "a.jsonl")) == 1
    assert "or name its encoding, likely cp1252 (--encoding cp1252)" in capsys.readouterr().err
    assert run(str(tmp_path / "a.ann"), str(tmp_path / "a.jsonl"), "--encoding", "cp1252", "--force") == 0
    assert [document.mentions[0].type for document in read(tmp_path / "a.jsonl")] == ["síntoma"]
    (tmp_path / "b.ann").write_text("T1\tx 1 3\tno\n")
    (tmp_path / "b.txt").write_text("no pain")
    arguments = [str(tmp_path / "b.ann"), str(tmp_path / "b.jsonl"), "--offsets"]
    assert run(*arguments, "characters") == 1
    assert run(*arguments, "one-based", "--force") == 0
    assert [document.mentions[0].spans for document in read(tmp_path / "b.jsonl")] == [((0, 2),)]


@pytest.mark.parametrize(("raw", "likely"), [
    (TEXT.encode("latin-1"), "cp1252"),
    (b"\x81 fever \xe9", "latin-1"),
    (TEXT.encode("utf-16-le"), "utf-16-le"),
    ("\ufeff".encode("utf-32-be") + TEXT.encode("utf-32-be"), "utf-32"),
    ("患者因反复咳嗽、咳痰伴发热三天入院。T 38.5℃".encode("gb18030"), "gb18030"),
    ("Ärzte für große Übungen über".encode("cp1252"), "cp1252"),
    (b"plain \0 text", None),
])  # fmt: skip
def test_the_likely_encoding_is_named(tmp_path: Path, raw: bytes, likely: str | None) -> None:
    assert likely_encoding(raw) == likely
    (tmp_path / "a.txt").write_bytes(raw)
    with pytest.raises(DataError, match="convert the file to UTF-8") as caught:
        list(read(tmp_path / "a.txt"))
    assert ("--encoding" in str(caught.value)) == (likely is not None)
    if likely is not None:
        assert f"(--encoding {likely})" in str(caught.value)


def test_a_line_is_judged_by_its_file(tmp_path: Path) -> None:
    lines = ['{"text": "Müller"}', '{"text": "患者因反复咳嗽、咳痰伴发热三天入院，无腹痛。"}']
    (tmp_path / "a.jsonl").write_bytes("\n".join(lines).replace("Müller", "咳").encode("gb18030"))
    with pytest.raises(DataError, match=r"a\.jsonl:1: .*--encoding gb18030"):
        list(read(tmp_path / "a.jsonl"))


def test_wrong_encodings_are_errors_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "a"}\n{"text": "\x81"}\n')
    with pytest.raises(
        DataError, match=r"a\.jsonl: found byte 0x81, which cp1252 does not have; name another encoding"
    ):
        list(read(tmp_path / "a.jsonl", encoding="cp1252"))
    for name in ("ebcdic!", "rot13", "base64", ""):
        with pytest.raises(UsageError, match="expected one such as cp1252, latin-1, gb18030 or utf-16"):
            read(tmp_path / "a.jsonl", encoding=name)
    (tmp_path / "a.spacy").write_bytes(b"x")
    with pytest.raises(UsageError, match="the format spacy is in no encoding of text"):
        read(tmp_path / "a.spacy", encoding="cp1252")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that opens and cannot be read")
def test_a_file_that_opens_and_cannot_be_read_is_named() -> None:
    with pytest.raises(DataError, match=r"^/proc/self/mem: cannot be read: Input/output error"):
        list(read("/proc/self/mem"))
