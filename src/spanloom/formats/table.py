"""CSV and TSV: tables of mentions, one a row, which are written; and tables of texts, one a row.

A table of mentions has no texts: texts are read from another input, and ``doc_id`` names the document. If its rows
hold the whole text of their mention, no other input is needed. A text without an identifier gets its number, as in
``document-000001``, on reading and writing. A cell of a table of texts may hold mentions or tags, as JSON or as a
Python list.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from spanloom.document import Document, Mention, Span
from spanloom.document.surfaces import beginning
from spanloom.document.validate import Problem
from spanloom.errors import DataError, clip, plural
from spanloom.formats.attributes import from_text, is_attribute, to_json_text
from spanloom.formats.base import (
    ATTRIBUTE_SCORES,
    CONCEPT_SCORES,
    Beside,
    Losses,
    Scanned,
    altered,
    count_mention,
    count_unwritten,
    name_of,
    no_document,
    repeated_name,
)
from spanloom.formats.csv_rows import Row, RowWriter, guarded, header_of, rows, unguarded, value_of
from spanloom.formats.entries import entries_of
from spanloom.formats.layouts import OF_MENTIONS, OF_TAGS, OF_TEXT, OF_WORDS, PRESUMED, named, plain
from spanloom.formats.record import scan_record
from spanloom.formats.record_fields import (
    DESCRIBED,
    OF_SPANS,
    OF_TEXTS,
    Columns,
    RecordFields,
    TagNames,
    given_names,
    places,
)
from spanloom.formats.source import bare, output_file
from spanloom.formats.tag_dialects import in_turn

_OFFSETS = re.compile(r"\s*\(?\d{1,9}\s*[-:,]\s*\d{1,9}\b")
_LOOKED_AT = 50  # rows in which a column of texts must show
_TEXTS = "name the texts that it is about (--texts, texts=): a folder or a file of any format"


def scan(
    path: str | Path, columns: Columns = None, texts: Iterator[Scanned] | None = None, tabs: bool = False,
    mentions: bool = True, tag_names: TagNames = None,
) -> Iterator[Scanned]:  # fmt: skip
    """Yield the documents of a table of texts, or those of ``texts`` with the mentions of a table.

    Args:
        path: the table, or ``-``.
        columns: our names of columns -> those in the table, and a description of mentions in cells, as of JSONL.
        texts: records of the texts that a table of mentions is about.
        tabs: whether tabs divide cells; else the header shows it.
        mentions: if false, a table of mentions is not read beside its texts.
        tag_names: of tags that are numbers, in cells.
    """
    names = given_names(columns, [*OF_SPANS, *(name for name in DESCRIBED if name not in OF_SPANS)])
    in_cells = "mentions" in names
    of_table = {ours: theirs for ours, theirs in names.items() if ours in (OF_TEXTS if in_cells else OF_SPANS)}
    fields = RecordFields({ours: theirs for ours, theirs in names.items() if ours not in ("id", "text")}, tag_names)
    below = rows(path, tabs)
    if (head := next(below, None)) is None:
        yield no_document(str(path), "a header and rows")
        return
    first = next(below, None)
    table = _Table(str(path), head.cells, of_table, below if first is None else chain([first], below))
    if head.problem is not None:
        yield Scanned(None, [head.problem], str(path), head.line)
    elif not in_cells and _holds_spans(head.cells, of_table):
        own = None if texts is not None or first is None else _text_of_rows(table, first)
        if own is not None:
            yield from _scan_rows_with_texts(table, own, mentions)
        else:
            yield from _scan_spans(table, texts, mentions)
    elif texts is not None:
        raise DataError(_no_spans(head.cells), path=path, line=head.line)
    else:
        yield from _scan_texts(table, fields, mentions)


class _Table(NamedTuple):
    """A table: its path, header, our names of columns -> those in it, and the rows below the header."""

    path: str
    header: list[str]
    names: dict[str, str]
    rows: Iterator[Row]

    def check_once(self, at: Mapping[str, int]) -> None:
        """Check that each column that is read occurs once.

        Raises:
            DataError: two columns have one name.
        """
        lower = [name.strip().lower() for name in self.header]
        if (wrong := next((place for place in at.values() if lower.count(lower[place]) > 1), None)) is not None:
            raise DataError(f"two columns are called {clip(self.header[wrong])}; rename one", path=self.path, line=1)

    def columns_of_mentions(self, text: str | None) -> Generator[Scanned, None, dict[str, int]]:
        """Yield a warning about columns that are not read; return our names of the others -> their places.

        Args:
            text: the column of the texts, if there is one.
        """
        known, unread = columns_of(self.header, self.names)
        at = {ours: place for ours, place in known.items() if self.header[place] != text}
        self.check_once(at)
        if others := [name for name in unread if name != text]:
            message = f"columns that are not read: {', '.join(map(clip, others[:20]))}"
            yield Scanned.altered("columns not read", message, self.path, 1)
        return at


def _holds_spans(header: list[str], names: dict[str, str]) -> bool:
    """Return whether rows are mentions: they have a type and offsets."""
    found = places(header, names, OF_SPANS)
    return "type" in found and ("spans" in found or {"start", "end"} <= found.keys())


def _no_spans(header: list[str]) -> str:
    shown = ", ".join(map(clip, header[:20]))
    return (
        f"found the columns {shown}; expected doc_id, start, end and type (a table of mentions), or id and text "
        "(one of texts); name the columns as start=NAME,type=NAME or text=NAME,id=NAME (--columns, columns=)"
    )


def _scan_texts(table: _Table, fields: RecordFields, mentions: bool) -> Iterator[Scanned]:
    path, header, names, below = table
    at = places(header, names, OF_TEXTS)
    unclear = not names and {"start", "end"} <= places(header, {}, OF_SPANS).keys()  # mentions, but of what type?
    if "text" not in at and not unclear:
        first = list(islice(below, _LOOKED_AT))
        below = chain(first, below)
        if (text := _text_of_mentions(header, first)) is not None:
            at["text"] = header.index(text)
    if unclear or ("text" not in at and not _holds_words(header) and not fields.names.keys() >= {"tokens", "tags"}):
        raise DataError(_no_spans(header), path=path, line=1)
    table.check_once(at)
    others = [(name, place) for place, name in enumerate(header) if place not in at.values()]
    named = fields.layout.fields if fields.layout is not None else ()
    listed = {name for name, _ in others if plain(name) in (*OF_TAGS, *OF_WORDS) or name in fields.names.values()}

    def scan_row(row: Row) -> list[Scanned]:
        if row.problem is not None:
            return [Scanned(None, [row.problem], path, row.line)]
        cells = {name: row.cells[place] for name, place in others if row.cells[place]}
        values: dict[str, Any] = {name: value for name, cell in cells.items() if (value := value_of(cell)) is not None}
        unread = [name for name, cell in cells.items() if name not in values and _looks_annotated(name, cell)]
        values |= {name: cells[name] for name in cells if name in listed and name not in values}
        values |= {name: values.get(name, []) for name in named if name in header}
        record = {name: row.cells[at[name]] for name in ("id", "text") if name in at} | values
        own = scan_record(record, mentions, fields, path, row.line)
        for scanned in own:
            if unread and mentions:
                message = (
                    f"the cell of {clip(unread[0])} looks like annotation and is not read: {clip(cells[unread[0]], 40)}"
                )
                message += " is no whole list of JSON or Python; write it as [[START, END, TYPE], ...]"
                scanned.problems.append(altered(f"annotation not read: {unread[0]}", message, row.line, path))
            if (document := scanned.document) is not None:
                kept = {name: cells.get(name, value) for name, value in document.meta.items()}
                document.meta = {name: cell for name, cell in cells.items() if name not in values} | kept
        return own

    if (top := next(below, None)) is not None:
        yield from in_turn((fields.tags, fields.kinds), (partial(scan_row, row) for row in chain([top], below)))
    else:
        yield no_document(path, "a row for each text below the header")


def _text_of_mentions(header: list[str], below: Iterable[Row]) -> str | None:
    """Return the column of texts that mentions in cells of another one are about; ``None`` if that is not clear.

    >>> _text_of_mentions(["id", "data", "label"], [Row(2, ["1", "No pain", '[[3, 7, "x"]]'])])
    'data'
    """
    for row in below:
        if row.problem is not None:
            continue
        cells = dict(zip(header, row.cells, strict=True))
        values = {name: value_of(cell) for name, cell in cells.items()}
        found = (entries_of(value, name, PRESUMED) for name, value in values.items() if isinstance(value, list))
        last = max((end for entries in found for entry in entries.entries for _, end in entry.spans), default=0)
        if last > 0:
            long = [name for name, cell in cells.items() if values[name] is None and len(cell) >= last]
            texts = [name for name in long if len(cells[name].split()) > 1]
            return texts[0] if len(texts) == 1 else next((name for name in texts if plain(name) == "data"), None)
    return None


def _holds_words(header: list[str]) -> bool:
    """Return whether a table has a column of words and one of their tags."""
    return any(plain(name) in OF_WORDS for name in header) and any(plain(name) in OF_TAGS for name in header)


def _looks_annotated(name: str, cell: str) -> bool:
    """Return whether a cell that holds no list looks like annotation.

    >>> [_looks_annotated("label", cell) for cell in ("[[3, 7, 'x'", "3:7:x;9:12:y", "sad", "nan")]
    [True, True, False, False]
    """
    return plain(name) in OF_MENTIONS and (cell[:1] in ("[", "{") or _OFFSETS.match(cell) is not None)


def _text_of_rows(table: _Table, first: Row) -> str | None:
    """Return the column with the whole text of each row's mention, or ``None``."""
    at = places(table.header, table.names, OF_SPANS)
    if not {"start", "end"} <= at.keys() or first.problem is not None:
        return None
    start, end = (first.cells[at[name]].strip() for name in ("start", "end"))
    if not (start.isdecimal() and end.isdecimal()):
        return None
    cells = dict(zip(table.header, first.cells, strict=True))
    texts = (name for name in named(cells, OF_TEXT) if len(cells[name]) >= int(end))
    return next((name for name in texts if len(cells[name]) != int(end) - int(start)), None)


