"""PubTator: every line comes back, offsets stay right, and what has no place is counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanloom.data import clinical
from spanloom.document import Document, Mention
from spanloom.document.surfaces import trimmed
from spanloom.errors import DataError
from spanloom.evaluate import join_spans
from spanloom.formats import read, validate, write

LINES = (
    "8528200|t|Breast and ovarian cancer – in Japan.\n"
    "8528200|a|No |t| repeat\tof α-thalassemia.\n"
    "8528200\t0\t25\tBreast and ovarian cancer\tCompositeMention\tD001943|D010051\tbreast cancer|ovarian cancer\n"
    "8528200\t55\t68\tα-thalassemia\tDisease\tMESH:D017085+OMIM:604131\n"
    "8528200\t55\t68\tα-thalassemia\tDisease\tMESH:D017085|OMIM:604131\n"
    "8528200\t11\t25\tovarian cancer\tModifier\t D010051\n"
    "8528200\t19\t25\tcancer\tDisease\t-1\n"
    "8528200\t19\t25\tcancer\tDisease\n"
    "8528200\t41\t44\t|t|\tMutation\ttmVar:c|SUB|G|35|A\n"
    "8528200\t45\t54\trepeat of\tRepeat\t-\n"
    "8528200\t0\t6\tBreast  \tBody\tUBERON:0000310\n"
    "8528200\tCID\tD001943\tD010051\n"
    "8528200\tAssociation\tDisease|MESH:D1\tGene|672\tNovel\n"
    "\n"
    "8528200|t|\n"
    "8528200|a|The title is empty.\n"
    "8528200\t1\t4\tThe\tWord\t-\n"
    "\n"
    "note/7|t|The abstract is empty.\n"
    "note/7|a|\n"
    "\n"
)


def source(folder: Path, content: str = LINES) -> Path:
    path = folder / "in.pubtator"
    path.write_bytes(content.encode())
    return path


def written(document: Document, folder: Path) -> str:
    write([document], folder / "out.pubtator", force=True)
    return (folder / "out.pubtator").read_bytes().decode()


def test_a_round_trip_keeps_every_line(tmp_path: Path) -> None:
    path = source(tmp_path)
    assert not write(read(path), tmp_path / "out.pubtator")
    assert (tmp_path / "out.pubtator").read_bytes() == path.read_bytes()
    write(read(path), tmp_path / "a.jsonl")
    write(read(tmp_path / "a.jsonl"), tmp_path / "again.pubtator")
    assert (tmp_path / "again.pubtator").read_bytes() == path.read_bytes()


def test_what_the_lines_say(tmp_path: Path) -> None:
    first, second, third = read(source(tmp_path))
    assert [document.id for document in (first, second, third)] == ["8528200", "8528200", "note/7"]
    assert first.text == "Breast and ovarian cancer – in Japan.\nNo |t| repeat\tof α-thalassemia."
    assert (second.text, third.text) == ("\nThe title is empty.", "The abstract is empty.")
    assert [mention.concepts for mention in first.mentions] == [
        ("D001943", "D010051"),
        ("MESH:D017085", "OMIM:604131"),
        ("MESH:D017085", "OMIM:604131"),
        ("D010051",),
        (),
        (),
        ("tmVar:c|SUB|G|35|A",),
        (),
        ("UBERON:0000310",),
    ]
    assert first.meta["pubtator"]["relations"] == [
        "CID\tD001943\tD010051",
        "Association\tDisease|MESH:D1\tGene|672\tNovel",
    ]
    assert len(first.meta["pubtator"]["rows"]) == 6
    assert second.meta == third.meta == {}
    assert second.mentions == [Mention("Word", [(1, 4)])]


@pytest.mark.parametrize(
    "change", [("\n", "\r\n"), ("\n\n", "\n"), ("\n\n", "\n \t\n\n"), ("8528200|t|B", "\ufeff8528200|t|B")]
)
def test_line_ends_blank_lines_and_byte_order_mark(tmp_path: Path, change: tuple[str, str]) -> None:
    expected = list(read(source(tmp_path)))
    found = list(read(source(tmp_path, LINES.replace(*change))))
    assert [(d.text, d.id, d.mentions, d.meta) for d in found] == [(d.text, d.id, d.mentions, d.meta) for d in expected]


def test_warnings(tmp_path: Path) -> None:
    found = [(problem.line, problem.severity, problem.kind) for problem in validate(source(tmp_path))]
    assert found == [
        (11, "warning", "other white space"),
        (5, "warning", "duplicate mention"),
        (8, "warning", "duplicate mention"),
        (15, "warning", "duplicate document"),
        (None, "warning", "relations"),
    ]


def test_a_changed_mention_is_written_anew(tmp_path: Path) -> None:
    document = next(read(source(tmp_path)))
    mention = document.mentions[0]
    document.mentions = [mention.replace(concepts=("D1",)), mention.replace(type="Disease"), mention]
    document.meta["pubtator"].pop("relations")
    assert written(document, tmp_path).splitlines()[2:-1] == [
        "8528200\t0\t25\tBreast and ovarian cancer\tCompositeMention\tD1",
        "8528200\t0\t25\tBreast and ovarian cancer\tDisease\tD001943|D010051",
        "8528200\t0\t25\tBreast and ovarian cancer\tCompositeMention\tD001943|D010051\tbreast cancer|ovarian cancer",
    ]
    document.text = document.text.replace("Breast", "breast")  # the kept line would give another text
    assert (
        written(document, tmp_path)
        .splitlines()[4]
        .endswith("\tbreast and ovarian cancer\tCompositeMention\tD001943|D010051")
    )


def test_what_has_no_place_is_counted(tmp_path: Path) -> None:
    document = Document("Mild or\r\nsevere\tpain\n\nnow", tokens=[[0, 4]], sentences=[[0, 1]], columns={"pos": ["JJ"]})
    document.mentions = [
        Mention("problem", [(0, 4), (16, 20)], "T1", (0, 4), ("C1",), 0.5),
        Mention("problem", [(9, 15), (16, 20)], "T2", (16, 20), ("C1", "C\n2", " "), 0.5),
        Mention("a\ttype", [(0, 4)]),
        Mention("problem", [(0, 15)]),
    ]
    document.meta["ward"] = "B"
    losses = write([document], tmp_path / "a.pubtator")
    assert dict(losses.counts) == {
        "discontiguous mentions": 1,
        "heads": 1,
        "concepts": 2,
        "scores": 1,
        "mention identifiers": 1,
        "mentions whose type has a tab or a line end, or is empty": 1,
        "line ends (a space stands for each)": 3,
        "tokens": 1,
        "sentences": 1,
        "token columns": 1,
        "meta fields": 1,
        "spans that touch, or only white space parts, written as one": 1,
        "documents without an identifier (called document-000001 and so on)": 1,
    }
    assert (tmp_path / "a.pubtator").read_bytes().decode() == (
        "document-000001|t|Mild or \n"
        "document-000001|a|severe\tpain  now\n"
        "document-000001\t9\t20\tsevere pain\tproblem\tC1\n"
        "document-000001\t0\t15\tMild or  severe\tproblem\t-\n"
        "\n"
    )
    (again,) = read(tmp_path / "a.pubtator")
    assert [mention.spans for mention in again.mentions] == [((9, 20),), ((0, 15),)]
    losses = write([Document("title only\n", id="1")], tmp_path / "b.pubtator")
    assert (losses.counts, str(losses)) == ({"line ends (a space stands for each)": 1}, "nothing was lost")
    assert [document.text for document in read(tmp_path / "b.pubtator")] == ["title only "]


def test_the_bundled_corpus_keeps_its_offsets(tmp_path: Path) -> None:
    documents = [document for part in ("train", "dev", "test") for document in read(clinical() / part)]
    losses = write(documents, tmp_path / "a.pubtator")
    assert losses.counts["discontiguous mentions"] == 310
    again = list(read(tmp_path / "a.pubtator"))
    assert [document.id for document in again] == [document.id for document in documents]
    for old, new in zip(documents, again, strict=True):
        assert len(new.text) == len(old.text)
        whole = [mention for mention in old.mentions if len(join_spans(old.text, mention.spans)) == 1]
        assert [(m.type, m.start, m.end, m.concepts) for m in new.mentions] == [
            (m.type, m.start, m.end, m.concepts) for m in whole
        ]


@pytest.mark.parametrize("name", ["a|b", "a\tb", "a\n1|t|", "\r"])
def test_identifiers_that_would_break_the_file_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=r"a\.pubtator: the identifier .* PubTator cannot hold it"):
        write([Document("a", id=name)], tmp_path / "a.pubtator")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "kept",
    [
        7,
        {"rows": "0\t1"},
        {"rows": [1]},
        {"rows": ["0\t1"]},
        {"rows": ["0\t1\ta\tx\tD1\n2|t|more"]},
        {"relations": ["CID\tD1\tD2\r\n"]},
        {"relations": ["0\t1\ta\tx\tD1"]},
    ],
)
def test_kept_lines_that_are_none_are_refused(tmp_path: Path, kept: object) -> None:
    with pytest.raises(DataError, match=r"meta\['pubtator'\] should hold lines of PubTator in lists; remove it"):
        write([Document("a", meta={"pubtator": kept})], tmp_path / "a.pubtator")
    assert list(tmp_path.iterdir()) == []


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write([Document("Pain\nnow", id="1")], "-", format="pubtator")
    assert capfdbinary.readouterr().out == b"1|t|Pain\n1|a|now\n\n"


_TEXTS = st.text(st.sampled_from("ab |t|\t\r\n\u2028é𝒳"), min_size=1, max_size=25)
_NAMES = st.from_regex(r"[a-zÄ:. ]{0,4}[a-z]", fullmatch=True)
_CONCEPTS = st.lists(st.from_regex(r"(MESH:)?[A-Z][0-9]{1,3}", fullmatch=True), max_size=3)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(_TEXTS)
    mentions = []
    for _ in range(draw(st.integers(0, 4))):
        bounds = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=5)))
        spans = list(zip(bounds[::2], bounds[1::2], strict=False))
        mention = Mention(draw(_NAMES), spans, concepts=draw(_CONCEPTS))
        mentions.append(trimmed(mention, text) or mention)
    return Document(text, draw(st.text("1a/ ", max_size=4)), mentions=mentions)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(st.lists(documents(), min_size=1, max_size=3))
def test_any_documents_are_stable(tmp_path: Path, before: list[Document]) -> None:
    path = tmp_path / "a.pubtator"
    losses = write(before, path, force=True)
    after = list(read(path))
    assert len(after) == len(before)
    gaps = 0
    for i, (old, new) in enumerate(zip(before, after, strict=True), start=1):
        assert new.id == (old.id or f"document-{i:06d}")
        flat = old.text.replace("\r", " ")
        title, _, abstract = flat.partition("\n")
        assert new.text == "\n".join(part.replace("\n", " ") for part in ((title, abstract) if abstract else (flat,)))
        joined = [mention.replace(spans=join_spans(old.text, mention.spans)) for mention in old.mentions]
        assert new.mentions == [mention for mention in joined if len(mention.spans) == 1]
        gaps += sum(len(mention.spans) > 1 for mention in joined)
    assert losses.counts["discontiguous mentions"] == gaps
    first = path.read_bytes()
    assert not write(after, path, force=True)
    assert path.read_bytes() == first


def test_two_documents_of_one_name_are_both_kept(tmp_path: Path) -> None:
    path = source(tmp_path, "7|t|Pain\n7|a|\n7\t0\t4\tPain\tx\tD1\n\n7|t|Pain\n7|a|\n7\t0\t4\tPain\ty\tD1\n\n")
    assert [(document.id, document.mentions[0].type) for document in read(path)] == [("7", "x"), ("7", "y")]
    write(read(path), tmp_path / "out.pubtator")
    assert (tmp_path / "out.pubtator").read_bytes() == path.read_bytes()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(st.integers(0, len(LINES)), st.integers(0, 20), st.text("8|ta\t\r\n-٣\0é", max_size=4))
def test_a_damaged_file_is_read_or_refused(tmp_path: Path, at: int, removed: int, added: str) -> None:
    path = source(tmp_path, LINES[:at] + added + LINES[at + removed :])
    errors = [problem for problem in validate(path) if problem.severity == "error"]
    try:
        write(read(path), tmp_path / "out.pubtator", force=True)
    except DataError as error:
        assert str(error) == str(errors[0].to_error())
        assert "\n" not in str(error)
    else:
        assert not errors
        assert len(list(read(tmp_path / "out.pubtator"))) == len(list(read(path)))


def test_a_mention_behind_the_text_is_an_error_whatever_blanks_its_line_gives(tmp_path: Path) -> None:
    path = tmp_path / "a.pubtator"
    path.write_text("1|t|pain\n1|a|\n1\t0\t5\tpain \tDisease\tD1\n")
    assert [problem.kind for problem in validate(path)] == ["span outside"]
    with pytest.raises(DataError, match="span 0-5 is outside the text of 4 characters"):
        list(read(path))
