"""Feature index, from keys to rows of the weights, and the sparse matrix of features."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch
from spanloom.errors import DataWarning, ModelError, UsageError
from spanloom.features.conjunctions import Conjunctions
from spanloom.features.featureset import FeatureSet, Keys, SharedKeys, in_parts
from spanloom.features.packing import packed_index, table_of_rows, unpacked_index
from spanloom.features.word_vectors import VECTOR_COLUMN, Dense
from spanloom.files.scratch import MEMORY, Scratch
from spanloom.hashing import BATCH, FILLING, Int32, Int64, Slots, UInt64, enter_rows
from spanloom.modelfile import ModelPart
from spanloom.native import Kernel
from spanloom.parallel import SERIAL, Executor, even_ranges

Float32 = NDArray[np.float32]
BLOCK_TOKENS: Final = 1 << 17
"""Tokens of a block of documents whose keys are made at once, about."""
_MOST_PLACES: Final = 1 << 25
_number_keys, _signatures, _group = Kernel("number"), Kernel("signatures"), Kernel("group")
_rows_of_tokens, _lookup, _weigh = Kernel("rows_of_tokens"), Kernel("lookup"), Kernel("weigh")
_RANGE = 1 << 20  # tokens that a kernel looks at before their memory may be released


class Shared(NamedTuple):
    """Rows of a sparse matrix, (T, F), that are sums of those of another one, of which there are fewer.

    Args:
        matrix: (V, F) these.
        rows: int32; those of token t are ``rows[offsets[t]:offsets[t + 1]]``.
        offsets: (T + 1,) int64.
    """

    matrix: Sparse
    rows: Int32
    offsets: Int64


class Sparse(NamedTuple):
    """A sparse matrix, (T, F), by rows, with optional dense columns at the end.

    Args:
        indices: int32; the features of token t are ``indices[offsets[t]:offsets[t + 1]]``.
        offsets: (T + 1,) int64.
        values: float32, one for each index; ``None`` if all are 1.
        dense: the last of the F columns, or ``None``.
        shared: values to be added to each row, or ``None``.
    """

    indices: Int32
    offsets: Int64
    values: Float32 | None = None
    dense: Dense | None = None
    shared: Shared | None = None


@dataclass(frozen=True, slots=True)
class Built:
    """Result of indexing training data: the index and the matrix of features.

    Args:
        index: the index.
        matrix: the binary matrix of the training data; each row at most once a token.
        counts: (F,) int32, the number of tokens with the row, in falling order; dense columns come last.
        first: int32, the first token that has it, of each row that is not dense.
    """

    index: FeatureIndex
    matrix: Sparse
    counts: Int32
    first: Int32


class _SeenKeys(NamedTuple):
    """A map of bits in front of the table, so small that it stays in a processor's caches: most unknown keys have none.

    Args:
        bits: uint8, eight places each.
        shift: 32 minus the binary logarithm of the places; a key's is in the topmost bits of its lower half.
    """

    bits: NDArray[np.uint8]
    shift: np.uint64

    @classmethod
    def of(cls, words: UInt64, slots: int) -> _SeenKeys:
        """With the bits of a table's words: two places for each of its slots, but at most `_MOST_PLACES`."""
        places = min(2 * slots, _MOST_PLACES)
        shift = np.uint64(33 - places.bit_length())
        seen = np.zeros(places, np.bool_)
        seen[words >> np.uint64(32) >> shift] = True
        return cls(np.packbits(seen, bitorder="little"), shift)


