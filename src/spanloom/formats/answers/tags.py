"""Inline markup: the text again, with ``<type>..</type>``, ``[..](type)``, ``@@..##`` or ``**..**`` in it.

A scanner of one pass, and no XML parser: tags may cross, need not be closed, and may stand among ``<`` and ``&``.
What stands in the document itself in the same form is text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, NamedTuple

_SPECIAL: Final = re.compile(r"[<\[\]&]|\*\*|@@|##")
_ATTRIBUTE: Final = re.compile(r"([\w:-]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++))")
_LONGEST: Final = 200  # characters of a tag
_MOST_FORMS: Final = 10_000  # of markup that are looked for in the document
_KINDS: Final = ("type", "label", "class", "category", "entity_type", "name")
_PLAIN: Final = frozenset({"mark", "span", "entity", "ent", "mention", "e", "em", "b", "strong", "i", "u"})
_WRAPPERS: Final = frozenset(
    {"answer", "output", "result", "response", "text", "document", "annotated_text", "annotated"}
)
_ENTITIES: Final = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&apos;": "'", "&#39;": "'"}


class Mark(NamedTuple):
    """A marked piece of a text: its type, ``None`` where the markup has none, and ``text[start:end]``."""

    type: str | None
    start: int
    end: int


@dataclass(slots=True)
class Marked:
    """A text without its markup.

    Args:
        text: the text.
        marks: what was marked, in the order in which it ends.
        stray: markup that opens nothing or closes nothing.
        bold: whether nothing but ``**`` marks it.
    """

    text: str
    marks: list[Mark] = field(default_factory=list)
    stray: list[str] = field(default_factory=list)
    bold: bool = False


def read_markup(answer: str, document: str) -> Marked:
    """Read the markup of an answer.

    Args:
        answer: the text with markup.
        document: the text that was to be marked.

    >>> read_markup("No <problem><site>chest</site> pain</problem> & p<5", "No chest pain & p<5").marks
    [Mark(type='site', start=3, end=8), Mark(type='problem', start=3, end=13)]
    >>> read_markup("No [chest pain](problem) [1].", "No chest pain [1].")
    Marked(text='No chest pain [1].', marks=[Mark(type='problem', start=3, end=13)], stray=[], bold=False)
    """
    scanner = _Scanner(answer, document)
    scanner.scan()
    if not scanner.marks and "**" in answer and "**" not in document:
        scanner.read_bold()
    return scanner.result()


class _Scanner:
    def __init__(self, answer: str, document: str) -> None:
        self._answer = answer
        self._document = document
        self._literal: dict[str, bool] = {}
        self._tags: dict[str, list[tuple[int, int, str | None]]] = {}  # name -> where each opens, ends, and its type
        self._opened: list[str] = []  # names, in the order of their tags
        self._brackets: list[int] = []
        self._pairs: list[int] = []
        self._changes: list[tuple[int, int, str]] = []  # start, end, and what stands there instead
        self.marks: list[Mark] = []
        self._stray: list[str] = []
        self._bold = False

    def scan(self) -> None:
        readers: dict[str, Callable[[int], int]] = {
            "<": self._tag, "[": self._open_bracket, "]": self._close_bracket, "@@": self._open_pair,
            "##": self._close_pair, "&": self._entity,
        }  # fmt: skip
        end = 0
        for match in _SPECIAL.finditer(self._answer):
            if match.start() >= end and match[0] in readers:
                end = readers[match[0]](match.start())
        for name, tags in self._tags.items():
            self._stray += [f"<{name}> is not closed"] * len(tags)
        self._stray += ["@@ is not closed"] * len(self._pairs)

    def _is_text(self, markup: str) -> bool:
        if markup not in self._literal:
            if len(self._literal) >= _MOST_FORMS:
                return False
            self._literal[markup] = markup in self._document
        return self._literal[markup]

    def _tag(self, at: int) -> int:
        end = self._answer.find(">", at, at + _LONGEST) + 1
        tag = self._answer[at:end]
        inner = tag[1:-1].removeprefix("/").strip()
        is_name = (inner[:1].isalpha() and not inner.endswith("/")) or tag == "</>"
        if not end or not is_name or "<" in inner or self._is_text(tag):
            return at + 1
        self._changes.append((at, end, ""))
        if tag.startswith("</"):
            self._close(inner, at, tag)
        else:
            name = inner.split()[0] if "=" in inner else inner
            self._tags.setdefault(name.casefold(), []).append((at, end, _kind(name, inner)))
            self._opened.append(name.casefold())
        return end

    def _close(self, name: str, at: int, tag: str) -> None:
        key = name.casefold()
        while not key and self._opened and not self._tags[self._opened[-1]]:
            self._opened.pop()
        key = key or (self._opened[-1] if self._opened else "")
        if not self._tags.get(key):
            self._stray.append(f"{tag} closes nothing")
            return
        _, start, kind = self._tags[key].pop()
        self.marks.append(Mark(kind, start, at))

    def _open_bracket(self, at: int) -> int:
        self._brackets.append(at)
        return at + 1

    def _close_bracket(self, at: int) -> int:
        opened = self._brackets.pop() if self._brackets else None
        end = self._answer.find(")", at, at + _LONGEST) + 1 if self._answer.startswith("](", at) else 0
        kind = self._answer[at + 2 : end - 1].strip()
        is_kind = kind[:1].isalpha() and "\n" not in kind and "(" not in kind and "://" not in kind
        if opened is None or not end or not is_kind or self._is_text(self._answer[at:end]):
            return at + 1
        self._changes += [(opened, opened + 1, ""), (at, end, "")]
        self.marks.append(Mark(kind, opened + 1, at))
        return end

    def _open_pair(self, at: int) -> int:
        if not self._is_text("@@"):
            self._pairs.append(at)
            self._changes.append((at, at + 2, ""))
        return at + 2

    def _close_pair(self, at: int) -> int:
        if self._pairs:
            self._changes.append((at, at + 2, ""))
            self.marks.append(Mark(None, self._pairs.pop() + 2, at))
        return at + 2

    def _entity(self, at: int) -> int:
        end = self._answer.find(";", at, at + 6) + 1
        plain = _ENTITIES.get(self._answer[at:end])
        if plain is not None and not self._is_text(self._answer[at:end]):
            self._changes.append((at, end, plain))
        return max(end, at + 1)

    def read_bold(self) -> None:
        """Read ``**``; a pair does not reach over a blank line."""
        opened: int | None = None
        for at in _places(self._answer, "**"):
            self._changes.append((at, at + 2, ""))
            if opened is not None and not _has_blank_line(self._answer[opened:at]):
                if self._answer[opened:at].strip():
                    self.marks.append(Mark(None, opened, at))
                opened = None
                continue
            if opened is not None:
                self._stray.append("** is not closed")
            opened = at + 2
        if opened is not None:
            self._stray.append("** is not closed")
        self._bold = True

    def result(self) -> Marked:
        """Make the changes, and count the marks in what they leave."""
        pieces: list[str] = []
        end = 0
        changes = sorted(self._changes)
        for start, stop, plain in changes:
            pieces += [self._answer[end:start], plain]
            end = stop
        pieces.append(self._answer[end:])
        starts = [start for start, _, _ in changes]
        less = [0, *accumulate(stop - start - len(plain) for start, stop, plain in changes)]

        def moved(place: int) -> int:
            return place - less[bisect_right(starts, place - 1)]

        text = "".join(pieces)
        marks = [Mark(mark.type, moved(mark.start), moved(mark.end)) for mark in self.marks]
        marks = [mark for mark in marks if not _is_wrapper(mark, text)]
        return Marked(text, marks, self._stray, self._bold)


def _is_wrapper(mark: Mark, text: str) -> bool:
    """Whether a mark is the tag around the whole answer."""
    return (mark.type or "").casefold() in _WRAPPERS and 2 * (mark.end - mark.start) > len(text)


def _kind(name: str, inner: str) -> str | None:
    attributes = {match[1].casefold(): match[2] or match[3] or match[4] for match in _ATTRIBUTE.finditer(inner)}
    kind = next((attributes[one] for one in _KINDS if attributes.get(one)), None)
    return kind or (None if name.casefold() in _PLAIN else name)


def _places(text: str, mark: str) -> Iterator[int]:
    at = text.find(mark)
    while at >= 0:
        yield at
        at = text.find(mark, at + len(mark))


def _has_blank_line(text: str) -> bool:
    lines = text.split("\n")
    return any(not line.strip() for line in lines[1:-1])
