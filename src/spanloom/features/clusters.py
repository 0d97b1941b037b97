"""Brown clusters: a bit string for each word, induced from text or read from a file.

Words with the same neighbours get bit strings with a long common prefix; prefixes of several lengths are features
(Brown et al. 1992, "Class-based n-gram models of natural language"; Liang 2005, "Semi-supervised learning for natural
language").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Document
from spanloom.errors import DataError, UsageError, clip
from spanloom.features.columns import BAND_COLUMN, cluster_value
from spanloom.features.counting import count_words, frequent_words
from spanloom.features.letters import WAYS, Letters, learn_letters, spelled
from spanloom.features.template import Column
from spanloom.files.output import output_file
from spanloom.hashing import Slots, UInt64, find_numbers, hash_text, hash_values, hashes
from spanloom.native import Kernel
from spanloom.sparse import row_offsets

_TABLE = 1 << 20  # logarithms of smaller counts are looked up; larger counts are rare
_STRIDE = 64  # words a kernel call: an interrupt is seen between two calls
_NEVER = np.iinfo(np.int64).max
_scaled_logs, _enter, _join = Kernel("scaled_logs"), Kernel("enter_words"), Kernel("join_clusters")


class Bigrams(NamedTuple):
    """Neighbours of each word, V words, as two compressed sparse row matrices: right and left neighbours."""

    right_start: NDArray[np.int64]  # (V + 1,)
    right_word: NDArray[np.int64]
    right_count: NDArray[np.int64]
    left_start: NDArray[np.int64]  # (V + 1,)
    left_word: NDArray[np.int64]
    left_count: NDArray[np.int64]


class Window(NamedTuple):
    """The active clusters, one a slot (C + 1 slots); a cluster's name is its first, most frequent, word."""

    right: NDArray[np.int32]  # (C + 1, C + 1) right[a, x]: how often x follows a
    left: NDArray[np.int32]  # (C + 1, C + 1) its transpose, so that columns are contiguous too
    loss: NDArray[np.int64]  # (C + 1, C + 1) what merging loses, below the diagonal; NEVER where a slot is free
    counts: NDArray[np.int64]  # (C + 1,) occurrences
    margin: NDArray[np.int64]  # (C + 1,) s[a]
    name: NDArray[np.int64]  # (C + 1,) the first word; -1 for a free slot
    parent: NDArray[np.int64]  # (V,) union-find over words; a root names its cluster
    slot: NDArray[np.int64]  # (V,) a root's slot; -1 for a word that has not entered
    logs: NDArray[np.int64]  # logs[n] = log(n) * scale, rounded, for the small n
    scale: float


class Clusters(dict[str, str]):
    """Word clusters: word -> bit string, by falling frequency, with the count of each word.

    They are not to be changed once features have been computed with them.

    Args:
        paths: the bit strings.
        counts: word -> occurrences, for the same words; may be empty.
        letters: of words that are not there; see `spanloom.features.letters`.

    >>> clusters = Clusters({"fever": "01"}, {"fever": 9}, {"lower": {}})
    >>> clusters.bits("Fever"), clusters.band("fever"), clusters.band("Fever")
    ('01', '3', 'none')
    """

    def __init__(
        self, paths: Mapping[str, str], counts: Mapping[str, int] | None = None, letters: Letters | None = None
    ) -> None:
        super().__init__(paths)
        self.counts = dict(counts or {})
        self.letters: Letters = dict(letters or {})

    def __reduce__(self) -> tuple[type[Clusters], tuple[dict[str, str], dict[str, int], Letters]]:
        """Copy without the forms, which are made again."""
        return Clusters, (dict(self), self.counts, self.letters)

    @classmethod
    def of(cls, paths: Mapping[str, str] | None) -> Clusters:
        """Return clusters as they are, or of a mapping of words to bits."""
        return paths if isinstance(paths, Clusters) else cls(paths or {})

    def bits(self, word: str) -> str:
        """Return the bits of a word: its own, or those of its letters; the empty string where nothing is known."""
        return spelled(self, self.letters, word)

    def band(self, word: str) -> str:
        """Return how frequent a word is in the raw text: the whole part of the binary logarithm, or ``none``."""
        count = self.counts.get(word, 0)
        return str(count.bit_length() - 1) if count else "none"

    @cached_property
    def forms(self) -> ClusterForms:
        """The values of columns for all words, as hashes."""
        return ClusterForms(self)

    def share(self, words: Iterable[str]) -> float:
        """Return the share of the distinct words that have bits of their own, 0 to 1; 1 where there is no word."""
        distinct = set(words)
        return sum(word in self for word in distinct) / len(distinct) if distinct else 1.0


