"""Tables of concepts: what is read, and one clear line for what cannot be."""

from __future__ import annotations

import pytest

from spanloom.data import clinical
from spanloom.errors import DataError, UsageError
from spanloom.vocabulary import Concept, read_concepts, read_vocabulary

HEAD = "id\tname\tsynonyms\tparents\tcategory\n"


@pytest.fixture
def table(tmp_path):
    def write(text: str | bytes) -> str:
        path = tmp_path / "names.tsv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def test_all_columns(table) -> None:
    path = table(f"\ufeff{HEAD}a:1\theart\tcor| |  Herz\t\torgan\r\n\n a:2 \tleft heart\t\ta:1|x:9\t\n")
    assert read_concepts(path) == [
        Concept("a:1", "heart", ("cor", "Herz"), category="organ"),
        Concept("a:2", "left heart", parents=("a:1", "x:9")),
    ]


def test_other_orders_and_fewer_columns(table) -> None:
    assert read_concepts(table("source\tname\tid\nX\theart\t1\n")) == [Concept("1", "heart")]


def test_columns_that_a_vocabulary_has_beside_these(table) -> None:
    path = table("id\tname\talternatives\tdefinition\n1\theart\tOMIM:1|x:2\tA pump.\n")
    assert read_concepts(path) == [Concept("1", "heart", alternatives=("OMIM:1", "x:2"), definition="A pump.")]


def test_names_stand_once() -> None:
    assert Concept("1", "a", ("b", "a", "b")).names == ("a", "b")


def test_the_bundled_vocabulary() -> None:
    concepts = read_concepts(clinical() / "vocabulary.tsv")
    assert {concept.category for concept in concepts} == {"anatomy", "problem", "treatment"}
    ids = {concept.id for concept in concepts}
    assert all(parent in ids for concept in concepts for parent in concept.parents)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "found no concept, expected at least one"),
        (HEAD, None, "found no concept"),
        ("name\tcode-list\n", 1, "found the columns name, code-list, expected id, name and perhaps synonyms; name the"),
        ("x" * 900, 1, "found the columns x"),
        ("id\tname\tid\n", 1, "found the column 'id' twice"),
        (f"{HEAD}1\theart\n", 2, "found 2 columns, expected 5 as in the first line"),
        (f"{HEAD}\n1\ta\t\t\t\t\n", 3, "found 6 columns"),
        (f"{HEAD}\ta\t\t\tx\n", 2, "found an empty id"),
        (b"id\tname\n1\t\xff\n", 2, "byte 3 of the line is 0xFF, which is not UTF-8"),
    ],
)
def test_errors_name_file_and_line(table, text, line, message) -> None:
    path = table(text)
    with pytest.raises(DataError, match=message) as caught:
        read_concepts(path)
    assert (caught.value.path, caught.value.line) == (path, line)
    assert len(str(caught.value)) < 400 and "\n" not in str(caught.value)


def concepts(path: str, **options) -> list[tuple[str, tuple[str, ...]]]:
    return [(concept.id, concept.names) for concept in read_vocabulary(path, **options)]


CHEST = [("UMLS:C0008031", ("chest pain", "thoracic pain", "pain in chest"))]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("id,name,synonyms\nC0008031,chest pain,thoracic pain|pain in chest\n", None),
        ("id;name;synonyms\nC0008031;chest pain;thoracic pain|pain in chest\n", None),
        ('id,name,synonyms\nC0008031,"chest pain","thoracic pain; pain in chest"\n', None),
        ("cui\tstr\nC0008031\tchest pain\nC0008031\tthoracic pain\nC0008031\tpain in chest\n", None),
        ("cui\tstr\nC0008031\tchest pain\nC0008031\tthoracic pain\nC0008031\tpain in chest\n", "id=cui,name=str"),
        ('Class ID,Preferred Label,Synonym,Obsolete\nC0008031,chest pain,thoracic pain|pain in chest,false\n', None),
        ("CUI\tTerm\tTTY\nC0008031\tthoracic pain\tSY\nC0008031\tpain in chest\tSY\nC0008031\tchest pain\tPT\n", None),
        ("kode,naam,alias1,alias2\nC0008031,chest pain,thoracic pain,pain in chest\n",
         {"id": "kode", "name": "naam", "synonyms": ["alias1", "alias2"]}),
        ("kode,naam,a,b\nC0008031,chest pain,thoracic pain,pain in chest\n", "id=kode,name=naam,synonyms=a,synonyms=b"),
        ("C0008031\tchest pain\nC0008031\tthoracic pain\nC0008031\tpain in chest\n", None),
        ("chest pain,C0008031\nthoracic pain,C0008031\npain in chest,C0008031\n", None),
        ("C0008031||chest pain\nC0008031||thoracic pain\nC0008031||pain in chest\n", None),
        ("x,chest pain,C0008031\nx,thoracic pain,C0008031\nx,pain in chest,C0008031\n", "id=3,name=2"),
        ("cui|name|aliases\nC0008031|chest pain|thoracic pain;pain in chest\n", None),
        ("symptom_id,symptom_name,aka,\nC0008031,chest pain,thoracic pain;pain in chest,\n", None),
        ("Code;Bezeichnung;Synonyme\nC0008031;chest pain;thoracic pain|pain in chest\n", None),
        ("id,name,aliases\nC0008031,chest pain,\"['thoracic pain', 'pain in chest']\"\n", None),
    ],
)  # fmt: skip
def test_tables_of_other_programs(table, text, columns) -> None:
    path = table(text)
    found = concepts(path, columns=columns)
    assert [(number, {*names}) for number, names in found] == [(number, {*names}) for number, names in CHEST]
    assert found[0][1][0] == "chest pain"
    assert [concept.names for concept in read_concepts(path, columns)] == [names for _, names in found]


