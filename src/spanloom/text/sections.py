"""Headings of a report or article, and the section of each of its sentences.

Headings are searched in the text itself, as Muis and Lu (2016), supplementary material, do: the beginning of a line
up to a colon, or a whole line. So a part of a document has its section, too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from spanloom.document import Document
from spanloom.errors import DataError, clip
from spanloom.text.patterns import pattern

SECTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "complaint": (
            "(?:chief|presenting) (?:complaint|problem)s?|complaints?|cc|reason for (?:visit|admission|consultation)"
        ),
        "history": (
            "(?:brief |clinical |interval )?history|(?:history of )?(?:the )?(?:present|current) illness|hpi"
            "|mechanism of injury|subjective"
        ),
        "past_history": "(?:past )?(?:medical|surgical)(?:[ /]surgical)? history|past history|pmh|psh|pmhx",
        "family_history": "family (?:medical )?history|fh",
        "social_history": "social history|sh|habits",
        "allergies": "(?:drug )?allergies(?: and adverse (?:drug )?reactions)?",
        "medications": (
            "(?:(?:home|current|admission|discharge|preadmission|outpatient) )?(?:medications?|meds)(?: list)?"
            "(?: (?:on|at|prior to) (?:admission|discharge|home|transfer))?"
        ),
        "review": "review of systems|ros",
        # a radiologist's EXAM names what was done, a ward's examination what was found
        "technique": "(?-i:EXAM)|exam(?:ination)? type|study|technique|comparisons?",
        "examination": (
            "(?:(?:admission|discharge) )?(?:physical )?exam(?:ination)?(?: (?:on|at) (?:arrival|admission|discharge))?"
            "|pe|vital signs|vitals|objective"
        ),
        "results": (
            "(?:pertinent |laboratory |imaging |lab )?(?:results?|data|studies|values)(?: (?:and|/) imaging)?"
            "|laborator(?:y|ies)(?: (?:data|results|values|findings|studies))?(?: and imaging)?|labs|imaging"
            "|investigations?|microbiology|radiology"
        ),
        "indication": "(?:clinical )?indications?|reason for (?:exam(?:ination)?|study|test)|clinical information",
        "procedure": "(?:(?:major|surgical|invasive|surgical or invasive|major surgical or invasive) )?procedures?",
        "findings": "findings?|(?:left |right )?(?:ventricles?|atri(?:um|a))|valves|rhythm|intervals",
        "impression": "(?:impressions?|assessment|conclusions?|interpretation)",
        "course": "(?:brief )?(?:hospital|clinical|emergency department|ed) course|course(?: in (?:the )?hospital)?",
        "diagnosis": "(?:(?:final|primary|secondary|admission|admitting|discharge|principal) )?diagnos[ie]s",
        "condition": "(?:(?:discharge )?condition|status)(?: (?:at|on) discharge)?",
        "plan": (
            "(?:(?:assessment|impression)(?: and |/| & ))?plan|recommendations?|(?:discharge )?disposition"
            "|follow[- ]?up(?: (?:instructions|plans?))?|(?:(?:discharge|follow[- ]?up) )?instructions"
        ),
        "abstract": "abstract|summary",
        "introduction": "introduction|background|objectives?",
        "methods": "(?:(?:materials?|patients|subjects) and )?methods?|experimental procedures",
        "discussion": "discussion",
        "references": "references|acknowledge?ments?",
    }
)
"""Section name -> regular expression of its headings, without regard to case; the first that matches counts."""

_LINE_END: Final = "\n\r\x0b\x0c\x85\u2028\u2029"
_HEADING: Final = pattern(
    rf"(?:(?P<line>(?:\A|(?<=[{_LINE_END}]))[ \t]{{0,20}})|(?<=[.!?][ ])|(?<=[.!?][ ]{{2}})|(?<=[。！？]))"
    r"(?P<all>(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?[ \t]{1,4})?"  # 1. Introduction, 2.1 Mice
    r"(?P<words>[^\W\d_][\w /&,'()-]{0,60}?))[ \t]{0,9}"
    rf"(?:(?P<colon>[:：])|(?=[{_LINE_END}]|\Z))"
)
_ASIDE: Final = pattern(r" ?\([^()]{0,60}\)")
_SMALL: Final = frozenset(("a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"))
_BLANK: Final = 40  # characters before a line in which a blank line is looked for


class Heading(NamedTuple):
    """A heading in a text.

    Args:
        start: its first character.
        words: without numbering, colon and asides in parentheses, one space between words.
        section: the section it begins; empty for one that the rules do not know.
    """

    start: int
    words: str
    section: str


def headings(text: str, sections: Mapping[str, str] = SECTIONS) -> list[Heading]:
    """Find the headings of a text, in text order.

    A heading of the rules begins a line or follows a sentence's end, and a colon follows it; or it is a whole
    line that begins with a capital. Of other headings more is asked, so that no sentence is taken for one: after a
    blank line, capitals throughout (small words aside), and a colon.

    Args:
        text: the text to search.
        sections: section name -> regular expression that a heading must match as a whole, without regard to case.

    >>> headings("PLAN: home\\n\\nFacility: none\\n\\nA finding: none")
    [Heading(start=0, words='PLAN', section='plan'), Heading(start=12, words='Facility', section='')]
    """
    found = []
    for match in _HEADING.finditer(text):
        words = " ".join(_ASIDE.sub("", match["words"]).split())
        complete = match["colon"] is not None or (match["line"] is not None and words[:1].isupper())
        section = ""
        if complete:
            section = next((name for name, rule in sections.items() if re.fullmatch(rule, words, re.IGNORECASE)), "")
        if section or (match["colon"] and match["line"] is not None and _stands_out(text, match.start(), words)):
            found.append(Heading(match.start("all"), words, section))
    return found


def _stands_out(text: str, start: int, words: str) -> bool:
    """Return whether the beginning of a line is a heading that the rules do not know."""
    before = text[max(0, start - _BLANK) : start].replace("\r\n", "\n")
    ends = sum(character in _LINE_END for character in before[len(before.rstrip()) :])
    parts = [part for part in words.replace("/", " ").split() if part not in _SMALL]
    return (ends >= 2 or not before.strip()) and all(not part[0].isalpha() or part[0].isupper() for part in parts)


def section_names(document: Document, sections: Mapping[str, str] = SECTIONS) -> list[str]:
    """Return the section of each sentence: that of the last heading before its first token ends.

    Args:
        document: with tokens and sentences.
        sections: as in `headings`.

    Returns:
        a name for each sentence; the empty string before the first heading and after one that the rules do not know.

    Raises:
        DataError: the document has no tokens or no sentences.

    >>> from spanloom.text import prepare
    >>> section_names(prepare(Document("Seen today.\\n\\nIMPRESSION: No acute process.\\nStable.\\n\\nPLAN:\\nHome.")))
    ['', 'impression', 'impression', 'plan', 'plan']
    """
    if document.tokens is None or document.sentences is None:
        raise DataError(f"document {clip(document.id)} has no tokens or no sentences; prepare it first")
    found = headings(document.text, sections)
    starts = [heading.start for heading in found]
    names, tokens, current = [], document.tokens, ""
    for first, end in document.sentences.tolist():
        if first < end:
            at = bisect_right(starts, int(tokens[first, 1]) - 1)
            current = found[at - 1].section if at else ""
        names.append(current)
    return names
