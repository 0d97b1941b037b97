"""Files of answers: lines, batches of the usual services, folders; and lines that cannot be used."""

from __future__ import annotations

import json

import pytest

from spanloom.errors import DataError
from spanloom.formats.answers import read_answers

SAID = {"role": "assistant", "content": "A"}
TEXTS = {"content": [{"type": "text", "text": "A"}]}
TOOL = {"role": "assistant", "content": [{"type": "tool_use", "input": "A"}]}
CALLS = {"content": None, "tool_calls": [{"function": {"name": "f", "arguments": "A"}}]}
OUTPUT = [{"type": "reasoning"}, {"type": "message", "content": [{"type": "output_text", "text": "A"}]}]
ASKED = {"message": SAID, "finish_reason": "stop"}
CANDIDATE = {"content": {"parts": [{"text": "A"}]}, "finishReason": "STOP"}


def lines(tmp_path, *records):
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(one if isinstance(one, str) else json.dumps(one) + "\n" for one in records))
    problems = []
    return read_answers(path, problems.append), [
        str(problem.to_error()).removeprefix(f"{path}:") for problem in problems
    ]


@pytest.mark.parametrize(
    ("record", "cut"),
    [
        ({"id": "d", "answer": "A"}, False),
        ({"id": "d", "response": "A", "text": "the document"}, False),
        ({"doc_id": "d", "output": "A"}, False),
        ({"id": "d", "completion": "A", "prompt": "p"}, False),
        ({"document_id": "d", "content": "A"}, False),
        ({"id": "d", "text": "A"}, False),
        ({"id": "d", "answer": "A", "error": None, "response": None}, False),
        (
            {"id": "batch_1", "custom_id": "d", "error": None}
            | {"response": {"status_code": 200, "body": {"choices": [ASKED]}}},
            False,
        ),
        ({"custom_id": "d", "response": {"body": {"choices": [{**ASKED, "finish_reason": "length"}]}}}, True),
        ({"custom_id": "d", "response": {"body": {"choices": [{"text": "A"}]}}}, False),
        ({"custom_id": "d", "response": {"body": {"status": "completed", "output": OUTPUT}}}, False),
        ({"custom_id": "d", "response": {"body": {"choices": [{"message": CALLS}]}}}, False),
        ({"custom_id": "d", "result": {"type": "succeeded", "message": {**TEXTS, "stop_reason": "end_turn"}}}, False),
        ({"custom_id": "d", "result": {"type": "succeeded", "message": {**TEXTS, "stop_reason": "max_tokens"}}}, True),
        ({"custom_id": "d", "result": {"type": "succeeded", "message": TOOL}}, False),
        ({"key": "d", "response": {"candidates": [CANDIDATE]}}, False),
        ({"id": "d", "choices": [{"message": SAID}]}, False),
        ({"id": "d", "message": SAID}, False),
    ],
)
def test_lines_of_every_kind(tmp_path, record, cut):
    answers, problems = lines(tmp_path, record)
    assert [(one.id, one.value, one.cut, one.line) for one in answers.values()] == [("d", "A", cut, 1)]
    assert problems == []


@pytest.mark.parametrize("value", [[{"text": "a", "type": "x"}], {"x": ["a"]}, {"entities": []}, []])
def test_an_answer_may_be_json(tmp_path, value):
    assert lines(tmp_path, {"id": 1, "answer": value})[0]["1"].value == value


