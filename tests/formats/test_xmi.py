"""XMI: what INCEpTION, DKPro and cTAKES write is read, what is written comes back, and XML can do no harm."""

from __future__ import annotations

import subprocess
import sys
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import cassis
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.data import clinical
from spanloom.document import Document, Mention
from spanloom.document.surfaces import trimmed
from spanloom.errors import DataError, UsageError
from spanloom.formats import read, to_record, validate, write
from spanloom.text import prepare

ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
TEXTS = st.text(st.characters(categories=["L", "Zs", "So"], include_characters="\n\r\t<&\"'𝒳"), min_size=1, max_size=12)
EMOJI = "💩 Mild or severe 𝒳 pain.\r\nNo\tfever <38 & “cough”."


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(TEXTS)
    mentions = []
    for i in range(draw(st.integers(0, 3)) if len(text) > 1 else 0):
        bounds = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=6)))
        spans = list(zip(bounds[::2], bounds[1::2], strict=False))
        head, score = draw(st.sampled_from([None, *spans])), draw(st.none() | st.floats(0, 1))
        mentions.append(
            Mention(
                draw(TEXTS),
                spans,
                draw(st.sampled_from([None, f"T{i}"])),
                head,
                draw(st.lists(TEXTS, max_size=2)),
                score,
            )
        )
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=4))) if len(text) > 1 else []
    tokens = np.array(list(pairwise(cuts))) if cuts else None
    count = max(len(cuts) - 1, 0)
    columns = draw(st.sampled_from([{}, {"pos": ["NN"] * count}, {"lemma": ["a b"] * count}])) if count else {}
    sentences = draw(st.sampled_from([None, np.array([[0, count]])])) if count else None
    return Document(text, draw(TEXTS), tokens, sentences, columns, mentions)


@settings(deadline=None, max_examples=40)
@given(documents())
def test_everything_but_meta_comes_back(tmp_path_factory: pytest.TempPathFactory, document: Document) -> None:
    path = tmp_path_factory.getbasetemp() / "round.xmi"
    assert write([document], path, force=True).counts == {}
    [found] = read(path)
    document.mentions = [trimmed(mention, document.text) or mention for mention in document.mentions]
    assert to_record(found) == to_record(document)


def test_the_bundled_corpus_comes_back_from_a_folder(tmp_path: Path) -> None:
    gold = [prepare(document) for document in read(clinical() / "dev")]
    losses = write(gold, tmp_path / "out", format="xmi")
    assert losses.counts == {"meta fields": len(gold)}  # what brat's files said beside
    assert (tmp_path / "out" / "TypeSystem.xml").exists()
    assert [to_record(document) for document in read(tmp_path / "out")] == [
        to_record(document.copy(meta={})) for document in gold
    ]


def test_offsets_count_utf16_units_in_the_file_and_characters_here(tmp_path: Path) -> None:
    mention = Mention("problem", [(2, 6), (19, 23)], "T1", (19, 23), ["MESH:D010146", "X:1"], 0.25)
    assert mention.text(EMOJI) == "Mild pain"
    write([Document(EMOJI, id="n", mentions=[mention])], tmp_path / "a.xmi")
    spelled = (tmp_path / "a.xmi").read_text(encoding="utf-8")
    assert 'begin="3" end="7"' in spelled
    assert 'begin="21" end="25"' in spelled
    [document] = read(tmp_path / "a.xmi")
    assert (document.text, document.mentions) == (EMOJI, [mention])


def test_dkpro_reads_what_is_written(tmp_path: Path) -> None:
    """What INCEpTION shows: an annotation of its own type for each part, with tokens and sentences."""
    document = prepare(Document(EMOJI, id="n", mentions=[Mention("problem", [(2, 6), (19, 23)], concepts=["X:1"])]))
    document.columns["pos"] = [f"P{i}" for i in range(len(document.words))]
    write([document], tmp_path / "a.xmi")
    types = cassis.load_typesystem(tmp_path / "a.TypeSystem.xml")
    cas = cassis.load_cas_from_xmi(tmp_path / "a.xmi", typesystem=types)
    assert [(fs.get_covered_text(), fs.value, fs.identifier) for fs in cas.select(ENTITY)] == [
        ("Mild", "problem", "X:1"),
        ("pain", "problem", "X:1"),
    ]
    tokens = cas.select("de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token")
    assert [token.get_covered_text() for token in tokens] == document.words
    assert [token.pos.PosValue for token in tokens] == document.columns["pos"]
    assert len(cas.select("de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Sentence")) == 2
    [mention] = cas.select("spanloom.Mention")
    assert [part.get_covered_text() for part in mention.parts.elements] == ["Mild", "pain"]


HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
XMI = (
    HEAD + '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" xmi:version="2.0" '
    'xmlns:tcas="http:///uima/tcas.ecore" xmlns:custom="http:///webanno/custom.ecore" '
    'xmlns:ct="http:///org/apache/ctakes/typesystem/type/textsem.ecore" '
    'xmlns:ref="http:///org/apache/ctakes/typesystem/type/refsem.ecore" '
    'xmlns:type="http:///de/tudarmstadt/ukp/dkpro/core/api/ner/type.ecore">'
    '<cas:NULL xmi:id="0"/>%s'
    '<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="💩 chest pain"/>'
    '<cas:View sofa="1" members="%s"/></xmi:XMI>'
)
CTAKES = (
    '<ct:SignSymptomMention xmi:id="5" sofa="1" begin="3" end="13" id="0" ontologyConceptArr="7 8 9" polarity="1"/>'
    '<ref:UmlsConcept xmi:id="7" codingScheme="SNOMEDCT_US" code="29857009" cui="C0008031" tui="T184"/>'
    '<ref:UmlsConcept xmi:id="8" codingScheme="SNOMEDCT_US" code="1" cui="C0008031" tui="T184"/>'
    '<ref:UmlsConcept xmi:id="9" codingScheme="X" code="1"/>'
    '<ct:Predicate xmi:id="6" sofa="1" begin="3" end="13"/>'
)
FOREIGN = {
    "DKPro": (
        '<type:NamedEntity xmi:id="5" sofa="1" begin="9" end="13" value="problem" identifier="http://x/1"/>',
        [Mention("problem", [(8, 12)], concepts=["http://x/1"])],
    ),
    "DKPro without value": (
        '<type:NamedEntity xmi:id="5" sofa="1" begin="9" end="13"/>',
        [Mention("NamedEntity", [(8, 12)])],
    ),
    "INCEpTION": (
        '<custom:Span xmi:id="5" sofa="1" begin="3" end="8" label="anatomy"/>',
        [Mention("anatomy", [(2, 7)])],
    ),
    "a layer": (
        '<custom:Finding xmi:id="5" sofa="1" begin="3" end="8" sure="true"/>',
        [Mention("Finding", [(2, 7)], attributes={"sure": True})],
    ),
    "a relation": ('<custom:Relation xmi:id="5" sofa="1" begin="3" end="8" Governor="9" Dependent="9"/>', []),
    "cTAKES": (
        CTAKES,
        [Mention("SignSymptomMention", [(2, 12)], concepts=["UMLS:C0008031"], attributes={"polarity": "1"})],
    ),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_files_of_other_tools_without_their_types(tmp_path: Path, name: str) -> None:
    body, mentions = FOREIGN[name]
    (tmp_path / "a.xmi").write_text(
        XMI % (body, "5 6" if "6" in body.split('xmi:id="')[-1][:1] else "5"), encoding="utf-8"
    )
    [document] = read(tmp_path / "a.xmi")
    assert (document.id, document.text, document.mentions) == ("a", "💩 chest pain", mentions)


def test_what_is_not_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.xmi").write_text(XMI % (CTAKES, "5 6"), encoding="utf-8")
    [problem] = validate(tmp_path / "a.xmi")
    assert problem.severity == "warning"
    assert problem.message == (
        "annotations and features that are not read: 1 org.apache.ctakes.typesystem.type.textsem.Predicate"
    )
    [document] = read(tmp_path / "a.xmi")
    assert document.meta["xmi"] == {"not_read": {"org.apache.ctakes.typesystem.type.textsem.Predicate": 1}}
    [document] = read(tmp_path / "a.xmi", types=["org.apache.ctakes.typesystem.type.textsem.Predicate"])
    assert [mention.type for mention in document.mentions] == ["Predicate"]


def test_types_beside_the_file_say_what_is_a_subtype(tmp_path: Path) -> None:
    types = cassis.TypeSystem()
    types.create_type("my.Base")
    types.create_type("my.Drug", "my.Base")
    cas = cassis.Cas(typesystem=types)
    cas.sofa_string = "𝒳 aspirin"
    cas.add(types.get_type("my.Drug")(begin=2, end=9))
    cas.to_xmi(tmp_path / "a.xmi")
    types.to_xml(tmp_path / "TypeSystem.xml")
    [document] = read(tmp_path / "a.xmi", types=["my.Base"])
    assert document.mentions == [Mention("Drug", [(2, 9)])]
    (tmp_path / "TypeSystem.xml").unlink()
    [document] = read(tmp_path / "a.xmi", types=["my.Base"])
    assert document.mentions == []
    assert document.meta["xmi"] == {"not_read": {"my.Drug": 1}}


def test_types_of_another_tool_beside_a_file_of_ours(tmp_path: Path) -> None:
    """As when a project's types lie in the folder, which know nothing of ours."""
    mention = Mention("problem", [(0, 4), (10, 14)], "T1", (10, 14), ["X:1", "X:2"], 0.5)
    write([Document("mild 💩 or pain", id="n", mentions=[mention])], tmp_path / "a.xmi")
    (tmp_path / "a.TypeSystem.xml").unlink()
    types = cassis.TypeSystem()
    types.create_type("my.Base")
    types.to_xml(tmp_path / "TypeSystem.xml")
    assert next(read(tmp_path / "a.xmi")).mentions == [mention]


def test_tokens_that_overlap_are_not_read_and_that_is_told(tmp_path: Path) -> None:
    token = "xmlns:s='http:///de/tudarmstadt/ukp/dkpro/core/api/segmentation/type.ecore' sofa='1'"
    body = f"<s:Token {token} xmi:id='5' begin='0' end='8'/><s:Token {token} xmi:id='6' begin='3' end='13'/>"
    (tmp_path / "a.xmi").write_text(XMI % (body, "5 6"), encoding="utf-8")
    [problem] = validate(tmp_path / "a.xmi")
    assert "tokens that cannot be used (tokens[1] token 2-12 starts before 7" in problem.message
    assert next(read(tmp_path / "a.xmi")).tokens is None


SPAN = '<custom:Span xmi:id="5" sofa="1" begin="%s" end="%s"/>'
BOMB = '<!DOCTYPE lol [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
HOSTILE = {
    "empty": (b"", "found no well-formed XML in column 1"),
    "no XML": (b"hello", "found no well-formed XML"),
    "cut": ((XMI % (SPAN % (3, 8), "5")).encode()[:-30], "found no well-formed XML"),
    "other XML": (b"<collection/>", "found the element <collection>, expected <xmi:XMI>"),
    "entities": ((XMI % ("", "")).replace(HEAD, HEAD + BOMB).encode(), ":2: found a document type"),
    "outside": (
        (XMI % ("", "")).replace(HEAD, HEAD + '<!DOCTYPE x SYSTEM "file:///etc/passwd">').encode(),
        ":2: found a document type",
    ),
    "deep": ((XMI % ("<a>" * 50 + "</a>" * 50, "")).encode(), "found more than 20 elements within each other"),
    "no text": ((XMI % ("", "")).replace(' sofaString="💩 chest pain"', "").encode(), "views with a text: none"),
    "arrays": (
        (XMI % ('<cas:FSArray xmi:id="5" elements="5"/>' + (SPAN % (3, 8)).replace("5", "6", 1), "5 6")).encode(),
        None,
    ),
    "encoding": ((XMI % ("", "")).replace("UTF-8", "klingon").encode(), "found an encoding that cannot be read"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_one_line(tmp_path: Path, name: str) -> None:
    data, message = HOSTILE[name]
    path = tmp_path / "a.xmi"
    path.write_bytes(data)
    problems = [str(problem) for problem in validate(path)]
    assert all("\n" not in problem for problem in problems)
    if message is None:
        return
    with pytest.raises(DataError) as error:
        list(read(path))
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)
    assert any(message.rpartition(": found")[2] in problem for problem in problems)


def test_hostile_types_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.xmi").write_text(XMI % ("", ""), encoding="utf-8")
    for data in (
        BOMB + "<a/>",
        "<typeSystemDescription><types><typeDescription/></types></typeSystemDescription>",
        "x",
    ):
        (tmp_path / "TypeSystem.xml").write_text(data)
        with pytest.raises(DataError, match=r"TypeSystem\.xml(:1)?: found ") as error:
            list(read(tmp_path / "a.xmi"))
        assert "\n" not in str(error.value)


def test_any_damage_is_told(tmp_path: Path) -> None:
    write([next(read(clinical() / "test"))], tmp_path / "a.xmi")
    whole = (tmp_path / "a.xmi").read_bytes()
    generator = np.random.default_rng(7)
    for position in generator.integers(0, len(whole), 30).tolist():
        (tmp_path / "a.xmi").write_bytes(whole[:position] + b"7" + whole[position + 1 :])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert all("\n" not in str(problem) for problem in validate(tmp_path / "a.xmi"))


def test_output_is_whole_or_absent(tmp_path: Path) -> None:
    two = [Document("a", id="1"), Document("b", id="1")]
    with pytest.raises(UsageError, match="names one document, but there are several"):
        write(two, tmp_path / "a.xmi")
    with pytest.raises(DataError, match="two documents are called '1'"):
        write(two, tmp_path / "out", format="xmi")
    with pytest.raises(DataError, match="document '1' cannot be written as XML"):
        write([Document("a\x0c", id="1")], tmp_path / "a.xmi")
    with pytest.raises(DataError, match="there is no document to write"):
        write([], tmp_path / "a.xmi")
    with pytest.raises(UsageError, match="not to standard output"):
        write(two, "-", format="xmi")
    assert list(tmp_path.iterdir()) == []
    write(two[:1], tmp_path / "a.xmi")
    with pytest.raises(UsageError, match="--force"):
        write(two[1:], tmp_path / "a.xmi")
    write(two[1:], tmp_path / "a.xmi", force=True)
    assert next(read(tmp_path / "a.xmi")).text == "b"
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.doc").write_text("")
    with pytest.raises(UsageError, match=r"thesis\.doc"):
        write(two[:1], tmp_path / "out", format="xmi", force=True)


def test_losses_are_counted(tmp_path: Path) -> None:
    document = Document("mild pain", tokens=np.array([[0, 4]]), columns={"shape": ["x"]}, meta={"a": 1})
    assert write([document], tmp_path / "a.xmi").counts == {"token columns": 1, "meta fields": 1}


def test_the_command_line(command: Any, model: Path, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("No chest pain today. 💩 The left atrium is dilated.", encoding="utf-8")
    done = command("predict", model, tmp_path / "note.txt", "--output", tmp_path / "out", "--format", "xmi")
    assert done.returncode == 0, done.stderr
    shown = command("convert", tmp_path / "out", "-", "--format", "jsonl")
    assert '"type":"problem","spans":[[3,13]]' in shown.stdout
    assert command("validate", tmp_path / "out").returncode == 0


BLOCKED = """
import sys
sys.modules["cassis"] = None
from spanloom import Document, SpanloomError, read, write
for attempt in (lambda: write([Document("a")], "a.xmi"), lambda: list(read(sys.argv[1]))):
    try:
        attempt()
    except SpanloomError as error:
        print(type(error).__name__, error)
"""


def test_without_cassis_the_message_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "b.xmi").write_bytes(b"")
    line = [sys.executable, "-c", BLOCKED, str(tmp_path / "b.xmi")]
    done = subprocess.run(line, capture_output=True, encoding="utf-8", check=True, cwd=tmp_path)
    assert (
        done.stdout.splitlines()
        == ['UsageError an XMI file needs cassis; install it with: pip install "spanloom[xmi]"'] * 2
    )


META = "http:///de/tudarmstadt/ukp/dkpro/core/api/metadata/type.ecore"


@pytest.mark.parametrize(
    ("title", "name", "file", "expected", "annotator"),
    [
        ("note7.txt", "admin", "admin.xmi", "note7.txt", "admin"),  # INCEpTION: a file for each annotator
        ("note7.txt", "admin", "curated.xmi", "note7.txt", None),
        ("", "n1", "a.xmi", "n1", None),
        ("n1", "n1", "n1.xmi", "n1", None),
        ("", "", "a.xmi", "a", None),
    ],
)
def test_documents_have_the_name_of_their_title(
    tmp_path: Path, title: str, name: str, file: str, expected: str, annotator: str | None
) -> None:
    given = "".join(f' {key}="{value}"' for key, value in (("documentTitle", title), ("documentId", name)) if value)
    body = f'<m:DocumentMetaData xmlns:m="{META}" xmi:id="5" sofa="1" begin="0" end="4"{given}/>'
    (tmp_path / file).write_text(XMI % (body, "5"), encoding="utf-8")
    [document] = read(tmp_path / file)
    assert (document.id, document.meta.get("annotator")) == (expected, annotator)


TARGET = """<?xml version="1.0" encoding="UTF-8"?>
<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier"><types><typeDescription>
<name>webanno.custom.Link</name><supertypeName>uima.tcas.Annotation</supertypeName><features>
<featureDescription><name>target</name><rangeTypeName>uima.tcas.Annotation</rangeTypeName></featureDescription>
<featureDescription><name>all</name><rangeTypeName>uima.cas.FSArray</rangeTypeName></featureDescription>
</features></typeDescription></types></typeSystemDescription>"""


@pytest.mark.parametrize(
    ("body", "members"),
    [
        ("", "5 77"),
        ('<custom:Link xmi:id="6" sofa="1" begin="3" end="8" target="99"/>', "5"),
        ('<custom:Link xmi:id="6" sofa="1" begin="3" end="8" all="5 99"/>', "5"),
        ('<custom:Link xmi:id="6" sofa="8" begin="3" end="8"/>', "5 6"),
    ],
)
def test_references_to_nothing_cost_no_document(tmp_path: Path, body: str, members: str) -> None:
    (tmp_path / "a.TypeSystem.xml").write_text(TARGET, encoding="utf-8")
    (tmp_path / "a.xmi").write_text(XMI % (SPAN % (3, 8) + body, members), encoding="utf-8")
    with pytest.warns(match="references to annotations that are not there"):
        [document] = read(tmp_path / "a.xmi")
    assert [mention.spans for mention in document.mentions] == [((2, 7),)]


def test_annotations_of_no_character_are_left_out_and_counted(tmp_path: Path) -> None:
    body = SPAN % (3, 8) + (SPAN % (0, 0)).replace('"5"', '"6"')
    (tmp_path / "note.xml").write_text(XMI % (body, "5 6"), encoding="utf-8")  # known by its content, not its name
    with pytest.warns(match=r"the mention at 0-0 has no character; it is left out"):
        [document] = read(tmp_path / "note.xml")
    assert [mention.spans for mention in document.mentions] == [((2, 7),)]


def test_layers_of_other_names_are_reported_with_what_reads_them(tmp_path: Path) -> None:
    body = '<ct:Drug xmi:id="5" sofa="1" begin="3" end="8" kind="a drug" code="X:1"/>'
    (tmp_path / "a.xmi").write_text(XMI.replace("org/apache/ctakes/typesystem/type", "my") % (body, "5"), "utf-8")
    with pytest.warns(match=r"not read: 1 my.textsem.Drug; --columns mentions=my.textsem.Drug reads them"):
        assert [document.mentions for document in read(tmp_path / "a.xmi")] == [[]]
    columns = "mentions=my.textsem.Drug+my.Other,type=kind,concept=code"
    assert next(read(tmp_path / "a.xmi", columns=columns)).mentions == [Mention("a drug", [(2, 7)], concepts=["X:1"])]


def test_the_type_of_a_users_layer_is_its_first_feature_with_words(tmp_path: Path) -> None:
    body = '<custom:E xmi:id="5" sofa="1" begin="3" end="8" sure="true" rank="2" kind="sign" note="see above"/>'
    (tmp_path / "a.xmi").write_text(XMI % (body, "5"), encoding="utf-8")
    with pytest.warns(match="the feature kind of webanno.custom.E is read as the type, and note as attributes; --col"):
        [document] = read(tmp_path / "a.xmi")
    attributes = {"sure": True, "rank": 2, "note": "see above"}
    assert document.mentions == [Mention("sign", [(2, 7)], attributes=attributes)]
    [document] = read(tmp_path / "a.xmi", columns={"mentions": "webanno.custom.E", "type": "note"})
    attributes = {"sure": True, "rank": 2, "kind": "sign"}
    assert document.mentions == [Mention("see above", [(2, 7)], attributes=attributes)]


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        (
            'sofa="1" begin="3" end="99"',
            "Entity (xmi:id 6) at 3-99 is outside the text of 13 characters",
        ),
        ('sofa="1" begin="-3" end="5"', "at -3-5 is outside the text"),
        ('sofa="1" begin="8" end="3"', "at 8-3 ends before it begins"),
        ('sofa="1" begin="1" end="8"', "at 1-8 cuts a character"),
        ('sofa="1" begin="3" end="99999999999999999999"', "expected numbers of characters"),
        ('sofa="1" begin="x" end="3"', "has the offsets 'x' and '3'"),
        ('sofa="1" begin="3"', "has no 'end'"),
        ('sofa="1" end="8"', "has no 'begin'"),
        ('begin="3" end="8"', "has no 'sofa'"),
    ],
)
def test_annotations_without_a_place_cost_no_document(tmp_path: Path, odd: str, why: str) -> None:
    body = SPAN % (3, 8) + f'<custom:Entity xmi:id="6" {odd} value="x"/>'
    (tmp_path / "a.xmi").write_text(XMI % (body, "5 6"), encoding="utf-8")
    told: list[str] = []
    [document] = read(tmp_path / "a.xmi", notice=told.append)
    assert [mention.spans for mention in document.mentions] == [((2, 7),)]
    assert len(told) == 1
    assert why in told[0]
    assert "it is left out" in told[0]


