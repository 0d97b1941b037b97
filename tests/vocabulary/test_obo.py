"""OBO files and OBO graphs; pronto reads the same from them."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from vocabulary_helpers import CONCEPTS

from spanloom.errors import DataError
from spanloom.vocabulary import Concept, Vocabulary, read_vocabulary

OBO = r"""format-version: 1.2
default-namespace: none
import: http://example.org/other.obo
! a comment

[Term]
id: MESH:D009203
name: Myocardial Infarction
namespace: Cardiovascular disease
alt_id: DO:DOID:5844
alt_id: OMIM:608446 {source="x"} ! a comment
def: "NECROSIS of the \"MYOCARDIUM\", often." [MESH:D009203, "a \"source\""]
synonym: "Heart Attack" EXACT []
synonym: "Infarct, Myocardial" RELATED [] {a="b"}
synonym: "Heart Trouble" BROAD []
broad_synonym: "Trouble" []
xref: UMLS_CUI:C0027051
is_a: MESH:D017202 {a="b"} ! Myocardial Ischemia
relationship: part_of MESH:D000001

[Term]
id: MESH:D017202 ! a comment
name: Myocardial \
Ischemia ! a comment
namespace:
is_a: MESH:C

[Typedef]
id: part_of
name: part of
synonym: "is a part of" EXACT []

[Term]
id: MESH:D012859
name: Sjögren's Syndrome {source="x", other="y"}
namespace:
exact_synonym: "Sicca Syndrome" []

