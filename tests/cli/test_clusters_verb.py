"""`spanloom lab clusters`: a file of clusters that training reads."""

from __future__ import annotations

from pathlib import Path

from spanloom import Recognizer, read
from spanloom.features.clusters import induce, read_paths
from spanloom.text import prepare, sentence_words


def test_clusters_are_those_of_induce_and_a_recognizer_reads_them(command, corpus: Path, tmp_path, notes):
    path = tmp_path / "corpus.paths"
    result = command("lab", "clusters", corpus / "train.jsonl", corpus / "dev.jsonl", "--size", 8, "--output", path)
    assert (result.returncode, result.stdout) == (0, "")
    found = read_paths(path)
    assert result.stderr == f"spanloom: {len(found)} words in 8 clusters\n"
    text = [*corpus_words(corpus / "train.jsonl"), *corpus_words(corpus / "dev.jsonl")]
    assert found == induce(text, 8)
    model = Recognizer(features=["cluster[0]"], clusters=str(path), epochs=1, structure="shared", rescore=False)
    assert model.fit(notes.train, dev=notes.dev).report_.rows > 0


def corpus_words(path: Path) -> list[list[str]]:
    return list(sentence_words(map(prepare, read(path))))


def test_rare_words_are_left_out_and_a_file_is_not_replaced_unasked(command, corpus: Path, tmp_path):
    path = tmp_path / "corpus.paths"
    path.write_text("mine")
    line = ["lab", "clusters", corpus / "train.jsonl", "--output", path, "--min-count", 3]
    refused = command(*line)
    assert (refused.returncode, path.read_text()) == (2, "mine")
    assert "is there already" in refused.stderr
    assert command(*line, "--force", "--quiet").returncode == 0
    assert 0 < len(read_paths(path)) < 30
