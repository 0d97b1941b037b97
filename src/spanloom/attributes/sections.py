"""Sections of documents as output: headings, what is under them, and the section of each mention."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from spanloom.attributes.lexicon import Cues
from spanloom.attributes.marking import Rules, with_attributes
from spanloom.attributes.scope import headings_of
from spanloom.document import Document, Section, Span
from spanloom.text.sections import headings

SECTION = "section"
"""The attribute that holds a mention's section."""


def with_sections(
    documents: Iterable[Document], language: str | None = None, cues: Cues | None = None
) -> Iterator[Document]:
    """Yield documents with their sections, and with the section of each mention as its attribute ``section``.

    A section begins with its heading and ends before the next one. Its name is that of the rules, such as
    ``past_history``, or the words of a heading that they do not know, in small letters.

    Args:
        documents: with mentions or without.
        language: ``en``, ``es`` or ``zh``, whose headings are looked for; by each document's script and stop words when
            ``None``.
        cues: whose ``[headings]`` are looked for, too.

    Raises:
        UsageError: an unknown language.

    >>> from spanloom import Mention
    >>> note = Document("Chief complaint: cough.\\nPMH: gout.", mentions=[Mention("problem", [(29, 33)])])
    >>> [found] = with_sections([note])
    >>> [(name, note.text[slice(*span)]) for name, span in found.sections]
    [('complaint', 'Chief complaint: cough.'), ('past_history', 'PMH: gout.')]
    >>> dict(found.mentions[0].attributes)
    {'section': 'past_history'}
    """
    rules = Rules(language, cues)
    return (_sectioned(document, rules) for document in documents)


def _sectioned(document: Document, rules: Rules) -> Document:
    [(own, _)] = rules.groups([document])
    found, text = headings(document.text, headings_of(own)), document.text
    starts = [heading.start for heading in found]
    sections = []
    for heading, end in zip(found, [*starts, len(text)][1:], strict=True):
        whole = text[heading.start : end].rstrip()
        span = Span(heading.start, heading.start + len(whole))
        sections.append(Section(heading.section or heading.words.casefold(), span))
    mentions = []
    for mention in document.mentions:
        at = bisect_right(starts, mention.start)
        mentions.append(with_attributes(mention, (SECTION,), {SECTION: sections[at - 1].name} if at else {}))
    return document.copy(mentions=mentions, sections=sections)
