"""Packs of windows: arrays that an encoder reads at once, whatever library it computes with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from spanloom.hypergraph import Ints, Singles
from spanloom.scoring.encoder.subwords import Subwords
from spanloom.scoring.encoder.windows import Windows

EVEN: Final = 16  # PyTorch keeps what it has prepared for each length of windows, so lengths are to be few
AT_ONCE: Final = 1 << 9  # sub-words that a processor reads at once: what lies between layers fits into its cache


class Reading(NamedTuple):
    """A batch as an encoder reads it.

    Args:
        subwords: of its tokens.
        windows: over its tokens.
    """

    subwords: Subwords
    windows: Windows


class Packed(NamedTuple):
    """Windows of about one length, as an encoder reads them.

    Args:
        ids: (W, S) sub-words, special ones and padding among them.
        mask: (W, S) 1 where there is a sub-word.
        at: (P,) sub-words that make up the vectors of tokens, as places in the flattened ``ids``.
        token: (P,) the token that each belongs to, ascending.
        tokens: T, how many there are.
        rows: (T,) the numbers of these tokens in the batch.
    """

    ids: Ints
    mask: Ints
    at: Ints
    token: Ints
    tokens: int
    rows: Ints


def pack(
    windows: Windows, chosen: list[int], subwords: Subwords, around: tuple[tuple[int, ...], tuple[int, ...]],
    pooling: str, padding: int, longest: int, even: int = EVEN, shape: tuple[int, int] | None = None,
) -> Packed:  # fmt: skip
    """Pack some windows of a batch.

    Args:
        windows: of the batch.
        chosen: their numbers.
        subwords: of the batch's tokens.
        around: special sub-words before and after each window.
        pooling: the sub-words of a token that count: ``first``, ``last`` or ``mean``.
        padding: the sub-word for empty places.
        longest: the encoder's maximum number of sub-words; fewer are padded to the next multiple of ``even``.
        even: 1 for no more padding than the longest window needs.
        shape: windows and sub-words of each to pad to; windows of padding have one sub-word.
    """
    before, after = around
    ptr = subwords.ptr
    bodies = [subwords.ids[ptr[windows.first[w]] : ptr[windows.end[w]]] for w in chosen]
    width = max(len(body) for body in bodies) + len(before) + len(after)
    width = min(-(-width // even) * even, max(width, longest))
    if shape is not None:
        width = shape[1]
    ids = np.full(shape or (len(chosen), width), padding, np.int64)
    mask = np.zeros(ids.shape, np.int64)
    mask[len(chosen) :, 0] = 1
    at, rows = [], []
    for row, (w, body) in enumerate(zip(chosen, bodies, strict=True)):
        text = np.concatenate([before, body, after]).astype(np.int64)
        ids[row, : len(text)], mask[row, : len(text)] = text, 1
        own = np.arange(windows.own_first[w], windows.own_end[w])
        rows.append(own)
        at.append((row * width + len(before) - ptr[windows.first[w]], own))
    if pooling == "mean":
        sizes = np.diff(ptr)
        places = np.concatenate([base + np.arange(ptr[own[0]], ptr[own[-1] + 1]) for base, own in at if len(own)])
        counts = np.concatenate([sizes[own] for _, own in at])
        token = np.repeat(np.arange(len(counts)), counts)
    else:
        edge = ptr[:-1] if pooling == "first" else ptr[1:] - 1
        places = np.concatenate([base + edge[own] for base, own in at])
        token = np.arange(len(places))
    return Packed(ids, mask, places, token, sum(map(len, rows)), np.concatenate(rows))


def pooled(values: Singles, packed: Packed) -> Singles:
    """Return what tokens have of what sub-words have: that of the first or last sub-word, or the mean of all.

    Args:
        values: (W, S, F) for the sub-words of ``packed.ids``, F numbers each.
        packed: the windows.

    >>> three = Packed(*np.zeros((2, 1, 4), int), np.array([1, 2, 3]), np.array([0, 0, 1]), 2, np.array([0, 1]))
    >>> pooled(np.array([[[9], [1], [2], [5]]], np.float32), three).tolist()
    [[1.5], [5.0]]
    """
    found: Singles = values.reshape(-1, values.shape[-1])[packed.at]
    if len(packed.token) == packed.tokens:
        return found
    begins = np.flatnonzero(np.diff(packed.token, prepend=-1))  # each token has a sub-word at least
    means: Singles = np.add.reduceat(found, begins, axis=0)
    means /= np.diff(begins, append=len(found))[:, None]
    return means


def by_width(reading: Reading, around: int, longest: int, at_once: int) -> Iterator[tuple[list[int], tuple[int, int]]]:
    """Yield windows that are read at once, of any documents, and the one shape of all packs of such windows.

    A graphics card takes as long for a full pack as for one window, and gives each the same in any place of a pack of
    one shape. So a pack's shape depends on the width of its windows alone, which is a power of two.

    Args:
        reading: of a batch.
        around: special sub-words of a window.
        longest: sub-words that the encoder reads at once.
        at_once: sub-words of a pack.
    """
    windows, ptr = reading.windows, reading.subwords.ptr
    lengths = ptr[windows.end] - ptr[windows.first] + around
    widths = np.minimum(np.maximum(EVEN, 2 ** np.ceil(np.log2(np.maximum(1, lengths))).astype(np.int64)), longest)
    widths = np.maximum(widths, lengths)
    for width in np.unique(widths).tolist():
        rows, many = np.flatnonzero(widths == width).tolist(), max(1, at_once // width)
        for start in range(0, len(rows), many):
            yield rows[start : start + many], (many, width)


def by_length(reading: Reading, at_once: int = AT_ONCE) -> Iterator[list[int]]:
    """Yield windows of one document and of about one length: at most ``at_once`` sub-words, or one window.

    Libraries add up in another order for other shapes. No window is packed with those of another document, so that the
    output for a document does not depend on other documents, to the last bit.
    """
    windows, ptr = reading.windows, reading.subwords.ptr
    lengths = ptr[windows.end] - ptr[windows.first]
    order = np.lexsort((-lengths, windows.document))
    ends = np.searchsorted(windows.document[order], windows.document[order], side="right").tolist()
    start = 0
    while start < len(order):
        stop = min(ends[start], start + max(1, at_once // max(1, int(lengths[order[start]]))))
        yield order[start:stop].tolist()
        start = stop
