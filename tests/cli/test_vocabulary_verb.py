"""`vocabulary`: counts, notes, the index."""

from __future__ import annotations

import json

import pytest

from spanloom.data import clinical
from spanloom.vocabulary import VOCABULARY_FORMATS, read_vocabulary

TABLE = clinical() / "vocabulary.tsv"
NAMES = "C1|ENG|P|L|PF|S|Y|A||||MSH|MH|D000001|one|0|N||\nC2|GER|P|L|PF|S|Y|A||||MSHGER|MH|D000002|zwei|0|N||\n"


def test_counts_and_index(command, tmp_path):
    result = command("vocabulary", TABLE, "--output", tmp_path / "index")
    assert (result.returncode, result.stderr) == (0, f"saved as {tmp_path / 'index'}\n")
    rows = dict(line.split() for line in result.stdout.splitlines() if ":" not in line)
    counts = read_vocabulary(TABLE).counts()
    assert rows == {name: f"{number:,}" for name, number in counts.items()}
    assert rows["concepts"] == "449"
    again = command("vocabulary", tmp_path / "index", "--json", "--quiet")
    assert json.loads(again.stdout)["counts"] == counts


def test_notes(command, tmp_path):
    (tmp_path / "a.txt").write_text("id\tname\tparents\n1\theart\t2\n3\theart\t1\n")
    result = command("vocabulary", tmp_path / "a.txt", "--format", "table", "--json")
    assert json.loads(result.stdout) == {
        "counts": {"concepts": 2, "names": 2, "alternatives": 0, "parents": 2, "definitions": 0},
        "notes": [
            {"kind": "names of several concepts", "count": 1, "examples": ["'heart'"]},
            {"kind": "parents that are not in the vocabulary", "count": 1, "examples": ["2"]},
        ],
    }
    shown = command("vocabulary", tmp_path / "a.txt").stdout
    assert shown.endswith("\nparents that are not in the vocabulary: 1, such as 2\n")


def test_an_index_is_replaced_only_by_force(command, tmp_path):
    index = tmp_path / "index"
    assert command("vocabulary", TABLE, "--output", index, "--quiet").stderr == ""
    result = command("vocabulary", TABLE, "--output", index)
    assert (result.returncode, result.stdout) == (2, "")
    assert "is there already" in result.stderr
    assert command("vocabulary", TABLE, "--output", index, "--force").returncode == 0


@pytest.mark.parametrize(
    ("options", "concepts"),
    [
        ([], 1),
        (["--language", "GER"], 1),
        (["--language", "all"], 2),
        (["--language", "ENG", "--language", "GER"], 2),
        (["--language", "all", "--source", "MSH"], 1),
        (["--format", "rrf"], 1),
    ],
)
def test_umls(command, tmp_path, options, concepts):
    (tmp_path / "MRCONSO.RRF").write_text(NAMES)
    result = command("vocabulary", tmp_path, "--json", *options)
    assert json.loads(result.stdout)["counts"]["concepts"] == concepts


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["no.tsv"], 1, "no.tsv: cannot be read: No such file"),
        (["-"], 2, "found -, expected the name of a file or folder"),
        ([TABLE, "--output", "-"], 2, "found -, expected"),
        ([TABLE, "--format", "csv"], 2, "found the vocabulary format 'csv', expected one of codes"),
        ([TABLE, "--language", "ENG"], 2, "found no name of the language 'ENG', expected one of none"),
        ([TABLE, "--columns", "id=cui"], 2, "there is no column 'cui'; the vocabulary has: 'id', 'name'"),
        ([TABLE, "--columns", "id"], 2, "expected pairs such as id=cui,name=str"),
        ([TABLE, "--format", "obo"], 1, "vocabulary.tsv:1: found 'id"),
    ],
)
def test_what_cannot_be_meant(command, tmp_path, monkeypatch, arguments, code, words):
    monkeypatch.chdir(tmp_path)
    result = command("vocabulary", *arguments)
    assert (result.returncode, result.stdout) == (code, "")
    assert words in result.stderr and result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_help_names_every_format(command):
    shown = command("vocabulary", "--help").stdout
    assert [name for name in VOCABULARY_FORMATS if name not in shown] == []


def test_columns(command, tmp_path):
    (tmp_path / "quick.csv").write_text("nr,naam,type,x\n1,heart,organ,\n1,cor,organ,\n")
    result = command("vocabulary", tmp_path / "quick.csv", "--columns", "id=nr,name=naam")
    assert result.stdout.split()[:4] == ["concepts", "1", "names", "2"]
    assert "columns that are not read: 1, such as x" in result.stdout and result.stderr == ""
    (tmp_path / "latin.csv").write_bytes("id,name\n1,Sjögren\n".encode("cp1252"))
    assert command("vocabulary", tmp_path / "latin.csv", "--encoding", "cp1252").stdout.split()[:2] == ["concepts", "1"]
