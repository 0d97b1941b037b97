"""`train linker`, and the verbs with its model."""

from __future__ import annotations

import json

import pytest
from typer.main import get_command

import spanloom
from spanloom.cli.app import app
from spanloom.cli.config import options_of
from spanloom.cli.train import LinkerOptions
from spanloom.document import Document, Mention
from spanloom.link import Linker
from spanloom.tag.pos_tagger import PosTagger
from spanloom_lab.lm.language_model import LanguageModel

CONCEPTS = {"chest pain": "X:1", "thoracic pain": "X:1", "migraine": "X:2", "headaches": "X:3", "knee fracture": "X:4"}
FRAMES = ("Severe {} was seen.", "No {} today.", "She has {} since May.", "History of {} and fever.")
OPTIONS = ["--features", "small", "--iterations", "3", "--folds", "2", "--margin", "0", "--quiet"]


def note(number, frame, name):
    text = frame.format(name)
    found = Mention("disease", [(text.index(name), text.index(name) + len(name))], concepts=(CONCEPTS[name],))
    other = [Mention("sign", [(text.index("fever"), text.index("fever") + 5)])] if "fever" in text else []
    return Document(text, f"n{number}", mentions=[found, *other])


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    pairs = [(frame, name) for frame in FRAMES for name in CONCEPTS]
    spanloom.write([note(n, *pair) for n, pair in enumerate(pairs)], folder / "train.jsonl")
    rows = ["id\tname\tsynonyms", "X:1\tchest pain\tthoracic pain", "X:2\tmigraine\t", "X:3\theadache\t"]
    (folder / "vocabulary.tsv").write_text("\n".join([*rows, "X:4\tfracture of the knee\t", "X:5\tfever\t\n"]))
    (folder / "names.csv").write_text(
        "\n".join([*rows, "X:4\tfracture of the knee\t", "X:5\tfever\t\n"])
        .replace("\t", ",")
        .replace("id,name,synonyms", "nr,naam,ook")
    )
    return folder


@pytest.fixture(scope="module")
def model(command, data, tmp_path_factory):
    path = tmp_path_factory.mktemp("linker") / "model"
    named = ["--vocabulary", data / "names.csv", "--vocabulary-columns", "id=nr,name=naam,synonyms=ook"]
    files = [*named, "--train", data / "train.jsonl", "--dev", data / "train.jsonl"]
    result = command("train", "linker", *files, "--types", "disease", *OPTIONS[:-1], "--output", path)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    assert "trained on 20 documents: 20 sentences, " in result.stderr
    assert "20 mentions of disease" in result.stderr
    assert "20 mentions with a concept of the vocabulary" in result.stderr
    assert "of documents' concepts 100.0" in result.stderr
    return path


def records(text):
    return [json.loads(line) for line in text.splitlines()]


def test_predict(command, model):
    result = command("predict", model, "-", input="No migraine today.")
    assert result.returncode == 0, result.stderr
    [record] = records(result.stdout)
    assert 0.5 < record["mentions"][0].pop("score") <= 1
    assert record["mentions"] == [{"type": "disease", "spans": [[3, 11]], "concepts": ["X:2"]}]
    assert "1 mention in 1 document, 1 of them linked" in result.stderr


def test_constraints_about_another_text_are_reported(command, model, tmp_path):
    for name in ("notes", "other"):
        (tmp_path / f"{name}.jsonl").write_text(f'{{"id": "{name}", "text": "Fever.", "mentions": []}}\n')
    for option in ("--keep", "--require", "--forbid"):
        done = command("predict", model, tmp_path / "notes.jsonl", option, tmp_path / "other.jsonl")
        told = "spanloom: constraints of 1 document were not used: no document read has their id\n"
        assert done.returncode == 0 and told in done.stderr


def test_predict_given_mentions(command, model, tmp_path):
    text = "Pains in the chest, or thoracic pain."
    given = [Mention("disease", [(23, 36)]), Mention("place", [(13, 18)])]
    spanloom.write([Document(text, mentions=given)], tmp_path / "in.jsonl")
    result = command("predict", model, tmp_path / "in.jsonl", "--mentions", "given")
    [record] = records(result.stdout)
    assert [(mention["spans"], mention.get("concepts")) for mention in record["mentions"]] == [
        ([[23, 36]], ["X:1"]),
        ([[13, 18]], None),
    ]


