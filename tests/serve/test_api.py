"""The HTTP API over a real socket: what it answers."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from spanloom.document import Document, Mention
from spanloom.formats import from_record, to_record
from spanloom.model.parameters import LEAST
from spanloom.models import load
from spanloom.serve import schema

TEXT = "No chest pain, but infarctions, either watershed or embolic."
KINDS = {"clinical": "recognizer", "cascade": "cascade", "linker": "linker", "segmenter": "segmenter"}


@pytest.mark.parametrize("name", KINDS)
def test_predict_gives_what_the_model_gives(client: httpx.Client, models: dict[str, Path], name: str) -> None:
    answer = client.post("/predict", params={"model": name}, json={"text": TEXT, "id": "a"})
    assert answer.status_code == 200
    schema.Record.model_validate(answer.json(), strict=True)
    [expected] = load(models[name]).predict([Document(TEXT, id="a")])  # type: ignore[union-attr]
    assert answer.json() == json.loads(json.dumps(to_record(expected)))


def test_a_record_with_attributes_and_sections_is_one_of_the_schema() -> None:
    scores = {"attribute_scores": {"negated": 0.5}, "concept_scores": [0.25]}
    mention = Mention("problem", [(3, 13)], None, None, ["D1"], 0.75, {"negated": True, "course": "acute"}, **scores)
    record = to_record(Document(TEXT, mentions=[mention], sections=[("plan", (0, 13))]))
    read = schema.Record.model_validate(record, strict=True).model_dump(exclude_unset=True)
    assert read == record
    with pytest.raises(ValueError, match="less than or equal to 1"):
        schema.Record.model_validate({**record, "mentions": [{**record["mentions"][0], "concept_scores": [2]}]})


def test_the_first_model_is_used_where_none_is_named(client: httpx.Client) -> None:
    record = {"text": TEXT}
    assert client.post("/predict", json=record).json() == client.post("/predict?model=clinical", json=record).json()


def test_a_list_comes_back_as_a_list(client: httpx.Client, sample: str) -> None:
    records = [{"text": TEXT, "id": "a"}, {"text": "", "id": "b"}, {"text": sample, "id": "c"}]
    answer = client.post("/predict", json=records).json()
    assert answer == [client.post("/predict", json=record).json() for record in records]
    assert client.post("/predict", json=[]).json() == []


def test_tokens_sentences_and_columns_are_used_and_mentions_are_not(client: httpx.Client) -> None:
    record = {
        "text": "chest pain", "tokens": [[0, 10]], "sentences": [[0, 1]], "columns": {"pos": ["NN"]},
        "mentions": [{"type": "nonsense", "spans": [[0, 5]]}], "meta": {"kept": 1},
    }  # fmt: skip
    answer = client.post("/predict", json=record).json()
    assert {name: answer[name] for name in record if name != "mentions"} == {
        name: value for name, value in record.items() if name != "mentions"
    }
    assert all(mention["type"] != "nonsense" and mention["spans"] == [[0, 10]] for mention in answer["mentions"])


def test_the_threshold_leaves_out(client: httpx.Client, sample: str) -> None:
    every = client.post("/predict", json={"text": sample}).json()["mentions"]
    scores = sorted(mention["score"] for mention in every)
    threshold = scores[len(scores) // 2]
    kept = client.post("/predict", params={"threshold": threshold}, json={"text": sample}).json()["mentions"]
    assert kept == [mention for mention in every if mention["score"] >= threshold]
    assert 0 < len(kept) < len(every)
    linked = client.post("/predict", params={"threshold": 0.5, "model": "linker"}, json={"text": sample}).json()
    assert all(mention["score"] >= 0.5 for mention in linked["mentions"])


def test_other_mentions_have_the_marginals_of_the_model(
    client: httpx.Client, models: dict[str, Path], sample: str
) -> None:
    answer = client.post("/predict?others=true", json={"text": sample}).json()
    others = answer["meta"]["others"]
    assert others
    assert answer["mentions"] == client.post("/predict", json={"text": sample}).json()["mentions"]
    found = [(mention["type"], mention["spans"]) for mention in answer["mentions"]]
    assert not [mention for mention in others if (mention["type"], mention["spans"]) in found]
    document = from_record({"text": sample, "mentions": others})
    [marginals] = load(models["clinical"]).marginals([document])  # type: ignore[union-attr]
    assert marginals == pytest.approx([mention["score"] for mention in others], abs=1e-9)
    assert min(marginals) >= LEAST
    linked = client.post("/predict?others=true&model=linker", json={"text": sample}).json()["meta"]["others"]
    assert linked and all(LEAST <= mention["score"] <= 1 for mention in linked)


@pytest.mark.parametrize("name", ["clinical", "cascade", "linker"])
def test_explain(client: httpx.Client, name: str, sample: str) -> None:
    record = client.post("/predict", params={"model": name}, json={"text": sample}).json()
    mention = record["mentions"][0]
    answer = client.post("/explain", params={"model": name}, json={"document": record, "mention": mention})
    assert answer.status_code == 200, answer.text
    schema.ExplanationRecord.model_validate(answer.json(), strict=True)
    explanation = answer.json()
    assert explanation["predicted"]
    assert explanation["mention"]["spans"] == mention["spans"]
    if name == "linker":
        assert [one["concepts"] for one in explanation["candidates"]].count(mention.get("concepts", [])) == 1
    else:
        assert explanation["probability"] == pytest.approx(mention["score"])
        assert sum(part["score"] for part in explanation["contributions"]) == pytest.approx(explanation["log_odds"])
        assert any(part["features"] for part in explanation["contributions"])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"document": {"text": "pain"}}, "'mention'"),
        ({"document": {"text": "pain"}, "mention": {"type": "nonsense", "spans": [[0, 4]]}}, "no type 'nonsense'"),
        ({"document": {"text": "pain"}, "mention": {"type": "problem", "spans": [[0, 2]]}}, "cannot hold"),
        ({"document": {"text": "pain"}, "mention": {"type": "problem", "spans": [[0, 9]]}}, "outside the text"),
        ([], "'document'"),
    ],
)
def test_explain_says_what_it_cannot(client: httpx.Client, body: object, expected: str) -> None:
    answer = client.post("/explain", json=body)
    assert answer.status_code == 422
    assert expected in answer.json()["error"]


def test_models_and_health(client: httpx.Client, models: dict[str, Path]) -> None:
    answer = client.get("/models").json()
    schema.ModelList.model_validate(answer, strict=True)
    assert {model["name"]: model["kind"] for model in answer["models"]} == KINDS
    assert answer["models"][0]["types"] == list(load(models["clinical"]).types_)  # type: ignore[union-attr]
    assert answer["limits"]["text"] == 400_000
    schema.Health.model_validate(client.get("/health").json(), strict=True)


def test_openapi_names_every_end_point_and_holds_what_it_refers_to(client: httpx.Client) -> None:
    described = client.get("/openapi.json").json()
    assert described["paths"].keys() == {"/predict", "/explain", "/models", "/health"}
    references = {part.split('"')[0] for part in json.dumps(described).split('"$ref": "#/components/schemas/')[1:]}
    assert references <= described["components"]["schemas"].keys()
    for path, methods in described["paths"].items():
        for operation in methods.values():
            assert {"200", "4XX"} <= operation["responses"].keys(), path
            assert "422" not in operation["responses"]
            assert operation["description"]


def test_the_reference_loads_nothing_and_names_everything(client: httpx.Client) -> None:
    page = client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    described = client.get("/openapi.json").json()
    assert all(path in page.text for path in described["paths"])
    assert all(f'id="{name}"' in page.text for name in described["components"]["schemas"])
    assert "<script" not in page.text
    assert "http://" not in page.text and "https://" not in page.text


@pytest.mark.parametrize("path", ["/", "/docs", "/health", "/nowhere", "/openapi.json"])
def test_every_answer_has_the_headers_of_safety(client: httpx.Client, path: str) -> None:
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["content-security-policy"] == "frame-ancestors 'none'"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


@pytest.mark.parametrize("name", KINDS)
def test_threads_share_a_model(client: httpx.Client, server: object, name: str, sample: str) -> None:
    texts = [sample[i * 40 :] for i in range(12)]
    alone = [client.post("/predict", params={"model": name}, json={"text": text}).content for text in texts]
    with ThreadPoolExecutor(12) as pool:
        together = pool.map(
            lambda text: client.post("/predict", params={"model": name}, json={"text": text}).content, texts * 3
        )
        assert list(together) == alone * 3


@pytest.mark.parametrize("path", ["", "docs", "openapi.json"])
def test_a_page_is_one_small_file(client: httpx.Client, path: str) -> None:
    answer = client.get(f"/{path}")
    assert (answer.status_code, len(answer.content) < 300_000) == (200, True)