[Term]
id: MESH:D000002
is_obsolete: true
replaced_by: MESH:D000003
"""
GRAPH: dict[str, Any] = {
    "graphs": [
        {
            "id": "http://example.org/medic",
            "nodes": [
                {
                    "id": "http://id.nlm.nih.gov/mesh/D009203",
                    "lbl": "Myocardial Infarction",
                    "type": "CLASS",
                    "meta": {
                        "definition": {"val": 'NECROSIS of the "MYOCARDIUM", often.', "xrefs": []},
                        "synonyms": [
                            {"pred": "hasExactSynonym", "val": "Heart Attack"},
                            {"pred": "http://www.geneontology.org/formats/oboInOwl#hasBroadSynonym", "val": "Trouble"},
                            {"pred": "hasRelatedSynonym", "val": "Infarct, Myocardial"},
                        ],
                        "basicPropertyValues": [
                            {
                                "pred": "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId",
                                "val": "DOID:5844",
                            },
                            {
                                "pred": "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId",
                                "val": "OMIM:608446",
                            },
                            {
                                "pred": "http://www.geneontology.org/formats/oboInOwl#hasOBONamespace",
                                "val": "Cardiovascular disease",
                            },
                            {"pred": "http://example.org/weight", "val": 7},
                        ],
                    },
                },
                {"id": "MESH:D017202", "lbl": "Myocardial Ischemia"},
                {
                    "id": "MESH:D012859",
                    "lbl": "Sj\u00f6gren's Syndrome",
                    "meta": {"synonyms": [{"pred": "hasExactSynonym", "val": "Sicca Syndrome"}]},
                },
                {"id": "http://purl.obolibrary.org/obo/BFO_0000050", "lbl": "part of", "type": "PROPERTY"},
                {
                    "id": "MESH:D000002",
                    "meta": {
                        "deprecated": True,
                        "basicPropertyValues": [
                            {"pred": "http://purl.obolibrary.org/obo/IAO_0100001", "val": "MESH:D000003"}
                        ],
                    },
                },
            ],
            "edges": [
                {"sub": "MESH:D009203", "pred": "is_a", "obj": "http://id.nlm.nih.gov/mesh/D017202"},
                {"sub": "MESH:D017202", "pred": "is_a", "obj": "MESH:C"},
                {"sub": "MESH:D009203", "pred": "http://purl.obolibrary.org/obo/BFO_0000050", "obj": "MESH:D012859"},
                {"sub": "MESH:D000099", "pred": "is_a", "obj": "MESH:D012859"},
            ],
        }
    ]
}
GRAPH_TEXT = json.dumps(GRAPH, indent=1)


def kinds(vocabulary: Vocabulary) -> dict[str, int]:
    return {note.kind.partition(",")[0]: note.count for note in vocabulary.notes}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.obo", OBO),
        ("a.obo", f"\ufeff{OBO}"),
        ("a.txt", OBO.replace("\n", "\r\n")),
        ("headless.obo", OBO.partition("! a comment\n\n")[2]),
        ("a.json", GRAPH_TEXT),
        ("a.json", f"\ufeff\n{GRAPH_TEXT}"),
    ],
)
def test_one_vocabulary_in_all_forms(written, name, content) -> None:
    vocabulary = read_vocabulary(written(name, content))
    assert list(vocabulary) == CONCEPTS
    found = kinds(vocabulary)
    assert found.pop("imports", 1) == 1
    assert found == {
        "obsolete terms": 1,
        "broad synonyms": 2 if content[-1] == "\n" else 1,
        "parents that are not in the vocabulary": 1,
    }


def test_an_obsolete_term_becomes_an_alternative_of_the_one_that_replaces_it(written) -> None:
    obo = OBO.replace("D000003", "D012859")
    graph = GRAPH_TEXT.replace("D000003", "D012859")
    for path in (written("a.obo", obo), written("a.json", graph)):
        vocabulary = read_vocabulary(path)
        assert vocabulary[2].alternatives == ("MESH:D000002",)
        assert vocabulary.find("MESH:D000002") == 2


def test_an_obsolete_term_that_several_replace_is_none_of_them(written) -> None:
    obo = OBO + "replaced_by: MESH:D012859\nreplaced_by: MESH:D017202\n"
    assert read_vocabulary(written("a.obo", obo)).find("MESH:D000002") == -1


def test_the_namespace_of_the_file(written) -> None:
    obo = "default-namespace: disease ! all\n[Term]\nid: X:1\nname: a \\! b\n[Term]\nid: X:2\nname: c\nnamespace: d\n"
    assert list(read_vocabulary(written("a.obo", obo))) == [
        Concept("X:1", "a ! b", category="disease"),
        Concept("X:2", "c", category="d"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[Term]\nname: a\n", ":1: found a .Term. without an id"),
        ("[Term]\nname: a\n[Term]\nid: X:1\nname: a", ":1: found a .Term. without an id"),
        ("[Term]\nid: X:1\nid: X:2\n", ":3: found a second id, 'X:2', in the term 'X:1'"),
        ("[Term]\nid: X:1\nname: a\nname: b\n", ":4: found a second name, 'b', expected one"),
        ("[Term]\nid: X:1\nname\n", ":3: found 'name', expected a tag, a colon and a value"),
        ("[Term]\nid: X:1\ndef: heart\n", ":3: found 'heart' as def, expected a text between double quotes"),
        ('[Term]\nid: X:1\nsynonym: "heart\n', ":3: found '\"heart' as synonym, expected a text between"),
        ("[Term]\nid: X:1\nname: a \\\n", ":3: found the end of the file in a line that continues"),
        ("[Term]\nid: X:1\nname: a\n[Term]\nid: X:1\nname: b\n", ":4: found the id 'X:1' twice, first on line 1"),
        ("format-version: 1.2\n", "found no concept"),
        (b"[Term]\nid: X:1\nname: Sj\xf6gren\n", ":3: byte 9 of the line is 0xF6, which is not UTF-8"),
        (b"[Term]\nid: X:1\nname: a\0\n", ":3: byte 8 of the line is NUL"),
    ],
)
def test_errors_of_obo(written, content, message) -> None:
    path = written("a.obo", content)
    with pytest.raises(DataError, match=message) as caught:
        read_vocabulary(path)
    assert str(caught.value).startswith(path) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", ":1: found no JSON in column 2"),
        ('{"graphs": [\n', ":2: found no JSON in column 1"),
        ("{}", "found JSON without graphs"),
        ('{"graphs": 7}', "the file: found 7 as graphs, expected a list"),
        ('{"graphs": ["x"]}', r'graphs\[0\]: found "x", expected an object'),
        ('{"graphs": [{"nodes": {}}]}', r"graphs\[0\]: found {} as nodes, expected a list"),
        ('{"graphs": [{"nodes": [{}]}]}', r"graphs\[0\].nodes\[0\]: found no id"),
        ('{"graphs": [{"nodes": [{"id": 7}]}]}', r"graphs\[0\].nodes\[0\]: found 7 as id, expected a string"),
        ('{"graphs": [{"nodes": [{"id": "a", "meta": []}]}]}', r"found \[\] as meta, expected an object"),
        (
            '{"graphs": [{"nodes": [{"id": "a", "meta": {"deprecated": 1}}]}]}',
            "found 1 as deprecated, expected true or",
        ),
        ('{"graphs": [{"nodes": [{"id": "a"}, {"id": "a"}]}]}', r"nodes\[1\]: found the id 'a' twice"),
        (
            '{"graphs": [{"nodes": [{"id": "a", "lbl": "\\ud800"}]}]}',
            "found half of a surrogate pair in the concept 'a'",
        ),
        ('{"graphs": [{"nodes": [{"id": "a", "lbl": "b\\u0000"}]}]}', "found a NUL character in the concept 'a'"),
        ('{"graphs": []}', "found no concept"),
        ('{"graphs": [' + "[" * 100_000, "found JSON that cannot be read"),
        ('{"graphs": ' + "9" * 10_000 + "}", "found JSON that cannot be read"),
        (b'{"graphs": "\xf6"}', ":1: byte 13 of the line is 0xF6, which is not UTF-8"),
    ],
)
def test_errors_of_graphs(written, content, message) -> None:
    path = written("a.json", content)
    with pytest.raises(DataError, match=message) as caught:
        read_vocabulary(path, "obograph")
    assert str(caught.value).startswith(path) and "\n" not in str(caught.value)


WORD = st.text(st.sampled_from("abcXYZ019 ,-'\"!{}:()[]äß"), min_size=1, max_size=12).filter(str.strip)
_ESCAPES = str.maketrans({mark: f"\\{mark}" for mark in '"!{}:'})


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(terms=st.lists(st.tuples(WORD, st.lists(WORD, max_size=3), WORD, st.booleans()), min_size=1, max_size=5))
def test_pronto_reads_the_same(written, terms) -> None:
    pronto = pytest.importorskip("pronto")
    lines = ["format-version: 1.4", ""]
    for number, (name, synonyms, definition, below) in enumerate(terms):
        lines += ["[Term]", f"id: X:{number}", f"name: {name.strip().translate(_ESCAPES)}"]
        lines += [f'def: "{definition.translate(_ESCAPES)}" [x:y]', f"alt_id: Y:{number}"]
        lines += [f'synonym: "{synonym.translate(_ESCAPES)}" EXACT []' for synonym in synonyms]
        lines += [f"is_a: X:{number - 1} ! below"] if number and below else []
        lines += [""]
    path = written("a.obo", "\n".join(lines))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = {term.id: term for term in pronto.Ontology(path, import_depth=0, encoding="utf-8").terms()}
    for concept in read_vocabulary(path):
        term = expected.pop(concept.id)
        assert concept.name == " ".join(term.name.split())
        synonyms = {" ".join(synonym.description.split()) for synonym in term.synonyms}
        assert set(concept.synonyms) == synonyms - {concept.name, ""}
        assert set(concept.alternatives) == set(term.alternate_ids)
        assert set(concept.parents) == {parent.id for parent in term.superclasses(distance=1, with_self=False)}
        assert concept.definition == " ".join(str(term.definition).split())
    assert not expected
