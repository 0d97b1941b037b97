"""UMLS files: which names, codes, parents, definitions and types are a concept's, with languages and sources."""

from __future__ import annotations

import gzip

import pytest

from spanloom.errors import DataError, UsageError
from spanloom.vocabulary import Concept, read_vocabulary

# CUI LAT TS LUI STT SUI ISPREF AUI SAUI SCUI SDUI SAB TTY CODE STR SRL SUPPRESS CVF
NAMES = """\
C0027051|ENG|S|L1|PF|S1|Y|A1||||MSH|ET|D009203|Heart Attack|0|N||
C0027051|ENG|P|L2|PF|S2|Y|A2||M1|D009203|MSH|MH|D009203|Myocardial Infarction|0|N|256|
C0027051|ENG|P|L2|VC|S3|Y|A3||||OMIM|PT|608446|MYOCARDIAL INFARCTION|0|N||
C0027051|ENG|S|L4|PF|S4|Y|A4||||HPO|PT|HP:0001658|Cardiac infarct|0|O||
C0027051|GER|P|L5|PF|S5|Y|A5||||MSHGER|MH|D009203|Herzinfarkt|3|N||
C0151744|ENG|P|L6|PF|S6|Y|A6||||MSH|MH|D017202|Myocardial Ischemia|0|N||
C0151744|ENG|S|L7|PF|S7|Y|A7||||HPO|PT|HP:0001657|Ischemia of the heart|0|N||
C0007222|GER|P|L8|PF|S8|Y|A8||||MSHGER|MH|D002318|Herzkrankheit|3|N||
"""
TYPES = (
    "C0027051|T047|B2.2.1.2.1|Disease or Syndrome|AT1|256|\nC0027051|T046|B|Pathologic Function|AT2||\nC9|T1|A|x|||\n"
)
DEFINITIONS = """\
C0027051|A1|AT1||NCI|suppressed|O||
C0027051|A2|AT2||MSH|NECROSIS of the MYOCARDIUM.|N||
C0027051|A3|AT3||NCI|another|N||
C9|A9|AT9||MSH|of no concept|N||
"""
RELATIONS = """\
C0027051|A2|AUI|PAR|C0151744|A6|AUI||R1||MSH|MSH|||N||
C0027051|A2|AUI|PAR|C0151744|A6|AUI||R1||HPO|HPO|||N||
C0027051|A3|AUI|PAR|C0000001|A6|AUI||R2||OMIM|OMIM|||N||
C0027051|A3|AUI|PAR|C0000002|A6|AUI||R3||OMIM|OMIM|||O||
C0151744|A6|AUI|CHD|C0027051|A2|AUI||R4||MSH|MSH|||N||
C9|A6|AUI|PAR|C0027051|A2|AUI||R4||MSH|MSH|||N||
"""


@pytest.fixture
def umls(written, tmp_path):
    written("umls/MRCONSO.RRF", NAMES)
    written("umls/MRSTY.RRF", TYPES)
    written("umls/MRDEF.RRF", DEFINITIONS)
    written("umls/MRREL.RRF", RELATIONS)
    return tmp_path / "umls"


def test_english_of_all_sources(umls) -> None:
    vocabulary = read_vocabulary(umls)
    assert list(vocabulary) == [
        Concept(
            "UMLS:C0027051",
            "Myocardial Infarction",
            ("Heart Attack", "MYOCARDIAL INFARCTION"),
            ("MESH:D009203", "OMIM:608446"),
            ("UMLS:C0151744", "UMLS:C0000001"),
            "NECROSIS of the MYOCARDIUM.",
            "Disease or Syndrome|Pathologic Function",
        ),
        Concept(
            "UMLS:C0151744", "Myocardial Ischemia", ("Ischemia of the heart",), ("MESH:D017202", "HP:0001657")
        ),
    ]  # fmt: skip
    assert list(map(str, vocabulary.notes)) == [
        "suppressed names, left out: 1",
        "names of other languages or sources, left out: 2",
        "parents that are not in the vocabulary: 1, such as UMLS:C0000001",
    ]
    assert [vocabulary.find(text) for text in ("C0027051", "D009203", "HP:0001657", "HP:0001658")] == [0, 0, 1, -1]
    assert list(read_vocabulary(umls / "MRCONSO.RRF")) == list(vocabulary)


def test_one_source(umls) -> None:
    infarction, ischemia = read_vocabulary(umls, sources=["MSH"])
    assert infarction.names == ("Myocardial Infarction", "Heart Attack")
    assert (infarction.alternatives, infarction.parents) == (("MESH:D009203",), ("UMLS:C0151744",))
    assert ischemia.names == ("Myocardial Ischemia",)
    infarction, ischemia = read_vocabulary(umls, sources=["HPO", "OMIM"])
    assert (infarction.definition, infarction.parents) == ("", ("UMLS:C0151744", "UMLS:C0000001"))


