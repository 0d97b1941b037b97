"""Columns of a first pass, held to plain Python: the same words elsewhere, words' types, names of training."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, example, given
from hypothesis import strategies as st

from spanloom.document import Batch, Document
from spanloom.passes.columns import (
    LONGEST,
    PLACES,
    DocumentText,
    Forms,
    Ranges,
    again,
    again_word,
    one_word,
    paint,
)
from spanloom.passes.first import BINS, KnownNames, held_out_names
from spanloom.text import prepare
from spanloom.vocabulary.key_table import best_elsewhere

KINDS = 3


@st.composite
def corpora(draw):
    """Sentences of few words in documents, and ranges in them."""
    documents = draw(st.lists(st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=6), max_size=3), max_size=4))
    words, sentence, document, offsets = [], [], [], [0]
    for number, sentences in enumerate(documents):
        for own in sentences:
            sentence += [len(offsets) - 1] * len(own)
            document += [number] * len(own)
            words += own
            offsets.append(len(words))
    text = DocumentText(
        np.array(words, np.uint64), np.array(sentence, np.int64), np.array(document, np.int64), np.array(offsets)
    )
    rows = set()
    for _ in range(draw(st.integers(0, 12)) if words else 0):
        first = draw(st.integers(0, len(words) - 1))
        end = draw(st.integers(first + 1, offsets[sentence[first] + 1]))
        rows.add((first, end, draw(st.integers(0, KINDS - 1))))
    chances = [draw(st.integers(1, 16)) / 16 for _ in rows]
    return text, ranges([(*row, chance) for row, chance in zip(sorted(rows), chances, strict=True)]), len(documents)


def ranges(rows):
    first, end, kind, strength = zip(*rows, strict=True) if rows else ((),) * 4
    return Ranges(*(np.array(column, np.int64) for column in (first, end, kind)), np.array(strength, np.float64))


def rows_of(found):
    return list(
        zip(found.first.tolist(), found.end.tolist(), found.kind.tolist(), found.strength.tolist(), strict=True)
    )


def phrases(text, size):
    total = len(text.words)
    return [first for first in range(total - size + 1) if len(set(text.sentence[first : first + size].tolist())) == 1]


@st.composite
def defined(draw):
    """A corpus, and short forms in it whose long forms stand somewhere in their document."""
    text, found, count = draw(corpora())
    places = [(a, a + size) for size in range(1, 5) for a in phrases(text, size)]
    rows = {}
    for _ in range(draw(st.integers(0, 4)) if places else 0):
        first, end = draw(st.sampled_from(places))
        rows[first] = (first, end, *draw(st.sampled_from(places)))
    kept = [row for _, row in sorted(rows.items()) if text.document[row[0]] == text.document[row[2]]]
    return text._replace(forms=Forms(*np.array(kept, np.int64).reshape(-1, 4).T)), found, count


def reader(text):
    """The words of a range, those of the long form where it is a short one."""
    longs = {(a, b): (c, d) for a, b, c, d in zip(*(column.tolist() for column in text.forms), strict=True)}
    return lambda first, end: tuple(text.words[slice(*longs.get((first, end), (first, end)))].tolist())


@given(defined())
def test_a_place_is_a_mention_elsewhere(data):
    text, found, _ = data
    words, document = reader(text), text.document.tolist()
    expected = {}
    for size in range(1, LONGEST + 1):
        for first in phrases(text, size):
            others = [
                chance
                for begin, end, _, chance in rows_of(found)
                if words(begin, end) == words(first, first + size) and document[begin] == document[first]
                if begin != first
            ]
            if others:
                expected[first, first + size] = max(others)
    given_back = again(text, found)
    assert {row[:2]: row[3] for row in rows_of(given_back)} == expected
    assert len(given_back.first) == len(expected)
    for first, end, kind, chance in rows_of(given_back):
        assert any(
            (k, c) == (kind, chance)
            and words(b, e) == words(first, end)
            and document[b] == document[first]
            and b != first
            for b, e, k, c in rows_of(found)
        )


@given(defined())
def test_short_forms_and_their_long_forms_are_one_word(data):
    text, found, _ = data
    words, size, document = reader(text), len(text.words), text.document.tolist()
    short = {row[0]: words(*row) for row in zip(text.forms.first.tolist(), text.forms.end.tolist(), strict=True)}
    short = {first: name for first, name in short.items() if (first, first + 1) in _pairs(text.forms)}
    keys = {(document[first], name) for first, name in short.items()}
    places = [
        (first, first + length)
        for length in {len(name) for _, name in keys}
        for first in phrases(text, length)
        if (document[first], tuple(text.words[first : first + length].tolist())) in keys
    ]
    places = sorted(places) if short else []
    whole, mentions = one_word(text, found)
    assert len(whole.words) == len(whole.document) == size + len(places)
    assert whole.document[size:].tolist() == [document[first] for first, _ in places]
    named = [short.get(token, text.words[token]) for token in range(size)]
    named += [tuple(text.words[first:end].tolist()) for first, end in places]
    document, made = whole.document.tolist(), whole.words.tolist()
    expected, given_back = (list(zip(document, values, strict=True)) for values in (named, made))
    assert len(set(zip(expected, given_back, strict=True))) == len(set(expected)) == len(set(given_back))
    rows = rows_of(found)
    rows += [
        (size + places.index(row[:2]), size + places.index(row[:2]) + 1, *row[2:]) for row in rows if row[:2] in places
    ]
    assert rows_of(mentions) == rows


TWO = DocumentText(  # "chest pain CP" and "fever F": long forms of two words and of one
    np.array([1, 2, 3, 4, 5], np.uint64), np.array([0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 1]), np.array([0, 3, 5]),
    Forms(*np.array([(2, 3, 0, 2), (4, 5, 3, 4)]).T),
)  # fmt: skip


@example((TWO, ranges([(2, 3, 0, 0.5), (4, 5, 0, 0.5)]), 2))
@given(defined())
def test_columns_of_a_document_do_not_depend_on_others(data):
    text, found, count = data
    kinds, means = (values[: len(text.words)] for values in again_word(*one_word(text, found), KINDS))
    places = rows_of(again(text, found))
    for number in range(count):
        tokens = np.flatnonzero(text.document == number)
        if not len(tokens):
            continue
        base, end = int(tokens[0]), int(tokens[-1]) + 1
        inside = found.take((found.first >= base) & (found.first < end))
        own = DocumentText(
            text.words[base:end], text.sentence[base:end] - text.sentence[base], text.document[base:end] * 0,
            text.offsets[(text.offsets >= base) & (text.offsets <= end)] - base,
            Forms(*(column[text.document[text.forms.first] == number] - base for column in text.forms)),
        )  # fmt: skip
        alone = Ranges(inside.first - base, inside.end - base, inside.kind, inside.strength)
        kind, mean = again_word(*one_word(own, alone), KINDS)
        assert kind[: end - base].tolist() == kinds[base:end].tolist()
        assert mean[: end - base].tolist() == means[base:end].tolist()
        shifted = [(first + base, stop + base, *row) for first, stop, *row in rows_of(again(own, alone))]
        assert shifted == [row for row in places if base <= row[0] < end]


def _pairs(forms):
    return set(zip(forms.first.tolist(), forms.end.tolist(), strict=True))


def test_forms_of_a_batch_are_whole_tokens_within_sentences():
    texts = ["Heart attack (HA). An HA, HAs, ha, HARD. X.", "No HA.", "Acute renal failure (ARF). No ARF."]
    batch = Batch.of([prepare(Document(text)) for text in texts])

    def told(batch):
        rows = zip(*(column.tolist() for column in Forms.of(batch)), strict=True)
        return [" ".join(batch.words[a:b]) + " = " + " ".join(batch.words[c:d]) for a, b, c, d in rows]

    heart, renal = "Heart attack", "Acute renal failure"
    expected = [f"HA = {heart}", f"HA = {heart}", f"HAs = {heart}", f"ARF = {renal}", f"ARF = {renal}"]
    assert told(batch) == expected
    sentences, firsts = np.insert(batch.sentences, 1, 1), batch.firsts + (batch.firsts > 0)
    assert told(Batch(batch.documents, batch.tokens, sentences, firsts)) == expected[3:], "Heart | attack"


@given(corpora())
def test_a_word_has_the_type_of_its_other_places_on_average(data):
    text, found, _ = data
    size = len(text.words)
    chance = np.zeros((size, KINDS))
    for first, end, kind, strength in rows_of(found):
        chance[first:end, kind] = np.maximum(chance[first:end, kind], strength)
    kinds, means = again_word(text, found, KINDS)
    for token in range(size):
        others = [
            other
            for other in range(size)
            if other != token
            and text.words[other] == text.words[token]
            and text.document[other] == text.document[token]
        ]
        if not others:
            assert kinds[token] == -1
            continue
        average = chance[others].mean(0)
        assert means[token] == average.max()
        assert average.max() == 0 or average[kinds[token]] == average.max()


@given(corpora())
def test_the_longest_range_shows_a_token_then_the_strongest(data):
    text, found, _ = data
    shown, place = paint(found, len(text.words))
    for token in range(len(text.words)):
        rows = [
            (end - first, chance, -number)
            for number, (first, end, _, chance) in enumerate(rows_of(found))
            if first <= token < end
        ]
        assert shown[token] == (-max(rows)[2] if rows else -1)
        if rows:
            first, end = found.first[shown[token]], found.end[shown[token]]
            one = "U" if end - first == 1 else "B" if token == first else "L" if token == end - 1 else "I"
            assert PLACES[place[token]] == one


@given(corpora(), st.integers(0, 3))
def test_names_are_those_of_the_other_folds(data, seed):
    text, found, documents = data
    assume(documents)
    fold = np.random.default_rng(seed).integers(0, 2, documents)
    words, of = text.words.tolist(), fold[text.document].tolist()
    places, share = held_out_names(text, found, KINDS, fold)
    shown = {(row[0], row[1]): (row[2], int(bin)) for row, bin in zip(rows_of(places), share, strict=True)}
    assert len(shown) == len(share)
    expected = set()
    for size in range(1, LONGEST + 1):
        for first in phrases(text, size):
            name = words[first : first + size]
            kinds = [
                kind for begin, end, kind, _ in rows_of(found) if words[begin:end] == name and of[begin] != of[first]
            ]
            if kinds:
                times = sum(
                    words[begin : begin + size] == name and of[begin] != of[first] for begin in phrases(text, size)
                )
                kind = min(range(KINDS), key=lambda k: (-kinds.count(k), k))
                part = kinds.count(kind) / times
                often = "once" if times == 1 else BINS[sum(part >= edge for edge in (0.25, 0.5, 1))]
                expected.add((first, first + size))
                assert shown[first, first + size] == (kind, BINS.index(often))
    assert set(shown) == expected


def test_nothing_is_found_in_nothing():
    text = DocumentText(*(np.zeros(0, kind) for kind in (np.uint64, np.int64, np.int64)), np.zeros(1, np.int64))
    assert len(again(text, ranges([])).first) == 0
    assert [len(column) for column in again_word(text, ranges([]), KINDS)] == [0, 0]
    assert len(best_elsewhere(*(np.zeros(0, kind) for kind in (np.uint64, float, int, np.uint64, int)))) == 0
    names = KnownNames.learn(text, ranges([]), KINDS, np.zeros(0, bool))
    assert len(names.find(text)[1]) == 0
