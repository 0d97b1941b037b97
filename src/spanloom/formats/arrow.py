"""Parquet and Arrow files: one document a row, in the columns of `spanloom.formats.arrow_rows`; extra ``arrow``.

Rows are read and written in batches. Arrow files of either kind are read (the file format, which is Feather 2, and the
stream, which `datasets` keeps), and the file format is written. Numbers of rows stand for numbers of lines.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from spanloom.document import Document
from spanloom.document.validate import Problem
from spanloom.errors import DataError
from spanloom.extras import extra
from spanloom.files import STDIO
from spanloom.files.output import Sink, output_file
from spanloom.formats.arrow_rows import arrow_schema, from_row, to_row
from spanloom.formats.base import Format, Losses, Scanned, no_document, unwritable
from spanloom.formats.record import parse_record
from spanloom.formats.source import opened

_ROWS = 256  # in a batch
_MAGIC = b"ARROW1"  # at the start of a file, and not of a stream


def scan_parquet(path: str | Path, mentions: bool = True) -> Iterator[Scanned]:
    """The documents of a Parquet file; ``mentions`` as in `parse_record`."""
    with extra("arrow", "a Parquet file"):
        import pyarrow.parquet

    return _scan(path, mentions, lambda file: pyarrow.parquet.ParquetFile(file).iter_batches(batch_size=_ROWS))


def scan_arrow(path: str | Path, mentions: bool = True) -> Iterator[Scanned]:
    """The documents of an Arrow file; ``mentions`` as in `parse_record`."""
    with extra("arrow", "an Arrow file"):
        import pyarrow.ipc

    def batches(file: BinaryIO) -> Iterator[Any]:
        magic = file.read(len(_MAGIC))
        file.seek(0)
        if magic != _MAGIC:
            yield from pyarrow.ipc.open_stream(file)
            return
        reader = pyarrow.ipc.open_file(file)
        yield from (reader.get_batch(number) for number in range(reader.num_record_batches))

    return _scan(path, mentions, batches)


def _scan(path: str | Path, mentions: bool, batches: Callable[[BinaryIO], Iterable[Any]]) -> Iterator[Scanned]:
    import pyarrow as pa

    name, number = str(path), 0
    with opened(path) as source, io.BytesIO(source.read()) if name == STDIO else source as file:
        try:
            for row in _rows(batches(file)):
                number += 1
                yield _scanned(row, mentions, name, number)
        except (pa.ArrowException, OSError, ValueError) as error:
            reason = " ".join(str(error).split())[:200].rstrip(".")
            raise DataError(f"found a damaged file, or one of another kind ({reason}); get it again") from None
    if not number:
        yield no_document(name, "one row for each")


def _rows(batches: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for batch in batches:
        batch.validate(full=True)  # offsets of a hostile file may point anywhere
        for start in range(0, batch.num_rows, _ROWS):
            yield from batch.slice(start, _ROWS).to_pylist()


def _scanned(row: dict[str, Any], mentions: bool, path: str, number: int) -> Scanned:
    try:
        document, problems = parse_record(from_row(row), mentions)
    except DataError as error:
        document, problems = None, [Problem("error", "not JSON", error.message, "meta")]
    return Scanned(document, [replace(problem, path=path, line=number) for problem in problems], path, number)


def write_parquet(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write a Parquet file. The format holds everything; ``meta`` that has no JSON form is an error."""
    with extra("arrow", "a Parquet file"):
        import pyarrow.parquet

    return _write(documents, path, force, pyarrow.parquet.ParquetWriter)


def write_arrow(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write an Arrow file; as `write_parquet`."""
    with extra("arrow", "an Arrow file"):
        import pyarrow.ipc

    return _write(documents, path, force, pyarrow.ipc.new_file)


def _write(
    documents: Iterable[Document],
    path: str | Path,
    force: bool,
    writer: Callable[[io.RawIOBase, Any], AbstractContextManager[Any]],
) -> Losses:
    schema = arrow_schema()
    with output_file(path, force=force) as sink, writer(_Stream(sink), schema) as table:
        for batch in to_batches(documents, schema, path):
            table.write_batch(batch)
    return Losses()


def to_batches(documents: Iterable[Document], schema: Any, path: str | Path | None = None) -> Iterator[Any]:
    """Record batches of a few hundred documents each.

    Args:
        documents: taken as they come.
        schema: of `arrow_schema`.
        path: for messages.

    Raises:
        DataError: a document that a table cannot hold: ``meta`` without a JSON form, half of a surrogate pair.
    """
    import pyarrow as pa

    rest = iter(documents)
    while chunk := list(islice(rest, _ROWS)):
        rows = pa.Table.from_batches([_batch(document, schema, path) for document in chunk], schema)
        yield from rows.combine_chunks().to_batches()


def _batch(document: Document, schema: Any, path: str | Path | None) -> Any:
    import pyarrow as pa

    try:
        return pa.RecordBatch.from_pylist([to_row(document, schema)], schema=schema)
    except DataError as error:
        raise DataError(error.message, path=path) from error
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise unwritable(document, f" cannot be written: {error}", path) from error


class _Stream(io.RawIOBase):
    """An output as pyarrow wants it."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = bytes(data)
        self._sink.write(view)
        return len(view)


PARQUET = Format(
    "parquet", (".parquet",), scan_parquet, write_parquet, gaps=True, keeps_ids=True, reads_without_mentions=True
)
ARROW = Format(
    "arrow", (".arrow", ".feather"), scan_arrow, write_arrow, gaps=True, keeps_ids=True, reads_without_mentions=True
)
