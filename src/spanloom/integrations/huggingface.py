"""Documents as a Hugging Face dataset, and back: the columns of Parquet and Arrow files, in memory; extra ``datasets``.

The columns are those of BigBIO, and beside them what BigBIO has no place for: see `spanloom.formats.arrow`.
Nothing is fetched, and nothing is written to a cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.extras import extra
from spanloom.formats.arrow import arrow_schema, from_row, to_batches
from spanloom.formats.base import Notices, Scanned, accepted
from spanloom.formats.record import scan_record
from spanloom.formats.record_fields import RecordFields
from spanloom.formats.settling import settled_one
from spanloom.formats.tag_dialects import in_turn

if TYPE_CHECKING:
    from datasets import Dataset


def to_dataset(documents: Iterable[Document]) -> Dataset:
    """A `datasets.Dataset` with a row for each document; it holds all that the documents hold.

    Args:
        documents: read once; the rows stay in memory.

    Raises:
        DataError: a document that a table cannot hold: ``meta`` without a JSON form, half of a surrogate pair.
        UsageError: `datasets` is missing.

    >>> from spanloom.document import Mention
    >>> dataset = to_dataset([Document("mild pain", id="a", mentions=[Mention("problem", [(5, 9)])])])
    >>> dataset[0]["entities"][0]["offsets"], dataset[0]["passages"][0]["text"]
    ([[5, 9]], ['mild pain'])
    """
    with extra("datasets", "a Hugging Face dataset"):
        import datasets
        import pyarrow as pa
    schema = arrow_schema()
    return datasets.Dataset(pa.Table.from_batches(to_batches(documents, schema), schema))


def from_dataset(dataset: Iterable[Mapping[str, Any]]) -> Iterator[Document]:
    """The documents of a dataset, one at a time.

    Args:
        dataset: a `datasets.Dataset` or `datasets.IterableDataset`, in the columns of `to_dataset`, of BigBIO, or of
            any record that `from_record` reads, such as ``tokens`` and ``ner_tags``, whose numbers have their names in
            its features. Rows are taken as plain Python values, whatever format is set.

    Raises:
        UsageError: at once: several datasets under their names.
        DataError: when it is reached: the first problem of a row, with its number from 1.

    >>> from spanloom.document import Mention
    >>> documents = [Document("mild pain", id="a", mentions=[Mention("problem", [(5, 9)])])]
    >>> [document.mentions[0].spans for document in from_dataset(to_dataset(documents))]
    [(Span(start=5, end=9),)]
    """
    if isinstance(dataset, Mapping):
        raise UsageError(f"found several datasets: {', '.join(map(str, dataset))}; choose one, as dataset['train']")
    plain = getattr(dataset, "with_format", None)
    features = getattr(dataset, "features", None) or {}
    return _documents(dataset if plain is None else plain(None), _class_names(features))


def _class_names(features: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the names of the values of columns of class labels, and of lists of them."""
    inner = {column: getattr(kind, "feature", kind) for column, kind in features.items()}
    return {column: list(kind.names) for column, kind in inner.items() if hasattr(kind, "names")}


def _scanned(row: Mapping[str, Any], number: int, fields: RecordFields) -> list[Scanned]:
    return [settled_one(one) for one in scan_record(from_row(row), fields=fields, path="dataset", line=number)]


def _documents(rows: Iterable[Mapping[str, Any]], names: Mapping[str, Sequence[str]]) -> Iterator[Document]:
    notices = Notices()
    fields = RecordFields(None, None, names)
    try:
        calls = (partial(_scanned, row, number, fields) for number, row in enumerate(rows, start=1))
        yield from accepted(in_turn((fields.tags, fields.kinds), calls), notices)
    finally:
        notices.report(None)