def test_a_line_may_be_an_answer_itself(tmp_path):
    quotes = [{"text": "a", "type": "x"}]
    assert lines(tmp_path, {"id": "d", "text": "a b", "entities": quotes})[0]["d"].value == quotes


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "d", "answer": \n', "not JSON: expecting value at column 22; expected one JSON object a line"),
        ("[1]\n", 'found \'[1]\', expected an object such as {"id": ..., "answer": ...}'),
        ('{"answer": "A"}\n', 'the line has no id of a document; expected {"id": ..., "answer": ...}'),
        ('{"id": true, "answer": "A"}\n', 'the line has no id of a document; expected {"id": ..., "answer": ...}'),
        ('{"id": "d"}\n', 'the line has no answer; expected {"id": ..., "answer": ...}'),
        (
            '{"id": "d", "output": "A", "response": "B"}\n',
            "the answer could be 'response' or 'output'; call it 'answer' and leave out the other",
        ),
        (
            '{"custom_id": "d", "response": null, "error": {"code": "expired"}}\n',
            "the request failed: \"{'code': 'expired'}\"; ask again",
        ),
        (
            '{"custom_id": "d", "response": {"status_code": 429, "body": {}}}\n',
            "the request failed: \"{'status_code': 429, 'body': {}}\"; ask again",
        ),
        ('{"custom_id": "d", "result": {"type": "errored", "error": "e"}}\n', "the request failed: 'e'; ask again"),
        (
            '{"custom_id": "d", "response": {"choices": [{"message": {"content": null, "refusal": "no"}}]}}\n',
            "the model refused: 'no'",
        ),
        (r'{"id": "d", "answer": "\ud83d"}' + "\n", "half of a surrogate pair"),
        ('{"id": "d", "answer": ' + "[" * 100_000 + "\n", "the JSON is nested too deeply"),
        ('{"id": "d", "answer": "A", "answer": "B"}\n', "JSON that cannot be used: the field 'answer' occurs twice"),
    ],
)
def test_lines_that_cannot_be_used(tmp_path, line, message):
    answers, problems = lines(tmp_path, line, {"id": "e", "answer": "A"})
    assert list(answers) == ["e"]
    assert len(problems) == 1
    assert problems[0].startswith(f"1: {message}")


def test_two_answers_to_one_question(tmp_path):
    one, other = {"id": "d", "answer": "A"}, {"id": "d", "answer": "B"}
    answers, problems = lines(tmp_path, one, one, other)
    assert answers["d"].value == "A"
    path = tmp_path / "answers.jsonl"
    assert problems == [f"3: the id 'd' has another answer at {path}:1, which is taken; keep one of them"]


def test_folders(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_text("A")
    (tmp_path / "b.md").write_text("\ufeff- a (x)", encoding="utf-8")
    (tmp_path / "sub" / "c.json").write_text('{"x": ["a"]}')
    (tmp_path / "d.json").write_text('{"x": ["a"')
    (tmp_path / "e.jsonl").write_text('{"id": "e", "answer": "A"}\n')
    (tmp_path / "f.json").write_text(json.dumps({"choices": [{"message": SAID}]}))
    (tmp_path / "g.txt").write_bytes(b"\xff")
    (tmp_path / "h.csv").write_text("a")
    (tmp_path / ".hidden.txt").write_text("a")
    problems = []
    answers = read_answers(tmp_path, problems.append)
    assert {name: one.value for name, one in answers.items()} == {
        "a": "A", "b": "- a (x)", "d": '{"x": ["a"', "e": "A", "f": "A", "sub/c": {"x": ["a"]}
    }  # fmt: skip
    assert [str(problem).removeprefix(f"{tmp_path}/") for problem in problems] == [
        "g.txt:1: error: byte 1 of the line is 0xFF, which is not UTF-8; convert the file to UTF-8 (it is likely "
        "cp1252)",
        "h.csv: warning: not read; expected files that end in one of: .txt, .md, .json, .jsonl, .ndjson",
    ]


def test_there_must_be_an_answer(tmp_path):
    with pytest.raises(DataError, match="there is no such file or folder"):
        read_answers(tmp_path / "nothing", print)
    with pytest.raises(DataError, match=r"answers\.jsonl: there is no answer; expected lines such as"):
        lines(tmp_path, "\n")
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match=r"there is no answer; .* or files called ID\.txt"):
        read_answers(tmp_path / "folder", print)
