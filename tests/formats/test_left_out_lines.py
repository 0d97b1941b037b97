"""Lines and references that are no mention, or about nothing: they cost no document, and are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanloom.document import Document, Mention
from spanloom.errors import DataError
from spanloom.formats import read, validate, write

PUBTATOR = "7|t|Mild pain.\n7|a|No fever.\n7\t5\t9\tpain\tDisease\tD010146\n7\t14\t19\tfever\tDisease\tD005334\n"
BRAT = "T1\tproblem 5 9\tpain\n"


def told(path: Path, **options: object) -> tuple[list[Document], list[str]]:
    lines: list[str] = []
    return list(read(path, notice=lines.append, **options)), lines


@pytest.mark.parametrize(
    "row",
    [
        "CID\tD006493\tD013921",
        "Association\tD003371\t999\tNovel",
        "Association\tp|SUB|T||K\t7157\t",
        "Association\tD003371\tp|SUB|T||K\t",
        "Bind\t999\t7157",
        "Association\tD003371\t999\tNo\t",
    ],
)
def test_relations_of_pubtator_are_kept(tmp_path: Path, row: str) -> None:
    (tmp_path / "a.pubtator").write_text(f"{PUBTATOR}7\t{row}\n\n")
    [document], lines = told(tmp_path / "a.pubtator")
    assert not lines
    assert document.meta["pubtator"] == {"relations": [row]}
    assert len(document.mentions) == 2
    assert [problem.message for problem in validate(tmp_path / "a.pubtator")] == [
        "1 relation, kept in meta, and written back"
    ]
    assert not write([document], tmp_path / "b.pubtator")
    assert (tmp_path / "b.pubtator").read_text() == (tmp_path / "a.pubtator").read_text()


@pytest.mark.parametrize(
    "line", ["7\tpain\tDisease\tD1", "7\t\t\t", "# note", "7|m|more", "7\tAssociation\t\t", "7\tsure"]
)
def test_other_lines_of_pubtator_are_left_out(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.pubtator").write_text(f"{PUBTATOR}{line}\n\n8|t|Pain\n8|a|\n")
    [document, _], lines = told(tmp_path / "a.pubtator")
    assert len(document.mentions) == 2
    [notice] = lines
    assert notice.startswith(f"{tmp_path}/a.pubtator:5: found ")
    assert notice.endswith("nor a relation; the line is left out")


def test_a_line_of_pubtator_that_holds_two_mentions_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.pubtator").write_text(PUBTATOR.replace("D010146\n7\t", "D010146\t"))
    [document], [notice] = told(tmp_path / "a.pubtator")
    assert len(document.mentions) == 1
    assert "the line of 'pain' has the fields of a second mention, not read" in notice
    (tmp_path / "b.pubtator").write_text(PUBTATOR.replace("D010146\n", "D010146\tocular\tmore\n"))
    assert len(told(tmp_path / "b.pubtator")[0][0].mentions) == 2
    assert not told(tmp_path / "b.pubtator")[1]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_pubtator_is_known_by_its_content(tmp_path: Path, end: str) -> None:
    (tmp_path / "a.txt").write_bytes(PUBTATOR.replace("\n", end).encode())
    (tmp_path / "b.txt").write_bytes(b"7|t|Mild pain, and no abstract.")
    first, second = read(tmp_path)
    assert (first.id, first.text, len(first.mentions)) == ("7", "Mild pain.\nNo fever.", 2)
    assert (second.id, second.mentions) == ("b", [])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("N1\tReferense T1 X:1\tpain", "found 'Referense', which is not read; Reference may be meant; it is kept"),
        ("#1\tHaed T1\t5 9", "found 'Haed', which is not read; Head may be meant; it is kept"),
        ("#1\tSocre T1\t0.5", "found 'Socre', which is not read; Score may be meant; it is kept"),
        ("N1\tReference T7 X:1\tpain", "N1 is about T7, and there is no such line; it is kept"),
        ("#1\tHead T7\t5 9", "#1 is about T7, and there is no such line; it is kept"),
        ("R1\tCause Arg1:T1 Arg2:T9\n#1\tHead R1\t5 9", "#1 gives a head to R1, which is no mention; it is kept"),
        ("T2\tproblem 3 3\t", "mention T2: the mention at 3-3 has no character; it is left out"),
    ],
)
def test_lines_of_brat_that_are_not_read_are_counted_and_kept(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.txt").write_text("Mild pain.")
    (tmp_path / "in/a.ann").write_text(f"{BRAT}{line}\n")
    [document], [notice] = told(tmp_path / "in")
    assert document.mentions == [Mention("problem", [(5, 9)], "T1")]
    assert notice.endswith(message)
    write([document], tmp_path / "out", format="brat")
    assert (tmp_path / "out/a.ann").read_text() == f"{BRAT}{line}\n"


@pytest.mark.parametrize("line", [
    "#1\tAnnotatorNotes T1\tsure?", "A1\tNegated T9", "R1\tCause Arg1:T1 Arg2:T9", "E1\tproblem:T9", "*\tEquiv T1 T9",
    "#2\tAnnotatorNotes R9\tgone", "a line that is none",
])  # fmt: skip
def test_lines_of_brat_that_are_about_nothing_cost_no_document(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.txt").write_text("Mild pain.")
    (tmp_path / "a.ann").write_text(f"{BRAT}{line}\n")
    [document] = read(tmp_path)
    assert len(document.mentions) == 1


def test_lines_of_brat_may_end_at_cr(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.txt").write_bytes(b"Mild\rpain.")
    (tmp_path / "in/a.ann").write_bytes(b"T1\tproblem 5 9\tpain\rN1\tReference T1 X:1\tpain\rT2\tproblem 0 4\tMild\r")
    [document] = read(tmp_path / "in")
    assert [(mention.text(document.text), mention.concepts) for mention in document.mentions] == [
        ("pain", ("X:1",)),
        ("Mild", ()),
    ]
    document.mentions.append(Mention("sign", [(0, 4)]))
    write([document], tmp_path / "out", format="brat")
    assert (tmp_path / "out/a.ann").read_bytes() == (tmp_path / "in/a.ann").read_bytes() + b"T3\tsign 0 4\tMild\r"


def test_a_byte_order_mark_of_a_brat_text_without_mentions_is_no_part_of_the_text(tmp_path: Path) -> None:
    for ann in (b"", b"\xef\xbb\xbf#1\tAnnotatorNotes T1\tnone\n", None):
        (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfMild pain.")
        (tmp_path / "a.ann").unlink(missing_ok=True)
        if ann is not None:
            (tmp_path / "a.ann").write_bytes(ann)
        [document] = read(tmp_path / "a.txt", format="brat")
        assert document.text == "Mild pain."
        write([document], tmp_path / "out", format="brat", force=True)
        assert (tmp_path / "out/a.txt").read_bytes() == b"\xef\xbb\xbfMild pain."


def test_other_xml_is_refused_with_advice(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<Article><Title/></Article>")
    with pytest.raises(DataError, match="found <Article>, expected BioC's <collection>; of another format, name it"):
        list(read(tmp_path / "a.xml"))
