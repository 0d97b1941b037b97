"""INCEpTION's external recommenders: requests in the shape in which its developer guide shows them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import cassis
import httpx
import pytest
from test_hostile_requests import refused

from spanloom import Document
from spanloom.formats.xmi import written_types
from spanloom.models import load

TEXT = "😀 The left ventricle is mildly dilated. No chest pain."
LAYER = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
CUSTOM = "webanno.custom.Finding"
XMI = """<?xml version="1.0" encoding="UTF-8"?> <xmi:XMI xmlns:tcas="http:///uima/tcas.ecore" \
xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" xmi:version="2.0"> <cas:NULL xmi:id="0"/> \
<tcas:DocumentAnnotation xmi:id="8" sofa="1" begin="0" end="{end}" language="x-unspecified"/> <cas:Sofa xmi:id="1" \
sofaNum="1" sofaID="_InitialView" mimeType="text/plain" sofaString={text}/> \
<cas:View sofa="1" members="8"/> </xmi:XMI>"""
TYPES = """<?xml version="1.0" encoding="UTF-8"?> <typeSystemDescription \
xmlns="http://uima.apache.org/resourceSpecifier"> <types> <typeDescription> <name>{name}</name> <description/> \
<supertypeName>{super}</supertypeName> <features>{features}</features> </typeDescription> </types> \
</typeSystemDescription>"""


def feature(name: str, kind: str = "String") -> str:
    return (
        f"<featureDescription><name>{name}</name><description/><rangeTypeName>uima.cas.{kind}</rangeTypeName>"
        "</featureDescription>"
    )


def types(name: str, *features: str, above: str = "uima.tcas.Annotation") -> str:
    return TYPES.format(name=name, super=above, features="".join(features))


EXAMPLE = types("uima.tcas.DocumentAnnotation", feature("language"))
FULL = types(
    CUSTOM, feature("kind"), feature("kind_score", "Double"), feature("kind_score_explanation"),
    feature("kind_auto_accept"), feature("inception_internal_predicted", "Boolean"), feature("identifier"),
    feature("kinds", "StringArray"),
)  # fmt: skip


def body(text: str = TEXT, layer: str = LAYER, name: str = "value", system: str = EXAMPLE) -> dict[str, Any]:
    end = len(text.encode("utf-16-le")) // 2
    return {
        "metadata": {
            "layer": layer, "feature": name, "projectId": 1337, "anchoringMode": "tokens", "crossSentence": False,
            "range": {"begin": 0, "end": end},
        },
        "document": {"xmi": XMI.format(end=end, text=quoteattr(text)), "documentId": 42, "userId": "testuser"},
        "typeSystem": system,
    }  # fmt: skip


def predictions(answer: httpx.Response, layer: str = LAYER) -> list[Any]:
    assert answer.status_code == 200, answer.text
    assert answer.json().keys() == {"document"}
    system = written_types()
    kind = system.get_type(layer) if system.contains_type(layer) else system.create_type(layer, "uima.tcas.Annotation")
    for name in ("value", "kind", "identifier", "kind_score_explanation"):
        if name not in {one.name for one in kind.all_features}:
            system.create_feature(kind, name, "uima.cas.String")
    for name in ("value_score", "kind_score", "kinds_score", "identifier_score"):
        system.create_feature(kind, name, "uima.cas.Double")
    system.create_feature(kind, "kinds", "uima.cas.StringArray")
    system.create_feature(kind, "inception_internal_predicted", "uima.cas.Boolean")
    cas = cassis.load_cas_from_xmi(answer.json()["document"], typesystem=system, lenient=True)
    assert cas.sofa_string == TEXT
    found = list(cas.select(layer))
    assert all(one.inception_internal_predicted for one in found)
    return found


def test_the_published_request(client: httpx.Client, models: dict[str, Path]) -> None:
    found = predictions(client.post("/inception/predict", json=body()))
    [document] = load(models["clinical"]).predict([Document(TEXT)])  # type: ignore[union-attr]
    expected = [(part.start, part.end, one.type, one.score) for one in document.mentions for part in one.spans]
    assert sorted((one.begin, one.end, one.value) for one in found) == sorted(one[:3] for one in expected)
    assert sorted(one.value_score for one in found) == pytest.approx(sorted(one[3] for one in expected))


def test_parts_of_a_mention_are_explained_where_the_layer_can_hold_it(client: httpx.Client) -> None:
    found = predictions(
        client.post("/inception/clinical/predict", json=body(layer=CUSTOM, name="kind", system=FULL)), CUSTOM
    )
    said = {TEXT[one.begin : one.end]: one.kind_score_explanation for one in found if one.kind_score_explanation}
    assert said == {
        "left ventricle": "part 1 of 2: left ventricle … dilated",
        "dilated": "part 2 of 2: left ventricle … dilated",
    }
    assert {one.kind for one in found} >= {"problem", "anatomy"}


