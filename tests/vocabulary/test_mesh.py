"""MeSH's XML of descriptors and of supplementary records."""

from __future__ import annotations

import pytest

from spanloom.errors import DataError
from spanloom.vocabulary import Concept, read_vocabulary

DESCRIPTORS = """<?xml version="1.0"?>
<!DOCTYPE DescriptorRecordSet SYSTEM "https://www.nlm.nih.gov/databases/dtd/nlmdescriptorrecordset_20240101.dtd">
<DescriptorRecordSet LanguageCode = "eng">
<DescriptorRecord DescriptorClass = "1">
  <DescriptorUI>D009203</DescriptorUI>
  <DescriptorName><String>Myocardial Infarction</String></DescriptorName>
  <TreeNumberList><TreeNumber>C14.280.647.500</TreeNumber><TreeNumber>C23.550</TreeNumber></TreeNumberList>
  <ConceptList>
    <Concept PreferredConceptYN="Y"><ConceptUI>M0014340</ConceptUI>
      <ConceptName><String>Myocardial Infarction</String></ConceptName>
      <ScopeNote>NECROSIS of the
      MYOCARDIUM.  </ScopeNote>
      <TermList>
        <Term ConceptPreferredTermYN="Y"><TermUI>T1</TermUI><String>Myocardial Infarction</String></Term>
        <Term ConceptPreferredTermYN="N"><TermUI>T2</TermUI><String>Infarct, Myocardial</String></Term>
      </TermList>
    </Concept>
    <Concept PreferredConceptYN="N"><ConceptUI>M0330064</ConceptUI><ScopeNote>other</ScopeNote>
      <TermList><Term><String>Heart Attack</String></Term></TermList>
    </Concept>
  </ConceptList>
</DescriptorRecord>
<DescriptorRecord>
  <DescriptorUI>D017202</DescriptorUI>
  <DescriptorName><String>Myocardial Ischemia</String></DescriptorName>
  <TreeNumberList><TreeNumber>C14.280.647</TreeNumber></TreeNumberList>
</DescriptorRecord>
<DescriptorRecord>
  <DescriptorUI>D010336</DescriptorUI><DescriptorName><String>Pathologic Processes</String></DescriptorName>
  <TreeNumberList><TreeNumber>C23</TreeNumber><TreeNumber>F01</TreeNumber></TreeNumberList>
</DescriptorRecord>
</DescriptorRecordSet>
"""
SUPPLEMENT = """<SupplementalRecordSet><SupplementalRecord>
<SupplementalRecordUI>C538288</SupplementalRecordUI>
<SupplementalRecordName><String>10p Deletion Syndrome (Partial)</String></SupplementalRecordName>
<HeadingMappedToList>
<HeadingMappedTo><DescriptorReferredTo><DescriptorUI>*D002872</DescriptorUI></DescriptorReferredTo></HeadingMappedTo>
<HeadingMappedTo><DescriptorReferredTo><DescriptorUI>D025063</DescriptorUI></DescriptorReferredTo></HeadingMappedTo>
</HeadingMappedToList>
<ConceptList><Concept PreferredConceptYN="Y"><TermList><Term><String>Monosomy 10p</String></Term></TermList></Concept>
</ConceptList>
</SupplementalRecord></SupplementalRecordSet>
"""


def test_descriptors(written) -> None:
    assert list(read_vocabulary(written("desc.xml", DESCRIPTORS))) == [
        Concept(
            "MESH:D009203",
            "Myocardial Infarction",
            ("Infarct, Myocardial", "Heart Attack"),
            (),
            ("MESH:D017202", "MESH:D010336"),
            "NECROSIS of the MYOCARDIUM.",
            "C",
        ),
        Concept("MESH:D017202", "Myocardial Ischemia", category="C"),
        Concept("MESH:D010336", "Pathologic Processes", category="C|F"),
    ]


def test_supplementary_records(written) -> None:
    [concept] = read_vocabulary(written("supp.xml", SUPPLEMENT))
    assert concept == Concept(
        "MESH:C538288",
        "10p Deletion Syndrome (Partial)",
        ("Monosomy 10p",),
        parents=("MESH:D002872", "MESH:D025063"),
    )


def test_a_tree_number_of_two_descriptors(written) -> None:
    vocabulary = read_vocabulary(written("desc.xml", DESCRIPTORS.replace(">F01<", ">C14.280.647<")))
    assert vocabulary[0].parents == ("MESH:D017202", "MESH:D010336")
    assert str(vocabulary.notes[0]).startswith("tree numbers of several descriptors, which mean the first: 1")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<DescriptorUI>D017202</DescriptorUI>", "", ":23: found a DescriptorRecord without DescriptorUI"),
        ("D017202", "D009203", ":23: found the id 'MESH:D009203' twice, first on line 4"),
        ("DescriptorRecord>", "Entry>", ":22: found no well-formed XML in column 3 .mismatched tag"),
        ("</DescriptorRecordSet>", "", ":33: found no well-formed XML in column 1 .no element found"),
    ],
)
def test_errors_name_file_and_line(written, old, new, message) -> None:
    path = written("desc.xml", DESCRIPTORS.replace(old, new))
    with pytest.raises(DataError, match=message):
        read_vocabulary(path)


ASCII = """
*NEWRECORD
RECTYPE = D
MH = Myocardial Infarction
PRINT ENTRY = Heart Attack|T047|NON|EQV|NLM (2013)|abcdef
ENTRY = Infarct, Myocardial
MN = C14.280.647.500
MS = NECROSIS of the MYOCARDIUM.
UI = D009203

*NEWRECORD
RECTYPE = D
MH = Myocardial Ischemia
MN = C14.280.647
UI = D017202

*NEWRECORD
RECTYPE = C
NM = 10p Deletion Syndrome
SY = Monosomy 10p|T019|EQV
UI = C538288
"""


def test_ascii(written) -> None:
    assert list(read_vocabulary(written("d2025.bin", ASCII))) == [
        Concept(
            "MESH:D009203", "Myocardial Infarction", ("Infarct, Myocardial", "Heart Attack"), (), ("MESH:D017202",),
            "NECROSIS of the MYOCARDIUM.", "C",
        ),
        Concept("MESH:D017202", "Myocardial Ischemia", category="C"),
        Concept("MESH:C538288", "10p Deletion Syndrome", ("Monosomy 10p",)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (ASCII.replace("UI = D017202\n", ""), ":11: found a record without UI, expected each to have one"),
        (ASCII.replace("RECTYPE = C", "RECTYPE: C"), ":18: found 'RECTYPE: C', expected a field such as MH = Heart"),
    ],
)
def test_errors_of_ascii(written, content, message) -> None:
    with pytest.raises(DataError, match=message):
        read_vocabulary(written("d2025.bin", content))


def test_qualifiers(written) -> None:
    record = "<QualifierUI>Q000008</QualifierUI><QualifierName><String>drug effects</String></QualifierName>"
    path = written("qual.xml", f"<QualifierRecordSet><QualifierRecord>{record}</QualifierRecord></QualifierRecordSet>")
    assert list(read_vocabulary(path)) == [Concept("MESH:Q000008", "drug effects")]
