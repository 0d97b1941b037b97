"""CTD's files: XML, CSV, TSV."""

from __future__ import annotations

import pytest
from vocabulary_helpers import CONCEPTS, SJOGREN

from spanloom.errors import DataError
from spanloom.vocabulary import Concept, read_vocabulary

XML = """<?xml version="1.0"?>
<RowSet>
<Row>
<DiseaseName>Myocardial Infarction</DiseaseName>
<DiseaseID>MESH:D009203</DiseaseID>
<AltDiseaseIDs>DO:DOID:5844|OMIM:608446</AltDiseaseIDs>
<Definition>NECROSIS of the &quot;MYOCARDIUM&quot;, often.</Definition>
<ParentIDs>MESH:D017202</ParentIDs>
<TreeNumbers>C14.280.647.500</TreeNumbers>
<Synonyms>Heart Attack|Infarct, Myocardial</Synonyms>
<SlimMappings>Cardiovascular disease</SlimMappings>
</Row>
<Row><DiseaseName>Myocardial Ischemia</DiseaseName><DiseaseID>MESH:D017202</DiseaseID>
<ParentIDs>MESH:C</ParentIDs></Row>
<Row><DiseaseName>Sj\u00f6gren&#39;s Syndrome</DiseaseName><DiseaseID>MESH:D012859</DiseaseID>
<Synonyms>Sicca Syndrome</Synonyms></Row>
</RowSet>
"""
COMMENT = "# CTD, the Comparative Toxicogenomics Database\n#\n# Fields:\n"
COLUMNS = "DiseaseName,DiseaseID,AltDiseaseIDs,Definition,ParentIDs,TreeNumbers,ParentTreeNumbers,Synonyms,SlimMappings"
CSV = f"""{COMMENT}# {COLUMNS}
#
Myocardial Infarction,MESH:D009203,DO:DOID:5844|OMIM:608446,"NECROSIS of the ""MYOCARDIUM"", often.",MESH:D017202,C14,,\
"Heart Attack|Infarct, Myocardial",Cardiovascular disease
Myocardial Ischemia,MESH:D017202,,,MESH:C,C14,,,
Sj\u00f6gren's Syndrome,MESH:D012859,,,,,,Sicca Syndrome,
"""
TABBED = COLUMNS.replace(",", "\t")
TSV = f"""{COMMENT}# {TABBED}
#
Myocardial Infarction\tMESH:D009203\tDO:DOID:5844|OMIM:608446\tNECROSIS of the "MYOCARDIUM", often.\tMESH:D017202\tC14\
\t\tHeart Attack|Infarct, Myocardial\tCardiovascular disease
Myocardial Ischemia\tMESH:D017202\t\t\tMESH:C\tC14\t\t\t
Sj\u00f6gren's Syndrome\tMESH:D012859\t\t\t\t\t\tSicca Syndrome\t
"""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.xml", XML),
        ("a.xml", f"\ufeff{XML}"),
        ("utf16.xml", XML.replace("?>", ' encoding="UTF-16"?>').encode("utf-16")),
        ("latin.xml", XML.replace("?>", ' encoding="ISO-8859-1"?>').encode("latin-1")),
        ("dos.xml", XML.replace("\n", "\r\n")),
        ("a.csv", CSV),
        ("dos.csv", CSV.replace("\n", "\r\n")),
        ("bare.csv", CSV.removeprefix(COMMENT).replace("# ", "", 1)),
        ("a.tsv", TSV),
        ("bare.tsv", f"\ufeff{TSV.removeprefix(COMMENT).replace('# ', '', 1)}"),
        ("a.txt", TSV),
    ],
)
def test_one_vocabulary_in_all_forms(written, name, content) -> None:
    path = written(name, content)
    assert list(read_vocabulary(path)) == CONCEPTS
    assert list(read_vocabulary(path, "medic")) == CONCEPTS


def test_chemicals(written) -> None:
    row = "<Row><ChemicalName>Aspirin</ChemicalName><ChemicalID>MESH:D001241</ChemicalID><CasRN>50-78-2</CasRN></Row>"
    assert list(read_vocabulary(written("c.xml", f"<RowSet>{row}</RowSet>"))) == [Concept("MESH:D001241", "Aspirin")]
    table = "# ChemicalName\tChemicalID\tCasRN\nAspirin\tMESH:D001241\t50-78-2\n"
    assert list(read_vocabulary(written("c.tsv", table))) == [Concept("MESH:D001241", "Aspirin")]


def test_a_line_end_in_quotes(written) -> None:
    table = '# DiseaseName,DiseaseID,Definition\n"Sj\u00f6gren\'s Syndrome",MESH:D012859,"dry\neyes"\nb,MESH:D000001\n'
    with pytest.raises(DataError, match=r":4: found 2 columns, expected 3: DiseaseName, DiseaseID, Definition"):
        read_vocabulary(written("a.csv", table))
    [concept] = read_vocabulary(written("b.csv", table.rpartition("b,")[0]))
    assert (concept.id, concept.definition) == (SJOGREN.id, "dry eyes")


HEAD = "# DiseaseName,DiseaseID\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", f"{HEAD}a\n", ":2: found 1 columns, expected 2"),
        ("a.csv", f"{HEAD}a,\n", r":2: found a concept without an id \('a'\)"),
        (
            "a.csv",
            f"{HEAD}a,1\nb,2\nc,1\n",
            ":4: found the id '1' twice, first on line 2, with different values of name",
        ),
        ("a.csv", f'{HEAD}a,1\n"b,2\nc,3\n', r":3: found a row that is no CSV \(unexpected end of data\)"),
        ("a.csv", HEAD, "found no concept"),
        ("a.csv", f"{HEAD}a,1\nb\0,2\n", ":3: byte 2 of the line is NUL"),
        ("a.csv", HEAD.encode() + b"Sj\xf6gren,1\n", ":2: byte 3 of the line is 0xF6, which is not UTF-8"),
        ("a.xml", "<RowSet></RowSet>", "found no concept"),
        ("a.xml", "<RowSet>\n<Row></Row></RowSet>", ":2: found a row with nothing, expected DiseaseName and DiseaseID"),
        ("a.xml", "<RowSet><Row><a>b</a></Row></RowSet>", ":1: found a row with a, expected DiseaseName"),
        ("a.xml", XML.replace("</ParentIDs>", "", 1), ":12: found no well-formed XML in column 3 .mismatched tag"),
        ("a.xml", XML.replace("<SlimMappings>", "<Synonyms>x</Synonyms><SlimMappings>"), ":3: found Synonyms twice"),
        ("a.xml", XML.replace("D012859", "D017202"), ":15: found the id 'MESH:D017202' twice, first on line 13"),
    ],
)
def test_errors_name_file_and_line(written, name, content, message) -> None:
    path = written(name, content)
    with pytest.raises(DataError, match=message) as caught:
        read_vocabulary(path)
    assert str(caught.value).startswith(path) and "\n" not in str(caught.value)


def test_a_table_without_its_columns(written) -> None:
    path = written("a.csv", "heart attack,MESH:D009203\n")
    with pytest.raises(DataError, match=":1: found 'heart attack,MESH:D009203' before a line of columns"):
        read_vocabulary(path, "medic")
    with pytest.raises(DataError, match="found no line of columns"):
        read_vocabulary(written("b.csv", "# nothing\n"), "medic")