def _scan_rows_with_texts(table: _Table, text: str, mentions: bool) -> Iterator[Scanned]:
    """Yield a document for rows in a row that have one text and one identifier."""
    path, place = table.path, table.header.index(text)
    at = yield from table.columns_of_mentions(text)

    def key(row: Row) -> tuple[str, str] | None:
        return None if row.problem is not None else (row.cells[at["id"]] if "id" in at else "", row.cells[place])

    for own, group in groupby(table.rows, key):
        if own is None:
            yield from (Scanned(None, [row.problem], path, row.line) for row in group if row.problem is not None)
            continue
        found = list(group)
        scanned = Scanned(Document(own[1], id=own[0]), [], path, found[0].line)
        parsed = [parse_row(row, at, path) for row in found if mentions and row.cells[at["start"]].strip()]
        yield _with_mentions(path, scanned, parsed)


def _scan_spans(table: _Table, texts: Iterator[Scanned] | None, mentions: bool) -> Iterator[Scanned]:
    path = table.path
    if texts is None:
        raise DataError(f"the table holds mentions and no texts; {_TEXTS}", path=path)
    if not mentions:
        yield from texts
        return
    at = yield from table.columns_of_mentions(None)
    groups: dict[str, list[SpanRow]] = {}
    for row in table.rows:
        if row.problem is not None:
            yield Scanned(None, [row.problem], path, row.line)
        else:
            parsed = parse_row(row, at, path)
            groups.setdefault(parsed.id, []).append(parsed)
    yield from _joined(path, groups, texts, "id" in at)
    for name, left in groups.items():
        message = f"no text is called {clip(name)}, which has {plural(len(left), 'row')}; {_TEXTS}"
        yield Scanned(None, [Problem("error", "no text", message, path=path, line=left[0].line)], path)


