"""JSON: one file with a list of records, with one record, or with one record a line; each as a line of JSONL is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from spanloom.document import Document
from spanloom.document.validate import Problem
from spanloom.errors import DataError
from spanloom.formats.base import Losses, Scanned, no_document, writing_as
from spanloom.formats.foreign import lists_labels
from spanloom.formats.json_text import loads
from spanloom.formats.label_studio import scan_any
from spanloom.formats.layouts import OF_TEXT, OF_WORDS, at, named, plain
from spanloom.formats.packed import output_file
from spanloom.formats.record import as_object, record_text
from spanloom.formats.record_fields import Columns, RecordFields, TagNames
from spanloom.formats.source import BOM, HEAD, bare, opened, read_bytes

_START: Final = re.compile(rb"\s*[\[{]")
_PAIRS: Final = re.compile(rb'\A\s*\[\s*\[|"annotations"\s*:\s*\[\s*\[\s*"')
_KEY: Final = re.compile(rb'"([A-Za-z_.\- ]{1,40})"\s*:\s*("|\[\s*["\[\]])')  # and the value is text, or a list of text
_NONE: Final = re.compile(rb"\s*\[\s*\]\s*\Z")
_LINES: Final = re.compile(rb"\s*\{[^\n]*\}\s*\n\s*\{")  # an object on one line, and another behind it
_OTHER: Final = re.compile(rb'"(?:resourceType|paragraphs)"\s*:')  # FHIR, and training data of spaCy 2


def scan(
    path: str | Path, mentions: bool = True, columns: Columns = None, tag_names: TagNames = None
) -> Iterator[Scanned]:
    """Yield the documents of a file with a list of records, or with one record; arguments as of JSONL."""
    fields = RecordFields(columns, tag_names)
    yield from scan_array(read_bytes(path).removeprefix(BOM), path, fields, mentions)


def scan_array(raw: bytes, path: str | Path, fields: RecordFields, mentions: bool) -> Iterator[Scanned]:
    """Yield the documents of the bytes of such a file.

    Raises:
        DataError: the bytes are no JSON.
    """
    try:
        value, name = loads(raw, path), str(path)
    except DataError:
        if not _LINES.match(raw):
            raise
        yield from scan_lines(enumerate(raw.splitlines(keepends=True), 1), path, fields, mentions)
        return
    for place, record in records_of(value, fields.names.get("text", "text")):
        yield from scan_any(record, mentions, fields, name, place=place)
    if not value:
        yield no_document(name, "a list of records")


def scan_lines(
    lines: Iterator[tuple[int, bytes]], path: str | Path, fields: RecordFields, mentions: bool
) -> Iterator[Scanned]:
    """Yield the documents of records, one a line; of lines that hold one list of records, those of the list.

    Args:
        lines: numbered from 1.
        path: for messages.
        fields: what the user says of the records.
        mentions: as in `scan_record`.
    """
    name, found = str(path), False
    for number, raw in lines:
        if not raw.strip():
            continue
        try:
            record = loads(raw, path, number)
        except DataError as error:
            if not found and raw.lstrip().startswith(b"["):  # a list of records, whatever the file is called
                whole = b"\n" * (number - 1) + raw + b"".join(line for _, line in lines)
                yield from scan_array(whole, path, fields, mentions)
                return
            found = True
            problem = Problem("error", "not JSON", error.message, path=name, line=number)
            yield Scanned(None, [problem], name, number)
            continue
        if not found and isinstance(record, list) and as_object(record) is record:  # a list of records on one line
            yield from scan_array(raw + b"".join(line for _, line in lines), path, fields, mentions)
            return
        found = True
        if isinstance(record, dict) and "text" not in record:  # perhaps a list of records in an object
            for place, part in records_of(record, fields.names.get("text", "text")):
                yield from scan_any(part, mentions, fields, name, number, place)
        else:
            yield from scan_any(record, mentions, fields, name, number)
    if not found:
        yield no_document(name, "one JSON object a line")


_LISTS: Final = (
    "annotations",
    "data",
    "documents",
    "docs",
    "examples",
    "records",
    "items",
    "tasks",
    "instances",
    "results",
)
"""Names of a file's list of records."""


def records_of(value: Any, text: str = "text") -> Iterator[tuple[str, Any]]:
    """Yield the records of a file with their places: of a list, alone or in an object, of an object, or one.

    Args:
        value: the content of the file.
        text: the field of a record with its text, or its path.

    >>> list(records_of({"classes": ["x"], "annotations": [["no pain", {"entities": []}], None]}))
    [('annotations[0]', ['no pain', {'entities': []}])]
    """
    if isinstance(value, list):
        yield from _of_queries((f"records[{number}]", record) for number, record in enumerate(value))
        return
    if (
        isinstance(value, dict)
        and at(value, text) is None
        and not any(plain(str(name)) in (*OF_TEXT, *OF_WORDS, "passages") for name in value)
    ):
        if isinstance(projects := value.get("projects"), list):
            for number, project in enumerate(projects):
                yield from ((f"projects[{number}].{place}", record) for place, record in records_of(project))
            return
        for name in _LISTS:
            held = value.get(name)
            if isinstance(held, list) and any(map(_is_record, held)):
                yield from ((f"{name}[{i}]", record) for i, record in enumerate(held) if record is not None)
                return
        if value and all(isinstance(record, dict) and next(named(record, OF_TEXT), None) for record in value.values()):
            yield from ((name, {"id": name, **record}) for name, record in value.items())
            return
    yield "", value


def _of_queries(records: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield records; those of BERT-MRC in a row, which ask for one type of one text each, as one."""

    def text_of(item: tuple[str, Any]) -> str:
        place, record = item
        asks = isinstance(record, dict) and isinstance(record.get("span_position"), list) and "entity_label" in record
        return f"text {record['context']}" if asks and isinstance(record.get("context"), str) else place

    for _, group in groupby(records, text_of):
        (place, first), *others = group
        if others:
            queries = (first, *(record for _, record in others))
            name = str(first.get("qas_id", "")).partition(".")[0]
            spans = [{"span": span, "type": one["entity_label"]} for one in queries for span in one["span_position"]]
            first = {"id": name, "context": first["context"], "span_position": spans}
        yield place, first


def _is_record(value: Any) -> bool:
    if isinstance(value, dict):
        return "passages" in value or next(named(value, (*OF_TEXT, *OF_WORDS, "data")), None) is not None
    return isinstance(value, list)


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write a list of native records, one a line. The format holds everything."""
    with output_file(path, force=force) as file:
        mark = "["
        for document in documents:
            with writing_as("JSON", document, path):
                file.write(f"{mark}\n{record_text(document)}")
            mark = ","
        file.write("[]\n" if mark == "[" else "\n]\n")
    return Losses()


def claims(path: Path) -> bool:
    """Return whether a file may hold records: it begins as a list or an object does, and is of no other known kind."""
    if bare(path).suffix.lower() != ".json" or not path.is_file():
        return False
    with opened(path) as file:
        head = file.read(HEAD).removeprefix(BOM)
    if _NONE.match(head):
        return True  # a list of no records
    if lists_labels(path, head):
        return False
    if _START.match(head) is None or _OTHER.search(head) is not None:
        return False
    if _PAIRS.search(head) is not None:
        return True
    keys = ((plain(key.decode("utf-8", "replace")), value) for key, value in _KEY.findall(head))
    return any(key in (OF_WORDS if value.startswith(b"[") else OF_TEXT) for key, value in keys)