def test_a_table_of_genes(table) -> None:
    path = table(
        "#tax_id\tGeneID\tSymbol\tSynonyms\tdbXrefs\tdescription\ttype_of_gene\tOther_designations\n"
        "9606\t1\tA1BG\tA1B|ABG\tMIM:138670\talpha-1-B glycoprotein\tprotein-coding\tHEL-S-163pA\n"
        "9606\t2\tA2M\t-\t-\talpha-2-macroglobulin\tprotein-coding\t-\n"
    )
    vocabulary = read_vocabulary(path)
    assert [concept.names for concept in vocabulary] == [("A1BG", "A1B", "ABG", "HEL-S-163pA"), ("A2M",)]
    assert (vocabulary[0].category, vocabulary[0].definition) == ("protein-coding", "alpha-1-B glycoprotein")
    assert [str(note) for note in vocabulary.notes] == ["columns that are not read: 2, such as #tax_id, dbXrefs"]


def test_what_is_left_out_is_counted(table) -> None:
    path = table(
        "id,name,lang,source,obsolete,extra\n1,heart,en,A,,x\n1,Herz,de,A,,x\n2,old,en,A,true,x\n3,cor,la,B,no,x\n"
    )
    vocabulary = read_vocabulary(path)
    assert [concept.names for concept in vocabulary] == [("heart", "Herz"), ("cor",)]
    assert [str(note) for note in vocabulary.notes] == [
        "columns that are not read: 1, such as extra",
        "further rows of concepts that have several, joined: 1, such as 1",
        "inactive or obsolete rows, left out: 1, such as 2",
    ]
    assert concepts(path, languages=["en", "de"], sources=["A"]) == [("1", ("heart", "Herz"))]
    with pytest.raises(UsageError, match="found no name of the language 'fr', expected one of de, en, la"):
        read_vocabulary(path, languages=["fr"])


def test_semicolons_divide_where_no_bars_do(table) -> None:
    text = "id,name,synonyms\n1,a,b; c\n2,d,{}\n"
    divided = read_vocabulary(table(text.format("e")))
    assert ([concept.names for concept in divided], str(divided.notes[0])) == (
        [("a", "b", "c"), ("d", "e")], "cells of synonyms split at ;: 1, such as b; c",
    )  # fmt: skip
    assert [names for _, names in concepts(table(text.format("e|f")))] == [("a", "b; c"), ("d", "e", "f")]


def test_other_encodings(table) -> None:
    path = table("id,name\n1,Sjögren\n".encode("cp1252"))
    assert read_vocabulary(path, encoding="cp1252")[0].name == "Sjögren"
    with pytest.raises(DataError, match=r"is not UTF-8; .*cp1252"):
        read_vocabulary(path)
    assert read_vocabulary(table("id,name\n1,Sjögren\n".encode("utf-16")), encoding="utf-16")[0].name == "Sjögren"


def test_names_without_identifiers(table) -> None:
    path = table("name\tfrequency\naspirin\t7\n")
    assert concepts(path, columns="name=name") == [("aspirin", ("aspirin",))]
    vocabulary = read_vocabulary(table("name\tsynonyms\nchest pain\tthoracic pain\n"))
    assert [(concept.id, concept.names) for concept in vocabulary] == [("chest pain", ("chest pain", "thoracic pain"))]
    assert vocabulary.notes[0].kind == "tables without identifiers, whose names are the identifiers"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("id", "found the column 'id', expected pairs such as id=cui,name=str"),
        ("cui=id", "a vocabulary has no column 'cui'; expected one of: id, name, definition"),
        ("id=a,id=b", "found two columns for id, expected one"),
        ("id=nr,name=str", "there is no column 'nr'; the vocabulary has: 'cui', 'str'"),
        ("id=1,name=3", "found 2 columns, expected numbers of columns from 1 to that"),
        ("id=0,name=1", "found 2 columns, expected numbers"),
        ("id=1", "found no column of names"),
    ],
)
def test_columns_that_are_not_there(table, columns, message) -> None:
    with pytest.raises(UsageError, match=message):
        read_vocabulary(table("cui\tstr\n1\theart\n"), columns=columns)
    with pytest.raises(
        UsageError, match=r"found columns for .*, which is of the format words, expected one of the formats"
    ):
        read_vocabulary(table("heart\n"), "words", columns=columns)
