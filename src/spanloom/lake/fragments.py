"""Fragments of a lake: the files of a folder, each read as record batches and written as one Parquet file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from spanloom.errors import DataError, UsageError, clip, reason_of
from spanloom.files.output import output_file
from spanloom.files.walk import everything
from spanloom.formats.arrow import SinkStream, arrow_batches, native_file, parquet_batches
from spanloom.formats.json_text import loads
from spanloom.formats.source import BOM, unpacked
from spanloom.lake.annotator import PROBLEM, Annotator

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema

SUFFIXES: Final = (".parquet", ".arrow", ".feather", ".jsonl", ".jsonl.gz")
_ROWS = 1024  # at once
_SHOWN = 20  # names of fields in a message
_ID = "id"  # what identifiers are called unless somebody says otherwise; records need have none


class Fragment(NamedTuple):
    """A file of a lake.

    Args:
        name: its path in the lake, with ``/``.
        path: where it is.
        size: bytes.
        time: of its last change, in nanoseconds; only compared with what it was.
    """

    name: str
    path: Path
    size: int
    time: int

    @property
    def output(self) -> str:
        """The path of what is made of it."""
        return output_of(self.name)

    @property
    def lines(self) -> bool:
        """Whether it is JSONL; what the folders around it are called does not matter.

        >>> Fragment("a.jsonl/b.parquet", Path(), 0, 0).lines, Fragment("a/b.JSONL.gz", Path(), 0, 0).lines
        (False, True)
        """
        return self.name.lower().endswith((".jsonl", ".jsonl.gz"))


def output_of(name: str) -> str:
    """Return the path of what is made of a fragment.

    >>> output_of("a/b.parquet"), output_of("c.jsonl.gz")
    ('a/b.parquet', 'c.jsonl.gz.parquet')
    """
    return name if name.endswith(".parquet") else f"{name}.parquet"


def fragments_of(lake: Path) -> list[Fragment]:
    """Return the fragments of a folder and the folders in it, by name, except hidden and ``_`` files.

    Raises:
        DataError: a folder cannot be read.
        UsageError: two of them would become the same file.
    """
    found: dict[str, Fragment] = {}
    for path in everything(lake):
        inside = path.relative_to(lake)
        if (
            path.name.lower().endswith(SUFFIXES)
            and not any(part[0] in "._" for part in inside.parts)
            and path.is_file()
        ):
            status = path.stat()
            fragment = Fragment(inside.as_posix(), path, status.st_size, status.st_mtime_ns)
            other = found.setdefault(fragment.output, fragment)
            if other is not fragment:
                names = f"{clip(other.name)} and {clip(fragment.name)}"
                raise UsageError(f"the fragments {names} would both become {clip(fragment.output)}; rename one")
    return list(found.values())


def schema_of(fragment: Fragment, columns: Sequence[str]) -> Schema:
    """Return the schema of the columns of a fragment.

    Raises:
        DataError: a damaged file.
        UsageError: none of the first records of JSONL has one of the fields.
    """
    import pyarrow as pa

    with _opened(fragment) as file:
        if fragment.lines:
            _check_fields(unpacked(file, fragment.path), columns)
            return pa.schema([(name, pa.string()) for name in columns])
        if fragment.name.lower().endswith(".parquet"):
            import pyarrow.parquet as pq

            return pq.ParquetFile(native_file(file, fragment.path)).schema_arrow
        return next(arrow_batches(native_file(file, fragment.path))).schema


def annotate_fragment(annotator: Annotator, fragment: Fragment, output: Path, schema: Schema) -> Iterator[int]:
    """Write what is made of a fragment, whole or not at all; yield numbers of rows as they are done.

    Args:
        annotator: its counts are those of the fragment afterwards.
        fragment: what is read.
        output: the file to write, or to replace.
        schema: of the output; columns of other types become those, if they lose nothing.

    Raises:
        DataError: a damaged file, columns of other types, or the system refused.
        UsageError: a column is missing.
    """
    import pyarrow.parquet as pq

    annotator.counts.clear()
    columns = [annotator.text, *schema.names[:-2]]
    with (
        _opened(fragment) as file,
        output_file(output, force=True) as sink,
        pq.ParquetWriter(SinkStream(sink), schema, compression="zstd") as table,
    ):
        for batch, problems in _batches(file, fragment, columns):
            for made in annotator([batch]):
                table.write_batch(_fitted(made, problems, schema))
                yield made.num_rows


def _fitted(made: RecordBatch, problems: Any, schema: Schema) -> RecordBatch:
    """Return a batch in the schema of the job, with the problems of reading it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if problems is not None:
        made = made.set_column(made.num_columns - 1, PROBLEM, pc.coalesce(problems, made[PROBLEM]))
    columns = []
    for column, kept in zip(made.columns, schema, strict=True):
        try:
            columns.append(column.cast(kept.type))
        except (pa.ArrowException, ValueError) as error:
            raise DataError(
                f"the column {clip(kept.name)} is {column.type}, expected {kept.type} as in the first fragment, or "
                f"what can become that ({reason_of(error)}); rewrite it, or annotate it into a folder of its own"
            ) from None
    return pa.RecordBatch.from_arrays(columns, schema=schema)