def test_other_languages(umls) -> None:
    infarction, heart = read_vocabulary(umls, languages=["GER"])
    assert (infarction.names, heart.name) == (("Herzinfarkt",), "Herzkrankheit")
    assert len(read_vocabulary(umls, languages=[])) == 3
    assert len(read_vocabulary(umls, languages=["ENG", "GER"], sources=["MSHGER"])) == 2


def test_names_alone(written, tmp_path) -> None:
    written("umls/MRCONSO.RRF", NAMES.replace("\n", "\r\n"))
    vocabulary = read_vocabulary(tmp_path / "umls")
    assert [concept.parents for concept in vocabulary] == [(), ()]
    assert str(vocabulary.notes[2]) == "files that are not in the folder: 3, such as MRSTY.RRF, MRDEF.RRF, MRREL.RRF"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"languages": ["en"]}, "found no name of the language 'en', expected one of ENG, GER"),
        ({"sources": ["MESH"]}, "found no name of the source 'MESH', expected one of HPO, MSH, MSHGER, OMIM"),
    ],
)
def test_languages_and_sources_that_are_not_there(umls, options, message) -> None:
    with pytest.raises(UsageError, match=message):
        read_vocabulary(umls, **options)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("MRCONSO.RRF", NAMES + "C1|ENG\n", "MRCONSO.RRF:9: found 2 columns, expected 18 with | behind each"),
        ("MRCONSO.RRF", "|" * 18, "found no name of the language 'ENG', expected one of "),
        ("MRCONSO.RRF", NAMES.replace("C0151744", "", 1), "MRCONSO.RRF:6: found a name without a CUI"),
        ("MRCONSO.RRF", NAMES.encode().replace(b"Heart", b"H\xe4rt"), "MRCONSO.RRF:1: byte "),
        ("MRDEF.RRF", "C0027051|A1\n", "MRDEF.RRF:1: found 2 columns, expected 8"),
        ("MRREL.RRF", "\0\n", "MRREL.RRF:1: byte 1 of the line is NUL"),
        ("MRSTY.RRF", "a\tb\n", "MRSTY.RRF:1: found 1 columns, expected 6"),
    ],
)
def test_errors_name_file_and_line(umls, name, content, message) -> None:
    (umls / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises((DataError, UsageError)) as caught:
        read_vocabulary(umls)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_nothing_in_the_language(written, tmp_path) -> None:
    written("umls/MRCONSO.RRF", NAMES.replace("|N|", "|O|"))
    with pytest.raises(DataError, match="found no concept"):
        read_vocabulary(tmp_path / "umls")


RXNORM = """\
1191|ENG||||||1|1191|1191||MTHSPL|SU|R16CO5Y76E|ASPIRIN|0|N||
1191|ENG||||||2|1191|1191||RXNORM|SY|1191|ASA|0|N||
1191|ENG||||||3|1191|1191||RXNORM|IN|1191|aspirin|0|N|4096|
1191|ENG||||||4||||MSH|MH|D001241|Aspirin|0|N||
1191|ENG||||||5|1191|1191||VANDF|IN|4017536|ASPIRIN OLD|0|O||
"""


def test_rxnorm(written, tmp_path) -> None:
    path = written("rrf/RXNCONSO.RRF", RXNORM)
    written("rrf/RXNSTY.RRF", "1191|T121|A1.4|Pharmacologic Substance|AT1|256|\n")
    expected = Concept(
        "1191", "aspirin", ("ASPIRIN", "ASA", "Aspirin"), ("RXNORM:1191", "MESH:D001241"), (), "",
        "Pharmacologic Substance",
    )  # fmt: skip
    vocabulary = read_vocabulary(tmp_path / "rrf")
    assert [*vocabulary] == [expected] == [*read_vocabulary(path)]
    assert [str(note) for note in vocabulary.notes] == [
        "suppressed names, left out: 1", "files that are not in the folder: 1, such as RXNREL.RRF",
    ]  # fmt: skip
    assert [concept.names for concept in read_vocabulary(path, sources=["RXNORM"])] == [("aspirin", "ASA")]


def test_lines_of_names_in_another_file_and_packed(written, tmp_path) -> None:
    assert len(read_vocabulary(written("sample.txt", NAMES))) == 2
    written("umls/MRCONSO.RRF.gz", gzip.compress(NAMES.encode()))
    written("umls/MRDEF.RRF.gz", gzip.compress(DEFINITIONS.encode()))
    packed = read_vocabulary(tmp_path / "umls")
    assert packed[0].definition == "NECROSIS of the MYOCARDIUM."
    assert len(read_vocabulary(tmp_path / "umls" / "MRCONSO.RRF.gz")) == 2
