"""Dialects of tags: how a column spells them.

The usual spelling is a letter, a hyphen and a type, such as ``B-problem``, and ``O`` outside of all mentions. A dialect
has other letters, another divider, the letter behind the type, types alone, or several tags in one value. `read_tag`
returns tags in the usual spelling, and `detect` finds the dialect of a column.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Final, TypeVar

from spanloom.document.tags import TypedRange
from spanloom.errors import clip
from spanloom.formats.blocks import UNTYPED, bad_tag

# letters of BIO, BILOU, BIOES, BMES and BMEWO, and words for them
_LETTERS = {
    **dict.fromkeys(("B", "BEG", "BEGIN"), "B"),
    **dict.fromkeys(("I", "M", "IN", "INSIDE", "MID", "MIDDLE"), "I"),
    **dict.fromkeys(("E", "L", "END", "LAST"), "L"),
    **dict.fromkeys(("S", "U", "W", "SINGLE", "UNIT", "WHOLE"), "U"),
}
_DIVIDERS = ("-", "--", "__", "_", ":", "/", ".", "|", "@", "=")
_JOINTS = ("|", "+", ",", ";", "&", "/")
_OUTSIDE = ("O", "0", "OUT", "OUTSIDE", "OTHER", "NONE", "NIL", "NULL", "N/A")
_MARKS = frozenset(("O", "_", "-", "*", ""))  # outside in every dialect
BRACKETS = "("  # as divider: "(PER*" begins a mention, "*)" ends it, and "(PER)" is one
_BRACKETS = re.compile(r"(?:\([^\W\d_][^()*\s|]*)*\*?\)*")
_OPENED = re.compile(r"\(([^()*]+)")
_TYPE = re.compile(r"[^\W\d_][\w .&:/+-]{0,60}")
LETTERED = re.compile(r"([BIESLU])-(\S.*)")
_LIKE_TAG = re.compile(r"(?:[BIESLUMW]|[BI][DH]|[DH][BI])-.")  # with a letter, also of BIOHD
_LETTER = re.compile(r"[^\W\d_]-.*")  # as a tag, or as one with a wrong letter or without a type
_COMMON = 40  # values that show whether a dialect is worth a closer look
_MOST_TYPES = 100
_OTHERS = 0.1  # of the values that are no tags, from which on those like B-cell are types, too
_HELD: Final = 1000  # records after which tags that may be types are tags
_CLEAR = 0.95  # of the values of a column that an unusual dialect must explain


@dataclass(frozen=True, slots=True)
class TagDialect:
    """A way to spell tags.

    Args:
        divider: the separator of letter and type; empty if tags are types without letters, `BRACKETS` if brackets mark
            the begin and end of mentions.
        last: whether the letter comes after the type.
        small: whether letters are small.
        joint: the separator of several tags in one value; empty if a value is one tag.
        outside: values that are no tag.
    """

    divider: str = "-"
    last: bool = False
    small: bool = False
    joint: str = ""
    outside: frozenset[str] = _MARKS

    @property
    def name(self) -> str:
        """What is unusual about it, for a message; empty if nothing is.

        >>> TagDialect().name, TagDialect("_", last=True).name
        ('', 'a type and a letter, such as PER_B')
        """
        parts = []
        if not self.divider:
            parts.append("types without a letter such as B-")
        elif self.divider == BRACKETS:
            parts.append("mentions in brackets, such as (PER* *)")
        elif self.last:
            parts.append(f"a type and a letter, such as {self.example}")
        elif self.divider != "-" or self.small:
            parts.append(f"tags such as {self.example}")
        if self.joint:
            parts.append(f"several tags with {self.joint} between them")
        if words := sorted(self.outside - _MARKS - {"o"}):
            parts.append(f"{words[0]} outside of mentions")
        return ", ".join(parts)

    @property
    def example(self) -> str:
        """A tag in this dialect."""
        if self.divider == BRACKETS:
            return "(PER*"
        letter = "b" if self.small else "B"
        return f"PER{self.divider}{letter}" if self.last else f"{letter}{self.divider}PER" if self.divider else "PER"


USUAL = TagDialect()
T = TypeVar("T")


class Tagging:
    """The dialect of the tags of a source, decided once, by the first of its records that show it.

    Args:
        letters: whether tags have letters, such as ``B-``; found out if not given.

    >>> tagging = Tagging()
    >>> tagging.see(["O", "B-cell"]).name, tagging.undecided
    ('', True)
    >>> tagging.see(["O", "protein"]).name, tagging.see(["B-cell"]).name, tagging.undecided
    ('types without a letter such as B-', 'types without a letter such as B-', False)
    """

    def __init__(self, letters: bool | None = None) -> None:
        self.undecided = False
        self.letters = letters
        self._dialect: TagDialect | None = None
        self._counts: Counter[str] = Counter()

    def see(self, values: Iterable[str]) -> TagDialect:
        """Return the dialect of the tags of a record; another record may yet change it while it is `undecided`."""
        if self._dialect is not None:
            return self._dialect
        self._counts.update(values)
        dialect = self._likely()
        inside = self._counts.keys() - dialect.outside
        if dialect.divider:
            shown = dialect.divider == BRACKETS or self.letters is True or _has_letters(inside, dialect)
        else:
            shown = not dialect.outside.isdisjoint(self._counts)
        self._dialect = dialect if shown else None
        self.undecided = bool(inside) and not shown
        return dialect

    def is_tagged(self, kinds: Iterable[str]) -> bool:
        """Return whether the types of mentions are tags of single tokens, such as ``B-PER`` and ``I-PER``."""
        if self._dialect is None:
            self._counts.update(kinds)
            letters = {tag[1] if (tag := LETTERED.fullmatch(kind)) else "" for kind in self._counts}
            types = "" in letters or letters <= {"E", "L"}
            shown = self.letters is not None or types or _has_letters(self._counts, USUAL)
            dialect = TagDialect("") if (types and self.letters is None) or self.letters is False else USUAL
            self._dialect, self.undecided = (dialect if shown else None), not shown
        return self._dialect is None or bool(self._dialect.divider)

    def decide(self) -> None:
        """Decide by what was seen: tags that may be types are tags."""
        if self.undecided:
            self._dialect, self.undecided = self._likely(), False

    def _likely(self) -> TagDialect:
        if self.letters is None:
            return detect(self._counts, certain=True) or USUAL
        return USUAL if self.letters else TagDialect("", outside=_outside(self._counts)[0])


def in_turn(taggings: Iterable[Tagging], calls: Iterable[Callable[[], Iterable[T]]]) -> Iterator[T]:
    """Yield what calls return, each of which reads a record; those before the dialect is decided are called again."""
    taggings = tuple(taggings)
    held: list[Callable[[], Iterable[T]]] = []
    for call in calls:
        found = call()
        if any(tagging.undecided for tagging in taggings):
            held.append(call)
            if len(held) < _HELD:
                continue
            found = ()
            for tagging in taggings:
                tagging.decide()
        yield from chain.from_iterable(one() for one in held)
        held.clear()
        yield from found
    for tagging in taggings:
        tagging.decide()
    yield from chain.from_iterable(one() for one in held)


def invalid_tag(value: str, dialect: TagDialect) -> str:
    """Return the message for a value that is no tag of a dialect."""
    if dialect.name:
        return f"found the tag {clip(value[:40])}, expected O or one such as {dialect.example}, as the others"
    return bad_tag(value)


def read_tag(value: str, dialect: TagDialect = USUAL) -> tuple[str, ...] | None:
    """Return the tags of a value in the usual spelling, none for one outside of mentions; ``None`` if it is no tag.

    >>> read_tag("B-x"), read_tag("_"), read_tag("x"), read_tag("B")
    (('B-x',), (), None, ('B-mention',))
    >>> read_tag("PER_E|LOC_S", TagDialect("_", last=True, joint="|"))
    ('L-PER', 'U-LOC')
    """
    value = value.strip(" ")
    if value in dialect.outside:
        return ()
    if dialect.divider == BRACKETS:
        return tuple(f"B-{kind}" for kind in _OPENED.findall(value)) if _BRACKETS.fullmatch(value) else None
    if dialect.joint and dialect.joint in value:
        single = replace(dialect, joint="")
        found = [read_tag(part, single) for part in value.split(dialect.joint)]
        return None if None in found else tuple(tags[0] if tags else "O" for tags in found)
    if not dialect.divider:
        return (f"I-{value}",)
    if dialect.last:
        kind, sign, letter = value.rpartition(dialect.divider)
    else:
        letter, sign, kind = value.partition(dialect.divider)
    if not sign:
        return (f"{value}-{UNTYPED}",) if len(value) == 1 and value in "BIESLUMW" else None
    if not kind or (len(letter) == 1 and letter.islower() != dialect.small):
        return None
    known = _LETTERS.get(letter.upper())
    return None if known is None else (f"{known}-{kind}",)


def in_brackets(values: Iterable[str]) -> list[TypedRange]:
    """Return the mentions that brackets mark; one that does not end before the sentence does ends with it.

    >>> in_brackets(["(ORG*", "(GPE)", "*)", "*"])
    [(0, 3, 'ORG'), (1, 2, 'GPE')]
    """
    mentions: list[TypedRange] = []
    opened: list[tuple[int, str]] = []
    end = 0
    for end, value in enumerate(values, start=1):
        opened += [(end - 1, kind) for kind in _OPENED.findall(value)]
        for _ in range(min(value.count(")"), len(opened))):
            first, kind = opened.pop()
            mentions.append((first, end, kind))
    mentions += [(first, end, kind) for first, kind in opened]
    return sorted(mentions, key=lambda mention: (mention[0], -mention[1]))


def detect(values: Iterable[str], certain: bool = False) -> TagDialect | None:
    """Return the dialect of a column; ``None`` if its values do not look like tags.

    The usual spelling needs half of the values that are not outside, because one wrong tag must not hide a
    column; other spellings need nearly all of them. A column without any mention needs ``O``.

    Args:
        values: of the column.
        certain: whether it is known to hold tags; types without letters need no ``O`` then.

    >>> detect(["O", "B-x", "I-x", "x"]) == USUAL, detect(["DT", "NN"])
    (True, None)
    >>> [detect(["O", value]).name for value in ("PER_B", "PER", "B-PER|B-LOC")]
    ['a type and a letter, such as PER_B', 'types without a letter such as B-', 'several tags with | between them']
    """
    counts = Counter(value.strip(" ") for value in values)
    outside, word = _outside(counts)
    inside = Counter({value: count for value, count in counts.items() if value not in outside})
    if not inside:
        return replace(USUAL, outside=outside) if word is not None and word.upper() == "O" else None
    total = inside.total()
    best, most = None, 0
    if _are_types(inside):
        return TagDialect("", outside=outside)
    for dialect in _spellings(inside, outside):
        read = sum(count for value, count in inside.items() if read_tag(value, dialect) is not None)
        enough = 2 * read >= total if (dialect.divider, dialect.last, dialect.small) == ("-", False, False) else False
        if read > most and (enough or read >= _CLEAR * total):
            best, most = dialect, read
    if best is not None:
        return best
    if "*" in counts and all(map(_BRACKETS.fullmatch, inside)) and any("(" in value for value in inside):
        return TagDialect(BRACKETS)
    types = len(inside) <= _MOST_TYPES and all(map(_TYPE.fullmatch, inside)) and not any(map(_LIKE_TAG.match, inside))
    if (word is not None or certain) and types:
        return TagDialect("", outside=outside)
    return None


def _outside(counts: Counter[str]) -> tuple[frozenset[str], str | None]:
    """Return the values outside of mentions, and the word for it that is among some values."""
    upper = {value.upper(): value for value in counts}
    word = next((upper[word] for word in _OUTSIDE if word in upper), None)
    return _MARKS if word is None else _MARKS | {word}, word


def _has_letters(values: Iterable[str], dialect: TagDialect) -> bool:
    """Return whether a type has several letters, as in ``B-x`` and ``I-x``: then it is no part of a type's name."""
    read = {tag for value in values for tag in read_tag(value, dialect) or ()}
    return len({tag[2:] for tag in read if tag != "O"}) < len(read - {"O"})


