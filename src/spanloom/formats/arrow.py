"""Parquet and Arrow files: one document a row; extra ``arrow``.

Rows are read and written in batches. Arrow files of either kind are read (the file format, which is Feather 2, and the
stream, which `datasets` keeps), and the file format is written. Numbers of rows stand for numbers of lines.

The columns are BigBIO's, and others for data that BigBIO has no place for:

======================================== =======================================================================
column                                   holds
======================================== =======================================================================
``id``, ``document_id``                  the document's identifier, twice, as BigBIO has it
``passages``                             the text: as one passage, or as the passages that it was read from
``entities``                             mentions: ``offsets`` with a pair for each span, ``text`` with one string
                                         for each, ``normalized`` concepts; beside BigBIO: ``head``, ``score``,
                                         ``attributes`` and ``attribute_scores`` (JSON text), ``concept_scores``
``events``, ``coreferences``,            BigBIO's values, if ``meta`` holds them in that form; else empty
``relations``
``tokens``, ``sentences``, ``columns``   as in native records; a column is its name and its values
``sections``                             a ``name`` and a ``span`` for each
``meta``                                 the rest of ``Document.meta``, as JSON text
======================================== =======================================================================

Fried et al. (2022), "BigBio: A Framework for Data-Centric Biomedical Natural Language Processing", NeurIPS.
"""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from spanloom.document import Document
from spanloom.errors import DataError, clip
from spanloom.extras import extra
from spanloom.files import STDIO
from spanloom.files.output import Sink, output_file
from spanloom.formats.base import Losses, Scanned, no_document, unwritable
from spanloom.formats.json_text import are, from_bytes, loads, some
from spanloom.formats.layouts import text_of_passages
from spanloom.formats.record import AS_TEXT, RECORD, scan_record, to_record
from spanloom.formats.record_fields import Columns, RecordFields, TagNames, features_of, names_beside
from spanloom.formats.source import check_unpacked, opened
from spanloom.formats.tag_dialects import in_turn

_FROM_META = ("events", "coreferences", "relations")
_LISTS = ("entities", "mentions", "spans")  # lists of objects, whose absent fields are null in a table
_CHECKED = RECORD.keys() - {"meta", "sections"} | {"document_id", "passages", "entities"}  # by the parser of records
_WHOLE = {"id": "text", "type": "text"}  # what the one passage is called, where the text is not divided
_ROWS = 256  # in a batch
_MAGIC = b"ARROW1"  # at the start of a file, and not of a stream


def arrow_schema() -> Any:
    """Return the names and types of the columns, a `pyarrow.Schema`.

    Raises:
        UsageError: pyarrow is missing.
    """
    with extra("arrow", "an Arrow table"):
        import pyarrow as pa
    string, pairs = pa.string(), pa.list_(pa.list_(pa.int32()))
    names = pa.list_(pa.struct({"db_name": string, "db_id": string}))
    piece = {"text": pa.list_(string), "offsets": pairs}
    passage = {"id": string, "type": string, **piece}
    arguments = pa.list_(pa.struct({"role": string, "ref_id": string}))
    event = {"id": string, "type": string, "trigger": pa.struct(piece), "arguments": arguments}
    relation = {"id": string, "type": string, "arg1_id": string, "arg2_id": string, "normalized": names}
    scored = {"head": pa.list_(pa.int32()), "score": pa.float64()}
    entity = {**passage, "normalized": names, **scored, **dict.fromkeys(AS_TEXT, string)}
    entity["concept_scores"] = pa.list_(pa.float64())
    coreference = {"id": string, "entity_ids": pa.list_(string)}
    lists = {"passages": passage, "entities": entity}
    lists |= {"events": event, "coreferences": coreference, "relations": relation}
    columns = pa.list_(pa.struct({"name": string, "values": pa.list_(string)}))
    sections = pa.list_(pa.struct({"name": string, "span": pa.list_(pa.int32())}))
    return pa.schema(
        {"id": string, "document_id": string}
        | {name: pa.list_(pa.struct(fields)) for name, fields in lists.items()}
        | {"tokens": pairs, "sentences": pairs, "columns": columns, "sections": sections, "meta": string}
    )  # fmt: skip


