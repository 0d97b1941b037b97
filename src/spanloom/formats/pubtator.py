r"""PubTator: a title, an abstract, one line for each mention, and a blank line between documents.

Four kinds of line make a document::

    8528200|t|Machado-Joseph disease in Japan.                          the title
    8528200|a|The array size was examined.                              the abstract
    8528200   0   22   Machado-Joseph disease   Disease   MESH:D017827  a mention: start, end, text, type, identifiers
    8528200   CID   D006493   D013921                                   a relation, here between two concepts

Any other line of a document is skipped and counted.

Tabs separate the fields. The part after the first tab of a line is called its *row*. The identifiers of a mention are
joined by ``|`` (several concepts, or one of several) or ``+`` (all of them together); ``-``, ``-1`` or an empty field
mean no concept.

The text is the title, a line end and the abstract: the format counts one character between them. If the abstract is
empty, the text is the title alone.

``Document.meta["pubtator"]`` keeps data without a field: under ``"relations"`` the relations, under
``"rows"`` those lines of mentions that would be written in another way (identifiers joined by ``+``, further fields).
Both lack the document's identifier.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from spanloom.document import Document, Mention, Span
from spanloom.document.span import join_spans
from spanloom.document.surfaces import difference, flat, trimmed
from spanloom.document.validate import Problem
from spanloom.errors import DataError, plural
from spanloom.formats.base import (
    DISCONTIGUOUS,
    LINE_ENDS,
    TOUCHING,
    UNNAMED,
    UNSTRIPPED,
    Beside,
    Losses,
    Scanned,
    count_attributes,
    count_mention,
    count_unwritten,
    name_of,
    no_document,
    unwritable,
)
from spanloom.formats.blocks import Block, NumberedLine
from spanloom.formats.source import bare, begins_with, decode, output_file, raw_lines

NO_CONCEPT = "-"
_BEGINNING = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*([^\s|]+)\|t\|[^\r\n]*(?:\r?\n|\r)\1\|a\|")
EXPECTED_MENTION = "'{id}<tab>start<tab>end<tab>text<tab>type<tab>identifier'"

_PASSAGE = re.compile(r"([^|\t]+)\|([ta])\|(.*)", re.DOTALL)
_MENTION = re.compile(r"([0-9]{1,15})\t([0-9]{1,15})\t([^\t]*)\t([^\t]+)(?:\t(.*))?", re.DOTALL)
_NAME, _DIGIT, _IDENTIFIER = re.compile(r"[^\W\d]"), re.compile(r"\d"), re.compile(r"\d|\|")
_OFFSETS = re.compile(r"[-+]?\d+\t")  # as a row of a mention begins, also one that is wrong
_JOINED = re.compile(r"\t[0-9]+\t[0-9]+\t[^\t]+\t[^\t]+")  # in the fields behind a mention's
_ABSENT = ("", NO_CONCEPT, "-1")
_VARIANT = re.compile(r"(?:\w+:)?[a-z]\|[A-Z]+\|")  # c|SUB|G|35|A is one identifier
_ACCESSION = re.compile(r"(?:\w+:)?[A-Z]?[0-9]+")
_UNWRITABLE = re.compile(r"[\t\n\r\0]")
_SHOWN = 40  # characters of a line in a message
_KEPT = ("rows", "relations")  # the lists in ``meta["pubtator"]``

_ID = re.compile(r"[^|\t\n\r\0]+")
_LINE_ENDS = str.maketrans("\n\r", "  ")
_Key = tuple[object, ...]


class Passage(NamedTuple):
    """A title (``kind`` is ``"t"``) or an abstract (``"a"``)."""

    id: str
    kind: str
    text: str


class Annotation(NamedTuple):
    """A mention, and its text in the file."""

    mention: Mention
    surface: str


def parse_passage(line: str) -> Passage | None:
    """Parse a line as title or abstract; ``None`` if it is another line.

    >>> parse_passage("12|t|On p|t| ratios")
    Passage(id='12', kind='t', text='On p|t| ratios')
    """
    found = _PASSAGE.fullmatch(line)
    return None if found is None else Passage(*found.groups())


def parse_annotation(row: str) -> Annotation | None:
    r"""Parse a row as a mention, without a check of its offsets; ``None`` if it is another row.

    >>> parse_annotation("9\t15\tcancer\tDisease\tD001943|D010051").mention.concepts
    ('D001943', 'D010051')
    """
    if (found := _MENTION.fullmatch(row)) is None:
        return None
    start, end, surface, kind, rest = found.groups()
    identifier = (rest or "").partition("\t")[0]
    return Annotation(Mention(kind, (Span(int(start), int(end)),), concepts=split_identifier(identifier)), surface)


def is_relation(row: str) -> bool:
    r"""Return whether a row names a relation and two arguments, identifiers, of which one has a digit in it.

    A column on novelty may follow, which may be empty.

    >>> is_relation("CID\tD006493\tD013921\tNovel"), is_relation("pain\tDisease\tD010146")
    (True, False)
    """
    arguments = [argument for argument in row.split("\t", 3)[1:3] if _IDENTIFIER.search(argument)]
    return len(arguments) == 2 and bool(_NAME.match(row)) and any(map(_DIGIT.search, arguments))


def split_identifier(identifier: str) -> tuple[str, ...]:
    """Split an identifier field into concepts.

    >>> split_identifier("OMIM:610102|OMIM:217000"), split_identifier("D007674+D006222"), split_identifier("-1")
    (('OMIM:610102', 'OMIM:217000'), ('D007674', 'D006222'), ())
    >>> split_identifier("c|SUB|G|35|A"), split_identifier("HGVS:c.1234+1G>A")
    (('c|SUB|G|35|A',), ('HGVS:c.1234+1G>A',))
    """
    concepts: list[str] = []
    for part in [identifier] if _VARIANT.match(identifier) else identifier.split("|"):
        together = [name.strip() for name in part.split("+")]
        concepts += together if all(map(_ACCESSION.fullmatch, together)) else [part.strip()]
    return tuple(concept for concept in concepts if concept not in _ABSENT)


def is_writable(name: str) -> bool:
    """Return whether a type or a concept can be written in a field."""
    return bool(name.strip()) and not _UNWRITABLE.search(name)


def render(mention: Mention, text: str) -> str | None:
    r"""Return the row of a mention; ``None`` if it is discontiguous.

    Its type, and its concepts, must be writable; see `is_writable`.

    Args:
        mention: spans that touch, or that only white space separates, are written as one.
        text: the document's.

    >>> render(Mention("Disease", [(0, 4), (5, 9)], concepts=["D1"]), "mild pain")
    '0\t9\tmild pain\tDisease\tD1'
    >>> render(Mention("Disease", [(0, 4), (15, 19)]), "mild or severe pain") is None
    True
    """
    spans = join_spans(text, mention.spans)
    if len(spans) > 1:
        return None
    ((start, end),) = spans
    identifier = "|".join(mention.concepts) or NO_CONCEPT
    return f"{start}\t{end}\t{flat(text[start:end])}\t{mention.type}\t{identifier}"


def scan(path: str | Path) -> Iterator[Scanned]:
    """Yield the documents of a PubTator file, one at a time; several may have one identifier."""
    name, found, relations = str(path), False, 0
    for block in _blocks(path):
        found = True
        scanned = _document(block, name)
        if scanned.document is not None:
            relations += len(scanned.document.meta.get("pubtator", {}).get("relations", ()))
        yield scanned
    if not found:
        yield no_document(name, "'1|t|title', '1|a|abstract' and the mentions below")
    if relations:
        message = f"{plural(relations, 'relation')}, kept in meta, and written back"
        yield Scanned(None, [Problem("warning", "relations", message, path=name)], name)


def claims(path: Path) -> bool:
    """Return whether a path ends in ``.pubtator``, or is a text file that begins as one does."""
    return bare(path).suffix.lower() == ".pubtator" or begins_with(_BEGINNING, ".txt", path)


def _blocks(path: str | Path) -> Iterator[Block]:
    block = Block()
    for number, raw in raw_lines(path):
        try:
            line = decode(raw, path, number).removesuffix("\n").removesuffix("\r")
        except DataError as error:
            block.problems.append(Problem("error", "unreadable", error.message, path=str(path), line=number))
            continue
        passage = parse_passage(line)
        ends = not line.strip() or (passage is not None and passage.kind == "t")
        if ends and (block.lines or block.problems):
            yield block
            block = Block()
        if line.strip():
            block.lines.append(NumberedLine(number, line))
    if block.lines or block.problems:
        yield block


def _document(block: Block, path: str) -> Scanned:
    if block.problems:  # a line that is missing would only make others look wrong
        return Scanned(None, block.problems, path, block.problems[0].line)
    first = block.lines[0].number
    passages = _passages(block.lines)
    if isinstance(passages, Problem):
        return Scanned(None, [replace(passages, path=path)], path, first)
    title, abstract = passages
    text = f"{title.text}\n{abstract.text}" if abstract.text else title.text
    problems: list[Problem] = []
    found, relations = _rows(block.lines[2:], title.id, problems)
    lines = [line.number for line, _ in found]
    document = Document(text, id=title.id, mentions=[annotation.mention for _, annotation in found])
    surfaces = [annotation.surface for _, annotation in found]
    if not any(problem.severity == "error" for problem in problems):
        rows = [line.text for line, annotation in found if line.text != render(annotation.mention, text)]
        kept = {"rows": rows, "relations": relations}
        if any(kept.values()):
            document.meta["pubtator"] = {kind: rows for kind, rows in kept.items() if rows}
    problems = [replace(problem, path=path, line=problem.line or first) for problem in problems]
    return Scanned(document, problems, path, first, [(path, line) for line in lines], Beside(surfaces))


def _passages(lines: list[NumberedLine]) -> tuple[Passage, Passage] | Problem:
    """Return the title and the abstract, or the problem that makes the document invalid."""
    number, line = lines[0]
    if (title := parse_passage(line)) is None or title.kind == "a":
        message = f"found {line[:_SHOWN]!r}, expected the title that starts a document, such as '1|t|title'"
        if title is not None:
            name = title.id[:_SHOWN]
            message = f"the abstract of {name!r} is without its title; put '{name}|t|' before"
        return Problem("error", "no title", message, line=number)
    shown, abstract = "no more lines", None
    if len(lines) > 1:
        number, line = lines[1]
        shown, abstract = repr(line[:_SHOWN]), parse_passage(line)
    if abstract is None or abstract.id != title.id:
        expected = f"expected '{title.id[:_SHOWN]}|a|' and the abstract, if there is one, below the title"
        return Problem("error", "no abstract", f"found {shown}, {expected}", line=number)
    return title, abstract


def _rows(
    lines: list[NumberedLine], name: str, problems: list[Problem]
) -> tuple[list[tuple[NumberedLine, Annotation]], list[str]]:
    """Return the rows of mentions with their numbers, and the relations."""
    found: list[tuple[NumberedLine, Annotation]] = []
    relations: list[str] = []
    for number, line in lines:
        start, tab, row = line.partition("\t")
        annotation = parse_annotation(row)
        message = ""
        expected = EXPECTED_MENTION.format(id=name[:_SHOWN])
        if tab and annotation is None and start == name and _OFFSETS.match(row):
            message = f"found {line[:_SHOWN]!r}, expected {expected}"
        elif not tab or (annotation is None and not is_relation(row)):
            left_out = f"found {line[:_SHOWN]!r}, which is neither {expected} nor a relation; the line is left out"
            problems.append(Problem("warning", "lines left out", left_out, line=number, altered=True))
        elif start != name:
            message = f"the line is of document {start[:_SHOWN]!r}, but is below {name[:_SHOWN]!r}; move it"
        elif annotation is None:
            relations.append(row)
        else:
            found.append((NumberedLine(number, row), annotation))
            if _JOINED.search(row, row.index(annotation.surface)):
                joined = f"the line of {annotation.surface[:_SHOWN]!r} has the fields of a second mention, not read"
                problems.append(Problem("warning", "lines joined", joined, line=number, altered=True))
        if message:
            problems.append(Problem("error", "PubTator line", message, line=number))
    return found, relations


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write titles, abstracts and mentions; a document without an ``id`` is called ``document-000001``.

    The title is the text's first line, the abstract is the rest. Neither can hold a line end: a space stands for each,
    so that every offset stays right, and they are counted as losses. So are discontiguous mentions.

    Args:
        documents: tokens are not needed.
        path: the file, or ``-``.
        force: replace an existing file.

    Raises:
        DataError: an ``id`` with ``|``, a tab or a line end in it; ``meta["pubtator"]`` is invalid.
    """
    losses = Losses()
    with output_file(path, force=force) as file:
        for number, document in enumerate(documents, start=1):
            name = name_of(document, number)
            losses.add(UNNAMED, int(not document.id))
            if not _ID.fullmatch(name):
                found = f"the identifier {name[:40]!r} has '|', a tab, a line end or NUL in it"
                raise DataError(f"{found}; PubTator cannot hold it", path=path)
            rows = list(_rows_of(name, document, losses, path))
            title, _, abstract = document.text.partition("\n")
            title = title if abstract else document.text  # an empty abstract is read as none, without a line end
            losses.add(LINE_ENDS, sum(part.count(end) for part in (title, abstract) for end in "\n\r"))
            texts = [f"{name}|{kind}|{part.translate(_LINE_ENDS)}" for kind, part in (("t", title), ("a", abstract))]
            file.write("".join(line + "\n" for line in (*texts, *rows)) + "\n")
            count_unwritten(losses, document, "tokens", "sentences", "token columns", held=("pubtator",), inside=_KEPT)
    return losses


