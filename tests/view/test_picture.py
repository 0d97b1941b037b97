"""Documents as SVG: tracks under their words, whichever way the text runs."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_terminal import documents
from view_documents import DOCUMENTS, hebrew, mixed, three

from spanloom.document import Document, Mention
from spanloom.errors import UsageError
from spanloom.view import to_svg
from spanloom.view.placement import MOST_ROWS
from spanloom.view.svg import CELL

SVG = "{http://www.w3.org/2000/svg}"


def parse(drawing: str) -> ElementTree.Element:
    return ElementTree.fromstring(drawing.encode())


def mentions(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [group for group in root.iter(f"{SVG}g") if (group.get("class") or "").startswith("mention")]


def lines(group: ElementTree.Element, kind: str | None) -> list[tuple[float, float]]:
    """From where to where the horizontal lines of a mention run."""
    found = []
    for path in group.iter(f"{SVG}path"):
        parts = path.get("d").split()
        if path.get("class") == kind and parts[3] == "H":
            found.append((float(parts[1]), float(parts[4])))
    return found


def words(root: ElementTree.Element) -> dict[str, tuple[float, float]]:
    """From where to where each word runs."""
    found = {}
    for text in root.iter(f"{SVG}text"):
        if text.get("textLength"):
            middle, size = float(text.get("x")), float(text.get("textLength"))
            found[text.text] = (middle - size / 2, middle + size / 2)
    return found


def test_lines_stand_under_their_words() -> None:
    root = parse(to_svg([three()], width=120))
    place = words(root)
    laceration = mentions(root)[3]
    assert laceration.find(f"{SVG}title").text == "disorder C0151970 C2: laceration … esophagus (head: laceration)"
    assert lines(laceration, None) == [place["laceration"], place["esophagus"]]
    assert lines(laceration, "gap") == [(place["laceration"][1], place["esophagus"][0])]
    assert lines(laceration, "head") == [place["laceration"]]
    assert [text.text for text in laceration.iter(f"{SVG}text")] == ["disorder C0151970 C2"]


def test_a_line_from_right_to_left_is_mirrored() -> None:
    root = parse(to_svg([hebrew()], width=120))
    place = words(root)
    first = place["המטופל"]
    assert first[1] == 118 * CELL
    assert place["aspirin"][0] < place["12"][0] < first[0]
    assert place["mg"][1] < place["aspirin"][0]  # the words of another direction keep their order
    pain = mentions(root)[0]
    assert lines(pain, None) == [(place["בחזה"][0], place["כאב"][1])]
    drug = next(group for group in mentions(root) if group.find(f"{SVG}title").text.startswith("drug"))
    assert lines(drug, None) == [place["aspirin"]]


def test_words_from_right_to_left_in_a_line() -> None:
    root = parse(to_svg([mixed()], width=120))
    place = words(root)
    assert place["Patient"][0] < place["شديدا"][0] < place["الصدر"][0] < place["الألم"][0] < place["yesterday."][0]
    whole, gap, _ = mentions(root)
    assert lines(whole, None) == [(place["الصدر"][0], place["الألم"][1])]
    assert lines(gap, "gap") == [(place["شديدا"][1], place["الألم"][0])]


@pytest.mark.parametrize("make", DOCUMENTS.values(), ids=DOCUMENTS)
def test_names_do_not_meet_lines(make) -> None:
    """In no row does a name stand on a line of another mention, or on its own."""
    root = parse(to_svg([make()], width=60))
    taken: dict[float, list[tuple[float, float]]] = {}
    for group in mentions(root):
        for kind in (None, "gap"):
            for path, (low, high) in zip(
                [p for p in group.iter(f"{SVG}path") if p.get("class") == kind and p.get("d").split()[3] == "H"],
                lines(group, kind),
                strict=True,
            ):
                taken.setdefault(float(path.get("d").split()[2]), []).append((low, high))
    for group in mentions(root):
        for text in group.iter(f"{SVG}text"):
            low = float(text.get("x"))
            for first, end in taken.get(float(text.get("y")) - 4, []):
                assert end <= low or low + 6.7 * len(text.text) <= first


def test_a_mention_of_several_lines_has_its_name_in_the_last() -> None:
    document = Document("pain in the left upper arm", mentions=[Mention("problem", [(0, 26)])])
    found = mentions(parse(to_svg([document], width=20)))
    assert len(found) == 2
    assert [text.text for group in found for text in group.iter(f"{SVG}text")] == ["problem"]
    assert found[-1].find(f"{SVG}text") is not None


def test_what_has_no_place_is_counted() -> None:
    found = [Mention("a", [(0, 10)], id=str(i)) for i in range(MOST_ROWS + 10)]
    root = parse(to_svg([Document("chest pain", mentions=found)]))
    assert len(mentions(root)) == MOST_ROWS
    assert "and 10 more mentions" in [text.text for text in root.iter(f"{SVG}text")]


def test_colours_are_those_of_all_types() -> None:
    document = Document("pain", mentions=[Mention("problem", [(0, 4)])])
    (group,) = mentions(parse(to_svg([document], types=["part", "problem"])))
    assert group.get("class") == "mention t1"


def test_too_narrow() -> None:
    with pytest.raises(UsageError, match="width is 19, expected a whole number from 20"):
        to_svg([Document("pain")], width=19)


@settings(max_examples=60, deadline=None)
@given(documents(), st.integers(20, 60))
def test_any_document(document: Document, width: int) -> None:
    drawing = to_svg([document], width=width)
    root = parse(drawing)
    assert drawing == to_svg([document], width=width)
    titles = [group.find(f"{SVG}title").text for group in mentions(root)]
    assert {re.match("[abcxyz]+", title)[0] for title in titles} == {found.type for found in document.mentions}
