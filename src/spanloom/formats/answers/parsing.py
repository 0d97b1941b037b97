"""Parsing of an answer: JSON, the text again with inline markup, or a table or list in Markdown.

JSON is tried first, because no other form is mistaken for it; then markup; then tables and lists; then ``**``, which
lists contain, too; last the unmarked text, which means that there is no mention.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from spanloom.document import Span
from spanloom.errors import DataError, clip
from spanloom.formats.answers.finding import CopyAlignment, Finder, Occurrences, fold
from spanloom.formats.answers.json_quotes import Occurs, Quote, Quotes, blocks, is_nothing, quotes_in, values
from spanloom.formats.inline_marks import edit
from spanloom.formats.layouts import words
from spanloom.text.patterns import pattern

MOST_QUOTES: Final = 100_000  # in one answer; a model that repeats itself endlessly writes more
_MOST_COPIED: Final = 20  # maximum length of a copy or list, relative to the document
_MARGIN: Final = 100_000  # characters that a copy or list may have in any case
_REPEATS: Final = 0.8  # minimum share of a copy's words that are aligned with the document
_COVERS: Final = 0.5  # minimum share of the document's words that are aligned with a copy
_NEARLY_ALL: Final = 0.9  # share of the words of either that are aligned, for a copy without remarks
_THOUGHTS: Final = "</think>"
_TAGGED: Final = words("annotated_text tagged_text marked_text annotated tagged output answer result text")

_SPECIAL: Final = re.compile(r"</?\s*(?P<name>[^\W\d_][^<>]{0,196})>|</>|[\[\]]|@@|##|&(?:lt|gt|amp|quot|apos|#39);")
_BEHIND: Final = re.compile(r"\(\s*([^\W\d_](?:(?!://)[^()\n]){0,196})\s*\)")  # a bracket: its type
_BOLD: Final = re.compile(r"\*\*")
_ATTRIBUTE: Final = pattern(r"([\w:-]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++))")
_MOST_FORMS: Final = 10_000  # distinct pieces of markup that are searched for in the document
_KINDS: Final = ("type", "label", "class", "category", "entity_type", "name")
_PLAIN: Final = {"mark", "span", "entity", "ent", "mention", "e", "em", "b", "strong", "i", "u"}
_WRAPPERS: Final = {"answer", "output", "result", "response", "text", "document", "annotated_text", "annotated"}
_ENTITIES: Final = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&apos;": "'", "&#39;": "'"}

_ITEM: Final = re.compile(r"(?:[-*•+–·]|\d{1,4}[.)]) (.*)", re.DOTALL)
_ARROWS: Final = (" -> ", " → ", " => ", " – ", " — ", " - ")
_QUOTES: Final = "\"'`“”‘’"


class Understood(NamedTuple):
    """The content of an answer.

    Args:
        content: quotes, or a copy of the text with marks.
        cut: how the answer is incomplete, if it is.
        added: what a copy adds to the text, if it does.
    """

    content: Quotes | Copy
    cut: str | None = None
    added: str | None = None


def understand(answer: object, finder: Finder) -> Understood:
    """Parse an answer.

    Args:
        answer: a string, or what JSON gives.
        finder: of the document.

    Raises:
        DataError: an answer that is empty, or whose form is not supported.

    >>> finder = Finder("No pain.")
    >>> quotes, *_ = understand('Here:\\n```json\\n[{"text": "pain", "type": "problem"}]\\n```', finder)
    >>> quotes.found[0].parts
    ('pain',)
    >>> copy, *_ = understand("No <problem>pain</problem>.", finder)
    >>> copy.marked.marks
    [Mark(type='problem', start=3, end=7)]
    """
    understood = _understood(answer, finder, depth=0)
    content = understood.content
    number = len(content.found) if isinstance(content, Quotes) else len(content.marked.marks)
    if number > MOST_QUOTES:
        raise DataError(f"the answer has {number:,} mentions, expected at most {MOST_QUOTES:,}; does it repeat itself?")
    return understood


def _understood(answer: object, finder: Finder, depth: int) -> Understood:
    if answer is None:
        raise DataError("there is no answer; expected a string, or JSON")
    if isinstance(answer, str):
        return _of_text(answer, finder, depth)
    if (inner := _tagged(answer)) is not None and depth < 2:
        return _understood(inner, finder, depth + 1)
    if (quotes := quotes_in(answer, finder.occurs)) is None:
        shown = clip(repr(answer)[:200] if isinstance(answer, list | dict) else str(answer))
        raise DataError(f"the answer's JSON holds no mention: {shown}; expected texts with types")
    return Understood(quotes)


def _tagged(answer: object) -> str | None:
    """Return the text of an object that has nothing else but the text with its markup."""
    if not isinstance(answer, dict) or any(isinstance(one, list | dict) for one in answer.values()):
        return None
    texts = [answer[name] for name in _TAGGED if isinstance(answer.get(name), str)]
    return texts[0] if len(texts) == 1 and "type" not in answer and "label" not in answer else None


def _of_text(text: str, finder: Finder, depth: int) -> Understood:
    if not (text := text.rpartition(_THOUGHTS)[2].strip()):
        raise DataError("the answer is empty; expected mentions, or [] for none")
    contents = blocks(text)
    found = [one for content in contents for one in values(content)]
    if found and found[0].whole and depth < 2:
        value = found[0].value
        inner = value if isinstance(value, str) and len(found) == 1 else _tagged(value)
        if inner is not None:
            return _understood(inner, finder, depth + 1)
    lists = [quotes_in(one.value, finder.occurs) for one in found if isinstance(one.value, list | dict)]
    parts = [part for part in lists if part is not None]
    json = Quotes([one for part in parts for one in part.found], [one for part in parts for one in part.odd])
    broken = next((f"its JSON breaks off at character {one.broken:,}" for one in found if one.broken is not None), None)
    if parts and (json.found or any(one.whole for one in found)):
        return Understood(json, broken)
    if len(text) <= _MOST_COPIED * len(finder.text) + _MARGIN:  # a longer answer repeats itself
        copy = Copy(read_markup(max(contents, key=len), finder.text), finder)
        marks, repeats = copy.marked.marks, copy.aligned.of_copy >= _REPEATS
        of_text, other = copy.aligned.of_text, 1 - copy.aligned.of_copy
        clear = (marks and not copy.marked.bold) or (repeats and of_text >= _COVERS)
        listed = None if clear else read_markdown(text, finder.occurs)
        if listed is not None:
            return Understood(listed)
        if marks or repeats:
            cut = None if of_text >= _NEARLY_ALL else f"it has {of_text:.0%} of the document's words"
            added = None if other <= 1 - _NEARLY_ALL else f"{other:.0%} of the answer's words are not the document's"
            return Understood(copy, cut, added)
    if parts:
        return Understood(json, broken)
    if is_nothing(text) and any(map(str.isalpha, text)):
        return Understood(Quotes([], []))
    expected = "expected JSON, the text with tags, a table or a list"
    raise DataError(f"the answer has no mentions in a shape that is known: {clip(text)}; {expected}")


class Copy:
    """A copy of a text with marks.

    Args:
        marked: the copy.
        finder: of the text.

    >>> text = "He has mild\\nchest pain today, and no fever."
    >>> copy = Copy(read_markup("he has <x>mild chest pain</x>, and no <x>cough</x>.", text), Finder(text))
    >>> [copy.find(mark) for mark in copy.marked.marks]
    [Occurrences(spans=[(Span(start=7, end=22),)], exact=False, whole=True, too_many=False), None]
    """

    def __init__(self, marked: Marked, finder: Finder) -> None:
        self.marked, self._finder = marked, finder
        self._folded = fold(marked.text, case=True)
        self.aligned = CopyAlignment(self._folded.text, finder.caseless.text)

    def quote(self, mark: Mark) -> str:
        """Return the marked text."""
        return self.marked.text[mark.start : mark.end].strip()

    def find(self, mark: Mark) -> Occurrences | None:
        """Return the occurrences of a marked text: where it is aligned, else between the aligned words around it."""
        quote, text = self.quote(mark), self._folded.text
        first, end = (bisect_left(self._folded.starts, place) for place in (mark.start, mark.end))
        piece = text[first:end]
        first += len(piece) - len(piece.lstrip(" "))
        end = first + len(piece.strip(" "))
        if first == end:
            return None
        original = self._finder.caseless
        ends = self._folded.ends
        cut = ends[end - 1] > mark.end  # between a letter and its accent
        while first and ends[first - 1] > mark.start:
            first, cut = first - 1, True
        place = None if cut else self.aligned.place(first, end)
        span = None if place is None else original.span(*place)
        if span is not None:
            return Occurrences([(Span(*span),)], self._finder.text[slice(*span)] == quote)
        found, (first, end) = self._finder.find(quote), self.aligned.window(first, end)
        if found is None or first >= end:
            return None
        start, stop = original.starts[first], original.ends[end - 1]
        spans = [one for one in found.spans if start <= one[0].start and one[-1].end <= stop]
        return found._replace(spans=spans) if spans else None


class Mark(NamedTuple):
    """A mark on ``text[start:end]``, with its type, ``None`` if the markup has none."""

    type: str | None
    start: int
    end: int


class Marked(NamedTuple):
    """A text without its markup.

    Args:
        text: the text.
        marks: the marks, in the order of their ends.
        stray: markup that opens nothing or closes nothing.
        bold: whether the only markup is ``**``.
    """

    text: str
    marks: list[Mark]
    stray: list[str]
    bold: bool


def read_markup(answer: str, document: str) -> Marked:
    """Read inline markup: ``<type>..</type>``, ``[..](type)``, ``@@..##`` or ``**..**``.

    This is a scanner of one pass, not an XML parser: tags may cross or be unclosed, and literal ``<`` and ``&`` are
    allowed. Markup that the document itself contains is text.

    Args:
        answer: the text with markup.
        document: the text that was to be marked.

    >>> read_markup("No <problem><site>chest</site> pain</problem> & p<5", "No chest pain & p<5").marks
    [Mark(type='site', start=3, end=8), Mark(type='problem', start=3, end=13)]
    >>> read_markup("No [chest pain](problem) [1].", "No chest pain [1].")
    Marked(text='No chest pain [1].', marks=[Mark(type='problem', start=3, end=13)], stray=[], bold=False)
    """
    return _Scanner(answer, document).scan()


class _Scanner:
    def __init__(self, answer: str, document: str) -> None:
        self._answer, self._document = answer, document
        self._literal: dict[str, bool] = {}
        self._tags: dict[str, list[tuple[int, str | None]]] = {}  # by name: the ends of open tags, and types
        self._opened: list[str] = []  # names, in the order of their tags
        self._changes: list[tuple[int, int, str]] = []  # start, end, and replacement
        self._marks: list[Mark] = []
        self._stray: list[str] = []

    def scan(self) -> Marked:
        brackets: list[int] = []
        pairs: list[int] = []
        done = 0
        for found in _SPECIAL.finditer(self._answer):
            markup, (at, end) = found[0], found.span()
            if at < done:
                continue
            if markup == "[":
                brackets.append(end)
            elif markup == "]":
                start, behind = brackets.pop() if brackets else None, _BEHIND.match(self._answer, end)
                if start is not None and behind is not None and not self._is_text(markup + behind[0]):
                    done = behind.end()
                    self._changes += [(start - 1, start, ""), (at, done, "")]
                    self._marks.append(Mark(behind[1].strip(), start, at))
            elif markup == "##":
                if pairs:
                    self._changes.append((at, end, ""))
                    self._marks.append(Mark(None, pairs.pop(), at))
            elif not self._is_text(markup) and not (found["name"] or "").rstrip().endswith("/"):
                self._changes.append((at, end, _ENTITIES.get(markup, "")))
                if markup == "@@":
                    pairs.append(end)
                elif markup[:1] == "<":
                    self._tag(markup, (found["name"] or "").strip(), at, end)
        for name, tags in self._tags.items():
            self._stray += [f"<{name}> is not closed"] * len(tags)
        self._stray += ["@@ is not closed"] * len(pairs)
        bold = not self._marks and "**" in self._answer and "**" not in self._document
        if bold:
            self._read_bold()
        text, moved = edit(self._answer, self._changes, self._marks)
        # a tag around the whole answer is no mark
        short = (
            one for one in moved if (one[0] or "").casefold() not in _WRAPPERS or 2 * (one[2] - one[1]) <= len(text)
        )
        return Marked(text, [Mark(*one) for one in short], self._stray, bold)

    def _is_text(self, markup: str) -> bool:
        if markup not in self._literal and len(self._literal) < _MOST_FORMS:
            self._literal[markup] = markup in self._document
        return self._literal.get(markup, False)

    def _tag(self, tag: str, inner: str, at: int, end: int) -> None:
        """Open a mark, or close one; ``</>`` closes the last."""
        if not tag.startswith("</"):
            name = inner.split()[0] if "=" in inner else inner
            given = {match[1].casefold(): match[2] or match[3] or match[4] for match in _ATTRIBUTE.finditer(inner)}
            kind = next((given[one] for one in _KINDS if given.get(one)), None if name.casefold() in _PLAIN else name)
            self._tags.setdefault(name.casefold(), []).append((end, kind))
            self._opened.append(name.casefold())
            return
        while not inner and self._opened and not self._tags[self._opened[-1]]:
            self._opened.pop()
        key = inner.casefold() or (self._opened[-1] if self._opened else "")
        if self._tags.get(key):
            start, kind = self._tags[key].pop()
            self._marks.append(Mark(kind, start, at))
        else:
            self._stray.append(f"{tag} closes nothing")

    def _read_bold(self) -> None:
        """Read ``**``; a pair does not extend over a blank line."""
        breaks = [0, *(one.end() for one in re.finditer(r"\n\s*\n", self._answer)), len(self._answer)]
        for start, end in pairwise(breaks):
            places = [one.start() for one in _BOLD.finditer(self._answer, start, end)]
            self._changes += [(at, at + 2, "") for at in places]
            pairs = zip(places[::2], places[1::2], strict=False)
            self._marks += [Mark(None, at + 2, stop) for at, stop in pairs if self._answer[at + 2 : stop].strip()]
            self._stray += ["** is not closed"] * (len(places) % 2)


def read_markdown(text: str, occurs: Occurs) -> Quotes | None:
    """Return the quotes in tables with columns for text and type, or in lists such as ``- Type: a, b``, ``- a (Type)``.

    Args:
        text: the answer.
        occurs: whether a text is a quote of the document, which resolves items that can be read in two ways.

    >>> document = "Mild cough, chest pain; aspirin."
    >>> answer = "## Problems\\n- cough\\n- **chest pain**\\n\\nOthers:\\n- aspirin (drug)\\n- Severity: Mild"
    >>> [(quote.type, *quote.parts) for quote in read_markdown(answer, document.__contains__).found]
    [('Problems', 'cough'), ('Problems', 'chest pain'), ('drug', 'aspirin'), ('Severity', 'Mild')]
    """
    lines = text.splitlines()
    quotes = _table(lines, occurs)
    if not quotes.found:
        quotes = Quotes(list(_listed(lines, occurs)), [])
    return quotes if quotes.found else None


def _table(lines: Sequence[str], occurs: Occurs) -> Quotes:
    """Return the quotes in tables, which have a line of dashes below their header."""
    quotes = Quotes([], [])
    head: list[str] | None = None
    for number, line in enumerate(lines, 1):
        if (cells := _cells(line)) is None:
            head = None
        elif all(cell and not cell.strip(":-") for cell in cells):
            head = _cells(lines[number - 2]) if number > 1 else None
        elif head is not None:
            row = quotes_in(dict(zip(head, cells, strict=False)), occurs)
            found = [] if row is None or len(cells) != len(head) else row.found
            if len(found) == 1 and found[0].type is not None:
                quotes.found.append(Quote(found[0].type, found[0].parts, f"line {number}", found[0].context))
            elif any(cells) and not all(map(is_nothing, cells)):
                quotes.odd.append(f"line {number}")
    return quotes


def _cells(line: str) -> list[str] | None:
    inner = line.strip().removeprefix("|").removesuffix("|").replace(r"\|", "\0")
    return [_bare(cell.replace("\0", "|")) for cell in inner.split("|")] if "|" in line else None


def _bare(text: str) -> str:
    """Return a text without the Markdown and quotation marks around it."""
    return text.strip().strip("*_").strip().strip(_QUOTES).strip()


def _listed(lines: Sequence[str], occurs: Occurs) -> Iterator[Quote]:
    """Yield the quotes in lists."""
    items = _items(lines)
    types_last = sum(_order(text, occurs) for text, _, _ in items) > 0
    for text, kind, place in items:
        sides, inside = (None, None) if occurs(_bare(text)) else (_split(text), _in_brackets(text))
        if sides is not None and types_last:
            yield Quote(_bare(sides[1]), (_bare(sides[0]),), place)
        elif sides is None and inside is not None:
            yield Quote(inside[1], (inside[0],), place)
        else:
            named, several = (kind, text) if sides is None else (_bare(sides[0]), sides[1])
            for piece in _pieces(several, occurs):
                if not is_nothing(piece) or occurs(piece):
                    yield Quote(named, (piece,), place)


def _items(lines: Sequence[str]) -> list[tuple[str, str | None, str]]:
    """Return the items of lists: text, the type in the heading above, and place."""
    found: list[tuple[str, str | None, str]] = []
    kind: str | None = None
    for number, line in enumerate(lines, 1):
        item = _ITEM.fullmatch(line.strip())
        text = None if item is None else item[1].strip()
        heading = _heading(line.strip() if text is None else text)
        if heading is not None and (text is None or any(below.strip() for below in lines[number : number + 2])):
            kind = heading
        elif text:
            found.append((text, kind, f"line {number}"))
        elif line.strip():
            kind = None  # prose ends the scope of a heading
    return found


def _heading(line: str) -> str | None:
    """Return the text of a heading, ``None`` for other lines."""
    bare = line.strip("*_ ")
    if line.startswith("#"):
        return _bare(line.lstrip("#")).rstrip(":") or None
    return (_bare(bare[:-1]) or None) if bare.endswith(":") and len(bare) < 60 else None


def _split(text: str) -> tuple[str, str] | None:
    """Return both sides of an item with a colon or an arrow."""
    for mark in (":**", "**:", ": ", *_ARROWS):
        left, found, right = text.partition(mark)
        if found and left.strip("* ") and right.strip():
            return (left + "**" * (mark == "**:"), right)
    return None


def _in_brackets(text: str) -> tuple[str, str] | None:
    """Return the text and type of ``a (Type)`` or ``a [Type]``."""
    for opening, closing in ("()", "[]"):
        left, _, right = map(_bare, text[:-1].rpartition(f" {opening}"))
        if text.endswith(closing) and left and right:
            return left, right
    return None


def _order(text: str, occurs: Occurs) -> int:
    """Return 1 if an item has a text before a type, -1 if it is the other way round, 0 if unknown."""
    left, right = _split(text) or ("", "")
    is_left, is_right = occurs(_bare(left)), any(map(occurs, _pieces(right, occurs)))
    return (is_left - is_right) or int(is_left and left.startswith("**") and "," not in right)


def _pieces(text: str, occurs: Occurs) -> list[str]:
    """Return the texts of an enumeration, or the whole text if it is a quote itself."""
    whole = _bare(text)
    if occurs(whole):
        return [whole]
    return [piece for piece in map(_bare, text.split(";" if ";" in text else ",")) if piece]
