"""Attributes of mentions in every format that holds them, and in records of other tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanloom.document import Document, Mention
from spanloom.errors import DataError
from spanloom.formats import FORMATS, from_columns, from_record, read, to_columns, validate, write
from spanloom.formats.attributes import from_text
from spanloom.text import prepare

TEXT = "No mild or severe pain today."
MENTIONS = [
    Mention("problem", [(3, 7), (18, 22)], attributes={"negated": True, "certainty": "high", "certain": False}),
    Mention("problem", [(11, 22)], concepts=["MESH:D1"], attributes={"course": "acute|old", "Stage": "2"}),
    Mention("time", [(23, 28)]),
]
NOTE = Document(TEXT, id="n1", mentions=MENTIONS)
HOLDING = [
    "jsonl",
    "json",
    "brat",
    "bioc",
    "bioc-json",
    "label-studio",
    "csv",
    "tsv",
    "parquet",
    "arrow",
    "xmi",
    "spacy",
]


def facts(document: Document) -> list[object]:
    return [(mention.key, mention.concepts, mention.attributes) for mention in document.mentions]


@pytest.mark.parametrize("name", HOLDING)
def test_what_is_written_is_read(tmp_path: Path, name: str) -> None:
    kind = FORMATS[name]
    path = tmp_path / f"a{kind.suffixes[0]}"
    if kind.folders:
        path = tmp_path / "folder"
    options = {"texts": tmp_path / "texts.jsonl"} if kind.texts_beside else {}
    if options:
        write([NOTE], options["texts"])
    losses = write([NOTE], path, format=name)
    assert not losses, losses
    [found] = read(path, format=name, notice=pytest.fail, **options)
    assert facts(found) == facts(NOTE)
    again = tmp_path / f"b{kind.suffixes[0]}" if not kind.folders else tmp_path / "again"
    assert not write([found], again, format=name)
    [twice] = read(again, format=name, notice=pytest.fail, **options)
    assert facts(twice) == facts(NOTE)


@pytest.mark.parametrize("name", ["pubtator", "conll", "conllu", "characters", "spaced", "text"])
def test_what_is_lost_is_counted(tmp_path: Path, name: str) -> None:
    mention = MENTIONS[1].replace(attribute_scores={"Stage": 0.5})
    note = prepare(NOTE.copy(mentions=[mention], sections=[("plan", (0, 7))]))
    losses = write([note], tmp_path / f"a{FORMATS[name].suffixes[0]}", format=name)
    assert losses.counts["sections"] == 1
    if name in ("spaced", "text"):
        assert losses.counts["mentions"] == 1
        return
    assert (losses.counts["attributes"], losses.counts["scores of attributes"]) == (2, 1)
    assert "2 attributes" in str(losses) and "scores of" not in str(losses)


def test_lines_of_brat(tmp_path: Path) -> None:
    ann = (
        "T1\tproblem 3 7;18 22\tmild pain\nT2\tproblem 11 22\tsevere pain\nE1\tproblem:T1\n"
        "A1\tNegation T1\nM1\tCertainty T1 high\nA2\tCourse T2 acute\nA3\tCourse T2 old\nA4\tSure E1\n"
        "A5\tPast T2 False\n"
    )
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "a.ann").write_text(ann)
    [document] = read(tmp_path / "a.ann", notice=pytest.fail)
    assert [dict(mention.attributes) for mention in document.mentions] == [
        {"Negation": True, "Certainty": "high"}, {"Course": "acute|old", "Past": False},
    ]  # fmt: skip
    assert not write([document], tmp_path / "b.ann")
    assert (tmp_path / "b.ann").read_text() == ann
    first, second = document.mentions
    document.mentions = [
        first.replace(attributes={"Negation": False, "Certainty": "high", "New": True}),
        second.replace(attributes={"Course": "old", "with blank": "x", "tab": "a\tb"}),
    ]
    losses = write([document], tmp_path / "c.ann")
    assert losses.counts["attributes that brat cannot hold"] == 2
    lines = (tmp_path / "c.ann").read_text().splitlines()
    assert lines[3:] == [
        "M1\tCertainty T1 high", "A4\tSure E1", "A6\tNegation T1 false", "A7\tNew T1", "A8\tCourse T2 old",
    ]  # fmt: skip


def test_infons_of_bioc(tmp_path: Path) -> None:
    infons = {"type": "Disease", "MESH": "D010146", "Negation": "True", "updated_at": "2026", "certainty": "high"}
    annotation = {"id": "1", "infons": infons, "text": "pain", "locations": [{"offset": 18, "length": 4}]}
    passage = {"offset": 0, "infons": {}, "text": TEXT, "annotations": [annotation]}
    (tmp_path / "a.json").write_text(json.dumps({"documents": [{"id": "7", "passages": [passage]}]}))
    [document] = read(tmp_path / "a.json", notice=pytest.fail)
    assert document.mentions[0].attributes == {"Negation": True, "certainty": "high"}
    assert document.mentions[0].concepts == ("MESH:D010146",)
    write([document], tmp_path / "b.json")
    [written] = json.loads((tmp_path / "b.json").read_text())["documents"]
    assert written["passages"][0]["annotations"][0]["infons"] == infons
    document.mentions = [document.mentions[0].replace(attributes={"certainty": "low", "MESH": "x", "old": "true"})]
    losses = write([document], tmp_path / "c.xml")
    assert losses.counts["attributes that read back in another way"] == 2  # a vocabulary's name, and a text "true"
    assert '<infon key="certainty">low</infon>' in (tmp_path / "c.xml").read_text()
    assert "Negation" not in (tmp_path / "c.xml").read_text()


PATHS = [["chest", "left"], ["back"]]


def test_results_of_label_studio(tmp_path: Path) -> None:
    place, about = {"start": 18, "end": 22, "text": "pain"}, {"id": "r1", "to_name": "text"}
    result = [
        about | {"from_name": "negated", "type": "choices", "score": 0.5, "value": place | {"choices": ["true"]}},
        about | {"from_name": "label", "type": "labels", "value": place | {"labels": ["problem"]}},
        about | {"from_name": "body", "type": "taxonomy", "value": {"taxonomy": PATHS}, "origin": "manual"},
        about | {"from_name": "grade", "type": "rating", "value": place | {"rating": 3}},
        about | {"from_name": "note", "type": "textarea", "value": place | {"text": ["see above"]}},
        about | {"from_name": "concept", "type": "textarea", "value": place | {"text": ["D1"]}},
        {"id": "x", "from_name": "sure", "to_name": "text", "type": "choices", "value": {"choices": ["yes"]}},
    ]
    task = {"id": 1, "data": {"text": TEXT}, "annotations": [{"id": 2, "result": result}]}
    (tmp_path / "a.json").write_text(json.dumps([task]))
    told: list[str] = []
    [document] = read(tmp_path / "a.json", notice=told.append)
    [mention] = document.mentions
    assert mention.attributes == {"negated": True, "body": "chest/left|back", "grade": "3", "note": "see above"}
    assert (mention.attribute_scores, mention.concepts) == ({"negated": 0.5}, ("D1",))
    assert [str(problem).partition("warning: ")[2] for problem in validate(tmp_path / "a.json")] == [
        "tasks[0]: results that are no mentions: 1; they are kept"
    ]
    write([document], tmp_path / "b.json", format="label-studio")
    assert json.loads((tmp_path / "b.json").read_text()) == [task]
    document.mentions = [mention.replace(attributes={**mention.attributes, "grade": "4"})]
    write([document], tmp_path / "c.json", format="label-studio")
    [changed] = json.loads((tmp_path / "c.json").read_text())
    assert result[2] in changed["annotations"][0]["result"]  # as it was, its other fields included
    assert next(read(tmp_path / "c.json", notice=told.append)).mentions[0].attributes["grade"] == "4"


def test_features_of_webanno(tmp_path: Path) -> None:
    rows = (
        "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Finding|value|negated|certainty\n\n\n#Text=no chest pain\n"
        "1-1\t0-2\tno\t_\t_\t_\t\n1-2\t3-8\tchest\tproblem[1]\ttrue[1]\thigh[1]\t\n"
        "1-3\t9-13\tpain\tproblem[1]\ttrue[1]\thigh[1]\t\n"
    )
    (tmp_path / "a.tsv").write_text(rows)
    [document] = read(tmp_path / "a.tsv", notice=pytest.fail)
    assert document.mentions == [Mention("problem", [(3, 13)], attributes={"negated": True, "certainty": "high"})]
    assert document.meta == {}


def test_tables_of_others(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "a.csv").write_text("start,end,type,Negated,colour\n18,22,problem,True,red\n11,22,problem,,\n")
    told: list[str] = []
    [document] = read(tmp_path / "a.csv", texts=tmp_path / "a.txt", notice=told.append)
    assert [dict(mention.attributes) for mention in document.mentions] == [{"Negated": True}, {}]
    assert "columns that are not read: 'colour'" in told[0]
    (tmp_path / "a.csv").write_text("start,end,type,attributes\n18,22,problem,negated\n")
    with pytest.raises(DataError, match="attributes is 'negated', expected an object of JSON"):
        list(read(tmp_path / "a.csv", texts=tmp_path / "a.txt"))


def test_columns_in_memory() -> None:
    mention = MENTIONS[1].replace(attribute_scores={"Stage": 0.5}, concept_scores=(0.25,))
    note = NOTE.copy(mentions=[mention, MENTIONS[2]])
    columns = to_columns([note])
    assert columns["attributes"] == ['{"course": "acute|old", "Stage": "2"}', None]
    assert from_columns(columns, [note.copy(mentions=[])]) == [note]
    assert "attributes" not in to_columns([NOTE.copy(mentions=MENTIONS[2:])])
    with pytest.raises(DataError, match='row 0: attributes is "negated", expected an object'):
        from_columns({"doc_id": ["n1"], "start": [3], "end": [7], "type": ["x"], "attributes": ["negated"]}, [note])


AZURE = {"certainty": "negative", "conditionality": "none"}
RECORDS = {
    "usual names": ({"negated": True, "assertion": "no", "colour": "red"}, {"negated": True, "assertion": "no"}),
    "an object": ({"attributes": {"negated": 1, "x": None}}, {"negated": "1"}),
    "names": ({"attributes": ["negated", "old"]}, {"negated": True, "old": True}),
    "names and values": ({"attributes": [{"name": "course", "value": "acute"}]}, {"course": "acute"}),
    "MedCAT": ({"meta_anns": {"Negation": {"value": "Yes", "confidence": 0.75}}}, {"Negation": "Yes"}),
    "AWS": ({"Traits": [{"Name": "NEGATION", "Score": 0.75}]}, {"NEGATION": True}),
    "Azure": ({"assertion": AZURE}, AZURE),
    "Google": ({"certaintyAssessment": {"value": "LIKELY", "confidence": 0.75}}, {"certaintyAssessment": "LIKELY"}),
}


@pytest.mark.parametrize("name", RECORDS)
def test_records_of_other_tools(name: str) -> None:
    fields, expected = RECORDS[name]
    document = from_record({"text": TEXT, "entities": [{"start": 18, "end": 22, "label": "problem", **fields}]})
    [mention] = document.mentions
    assert (mention.key, mention.attributes) == (("problem", ((18, 22),)), expected)
    assert set(mention.attribute_scores.values()) <= {0.75}
    unread = {"unread": {"entities[0].colour": "red"}} if "colour" in fields else {}
    assert document.meta == unread
    native = from_record({"text": TEXT, "mentions": [{"spans": [[18, 22]], "type": "problem", "negated": True}]})
    assert (native.mentions[0].attributes, native.meta) == ({"negated": True}, {})


def test_attributes_of_another_kind_are_kept() -> None:
    parts = [{"Type": "DOSAGE", "BeginOffset": 3, "EndOffset": 7, "Score": 0.5}]
    document = from_record({"text": TEXT, "entities": [{"start": 18, "end": 22, "label": "x", "attributes": parts}]})
    assert document.mentions[0].attributes == {}
    assert document.meta == {"unread": {"entities[0].record_attributes": parts}}


def test_attributes_of_pubannotation() -> None:
    record = {
        "text": TEXT,
        "denotations": [{"id": "T1", "span": {"begin": 18, "end": 22}, "obj": "problem"}],
        "attributes": [
            {"id": "A1", "subj": "T1", "pred": "negated", "obj": True},
            {"id": "A2", "subj": "T9", "pred": "negated", "obj": True},
        ],
    }
    document = from_record(record)
    assert document.mentions[0].attributes == {"negated": True}
    assert document.meta["attributes"] == record["attributes"][1:]


NAMES = st.from_regex(r"[A-Za-zäß][A-Za-z_.-]{0,6}", fullmatch=True)
VALUES = st.booleans() | st.from_regex(r"[a-z0-9äß|<&:-]{1,6}( [a-z<]{1,3})?", fullmatch=True).filter(
    lambda text: from_text(text) == text
)


@st.composite
def notes(draw: st.DrawFn) -> Document:
    starts = draw(st.lists(st.sampled_from([3, 8, 11, 18]), unique=True))
    attributes = st.dictionaries(NAMES, VALUES, max_size=3)
    mentions = [
        Mention("problem", [(start, start + 3)], f"T{number}", attributes=draw(attributes))
        for number, start in enumerate(starts, start=1)
    ]
    return Document("abcdefghijklmnopqrstuvwxyz", id="a", mentions=mentions)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(notes(), notes())
def test_any_attributes_come_back_or_are_counted(tmp_path: Path, note: Document, other: Document) -> None:
    for name, path in (("brat", "a.ann"), ("bioc", "a.xml"), ("bioc-json", "a.json"), ("jsonl", "a.jsonl")):
        losses = write([note], tmp_path / path, format=name, force=True)
        [found] = read(tmp_path / path, format=name, notice=lambda _: None)
        lost = sum(losses.counts[kind] for kind in losses.counts if kind.startswith("attributes"))
        assert len(found.mentions) == len(note.mentions)
        missing = 0
        for one, mention in zip(found.mentions, note.mentions, strict=True):
            assert one.attributes.items() <= mention.attributes.items()
            missing += len(mention.attributes) - len(one.attributes)
        assert missing == lost, name
        assert lost == 0 or name.startswith("bioc")
        # what was read, with the mentions of another document: nothing of the old attributes is left
        changed = found.copy(mentions=other.mentions)
        write([changed], tmp_path / f"changed-{path}", format=name, force=True)
        [again] = read(tmp_path / f"changed-{path}", format=name, notice=lambda _: None)
        for one in again.mentions:
            [mention] = [mention for mention in other.mentions if mention.id == one.id]
            assert one.attributes.items() <= mention.attributes.items()
