"""Line ends that end a sentence.

A blank line does, and a page break. So does a line end beside a list item, a heading, a line ``key: value`` or a row of
a table. Elsewhere a sentence continues:

1. after a line that is full: one without room for the next line's first word, at the width at which lines were broken;
2. before a small letter or an opening bracket, and after a comma, a hyphen or a word that never ends a sentence, unless
   the lines are a list without marks;
3. in a list item, before lines that are indented behind its mark;
4. between ideographs, where lines are equally long;
5. in prose that was broken by hand or by a narrow width, before other words, too, unless they usually begin sentences.
   Lines are prose if a sentence continues before most of them by the second rule.

If lines continue and one ends with a full stop, `sentences` decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from spanloom.text.characters import CJK, CLOSING, LINE_END, LINE_ENDING, OPENING
from spanloom.text.full_stops import STARTERS
from spanloom.text.patterns import pattern
from spanloom.text.sections import SECTIONS

_LONG: Final = 40  # shorter lines do not show the width at which a text was broken
_WIDEST: Final = 150  # no text breaks lines later than this; longer ones are paragraphs
_FULL: Final = 0.3  # the share of long lines that must be full before line ends are taken for breaks by width
_ITEM_WORDS: Final = 6  # on average, of the items of a list without marks, at most
_LOOK: Final = 400  # characters of a line that are looked at
_NARROW: Final = 12  # characters of a line of ideographs, at least
_UNEVEN: Final = 3  # by which such lines differ, as no mark may begin one

_END: Final = pattern(LINE_END)
_ENDING: Final = pattern(f"[{LINE_ENDING}]")
_WORD: Final = pattern(r"\S{1,150}")
_ITEM: Final = pattern(
    r"\s*+(?:[-*•·▪◦‣○●■□✓✔➢–—+#>]++(?:\s|(?<=[-*•·])(?=[^\W\d_]))"
    r"|(?:\d{1,2}[.)]|[A-Za-z]\)|\([a-z0-9]{1,3}\))\s|\d{1,2}[.)](?=[A-Z]))"
)
_HEADING: Final = pattern(r"\s*+[A-Z][^\s:.;?!]{0,40}(?:[ \t]{1,9}[^\s:.;?!]{1,40}){0,6}[ \t]{0,9}:")  # Plan:
_CAPITALS: Final = pattern(r"\s*+[A-Z][A-Z0-9 ,/&()'-]{3,60}$")  # PAST MEDICAL HISTORY
_SECTION: Final = pattern(rf"\s*+(?=[A-Z])(?i:{'|'.join(f'(?:{rule})' for rule in SECTIONS.values())})\s*")
_KEY: Final = pattern(r"\s*+[^\W\d_][\w/().-]{0,30}(?: [\w/().-]{1,30}){0,3} ?:(?:\s|$)")  # bp: 120/80
_ROW: Final = pattern(r"\S(?:\t|[ ]{3})\s*\S|\|.*\|")
_STOP: Final = pattern(rf"[.!?…。！？｡؟۔।։][{CLOSING}]*$")
_GOES_ON: Final = pattern(r"[,/(\[&=<>+–-]$")
_BEGINS: Final = pattern(rf"[{OPENING}]*")
_IDEOGRAPH: Final = pattern(f"[{CJK}]")

_FUNCTION: Final = frozenset(
    """
    a an the and or nor but of in on at by for from to with without as than that which who whose is are was were be been
    has have had into after before during due under over between via per if when while c/o w/ s/p
    y o e u de del la el los las un una en con sin por para que se al su
    et ou le les des du au aux avec sans pour dans sur est une
    und oder der die das den dem des ein eine mit ohne von vom zu zum zur im am bei auf ist war
    i di da il lo gli con senza per che
    и в во на с со из к по от до без для не
    """.split()  # noqa: SIM905
)
"""Words by which prose shows, in several languages."""
_NEVER_LAST: Final = _FUNCTION - frozenset(("is", "are", "was", "if", "se", "i", "o"))
"""Words after which a sentence always continues."""


class _TextLine(NamedTuple):
    start: int
    end: int  # white space at its end left out
    indent: int  # white space at its start
    first: int  # length of its first word; 0 if it is blank
    page: bool  # a form feed ends it


def line_breaks(text: str, last: int | None = None) -> list[int]:
    """Return the starts of the lines that begin a sentence.

    Args:
        text: the text.
        last: where the last lines that are wanted start; all are when ``None``.

    >>> line_breaks("PLAN:\\n- aspirin\\n- follow up in the clinic with Dr. Lee and\\n  bring the films\\nHome")
    [6, 16, 77]
    >>> line_breaks("He has chronic\\nobstructive pulmonary disease due to\\nSmoking")
    []
    """
    last = len(text) if last is None else last
    if _ENDING.search(text, 0, last) is None:
        return []
    lines = _lines(text)
    width = _width(lines)
    breaks: list[int] = []
    group = [lines[0]]  # lines that no item, heading or blank line divides
    for before, line in pairwise(lines):
        if before.start > last:
            break
        if _begins_paragraph(text, before, line):
            breaks += _within(text, group, width)
            breaks.append(line.start)
            group = []
        group.append(line)
    breaks += _within(text, group, width)
    return [place for place in breaks if place <= last]


def _lines(text: str) -> list[_TextLine]:
    lines, start = [], 0
    for match in _END.finditer(text):
        lines.append(_line(text, start, match.start(), match[0] == "\x0c"))
        start = match.end()
    return [*lines, _line(text, start, len(text), False)]


def _line(text: str, start: int, end: int, page: bool) -> _TextLine:
    whole = text[start:end].rstrip()
    content = whole.lstrip()
    word = _WORD.match(content)
    return _TextLine(start, start + len(whole), len(whole) - len(content), word.end() if word else 0, page)


def _width(lines: list[_TextLine]) -> int:
    """Return the width at which lines were broken; 0 if they were not."""
    lengths = sorted(line.end - line.start for line in lines if line.end - line.start > _LONG)
    if not lengths:
        return 0
    width = lengths[-1 - len(lengths) // 20]  # a few lines may be longer: tables, addresses
    inner = [(before, line) for before, line in pairwise(lines) if before.end - before.start > _LONG and line.first]
    full = sum(_is_full(before, line, width) for before, line in inner)
    return width if width <= _WIDEST and full and full >= _FULL * len(inner) else 0


def _is_full(before: _TextLine, line: _TextLine, width: int) -> bool:
    return before.end - before.start + 1 + line.first > width


def _begins_paragraph(text: str, before: _TextLine, line: _TextLine) -> bool:
    """Return whether a line begins a sentence, whatever the lines around it are."""
    if before.page or not line.first or not before.first or text[before.end - 1] in ":：":
        return True
    above, head = (text[one.start : min(one.end, one.start + _LOOK)] for one in (before, line))
    if _ITEM.match(head) or _HEADING.match(head) or _SECTION.fullmatch(head) or _SECTION.fullmatch(above):
        return True
    # in a text in capitals, a line in capitals is no heading
    if (_CAPITALS.match(head) and not above.isupper()) or (_CAPITALS.match(above) and not head.isupper()):
        return True
    return bool((_ROW.search(above) and _ROW.search(head)) or (_KEY.match(above) and _KEY.match(head)))


def _within(text: str, group: Sequence[_TextLine], width: int) -> list[int]:
    """Return the starts of the lines of a group that begin a sentence, but for the first."""
    if len(group) < 2:
        return []
    item = _ITEM.match(text, group[0].start, group[0].end)
    behind = group[0].indent if item else None
    listed = item is None and _is_list(text, group)
    longest = max(line.end - line.start for line in group) if len(group) > 2 else _WIDEST
    ways = [_way(text, before, line, listed, longest) for before, line in pairwise(group)]
    prose = not listed and ways.count(True) > ways.count(None)
    breaks = []
    for (before, line), goes_on in zip(pairwise(group), ways, strict=True):
        full = width > 0 and _is_full(before, line, width)
        if full or goes_on or (behind is not None and line.indent > behind):
            continue
        start = line.start + line.indent
        if prose and (goes_on is False or text[start : start + line.first].rstrip(",;:") not in STARTERS):
            continue
        breaks.append(line.start)
    return breaks


def _way(text: str, before: _TextLine, line: _TextLine, listed: bool, longest: int) -> bool | None:
    """Return whether a sentence continues at a line end; false after a full stop, ``None`` if unknown."""
    above, head = text[max(before.start, before.end - _LOOK) : before.end], text[line.start : line.end][:_LOOK].lstrip()
    if _STOP.search(above):
        return False
    capitals = above.isupper()
    last = above.rpartition(" ")[2]
    if _GOES_ON.search(above) or (last.lower() if capitals else last) in _NEVER_LAST:
        return True
    if _IDEOGRAPH.match(head) and _IDEOGRAPH.match(above[-1]):
        return before.end - before.start >= max(_NARROW, longest - _UNEVEN) or None
    small = _BEGINS.sub("", head, count=1)[:1].islower() or (capitals and head.isupper())
    return (small and not listed) or head[0] in "([" or None


def _is_list(text: str, group: Sequence[_TextLine]) -> bool:
    """Return whether lines are the items of a list without marks: a few words each, and most of them no prose."""
    lines = [text[line.start : min(line.end, line.start + _LOOK)].lower().split() for line in group]
    plain = sum(_FUNCTION.isdisjoint(words) for words in lines)
    return 2 * plain > len(lines) and sum(map(len, lines)) <= _ITEM_WORDS * len(lines)
