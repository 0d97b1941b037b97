r"""The lines of PubTator files: which line is what, and how a mention is written as one.

Four kinds of line make a document::

    8528200|t|Machado-Joseph disease in Japan.                          the title
    8528200|a|The array size was examined.                              the abstract
    8528200   0   22   Machado-Joseph disease   Disease   MESH:D017827  a mention: start, end, text, type, identifiers
    8528200   CID   D006493   D013921                                   a relation, here between two concepts

(with tabs between the fields). What follows the first tab of a line is called its *row*. The identifiers of a mention
are joined by ``|`` (several concepts, or one of several) or ``+`` (all of them together); ``-``, ``-1`` or nothing
say that there is none.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from spanloom.document import Mention, Span
from spanloom.document.span import join_spans
from spanloom.document.validate import flat

NO_CONCEPT = "-"
EXPECTED_MENTION = "'{id}<tab>start<tab>end<tab>text<tab>type<tab>identifier'"

_PASSAGE = re.compile(r"([^|\t]+)\|([ta])\|(.*)", re.DOTALL)
_MENTION = re.compile(r"([0-9]{1,15})\t([0-9]{1,15})\t([^\t]*)\t([^\t]+)(?:\t(.*))?", re.DOTALL)
_NAME, _DIGIT = re.compile(r"[^\W\d]"), re.compile(r"\d")
_ABSENT = ("", NO_CONCEPT, "-1")
_VARIANT = re.compile(r"(?:\w+:)?[a-z]\|[A-Z]+\|")  # c|SUB|G|35|A is one identifier
_ACCESSION = re.compile(r"(?:\w+:)?[A-Z]?[0-9]+")
_UNWRITABLE = re.compile(r"[\t\n\r]")


class Passage(NamedTuple):
    """A title (``kind`` is ``"t"``) or an abstract (``"a"``)."""

    id: str
    kind: str
    text: str


class Annotation(NamedTuple):
    """A mention, and the text that its line gives for it."""

    mention: Mention
    surface: str


def parse_passage(line: str) -> Passage | None:
    """A line as title or abstract, if it is one.

    >>> parse_passage("12|t|On p|t| ratios")
    Passage(id='12', kind='t', text='On p|t| ratios')
    """
    found = _PASSAGE.fullmatch(line)
    return None if found is None else Passage(*found.groups())


def parse_annotation(row: str) -> Annotation | None:
    r"""A row as a mention, if it is one; whether its offsets can be meant is not looked at.

    >>> parse_annotation("9\t15\tcancer\tDisease\tD001943|D010051").mention.concepts
    ('D001943', 'D010051')
    """
    found = _MENTION.fullmatch(row)
    if found is None:
        return None
    start, end, surface, kind, rest = found.groups()
    identifier = (rest or "").partition("\t")[0]
    return Annotation(Mention(kind, (Span(int(start), int(end)),), concepts=split_identifier(identifier)), surface)


def is_relation(row: str) -> bool:
    r"""Whether a row names a relation and two arguments; an argument has a digit in it.

    >>> is_relation("CID\tD006493\tD013921"), is_relation("pain\tDisease\tD010146")
    (True, False)
    """
    arguments = row.split("\t", 3)[1:3]
    return len(arguments) == 2 and bool(_NAME.match(row)) and all(map(_DIGIT.search, arguments))


def split_identifier(identifier: str) -> tuple[str, ...]:
    """The concepts of an identifier field.

    >>> split_identifier("OMIM:610102|OMIM:217000"), split_identifier("D007674+D006222"), split_identifier("-1")
    (('OMIM:610102', 'OMIM:217000'), ('D007674', 'D006222'), ())
    >>> split_identifier("c|SUB|G|35|A"), split_identifier("HGVS:c.1234+1G>A")
    (('c|SUB|G|35|A',), ('HGVS:c.1234+1G>A',))
    """
    concepts: list[str] = []
    for part in [identifier] if _VARIANT.match(identifier) else identifier.split("|"):
        together = [name.strip() for name in part.split("+")]
        concepts += together if all(map(_ACCESSION.fullmatch, together)) else [part.strip()]
    return tuple(concept for concept in concepts if concept not in _ABSENT)


def is_writable(name: str) -> bool:
    """Whether a type or a concept can stand in a field."""
    return bool(name.strip()) and not _UNWRITABLE.search(name)


def render(mention: Mention, text: str) -> str | None:
    r"""The row of a mention; ``None`` if it skips words.

    Its type, and its concepts, must be writable; see `is_writable`.

    Args:
        mention: spans that touch, or that only white space separates, are written as one.
        text: the document's.

    >>> render(Mention("Disease", [(0, 4), (5, 9)], concepts=["D1"]), "mild pain")
    '0\t9\tmild pain\tDisease\tD1'
    >>> render(Mention("Disease", [(0, 4), (15, 19)]), "mild or severe pain") is None
    True
    """
    spans = join_spans(text, mention.spans)
    if len(spans) > 1:
        return None
    ((start, end),) = spans
    identifier = "|".join(mention.concepts) or NO_CONCEPT
    return f"{start}\t{end}\t{flat(text[start:end])}\t{mention.type}\t{identifier}"