def _joined(path: str, groups: dict[str, list[SpanRow]], texts: Iterator[Scanned], named: bool) -> Iterator[Scanned]:
    """Yield texts with their mentions; what is left in the groups has no text."""
    taken: set[str] = set()
    for number, scanned in enumerate(texts, start=1):
        if (document := scanned.document) is None or any(problem.severity == "error" for problem in scanned.problems):
            yield scanned
            continue
        name = name_of(document, number) if named else ""
        if name not in groups and f"{name}.txt" in groups:
            name += ".txt"
        if name in taken:
            message = f"two texts are called {clip(name)}, so the rows cannot be assigned"
            if not named:
                message = "the table has no column doc_id, so that it is about one text; here is another"
            yield Scanned.failed("duplicate document", message, scanned.path)
            continue
        if found := groups.pop(name, []):
            taken.add(name)
        yield _with_mentions(path, scanned, found)


def _with_mentions(path: str, scanned: Scanned, found: list[SpanRow]) -> Scanned:
    document, problems = scanned.document, list(scanned.problems)
    assert document is not None
    problems += [row.problem for row in found if row.problem is not None]
    pairs = [(row, row.mention) for row in found if row.mention is not None]
    kept = document.copy(mentions=[mention for _, mention in pairs])
    surfaces = [surface_of(row, document.text) for row, _ in pairs]
    return Scanned(kept, problems, path, scanned.line, [(path, row.line) for row, _ in pairs], Beside(surfaces, "row"))


