"""The ledger of an annotated lake, in JSON files in ``_spanloom``; and the fragments, files of the lake.

``job.json`` has the model and the settings. ``done`` has a record for each finished fragment, which is written after
the fragment's output is in place: a job that is killed between the two repeats the fragment. ``claims`` has the
fragments in progress, ``manifest.json`` all records together.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from spanloom import __version__
from spanloom.errors import DataError, UsageError, clip, reason_of
from spanloom.files.output import output_file, writing
from spanloom.files.staging import NEW, staged
from spanloom.files.walk import check_no_link, everything, read_plain
from spanloom.formats.arrow import SinkStream, arrow_batches, native_file, parquet_batches
from spanloom.formats.json_text import loads
from spanloom.formats.source import BOM, unpacked
from spanloom.lake.annotator import PROBLEM, Annotator

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema


FORMAT: Final = 1
_FOLDER: Final = "_spanloom"  # which readers of folders of tables pass over
_COUNTS: Final = ("rows", "mentions", "problems")
_LARGEST: Final = 1 << 22  # bytes of a file of the ledger
_DAMAGED: Final = "damaged, expected what Spanloom wrote; name another output"


class Ledger:
    """The ledger of an output folder; made by `open`.

    Args:
        output: the folder.
        job: the content of ``job.json``.
    """

    def __init__(self, output: Path, job: Mapping[str, Any]) -> None:
        import pyarrow as pa

        self.output, self._job = output, job
        self.folder = output / _FOLDER
        try:
            self.schema: Schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(job["schema"])))
        except (KeyError, TypeError, ValueError, OSError):
            raise DataError(_DAMAGED, path=self.folder / "job.json") from None

    @classmethod
    def open(cls, output: Path, annotator: Annotator, schema: Schema) -> Ledger:
        """Open the ledger of a folder, or create it.

        Args:
            output: the folder, which may be missing.
            annotator: model and settings.
            schema: of the output; an existing ledger's own takes precedence.

        Raises:
            UsageError: the folder has other content, or was begun with another model or other settings.
            DataError: the ledger is damaged, or the system refused to write.
        """
        file = output / _FOLDER / "job.json"
        names = ["text", "id", "keep", "threshold", "longest"]
        names += ["expand"] * annotator.expand  # without it, so that jobs of versions without it resume
        values = {name: getattr(annotator, name) for name in names}
        settings = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        expected = {"format": FORMAT, "model": annotator.digest, "settings": settings}
        used = output.exists() and (not output.is_dir() or any(path.name != _FOLDER for path in output.iterdir()))
        if used and not file.exists():
            raise UsageError(f"{output} is there already, and is no lake that Spanloom annotated; name another output")
        with writing(output):
            for folder in (output / _FOLDER, output / _FOLDER / "claims", output / _FOLDER / "done"):
                check_no_link(folder)
                folder.mkdir(parents=True, exist_ok=True)  # again, too, as who copies folders may leave out empty ones
            if not file.exists():
                description = {**expected, "schema": base64.b64encode(schema.serialize().to_pybytes()).decode()}
                _write_first(file, json.dumps(description, indent=1))
        found = _read(file)
        for name, value in expected.items():
            if found.get(name) != value:
                begun, this = (json.dumps(one, ensure_ascii=False) for one in (found.get(name), value))
                raise UsageError(
                    f"{output} was begun with {name} {begun}, and this is {this}; give what it was begun with, or name "
                    "another output"
                )
        return cls(output, found)

    def record(self, fragment: Fragment) -> dict[str, Any] | None:
        """Return the record of a fragment, if it is finished and has not changed since."""
        try:
            found = _read(self._file(fragment.name))
        except DataError:
            return None  # cut off by a full disk, or not there: the fragment is done again
        same = (found.get("bytes"), found.get("time")) == (fragment.size, fragment.time)
        same &= all(type(found.get(name)) is int and found[name] >= 0 for name in _COUNTS)  # else it is damaged
        same &= type(found.get("seconds")) in (int, float) and 0 <= found["seconds"] < math.inf
        if not same or not (self.output / fragment.output).exists():
            return None
        return {name: found[name] for name in ("bytes", "time", *_COUNTS, "seconds")}

    def place(self, fragment: Fragment) -> Path:
        """Return where the output of a fragment is written.

        Raises:
            DataError: it would be elsewhere, by a link in the output folder.
        """
        place = self.output / fragment.output
        for path in (place, *place.parents):
            if path == self.output:
                break
            check_no_link(path)
        return place

    def note(self, fragment: Fragment, counts: Mapping[str, int], seconds: float) -> None:
        """Write the record of a fragment whose output is in place.

        Raises:
            DataError: the system refused to write.
        """
        record = {
            "fragment": fragment.name,
            "bytes": fragment.size,
            "time": fragment.time,
            **{name: counts.get(name, 0) for name in _COUNTS},
            "seconds": round(seconds, 3),
        }
        _write(self._file(fragment.name), json.dumps(record))

    def write_manifest(self, fragments: Iterable[Fragment], failed: Mapping[str, str]) -> dict[str, Any]:
        """Write all records as one file, and return its content.

        Args:
            fragments: of the lake.
            failed: name of a fragment -> why it is not there.

        Raises:
            DataError: the system refused to write.
        """
        records = {fragment.name: self.record(fragment) for fragment in fragments}
        done = {name: record for name, record in records.items() if record is not None}
        totals = {name: sum(record[name] for record in done.values()) for name in _COUNTS}
        manifest = {
            **{name: value for name, value in self._job.items() if name != "schema"},
            "spanloom": __version__,
            **totals,
            "fragments": done,
            "failed": {name: reason for name, reason in failed.items() if name not in done},
            "missing": [name for name in records if name not in done and name not in failed],
            "gone": self._gone(records),
        }
        _write(self.folder / "manifest.json", json.dumps(manifest, ensure_ascii=False, indent=1) + "\n")
        return manifest

    def _gone(self, there: Iterable[str]) -> list[str]:
        """Return the fragments whose output is there, but which the lake has no more, by name."""
        known, found = {self._file(name).name for name in there}, []
        others = [file for file in (self.folder / "done").glob("*.json") if file.name not in known]
        if not others:
            return []
        outputs = {path.relative_to(self.output).as_posix() for path in everything(self.output)}
        outputs -= {output_of(name) for name in there}
        for file in others:
            try:
                name = _read(file).get("fragment")
            except DataError:
                continue  # a damaged record is ignored; the fragment, if it comes again, is done again
            if isinstance(name, str) and output_of(name) in outputs:
                found.append(name)
        return sorted(found)

    def _file(self, name: str) -> Path:
        return self.folder / "done" / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.json"


def _write_first(file: Path, text: str) -> None:
    """Write a file whole, unless another job was first."""
    with staged(file) as folder:
        draft = folder / NEW / file.name
        draft.write_text(text, encoding="utf-8")
        try:
            os.link(draft, file)
        except OSError:
            if not file.exists():  # a file system without hard links, as buckets that are mounted
                draft.replace(file)


def _write(file: Path, text: str) -> None:
    check_no_link(file)
    with output_file(file, force=True) as sink:
        sink.write(text)


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_plain(file, _LARGEST))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=file) from None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise DataError(_DAMAGED, path=file)
    return found


# Fragments of a lake: the files of a folder, each read as record batches and written as one Parquet file.

SUFFIXES: Final = (".parquet", ".arrow", ".feather", ".jsonl", ".jsonl.gz")
_ROWS = 1024  # at once
_SHOWN = 20  # names of fields in a message
_ID = "id"  # the default name of identifiers; records need have none


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
