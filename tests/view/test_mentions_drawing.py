"""Mentions in the figures of the documents: one track each, a line under each component, a dashed one across gaps."""

from __future__ import annotations

import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

from spanloom.errors import UsageError

draw_mentions = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "draw.py"))["draw_mentions"]
SVG = "{http://www.w3.org/2000/svg}"
WORDS = ["Infarctions", "either", "water", "shed", "or", "embolic"]


def tracks(drawing):
    root = ElementTree.fromstring(drawing.encode())
    return [group for group in root.iter(f"{SVG}g") if group.get("class") == "mention"]


def test_tracks():
    drawing = draw_mentions(WORDS, [("problem", ((0, 1),)), ("problem", ((0, 1), (2, 4), (5, 6)))])
    one, three = tracks(drawing)
    assert one.find(f"{SVG}title").text == "problem: Infarctions"
    assert three.find(f"{SVG}title").text == "problem: Infarctions ... water shed ... embolic"
    assert [path.get("class") for path in one.iter(f"{SVG}path")] == [None]
    assert [path.get("class") for path in three.iter(f"{SVG}path")] == [None, None, None, "gap", "gap"]
    *components, gap, _ = (path.get("d").split() for path in three.iter(f"{SVG}path"))
    first, second = components[0], components[1]  # down, along, up: M low top V y H high V top
    assert gap == ["M", first[6], first[4], "H", second[1]]  # from the end of one to the start of the next
    assert float(first[1]) < float(first[6]) < float(second[1]) < float(second[6])
    alone = next(one.iter(f"{SVG}path")).get("d").split()
    assert (alone[1], alone[6]) == (first[1], first[6])
    assert float(alone[4]) < float(first[4])


def test_the_same_mentions_are_the_same_bytes():
    mentions = [("problem", ((0, 1), (5, 6)))]
    assert draw_mentions(WORDS, mentions) == draw_mentions(WORDS, mentions)


def test_hostile_words_and_types():
    drawing = draw_mentions(["<script>", "\x00", "\ufffe", "x" * 500, ""], [("<b>&", ((0, 5),))])
    assert "<script" not in drawing
    (track,) = tracks(drawing)
    assert track.find(f"{SVG}g").find(f"{SVG}text").text == "<b>&"


def test_nothing_to_draw():
    assert tracks(draw_mentions([], [])) == []


@pytest.mark.parametrize(
    "ranges", [(), ((1, 1),), ((2, 1),), ((5, 7),), ((-1, 1),), ((3, 4), (0, 1)), ((0, 2), (1, 3))]
)
def test_wrong_ranges(ranges):
    with pytest.raises(UsageError, match=r"expected ranges in order, not empty, of 6 tokens"):
        draw_mentions(WORDS, [("problem", ranges)])