@contextmanager
def _opened(fragment: Fragment) -> Iterator[BinaryIO]:
    """Open a fragment; whatever reading it raises names it."""
    import pyarrow as pa

    try:
        with fragment.path.open("rb") as file:
            yield file
    except (pa.ArrowException, OSError, EOFError, StopIteration, ValueError) as error:
        if isinstance(error, UsageError):
            raise
        raise DataError(f"cannot be read: {reason_of(error)}; get it again", path=fragment.path) from None
    except DataError as error:
        raise error if error.path else DataError(error.message, path=fragment.path) from None


def _batches(file: BinaryIO, fragment: Fragment, columns: Sequence[str]) -> Iterator[tuple[RecordBatch, Any]]:
    """Yield batches, and a column of problems where reading found any."""
    if fragment.lines:
        yield from _lines(unpacked(file, fragment.path), columns)
        return
    if fragment.name.lower().endswith(".parquet"):
        batches = parquet_batches(native_file(file, fragment.path), _ROWS, columns)
    else:
        batches = arrow_batches(native_file(file, fragment.path))
    for batch in batches:
        yield batch, None


def _check_fields(lines: BinaryIO, columns: Sequence[str]) -> None:
    """Check that each of some columns, the first that of texts, is a field of one of the first records."""
    others: dict[str, None] = {}
    for number, line in islice(_numbered(lines), _ROWS):
        others.update(dict.fromkeys(_record(line, number, columns[0])[0]))
    for name in columns:
        if others and name not in others and name != _ID:
            raise _lacking(name, others)


def _lacking(name: str, others: Iterable[str]) -> UsageError:
    shown = ", ".join(map(clip, islice(others, _SHOWN)))
    return UsageError(f"no record has {clip(name)}; found {shown}; name another")


def _lines(lines: BinaryIO, columns: Sequence[str]) -> Iterator[tuple[RecordBatch, Any]]:
    import pyarrow as pa

    names = list(dict.fromkeys(columns))
    schema = pa.schema([(name, pa.string()) for name in names])
    numbered = _numbered(lines)
    known, others = 0, dict[str, None]()
    while chunk := list(islice(numbered, _ROWS)):
        rows, problems = [], []
        for number, line in chunk:
            record, problem = _record(line, number, columns[0])
            rows.append({name: _text(record.get(name)) for name in names})
            problems.append(problem)
            known += columns[0] in record
            others.update(dict.fromkeys(list(record)[:_SHOWN]))
        if others and not known:
            raise _lacking(columns[0], others)
        yield pa.RecordBatch.from_pylist(rows, schema), pa.array(problems, pa.string())


def _numbered(lines: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield lines with their numbers; blank lines are skipped, as `spanloom.read` does."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, line.removeprefix(BOM) if number == 1 else line


def _record(line: bytes, number: int, text: str) -> tuple[dict[str, Any], str | None]:
    """Return the values of a line, and what is wrong with it."""
    try:
        record = loads(line, "", number)
    except DataError as error:
        return {}, f"line {number}: {error.message}"
    if not isinstance(record, dict):
        return {}, f"line {number} is no object"
    value = record.get(text)
    if value is not None and not isinstance(value, str):
        return {**record, text: None}, f"the text is a {type(value).__name__}"
    return record, None


def _text(value: Any) -> str | None:
    """Return a value of JSON as a column of strings has it."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
