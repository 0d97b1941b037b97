"""Annotation in places where a reader does not expect it: read where that is clear, and reported where it is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spanloom.document import Document
from spanloom.errors import DataError
from spanloom.formats import read, validate

PAIN = {"id": "a", "infons": {"type": "D"}, "text": "pain", "locations": [{"offset": 3, "length": 4}]}


def bioc(*annotations: Any, **more: Any) -> dict[str, Any]:
    passage = {"offset": 0, "infons": {}, "text": "No pain.", "annotations": list(annotations), **more}
    return {"id": "1", "infons": {}, "passages": [passage]}


def found(document: Document) -> list[tuple[str, str]]:
    return [(mention.type, mention.text(document.text)) for mention in document.mentions]


def notices(path: Path) -> str:
    told: list[str] = []
    list(read(path, notice=told.append))
    return "\n".join(told)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_documents_of_bioc_on_lines(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("\n".join(json.dumps(bioc(PAIN) | {"id": str(i)}) for i in range(2)) + "\n")
    assert [(one.id, found(one)) for one in read(tmp_path / name)] == [(str(i), [("D", "pain")]) for i in range(2)]
    (tmp_path / name).write_text('{"passages": [{"offset": "x"}]}\n' * 2)
    with pytest.raises(DataError, match=r"passages\[0\]\.offset is \"x\", expected an integer"):
        list(read(tmp_path / name))


@pytest.mark.parametrize(
    ("annotation", "types"),
    [
        (PAIN | {"infons": {"entity_type": "D"}}, ["D"]),
        (PAIN | {"infons": {"Category": "D", "type": ""}}, ["D"]),
        (PAIN | {"infons": {"type": ["D", "E"]}}, ["D"]),
        (PAIN | {"locations": [{"offset": "3", "length": 4.0}]}, ["D"]),
    ],
)
def test_types_and_offsets_of_bioc_written_in_other_ways(tmp_path: Path, annotation: Any, types: list[str]) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"documents": [bioc(annotation)]}))
    [document] = read(tmp_path / "a.json", notice=lambda _: None)
    assert found(document) == [(kind, "pain") for kind in types]
    assert ("has the types 'D', 'E'; the first is read" in notices(tmp_path / "a.json")) == (
        annotation["infons"].get("type") == ["D", "E"]
    )


def test_annotation_that_bioc_has_nowhere_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"documents": [bioc(entities=[PAIN])]}))
    assert "the field 'passages[0].entities' looks like annotation and is not read" in notices(path)
    path.write_text(json.dumps({"documents": [bioc(PAIN | {"infons": {"kind": "D"}})]}))
    with pytest.raises(DataError, match="there is no infon 'type', found 'kind'; name the one that holds it"):
        list(read(path))
    [document] = read(path, columns="type=kind")
    assert found(document) == [("D", "pain")]
    xml = "<passage><offset>0</offset><text>No pain.</text><text>No fever.</text></passage>"
    (tmp_path / "b.xml").write_text(f"<collection><document><id>1</id>{xml}</document></collection>")
    with pytest.raises(DataError, match="found two <text> in <passage>, expected one"):
        list(read(tmp_path / "b.xml"))


def conllu(misc: str = "_", feats: str = "_", head: str = "", more: str = "") -> str:
    return f"{head}1\tchest\t_\t_\t_\t{feats}\t0\t_\t_\t{misc}{more}\n\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (conllu("Ent=B-P|SpaceAfter=No"), "'Ent=B-P' of MISC looks like a tag, and is not read; call it NER"),
        (conllu(feats="NER=B-P"), "'NER=B-P' of FEATS looks like a tag"),
        ("# global.columns = ID FORM PARSEME:NE\n1\tchest\tB-P\n\n", "'B-P' of PARSEME:NE looks like a tag"),
        (conllu("ClusterId=1|MentionSpan=1"), "'ClusterId=1' of MISC is CorefUD before 1.0, and is not read"),
        (conllu("NE=B-P"), ""),
        (conllu("Gloss=B-side", feats="Case=Nom"), "'Gloss=B-side' of MISC"),
        (conllu("Ref=A-B|Translit=B-1", feats="Case=Nom"), ""),
    ],
)
def test_tags_of_conllu_under_other_names_are_reported(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.conllup").write_text(text)
    told = notices(tmp_path / "a.conllup")
    assert message in told
    assert bool(message) == bool(told)


def test_numbers_of_sentence_and_token_before_words(tmp_path: Path) -> None:
    lines = "# id=1\n# text=No pain\n1-1\tNo\tO\n1-2\tpain\tB-P\n\n# text=Fever\n2-1\tFever\tB-P\n"
    (tmp_path / "a.tsv").write_text(lines)
    [document] = read(tmp_path / "a.tsv", notice=lambda _: None)
    assert (document.words, found(document)) == (["No", "pain", "Fever"], [("P", "pain"), ("P", "Fever")])


XMI = (
    '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" xmi:version="2.0" '
    'xmlns:custom="http:///webanno/custom.ecore">{}<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" '
    'sofaString="No pain."/><cas:View sofa="1" members="10 11"/>{}</xmi:XMI>'
)
ONE = '<custom:Problem xmi:id="10" sofa="1" begin="3" end="7" label="P"/>'


@pytest.mark.parametrize(
    ("body", "more", "types", "message"),
    [
        (ONE, "", ["P"], ""),
        (ONE + ONE.replace('"P"', '"Q"'), "", ["P"], "(xmi:id 10) has the xmi:id of another; it is left out"),
        (
            ONE + ONE.replace('"10" sofa="1"', '"12" sofa="2"'),
            '<cas:Sofa xmi:id="2" sofaNum="2" sofaID="b" sofaString="No fever."/><cas:View sofa="2" members="12"/>',
            ["P"],
            "the view 'b' has a text of its own and 1 annotation; not read",
        ),
        (
            ONE.replace(' label="P"/>', "><label>P</label><label>Q</label></custom:Problem>"),
            "",
            ["P", "Q"],
            "",
        ),
    ],
    ids=["one", "twice", "views", "list"],
)
def test_annotation_of_xmi(tmp_path: Path, body: str, more: str, types: list[str], message: str) -> None:
    (tmp_path / "a.xmi").write_text(XMI.format(body, more))
    [document] = read(tmp_path / "a.xmi", notice=lambda _: None)
    assert found(document) == [(kind, "pain") for kind in types]
    assert message in notices(tmp_path / "a.xmi")
    assert [problem for problem in validate(tmp_path / "a.xmi") if problem.severity == "error"] == []
