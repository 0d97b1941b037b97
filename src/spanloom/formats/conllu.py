"""CoNLL-U with an entity column: ten columns, and an eleventh with tags of mentions.

Tags are BIO, BILOU or BIOES. They are read from a column that ``# global.columns = `` (CoNLL-U Plus) calls ``NER``,
``ENTITY`` or ``TAG``, from an eleventh column, or from ``Entity=``, ``NER=``, ``NE=`` or ``name=`` in MISC, and are
written as the column ``NER``. ``Entity=`` may also hold brackets (see `spanloom.formats.conllu`). Columns with
a value come into the document as ``lemma``, ``pos`` (UPOS), ``xpos``, ``feats``, ``head``, ``deprel``, ``deps`` and
``misc``. A token of several words (``3-4``) is one token, without the columns of its words. Its tag is its own or else
those of its words; a mention that begins or ends within it gets all of it, with a warning. Words that are not in the
text (``3.1``) are left out, with a warning where they have a tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from spanloom.document import Document, from_tags, to_bio
from spanloom.document.validate import Problem
from spanloom.errors import DataError, clip
from spanloom.formats.base import OTHER_TEXT, Losses, Scanned, altered, count_unwritten, unwritable
from spanloom.formats.blocks import (
    GLOBAL_COLUMNS,
    NEW_DOCUMENT,
    TAG,
    TEXT,
    UNTYPED,
    Block,
    FileMention,
    FileSentence,
    bad_tag,
    blocks,
    comments_above,
    flat_mentions,
    new_document,
    scan_blocks,
    sentences_of,
    shown_names,
    stand_in,
    surface_of,
    typed,
    write_blocks,
)

_STANDARD = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_OURS = {"UPOS": "pos"}  # else our name of a column is its own in lower case
_KEPT = _STANDARD[2:]
_ENTITY = ("NER", "ENTITY", "TAG", "NE")  # also of a namespace, such as SIMPLE:NE
_IN_MISC = re.compile(r"(?:^|(?<=\|))(Entity|NER|ner|NE|NamedEntity|name)=([^|]*)")
_BRACKET = re.compile(r"[()]")
_ID = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9})|\.[0-9]{1,9})?")
_OLD = re.compile(r"(?:^|(?<=\|))(?:ClusterId|MentionSpan)=[^|]*")
_TAGGED = re.compile(r"(?:^|\|)(?:([\w:.\[\]-]+)=)?(?:[BIESLU])-[A-Za-z][^|=\s]*(?=$|\|)")
_TAG_NAMES = frozenset(("Entity", "NER", "ner", "NE", "NamedEntity", "name"))
_NO_TAGS = frozenset(("ID", "FORM", "LEMMA", "UPOS", "XPOS", "HEAD", "DEPREL", "DEPS", *_ENTITY))
_DROPPED = re.compile(r"(?:^|(?<=\|))(?:SpaceAfter|Entity|NER)=")  # of MISC, whatever their value


def scan(path: str | Path, mentions: bool = True) -> Iterator[Scanned]:
    """Yield the documents of a CoNLL-U file. Without marks of documents, each sentence is one.

    Args:
        path: the file, or ``-``.
        mentions: if false, tags and brackets are not read.
    """
    names: list[str] = list(_STANDARD)
    entity: list[str] = []

    def read(block: Block) -> FileSentence:
        unread: list[str] = []
        for comment in block.comments:
            if comment.startswith(GLOBAL_COLUMNS):
                names[:] = comment.removeprefix(GLOBAL_COLUMNS).split()
            elif comment.startswith(GLOBAL_ENTITY):
                entity[:] = comment.removeprefix(GLOBAL_ENTITY).strip().lower().split("-")
                unread = [name for name in entity if name not in READ]
        rows = [_row(line, names, number, mentions) for number, line in block.lines]
        sentence = _sentence(block, rows, entity)
        if mentions:
            sentence.problems += _unread(rows)
        if unread and mentions:
            message = f"brackets of Entity= also hold {', '.join(unread)}, which are not read"
            sentence.problems.append(altered("fields of brackets", message, block.number))
        return sentence

    return scan_blocks(path, blocks(path), read)


@dataclass(slots=True)
class _WordLine:
    """A line: a word, a token of several words, or a word that is not in the text.

    Args:
        number: of the line.
        first: its number in the sentence; of a token of several words, that of the first.
        last: that of the last word.
        fields: by the name of their column.
        tag: of a mention, "O" for none.
        brackets: of mentions that begin and end here.
        space: the white space after it in the text.
        token: the index of the token that it is, or is a word of; -1 if it is not in the text.
        begins: whether that token begins with it.
        ends: whether that token ends with it.
    """

    number: int
    first: int
    last: int
    fields: dict[str, str]
    tag: str
    brackets: str
    space: str
    token: int = -1
    begins: bool = True
    ends: bool = True

    @property
    def form(self) -> str:
        """The form in the text."""
        return self.fields["FORM"]


def _sentence(block: Block, rows: Sequence[_WordLine], entity: Sequence[str]) -> FileSentence:
    tokens, tagged = _surface([row for row in rows if "." not in row.fields["ID"]])
    if not tokens:
        raise DataError("the sentence holds no token", line=block.number)
    if (text := block.text) is None:
        text = "".join(token.form + token.space for token in tokens).rstrip()
    if (offsets := stand_in((token.form for token in tokens), text)) is None:
        raise DataError(f"the tokens are not in '{TEXT}{text[:40]}'", line=block.lines[0].number)
    values = {_OURS.get(name, name.lower()): [row.fields.get(name, "_") for row in tokens] for name in _KEPT}
    columns = {name: column for name, column in values.items() if any(value != "_" for value in column)}
    sentence = FileSentence(text, offsets, columns)
    for first, end, kind in from_tags([row.tag for row in tagged]):
        _add_mention(sentence, tokens, kind, [(tagged[first], tagged[end - 1])])
    if any(row.brackets for row in rows):
        _add_bracketed(sentence, rows, tokens, entity)
    hidden = (row for row in rows if "." in row.fields["ID"] and row.tag != "O")
    sentence.problems += [_not_shown(f"the tag {row.tag[:40]!r}", row) for row in hidden]
    return sentence


def _not_shown(what: str, row: _WordLine) -> Problem:
    message = f"{what} is at {row.form[:40]!r}, which the text does not show; it was left out"
    return altered("tags of words that the text does not show", message, row.number)


def _row(line: str, names: Sequence[str], number: int, mentions: bool) -> _WordLine:
    values = line.split("\t")
    expected = [*names, "NER"] if len(values) == len(names) + 1 and tuple(names) == _STANDARD else names
    if len(values) != len(expected) or "ID" not in expected or "FORM" not in expected:
        message = f"found {len(values)} columns, expected {len(names)} ({shown_names(names)}), between tabs"
        raise DataError(message, line=number)
    fields = dict(zip(expected, values, strict=True))
    if (match := _ID.fullmatch(fields["ID"])) is None or not fields["FORM"]:
        found = f"{fields['ID'][:20]!r} {fields['FORM'][:20]!r}"
        raise DataError(f"found the token {found}, expected a number and a form", line=number)
    misc = fields.get("MISC", "_")
    entity = next((fields[name] for name in expected if name.upper().rpartition(":")[2] in _ENTITY), None)
    tag, brackets = _tag(entity, misc) if mentions else ("O", "")
    if not TAG.fullmatch(tag):
        raise DataError(bad_tag(tag), line=number)
    fields["MISC"] = "|".join(part for part in misc.split("|") if not _DROPPED.match(part)) or "_"
    space = "" if "SpaceAfter=No" in misc.split("|") else " "
    return _WordLine(number, int(match[1]), int(match[2] or match[1]), fields, typed(tag), brackets, space)


def _tag(entity: str | None, misc: str) -> tuple[str, str]:
    """Return the tag of a line and its brackets, of the column of tags, if there is one, or of MISC."""
    name, value = "", entity
    if entity is None:
        found = _IN_MISC.search(misc)
        name, value = (found[1], found[2]) if found else ("", "O")
    if not value or value == "_":
        return "O", ""
    if name and not TAG.fullmatch(value):
        if name == "Entity" and _BRACKET.search(value):
            return "O", value
        if name not in ("Entity", "NER"):  # another use of the name, which stays in MISC
            return "O", ""
    return value, ""


def _unread(rows: Sequence[_WordLine]) -> Iterator[Problem]:
    """Yield warnings about values of MISC that are no tags, and tags and mentions under names that are not read."""
    values = [row.fields.get("XPOS", "_") for row in rows]
    if "O" in values and all(map(TAG.fullmatch, values)) and any("-" in value for value in values):
        message = "the column XPOS holds tags of mentions, which are not read; put them in an eleventh column, NER"
        yield altered("tags not read: XPOS", message, rows[0].number)
    for row in rows:
        found = _IN_MISC.search(row.fields["MISC"])
        if found and not TAG.fullmatch(found[2]) and found[2] not in ("_", "", "Yes", "No"):
            message = f"{found[0][:40]!r} of MISC is no tag such as B-PER, and is not read"
            yield altered("values of MISC that are no tags", message, row.number)
        for column, value in row.fields.items():
            if column in _NO_TAGS or value == "_":
                continue
            if found := _OLD.search(value) if column == "MISC" else None:
                message = f"{clip(found[0], 40)} of MISC is CorefUD before 1.0, and is not read; get a later release"
                yield altered("mentions of old releases", message, row.number)
            elif (found := _TAGGED.search(value)) and not (column == "MISC" and found[1] in _TAG_NAMES):
                name = found[1] or column
                message = f"{clip(found[0].strip('|'), 40)} of {column} looks like a tag, and is not read; call it NER"
                yield altered(f"tags not read: {name}", message, row.number)
            elif column not in _STANDARD and value != "*":
                message = f"the column {clip(column, 40)}, such as {clip(value, 40)}, is not read; call one of tags NER"
                yield altered(f"columns not read: {column}", message, row.number)


def _surface(rows: Sequence[_WordLine]) -> tuple[list[_WordLine], list[_WordLine]]:
    """Number the tokens in the text; return them, and the lines with tags, which may be words of them."""
    tokens: list[_WordLine] = []
    tagged: list[_WordLine] = []
    at = 0
    while at < len(rows):
        row, at = rows[at], at + 1
        row.token = len(tokens)
        tokens.append(row)
        if "-" not in row.fields["ID"]:
            tagged.append(row)
            continue
        words = rows[at : at + max(row.last - row.first + 1, 0)]
        numbers = [(word.first, word.last) for word in words]
        if len(words) < 2 or numbers != [(n, n) for n in range(row.first, row.last + 1)]:
            found = f"the token of several words {row.fields['ID']!r}"
            raise DataError(f"found {found}, expected a line for each of its words below it", line=row.number)
        at += len(words)
        for word in words:
            word.token, word.begins, word.ends = row.token, word is words[0], word is words[-1]
        tags = [word.tag for word in words]
        own = [(0, len(tags), row.tag.partition("-")[2])]
        if row.tag != "O" and any(tag != "O" for tag in tags) and from_tags(tags) != own:
            found = f"the tag {row.tag[:40]!r} at {row.form[:40]!r}, and {' '.join(tags)[:80]!r} at its words"
            raise DataError(f"found {found}, expected the tag at one or the other", line=row.number)
        tagged += words if row.tag == "O" else [row]
    return tokens, tagged


def _add_mention(
    sentence: FileSentence, tokens: Sequence[_WordLine], kind: str, parts: Sequence[tuple[_WordLine, _WordLine]],
    head: _WordLine | None = None, concepts: tuple[str, ...] = (),
) -> None:  # fmt: skip
    """Add a mention, given the first and the last word of each part."""
    ranges: list[list[int]] = []
    for first, last in ((one.token, other.token) for one, other in parts):
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1][1] = max(ranges[-1][1], last)
        else:
            ranges.append([first, last])
    spans = tuple((sentence.tokens[first][0], sentence.tokens[last][1]) for first, last in ranges)
    place = None if head is None or head.token < 0 else sentence.tokens[head.token]
    sentence.mentions.append(FileMention(kind, spans, place, concepts))
    if (cut := next(((one, other) for one, other in parts if not (one.begins and other.ends)), None)) is not None:
        one, other = cut
        token = tokens[(other if one.begins else one).token].form
        shown = " ".join(sentence.text[start:stop] for start, stop in spans)
        message = f"the mention of type {kind[:40]!r} begins or ends within {token[:40]!r}, a token of several words"
        message += f"; it is read as {shown[:40]!r}"
        sentence.problems.append(altered("mentions of parts of a token", message, one.number))


def _add_bracketed(
    sentence: FileSentence, rows: Sequence[_WordLine], tokens: Sequence[_WordLine], entity: Sequence[str]
) -> None:
    """Add the mentions in brackets; those of which no word is in the text are left out."""
    order = [row for row in rows if row.brackets or "-" not in row.fields["ID"]]
    shown = [row for row in order if row.token >= 0]
    before = [0, *accumulate(row.token >= 0 for row in order)]  # how many of them precede each
    found, wrong = read_brackets([row.brackets for row in order], entity)
    for mention in found:
        cuts = [(before[first], before[end]) for first, end in mention.ranges]
        if not (parts := [(shown[low], shown[high - 1]) for low, high in cuts if low < high]):
            row = order[mention.ranges[0][0]]
            sentence.problems.append(_not_shown(f"the mention of type {mention.type[:40]!r}", row))
            continue
        head = None if mention.head is None else order[mention.head]
        _add_mention(sentence, tokens, mention.type, parts, head, (mention.identity,) if mention.identity else ())
    for place, message in wrong:
        message = f"{message}; expected (ENTITY-TYPE and so on, and ENTITY) behind it; what it marks is left out"
        sentence.problems.append(altered("damaged brackets", message, order[place].number))


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write eleven columns, the last with BIO tags; one level of mentions, of overlapping ones the longest.

    Raises:
        DataError: a document without tokens, or a token or value with a tab or line end in it.
    """
    head = f"{GLOBAL_COLUMNS}{' '.join([*_STANDARD, 'NER'])}\n"
    return write_blocks(documents, path, force, partial(_lines, path), head)


