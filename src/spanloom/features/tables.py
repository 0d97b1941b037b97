"""Columns of templates as tables of 64-bit values, over distinct words and distinct values of the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch
from spanloom.features.clusters import Clusters
from spanloom.features.columns import cut, is_cluster_column, word_column
from spanloom.features.letter_case import UsualCase, feature_tokens
from spanloom.features.template import Column
from spanloom.features.tokens import DistinctWords, once
from spanloom.hashing import Int64, hash_text, hashes, numbered
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


class _Layout(NamedTuple):
    """What the values of some columns are computed of.

    Args:
        rules: (R, 2) codes and parameters of the columns that depend on the form of the word; they are its first ones.
        clusters: the others of the word.
        sizes: of each column of the data, the sizes that its values are cut to.
        source, number, stride: (C,) of each column its source, its number among those of the source, and how many these
            are.
    """

    rules: Int64
    clusters: tuple[Column, ...]
    sizes: dict[str, list[int]]
    source: Int64
    number: Int64
    stride: Int64


@lru_cache(maxsize=64)
def _layout(columns: tuple[Column, ...]) -> _Layout:
    forms = {column: rule[:2] for column in columns if (rule := word_column(column)) is not None}
    clusters = tuple(column for column in columns if is_cluster_column(column.name))
    given = {name: [column for column in columns if source_of(column) == name] for name in sources_of(columns)[1:]}
    groups = [[*forms, *clusters], *given.values()]
    where = {c: (s, k, len(group)) for s, group in enumerate(groups) for k, c in enumerate(group)}
    return _Layout(
        np.array(list(forms.values()), np.int64).reshape(-1, 2), clusters,
        {name: [column.size for column in group] for name, group in given.items()},
        *np.array([where[column] for column in columns], np.int64).reshape(-1, 3).T.copy(),
    )  # fmt: skip


def tabulate(
    batch: Batch, columns: Sequence[Column], clusters: Clusters | None = None, usual: UsualCase | None = None
) -> Columns:
    """Return the values of some columns at the tokens of a batch.

    Args:
        batch: documents with the needed columns of the data.
        columns: the columns to tabulate, in the order of the result.
        clusters: for the columns of clusters.
        usual: letter case of words, for sentences in capitals, in lower case, or in title case.

    Raises:
        DataError: a column of the data has more or fewer values than the document has tokens.
    """
    layout, tokens = _layout(tuple(columns)), feature_tokens(batch, usual)
    words = once(batch, "words", lambda: DistinctWords.of(tokens)) if tokens.plain else DistinctWords.of(tokens)
    ids = np.empty((1 + len(layout.sizes), len(tokens.starts)), np.int32)
    ids[0] = words.ids

    def word(number: int) -> str:
        return tokens.text[words.starts[number] : words.ends[number]]

    forms = np.empty((len(words.hashes), len(layout.rules)), np.uint64)
    _word_columns(tokens.codes, words.starts, words.ends, layout.rules, words.characters, _YES, _NO, forms)
    tables = [forms]
    if layout.clusters:
        own = Clusters.of(clusters).forms.of(word, words.hashes, layout.clusters)
        tables = [np.concatenate([forms, own], 1)]
    for row, (name, sizes) in enumerate(layout.sizes.items(), 1):
        cell_values, ids[row] = numbered(batch.column(name))
        tables.append(np.stack([hashes([cut(value, size) for value in cell_values]) for size in sizes], 1))
    begins = np.cumsum([0, *(table.size for table in tables)])
    distinct = np.array([len(table) for table in tables], np.int64)
    values = np.concatenate([table.ravel() for table in tables])
    return Columns(ids, values, layout.source, begins[layout.source] + layout.number, layout.stride, distinct)
