"""Types of clinical notes: discharge summary, echo report, ECG, radiology report, and others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from spanloom.document import Document
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
