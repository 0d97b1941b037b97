"""Records of annotation pipelines, of questions and answers, and of chats: read, or reported with what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spanloom.document import Document, Mention
from spanloom.errors import DataError
from spanloom.formats import read, validate

TEXT = "She 💩 had\nchest pain.  No fever."
WORDS = [["She", "💩", "had", "chest", "pain", "."], ["No", "fever", "."]]
FOUND = [("P", "chest pain"), ("Q", "fever")]
TAGS = [["O", "O", "O", "B-P", "E-P", "O"], ["O", "S-Q", "O"]]


def wide(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def tokens(count: Any, **names: str) -> list[list[dict[str, Any]]]:
    """The tokens of the text, with offsets that a function counts."""
    at, made = 0, []
    for words, tags in zip(WORDS, TAGS, strict=True):
        made.append([])
        for number, (word, tag) in enumerate(zip(words, tags, strict=True), start=1):
            start = TEXT.index(word, at)
            before, at = TEXT[at:start], start + len(word)
            offsets = {names["start"]: count(TEXT[:start]), names["end"]: count(TEXT[:at])}
            made[-1].append({names["id"]: number, names["word"]: word, **offsets, "ner": tag, "before": before})
    return made


def corenlp(mentions: bool) -> dict[str, Any]:
    sentences = tokens(wide, id="index", word="originalText", start="characterOffsetBegin", end="characterOffsetEnd")
    for one in sentences:
        for token in one:
            token |= {"ner": token["ner"].rpartition("-")[2], "pos": "X", "word": token["originalText"].lower()}
    found: list[dict[str, Any]] = [{"tokens": one} for one in sentences]
    if mentions:
        found[0]["entitymentions"] = [{"tokenBegin": 3, "tokenEnd": 5, "ner": "P", "nerConfidences": {"P": 0.5}}]
        found[1]["entitymentions"] = [{"tokenBegin": 1, "tokenEnd": 2, "ner": "Q", "nerConfidences": {"Q": -1.0}}]
    return {"docId": "d", "sentences": found, "corefs": {}}


def stanza(misc: bool) -> list[list[dict[str, Any]]]:
    sentences = tokens(len, id="id", word="text", start="start_char", end="end_char")
    for one in sentences:
        for token in one:
            del token["before"]
            if misc:
                token["misc"] = f"start_char={token.pop('start_char')}|end_char={token.pop('end_char')}"
    return sentences


PIPELINES = {
    "CoreNLP": corenlp(True),
    "CoreNLP without mentions": corenlp(False),
    "Stanza": stanza(False),
    "Stanza with offsets in misc": stanza(True),
    "several of Stanza": [stanza(False), stanza(False)],
    "Stanza in an object": {"id": "d", "text": TEXT, "sentences": stanza(False)},
}


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
@pytest.mark.parametrize("name", PIPELINES)
def test_documents_of_pipelines(tmp_path: Path, name: str, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text(json.dumps(PIPELINES[name]))
    documents = list(read(path))
    assert len(documents) == (2 if name.startswith("several") else 1)
    for document in documents:
        blank = document.text if "CoreNLP" in name or "object" in name else document.text.replace("had ", "had\n")
        assert blank == TEXT
        assert [(one.type, one.text(document.text).replace("\n", " ")) for one in document.mentions] == FOUND
        assert [len(document.words), document.sentence_count] == [9, 2]
    assert documents[0].id == ("d" if isinstance(PIPELINES[name], dict) else "")
    assert [one.score for one in documents[0].mentions] == ([0.5, None] if name == "CoreNLP" else [None, None])


def test_words_that_stanza_expands_count_once(tmp_path: Path) -> None:
    sentence = [
        {"id": [1, 2], "text": "du", "start_char": 0, "end_char": 2, "ner": "O"},
        {"id": 1, "text": "de"},
        {"id": 2, "text": "le"},
        {"id": [3], "text": "bras", "start_char": 3, "end_char": 7, "ner": "S-P"},
    ]
    (tmp_path / "a.json").write_text(json.dumps([sentence]))
    [document] = read(tmp_path / "a.json")
    assert (document.text, document.mentions) == ("du bras", [Mention("P", [(3, 7)])])


CONTEXT = "She had chest pain."
QUESTIONS = [{"id": "q", "question": "What?", "answers": [{"text": "chest pain", "answer_start": 8}]}]


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"data": [{"title": "T", "paragraphs": [{"context": CONTEXT, "qas": QUESTIONS}]}]}, "qas"),
        ({"context": CONTEXT, "answers": {"text": ["chest pain"], "answer_start": [8]}}, "answers"),
    ],
)
def test_answers_to_questions_are_reported_and_read_if_described(tmp_path: Path, value: Any, field: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value))
    [problem] = validate(path)
    assert f"the field '{field}' looks like annotation and is not read" in problem.message
    advice = problem.message.partition("--columns ")[2].removesuffix(" (columns=)")
    [document] = read(path, columns=advice)
    assert (document.text, document.mentions) == (CONTEXT, [Mention("answers", [(8, 18)])])
    assert [one.text for one in read(tmp_path, notice=lambda _: None)] == [CONTEXT]


def test_texts_without_offsets_are_found_as_the_message_advises(command: Any, tmp_path: Path) -> None:
    lines = (
        {"id": "1", "input": CONTEXT, "output": {"entities": {"P": ["chest pain"]}}},
        {"id": "2", "text": CONTEXT, "entities": [{"text": "chest pain", "type": "P"}]},
        {"id": "3", "text": CONTEXT, "entities": {"P": ["chest pain"]}},
    )
    for line in lines:
        path = tmp_path / "a.jsonl"
        path.write_text(json.dumps(line) + "\n")
        [problem] = validate(path)
        assert "it gives texts without offsets, which spanloom convert IN OUT --from-llm LINES finds" in problem.message
        done = command("convert", path, "-", "--format", "jsonl", "--from-llm", path)
        assert json.loads(done.stdout)["mentions"] == [{"type": "P", "spans": [[8, 18]]}], done.stderr


@pytest.mark.parametrize(
    "record",
    [
        {"messages": [{"role": "user", "content": CONTEXT}, {"role": "assistant", "content": "[]"}]},
        {"conversations": [{"from": "human", "value": CONTEXT}, {"from": "gpt", "value": "[]"}]},
    ],
)
def test_chats_are_refused_with_what_to_do(tmp_path: Path, record: dict[str, Any]) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n")
    with pytest.raises(DataError, match=f"'{next(iter(record))}' holds the messages of a chat: write the text"):
        list(read(tmp_path / "a.jsonl"))


def test_json_within_a_text_is_reported(tmp_path: Path) -> None:
    output = json.dumps({"entities": [{"start": 8, "end": 18, "type": "P"}]})
    (tmp_path / "a.jsonl").write_text(json.dumps({"input": CONTEXT, "output": output}) + "\n")
    [problem] = validate(tmp_path / "a.jsonl")
    assert "jq -c '.output |= fromjson'" in problem.message


PROGRAM = """import spacy
PATTERN = "\\d"
TRAIN_DATA: list = [
    ("She had chest pain.", {"entities": [(8, 18, "P")]}),  # a comment
    ('No fever.', {'entities': [(3, 8, 'Q')]}),
]
nlp = spacy.load("x")
"""
PAIRS = [
    Document(CONTEXT, mentions=[Mention("P", [(8, 18)])]),
    Document("No fever.", mentions=[Mention("Q", [(3, 8)])]),
]


def test_a_list_in_a_program_is_read_and_nothing_is_executed(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM + f"open({str(tmp_path / 'made')!r}, 'w')\n")
    assert list(read(path)) == PAIRS
    assert not (tmp_path / "made").exists()
    for name in ("a.json", "b.txt"):
        (tmp_path / name).write_text(PROGRAM[PROGRAM.index("[\n") : PROGRAM.index("nlp")])
    assert list(read(tmp_path / "a.json")) == PAIRS
    notices: list[str] = []
    list(read(tmp_path / "b.txt", notice=notices.append))
    assert "looks like records; name their format (--input-format json)" in notices[0]
    (tmp_path / "a.json").unlink()
    list(read(tmp_path, notice=notices.append))
    assert any("train.py: not read: a program" in notice for notice in notices)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (PROGRAM + PROGRAM.replace("TRAIN_DATA", "DEV"), "found 2 lists of annotated texts: 'TRAIN_DATA', 'DEV'"),
        (PROGRAM.replace('"P"', "LABEL"), "found 0 lists of annotated texts, expected one"),
        (PROGRAM + "TRAIN_DATA += [('x', {})]\n", "the program changes TRAIN_DATA after its list"),
        (PROGRAM + "for x in y:\n    TRAIN_DATA.append(x)\n", "the program changes TRAIN_DATA after its list"),
        (PROGRAM + "print 'a'\n", "no Python of version 3"),
        (PROGRAM + "x = " + "(" * 5_000, "no Python of version 3"),
    ],
)
def test_programs_that_are_not_read(tmp_path: Path, program: str, message: str) -> None:
    (tmp_path / "a.py").write_text(program)
    with pytest.raises(DataError, match=r"a\.py") as error:
        list(read(tmp_path / "a.py"))
    assert message in str(error.value)


def test_mentions_outside_their_sentence_are_an_error(tmp_path: Path) -> None:
    record = corenlp(True)
    record["sentences"][0]["entitymentions"][0]["tokenEnd"] = 99
    (tmp_path / "a.json").write_text(json.dumps(record))
    with pytest.raises(DataError, match="is outside the text"):
        list(read(tmp_path / "a.json"))
