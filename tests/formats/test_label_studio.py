"""Label Studio: exports are read, tasks are written that it imports, and what did not change is written as it was."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spanloom.data import chinese_clinical, clinical
from spanloom.document import Document, Mention
from spanloom.document.surfaces import trimmed
from spanloom.document.validate import find_errors
from spanloom.errors import DataError, DataWarning, UsageError
from spanloom.formats import read, validate, write
from spanloom.formats.label_regions import text_of
from spanloom.formats.label_studio import understand

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)


def region(name: str, start: int, end: int, text: str | None, *labels: str, **more: Any) -> dict[str, Any]:
    value = {"start": start, "end": end, "labels": list(labels)} | ({} if text is None else {"text": text})
    return {
        "id": name,
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "origin": "manual",
        "value": value,
    } | more


def joined(one: str, other: str) -> dict[str, Any]:
    return {"type": "relation", "from_id": one, "to_id": other, "direction": "right", "labels": ["fragment"]}


# as Label Studio 1.13 exports a task, shortened
TASK = {
    "id": 41,
    "annotations": [
        {"id": 7, "completed_by": 3, "was_cancelled": True, "result": []},
        {
            "id": 8,
            "completed_by": {"id": 4, "email": "jo@example.org"},
            "result": [
                region("a1", 0, 4, "Mild", "problem", hidden=True),
                region("a2", 15, 19, "pain", "problem"),
                region("b", 8, 19, "severe pain", "problem", "quote"),
                joined("a1", "a2"),
                {"id": "b", "from_name": "concept", "to_name": "text", "type": "textarea", "value": {"text": ["X:1"]}},
                {"id": "c", "from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": ["sad"]}},
                {"type": "relation", "from_id": "b", "to_id": "a1", "direction": "right", "labels": ["worse"]},
            ],
            "ground_truth": False,
            "lead_time": 3.5,
        },
        {"id": 9, "completed_by": 5, "result": [region("z", 0, 4, "Mild", "grade")]},
    ],
    "predictions": [{"model_version": "m1", "score": 0.5, "result": [region("p", 0, 4, "Mild", "x", score=0.5)]}],
    "data": {"text": "Mild or severe pain.", "source": "https://example.org"},
    "meta": {},
}


def tasks(path: Path, *values: object) -> Path:
    path.write_text(json.dumps(list(values)), encoding="utf-8")
    return path


def test_an_export_is_read(tmp_path: Path) -> None:
    [document] = read(tasks(tmp_path / "a.json", TASK))
    assert (document.id, document.text) == ("41", "Mild or severe pain.")
    assert document.mentions == [
        Mention("problem", [(0, 4), (15, 19)], "a1"),
        Mention("problem", [(8, 19)], "b", None, ["X:1"]),
        Mention("quote", [(8, 19)], "b#2", None, ["X:1"]),
    ]


def test_validate_says_which_annotation_is_read_and_what_is_not(tmp_path: Path) -> None:
    assert [str(problem).partition(": ")[2] for problem in validate(tasks(tmp_path / "a.json", TASK))] == [
        "warning: tasks[0]: the task has 2 annotations; read is that of 'jo@example.org', the others are kept",
        "warning: tasks[0]: results that are no mentions: 1; they are kept",
    ]
    truth = TASK | {"annotations": [*TASK["annotations"][:2], TASK["annotations"][2] | {"ground_truth": True}]}  # type: ignore[index]
    [document] = read(tasks(tmp_path / "b.json", truth))
    assert document.mentions == [Mention("grade", [(0, 4)], "z")]


def test_predictions_are_read_where_there_is_no_annotation(tmp_path: Path) -> None:
    [document] = read(tasks(tmp_path / "a.json", TASK | {"annotations": []}))
    assert document.mentions == [Mention("x", [(0, 4)], "p", score=0.5)]
    [document] = read(tasks(tmp_path / "a.json", {"data": {"id": "n-1", "text": "no task yet"}}))
    assert (document.id, document.mentions) == ("n-1", [])


def written(tmp_path: Path, document: Document) -> dict[str, Any]:
    write([document], tmp_path / "out.json", format="label-studio", force=True)
    [task] = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    return task


def test_what_did_not_change_is_written_as_it_was(tmp_path: Path) -> None:
    [document] = read(tasks(tmp_path / "a.json", TASK))
    assert written(tmp_path, document) == TASK
    write([document], tmp_path / "b.jsonl")
    assert written(tmp_path, next(read(tmp_path / "b.jsonl"))) == TASK


def test_a_change_keeps_everything_else(tmp_path: Path) -> None:
    [document] = read(tasks(tmp_path / "a.json", TASK))
    document.mentions = [document.mentions[0].replace(type="finding"), Mention("grade", [(8, 14)])]
    task = written(tmp_path, document)
    old = TASK["annotations"]
    assert task | {"annotations": old} == TASK
    assert [task["annotations"][0], task["annotations"][2]] == [old[0], old[2]]  # type: ignore[index]
    changed = task["annotations"][1]
    assert changed | {"result": 0} == old[1] | {"result": 0}  # type: ignore[index]
    assert changed["result"] == [
        region("a1", 0, 4, "Mild", "finding", hidden=True),
        {k: v for k, v in region("a1.2", 15, 19, "pain", "finding").items() if k != "origin"},
        joined("a1", "a1.2"),
        {k: v for k, v in region("m1", 8, 14, "severe", "grade").items() if k != "origin"},
        *old[1]["result"][-2:],  # type: ignore[index]
    ]
    [again] = read(tmp_path / "out.json")
    assert [mention.key for mention in again.mentions] == [mention.key for mention in document.mentions]


def test_what_a_model_found_is_a_prediction_beside_what_people_did(tmp_path: Path) -> None:
    [document] = read(tasks(tmp_path / "a.json", TASK))
    document.mentions = [Mention("problem", [(0, 4), (15, 19)], score=0.25), Mention("problem", [(8, 19)], score=0.75)]
    task = written(tmp_path, document)
    assert task["annotations"] == TASK["annotations"]
    kept, mine = task["predictions"]
    assert kept == TASK["predictions"][0]  # type: ignore[index]
    assert (mine["model_version"], mine["score"]) == ("spanloom", 0.25)
    assert [(one.get("id"), one["type"], one.get("score")) for one in mine["result"]] == [
        ("m1", "labels", 0.25),
        ("m1.2", "labels", 0.25),
        (None, "relation", None),
        ("m2", "labels", 0.75),
    ]
    document.meta["label_studio"] = task | {"data": {"source": ""}}
    document.mentions = document.mentions[:1]
    assert [one["model_version"] for one in written(tmp_path, document)["predictions"]] == ["m1", "spanloom"]


@pytest.mark.parametrize("text", ["💩 mild 𝒳 pain", "mild\r\n𝒳 pain"])
def test_offsets_of_new_and_of_old_versions(tmp_path: Path, text: str) -> None:
    start, unit = text.index("pain"), len(text[: text.index("pain")].encode("utf-16-le")) // 2
    for offset in (start, unit):
        task = {"data": {"text": text}, "annotations": [{"result": [region("a", offset, offset + 4, "pain", "x")]}]}
        [document] = read(tasks(tmp_path / "a.json", task))
        assert document.mentions == [Mention("x", [(start, start + 4)], "a")]
    assert "offsets are counted in UTF-16 units" in str(next(validate(tmp_path / "a.json")))


def test_line_ends_in_regions(tmp_path: Path) -> None:
    task = {"data": {"text": "mild\npain"}, "annotations": [{"result": [region("a", 0, 9, r"mild\npain", "x")]}]}
    [document] = read(tasks(tmp_path / "a.json", task))
    assert document.mentions == [Mention("x", [(0, 9)], "a")]


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(TEXTS)
    mentions = []
    scored = draw(st.booleans())
    for i in range(draw(st.integers(0, 4)) if len(text) > 1 else 0):
        bounds = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=6)))
        spans = list(zip(bounds[::2], bounds[1::2], strict=False))
        concepts = draw(st.lists(TEXTS, max_size=2, unique=True))
        score = draw(st.floats(0, 1)) if scored else None
        mentions.append(
            Mention(draw(TEXTS), spans, draw(st.sampled_from([f"T{i}", f"m{i}", f"T0.{i}"])), None, concepts, score)
        )
    return Document(text, draw(TEXTS), mentions=mentions)


@settings(deadline=None)
@example([Document("x", "None")])
@given(st.lists(documents(), min_size=1, max_size=3))
def test_nothing_of_a_mention_is_lost(tmp_path_factory: pytest.TempPathFactory, given: list[Document]) -> None:
    path = tmp_path_factory.getbasetemp() / "round.json"
    assert write(given, path, format="label-studio", force=True).counts == {}
    for document, found in zip(given, read(path), strict=True):
        kept = [trimmed(mention, document.text) for mention in document.mentions]
        assert (found.id, found.text, found.mentions) == (document.id, document.text, kept)


def test_the_bundled_corpora(tmp_path: Path) -> None:
    for corpus in (clinical() / "dev", chinese_clinical() / "dev.jsonl"):
        gold = list(read(corpus))
        losses = write(gold, tmp_path / "a.json", format="label-studio", force=True)
        assert losses.counts["heads"] == sum(mention.head is not None for one in gold for mention in one.mentions)
        for document, found in zip(gold, read(tmp_path / "a.json"), strict=True):
            assert [(*m.key, m.concepts) for m in found.mentions] == [(*m.key, m.concepts) for m in document.mentions]


def test_losses_are_counted(tmp_path: Path) -> None:
    document = Document("mild pain", tokens=[[0, 4]], meta={"a": 1}, mentions=[Mention("x", [(0, 4)], head=(0, 4))])  # type: ignore[arg-type,list-item]
    losses = write([document], tmp_path / "a.json", format="label-studio")
    assert losses.counts == {"heads": 1, "tokens": 1, "meta fields": 1}


def test_the_command_line(command: Any, model: Path, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("No chest pain today.", encoding="utf-8")
    done = command("predict", model, tmp_path / "note.txt", "--output", tmp_path / "a.json", "--format", "label-studio")
    assert done.returncode == 0, done.stderr
    [task] = json.loads((tmp_path / "a.json").read_text())
    assert task["data"] == {"id": "note", "text": "No chest pain today."}
    assert [one["value"]["text"] for one in task["predictions"][0]["result"]] == ["chest pain", "chest"]
    assert "annotations" not in task
    assert '"spans":[[3,13]]' in command("convert", tmp_path / "a.json", "-", "--format", "jsonl").stdout
    assert command("validate", tmp_path / "a.json").returncode == 0
    assert command("convert", tmp_path / "a.json", tmp_path / "bioc.json").returncode == 0
    assert '"spans":[[3,13]]' in command("convert", tmp_path / "bioc.json", "-", "--format", "jsonl").stdout  # is BioC


def one(**annotation: Any) -> dict[str, Any]:
    return {"data": {"text": "mild pain"}, "annotations": [annotation]}


HOSTILE = {
    "no JSON": (b'[{"data": {', "not JSON"),
    "nothing": ([], "the file holds no task"),
    "number": ([{"data": {"text": "a"}}, 7], "tasks[1]: the task is no object"),
    "no text": ([{"data": {"n": 1}, "annotations": []}], "tasks[0]: data: 'text' is missing, expected a text"),
    "text": ([{"data": {"text": [7]}}], "tasks[0]: data: 'text' is of type list, expected a text"),
    "annotations": (
        [{"data": {"text": "a"}, "annotations": {"a": 1}}],
        "annotations is \"{'a': 1}\", expected a list of objects; export",
    ),
    "mixed": (
        [one(result=[]) | {"predictions": [{"result": []}, 3]}],
        "tasks[0]: predictions[1] is '3', expected an object; export",
    ),
    "first": (
        [{"data": {"text": "a"}, "annotations": [3, {"result": []}]}],
        "annotations[0] is '3', expected an object",
    ),
    "no result": ([one(id=1)], "annotations: 'result' is missing, expected a list"),
    "result": ([one(result=[7])], "result[0] is no object, expected a region"),
    "no value": ([one(result=[{"type": "labels"}])], "result[0]: value is no object with a list of 'labels'"),
    "label": ([one(result=[region("a", 0, 4, None) | {"value": {"labels": [1]}}])], "value is no object with a list"),
    "offsets": ([one(result=[region("a", 0.5, 4, None, "x")])], "start and end are '0.5' and '4', expected integers"),  # type: ignore[arg-type]
    "huge": ([one(result=[region("a", 0, 10**30, None, "x")])], "expected integers"),
    "beyond": (
        [one(result=[region("a", 0, 99, None, "x")])],
        "mention a: span 0-99 is outside the text of 9 characters",
    ),
    "beyond with text": ([one(result=[region("a", 0, 99, "mild", "x")])], "mention a: span 0-99 is outside"),
    "negative": ([one(result=[region("a", -4, 4, None, "x")])], "mention a: span -4-4 is outside the text"),
    "other text": ([one(result=[region("a", 0, 4, "pain", "x")])], "the text is 'pain', but 'mild' is at 0-4"),
    "twice": ([one(result=[region("a", 0, 4, None, "x")] * 2)], "two regions have the id 'a'"),
    "overlap": (
        [one(result=[region("a", 0, 4, None, "x"), region("b", 2, 9, None, "x"), joined("a", "b")])],
        "mention a: span 2-9 starts before 4",
    ),
    "score": ([one(result=[region("a", 0, 4, None, "x", score=7)])], "score 7.0 is no probability"),
    "empty label": ([one(result=[region("a", 0, 4, None, "")])], "the type is empty"),
    "deep": (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_one_line(tmp_path: Path, name: str) -> None:
    content, message = HOSTILE[name]
    path = tmp_path / "a.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    with pytest.raises(DataError) as error:
        list(read(path, format="label-studio"))
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert any(problem.severity == "error" for problem in validate(path, format="label-studio"))


def replaced(value: Any, place: list[int], other: Any) -> Any:
    """A value with one part replaced, which a path of numbers finds."""
    if not isinstance(value, dict | list) or not value or not place:
        return other
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[place[0] % len(keys)]
    new = replaced(value[key], place[1:], other)
    return {**value, key: new} if isinstance(value, dict) else [new if i == key else one for i, one in enumerate(value)]


JSON = st.none() | st.booleans() | st.integers(-3, 30) | st.just("a") | st.just([]) | st.just({}) | st.just([[1]])


@settings(deadline=None)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=7), JSON)
def test_whatever_stands_in_a_task_is_read_or_told(place: list[int], other: Any) -> None:
    task = replaced(TASK, place, other)
    try:
        found = understand(task)
    except DataError as error:
        assert "\n" not in str(error)
        with suppress(DataError):  # a task without a text is sound once the document's text stands in it
            write([Document("a", meta={"label_studio": task})], "/dev/null", format="label-studio", force=True)
    else:
        kept = {**task, "data": {name: part for name, part in task["data"].items() if name != "text"}}
        changed = Document("other text", mentions=[Mention("x", [(0, 4)], "a1")], meta={"label_studio": kept})
        sound = [] if find_errors(found.document) else [found.document]
        write([*sound, changed], "/dev/null", format="label-studio", force=True)


def test_relations_that_join_nothing_are_told(tmp_path: Path) -> None:
    cycle = [
        region("a", 0, 4, None, "x"),
        region("b", 5, 9, None, "x"),
        joined("a", "b"),
        joined("b", "a"),
        joined("a", "q"),
    ]
    problems = list(validate(tasks(tmp_path / "a.json", one(result=cycle))))
    assert [problem.kind for problem in problems] == ["relation"]
    [document] = read(tmp_path / "a.json")
    assert document.mentions == [Mention("x", [(0, 4), (5, 9)], "a")]


def test_output_is_whole_or_absent(tmp_path: Path) -> None:
    for meta in ({"label_studio": 7}, {"label_studio": {"data": 7}}, {"label_studio": {"data": {}, "x": {1}}}):
        with pytest.raises(DataError, match=r"a\.json: document 'x'"):
            write([Document("fine"), Document("a", id="x", meta=meta)], tmp_path / "a.json", format="label-studio")
    assert list(tmp_path.iterdir()) == []
    write([], tmp_path / "a.json", format="label-studio")
    assert json.loads((tmp_path / "a.json").read_text()) == []
    with pytest.raises(UsageError, match="--force"):
        write([], tmp_path / "a.json", format="label-studio")


HTML = "<div><p>She had <b>chest</b> pain &amp; fever.</p><p>No 💩 cough.</p></div>"
SHOWN = "She had chest pain & fever.\nNo 💩 cough."


def node(first: str, start: int, last: str, end: int, text: str, **more: Any) -> dict[str, Any]:
    value = {"start": first, "startOffset": start, "end": last, "endOffset": end, "text": text, **more}
    return {"id": text, "type": "hypertextlabels", "from_name": "x", "to_name": "y", "value": value}


IN_P, IN_B, BEHIND, LAST = (
    f"/div[1]/{path}/text()[{number}]" for path, number in (("p[1]", 1), ("p[1]/b[1]", 1), ("p[1]", 2), ("p[2]", 1))
)
NODES = {
    "nodes": (node(IN_B, 0, BEHIND, 5, "chest pain"), node(LAST, 5, LAST, 10, "cough")),
    "with tags in the text": (node(IN_B, 0, BEHIND, 5, "chest\\npain"), node(LAST, 5, LAST, 10, "cough")),
    "units of UTF-16": (node(IN_B, 0, BEHIND, 5, "chest pain"), node(LAST, 6, LAST, 11, "cough")),
    "offsets of all": (
        node("/x[1]", 0, "/x[1]", 1, "chest pain", globalOffsets={"start": 8, "end": 18}),
        node("/x[1]", 0, "/x[1]", 1, "cough", globalOffsets={"start": 32, "end": 37}),
    ),
}


@pytest.mark.parametrize("name", NODES)
def test_regions_of_html(tmp_path: Path, name: str) -> None:
    results = [one | {"value": one["value"] | {"hypertextlabels": ["x"]}} for one in NODES[name]]
    task = {"data": {"note": HTML}, "annotations": [{"result": results}]}
    [document, other] = read(tasks(tmp_path / "a.json", task, {"data": {"note": "<p>Other</p>"}, "annotations": []}))
    assert (document.text, other.text) == (SHOWN, "Other")
    assert [(mention.type, mention.text(document.text)) for mention in document.mentions] == [
        ("x", "chest pain"),
        ("x", "cough"),
    ]
    assert written(tmp_path, document) == task
    fields = {"id": 7, "note": HTML, "label": [one["value"] for one in results], "annotator": 3, "annotation_id": 2}
    [least] = read(tasks(tmp_path / "b.json", fields))
    assert (least.id, least.text) == ("7", SHOWN)
    assert [mention.spans for mention in least.mentions] == [mention.spans for mention in document.mentions]


DIALOGUE = [{"author": "Dr", "text": "Any pain?"}, {"author": "Pt", "text": "I have 💩 pain."}]
REGIONS = {
    "numbers": {"start": 1, "end": 1, "startOffset": 9, "endOffset": 13},
    "text": {"start": "1", "end": "1", "startOffset": 9, "endOffset": 13},
    "units of UTF-16": {"start": "1", "end": "1", "startOffset": 10, "endOffset": 14},
    "beside those of all": {
        "start": "1", "end": "1", "startOffset": 9, "endOffset": 13, "globalOffsets": {"start": 18, "end": 22},
    },
    "of all alone": {"start": "x", "end": "x", "globalOffsets": {"start": 19, "end": 23}},
}  # fmt: skip


@pytest.mark.parametrize("name", REGIONS)
def test_regions_of_a_dialogue(tmp_path: Path, name: str) -> None:
    value = REGIONS[name] | {"text": "pain", "paragraphlabels": ["x"]}
    over = {"start": "0", "end": "1", "startOffset": 4, "endOffset": 6, "text": "pain?\\n\\nI have", "labels": ["y"]}
    results = [
        {"id": str(i), "type": "paragraphlabels", "from_name": "x", "to_name": "y", "value": one}
        for i, one in enumerate((value, over))
    ]
    task = {"data": {"title": "a note", "talk": DIALOGUE}, "annotations": [{"result": results}]}
    [document] = read(tasks(tmp_path / "a.json", task))
    assert document.text == "Any pain?\nI have 💩 pain."
    assert [(mention.type, mention.spans) for mention in document.mentions] == [("x", ((19, 23),)), ("y", ((4, 16),))]
    assert written(tmp_path, document) == task


@pytest.mark.parametrize("data", [{"note": HTML}, {"note": DIALOGUE}])
def test_new_mentions_of_html_and_dialogues_read_back(tmp_path: Path, data: dict[str, Any]) -> None:
    kind = "hypertextlabels" if data["note"] == HTML else "paragraphlabels"
    results = [node("/div[1]/p[1]/text()[1]", 0, "/div[1]/p[1]/text()[1]", 3, "She")] if data["note"] == HTML else []
    for one in results:
        one["value"][kind] = ["x"]
    [document] = read(tasks(tmp_path / "a.json", {"data": data, "annotations": [{"result": results}]}))
    start = document.text.index("pain")
    wanted = [Mention("y", [(0, 3), (start, start + 4)], "m"), Mention("y", [(start, len(document.text))], "n")]
    document.mentions = wanted
    task = written(tmp_path, document)
    assert task["data"] == data
    assert {one["type"] for one in task["annotations"][0]["result"]} == {kind, "relation"}
    [again] = read(tmp_path / "out.json")
    assert (again.text, again.mentions) == (document.text, wanted)
    document.mentions = [one.replace(score=0.5) for one in wanted]
    assert {one["type"] for one in written(tmp_path, document)["predictions"][0]["result"]} == {kind, "relation"}


@pytest.mark.parametrize(("data", "start"), [("<p>💩 pain</p>", "/p[1]/text()[1]"), ([{"text": "💩 pain"}], "0")])
def test_offsets_in_nodes_and_paragraphs_are_those_at_which_the_page_shows_them(data: Any, start: str) -> None:
    shown = text_of(data, True)
    assert shown is not None
    _, value = shown.region(2, 6, "x")
    assert {"text": "pain", "start": start, "startOffset": 3, "end": start, "endOffset": 7}.items() <= value.items()
    del value["text"]
    assert shown.span(value) == (2, 6)


def test_annotations_that_are_numbers_are_reported_beside_predictions(tmp_path: Path) -> None:
    task = {"data": {"text": "No pain."}, "annotations": [3], "predictions": [{"result": []}]}
    with pytest.warns(DataWarning, match="the file has the numbers of annotations and no regions"):
        list(read(tasks(tmp_path / "a.json", task)))


def test_predictions_that_are_numbers_are_reported_and_replaced(tmp_path: Path) -> None:
    # as version 1.23 exports them
    path = tasks(tmp_path / "a.json", {"data": {"text": "No pain."}, "annotations": [], "predictions": [4, 5]})
    found: list[str] = []
    [document] = read(path, notice=found.append)
    assert "the file has the numbers of predictions and no regions" in found[0]
    document.mentions = [Mention("x", [(3, 7)], score=0.5)]
    assert [one["score"] for one in written(tmp_path, document)["predictions"]] == [0.5]
    annotated = one(result=[region("a", 0, 4, "mild", "x")]) | {"predictions": [4]}
    [document] = read(tasks(tmp_path / "a.json", annotated), notice=found.append)
    assert ([one.text(document.text) for one in document.mentions], len(found)) == (["mild"], 1)


def test_regions_outside_the_text_are_counted(tmp_path: Path) -> None:
    lost = [
        node("/div[1]/p[9]/text()[1]", 0, "/div[1]/p[9]/text()[1]", 3, "gone", hypertextlabels=["x"]),
        node(IN_P, 0, IN_P, 3, "She", hypertextlabels=["x"]),
    ]
    path = tasks(tmp_path / "a.json", {"data": {"note": HTML}, "annotations": [{"result": lost}]})
    found: list[str] = []
    [document] = read(path, notice=found.append)
    assert [mention.text(document.text) for mention in document.mentions] == ["She"]
    assert "result[0]: a region of 'x' is not in the text (start '/div[1]/p[9]/text()[1]'" in found[0]


def test_html_as_browsers_understand_it() -> None:
    html = "<table><tr><td>Hb<td>9</table><p>a<p>b<script>no</script>c<br>d<ul><li>e<li>f &lt;5</ul>3 < 4 <!-- --> g"
    shown = text_of(html, True)
    assert shown is not None
    assert shown.text == "Hb 9\na\nbc\nd\ne\nf <5\n3 < 4  g"
    assert {shown.text[start] for start, _ in shown.places.values()} >= set("Hb9 abcdef3".replace(" ", ""))
    assert "/table[1]/tbody[1]/tr[1]/td[2]/text()[1]" in shown.places
    assert "/p[2]/text()[2]" in shown.places


def test_hostile_html_takes_linear_time() -> None:
    many = 30_000
    parts = ("<", "<p>", "</p>", "<!--", "<a ", "<a b='", "&#x", "<script>", "<td>x", "<![", '<a ="')
    started = process_time()
    for html in (*(part * many for part in parts), "<div>" * many + "</p>" * many):
        region_ = node("/text()[1]", 0, "/text()[1]", 1, "x", hypertextlabels=["x"])
        understand({"data": {"text": html}, "annotations": [{"result": [region_]}]})
    assert process_time() - started < 20


@pytest.mark.parametrize(
    ("data", "text", "count"),
    [
        ([{"author": "A"}, {"author": "B", "text": "x y"}], "\nx y", 1),
        (["No pain.", "x y"], "No pain.\nx y", 1),
        ("https://example.org/talk.json", "https://example.org/talk.json", 0),
    ],
)
def test_other_forms_of_dialogues(tmp_path: Path, data: Any, text: str, count: int) -> None:
    value = {"start": "1", "end": "1", "startOffset": 0, "endOffset": 3, "paragraphlabels": ["x"]}
    path = tasks(
        tmp_path / "a.json",
        {"data": {"talk": data}, "annotations": [{"result": [{"type": "paragraphlabels", "value": value}]}]},
    )
    found: list[str] = []
    [document] = read(path, notice=found.append)
    assert (document.text, [one.text(text) for one in document.mentions]) == (text, ["x y"] * count)
    assert ["is not in the text (start '1'" in one for one in found] == [True] * (1 - count)
