"""Candidates: the places of a document that have the words of likely ones, against plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spanloom.rescoring.candidates import LONGEST, CandidateMentions, Words, elsewhere
from spanloom.structures import MentionTable

SENTENCES = st.lists(st.lists(st.integers(1, 3), max_size=6), min_size=1, max_size=6)


@given(SENTENCES, st.data())
def test_elsewhere_is_every_place_of_a_document_with_the_words(sentences: list[list[int]], data: st.DataObject) -> None:
    documents = sorted(data.draw(st.lists(st.integers(0, 1), min_size=len(sentences), max_size=len(sentences))))
    places = [(n, a, b) for n, own in enumerate(sentences) for a in range(len(own)) for b in range(a + 1, len(own) + 1)]
    rows = (
        data.draw(st.lists(st.tuples(st.sampled_from(places), st.integers(0, 1)), unique=True, max_size=5))
        if places
        else []
    )
    odds = data.draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=len(rows), max_size=len(rows)))
    table = MentionTable.build([(n, kind, ((a, b),)) for (n, a, b), kind in rows])
    found = CandidateMentions(table, np.zeros(len(rows), np.int64), np.array(odds))
    offsets = np.cumsum([0, *map(len, sentences)])
    words = np.array([word for own in sentences for word in own], np.uint64)

    likely = {
        (documents[n], kind, tuple(sentences[n][a:b]))
        for ((n, a, b), kind), value in zip(rows, odds, strict=True)
        if value > 0
    }
    expected = {
        (n, kind, ((a, b),))
        for n, a, b in places
        for kind in (0, 1)
        if (documents[n], kind, tuple(sentences[n][a:b])) in likely
    }
    again = elsewhere(found, Words(offsets, np.array(documents), words)).rows()
    assert set(again) == expected
    assert len(again) == len(expected)


def test_long_candidates_and_those_with_gaps_are_not_looked_for() -> None:
    table = MentionTable.build([(0, 0, ((0, LONGEST + 1),)), (0, 0, ((0, 1), (2, 3)))])
    found = CandidateMentions(table, np.zeros(2, np.int64), np.ones(2))
    text = Words(np.array([0, 40]), np.array([0]), np.ones(40, np.uint64))
    assert len(elsewhere(found, text)) == 0