class ClusterForms:
    """The values of columns of clusters as hashes: of all words with bits of their own, made once.

    Args:
        clusters: of these.

    >>> from spanloom.hashing import hash_text
    >>> forms = ClusterForms(Clusters({"fever": "01", "pain": "01"}))
    >>> words = ["pain", "knee"]
    >>> found = forms.of(words.__getitem__, hash_values(words), [Column("cluster", 1)])
    >>> found.tolist() == [[hash_text("0")], [0]]
    True
    """

    def __init__(self, clusters: Clusters) -> None:
        self._clusters = clusters
        pairs: dict[tuple[str, str], int] = {}
        numbers = [pairs.setdefault((clusters[word], clusters.band(word)), len(pairs)) for word in clusters]
        self._numbers, self._pairs = np.array(numbers, np.int32), list(pairs)
        self._keys = hash_values(list(clusters))
        self._keys[self._keys == 0] = hash_text("")
        self._slots = Slots.numbering(self._keys)
        self._tables: dict[tuple[Column, ...], UInt64] = {}  # of each set of templates that reads them

    def of(self, word: Callable[[int], str], hashes: UInt64, columns: Sequence[Column]) -> UInt64:
        """Return the hash of each column's value at V distinct words, (V, columns); 0 without a value.

        Args:
            word: returns the word of a number.
            hashes: (V,) of the words.
            columns: of clusters.
        """
        chosen = tuple(columns)
        if chosen not in self._tables:
            self._tables[chosen] = _hashes_of(self._pairs, chosen)
        numbers = np.empty(len(hashes), np.int64)
        find_numbers(hashes, *self._slots, self._keys, numbers)
        unknown = np.flatnonzero(numbers < 0)
        found = np.zeros((len(hashes), len(chosen)), np.uint64)
        known = np.flatnonzero(numbers >= 0)
        found[known] = self._tables[chosen][self._numbers[numbers[known]]]
        if self._clusters.letters or any(column.name == BAND_COLUMN for column in chosen):
            words = map(word, unknown.tolist())
            found[unknown] = _hashes_of([(self._clusters.bits(one), self._clusters.band(one)) for one in words], chosen)
        return found


def _hashes_of(pairs: Sequence[tuple[str, str]], columns: Sequence[Column]) -> UInt64:
    """Return the hash of each column's value for bits and bands, (values, columns); 0 without a value."""
    values = (
        [cluster_value(column, band if column.name == BAND_COLUMN else bits) for bits, band in pairs]
        for column in columns
    )
    return np.stack(list(map(hashes, values)), 1)


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
    check_sizes(clusters, min_count)
    counter: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for sentence in sentences:
        counter.update(sentence)
        pairs.update(pairwise(sentence))
    kept = [(word, count) for word, count in counter.most_common() if count >= min_count]
    index = {word: i for i, (word, _) in enumerate(kept)}
    known = [(index[a], index[b], n) for (a, b), n in pairs.items() if a in index and b in index]
    left, right, times = np.array(known, np.int64).reshape(-1, 3).T
    counts = np.array([count for _, count in kept], np.int64)
    return _cluster(list(index), counts, _bigrams(left, right, times, len(kept)), clusters)


