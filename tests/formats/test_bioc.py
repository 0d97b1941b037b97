"""BioC: XML and JSON say the same, offsets are read as they are meant, and what is no mention is kept."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanloom.data import clinical
from spanloom.document import Document, Mention
from spanloom.document.surfaces import trimmed
from spanloom.errors import DataError, UsageError
from spanloom.formats import read, validate, write

Located = list[tuple[int, int]]


def annotation(name: str, locations: Located, text: str, kind: str = "Disease", **infons: Any) -> dict[str, Any]:
    places = [{"offset": offset, "length": length} for offset, length in locations]
    return {"id": name, "infons": {"type": kind, **infons}, "text": text, "locations": places}


def passage(offset: int, text: str | None, *annotations: dict[str, Any], **more: Any) -> dict[str, Any]:
    value = {"offset": offset, "infons": {}, "annotations": list(annotations), **more}
    return value if text is None else value | {"text": text}


def source(folder: Path, *passages: dict[str, Any], **more: Any) -> Path:
    path = folder / "in.json"
    path.write_text(json.dumps({"documents": [{"id": "1", "passages": passages, **more}]}))
    return path


def surfaces(document: Document) -> list[str]:
    return [mention.text(document.text) for mention in document.mentions]


COMPOSITE = [
    annotation(
        "0", [(0, 28)], "Ocular and auditory toxicity", CompositeRole="CompositeMention", MESH="D014786|D006311"
    ),
    annotation("1", [(0, 6), (20, 8)], "Ocular toxicity", CompositeRole="IndividualMention", MESH="D014786"),
    annotation("2", [(11, 17)], "auditory toxicity", CompositeRole="IndividualMention", MESH="D006311"),
]
RELATION = {"id": "R0", "infons": {"relation": "CID", "Chemical": "D003676", "Disease": "D014786"}, "locations": []}


def test_a_composite_mention_has_all_concepts_and_its_parts_are_kept(tmp_path: Path) -> None:
    path = source(tmp_path, passage(0, "Ocular and auditory toxicity.", *COMPOSITE), annotations=[RELATION])
    (document,) = read(path)
    assert [(m.id, m.concepts) for m in document.mentions] == [("0", ("MESH:D014786", "MESH:D006311"))]
    kept = document.meta["bioc"]["annotations"]
    assert [(item["id"], item.get("of"), item["passage"]) for item in kept] == [
        ("1", "0", 0),
        ("2", "0", 0),
        ("R0", None, None),
    ]
    for name in ("a.xml", "a.json"):
        assert not write([document], tmp_path / name)
        assert list(read(tmp_path / name)) == [document]
    losses = write([document.copy(mentions=[])], tmp_path / "b.xml")
    assert losses.counts == {"parts of removed composite mentions": 2}
    (alone,) = read(source(tmp_path, passage(0, "Ocular and auditory toxicity.", *COMPOSITE[1:])))
    assert surfaces(alone) == ["Ocular toxicity", "auditory toxicity"]


READINGS = {
    "declared": ([(0, "Päin."), (7, "Fever.")], (7, 5), "Päin.  Fever."),
    "joined": ([(0, "Päin."), (11, "Fever.")], (6, 5), "Päin. Fever."),
    "joined, overlapping": ([(0, "Päin."), (3, "Fever.")], (6, 5), "Päin. Fever."),
    "own": ([(0, "Päin."), (0, "Fever.")], (0, 5), "Päin. Fever."),
    "not from 0": ([(100, "Päin."), (106, "Fever.")], (106, 5), "Päin. Fever."),
}


@pytest.mark.parametrize("case", READINGS)
def test_offsets_are_read_as_the_texts_of_the_mentions_say(tmp_path: Path, case: str) -> None:
    (first, second), location, text = READINGS[case]
    path = source(tmp_path, passage(*first), passage(*second, annotation("0", [location], "Fever")))
    (document,) = read(path)
    assert (document.text, surfaces(document)) == (text, ["Fever"])
    warned = [problem.kind for problem in validate(path)]
    assert warned == ([] if case in ("declared", "not from 0") else ["passage offset"])
    write([document], tmp_path / "out.xml")
    (again,) = read(tmp_path / "out.xml")
    assert (again.text, again.mentions) == (document.text, document.mentions)
    assert list(validate(tmp_path / "out.xml")) == []


def test_offsets_in_bytes(tmp_path: Path) -> None:
    found = [annotation("0", [(0, 5)], "Päin"), annotation("1", [(15, 5)], "fever"), annotation("2", [(9, 4)], "𝒳")]
    path = source(tmp_path, passage(0, "Päin or 𝒳"), passage(15, "fever"))
    value = json.loads(path.read_text())
    value["documents"][0]["passages"][0]["annotations"] = found
    path.write_text(json.dumps(value))
    (document,) = read(path)
    assert (document.text, surfaces(document)) == ("Päin or 𝒳  fever", ["Päin", "fever", "𝒳"])
    assert [problem.message for problem in validate(path)] == [
        "offsets are counted in UTF-8 bytes; read so (found the offset 15)"
    ]


def test_text_in_sentences(tmp_path: Path) -> None:
    sentences = [
        passage(0, "No pain.", annotation("0", [(3, 4)], "pain")),
        passage(10, "No fever.", annotation("0", [(13, 5)], "fever"), infons={"type": "last"}),
    ]
    path = source(tmp_path, passage(0, None, sentences=sentences), passage(20, "Fine."))
    (document,) = read(path)
    assert (document.text, surfaces(document)) == ("No pain.  No fever. Fine.", ["pain", "fever"])
    assert [mention.id for mention in document.mentions] == ["0#1", "0#2"]
    assert document.meta["bioc"]["passages"][0]["sentences"][1] == {"start": 10, "end": 19, "infons": {"type": "last"}}
    write([document], tmp_path / "out.xml")
    assert list(read(tmp_path / "out.xml")) == [document]
    both = passage(0, "No pain. No fever.", sentences=[passage(9, "No fever.")])
    assert list(validate(source(tmp_path, both))) == []
    wrong = passage(0, "No pain. No fever.", sentences=[passage(8, "No fever.")])
    assert [problem.kind for problem in validate(source(tmp_path, wrong))] == ["sentence offset"]


CONCEPTS = {
    "D010146": ({"MESH": "D010146"}, ("MESH:D010146",)),
    "prefix": ({"mesh": "MESH:D010146"}, ("MESH:D010146",)),
    "none": ({"MESH": "-1"}, ()),
    "several": ({"MESH": "D010146|D005334"}, ("MESH:D010146", "MESH:D005334")),
    "together": ({"MESH": "D010146+D005334"}, ("MESH:D010146", "MESH:D005334")),
    "commas": ({"identifier": "MESH:D010146,OMIM:102600"}, ("MESH:D010146", "OMIM:102600")),
    "two keys": ({"MESH": "D010146", "OMIM": "102600"}, ("MESH:D010146", "OMIM:102600")),
    "a list": ({"identifier": ["D010146", "D005334"]}, ("MESH:D010146", "MESH:D005334")),
    "a number": ({"identifier": 672}, ("672",)),
    "null": ({"identifier": None}, ()),
    "another key": ({"database": "MESH:D010146"}, ()),
}


@pytest.mark.parametrize("case", CONCEPTS)
def test_concepts(tmp_path: Path, case: str) -> None:
    infons, concepts = CONCEPTS[case]
    (document,) = read(source(tmp_path, passage(0, "pain", annotation("0", [(0, 4)], "pain", **infons))))
    assert document.mentions[0].concepts == concepts
    for name in ("out.xml", "out.json"):
        write([document], tmp_path / name)
        (again,) = read(tmp_path / name)
        assert again.mentions == document.mentions
    assert again == document  # JSON holds every value of an infon


def test_what_changed_is_written_as_it_is_now(tmp_path: Path) -> None:
    found = annotation("0", [(0, 4)], "pain", MESH="D010146", note="sure")
    (document,) = read(source(tmp_path, passage(0, "pain, fever", found)))
    (mention,) = document.mentions
    document.mentions = [
        mention.replace(concepts=("OMIM:102600", "MESH:D005334")),
        Mention("Disease", [(6, 11)], concepts=["D005334", "HP:0001945"], score=0.5, head=(6, 11)),
        Mention("Disease", [(6, 11)], "0"),
    ]
    losses = write([document], tmp_path / "out.json")
    assert losses.counts == {"heads": 1, "scores": 1, "mention identifiers": 1}
    written = json.loads((tmp_path / "out.json").read_text())["documents"][0]["passages"][0]["annotations"]
    assert [item["infons"] for item in written] == [
        {"type": "Disease", "note": "sure", "identifier": "OMIM:102600|MESH:D005334"},
        {
            "type": "Disease",
            "identifier": "MESH:D005334|HP:0001945",
            "spanloom.concepts": '["D005334", "HP:0001945"]',
        },
        {"type": "Disease"},
    ]
    assert len({item["id"] for item in written}) == 3


def test_documents_from_elsewhere(tmp_path: Path) -> None:
    documents = list(read(clinical() / "train"))
    for name in ("out.xml", "out.json"):
        losses = write(documents, tmp_path / name)
        assert set(losses.counts) <= {"heads", "meta fields"}
        again = list(read(tmp_path / name))
        assert [document.text for document in again] == [document.text for document in documents]
        headless = [[mention.replace(head=None) for mention in document.mentions] for document in documents]
        assert [document.mentions for document in again] == headless
        assert [problem for problem in validate(tmp_path / name) if problem.severity == "error"] == []
    note = Document("a b", tokens=[[0, 1], [2, 3]], sentences=[[0, 2]], columns={"pos": ["X", "X"]}, meta={"x": 1})
    losses = write([note], tmp_path / "lost.xml")
    assert losses.counts == {"tokens": 2, "sentences": 1, "token columns": 1, "meta fields": 1}


def test_one_collection_a_file(tmp_path: Path) -> None:
    first, second = (
        Document("a", id=name, meta={"bioc": {"collection": {"source": name, "infons": {"k": name}}}}) for name in "ab"
    )
    for name in ("out.xml", "out.json"):
        losses = write([first, second], tmp_path / name)
        assert losses.counts == {"descriptions of other collections": 1}
        again = list(read(tmp_path / name))
        assert [document.meta["bioc"]["collection"]["source"] for document in again] == ["a", "a"]
        assert again[1].meta["bioc"]["collection"]["infons"] == {"k": "a"}


def test_shapes_of_json(tmp_path: Path) -> None:
    one = {"id": "1", "passages": [passage(0, "pain")], "pmid": 1}
    for value in (one, [one], {"PubTator3": [one]}, [{"documents": [one]}], {"documents": [one], "infons": {}}):
        (tmp_path / "a.json").write_text(json.dumps(value))
        (document,) = read(tmp_path / "a.json")
        assert (document.text, document.meta["bioc"]["unread"]) == ("pain", {"pmid": 1})


def test_names_tell_the_format_only_with_the_content(tmp_path: Path) -> None:
    (tmp_path / "vocabulary.xml").write_text("<ROWSET/>")
    (tmp_path / "settings.json").write_text("{}")
    (tmp_path / "note.xml").write_text(
        "<collection><document><passage><offset>0</offset><text>a</text></passage></document></collection>"
    )
    assert [document.text for document in read(tmp_path, notice=str)] == ["a"]
    with pytest.raises(DataError, match=r"vocabulary\.xml:1: found <ROWSET>, expected BioC's <collection>"):
        list(read(tmp_path / "vocabulary.xml"))
    with pytest.raises(DataError, match=r"settings\.json: text is missing, expected the document"):
        list(read(tmp_path / "settings.json"))
    old = (tmp_path / "note.xml").rename(tmp_path / "note.xml.old")
    assert [document.text for document in read(old)] == ["a"]
    other = tmp_path / "note.old"
    other.write_text("No pain.")
    with pytest.raises(UsageError, match=r"\.xml \(bioc\), \.json \(bioc-json\)"):
        read(other)


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t\r"), max_size=12)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(TEXT, TEXT.filter(bool), st.lists(st.tuples(st.integers(0, 11), st.integers(1, 4)), max_size=3), st.booleans())
def test_what_is_written_is_read_again(tmp_path: Path, name: str, text: str, found: Located, as_json: bool) -> None:
    spans = [(start, start + length) for start, length in found if start + length <= len(text)]
    mentions = [Mention("Disease", [span], str(i), concepts=["MESH:D010146"][: i % 2]) for i, span in enumerate(spans)]
    document = Document(text, id=name.strip(), mentions=mentions)
    path = tmp_path / ("a.json" if as_json else "a.xml")
    assert not write([document], path, force=True)
    (again,) = read(path)
    kept = [trimmed(mention, text) for mention in mentions]
    assert (again.text, again.id, again.mentions) == (document.text, document.id, kept)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "found an object with no field, expected BioC JSON, an object with a list of 'documents'"),
        ('{"kind": 1, "b": 2, "c": 3, "d": 4}', "found an object with the fields 'kind', 'b', 'c', …, expected BioC"),
        ("[[1]]", "item 0 of the file is 1, expected BioC JSON"),
        ("7", "the file is 7, expected BioC JSON"),
    ],
)
def test_json_of_another_kind_says_what_was_found(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(DataError, match=re.escape(message)):
        list(read(tmp_path / "a.json", format="bioc-json"))


USUAL = {
    "identifier": "MESH:D008012", "Identifier": "D008012", "MESH": "D008012", "mesh_id": "D008012", "cui": "D008012",
    "concept_id": "D008012", "database_id": "D008012", "id": "MESH:D008012", "curie": "mesh:D008012",
    "normalized_id": "D008012", "native_id": "D008012", "Concept-ID": "MESH:D008012",
}  # fmt: skip
PREFIXED = {
    "NCBI Gene": ("3845", "NCBIGene:3845"), "GeneID": ("3845", "NCBIGene:3845"), "OMIM": ("102600", "OMIM:102600"),
    "NCBITaxon": ("9606", "NCBITaxon:9606"), "chebi": ("CHEBI:6121", "CHEBI:6121"),
    "CUI": ("C0004134", "UMLS:C0004134"),
    "UMLS": ("C0004134", "UMLS:C0004134"), "snomed_ct": ("22298006", "SNOMEDCT:22298006"), "doid": ("4", "DOID:4"),
}  # fmt: skip


@pytest.mark.parametrize("as_xml", [False, True])
@pytest.mark.parametrize(
    ("name", "value", "concept"),
    [(name, value, "MESH:D008012") for name, value in USUAL.items()] + [(n, *pair) for n, pair in PREFIXED.items()],
)
def test_concepts_in_infons_of_any_usual_name(
    tmp_path: Path, name: str, value: str, concept: str, as_xml: bool
) -> None:
    path = source(
        tmp_path, passage(0, "Lidocaine", annotation("1", [(0, 9)], "Lidocaine", "Chemical", **{name: value}))
    )
    if as_xml:
        write(read(path), tmp_path / "in.xml")
        path = tmp_path / "in.xml"
    assert [mention.concepts for document in read(path) for mention in document.mentions] == [(concept,)]
    assert not list(validate(path))


@pytest.mark.parametrize(
    "infons",
    [{"id": "T1"}, {"id": "7"}, {"identifier": "-1"}, {"code": "A"}, {"uri": "http://x.org/1"}, {"so": "true"}],
)
def test_other_infons_are_no_concepts(tmp_path: Path, infons: dict[str, str]) -> None:
    path = source(tmp_path, passage(0, "Pain", annotation("1", [(0, 4)], "Pain", **infons)))
    assert [document.mentions[0].concepts for document in read(path)] == [()]


def test_infons_that_look_like_identifiers_are_named_once(tmp_path: Path) -> None:
    found = [annotation(str(i), [(0, 4)], "Pain", grounded=f"D01014{i}", sure="yes") for i in range(3)]
    path = source(tmp_path, passage(0, "Pain", *found))
    told: list[str] = []
    [document] = read(path, notice=told.append)
    assert {mention.concepts for mention in document.mentions} == {()}
    assert [line.partition(": ")[2] for line in told] == [
        "infons that look like identifiers and are not read: 'grounded' (of 3 annotations); name one (--columns "
        "concept=NAME)"
    ]
    [document] = read(path, notice=told.append, columns=["concept=grounded"])
    assert len(told) == 1
    assert [mention.concepts for mention in document.mentions] == [(f"MESH:D01014{i}",) for i in range(3)]
    with pytest.raises(UsageError, match="this format has no column 'concpet'; expected one of: type, concept"):
        list(read(path, columns={"concpet": "grounded"}))
    typed = {**found[0], "infons": {"label": "Sign"}}
    [document] = read(source(tmp_path, passage(0, "Pain", typed)), columns={"type": "label"})
    assert document.mentions[0].type == "Sign"


@pytest.mark.parametrize("name", ["a.xml", "a.json"])
@pytest.mark.parametrize(
    "concepts", [["D010146"], ["C0004134", "MESH:D010146"], ["mesh:d010146"], ["X:1", "X:1"], [" X:1"], ["263200"]]
)
def test_identifiers_come_back_as_they_were(tmp_path: Path, name: str, concepts: list[str]) -> None:
    given = Document("Pain", id="1", mentions=[Mention("Disease", [(0, 4)], "T1", concepts=concepts)])
    kind = "bioc-json" if name.endswith("json") else None
    assert not write([given], tmp_path / name, format=kind)
    [found] = read(tmp_path / name, format=kind)
    assert found.mentions == given.mentions
    found.mentions = [found.mentions[0].replace(concepts=("HP:1",))]
    write([found], tmp_path / name, format=kind, force=True)
    assert [document.mentions[0].concepts for document in read(tmp_path / name, format=kind)] == [("HP:1",)]


@pytest.mark.parametrize("text", ["", None])
def test_passages_of_sentences(tmp_path: Path, text: str | None) -> None:
    sentences = [
        passage(0, "No pain. ", annotation("1", [(3, 4)], "pain")),
        passage(9, "Fever.", annotation("2", [(9, 5)], "Fever")),
    ]
    path = source(tmp_path, passage(0, text, sentences=sentences))
    [document] = read(path)
    assert (document.text, surfaces(document)) == ("No pain. Fever.", ["pain", "Fever"])
    for name in ("a.xml", "a.json"):
        assert not write([document], tmp_path / name, format="bioc-json" if name == "a.json" else None)
        assert list(read(tmp_path / name)) == [document]


def test_annotations_of_no_character_or_place_are_left_out_and_counted(tmp_path: Path) -> None:
    found = [annotation("1", [(0, 0)], ""), annotation("2", [(0, 4)], "Pain"), {**annotation("3", [], "Pain")}]
    told: list[str] = []
    [document] = read(source(tmp_path, passage(0, "Pain", *found)), notice=told.append)
    assert [mention.id for mention in document.mentions] == ["2"]
    assert any("mention 1: the mention at 0-0 has no character; it is left out" in line for line in told)
    assert any("the annotation 'Pain' has no location; it is kept, and no mention" in line for line in told)


def test_offsets_in_utf_16_units(tmp_path: Path) -> None:
    texts = ("😀 Mild pain.", "No 😀 fever.")
    found = [annotation("1", [(8, 4)], "pain"), annotation("2", [(20, 5)], "fever")]
    places = [passage(0, texts[0], found[0]), passage(14, texts[1], found[1])]
    [document] = read(source(tmp_path, *places), notice=print)
    assert surfaces(document) == ["pain", "fever"]