def _lines(path: str | Path, document: Document, losses: Losses) -> Iterator[str]:
    tokens, words = document.tokens, document.words
    if tokens is None:
        raise unwritable(document, " has no tokens; tokenize it first", path)
    held = [_OURS.get(name, name.lower()) for name in _KEPT]
    values = [document.columns.get(name, ["_"] * len(words)) for name in held]
    cells = (*words, *(value for column in values for value in column))
    wrong = next((value for value in cells if not value or any(character in value for character in "\t\r\n")), None)
    # where a word begins with white space, a reader cannot find its place
    wrong = next((word for word in words if word[:1].isspace()), None) if wrong is None else wrong
    if wrong is not None:
        raise unwritable(document, f": CoNLL-U cannot hold the value {wrong[:40]!r}; change or remove it", path)
    yield new_document(document, losses)
    tags = to_bio(flat_mentions(document, losses), len(words))
    texts = []
    sentences = sentences_of(document)
    marks = (NEW_DOCUMENT, TEXT, GLOBAL_COLUMNS)
    comments = comments_above(document, len(sentences), lambda line: not line.startswith(marks), losses)
    for (first, end), above in zip(sentences, comments, strict=True):
        if first == end:
            continue
        texts.append(surface_of(document, words, first, end))
        yield from above
        yield TEXT + texts[-1]
        for i in range(first, end):
            row = [column[i] for column in values]
            if i + 1 < end and tokens[i, 1] == tokens[i + 1, 0]:
                row[-1] = "SpaceAfter=No" if row[-1] == "_" else f"{row[-1]}|SpaceAfter=No"
            yield "\t".join((str(i - first + 1), words[i], *row, tags[i]))
        yield ""
    dropped = sum(_DROPPED.search(value) is not None for value in values[-1])
    losses.add("values of misc that mean something else here", dropped)
    losses.add("token columns", len(document.columns.keys() - set(held)))
    losses.add(OTHER_TEXT, int("\n".join(texts) != document.text))
    count_unwritten(losses, document, held=("comments",))


