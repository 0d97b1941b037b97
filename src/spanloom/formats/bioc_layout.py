"""Where the pieces of a BioC document stand in its text, and which way of reading offsets makes sense.

A piece is a passage, or a sentence where only the sentences have text. It says at which offset of the document it
begins, and annotations count from the document's begin. Files are wrong about both, so that up to four readings are
tried, and the one under which most annotations show their own text is taken (the first of those that are equally
good):

``declared``
    as BioC says: each passage stands at its offset; what lies between two is blank.
``joined``
    passages are joined by one space, as the key of BC5CDR says, and annotations count in that text. In BC5CDR 31
    passages declare another offset, and their annotations show that they are wrong.
``own``
    passages are joined by one space, and annotations count from their own passage's offset; where each passage begins
    at 0, say.
``bytes``
    as ``declared``, in bytes of UTF-8, as the comments in BioC's DTD recommend.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from spanloom.document import Span
from spanloom.document.validate import beginning
from spanloom.formats.bioc_tree import Annotation, Section

Pieces = Sequence[tuple[int, int]]

_LARGEST_GAP = 1_000_000  # blanks; a larger gap is no layout but a mistake, or an attack on the memory
_BLANKS = 50  # times as long as its text in the file may a mention be, all of it white space
_BLANK = re.compile(r"\s+|\.\.\.|…")


class Layout(NamedTuple):
    """A reading.

    Args:
        name: as above.
        text: of the document.
        starts: where each passage begins in it.
        place: ``place(locations, passage)`` gives the spans of an annotation of a passage (``None``: of the document).
        base: the offset of the text's first character, as the annotations count.
    """

    name: str
    text: str
    starts: list[int]
    place: Callable[[Pieces, int | None], list[Span]]
    base: int


def layout(
    passages: Sequence[Section], texts: Sequence[str], annotated: Sequence[tuple[int | None, Annotation]]
) -> Layout:
    """The reading that agrees best with what annotations say their text is.

    Args:
        passages: with their offsets.
        texts: of the passages.
        annotated: the number of a passage, or ``None``, and an annotation with locations, for each.

    >>> passages = [Section(0), Section(15)]
    >>> found = layout(passages, ["Mild pain.", "No fever."], [(1, Annotation(locations=[(14, 5)], text="fever"))])
    >>> found.name, found.text, found.place([(14, 5)], 1)
    ('joined', 'Mild pain. No fever.', [Span(start=14, end=19)])
    """
    offsets = [passage.offset for passage in passages]
    readings = list(_readings(offsets, texts))
    if len(readings) == 1 or not annotated:
        return readings[0]
    return max(readings, key=lambda reading: _agreement(reading, texts, annotated))  # the first of equals


def agrees(text: str, spans: Sequence[Span], surface: str) -> bool:
    """Whether an annotation's text is what stands at its spans; how gaps are shown, and white space, do not count.

    >>> agrees("mild or severe pain", [Span(0, 4), Span(15, 19)], "mild ... pain")
    True
    """
    if any(start < 0 for start, _ in spans):
        return False
    found = beginning(spans, text, _BLANKS * (len(surface) + 1))
    return found == surface or _BLANK.sub("", found) == _BLANK.sub("", surface)


def _agreement(
    reading: Layout, texts: Sequence[str], annotated: Sequence[tuple[int | None, Annotation]]
) -> tuple[int, int]:
    """How many annotations show their text; if none gives any, how many lie in their passage."""
    shown = inside = 0
    for passage, annotation in annotated:
        spans = reading.place(annotation.locations, passage)
        shown += annotation.text is not None and agrees(reading.text, spans, annotation.text)
        if passage is not None:
            first = reading.starts[passage]
            inside += spans[0].start >= first and spans[-1].end <= first + len(texts[passage])
    return shown, 0 if any(annotation.text for _, annotation in annotated) else inside


def _readings(offsets: Sequence[int], texts: Sequence[str]) -> Iterator[Layout]:
    base = offsets[0] if offsets else 0
    ends = np.cumsum([len(text) + 1 for text in texts], dtype=np.int64)
    joined: list[int] = [0, *ends[:-1].tolist()] if texts else []
    declared = _declared(offsets, [len(text) for text in texts], base)
    if declared is not None:
        yield Layout("declared", _text(declared, texts), declared, _counted_from(base), base)
    if declared != joined:
        yield Layout("joined", " ".join(texts), joined, _counted_from(base), base)
    if any(offset - base != start for offset, start in zip(offsets, joined, strict=True)):
        shifts = [offset - start for offset, start in zip(offsets, joined, strict=True)]
        yield Layout(
            "own", " ".join(texts), joined, lambda pieces, passage: _moved(pieces, shifts, passage, base), base
        )
    if not all(map(str.isascii, texts)):
        raw = _declared(offsets, [len(text.encode("utf-8", "surrogatepass")) for text in texts], base)
        if raw is not None:
            yield _in_bytes(raw, texts, base)


def _declared(offsets: Sequence[int], lengths: Sequence[int], base: int) -> list[int] | None:
    starts = [offset - base for offset in offsets]
    gaps = [start - end for start, end in zip(starts, [0, *map(sum, zip(starts, lengths, strict=True))], strict=False)]
    return starts if all(gap >= 0 for gap in gaps) and sum(gaps) <= _LARGEST_GAP else None


def _text(starts: Sequence[int], texts: Sequence[str]) -> str:
    parts: list[str] = []
    length = 0
    for start, text in zip(starts, texts, strict=True):
        parts += [" " * (start - length), text]
        length = start + len(text)
    return "".join(parts)


def _counted_from(base: int) -> Callable[[Pieces, int | None], list[Span]]:
    return lambda pieces, _: [Span(offset - base, offset - base + length) for offset, length in pieces]


def _moved(pieces: Pieces, shifts: Sequence[int], passage: int | None, base: int) -> list[Span]:
    shift = base if passage is None else shifts[passage]
    return [Span(offset - shift, offset - shift + length) for offset, length in pieces]


def _in_bytes(starts: Sequence[int], texts: Sequence[str], base: int) -> Layout:
    """Offsets in bytes of UTF-8; one inside a character stands for that character's begin."""
    in_bytes = _text(starts, [text.encode("utf-8", "surrogatepass").decode("latin-1") for text in texts]).encode(
        "latin-1"
    )
    text = in_bytes.decode("utf-8", "surrogatepass")
    begins = (np.frombuffer(in_bytes, np.uint8) & 0xC0) != 0x80
    number = np.append(np.cumsum(begins) - 1, len(text))

    def character(offset: int) -> int:
        return int(number[offset]) if 0 <= offset < len(number) else offset

    def place(pieces: Pieces, _: int | None) -> list[Span]:
        return [Span(character(offset - base), character(offset - base + length)) for offset, length in pieces]

    return Layout("bytes", text, [character(start) for start in starts], place, base)
