"""Files packed by gzip: every text format, in and out; damaged ones, and such that unpack to far too much."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import pytest

from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.formats import FORMATS, read, validate, write

NOTE = Document("Mild chest pain.", id="n1", tokens=[[0, 4], [5, 10], [11, 15], [15, 16]], sentences=[[0, 4]])
NOTE.mentions = [Mention("problem", [(0, 15)])]
PACKED = [kind.name for kind in FORMATS.values() if kind.packs and kind.write is not None]


def test_all_text_formats_are_packed() -> None:
    assert {"jsonl", "json", "csv", "tsv", "conll", "pubtator", "bioc", "bioc-json", "label-studio", "text"} <= {
        *PACKED
    }


@pytest.mark.parametrize("name", PACKED)
def test_packed_and_plain_are_the_same(tmp_path: Path, name: str) -> None:
    suffix = FORMATS[name].suffixes[0]
    plain, packed = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}.gz"
    write([NOTE], tmp_path / "texts.jsonl.gz")
    options = {"texts": tmp_path / "texts.jsonl.gz"} if FORMATS[name].texts_beside else {}
    said = [str(write([NOTE], path, format=name)) for path in (plain, packed)]
    assert said[0] == said[1]
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    one, other = (list(read(path, format=name, **options)) for path in (plain, packed))
    assert [document.copy(id="") for document in one] == [document.copy(id="") for document in other]
    if name not in ("label-studio", "json"):  # which need a look at what is in them
        assert len(list(read(packed, **options))) == 1
    before = packed.read_bytes()
    write([NOTE], packed, format=name, force=True)
    assert packed.read_bytes() == before


def test_names_and_folders(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    write([NOTE], tmp_path / "s" / "a.txt.gz")
    write([NOTE], tmp_path / "b.json.gz", format="json")
    assert [document.id for document in read(tmp_path)] == ["n1", "s/a"]
    assert [document.id for document in read(tmp_path / "s" / "a.txt.gz")] == ["a"]


@pytest.mark.parametrize("name", ["a.parquet.gz", "a.arrow.gz", "a.ann.gz", "a.xmi.gz"])
def test_other_formats_are_not_packed(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        write([NOTE], tmp_path / name)
    with pytest.raises(UsageError, match=r"is not packed by gzip; leave out \.gz"):
        write([NOTE], tmp_path / name, format="parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.txt.gz", "a.csv.gz", "a.conll.gz", "a.json.gz", "a.xml.gz"])
@pytest.mark.parametrize("damage", ["cut", "changed", "no gzip", "empty", "trailing"])
def test_damaged_files_are_told(tmp_path: Path, name: str, damage: str) -> None:
    lines = "".join(f'{{"id": "{number}", "text": "{number * 7919}"}}\n' for number in range(2000))
    packed = gzip.compress(lines.encode(), mtime=0)
    cut = len(packed) // 2
    damaged = {
        "cut": packed[:cut],
        "changed": packed[:cut] + bytes([packed[cut] ^ 255]) + packed[cut + 1 :],
        "no gzip": lines.encode(),
        "empty": b"",
        "trailing": packed + b"more",
    }[damage]
    (tmp_path / name).write_bytes(damaged)
    if damage == "empty":
        return  # which is an empty file to gzip, too
    with pytest.raises(DataError, match=r"not a whole gzip file: .*; copy it again"):
        list(read(tmp_path / name, {".json": "json", ".xml": "bioc", ".csv": "csv"}.get(Path(name[:-3]).suffix)))
    with pytest.raises(DataError, match="not a whole gzip file"):
        problems = list(validate(tmp_path / name))
        raise problems[-1].to_error()


def test_a_file_that_unpacks_to_far_too_much_is_told(tmp_path: Path) -> None:
    bomb = gzip.compress(b" " * (80 << 20), mtime=0)
    for name in ("a.jsonl.gz", "a.txt.gz"):
        (tmp_path / name).write_bytes(bomb)
        with pytest.raises(DataError, match="holds more than 200 times its size; if that is right, unpack it first"):
            list(read(tmp_path / name))


def test_much_that_is_no_bomb_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"No chest pain. " * 100_000))
    assert len(next(read(tmp_path / "a.txt.gz")).text) == 1_500_000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="such pipes are Unix's")
def test_a_packed_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "a.jsonl.gz"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(gzip.compress(b'{"text": "No pain"}\n'),))
    writer.start()
    assert [document.text for document in read(pipe)] == ["No pain"]
    writer.join()
