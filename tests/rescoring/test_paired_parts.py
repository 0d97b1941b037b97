"""Pairs of parts as candidates: by words at their edges and marginals of mentions without gaps."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from spanloom import Document, Mention, Recognizer
from spanloom.errors import ModelError
from spanloom.hashing import hash_text
from spanloom.hypergraph import Floats
from spanloom.rescoring import parts as module
from spanloom.rescoring.candidates import CandidateMentions, Words
from spanloom.rescoring.parts import HeldOutParts, PairedParts
from spanloom.structures import MentionTable
from spanloom.structures.base import concatenate

KINDS = ("left", "right", "rod", "cone", "basal", "horizontal", "amacrine", "bipolar")
Row = tuple[int, int, tuple[tuple[int, int], ...]]
HEADS = ("cells", "neurons", "segments")


def _words(sentences: list[list[str]]) -> Words:
    offsets = np.cumsum([0, *map(len, sentences)])
    hashes = np.array([hash_text(word) for one in sentences for word in one], np.uint64)
    return Words(offsets, np.zeros(len(sentences), np.int64), hashes)


def _candidates(rows: list[Row], odds: list[float]) -> CandidateMentions:
    return CandidateMentions(MentionTable.build(rows), np.zeros(len(rows), np.int64), np.array(odds))


@pytest.fixture
def text() -> tuple[Words, MentionTable]:
    sentences, rows = [], []
    for one, other, head in product(KINDS, KINDS, HEADS):
        if one != other:
            rows.append((len(sentences), 1, ((1, 2), (4, 5))))
            rows.append((len(sentences), 0, ((3, 5),)))
            sentences.append(["the", one, "and", other, head, "were", "seen"])
    return _words(sentences), MentionTable.build(rows)


def _by_hand(
    pairs: PairedParts, text: Words, row: tuple[int, int, tuple[tuple[int, int], ...]], begin: Floats, end: Floats
) -> float:
    sentence, kind, ((a, b), (c, d)) = row
    number = {int(word): i for i, word in enumerate(pairs.words)}
    base = int(text.offsets[sentence])
    edges = [float(pairs.edges[number.get(int(text.words[base + at]), len(pairs.words)), place])
             for place, at in enumerate((a, b - 1, b, c - 1, c, d - 1))]  # fmt: skip
    total = sum(edges) + float(pairs.rate[0])
    for place, (first, last) in enumerate(((a, b), (b, c), (c, d))):
        if last - first == 1:
            total -= 0.5 * min(edges[2 * place : 2 * place + 2])
        total += float(pairs.lengths[place, last - first - 1])
    rows = [number.get(int(text.words[base + at]), len(pairs.words)) for at in (a, d - 1)]
    total += max(float(pairs.kinds[rows[0], 0, kind]), float(pairs.kinds[rows[1], 1, kind]))
    return total + begin[base + a, kind] + end[base + d - 1, kind]


def _marginals(found: CandidateMentions, text: Words) -> list[Floats]:
    """The log-odds of the likeliest candidate without a gap that begins, or ends, at each token."""
    both = []
    for side in (0, -1):
        own = np.full((len(text.words), 2), -8.0)
        for (sentence, kind, ((first, end), *more)), odds in zip(found.table.rows(), found.odds.tolist(), strict=True):
            if not more:
                at = int(text.offsets[sentence]) + (end - 1 if side else first), kind
                own[at] = max(own[at], min(odds, 8.0))
        both.append((own + own.max(1, keepdims=True)) / 2)
    return both


def test_the_table_is_that_of_an_enumeration(text: tuple[Words, MentionTable], monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = PairedParts.of(*text, 2)
    assert pairs is not None
    new = _words([["the", "rod", "and", "new", "cells"], ["left", "and", "right", "segments", "and", "cells"]])
    found = _candidates([(0, 0, ((3, 5),)), (1, 1, ((0, 1),)), (1, 0, ((2, 4),))], [2.0, -1.0, 3.0])
    begin, end = _marginals(found, new)
    for floor in (-20.0, -12.0, -8.0):
        monkeypatch.setattr(module, "_FLOOR", floor)
        wanted = set()
        for sentence, size in enumerate((5, 6)):
            for a, b, c, d in product(range(size + 1), repeat=4):
                if (
                    a < b < c < d
                    and float(pairs.lengths[0, b - a - 1] + pairs.lengths[1, c - b - 1]) > -100
                    and d - c == 1
                ):
                    row = (sentence, 1, ((a, b), (c, d)))
                    if _by_hand(pairs, new, row, begin, end) > floor:
                        wanted.add(row)
        assert {
            (s, k, tuple((r.first, r.end) if hasattr(r, "first") else tuple(r) for r in p))
            for s, k, p in pairs.table(found, new).rows()
        } == wanted
    assert wanted


def test_scores_are_those_of_the_sum(text: tuple[Words, MentionTable]) -> None:
    words, gold = text
    pairs = PairedParts.of(words, gold, 2)
    assert pairs is not None
    row = (0, 1, ((1, 2), (4, 5)))
    candidates = _candidates([row, (0, 0, ((3, 5),))], [-3.0, 1.0])
    begin, end = _marginals(candidates, words)
    got = pairs.scores(candidates, words)
    assert got[0] == pytest.approx(_by_hand(pairs, words, row, begin, end), rel=1e-5)
    assert got[1] == -np.inf


def test_a_fold_is_scored_by_the_others(text: tuple[Words, MentionTable]) -> None:
    words, gold = text
    fold = np.arange(len(words.offsets) - 1) % 3
    held = HeldOutParts.of(words, gold, 2, fold)
    empty = _candidates([], [])
    tables = []
    for number in range(3):
        own = PairedParts.of(words, gold, 2, fold != number)
        assert own is not None
        table = own.table(empty, words)
        tables.append(table.take(fold[table.sentence] == number))
    assert list(held.table(empty, words).rows()) == list(concatenate(tables).rows())


def test_few_gaps_propose_nothing(text: tuple[Words, MentionTable]) -> None:
    words, gold = text
    assert PairedParts.of(words, gold.take(np.arange(20)), 2) is None


def test_it_is_stored_and_a_damaged_part_is_refused(text: tuple[Words, MentionTable]) -> None:
    pairs = PairedParts.of(*text, 2)
    assert pairs is not None
    again = PairedParts.from_part(pairs.to_part(), 2)
    assert all(
        np.array_equal(getattr(pairs, name), getattr(again, name)) for name in ("words", "edges", "kinds", "lengths")
    )
    with pytest.raises(ModelError, match="kinds"):
        PairedParts.from_part(pairs.to_part(), 3)


def test_separators_find_mentions_with_gaps() -> None:
    documents = []
    for number, (one, other, head) in enumerate(product(KINDS, KINDS, HEADS)):
        if one == other:
            continue
        said = f"We saw {one} and {other} {head} here."
        if number % 3 == 0:
            said = f"No {other} {head} were seen, and {one} fields."
        a, b, c = said.index(one), said.index(f"{other} {head}"), said.index(head)
        mentions = [Mention("CL", [(b, c + len(head))])]
        if number % 3:
            mentions.append(Mention("CL", [(a, a + len(one)), (c, c + len(head))]))
        documents.append(Document(said, id=str(number), mentions=mentions))
    made = Recognizer("separators", "fast", l2=0.1).fit(documents[::2], dev=documents[1::4])
    found = made.predict([document.copy(mentions=[]) for document in documents[3::4]])
    gold = sum(len(mention.spans) > 1 for document in documents[3::4] for mention in document.mentions)
    right = sum(
        len({m.spans for m in ours.mentions if len(m.spans) > 1} & {m.spans for m in wanted.mentions})
        for ours, wanted in zip(found, documents[3::4], strict=True)
    )
    assert gold > 5 and right > 0.8 * gold
    [why, *_] = made.explain(found[0].text, [m for d in found for m in d.mentions if d is found[0]][:1])
    assert why.predicted
