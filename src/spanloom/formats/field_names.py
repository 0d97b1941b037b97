"""Names of a table's columns: ours, those that other programs use, and those that the user gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from spanloom.errors import DataError, UsageError, clip

Columns: TypeAlias = Mapping[str, str] | Sequence[str] | None
"""Our name -> that in the file; or a list of ``ours=theirs``."""

# our name -> names that mean the same, whatever their case; the first that a table has counts
OF_TEXTS: Final = MappingProxyType({"id": ("id", "doc_id", "document_id", "note_id"), "text": ("text", "note_text")})
OF_SPANS: Final = MappingProxyType(
    {
        "id": ("doc_id", "document_id", "note_id", "id"),
        "start": ("start", "begin"),
        "end": ("end",),
        "spans": ("spans",),
        "type": ("type", "label"),
        "text": ("text",),
        "score": ("score",),
        "concepts": ("concepts", "concept"),
    }
)


OF_RECORDS: Final = ("id", "text", "tokens", "tags")  # what the user may name in records
_NOTES: Final = (("text", ("note_text", "NOTE_TEXT")), ("id", ("note_id", "NOTE_ID")))  # OMOP's table NOTE


def given_names(columns: Columns, known: Sequence[str]) -> dict[str, str]:
    """Return the names that the user gives to columns: ours -> that in the file.

    Args:
        columns: a mapping, or a list of ``ours=theirs``.
        known: names of ours.

    Raises:
        UsageError: an item without ``=``, or a name that is none of ours, or stands twice.

    >>> given_names(["text=note", "id=key"], ["id", "text"])
    {'text': 'note', 'id': 'key'}
    """
    if isinstance(columns, Mapping):
        names = dict(columns)
    else:
        pairs = [name.partition("=") for name in columns or ()]
        wrong = next((ours for ours, sign, theirs in pairs if not sign or not theirs), None)
        if wrong is not None:
            raise UsageError(f"the columns of a table are named as text=NAME,id=NAME, but found {clip(wrong)}")
        names = {ours.strip(): theirs.strip() for ours, _, theirs in pairs}
        if len(names) < len(pairs):
            raise UsageError(f"the columns {clip(','.join(map(str, columns or ())))} name one twice; leave one out")
    unknown = next((ours for ours in names if ours not in known), None)
    if unknown is not None:
        raise UsageError(f"this format has no column {clip(unknown)}; expected one of: {', '.join(known)}")
    return names


def places(header: Sequence[str], names: Mapping[str, str], known: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return our name -> the place of that column in a table.

    Args:
        header: names in the table, white space at their ends and case aside.
        names: what the user said, of `given_names`.
        known: `OF_TEXTS` or `OF_SPANS`.

    Raises:
        UsageError: the user names a column that the table lacks.

    >>> places(["NOTE_ID", "NOTE_TEXT"], {}, OF_TEXTS)
    {'id': 0, 'text': 1}
    """
    lower = [name.strip().lower() for name in header]
    found = {}
    for ours, others in known.items():
        choices = [names[ours].strip().lower()] if ours in names else [*others]
        place = next((lower.index(name) for name in choices if name in lower), None)
        if place is None and ours in names:
            shown = ", ".join(map(clip, header[:20]))
            raise UsageError(f"there is no column {clip(names[ours])}; the table has: {shown}")
        if place is not None:
            found[ours] = place
    return found


def renamed(record: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a record with our names of fields; a field that had one of them before becomes ``record_NAME``.

    Args:
        record: a row or an object.
        names: what the user said, of `given_names`.

    Raises:
        DataError: the record lacks a field that the user names.

    >>> renamed({"id": 1, "body": "No pain.", "mrn": 7}, {"text": "body", "id": "mrn"})
    {'text': 'No pain.', 'id': 7, 'record_id': 1}
    """
    lacking = next((theirs for theirs in names.values() if theirs not in record), None)
    if lacking is not None:
        shown = ", ".join(map(clip, list(record)[:20]))
        raise DataError(f"there is no field {clip(lacking)}; the record has: {shown}")
    ours = {name: record[theirs] for name, theirs in names.items()}
    rest = {name: value for name, value in record.items() if name not in names.values()}
    return ours | {(f"record_{name}" if name in ours else name): value for name, value in rest.items()}


def of_notes(record: dict[str, Any]) -> dict[str, Any]:
    """Return a row of OMOP's table NOTE with our names of its text and identifier; other records are unchanged.

    >>> of_notes({"note_id": 7, "note_text": "No pain."})
    {'id': 7, 'text': 'No pain.'}
    """
    names = {}
    for ours, others in _NOTES:
        there = next((name for name in others if name in record), None)
        if there is not None and ours not in record and not (ours == "id" and "document_id" in record):
            names[there] = ours
    return {names.get(name, name): value for name, value in record.items()} if names else record
