"""Texts in pieces, and the way they run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_terminal import TEXTS, documents

from spanloom.document import Document
from spanloom.view.cells import cells, shorten
from spanloom.view.layout import leftward, visual_order
from spanloom.view.page import pieces, units
from spanloom.view.placement import tracks, type_names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  left\tarm\n\npain", ["  ", "left", "\t", "arm", "\n", "\n", "pain"]),
        ("心电图，正常", ["心", "电", "图，", "正", "常"]),
        ("a心b", ["a", "心", "b"]),
        ("👩🏽‍🔬🇩🇪!", ["👩🏽‍🔬", "🇩🇪!"]),
        ("e\u0301" * 3, ["e\u0301" * 3]),
        ("x" * 50, ["x" * 24, "x" * 24, "x" * 2]),
    ],
)
def test_units(text: str, expected: list[str]) -> None:
    assert [text[low:high] for low, high in units(text, 0, len(text))] == expected


@given(TEXTS)
def test_units_are_the_text(text: str) -> None:
    assert "".join(text[low:high] for low, high in units(text, 0, len(text))) == text


@given(documents())
def test_pieces_are_the_text_and_know_their_tracks(document: Document) -> None:
    text, found = document.text, tracks(document, type_names([document]))
    parts = [piece for word in pieces(text, 0, len(text), found) for piece in word]
    assert "".join(text[piece.start : piece.end] for piece in parts) == text
    for piece in parts:
        if text[piece.start] == "\n":
            continue
        inside = {i for i, track in enumerate(found) if track.start < piece.end and piece.start < track.end}
        assert set(piece.tracks) == inside or (not piece.tracks and "\n" in text[piece.start : piece.end])
        for i in piece.tracks:
            assert len({found[i].covers(at) for at in range(piece.start, piece.end)}) == 1
            assert len({found[i].is_head(at) for at in range(piece.start, piece.end)}) == 1


@pytest.mark.parametrize(
    ("words", "base", "turned", "order"),
    [
        ([], False, [], []),
        (["a", " ", "b"], False, [False] * 3, [0, 1, 2]),
        (["א", " ", "ב"], True, [True] * 3, [2, 1, 0]),
        (["א", " ", "12", " ", "ב"], True, [True] * 5, [4, 3, 2, 1, 0]),
        (["א", " ", "a", " ", "b", "."], True, [True, True, False, False, False, True], [5, 2, 3, 4, 1, 0]),
        (["12", " ", "a"], False, [False] * 3, [0, 1, 2]),
    ],
)
def test_direction(words: list[str], base: bool, turned: list[bool], order: list[int]) -> None:
    assert leftward(words) == (base, turned)
    assert visual_order(base, turned) == order


@given(st.lists(st.booleans()), st.booleans())
def test_the_order_is_an_order(turned: list[bool], base: bool) -> None:
    assert sorted(visual_order(base, turned)) == list(range(len(turned)))


@given(TEXTS, st.integers(1, 30))
def test_shortened_texts_fit(text: str, limit: int) -> None:
    shown = shorten(text, limit)
    assert shown == text or shown.endswith("…")
    assert cells(shown) <= limit or shown == text