def test_a_type_that_only_the_file_shows_is_an_annotation_by_its_offsets(tmp_path: Path) -> None:
    body = SPAN % (3, 8) + '<custom:Other xmi:id="6" begin="3" value="x"/>'
    (tmp_path / "a.xmi").write_text(XMI % (body, "5"), encoding="utf-8")
    with pytest.warns(match="webanno.custom.Other .* has no 'end'"):
        [document] = read(tmp_path / "a.xmi")
    assert len(document.mentions) == 1


def test_annotations_that_no_view_lists_are_counted(tmp_path: Path) -> None:
    body = SPAN % (3, 8) + (SPAN % (3, 5)).replace('"5"', '"6"', 1)
    (tmp_path / "a.xmi").write_text(XMI % (body, "5"), encoding="utf-8")
    with pytest.warns(match="xmi:id 6.* is in no view; it is left out"):
        [document] = read(tmp_path / "a.xmi")
    assert [mention.spans for mention in document.mentions] == [((2, 7),)]


def test_a_document_annotation_outside_its_text_still_names_the_document(tmp_path: Path) -> None:
    body = f'<m:DocumentMetaData xmlns:m="{META}" xmi:id="5" sofa="1" begin="0" end="99" documentTitle="note 7"/>'
    (tmp_path / "a.xmi").write_text(XMI % (body, "5"), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [document] = read(tmp_path / "a.xmi")
    assert document.id == "note 7"


@pytest.mark.parametrize("name", ["x=print(1)", "a b", "x'", ""])
def test_names_of_features_are_never_code(tmp_path: Path, name: str) -> None:
    write([Document("No pain.", "a")], tmp_path / "a.xmi")
    system = tmp_path / "a.TypeSystem.xml"
    given = system.read_text().replace("<name>identifier</name>", f"<name>{name}</name>")
    assert given != system.read_text()
    system.write_text(given)
    with pytest.raises(DataError, match="expected a name of letters, digits and _"):
        list(read(tmp_path / "a.xmi"))
