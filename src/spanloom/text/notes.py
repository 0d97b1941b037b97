"""Types of clinical notes: discharge summary, echo report, ECG and others; and rules of a user's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from spanloom.document import Document
from spanloom.errors import DataError, UsageError
from spanloom.files.walk import read_toml, shown_value
from spanloom.text.sections import SECTIONS, headings

_IMAGING: Final = r"(?:radiogra(?:m|ph)s?|x-?rays?|CXR|CTA?|MR[IA]?|PET|ultrasound|sonogram|mammogram|angiogram)\b"
NOTES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "discharge": r"discharge summary|^(?:brief )?hospital course$|^(?:condition (?:at|on) )?discharge(?: \w+)?$",
        "operative": r"operati(?:ve|on) (?:report|note)|^(?:pre|post)-?operative diagnosis$",
        "progress": r"progress note|^subjective$|^interval history$",
        "radiology": (
            rf"\A.{{0,60}}\b{_IMAGING}|^(?:exam(?:ination)?|study|procedure|technique):\s*.{{0,60}}\b{_IMAGING}"
            r"|^(?:technique|comparisons?)$"
        ),
        "echo": (
            r"echocardiogra|\bT[TE]E\b|echo contrast|ejection fraction|\b(?:leaflet|(?:a|hypo|dys)kine[st])"
            r"|\bpapillary muscle|\b(?:mitral|aortic|tricuspid|pulmonic) (?:valve is|annulus|regurgitation)"
            r"|^(?:(?:left |right )?(?:ventricles?|atri(?:um|a))|valves)$"
        ),
        "ecg": (
            r"electrocardiogra|\b(?:ECG|EKG|QRS)\b|\b(?:PR|QT) interval|\bST[- ]segment|^rhythm$"
            r"|\b(?:sinus|regular|irregular|junctional|paced) (?:rhythm|tachycardia|bradycardia)\b"
        ),
    }
)
"""Note type -> regular expression that is searched in a note's outline; the first that is found counts."""

_BEGINNING: Final = 600
_LONGEST: Final = 60


def outline(text: str, sections: Mapping[str, str] = SECTIONS) -> str:
    """Return a note's outline: the beginning of its text, an empty line, and its headings, one a line.

    Args:
        text: the text of the note.
        sections: as in `spanloom.text.sections.headings`.

    >>> outline("FINDINGS: Clear lungs.")
    'FINDINGS: Clear lungs.\\n\\nFINDINGS'
    """
    return "\n".join([text[:_BEGINNING], "", *(heading.words for heading in headings(text, sections))])


def note_type(document: Document, notes: Mapping[str, str] = NOTES, sections: Mapping[str, str] = SECTIONS) -> str:
    """Return the type of a note: ``meta["note"]``, else the first type whose expression matches in its outline.

    Args:
        document: the note; only its text and ``meta`` are used.
        notes: type -> regular expression, without regard to case; ``^`` and ``$`` are the ends of lines.
        sections: as in `spanloom.text.sections.headings`.

    Returns:
        the empty string where no rule fits.

    >>> note_type(Document("HOSPITAL COURSE: She improved.")), note_type(Document("Bone grows."))
    ('discharge', '')
    """
    given = document.meta.get("note")
    if isinstance(given, str) and 0 < len(given) <= _LONGEST and given.isprintable():  # not a note in free text
        return given
    lines = outline(document.text, sections)
    return next((name for name, rule in notes.items() if re.search(rule, lines, re.IGNORECASE | re.MULTILINE)), "")


# Rules for sections and note types: the bundled ones, or a user's own.


@dataclass(frozen=True, slots=True)
class Rules:
    """Regular expressions, in the order in which they are tried.

    Args:
        sections: section name -> expression that a heading must match as a whole; see `spanloom.text.sections`.
        notes: note type -> expression that is searched in the note's outline; see `spanloom.text.notes`.
    """

    sections: Mapping[str, str] = field(default_factory=lambda: dict(SECTIONS))  # a read-only view is not pickled
    notes: Mapping[str, str] = field(default_factory=lambda: dict(NOTES))


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
    expected = "tables of names with regular expressions"
    path = None if isinstance(source, Mapping) else source
    tables = source if isinstance(source, Mapping) else read_toml(source, "sections", expected)
    return Rules(**{name: _table(name, table, path) for name, table in tables.items()})


def _table(name: str, table: object, path: str | Path | None) -> dict[str, str]:
    if name not in ("sections", "notes"):
        raise _error(f"found {name!r}, expected the tables sections and notes", path)
    if not isinstance(table, Mapping):
        raise _error(f"{name} is {shown_value(table)}, expected a table of names with regular expressions", path)
    for key, expression in table.items():
        if not isinstance(key, str) or not key or not isinstance(expression, str):
            found = f"{key!r} = {shown_value(expression)}"
            raise _error(f"{name}: found {found}, expected a name and a regular expression", path)
        try:
            re.compile(expression, re.IGNORECASE | re.MULTILINE)
        except (re.error, OverflowError, RecursionError) as error:
            message = f"{name}.{key}: {expression!r} is not a regular expression: {error}; in TOML, write it in '...'"
            raise _error(message, path) from None
    return dict(table)


def _error(message: str, path: str | Path | None) -> DataError | UsageError:
    return UsageError(f"rules for sections and notes: {message}") if path is None else DataError(message, path=path)
