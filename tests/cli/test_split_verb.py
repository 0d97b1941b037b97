"""`spanloom split`, and folders of plain text."""

from __future__ import annotations

import json

import pytest

from spanloom.data import clinical
from spanloom.formats import read, write

NAMES = ("train", "dev", "test")


def test_parts_of_the_bundled_notes(command, tmp_path):
    result = command("split", clinical() / "train", "--output", tmp_path / "parts", "--seed", "7")
    assert (result.returncode, result.stderr) == (0, "")
    given = {document.id: document for document in read(clinical() / "train")}
    found = {name: list(read(tmp_path / "parts" / f"{name}.jsonl")) for name in NAMES}
    assert [len(part) for part in found.values()] == [20, 3, 2]
    assert sorted(each.id for part in found.values() for each in part) == sorted(given)
    assert all(each.mentions == given[each.id].mentions for part in found.values() for each in part)
    head, documents, mentions, *types = result.stdout.splitlines()
    assert (head.split(), documents.split()) == ([*NAMES], ["documents", "20", "3", "2"])
    assert mentions.split()[1:] == [str(sum(len(each.mentions) for each in part)) for part in found.values()]
    assert [line.split()[0] for line in types] == ["anatomy", "drug", "problem", "test", "treatment"]
    before = {file.name: file.read_bytes() for file in (tmp_path / "parts").iterdir()}
    result = command("split", clinical() / "train", "--output", tmp_path / "parts", "--seed", "7", "--force")
    assert {file.name: file.read_bytes() for file in (tmp_path / "parts").iterdir()} == before


@pytest.mark.parametrize("name", ["brat", "text", "xmi", "conll", "csv", "parquet", "spacy"])
def test_formats_of_parts(command, tmp_path, name):
    for _ in range(2):
        line = ["split", clinical() / "dev", "--output", tmp_path / "parts", "--parts", "a=1,b=1.5", "--format", name]
        result = command(*line, "--json", "--force", "--quiet")
        assert result.returncode == 0, result.stderr
    counts = json.loads(result.stdout)
    assert {part: one["documents"] for part, one in counts.items()} == {"a": 2, "b": 3}
    options = {"texts": clinical() / "dev"} if name == "csv" else {}
    for part in counts:
        [path] = (tmp_path / "parts").glob(f"{part}*")
        found = list(read(path, name, notice=lambda _: None, **options))
        assert len(found) == (5 if name == "csv" else counts[part]["documents"])
        if name not in ("text", "conll"):
            assert sum(len(each.mentions) for each in found) == counts[part]["mentions"]


def test_groups(command, tmp_path):
    documents = [one.copy(meta={"patient": number // 5}) for number, one in enumerate(read(clinical() / "train"))]
    write(documents, tmp_path / "a.jsonl")
    result = command("split", tmp_path / "a.jsonl", "--output", tmp_path / "p", "--parts", "a=3,b=2", "--by", "patient")
    assert result.returncode == 0
    patients = [{one.meta["patient"] for one in read(tmp_path / "p" / f"{name}.jsonl")} for name in "ab"]
    assert (len(patients[0]), len(patients[1]), patients[0] & patients[1]) == (3, 2, set())


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (
            ["--parts", "a"],
            2,
            "--parts holds 'a', expected names of their own and shares, such as train=8",
        ),
        (["--parts", "a=1,a=2"], 2, "--parts holds 'a=2'"),
        (["--parts", "a=-1"], 2, "--parts holds 'a=-1'"),
        (["--parts", "../a=1"], 2, "--parts holds '../a=1'"),
        (["--parts", "a=0,b=1"], 2, "the share of 'a' is 0.0, expected a positive number"),
        (["--format", "nope"], 2, "found the format 'nope', expected one of: jsonl"),
        (["--by", "patient"], 1, "dev: document number 1, "),
        (["--by", "patient"], 1, "it has no field 'patient', expected a word or a number; fields of meta may be named"),
        (["--parts", ",".join(f"p{number}=1" for number in range(9))], 1, "found 5 documents with texts of their own"),
    ],
)
def test_wrong_requests_leave_nothing(command, tmp_path, options, code, message):
    result = command("split", clinical() / "dev", "--output", tmp_path / "parts", *options)
    assert result.returncode == code
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_stays(command, tmp_path):
    line = ["split", clinical() / "dev", "--output", tmp_path / "parts", "--parts", "a=1,b=1"]
    (tmp_path / "parts").mkdir()
    assert command(*line).returncode == 0
    assert "is there already" in command(*line).stderr
    (tmp_path / "parts" / "thesis.txt").write_text("mine")
    result = command(*line, "--force")
    assert (result.returncode, "holds thesis.txt, which is not part of its output" in result.stderr) == (2, True)
    assert (tmp_path / "parts" / "thesis.txt").read_text() == "mine"


def test_texts_of_documents_as_a_folder(command, tmp_path):
    result = command("convert", clinical() / "dev", tmp_path / "texts", "--format", "text", "--quiet")
    assert result.returncode == 0
    found = {document.id: document.text for document in read(tmp_path / "texts")}
    assert found == {document.id: document.text for document in read(clinical() / "dev")}
    result = command("convert", clinical() / "dev", tmp_path / "one.txt")
    assert (result.returncode, "name a folder, with --format text, or JSONL" in result.stderr) == (2, True)
