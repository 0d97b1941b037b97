"""Formats are found from names and contents, or named; what is of no format is said so."""

from __future__ import annotations

import pytest
from test_medic import COLUMNS
from vocabulary_helpers import CONCEPTS

from spanloom.data import clinical
from spanloom.errors import DataError, DataWarning, UsageError
from spanloom.vocabulary import VOCABULARY_FORMATS, Concept, Vocabulary, read_vocabulary

HEART = [Concept("1", "heart")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", "id\tname\n1\theart\n"),
        ("a.tsv", "\n\ufeffname\tDiseases\tid\nheart\t\t1\n".lstrip()),
        ("a.xml", "id\tname\n1\theart\n"),
        ("a", "<!-- <RowSet> --><RowSet><Row><DiseaseName>heart</DiseaseName><DiseaseID>1</DiseaseID></Row></RowSet>"),
        ("a", '  \n{"graphs": [{"nodes": [{"id": "1", "lbl": "heart"}]}]}'),
        ("a", "! a comment\n\n[Term]\nid: 1\nname: heart\n"),
        ("a", "# Fields:\n# DiseaseName,DiseaseID\nheart,1\n"),
        ("a", "# ChemicalName\tChemicalID\nheart\t1\n"),
    ],
)
def test_contents_tell(written, name, content) -> None:
    assert list(read_vocabulary(written(name, content))) == HEART


def test_what_comes_before_the_root_of_mesh(written) -> None:
    record = "<DescriptorUI>1</DescriptorUI><DescriptorName><String>heart</String></DescriptorName>"
    records = f"<DescriptorRecordSet><DescriptorRecord>{record}</DescriptorRecord></DescriptorRecordSet>"
    before = '<?xml version="1.0"?>\n<!-- <RowSet> -->\n<!DOCTYPE DescriptorRecordSet [<!ELEMENT RowSet (#PCDATA)>]>\n'
    assert list(read_vocabulary(written("a.xml", before + records))) == HEART
    wide = before.replace('"1.0"', '"1.0" encoding="utf-16"') + records
    assert list(read_vocabulary(written("b.xml", wide.encode("utf-16")))) == HEART


def test_the_bundled_table() -> None:
    vocabulary = read_vocabulary(clinical() / "vocabulary.tsv")
    assert (len(vocabulary), vocabulary.counts()["names"]) == (449, len(vocabulary.names))
    assert [note.kind for note in vocabulary.notes] in ([], ["names of several concepts"])


def test_the_same_line_twice_in_a_table(written) -> None:
    vocabulary = read_vocabulary(written("a.tsv", "id\tname\n1\theart\n1\theart\n"))
    assert (list(vocabulary), vocabulary.notes[0].count) == (HEART, 1)


def test_an_index(tmp_path) -> None:
    Vocabulary.build(CONCEPTS).save(tmp_path / "index")
    assert list(read_vocabulary(tmp_path / "index")) == CONCEPTS
    assert list(read_vocabulary(tmp_path / "index", "index")) == CONCEPTS


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.bin",
            b"\x89PNG\r\n",
            "found '.PNG...n' at its start, which is no vocabulary of the formats codes, json, medic, mesh",
        ),
        ("a.txt", "One is two. And more.\n", "found 'One is two. And more..n' at its start, which is no vocabulary"),
        ("a.tsv", b"\x1f\x8b\x08\x00", "found a compressed file, expected text, or gzip"),
        ("a.zip", b"PK\x03\x04", "found a compressed file"),
        ("a.xml", "<html></html>", ":1: found the element <html>, expected <RowSet>; is this another format"),
        ("a.xml", "<", ":1: found no well-formed XML"),
        ("a.tsv", "", "found no concept"),
        ("a.tsv", " \n", "found no concept"),
        ("a.xml", "", "found no concept"),
        (
            "folder/x.tsv",
            "",
            "found a folder, expected one with MRCONSO.RRF, RXNCONSO.RRF, CONCEPT.csv, names.dmp or sct2",
        ),
    ],
)
def test_what_is_no_vocabulary(written, tmp_path, name, content, message) -> None:
    path = written(name, content)
    path = str(tmp_path / "folder") if "folder" in name else path
    with pytest.raises(DataError, match=message) as caught:
        read_vocabulary(path)
    assert str(caught.value).startswith(path) and "\n" not in str(caught.value)


