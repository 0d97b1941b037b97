"""Column files of other tools: any name, any layout, any spelling of tags; and text that only looks like one."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from spanloom.document import Document, Mention
from spanloom.document.align import from_levels
from spanloom.errors import DataError
from spanloom.formats import read, validate, write
from spanloom.formats.columns import holds_tokens
from spanloom.formats.tag_dialects import in_brackets
from spanloom.formats.text import read_raw


def found(path: Path, content: str, **options: object) -> tuple[list[Document], list[str]]:
    """Return the documents of a file, and what was reported."""
    path.write_bytes(content.encode())
    told: list[str] = []
    return list(read(path, notice=told.append, **options)), told


def mentions(documents: list[Document]) -> list[tuple[str, str]]:
    return [(one.type, one.text(document.text)) for document in documents for one in document.mentions]


SMITH = [("PER", "John Smith"), ("LOC", "Oslo")]
DIALECTS = {
    "B_X": "John B_PER\nSmith I_PER\nin O\nOslo B_LOC\n",
    "X_B": "John PER_B\nSmith PER_I\nin O\nOslo LOC_B\n",
    "X-B": "John PER-B\nSmith PER-I\nin O\nOslo LOC-B\n",
    "B:X": "John B:PER\nSmith I:PER\nin O\nOslo B:LOC\n",
    "B/X": "John B/PER\nSmith I/PER\nin O\nOslo B/LOC\n",
    "B.X": "John B.PER\nSmith I.PER\nin O\nOslo B.LOC\n",
    "B__X": "John B__PER\nSmith I__PER\nin O\nOslo B__LOC\n",
    "b-X": "John b-PER\nSmith i-PER\nin o\nOslo b-LOC\n",
    "words": "John Begin-PER\nSmith Inside-PER\nin O\nOslo Begin-LOC\n",
    "BIOES": "John B-PER\nSmith E-PER\nin O\nOslo S-LOC\n",
    "BMEWO": "John B-PER\nSmith E-PER\nin O\nOslo W-LOC\n",
    "IOE": "John I-PER\nSmith E-PER\nin O\nOslo E-LOC\n",
    "types": "John PER\nSmith PER\nin O\nOslo LOC\n",
    "other": "John PER\nSmith PER\nin OTHER\nOslo LOC\n",
    "brackets": "John (PER*\nSmith *)\nin *\nOslo (LOC)\n",
    "underscore": "John B-PER\nSmith I-PER\nin _\nOslo B-LOC\n",
    "hyphen": "John B-PER\nSmith I-PER\nin -\nOslo B-LOC\n",
    "nothing": "John\tB-PER\nSmith\tI-PER\nin\t\nOslo\tB-LOC\n",
    "no field behind others": "John N B-PER\nSmith N I-PER\nin N\nOslo N B-LOC\n",
    "types and hyphens": "John PER\nSmith PER\nin -\nOslo LOC\n. -\n. -\n",
    "a line with colons": "John:B-PER Smith:I-PER in:O Oslo:B-LOC .:O\n",
    "elements": '<doc id="d">\nJohn B-PER\nSmith I-PER\nin O\nOslo B-LOC\n</doc>\n',
    "no field": "John B-PER\nSmith I-PER\nin\nOslo B-LOC\n",
    "commas": "John,B-PER\nSmith,I-PER\nin,O\nOslo,B-LOC\n,,O\n",
    "commas and blanks": "John, B-PER\nSmith, I-PER\nin, O\nOslo, B-LOC\n",
    "quotes": '"John","B-PER"\n"Smith","I-PER"\nin,O\nOslo,B-LOC\n",",O\n"""",O\n',
    "semicolons": "John;B-PER\nSmith;I-PER\nin;O\nOslo;B-LOC\n;;O\n",
    "bars": "John|NNP|B-PER\nSmith|NNP|I-PER\nin|IN|O\nOslo|NNP|B-LOC\n",
    "blanks": "John     B-PER\nSmith    I-PER\nin O\nOslo     B-LOC\n",
    "a line": "John/B-PER Smith/I-PER in/O Oslo/B-LOC ./O\nNo/O ./O\n",
    "a line of three": "John|NNP|I-PER Smith|NNP|I-PER in|IN|O Oslo|NNP|I-LOC\n",
    "a line of types": "John/PER Smith/PER in/O Oslo/LOC is/O ./O\n",
    "tag first": "B-PER\tJohn\nI-PER\tSmith\nO\tin\nB-LOC\tOslo\n",
    "from 0": "0 John B-PER\n1 Smith I-PER\n2 in O\n3 Oslo B-LOC\n\n0 Yes O\n",
    "numbers of the file": "1 John B-PER\n2 Smith I-PER\n\n3 in O\n4 Oslo B-LOC\n",
    "CR LF and a mark": "\ufeffJohn\tB-PER\r\nSmith\tI-PER\r\n\r\nin\tO\r\nOslo\tB-LOC\r\n",
    "header": "Token,POS,NER\nJohn,NNP,B-PER\nSmith,NNP,I-PER\nin,IN,O\nOslo,NNP,B-LOC\n",
    "header after #": "#\tword\ttag\n1\tJohn\tB-PER\n2\tSmith\tI-PER\n3\tin\tO\n4\tOslo\tB-LOC\n",
    "predictions behind": "John B-PER B-PER\nSmith I-PER I-PER\nin O O\nOslo B-LOC B-X\n",
    "a tab at the end": "John\tB-PER\t\nSmith\tI-PER\t\nin\tO\t\nOslo\tB-LOC\t\n",
    "comments": "#a comment\nJohn B-PER\n## another\nSmith I-PER\nin O\nOslo B-LOC\n",
}  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
def test_mentions_of_each_dialect(tmp_path: Path, dialect: str) -> None:
    documents, _ = found(tmp_path / "a.conll", DIALECTS[dialect])
    assert mentions(documents) == SMITH
    assert " ".join(document.text for document in documents).startswith("John Smith in Oslo")