def _are_types(inside: Counter[str]) -> bool:
    """Return whether values are types, of which some begin as a tag does, such as ``B-cell`` beside ``protein``."""
    tags = {value for value in inside if LETTERED.fullmatch(value)}
    others = inside.keys() - tags
    if (
        not tags
        or not others
        or not others.isdisjoint(tag[2:] for tag in tags)
        or _has_letters(tags, USUAL)
        or any(map(_LIKE_TAG.match, others))
        or all(map(_LETTER.fullmatch, others))
    ):
        return False
    many = sum(inside[value] for value in others) >= _OTHERS * inside.total()
    return many and len(inside) <= _MOST_TYPES and all(map(_TYPE.fullmatch, others))


def _spellings(inside: Counter[str], outside: frozenset[str]) -> Iterable[TagDialect]:
    """Yield the dialects with letters that read half of the commonest values, the usual first, each with its joint."""
    common = [value for value, _ in inside.most_common(_COMMON)]
    for last, small, divider in product((False, True), (False, True), _DIVIDERS):
        dialect = TagDialect(divider, last, small, outside=outside)
        if 2 * sum(read_tag(value, dialect) is not None for value in common) >= len(common):
            yield replace(dialect, joint=_joint(inside, dialect))


def _joint(inside: Iterable[str], dialect: TagDialect) -> str:
    """Return what joins tags in one value, if each part of such a value is a tag of its own."""
    for joint in _JOINTS:
        parts = [part for value in inside if joint in value for part in value.split(joint)]
        if joint != dialect.divider and parts and all(_is_whole(part, dialect) for part in parts):
            return joint
    return ""


def _is_whole(part: str, dialect: TagDialect) -> bool:
    known = dialect.divider in part or (part in dialect.outside and part != "")
    return known and read_tag(part, dialect) is not None
