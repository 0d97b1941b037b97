"""CSV and TSV: tables of mentions beside their texts, and tables of texts."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.data import clinical
from spanloom.document import Document, Mention
from spanloom.document.surfaces import trimmed
from spanloom.errors import DataError, UsageError
from spanloom.formats import read, validate, write

TEXT = "Mild or severe pain.\n=1+1 is no fever"
NOTE = Document(
    TEXT,
    id="n1",
    mentions=[
        Mention("problem", [(0, 4), (15, 19)], score=0.25, concepts=["MESH:D1", "a|b\\"]),
        Mention("-odd", [(21, 25)]),
        Mention("problem", [(8, 19)], score=0.1),
    ],
)
TABLE = (
    "doc_id,start,end,type,text,score,spans,concepts,attributes\n"
    "n1,0,19,problem,Mild pain,0.25,0-4;15-19,MESH:D1|a\\|b\\\\,\n"
    "n1,21,25,'-odd,'=1+1,,,,\n"
    "n1,8,19,problem,severe pain,0.1,,,\n"
)
HEAD = "doc_id,start,end,type,text,score,spans,concepts\n"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "n1.txt").write_text(TEXT)
    return folder


def problems(path: Path, **options: object) -> list[str]:
    return [str(problem) for problem in validate(path, **options) if problem.severity == "error"]


def test_bytes_that_are_written_and_read(tmp_path: Path, texts: Path) -> None:
    losses = write([NOTE], tmp_path / "a.csv")
    assert dict(losses.counts) == {"texts": 1}
    assert (tmp_path / "a.csv").read_bytes() == TABLE.encode()
    assert list(read(tmp_path / "a.csv", texts=texts)) == [NOTE]
    write([NOTE], tmp_path / "a.tsv")
    assert (tmp_path / "a.tsv").read_text() == TABLE.replace(",", "\t")
    assert list(read(tmp_path / "a.tsv", texts=texts)) == [NOTE]


def test_the_bundled_notes_come_back(tmp_path: Path) -> None:
    documents = list(read(clinical() / "train"))
    losses = write(documents, tmp_path / "a.csv")
    assert losses.counts["heads"] == sum(mention.head is not None for one in documents for mention in one.mentions)
    found = list(read(tmp_path / "a.csv", texts=clinical() / "train"))
    assert [one.text for one in found] == [one.text for one in documents]
    plain = [[mention.replace(id=None, head=None) for mention in one.mentions] for one in documents]
    assert [one.mentions for one in found] == plain


CHARACTERS = st.characters(blacklist_categories=["Cs"], blacklist_characters="\0")
WORDS = st.text(CHARACTERS, min_size=1, max_size=8)
CELLS = WORDS | st.sampled_from(
    ["=1", "'=1", "''@", "+", "-x", "\tx", "\rx", "\n", '"', "a,b", "a;b", "a\tb", "'", "\\|"]
)


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    found = []
    for number in range(draw(st.integers(0, 3))):
        text = draw(st.text(CHARACTERS | st.sampled_from(list("=+-@\r\n\t\",;'")), min_size=1, max_size=30))
        mentions = []
        for _ in range(draw(st.integers(0, 3))):
            ends = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=6)))
            spans = list(zip(ends[::2], ends[1::2], strict=False))
            score = draw(st.none() | st.floats(0, 1))
            mentions.append(Mention(draw(CELLS), spans, score=score, concepts=draw(st.lists(CELLS, max_size=3))))
        name = draw(st.sampled_from(["", f"{number}"]) | CELLS.map(lambda cell, n=number: f"{cell}{n}"))
        found.append(Document(text, id=name, mentions=mentions))
    return found


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
@settings(max_examples=50)
@given(given_documents=documents())
def test_whatever_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, name: str, given_documents: list[Document]
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    write(given_documents, folder / "texts.jsonl")
    write(given_documents, folder / name)
    if given_documents:
        for one in given_documents:
            one.mentions = [trimmed(mention, one.text) or mention for mention in one.mentions]
        assert list(read(folder / name, texts=folder / "texts.jsonl")) == given_documents


@settings(max_examples=50)
@given(st.lists(CELLS, min_size=2, max_size=5))
def test_no_cell_of_text_begins_as_a_formula(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> None:
    path = tmp_path_factory.mktemp("tables") / "a.csv"
    text = "".join(words)
    mentions = [Mention(word, [(at, len(text))], concepts=[word]) for at, word in enumerate(words) if at < len(text)]
    write([Document(text, id=words[0], mentions=mentions)], path)
    with path.open(newline="", encoding="utf-8") as file:
        assert not [
            cell for row in csv.reader(file) for cell in row if cell[:1] in ("=", "+", "-", "@", "\t", "\r", "\n")
        ]


def test_documents_without_a_name_and_of_one_name(tmp_path: Path) -> None:
    two = [Document("a b", mentions=[Mention("x", [(0, 1)])]), Document("a", mentions=[Mention("x", [(0, 1)])])]
    write(two, tmp_path / "a.csv")
    assert "document-000002,0,1,x,a" in (tmp_path / "a.csv").read_text()
    write(two, tmp_path / "t.jsonl")
    assert list(read(tmp_path / "a.csv", texts=tmp_path / "t.jsonl")) == two
    same = [one.copy(id="n") for one in two]
    write(same, tmp_path / "s.jsonl")
    bare = [one.copy(mentions=[]) for one in same]
    for wrong in (same, [bare[0], same[1]], [same[0], bare[1]]):
        with pytest.raises(DataError, match="two documents are called 'n'; give each an identifier of its own"):
            write(wrong, tmp_path / "b.csv")
        assert not (tmp_path / "b.csv").exists()
    write(bare, tmp_path / "b.csv")
    assert list(read(tmp_path / "b.csv", texts=tmp_path / "s.jsonl")) == bare
    write(same[:1], tmp_path / "one.csv")
    with pytest.raises(DataError, match="two texts are called 'n', so the rows cannot be assigned"):
        list(read(tmp_path / "one.csv", texts=tmp_path / "s.jsonl"))


def test_what_no_reader_takes_is_not_written(tmp_path: Path) -> None:
    for name, kind in (("n\0", "x"), ("n", "x\0")):
        with pytest.raises(DataError, match=r"a table cannot hold .* which has a NUL character in it; remove it"):
            write([Document("a", id=name, mentions=[Mention(kind, [(0, 1)])])], tmp_path / "a.csv")
        assert not (tmp_path / "a.csv").exists()


ROWS = {
    "n1,0,4,x,Milt,,,": "the text is 'Milt', but 'Mild' is at 0-4",
    "n1,1,4,x,Mild,,,": "offsets 1-4 of 'Mild' fit if they are counted from 1, with the last character inclu",
    "n1,0,99,x,,,,": "span 0-99 is outside the text of",
    "n1,a,4,x,,,,": "start is 'a', expected a number of characters, from 0",
    "n1,-1,4,x,,,,": "start is '-1', expected a number",
    "n1,0,,x,,,,": "end is '', expected a number",
    "n1,0,4.5,x,,,,": "end is '4.5', expected a number",
    "n1,0,²,x,,,,": "end is '²', expected a number",
    "n1,0,4,,,,,": "the type is empty",
    "n1,0,4,x,,1.5,,": "score 1.5 is no probability",
    "n1,0,4,x,,nan,,": "score is 'nan', expected a number from 0 to 1",
    "n1,0,4,x,,1_0,,": "score is '1_0', expected a number",
    "n1,0,4,x,,1e9999,,": "score is '1e9999', expected a number",
    "n1,0,19,x,,,0-4;x,": "spans is '0-4;x', expected START-END, joined by ;",
    "n1,0,19,x,,,0-4;,": "spans is '0-4;', expected START-END",
    "n1,0,18,x,,,0-4;15-19,": "start and end are 0 and 18, but spans '0-4;15-19' goes from 0 to 19",
    "n1,0,19,x,,,0-4;2-19,": "span 2-19 starts before 4",
    "n1,0,4,x": "the row has 4 cells, expected 8, as in the header",
    "n2,0,4,x,,,,": "no text is called 'n2', which has 1 row; name the texts that it is about (--texts, texts=)",
    'n1,0,4,"x"y,,,,': "a row that is no CSV (',' expected after '\"')",
    'n1,0,4,"x,,,,': "a row that is no CSV (unexpected end of data)",
}


@pytest.mark.parametrize("row", ROWS)
def test_wrong_rows_are_told_with_their_line(tmp_path: Path, texts: Path, row: str) -> None:
    (tmp_path / "a.csv").write_text(f"{HEAD}n1,0,4,problem,Mild,,,\n{row}\n")
    [problem] = problems(tmp_path / "a.csv", texts=texts)
    assert problem.startswith(f"{tmp_path / 'a.csv'}:3: error: ")
    assert ROWS[row] in problem
    with pytest.raises(DataError):
        list(read(tmp_path / "a.csv", texts=texts))


def test_every_row_without_a_text_is_told(tmp_path: Path, texts: Path) -> None:
    (tmp_path / "a.csv").write_text(HEAD + "x,0,4,p,,,,\nn1,0,4,p,,,,\ny,0,4,p,,,,\nx,1,2,p,,,,\n")
    assert [problem.split(": ", 2)[2][:40] for problem in problems(tmp_path / "a.csv", texts=texts)] == [
        "no text is called 'x', which has 2 rows;",
        "no text is called 'y', which has 1 row; ",
    ]
    left_out: list[object] = []
    [document] = read(tmp_path / "a.csv", texts=texts, on_error=left_out.append)
    assert (len(document.mentions), len(left_out)) == (1, 2)


def test_texts_without_rows_have_no_mentions_and_identifiers_may_have_an_ending(tmp_path: Path, texts: Path) -> None:
    (texts / "n2.txt").write_text("No pain.")
    (tmp_path / "a.csv").write_text(HEAD + "n2.txt,3,7,p,pain,,,\n")
    assert [(one.id, len(one.mentions)) for one in read(tmp_path / "a.csv", texts=texts)] == [("n1", 0), ("n2", 1)]


def test_names_of_columns(tmp_path: Path, texts: Path) -> None:
    (tmp_path / "a.csv").write_text("\ufeffNote_ID;Begin;STOP;Label;who\nn1;0;4.0;problem;me\n")
    told: list[str] = []
    [document] = read(tmp_path / "a.csv", "csv", texts=texts, columns={"end": "stop"}, notice=told.append)
    assert document.mentions == [Mention("problem", [(0, 4)])]
    assert told == [f"{tmp_path / 'a.csv'}:1: columns that are not read: 'who'"]
    with pytest.raises(UsageError, match="there is no column 'nope'; the table has: 'Note_ID', 'Begin', 'STOP'"):
        list(read(tmp_path / "a.csv", "csv", texts=texts, columns="end=nope"))
    with pytest.raises(UsageError, match="this format has no column 'last'; expected one of: id, start, end, spans"):
        list(read(tmp_path / "a.csv", "csv", texts=texts, columns=["last=stop"]))


def test_spans_out_of_order_are_sorted_and_told(tmp_path: Path, texts: Path) -> None:
    (tmp_path / "a.csv").write_text(HEAD + "n1,,,p,,,15-19; 0 - 4,\n")
    told: list[str] = []
    [document] = read(tmp_path / "a.csv", texts=texts, notice=told.append)
    assert document.mentions[0].spans == ((0, 4), (15, 19))
    place = f"{tmp_path / 'a.csv'}:2: mentions[0]"
    assert told == [f"{place}: the fragments 15-19;0-4 are out of text order; they were sorted"]


def test_a_table_of_mentions_needs_texts(tmp_path: Path, texts: Path) -> None:
    write([NOTE], tmp_path / "a.csv")
    with pytest.raises(DataError, match="the table holds mentions and no texts; name the texts that it is about"):
        list(read(tmp_path / "a.csv"))
    assert [one.mentions for one in read(tmp_path / "a.csv", texts=texts, mentions=False)] == [[]]
    with pytest.raises(DataError, match="there is no such file or folder"):
        list(read(tmp_path / "a.csv", texts=tmp_path / "none"))
    with pytest.raises(UsageError, match="the format jsonl has no option 'texts'"):
        write([NOTE], tmp_path / "a.jsonl")
        list(read(tmp_path / "a.jsonl", texts=texts))


def test_a_table_without_identifiers_is_about_one_text(tmp_path: Path, texts: Path) -> None:
    (tmp_path / "a.csv").write_text("start,end,type\n0,4,p\n")
    assert [len(one.mentions) for one in read(tmp_path / "a.csv", texts=texts)] == [1]
    (texts / "n2.txt").write_text("No pain.")
    with pytest.raises(
        DataError, match="the table has no column doc_id, so that it is about one text; here is another"
    ):
        list(read(tmp_path / "a.csv", texts=texts))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("header", ["id,text,ward", "NOTE_ID,NOTE_TEXT,ward", "note_id;note_text;ward"])
def test_tables_of_texts(tmp_path: Path, header: str, newline: str) -> None:
    table = f'{header}\n7,"Mild, ""very"" mild{newline}pain; ok",A\n\n8,No.,\n'.replace("\n", newline)
    if ";" in header:
        table = table.replace("7,", "7;").replace(",A", ";A").replace("8,No.,", "8;No.;")
    (tmp_path / "a.csv").write_bytes(table.replace("\r\r", "\r").encode())
    first, second = read(tmp_path / "a.csv")
    assert first == Document(f'Mild, "very" mild{newline}pain; ok', id="7", meta={"ward": "A"})
    assert second == Document("No.", id="8")


def test_a_table_of_texts_by_the_names_of_its_columns(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("key\tbody\tstart\tend\n1\tNo pain.\t8:00\t9:00\n")
    with pytest.raises(UsageError, match="a table with columns of unknown meaning; name them"):
        list(read(tmp_path / "a.tsv"))
    with pytest.raises(DataError, match=r"a.tsv:1: found the columns 'key', 'body', 'start', 'end'; expected doc_id"):
        list(read(tmp_path / "a.tsv", "tsv"))
    [document] = read(tmp_path / "a.tsv", "tsv", columns=["text=body", "id=key"])
    assert (document.id, document.text, document.meta) == ("1", "No pain.", {"start": "8:00", "end": "9:00"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file holds no document; expected a header and rows"),
        (b"id,text\n", "the file holds no document; expected a row for each text below the header"),
        (b"id,text\n1,a\xff\n", "a.csv:2: byte 4 of the line is 0xFF, which is not UTF-8"),
        (
            "id,text\n1,a\n".encode("utf-16"),
            "is 0xFF, which is not UTF-8; convert the file to UTF-8, or name its encoding, likely utf-16",
        ),
        (b"id,text\n1,a\0\n", "a.csv:2: byte 4 of the line is NUL"),
        (b"id,text\n1,a,b\n", "a.csv:2: the row has 3 cells, expected 2, as in the header"),
        (b'"id,text\n1,a\n', "a row that is no CSV (unexpected end of data)"),
        (b"start,end,text\n0,1,a\n", "found the columns 'start', 'end', 'text'; expected doc_id, start, end and type"),
    ],
)
def test_tables_that_are_none(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(DataError) as caught:
        list(read(tmp_path / "a.csv", "csv"))
    assert message in str(caught.value)


def test_texts_may_be_long_and_the_limit_of_cells_stays(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    text = "pain " * 100_000
    (tmp_path / "a.csv").write_text(f"id,text\n1,{text}\n")
    assert next(read(tmp_path / "a.csv")).text == text
    assert csv.field_size_limit() == before


def test_tables_take_linear_time(tmp_path: Path, assert_linear) -> None:
    def prepare(count: int):
        mentions = [Mention("x", [(at, at + 1)]) for at in range(count)]
        write([Document("a" * count, id="n", mentions=mentions)], tmp_path / f"{count}.csv", force=True)
        write([Document("a" * count, id="n")], tmp_path / f"{count}.jsonl", force=True)
        return lambda: list(read(tmp_path / f"{count}.csv", texts=tmp_path / f"{count}.jsonl"))

    assert_linear(prepare, 2000)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "it is empty; expected a line with the names of columns"),
        ("a.csv", "doc_id,start\n".encode("utf-16"), "starts with the mark of UTF-16; convert it to UTF-8"),
        (
            "a.tsv",
            b"key,what\n1,2\n",
            "--columns text=NAME,id=NAME, for a folder of tables with --input-format tsv; of a column file, name the "
            "format conll; found 'key,what'",
        ),
        ("a.csv.gz", gzip.compress(b"key,what\n", mtime=0), "of unknown meaning; name them: --columns text="),
        ("a.csv", b"PK\x03\x04", "a file of an office program"),
    ],
)
def test_a_table_that_is_none_says_what_was_found(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError) as caught:
        list(read(tmp_path / name))
    assert message in str(caught.value)


@pytest.mark.parametrize("header", ["doc_id,start,start,end,type", "doc_id,start,Start ,end,type"])
def test_two_columns_of_one_name_are_refused(tmp_path: Path, texts: Path, header: str) -> None:
    (tmp_path / "a.csv").write_text(f"{header}\na,0,3,4,x\n")
    with pytest.raises(DataError, match=r"a\.csv:1: two columns are called 'start'; rename one"):
        list(read(tmp_path / "a.csv", texts=texts))


def test_a_column_that_is_named_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("key,body\n1,No pain.\n")
    with pytest.raises(UsageError, match="'text=body,text=key' name one twice; leave one out"):
        list(read(tmp_path / "a.csv", "csv", columns=["text=body", "text=key"]))


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz"])
@pytest.mark.parametrize("columns", [["text=body", "id=key"], {"text": "body", "id": "key"}])
def test_columns_that_are_named_need_no_format(tmp_path: Path, name: str, columns: list[str] | dict[str, str]) -> None:
    text = ("key\tbody\n1\tNo pain.\n" if ".tsv" in name else "key,body\n1,No pain.\n").encode()
    (tmp_path / name).write_bytes(gzip.compress(text, mtime=0) if name.endswith(".gz") else text)
    assert [(document.id, document.text) for document in read(tmp_path / name, columns=columns)] == [("1", "No pain.")]
