"""Feature sets: templates, evaluated for all tokens of a batch of documents at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import pairwise
from typing import Final, NamedTuple, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Batch, Document
from spanloom.errors import UsageError, clip, meant
from spanloom.features.clusters import Clusters
from spanloom.features.columns import (
    BAND_COLUMN,
    CLUSTER_COLUMN,
    ORTHOGRAPHY,
    SET_COLUMN,
    WORD_COLUMNS,
    is_cluster_column,
    is_word_column,
    word_column,
)
from spanloom.features.computed import CATEGORY_COLUMN, COMPUTED, Resources
from spanloom.features.letter_case import feature_tokens
from spanloom.features.presets import PRESETS
from spanloom.features.program import FeatureProgram, compile_features, most_keys
from spanloom.features.reference import named_features
from spanloom.features.shared import divide
from spanloom.features.tables import Columns, tabulate
from spanloom.features.template import Bag, Column, Conjunction, Feature, FeatureTemplate, parse_all
from spanloom.features.word_vectors import VECTOR_COLUMN, Dense
from spanloom.hashing import Int32, Int64, UInt64, mixed
from spanloom.native import Kernel
from spanloom.parallel import SERIAL, Executor

G = TypeVar("G", bound=np.generic)
_FEWEST_BITS: Final = 8
_MOST_BITS: Final = 32  # of a key that the index compares
_evaluate_all, _value_keys, _refer = Kernel("evaluate"), Kernel("value_keys"), Kernel("refer")


class Keys(NamedTuple):
    """The features of T tokens, as 64-bit keys.

    Args:
        ids: the keys of token t are ``ids[offsets[t]:offsets[t + 1]]``, in the order of the templates, each once.
        offsets: (T + 1,) int64.
        dense: columns of real numbers, which have no keys, or ``None``.
    """

    ids: UInt64
    offsets: Int64
    dense: Dense | None = None


class SharedKeys(NamedTuple):
    """The features of T tokens as 64-bit keys, those of values that several tokens have only once.

    Args:
        own: the keys that each token has beside those.
        values: the keys of each row of a value.
        rows: int32; the values of token t are ``rows[offsets[t]:offsets[t + 1]]``.
        offsets: (T + 1,) int64.
    """

    own: Keys
    values: Keys
    rows: Int32
    offsets: Int64


class FeatureSet:
    """Set of feature templates, with the resources of their columns.

    Args:
        templates: lines of the template language (see `spanloom.features.template`).
        clusters: word -> bits, such as Brown clusters, for the columns ``cluster``, ``cluster1``, ``cluster2`` and so
            on; `Clusters` with counts for the column ``band``.
        resources: for the columns that are computed where the data lack them (see `spanloom.features.computed`), and
            for ``vector``.
        hash_bits: of a feature's number, where there are to be at most 2 to the power of so many; features that get the
            same number are one (Weinberger et al. 2009). ``None`` for a number of each feature's own.

    Attributes: ``features``, which have keys, and ``positions``, those of the word vectors, which are dense columns.

    Raises:
        UsageError: a template that cannot be read, a column that cannot be used so, or a number of bits out of bounds.

    >>> features = FeatureSet(["w[-1]|w[0]", "suffix(2..3)"])
    >>> document = Document("No pain", tokens=[[0, 2], [3, 7]], sentences=[[0, 2]])
    >>> features.names(document, 0)
    ['w[-1]|w[0]=<s-1>|No', 'suffix2[0]=No']
    >>> features.keys(Batch.of([document])).offsets.tolist()
    [0, 2, 5]
    """

    def __init__(
        self,
        templates: str | Iterable[str],
        *,
        clusters: Mapping[str, str] | None = None,
        resources: Resources | None = None,
        hash_bits: int | None = None,
    ) -> None:
        if hash_bits is not None and not _FEWEST_BITS <= hash_bits <= _MOST_BITS:
            raise UsageError(
                f"hash_bits is {hash_bits}, expected a number from {_FEWEST_BITS} to {_MOST_BITS}, or None"
            )
        self.templates = parse_all(templates)
        self.hash_bits = hash_bits
        self.clusters = None if clusters is None else Clusters.of(clusters)
        self.resources = resources or Resources()
        self.dropped: tuple[FeatureTemplate, ...] = ()
        for template in self.templates:
            _check(template, self.clusters, self.resources)
        features = {str(feature): feature for template in self.templates for feature in template.features}
        self.features: tuple[Feature, ...] = tuple(f for f in features.values() if not _is_dense(f))
        self.positions = tuple(place.offset for f in features.values() if _is_dense(f) for place in f.places)
        self.columns = tuple(dict.fromkeys(c for feature in self.features for c in feature.columns))
        named = dict.fromkeys(column.name for column in self.columns)
        others = [name for name in named if not is_word_column(name) and not is_cluster_column(name)]
        self.computed = tuple(name for name in others if name in self.resources.columns)
        self.needs = tuple(name for name in others if name not in self.computed)
        self._program = compile_features(self.features, self.columns)
        self._most = most_keys(self.features)
        self._divided = divide(self.features, self.columns)

    @classmethod
    def preset(
        cls,
        name: str,
        *,
        available: Collection[str] = (),
        ignore: Collection[str] = (),
        clusters: Mapping[str, str] | None = None,
        resources: Resources | None = None,
        hash_bits: int | None = None,
    ) -> FeatureSet:
        """Return a preset without the templates whose columns are not available; these are in ``dropped``.

        Args:
            name: a key of `PRESETS`.
            available: the columns that every document has; see `available_columns`.
            ignore: columns, of the data or computed, not to use.
            clusters: word -> bits.
            resources: for computed columns.
            hash_bits: see the class.

        Raises:
            UsageError: there is no such preset, or it reads no column of ``ignore``.

        >>> features = FeatureSet.preset("small")
        >>> len(features.features), [template.text for template in features.dropped][:2]
        (17, ['pos[0]', 'pos:2[0]'])
        """
        if name not in PRESETS:
            raise UsageError(f"no feature preset {name!r}; there are {', '.join(PRESETS)}{meant(name, PRESETS)}")
        resources = resources or Resources()
        have = {*available, *resources.columns}.difference(ignore)

        def served(column: str) -> bool:
            if is_cluster_column(column):
                return not _lack(clusters, column)
            return is_word_column(column) or column in have

        templates = parse_all(PRESETS[name])
        every = {column.name for template in templates for column in template.columns}
        named = {column for column in every if not is_cluster_column(column) and not is_word_column(column)}
        if unknown := [column for column in ignore if column not in named.union(available)]:
            raise UsageError(
                f"the preset {name} reads no column {clip(unknown[0])} that could be ignored; it reads "
                f"{', '.join(sorted(named)) or 'no columns but words'}"
            )
        dropped = [t for t in templates if not all(served(c.name) for c in t.columns)]
        kept = [t.text for t in templates if t not in dropped]
        result = cls(kept, clusters=clusters, resources=resources, hash_bits=hash_bits)
        result.dropped = tuple(dropped)
        return result

    def extended(self, templates: Iterable[str], resources: Resources | None = None) -> FeatureSet:
        """Return a feature set with further templates, and other resources if given; a repeated template counts once.

        >>> [str(template) for template in FeatureSet(["bias"]).extended(["w[0]", "bias"]).templates]
        ['bias', 'w[0]']
        """
        texts = dict.fromkeys([*(template.text for template in self.templates), *templates])
        own = self.resources if resources is None else resources
        result = FeatureSet(list(texts), clusters=self.clusters, resources=own, hash_bits=self.hash_bits)
        result.dropped = self.dropped
        return result

    def enrich(self, batch: Batch) -> Batch:
        """Return the batch with the computed columns that the templates name; a column that is there is kept.

        `keys` and `names` do this themselves; done before, it is not done again.

        Raises:
            UsageError: a document lacks another column; names the template, the column, and the available columns.

        >>> batch = Batch.of([Document("No crackles", tokens=[[0, 2], [3, 11]], sentences=[[0, 2]])])
        >>> FeatureSet("lemma[0]").enrich(batch).columns
        {'lemma': ['no', 'crackle']}
        """
        for name in self.needs:
            for document in batch.lacking(name):
                template = next(t for t in self.templates if any(c.name == name for c in t.columns))
                computed = [column for column in self.resources.columns if column not in document.columns]
                known = ", ".join([*WORD_COLUMNS, CLUSTER_COLUMN, *computed, *document.columns])
                hint = "give a vocabulary; without one " if name == CATEGORY_COLUMN else ""
                raise UsageError(
                    f"template {clip(template.text)} names the column {name!r}, which document {clip(document.id)} "
                    f"does not have; {hint}there are {known}"
                )
        missing: dict[str, list[str]] = {}
        for name in self.computed:
            if not batch.has(name):
                missing[name] = values = []
                for i, document in enumerate(batch.documents):
                    own = document.columns.get(name)
                    values += COMPUTED[name](batch.view(i), self.resources) if own is None else own
        return batch.with_columns(missing) if missing else batch

    def keys(self, batch: Batch, *, run: Executor = SERIAL) -> Keys:
        """Return the keys of all tokens of a batch.

        Args:
            batch: T tokens.
            run: how pieces of the work are run; the result does not depend on it.

        Raises:
            DataError: a column with more or fewer values than tokens.
            UsageError: a document lacks a column.
        """
        return self.sparse_keys(batch, run=run)._replace(dense=self.dense(batch))

    def sparse_keys(self, batch: Batch, *, run: Executor = SERIAL) -> Keys:
        """Return `keys` without dense columns, which blocks of a batch have in common."""
        table = tabulate(self.enrich(batch), self.columns, self.clusters, self.resources.usual)
        ids, offsets = in_parts(batch.sentences, lambda some: _evaluate(self._program, self._most, table, some), run)
        return Keys(self._numbered(ids), offsets)

    def _numbered(self, keys: UInt64) -> UInt64:
        """Return keys of which there are at most so many as are asked for."""
        return keys if self.hash_bits is None else mixed(self.hash_bits, keys >> np.uint64(64 - self.hash_bits))

    def shared_keys(self, batch: Batch, *, run: Executor = SERIAL) -> SharedKeys:
        """Return the same keys as `keys`, with those of values that several tokens share only once.

        A token's keys have another order: first those of its values, then its own.
        """
        table = tabulate(self.enrich(batch), self.columns, self.clusters, self.resources.usual)
        divided, shared, columns = self._divided, self._divided.shared, self._divided.columns
        # 1. The rows of values, of one group of features behind those of the other.
        starts = np.append(0, (table.sizes[shared.source] + divided.outside).cumsum())
        ids = np.empty(int(np.diff(starts) @ divided.most_of_values) + len(ORTHOGRAPHY), np.uint64)
        offsets = np.empty(int(starts[-1]) + 1, np.int64)
        values = Keys(self._numbered(ids[: _value_keys(shared, table, starts, ids, offsets)]), offsets)
        # 2. The keys that tokens have beside them.
        own = table._replace(source=table.source[columns], base=table.base[columns], stride=table.stride[columns])
        ids, offsets = in_parts(batch.sentences, lambda some: _evaluate(divided.own, divided.most, own, some), run)
        keys = Keys(self._numbered(ids), offsets, self.dense(batch))
        # 3. The rows of values that each token has.
        size = len(batch.tokens)
        rows, bounds = np.empty(size * divided.references, np.int32), np.empty(size + 1, np.int64)
        return SharedKeys(keys, values, rows[: _refer(shared, table, starts, batch.sentences, rows, bounds)], bounds)

    @property
    def width(self) -> int:
        """The number of dense columns."""
        vectors = self.resources.vectors
        return 0 if vectors is None else len(self.positions) * (vectors.size + 1)

    def dense(self, batch: Batch) -> Dense | None:
        """Return the dense columns of a batch: word vectors at ``positions``; ``None`` where no template has any."""
        vectors = self.resources.vectors
        return vectors.columns(batch, self.positions) if vectors is not None and self.positions else None

    def names(self, document: Document, token: int) -> list[str]:
        """Return the readable names of the features of a token, in the order of its keys.

        Args:
            document: tokenized and split into sentences.
            token: counted in the document.
        """
        return [name for name, _ in self.named_keys(document, [token])[0]]

    def named_keys(self, document: Document, tokens: Iterable[int]) -> list[list[tuple[str, int]]]:
        """Return `names` of each of some tokens with their keys, computed in plain Python, as the oracle of `keys`."""
        batch = Batch.of([document])
        [enriched] = self.enrich(batch).views()
        enriched = enriched.copy(text=feature_tokens(batch, self.resources.usual).text)
        clusters = Clusters.of(self.clusters)
        result = []
        for token in tokens:
            named = list(named_features(self.features, enriched, token, clusters))
            numbered = self._numbered(np.array([key for _, key in named], np.uint64)).tolist()
            result.append([(name, key) for (name, _), key in zip(named, numbered, strict=True)])
        return result


def available_columns(documents: Iterable[Document]) -> tuple[str, ...]:
    """Return the columns that all documents with tokens have, in the order of the first one.

    >>> tokens = [[0, 1]]
    >>> available_columns([Document("a", tokens=tokens, columns={"pos": ["DT"]}), Document("b", tokens=tokens)])
    ()
    """
    columns = [tuple(document.columns) for document in documents if document.token_count]
    return tuple(name for name in (columns[0] if columns else ()) if all(name in own for own in columns))


def in_parts(
    offsets: Int64, function: Callable[[Int64], tuple[NDArray[G], Int64]], run: Executor
) -> tuple[NDArray[G], Int64]:
    """Return rows in compressed form, computed for runs of about equally many entries, one for each worker.

    Args:
        offsets: of the entries of rows, or the tokens of sentences.
        function: gives rows and their offsets for a run of the offsets.
        run: the workers.

    >>> in_parts(np.array([0, 1, 3]), lambda some: (np.arange(some[0], some[-1]), some - some[0]), SERIAL)
    (array([0, 1, 2]), array([0, 1, 3]))
    """
    if run.workers == 1:
        return function(offsets)
    shares = offsets[0] + (offsets[-1] - offsets[0]) * np.arange(1, run.workers) // run.workers
    cuts = sorted({0, *np.searchsorted(offsets, shares).tolist(), len(offsets) - 1})
    parts = run.map(function, [offsets[first : last + 1] for first, last in pairwise(cuts)] or [offsets])
    starts = np.cumsum([0, *(len(rows) for rows, _ in parts)])
    bounds = [part[1:] + start for (_, part), start in zip(parts, starts, strict=False)]
    return np.concatenate([rows for rows, _ in parts]), np.concatenate([np.zeros(1, np.int64), *bounds])


def _evaluate(program: FeatureProgram, most: int, table: Columns, sentences: Int64) -> tuple[UInt64, Int64]:
    """Return the keys of the tokens of some sentences, at most so many each, and where each token's begin."""
    size = int(sentences[-1] - sentences[0])
    keys, offsets = np.empty(size * most + 1, np.uint64), np.empty(size + 1, np.int64)
    return keys[: _evaluate_all(program, table, most, sentences, keys, offsets)], offsets


