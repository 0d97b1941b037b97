"""Documents and mentions as values: equality, what they are shown as, and what is refused."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from spanloom.document import Document, Mention
from spanloom.document.span import Span, found_mention
from spanloom.errors import DataError
from spanloom.view.mentions import LONGEST

NOTE = Document(
    "no <b>pain", id="a", tokens=[(0, 2), (6, 10)], sentences=[(0, 2)], columns={"pos": ["DT", "NN"]},
    mentions=[Mention("problem", [(6, 10)], head=(6, 10), concepts=["D1"], score=0.5)], meta={"source": "x"},
)  # fmt: skip


def test_equal_documents_hold_the_same() -> None:
    assert Document("a b", tokens=[(0, 1), (2, 3)]) == Document("a b", tokens=[(0, 1), (2, 3)])
    for same in (NOTE.copy(), copy.deepcopy(NOTE), pickle.loads(pickle.dumps(NOTE))):
        assert same == NOTE
        assert same is not NOTE


@pytest.mark.parametrize(
    "change",
    [
        {"text": "no <b>Pain"},
        {"id": "b"},
        {"tokens": [(0, 2), (6, 9)]},
        {"tokens": [(0, 2)]},
        {"tokens": None},
        {"sentences": None},
        {"columns": {}},
        {"mentions": []},
        {"meta": {}},
    ],
)
def test_documents_that_differ(change: dict[str, object]) -> None:
    assert NOTE.copy(**change) != NOTE
    assert NOTE.text != NOTE


def test_a_document_is_no_key() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(NOTE)


def test_representations_can_be_read_and_typed() -> None:
    [mention] = NOTE.mentions
    assert repr(mention) == "Mention('problem', [(6, 10)], head=(6, 10), concepts=('D1',), score=0.5)"
    assert eval(repr(mention), {"Mention": Mention}) == mention
    assert repr(Mention("problem", [(6, 10)], score=np.float32(0.5))).endswith("score=np.float32(0.5))")
    assert repr(NOTE.copy(mentions=[])) == "Document('no <b>pain', id='a')"
    many = repr(Document("pain " * 100, mentions=[Mention("problem", [(0, 4)])] * 9))
    assert many.count("Mention(") == 5
    assert "…, mentions=[" in many
    assert many.endswith("… 4 more])")


def test_a_notebook_shows_a_drawing_in_which_text_is_text() -> None:
    html = NOTE._repr_html_()
    assert "<svg" in html
    assert "problem 50% D1" in html
    assert "<b>" not in html


def test_of_a_long_document_the_beginning_is_drawn() -> None:
    text = "No pain.\n" * (LONGEST // 6)
    html = Document(text, mentions=[Mention("problem", [(3, 7)]), Mention("late", [(len(text) - 6, len(text))])])
    drawn = html._repr_html_()
    assert f"of {len(text):,} characters" in drawn
    assert "problem" in drawn
    assert "late" not in drawn


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Document(None), "the text of a document is of type NoneType, expected str"),
        (lambda: Document(b"a"), "the text of a document is of type bytes, expected str"),
        (lambda: Document("abc", mentions=[("problem", 0, 3)]), r"mentions\[0\] is .*expected a Mention"),
        (lambda: Document("a", id=3), "the id of a document is 3, expected a str"),
        (lambda: Document("a", meta=["b"]), r"meta of a document is \['b'\], expected a dict"),
        (lambda: Document("a", columns=["pos"]), r"columns of a document is \['pos'\], expected a dict"),
        (lambda: Mention(3, [(0, 3)]), "the type of a mention is 3, expected a text"),
        (lambda: Mention("problem", [(0, 3)], id=7), "'problem': its id is 7, expected a text"),
        (lambda: Mention("problem", [(0, 3)], score="high"), "its score is 'high', expected a number"),
        (lambda: Mention("problem", [(0, 3)], head=(0, 1.5)), r"its head is \(0, 1.5\), expected a pair"),
        (lambda: Mention("problem", [(0.0, 3.0)]), r"are \[\(0.0, 3.0\)\], expected pairs: \[\(0, 3\)\]"),
        (lambda: Mention("problem", [(0, 3)], concepts=(3,)), r"concepts are \(3,\), expected a list: \['D1'\]"),
        (lambda: Mention("problem", (0, 3)), r"are \(0, 3\), expected pairs: \[\(0, 3\)\]"),
        (lambda: Mention("problem", [(0, 3)], concepts="D1"), r"concepts are 'D1', expected a list: \['D1'\]"),
    ],
)
def test_what_is_no_document_or_mention(make, message) -> None:
    with pytest.raises(DataError, match=message):
        make()


@pytest.mark.parametrize("head", [None, (6, 10)])
@pytest.mark.parametrize("score", [None, 0.25])
def test_mentions_that_are_found_are_those_that_users_write(head: tuple[int, int] | None, score: float | None) -> None:
    found = found_mention("problem", [(3, 4), (6, 10)], head, ("D1",), score)
    written = Mention("problem", [(3, 4), (6, 10)], head=head, concepts=["D1"], score=score)
    assert (found, hash(found), repr(found), found.key) == (written, hash(written), repr(written), written.key)
    assert all(type(span) is Span for span in (*found.spans, *([found.head] if found.head else [])))
    assert found.replace(id="x") == pickle.loads(pickle.dumps(written)).replace(id="x")
