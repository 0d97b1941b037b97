"""Inputs that stand several times, records that cannot be read, options that occur twice."""

from __future__ import annotations

import json

import pytest

from spanloom import modelfile
from spanloom.errors import DataError, UsageError
from spanloom.formats import read

GOOD = '{"text": "No chest pain.", "mentions": [{"type": "problem", "spans": [[3, 13]]}]}\n'
BAD = '{"text": 1}\n'


@pytest.fixture
def mixed(tmp_path):
    path = tmp_path / "mixed.jsonl"
    path.write_text(GOOD + BAD + GOOD + BAD)
    return path


def texts(stdout):
    return [json.loads(line)["text"] for line in stdout.splitlines()]


def test_prediction_leaves_bad_records_out_and_lists_them(command, model, mixed, tmp_path):
    result = command("predict", model, mixed, "--output", tmp_path / "out.jsonl")
    assert result.returncode == 1
    assert len(texts((tmp_path / "out.jsonl").read_text())) == 2
    for line in (2, 4):
        assert f"spanloom: left out: {mixed}:{line}: text is 1, expected the document's text\n" in result.stderr
    assert result.stderr.endswith("spanloom: 2 records left out, because of errors; all others were read\n")


def test_quiet_prediction_lists_them_too(command, model, mixed, tmp_path):
    result = command("predict", model, mixed, "--output", tmp_path / "out.jsonl", "--quiet")
    assert result.returncode == 1
    assert [line.partition(":")[2][:10] for line in result.stderr.splitlines()] == [
        " left out:",
        " left out:",
        " 2 records",
    ]


def test_prediction_of_bad_records_alone_tells_no_result(command, model, tmp_path):
    (tmp_path / "bad.jsonl").write_text(BAD)
    result = command("predict", model, tmp_path / "bad.jsonl")
    assert (result.returncode, result.stdout) == (1, "")
    assert "0 mentions" not in result.stderr
    assert "text is 1, expected the document's text" in result.stderr


def test_where_all_are_left_out_no_others_were_read(command, model, tmp_path):
    (tmp_path / "bad.jsonl").write_text(BAD)
    result = command("predict", model, tmp_path / "bad.jsonl")
    assert result.stderr.endswith("spanloom: 1 record left out, because of errors; nothing else was there\n")


def test_conversion_to_standard_output_gives_records(command, mixed):
    assert len(texts(command("convert", mixed, "-", "--quiet").stdout)) == 2
    assert "|t|No chest pain." in command("convert", mixed, "-", "--quiet", "--format", "pubtator").stdout


def test_a_packed_output_of_a_format_that_is_not_packed_is_refused(command, model, mixed, tmp_path):
    result = command("predict", model, mixed, "--output", tmp_path / "out.parquet.gz")
    assert (result.returncode, list(tmp_path.iterdir())) == (2, [mixed])
    assert "out.parquet.gz: the format parquet is not packed by gzip; leave out .gz" in result.stderr


@pytest.mark.parametrize("name", ["out.xlsx", "out.PDF", "out.html", "out.zip"])
def test_records_are_not_written_to_a_file_of_another_program(command, model, mixed, tmp_path, name):
    result = command("predict", model, mixed, "--output", tmp_path / name)
    assert (result.returncode, list(tmp_path.iterdir())) == (2, [mixed])
    assert f"the name {tmp_path / name} does not determine the format; name the format, or" in result.stderr
    command("predict", model, mixed, "--output", tmp_path / name, "--format", "jsonl")
    assert texts((tmp_path / name).read_text())


def test_prediction_stops_where_it_is_told_to(command, model, mixed, tmp_path):
    result = command("predict", model, mixed, "--on-error", "stop", "--output", tmp_path / "out.jsonl")
    assert result.returncode == 1
    assert result.stderr == f"spanloom: error: {mixed}:2: text is 1, expected the document's text\n"
    assert not (tmp_path / "out.jsonl").exists()


def test_conversion_leaves_bad_records_out(command, mixed, tmp_path):
    result = command("convert", mixed, mixed, tmp_path / "out.jsonl")
    assert result.returncode == 1
    assert len(texts((tmp_path / "out.jsonl").read_text())) == 4
    assert "4 records left out" in result.stderr