def _is_dense(feature: Feature) -> TypeGuard[Conjunction]:
    return feature.columns == (Column(VECTOR_COLUMN),) and isinstance(feature, Conjunction)


def _check(template: FeatureTemplate, clusters: Mapping[str, str] | None, resources: Resources) -> None:
    for feature in template.features:
        for column in feature.columns:
            problem = ""
            if column.name == VECTOR_COLUMN and not _is_dense(feature):
                problem = f"cuts or joins the column {VECTOR_COLUMN!r}, which is of real numbers; it must be alone"
            elif column.name == VECTOR_COLUMN and resources.vectors is None:
                problem = "needs word vectors; none are given"
            elif is_cluster_column(column.name) and (lack := _lack(clusters, column.name)):
                problem = f"needs word clusters; {lack}"
            elif column.size and (
                word_column(column) is None
                if is_word_column(column.name)
                else is_cluster_column(column.name) and column.name != CLUSTER_COLUMN
            ):
                problem = (
                    f"cuts the column {clip(column.name)}; only w, low, norm, cluster and those of the data can be"
                )
            elif column.name == SET_COLUMN and (isinstance(feature, Bag) or len(feature.places) > 1):
                problem = f"joins the column {SET_COLUMN!r}, which has several values at once; it must be alone"
            if problem:
                raise UsageError(f"template {clip(template.text)} {problem}")


def _lack(clusters: Mapping[str, str] | None, column: str) -> str:
    """Return what clusters lack for a column that comes from them; the empty string where that is nothing."""
    if clusters is None:
        return "none are given"
    return "" if column != BAND_COLUMN or Clusters.of(clusters).counts else "those given have no counts of words"
