"""Alignment of answers: what a model quotes without ambiguity comes back, and every span quotes its text."""

from __future__ import annotations

import json
from collections.abc import Callable

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spanloom import Document, Mention
from spanloom.errors import DataError
from spanloom.formats import from_answers
from spanloom.formats.answers.finding import MOST, CopyAlignment, Finder, fold
from spanloom.formats.answers.json_quotes import values
from spanloom.formats.answers.parsing import read_markup

PLAIN = [
    "pain",
    "chest",
    "the",
    "No",
    "ab",
    "a",
    "b",
    "5",
    "5.5",
    "x-y",
    "...",
    "|",
    "*",
    "[1]",
    "{}",
    "<5",
    "&",
    "'",
    '"',
]
WORDS = st.sampled_from([*PLAIN, "ä", "Ä", "e\u0301", "é", "痛", "胸", "“q”", "½", "ß", "SS"])
TEXTS = st.lists(st.tuples(WORDS, st.sampled_from(["", " ", "\n", "  "])), min_size=1, max_size=14).map(
    lambda pieces: "".join(word + blank for word, blank in pieces)
)
TYPES = st.sampled_from(["problem", "Body part", "x"])


@st.composite
def documents(draw: Callable[..., object], gaps: bool = True) -> Document:
    """A text and mentions whose texts stand once in it."""
    text: str = draw(TEXTS)
    ends = st.lists(st.integers(0, len(text)), min_size=2, max_size=4 if gaps else 2, unique=True)
    mentions = {}
    for _ in range(draw(st.integers(0, 4))):
        bounds = sorted(draw(ends))
        spans = list(zip(bounds[::2], bounds[1::2], strict=False))
        if all(is_alone(text, start, end) for start, end in spans):
            mention = Mention(draw(TYPES), spans)
            mentions[mention.key] = mention
    ordered = sorted(mentions.values(), key=lambda mention: (mention.spans, mention.type))
    return Document(text, id="d", mentions=ordered)


def is_alone(text: str, start: int, end: int) -> bool:
    """Whether a piece stands once in a text, also folded and without blanks, and folding keeps its ends."""
    piece = text[start:end]
    folded, found = fold(piece, case=True).text.strip(), fold(text, case=True).text
    return (
        piece == piece.strip(" \n")
        and bool(folded)
        and any(map(str.isalnum, folded))
        and "..." not in piece
        and once(folded, found)
        and once("".join(folded.split()), "".join(found.split()))
    )


def once(piece: str, text: str) -> bool:
    return sum(text.startswith(piece, at) for at in range(len(text))) == 1


def items(document: Document) -> list[dict[str, object]]:
    return [{"parts": [document.text[a:b] for a, b in one.spans], "type": one.type} for one in document.mentions]


def by_type(document: Document) -> dict[str, list[object]]:
    kinds: dict[str, list[object]] = {}
    for one in document.mentions:
        kinds.setdefault(one.type, []).append([document.text[start:end] for start, end in one.spans])
    return kinds


JSON_SHAPES = [
    items,
    by_type,
    lambda document: json.dumps(by_type(document)),
    lambda document: f"Of course!\n```json\n{json.dumps({'entities': items(document)}, indent=1)}\n```\n",
    lambda document: f"Found: {json.dumps(items(document), ensure_ascii=False)}. Any questions?",
]


def back(document: Document, answer: object) -> Document:
    """The document with the mentions of an answer; another document's answer keeps an empty one from being an error."""
    found, _ = from_answers([document.copy(mentions=[]), Document("", id="e")], {"d": answer, "e": "[]"})
    return next(one for one in found if one.id == "d")


@settings(max_examples=300, deadline=None)
@given(documents(), st.sampled_from(range(len(JSON_SHAPES))))
def test_quotes_that_stand_once_come_back(document, number):
    assert back(document, JSON_SHAPES[number](document)).mentions == document.mentions


@settings(max_examples=300, deadline=None)
@given(documents(gaps=False), st.sampled_from(["<{0}>{1}</{0}>", '<e type="{0}">{1}</e>', "[{1}]({0})"]))
def test_marked_copies_come_back(document, form):
    mentions = []
    for mention in document.mentions:  # a form that nests only holds what nests
        if all(not (a.start < mention.start < a.end < mention.end) for a in mentions):
            mentions.append(mention)
    mentions = [a for a in mentions if all(a.spans != b.spans or a is b for b in mentions)]
    text = document.text
    marks = [(form.format(one.type, "\0").split("\0"), one.start, one.end) for one in mentions]
    copy = "".join(
        "".join(close for (_, close), start, end in sorted(marks, key=lambda mark: -mark[1]) if end == at)
        + "".join(opening for (opening, _), start, end in sorted(marks, key=lambda mark: -mark[2]) if start == at)
        + text[at : at + 1]
        for at in range(len(text) + 1)
    )
    # a link could cut "[1]", and makes JSON of what stands in quotation marks
    assume(mentions and not (form.startswith("[") and ("[1]" in text or '"' in text or "'" in text)))
    assert back(document, copy).mentions == mentions