def test_training_and_evaluation_stop_unless_told_otherwise(command, mixed, tmp_path):
    train = ["train", "recognizer", "--train", mixed, "--dev", mixed, "--features", "small", "--epochs", "1"]
    result = command(*train, "--output", tmp_path / "m", "--quiet")
    assert result.returncode == 1
    assert result.stderr == f"spanloom: error: {mixed}:2: text is 1, expected the document's text\n"
    assert not (tmp_path / "m").exists()
    result = command(*train, "--output", tmp_path / "m", "--on-error", "skip")
    assert result.returncode == 1
    assert "trained on 2 documents" in result.stderr
    assert "4 records left out" in result.stderr
    assert (tmp_path / "m" / "model.json").exists()
    assert command("evaluate", mixed, mixed).stderr.startswith(f"spanloom: error: {mixed}:2: ")
    result = command("evaluate", mixed, mixed, "--on-error", "skip")
    assert result.returncode == 1
    assert "100.00" in result.stdout


def test_a_file_that_is_damaged_in_the_middle_is_one_bad_record(command, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.xml").write_text("<collection><document><id>x")
    (tmp_path / "in" / "b.jsonl").write_text(GOOD)
    result = command("convert", tmp_path / "in", tmp_path / "out.jsonl")
    assert result.returncode == 1
    assert texts((tmp_path / "out.jsonl").read_text()) == ["No chest pain."]
    assert "1 record left out" in result.stderr


def test_training_data_may_stand_several_times(command, tmp_path):
    for name, word in (("a", "pain"), ("b", "dyspnea")):
        record = {"text": f"no {word}", "mentions": [{"type": name, "spans": [[3, 3 + len(word)]]}]}
        (tmp_path / f"{name}.jsonl").write_text((json.dumps(record) + "\n") * 10)
    parts = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    train = ["train", "recognizer", "--features", "small", "--epochs", "1", "--quiet"]
    given = ["--train", parts[0], "--train", parts[1], "--dev", parts[1], "--dev", parts[0]]
    assert command(*train, *given, "--output", tmp_path / "m").returncode == 0
    assert modelfile.read(tmp_path / "m", "recognizer").part("structure").values["types"] == ["a", "b"]
    config = tmp_path / "train.toml"
    config.write_text(f"train = {json.dumps([str(part) for part in parts])}\ndev = {json.dumps(str(parts[0]))}\n")
    assert command(*train, "--config", config, "--output", tmp_path / "n").returncode == 0
    assert json.loads((tmp_path / "n" / "model.json").read_text())["report"]["documents"] == 20


def test_columns_of_training_data(command, tmp_path):
    (tmp_path / "t.conll").write_text("No X B-NP O\nchest X I-NP B-problem\npain X I-NP I-problem\n\n" * 10)
    result = command(
        "train", "recognizer", "--train", tmp_path / "t.conll", "--columns", "word,pos,other,tag", "--features",
        "small", "--epochs", "1", "--output", tmp_path / "m", "--quiet",
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, "")
    assert modelfile.read(tmp_path / "m", "recognizer").part("structure").values["types"] == ["problem"]


@pytest.mark.parametrize(
    "twice",
    [("--features", "small", "--features", "ace"), ("--epochs", "1", "--epochs", "2"), ("-o", "a", "--output", "b")],
)
def test_an_option_that_stands_twice_is_an_error(command, mixed, twice):
    result = command("train", "recognizer", "--train", mixed, *twice)
    assert result.returncode == 2
    assert "is given 2 times, but may be given once" in result.stderr


def test_standard_input_can_be_read_once(command, model):
    result = command("predict", model, "-", "-", input="No pain.\n")
    assert result.returncode == 2
    assert "standard input (-) can be read only once" in result.stderr


def test_bad_records_from_python(mixed):
    with pytest.raises(DataError, match=r"mixed\.jsonl:2: text is 1"):
        list(read(mixed))
    with pytest.warns(match=r"left out: .*mixed\.jsonl:2: text is 1.* \(2 such"):
        assert len(list(read([mixed], on_error="skip"))) == 2
    problems = []
    assert len(list(read([mixed, mixed], on_error=problems.append))) == 4
    assert [problem.line for problem in problems] == [2, 4, 2, 4]
    with pytest.raises(UsageError, match="on_error is 'ignore'"):
        read(mixed, on_error="ignore")
