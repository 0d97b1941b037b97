"""Windows hold every token once, share sentences of one document only, and are never longer than they may be."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spanloom import Document
from spanloom.document import Batch
from spanloom.scoring.encoder.windows import cut_windows

SENTENCES = st.lists(st.lists(st.integers(1, 5), max_size=12), max_size=6)  # sub-words of each token of each sentence


def batch_of(documents: list[list[list[int]]]) -> Batch:
    made = []
    for sentences in documents:
        sizes = [len(sentence) for sentence in sentences]
        tokens = np.array([[2 * i, 2 * i + 1] for i in range(sum(sizes))], np.int64).reshape(-1, 2)
        ends = np.cumsum(sizes, dtype=np.int64)
        bounds = np.stack([ends - sizes, ends], 1) if sizes else np.zeros((0, 2), np.int64)
        made.append(Document("a " * sum(sizes), tokens=tokens, sentences=bounds))
    return Batch.of(made)


@given(st.lists(SENTENCES, max_size=4), st.integers(10, 20), st.booleans())
def test_windows_cover_all_tokens(documents: list[list[list[int]]], room: int, context: bool) -> None:
    batch = batch_of(documents)
    sizes = np.array([size for sentences in documents for sentence in sentences for size in sentence], np.int64)
    ptr = np.append(0, sizes.cumsum())
    windows = cut_windows(batch, ptr, room, context=context)
    owned = [t for a, b in zip(windows.own_first, windows.own_end, strict=True) for t in range(a, b)]
    assert owned == list(range(len(sizes)))
    assert all(ptr[windows.end] - ptr[windows.first] <= room)
    assert all((windows.first <= windows.own_first) & (windows.own_end <= windows.end))
    owners = batch.owners
    for first, end in zip(windows.first, windows.end, strict=True):
        assert len(set(owners[first:end])) == 1
    # what belongs together has whole sentences, and no sentence is in two of them
    bounds = batch.sentences
    for unit in windows.units():
        tokens = windows.own_first[unit.start], windows.own_end[unit.stop - 1]
        sentences = windows.sentences[unit.start], windows.sentences[unit.stop]
        inside = bounds[sentences[0]], bounds[sentences[1]]
        assert tokens == inside
        assert len(unit) == 1 or sentences[1] - sentences[0] >= 1
    if not context:
        lengths = np.diff(bounds)
        assert len(windows.units()) == np.count_nonzero(lengths)


def test_a_long_sentence_has_windows_that_share_halves() -> None:
    batch = batch_of([[[1] * 50]])
    windows = cut_windows(batch, np.arange(51), 20)
    assert windows.first.tolist() == [0, 10, 20, 30]
    assert windows.end.tolist() == [20, 30, 40, 50]
    assert windows.own_first.tolist() == [0, 15, 25, 35]
    assert windows.overlapping == 4
