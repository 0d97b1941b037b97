"""Streamed counts against `Counter`, whatever is in a batch."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanloom import Document
from spanloom.features import counting
from spanloom.text import prepare, sentence_words

texts = st.lists(st.text("ab. É\n", max_size=30), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts, st.integers(1, 9))
def test_counts_are_those_of_counters(monkeypatch, texts, size):
    monkeypatch.setattr(counting, "_BATCH_TOKENS", size)
    documents = [Document(text) for text in texts]
    sentences = list(sentence_words(map(prepare, documents)))
    found = counting.count_words(documents)
    counts = Counter(word for words in sentences for word in words)
    assert list(zip(found.words, found.counts.tolist(), strict=True)) == list(counts.items())
    pairs, times = found.neighbours, found.neighbours.times.tolist()
    named = [(found.words[a], found.words[b]) for a, b in zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)]
    assert dict(zip(named, times, strict=True)) == Counter(pair for words in sentences for pair in pairwise(words))
    assert len(set(named)) == len(named)
