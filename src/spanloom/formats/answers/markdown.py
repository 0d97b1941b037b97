"""Quotes in Markdown: a table with columns for text and type, or a list such as ``- Type: a, b`` or ``- a (Type)``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from spanloom.formats.answers.json_quotes import Quote, Quotes, is_nothing, quotes_in

_BULLETS: Final = ("- ", "* ", "• ", "+ ", "– ", "· ")
_ARROWS: Final = (" -> ", " → ", " => ", " – ", " — ", " - ")
_QUOTES: Final = "\"'`“”‘’"

Stands = Callable[[str], bool]


def read_markdown(text: str, stands: Stands) -> Quotes | None:
    """Return the quotes of tables and lists in a text; ``None`` if there are none.

    Args:
        text: the answer.
        stands: whether a text is a quote of the document, which decides where an item can be read in two ways.

    >>> document = "Mild cough, chest pain; aspirin."
    >>> answer = "## Problems\\n- cough\\n- **chest pain**\\n\\nOthers:\\n- aspirin (drug)\\n- Severity: Mild"
    >>> [(quote.type, *quote.parts) for quote in read_markdown(answer, document.__contains__).found]
    [('Problems', 'cough'), ('Problems', 'chest pain'), ('drug', 'aspirin'), ('Severity', 'Mild')]
    """
    lines = text.splitlines()
    quotes = _table(lines, stands) or _list(lines, stands)
    return quotes if quotes is not None and (quotes.found or quotes.odd) else None


def _table(lines: Sequence[str], stands: Stands) -> Quotes | None:
    """Return what tables list; the line of dashes below a table's head tells that it is one."""
    found: list[Quote] = []
    odd: list[str] = []
    head: list[str] | None = None
    for number, line in enumerate(lines, 1):
        cells = _cells(line)
        if cells is None:
            head = None
        elif all(cell and not cell.strip(":-") for cell in cells):
            head = _cells(lines[number - 2]) if number > 1 else None
        elif head is not None:
            row = quotes_in(dict(zip(head, cells, strict=False)), stands)
            quotes = [] if row is None or len(cells) != len(head) else row.found
            if len(quotes) == 1 and quotes[0].type is not None:
                found.append(Quote(quotes[0].type, quotes[0].parts, f"line {number}", quotes[0].context))
            elif any(cells) and not all(map(is_nothing, cells)):
                odd.append(f"line {number}")
    return Quotes(found, odd) if found else None


def _cells(line: str) -> list[str] | None:
    line = line.strip()
    if "|" not in line:
        return None
    line = line.removeprefix("|").removesuffix("|").replace(r"\|", "\0")
    return [_bare(cell.replace("\0", "|")) for cell in line.split("|")]


def _bare(text: str) -> str:
    """Return a text without the marks of Markdown around it."""
    return text.strip().strip("*_").strip().strip(_QUOTES).strip()


class _Item:
    """An item of a list: its text, the type that the lines above it name, and its place."""

    def __init__(self, text: str, kind: str | None, place: str) -> None:
        self.text, self.kind, self.place = text, kind, place


def _list(lines: Sequence[str], stands: Stands) -> Quotes | None:
    quotes = Quotes([], [])
    items = _items(lines)
    named = [item for item in items if _split(item.text) is not None]
    by_text = sum(_leads(item, stands) for item in named)
    for item in items:
        sides = _split(item.text)
        inside = _in_brackets(item.text)
        if sides is None and inside is not None and not stands(_bare(item.text)):
            quotes.found.append(Quote(inside[1], (inside[0],), item.place))
        elif sides is None or stands(_bare(item.text)):
            _add(quotes, item.kind, item.text, item.place, stands)
        elif by_text > 0:  # the items begin with texts, and end with types
            quotes.found.append(Quote(_bare(sides[1]), (_bare(sides[0]),), item.place))
        else:
            _add(quotes, _bare(sides[0]), sides[1], item.place, stands)
    return quotes if items else None


def _items(lines: Sequence[str]) -> list[_Item]:
    found: list[_Item] = []
    kind: str | None = None
    for number, line in enumerate(lines, 1):
        text = _without_bullet(line.strip())
        heading = _heading(line.strip() if text is None else text)
        if heading is not None and (text is None or not _is_last(lines, number)):
            kind = heading
        elif text:
            found.append(_Item(text, kind, f"line {number}"))
        elif line.strip():
            kind = None  # prose: what was said above it does not hold for the next list
    return found


def _is_last(lines: Sequence[str], number: int) -> bool:
    """Whether nothing but blank lines stands below a line."""
    return not any(line.strip() for line in lines[number : number + 2])


def _without_bullet(line: str) -> str | None:
    bullet = next((bullet for bullet in _BULLETS if line.startswith(bullet)), None)
    if bullet is not None:
        return line[len(bullet) :].strip()
    number, dot, rest = line.partition(". ") if ". " in line[:6] else line.partition(") ")
    return rest.strip() if dot and number.isdecimal() and len(number) < 5 else None


def _heading(line: str) -> str | None:
    """Return what a heading names, ``None`` for other lines."""
    bare = line.strip("*_ ")
    if line.startswith("#"):
        return _bare(line.lstrip("#")).rstrip(":") or None
    if bare.endswith(":") and len(bare) < 60:
        return _bare(bare[:-1]) or None
    return None


def _split(text: str) -> tuple[str, str] | None:
    """Return both sides of an item with a colon or an arrow."""
    for mark in (":**", "**:", ": ", *_ARROWS):
        left, found, right = text.partition(mark)
        if found and left.strip("* ") and right.strip():
            return (left + "**" * (mark == "**:"), right)
    return None


def _in_brackets(text: str) -> tuple[str, str] | None:
    """Return text and type of ``a (Type)`` or ``a [Type]``."""
    for opening, closing in ("()", "[]"):
        if text.endswith(closing) and f" {opening}" in text:
            left, _, right = text[:-1].rpartition(f" {opening}")
            if _bare(left) and _bare(right):
                return _bare(left), _bare(right)
    return None


def _leads(item: _Item, stands: Stands) -> int:
    """Return 1 if an item begins with a text and ends with a type, -1 if it is the other way round, 0 if unknown."""
    left, right = _split(item.text) or ("", "")
    is_left, is_right = stands(_bare(left)), any(stands(piece) for piece in _pieces(right, stands))
    if is_left != is_right:
        return 1 if is_left else -1
    return 1 if left.startswith("**") and "," not in right and is_left else 0


def _pieces(text: str, stands: Stands) -> list[str]:
    """Return the texts of an enumeration; commas may stand in a text that is a quote."""
    whole = _bare(text)
    if stands(whole):
        return [whole]
    pieces = [_bare(piece) for piece in text.split(";" if ";" in text else ",")]
    joined: list[str] = []
    for piece in pieces:
        both = f"{joined[-1]}, {piece}" if joined else piece
        if joined and not stands(piece) and stands(both):
            joined[-1] = both
        else:
            joined.append(piece)
    return [piece for piece in joined if piece]


def _add(quotes: Quotes, kind: str | None, text: str, place: str, stands: Stands) -> None:
    for piece in _pieces(text, stands):
        if not is_nothing(piece) or stands(piece):
            quotes.found.append(Quote(kind, (piece,), place))
