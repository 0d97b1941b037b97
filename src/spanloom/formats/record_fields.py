"""What the user says of the fields of records: their names, and the names of tags that are numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from spanloom.formats.field_names import OF_RECORDS, Columns, given_names, renamed
from spanloom.formats.tagged import TAGS, check_names, with_names

__all__ = ["RECORD_OPTIONS", "Columns", "RecordFields", "TagNames"]

TagNames: TypeAlias = Sequence[str] | str | None
"""Names of tags in the order of their numbers, in a list or with commas between them."""
RECORD_OPTIONS: Final = ("columns", "tag_names")
"""Options of formats that hold records."""


class RecordFields:
    """Gives records our names of fields, and tags their names.

    Args:
        columns: our names of fields -> those in the records.
        tag_names: of tags that are numbers.
        features: a field -> names of its values, which the file has itself.

    Raises:
        UsageError: a name that is none of a record's.

    >>> RecordFields({"text": "body"}, None).of({"body": "No pain."})
    {'text': 'No pain.'}
    """

    def __init__(
        self, columns: Columns, tag_names: TagNames, features: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self._names = given_names(columns, OF_RECORDS)
        said = check_names(tag_names)
        tags = dict.fromkeys((*TAGS, *filter(None, [self._names.get("tags")])), said) if said else {}
        self._features = {**(features or {}), **tags}

    def of(self, record: Any) -> Any:
        """Return the record with them; what is no object is returned as it is.

        Raises:
            DataError: the record lacks a field that the user names.
        """
        if not isinstance(record, dict):
            return record
        named = with_names(record, self._features) if self._features else record
        return renamed(named, self._names) if self._names else named
