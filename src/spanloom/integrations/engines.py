"""Engines for big tables, with an `Annotator`: Spark, Ray, Dask, DuckDB, Polars, Hugging Face `datasets`.

Each function hands the annotator to the engine as the engine wants it, and nothing else: callers that need it
otherwise read it. What comes back has the columns of `Annotator.schema`. Engines are imported when they are used.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from spanloom.extras import extra
from spanloom.lake import Annotator

if TYPE_CHECKING:
    from pyarrow import RecordBatchReader


def with_spark(frame: Any, annotator: Annotator) -> Any:
    """Return a Spark data frame with the mentions of another, by ``mapInArrow``."""
    with extra("spark", "a data frame of Spark"):
        from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
    schema = annotator.schema(to_arrow_schema(frame.schema))
    return frame.mapInArrow(annotator, from_arrow_schema(schema))


def with_ray(dataset: Any, annotator: Annotator) -> Any:
    """Return a dataset of Ray Data with the mentions of another; a process runs on one core."""
    return dataset.map_batches(annotator.table, batch_format="pyarrow", num_cpus=1)


def with_dask(frame: Any, annotator: Annotator) -> Any:
    """Return a Dask data frame with the mentions of another, a column of Arrow's type; partitions run as they are.

    Use processes, as ``compute(scheduler="processes", chunksize=1)`` or a cluster does: threads would wait for each
    other, and a process that is handed several partitions at a time keeps others waiting at the end.
    """
    import pyarrow as pa

    schema = annotator.schema(pa.Schema.from_pandas(frame._meta, preserve_index=False))
    meta = _to_pandas(schema.empty_table())
    return frame.map_partitions(partial(_pandas, annotator), meta=meta)


def with_duckdb(relation: Any, annotator: Annotator) -> RecordBatchReader:
    """Return a reader of record batches with the mentions of a relation.

    The relation's connection is busy until the reader has been read; what reads it in DuckDB is another connection.
    """
    import pyarrow as pa

    reader = relation.to_arrow_reader(1024)
    return pa.RecordBatchReader.from_batches(annotator.schema(reader.schema), annotator(reader))


def with_polars(frame: Any, annotator: Annotator) -> Any:
    """Return a data frame of Polars with the mentions of another, lazy if that is lazy."""
    with extra("polars", "a data frame of Polars"):
        import polars as pl
    found = partial(_polars, annotator)
    if not isinstance(frame, pl.LazyFrame):
        return found(frame)
    empty = pl.DataFrame(schema=frame.collect_schema())
    return frame.map_batches(found, schema=found(empty).schema)


def with_datasets(dataset: Any, annotator: Annotator, num_proc: int | None = None) -> Any:
    """Return a dataset of Hugging Face with the mentions of another."""
    with extra("datasets", "a Hugging Face dataset"):
        from datasets import Features
    given = dataset.with_format("arrow")
    features = Features.from_arrow_schema(annotator.schema(dataset.features.arrow_schema))
    made = given.map(
        annotator.table, batched=True, remove_columns=dataset.column_names, features=features, num_proc=num_proc
    )
    return made.with_format(None)


def _pandas(annotator: Annotator, part: Any) -> Any:
    import pyarrow as pa

    return _to_pandas(annotator.table(pa.Table.from_pandas(part, preserve_index=False)))


def _to_pandas(table: Any) -> Any:
    """Convert a table; lists and structures stay in Arrow, as objects they are slow to make, to send and to write."""
    import pandas as pd  # type: ignore[import-untyped, unused-ignore]
    from pyarrow.types import is_nested

    return table.to_pandas(types_mapper=lambda kind: pd.ArrowDtype(kind) if is_nested(kind) else None)


def _polars(annotator: Annotator, frame: Any) -> Any:
    import polars as pl

    return pl.from_arrow(annotator.table(frame.to_arrow()))
