"""Offsets that are counted in other units, and texts of mentions that differ from what stands there, in each reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spanloom.document import Document, Mention, Span
from spanloom.errors import DataError, UsageError
from spanloom.formats import from_columns, from_record, read, validate, write

TEXT = "😀😀 Angström\r\nNo chest pain.\r\nMild 😀 fever.\n"
FOUND = [TEXT.index(word) for word in ("chest pain", "fever")]
WORDS = ("chest pain", "fever")
COUNTED = {
    "utf16": lambda text: len(text.encode("utf-16-le")) // 2,
    "bytes": lambda text: len(text.encode()),
    "crlf": lambda text: len(text.replace("\r\n", "\n")),
    "one-based": lambda text: len(text) + 1,
    "utf16+crlf": lambda text: len(text.replace("\r\n", "\n").encode("utf-16-le")) // 2,
}


def rows(unit, text=TEXT):
    """Start, end and text of each mention, counted in a unit."""
    count = COUNTED[unit]
    return [(count(text[: text.index(word)]), count(text[: text.index(word) + len(word)]), word) for word in WORDS]


def brat(folder: Path, found) -> Path:
    (folder / "a.txt").write_bytes(TEXT.encode())
    lines = (f"T{i}\tproblem {start} {end}\t{word}\n" for i, (start, end, word) in enumerate(found))
    (folder / "a.ann").write_text("".join(lines), encoding="utf-8")
    return folder / "a.ann"


def jsonl(folder: Path, found) -> Path:
    mentions = [{"type": "problem", "spans": [[start, end]], "text": word} for start, end, word in found]
    (folder / "a.jsonl").write_text(json.dumps({"text": TEXT, "mentions": mentions}), encoding="utf-8")
    return folder / "a.jsonl"


def csv(folder: Path, found) -> Path:
    (folder / "texts").mkdir()
    (folder / "texts/a.txt").write_bytes(TEXT.encode())
    lines = (f"a,{start},{end},problem,{word}\n" for start, end, word in found)
    (folder / "a.csv").write_text("doc_id,start,end,type,text\n" + "".join(lines), encoding="utf-8")
    return folder / "a.csv"


def label_studio(folder: Path, found) -> Path:
    result = [
        {"id": f"r{i}", "type": "labels", "value": {"start": start, "end": end, "text": word, "labels": ["problem"]}}
        for i, (start, end, word) in enumerate(found)
    ]
    task = {"data": {"text": TEXT}, "annotations": [{"result": result}]}
    (folder / "a.json").write_text(json.dumps([task]), encoding="utf-8")
    return folder / "a.json"


@pytest.mark.parametrize("unit", COUNTED)
@pytest.mark.parametrize("reader", [brat, jsonl, csv, label_studio])
def test_a_unit_is_found_out_applied_and_reported_once(tmp_path, reader, unit):
    path = reader(tmp_path, rows(unit))
    options = {"texts": tmp_path / "texts"} if reader is csv else {}
    told: list[str] = []
    [document] = read(path, notice=told.append, **options)
    assert [mention.spans for mention in document.mentions] == [
        (Span(start, start + len(word)),) for start, word in zip(FOUND, WORDS, strict=True)
    ]
    assert len([line for line in told if "they were converted to characters" in line]) == 1
    assert list(read(path, offsets=unit, **options)) == [document]
    with pytest.raises(DataError, match=r"fit if they are counted|the text is"):
        list(read(path, offsets="characters", **options))


def test_pubtator_and_columns_of_mentions_are_converted(tmp_path):
    text = "😀 chest pain\nMild 😀 fever."
    found = rows("utf16", text)
    lines = "".join(f"1\t{start}\t{end}\t{word}\tproblem\n" for start, end, word in found)
    (tmp_path / "a.pubtator").write_text(
        f"1|t|{text.partition(chr(10))[0]}\n1|a|Mild 😀 fever.\n{lines}", encoding="utf-8"
    )
    with pytest.warns(match="counted in UTF-16 units; they were converted"):
        [document] = read(tmp_path / "a.pubtator")
    assert [mention.text(text) for mention in document.mentions] == list(WORDS)
    table = {"doc_id": ["1"] * 2, "type": ["x"] * 2, "start": [], "end": [], "text": []}
    for row in found:
        for name, value in zip(("start", "end", "text"), row, strict=True):
            table[name].append(value)
    with pytest.warns(match="counted in UTF-16 units; they were converted"):
        [document] = from_columns(table, [Document(text, id="1")])
    assert [mention.text(text) for mention in document.mentions] == list(WORDS)


def test_an_lf_that_counts_as_two_and_a_shift_of_all_are_applied(tmp_path):
    text = "No pain.\nNo chest pain.\nMild fever.\n"
    for move in (lambda at: at + text[:at].count("\n"), lambda at: at - 2):
        found = [(move(text.index(word)), move(text.index(word)) + len(word), word) for word in WORDS]
        record = {"text": text, "mentions": [{"type": "x", "spans": [row[:2]], "text": row[2]} for row in found]}
        with pytest.warns(match="converted"):
            assert [mention.text(text) for mention in from_record(record).mentions] == list(WORDS)


def test_the_unit_is_that_of_the_whole_file(tmp_path):
    plain = [{"text": "No pain.", "mentions": [{"type": "x", "spans": [[3, 7]], "text": "pain"}]}] * 3
    shifted = [{"text": "No pain.", "mentions": [{"type": "x", "spans": [[4, 7]], "text": "pain"}]}] * 3
    counted = [{"text": "😀 pain", "mentions": [{"type": "x", "spans": [[3, 7]], "text": "pain"}]}] * 3
    unseen = [{"text": "😀 pain", "mentions": [{"type": "x", "spans": [[3, 7]]}]}]

    def written(records):
        (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
        return tmp_path / "a.jsonl"

    with pytest.warns(match="UTF-16"):  # what gives no text is read as those that do
        found = list(read(written([*plain, *counted, *unseen])))
    assert {mention.text(document.text) for document in found for mention in document.mentions} == {"pain"}
    for records in ([*plain, *shifted], [*shifted, *plain]):  # one or the other is wrong
        with pytest.raises(DataError, match="and others of the file do not; correct them, or name the unit of all"):
            list(read(written(records)))
    with pytest.warns(match="from 1, with the last character included"):
        assert all(mention.text(one.text) == "pain" for one in read(written(shifted)) for mention in one.mentions)


def test_a_surface_nearby_is_no_reason_to_move_one_mention(tmp_path):
    (tmp_path / "a.txt").write_text("No chest pain and no fever.")
    (tmp_path / "a.ann").write_text("T1\tx 3 13\tchest pain\nT2\tx 20 25\tfever\n")
    with pytest.raises(DataError, match="the text is 'fever', but ' feve' is at 20-25"):
        list(read(tmp_path))


@pytest.mark.parametrize("name", ["a.conll", "a.spacy", "a.txt"])
def test_formats_without_offsets_refuse_the_option(tmp_path, name):
    (tmp_path / name).write_text("pain B-x\n")
    with pytest.raises(UsageError, match="has no offsets; leave out offsets"):
        read(tmp_path / name, offsets="utf16")
    with pytest.raises(UsageError, match="expected one of auto, characters"):
        read(tmp_path / name, offsets="runes")


@pytest.mark.parametrize(
    ("stands", "given", "kind"),
    [
        ("Berlin,  clinic", "Berlin, clinic", "other white space"),
        ("IL-2\u2010receptor α", "IL-2-receptor alpha", "other spelling of characters"),
        ("Sjo\u0308gren", "Sjögren", "other spelling of characters"),
    ],
)
@pytest.mark.parametrize("reader", ["jsonl", "brat", "label-studio"])
def test_differences_with_one_meaning_are_repaired_and_counted(tmp_path, reader, stands, given, kind):
    text, end = f"No {stands} 😀.", 3 + len(stands)
    if reader == "brat":
        (tmp_path / "a.txt").write_text(text)
        (tmp_path / "a.ann").write_text(f"T1\tx 3 {end}\t{given}\n")
        path = tmp_path / "a.ann"
    else:
        path = tmp_path / ("a.jsonl" if reader == "jsonl" else "a.json")
        value = {"start": 3, "end": end, "text": given, "labels": ["x"]}
        task = {"data": {"text": text}, "annotations": [{"result": [{"id": "r", "type": "labels", "value": value}]}]}
        record = {"text": text, "mentions": [{"type": "x", "spans": [[3, end]], "text": given}]}
        path.write_text(json.dumps(record if reader == "jsonl" else task))
    assert [(problem.kind, problem.severity) for problem in validate(path)] == [(kind, "warning")]
    with pytest.warns(match="read as"):
        [document] = read(path)
    assert document.mentions[0].text(text) == stands


def test_marks_of_gaps_are_read_and_lines_written_back(tmp_path):
    ann = "T1\tx 0 14;20 25\tEmbryonic stem ... cells\nT2\tx 0 9;15 25\tEmbryonic … germ cells\n"
    (tmp_path / "a.txt").write_text("Embryonic stem germ cells")
    (tmp_path / "a.ann").write_text(ann)
    with pytest.warns(match="differs in marks of gaps from the text at 0-14;20-25"):
        [document] = read(tmp_path)
    assert [mention.text(document.text) for mention in document.mentions] == [
        "Embryonic stem cells",
        "Embryonic  germ cells".replace("  ", " "),
    ]
    write([document], tmp_path / "out", format="brat")
    assert (tmp_path / "out/a.ann").read_text() == ann


def test_blanks_at_the_ends_are_trimmed_in_every_reader(tmp_path):
    text = "Mild pain today"
    prodigy = {"text": text, "spans": [{"start": 4, "end": 10, "label": "x"}]}
    doccano = {"text": text, "label": [[4, 10, "x"]]}
    for record in (prodigy, doccano, {"text": text, "mentions": [{"type": "x", "spans": [[4, 10]], "text": " pain "}]}):
        with pytest.warns(match="read without the blanks at its ends, as 'pain'"):
            assert from_record(record).mentions == [Mention("x", [(5, 9)])]
    with pytest.warns(match="read without the blanks at its ends"):
        [document] = from_columns({"doc_id": ["a"], "type": ["x"], "start": [4], "end": [10]}, [Document(text, id="a")])
    assert document.mentions == [Mention("x", [(5, 9)])]
    write([Document(text, "a", mentions=[Mention("x", [(0, 5), (9, 15)], "T1", head=(0, 5))])], tmp_path / "a.jsonl")
    write(read(tmp_path / "a.jsonl", notice=print), tmp_path / "b.jsonl")
    assert not list(validate(tmp_path / "b.jsonl"))


def test_mentions_of_no_character_are_left_out_and_counted(tmp_path):
    record = {"text": "pain", "mentions": [{"type": "x", "spans": [[1, 1]]}, {"type": "y", "spans": [[0, 4]]}]}
    with pytest.warns(match=r"mentions\[0\]: the mention at 1-1 has no character; it is left out"):
        assert from_record(record).mentions == [Mention("y", [(0, 4)])]