def induce_from(
    documents: Iterable[Document], clusters: int, min_count: int = 1, *,
    progress: Callable[[int, int], object] = lambda done, words: None,
) -> Clusters:  # fmt: skip
    """Induce Brown clusters of a stream of documents, and classes of letters for the words that they lack.

    The clusters are those of `induce`. No text is kept: memory grows with the distinct words and pairs of words.

    Args:
        documents: read once; tokens and sentences are made where they are missing.
        clusters: the number of clusters, at least 2.
        min_count: rarer words get their bits by their letters, as unknown words do.
        progress: called with how many words have entered, and how many will.

    Raises:
        UsageError: ``clusters`` or ``min_count`` is too small.
        DataError: fewer than two words occur so often.

    >>> text = "the old dog sleeps. the old cat sleeps. a young dog eats. a young cat eats."
    >>> clusters = induce_from([Document(text)], clusters=6)
    >>> clusters.bits("Dog") == clusters["cat"]
    True
    """
    check_sizes(clusters, min_count)
    found = frequent_words(count_words(documents), min_count)
    pairs = found.neighbours
    bigrams = _bigrams(pairs.left, pairs.right, pairs.times, len(found.words))
    made = _cluster(found.words, found.counts, bigrams, clusters, progress)
    return Clusters(made, made.counts, learn_letters(made, made.counts))


def check_sizes(clusters: int, min_count: int) -> None:
    """Check the number of clusters, and the least count of their words.

    Raises:
        UsageError: one is too small.
    """
    if clusters < 2 or min_count < 1:
        raise UsageError(f"found {clusters} clusters and min_count {min_count}, expected at least 2 and at least 1")


def _cluster(
    words: list[str], counts: NDArray[np.int64], bigrams: Bigrams, clusters: int,
    progress: Callable[[int, int], object] = lambda done, words: None,
) -> Clusters:  # fmt: skip
    """Cluster V words, given by falling frequency."""
    window = _window(clusters, counts)
    for first in range(0, len(words), _STRIDE):
        _enter(window, bigrams, counts, first, min(first + _STRIDE, len(words)))
        progress(min(first + _STRIDE, len(words)), len(words))
    codes, root = _codes(window), window.parent
    while (root[root] != root).any():
        root = root[root]
    paths = {word: codes[own] for word, own in zip(words, root.tolist(), strict=True)}
    return Clusters(paths, dict(zip(words, counts.tolist(), strict=True)))


def _bigrams(left: NDArray[np.int64], right: NDArray[np.int64], times: NDArray[np.int64], size: int) -> Bigrams:
    return Bigrams(*_rows(left, right, times, size), *_rows(right, left, times, size))


