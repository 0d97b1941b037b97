"""Standard input without a format: what a verb writes to `-`, another reads from `-`."""

from __future__ import annotations

import json
import subprocess
import sys
from time import sleep

import pytest

from spanloom import Document, Mention
from spanloom.formats import write

NOTE = Document(
    "No chest pain.",
    id="n1",
    tokens=[(0, 2), (3, 8), (9, 13), (13, 14)],
    sentences=[(0, 4)],
    mentions=[Mention("problem", [(3, 13)], id="T1")],
)
RECORD = '{"id":"n1","text":"No chest pain.","mentions":[{"type":"problem","spans":[[3,13]]}]}\n'
WRITTEN = ("jsonl", "json", "pubtator", "conll", "conllu", "bioc", "bioc-json", "label-studio")


@pytest.fixture(params=WRITTEN)
def written(request, tmp_path):
    """The content of the note in a format, two of them, as a verb writes them to standard output."""
    path = tmp_path / "written"
    write([NOTE, NOTE.copy(id="n2")], path, format=request.param)
    return path.read_text(encoding="utf-8")


def test_what_a_verb_writes_another_reads(command, written):
    result = command("convert", "-", "-", input=written)
    assert result.returncode == 0, result.stderr
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert [[one["type"] for one in record["mentions"]] for record in records] == [["problem"], ["problem"]]
    assert all(record["text"].startswith("No chest pain.") for record in records)


@pytest.mark.parametrize(
    "line",
    [
        ["view", "-"], ["validate", "-"], ["evaluate", "GOLD", "-"], ["evaluate", "-", "GOLD"],
        ["convert", "-", "-"],
        ["split", "-", "--output", "PARTS", "--parts", "all=1"],
        ["predict", "MODEL", "-"], ["label", "RULES", "-"], ["explain", "MODEL", "-"],
        ["lab", "heads", "last", "-"], ["lab", "ambiguity", "-", "--structure", "shared"],
    ],
)  # fmt: skip
def test_every_verb_reads_native_records(command, line, model, tmp_path):
    (tmp_path / "gold.jsonl").write_text(RECORD)
    (tmp_path / "rules.toml").write_text(
        '[[rule]]\nname = "pain"\nkind = "phrases"\nphrases = ["chest pain"]\ntype = "problem"\n'
    )
    places = {"GOLD": "gold.jsonl", "PARTS": "parts", "RULES": "rules.toml"}
    line = [model if word == "MODEL" else tmp_path / places[word] if word in places else word for word in line]
    result = command(*line, input=RECORD)
    assert result.returncode == 0, result.stderr
    assert '{\\"id' not in result.stdout  # as in JSON whose text is the record
    assert line[0] not in ("view", "explain") or '{"id' not in result.stdout


@pytest.mark.parametrize(
    "text",
    [
        "{Patient} has no chest pain.\n", "{ \"quoted\" } words\n", "[1] No chest pain.\n", "[**Name**] has no pain.\n",
        "<b>No chest pain.\n", "1|2|3 tablets\n", "12 a|b\n", "# newdoc\nNo pain.\n", "Isotope\tI-131\n\nNone.\n",
        "1\tNo pain\n", "PAR2 receptor\n", "-DOCSTART- is a word\n", "", "\n\n",
    ],
)  # fmt: skip
def test_plain_text_stays_text(command, model, text):
    result = command("predict", model, "-", input=text)
    assert result.returncode == 0, result.stderr
    assert [json.loads(line)["text"] for line in result.stdout.splitlines()] == [text]


@pytest.mark.parametrize("content", ["No O\nchest B-x\npain I-x\n. O\n", "No/O chest/B-x pain/I-x ./O\n"])
def test_column_files_are_known_by_their_tags(process, content):
    result = process("convert", "-", "-", input=content)
    assert (result.returncode, json.loads(result.stdout)["tokens"][0]) == (0, [0, 2])


def test_text_is_told_apart_by_its_beginning_only(command):
    result = command("view", "-", input="No chest pain.\n" + RECORD)
    assert result.returncode == 2
    assert result.stderr.startswith("spanloom: error: the format of - is not clear; name it (--input-format, --format)")


def test_an_option_overrides_what_is_recognized(command, model):
    result = command("predict", model, "-", "--input-format", "text", input=RECORD)
    assert [json.loads(line)["text"] for line in result.stdout.splitlines()] == [RECORD]


def test_a_pipe_between_two_programs(process, model):
    first = process("predict", model, "-", input="No chest pain.\n")
    assert (first.returncode, json.loads(first.stdout)["text"]) == (0, "No chest pain.\n")
    second = process("view", "-", input=first.stdout)
    assert (second.returncode, second.stderr) == (0, "")
    assert "No chest pain." in second.stdout and "{" not in second.stdout


@pytest.mark.parametrize(
    "parts", [["# newdoc\n", "pain\tB-x\n\n"], ["{", '"text": ', '"pain"}\n'], ["{\n", '"text": "pain"\n', "}\n"]]
)
def test_a_program_that_writes_piece_by_piece(parts):
    line = [sys.executable, "-m", "spanloom.cli", "convert", "-", "-"]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for part in parts:
            process.stdin.write(part.encode())
            process.stdin.flush()
            sleep(0.1)
        process.stdin.close()
        assert json.loads(process.stdout.read())["text"] == "pain"


def test_input_that_is_packed_or_absent(process):
    for content, message in (
        (b"\x1f\x8b\x08\x00", "standard input is not read: it is packed; unpack it first"),
        (b"", "standard input is empty, expected documents"),
    ):
        done = process("view", "-", input=content, encoding=None)
        assert done.returncode == 1 and message in done.stderr.decode()