def to_row(document: Document, schema: Any, path: str | Path | None = None) -> dict[str, Any]:
    """Return the row of a document.

    Args:
        document: the document; the row holds all of it.
        schema: of `arrow_schema`.
        path: for messages.

    Raises:
        DataError: ``meta`` has no JSON form.
    """
    record, rest = to_record(document), dict(document.meta)
    row: dict[str, Any] = {name: record.get(name) for name in ("tokens", "sentences", "sections")}
    row |= {"id": document.id, "document_id": document.id, "passages": _passages(document)}
    if row["passages"] is None:
        row["passages"] = [_WHOLE | {"text": [document.text], "offsets": [[0, len(document.text)]]}]
    else:
        del rest["passages"]
    row["entities"] = [_entity(mention, document.text) for mention in record["mentions"]]
    for name in _FROM_META:
        fits = bool(rest.get(name)) and _fits(rest[name], schema.field(name).type)
        row[name] = rest.pop(name) if fits else []
    row["columns"] = [{"name": name, "values": values} for name, values in record.get("columns", {}).items()]
    try:
        row["meta"] = json.dumps(rest, ensure_ascii=False, allow_nan=False) if rest else None
    except (TypeError, ValueError, RecursionError) as error:
        raise unwritable(document, f": meta cannot be written as JSON: {error}", path) from error
    return row


def _entity(mention: dict[str, Any], text: str) -> dict[str, Any]:
    """Return the entity of a mention of a native record."""
    spans, concepts = mention["spans"], mention.get("concepts", ())
    objects = {name: json.dumps(mention[name], ensure_ascii=False) for name in AS_TEXT if name in mention}
    bigbio = {
        "offsets": spans,
        "text": [text[start:end] for start, end in spans],
        "normalized": [*map(_name, concepts)],
    }
    return {name: value for name, value in mention.items() if name not in ("spans", "concepts")} | objects | bigbio


def _name(concept: str) -> dict[str, str]:
    prefix, colon, local = concept.partition(":")
    return {"db_name": prefix, "db_id": local} if prefix and colon else {"db_name": "", "db_id": concept}


def _passages(document: Document) -> list[dict[str, Any]] | None:
    """Return the passages that the text was read from, if the text is unchanged."""
    kept = document.meta.get("passages")
    if not some(kept, dict) or any(one.keys() != {"id", "type", "offsets"} for one in kept):
        return None
    try:
        whole = [{**one, "text": [document.text[start:end] for start, end in one["offsets"]]} for one in kept]
    except (TypeError, ValueError):  # whatever else it is
        return None
    named = all(isinstance(one[key], str) for one in whole for key in ("id", "type"))
    return whole if named and not _is_whole(whole) and text_of_passages(whole, []) == document.text else None


def _is_whole(passages: object) -> bool:
    """Return whether these passages are the single one of an undivided text."""
    texts = passages[0].get("text") if some(passages, dict) else None
    return some(texts, str) and passages == [_WHOLE | {"text": texts[:1], "offsets": [[0, len(texts[0])]]}]


def _fits(value: object, kind: Any) -> bool:
    """Return whether a column of this type holds a value without change."""
    import pyarrow as pa

    with suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
        return bool(pa.array([value], kind).to_pylist() == [value])
    return False


