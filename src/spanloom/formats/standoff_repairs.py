"""What a brat line means where it does not say it as it should: fragments out of order, other white space.

brat itself writes fragments in the order in which they were marked, and other tools leave a blank at the end of a
mention's text or of its offsets. Both can be meant in one way only, so they are read, and told.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from spanloom.document import Mention, Span
from spanloom.document.validate import SHOWN, flat

_BLANKS = 1_000  # of white space in a mention that is looked at, at the least


class Settled(NamedTuple):
    """A mention as it is meant.

    Args:
        mention: with its spans in text order.
        surface: its text, where that of the line says the same; else what the line says.
        repairs: a short name to count by, and what was found and done, for each repair.
    """

    mention: Mention
    surface: str | None
    repairs: list[tuple[str, str]]


def settled(mention: Mention, surface: str | None, text: str) -> Settled:
    """A mention as it is meant, and what had to be done for it.

    Args:
        mention: as its line says, with fragments in any order.
        surface: the text that the line gives for it; ``None`` if it gives none.
        text: the document's.

    >>> settled(Mention("problem", [(15, 19), (0, 4)]), "pain mild", "mild or severe pain").mention.spans
    (Span(start=0, end=4), Span(start=15, end=19))
    >>> settled(Mention("problem", [(0, 5)]), "mild", "mild pain").mention.spans
    (Span(start=0, end=4),)
    """
    repairs = []
    ordered = mention.replace(spans=sorted(mention.spans)) if len(mention.spans) > 1 else mention
    if ordered.spans != mention.spans:
        message = f"the fragments {_places(mention)} stand out of text order; they were sorted"
        repairs.append(("fragments out of order", message))
    if surface is None:
        return Settled(ordered, None, repairs)
    if sum(end - start for start, end in mention.spans) > 4 * len(surface) + _BLANKS:
        return Settled(
            ordered, surface, repairs
        )  # too long to differ in white space; longer than needs to be looked at
    found = [flat(mention.text(text)), flat(ordered.text(text))]
    if flat(surface) in found:
        return Settled(ordered, ordered.text(text), repairs)
    if not surface.split() or surface.split() not in map(str.split, found):
        return Settled(ordered, surface, repairs)
    trimmed = ordered.replace(spans=list(_trimmed(ordered.spans, text)))
    message = (
        f"the text {_clip(surface)} and {_clip(ordered.text(text))}, which stands at {_places(ordered)}, differ in "
        f"white space; read as {_clip(trimmed.text(text))}"
    )
    return Settled(trimmed, trimmed.text(text), [*repairs, ("other white space", message)])


def _trimmed(spans: tuple[Span, ...], text: str) -> Iterator[Span]:
    """Spans without the white space at their ends; one that holds nothing else goes."""
    for start, end in spans:
        piece = text[start:end]
        if piece.strip():
            yield Span(start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip()))


def _places(mention: Mention) -> str:
    return ";".join(f"{start}-{end}" for start, end in mention.spans)


def _clip(text: str) -> str:
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")
