"""Bad input: one line that names file, line, what was found and what was expected; `validate` lists them all."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from spanloom.errors import DataError, DataWarning, UsageError
from spanloom.formats import read, validate

MEMORY = Path("/proc/self/mem")
OK = b'{"text": "mild pain"}\n'
MENTION = b'{"text": "mild pain", "mentions": [{"type": "x", "spans": [[0, 4]], %s}]}'
TOKENS = b'{"text": "mild pain", "tokens": [[0, 4], [5, 9]], %s}'

# the second line of a JSONL file -> the message
JSONL = {
    "not an object": (b"[1]", "the line is [1], expected a JSON object"),
    "syntax": (b'{"text": "a",}', "at column 14; expected one JSON object a line"),
    "cut short": (b'{"text": "a', "at column 10"),
    "no text": (b'{"id": "a"}', "text is missing, expected the document's text"),
    "text is no text": (b'{"text": ["a"]}', 'text is ["a"], expected'),
    "NaN": (b'{"text": "a", "meta": {"x": NaN}}', "found NaN, expected a number"),
    "infinity": (b'{"text": "a", "meta": {"x": -Infinity}}', "found -Infinity"),
    "overflow": (b'{"text": "a", "meta": {"x": 1e999}}', "the number 1e999 is too large"),
    "a huge integer": (b'{"text": "a", "meta": {"x": ' + b"9" * 5000 + b"}}", "an integer has thousands of digits"),
    "a huge offset": (b'{"text": "a", "tokens": [[0, ' + b"9" * 30 + b"]]}", "tokens[0]: it is [0, 99999"),
    "a huge span": (b'{"text": "a", "spans": [{"label": "x", "start": 0, "end": ' + b"9" * 30 + b"}]}", "spans[0]: "),
    "nesting": (b'{"text": "a", "meta": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001, "nested too deeply"),
    "a field twice": (b'{"text": "a", "text": "b"}', "the field 'text' occurs twice"),
    "half a surrogate pair": (rb'{"text": "\ud800"}', "half of a surrogate pair"),
    "NUL in the text": (rb'{"text": "ab\u0000"}', "NUL character at offset 2"),
    "NUL byte": (b'{"text": "a\0"}', "byte 12 of the line is NUL"),
    "invalid UTF-8": (b'{"text": "\xe4"}', "byte 11 of the line is 0xE4, which is not UTF-8"),
    "id": (b'{"text": "a", "id": [1]}', "id is [1], expected a string or an integer"),
    "meta": (b'{"text": "a", "meta": 7}', "meta is 7, expected an object"),
    "meta twice": (b'{"text": "a", "meta": {"b": 1}, "b": 2}', "the field 'b' is both beside meta and in it"),
    "tokens are text": (
        b'{"text": "a", "tokens": ["a"], "mentions": []}',
        'tokens[0]: it is "a", expected [start, end]',
    ),
    "tokens are no list": (b'{"text": "a", "tokens": "a"}', 'tokens is "a", expected a list'),
    "tokens are floats": (b'{"text": "a", "tokens": [[0, 1.0]]}', "tokens[0]: it is [0, 1.0]"),
    "ragged tokens": (b'{"text": "a", "tokens": [[0, 1], [1]]}', "tokens[1]: it is [1]"),
    "token order": (b'{"text": "ab", "tokens": [[1, 2], [0, 1]]}', "tokens[1]: token 0-1 starts before 2"),
    "token overlap": (b'{"text": "ab", "tokens": [[0, 2], [1, 2]]}', "tokens[1]: token 1-2 starts before 2"),
    "token outside": (
        b'{"text": "ab", "tokens": [[0, 3]]}',
        "tokens[0]: token 0-3 is outside the text of 2 characters",
    ),
    "negative token": (b'{"text": "ab", "tokens": [[-1, 2]]}', "tokens[0]: token -1-2 is outside the text"),
    "empty token": (b'{"text": "ab", "tokens": [[1, 1]]}', "tokens[0]: token 1-1 is empty"),
    "sentence order": (TOKENS % b'"sentences": [[1, 2], [0, 1]]', "sentences[0]: sentence 1-2 starts behind 0"),
    "sentence gap": (TOKENS % b'"sentences": [[0, 1]]', "sentences: end at token 1, expected 2"),
    "sentence outside": (TOKENS % b'"sentences": [[0, 3]]', "sentence 0-3 is outside the 2 tokens"),
    "empty sentence": (TOKENS % b'"sentences": [[0, 0], [0, 2]]', "sentence 0-0 is empty"),
    "sentences without tokens": (b'{"text": "a", "sentences": [[0, 1]]}', "there are no tokens"),
    "columns without tokens": (b'{"text": "a", "columns": {"pos": ["X"]}}', "there are no tokens"),
    "column length": (
        TOKENS % b'"columns": {"pos": ["X"]}',
        "columns['pos']: holds 1 values, expected one for each of",
    ),
    "column values": (
        TOKENS % b'"columns": {"pos": ["X", 1]}',
        "columns['pos']: it is [\"X\", 1], expected a list of str",
    ),
    "columns are a list": (TOKENS % b'"columns": []', "columns is [], expected an object of lists"),
    "mentions": (b'{"text": "a", "mentions": {}}', "mentions is {}, expected a list of mentions"),
    "a mention": (b'{"text": "a", "mentions": [7]}', "mentions[0]: it is 7, expected an object with type and spans"),
    "no type": (b'{"text": "a", "mentions": [{"spans": [[0, 1]]}]}', "mentions[0]: type is missing, expected a string"),
    "empty type": (b'{"text": "a", "mentions": [{"type": "", "spans": [[0, 1]]}]}', "mentions[0]: the type is empty"),
    "no spans": (b'{"text": "a", "mentions": [{"type": "x", "spans": []}]}', "mentions[0]: spans is [], expected"),
    "flat spans": (b'{"text": "a", "mentions": [{"type": "x", "spans": [0, 1]}]}', "mentions[0]: spans is [0, 1], exp"),
    "true": (b'{"text": "a", "mentions": [{"type": "x", "spans": [[0, true]]}]}', "spans is [[0, true]], expected"),
    "head": (MENTION % b'"head": [5, 9]', "mentions[0]: head 5-9 is empty or outside the mention's spans"),
    "head is no span": (MENTION % b'"head": "mild"', 'mentions[0]: head is "mild", expected [start, end]'),
    "score": (MENTION % b'"score": 1.5', "score 1.5 is no probability"),
    "score is text": (MENTION % b'"score": "high"', 'score is "high", expected a number'),
    "concepts": (MENTION % b'"concepts": "SPL:1"', 'concepts is "SPL:1", expected a list of strings'),
    "other text": (MENTION % b'"text": "pain"', "the text is 'pain', but 'mild' is at 0-4; correct one of them"),
    "Prodigy label": (
        b'{"text": "a", "spans": [{"start": 0, "end": 1}]}',
        "spans[0]: label is missing, expected a str",
    ),
    "Prodigy offset": (
        b'{"text": "a", "spans": [{"start": 0, "end": 2, "label": "x"}]}',
        "spans[0]: span 0-2 is outside",
    ),
    "Prodigy no end": (
        b'{"text": "a", "spans": [{"start": 0, "label": "x"}]}',
        'spans[0]: it is {"start": 0, "label": "x"}, expected a mention: offsets and a type',
    ),
    "BigBIO passage": (b'{"passages": [{"text": ["a"], "offsets": [[0, 2]]}]}', "passages[0]: offsets 0-2 are 2 char"),
    "BigBIO passages": (
        b'{"passages": [{"text": ["a"]}]}',
        'passages[0] is {"text": ["a"]}, expected an object with text, strings, and offsets',
    ),
    "BigBIO concept": (
        b'{"text": "a", "entities": [{"type": "x", "offsets": [[0, 1]], "normalized": [{"db_name": "SPL"}]}]}',
        "entities[0]: concepts is [null], expected a list of strings",
    ),
    "BigBIO gap": (
        b'{"passages": [{"text": ["a"], "offsets": [[9999999999, 10000000000]]}]}',
        "passages[0]: offset 9999999999 does not fit",
    ),
}

TEXT = "𝒳 pain, über 3\r\ndays\n"
# the second line of an .ann file -> the message
ANN = {
    "no line of brat": ("T2 x pain", "found 'T2 x pain', expected 'T1<tab>type start end<tab>text'"),
    "negative": ("T2\tx -1 6\tpain", "expected 'T1<tab>type start end<tab>text'"),
    "outside": ("T2\tx 2 600\tpain", "mention T2: span 2-600 is outside the text of 21 characters"),
    "UTF-16": (
        "T2\tx 3 7\tpain",
        "mention T2: offsets 3-7 of 'pain' fit if they are counted in UTF-16 units",
    ),
    "bytes": ("T2\tx 11 16\tüber", "mention T2: offsets 11-16 of 'über' fit if they are counted in UTF-8 bytes"),
    "bytes outside": (
        "T2\tx 20 24\tdays",
        "mention T2: offsets 20-24 of 'days' fit if they are counted in UTF-8 ",
    ),
    "from 1": ("T2\tx 3 6\tpain", "offsets 3-6 of 'pain' fit if they are counted from 1, with the last "),
    "other text": ("T2\tx 2 6\tfever", "the text is 'fever', but 'pain' is at 2-6"),
    "order and other text": (
        "T2\tx 8 12;2 6\tüber fever",
        "the text is 'über fever', but 'pain über' is at 2-6;8-12",
    ),
    "fragment twice": ("T2\tx 8 12;8 12\tüber über", "mention T2: span 8-12 starts before 12"),
    "overlap": ("T2\tx 2 6;4 6\tpain in", "mention T2: span 4-6 starts before 6"),
    "identifier twice": ("T1\tx 2 6\tpain", "the identifier T1 is on line 1 too"),
    "no reference": ("N1\tReference T1", "expected 'N1<tab>Reference T1 RESOURCE:ID<tab>name'"),
    "head": ("#1\tHead T1\tpain", "expected '#1<tab>Head T1<tab>start end'"),
    "head outside": ("#1\tHead T1\t8 12", "mention T1: head 8-12 is empty or outside the mention's spans"),
    "score": ("#1\tScore T1\thigh", "expected '#1<tab>Score T1<tab>number'"),
    "score outside": ("#1\tScore T1\tnan", "mention T1: score nan is no probability"),
}

# the fourth line of a column file -> the message
COLUMNS = {
    "ragged": (b"pain\tB-x", "found 2 columns, expected 3 (word column2 tag)"),
    "letter": (b"pain\tNN\tX-x", "found the tag 'X-x', expected O or a letter of BIO, BILOU or BIOES"),
    "no type": (b"pain\tNN\tB-", "found the tag 'B-'"),
    "no word": (b"\tNN\tO", "the word is empty"),
    "NUL": (b"p\0in\tNN\tO", "byte 2 of the line is NUL"),
    "invalid UTF-8": (b"pain\xff\tNN\tO", "byte 5 of the line is 0xFF, which is not UTF-8"),
}

# the fourth to last lines of a PubTator file, the line at fault, and the message
PUBTATOR = {
    "a field too few": ("1\t5\t9\tpain", 4, "expected '1<tab>start<tab>end<tab>text<tab>type<tab>identifier'"),
    "no type": ("1\t5\t9\tpain\t\tD1", 4, "expected '1<tab>start"),
    "negative": ("1\t-5\t9\tpain\tDisease\tD1", 4, "expected '1<tab>start"),
    "no number": ("1\t5\t٩\tpain\tDisease\tD1", 4, "expected '1<tab>start"),
    "a huge number": ("1\t5\t" + "9" * 5000 + "\tpain\tDisease\tD1", 4, "expected '1<tab>start"),
    "reversed": ("1\t9\t5\tpain\tDisease\tD1", 4, "mentions[1]: span 9-5 is empty"),
    "outside": ("1\t5\t900\tpain\tDisease\tD1", 4, "mentions[1]: span 5-900 is outside the text of 24 characters"),
    "beyond": ("1\t500\t900\tpain\tDisease\tD1", 4, "mentions[1]: span 500-900 is outside the text"),
    "other text": ("1\t5\t9\tfever\tDisease\tD1", 4, "the text is 'fever', but 'pain' is at 5-9"),
    "shifted": ("1\t3\t7\tpain\tDisease\tD1", 4, "the text is 'pain', but 'd pa' is at 3-7"),
    "from 1": ("1\t6\t9\tpain\tDisease\tD1", 4, "counted from 1, with the last character included"),
    "another document": ("2\t5\t9\tpain\tDisease\tD1", 4, "the line is of document '2', but is below '1'"),
    "NUL": ("1\t5\t9\tp\0in\tDisease\tD1", 4, "byte 8 of the line is NUL"),
    "below a blank line": ("\n1\t5\t9\tpain\tDisease", 5, "expected the title that starts a document"),
    "no abstract": ("\n2|t|Fever\n2\t0\t5\tFever\tDisease", 6, "expected '2|a|' and the abstract"),
    "the file ends": ("\n2|t|Fever", 5, "found no more lines, expected '2|a|' and the abstract"),
    "another title": ("\n2|t|Fever\n3|t|Fever\n3|a|", 5, "found no more lines, expected '2|a|'"),
    "abstract of another": ("\n2|t|Fever\n3|a|None.", 6, "found '3|a|None.', expected '2|a|'"),
    "abstract first": ("\n2|a|None.\n2|t|Fever", 5, "the abstract of '2' is without its title"),
    "no identifier": ("\n|t|Fever\n|a|", 5, "found '|t|Fever', expected the title"),
}


def check(path: Path, line: int | None, message: str) -> None:
    place = f"{path}:{line}: " if line else f"{path}: "
    with pytest.raises(DataError) as caught:
        list(read(path))
    assert str(caught.value).startswith(place)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    problems = [problem for problem in validate(path) if problem.severity == "error"]
    assert any(message in str(problem) and str(problem).startswith(place) for problem in problems)


@pytest.mark.parametrize("case", JSONL)
def test_jsonl(tmp_path: Path, case: str) -> None:
    line, message = JSONL[case]
    path = tmp_path / "a.jsonl"
    path.write_bytes(OK + line + b"\n" + OK)
    check(path, 2, message)


@pytest.mark.parametrize("case", ANN)
def test_brat(tmp_path: Path, case: str) -> None:
    line, message = ANN[case]
    (tmp_path / "a.txt").write_bytes(TEXT.encode())
    (tmp_path / "a.ann").write_bytes(f"T1\tx 2 6\tpain\n{line}\nA1\tSure T1\n".encode())
    at = 1 if case in ("head outside", "score outside") else 2
    check(tmp_path / "a.ann", at, message)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("case", PUBTATOR)
def test_pubtator(tmp_path: Path, case: str, end: str) -> None:
    lines, at, message = PUBTATOR[case]
    path = tmp_path / "a.pubtator"
    content = f"\ufeff1|t|Mild pain.\n1|a|ä 𝒳 no fever.\n1\t0\t4\tMild\tx\tD1\n{lines}\n"
    path.write_bytes(content.replace("\n", end).encode())
    check(path, at, message)


@pytest.mark.parametrize("case", COLUMNS)
def test_columns(tmp_path: Path, case: str) -> None:
    line, message = COLUMNS[case]
    path = tmp_path / "a.conll"
    path.write_bytes(b"mild\tJJ\tO\npain\tNN\tB-x\n\n" + line + b"\nnow\tRB\tO\n")
    check(path, 4, message)


def test_more_tags_than_usual_are_levels_and_an_empty_tag_is_outside(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("mild\tJJ\tO\npain\tNN\tB-x\n\npain\tNN\tB-x\tB-y\nnow\tRB\tO\n")
    with pytest.warns(DataWarning, match="any number of tags a token"):
        assert [m.type for document in read(path) for m in document.mentions] == ["x", "x", "y"]
    path.write_text("mild\tJJ\tO\npain\tNN\tB-x\n\npain\tNN\t\nnow\tRB\tO\n")
    assert [m.type for document in read(path) for m in document.mentions] == ["x"]


@pytest.mark.parametrize("columns", [5, [1], [""], {"word": 0}, {"tagging": "types"}, {}, "tagging=types", ["tag"]])
def test_columns_that_name_no_words(tmp_path: Path, columns: Any) -> None:
    path = tmp_path / "a.conll"
    path.write_text("a\tO\nb\tB-cell\n\na\tO\nb\tT-cell\n")
    with pytest.raises(UsageError, match=r"columns (is|are) .*expected"):
        list(read(path, columns=columns))


def test_types_without_letters_are_declared(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("a\tO\nb\tB-cell\n\na\tO\nb\tT-cell\n")
    check(path, 5, "declare it: --columns word,tag,tagging=types")
    with pytest.warns(DataWarning, match="types without letters"):
        found = list(read(path, columns="word,tag,tagging=types"))
    assert [mention.type for document in found for mention in document.mentions] == ["B-cell", "T-cell"]


def test_columns_without_tags(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("mild JJ X-x\n")
    check(path, 1, "no column holds tags (the last one has 'X-x')")
    path.write_text("# global.columns = pos tag\nmild JJ\n")
    check(path, 2, "expected one 'word' among them")
    path.write_text("1 mild O\n2 pain O\n\n1 a O\n3 b O\n")
    check(path, 5, "found '3' in the column of token numbers, expected 2")


@pytest.mark.parametrize("name", ["a.jsonl", "a.conll", "a.pubtator"])
@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_empty_files(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    check(tmp_path / name, None, "the file holds no document")


def test_empty_texts_are_documents(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"")
    (tmp_path / "a.ann").write_bytes(b"")
    assert [document.text for document in read(tmp_path)] == [""]
    assert [problem.kind for problem in validate(tmp_path)] == ["no text"]


def test_annotations_without_text(tmp_path: Path) -> None:
    (tmp_path / "a.ann").write_bytes(b"")
    check(tmp_path / "a.ann", None, "no a.txt beside it or in one folder beside its folder; brat needs the text")
    (tmp_path / "b.txt").write_bytes(b"b")
    with pytest.raises(DataError, match=r"a\.ann: no a\.txt beside it"):
        list(read(tmp_path))


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.conll", "a.pubtator"])
def test_utf16(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes("pain O\n".encode("utf-16"))
    check(
        tmp_path / name,
        1,
        "byte 1 of the line is 0xFF, which is not UTF-8; convert the file to UTF-8, or name its encoding, likely utf",
    )


def test_invalid_utf8_in_brat(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\xff\n")
    (tmp_path / "a.ann").write_bytes(b"")
    check(tmp_path / "a.txt", 2, "byte 4 of the line is 0xFF")
    (tmp_path / "a.txt").write_bytes(b"one")
    (tmp_path / "a.ann").write_bytes(b"T1\tx 0 3\tone\nT2\tx 0 3\to\0e\n")
    check(tmp_path / "a.ann", 2, "byte 11 of the line is NUL")


def test_a_json_array_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('\n[\n{"text": "a"}\n]\n')
    assert [document.text for document in read(tmp_path / "a.jsonl")] == ["a"]
    (tmp_path / "a.jsonl").write_text('\n[\n{"text": "a"},\n]\n')
    check(tmp_path / "a.jsonl", 4, "not JSON: expecting value at column 1")
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n[{"text": "a"}]\n')
    check(tmp_path / "a.jsonl", 2, "expected a JSON object with a field 'text' (a JSON array of records: put one")


FOREIGN = {
    "fhir.json": (
        b'{"resourceType": "Bundle", "entry": []}',
        "FHIR; get the texts of the notes out first (presentedForm or content: jq, then base64",
    ),
    "spacy.json": (b'[{"id": 0, "paragraphs": [{"raw": "a"}]}]', "training data of spaCy 2; convert them with spaCy"),
    "fhir.xml": (
        b'<?xml version="1.0"?>\n<Bundle xmlns="http://hl7.org/fhir"><id value="x"/></Bundle>',
        "FHIR in XML; get the texts of the notes out first (xmllint --xpath, then base64",
    ),
    "notes.parquet.gz": (gzip.compress(b'{"text": "a"}\n'), "packed JSON lines; give it a name that ends in .jsonl.gz"),
    "notes.parquet.GZ": (gzip.compress(b"PAR1"), "it is packed; unpack it first"),
    "cda.xml": (b'<?xml version="1.0"?><ClinicalDocument xmlns="urn:hl7-org:v3">', "a clinical document (CDA) in XML"),
    "note.pdf": (b"", "a PDF; get the text out first (pdftotext IN.pdf OUT.txt)"),
    "scan": (b"%PDF-1.7", "a PDF; get the text out first (pdftotext IN.pdf OUT.txt)"),
    "note.DOCX": (b"", "a document with more than text; get the text out first (pandoc --to plain IN"),
    "note.doc": (b"", "an old document of Word; get the text out first (soffice --convert-to txt:Text IN)"),
    "note.rtf": (b"{\\rtf1", "a document with more than text; get the text out first (pandoc"),
    "talk.pptx": (b"PK", "slides; export them as PDF"),
    "note.bin": (b"PK\x03\x04", "a file of an office program; get the text out first (soffice"),
    "notes.csv": (b"id,note", "a table with columns of unknown meaning; name them: --columns text="),
    "notes.xlsx": (b"PK", "a workbook; save its sheet as .csv (soffice --convert-to csv IN)"),
    "notes.tsv": (
        b"id\tnote",
        "a table with columns of unknown meaning; name them: --columns text=NAME,id=NAME",
    ),
    "note.hl7": (b"", "HL7 messages; get the texts of the notes out first (field OBX-5"),
    "message": (b"MSH|^~\\&|LAB", "HL7 messages; get the texts of the notes out first (field OBX-5"),
    "notes.tar.gz": (b"\x1f\x8b", "it is packed; unpack it first"),
    "notes": (b"\x1f\x8b", "it is packed; unpack it first, or give it a name that ends in .gz"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_files_that_are_not_read_say_what_to_do(tmp_path: Path, name: str) -> None:
    content, message = FOREIGN[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError) as caught:
        list(read(tmp_path / name))
    assert str(caught.value).startswith(f"{tmp_path / name} is not read: {message}")
    (tmp_path / "note.txt").write_text("a")
    told: list[str] = []
    assert len(list(read(tmp_path, notice=told.append))) == 1
    assert told[0].startswith(f"{tmp_path / name}: not read: {message}")


@pytest.mark.parametrize(
    "content", [b"%PDF-1.7\n", b"PK\x03\x04", b"{\\rtf1 No pain.}", b"MSH|^~\\&|LAB\r", b"\x1f\x8b"]
)
def test_other_files_that_are_called_text_say_what_they_are(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(DataError, match=r"a\.txt: not text, but .*(?:OUT\.txt|\.txt file|\.gz)"):
        list(read(tmp_path / "a.txt"))


@pytest.mark.parametrize("text", ["", '"text": {"status": "generated", "div": "<div/>"}, '])
def test_fhir_in_lines_says_what_it_is(tmp_path: Path, text: str) -> None:
    resource = f'{{{text}"id": "1", "resourceType": "DocumentReference"}}\n'
    (tmp_path / "a.ndjson").write_text(resource + OK.decode() + '{"text": "b", "resourceType": "x"}\n')
    told: list[str] = []
    found = list(read(tmp_path / "a.ndjson", on_error=lambda problem: told.append(str(problem.to_error()))))
    assert [document.text for document in found][-1:] == ["b"]
    assert [line.split("; ")[:2] for line in told] == [
        [f"{tmp_path / 'a.ndjson'}:1: FHIR", "get the texts of the notes out first (presentedForm or content: jq, then "
         "base64 --decode), one .txt file for each document"]
    ]  # fmt: skip


def test_json_that_nobody_knows_has_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1}')
    with pytest.raises(DataError, match="text is missing, expected the document's text"):
        list(read(tmp_path / "a.json"))


def test_validate_lists_every_problem(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    bad = b'{"text": "pain", "id": [], "tokens": [[3, 9]], "mentions": [{"type": 1, "spans": [[0, 9]]}, 7]}\n'
    path.write_bytes(OK + bad + b"x\n" + bad)
    assert [(problem.line, problem.place) for problem in validate(path)] == [
        (2, ""),
        (2, "mentions[0]"),
        (2, "mentions[1]"),
        (2, "tokens[0]"),
        (3, ""),
        (4, ""),
        (4, "mentions[0]"),
        (4, "mentions[1]"),
        (4, "tokens[0]"),
    ]
    ann = "T1\tx 0 40\tpain\nT2\tx 0 9\nfoo\nA1\tSure T9\nT3\tx 0 4\tPAIN\nT1\tx 0 4\tpain\n"
    (tmp_path / "a.txt").write_text("pain")
    (tmp_path / "a.ann").write_text(ann)
    assert [(problem.line, problem.severity) for problem in validate(tmp_path / "a.ann")] == [
        (1, "error"),
        (2, "warning"),
        (2, "error"),
        (3, "warning"),
        (4, "warning"),
        (5, "error"),
        (6, "error"),
    ]
    (tmp_path / "a.conll").write_text("a O\nb\n\nc X O\n\nd B-\n\ne B-x\n")
    assert [problem.line for problem in validate(tmp_path / "a.conll", columns=["word", "tag"])] == [2, 4, 6]


def test_warnings_have_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("mild pain")
    (tmp_path / "a.ann").write_text("T1\tx 0 5\tmild \n\nT2\tx 5 9\tpain\nT3\tx 5 9\tpain\n")
    assert [(str(problem.path)[-5:], problem.line, problem.kind) for problem in validate(tmp_path / "a.ann")] == [
        ("a.ann", 1, "blanks at the ends"),
        ("a.ann", 4, "duplicate mention"),
    ]
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "b"}\n{"id": "a", "text": "b"}\n')
    assert [(problem.line, problem.kind) for problem in validate(tmp_path / "a.jsonl")] == [(2, "duplicate document")]


@pytest.mark.skipif(not MEMORY.exists(), reason="a file that cannot be read, even by root, is Linux's")
def test_files_that_cannot_be_read() -> None:
    with pytest.raises(DataError, match=r"/proc/self/mem: cannot be read: Input/output error"):
        list(read(MEMORY, format="jsonl"))
    with pytest.raises(DataError, match=r"/proc/self/mem: cannot be read"):
        list(read(MEMORY, format="text"))
    assert [problem.kind for problem in validate(MEMORY, format="conll")] == ["unreadable"]


def test_a_sentence_of_fifty_thousand_tokens(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("pain\tB-x\n" * 50_000)
    (document,) = read(path)
    assert document.tokens is not None
    assert (len(document.tokens), len(document.mentions)) == (50_000, 50_000)
