"""Patterns at which tokens are split, against plain Python; and what becomes of sentences and columns."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document import Batch, Document, Mention
from spanloom.errors import DataError
from spanloom.text import prepare, prepare_all, tokenize
from spanloom.text.characters import MARKS
from spanloom.text.splitting import (
    LONGEST,
    Characters,
    CutPattern,
    Splitter,
    SplittingStream,
    class_of,
    split_at_mentions,
)

CLASSES = "aAωΩx0"
ALPHABET = "abABαΔ患1-/( \u0301ё"


def by_words(text: str) -> Document:
    """A document whose tokens are what white space parts."""
    starts = [i for i in range(len(text)) if not text[i].isspace() and (not i or text[i - 1].isspace())]
    ends = [i + 1 for i in range(len(text)) if not text[i].isspace() and (text + " ")[i + 1].isspace()]
    return Document(text, tokens=list(zip(starts, ends, strict=True)), sentences=[(0, len(starts))] if starts else [])


def cuts(text: str, tokens: list[tuple[int, int]], pattern: CutPattern) -> list[int]:
    """Places of a pattern, character by character."""
    starts, ends = {start for start, _ in tokens}, {end for _, end in tokens}

    def word(i: int) -> bool:
        return 0 <= i < len(text) and class_of(text[i]) in CLASSES

    def edge(at: int, own: set[int], inner: int, outer: int) -> bool:
        return word(inner) and (not word(outer) or at in own)

    found = []
    for place in range(1, len(text)):
        inside = any(start < place < end for start, end in tokens)
        blank = text[place - 1].isspace() or text[place].isspace()
        if not inside or blank or re.match(f"[{MARKS}]", text[place]):
            continue
        if pattern.left and pattern.right:
            near = (" " * 2 + text)[place + 2 - len(pattern.left) : place + 2] + (text + " " * 2)[
                place : place + len(pattern.right)
            ]
            fits = "".join(map(class_of, near)) == pattern.left + pattern.right
        elif pattern.left:
            start = place - len(pattern.affix)
            fits = start >= 0 and text[start:place] == pattern.affix and edge(start, starts, start, start - 1)
        else:
            end = place + len(pattern.affix)
            fits = text[place:end] == pattern.affix and edge(end, ends, end - 1, end)
        if fits:
            found.append(place)
    return found


sides = st.text(st.sampled_from("aAωΩx0-/( ё"), min_size=1, max_size=2).filter(lambda side: "ё" not in side)
literals = st.text("abABαΔ患1-", min_size=2, max_size=4)
patterns = (
    st.builds(CutPattern, sides, sides)
    | literals.map(lambda text: CutPattern("<" + text, ""))
    | literals.map(lambda text: CutPattern("", text + ">"))
)


@given(st.lists(st.text(ALPHABET, max_size=14), min_size=1, max_size=3), patterns, st.booleans())
def test_matches_are_those_of_plain_python(texts, pattern, ours):
    documents = [prepare(Document(text)) if ours else by_words(text) for text in texts]
    [*found] = Splitter((pattern,)).split(documents)
    for document, split in zip(documents, found, strict=True):
        tokens = [tuple(token) for token in document.tokens.tolist()]
        wanted = cuts(document.text.rstrip(), tokens, pattern)
        bounds = {end for _, end in tokens}
        assert sorted({end for _, end in split.tokens.tolist()} - bounds) == wanted


@given(st.lists(st.text(ALPHABET + "\ud800.。", max_size=30), max_size=3), st.lists(patterns, max_size=4))
def test_parts_cover_their_tokens_and_have_their_columns(texts, chosen):
    documents = [prepare(Document(text)) for text in texts]
    for document in documents:
        document.columns["number"] = [str(i) for i in range(document.token_count)]
    batch = Batch.of(documents).with_columns({"other": [str(i) for i in range(sum(d.token_count for d in documents))]})
    split = Splitter(tuple(chosen)).split_batch(batch)
    again = Batch.of(split.documents)  # is valid
    np.testing.assert_array_equal(again.tokens, split.tokens)
    np.testing.assert_array_equal(again.sentences, split.sentences)
    assert len(split.columns["other"]) == len(split.tokens)
    for before, after in zip(documents, split.documents, strict=True):
        owner = list(map(int, after.columns["number"]))
        for i, (start, end) in enumerate(before.tokens.tolist()):
            parts = [tuple(after.tokens[j]) for j in range(len(owner)) if owner[j] == i]
            assert parts[0][0] == start and parts[-1][1] == end
            assert all(a < b for a, b in parts) and all(x[1] == y[0] for x, y in pairwise(parts))
        for (first, end), (first_part, end_part) in zip(before.sentences, after.sentences, strict=True):
            assert owner[first_part:end_part] == sorted(owner[first_part:end_part])
            assert owner[first_part] == first and owner[end_part - 1] == end - 1
    if all(a.token_count == b.token_count for a, b in zip(documents, split.documents, strict=True)):
        assert split is batch


@given(patterns)
def test_patterns_are_read_as_they_are_written(pattern):
    assert CutPattern.of(str(pattern)) == pattern


@pytest.mark.parametrize(
    "text",
    [
        "",
        "|",
        "a",
        "a|",
        "|A",
        "b|A",  # no class: b is a small letter
        "aaa|A",
        "a||A",
        "a|A|",
        "<a|",
        "<anti|a",
        "anti|",
        "<an ti|",
        "<" + "a" * (LONGEST + 1) + "|",
        "|>",
        "|a>>",
        "(a+)+|b",
        "|" + "a" * 1_000_000 + ">",
    ],
)
def test_what_is_no_pattern(text):
    with pytest.raises(DataError, match="expected one such as") as error:
        CutPattern.of(text)
    assert len(str(error.value)) < 200


def test_tokens_that_nest_or_are_empty_are_split_one_by_one():
    document = Document("anti-tumor", tokens=[[0, 0], [0, 10], [5, 10], [10, 10]], sentences=[[0, 4]])
    [split] = Splitter((CutPattern.of("-|a"),)).split([document])
    assert split.tokens.tolist() == [[0, 0], [0, 5], [5, 10], [5, 10], [10, 10]]


def test_a_column_of_another_length():
    document = Document("a-b", id="x", tokens=[[0, 3]], sentences=[[0, 1]], columns={"pos": []})
    with pytest.raises(DataError, match="document 'x' has 0 values in column 'pos', expected 1, one a token"):
        Splitter((CutPattern.of("-|a"),)).split([document])


def test_a_stream_joins_what_no_mention_needs_split_and_tells_once_of_what_stays():
    told: list[str] = []
    stream = SplittingStream(Splitter((CutPattern.of("-|a"),)), told.append)

    def brought(name: str, *spans: tuple[int, int]) -> Document:
        mentions = [Mention("x", [span], head=span) for span in spans]
        return Document(
            "a-b a-c",
            id=name,
            tokens=[[0, 3], [4, 7]],
            sentences=[[0, 2]],
            columns={"n": ["0", "1"]},
            mentions=mentions,
        )

    def run(*documents: Document) -> list[Document]:
        split = stream.split(Batch.of(prepare_all(documents)), documents)
        found = {"meta": {"seen": True}, "sections": [("plan", (0, 0))]}
        placed = [document.copy(**found) for document in split.documents]
        assert [one.words for one in stream.predicted(lambda: placed)] == [one.words for one in stream.join(placed)]
        return list(stream.join(placed))

    plain, empty, text = run(brought("whole", (0, 3)), Document(""), Document("a-b", mentions=[Mention("x", [(2, 3)])]))
    assert plain.words == ["a-b", "a-c"] and plain.columns == {"n": ["0", "1"]} and plain.meta == {"seen": True}
    assert [section.name for document in (plain, empty, text) for section in document.sections] == ["plan"] * 3
    assert not empty.words and text.words == ["a", "-", "b"] and not told
    for name in "pq":
        [cut] = run(brought(name, (0, 3), (6, 7)))
        assert cut.words == ["a-b", "a-", "c"] and cut.columns == {"n": ["0", "1", "1"]}
        assert cut.sentences.tolist() == [[0, 3]] and cut.mentions == brought(name, (0, 3), (6, 7)).mentions
    assert told == [
        "document 'p' brings tokens that mentions are found in a part of; they are split in what is predicted, here "
        "and elsewhere"
    ]


@given(st.text(ALPHABET, max_size=14), st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14)), max_size=3))
def test_tokens_are_split_where_mentions_begin_or_end(text, spans):
    document = by_words(text)
    mentions = [Mention("x", [(a, b)]) for a, b in spans if a < b <= len(text)]
    split = split_at_mentions(document.copy(mentions=mentions))
    wanted = {at for mention in mentions for at in (mention.start, mention.end)}
    inside = {at for at in wanted if any(a < at < b for a, b in document.tokens.tolist())}
    assert {a for a, _ in split.tokens.tolist()} == {a for a, _ in document.tokens.tolist()} | inside
    assert {b for _, b in split.tokens.tolist()} == {b for _, b in document.tokens.tolist()} | inside
    Batch.of([split])


def test_parts_of_one_long_text_take_its_memory_once():
    """Documents of one sentence each may share a text; only what their tokens cover is looked at."""
    text = "anti-tumor. " * 1000
    tokens = tokenize(text)
    parts = [Document(text, tokens=tokens[i : i + 4], sentences=[[0, 4]]) for i in range(0, len(tokens), 4)]
    assert len(Characters(Batch.of(parts)).text) < 2 * len(text)