def _rows(
    row: NDArray[np.int64], column: NDArray[np.int64], value: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return entries of a matrix as compressed sparse rows."""
    order = np.lexsort((column, row))
    return row_offsets(row, size), column[order], value[order]


def _window(clusters: int, counts: NDArray[np.int64]) -> Window:
    """Return an empty window; the precision of logarithms is the largest at which no sum exceeds 63 bits."""
    size, words, total = min(clusters, len(counts)) + 1, len(counts), max(int(counts.sum()), 2)
    if total >= 1 << 31:
        raise UsageError(f"found {total} words, expected fewer than {1 << 31}; cluster a part of the text")
    logs = np.empty(min(_TABLE, total + 1), np.int64)
    scale = 2.0 ** int(62 - np.ceil(np.log2(16 * total * np.log(total) + 1)))
    _scaled_logs(logs, scale)
    return Window(
        right=np.zeros((size, size), np.int32),
        left=np.zeros((size, size), np.int32),
        loss=np.full((size, size), _NEVER, np.int64),
        counts=np.zeros(size, np.int64),
        margin=np.zeros(size, np.int64),
        name=np.full(size, -1, np.int64),
        parent=np.arange(words, dtype=np.int64),
        slot=np.full(words, -1, np.int64),
        logs=logs,
        scale=scale,
    )


def _codes(window: Window) -> dict[int, str]:
    """Merge the remaining clusters into a tree; return the bit string of each, by its first word.

    The merges are written into a copy of ``parent``, so that a word's root still names its cluster.
    """
    names = window.name[window.name >= 0]
    if len(names) < 2:
        return {int(name): "0" for name in names}
    merges = np.zeros((len(names) - 1, 2), np.int64)
    _join(window._replace(parent=window.parent.copy()), merges)
    codes = {int(names.min()): ""}
    for first, second in merges[::-1].tolist():
        codes[second] = codes[first] + "1"
        codes[first] += "0"
    return codes


def read_paths(path: str | Path) -> Clusters:
    """Read clusters in the format of Liang's program: bit string, word and count, between tabs, one word a line.

    A line whose last column is a way of `spanloom.features.letters` in place of a count holds the bits of a spelling.

    Returns:
        word -> bit string, in the file's order, with counts and letters.

    Raises:
        DataError: a line does not have three columns, a bit string is not of 0 and 1, a count is no number, a word
            occurs twice, or the file is not UTF-8.
    """
    paths: dict[str, str] = {}
    counts: dict[str, int] = {}
    letters: dict[str, dict[str, str]] = {way: {} for way in WAYS}
    try:
        with Path(path).open(encoding="utf-8-sig", newline="\n") as file:
            for number, line in enumerate(file, 1):
                columns = line.rstrip("\r\n").split("\t")
                if len(columns) != 3:
                    message = f"found {len(columns)} columns, expected bit string, word and count between tabs"
                    raise DataError(message, path=path, line=number)
                bits, word, last = columns
                if bits.strip("01") or not bits:
                    message = f"found the bit string {clip(bits)}, expected the digits 0 and 1"
                    raise DataError(message, path=path, line=number)
                if last not in letters and not (last.isascii() and last.isdigit() and len(last) < 19):
                    message = f"found the count {clip(last)}, expected a whole number, or one of {', '.join(WAYS)}"
                    raise DataError(message, path=path, line=number)
                table = letters.get(last, paths)
                if word in table:
                    raise DataError(f"found {clip(word)} twice, expected each word once", path=path, line=number)
                table[word] = bits
                if table is paths:
                    counts[word] = int(last)
    except UnicodeDecodeError as error:
        raise DataError(f"found bytes that are not UTF-8 ({error.reason}); convert the file", path=path) from error
    return Clusters(paths, counts, {way: table for way, table in letters.items() if table})


def write_paths(
    path: str | Path, paths: Mapping[str, str], counts: Mapping[str, int] | None = None, *, force: bool = True
) -> None:
    """Write clusters in the format of `read_paths`, by bit string, then by falling count, then by word; then letters.

    Args:
        path: the file.
        paths: word -> bit string.
        counts: word -> occurrences, at least for these words, such as a `collections.Counter`; those of `induce` if
            not given.
        force: replace an existing file; it stays intact if writing fails.

    Raises:
        UsageError: the file exists and ``force`` is false, or a word holds a tab or a line end, or has no count.
    """
    clusters = Clusters.of(paths)
    counts = clusters.counts if counts is None else counts
    for word in paths:
        if any(character in word for character in "\t\n\r") or word not in counts:
            raise UsageError(f"found the word {clip(word)}, expected a word with a count and without tab or line end")
    lines = sorted((bits, -counts[word], word) for word, bits in paths.items())
    with output_file(path, force=force) as file:
        for bits, count, word in lines:
            file.write(f"{bits}\t{word}\t{-count}\n")
        for way, table in clusters.letters.items():
            for spelling, bits in sorted(table.items()):
                file.write(f"{bits}\t{spelling}\t{way}\n")
