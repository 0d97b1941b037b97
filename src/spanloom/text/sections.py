"""The section of a report or article that each sentence stands in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from spanloom.document import Document
from spanloom.errors import DataError

SECTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "complaint": "chief complaint|presenting complaint|reason for (?:visit|admission|consultation)",
        "history": "history of (?:the )?present illness|hpi|present illness|clinical history|history|interval history",
        "past_history": "(?:past )?(?:medical|surgical) history|past history|pmh|psh",
        "family_history": "family history|fh",
        "social_history": "social history|sh|habits",
        "allergies": "allergies|drug allergies",
        "medications": "(?:(?:home|current|admission|discharge) )?medications?(?: on (?:admission|discharge))?|meds",
        "review": "review of systems|ros",
        "examination": "(?:physical )?exam(?:ination)?|pe|vital signs|vitals",
        "results": "(?:laborator(?:y|ies)|labs|pertinent results)(?: (?:data|results|values))?|results?",
        "indication": "indications?|clinical indication|reason for exam(?:ination)?",
        "technique": "technique|procedures?|comparisons?",
        "findings": "findings?",
        "impression": "impressions?|assessment|conclusions?|interpretation",
        "course": "(?:brief )?hospital course|course",
        "diagnosis": "(?:(?:final|primary|secondary|admission|discharge|principal) )?diagnos[ie]s",
        "plan": "(?:assessment and )?plan|recommendations?|disposition|follow[- ]?up|discharge instructions",
        "abstract": "abstract|summary",
        "introduction": "introduction|background|objectives?",
        "methods": "(?:materials? and )?methods?|experimental procedures",
        "discussion": "discussion",
        "references": "references|acknowledge?ments?",
    }
)
"""Section name -> regular expression of its headings, without regard to case."""

_HEADING: Final = re.compile(r"[A-Za-z][A-Za-z /&-]{0,60}")


def section_names(document: Document, sections: Mapping[str, str] = SECTIONS) -> list[str]:
    """The section that each sentence stands in.

    A heading is the beginning of a sentence up to a colon, or a whole sentence. It belongs to the section it begins.

    Args:
        document: with tokens and sentences.
        sections: section name -> regular expression that a heading must match as a whole.

    Returns:
        a name for each sentence; the empty string before the first heading.

    Raises:
        DataError: the document has no tokens or no sentences.

    >>> from spanloom.text import prepare
    >>> section_names(prepare(Document("Seen today.\\n\\nIMPRESSION: No acute process.\\nStable.\\n\\nPLAN:\\nHome.")))
    ['', 'impression', 'impression', 'plan', 'plan']
    """
    if document.tokens is None or document.sentences is None:
        raise DataError(f"document {document.id!r} has no tokens or no sentences; prepare it first")
    patterns = [(name, re.compile(pattern, re.IGNORECASE)) for name, pattern in sections.items()]
    tokens, names, current = document.tokens, [], ""
    for first, end in document.sentences.tolist():
        if first < end:
            current = _section(document.text, int(tokens[first, 0]), int(tokens[end - 1, 1]), patterns) or current
        names.append(current)
    return names


def _section(text: str, start: int, end: int, patterns: list[tuple[str, re.Pattern[str]]]) -> str:
    heading = _HEADING.match(text, start, end)
    if heading is None or not (heading.end() == end or text[heading.end()] == ":"):
        return ""
    words = " ".join(heading[0].split())
    return next((name for name, pattern in patterns if pattern.fullmatch(words)), "")
