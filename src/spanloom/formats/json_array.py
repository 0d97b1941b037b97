"""JSON: one file with a list of records, or with one record; each as a line of JSONL is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from spanloom.document import Document
from spanloom.document.validate import Problem
from spanloom.errors import DataError
from spanloom.formats.base import Format, Losses, Scanned, no_document, writing_as
from spanloom.formats.json_text import loads, to_json
from spanloom.formats.packed import output_file
from spanloom.formats.record import scan_record, to_record
from spanloom.formats.record_fields import RECORD_OPTIONS, Columns, RecordFields, TagNames
from spanloom.formats.source import BOM, HEAD, bare, opened, read_bytes

_START: Final = re.compile(rb"\s*(?:\[\s*)?\{")
_NONE: Final = re.compile(rb"\s*\[\s*\]\s*\Z")
_RECORD: Final = re.compile(rb'"(?:text|note_text|NOTE_TEXT)"\s*:\s*"|"(?:tokens|words)"\s*:\s*\[\s*["\]]')
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
    except DataError as error:
        if not _LINES.match(raw):
            raise
        hint = "the file looks like JSON lines: call it .jsonl, or say that its format is jsonl (--input-format jsonl)"
        raise DataError(f"{error.message}; {hint}", path=path, line=error.line) from None
    several = isinstance(value, list)
    for number, record in enumerate(value if isinstance(value, list) else [value]):
        place = f"records[{number}]" if several else ""
        try:
            scanned = scan_record(fields.of(record), mentions, name, place=place)
        except DataError as error:
            scanned = Scanned(None, [Problem("error", "wrong field", error.message, place, path=name)], name)
        yield scanned
    if not value:
        yield no_document(name, "a list of records")


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write a list of native records, one a line. The format holds everything."""
    with output_file(path, force=force) as file:
        mark = "["
        for document in documents:
            with writing_as("JSON", document, path):
                file.write(f"{mark}\n{to_json(to_record(document))}")
            mark = ","
        file.write("[]\n" if mark == "[" else "\n]\n")
    return Losses()


def _claims(path: Path) -> bool:
    """Return whether the beginning of a file looks like records."""
    if bare(path).suffix.lower() != ".json" or not path.is_file():
        return False
    with opened(path) as file:
        head = file.read(HEAD).removeprefix(BOM)
    if _NONE.match(head):
        return True  # a list of no records
    return _START.match(head) is not None and _RECORD.search(head) is not None and _OTHER.search(head) is None


JSON = Format(
    "json", (".json",), scan, write, _claims,
    gaps=True, keeps_ids=True, reads_without_mentions=True, counts=True, scan_options=RECORD_OPTIONS,
)  # fmt: skip