class FeatureIndex:
    """Feature index: the row of the weights for each key.

    Features that occur at exactly the same tokens of the training data share a row. That loses nothing: under an L2
    penalty their weights are equal at the optimum, and g weights of u/g each are one weight u whose penalty is divided
    by g. Rows are in the order of falling frequency, so that those which are needed often lie together.

    At a training token all keys of a row occur or none. Elsewhere some may, and each carries its share 1/g of the
    weight: `lookup` returns the shares as values.

    A key is identified by 32 bits and by its place in the table: an unknown key is taken for a known one about
    once in a billion look-ups, and two of ten million training keys for one another with probability below 1 %; all
    that follows is that these two share a weight.

    Dense columns have no keys. Their rows are the last ones; the first ``keyed`` rows have keys.

    Where rows were taken out (`keeping`), keys that a look-up has to pass on its way to another are `PASSED`.

    Args:
        table: a power of two of 64-bit words, 0 where empty: the key's lower half, and the row, counted from 1.
        group_sizes: (F,) float32, g of each row.
        words: the nonzero words of the table, if already known.
        compact: whether it is stored with smaller numbers.

    Raises:
        ModelError: an invalid table.

    >>> keys = Keys(np.array([7, 8, 7], np.uint64) << np.uint64(60), np.array([0, 2, 3]))
    >>> built = build_index(keys)
    >>> built.matrix.indices.tolist(), built.counts.tolist()
    ([0, 1, 0], [2, 1])
    """

    def __init__(
        self, table: UInt64, group_sizes: Float32, words: UInt64 | None = None, *, compact: bool = False
    ) -> None:
        size = len(table)
        if table.dtype != np.uint64 or table.ndim != 1 or size < 2 or size & (size - 1):
            raise ModelError(f"feature table has {size} words of {table.dtype}, expected a power of two of uint64")
        if group_sizes.dtype != np.float32 or group_sizes.ndim != 1 or not (group_sizes >= 1).all():
            raise ModelError("group sizes of features are not numbers from 1; the model is damaged")
        words = table[table != 0] if words is None else words
        rows = words & np.uint64(0xFFFFFFFF)
        if len(words) == size or not (rows > 0).all() or rows.max(initial=0) > len(group_sizes):
            raise ModelError(f"feature table is full or names rows beyond {len(group_sizes)}; the model is damaged")
        self.table = table
        self.compact = compact
        self.group_sizes = group_sizes
        self.keyed = int(rows.max(initial=0))
        self._shares = np.float32(1) / group_sizes
        self._slots = Slots.of(table)
        self._seen = _SeenKeys.of(words, size)

    def __len__(self) -> int:
        """Return the number of rows, F."""
        return len(self.group_sizes)

    def rows(self, ids: UInt64) -> Int32:
        """Return the row of each key, -1 if it is unknown.

        Args:
            ids: keys, such as ``keys.ids[keys.offsets[t]:keys.offsets[t + 1]]``.
        """
        found, offsets = self._found(ids, np.arange(len(ids) + 1, dtype=np.int64))
        rows = np.full(len(ids), -1, np.int32)
        rows[np.diff(offsets) > 0] = found
        return rows

    def lookup(self, keys: Keys, *, run: Executor = SERIAL) -> Sparse:
        """Return the matrix of any data, (T, F); keys unseen in training are left out.

        Args:
            keys: from the feature set of the training data.
            run: executor of the pieces of work; the result does not depend on it.

        Returns:
            Values are shares, 1/g each. A row occurs as often in a token as it has keys there, in the keys' order.
        """
        indices, offsets = in_parts(keys.offsets, partial(self._found, keys.ids), run)
        return Sparse(indices, offsets, self._shares[indices], keys.dense)

    def lookup_shared(self, keys: SharedKeys, *, run: Executor = SERIAL) -> Sparse:
        """Return the matrix of any data, (T, F), without values, its rows partly those of values that tokens share.

        Args:
            keys: from the feature set of the training data.
            run: how pieces of the work are run; the result does not depend on it.
        """
        values, own = (in_parts(some.offsets, partial(self._found, some.ids), run) for some in (keys.values, keys.own))
        return Sparse(*own, dense=keys.own.dense, shared=Shared(Sparse(*values), keys.rows, keys.offsets))

    def weighed(self, made: Conjunctions, values: UInt64, weights: Float32, run: Executor = SERIAL) -> Float32:
        """Return the sum of the weights of the features of N things, (N,): as with their keys and matrix, but faster.

        Args:
            made: the templates of the training data.
            values: (V, N) that they read.
            weights: (F,) of each feature's every occurrence.
            run: how pieces of the work are run; the result does not depend on it.
        """
        found = np.empty(values.shape[1], np.float32)
        run.map(
            lambda piece: _weigh(made.program, values, *self._slots, *self._seen, weights, *piece, found),
            even_ranges(len(found), run.workers),
        )
        return found

    def _found(self, ids: UInt64, offsets: Int64) -> tuple[Int32, Int64]:
        """Return the rows of the known ones of some keys, and where those of each token begin."""
        rows, bounds = np.empty(int(offsets[-1] - offsets[0]), np.int32), np.empty(len(offsets), np.int64)
        count = _lookup(ids, offsets, *self._slots, *self._seen, len(self.group_sizes), rows, bounds)
        return rows[:count], bounds

    def keeping(self, rows: NDArray[np.bool_]) -> FeatureIndex:
        """Return an index of some of the rows, renumbered in their order; other keys are unknown to it.

        Args:
            rows: (F,) which rows stay.
        """
        return FeatureIndex(table_of_rows(self.table, rows), self.group_sizes[rows], compact=True)

    def to_part(self) -> ModelPart:
        """Return the index as a part of a model file: the words of the table, their slots (as bits), group sizes."""
        if self.compact:
            return packed_index(self.table, self.group_sizes)
        filled = self.table != 0
        slots = np.packbits(filled)
        return ModelPart(arrays={"words": self.table[filled], "slots": slots, "group_sizes": self.group_sizes})

    @classmethod
    def from_part(cls, part: ModelPart) -> FeatureIndex:
        """Restore an index from the result of `to_part`.

        Raises:
            ModelError: inconsistent arrays.
        """
        if "tags" in part.arrays:
            return cls(*unpacked_index(part), compact=True)
        words, sizes = part.array("words", np.uint64, None), part.array("group_sizes", np.float32, None)
        filled = np.unpackbits(part.array("slots", np.uint8, None)).view(np.bool_)
        if filled.sum() != len(words):
            raise ModelError(f"feature table has {filled.sum()} slots for {len(words)} words; the model is damaged")
        table = np.zeros(len(filled), np.uint64)
        table[filled] = words
        return cls(table, sizes, words)


