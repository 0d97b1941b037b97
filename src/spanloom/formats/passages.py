"""Passages of BigBIO: pieces of a text with their offsets, and the text that they make up."""

from __future__ import annotations

from spanloom.document.validate import Problem
from spanloom.formats.kinds import are, is_pair


def text_of_passages(passages: object, problems: list[Problem]) -> str | None:
    """Return the text of passages at their offsets, with spaces between them."""
    pieces: list[tuple[int, int, str, str]] = []
    for i, passage in enumerate(passages if isinstance(passages, list) else [None]):
        place, wrong = f"passages[{i}]", ""
        texts, offsets = (passage.get("text"), passage.get("offsets")) if isinstance(passage, dict) else (None, None)
        texts = [texts] if isinstance(texts, str) else texts
        if not isinstance(passage, dict):
            wrong = "it is missing or of another type, expected an object with text and offsets"
        elif not are(texts, str):
            wrong = "text is missing or of another type, expected a list of strings"
        elif (
            not isinstance(offsets, list)
            or len(offsets) != len(texts)
            or not all(is_pair(one) and min(one) >= 0 for one in offsets)
        ):
            wrong = "offsets is missing or of another type, expected one [start, end] pair of integers for each text"
        if wrong:
            problems.append(Problem("error", "wrong field", wrong, place))
            return None
        pieces += [(start, end, text, place) for (start, end), text in zip(offsets, texts, strict=True)]  # type: ignore[arg-type]
    return _joined(sorted(pieces, key=lambda piece: piece[0]), problems)


def _joined(pieces: list[tuple[int, int, str, str]], problems: list[Problem]) -> str | None:
    parts: list[str] = []
    length, sound = 0, True
    longest = sum(len(piece) for _, _, piece, _ in pieces) * 2 + 10_000  # a gap beyond is a mistake or an attack
    for start, end, piece, place in pieces:
        if end - start == len(piece) and length <= start <= longest:
            parts += [" " * (start - length), piece]
            length = end
            continue
        sound, message = False, f"offset {start} does not fit after a text of {length} characters"
        if end - start != len(piece):
            message = f"offsets {start}-{end} are {end - start} characters apart, but the text has {len(piece)}"
            message += _unit(piece, end - start)
        problems.append(Problem("error", "passage", message, place))
    return "".join(parts) if sound else None


def _unit(text: str, length: int) -> str:
    if length == len(text.encode("utf-16-le", "surrogatepass")) // 2:
        return "; they are counted in UTF-16 units: count Unicode characters"
    if length == len(text.encode("utf-8", "surrogatepass")):
        return "; they are counted in UTF-8 bytes: count Unicode characters"
    return ""


def without_texts(passages: object) -> object:
    """Return passages without what the text of the document holds."""
    if not isinstance(passages, list):
        return passages
    return [
        {name: value for name, value in passage.items() if name != "text"} if isinstance(passage, dict) else passage
        for passage in passages
    ]