def from_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of a row: of `to_row`, of BigBIO, or of any other that `from_record` reads.

    Bytes of UTF-8 are text, as in a lake. Values that JSON has no type for, such as dates, become text.

    Raises:
        DataError: ``meta`` is text, but not JSON; or bytes within a mention are no text.

    >>> from_row({"text": "mild pain", "entities": [{"type": "problem", "offsets": [[5, 9]], "id": None}]})
    {'text': 'mild pain', 'entities': [{'type': 'problem', 'offsets': [[5, 9]]}]}
    """
    record = {name: _plain(value, name) for name, value in row.items() if value is not None}
    for name in _FROM_META:
        if record.get(name) == []:
            del record[name]
    for name in _LISTS:
        if isinstance(record.get(name), list):
            record[name] = [_entry(item) for item in record[name]]
    if "text" not in record and _is_whole(record.get("passages")):
        record["text"] = record.pop("passages")[0]["text"][0]
    columns = record.get("columns")  # those that are no pairs of a name and values stay, for messages
    if are(columns, dict) and all(one.keys() == {"name", "values"} for one in columns):
        named = {str(one["name"]): one["values"] for one in columns}
        record["columns"] = named if len(named) == len(columns) else columns
    if isinstance(record.get("meta"), str):
        record["meta"] = loads(record["meta"].encode("utf-8"), "meta", line=1)
    return record


def _plain(value: Any, name: str, inside: bool = False) -> Any:
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, bytes):
        found = from_bytes(value)
        if inside and name in _CHECKED and not isinstance(found, str):
            raise DataError(f"{name} holds the bytes {clip(str(value))}, expected text in UTF-8; decode them, or null")
        return found if inside or isinstance(found, str) else value  # no text: an error if a text is expected
    if isinstance(value, Mapping):
        return {str(key): _plain(item, name, inside=True) for key, item in value.items()}
    if isinstance(value, list | tuple):  # in a table items are of one kind, and most are offsets
        plain = name in _CHECKED and value and isinstance(value[0], int)
        return value if plain else [_plain(item, name, inside=True) for item in value]
    return value if name in _CHECKED or (isinstance(value, float) and math.isfinite(value)) else str(value)


def _entry(item: object) -> object:
    """Return a mention without nulls, and with the objects that it holds as JSON."""
    if not isinstance(item, Mapping):
        return item
    found = {key: value for key, value in item.items() if value is not None}
    for name in AS_TEXT:
        if isinstance(found.get(name), str):
            found[name] = loads(found[name].encode("utf-8"), name, line=1)
    return found


def native_file(file: BinaryIO, path: str | Path) -> Any:
    """Return an open file as a `pyarrow.NativeFile`, at its beginning.

    Arrow reads in threads of its own. With a Python file, such a thread needs the interpreter, and it aborts the
    process if the interpreter ends first.

    Args:
        file: a file, a pipe, or the content of a packed file; the latter are read to the end.
        path: its path.
    """
    import pyarrow as pa

    plain = isinstance(file, io.BufferedReader) and isinstance(file.raw, io.FileIO) and file.seekable()
    return pa.OSFile(os.fspath(path)) if plain and str(path) != STDIO else pa.BufferReader(file.read())


def parquet_batches(file: Any, rows: int, columns: Iterable[str] = ()) -> Iterator[Any]:
    """Yield the record batches of a Parquet file.

    Args:
        file: a `pyarrow.NativeFile`.
        rows: of a batch.
        columns: those that are read, where the file has all of them; else all are.

    Raises:
        DataError: the file holds far more than its size.
    """
    import pyarrow.parquet

    table, chosen = pyarrow.parquet.ParquetFile(file), list(dict.fromkeys(columns))
    groups = (table.metadata.row_group(number) for number in range(table.metadata.num_row_groups))
    check_unpacked(sum(group.total_byte_size for group in groups), file.size(), "Parquet file")
    there = chosen and set(chosen) <= set(table.schema_arrow.names)
    yield from _bounded(table.iter_batches(rows, columns=chosen if there else None), file, "Parquet file")


def arrow_batches(file: Any) -> Iterator[Any]:
    """Yield the record batches of an Arrow file of either kind.

    Args:
        file: a `pyarrow.NativeFile`.

    Raises:
        DataError: the file holds far more than its size.
    """
    import pyarrow.ipc

    magic = file.read(len(_MAGIC))
    file.seek(0)
    if magic == _MAGIC:
        reader = pyarrow.ipc.open_file(file)
        batches: Iterable[Any] = (reader.get_batch(number) for number in range(reader.num_record_batches))
    else:
        batches = pyarrow.ipc.open_stream(file)
    yield from _bounded(batches, file, "Arrow file")


def _bounded(batches: Iterable[Any], file: Any, what: str) -> Iterator[Any]:
    """Yield batches as long as they do not hold far more than the file's size."""
    import pyarrow as pa

    unpacked = 0
    for batch in batches:
        batch.validate()  # offsets of lists may be damaged
        # batches may share a dictionary, so that its size would be counted for each
        unpacked += sum(column.nbytes for column in batch.columns if not pa.types.is_dictionary(column.type))
        check_unpacked(unpacked, file.size(), what)
        yield batch


