r"""Marks of mentions within a text, in the notations that corpora and tools publish beside elements.

=======================================  =====================================================
``<START:drug> aspirin <END> daily``    OpenNLP
``<P<pf Jan> <ps Novak>> ran``          the Czech corpus CNEC
``[PER Jan Novak ] ran``                Illinois NER
``[aspirin|DRUG]``, ``[aspirin]{drug}``  chat bots, and many scripts; also with other brackets
``<aspirin:DRUG>``, ``[drug : aspirin]``   Korean corpora, MASSIVE
``[START_ENT] Rome [END_ENT]``           KILT
``Jan <B-PER> Novak <E-PER> ran``       Flair
``<b_enamex type="X">Jan<e_enamex>``    IEER, which becomes elements
=======================================  =====================================================
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from itertools import islice, pairwise
from typing import Final, TypeVar

from spanloom.formats.layouts import plain, words
from spanloom.formats.tag_dialects import Tagging
from spanloom.formats.tagged import from_tagged

SHAPE: Final = words(  # elements that only shape a text, of HTML, JATS and TEI
    "a b i em strong u s p para paragraph c pc br hr sub sup span div font table tr td th li ul ol h1 h2 h3 h4 "
    "body html head title italic bold underline xref ref extlink sec section caption label "
    "graphic inlineformula hi lb pb seg sentence sent w tok token"
)
_Kind = TypeVar("_Kind", str, str | None)
Marks = list[tuple[str, int, int]]
"""The type, start and end of each mention."""

_OPENNLP: Final = re.compile(r"<START(?::([^<>\s]{1,60}))?> ?"), re.compile(r" ?<END>")
_CZECH: Final = re.compile(r"<([A-Za-z][a-z_?]?)(?: (?=[^\s<>])|(?=<\w))"), re.compile(r">")
_ILLINOIS: Final = re.compile(r"\[([A-Z][A-Z_-]{1,20}) (?=[^\s\[\]])"), re.compile(r" ?\]")
_SHOWN: Final = (  # what shows each of them, and how often
    (re.compile(r"<START(?::[^<>\s]{1,60})?> [^<>]{1,300} <END>"), 1, _OPENNLP),
    (re.compile(r"(?<!\w)<[A-Za-z][a-z_?]? (?=[^\Wa-z_])[^<>=/]{1,300}>(?!\w)"), 1, _CZECH),
    (re.compile(r"\[[A-Z][A-Z_-]{1,20} (?=[^\[\]\n]{0,80}[a-z])[\w .,'&-]{1,80}\]"), 2, _ILLINOIS),
)
_KIND: Final = r"([A-Z][A-Z_-]{1,20})"
_REPLACED: Final = tuple(  # marks that are not nested, how often one shows them, and the text and the type of each
    (re.compile(pattern), least, text, kind)
    for pattern, least, text, kind in (
        (rf"<([^<>:|\n/]{{1,200}})[:|]{_KIND}>", 1, 1, 2),
        (r"\[([^\[\]|\n]{1,200})\|([A-Z][\w-]{1,40})\]", 1, 1, 2),
        (r"\[([^\[\]\n]{1,200})\]\{(?:\"entity\": *\")?([A-Za-z][\w -]{0,40})(?:\"[^{}\n]{0,200})?\}", 1, 1, 2),
        (rf"\[([^\[\]\n]{{1,200}})\]_?{_KIND}\b", 2, 1, 2),
        (rf"\{{\{{{_KIND}\|([^{{}}|\n]{{1,200}})\}}\}}", 1, 2, 1),
        (rf"\{{{_KIND}: ?([^{{}}\n]{{1,200}})\}}", 2, 2, 1),
        (rf"\[{_KIND}: ?(?=[^\[\]\n]{{0,80}}[a-z])([^\[\]\n]{{1,80}})\]", 2, 2, 1),
        (r"\[([a-z]\w{1,40}) : ([^\[\]\n]{1,200})\]", 1, 2, 1),
        (r"\[START_(ENT|REF)\] ?([^\[\]]{1,300}?) ?\[END_\1\]", 1, 2, 1),
        (r"<B-([^<>/\s]{1,40})/>([^<>\n]{1,300})<E-\1/>", 1, 2, 1),
    )
)
_TAGGED_WORD: Final = re.compile(r"(\S+)(?:\s+<([BIESLU]-[^<>\s]{1,60})>(?!\S))?")  # of Flair
_OF_WORDS: Final = re.compile(r"\S[ \t]{1,3}<[BESU]-[^<>\s/=]{1,60}>(?!\S)")
_ELEMENT: Final = re.compile(r"<(/?)([A-Za-z][\w.:-]{0,60})(?:\s[^<>]{0,300})?(?<!/)>")
_LONGEST: Final = 300  # characters
_OPEN_LINK: Final = re.compile(
    r"\[[^\[\]\n]{1,100}\]\([A-Za-z][\w -]{0,40}(?![\w )(:/-]|\.\w)|\]\([A-Za-z][\w -]{0,40}\)"
)
_AT_WORD: Final = re.compile(
    r"(?<![^\s(])<[a-z][\w.-]{0,60}>\w|<START[:>]"
)  # a placeholder, as <name>, is a word itself
_ENDED: Final = re.compile(r"<b_(\w{1,20})([^<>]{0,200})>(?=[^<>]{0,300}<e_\1>)|<e_(\w{1,20})>")


def shows_marks(text: str) -> bool:
    """Return whether a text has mentions in one of the notations.

    >>> [shows_marks(text) for text in ("take <START:drug> aspirin <END> daily", "<ps Jan>", "if a < b and c > d")]
    [True, True, False]
    """
    patterns = ((_OF_WORDS, 1), (_ENDED, 1), *((pattern, least) for pattern, least, *_ in _REPLACED))
    return any(_occurs(text, *one) for one in patterns) or _shown(text) is not None


def _occurs(text: str, pattern: re.Pattern[str], least: int) -> bool:
    return sum(1 for _ in islice(pattern.finditer(text), least)) == least


def _shown(text: str) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    """Return what opens and closes the marks of a text."""
    return next((ends for shown, least, ends in _SHOWN if _occurs(text, shown, least)), None)


def unpaired(text: str, plain_text: bool = False) -> list[tuple[int, str]]:
    """Return the places of marks without their other half, and the marks: elements, and ``[TEXT](TYPE)``.

    Args:
        text: with marks.
        plain_text: whether marks are rare in it, so that ``<name>`` alone is more likely a word.

    >>> unpaired("<disease>cancer, [fever](symptom and pain</symptom>")
    [(0, '<disease>'), (17, '[fever](symptom and pain'), (41, '</symptom>')]
    """
    found = [
        (one.start(), one[0])
        for one in _OPEN_LINK.finditer(text)
        if one[0][0] == "[" or "[" not in text[max(0, one.start() - _LONGEST) : one.start()].rpartition("\n")[2]
    ]
    if "@@" in text and "##" in text and not plain_text:
        pairs = pairwise([*re.finditer("@@|##", text), None])
        found += [(one.start(), "@@") for one, after in pairs if one and one[0] == "@@" and (after or one)[0] == "@@"]
    opened: dict[str, list[re.Match[str]]] = {}
    for one in _ELEMENT.finditer(text):
        name = one[2].casefold()
        if plain(name) in SHAPE:
            continue
        if not one[1]:
            opened.setdefault(name, []).append(one)
        elif opened.get(name):
            opened[name].pop()
        else:
            found.append((one.start(), one[0]))
    left = [one for same in opened.values() for one in same]
    found += [(one.start(), one[0]) for one in left if not plain_text or _AT_WORD.match(text, one.start())]
    return sorted(found)


def with_usual_marks(text: str) -> str:
    """Return a text with marks that are not nested as elements, or as ``[TEXT](TYPE)``.

    >>> with_usual_marks('[aspirin|DRUG] for <b_enamex type="PERSON">Kohl<e_enamex>')
    '[aspirin](DRUG) for <enamex type="PERSON">Kohl</enamex>'
    """
    text = _ENDED.sub(lambda one: f"</{one[3]}>" if one[3] else f"<{one[1]}{one[2]}>", text)
    for pattern, least, inner, kind in _REPLACED:
        if _occurs(text, pattern, least):
            text = pattern.sub(rf"[\{inner}](\{kind})", text)
    return text


def read_marks(text: str) -> tuple[str, Marks, list[tuple[int, str]]] | None:
    """Return a text without its marks, what they mark, and those without an end; ``None`` if it has none.

    >>> read_marks("take <START:drug> aspirin <END> daily")
    ('take aspirin daily', [('drug', 5, 12)], [])
    >>> read_marks("<P<pf Jan> <ps Novak>> ran")
    ('Jan Novak ran', [('P', 0, 9), ('pf', 0, 3), ('ps', 4, 9)], [])
    """
    if _OF_WORDS.search(text):
        return *_of_words(text), []
    return None if (ends := _shown(text)) is None else _between(text, *ends)


def _of_words(text: str) -> tuple[str, Marks]:
    """Read a tag behind each word of a mention."""
    rows = [_TAGGED_WORD.findall(line) for line in text.splitlines()]
    sentences = [[word for word, _ in row] for row in rows]
    tags = [[tag or "O" for _, tag in row] for row in rows]
    found = from_tagged({"words": sentences, "tags": tags}, "words", "tags", [], tagging=Tagging(letters=True))
    return found["text"], [(mention["type"], *mention["spans"][0]) for mention in found["mentions"]]


def _between(text: str, opening: re.Pattern[str], closing: re.Pattern[str]) -> tuple[str, Marks, list[tuple[int, str]]]:
    """Read marks that open and close, also within each other; one without its other half is text, and returned."""
    opened: list[re.Match[str]] = []
    changes: list[tuple[int, int, str]] = []
    marks: Marks = []
    alone: list[tuple[int, str]] = []
    for one in re.finditer(f"(?P<opening>{opening.pattern})|(?:{closing.pattern})", text):
        if one["opening"] is not None:
            opened.append(one)
        elif opened:
            first = opened.pop()
            changes += [(*first.span(), ""), (*one.span(), "")]
            marks.append((first[2] or "mention", first.end(), one.start()))
        elif len(one[0].strip()) > 1:
            alone.append((one.start(), one[0].strip()))
    alone += [(one.start(), one[0].strip()) for one in opened]
    edited, marks = edit(text, changes, marks)
    return edited, sorted(marks, key=lambda one: (one[1], -one[2])), sorted(alone)


def edit(
    text: str, changes: Iterable[tuple[int, int, str]], marks: Iterable[tuple[_Kind, int, int]]
) -> tuple[str, list[tuple[_Kind, int, int]]]:
    """Return a text of which some parts are replaced, and marks between these with their offsets in it."""
    pieces: list[str] = []
    end, starts, removed = 0, list[int](), [0]
    for start, stop, new in sorted(changes):
        pieces += [text[end:start], new]
        starts.append(start)
        removed.append(removed[-1] + stop - start - len(new))
        end = stop

    def moved(at: int) -> int:
        return at - removed[bisect_left(starts, at)]

    return "".join((*pieces, text[end:])), [(kind, moved(first), moved(last)) for kind, first, last in marks]
