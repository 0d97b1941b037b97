"""Pictures of documents: drawn here as they must come out."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document import Document, Mention
from spanloom.errors import UsageError
from spanloom.view import MIN_WIDTH, render
from spanloom.view.cells import cells, width
from spanloom.view.placement import MOST_ROWS

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def find(text: str, *words: str) -> list[tuple[int, int]]:
    return [(text.index(word), text.index(word) + len(word)) for word in words]


def mention(text: str, kind: str, *words: str, **fields: object) -> Mention:
    return Mention(kind, find(text, *words), **fields)


def test_nested() -> None:
    text = "mild chest pain today"
    found = [mention(text, "problem", "mild chest pain", score=0.973), mention(text, "part", "chest")]
    assert render(Document(text, mentions=found)) == (
        "  mild chest pain today\n  └─────────────┘ problem 97%\n       └───┘ part\n"
    )


def test_crossing() -> None:
    text = "left upper arm pain"
    found = [mention(text, "part", "left upper arm"), mention(text, "problem", "arm pain")]
    assert render(Document(text, mentions=found)) == (
        "  left upper arm pain\n  └────────────┘ part\n             └──────┘ problem\n"
    )


def test_discontiguous_with_heads_scores_and_concepts() -> None:
    text = "infarctions either watershed or embolic"
    head = find(text, "infarctions")[0]
    found = [
        mention(text, "problem", "infarctions", "watershed", head=head, score=0.97, concepts=("C1", "C2")),
        mention(text, "problem", "infarctions", "embolic", head=head, score=0.914),
    ]
    assert render(Document(text, id="note 1", mentions=found)) == (
        "note 1\n"
        "\n"
        "  infarctions either watershed or embolic\n"
        "  ┗━━━━━━━━━┛┄┄┄┄┄┄┄┄└───────┘ problem 97% C1 C2\n"
        "  ┗━━━━━━━━━┛┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄└─────┘ problem 91%\n"
    )


def test_a_head_inside_its_mention() -> None:
    text = "left arm pain"
    assert render(Document(text, mentions=[mention(text, "problem", text, head=find(text, "arm")[0])])) == (
        "  left arm pain\n  └────━━━────┘ problem\n"
    )


def test_a_mention_in_a_gap() -> None:
    text = "T and B cells"
    found = [mention(text, "cell", "T", "cells"), mention(text, "cell", "B cells"), mention(text, "word", "and")]
    assert render(Document(text, mentions=found)) == (
        "  T and B cells\n  ╵┄┄┄┄┄┄┄└───┘ cell\n    └─┘ word\n        └─────┘ cell\n"
    )


def test_wrapped_tracks_go_on_in_the_same_order() -> None:
    text = "infarctions either watershed or embolic"
    found = [
        mention(text, "problem", "infarctions", "watershed", score=0.5),
        mention(text, "problem", "infarctions either watershed or embolic"),
        mention(text, "site", "either"),
    ]
    assert render(Document(text, mentions=found), width=26) == (
        "  infarctions either\n"
        "  └─────────┘┄┄┄┄┄┄┄┄→\n"
        "  └──────────────────→\n"
        "              └────┘ site\n"
        "  watershed or embolic\n"
        "→┄└───────┘ problem 50%\n"
        "→────────────────────┘\n"
        "problem\n"
    )


def test_a_mention_over_sentences_goes_on() -> None:
    text = "No pain. No fever."
    tokens = [[0, 2], [3, 8], [9, 11], [12, 18]]
    document = Document(text, tokens=tokens, sentences=[[0, 2], [2, 4]], mentions=[Mention("finding", [(3, 18)])])
    assert render(document) == ("  No pain.\n     └─────→\n\n  No fever.\n→─────────┘ finding\n")


def test_names_stand_left_or_below_where_there_is_no_room() -> None:
    text = "in the left arm"
    assert render(Document(text, mentions=[mention(text, "part", "left arm")]), width=20) == (
        "  in the left arm\n    part └──────┘\n"
    )
    assert render(Document(text, mentions=[mention(text, "anatomical structure", "left")]), width=20) == (
        "  in the left arm\n         └──┘\nanatomical structure\n"
    )


def test_sentences_stand_apart_and_share_what_lies_between() -> None:
    text = "\n No pain.\n\n\tNo fever. \n"
    tokens = [*find(text, "No", "pain", "."), (13, 15), (16, 21), (21, 22)]
    found = [mention(text, "problem", "pain"), Mention("problem", [(16, 21)]), Mention("blank", [(10, 11)])]
    document = Document(text, tokens=tokens, sentences=[[0, 3], [3, 6]], mentions=found)
    assert render(document) == (
        "   No pain.\n      └──┘ problem\n           ╵ blank\n\n  No fever.\n     └───┘ problem\n"
    )


def test_without_sentences_lines_stand_apart() -> None:
    assert render(Document("No pain.\nNo fever.")) == "  No pain.\n\n  No fever.\n"


def test_wide_combining_and_tab_characters() -> None:
    text = "心电图 cafe\u0301\tx"
    found = [Mention("test", [(0, 3)]), Mention("place", [(4, 9)]), Mention("x", [(10, 11)])]
    assert render(Document(text, mentions=found)) == (
        "  心电图 cafe\u0301     x\n  └────┘ test     ╵ x\n         └──┘ place\n"
    )


def test_control_characters_cannot_reach_the_terminal() -> None:
    text = "a\x1b[31mb\x07\x9bc\x7f\u2028d\udc80\x00"
    drawn = render(Document(text, id="\x1b]0;id\x07", mentions=[Mention("t\x1b\ny", [(0, 2)], concepts=("\r",))]))
    assert drawn == ("␛]0;id␇\n\n  a␛[31mb␇�c␡�d�␀\n  └┘ t␛␊y ␍\n")


def test_colour_adds_only_escapes() -> None:
    text = "mild chest pain"
    document = Document(text, id="d", mentions=[mention(text, "problem", text), mention(text, "part", "chest")])
    drawn = render(document, color=True)
    assert ESCAPE.sub("", drawn) == render(document)
    assert "\x1b[38;5;32m" in drawn and "\x1b[38;5;214m" in drawn
    assert drawn.count("\x1b[0m") == 3


def test_a_type_keeps_its_colour() -> None:
    document = Document("pain", mentions=[Mention("problem", [(0, 4)])])
    assert "\x1b[38;5;214m" in render(document, color=True, types=["part", "problem"])
    assert "\x1b[38;5;32m" in render(document, color=True, types=[])


def test_empty_documents() -> None:
    assert render(Document("")) == "\n"
    assert render(Document(" \n ", mentions=[Mention("a", [(1, 2)])])) == "  ╵ a\n"
    assert render(Document("", mentions=[Mention("a", [(4, 9)])])) == "  ╵ a\n"


def test_what_has_no_place_is_counted() -> None:
    found = [Mention("a", [(0, 10)], id=str(i)) for i in range(MOST_ROWS + 10)]
    drawn = render(Document("chest pain", mentions=found)).splitlines()
    assert len(drawn) == 1 + MOST_ROWS + 1
    assert drawn[-1] == "  and 10 more mentions"


def test_too_narrow() -> None:
    with pytest.raises(UsageError, match="width is 19, expected a whole number from 20"):
        render(Document("pain"), width=19)


TEXTS = st.text(st.one_of(st.sampled_from("ab心\u0301 \n\t\r\x1b"), st.characters()), max_size=60)
TYPES = st.text("abcxyz", min_size=1, max_size=8)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(TEXTS)
    offset = st.integers(-3, len(text) + 3)
    span = st.tuples(offset, offset)
    found = st.builds(
        Mention,
        type=TYPES,
        spans=st.lists(span, min_size=1, max_size=3),
        head=st.none() | span,
        concepts=st.lists(st.text(max_size=9), max_size=2),
        score=st.none() | st.floats(0, 1),
    )
    size = max(len(text), 1)
    cut = draw(st.integers(0, size))
    tokens = draw(st.sampled_from([None, [[i, i + 1] for i in range(size)]]))
    sentences = draw(st.sampled_from([None, [[0, cut], [cut, size]]]))
    return Document(
        text,
        id=draw(st.text(max_size=30)),
        tokens=tokens,
        sentences=sentences,
        mentions=draw(st.lists(found, max_size=5)),
    )


@given(documents(), st.integers(MIN_WIDTH, 60))
def test_every_picture_fits_and_names_every_type(document: Document, columns: int) -> None:
    drawn = render(document, width=columns)
    for line in drawn.split("\n"):
        assert cells(line) <= columns
        assert not any(unicodedata.category(char) in ("Cc", "Cs") for char in line)
    for found in document.mentions:
        assert found.type in drawn
    assert ESCAPE.sub("", render(document, width=columns, color=True)) == drawn


@given(TEXTS, st.integers(MIN_WIDTH, 40))
def test_all_visible_text_is_shown(text: str, columns: int) -> None:
    drawn = render(Document(text), width=columns)
    shown = [char for char in text if not char.isspace() and unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp")]
    rest = iter(drawn)
    assert all(char in rest for char in shown)


@pytest.mark.parametrize(
    ("char", "size"), [("a", 1), ("心", 2), ("ａ", 2), ("é", 1), ("\u0301", 0), ("\u200d", 0), ("ᅡ", 0)]
)
def test_width(char: str, size: int) -> None:
    assert width(char) == size


def test_attributes_stand_behind_the_type() -> None:
    text = "no mild chest pain"
    given = {"negated": True, "past": False, "certainty": "high\x1b[31m"}
    found = [mention(text, "problem", "mild chest pain", score=0.9, attributes=given)]
    assert render(Document(text, mentions=found)) == (
        "  no mild chest pain\n     └─────────────┘ problem · negated · certainty high␛[31m 90%\n"
    )
