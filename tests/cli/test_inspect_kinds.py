"""`inspect` of what is no recognizer, and `predict` and `evaluate` of what cannot annotate text."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from spanloom.cli.inspect import lines
from spanloom.document import Document
from spanloom.model.report import CompletionReport, Density
from spanloom.tag.pos_tagger import PosTagger
from spanloom.vocabulary import Concept, Vocabulary
from spanloom_lab.lm.language_model import LanguageModel

NOTE = Document("no pain", tokens=[(0, 2), (3, 7)], columns={"pos": ["DT", "NN"]})


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    PosTagger(["bias", "w[0]"], epochs=1).fit([NOTE] * 20).save(folder / "tagger")
    LanguageModel.train([NOTE]).save(folder / "language-model")
    concepts = [Concept("1", "pain", ("ache",)), Concept("2", "pain"), Concept("3", "knee", parents=("9",))]
    Vocabulary.build(concepts).save(folder / "vocabulary")
    return folder


EXPECTED = {
    "tagger": ("column         pos", "tags           DT, NN", "  accuracy     1", "trained on     18 documents, 36 t"),
    "language-model": ("order          3", "words          5", "2-grams        3"),
    "vocabulary": ("concepts       3", "names          4", "pain"),
}


@pytest.mark.parametrize("kind", EXPECTED)
def test_inspect(command, models, kind):
    result = command("inspect", models / kind)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == f"kind           {kind}"
    for words in EXPECTED[kind]:
        assert any(line.startswith(words) or (kind == "vocabulary" and words in line) for line in lines), result.stdout
    assert json.loads(command("inspect", models / kind, "--json").stdout)["kind"] == kind
    result = command("inspect", models / kind, "--role", "B")
    assert (result.returncode, result.stdout) == (2, "")
    assert "leave out --role" in result.stderr


def test_inspect_tells_reports_in_words():
    report = CompletionReport({"gene": Density(12.0, 0.5)}, 10.0, 25.0, {"gene": 0.8}, (0.1,))
    training = {"documents": 3, "completion": asdict(report), "passes": None}
    assert list(lines({"training": training}))[2:] == [
        "  documents    3",
        "  completion   mentions per 1,000 tokens: 12 in all: gene 12 ± 0.5",
        "  completion   annotation has 10 starts of mentions, 15 more were filled in; where a mention is likelier than "
        "none: gene 80 % of them",
    ]


@pytest.mark.parametrize("kind", ["language-model", "vocabulary"])
def test_what_marks_up_nothing(command, models, corpus, kind):
    for verb in (["predict", models / kind, "-"], ["evaluate", corpus / "dev.jsonl", "--model", models / kind]):
        result = command(*verb, input="no pain")
        assert (result.returncode, result.stdout) == (2, "")
        assert f"{models / kind} is a {kind.replace('-', ' ')}, which cannot annotate text" in result.stderr


def test_a_recognizer_keeps_a_tagger(command, models, corpus, tmp_path):
    train = ["--train", corpus / "train.jsonl", "--dev", corpus / "dev.jsonl", "--epochs", "2", "--quiet"]
    for words in (("train", "recognizer"), ("lab", "cascade")):
        model = tmp_path / words[1]
        result = command(*words, *train, "--pos", models / "tagger", "--output", model)
        assert (result.returncode, result.stderr) == (0, "")
        shown = json.loads(command("inspect", model, "--json").stdout)
        assert shown["tagger"] == "fills the column 'pos' with 2 tags"
        assert "pos[-2..2]" in shown["templates"]
        result = command("predict", model, "-", input="no pain")
        assert result.returncode == 0 and "columns" not in json.loads(result.stdout)
    result = command("train", "recognizer", *train, "--pos", corpus, "--output", tmp_path / "other")
    assert result.returncode == 1 and "no model here" in result.stderr
    options = ["--pos", models / "tagger", "--ignore", "pos", "--output", tmp_path / "other"]
    result = command("train", "recognizer", *train, *options)
    assert result.returncode == 2 and "no template names the column 'pos'" in result.stderr
    assert not (tmp_path / "other").exists()


def test_a_file_is_no_model(command, tmp_path):
    (tmp_path / "a.txt").write_text("no pain")
    for words in (("inspect", tmp_path / "a.txt"), ("predict", tmp_path / "a.txt", tmp_path / "a.txt")):
        result = command(*words)
        assert result.returncode == 1 and "a.txt: no model here: model.json is missing; name the fol" in result.stderr


def test_compare_keeps_a_tagger_and_sees_when_it_changes(command, models, corpus, tmp_path):
    line = ["compare", "--train", corpus / "train.jsonl", "--dev", corpus / "dev.jsonl", "--structure", "bio"]
    line += ["--epochs", "1", "--l2", "1", "--output", tmp_path / "out", "--pos", tmp_path / "tagger"]
    PosTagger(["bias", "w[0]"], epochs=1).fit([NOTE] * 20).save(tmp_path / "tagger")
    assert command(*line).returncode == 0
    assert "trained before" in command(*line).stderr
    PosTagger(["bias", "low[0]"], epochs=1).fit([NOTE] * 20).save(tmp_path / "tagger", force=True)
    assert "(pos)" in command(*line).stderr
    result = command("inspect", tmp_path / "out" / "bio")
    assert "tagger         fills the column 'pos'" in result.stdout
