"""Rules for sections and note types: the bundled ones, or a user's own."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from spanloom.errors import DataError, UsageError
from spanloom.text.notes import NOTES
from spanloom.text.sections import SECTIONS

_TABLES = {"sections": SECTIONS, "notes": NOTES}


@dataclass(frozen=True, slots=True)
class Rules:
    """Regular expressions, in the order in which they are tried.

    Args:
        sections: section name -> expression that a heading must match as a whole; see `spanloom.text.sections`.
        notes: note type -> expression that is searched in the note's outline; see `spanloom.text.notes`.
    """

    sections: Mapping[str, str] = field(default_factory=lambda: SECTIONS)
    notes: Mapping[str, str] = field(default_factory=lambda: NOTES)

    def __post_init__(self) -> None:
        for name in _TABLES:
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[type[Rules], tuple[dict[str, str], dict[str, str]]]:
        # a view that nobody can change cannot be pickled; its content can
        return Rules, (dict(self.sections), dict(self.notes))


def read_rules(source: str | Path | Mapping[str, object]) -> Rules:
    """Read rules from a TOML file with the tables ``[sections]`` and ``[notes]``, or from such a mapping.

    A table replaces all rules of its kind; the rules of a table that is missing stay.

    Raises:
        UsageError: the file cannot be read, or a mapping that is no set of rules.
        DataError: a file that is no set of rules; names the table and the name in it.

    >>> rules = read_rules({"sections": {"findings": "befund(?:e)?"}})
    >>> list(rules.sections), list(rules.notes)[:2]
    (['findings'], ['discharge', 'operative'])
    """
    if isinstance(source, Mapping):
        return _rules(source, None)
    try:
        text = Path(source).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"sections {str(source)!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"found bytes that are not UTF-8 ({error.reason}); convert the file", path=source) from None
    try:
        return _rules(tomllib.loads(text), source)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"not a TOML file: {error}", path=source) from None
    except (RecursionError, ValueError):  # a number of thousands of digits can be read, but not be shown
        raise DataError(
            "nested too deeply, or a number too long; expected tables of names with regular expressions", path=source
        ) from None


def _rules(tables: Mapping[str, object], path: str | Path | None) -> Rules:
    checked = {name: _table(name, table, path) for name, table in tables.items()}
    return Rules(**checked)


def _table(name: str, table: object, path: str | Path | None) -> Mapping[str, str]:
    if name not in _TABLES:
        raise _error(f"found {name!r}, expected the tables {' and '.join(_TABLES)}", path)
    if not isinstance(table, Mapping):
        raise _error(f"{name} is {table!r}, expected a table of names with regular expressions", path)
    for key, expression in table.items():
        if not isinstance(key, str) or not key or not isinstance(expression, str):
            raise _error(f"{name}: found {key!r} = {expression!r}, expected a name and a regular expression", path)
        try:
            re.compile(expression, re.IGNORECASE | re.MULTILINE)
        except (re.error, OverflowError, RecursionError) as error:
            message = f"{name}.{key}: {expression!r} is not a regular expression: {error}; in TOML, write it in '...'"
            raise _error(message, path) from None
    return table


def _error(message: str, path: str | Path | None) -> DataError | UsageError:
    return UsageError(f"rules for sections and notes: {message}") if path is None else DataError(message, path=path)