def test_several_values_and_concepts(client: httpx.Client) -> None:
    asked = body(layer=CUSTOM, name="kinds", system=FULL)
    assert {
        tuple(one.kinds.elements) for one in predictions(client.post("/inception/predict", json=asked), CUSTOM)
    } >= {("problem",)}
    asked = body(layer=CUSTOM, name="identifier", system=FULL)
    linked = predictions(client.post("/inception/linker/predict", json=asked), CUSTOM)
    assert linked and all(re.match(r"[A-Z]", one.identifier) for one in linked)
    assert predictions(client.post("/inception/clinical/predict", json=asked), CUSTOM) == []  # it has no concepts


def test_tokens_of_the_document_are_used(client: httpx.Client) -> None:
    token = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"
    asked = body("chest painful", system=types(token))
    xmlns = 'xmlns:type="http:///de/tudarmstadt/ukp/dkpro/core/api/segmentation/type.ecore" xmi:version'
    given = asked["document"]["xmi"].replace("xmi:version", xmlns).replace(
        "<cas:Sofa", '<type:Token xmi:id="9" sofa="1" begin="0" end="13"/> <cas:Sofa'
    )  # fmt: skip
    asked["document"]["xmi"] = given.replace('members="8"', 'members="8 9"')
    answer = client.post("/inception/predict", json=asked).json()["document"]
    places = set(re.findall(r'NamedEntity[^>]*begin="(\d+)" end="(\d+)"', answer))
    assert places <= {("0", "13")}


def test_training_is_refused(client: httpx.Client) -> None:
    asked = {**body(), "documents": [body()["document"]]}
    refused(client.post("/inception/train", json=asked), 422, "does not train; use spanloom train")


LAUGHS = '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
OUTSIDE = '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
START = '<?xml version="1.0" encoding="UTF-8"?> '
CYCLE = types("a.A", above="a.B").partition("</types>")[0] + types("a.B", above="a.A").partition("<types>")[2]


@pytest.mark.parametrize(
    ("part", "value", "word"),
    [
        ("metadata", None, "'metadata' is missing, expected an object"),
        ("document", "x", "'document' is of type str, expected an object"),
        ("typeSystem", 3, "'typeSystem' is of type int, expected a text"),
        ("typeSystem", "", "no well-formed XML"),
        ("typeSystem", "x", "no well-formed XML"),
        ("typeSystem", EXAMPLE.replace(START, START + LAUGHS), "document type"),
        ("typeSystem", EXAMPLE.replace(START, START + OUTSIDE), "document type"),
        ("typeSystem", EXAMPLE.replace("UTF-8", "UTF-16"), "typeSystem"),
        ("typeSystem", CYCLE, "ircular"),
        ("typeSystem", types("a.A", feature("x=print(1)")), "expected a name of letters"),
        ("typeSystem", types("a.A", feature("x", "Nothing")), "typeSystem"),
        ("metadata.layer", None, "'layer' is missing, expected a text"),
        ("metadata.layer", "", "name a layer of spans"),
        ("metadata.layer", "a b", "name a layer of spans"),
        ("metadata.layer", "uima.cas.TOP", "no layer of spans"),
        ("metadata.feature", ["value"], "expected a text"),
        ("metadata.feature", "begin", "expected a text"),
        ("metadata.feature", "self", "name a layer of spans and a feature"),
        ("metadata.feature", "x=print(1)", "expected a name of letters"),
        ("document.xmi", None, "'xmi' is missing, expected a text"),
        ("document.xmi", "<html></html>", "expected <xmi:XMI>"),
        ("document.xmi", XMI.format(end=1, text='"a"').replace(START, START + LAUGHS), "document type"),
        ("document.xmi", XMI.format(end=1, text='"&a;"').replace(START, START + OUTSIDE), "document type"),
        ("document.xmi", XMI.format(end=1, text='"a"').replace("sofaString", "other"), "cannot be understood"),
        ("document.xmi", XMI.format(end=1, text='"a"')[:-30], "no well-formed XML"),
        ("document.xmi", "<a>" * 100_000, "expected <xmi:XMI>"),
        ("document.xmi", XMI.format(end=1, text='"a"').replace("<cas:View", "<a>" * 1000 + "<cas:View"), "within each"),
    ],
)
def test_requests_that_are_refused(client: httpx.Client, part: str, value: Any, word: str) -> None:
    asked = body()
    outer, _, name = part.partition(".")
    if name:
        asked[outer][name] = value
    else:
        asked[outer] = value
    refused(client.post("/inception/predict", json=asked), 422, word)
    assert client.get("/health").status_code == 200


def test_large_requests_are_refused(client: httpx.Client) -> None:
    refused(client.post("/inception/predict", json=body("chest pain. " * 400_000)), 413, "larger than")
    refused(client.post("/inception/predict", json=body("chest pain. " * 40_000)), 413, "at most 400,000 are taken")
    refused(client.post("/inception/predict", content=b"[" * 100_000), 400, "nested")
    refused(
        client.post("/inception/predict", json=[]), 422, "expected an object with 'metadata', as INCEpTION sends it"
    )
    refused(client.post("/inception/none/predict", json=body()), 404, "no model is called 'none'")
