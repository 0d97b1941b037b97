"""Inputs of other tools whose annotation was once lost without a message: it is read, reported or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spanloom.errors import DataError
from spanloom.formats import read

TEXT = "Aspirin reduces fever and mild chest pain."
WORDS = ["Aspirin", "reduces", "fever", "and", "mild", "chest", "pain", "."]
BOTH = ["Aspirin/Drug", "chest pain/Problem"]
GAP = ["mild pain/Problem"]
_AT = {"start": 0, "end": 7}
_SENTENCES = [{"text": TEXT, "entities": [[0, 7, "Drug"], [31, 41, "Problem"]]}, {"text": "No."}]
_PARTS = [{"start": 26, "end": 30}, {"start": 37, "end": 41}]
_REGION = {"type": "labels", "from_name": "l", "to_name": "t", "value": {**_AT, "labels": ["Drug"]}}


def found_in(path: Path, **options: Any) -> tuple[list[str], str]:
    """The texts and types of the mentions of a file, and what was reported."""
    heard: list[str] = []
    documents = list(read(path, notice=heard.append, **options))
    mentions = [f"{one.text(document.text)}/{one.type}" for document in documents for one in document.mentions]
    return mentions, "\n".join(heard)


@pytest.mark.parametrize(("record", "expected", "told"), [
    # fields that look like annotation, and are not read
    ({"text": TEXT, "drugs": [_AT], "problems": [{"start": 31, "end": 41}]}, [], "the field 'problems' looks like"),
    ({"text": TEXT, "annotations": {"0-7": "Drug", "31-41": "Problem"}}, [], "write them as a list of objects"),
    ({"text": TEXT, "ner": {"0:7": ["Drug"]}}, [], "write them as a list of objects"),
    ({"text": TEXT, "annotations": ["Drug 0 7 Aspirin", "Problem 31 41 chest pain"]}, [], "it lists mentions as text"),
    ({"text": TEXT, "ann": "T1\tDrug 0 7\tAspirin\nT2\tProblem 31 41\tchest pain"}, [], "it lists mentions as text"),
    ({"text": TEXT, "labels": "0,7,Drug|31,41,Problem"}, [], "it lists mentions as text"),
    ({"text": TEXT, "slots": "0:7:SL:DRUG,31:41:SL:PROBLEM"}, [], "it lists mentions as text"),
    ({"tokens": WORDS, "Drug": [1, 0, 0, 0, 0, 0, 0, 0]}, [], "the field 'Drug' has a value for each token"),
    ({"tokens": WORDS, "labels": [["Drug"], [], [], [], [], ["P"], ["P"], []]}, [], "'labels' has a value for each"),
    ({"text": TEXT, "sentences": _SENTENCES}, [], "the field 'record_sentences' looks like"),
    ({"text": TEXT, "tagged": "Aspirin/B-Drug reduces/O fever/O"}, [], "it holds words with tags"),
    ({"text": TEXT, "conll": "Aspirin\tB-Drug\nreduces\tO\n"}, [], "it holds words with tags"),
    ({"text": TEXT, "options": [{**_AT, "label": "Drug"}]}, [], "the field 'options' looks like annotation"),
    ({"text": TEXT, "tokens": [{**_AT, "text": "Aspirin", "label": "Drug"}]}, [], "the tokens have the field 'label'"),
    ({"data": {"text": TEXT}, "annotations": [], "drafts": [{"result": [_REGION]}]}, [], "drafts are not read"),
    # that are none
    ({"text": TEXT, "time": "10:30:AM", "chunks": [_AT], "note": "seen at 12:30"}, [], ""),
    ({"tokens": WORDS, "space_after": [1, 1, 1, 1, 1, 1, 0, 0], "attention_mask": [1, 1, 0, 0, 0, 0, 0, 0]}, [], ""),
    # parts of mentions
    ({"text": TEXT, "entities": [{"type": "Problem", "start": [26, 37], "end": [30, 41]}]}, GAP, ""),
    ({"text": TEXT, "entities": [{"type": "Problem", "segments": _PARTS}]}, GAP, ""),
    ({"text": TEXT, "entities": [{"type": "Problem", "bits": _PARTS}]}, [], "'entities' looks like annotation"),
    # letters and types of tags in two fields
    ({"tokens": [{"text": "pain", "iob": "B", "type": "P"}, {"text": "is", "iob": "O", "type": ""}]}, ["pain/P"], ""),
    ({"tokens": [{"text": "pain", "ent_iob_": "B", "ent_type_": "P"}, {"text": "a", "ent_iob_": "O"}]}, ["pain/P"], ""),
    # records in lists, some without annotation
    ({"id": "d", "sentences": _SENTENCES}, BOTH, ""),
    ({"pages": _SENTENCES}, BOTH, ""),
])  # fmt: skip
def test_records(tmp_path: Path, record: dict[str, Any], expected: list[str], told: str) -> None:
    for name, text in (("a.jsonl", json.dumps(record)), ("a.json", json.dumps(record, indent=1))):
        (tmp_path / name).write_text(text)
        mentions, heard = found_in(tmp_path / name)
        assert mentions == expected
        assert told in heard and bool(heard) == bool(told)


@pytest.mark.parametrize("line", ["X1\tDrug 0 7\tAspirin", "t1\tDrug 0 7\tAspirin", "Drug 0 7\tAspirin", "0\t7\tDrug"])
def test_lines_of_brat_with_offsets_that_are_not_read(tmp_path: Path, line: str) -> None:
    (tmp_path / "d.txt").write_text(TEXT)
    (tmp_path / "d.ann").write_text(f"{line}\nT2\tProblem 31 41\tchest pain\nhello\n")
    mentions, heard = found_in(tmp_path / "d.ann")
    assert mentions == BOTH[1:]
    assert f"d.ann:1: found {line!r}, no line of brat" in heard and "hello" not in heard


def test_a_token_with_an_invalid_tag_is_no_comment(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("As\tB-Drug\n##pirin\tX\nworks\tO\n")
    with pytest.raises(DataError, match=r"a\.conll:2: found the tag 'X'"):
        found_in(path)
    path.write_text("As\tB-Drug\n##pirin\tI-Drug\n## a comment\nworks\tO\n")
    assert found_in(path) == (["As ##pirin/Drug"], "")


def test_elements_within_a_mention_are_mentions(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(
        "<TEI><text><p>In <placeName>Rome</placeName> <persName><forename>Jan</forename> <surname>Novak</surname>"
        "</persName> ran.</p></text></TEI>"
    )
    mentions, heard = found_in(path)
    assert sorted(mentions) == ["Jan Novak/persName", "Jan/forename", "Novak/surname", "Rome/placeName"]
    assert "taken for mentions" in heard
