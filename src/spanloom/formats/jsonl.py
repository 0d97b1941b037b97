"""JSONL: one document a line, as a native record or in a dialect (see `spanloom.formats.record`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from spanloom.document import Document
from spanloom.formats.base import Losses, Scanned
from spanloom.formats.json_array import scan_lines
from spanloom.formats.label_names import names_beside
from spanloom.formats.packed import output_file
from spanloom.formats.record import record_json
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
    fields = RecordFields(columns, tag_names, None if tag_names else names_beside(path))
    yield from scan_lines(raw_lines(path), path, fields, mentions)
    yield from fields.remarks(path)


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write native records. The format holds everything; a document without a JSON form is an error."""
    with output_file(path, force=force) as file:
        for document in documents:
            file.write(record_json(document, path) + "\n")
    return Losses()