@settings(max_examples=300, deadline=None)
@given(
    TEXTS,
    st.lists(st.tuples(st.one_of(WORDS, TEXTS, st.text(max_size=6)), TYPES), max_size=6),
    st.sampled_from(["all", "first", "none"]),
)
def test_every_span_quotes_its_text_and_every_quote_is_counted(text, quotes, ambiguous):
    quotes = [(quote, kind) for quote, kind in quotes if quote.strip()]
    answer = [{"text": quote, "type": kind} for quote, kind in quotes]
    given = {"d": answer, "e": "[]"}
    (document, _), report = from_answers([Document(text, id="d"), Document("", id="e")], given, ambiguous=ambiguous)
    wanted = {bare(part) for quote, _ in quotes for part in (quote, *quote.split("..."))}
    for mention in document.mentions:
        for start, end in mention.spans:
            assert text[start:end] and 0 <= start < end <= len(text)
            assert any(bare(text[start:end]) in one for one in wanted)
    assert report.quotes == len(quotes)
    assert report.mentions == len(document.mentions)
    listed = sum(problem.kind in ("invented", "unusable") for problem in report.problems)
    assert listed == report.invented + report.unusable


def bare(text: str) -> str:
    return fold(text, case=True).without_blanks().text


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_folding_keeps_the_places(text):
    for case in (False, True):
        folded = fold(text, case=case)
        assert len(folded.text) == len(folded.starts) == len(folded.ends)
        assert list(folded.starts) == sorted(folded.starts)
        assert all(0 <= start < end <= len(text) for start, end in zip(folded.starts, folded.ends, strict=True))
        assert not set("‘’“”–—\u00a0\n") & set(folded.text)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from("abcde"), max_size=30), st.lists(st.sampled_from("abcde"), max_size=30))
def test_alignment_is_monotone_and_true(copy, text):
    one, other = " ".join(copy), " ".join(text)
    aligned = CopyAlignment(one, other)
    places = [aligned.place(at, at + 1) for at in range(0, len(one), 2)]
    found = [place for place in places if place is not None]
    assert found == sorted(set(found))
    assert all(one[2 * at] == other[place[0]] for at, place in enumerate(places) if place is not None)
    if copy == text:
        assert len(found) == len(copy) and aligned.of_copy == aligned.of_text == bool(copy)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["", "the", "so 7"])), max_size=30))
def test_words_that_are_kept_are_found_whatever_is_added_and_left_out(changes):
    words = [f"w{number}" for number in range(len(changes))]
    kept = [word for word, (keep, _) in zip(words, changes, strict=True) if keep]
    copy = " ".join(f"{word} {more}" for word, (keep, more) in zip(words, changes, strict=True) if keep)
    text = " ".join(words)
    aligned = CopyAlignment(copy, text)
    for word in kept:
        at = f" {copy} ".index(f" {word} ")
        place = aligned.place(at, at + len(word))
        assert place is not None and text[slice(*place)] == word and f" {text} "[place[0]] == " "


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("{}[]\",:' ab1\\n`<>*@#()|-/&."), max_size=60), TEXTS)
def test_any_answer_is_read_or_refused(answer, text):
    try:
        found, report = from_answers([Document(text, id="d")], {"d": answer}, type="x")
    except DataError as error:
        assert "\n" not in str(error)
    else:
        assert report.documents == 1
        assert all(end <= len(text) for mention in found[0].mentions for _, end in mention.spans)


@given(
    st.text(st.sampled_from("<>/ab[]()*@#&;x "), max_size=40), st.text(st.sampled_from("<>/ab[]()*@# "), max_size=10)
)
def test_marks_stand_in_the_text_that_is_left(answer, document):
    marked = read_markup(answer, document)
    assert all(0 <= mark.start <= mark.end <= len(marked.text) for mark in marked.marks)
    assert len(marked.text) <= len(answer)


@given(
    st.recursive(st.sampled_from(["a", '"', "\\", 1]), lambda inner: st.lists(inner, max_size=3)),
    st.integers(0, 40),
)
def test_json_is_found_whole_and_cut(value, cut):
    text = json.dumps([value])
    assert values(text)[0].value == [value]
    found = values(f"so {text} it is")
    assert found[0].value == [value]
    for part in values(text[:cut]):
        assert part.whole or part.broken is not None or isinstance(part.value, list)


def test_what_stands_too_often_is_no_mention():
    text = "pain " * (MOST + 1)
    found = Finder(text).find("pain")
    assert found is not None and found.too_many and len(found.spans) == MOST
    [document], report = from_answers([Document(text, id="d")], {"d": {"x": ["pain", "pain"]}})
    assert (document.mentions, report.ambiguous, len(report.problems)) == ([], 2, 1)
    assert report.problems[0].message == "'pain' occurs more than 1,000 times in the document; left out"


def test_time_is_linear(assert_linear):
    def copies(count):
        words = [f"word{i % 997} {i % 13}" for i in range(count)]
        text, copy = (
            " ".join(words),
            " ".join(f"<x>{word}</x>" if i % 50 == 0 else word for i, word in enumerate(words)),
        )
        return lambda: from_answers([Document(text, id="d")], {"d": copy})

    def lists(count):
        text = "mild pain in both knees. " * count
        answer = {"x": ["both knees", *(f"pain{i}" for i in range(20))]}
        return lambda: from_answers([Document(text, id="d")], {"d": answer})

    def brackets(count):
        documents, rest = [Document("a" * count, id="d"), Document("a", id="e")], {"e": "[]"}
        answers = ['["' * count, "{" * count, "<a>" * count, "**" * count, "[a](b" * count, "- a: b, c\n" * count]
        return lambda: [from_answers(documents, {"d": answer, **rest}, type="x") for answer in answers]

    assert_linear(copies, 2000)
    assert_linear(lists, 4000)
    assert_linear(brackets, 2000)