def test_options_of_other_models(command, model, tmp_path, corpus):
    for options in (["--reading", "all"], ["--mentions", "some"]):
        result = command("predict", model, "-", *options, input="No migraine.")
        assert (result.returncode, result.stdout) == (2, "")
        assert options[0].strip("-") in result.stderr
    recognizer = tmp_path / "recognizer"
    spanloom.Recognizer(features=["w[0]"], epochs=1).fit(spanloom.read(corpus / "train.jsonl")).save(recognizer)
    result = command("predict", recognizer, "-", "--mentions", "given", input="No migraine.")
    assert (result.returncode, result.stdout) == (2, "")
    assert "is a recognizer, which has no use for --mentions" in result.stderr


def test_evaluate_knows_the_vocabulary(command, model, data):
    gold = data / "train.jsonl"
    result = command("evaluate", gold, "--model", model, "--concepts", "--types", "disease", "--json")
    report = json.loads(result.stdout)
    assert report["overall"]["gold"] == 20
    assert report["calibration"]["error"] < 0.2
    assert report["concepts"]["documents"]["f1"] == report["concepts"]["mentions"]["f1"] == 1
    assert report["concepts"]["lacking"]["gold"] == {}
    assert "never predicted" not in result.stderr
    result = command("evaluate", gold, "--model", model, "--concepts", "--json")
    assert json.loads(result.stdout)["overall"]["gold"] == 25
    assert "never predicted, because the model was not trained on them: sign" in result.stderr


def test_evaluate_the_linking_of_given_mentions(command, model, data, tmp_path):
    text = "No chest pain, thoracic pain and migraine of the knee."
    gold = [
        Mention("disease", [(3, 13)], concepts=("X:1",)),
        Mention("disease", [(15, 28)], concepts=("X:9",)),  # wrong on purpose: it would be right if gold were seen
        Mention("disease", [(33, 41), (49, 53)], concepts=("X:2",)),  # has a gap
        Mention("sign", [(24, 28)], concepts=("X:5",)),  # of another type
    ]
    spanloom.write([Document(text, "a", mentions=gold)], tmp_path / "gold.jsonl")
    options = ["--model", model, "--concepts", "--mentions", "given"]
    result = command("evaluate", tmp_path / "gold.jsonl", *options, "--json")
    report = json.loads(result.stdout)
    assert (report["overall"]["f1"], report["overall"]["predicted"]) == (1, 4)
    accuracy = report["concepts"]["accuracy"]["linked"]
    assert (accuracy["right"], accuracy["mentions"], report["concepts"]["mentions"]["f1"]) == (1, 4, 0.25)
    assert "never linked, because the model was not trained on them: sign" in result.stderr


def test_given_mentions_of_what_is_no_linker(command, model, data):
    gold = data / "train.jsonl"
    for options, message in (
        ([gold, "--mentions", "given"], "--mentions is for a model that links"),
        (["--model", model, "--mentions", "given"], "with --mentions given all mentions are those of GOLD"),
        (["--model", model, "--concepts", "--mentions", "some"], "mentions is 'some', expected one of find, given"),
    ):
        result = command("evaluate", gold, *options)
        assert (result.returncode, result.stdout) == (2, "")
        assert message in result.stderr


def test_evaluate_one_type_of_files(command, data, tmp_path):
    gold = data / "train.jsonl"
    result = command("evaluate", gold, gold, "--types", "sign", "--compare", gold, "--json")
    assert json.loads(result.stdout)["overall"]["gold"] == 5
    result = command("evaluate", gold, gold, "--types", "sing")
    assert (result.returncode, result.stdout) == (2, "")
    assert "types: no mention is of type 'sing'" in result.stderr


def test_given_mentions_are_evaluated_without_their_concepts(command, data, tmp_path):
    files = ["--vocabulary", data / "vocabulary.tsv", "--train", data / "train.jsonl", "--dev", data / "train.jsonl"]
    model = tmp_path / "model"
    options = ["--types", "disease", "--task", "normalize", *OPTIONS, "--output", model]
    assert command("train", "linker", *files, *options).returncode == 0
    text = "Migraine of the migraine"
    overlapping = [Mention("disease", [(0, 24)], concepts=("X:2",)), Mention("disease", [(16, 24)], concepts=("X:2",))]
    spanloom.write([Document(text, "a", mentions=overlapping)], tmp_path / "gold.jsonl")
    result = command("evaluate", tmp_path / "gold.jsonl", "--model", model, "--concepts", "--json")
    assert json.loads(result.stdout)["concepts"]["none"]["predicted"] >= 1


