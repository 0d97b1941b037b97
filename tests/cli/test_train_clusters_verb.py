"""`spanloom train clusters`: any text in, one file out, which recognizers read."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanloom import Recognizer, read
from spanloom.features.clusters import induce, read_paths
from spanloom.features.vectors import induce_vectors
from spanloom.text import prepare, sentence_words


def test_clusters_of_annotated_and_plain_text(command, corpus: Path, tmp_path, notes):
    path, plain = tmp_path / "raw.paths", tmp_path / "raw.txt"
    plain.write_text("No fever today.\nNo fever before.\n")
    line = ["train", "clusters", "--input", corpus / "train.jsonl", "-i", plain, "--size", 8, "--output", path]
    line += ["--method", "brown"]
    result = command(*line, "--min-count", 2)
    assert (result.returncode, result.stdout) == (0, "")
    documents = [*read(corpus / "train.jsonl"), *read(plain)]
    found = read_paths(path)
    assert dict(found) == induce(sentence_words(map(prepare, documents)), 8, 2)
    assert f"{len(found)} words that occur 2 times or more, in 8 clusters; " in result.stderr
    assert result.stderr.endswith(f"saved as {path}\n")
    before = path.read_bytes()
    assert command(*line, "--force", "--min-count", 2).returncode == 0
    assert path.read_bytes() == before
    model = Recognizer(features=["cluster[0]", "band[0]"], clusters=str(path), epochs=1, l2=1)
    assert model.fit(notes.train, dev=notes.dev).report_.clustered > 0


def test_clusters_of_vectors(command, corpus: Path, tmp_path):
    path = tmp_path / "raw.paths"
    line = ["train", "clusters", "-i", corpus / "train.jsonl", "-o", path, "--size", 5]
    result = command(*line, "--min-count", 2)
    assert result.returncode == 0 and " in 5 clusters; " in result.stderr
    expected = induce_vectors(read(corpus / "train.jsonl"), 5, 2)
    found = read_paths(path)
    assert (dict(found), found.counts) == (dict(expected), expected.counts)
    assert {way: table for way, table in expected.letters.items() if table} == found.letters


def test_standard_input_is_plain_text(process, tmp_path):
    path = tmp_path / "raw.paths"
    result = process("train", "clusters", "-i", "-", "-o", path, "--min-count", 1, input="no pain no gain\n" * 5)
    assert result.returncode == 0
    assert set(read_paths(path)) == {"no", "pain", "gain"}
    assert "as no more can be distinguished, in place of 1000" in result.stderr


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (["-o", "x"], 2, "--input is missing"),
        (["-i", "raw.txt"], 2, "--output is missing"),
        (["-i", "empty.txt", "-o", "x"], 1, "the raw text has 0 words"),
        (["-i", "-", "-i", "-", "-o", "x"], 2, "can be read only once"),
        (["-i", "raw.txt", "-o", "x", "--method", "glove"], 2, "--method is 'glove', expected vectors or brown"),
        (["-i", "empty.txt", "-o", "x", "--method", "brown"], 1, "the raw text has 0 words"),
        (["-i", "bad.txt", "-o", "x"], 1, "bad.txt:2: byte 1 of the line is 0xFF, which is not UTF-8"),
        (["-i", "raw.txt", "-o", "raw.txt"], 2, "is there already"),
        (["-i", "none.txt", "-o", "x"], 1, "no such file"),
    ],
)
def test_what_cannot_be_done_is_one_line(command, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    Path("raw.txt").write_text("no pain no gain")
    Path("empty.txt").write_text("")
    Path("bad.txt").write_bytes(b"no pain\n\xff\n")
    result = command("train", "clusters", *arguments)
    assert result.returncode == code
    assert message in result.stderr and result.stderr.splitlines()[-1].startswith("spanloom: error: ")
    assert not Path("x").exists()


def test_lines_that_are_not_utf8_are_left_out_if_asked(command, tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"no pain no gain\n\xff\n")
    line = ["train", "clusters", "-i", tmp_path / "bad.txt", "-o", tmp_path / "x", "--min-count", 1]
    result = command(*line, "--on-error", "skip")
    assert result.returncode == 1 and set(read_paths(tmp_path / "x")) == {"no", "pain", "gain"}
    assert "1 record left out" in result.stderr
