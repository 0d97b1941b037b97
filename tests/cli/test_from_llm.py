"""`convert --from-llm`: answers of a language model become mentions, and what did not is told."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def raw(tmp_path):
    folder = tmp_path / "raw"
    folder.mkdir()
    (folder / "a.txt").write_text("Mild or severe pain. No fever; the pain is worse.")
    (folder / "b.txt").write_text("She takes aspirin.")
    return folder


def answers(tmp_path, *records):
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


BOTH = (
    {"id": "a", "answer": {"problem": [["Mild", "pain"], "severe pain", "pain", "Fever", "cough"]}},
    {"custom_id": "b", "result": {"message": {"role": "assistant", "content": "She takes <drug>aspirin</drug>."}}},
)


def test_answers_become_mentions(command, raw, tmp_path):
    path = answers(tmp_path, *BOTH, {"id": "z", "answer": "[]"})
    result = command("convert", raw, tmp_path / "out.jsonl", "--from-llm", path)
    assert result.returncode == 0
    one, other = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert [mention["spans"] for mention in one["mentions"]] == [
        [[0, 4], [15, 19]], [[8, 19]], [[15, 19]], [[24, 29]], [[35, 39]]
    ]  # fmt: skip
    assert one["meta"] == other["meta"] == {"annotation": "at-least"}
    assert other["mentions"] == [{"type": "drug", "spans": [[10, 17]]}]
    assert result.stderr.splitlines() == [
        f"spanloom: {path}:1: document 'a': problem[4]: 'cough' is not in the document; left out",
        f"spanloom: {path}:1: document 'a': problem[2]: 'pain' occurs 2 times in the document, once in the answer; all "
        "are marked",
        f"spanloom: {path}:3: no document has the id 'z'; the answer is not used",
        "spanloom: 2 documents, 6 mentions; 6 quotes: 3 exact, 1 after folding, 1 ambiguous, 1 invented; 1 answer "
        "without a document",
    ]


def test_options(command, raw, tmp_path):
    path = answers(tmp_path, {"id": "a", "answer": ["pain"]}, {"id": "b", "answer": "She takes **aspirin**."})
    options = ("--type", "finding", "--ambiguous", "first", "--annotation", "at-least", "--quiet")
    result = command("convert", raw, "-", "--format", "jsonl", "--from-llm", path, *options)
    one, other = map(json.loads, result.stdout.splitlines())
    assert one["mentions"] == [{"type": "finding", "spans": [[15, 19]]}]
    assert (other["mentions"][0]["type"], other["meta"]) == ("finding", {"annotation": "at-least"})
    assert (result.returncode, result.stderr) == (0, "")


def test_answers_from_standard_input_and_other_outputs(command, raw, tmp_path):
    lines = answers(tmp_path, *BOTH).read_text()
    assert (
        command("convert", raw, tmp_path / "brat", "--format", "brat", "--from-llm", "-", input=lines).returncode == 0
    )
    assert (tmp_path / "brat" / "b.ann").read_text() == "T1\tdrug 10 17\taspirin\n"
    result = command("convert", "-", "-", "--format", "jsonl", "--input-format", "text", "--from-llm", "-", input=lines)
    assert result.stderr.startswith("spanloom: error: standard input (-) can be read only once")


def test_mentions_that_were_there_are_not_kept(command, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"id": "d", "text": "a b", "mentions": [{"type": "old", "spans": [[0, 9]]}]}\n')
    path = answers(tmp_path, {"id": "d", "answer": [{"text": "b", "type": "new"}]})
    result = command("convert", tmp_path / "in.jsonl", "-", "--format", "jsonl", "--from-llm", path)
    assert json.loads(result.stdout)["mentions"] == [{"type": "new", "spans": [[2, 3]]}]


def test_answers_that_cannot_be_read_are_left_out_and_fail(command, raw, tmp_path):
    path = answers(tmp_path, {"id": "a", "answer": "Sorry."}, BOTH[1], {"id": "b", "answer": "[]"}, {"answer": "x"})
    for quiet in ([], ["--quiet"]):
        result = command("convert", raw, tmp_path / "out.jsonl", "--from-llm", path, "--force", *quiet)
        assert result.returncode == 1
        assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 1
        assert [line.partition(f"{path}:")[2][:40] for line in result.stderr.splitlines()][:3] == [
            "3: the id 'b' has another answer at " + str(path)[:4],
            "4: the line has no id of a document; exp",
            "1: document 'a': the answer has no menti",
        ]
    result = command("convert", raw, tmp_path / "new.jsonl", "--from-llm", path, "--on-error", "stop")
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.startswith(f"spanloom: error: {path}:3: the id 'b' has another answer")
    assert not (tmp_path / "new.jsonl").exists()


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            {"id": "z", "answer": "[]"},
            "none of 1 answer is of a document: answers are about 'z' and so on, documents are called 'a', 'b'",
        ),
        (
            {"id": "a", "answer": {"x": ["cough"]}},
            "document 'a': x[0]: 'cough' is not in the document; left out; no quote of any answer is in its document: "
            "are these the texts?",
        ),
        (
            {"id": "a", "answer": ""},
            "document 'a': the answer is empty; expected mentions, or [] for none; no other answer could be read",
        ),
    ],
)
def test_nothing_that_can_be_used_is_an_error(command, raw, tmp_path, record, message):
    result = command("convert", raw, tmp_path / "out.jsonl", "--from-llm", answers(tmp_path, record))
    assert result.returncode == 1
    assert result.stderr.endswith(f"{message}\n")
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--ambiguous", "all"), "--ambiguous is about the answers of a language model; name them with --from-llm"),
        (("--type", "x"), "--type is about the answers of a language model; name them with --from-llm"),
        (("--from-llm", "x", "--ambiguous", "some"), "--ambiguous is 'some', expected one of: all, first, none"),
        (
            ("--from-llm", "x", "--annotation", "gold"),
            "--annotation is 'gold', expected one of: complete, at-least, unknown",
        ),
    ],
)
def test_wrong_usage(command, raw, options, message):
    result = command("convert", raw, "-", "--format", "jsonl", *options)
    assert (result.returncode, result.stderr) == (2, f"spanloom: error: {message}\n")
