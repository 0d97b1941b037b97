"""`train`, `predict`, `evaluate`: the verbs around a model."""

from __future__ import annotations

import json
import math

import pytest

from spanloom import load
from spanloom.models import installed


@pytest.fixture(scope="module")
def predictions(command, model, corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("predictions") / "out.jsonl"
    result = command("predict", model, corpus / "train.jsonl", "--output", path)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    assert "in 10 documents" in result.stderr
    return path


def records(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def test_predict_keeps_the_documents_and_scores_the_mentions(predictions, corpus):
    gold, found = (records(path.read_text()) for path in (corpus / "train.jsonl", predictions))
    assert [(record["id"], record["text"]) for record in gold] == [(record["id"], record["text"]) for record in found]
    scores = [mention["score"] for record in found for mention in record["mentions"]]
    assert scores
    assert all(0 <= score <= 1 for score in scores)


def test_predict_never_uses_the_mentions_of_its_input(command, model, predictions, corpus, tmp_path):
    bare = [{key: record[key] for key in ("id", "text")} for record in records((corpus / "train.jsonl").read_text())]
    (tmp_path / "bare.jsonl").write_text("".join(json.dumps(record) + "\n" for record in bare))
    result = command("predict", model, tmp_path / "bare.jsonl")
    assert records(result.stdout) == records(predictions.read_text())


def test_predict_never_looks_at_the_mentions_of_its_input(command, model, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("No chest pain.\n")
    (tmp_path / "in" / "a.ann").write_text("T1\tproblem 9 13;3 8\tfever\nT1 is no line\n")
    result = command("predict", model, tmp_path / "in")
    assert (result.returncode, [record["text"] for record in records(result.stdout)]) == (0, ["No chest pain.\n"])
    assert command("evaluate", tmp_path / "in", "--model", model).returncode == 1


def test_predict_text_from_standard_input(command, model):
    result = command("predict", model, "-", "--quiet", input="No chest pain.\n")
    assert result.stderr == ""
    assert [record["text"] for record in records(result.stdout)] == ["No chest pain.\n"]


def test_predict_with_a_threshold_no_mention_reaches(command, model, corpus):
    result = command("predict", model, corpus / "train.jsonl", "--threshold", "1")
    assert all(mention["score"] == 1 for record in records(result.stdout) for mention in record.get("mentions", []))
    assert command("predict", model, corpus / "train.jsonl", "--threshold", "1.5").returncode == 2


def test_predict_says_how_probable_whole_answers_are(command, model, corpus, tmp_path):
    result = command("predict", model, corpus / "train.jsonl", "--answers", "--threshold", "0.9")
    for line in result.stdout.splitlines():
        record = json.loads(line)
        answer = record["meta"]["answer"]
        assert len(answer["sentences"]) == len(record["sentences"])
        assert answer["probability"] == pytest.approx(math.prod(answer["sentences"]))
    brat = command(
        "predict", model, corpus / "train.jsonl", "--answers", "--output", tmp_path / "out", "--format", "brat"
    )
    assert "meta fields" in brat.stderr


def test_inspect_tells_the_calibration_error(command, model):
    lines = [line for line in command("inspect", model).stdout.splitlines() if line.startswith("  calibration")]
    assert [line.split(":")[0].split()[1:] for line in lines] == [["of", "mentions"], ["of", "answers"]]
    training = json.loads(command("inspect", model, "--json").stdout)["training"]["calibration"]
    assert all(0 <= training[kind][when] <= 1 for kind in ("mentions", "answers") for when in ("before", "after"))


def test_predict_in_another_format(command, model, corpus, tmp_path):
    result = command("predict", model, corpus / "dev.jsonl", "--output", tmp_path / "brat", "--format", "brat")
    assert result.returncode == 0
    assert sorted(path.suffix for path in (tmp_path / "brat").glob("note-*")) == [".ann"] * 4 + [".txt"] * 4


def test_evaluate_prints_a_report_with_calibration(command, predictions, corpus):
    result = command("evaluate", corpus / "train.jsonl", predictions)
    assert (result.returncode, result.stderr) == (0, "")
    assert "exact" in result.stdout
    assert "expected calibration error" in result.stdout


def test_evaluate_as_json(command, predictions, corpus):
    gold = corpus / "train.jsonl"
    result = command("evaluate", gold, predictions, "--compare", gold, "--json", "--seed", "3")
    report = json.loads(result.stdout)
    assert 0 < report["overall"]["f1"] <= 1
    assert report["calibration"]["count"] == report["overall"]["predicted"]
    assert report["paired_test"]["b"]["f1"] == 1
    assert command("evaluate", gold, predictions, "--compare", gold, "--json", "--seed", "3").stdout == result.stdout


def test_evaluate_gold_against_itself_has_no_calibration(command, corpus):
    result = command("evaluate", corpus / "train.jsonl", corpus / "train.jsonl", "--json")
    report = json.loads(result.stdout)
    assert report["overall"]["f1"] == 1
    assert report["calibration"] is None


def test_evaluate_a_model_equals_evaluating_its_predictions(command, model, predictions, corpus):
    gold = corpus / "train.jsonl"
    result = command("evaluate", gold, "--model", model, "--json")
    assert json.loads(result.stdout) == json.loads(command("evaluate", gold, predictions, "--json").stdout)


def test_evaluate_says_which_types_the_model_does_not_know(command, model, tmp_path):
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"text": "No pain.", "mentions": [{"type": "mood", "spans": [[3, 7]]}]}\n')
    result = command("evaluate", gold, "--model", model)
    assert result.returncode == 0
    assert "never predicted, because the model was not trained on them: mood" in result.stderr


@pytest.mark.parametrize(
    "arguments", [["GOLD"], ["GOLD", "GOLD", "--model", "MODEL"], ["-", "-", "--input-format", "jsonl"]]
)
def test_evaluate_wants_one_prediction(command, corpus, model, arguments):
    places = {"GOLD": corpus / "train.jsonl", "MODEL": model}
    result = command("evaluate", *[places.get(argument, argument) for argument in arguments])
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("spanloom: error: ")


def test_evaluate_names_the_document_that_differs(command, predictions, corpus):
    result = command("evaluate", corpus / "dev.jsonl", predictions)
    assert result.returncode == 1
    assert "not in gold" in result.stderr


def test_train_with_a_config_and_flags(command, corpus, tmp_path):
    config = tmp_path / "train.toml"
    config.write_text(f'train = "{corpus / "train.jsonl"}"\nstructure = "bio"\nepochs = 2\n')
    result = command(
        "train", "recognizer", "--config", config, "--output", tmp_path / "model", "--epochs", "3", "--seed", "4"
    )
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    shown = json.loads(command("inspect", tmp_path / "model", "--json").stdout)
    assert (shown["parameters"]["structure"], shown["parameters"]["epochs"]) == ("bio", 3)
    assert shown["parameters"]["random_state"] == 4


def test_parameters_of_a_structure_are_part_of_its_text(command, corpus, tmp_path):
    config = tmp_path / "train.toml"
    config.write_text(f'train = "{corpus / "train.jsonl"}"\nstructure = "shared(components=2)"\nepochs = 1\n')
    line = ["train", "recognizer", "--config", config, "--features", "small", "--quiet", "--output"]
    for name, options in {
        "file": [],
        "line": ["--structure", "semi_markov( longest=4 )"],
        "beside": ["--structure", "shared", "--components", "2"],
    }.items():
        result = command(*line, tmp_path / name, *options)
        assert (result.returncode, result.stdout) == (0, ""), result.stderr
    found = [load(tmp_path / name).fitted.structure for name in ("file", "line", "beside")]
    assert [str(structure) for structure in found] == [
        "shared(components=2)", "semi_markov(longest=4)", "shared(components=2)"
    ]  # fmt: skip
    for options, message in (
        (["--components", "4"], "structure is shared(components=2), but components beside it is 4; leave one out"),
        (["--structure", "bio(x=1)"], "structure is 'bio(x=1)', with 'x=1'; expected no parameters"),
    ):
        refused = command(*line, tmp_path / "none", *options)
        assert (refused.returncode, refused.stderr) == (2, f"spanloom: error: {message}\n")
        assert not (tmp_path / "none").exists()


def test_train_says_how_it_goes_on_plain_lines(command, corpus, tmp_path):
    arguments = ["--train", corpus / "train.jsonl", "--dev", corpus / "dev.jsonl", "--epochs", "2"]
    result = command("train", "recognizer", *arguments, "--output", tmp_path / "model")
    assert result.returncode == 0
    assert "objective" in result.stderr
    assert "dev F1" in result.stderr
    assert "\x1b" not in result.stderr
    assert "\r" not in result.stderr
    quiet = command("train", "recognizer", *arguments, "--output", tmp_path / "model", "--force", "--quiet")
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_development_data_that_say_nothing_are_reported(command, corpus, tmp_path):
    blank = tmp_path / "blank.jsonl"
    blank.write_text('{"text": "No pain."}\n', encoding="utf-8")
    said = {
        corpus / "train.jsonl": "have the text of a training document",
        blank: "no development document has a mention",
    }
    for dev, message in said.items():
        data = ["--train", corpus / "train.jsonl", "--dev", dev, "--epochs", "1"]
        result = command("train", "recognizer", *data, "--output", tmp_path / "m", "--force")
        assert result.returncode == 0
        assert message in result.stderr


def test_options_that_nothing_reads_are_reported(command, corpus, tmp_path):
    line = ["train", "recognizer", "--train", corpus / "train.jsonl", "--output", tmp_path / "model", "--force"]
    of_chain = ["--structure", "bio", "--longest", "4", "--epochs", "1", "--iterations", "1"]
    of_segments = ["--structure", "semi_markov", "--longest", "4", "--optimizer", "lbfgs", "--iterations", "1"]
    for options, expected in (
        (
            of_chain,
            ["iterations has no effect with the optimizer adagrad", "longest has no effect with the structure bio"],
        ),
        (of_segments, []),
    ):
        result = command(*line, "--features", "small", *options)
        assert result.returncode == 0
        assert [f"spanloom: {one}" for one in expected] == [
            one for one in result.stderr.splitlines() if "no effect" in one
        ]


def test_train_needs_data_and_an_output(command, corpus, tmp_path):
    result = command("train", "recognizer", "--train", corpus / "train.jsonl")
    assert (result.returncode, result.stderr) == (
        2,
        "spanloom: error: --output is missing; give it on the command line or in a --config file\n",
    )


@pytest.mark.parametrize(("option", "name"), [(["--adapters", "4"], "adapters"), (["--no-context"], "context")])
def test_options_of_encoders_need_one(command, corpus, tmp_path, option, name):
    output = tmp_path / "model"
    result = command("train", "recognizer", "--train", corpus, "--output", output, *option)
    assert result.returncode == 2
    assert f"error: {name} is" in result.stderr
    assert "name its folder (encoder)" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not output.exists()


def test_inspect_shows_what_was_trained(command, model):
    result = command("inspect", model, "--top", "3")
    assert (result.returncode, result.stderr) == (0, "")
    for expected in ("structure      separators", "body, drug, problem", "sentences", "role S problem"):
        assert expected in result.stdout
    features = result.stdout.partition("role S problem\n")[2].partition("\n\n")[0]
    assert len(features.splitlines()) == 3


def test_inspect_starts_with_the_essentials(command, model):
    lines = command("inspect", model).stdout.splitlines()
    names = [line[:14].strip() for line in lines[:8]]
    assert names == ["kind", "structure", "types", "features", "dev F1", "trained on", "size", "date"]
    size = sum(file.stat().st_size for file in model.iterdir()) / 1000
    assert lines[6] == f"size           {size:.1f} kB"
    assert lines[5].startswith("trained on     10 documents, ") and lines[5].endswith(" mentions")
    start = lines.index("parameters; all others have their defaults, and --all lists them")
    assert lines[start + 1 : lines.index("", start)] == ["  epochs       5"]
    assert not any(line.endswith(" -") or line.startswith("role") for line in lines)
    everything = command("inspect", model, "--all").stdout
    assert "encoder_rate   0.0001" in everything and "role S problem" in everything


def test_inspect_lists_the_stages_with_their_gain_and_time(command, model, corpus):
    lines = command("inspect", model).stdout.splitlines()
    start = lines.index("stages")
    shown = lines[start + 1 : lines.index("", start)]
    described = json.loads(command("inspect", model, "--json", "--time", corpus / "train.jsonl").stdout)
    rows = {row["stage"]: row for row in described["stages"]}
    assert list(rows) == ["profile", "structure", "overlaps"]
    row = rows["structure"]
    assert shown[1] == f"  structure    development F1 {100 * row['dev_f1']:.1f}"
    assert row["dev_f1"] == described["training"]["dev_f1"] and row["microseconds_per_token"] > 0
    assert command("inspect", model, "--time", corpus / "nothing.jsonl").returncode == 1


def test_inspect_tells_what_each_stage_gains(command):
    saved = load("clinical") if "clinical" in installed() else pytest.skip("spanloom-models is not installed")
    rows = {row["stage"]: row for row in json.loads(command("inspect", "clinical", "--json").stdout)["stages"]}
    second = saved.report_.rescoring
    gain = second.after - second.before
    assert rows["structure"]["dev_f1"] == second.before
    assert rows["second_stage"] == {
        "stage": "second_stage",
        "dev_f1": second.after,
        "gain": second.after - second.before,
    }
    assert rows["attributes"]["f1"] == {name: one.f1 for name, one in saved.report_.attributes.items()}
    shown = command("inspect", "clinical").stdout
    assert f"  second stage development F1 {100 * second.after:.1f}, {100 * gain:+.1f}" in shown
    assert "{" not in shown


def test_inspect_one_role(command, model):
    strongest = json.loads(command("inspect", model, "--role", "S", "--json").stdout)["strongest"]
    assert sorted(strongest) == ["S body", "S drug", "S problem"]
    assert all(0 < len(features) <= 20 for features in strongest.values())
    weights = [weight for _, weight in strongest["S problem"]]
    assert weights == sorted(weights, reverse=True)
    result = command("inspect", model, "--role", "nonsense")
    assert (result.returncode, result.stdout) == (2, "")
    assert "S problem" in result.stderr


def test_the_effective_configuration_is_saved_and_seeds_make_models_alike(command, corpus, tmp_path):
    arguments = ["train", "recognizer", "--train", corpus / "train.jsonl", "--seed", "7", "--quiet", "--output"]
    for name, jobs in (("one", 1), ("two", 2)):
        assert command(*arguments, tmp_path / name, "--jobs", jobs).returncode == 0
    for file in ("model.json", "weights.safetensors"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    assert json.loads((tmp_path / "one" / "model.json").read_text())["params"]["random_state"] == 7