@pytest.mark.parametrize("format", [None, *(name for name in VOCABULARY_FORMATS if name != "index")])
def test_a_file_that_is_not_there(tmp_path, format) -> None:
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read_vocabulary(tmp_path / "no", format)


@pytest.mark.parametrize("format", [name for name in VOCABULARY_FORMATS if name not in ("index", "table")])
def test_another_format_than_the_named_one(written, format) -> None:
    with pytest.raises(DataError):
        read_vocabulary(written("a.tsv", "id\tname\n1\theart\n"), format)


def test_wrong_usage(written) -> None:
    path = written("a.csv", f"{COLUMNS}\n")
    with pytest.raises(
        UsageError, match="found the vocabulary format 'ctd', expected one of codes, json, medic, mesh, obo, obograph"
    ):
        read_vocabulary(path, "ctd")
    with pytest.raises(UsageError, match=r"found languages and sources for .*a.csv, which is of the format medic"):
        read_vocabulary(path, languages=["ENG"], sources=["MSH"])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", "id\tname\tsynonyms\nX:1\t \t\nX:2\ttwo\t\n"),
        ("a.jsonl", '{"id": "X:1", "name": ""}\n{"id": "X:2", "name": "two"}\n'),
        ("a.obo", "[Term]\nid: X:1\n\n[Term]\nid: X:2\nname: two\n"),
        ("a.csv", "# DiseaseName,DiseaseID\n,X:1\ntwo,X:2\n"),
        (
            "a.xml", "<DescriptorRecordSet><DescriptorRecord><DescriptorUI>X:1</DescriptorUI><DescriptorName><String/>"
            "</DescriptorName></DescriptorRecord><DescriptorRecord><DescriptorUI>X:2</DescriptorUI><DescriptorName>"
            "<String>two</String></DescriptorName></DescriptorRecord></DescriptorRecordSet>",
        ),
        ("a.bin", "*NEWRECORD\nMH = \nUI = X:1\n*NEWRECORD\nMH = two\nUI = X:2\n"),
        ("b.bin", "*NEWRECORD\nUI = X:1\n*NEWRECORD\nMH = two\nUI = X:2\n"),
        ("a.ttl", "<x:1> a <http://www.w3.org/2002/07/owl#Class> .\n"
         '<x:2> a <http://www.w3.org/2002/07/owl#Class>; <http://www.w3.org/2000/01/rdf-schema#label> "two" .\n'),
    ],
)  # fmt: skip
def test_concepts_without_a_name_are_left_out_and_reported(written, name, content) -> None:
    with pytest.warns(DataWarning, match="concepts without a name, left out: 1, such as .*[Xx]:1"):
        vocabulary = read_vocabulary(written(name, content))
    assert [concept.name for concept in vocabulary] == ["two"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", "id\tname\tsynonyms\nX:1\t \tone|uno\n"),
        ("a.jsonl", '{"id": "X:1", "name": "", "synonyms": ["one", "uno"]}\n'),
        ("a.obo", '[Term]\nid: X:1\nsynonym: "one" EXACT []\nsynonym: "uno" EXACT []\n'),
    ],
)
def test_a_synonym_is_the_name_where_there_is_no_other(written, name, content) -> None:
    [concept] = read_vocabulary(written(name, content))
    assert (concept.name, concept.synonyms) == ("one", ("uno",))


def test_no_concept_has_a_name(written) -> None:
    with pytest.warns(DataWarning, match="without a name"), pytest.raises(DataError, match="found no concept"):
        read_vocabulary(written("a.tsv", "id\tname\nX:1\t \n"))
