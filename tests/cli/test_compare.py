"""`spanloom lab compare`: the table, what is kept and used again, and what is not."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spanloom.cli.config import options_of
from spanloom.data import clinical
from spanloom.evaluate import evaluate
from spanloom.formats import read
from spanloom.recognize import Recognizer, load
from spanloom_lab.cli.compare_records import CompareOptions, kept

MODELS = ["bio", "mention_hypergraph-derivations"]
FILES = {"model.json", "weights.safetensors", "predictions.jsonl", "record.json"}
FIGURES = {
    "name", "heads", "structure", "counting", "tuned", "penalty", "lambda", "steps", "dev_f1", "seconds",
    "tokens_per_second", "peak_memory", "features", "rows", "weights", "lost", "lost_for", "ambiguous", "mentions",
    "calibration_error", "test",
}  # fmt: skip


def arguments(output: Path, /, *structures: str, **other: str | Path) -> list[str | Path]:
    given = {name: clinical() / name for name in ("train", "dev", "test")}
    given |= {"features": "small", "epochs": "2", "l2": "1", "jobs": "1", "output": output, "counting": "derivations"}
    given |= {"attributes": "off"}  # which take longer to learn than the rest
    given |= other
    line = [part for name, value in given.items() for part in (f"--{name}", value)]
    return ["compare", *line, *(part for name in structures for part in ("--structure", name))]


def names(rows: list[dict]) -> list[str]:
    return list(dict.fromkeys(row["name"] for row in rows))


@pytest.fixture(scope="module")
def compared(command, tmp_path_factory):
    """An output folder, and what was printed."""
    folder = tmp_path_factory.mktemp("compare") / "out"
    result = command(*arguments(folder, "bio", "mention_hypergraph"), "--json")
    assert result.returncode == 0, result.stderr
    return folder, result


@pytest.fixture
def again(compared, tmp_path):
    """A copy of that folder."""
    return shutil.copytree(compared[0], tmp_path / "out")


def test_the_folder_holds_models_and_tables(compared):
    folder, result = compared
    assert {entry.name for entry in folder.iterdir()} == {*MODELS, "table.txt", "table.md", "table.json"}
    for name in MODELS:
        assert {file.name for file in (folder / name).iterdir()} == FILES
    assert load(folder / "bio").structure == "bio"
    assert (folder / "table.json").read_text() == result.stdout


def test_json_has_two_rows_a_model_and_a_test_of_the_best_against_each_other(compared):
    values = json.loads(compared[1].stdout)
    rows = values["rows"]
    assert [(row["name"], row["tuned"]) for row in rows] == [
        (name, tuned) for name in MODELS for tuned in (False, True)
    ]
    assert all(set(row) == FIGURES for row in rows)
    for row in rows:
        low, high = row["test"]["overall"]["intervals"]["f1"]
        assert low <= row["test"]["overall"]["f1"] <= high
        assert row["peak_memory"] > 2**20
        assert row["features"] >= row["rows"] > 0
        assert row["tuned"] or row["penalty"] == 0
    assert rows[0]["lost"] > 0
    best = max(rows, key=lambda row: row["tuned"] and row["test"]["overall"]["f1"])["name"]
    assert [(test["first"], test["second"]) for test in values["tests"]] == [(best, m) for m in MODELS if m != best]
    assert values["failed"] == []


def test_the_untuned_row_is_the_model_without_its_penalty(compared):
    folder, result = compared
    untuned, tuned, *_ = json.loads(result.stdout)["rows"]
    assert tuned["penalty"] == load(folder / "bio").report_.penalty
    assert tuned["dev_f1"] == pytest.approx(load(folder / "bio").report_.dev_f1)
    assert tuned["dev_f1"] >= untuned["dev_f1"]


def test_nothing_is_trained_twice(command, compared, again):
    result = command(*arguments(again, "bio", "mention_hypergraph"), "--json")
    assert result.stderr.count("trained before") == 2
    assert result.stdout == compared[1].stdout


def test_what_is_missing_is_trained_and_the_same_comes_out(command, compared, again):
    before = (again / "bio" / "weights.safetensors").read_bytes()
    (again / "bio" / "record.json").unlink()
    result = command(*arguments(again, "bio", "mention_hypergraph"), "--json")
    assert "not used: record.json is missing or damaged; training again" in result.stderr
    assert result.stderr.count("trained before") == 1
    assert (again / "bio" / "weights.safetensors").read_bytes() == before
    timed = ("seconds", "tokens_per_second", "peak_memory")
    old, new = (
        [{key: value for key, value in row.items() if key not in timed} for row in json.loads(text)["rows"]]
        for text in (compared[1].stdout, result.stdout)
    )
    assert old == new


def test_other_options_and_data_are_told_and_trained_again(command, again, tmp_path):
    shutil.copytree(clinical() / "test", tmp_path / "test")
    (tmp_path / "test" / "ecg-06.ann").write_text("")
    result = command(*arguments(again, "bio", epochs="1", test=tmp_path / "test"), "--markdown")
    assert "bio is not used: it is of other options or data (epochs, test data); training again" in result.stderr
    assert json.loads((again / "bio" / "record.json").read_text())["settings"]["epochs"] == 1
    assert result.stdout == (again / "table.md").read_text()
    assert "| bio | - |" in result.stdout
    assert "mention_hypergraph" not in result.stdout


@pytest.mark.parametrize(
    "content", ["", "[]", '{"settings": {}, "rows": []}', '{"settings": {}, "rows": [{"name": "bio"}]}']
)
def test_a_damaged_record_is_not_used(again, content):
    from_before = json.loads((again / "bio" / "record.json").read_text())
    (again / "bio" / "record.json").write_text(content)
    assert kept(again / "bio", from_before["settings"]) == "record.json is missing or damaged"


def test_force_trains_again_and_a_model_that_fails_lets_the_others_go_on(command, again):
    (again / "mention_hypergraph-derivations" / "notes.txt").write_text("mine\n")
    result = command(*arguments(again, "mention_hypergraph", "bio"), "--force")
    assert result.returncode == 1
    assert "trained before" not in result.stderr
    assert "mention_hypergraph-derivations: failed: " in result.stdout
    values = json.loads((again / "table.json").read_text())
    assert [failure["name"] for failure in values["failed"]] == ["mention_hypergraph-derivations"]
    assert names(values["rows"]) == ["bio"]
    assert (again / "mention_hypergraph-derivations" / "notes.txt").exists()


def test_without_test_and_dev_a_tenth_is_held_out_and_the_table_says_so(command, corpus, tmp_path):
    config = tmp_path / "compare.toml"
    config.write_text(f'train = "{corpus / "train.jsonl"}"\nstructure = ["bio"]\nfeatures = ["w[0]"]\nepochs = 1\n')
    result = command("compare", "--config", config, "--no-tune-penalty", "--output", tmp_path / "out", "--quiet")
    assert (result.returncode, result.stderr) == (0, "")
    assert "tuned on a tenth of the training data, measured on what it was tuned on" in result.stdout
    assert "Measured on the data that tuning saw" in result.stdout
    [row] = json.loads((tmp_path / "out" / "table.json").read_text())["rows"]
    assert not row["tuned"]
    assert len((tmp_path / "out" / "bio" / "predictions.jsonl").read_text().splitlines()) == 1


def test_an_error_of_a_training_is_its_line_in_the_table(command, corpus, tmp_path):
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"text": "No pain.", "mentions": [{"type": "mood", "spans": [[3, 7]]}]}\n' * 20)
    result = command("compare", "--train", bare, "--structure", "heads", "--output", tmp_path / "out", "--markdown")
    assert result.returncode == 1
    assert "| heads-subgraphs | failed: " in result.stdout
    assert "the mention of type 'mood' has no head" in result.stdout
    assert not (tmp_path / "out" / "heads").exists()


def test_options_of_reading_reach_the_processes_that_train(command, tmp_path):
    notes = ("Señor con náusea y fiebre.", "Señora sin náusea.", "Señor con náusea.") * 7
    lines = [
        json.dumps({"text": text, "mentions": [{"type": "síntoma", "spans": [[at, at + 6]]}]}, ensure_ascii=False)
        for text in notes
        for at in [text.index("náusea")]
    ]
    (tmp_path / "notes.jsonl").write_bytes("\n".join(lines).encode("cp1252"))
    data = dict.fromkeys(("train", "dev", "test"), tmp_path / "notes.jsonl")
    result = command(*arguments(tmp_path / "out", "bio", "bilou", **data), "--encoding", "cp1252", "--json")
    assert result.returncode == 0, result.stderr
    values = json.loads(result.stdout)
    assert [row["test"]["overall"]["f1"] for row in values["rows"] if row["tuned"]] == [1.0, 1.0]
    assert "Señora sin náusea." in (tmp_path / "out" / "bio" / "predictions.jsonl").read_text(encoding="utf-8")
    assert [test["second"] for test in values["tests"]] == ["bilou"]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--structure", "tree"], 2, "structure is 'tree', expected one of cascade, bio, "),
        (["--structure", "cascde"], 2, "expected one of cascade, bio, "),
        (["--structure", "cascde"], 2, "; did you mean cascade?"),
        (["--structure", "bio:6"], 2, "structure is 'bio:6', expected one of cascade, bio, "),
        (["--structure", "semi_markov:0"], 2, "longest is 0, expected a whole number from 1"),
        (["--rate", "0"], 2, "rate is 0.0, expected"),
        (["--counting", "all"], 2, "counting is 'all', expected one of both, "),
        (["--features", "none"], 2, "features is 'none', expected one of "),
        (["--train", "-"], 2, "--train is standard input"),
        (["--test", "missing.jsonl"], 1, "missing.jsonl"),
        (["--clusters", "missing.paths"], 2, "--clusters missing.paths: cannot be read"),
        (["--output", "missing/out"], 2, "the folder missing for out does not exist"),
        (["--json", "--markdown"], 2, "give one of them"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_written(command, tmp_path, monkeypatch, options, code, message):
    monkeypatch.chdir(tmp_path)
    name = options[0].removeprefix("--")
    changed = {name: options[1]} if name in ("counting", "features", "output") else {}
    line = arguments(tmp_path / "out", "bio", **changed)
    result = command(*line, *([] if changed else options))
    assert (result.returncode, result.stdout) == (code, "")
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_structure_is_needed(command, tmp_path):
    result = command(*arguments(tmp_path / "out"))
    assert result.returncode == 2
    assert "--structure is missing" in result.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{\n", "test.jsonl:2"),
        ('{"text": "No pain.", "mentions": [{"type": "x", "spans": [[3, 70]]}]}\n', "test.jsonl:2"),
    ],
)
def test_a_bad_line_of_the_data_is_told_before_any_training(command, tmp_path, line, message):
    (tmp_path / "test.jsonl").write_text('{"text": "No pain."}\n' + line)
    result = command(*arguments(tmp_path / "out", "bio", test=tmp_path / "test.jsonl"))
    assert (result.returncode, result.stdout) == (1, "")
    assert message in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_of_something_else_is_left_alone(command, tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    result = command(*arguments(tmp_path, "bio"))
    assert result.returncode == 2
    assert "holds thesis.tex, which no comparison wrote" in result.stderr


def test_an_interrupted_run_leaves_only_what_is_whole(again):
    shutil.rmtree(again / MODELS[1])
    line = arguments(again, "bio", "mention_hypergraph", epochs="1000000")
    code, last = interrupt([*line, "--rate", "0.2", "--force"])
    assert code == 130
    assert last == f"spanloom: interrupted; 0 of 2 models are in {again}; the same command resumes from there"
    assert {entry.name for entry in again.iterdir()} == {"bio", "table.txt", "table.md", "table.json"}
    assert {file.name for file in (again / "bio").iterdir()} == FILES


def interrupt(line: list[str | Path]) -> tuple[int, str]:
    """Ctrl-C while a model is trained; the exit code and the last line on standard error."""
    process = subprocess.Popen(
        [sys.executable, "-m", "spanloom.cli", *map(str, line)],
        stderr=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=heed_interrupts,
    )
    assert process.stderr is not None
    while not process.stderr.readline().startswith("training"):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)  # until the training's own process has ended, too: it holds the pipe
    assert "Traceback" not in rest
    return process.returncode, rest.splitlines()[-1]


def heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it, and so would what they start


@pytest.fixture(scope="module")
def headed(command, tmp_path_factory):
    """An output folder where heads count, and what was printed."""
    folder = tmp_path_factory.mktemp("heads") / "out"
    result = command(*arguments(folder, "bio", "heads"), "--heads", "--headless", "whole", "--json")
    assert result.returncode == 0, result.stderr
    return folder, result


def test_heads_of_a_model_without_them_come_from_rules_and_from_a_chain(headed):
    rows = json.loads(headed[1].stdout)["rows"]
    ways = ["whole", "first", "last", "chain"]
    found = [(row["name"], row["heads"], row["tuned"]) for row in rows]
    assert found == [
        *(("bio", way, tuned) for tuned in (False, True) for way in ways),
        ("heads-derivations", "model", False),
        ("heads-derivations", "model", True),
    ]
    assert {row["test"]["match"] for row in rows} == {"heads"}


def test_the_predictions_kept_have_the_heads_that_are_best_on_dev(headed):
    folder, result = headed
    values = json.loads(result.stdout)
    tuned = [row for row in values["rows"] if row["name"] == "bio" and row["tuned"]]
    best = max(tuned, key=lambda row: row["dev_f1"])
    gold, kept_here = list(read(clinical() / "test")), list(read(folder / "bio" / "predictions.jsonl"))
    assert evaluate(gold, kept_here, match="heads").overall.f1 == best["test"]["overall"]["f1"]
    [test] = values["tests"]
    assert {test["first"], test["second"]} == {f"bio, head: {best['heads']}", "heads-derivations"}


def test_the_table_says_where_heads_came_from(headed):
    table = (headed[0] / "table.txt").read_text()
    assert "bio, head: last" in table
    assert "exact type, boundaries and head" in table
    assert "or what a chain found" in table


def test_one_structure_with_two_settings(command, tmp_path):
    result = command(*arguments(tmp_path / "out", "semi_markov:2", "semi_markov"), "--json", "--no-tune-penalty")
    limited, unlimited = json.loads(result.stdout)["rows"]
    assert (limited["name"], unlimited["name"]) == ("semi_markov-2", "semi_markov")
    assert limited["lost"] > unlimited["lost"]
    assert load(tmp_path / "out" / "semi_markov-2").structure == "semi_markov(longest=2)"


def test_every_option_of_training_is_there(command):
    shown = command("compare", "--help").stdout
    assert [
        name
        for name in options_of(Recognizer, CompareOptions).model_fields
        if f"--{name.replace('_', '-')}" not in shown
    ] == []
