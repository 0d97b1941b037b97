"""Brown clusters: a bit string for each word, induced from text or read from a file.

Words that stand between the same neighbours get bit strings with a long common prefix; prefixes of several lengths are
features (Brown et al. 1992, "Class-based n-gram models of natural language"; Liang 2005, "Semi-supervised learning for
natural language").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import DataError, UsageError, clip
from spanloom.features.kernels_clusters import NEVER, Bigrams, Window, enter, join, scaled_logs
from spanloom.files.output import output_file

_TABLE = 1 << 20  # logarithms of smaller counts are looked up; larger counts are rare
_STRIDE = 64  # words a kernel call: an interrupt is seen between two calls


class Clusters(dict[str, str]):
    """Brown clusters: word -> bit string, by falling frequency, with the count of each word.

    Args:
        paths: the bit strings.
        counts: word -> occurrences, for the same words.
    """

    def __init__(self, paths: Mapping[str, str], counts: Mapping[str, int]) -> None:
        super().__init__(paths)
        self.counts = dict(counts)


def induce(sentences: Iterable[Sequence[str]], clusters: int, min_count: int = 1) -> Clusters:
    """Induce Brown clusters of the words of raw text.

    The words enter by falling frequency (ties: the one seen first), each as a cluster of its own; whenever there is one
    more than ``clusters``, the two whose merging loses least average mutual information are merged (ties: the clusters
    with the more frequent first words). The remaining clusters are then merged in the same way into a binary tree, and
    a cluster's bit string is its path from the root: 0 towards the part with the more frequent first word. As in
    Liang's program, mutual information is measured among the words that have entered.

    Args:
        sentences: the words of each sentence; neighbours are counted within sentences.
        clusters: the number of clusters, at least 2.
        min_count: rarer words are left out; they separate their neighbours.

    Returns:
        word -> bit string, by falling frequency, with the words' ``counts``, which `write_paths` needs. Fewer distinct
        words than ``clusters`` make one cluster each.

    Raises:
        UsageError: ``clusters`` or ``min_count`` is too small.

    >>> text = ["the old dog sleeps", "the old cat sleeps", "a young dog eats", "a young cat eats"]
    >>> paths = induce([line.split() for line in text], clusters=6)
    >>> paths["dog"] == paths["cat"], paths["dog"] == paths["the"]
    (True, False)
    """
    if clusters < 2 or min_count < 1:
        raise UsageError(f"found {clusters} clusters and min_count {min_count}, expected at least 2 and at least 1")
    words, counts, bigrams = _count(sentences, min_count)
    window = _window(clusters, counts)
    for first in range(0, len(words), _STRIDE):
        enter(window, bigrams, counts, first, min(first + _STRIDE, len(words)))
    codes = _codes(window)
    paths = {word: codes[_root(window.parent, i)] for i, word in enumerate(words)}
    return Clusters(paths, dict(zip(words, counts.tolist(), strict=True)))


def _count(sentences: Iterable[Sequence[str]], min_count: int) -> tuple[list[str], NDArray[np.int64], Bigrams]:
    """Count words: return the V words by frequency, their counts (V,) and their neighbours."""
    counter: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for sentence in sentences:
        counter.update(sentence)
        pairs.update(pairwise(sentence))
    kept = [(word, count) for word, count in counter.most_common() if count >= min_count]
    index = {word: i for i, (word, _) in enumerate(kept)}
    known = [(index[a], index[b], n) for (a, b), n in pairs.items() if a in index and b in index]
    table = np.array(known, np.int64).reshape(-1, 3)
    right = _rows(table[:, 0], table[:, 1], table[:, 2], len(kept))
    left = _rows(table[:, 1], table[:, 0], table[:, 2], len(kept))
    return list(index), np.array([count for _, count in kept], np.int64), Bigrams(*right, *left)


def _rows(
    row: NDArray[np.int64], column: NDArray[np.int64], value: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return entries of a matrix as compressed sparse rows."""
    order = np.lexsort((column, row))
    start = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=size), out=start[1:])
    return start, np.ascontiguousarray(column[order]), np.ascontiguousarray(value[order])


