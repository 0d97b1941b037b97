"""Records of other tools: one note in the layout of each, layouts that users describe, and fields that are not read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom import Recognizer
from spanloom.document import Document, Mention
from spanloom.errors import DataError, DataWarning, SpanloomError, UsageError
from spanloom.formats import from_record, read, validate, write
from spanloom.formats.record import scan_record
from spanloom.formats.record_fields import RecordFields
from spanloom.formats.settling import settled_one

TEXT = "She had chest pain and fever."
WORDS = ["She", "had", "chest", "pain", "and", "fever", "."]
TAGS = ["O", "O", "B-P", "I-P", "O", "B-P", "O"]
TWO = [["She", "had", "chest", "pain", "."], ["No", "fever", "."]]
BOTH = (8, 18), (23, 28)


def entities(start: str = "start", end: str = "end", kind: str = "type", less: int = 0, **names: str) -> list[Any]:
    """Both mentions of the text, with fields of these names; ends are `less` than exclusive ones."""
    return [
        {start: first, end: last - less, kind: "P", **dict.fromkeys(names.values(), TEXT[first:last])}
        for first, last in BOTH
    ]


CHARACTERS: dict[str, Any] = {
    "Prodigy's relations": {"text": TEXT, "spans": [{**one, "type": "span"} for one in entities(kind="label")]},
    "a list for each field": {"text": TEXT, "entities": {"start": [8, 23], "end": [18, 28], "type": ["P", "P"]}},
    "LightTag": {"content": TEXT, "annotations": entities(kind="tag_name", surface="value")},
    "triples": {"text": TEXT, "label": [[8, 18, "P"], [23, 28, "P"]]},
    "types first": {"text": TEXT, "prediction": [["P", 8, 18, 0.9], ["P", 23, 28, 0.8]]},
    "camel case": {"Text": TEXT, "Entities": entities("BeginOffset", "EndOffset", "Type", surface="Text")},
    "offset and length": {
        "text": TEXT,
        "entities": [{"category": "P", "offset": 8, "length": 10}, {"category": "P", "offset": 23, "length": 5}],
    },
    "start_char": {"text": TEXT, "ents": entities("start_char", "end_char")},
    "inclusive by the surface": {"text": TEXT, "annotations": entities("from", "to", less=1, surface="word")},
    "CMeEE": {"text": TEXT, "entities": entities("start_idx", "end_idx", less=1, surface="entity")},
    "CMeEE without surfaces": {"text": TEXT, "entities": entities("start_idx", "end_idx", less=1)},
    "DataTurks": {
        "content": TEXT,
        "annotation": [{"label": ["P"], "points": [{"start": a, "end": b - 1}]} for a, b in BOTH],
        "extras": None,
    },
    "CLUENER": {"text": TEXT, "label": {"P": {"chest pain": [[8, 17]], "fever": [[23, 27]]}}},
    "types as keys": {"text": TEXT, "entities": {"P": [[8, 18], [23, 28]]}},
    "types as keys of objects": {"text": TEXT, "annotations": {"P": [{"start": a, "end": b} for a, b in BOTH]}},
    "groups": {"text": TEXT, "spans": {"sc": entities(kind="label")}},
    "identifiers as keys": {"text": TEXT, "entities": {str(i): one for i, one in enumerate(entities())}},
    "Spark NLP": {
        "text": TEXT,
        "ner_chunk": [
            {"annotatorType": "chunk", "begin": a, "end": b - 1, "result": TEXT[a:b], "metadata": {"entity": "P"}}
            for a, b in BOTH
        ],
    },
    "TPLinker": {
        "text": TEXT,
        "entity_list": [
            {"type": "P", "char_span": [8, 18], "tok_span": [2, 4]},
            {"type": "P", "char_span": [23, 28], "tok_span": [5, 6]},
        ],
        "relation_list": [],
    },
    "PubAnnotation": {"text": TEXT, "denotations": [{"span": {"begin": a, "end": b}, "obj": "P"} for a, b in BOTH]},
    "brat's JSON": {"text": TEXT, "entities": [["T1", "P", [[8, 18]]], ["T2", "P", [[23, 28]]]]},
    "Flair": {
        "text": TEXT,
        "entities": [
            {"start_pos": a, "end_pos": b, "labels": [{"value": "P", "confidence": 0.9}]} for a, b in BOTH
        ],
    },
    "SageMaker": {
        "source": TEXT,
        "job": {"annotations": {"entities": entities("startOffset", "endOffset", "label")}},
        "job-metadata": {"entities": [{"confidence": 0.1}], "type": "groundtruth/text-span"},
    },
    "AutoML": {
        "text_snippet": {"content": TEXT},
        "annotations": [
            {"display_name": "P", "text_extraction": {"text_segment": {"start_offset": a, "end_offset": b}}}
            for a, b in BOTH
        ],
    },
    "Google": {
        "document": {"content": TEXT},
        "entities": [
            {"type": "P", "mentions": [{"text": {"content": TEXT[a:b], "beginOffset": a}, "type": "COMMON"}]}
            for a, b in BOTH
        ],
    },
    "text of another name": {"report": TEXT, "code": "x1", "entities": entities(surface="text")},
    "offsets as text": {"text": TEXT, "entities": [{"start": "8", "end": "18", "type": "P"}, *entities()[1:]]},
    "offsets with a point": {"text": TEXT, "entities": [{"start": 8.0, "end": 18.0, "type": "P"}, *entities()[1:]]},
    "spans as text": {"text": TEXT, "entities": [{"offsets": "8-18", "type": "P"}, {"offsets": "23-28", "type": "P"}]},
    "pair": [TEXT, {"entities": [[8, 18, "P"], [23, 28, "P"]]}],
    "pair with a list": [TEXT, [[8, 18, "P"], [23, 28, "P"]]],
    "results of Label Studio": {
        "text": TEXT, "result": [{"type": "labels", "value": {"start": a, "end": b, "labels": ["P"]}} for a, b in BOTH],
    },
}  # fmt: skip
TOKENS: dict[str, Any] = {
    "W2NER": {"sentence": WORDS, "ner": [{"index": [2, 3], "type": "P"}, {"index": [5], "type": "P"}]},
    "GLiNER": {"tokenized_text": WORDS, "ner": [[2, 3, "P"], [5, 5, "P"]]},
    "SpERT": {"tokens": WORDS, "entities": [{"type": "P", "start": 2, "end": 4}, {"type": "P", "start": 5, "end": 6}]},
    "OneIE": {
        "sentence": " ".join(WORDS), "tokens": WORDS, "sent_id": "s1", "doc_id": "d",
        "entity_mentions": [
            {"start": 2, "end": 4, "entity_type": "P", "text": "chest pain"},
            {"start": 5, "end": 6, "entity_type": "P", "text": "fever"},
        ],
    },
    "UIE": {"tokens": WORDS, "entity": [{"type": "P", "offset": [2, 3]}, {"type": "P", "offset": [5]}]},
    "BERT-MRC": {"context": " ".join(WORDS), "span_position": ["2;3", "5;5"], "entity_label": "P", "qas_id": "0.1"},
    "inclusive by the surface": {
        "words": WORDS,
        "mentions": [
            {"start": 2, "end": 3, "type": "P", "text": "chest pain"},
            {"start": 5, "end": 5, "type": "P", "text": "fever"},
        ],
    },
    "tags": {"words": WORDS, "bio": TAGS},
    "tags as text": {"sentence": " ".join(WORDS), "tags": "O O B-P I-P O B-P O"},
    "words with tags": [[word, tag] for word, tag in zip(WORDS, TAGS, strict=True)],
}  # fmt: skip
SENTENCES: dict[str, Any] = {
    "DyGIE": {"doc_key": "d", "sentences": TWO, "ner": [[[2, 3, "P"]], [[6, 6, "P"]]], "relations": [[], []]},
    "counted in the sentence": {"doc_key": "d", "sentences": TWO, "ner": [[[2, 3, "P"]], [[1, 1, "P"]]]},
    "biaffine-ner": {"doc_key": "d", "sentences": TWO, "ners": [[[2, 3, "P"]], [[1, 1, "P"]]]},
    "RAMS": {"doc_key": "d", "sentences": TWO, "ent_spans": [[2, 3, [["P", 1.0]]], [6, 6, [["P", 1.0]]]]},
    "DocRED": {
        "sents": TWO, "title": "x",
        "vertexSet": [
            [{"name": "chest pain", "sent_id": 0, "pos": [2, 4], "type": "P"}],
            [{"name": "fever", "sent_id": 1, "pos": [1, 2], "type": "P"}],
        ],
    },
    "tags": {"sentences": TWO, "tags": [["O", "O", "B-P", "I-P", "O"], ["O", "B-P", "O"]]},
}  # fmt: skip


def found(path: Path) -> list[list[tuple[str, str]]]:
    """The types and texts of the mentions of each document; nothing may be told."""
    told: list[str] = []
    documents = list(read(path, notice=told.append))
    assert told == []
    return [[(mention.type, mention.text(one.text)) for mention in one.mentions] for one in documents]


@pytest.mark.parametrize("record", [*CHARACTERS.values(), *TOKENS.values()], ids=[*CHARACTERS, *TOKENS])
@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_a_note_in_the_layout_of_each_tool(tmp_path: Path, record: Any, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text(json.dumps([record] if suffix == ".json" else record))
    assert found(path) == [[("P", "chest pain"), ("P", "fever")]]


@pytest.mark.parametrize("record", SENTENCES.values(), ids=SENTENCES)
def test_sentences_of_words(record: Any) -> None:
    document = from_record(record)
    assert document.text == "She had chest pain .\nNo fever ."
    assert document.sentences is not None
    assert document.sentences.tolist() == [[0, 5], [5, 8]]
    assert [mention.spans for mention in document.mentions] == [((8, 18),), ((24, 29),)]


@pytest.mark.parametrize(
    "record",
    [
        {"tokens": ["mild", "or", "severe", "pain"], "ner": [{"index": [0, 3], "type": "P"}]},
        {"text": "mild or severe pain", "entities": [[0, 4, 15, 19, "P"]]},
        {"text": "mild or severe pain", "entities": [{"type": "P", "spans": [[15, 19], [0, 4]]}]},
        {
            "text": "mild or severe pain",
            "denotations": [{"span": [{"begin": 0, "end": 4}, {"begin": 15, "end": 19}], "obj": "P"}],
        },
    ],
)
def test_gaps(record: Any) -> None:
    assert [mention.spans for mention in from_record(record).mentions] == [((0, 4), (15, 19))]


def test_queries_of_one_text_are_one_document(tmp_path: Path) -> None:
    queries = [
        {"context": " ".join(WORDS), "qas_id": "7.1", "entity_label": "P", "span_position": ["2;3"]},
        {"context": " ".join(WORDS), "qas_id": "7.2", "entity_label": "Q", "span_position": ["5;5", "2;2"]},
        {"context": "No fever", "qas_id": "8.1", "entity_label": "P", "span_position": []},
    ]
    (tmp_path / "a.json").write_text(json.dumps(queries))
    first, second = read(tmp_path / "a.json")
    assert (first.id, second.id, second.mentions) == ("7", "8.1", [])
    assert [(m.type, m.text(first.text)) for m in first.mentions] == [
        ("P", "chest pain"),
        ("Q", "fever"),
        ("Q", "chest"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        {"classes": ["P"], "annotations": [["no pain", {"entities": [[3, 7, "P"]]}], None]},
        {"version": 1, "data": [{"text": "no pain", "label": [[3, 7, "P"]]}]},
        {"projects": [{"name": "p", "documents": [{"text": "no pain", "annotations": entities()[:0] or [
            {"start": 3, "end": 7, "value": "pain", "type": "P"}]}]}]},
        {"n1": {"text": "no pain", "entities": [[3, 7, "P"]]}},
    ],
)  # fmt: skip
def test_records_within_an_object(tmp_path: Path, content: Any) -> None:
    for name in ("a.json", "a.jsonl"):
        (tmp_path / name).write_text(json.dumps(content))
        assert found(tmp_path / name) == [[("P", "pain")]]


def test_users_of_a_record_are_annotators(tmp_path: Path) -> None:
    marks = [
        {"label": 12, "start_offset": 0, "end_offset": 2, "user": 1},
        {"label": 13, "start_offset": 3, "end_offset": 7, "user": 2},
    ]
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": 1, "text": "no pain", "annotations": marks, "meta": {"ward": "B"}}))
    first, second = read(path, tag_names="12=cue,13=problem")
    assert (first.id, first.meta, first.mentions) == ("1", {"ward": "B", "annotator": "1"}, [Mention("cue", [(0, 2)])])
    assert (second.id, second.meta["annotator"], second.mentions) == ("1", "2", [Mention("problem", [(3, 7)])])
    assert [mention.type for one in read(path) for mention in one.mentions] == ["12", "13"]
    assert ["the types of annotations are numbers, such as 12" in one.message for one in validate(path)] == [True]
    with pytest.raises(DataError, match="the record has mentions of 2 annotators \\('1', '2'\\), expected one"):
        from_record(json.loads(path.read_text()))
    tracks = {
        "text": "no pain",
        "tracks": [{"project": "a", "denotations": [{"span": {"begin": 3, "end": 7}, "obj": "P"}]}] * 2,
    }
    assert [
        document.meta["annotator"] for document, *_ in map(settled_one, scan_record(tracks)) if document is not None
    ] == ["a", "a"]


@pytest.mark.parametrize(
    ("record", "columns"),
    [
        (
            {"note": "no pain", "found": [{"b": 3, "e": 7, "cat": "P"}]},
            "text=note,mentions=found,start=b,end=e,type=cat",
        ),
        (
            {"text": "no pain", "found": [{"b": 3, "e": 6, "c": "P"}]},
            "mentions=found,start=b,end=e,type=c,ends=inclusive",
        ),
        ({"words": ["no", "pain"], "found": [[1, 1, "P"]]}, "mentions=found,ends=inclusive"),
        ({"w": ["no", "pain"], "found": [{"at": [[1, 2]], "type": "P"}]}, "tokens=w,mentions=found,spans=at"),
        ({"text": "no pain", "found": [{"b": 1, "e": 2, "type": "P"}]}, "mentions=found,start=b,end=e,unit=tokens"),
        ({"a": {"text": "no pain", "b": {"c": [[3, 7, "P"]]}}}, "text=a.text,mentions=a.b.c"),
        ({"text": "no pain", "x": [{"at": {"p": [3, 7]}, "k": {"n": "P"}}]}, "mentions=x,spans=at.p,type=k.n"),
        ({"text": "no pain", "x": [[3, 4, "P"]]}, "mentions=x,start=0,length=1,type=2"),
    ],
)
def test_layouts_that_the_user_describes(tmp_path: Path, record: Any, columns: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(record))
    [document] = read(path, columns=columns.split(","))
    assert (document.text, document.mentions) == ("no pain", [Mention("P", [(3, 7)])])


def test_descriptions_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": "no pain", "found": [{"b": 3, "e": 7, "cat": "P"}]}))
    with pytest.raises(DataError, match=r"there is no field 'nope'; the record has: 'text', 'found'"):
        list(read(path, columns={"mentions": "nope"}))
    with pytest.raises(DataError, match=r"found\[0\]: it is .*, expected a mention: offsets and a type"):
        list(read(path, columns={"mentions": "found"}))
    for columns, message in (({"unit": "words"}, "unit is 'words'"), ({"ends": "closed"}, "ends is 'closed'")):
        with pytest.raises(UsageError, match=f"{message}, expected one of"):
            list(read(path, columns=columns))
    with pytest.raises(UsageError, match="tag names are 'a,1=b', expected NAME,NAME"):
        list(read(path, tag_names="a,1=b"))


@pytest.mark.parametrize(
    ("field", "value", "advice"),
    [
        ("found", [{"b": 3, "e": 7, "cat": "P"}], "mentions=found,start=b,end=e,type=cat"),
        ("found", [[3, 7, "P"]], "mentions=found"),
        ("found", {"all": [{"at": [3, 7], "cat": "P"}]}, "mentions=found.all,spans=at,type=cat"),
        ("found", [{"start": 3, "end": 7, "label": "P"}], "mentions=found,start=start,end=end,type=label"),
        ("found", ["O", "B-P"], "tokens=NAME,tags=found"),
        ("label", [[0, 1]], "mentions=label"),
        ("labels", [[0, "1", "x"]], "mentions=labels"),
        ("spans", "x", "--from-llm"),
        ("entities", ["pain"], "gives texts without offsets, which spanloom convert"),
        ("output", {"entities": [{"text": "pain", "type": "P"}]}, "--from-llm"),
    ],
)
def test_fields_that_look_like_annotation_are_warned_of(tmp_path: Path, field: str, value: Any, advice: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps({'text': 'no pain', field: value})}\n" * 2 + '{"text": "no pain"}\n')
    told: list[str] = []
    documents = list(read(path, notice=told.append))
    assert [one.meta for one in documents] == [{field: value}] * 2 + [{}]
    [line] = told
    assert line.startswith(f"{path}:1: the field {field!r} looks like annotation and is not read; ")
    assert advice in line and line.endswith("(2 such; spanloom validate lists them)")
    assert sum(problem.kind.startswith("annotation not read") for problem in validate(path)) == 2
    with pytest.raises(
        DataError, match=f"none of the 3 training documents has a mention; the field {field!r} of 2 doc"
    ):
        Recognizer().fit(documents)
    assert [one.mentions for one in read(path, mentions=False, notice=pytest.fail)] == [[]] * 3


@pytest.mark.parametrize(
    "record",
    [
        {"text": "no pain", "label": "positive", "labels": ["a", "b"], "tags": ["x"], "created": 7},
        {"text": "no pain", "entities": [], "relations": [{"head": 0, "tail": 1, "type": "r"}]},
        {"text": "no pain", "annotation": None, "versions": [{"id": 1, "user": 2, "name": "x"}]},
        {"text": "no pain", "mentions": [], "meta": {"found": [[3, 7, "P"]]}},
        {"text": "no pain", "vector": [1, 2, 3], "box": [[1, 2, 3, 4]], "history": {"a": 1, "b": 5, "c": "x"}},
    ],
)
def test_fields_that_are_no_annotation(tmp_path: Path, record: Any) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    assert found(tmp_path / "a.jsonl") == [[]]


def test_the_text_that_a_record_lacks_is_asked_for() -> None:
    record = {"File": "a.txt", "Entities": entities("BeginOffset", "EndOffset", "Type", surface="Text")}
    with pytest.raises(SpanloomError, match="text is missing"):
        from_record(record)


def test_a_list_of_annotation_beside_one_that_is_read_is_warned_of() -> None:
    with pytest.warns(DataWarning, match="the field 'more' looks like annotation and is not read"):
        from_record({"text": "no pain", "mentions": [], "more": [[3, 7, "P"]]})


def test_ends_of_tokens_that_are_presumed_are_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"tokens": ["no", "chest", "pain"], "spans": [[1, 2, "P"]]}))
    with pytest.warns(DataWarning, match="offsets of spans count tokens, and are read with the end excluded"):
        [document] = read(path)
    assert document.mentions[0].text(document.text) == "chest"
    path.write_text(json.dumps({"tokens": ["no", "pain"], "spans": [[1, 1, "P"]]}))
    with pytest.raises(
        DataError, match=r"spans\[0\]: offsets \[\[1, 1\]\] do not lie in the 2 tokens, with ends exclusive"
    ):
        list(read(path))


def test_cells_of_tables(tmp_path: Path) -> None:
    tables = {
        "studio.csv": 'text,id,label\nno pain,1,"[{""start"":3,""end"":7,""text"":""pain"",""labels"":[""P""]}]"\n',
        "pandas.csv": "text,ents\nno pain,\"[(3, 7, 'P')]\"\n",
        "tags.csv": 'sentence,word_labels\nno pain,"O,B-P"\n',
        "lists.tsv": "text\ttokens\tner_tags\nno pain\t['no', 'pain']\t['O', 'B-P']\n",
        "rows.csv": "sentence,start,end,label\nno pain,3,7,P\n",
    }
    for name, content in tables.items():
        (tmp_path / name).write_text(content)
        assert found(tmp_path / name) == [[("P", "pain")]], name
    [document] = read(tmp_path / "studio.csv")
    assert (document.id, document.meta) == ("1", {})
    (tmp_path / "odd.csv").write_text('text,x,note\nno pain,"[{""b"":3,""e"":7,""c"":""P""}]",[sic]\n')
    with pytest.warns(DataWarning, match=r"odd.csv:2: the field 'x' looks like annotation"):
        [document] = read(tmp_path / "odd.csv")
    assert document.meta == {"x": '[{"b":3,"e":7,"c":"P"}]', "note": "[sic]"}
    with pytest.raises(DataError, match="none of the 1 training documents has a mention; the field 'x' of 1 document"):
        Recognizer().fit([document])
    [document] = read(tmp_path / "odd.csv", columns=["mentions=x", "start=b", "end=e", "type=c"])
    assert (document.mentions, document.meta) == ([Mention("P", [(3, 7)])], {"note": "[sic]"})


def test_rows_with_their_texts_are_grouped(tmp_path: Path) -> None:
    rows = "id,text,start,end,label,x\n1,no chest pain,3,13,P,\n1,no chest pain,3,8,A,\n2,no pain,3,7,P,\n"
    (tmp_path / "a.csv").write_text(rows)
    with pytest.warns(DataWarning, match="columns that are not read: 'x'"):
        first, second = read(tmp_path / "a.csv")
    assert (first.id, first.text, len(first.mentions)) == ("1", "no chest pain", 2)
    assert (second.id, second.mentions) == ("2", [Mention("P", [(3, 7)])])


def task(**parts: Any) -> dict[str, Any]:
    value = {"start": 3, "end": 7, "text": "pain", "labels": ["P"]}
    region = {"id": "r", "from_name": "l", "to_name": "t", "type": "labels", "value": value} | parts.pop("region", {})
    return {"id": 1, "data": {"text": "no pain"}, "annotations": [{"id": 5, "result": [region]}]} | parts


PROJECTS: dict[str, dict[str, Any]] = {
    "completions": {"id": 1, "data": {"text": "no pain"}, "completions": task()["annotations"]},
    "another field": task(data={"note": "no pain", "mrn": "7"}),
    "the field of the surfaces": task(data={"title": "a title", "body": "no pain"}),
    "hypertext": task(region={"type": "hypertextlabels", "value": {
        "start": "/div[1]", "end": "/div[1]", "globalOffsets": {"start": 3, "end": 7}, "hypertextlabels": ["P"]}}),
    "a control of any name": task(region={"type": "ner", "value": {"start": 3, "end": 7, "ner": ["P"]}}),
    "taxonomy": task(region={"type": "taxonomy", "value": {"start": 3, "end": 7, "text": "pain", "taxonomy": [["P"]]}}),
    "predictions": task(annotations=[], predictions=task()["annotations"]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROJECTS)
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_projects_of_label_studio(tmp_path: Path, name: str, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text(json.dumps([PROJECTS[name]] if suffix == ".json" else PROJECTS[name]))
    assert found(path) == [[("P", "pain")]]
    write(read(path), tmp_path / "b.json", format="label-studio")
    assert json.loads((tmp_path / "b.json").read_text()) == [PROJECTS[name]]
    changed = [one.copy(mentions=[*one.mentions, Mention("Q", [(0, 2)])]) for one in read(path)]
    write(changed, tmp_path / "c.json", format="label-studio")
    assert ("Q", "no") in found(tmp_path / "c.json")[0] and ("P", "pain") in found(tmp_path / "c.json")[0]


def test_fields_of_a_task_that_the_user_names(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([task(data={"a": "no pain", "b": "no pain", "mrn": 7})]))
    with pytest.raises(
        DataError, match=r"tasks\[0\]: data: 'text' is missing, .* one of 'a', 'b': --columns text=NAME"
    ):
        list(read(tmp_path / "a.json"))
    [document] = read(tmp_path / "a.json", columns=["text=b", "id=mrn"])
    assert (document.id, document.text, len(document.mentions)) == ("7", "no pain", 1)
    results = [{"type": "x", "value": {"start": 3, "end": 7}}]
    (tmp_path / "a.json").write_text(json.dumps([task(annotations=[{"result": results}])]))
    with pytest.warns(DataWarning, match="results with offsets and without labels: 1; no mention was read"):
        list(read(tmp_path / "a.json"))


def test_blanks_at_the_ends_are_left_out_in_every_layout(tmp_path: Path) -> None:
    records = {
        "doccano.jsonl": json.dumps({"text": "no pain today", "label": [[3, 8, "P"]]}),
        "studio.json": json.dumps(
            [task(data={"text": "no pain today"}, region={"value": {"start": 3, "end": 8, "labels": ["P"]}})]
        ),
        "native.jsonl": json.dumps({"text": "no pain today", "mentions": [{"type": "P", "spans": [[2, 7]]}]}),
        "cells.csv": 'text,label\nno pain today,"[[3,8,""P""]]"\n',
    }  # fmt: skip
    for name, content in records.items():
        (tmp_path / name).write_text(content)
        with pytest.warns(DataWarning, match="is read without the blanks at its ends, as 'pain'"):
            [document] = read(tmp_path / name)
        assert [mention.text(document.text) for mention in document.mentions] == ["pain"]


NAMES = [
    "text", "content", "sentence", "tokens", "sentences", "ner", "entities", "spans", "labels", "annotations",
    "mentions", "start", "end", "offset", "length", "span", "type", "index", "points", "user", "id", "meta", "data",
    "result", "value", "tracks", "denotations", "pos", "sent_id", "context", "span_position", "entity_label", "tags",
    "passages", "score",
]  # fmt: skip
PARTS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 30)
    | st.sampled_from([10**30, 0.5, "", "P", "B-P", "2;3", "no pain", "pain"])
)
VALUES = st.recursive(
    PARTS, lambda part: st.lists(part, max_size=3) | st.dictionaries(st.sampled_from(NAMES), part, max_size=3)
)
DESCRIBED = [
    RecordFields(None, None),
    RecordFields({"mentions": "ner", "start": "value", "type": "user"}, "12=a"),
    RecordFields({"unit": "tokens", "ends": "inclusive"}, None),
]


@settings(deadline=None, max_examples=300)
@given(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=5), st.booleans(), st.sampled_from(DESCRIBED))
def test_whatever_is_in_a_record_is_read_or_told(record: Any, texted: bool, fields: RecordFields) -> None:
    record = record | {"text": "no pain today"} if texted else record
    for document, problems, *_ in map(settled_one, scan_record(record, True, fields)):
        assert document is not None or problems
        assert not any("\n" in str(problem) for problem in problems)
    try:
        assert isinstance(from_record(record), Document)
    except SpanloomError as error:
        assert "\n" not in str(error)