def _rows_of(name: str, document: Document, losses: Losses, path: str | Path) -> Iterator[str]:
    kept, relations = _kept(document, path)
    as_read: dict[_Key, list[str]] = {}
    for old in reversed(kept):
        annotation = parse_annotation(old)
        if annotation is None or difference(document.text, annotation.mention.spans, annotation.surface) is None:
            continue
        if (mention := trimmed(annotation.mention, document.text)) is not None:
            as_read.setdefault(_key(mention), []).append(old)
    for mention in document.mentions:
        if (row := _row(mention, document.text, losses)) is not None:
            same = as_read.get(_key(mention))
            yield f"{name}\t{same.pop() if same else row}"
    yield from (f"{name}\t{row}" for row in relations)


def _row(mention: Mention, text: str, losses: Losses) -> str | None:
    """Return the mention's row, or count a loss."""
    if not is_writable(mention.type):
        losses.add("mentions whose type has a tab or a line end, or is empty")
        return None
    held = [concept for concept in mention.concepts if is_writable(concept)]
    if (row := render(mention.replace(concepts=held), text)) is None:
        losses.add(DISCONTIGUOUS)
        return None
    count_mention(losses, mention, TOUCHING, "heads", "scores", "mention identifiers")
    losses.add(UNSTRIPPED, sum(concept != concept.strip() for concept in held))
    again = parse_annotation(row)
    stripped = tuple(concept.strip() for concept in held)
    losses.add("concepts that read back in another way", int(again is None or again.mention.concepts != stripped))
    losses.add("concepts", len(mention.concepts) - len(held))
    count_attributes(losses, mention)
    return row


def _key(mention: Mention) -> _Key:
    return (*mention.key, mention.concepts)


def _kept(document: Document, path: str | Path) -> tuple[list[str], list[str]]:
    """Return the kept data: rows that would be written in another way, and relations."""
    kept = document.meta.get("pubtator", {})
    lists = [kept.get(name, []) for name in _KEPT] if isinstance(kept, dict) else []
    sound = len(lists) == len(_KEPT) and all(
        isinstance(rows, list) and all(isinstance(row, str) and "\n" not in row for row in rows) for rows in lists
    )
    if not sound or not all(map(parse_annotation, lists[0])) or not all(map(is_relation, lists[1])):
        raise unwritable(document, ": meta['pubtator'] should hold lines of PubTator in lists; remove it", path)
    return lists[0], lists[1]
