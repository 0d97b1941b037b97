"""brat: byte for byte if nothing changed, and only what changed if something did."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanloom.document import Document, Mention, Span
from spanloom.document.surfaces import trimmed
from spanloom.errors import DataError, DataWarning, UsageError
from spanloom.formats import read, validate, write

TEXT = "Mild pain.\r\nNo fever 𝒳 today\n"
ANN = (
    "T2\tproblem 12 20\tNo fever\r\n"
    "#1\tAnnotatorNotes T2\tsee  above \r\n"
    "T1\tproblem  0 4; 5 9\tMild pain\r\n"
    "\r\n"
    "A1\tNegated T2\r\n"
    "M1\tGrade T1 2\r\n"
    "E1\tproblem:T1 Theme:T2\r\n"
    "E2\tproblem:T1\r\n"
    "R1\tBefore Arg1:T1 Arg2:E1\t\r\n"
    "A2\tSure E1\r\n"
    "*\tEquiv T1 T2\r\n"
    "N1\tReference T1 SPL:0001\tmild pain\r\n"
    "N2\tReference T1 SPL:0002\r\n"
    "#2\tHead T1\t5 9\r\n"
    "T9\tday 23 28\ttoday"
)
TYPES = st.from_regex(r"[a-z_äö.:-]{1,5}", fullmatch=True)


def pair(folder: Path, text: str, ann: str, name: str = "a") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.txt").write_bytes(text.encode())
    (folder / f"{name}.ann").write_bytes(ann.encode())
    return folder


def test_a_round_trip_keeps_every_byte(tmp_path: Path) -> None:
    source = pair(tmp_path / "in", TEXT, ANN)
    pair(tmp_path / "in/sub", "\ufeffempty", "", "b")
    losses = write(read(source), tmp_path / "out", format="brat")
    assert not losses
    write(read(source), tmp_path / "a.jsonl")
    write(read(tmp_path / "a.jsonl"), tmp_path / "again", format="brat")
    for file in source.rglob("*.*"):
        for folder in ("out", "again"):
            assert (tmp_path / folder / file.relative_to(source)).read_bytes() == file.read_bytes()


def test_what_the_lines_say(tmp_path: Path) -> None:
    (document,) = read(pair(tmp_path, TEXT, ANN))
    assert [mention.id for mention in document.mentions] == ["T2", "T1", "T9"]
    mention = document.mentions[1]
    assert mention.spans == (Span(0, 4), Span(5, 9))
    assert (mention.concepts, mention.head) == (("SPL:0001", "SPL:0002"), Span(5, 9))


REPAIRED = (
    "T1\tproblem 5 9;0 4\tpain Mild\r\n"  # as brat writes what was marked in this order
    "T2\tproblem 5 9;0 4\tMild pain\r\n"
    "T3\tproblem 0 4\tMild \r\n"
    "T4\tproblem 0 5\tMild\r\n"
    "T5\tproblem 4 10; 0 4\tpain. Mild\r\n"
    "T6\tproblem 9 20\t. No fever\r\n"
    "T7\tproblem 0 9\tMild  pain\r\n"
)


def test_fragments_in_any_order_and_other_white_space_are_read_and_told(tmp_path: Path) -> None:
    source = pair(tmp_path / "in", TEXT, REPAIRED)
    pair(source, TEXT, "T1\tproblem 5 9;0 4\tpain Mild\n", "b")
    told: list[str] = []
    document, other = read(source, notice=told.append)
    spans = [mention.spans for mention in document.mentions]
    assert spans == [
        (Span(0, 4), Span(5, 9)), (Span(0, 4), Span(5, 9)), (Span(0, 4),), (Span(0, 4),), (Span(0, 4), Span(5, 10)),
        (Span(9, 20),), (Span(0, 9),),
    ]  # fmt: skip
    assert other.mentions[0].spans == (Span(0, 4), Span(5, 9))
    assert told == [
        f"{source}/a.ann:1: mention T1: the fragments 5-9;0-4 are out of text order; they were sorted "
        "(4 such in 2 files; spanloom validate lists them)",
        f"{source}/a.ann:3: mention T3: the text 'Mild ' differs in white space from the text at 0-4; read as "
        "'Mild' (5 such; spanloom validate lists them)",
    ]
    problems = [(problem.severity, problem.line) for problem in validate(source / "a.txt") if problem.altered]
    assert problems == [("warning", line) for line in (1, 2, 3, 4, 5, 5, 6, 7)]
    with pytest.warns(DataWarning) as warned:
        list(read(source))
    assert [str(warning.message) for warning in warned] == told
    assert [warning.filename for warning in warned] == [__file__, __file__]
    write([document, other], tmp_path / "out", format="brat")
    assert (tmp_path / "out/a.ann").read_bytes().decode() == REPAIRED


def test_long_mentions_with_short_texts_are_not_looked_at(tmp_path: Path) -> None:
    text = "x" + " " * 9000 + "y"
    with pytest.raises(DataError, match="the text is 'x y', but 'x  "):
        list(read(pair(tmp_path, text, f"T1\tproblem 0 {len(text)}\tx y\n")))


def test_a_repaired_mention_that_changes_is_written_as_it_is_now(tmp_path: Path) -> None:
    [document] = read(pair(tmp_path / "in", TEXT, REPAIRED), notice=lambda _: None)
    document.mentions = [document.mentions[0].replace(type="finding"), document.mentions[3].replace(type="finding")]
    write([document], tmp_path / "out", format="brat")
    lines = (tmp_path / "out/a.ann").read_bytes().decode()
    assert lines == "T1\tfinding 0 4;5 9\tMild pain\r\nT4\tfinding 0 4\tMild\r\n"


def test_one_mention_that_counts_in_another_way_is_refused(tmp_path: Path) -> None:
    source = pair(tmp_path, TEXT, "T1\tproblem 0 3\tMild\nT2\tproblem 5 9\tpain\n")
    with pytest.raises(DataError, match="offsets 0-3 of 'Mild' fit if they are counted with the last character incl"):
        list(read(source))


@pytest.mark.parametrize("ann", [b"T1\tproblem 0 999\tMild\n", b"\xff\xfe", b"T1 is no line\n", b"T1\tx 0 4\tfever\n"])
def test_wrong_annotations_do_not_matter_where_they_are_not_asked_for(tmp_path: Path, ann: bytes) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT.encode())
    (tmp_path / "a.ann").write_bytes(ann)
    with pytest.raises(DataError):
        list(read(tmp_path))
    assert list(read(tmp_path, mentions=False)) == [Document(TEXT, "a")]
    (tmp_path / "a.txt").write_bytes(b"\xff")
    with pytest.raises(DataError, match="not UTF-8"):
        list(read(tmp_path, mentions=False))


def test_lines_of_mentions_that_are_gone_go(tmp_path: Path) -> None:
    (document,) = read(pair(tmp_path / "in", TEXT, ANN))
    document.mentions = [m for m in document.mentions if m.id != "T2"] + [Mention("day", [(23, 28)], score=0.25)]
    losses = write([document], tmp_path / "out", format="brat")
    assert str(losses) == "not written: 7 lines of removed mentions"
    assert (tmp_path / "out/a.ann").read_bytes().decode() == (
        "T1\tproblem  0 4; 5 9\tMild pain\r\n"
        "\r\n"
        "M1\tGrade T1 2\r\n"
        "E2\tproblem:T1\r\n"
        "N1\tReference T1 SPL:0001\tmild pain\r\n"
        "N2\tReference T1 SPL:0002\r\n"
        "#2\tHead T1\t5 9\r\n"
        "T9\tday 23 28\ttoday\r\n"
        "T10\tday 23 28\ttoday\r\n"
        "#3\tScore T10\t0.25\r\n"
    )


def test_predictions_replace_mentions(tmp_path: Path) -> None:
    (document,) = read(pair(tmp_path / "in", TEXT, ANN))
    predicted = document.copy(mentions=[Mention("problem", [(5, 9)])])
    losses = write([predicted], tmp_path / "out", format="brat")
    assert losses.counts["lines of removed mentions"] == 14
    assert (tmp_path / "out/a.ann").read_bytes() == b"\r\nT10\tproblem 5 9\tpain\r\n"


def test_a_changed_mention_keeps_its_line(tmp_path: Path) -> None:
    (document,) = read(pair(tmp_path / "in", TEXT, ANN))
    document.mentions[1] = document.mentions[1].replace(head=None, type="finding", concepts=("SPL:0002", "SPL:3"))
    assert not write([document], tmp_path / "out", format="brat")
    lines = (tmp_path / "out/a.ann").read_bytes().decode().split("\r\n")
    assert lines[2] == "T1\tfinding 0 4;5 9\tMild pain"
    assert lines[11:] == ["N2\tReference T1 SPL:0002", "T9\tday 23 28\ttoday", "N3\tReference T1 SPL:3\tSPL:3", ""]


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30))
    mentions = []
    for i in range(draw(st.integers(0, 4))):
        bounds = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=6)))
        spans = list(zip(bounds[::2], bounds[1::2], strict=False))
        identifier = draw(st.sampled_from([None, f"T{i}", f"x{i}"]))
        head = draw(st.sampled_from([None, *spans]))
        concepts = draw(st.lists(TYPES, max_size=2, unique=True))
        mention = Mention(draw(TYPES), spans, identifier, head, concepts, draw(st.none() | st.floats(0, 1)))
        mentions.append(trimmed(mention, text) or mention)
    return Document(text, draw(st.text("ab./\\%2F", max_size=6)), mentions=mentions)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(documents())
def test_any_document_is_stable(tmp_path: Path, document: Document) -> None:
    write([document], tmp_path / "one", format="brat", force=True)
    (first,) = read(tmp_path / "one")
    assert first.text == document.text
    assert first.id == (document.id or "document-000001")
    assert sorted(map(_content, first.mentions)) == sorted(map(_content, document.mentions))
    write([first], tmp_path / "one.jsonl", force=True)
    (second,) = read(tmp_path / "one.jsonl")
    write([second], tmp_path / "two", format="brat", force=True)
    write(read(tmp_path / "two"), tmp_path / "two.jsonl", force=True)
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    names = [
        sorted(str(file.relative_to(tmp_path / n)) for n in [n] for file in (tmp_path / n).rglob("*.*"))
        for n in ("one", "two")
    ]
    assert names[0] == names[1]


def _content(mention: Mention) -> tuple[object, ...]:
    return mention.key, mention.head or (), mention.concepts, -1.0 if mention.score is None else mention.score


def test_a_byte_order_mark_that_offsets_count(tmp_path: Path) -> None:
    (document,) = read(pair(tmp_path / "in", "\ufeffMild pain", "T1\tproblem 6 10\tpain\n"))
    assert document.text == "\ufeffMild pain"
    write([document], tmp_path / "out", format="brat")
    assert (tmp_path / "out/a.txt").read_bytes() == (tmp_path / "in/a.txt").read_bytes()
    (document,) = read(pair(tmp_path / "in", "\ufeffMild pain", "T1\tproblem 5 9\tpain\n"))
    assert document.text == "Mild pain"


def test_one_pair(tmp_path: Path) -> None:
    write([Document("pain", mentions=[Mention("x", [(0, 4)])])], tmp_path / "a.ann")
    assert (tmp_path / "a.txt").read_text() == "pain"
    for name in ("a.txt", "a.ann"):
        (document,) = read(tmp_path / name)
        assert document.mentions[0].key == ("x", ((0, 4),))
    with pytest.raises(UsageError, match="several"):
        write([Document("a"), Document("b")], tmp_path / "b.ann")
    with pytest.raises(DataError, match="no document"):
        write([], tmp_path / "b.ann")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.ann", "a.txt"]


def test_mentions_over_line_ends_are_written_as_fragments_and_read_as_one(tmp_path: Path) -> None:
    text = "a\tb\r\n  c\n\nd or e"
    mention = Mention("x", [(0, 11), (15, 16)])
    write([Document(text, mentions=[mention])], tmp_path / "a.ann")
    assert (tmp_path / "a.ann").read_bytes() == b"T1\tx 0 3;7 8;10 11;15 16\ta b c d e\n"
    assert list(validate(tmp_path / "a.ann")) == []
    (document,) = read(tmp_path / "a.ann")
    assert [one.spans for one in document.mentions] == [mention.spans]
    write([document], tmp_path / "b.ann")
    assert (tmp_path / "b.ann").read_bytes() == (tmp_path / "a.ann").read_bytes()


@pytest.mark.parametrize("spans", ["0 5;8 12", "0 12", "8 12;0 5", "0 5;6 12"])
def test_a_line_that_is_true_stays_however_it_divides_a_mention(tmp_path: Path, spans: str) -> None:
    (tmp_path / "a.txt").write_text("chest\n  pain today")
    (tmp_path / "a.ann").write_text(f"T1\tx {spans}\tchest pain\n")
    (document,) = read(tmp_path / "a.ann")
    assert document.mentions[0].spans == (Span(0, 12),)
    write([document], tmp_path / "b.ann")
    assert (tmp_path / "b.ann").read_bytes() == (tmp_path / "a.ann").read_bytes()


def test_names_stay_inside_the_folder(tmp_path: Path) -> None:
    names = ["../../up", "/root", "a//b", ".", "c:d", "sub/e"]
    write([Document(name, id=name) for name in names], tmp_path / "out", format="brat")
    assert [file.name for file in tmp_path.iterdir()] == ["out"]
    assert sorted(document.id for document in read(tmp_path / "out")) == sorted(names)


def test_two_documents_of_one_name(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="two documents are called 'a'"):
        write([Document("x", id="a"), Document("y", id="a")], tmp_path / "out", format="brat")
    assert list(tmp_path.iterdir()) == []


def test_types_and_concepts_that_brat_cannot_hold(tmp_path: Path) -> None:
    losses = write([Document("a", mentions=[Mention("x", [(0, 1)], "m", concepts=["a b"])])], tmp_path / "a.ann")
    assert losses.counts == {"concepts with white space or NUL": 1, "mention identifiers": 1}
    losses = write([Document("a b", mentions=[Mention("lab\n\0value", [(0, 1)])])], tmp_path / "b.ann")
    assert str(losses) == "not written: 1 type with white space (an underscore stands for each)"
    assert (tmp_path / "b.ann").read_text() == "T1\tlab__value 0 1\ta\n"
    (tmp_path / "b.ann").write_text("T1\tlab value 0 1\ta\n")  # some tools write so
    [found] = read(tmp_path / "b.ann")
    assert not write([found], tmp_path / "c.ann")
    assert (tmp_path / "c.ann").read_text() == "T1\tlab value 0 1\ta\n"
    losses = write([found.copy(mentions=[Mention("lab value", [(2, 3)], "T1")])], tmp_path / "d.ann")
    assert losses and (tmp_path / "d.ann").read_text() == "T1\tlab_value 2 3\tb\n"


def test_what_brat_has_no_place_for_is_counted(tmp_path: Path) -> None:
    document = Document("a b", "n", [[0, 1], [2, 3]], [[0, 2]], {"pos": ["X", "Y"]}, meta={"m": 1})  # type: ignore[arg-type]
    losses = write([document], tmp_path / "out", format="brat")
    assert losses.counts == {"tokens": 2, "sentences": 1, "token columns": 1, "meta fields": 1}
    with pytest.raises(DataError, match=r"meta\['brat'\]"):
        write([Document("a", meta={"brat": 7})], tmp_path / "other", format="brat")


def test_no_standard_streams() -> None:
    with pytest.raises(UsageError, match="folder"):
        write([], "-", format="brat")
    with pytest.raises(UsageError, match="folder"):
        list(read("-", format="brat"))


@pytest.mark.parametrize("format", ["brat", "xmi"])
def test_an_identifier_too_long_for_a_file_name(tmp_path: Path, format: str) -> None:
    write([Document("a", id="é" * 125)], tmp_path / "fits", format=format)
    for name in ("é" * 126, "a/" + "b" * 252):
        with pytest.raises(DataError, match=r"document id .* would need a file name of 256 bytes, expected 255"):
            write([Document("a", id=name)], tmp_path / "out", format=format)
    assert [path.name for path in tmp_path.iterdir()] == ["fits"]