def test_inspect(command, model):
    result = command("inspect", model)
    assert (result.returncode, result.stderr) == (0, "")
    for words in ("kind           linker", "types          disease", "vocabulary     5 concepts, 6 names"):
        assert words in result.stdout
    assert json.loads(command("inspect", model, "--json").stdout)["training"]["concepts"] == 20


def test_language_model_tagger_and_configuration(command, data, tmp_path):
    documents = list(spanloom.read(data / "train.jsonl"))
    LanguageModel.train(documents).save(tmp_path / "lm")
    tokens = [(0, 3), (4, 9)]
    PosTagger(["bias", "w[0]"], epochs=1).fit(
        [Document("the valve", tokens=tokens, columns={"pos": ["DT", "NN"]})] * 20
    ).save(tmp_path / "tagger")
    config = tmp_path / "linker.toml"
    config.write_text(
        f"vocabulary = {json.dumps(str(data / 'vocabulary.tsv'))}\ntrain = {json.dumps(str(data / 'train.jsonl'))}\n"
        "types = ['disease']\nfeatures = ['w[0]', 'pos[0]']\nhistory = false\niterations = 2\n"
        "nonlocal-features = false\n"
    )
    options = ["--config", config, "--language-model", tmp_path / "lm", "--pos", tmp_path / "tagger", "--folds", "2"]
    result = command("train", "linker", *options, "--no-evidence", "--quiet", "--output", tmp_path / "model")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    shown = json.loads(command("inspect", tmp_path / "model", "--json").stdout)
    assert (shown["parameters"]["history"], shown["parameters"]["evidence"]) == (False, False)
    assert shown["tagger"] == "fills the column 'pos' with 2 tags"
    assert {"pos[0]", "bigram[0..1]"} <= set(shown["templates"])
    for name in ("lm", "tagger"):
        for file in (tmp_path / name).iterdir():
            file.unlink()
    [record] = records(command("predict", tmp_path / "model", "-", input="No migraine today.").stdout)
    assert "columns" not in record


def test_every_parameter_has_a_key_and_an_option(command):
    keys = {"n_jobs": "jobs", "random_state": "seed"}
    parameters = {keys.get(name, name) for name in Linker().get_params()}
    others = {
        "vocabulary",
        "vocabulary_columns",
        "train",
        "output",
        "dev",
        "input_format",
        "columns",
        "on_error",
        "force",
        "quiet",
        "work",
    }
    assert set(options_of(Linker, LinkerOptions).model_fields) == parameters | others
    shown = command("train", "linker", "--help").stdout
    assert [
        name for name in options_of(Linker, LinkerOptions).model_fields if f"--{name.replace('_', '-')}" not in shown
    ] == []


def test_the_help_tells_the_defaults():
    train = get_command(app).commands["train"]
    helps = {parameter.name: parameter.help for parameter in train.commands["linker"].params}
    for name, value in Linker().get_params().items():
        if isinstance(value, bool):
            words = ("split", "keep") if name == "split_tokens" else ("with", "without")
            assert helps[name].endswith(f" [{words[not value]}]")
        elif isinstance(value, int | float | str) and name not in ("n_jobs", "random_state"):
            assert helps[name].endswith(f" [{value:g}]" if isinstance(value, float) else f" [{value}]"), name


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([], 2, "--vocabulary is missing"),
        (["--vocabulary", "no.tsv"], 1, "no.tsv"),
        (["--vocabulary", "{}/train.jsonl"], 1, "train.jsonl"),
        (["--vocabulary", "{}/vocabulary.tsv", "--task", "guess"], 2, "task is 'guess', expected one of joint"),
        (["--vocabulary", "{}/vocabulary.tsv", "--types", "disaese"], 2, "did you mean disease?"),
        (["--vocabulary", "{}/vocabulary.tsv", "--language-model", "no-such"], 1, "no-such"),
    ],
)
def test_what_cannot_be_trained(command, data, tmp_path, options, code, message):
    given = [option.format(data) for option in options]
    result = command("train", "linker", "--train", data / "train.jsonl", "--output", tmp_path / "m", *given, *OPTIONS)
    assert (result.returncode, result.stdout) == (code, ""), result.stderr
    assert message in result.stderr and result.stderr.count("\n") == 1
    assert not (tmp_path / "m").exists()
