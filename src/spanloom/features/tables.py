"""Columns of templates as tables of 64-bit values, over distinct words and distinct values of the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch
from spanloom.features.clusters import Clusters
from spanloom.features.columns import cut, is_cluster_column, word_column
from spanloom.features.letter_case import UsualCase, feature_tokens
from spanloom.features.template import Column
from spanloom.features.tokens import Tokens, characters
from spanloom.hashing import Int32, UInt64, hash_text, hashes, intern, numbered
from spanloom.native import Kernel

WORD_SOURCE: Final = ""
_word_columns = Kernel("word_columns")
_YES, _NO = hash_text("True"), hash_text("False")


class Columns(NamedTuple):
    """Values of C columns at T tokens: ``values[base[c] + ids[source[c], t] * stride[c]]``; 0 if absent.

    Args:
        ids: (sources, T) the number of a token's value: source 0 is the word, each other one a column of the data.
        values: the tables of all sources, each (distinct values, columns of this source), flat, one after the other.
        source, base, stride: (C,) int64.
        sizes: (sources,) int64: distinct values.
    """

    ids: NDArray[np.int32]
    values: NDArray[np.uint64]
    source: NDArray[np.int64]
    base: NDArray[np.int64]
    stride: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def of(self, columns: NDArray[np.int64]) -> Columns:
        """Return some of the columns."""
        return self._replace(source=self.source[columns], base=self.base[columns], stride=self.stride[columns])


def source_of(column: Column) -> str:
    """Return what decides a column's value: the word, or a column of the data with this name."""
    by_word = word_column(column) is not None or is_cluster_column(column.name)
    return WORD_SOURCE if by_word else column.name


def sources_of(columns: Iterable[Column]) -> list[str]:
    """Return the sources of some columns in the order of their numbers; the word is the first one always.

    >>> sources_of([Column("pos", 2), Column("low"), Column("pos")])
    ['', 'pos']
    """
    return list(dict.fromkeys([WORD_SOURCE, *map(source_of, columns)]))


def tabulate(batch: Batch, columns: Sequence[Column], clusters: Clusters, usual: UsualCase | None = None) -> Columns:
    """Return the values of some columns at the tokens of a batch.

    Args:
        batch: documents with the needed columns of the data.
        columns: the columns to tabulate, in the order of the result.
        clusters: for the columns of clusters.
        usual: letter case of words, for sentences in capitals, in lower case, or in title case.

    Raises:
        DataError: a column of the data has more or fewer values than the document has tokens.
    """
    _, *given = sources_of(columns)
    groups = [[c for c in columns if source_of(c) == name] for name in (WORD_SOURCE, *given)]
    tokens = feature_tokens(batch, usual)
    ids = np.empty((len(groups), len(tokens.starts)), np.int32)
    tables = [_word_table(tokens, groups[0], clusters, ids[0])]
    for name, wanted, row in zip(given, groups[1:], ids[1:], strict=True):
        values, row[:] = numbered(list(batch.column(name)))
        tables.append(np.stack([hashes([cut(value, column.size) for value in values]) for column in wanted], 1))
    starts = np.cumsum([0, *(table.size for table in tables)])
    where = {c: (s, starts[s] + k, len(group)) for s, group in enumerate(groups) for k, c in enumerate(group)}
    source, base, stride = np.array([where[c] for c in columns], np.int64).reshape(-1, 3).T.copy()
    sizes = np.array([len(table) for table in tables], np.int64)
    return Columns(ids, np.concatenate([table.ravel() for table in tables]), source, base, stride, sizes)


def _word_table(tokens: Tokens, wanted: list[Column], clusters: Clusters, ids: Int32) -> UInt64:
    """Return (distinct words, columns) values; write the word number of each token to ``ids``."""
    ids[:], hashes, first = intern(tokens.codes, tokens.starts, tokens.ends)
    starts, ends = tokens.starts[first], tokens.ends[first]
    table = np.zeros((len(first), len(wanted)), np.uint64)
    rules = [(k, rule) for k, c in enumerate(wanted) if (rule := word_column(c)) is not None]
    if rules:
        specifications = np.array([rule[:2] for _, rule in rules], np.int64)
        values = np.empty((len(first), len(rules)), np.uint64)
        _word_columns(tokens.codes, starts, ends, specifications, characters(tokens.codes), _YES, _NO, values)
        table[:, [k for k, _ in rules]] = values
    others = [k for k in range(len(wanted)) if word_column(wanted[k]) is None]
    if others:

        def word(number: int) -> str:
            return tokens.text[starts[number] : ends[number]]

        table[:, others] = clusters.forms.of(word, hashes, [wanted[k] for k in others])
    return table
