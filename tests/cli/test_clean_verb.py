"""`spanloom clean`: the table, the page, the documents to correct; and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spanloom import read, write
from spanloom.clean import find_suspects
from spanloom.data import clinical
from spanloom.document import Document, Mention

OPTIONS = ["--features", "small", "--epochs", 3, "--folds", 3, "--no-rescore", "--jobs", 1, "--structure", "separators"]
SETTINGS = {"features": "small", "epochs": 3, "rescore": False, "structure": "separators"}


@pytest.fixture(scope="module")
def data() -> Path:
    return clinical() / "train"


def test_the_command_line_finds_what_python_finds(command, data, tmp_path):
    page, corrected = tmp_path / "page.html", tmp_path / "suspects.jsonl"
    line = ["clean", data, *OPTIONS, "--json", "--limit", 20, "--html", page, "--output", corrected]
    result = command(*line)
    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout)
    documents = list(read(data))
    with pytest.warns(match="gold mentions were not judged"):
        found = find_suspects(documents, folds=3, **SETTINGS)
    assert told["suspects"] == [
        {"document": one.document, "id": documents[one.document].id, **one.to_dict(documents[one.document].text)}
        for one in found[:20]
    ]
    assert told["found"] == len(found) and told["documents"] == len(documents)
    assert told["mentions"] == sum(len(document.mentions) for document in documents)
    assert f"{told['not_judged']} of {told['mentions']} gold mentions were not judged: " in result.stderr
    assert f"{len(found)} suspects (" in result.stderr and "; the first 20 are shown" in result.stderr
    assert page.read_text().count("<article ") == 20
    again = {document.id: document for document in read(corrected)}
    assert sum(len(document.meta["suspects"]) for document in again.values()) == 20
    for document in documents:
        if document.id in again:
            own = [mention.key for mention in again[document.id].mentions]
            assert own == [mention.key for mention in document.mentions]
    everything = (page.read_bytes(), corrected.read_bytes(), result.stdout)
    result = command(*line, "--force")
    assert (page.read_bytes(), corrected.read_bytes(), result.stdout) == everything


def test_the_table(command, data):
    result = command("clean", data, *OPTIONS, "--limit", 4, "--quiet")
    assert (result.returncode, result.stderr) == (0, "")
    head, *lines = result.stdout.splitlines()
    assert head.split() == ["certain", "kind", "document", "characters", "annotated", "expected"]
    assert len(lines) == 4
    certain = [float(line.split("%")[0]) for line in lines]
    assert certain == sorted(certain, reverse=True)
    documents = {document.id: document for document in read(data)}
    for line in lines:
        _, kind, name, place, *words = line.split(maxsplit=4)
        low, high = map(int, place.split("-"))
        assert (
            kind in ("wrong", "missing", "boundary", "type") and documents[name].text[low:high].split()[0] in words[0]
        )


def test_documents_go_to_standard_output_instead_of_the_table(command, data):
    result = command("clean", data, *OPTIONS, "--limit", 3, "--output", "-", "--quiet")
    assert result.returncode == 0, result.stderr
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert sum(len(record["meta"]["suspects"]) for record in records) == 3


def test_options_from_a_file_and_a_certainty_that_nothing_has(command, data, tmp_path):
    (tmp_path / "clean.toml").write_text(
        'features = ["bias", "w[0]"]\nepochs = 2\nfolds = 2\nleast = 1.0\nrescore = false\n'
    )
    result = command("clean", data, "--config", tmp_path / "clean.toml", "--jobs", 1)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["certain", "kind", "document", "characters", "annotated", "expected"]
    assert "0 suspects in 25 documents with " in result.stderr and "fold 2 of 2: training" in result.stderr


def test_records_that_cannot_be_read_are_left_out_and_told(command, tmp_path):
    notes = [Document(f"{n} has pain", id=str(n), mentions=[Mention("problem", [(8, 12)])]) for n in range(100, 112)]
    path = tmp_path / "notes.jsonl"
    write(notes, path)
    path.write_text(path.read_text() + "{\n")
    stopped = command("clean", path, *OPTIONS)
    assert stopped.returncode == 1 and "notes.jsonl:13" in stopped.stderr and stopped.stdout == ""
    skipped = command("clean", path, *OPTIONS, "--on-error", "skip")
    assert skipped.returncode == 1 and "1 record left out" in skipped.stderr and skipped.stdout.startswith("certain")


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (["few.jsonl"], 2, "found 3 different texts, expected one for each of 5 folds"),
        (["bare.txt", "--folds", "2"], 1, "the documents contain no mentions"),
        (["twice.jsonl", "--folds", "2"], 1, "2 documents have the id 'a', expected one id for each document"),
        (["none.jsonl"], 1, "no such file"),
        (["few.jsonl", "--folds", "1"], 2, "Invalid value for '--folds'"),
        (["few.jsonl", "--least", "2"], 2, "Invalid value for '--least'"),
        (["few.jsonl", "--html", "page.txt"], 2, "found --html page.txt, expected a name that ends in .html"),
        (["few.jsonl", "--html", "there.html"], 2, "there.html is there already"),
        (["few.jsonl", "--output", "there.html"], 2, "there.html is there already"),
        (["few.jsonl", "--json", "--output", "-"], 2, "would both go to standard output"),
        (["few.jsonl", "--html", "x.html", "--output", "x.html"], 2, "--html and --output are both x.html"),
        (["few.jsonl", "--output", "nowhere/x.jsonl"], 2, "nowhere"),
        (["few.jsonl", "--structure", "tree"], 2, "tree"),
        (["few.jsonl", "--features", "nothing"], 2, "nothing"),
        (["few.jsonl", "--config", "bad.toml"], 2, "unknown key 'colour'"),
        (["few.jsonl", "few.jsonl", "--folds", "2"], 1, "2 documents have the id '0'"),
    ],
)
def test_what_cannot_be_looked_at_is_one_line(command, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    notes = [Document(f"{n} has pain", id=str(n), mentions=[Mention("problem", [(6, 10)])]) for n in range(3)]
    write(notes, "few.jsonl")
    write([note.copy(id="a" if n else "b") for n, note in enumerate(notes)], "twice.jsonl")
    Path("bare.txt").write_text("no pain\n")
    Path("there.html").write_text("kept")
    Path("bad.toml").write_text("colour = 1\n")
    result = command("clean", *arguments, "--quiet")
    assert (result.returncode, result.stdout) == (code, ""), result.stderr
    assert message in result.stderr
    assert Path("there.html").read_text() == "kept" and not Path("x.html").exists()
