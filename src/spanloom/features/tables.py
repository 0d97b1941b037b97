"""Columns of templates as tables of 64-bit values, over distinct words and distinct values of the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from spanloom.document import Batch
from spanloom.features import kernels_columns as kernels
from spanloom.features.clusters import Clusters
from spanloom.features.columns import BAND_COLUMN, cluster_value, cut, is_cluster_column, word_column
from spanloom.features.kernels_keys import Columns
from spanloom.features.template import Column
from spanloom.features.tokens import Tokens, characters, flatten
from spanloom.hashing import Int32, UInt64, hash_values, intern


class _Numbering(dict[str, int]):
    """Numbering of strings in the order of their first use."""

    def __missing__(self, key: str) -> int:
        number = self[key] = len(self)
        return number


def tabulate(batch: Batch, columns: Sequence[Column], clusters: Clusters) -> Columns:
    """Return the values of some columns at the tokens of a batch.

    Args:
        batch: documents with the needed columns of the data.
        columns: the columns to tabulate, in the order of the result.
        clusters: for the columns of clusters.

    Raises:
        DataError: a column of the data has more or fewer values than the document has tokens.
    """
    given = list(dict.fromkeys(c.name for c in columns if word_column(c) is None and not is_cluster_column(c.name)))
    groups: list[list[Column]] = [[c for c in columns if c.name not in given]]
    groups += [[c for c in columns if c.name == name] for name in given]
    tokens = flatten(batch)
    ids = np.empty((len(groups), len(tokens.starts)), np.int32)
    tables = [_word_table(tokens, groups[0], clusters, ids[0])]
    for name, wanted, row in zip(given, groups[1:], ids[1:], strict=True):
        tables.append(_given_table(batch, name, wanted, row))
    starts = np.cumsum([0, *(table.size for table in tables)])
    where = {c: (s, starts[s] + k, len(group)) for s, group in enumerate(groups) for k, c in enumerate(group)}
    places = np.array([where[c] for c in columns], np.int64).reshape(-1, 3).T.copy()
    return Columns(ids, np.concatenate([table.ravel() for table in tables]), *places)


def _word_table(tokens: Tokens, wanted: list[Column], clusters: Clusters, ids: Int32) -> UInt64:
    """Return (distinct words, columns) values; write the word number of each token to ``ids``."""
    ids[:], _, first = intern(tokens.codes, tokens.starts, tokens.ends)
    starts, ends = tokens.starts[first], tokens.ends[first]
    table = np.zeros((len(first), len(wanted)), np.uint64)
    rules = [(k, rule) for k, c in enumerate(wanted) if (rule := word_column(c)) is not None]
    if rules:
        specifications = np.array([rule[:2] for _, rule in rules], np.int64)
        values = np.empty((len(first), len(rules)), np.uint64)
        kernels.word_columns(tokens.codes, starts, ends, specifications, characters(tokens.codes), values)
        table[:, [k for k, _ in rules]] = values
    if len(rules) < len(wanted):
        bounds = zip(starts.tolist(), ends.tolist(), strict=True)
        words = [tokens.text[start:end] for start, end in bounds]
        for value, banded in ((clusters.bits, False), (clusters.band, True)):
            others = [k for k, c in enumerate(wanted) if word_column(c) is None and (c.name == BAND_COLUMN) == banded]
            if others:
                table[:, others] = _value_table(list(map(value, words)), [wanted[k] for k in others], cluster_value)
    return table


def _given_table(batch: Batch, name: str, wanted: list[Column], ids: Int32) -> UInt64:
    """Return (distinct values, columns) values of a column of the data; write each token's value number to ``ids``."""
    numbering = _Numbering()
    ids[:] = np.fromiter(map(numbering.__getitem__, batch.column(name)), np.int32, count=len(ids))
    return _value_table(list(numbering), wanted, lambda column, value: cut(value, column.size))


def _value_table(values: list[str], wanted: list[Column], of: Callable[[Column, str], str]) -> UInt64:
    """Return (values, columns) the hash of each column's form of each value."""
    table = np.empty((len(values), len(wanted)), np.uint64)
    for k, column in enumerate(wanted):
        numbering = _Numbering()
        numbers = [numbering[of(column, value)] for value in values]
        table[:, k] = hash_values(list(numbering))[numbers]
    return table