@pytest.mark.parametrize("name", ["train.txt", "a.data", "a.iob", "eng.testa", "sample", "a.tsv", "a.csv", "b.txt.gz"])
def test_a_column_file_has_any_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    content = "John B-PER\nSmith I-PER\nin O\nOslo B-LOC\n. O\n\n. O\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(content.encode()))
    else:
        path.write_text(content)
    told: list[str] = []
    assert mentions(list(read(path, notice=told.append))) == SMITH
    assert len(told) == (".txt" in name)
    assert [document.text for document in read_raw([path], notice=str)] == ["John Smith in Oslo .", "."]
    assert all("--input-format text" in line for line in told)


TEXTS = {
    "poem": "Two roads diverged\nin a yellow wood\n\nAnd sorry I could\nnot travel both\n",
    "list": "Vitamin B-12\nVitamin B-6\nHepatitis B-virus\n",
    "blood groups": "Anna A\nBob O\nCarl AB\nDora B\nEva O\nFred O\n",
    "numbers": "1 0\n2 0\n3 1\n4 0\n",
    "measurements": "WBC\t12.1\tH\nHGB\t10\tL\nPLT\t200\tN\nMCV\t80\tL\n",
    "grades": "Math A\nArt B\nGym O\nBio C\n",
    "one line": "Conclusion: the tag B-PER marks O\n",
    "dialogue": "A: hello\nB: hi\nA: bye\n",
    "words": "fever\npain\nO\n",
    "chess": "e4 e5\nNf3 Nc6\nO-O O-O\n",
    "genes": "IL-2 S-1\nCD28 O\nTNF O\nx O\n",
    "prose": "The patient has chest pain. No fever.\nBlood group O\n",
    "tagged in prose": "We write it so:\n\nJohn B-PER\nSmith I-PER\n\nin BIO. Other schemes exist.\nThey differ.\n",
    "parts of speech": "The/at Fulton/np-tl County/nn-tl Grand/jj-tl Jury/nn-tl\n",
    "leap seconds": "# Leap\tYEAR\tMON\t23:59:60\t+\tS\nLeap\t1972\tJun\t23:59:60\t+\tS\n" * 9,
    "webanno": "#FORMAT=WebAnno TSV 3.2\n\n#Text=Chest\n1-1\t0-5\tChest\ta|b\t_\n1-2\t6-7\tx\t_\t_\n",
    "bytes": "\x00\x01O\nB-x O\n",
    "nothing": "",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_text_is_no_column_file(tmp_path: Path, kind: str) -> None:
    assert not holds_tokens(TEXTS[kind].encode())
    if "\0" not in TEXTS[kind]:
        documents, told = found(tmp_path / "a.txt", TEXTS[kind])
        assert ([document.text for document in documents], told) == ([TEXTS[kind]], [])


def test_types_without_letters_are_counted(tmp_path: Path) -> None:
    documents, told = found(tmp_path / "a.conll", "Hi O\nJohn NAME\nSmith NAME\n\nOslo PLACE\n")
    assert mentions(documents) == [("NAME", "John Smith"), ("PLACE", "Oslo")]
    assert told == [
        f"{tmp_path}/a.conll: 2 mentions of types without letters such as B-, where tokens of one type in a row are "
        "one mention; the columns word,tag can be named otherwise (--columns, columns=)"
    ]
    documents, told = found(tmp_path / "a.conll", "Hi O\nJohn NAME\n", columns=["word", "kind"])
    assert (mentions(documents), documents[0].columns, told) == ([], {"kind": ["O", "NAME"]}, [])
    documents, _ = found(tmp_path / "a.conll", "John NAME\nOslo PLACE\n", columns=["word", "tag"])
    assert mentions(documents) == [("NAME", "John"), ("PLACE", "Oslo")]


def test_a_header_names_columns_and_is_reported(tmp_path: Path) -> None:
    documents, told = found(tmp_path / "a.conll", "token\tpos\tner\nchest\tNN\tB-problem\npain\tNN\tI-problem\n")
    assert (mentions(documents), documents[0].columns) == ([("problem", "chest pain")], {"pos": ["NN", "NN"]})
    assert told == [
        f"{tmp_path}/a.conll:1: read as a column file, its first line, 'token pos ner', as a header; its columns "
        "word,pos,tag can be named otherwise (--columns, columns=)"
    ]
    documents, _ = found(tmp_path / "a.conll", "token\tner\na\tB-x\n\ntoken\tner\nb\tB-x\n", columns=["word", "tag"])
    assert mentions(documents) == [("x", "a"), ("x", "b")]


def test_sentences_by_number(tmp_path: Path) -> None:
    rows = "Sentence #,Word,POS,Tag\nSentence: 1,Thousands,NNS,O\n,of,IN,O\n,London,NNP,B-geo\n"
    documents, _ = found(tmp_path / "ner_dataset.csv", rows + 'Sentence: 2,Iraq,NNP,B-geo\n,",",",",O\n')
    assert [document.text for document in documents] == ["Thousands of London", "Iraq ,"]
    tags = zip("ab.", ("O", "B-x", "O"), strict=True)
    sentence = "".join(f"{word}\t{tag}\n" for word, tag in tags).splitlines(keepends=True)
    rows = "".join(f"d{d}\t{s}\t{row}" for d in (1, 2) for s in (1, 2, 3) for row in sentence)
    for content, columns in ((rows, None), (rows.partition("d2")[0], ["document-id", "sentence-id", "word", "tag"])):
        documents, _ = found(tmp_path / "a.conll", content, columns=columns)
        assert (documents[0].id, documents[0].text[:5]) == ("d1", "a b .")
        assert documents[0].sentences is not None and len(documents[0].sentences) == 3


MARKS = {
    "###MEDLINE:7": "7", "###17": "17", "## doc_3": "doc_3", "#doc 17": "17", "# document_id = d 1": None,
    "# doc: x7": "x7", "# id abc-7 domain=en": "abc-7", "#id=9": "9", "#doc": "document-1",
    "# hipe2022:document_id = a.txt": "a.txt", "#begin document (bc/a); part 001": "bc/a part 001",
    "-DOCSTART- (x y)": "x y", "-DOCSTART- -X- O": "document-1",
    "-DOCSTART-\tO": "document-1", "MEDLINE:95369245": "95369245", "note_17\n": "note_17", "# newdoc id = a": "a",
    "# sent_id = 3": None, "# a comment about doc 3": None,
}  # fmt: skip


@pytest.mark.parametrize("mark", MARKS)
def test_lines_that_begin_documents(tmp_path: Path, mark: str) -> None:
    documents, _ = found(tmp_path / "a.conll", f"{mark}\nIL-2\tB-DNA\ngene\tI-DNA\n\nCD28\tB-protein\n#end document\n")
    assert mentions(documents) == [("DNA", "IL-2 gene"), ("protein", "CD28")]
    if MARKS[mark] is None:
        assert [document.id for document in documents] == ["", ""]
    else:
        assert [(document.id, document.text) for document in documents] == [(MARKS[mark], "IL-2 gene\nCD28")]


def test_as_many_tags_as_levels(tmp_path: Path) -> None:
    nested = (
        "secretary B-OCC\nof I-OCC\nthe I-OCC\nNational I-OCC B-ORG\nCouncil I-OCC I-ORG\nin I-OCC\nOslo I-OCC B-GPE\n"
        "said O\n"
    )
    expected = [("OCC", "secretary of the National Council in Oslo"), ("ORG", "National Council"), ("GPE", "Oslo")]
    documents, told = found(tmp_path / "a.conll", nested)
    assert mentions(documents) == expected
    assert "with any number of tags a token; its columns word,tag* can" in told[0]
    documents, told = found(tmp_path / "a.conll", nested, columns=["word", "tag*"])
    assert (mentions(documents), told) == (expected, [])
    joined = nested.replace(" I-ORG", "|I-ORG").replace(" B-ORG", "|B-ORG").replace(" B-GPE", "|B-GPE")
    documents, told = found(tmp_path / "a.conll", joined)
    assert mentions(documents) == expected
    assert "several tags with | between them" in told[0]
    with pytest.raises(DataError, match=r"a.conll:4: found the tag 'B_ORG', expected O or a letter of BIO"):
        found(tmp_path / "a.conll", nested.replace("B-ORG", "B_ORG"))


def test_levels_move_where_a_mention_ends() -> None:
    assert from_levels([["B-a", "B-b"], ["I-b"], []]) == [(0, 2, "b"), (0, 1, "a")]
    assert from_levels([["B-a"], ["B-a", "I-a"], ["I-a", "I-a"]]) == [(0, 3, "a"), (1, 3, "a")]
    assert from_levels([["U-a", "B-b"], ["L-b", "U-a"], ["I-c"]]) == [
        (0, 2, "b"),
        (0, 1, "a"),
        (1, 2, "a"),
        (2, 3, "c"),
    ]
    assert in_brackets(["(a(b)", "*)", ")", "(c*"]) == [(0, 2, "a"), (0, 1, "b"), (3, 4, "c")]


HIPE = "TOKEN NE-COARSE-LIT NE-COARSE-METO NE-FINE-LIT NE-FINE-METO NE-FINE-COMP NE-NESTED NEL-LIT NEL-METO MISC\n"
HIPE = HIPE.replace(" ", "\t")
ROWS = (
    "# document_id = d1\nthe\tB-pers\tO\tB-pers.ind\tO\tO\tO\tQ1\t_\t_\n"
    "queen\tI-pers\tO\tI-pers.ind\tO\tB-comp.title\tO\tQ1\t_\t_\n"
    "of\tI-pers\tO\tI-pers.ind\tO\tO\tO\tQ1\t_\t_\nTroy\tI-pers\tO\tI-pers.ind\tO\tO\tB-loc\tQ1\t_\tNoSpaceAfter\n"
    "in\tO\tO\tO\tO\tO\tO\t_\t_\t_\nRome\tB-loc\tB-org\tB-loc\tB-org\tO\tO\tQ2\tQ3\t_\n"
)


def test_columns_that_mark_the_same_again_are_reported(tmp_path: Path) -> None:
    documents, told = found(tmp_path / "a.tsv", HIPE + ROWS)
    expected = [("pers", "the queen of Troy"), ("loc", "Troy"), ("loc", "Rome")]
    assert sorted(mentions(documents)) == sorted(expected)
    assert documents[0].id == "d1"
    assert documents[0].columns["ne-fine-lit"][0] == "B-pers.ind"
    assert "the tags of column 3, 4, 5, 6 are not read" in told[1]
    assert "--columns word,_,tag,tag,tag,tag,_,_,_,_ reads them instead" in told[1]
    documents, told = found(tmp_path / "a.conll", ROWS)
    assert {("pers", "the queen of Troy"), ("loc", "Troy"), ("loc", "Rome")} <= set(mentions(documents))
    assert [line for line in told if "the tags of column 4 are not read" in line]


def test_the_columns_of_ontonotes(tmp_path: Path) -> None:
    row = "bc/a 0 {} {} NNP {} - - - spk {} {}{}\n"
    first = [
        row.format(0, "John", "(TOP(S*", "(PERSON*", "(ARG0* ", "(1"),
        row.format(1, "Smith", "*", "*)", "*) ", "1)"),
    ]
    second = [row.format(0, "Oslo", "(TOP*", "(GPE)", "", "-"), row.format(1, ".", "*))", "*", "", "-")]
    content = "#begin document (bc/a); part 000\n" + "".join(first) + "\n" + "".join(second) + "\n#end document\n"
    documents, told = found(tmp_path / "a.gold_conll", content, format="conll")
    assert (documents[0].id, mentions(documents)) == ("bc/a part 000", [("PERSON", "John Smith"), ("GPE", "Oslo")])
    columns = "_,_,_,word,column5,column6,column7,column8,column9,column10,tag,_*"
    assert columns in told[0]
    documents, _ = found(tmp_path / "a.conll", content, columns=columns.split(","))
    assert mentions(documents) == [("PERSON", "John Smith"), ("GPE", "Oslo")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("John NNP\nruns VBZ\nJohn NNP\n", "if the last one holds types without letters and without O, name it tag"),
        ("John DB-x\nor O\nruns DI-x\n", "tags such as DB-x and HB-x, of mentions with gaps (BIOHD), are not read"),
        ("John N B-x\nruns V O\n\n" * 20 + "New York N B-y\n", "found 4 columns, expected 3 (word column2 tag)"),
        ("John 3\nruns 0\n", "the last one holds numbers: put the names of tags in their place"),
        ("John PER_B\nSmith PER_I\nin O\n" * 20 + "Oslo LOC\n", "found the tag 'LOC', expected O or one such as PER_B"),
        ("John B-PER\nSmith PER\nin O\nOslo B-LOC\n", "found the tag 'PER', expected O or a letter of BIO"),
        ("John B-PER\nSmith\nin O\nOslo B-LOC\n" * 9, "found 1 columns, expected 2 (word tag)"),
    ],
)
def test_what_is_still_unknown_is_named(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "a.conll").write_text(content)
    problems = [problem for problem in validate(tmp_path / "a.conll") if problem.severity == "error"]
    assert message in problems[0].message
    assert (problems[0].path, len({problem.message for problem in problems})) == (str(tmp_path / "a.conll"), 1)
    if "columns, expected" not in message:  # text alone needs no tags
        assert next(read(tmp_path / "a.conll", mentions=False, notice=str)).words[0] == "John"


def test_a_type_that_would_read_as_two_tags_comes_back(tmp_path: Path) -> None:
    document = Document("a b", tokens=[(0, 1), (2, 3)], sentences=[(0, 2)], mentions=[Mention("x|B-y", [(0, 3)])])
    assert not write([document], tmp_path / "a.conll")
    assert next(read(tmp_path / "a.conll")).mentions == document.mentions


def test_words_with_columns_can_be_asked_for_of_any_text(tmp_path: Path) -> None:
    documents, told = found(tmp_path / "a.txt", "pain B-x\n", columns=["word", "tag"])
    assert (mentions(documents), told) == ([("x", "pain")], [])