def index_batch(
    features: FeatureSet, batch: Batch, *, min_count: int = 1, run: Executor = SERIAL, scratch: Scratch = MEMORY,
    block: int = BLOCK_TOKENS,
) -> Built:  # fmt: skip
    """Build the index of training data, and its matrix; keys are made by blocks of documents, and never held together.

    Args:
        features: of the tokens.
        batch: the training data.
        min_count: keys of fewer tokens are left out.
        run: how pieces of the work are run; the result does not depend on it.
        scratch: where the matrix is made.
        block: tokens of a block, about.

    Raises:
        UsageError: ``min_count`` below 1, or a document lacks a column.
    """
    keys = (features.sparse_keys(part, run=run) for part in batch.blocks(block))
    return build_index(keys, min_count=min_count, dense=features.dense(batch), scratch=scratch)


def build_index(
    keys: Keys | Iterable[Keys], *, min_count: int = 1, dense: Dense | None = None, scratch: Scratch = MEMORY
) -> Built:
    """Build the index of training data, and its matrix.

    Args:
        keys: the keys of all training tokens, together, or in blocks without dense columns.
        min_count: keys of fewer tokens are left out.
        dense: the dense columns of blocks.
        scratch: where the matrix is made.

    Raises:
        UsageError: ``min_count`` below 1.
    """
    if min_count < 1:
        raise UsageError(f"min_count is {min_count}, expected at least 1")
    if isinstance(keys, Keys):
        dense, keys = keys.dense, [keys]
    numbers, offsets, distinct = _number(keys, scratch)
    ranges = even_ranges(len(offsets) - 1, -(-len(offsets) // _RANGE))
    # 1. The group of each distinct key, and of each group its tokens and its keys.
    signature = np.zeros((len(distinct), 3), np.uint64)
    for begin, end in ranges:
        _signatures(numbers, offsets, begin, end, signature)
        scratch.release()
    groups, leaders, counts, sizes = (np.empty(len(distinct), np.int32) for _ in range(4))
    table = np.empty(len(Slots.empty(len(distinct)).table), np.int32)
    found = _group(signature, min_count, table, groups, leaders, counts, sizes)
    counts, sizes = counts[:found].copy(), sizes[:found].copy()
    del signature, table, leaders
    # 2. The rows of the keys, by falling frequency.
    order = np.argsort(-counts, kind="stable")
    new = np.empty(len(order) + 1, np.int32)
    new[order] = np.arange(len(order), dtype=np.int32)
    new[-1] = -1  # where a key without group points to
    rows = new[groups]
    if len(distinct) and not len(order):
        warnings.warn(
            f"no feature is left: none of {len(distinct):,} reaches min_count ({min_count:,}) training tokens; the "
            "model knows no word; take a smaller min_count", DataWarning, stacklevel=2,
        )  # fmt: skip
    slots = Slots.empty(int((rows >= 0).sum()))
    enter_rows(distinct, rows, *slots)
    del distinct
    # 3. The matrix, in the memory of the keys' numbers, and the first token of each row.
    out = scratch.empty("offsets", len(offsets), np.int64)
    first, last = np.empty(len(order), np.int32), np.full(len(order), -1, np.int32)
    out[0] = 0
    for begin, end in ranges:
        _rows_of_tokens(numbers, offsets, rows, last, begin, end, out, first)
        scratch.release()
    more = 0 if dense is None else dense.width
    index = FeatureIndex(slots.table, np.append(sizes[order], np.ones(more)).astype(np.float32))
    counts = np.append(counts[order], np.full(more, len(offsets) - 1, np.int32))
    return Built(index, Sparse(scratch.trimmed(numbers, int(out[-1])), out, dense=dense), counts, first)


def _number(blocks: Iterable[Keys], scratch: Scratch) -> tuple[Int32, Int64, UInt64]:
    """Return the number of each key in the order of first occurrence, where each token's begin, and distinct keys."""
    numbers, offsets = scratch.growing("matrix", np.int32), scratch.growing("key-offsets", np.int64)
    offsets.append(np.zeros(1, np.int64))
    slots, keys, found, room, size = Slots.empty(0), np.empty(0, np.uint64), 0, 0, 0
    for block in blocks:
        own, at, reached = np.empty(len(block.ids), np.int32), -1, np.zeros(2, np.int64)
        while at < len(block.ids):
            if not room or at >= 0:  # at first, and whenever it is used up
                slots = Slots.numbering(keys[:found], 2 * room or len(block.ids) // 16)
                room = int(len(slots.table) * FILLING)
                keys = np.append(keys[:found], np.empty(room + BATCH + 1 - found, np.uint64))
            _number_keys(block.ids, max(at, 0), *slots, keys, found, room, own, reached)
            at, found = reached.tolist()
        numbers.append(own)
        offsets.append(block.offsets[1:] + size)
        size += len(block.ids)
    return numbers.array(), offsets.array(), keys[:found]


def name_rows(features: FeatureSet, batch: Batch, built: Built, rows: Sequence[int]) -> list[tuple[str, ...]]:
    """Return the readable names of the features of some rows, which share them.

    Args:
        features: of the training data.
        batch: the training data.
        built: from its keys.
        rows: the rows to name.

    >>> from spanloom.document import Document
    >>> document = Document("No pain", tokens=[[0, 2], [3, 7]], sentences=[[0, 2]])
    >>> features = FeatureSet(["bias", "low[0]", "suffix4[0]"])
    >>> batch = Batch.of([document])
    >>> name_rows(features, batch, build_index(features.keys(batch)), [0, 2])
    [('bias',), ('low[0]=pain', 'suffix4[0]=pain')]
    """
    first = {row: int(built.first[row]) for row in rows if row < len(built.first)}
    tokens = np.unique(np.array(list(first.values()), np.int64))
    owners = np.searchsorted(batch.starts, tokens, side="right") - 1
    names: dict[int, dict[int, tuple[str, ...]]] = {}  # token -> row -> names
    for at in np.unique(owners).tolist():  # all tokens of a document together, as its columns are computed once
        own = tokens[owners == at]
        [view] = features.enrich(batch.part(at, at + 1)).views()
        every = features.named_keys(view, (own - batch.starts[at]).tolist())
        for token, pairs in zip(own.tolist(), every, strict=True):
            of_row = names.setdefault(token, {})
            found = built.index.rows(np.array([key for _, key in pairs], np.uint64)).tolist()
            for (name, _), row in zip(pairs, found, strict=True):
                of_row[row] = (*of_row.get(row, ()), name)
    return [
        names[first[row]].get(row, ()) if row in first else (_dense_name(features, row - len(built.first)),)
        for row in rows
    ]


def _dense_name(features: FeatureSet, column: int) -> str:
    """Return the name of a dense column: a number of a vector, or whether the vector is missing."""
    vectors = features.resources.vectors
    assert vectors is not None  # there is a dense column
    place, number = divmod(column, vectors.size + 1)
    return f"{VECTOR_COLUMN}[{features.positions[place]}].{'unknown' if number == vectors.size else number}"