# Mentions in brackets, as CorefUD and GUM have them in MISC of CoNLL-U: ``Entity=(e1-person-1(e2-place-1)``.
#
# ``(e1-person-1`` begins a mention of the entity e1, ``e1)`` ends it, and ``(e1-person-1)`` is a whole one. Mentions
# may
# be nested and may cross; ``(e1[1/2]-...`` is the first of two parts. ``# global.Entity = eid-etype-head`` names the
# fields between hyphens.

GLOBAL_ENTITY = "# global.Entity = "

_PIECE = re.compile(r"(\()?([^()]+)(\))?|.", re.DOTALL)
_PART = re.compile(r"\[([0-9]{1,4})/([0-9]{1,4})\]")
_IDS, _TYPES = ("eid", "grp", "id", "group"), ("etype", "entity", "type", "entitytype", "entity_type")
READ = frozenset((*_IDS, *_TYPES, "head", "identity", "minspan", "other"))
"""The names of fields that are read, or that hold nothing about a mention."""
_HAS_NUMBER = re.compile(r".*[0-9]")


class BracketMention(NamedTuple):
    """A mention.

    Args:
        type: of the entity.
        ranges: of its words, half-open, in order.
        head: the index of its head word, if the brackets name it.
        identity: of the entity in a knowledge base, if the brackets name it.
    """

    type: str
    ranges: list[tuple[int, int]]
    head: int | None
    identity: str | None