def _window(clusters: int, counts: NDArray[np.int64]) -> Window:
    """Return an empty window; the precision of logarithms is the largest at which no sum exceeds 63 bits."""
    size, words, total = min(clusters, len(counts)) + 1, len(counts), max(int(counts.sum()), 2)
    if total >= 1 << 31:
        raise UsageError(f"found {total} words, expected fewer than {1 << 31}; cluster a part of the text")
    scale = 2.0 ** int(62 - np.ceil(np.log2(16 * total * np.log(total) + 1)))
    return Window(
        right=np.zeros((size, size), np.int32),
        left=np.zeros((size, size), np.int32),
        loss=np.full((size, size), NEVER, np.int64),
        counts=np.zeros(size, np.int64),
        margin=np.zeros(size, np.int64),
        name=np.full(size, -1, np.int64),
        parent=np.arange(words, dtype=np.int64),
        slot=np.full(words, -1, np.int64),
        logs=scaled_logs(min(_TABLE, total + 1), scale),
        scale=scale,
    )


def _root(parent: NDArray[np.int64], word: int) -> int:
    while parent[word] != word:
        word = int(parent[word])
    return word


def _codes(window: Window) -> dict[int, str]:
    """Merge the remaining clusters into a tree; return the bit string of each, by its first word.

    The merges are written into a copy of ``parent``, so that a word's root still names its cluster.
    """
    names = window.name[window.name >= 0]
    if len(names) < 2:
        return {int(name): "0" for name in names}
    merges = np.zeros((len(names) - 1, 2), np.int64)
    join(window._replace(parent=window.parent.copy()), merges)
    codes = {int(names.min()): ""}
    for first, second in merges[::-1].tolist():
        codes[second] = codes[first] + "1"
        codes[first] += "0"
    return codes


def read_paths(path: str | Path) -> dict[str, str]:
    """Read clusters in the format of Liang's program: bit string, word and count, between tabs, one word a line.

    Returns:
        word -> bit string, in the file's order.

    Raises:
        DataError: a line does not have three columns, a bit string is not of 0 and 1, a count is no number, a word
            stands twice, or the file is not UTF-8.
    """
    paths: dict[str, str] = {}
    try:
        with Path(path).open(encoding="utf-8-sig", newline="\n") as file:
            for number, line in enumerate(file, 1):
                word, bits = _parse(line.rstrip("\r\n"), path, number)
                if word in paths:
                    raise DataError(f"found {clip(word)} twice, expected each word once", path=path, line=number)
                paths[word] = bits
    except UnicodeDecodeError as error:
        raise DataError(f"found bytes that are not UTF-8 ({error.reason}); convert the file", path=path) from error
    return paths


def _parse(line: str, path: str | Path, number: int) -> tuple[str, str]:
    columns = line.split("\t")
    if len(columns) != 3:
        message = f"found {len(columns)} columns, expected bit string, word and count between tabs"
        raise DataError(message, path=path, line=number)
    bits, word, count = columns
    if bits.strip("01") or not bits:
        raise DataError(f"found the bit string {clip(bits)}, expected the digits 0 and 1", path=path, line=number)
    if not (count.isascii() and count.isdigit()):
        raise DataError(f"found the count {count!r}, expected a whole number", path=path, line=number)
    return word, bits


def write_paths(
    path: str | Path, paths: Mapping[str, str], counts: Mapping[str, int] | None = None, *, force: bool = True
) -> None:
    """Write clusters in the format of `read_paths`, by bit string, then by falling count, then by word.

    Args:
        path: the file.
        paths: word -> bit string.
        counts: word -> occurrences, at least for these words, such as a `collections.Counter`; those of `induce` if
            not given.
        force: replace an existing file; it stays intact if writing fails.

    Raises:
        UsageError: the file exists and ``force`` is false, or a word holds a tab or a line end, or has no count.
    """
    if counts is None:
        counts = paths.counts if isinstance(paths, Clusters) else {}
    for word in paths:
        if any(character in word for character in "\t\n\r") or word not in counts:
            raise UsageError(f"found the word {clip(word)}, expected a word with a count and without tab or line end")
    lines = sorted((bits, -counts[word], word) for word, bits in paths.items())
    with output_file(path, force=force) as file:
        for bits, count, word in lines:
            file.write(f"{bits}\t{word}\t{-count}\n")
