"""Dialects of tags: how a column spells them; and layouts of the columns of a file.

The usual spelling is a letter, a hyphen and a type, such as ``B-problem``, and ``O`` outside of all mentions. A dialect
has other letters, another divider, the letter behind the type, types alone, or several tags in one value. `read_tag`
returns tags in the usual spelling, and `detect` finds the dialect of a column.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from itertools import chain, product
from operator import attrgetter
from types import MappingProxyType
from typing import Final, TypeVar

from spanloom.document import from_tags
from spanloom.document.align import TypedRange, from_levels
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
    taggings, undecided = tuple(taggings), attrgetter("undecided")
    held: list[Callable[[], Iterable[T]]] = []
    for call in calls:
        found = call()
        if True in map(undecided, taggings):
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
    if not (inside := Counter({value: count for value, count in counts.items() if value not in outside})):
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
    return TagDialect("", outside=outside) if (word is not None or certain) and types else None


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
        known = all(dialect.divider in part or part in dialect.outside - {""} for part in parts)
        if joint != dialect.divider and parts and known and all(read_tag(part, dialect) is not None for part in parts):
            return joint
    return ""


TAB, BLANKS = "\t", " "
SENTENCE, DOCUMENT = "sentence-id", "document-id"  # columns in which a new value begins a sentence or a document
# Layouts of column files: what divides fields, which column is what, how tags are spelled, and what they mark.

SPECIAL = ("word", "tag", "id", "_", SENTENCE, DOCUMENT)

_FIELDS = re.compile(r"[ \t]+")
_QUOTED = MappingProxyType(
    {divider: re.compile(rf'(?:\A|[{divider}]) ?"(?:[^"]|"")*"(?:[{divider}]|\Z)') for divider in ",;|/_"}
)


@dataclass(frozen=True)
class ColumnLayout:
    """The columns of a file.

    Args:
        names: one for each column: ``"word"``, ``"tag"`` (several are nested levels), ``"id"`` (numbers that are not
            kept), ``"_"`` (skipped), ``"sentence-id"`` and ``"document-id"`` (a new value begins a sentence or a
            document), or the name of a column of the document, such as ``"pos"``.
        divider: the separator of fields: a tab, ``" "`` for any blanks, or another character.
        dialects: of the columns of tags.
        more: whether any number of tags may follow the last column.
        rest: whether any number of fields may follow that are not read.
        least: the smallest number of fields of a line.
        inline: whether a line is a sentence, its tokens between blanks.
        header: the fields of the header line, which is not a token.
        unread: the columns of tags that are not read.
        added: what files add to each word, such as a language before it, and is left out.
    """

    names: tuple[str, ...]
    divider: str = BLANKS
    dialects: tuple[TagDialect, ...] = (USUAL,)
    more: bool = False
    rest: bool = False
    least: int = 0
    inline: bool = False
    header: tuple[str, ...] = ()
    unread: tuple[int, ...] = field(default=(), compare=False)
    added: re.Pattern[str] | None = None

    def fields(self, line: str) -> list[str]:
        """Return the fields of a line."""
        found = split(line, self.divider)
        width = len(self.names)
        if len(found) == width:
            return found
        if len(found) == width + 1 and not found[-1]:
            found.pop()  # each field may end in a divider
        if len(found) == 1 and self.divider == TAB and len(other := split(line, BLANKS)) == width:
            return other
        surplus = 0 if self.more or self.rest or self.divider in (TAB, BLANKS) else len(found) - width
        if surplus > 0:  # the word holds the divider
            found[self.word : self.word + surplus + 1] = [self.divider.join(found[self.word : self.word + surplus + 1])]
        return found

    def fits(self, line: str) -> bool:
        """Return whether a line has the fields of a token, and valid tags."""
        row = self.fields(line)
        return self.has_width(row) and bool(row[self.word]) and self.wrong_tag(row) is None

    def has_width(self, row: Sequence[str]) -> bool:
        """Return whether a line has the right number of fields."""
        if self.more or self.rest:
            return len(row) >= (self.least or len(self.names))
        return len(row) == len(self.names)

    def wrong_tag(self, row: Sequence[str]) -> tuple[str, TagDialect] | None:
        """Return the first field with an invalid tag, and the expected dialect."""
        for where, dialect, read in self._readers:
            for value in row[where]:
                if read(value) is None:
                    return value, dialect
        return None

    def mentions(self, rows: Sequence[Sequence[str]]) -> list[TypedRange]:
        """Return the mentions of a sentence, of which all tags are valid."""
        found: list[TypedRange] = []
        for where, dialect, read in self._readers:
            i = where.start
            if where.stop is None:
                found += of_levels([tuple(tag for value in row[i:] for tag in read(value) or ("O",)) for row in rows])
            elif dialect.divider == BRACKETS:
                found += in_brackets(row[i] for row in rows)
            elif dialect.joint:
                found += of_levels([read(row[i]) or () for row in rows])
            else:
                found += from_tags([(read(row[i]) or ("O",))[0] for row in rows])
        return found

    @cached_property
    def _readers(self) -> list[tuple[slice, TagDialect, Callable[[str], tuple[str, ...] | None]]]:
        """For each column of tags its fields, its dialect, and a function that reads a value of it."""
        return [
            (where, dialect, lru_cache(1 << 12)(partial(read_tag, dialect=dialect)))
            for where, dialect in zip(self.tag_fields, self.dialects, strict=True)
        ]

    @cached_property
    def word(self) -> int:
        """The index of the word column."""
        return self.names.index("word")

    @cached_property
    def tags(self) -> list[int]:
        """The indices of the tag columns."""
        return [i for i, name in enumerate(self.names) if name == "tag"]

    @cached_property
    def tag_fields(self) -> list[slice]:
        """The fields of each tag column; any number of them if more tags may follow the last."""
        return [slice(i, None if self.more and i == self.tags[-1] else i + 1) for i in self.tags]

    @cached_property
    def counters(self) -> dict[str, int]:
        """The columns that number documents and sentences: name -> index."""
        return {name: self.names.index(name) for name in (DOCUMENT, SENTENCE) if name in self.names}

    @cached_property
    def others(self) -> dict[str, int]:
        """The columns of the document: name -> index."""
        return {name: i for i, name in enumerate(self.names) if name not in SPECIAL}

    @property
    def option(self) -> str:
        """The names of the columns as the option ``--columns`` takes them."""
        return ",".join(self.names) + "*" * self.more + ",_*" * self.rest


def of_levels(rows: list[tuple[str, ...]]) -> list[TypedRange]:
    """Return the mentions of tokens with several tags: of columns, where ``O`` fills them up, else of mentions."""
    if len({len(row) for row in rows}) == 1 and any(len(row) > 1 and "O" in row for row in rows):
        return [mention for level in zip(*rows, strict=True) for mention in from_tags(level)]
    return from_levels(rows)


def split(line: str, divider: str) -> list[str]:
    """Return the fields of a line, at single tabs, at any blanks, or at another character.

    >>> split("EU  NNP B-ORG", " "), split('"a,b",O', ",")
    (['EU', 'NNP', 'B-ORG'], ['a,b', 'O'])
    """
    if divider == TAB:
        return line.split(TAB)
    if divider == BLANKS:
        return _FIELDS.split(line.strip(" \t"))
    if '"' in line and _QUOTED[divider].search(line):
        return [cell.strip(" ") for cell in next(csv.reader([line], delimiter=divider, skipinitialspace=True), [])]
    return [cell.strip(" \t") for cell in line.split(divider)]