class _Open(NamedTuple):
    """A mention, or a part of one, that has begun."""

    content: str
    fields: dict[str, str]
    first: int
    part: tuple[int, int]

    @property
    def key(self) -> str:
        """The identifier of the entity, which the closing bracket repeats."""
        return _first_of(self.fields, _IDS)


def _fields(content: str, names: Sequence[str]) -> dict[str, str]:
    """Return the fields of a bracket by name; the last one may hold hyphens, and a single one is the identifier.

    >>> _fields("e1-person-1", ["eid", "etype", "head"]), _fields("person-e1", [])
    ({'eid': 'e1', 'etype': 'person', 'head': '1'}, {'etype': 'person', 'eid': 'e1'})
    """
    parts = list(map(unquote, content.split("-", max(len(names) - 1, 0) or -1)))
    if names:
        return dict(zip(names, parts, strict=False)) | ({"eid": parts[0]} if len(parts) == 1 else {})
    if len(parts) == 1:
        return {"eid": parts[0], "etype": "" if _HAS_NUMBER.match(parts[0]) else parts[0]}
    # an identifier has a number
    turned = not _HAS_NUMBER.match(parts[0]) and _HAS_NUMBER.match(parts[1])
    return dict(zip(("etype", "eid") if turned else ("eid", "etype"), parts, strict=False))