def write(documents: Iterable[Document], path: str | Path, force: bool = False, tabs: bool = False) -> Losses:
    """Write a row for each mention. Texts, and what else a row has no cell for, are counted as lost.

    Raises:
        DataError: two documents have the same identifier, and one of them mentions; a NUL character.
    """
    losses = Losses()
    named: dict[str, bool] = {}  # whether there are rows of that name
    with output_file(path, force=force) as file:
        write_row = RowWriter(file, "\t" if tabs or bare(path).suffix.lower() == ".tsv" else ",")
        write_row(COLUMNS)
        for number, document in enumerate(documents, start=1):
            name = name_of(document, number)
            rows = named.get(name)
            if rows or (rows is not None and document.mentions):
                raise repeated_name(document, name, path)
            named[name] = bool(document.mentions)
            losses.add("texts")
            count_unwritten(losses, document, "tokens", "sentences", "token columns")
            for mention in document.mentions:
                write_row(cells_of(document, name, mention))
                count_mention(losses, mention, "heads", "mention identifiers", ATTRIBUTE_SCORES, CONCEPT_SCORES)
                losses.add("empty concepts", sum(not concept for concept in mention.concepts))
    return losses


def claims(path: Path) -> bool:
    """Return whether a file has the header of a table of texts or of mentions."""
    if not path.is_file():
        return False
    header = header_of(path)
    if _holds_spans(header, {}) or "text" in places(header, {}, OF_TEXTS) or _holds_words(header):
        return True
    with suppress(DataError):  # bytes that are no text
        return _text_of_mentions(header, islice(rows(path), 1, 1 + _LOOKED_AT)) is not None
    return False


# Mentions as rows of a table: cells to mentions, and mentions to cells.
#
# ``start`` and ``end`` are those of the whole mention. Only where a mention has gaps, ``spans`` holds its parts, as
# ``12-18;25-30``: a spreadsheet would take a single ``5-9`` for a day in May.

COLUMNS: Final = ("doc_id", "start", "end", "type", "text", "score", "spans", "concepts", "attributes")
_ALONE: Final = "="  # before the name of an attribute with a column of its own
_NUMBER: Final = re.compile(r"([0-9]{1,15})(?:\.0+)?")  # a table that lacks a value elsewhere may hold 12.0
_PART: Final = re.compile(r"\s*[\[(]?\s*([0-9]{1,15})(?:\s*[-:,]\s*|\s+)([0-9]{1,15})\s*[\])]?\s*")
_SCORE: Final = re.compile(r"[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]{1,4})?|[0-9]+\.")
_CONCEPT: Final = re.compile(r"(?:[^|\\]|\\.|\\$)+", re.DOTALL)


class SpanRow(NamedTuple):
    """A row: its line, the mention and its text, or the problem that it has."""

    line: int
    id: str
    mention: Mention | None
    surface: str | None = None
    problem: Problem | None = None


def cells_of(document: Document, name: str, mention: Mention) -> list[str]:
    """Return the cells of a mention, in the order of `COLUMNS`.

    >>> note = Document("mild or severe pain", mentions=[Mention("problem", [(0, 4), (15, 19)], score=0.5)])
    >>> cells_of(note, "n1", note.mentions[0])
    ['n1', '0', '19', 'problem', 'mild pain', '0.5', '0-4;15-19', '', '']
    """
    spans = ";".join(f"{start}-{end}" for start, end in mention.spans) if len(mention.spans) > 1 else ""
    score = "" if mention.score is None else repr(float(mention.score))
    concepts = "|".join(re.sub(r"([|\\])", r"\\\1", concept) for concept in mention.concepts if concept)
    named, kind, surface, joined = map(guarded, (name, mention.type, mention.text(document.text), concepts))
    return [named, str(mention.start), str(mention.end), kind, surface, score, spans, joined, to_json_text(mention)]