def _scan(
    path: str | Path, mentions: bool = True, columns: Columns = None, tag_names: TagNames = None, *,
    batches: Callable[[Any], Iterable[Any]], what: str,
) -> Iterator[Scanned]:  # fmt: skip
    """Yield the documents of a file of rows.

    Args:
        path: the file, or ``-``.
        mentions: as in `scan_record`.
        columns: our names of columns -> those in the table.
        tag_names: of tags that are numbers, where the file does not name them.
        batches: returns the record batches of an open file.
        what: the kind of the file, for messages.
    """
    with extra("arrow", what):
        import pyarrow as pa
    name, number, fields = str(path), 0, None
    with opened(path) as source:
        try:
            for batch in batches(native_file(source, path)):
                known = class_names(batch.schema.metadata) or names_beside(path) if fields is None else None
                fields = fields or RecordFields(columns, tag_names, known)
                first, number = number + 1, number + batch.num_rows
                batch.validate(full=True)  # offsets of a hostile file may point anywhere
                slices = (batch.slice(start, _ROWS).to_pylist() for start in range(0, batch.num_rows, _ROWS))
                rows = enumerate(chain.from_iterable(slices), first)
                calls = (partial(_scanned, row, fields, mentions, name, number) for number, row in rows)
                yield from in_turn((fields.tags, fields.kinds), calls)
            yield from () if fields is None else fields.remarks(path)
        except (pa.ArrowException, OSError, ValueError) as error:
            reason = " ".join(str(error).split())[:200].rstrip(".")
            raise DataError(f"found a damaged file, or one of another kind ({reason}); get it again") from None
    if not number:
        yield no_document(name, "one row for each")


scan_parquet = partial(_scan, batches=partial(parquet_batches, rows=_ROWS), what="a Parquet file")
scan_arrow = partial(_scan, batches=arrow_batches, what="an Arrow file")


def class_names(metadata: Mapping[bytes, bytes] | None) -> dict[str, list[str]]:
    """Return the names of the values of columns, where `datasets` has written them into a table's metadata.

    >>> kind = {"_type": "List", "feature": {"_type": "ClassLabel", "names": ["O", "B-x"]}}
    >>> class_names({b"huggingface": json.dumps({"info": {"features": {"ner_tags": kind}}}).encode()})
    {'ner_tags': ['O', 'B-x']}
    """
    with suppress(KeyError, TypeError, ValueError, RecursionError):
        return dict(features_of(json.loads((metadata or {})[b"huggingface"])["info"]["features"]))
    return {}


def _scanned(row: dict[str, Any], fields: RecordFields, mentions: bool, path: str, number: int) -> list[Scanned]:
    try:
        return scan_record(from_row(row), mentions, fields, path, number)
    except DataError as error:
        return [Scanned.failed("wrong field", error.message, path, number, error.path or "")]


def _write(documents: Iterable[Document], path: str | Path, force: bool = False, *, parquet: bool) -> Losses:
    """Write a file of rows. The format holds everything; ``meta`` that has no JSON form is an error."""
    with extra("arrow", "a Parquet file" if parquet else "an Arrow file"):
        import pyarrow.ipc
        import pyarrow.parquet
    schema, writer = arrow_schema(), pyarrow.parquet.ParquetWriter if parquet else pyarrow.ipc.new_file
    with output_file(path, force=force) as sink, writer(SinkStream(sink), schema) as table:
        for batch in to_batches(documents, schema, path):
            table.write_batch(batch)
    return Losses()


write_parquet, write_arrow = partial(_write, parquet=True), partial(_write, parquet=False)


def to_batches(documents: Iterable[Document], schema: Any, path: str | Path | None = None) -> Iterator[Any]:
    """Yield record batches of a few hundred documents each.

    Args:
        documents: an iterable, read lazily.
        schema: of `arrow_schema`.
        path: for messages.

    Raises:
        DataError: a document that a table cannot represent: ``meta`` without a JSON form, half of a surrogate pair.
    """
    import pyarrow as pa

    rest = iter(documents)
    while chunk := list(islice(rest, _ROWS)):
        rows = pa.Table.from_batches([_batch(document, schema, path) for document in chunk], schema)
        yield from rows.combine_chunks().to_batches()


def _batch(document: Document, schema: Any, path: str | Path | None) -> Any:
    import pyarrow as pa

    try:
        return pa.RecordBatch.from_pylist([to_row(document, schema, path)], schema=schema)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise unwritable(document, f" cannot be written: {error}", path) from error


class SinkStream(io.RawIOBase):
    """An output as a file object for pyarrow."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def writable(self) -> bool:
        """Return true."""
        return True

    def write(self, data: Any) -> int:
        """Write bytes."""
        view = bytes(data)
        self._sink.write(view)
        return len(view)
