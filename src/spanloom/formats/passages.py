"""Passages of BigBIO: pieces of a text with their offsets, and the text that they make up."""

from __future__ import annotations

from spanloom.document.validate import Problem
from spanloom.formats.json_text import not_as_expected
from spanloom.formats.kinds import are, is_pair


def text_of_passages(passages: object, problems: list[Problem]) -> str | None:
    """Return the text of passages at their offsets, with spaces between them; ``None`` if they are invalid."""
    pieces: list[tuple[int, int, str, str]] = []
    for i, passage in enumerate(passages if isinstance(passages, list) else [None]):
        place = f"passages[{i}]"
        texts, offsets = (passage.get("text"), passage.get("offsets")) if isinstance(passage, dict) else (None, None)
        texts = [texts] if isinstance(texts, str) else texts
        if not (
            are(texts, str) and isinstance(offsets, list) and len(offsets) == len(texts)
            and all(is_pair(one) and min(one) >= 0 for one in offsets)
        ):  # fmt: skip
            expected = "an object with text, strings, and offsets, one [start, end] pair of integers for each text"
            problems.append(Problem("error", "wrong field", not_as_expected(place, passage, expected)))
            return None
        pieces += [(*span, text, place) for span, text in zip(offsets, texts, strict=True)]
    parts: list[str] = []
    length, found = 0, len(problems)
    longest = sum(len(piece) for _, _, piece, _ in pieces) * 2 + 10_000  # a gap beyond is a mistake or an attack
    for start, end, piece, place in sorted(pieces, key=lambda piece: piece[0]):
        if end - start != len(piece):
            message = f"offsets {start}-{end} are {end - start} characters apart, but the text has {len(piece)}"
            problems.append(Problem("error", "passage", message + _unit(piece, end - start), place))
        elif start < length or start > longest:
            message = f"offset {start} does not fit after a text of {length} characters"
            problems.append(Problem("error", "passage", message, place))
        else:
            parts += [" " * (start - length), piece]
            length = end
    return "".join(parts) if len(problems) == found else None


def _unit(text: str, length: int) -> str:
    for encoding, size, unit in (("utf-16-le", 2, "UTF-16 units"), ("utf-8", 1, "UTF-8 bytes")):
        if size * length == len(text.encode(encoding, "surrogatepass")):
            return f"; they are counted in {unit}: count Unicode characters"
    return ""


def without_texts(passages: object) -> object:
    """Return passages without what the text of the document holds."""
    if not isinstance(passages, list):
        return passages
    return [
        {name: value for name, value in passage.items() if name != "text"} if isinstance(passage, dict) else passage
        for passage in passages
    ]
