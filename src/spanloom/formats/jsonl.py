"""JSONL: one document a line, as a native record or in a dialect (see `spanloom.formats.record`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from spanloom.document import Document
from spanloom.document.validate import Problem
from spanloom.errors import DataError
from spanloom.formats.base import Losses, Scanned, no_document, writing_as
from spanloom.formats.json_array import records_of, scan_array
from spanloom.formats.json_text import loads
from spanloom.formats.label_studio import scan_any
from spanloom.formats.packed import output_file
from spanloom.formats.record import as_object, record_text
from spanloom.formats.record_fields import Columns, RecordFields, TagNames
from spanloom.formats.source import raw_lines


def scan(
    path: str | Path, mentions: bool = True, columns: Columns = None, tag_names: TagNames = None
) -> Iterator[Scanned]:
    """Yield the documents of a JSONL file, one a line; blank lines are skipped.

    Args:
        path: the file, or ``-``.
        mentions: as in `scan_record`.
        columns: our names of fields -> those in the records.
        tag_names: of tags that are numbers.
    """
    name, found = str(path), False
    fields = RecordFields(columns, tag_names)
    lines = raw_lines(path)
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


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write native records. The format holds everything; a document without a JSON form is an error."""
    with output_file(path, force=force) as file:
        for document in documents:
            with writing_as("JSON", document, path):
                file.write(record_text(document) + "\n")
    return Losses()
