"""The protocol of Label Studio's ML backends: requests in the shape in which Label Studio sends them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from test_hostile_requests import SURROGATE, refused

from spanloom import Document, read
from spanloom.models import load

TEXT = "😀 The left ventricle is mildly dilated. No chest pain."
SETUP = """<View>
  <Labels name="kinds" toName="note">
    <Label value="Problem" background="red"/><Label value="anatomy"/><Label value="other"/>
  </Labels>
  <Text name="note" value="$body" granularity="word"/>
  <Choices name="negated" toName="note" perRegion="true"><Choice value="true"/><Choice value="false"/></Choices>
  <TextArea name="concept" toName="note" perRegion="true"/>
</View>"""


def body(*texts: Any, setup: str = SETUP) -> dict[str, Any]:
    tasks = [
        {
            "id": number, "data": {"body": text, "source": "a.txt"}, "meta": {}, "project": 3, "is_labeled": False,
            "annotations": [], "predictions": [], "created_at": "2024-06-18T23:45:46.048490Z",
        }
        for number, text in enumerate(texts, 7)
    ]  # fmt: skip
    params = {"login": None, "password": None, "context": None}
    return {"tasks": tasks, "project": "3.1718754346", "label_config": setup, "params": params}


def test_a_prediction_is_read_as_the_mentions_of_the_model(
    client: httpx.Client, models: dict[str, Path], tmp_path: Path
) -> None:
    answer = client.post("/label-studio/predict", json=body(TEXT, "No fever.", "")).json()
    assert [one.keys() >= {"result", "model_version"} for one in answer["results"]] == [True] * 3
    found = load(models["clinical"]).predict([Document(TEXT), Document("No fever.")])  # type: ignore[union-attr]
    tasks = [
        {"data": {"body": text}, "predictions": [one]}
        for text, one in zip([TEXT, "No fever."], answer["results"], strict=False)
    ]
    (tmp_path / "a.json").write_text(json.dumps(tasks))
    for task, expected in zip(read(tmp_path / "a.json"), found, strict=True):
        wanted = [one for one in expected.mentions if one.type in ("problem", "anatomy")]
        assert [one.spans for one in task.mentions] == [one.spans for one in wanted]
        assert {one.type for one in task.mentions} <= {"Problem", "anatomy"}
        assert [one.score for one in task.mentions] == pytest.approx([one.score for one in wanted])
    [first, second, _] = answer["results"]
    gapped = [one for one in found[0].mentions if len(one.spans) > 1]
    relations = [one for one in first["result"] if one["type"] == "relation"]
    assert len(relations) == sum(len(one.spans) - 1 for one in gapped) > 0
    assert first["score"] == min(one["score"] for one in first["result"] if "score" in one)
    regions = [one for one in first["result"] if one["type"] == "labels"]
    assert {(one["from_name"], one["to_name"]) for one in regions} == {("kinds", "note")}
    for one in regions:  # offsets are those of characters, also behind an emoji
        assert TEXT[one["value"]["start"] : one["value"]["end"]] == one["value"]["text"]
    assert first["model_version"] == second["model_version"] == answer["model_version"]
    assert answer["model_version"].startswith("clinical-")


def test_setup_tells_the_version_and_a_project_that_has_none_of_the_labels(client: httpx.Client) -> None:
    given = {"project": "3.1718754346", "hostname": "http://localhost:8080", "access_token": "x", "extra_params": None}
    version = client.post("/label-studio/setup", json={**given, "schema": SETUP}).json()["model_version"]
    for empty in ("", "<View></View>", '<View><Image name="i" value="$i"/></View>'):
        assert client.post("/label-studio/setup", json={**given, "schema": empty}).json() == {"model_version": version}
    assert client.get("/label-studio/health").json()["status"] == "UP"
    other = SETUP.replace('"Problem"', '"PER"').replace('"anatomy"', '"LOC"')
    refused(client.post("/label-studio/setup", json={**given, "schema": other}), 422, "PER, LOC, other", "the model")


def test_hypertext_paragraphs_and_a_model_by_name(client: httpx.Client, tmp_path: Path) -> None:
    hypertext = SETUP.replace("Labels", "HyperTextLabels").replace("<Text ", "<HyperText ")
    html = "<p>No <b>chest</b> pain.</p>"
    answer = client.post("/label-studio/linker/predict", json=body(html, "chest pain", setup=hypertext)).json()
    assert answer["model_version"].startswith("linker-")
    answer = client.post("/label-studio/clinical/predict", json=body(html, "chest pain", setup=hypertext)).json()
    values = [
        [one["value"] for one in task["result"] if one["type"] == "hypertextlabels"] for task in answer["results"]
    ]
    assert {one["type"] for task in answer["results"] for one in task["result"]} == {"hypertextlabels", "choices"}
    assert {"start": "/p[1]/b[1]/text()[1]", "startOffset": 0}.items() <= values[0][0].items()
    assert {"start": "/text()[1]", "startOffset": 0, "endOffset": 10}.items() <= values[1][0].items()
    paragraphs = SETUP.replace("Labels", "ParagraphLabels").replace("<Text ", '<Paragraphs textKey="text" ')
    said = [{"author": "A", "text": "Pain?"}, {"author": "B", "text": "No chest pain."}]
    [task] = client.post("/label-studio/predict", json=body(said, setup=paragraphs)).json()["results"]
    assert task["result"][0]["type"] == "paragraphlabels"
    (tmp_path / "a.json").write_text(json.dumps([{"data": {"body": said}, "predictions": [task]}]))
    [document] = read(tmp_path / "a.json")
    assert "chest pain" in [one.text(document.text) for one in document.mentions]


def test_concepts_and_attributes_come_only_where_the_project_has_them(client: httpx.Client) -> None:
    def kinds(setup: str) -> set[str]:
        asked = body("The patient has pneumonia and chest pain.", setup=setup)
        [task] = client.post("/label-studio/linker/predict", json=asked).json()["results"]
        assert task["result"]
        return {one["type"] for one in task["result"]}

    assert kinds(SETUP) == {"labels", "textarea"}
    assert kinds(SETUP.replace('"concept"', '"remark"')) == {"labels"}


def test_events_change_nothing_and_training_is_refused(client: httpx.Client) -> None:
    event = {"action": "ANNOTATION_CREATED", "project": {"id": 3, "label_config": SETUP}, "annotation": {"id": 1}}
    assert client.post("/label-studio/webhook", json=event).json()["status"] == "ok"
    start = {"action": "START_TRAINING", "project": {"id": 3, "label_config": SETUP}}
    refused(client.post("/label-studio/webhook", json=start), 422, "does not train; use spanloom train")
    refused(client.post("/label-studio/train", json=body()), 422, "does not train; use spanloom train")


LAUGHS = '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><View><Labels name="&b;"/></View>'
OUTSIDE = '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><View><Labels name="&a;"/></View>'


@pytest.mark.parametrize(
    ("changed", "status", "word"),
    [
        ([], 422, "expected an object as Label Studio sends it"),
        ({"tasks": None}, 422, "tasks is 'None'"),
        ({"tasks": {"data": 1}}, 422, "expected a list of tasks"),
        ({"tasks": [3]}, 422, "tasks[0] is no task"),
        ({"tasks": [{"data": {"body": "a"}}, {"data": "a"}]}, 422, "tasks[1] is no task"),
        ({"tasks": [{"data": {"text": "a"}}]}, 422, "tasks[0]: data.'body' is 'None', expected the text"),
        ({"tasks": [{"data": {"body": ["a", 3]}}]}, 422, "expected the text"),
        ({"tasks": [{"data": {"body": "a"}}] * 1001}, 413, "at most 1,000 are taken"),
        ({"tasks": [{"data": {"body": "pain. " * 80_000}}]}, 413, "split it"),
        ({"label_config": None}, 422, "label_config is 'None', expected the labelling setup"),
        ({"label_config": 3}, 422, "expected the labelling setup as XML"),
        ({"label_config": ""}, 422, "the labelling setup is no XML"),
        ({"label_config": "<View>"}, 422, "the labelling setup is no XML"),
        ({"label_config": "<View></View>"}, 422, "has no labels of a text"),
        ({"label_config": "<b>" * 200 + "</b>" * 200}, 422, "more than 100 elements within each other"),
        ({"label_config": LAUGHS}, 422, "document type"),
        ({"label_config": OUTSIDE}, 422, "document type"),
        ({"label_config": '<?xml version="1.0" encoding="x"?><View/>'}, 422, "labelling setup"),
        ({"label_config": SETUP.replace("<Text ", '<Text valueType="url" ')}, 422, "set valueType to text"),
        ({"label_config": SETUP.replace("<Text ", "<Image ")}, 422, "has no labels of a text"),
    ],
)
def test_bodies_that_are_refused(client: httpx.Client, changed: Any, status: int, word: str) -> None:
    asked = body(TEXT) | changed if isinstance(changed, dict) else changed
    refused(client.post("/label-studio/predict", json=asked), status, word)
    assert client.get("/health").status_code == 200


def test_bytes_that_are_refused(client: httpx.Client) -> None:
    for path in ("predict", "setup", "webhook"):
        for raw, word in ((b"", "not JSON"), (b"[" * 100_000, "nested"), (SURROGATE.encode(), "surrogate")):
            refused(client.post(f"/label-studio/{path}", content=raw), 400, word)
        refused(client.post(f"/label-studio/{path}", content=b" " * 5_000_000), 413, "larger than")
    refused(client.post("/label-studio/webhook", json={"action": 3}), 422, "expected the name of an event")
    refused(client.post("/label-studio/none/predict", json=body(TEXT)), 404, "no model is called 'none'")
    foreign = {"Origin": "http://evil.example"}
    refused(client.post("/label-studio/predict", json=body(TEXT), headers=foreign), 403, "Origin")


def test_markup_in_a_text_is_text(client: httpx.Client) -> None:
    text = "<script>alert(1)</script> chest pain &amp; <b>fever"
    [task] = client.post("/label-studio/predict", json=body(text)).json()["results"]
    for one in task["result"]:
        if one["type"] == "labels":
            assert text[one["value"]["start"] : one["value"]["end"]] == one["value"]["text"]
    assert any("chest pain" in one["value"]["text"] for one in task["result"] if one["type"] == "labels")
