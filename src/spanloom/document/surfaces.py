"""The text that a file gives of a mention beside its offsets: whether both agree, and in which way they differ.

Files write a mention's text in their own way. Differences with one meaning do not matter: white space, marks of a gap
between two parts (``...``), composed and decomposed letters, compatible forms, hyphens, quotation marks, Greek letters
of another code or spelled, entities of HTML, and invisible characters. Letter case does: no tool changes it.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Sequence
from typing import Final

from spanloom.document.span import Mention, Span, joined_spans

_FLAT: Final = str.maketrans("\n\r\t", "   ")
_BLANKS: Final = 1_000  # characters by which a mention may be longer than its text in the file, at the most
_BETWEEN: Final = 12  # characters between two parts, none of them a letter or a digit: "...", " | ", " [...] "
_ALIKE: Final = {
    **dict.fromkeys("‐‑‒–—―−﹘﹣－⁃˗", "-"),
    **dict.fromkeys("‘’‚‛′`´ʼʹ＇", "'"),
    **dict.fromkeys("“”„‟″«»＂〝〞", '"'),
    **dict.fromkeys("·•∙⋅・", "."),
    **dict.fromkeys("×✕⨯", "x"),
    "∆": "Δ", "ß": "β", "ɑ": "α", "ɛ": "ε", "ɣ": "γ", "ʎ": "λ", "ɩ": "ι", "∑": "Σ", "∏": "Π",
    "∼": "~", "˜": "~", "∗": "*",
}  # fmt: skip
_GREEK: Final = {
    chr(code): spelled if name.startswith("GREEK SMALL") else spelled.capitalize()
    for code in range(0x391, 0x3CA)
    if (name := unicodedata.name(chr(code), ""))
    if (spelled := name.rpartition(" ")[2].lower().replace("lamda", "lambda"))
}
_SPELLED: Final = str.maketrans(_ALIKE)
_NAMED: Final = str.maketrans(_GREEK)


def flat(text: str) -> str:
    """Replace each line end and tab by a space, as line-based formats write a mention's text."""
    return text.translate(_FLAT)


def beginning(spans: Sequence[tuple[int, int]], text: str, most: int) -> str:
    """Return the first ``most`` characters of a mention's surface, without a look at the rest of a long mention.

    >>> beginning([(0, 4), (11, 15)], "mild or no pain", 6)
    'mild p'
    """
    parts: list[str] = []
    left = most
    for start, end in spans:
        first, behind, _ = slice(start, end).indices(len(text))
        parts.append(text[first : min(behind, first + left)])
        left -= len(parts[-1]) + 1
        if left <= 0:
            break
    return " ".join(parts)[:most]


def difference(text: str, spans: Sequence[tuple[int, int]], surface: str) -> str | None:
    """Return how a file's text of a mention differs from the text at its spans.

    Args:
        text: of the document.
        spans: in the order of the file; they may lie outside the text.
        surface: the mention's text in the file.

    Returns:
        ``""`` for no difference beside line ends and tabs; ``"white space"``, ``"marks of gaps"`` or ``"spelling of
        characters"`` for one with a single meaning; ``None`` for another text.

    >>> text = "Greek α-synuclein  is mild or severe"
    >>> difference(text, [(6, 17)], "α-synuclein"), difference(text, [(6, 21)], "α-synuclein is")
    ('', 'white space')
    >>> difference(text, [(22, 26), (30, 36)], "mild ... severe"), difference(text, [(6, 17)], "alpha–synuclein")
    ('marks of gaps', 'spelling of characters')
    >>> difference(text, [(6, 17)], "α-Synuclein") is None
    True
    """
    if any(not 0 <= start <= end <= len(text) for start, end in spans):
        return None
    if sum(end - start for start, end in spans) > 8 * len(surface) + _BLANKS:
        return None  # too long to be the same, and longer than needs to be looked at
    parts = [text[start:end] for start, end in spans]
    found = " ".join(parts)
    if surface == found or flat(surface) == flat(found):
        return ""
    closed = "".join(surface.split())
    if not closed:
        return None
    if "".join(found.split()) in (closed, "".join(surface.replace("\\n", "\n").split())):  # as Label Studio writes it
        return "white space"
    if _joins(parts, surface):
        return "marks of gaps"
    plain = [_plain(part) for part in parts]
    if _plain(surface) == "".join(plain) or _joins(plain, _plain(surface)):
        return "spelling of characters"
    return None


def _joins(parts: Sequence[str], surface: str) -> bool:
    """Return whether a surface is the parts of a mention in this order, with marks between them."""
    words, rest = ["".join(part.split()) for part in parts], "".join(surface.split())
    if len(words) < 2 or not all(words) or not rest.startswith(words[0]):
        return False
    at = len(words[0])
    for word in words[1:]:
        found = rest.find(word, at, at + _BETWEEN + len(word))
        if found < 0 or any(map(str.isalnum, rest[at:found])):
            return False
        at = found + len(word)
    return at == len(rest)


def _plain(text: str) -> str:
    """Return a text without white space, in one spelling of characters that are written in several ways."""
    text = html.unescape(text) if "&" in text else text
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_SPELLED)).translate(_SPELLED).translate(_NAMED)
        text = "".join(character for character in text if unicodedata.category(character) != "Cf")
    return "".join(text.split())


def has_blank_ends(mention: Mention, text: str) -> bool:
    """Return whether a span of a mention is empty, or begins or ends with white space."""
    return any(start >= end or text[start].isspace() or text[end - 1].isspace() for start, end in mention.spans)


def trimmed(mention: Mention, text: str) -> Mention | None:
    r"""Return a mention as it is read.

    White space at the ends of its spans, and spans of nothing else, are left out; two spans with only white space
    between them that holds a line end, as brat divides a mention at line ends, are one.

    Args:
        mention: with its spans inside the text, in order.
        text: of the document.

    Returns:
        The mention itself if it is so already, or is all white space; ``None`` if it has no character.

    >>> trimmed(Mention("problem", [(0, 5)]), "mild pain").spans
    (Span(start=0, end=4),)
    >>> trimmed(Mention("problem", [(0, 4), (7, 11)]), "mild\n  pain").spans
    (Span(start=0, end=11),)
    >>> trimmed(Mention("problem", [(4, 4)]), "mild pain") is None
    True
    """
    if not has_blank_ends(mention, text):
        spans = _over_line_ends(mention.spans, text)
        return mention if len(spans) == len(mention.spans) else mention.replace(spans=spans)
    stripped = [span for start, end in mention.spans if (span := stripped_span(start, end, text)) is not None]
    if not stripped:
        return mention if any(start < end for start, end in mention.spans) else None
    head = None if mention.head is None else stripped_span(*mention.head, text)
    return mention.replace(spans=_over_line_ends(stripped, text), head=head)


def _over_line_ends(spans: Sequence[Span], text: str) -> tuple[Span, ...]:
    return joined_spans(text, spans, lambda gap: gap.isspace() and ("\n" in gap or "\r" in gap))


def stripped_span(start: int, end: int, text: str) -> Span | None:
    """Return a span without the white space at its ends; ``None`` if it has nothing else."""
    piece = text[start:end]
    first = start + len(piece) - len(piece.lstrip())
    return Span(first, first + len(piece.strip())) if piece.strip() else None
