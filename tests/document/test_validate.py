"""What is wrong with a document, and what is only odd."""

from __future__ import annotations

from typing import Any

import pytest

from spanloom.document import Document, Mention
from spanloom.document.validate import Problem, find_errors, validate
from spanloom.errors import DataError

TOKENS = [[0, 4], [5, 9], [10, 15], [15, 16]]
SENTENCES = [[0, 2], [2, 4]]


def note(*mentions: Mention) -> Document:
    return Document("mild pain today.", tokens=TOKENS, sentences=SENTENCES, mentions=list(mentions))  # type: ignore[arg-type]


def test_a_sound_document() -> None:
    mentions = Mention("x", [(0, 4), (10, 15)], head=(0, 2)), Mention("x", [(5, 9)], head=(5, 9), score=1.0)
    assert find_errors(note(*mentions)) == []
    assert validate(Document("mild pain", mentions=[Mention("x", [(0, 4)])])) == []
    assert validate(note(Mention("x", [(0, 4), (5, 9)]))) == []


def test_columns_hold_texts() -> None:
    document = Document("mild pain", tokens=[[0, 4], [5, 9]], columns={"pos": ["JJ", 3]})  # type: ignore[list-item]
    assert [str(problem) for problem in find_errors(document)] == ["error: columns['pos']: holds 3, expected texts"]


@pytest.mark.parametrize("values", [None, 5, "x", {"x": 1}, {"x"}, iter(["x"])], ids=lambda value: type(value).__name__)
def test_columns_are_lists(values: Any) -> None:
    document = Document("pain", tokens=[[0, 4]], columns={"pos": values})
    [problem] = find_errors(document)
    assert problem.place == "columns['pos']" and problem.message.endswith("expected a list of texts")


@pytest.mark.parametrize(
    ("mention", "kind"),
    [
        (Mention("x", [(-1, 4)]), "span outside"),
        (Mention("x", [(0, 17)]), "span outside"),
        (Mention("x", [(4, 4)]), "span empty"),
        (Mention("x", [(4, 0)]), "span empty"),
        (Mention("x", [(5, 9), (0, 4)]), "span order"),
        (Mention("x", [(0, 4), (3, 9)]), "span order"),
        (Mention("", [(0, 4)]), "no type"),
        (Mention("x", [(0, 4)], head=(2, 5)), "head"),
        (Mention("x", [(0, 4), (5, 9)], head=(4, 5)), "head"),
        (Mention("x", [(0, 4)], head=(2, 2)), "head"),
        (Mention("x", [(0, 4)], score=-0.1), "score"),
        (Mention("x", [(0, 4)], score=float("nan")), "score"),
    ],
)
def test_mention_errors(mention: Mention, kind: str) -> None:
    (problem,) = validate(note(mention))
    assert (problem.severity, problem.kind, problem.mention) == ("error", kind, 0)


def test_identifiers_are_unique() -> None:
    problems = validate(note(Mention("x", [(0, 4)], "T1"), Mention("y", [(0, 4)], "T1")))
    assert [str(problem) for problem in problems] == [
        "error: mention T1: the identifier 'T1' occurs twice; identifiers are unique in a document"
    ]


@pytest.mark.parametrize(
    ("mention", "message"),
    [
        (Mention("x", [(0, 7)]), "'mild pa' ends inside the token 'pain'"),
        (Mention("x", [(2, 9)]), "'ld pain' starts inside the token 'mild'"),
        (Mention("x", [(0, 4), (7, 9)]), "'mild in' starts inside the token 'pain'"),
        (Mention("x", [(5, 15)]), "'pain today' reaches from sentence 0 into sentence 1"),
    ],
)
def test_token_warnings(mention: Mention, message: str) -> None:
    (problem,) = validate(note(mention))
    assert (problem.severity, problem.message) == ("warning", message)


def test_white_space_is_listed_with_the_token() -> None:
    kinds = {problem.kind for problem in validate(note(Mention("x", [(4, 9)])))}
    assert kinds == {"white space", "cuts a token"}


def test_text() -> None:
    assert [problem.kind for problem in validate(Document(" \n"))] == ["no text"]
    assert [problem.kind for problem in validate(Document("\ufeffa"))] == ["byte order mark"]
    assert [problem.kind for problem in validate(Document("a\ud800"))] == ["surrogate"]
    assert [problem.kind for problem in validate(Document("a\0"))] == ["NUL"]


def test_a_unit_is_suspected() -> None:
    messages = [find_errors(Document("𝒳 übe", mentions=[Mention("x", [(2, end)])]))[0].message for end in (6, 8, 99)]
    assert "it fits if counted in UTF-16 units" in messages[0]
    assert "it fits if counted in UTF-8 bytes" in messages[1]
    assert messages[2].endswith("of 5 characters")


def test_broken_tokens_are_not_asked() -> None:
    document = Document("mild pain", tokens=[[0, 99]], sentences=[[0, 1]], mentions=[Mention("x", [(0, 2)])])  # type: ignore[arg-type]
    assert [problem.kind for problem in validate(document)] == ["token outside"]


def test_a_problem_is_one_line() -> None:
    problem = Problem("error", "k", "message", "mention T1", 0, "a.ann", 3)
    assert str(problem) == "a.ann:3: error: mention T1: message"
    assert str(problem.to_error()) == "a.ann:3: mention T1: message"


def test_what_is_no_mention_is_refused_at_once() -> None:
    with pytest.raises(DataError, match=r"mentions\[1\] is \('problem', 0, 3\), expected a Mention, such as Mention\("):
        Document("abc", mentions=[Mention("problem", [(0, 3)]), ("problem", 0, 3)])  # type: ignore[list-item]
    with pytest.raises(DataError, match=r"its spans are \(0, 3\), expected pairs"):
        Mention("problem", (0, 3))  # type: ignore[arg-type]
    with pytest.raises(DataError, match="expected pairs"):
        Mention("problem", 3)  # type: ignore[arg-type]
