"""What is wrong with a mention, in a few words: the heading of an error."""

from __future__ import annotations

from spanloom.document import Document, Mention
from spanloom.evaluate import Finding
from spanloom.evaluate.slices import words_in
from spanloom.view.excerpts import plain
from spanloom.view.tracks import head_words, surface

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_BORDERS = {
    "boundary": "border",
    "gap missed": "gap not seen",
    "gap invented": "invented gap",
    "fragment wrong": "wrong part",
}


def named(finding: Finding, document: Document) -> str:
    """Return the words of an error's mention, those of gold where it is of both sides, as HTML."""
    mention = finding.gold or finding.predicted
    assert mention is not None
    return _own(surface(document.text, mention))


def wrong(finding: Finding, document: Document) -> str:
    """Return what is wrong, as HTML.

    Args:
        finding: the error.
        document: of which it is, with tokens.

    >>> from spanloom.evaluate import findings
    >>> from spanloom.text import prepare
    >>> note = prepare(Document("no chest pain", mentions=[Mention("problem", [(3, 13)])]))
    >>> [error] = findings([note], [note.copy(mentions=[Mention("problem", [(0, 13)])])])
    >>> wrong(error, note)
    'border: one word too long at the start'
    """
    gold, found = finding.gold, finding.predicted
    if found is None:
        return f"missed, gold {_type(gold)}"
    if gold is None:
        return f"invented, found as {_type(found)}"
    if finding.kind in _BORDERS:
        return f"{_BORDERS[finding.kind]}: {_border(gold, found, document)}"
    if finding.kind == "type":
        return f"found as {_type(found)}, gold {_type(gold)}"
    if finding.kind == "head":
        return f"head {_head(found, document)}, gold {_head(gold, document)}"
    return f"linked to {_concepts(found)}, gold {_concepts(gold)}"


def _border(gold: Mention, found: Mention, document: Document) -> str:
    right, marked = (words_in(document, mention.spans) for mention in (gold, found))
    extra, lacking = marked - right, right - marked
    if extra and lacking:
        return f"{_words(extra)} too many, {_words(lacking)} missing"
    if extra:
        return f"{_words(extra)} too long{_where(extra, right)}"
    return f"{_words(lacking)} too short{_where(lacking, marked)}" if lacking else "inside a word"


def _words(numbers: set[int]) -> str:
    count = len(numbers)
    return f"{_NUMBERS[count] if count < len(_NUMBERS) else f'{count:,}'} word{'s' * (count > 1)}"


def _where(numbers: set[int], others: set[int]) -> str:
    """Return at which end of other words some words are, if at one."""
    if others and max(numbers) < min(others):
        return " at the start"
    return " at the end" if others and min(numbers) > max(others) else ""


def _type(mention: Mention | None) -> str:
    return "" if mention is None else _own(mention.type)


def _head(mention: Mention, document: Document) -> str:
    return "none" if mention.head is None else _own(head_words(document.text, mention.head))


def _concepts(mention: Mention) -> str:
    return _own(", ".join(mention.concepts)) if mention.concepts else "no concept"


def _own(text: str) -> str:
    """Return a user's text as HTML, whose direction does not affect the text beside it."""
    return f"<bdi>{plain(text)}</bdi>"