def columns_of(header: Sequence[str], names: Mapping[str, str]) -> tuple[dict[str, int], list[str]]:
    """Return our name of each column of a table of mentions -> its place, and the columns that are not read.

    Columns of usual names of attributes, such as ``negated``, are an attribute each.

    >>> columns_of(["doc_id", "start", "end", "type", "Negated", "colour"], {})
    ({'id': 0, 'start': 1, 'end': 2, 'type': 3, '=Negated': 4}, ['colour'])
    """
    at = places(header, names, OF_SPANS)
    if "spans" not in names and at.get("spans") == at.get("text"):  # called span, which is offsets or a text
        at.pop("text" if at.keys().isdisjoint(("start", "end")) else "spans", None)
    if "text" not in names and at.get("type") == at.get("text"):  # called entity
        at.pop("text", None)
    others = {place: name for place, name in enumerate(header) if place not in at.values()}
    alone = {f"{_ALONE}{name}": place for place, name in others.items() if is_attribute(name)}
    return at | alone, [name for place, name in others.items() if place not in alone.values()]


def parse_row(row: Row, at: Mapping[str, int], path: str | Path) -> SpanRow:
    """Return the mention of a row.

    Args:
        row: with as many cells as the header.
        at: our name of a column -> its place.
        path: for messages.
    """
    cells = {ours: row.cells[place] for ours, place in at.items()}
    name = unguarded(cells.get("id", ""))
    try:
        mention = Mention(
            unguarded(cells["type"]), _spans(cells), score=_score(cells.get("score", "")),
            concepts=_concepts(unguarded(cells.get("concepts", ""))), attributes=_attributes(cells),
        )  # fmt: skip
    except DataError as error:
        problem = Problem("error", "wrong cell", error.message, path=str(path), line=row.line)
        return SpanRow(row.line, name, None, problem=problem)
    return SpanRow(row.line, name, mention, cells.get("text") or None)


def surface_of(row: SpanRow, text: str) -> str | None:
    """Return the text of a row's mention, without the mark that keeps a spreadsheet from taking it for a formula."""
    if row.surface is None or row.mention is None:
        return row.surface
    shown = beginning(row.mention.spans, text, len(row.surface))
    return row.surface if row.surface == shown else unguarded(row.surface)


def _spans(cells: Mapping[str, str]) -> list[Span]:
    """Return the spans of a row.

    Raises:
        DataError: cells that are no offsets, or that contradict each other.
    """
    cell = cells.get("spans", "").strip()
    given = [cells.get("start", "").strip(), cells.get("end", "").strip()]
    if not cell:
        return [Span(_offset("start", given[0]), _offset("end", given[1]))]
    found = [_PART.fullmatch(part) for part in cell.split(";")]
    spans = [Span(int(part[1]), int(part[2])) for part in found if part is not None]
    if len(spans) < len(found):
        raise DataError(f"spans is {clip(cell)}, expected START-END, joined by ; where there are gaps: 12-18;25-30")
    whole = (min(spans).start, max(spans).end)
    if any(given) and whole != (_offset("start", given[0]), _offset("end", given[1])):
        both = f"{given[0][:20]} and {given[1][:20]}"
        raise DataError(f"start and end are {both}, but spans {clip(cell)} goes from {whole[0]} to {whole[1]}")
    return spans


def _offset(name: str, cell: str) -> int:
    if (found := _NUMBER.fullmatch(cell)) is None:
        raise DataError(f"{name} is {clip(cell)}, expected a number of characters, from 0")
    return int(found[1])


def _score(cell: str) -> float | None:
    cell = cell.strip()
    if cell and (_SCORE.fullmatch(cell) is None or not math.isfinite(float(cell))):
        raise DataError(f"score is {clip(cell)}, expected a number from 0 to 1")
    return float(cell) if cell else None


def _concepts(cell: str) -> tuple[str, ...]:
    r"""Return the concepts of a cell: ``|`` between two, ``\|`` for one within.

    >>> _concepts(r"MESH:D1|a\|b")
    ('MESH:D1', 'a|b')
    """
    return tuple(re.sub(r"\\(.)", r"\1", part, flags=re.DOTALL) for part in _CONCEPT.findall(cell))


def _attributes(cells: Mapping[str, str]) -> Mapping[str, object]:
    given = ((name, cell) for name, cell in cells.items() if name.startswith(_ALONE) and cell.strip())
    alone = {name.removeprefix(_ALONE): from_text(unguarded(cell)) for name, cell in given}
    if not (cell := cells.get("attributes", "").strip()):
        return alone
    found = None
    with suppress(ValueError, RecursionError):
        found = json.loads(cell)
    if not isinstance(found, dict):
        raise DataError(f'attributes is {clip(cell)}, expected an object of JSON, such as {{"negated": true}}')
    return alone | found