def _first_of(fields: Mapping[str, str], names: Sequence[str]) -> str:
    return next((fields[name] for name in names if name in fields), "")


def read_brackets(values: Sequence[str], names: Sequence[str]) -> tuple[list[BracketMention], list[tuple[int, str]]]:
    """Return the mentions of a sentence, and the places and messages of brackets that do not fit.

    Args:
        values: of each word, empty where it has none.
        names: of the fields, in small letters; none if the file does not name them.

    >>> found, wrong = read_brackets(["(e1-person-1", "e1)(e2[1/2]-thing-1)", "", "(e2[2/2]-thing-1)"], [])
    >>> [(mention.type, mention.ranges) for mention in found], wrong
    ([('person', [(0, 2)]), ('thing', [(1, 2), (3, 4)])], [])
    """
    wrong: list[tuple[int, str]] = []
    opened: dict[tuple[str, int], list[_Open]] = {}  # by entity and number of the part
    parts: dict[str, list[tuple[_Open, int]]] = {}
    found: list[BracketMention] = []

    def close(one: _Open, last: int) -> None:
        number, count = one.part
        held = parts.setdefault(one.key, []) if count > 1 else []
        if number != len(held) + 1:
            wrong.append((last, f"found part {number} of {count} of {clip(one.key, 20)}, expected {len(held) + 1}"))
            return
        held.append((one, last))
        if number == count:
            parts.pop(one.key, None)
            found.append(_mention(held))

    for at, value in enumerate(values):
        for piece in _PIECE.finditer(value):
            opening, content, closing = piece[1], piece[2] or piece[0], piece[3] or ""
            match = _PART.search(content)
            part = (int(match[1]), int(match[2])) if match else (1, 1)
            bare = _PART.sub("", content, count=1)
            one = _Open(bare, _fields(bare, names), at, part)
            if opening and closing:
                close(one, at)
            elif opening:
                opened.setdefault((one.key, part[0]), []).append(one)
            elif closing and (stack := opened.get((one.key, part[0]))):
                close(stack.pop(), at)
            else:
                wrong.append((at, f"found {clip(content + closing, 40)}, which closes no bracket"))
    left = [one for stack in opened.values() for one in stack]
    wrong += [(one.first, f"found {clip('(' + one.content, 40)}, which is not closed") for one in left]
    parted = ((held[0][0].first, key) for key, held in parts.items() if held)
    wrong += [(first, f"found {clip(key, 20)} without all of its parts") for first, key in parted]
    found.sort(key=lambda mention: (mention.ranges[0][0], -mention.ranges[-1][1]))
    return found, sorted(wrong)


def _mention(parts: Sequence[tuple[_Open, int]]) -> BracketMention:
    ranges = sorted((one.first, last + 1) for one, last in parts)
    fields = parts[0][0].fields
    number = fields.get("head", "")
    place = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0
    words = chain.from_iterable(range(first, end) for first, end in ranges)
    head = next(islice(words, place - 1, None), None) if place else None
    return BracketMention(_first_of(fields, _TYPES) or UNTYPED, ranges, head, fields.get("identity") or None)
