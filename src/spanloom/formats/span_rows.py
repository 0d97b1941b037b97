"""Mentions as rows of a table: cells to mentions, and mentions to cells.

``start`` and ``end`` are those of the whole mention. Only where a mention has gaps, ``spans`` holds its parts, as
``12-18;25-30``: a spreadsheet would take a single ``5-9`` for a day in May.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from spanloom.document import Document, Mention, Span
from spanloom.document.surfaces import beginning
from spanloom.document.validate import Problem
from spanloom.errors import DataError, clip
from spanloom.formats.attributes import from_text, is_attribute, to_json_text
from spanloom.formats.base import altered
from spanloom.formats.csv_rows import Row, guarded, unguarded
from spanloom.formats.record_fields import OF_SPANS, places

COLUMNS: Final = ("doc_id", "start", "end", "type", "text", "score", "spans", "concepts", "attributes")
_ALONE: Final = "="  # before the name of an attribute with a column of its own
_NUMBER: Final = re.compile(r"([0-9]{1,15})(?:\.0+)?")  # a table that lacks a value elsewhere may hold 12.0
_PART: Final = re.compile(r"\s*[\[(]?\s*([0-9]{1,15})(?:\s*[-:,]\s*|\s+)([0-9]{1,15})\s*[\])]?\s*")
_SCORE: Final = re.compile(r"[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]{1,4})?|[0-9]+\.")
_CONCEPT: Final = re.compile(r"(?:[^|\\]|\\.|\\$)+", re.DOTALL)
_SHOWN: Final = 40


class SpanRow(NamedTuple):
    """A row: its line, the mention and its text, or the problem that it has; ``repair`` is a warning."""

    line: int
    id: str
    mention: Mention | None
    surface: str | None = None
    problem: Problem | None = None
    repair: Problem | None = None


def cells_of(document: Document, name: str, mention: Mention) -> list[str]:
    """Return the cells of a mention, in the order of `COLUMNS`.

    >>> note = Document("mild or severe pain", mentions=[Mention("problem", [(0, 4), (15, 19)], score=0.5)])
    >>> cells_of(note, "n1", note.mentions[0])
    ['n1', '0', '19', 'problem', 'mild pain', '0.5', '0-4;15-19', '', '']
    """
    spans = ";".join(f"{start}-{end}" for start, end in mention.spans) if len(mention.spans) > 1 else ""
    score = "" if mention.score is None else repr(float(mention.score))
    concepts = "|".join(re.sub(r"([|\\])", r"\\\1", concept) for concept in mention.concepts if concept)
    texts = (name, mention.type, mention.text(document.text), concepts)
    named, kind, surface, joined = map(guarded, texts)
    attributes = to_json_text(mention)
    return [named, str(mention.start), str(mention.end), kind, surface, score, spans, joined, attributes]


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
        spans, repaired = _spans(cells)
        mention = Mention(
            unguarded(cells["type"]), spans, score=_score(cells.get("score", "")),
            concepts=_concepts(unguarded(cells.get("concepts", ""))), attributes=_attributes(cells),
        )  # fmt: skip
    except DataError as error:
        problem = Problem("error", "wrong cell", error.message, path=str(path), line=row.line)
        return SpanRow(row.line, name, None, problem=problem)
    repair = None
    if repaired:
        message = f"the spans {clip(cells['spans'])} are out of text order; they were sorted"
        repair = altered("fragments out of order", message, row.line, str(path))
    return SpanRow(row.line, name, mention, cells.get("text") or None, repair=repair)


def surface_of(row: SpanRow, text: str) -> str | None:
    """Return the text of a row's mention, without the mark that keeps a spreadsheet from taking it for a formula."""
    if row.surface is None or row.mention is None:
        return row.surface
    shown = beginning(row.mention.spans, text, len(row.surface))
    return row.surface if row.surface == shown else unguarded(row.surface)


def _spans(cells: Mapping[str, str]) -> tuple[list[Span], bool]:
    """Return the spans of a row, in text order, and whether they had to be sorted.

    Raises:
        DataError: cells that are no offsets, or that contradict each other.
    """
    cell = cells.get("spans", "").strip()
    given = [cells.get("start", "").strip(), cells.get("end", "").strip()]
    if not cell:
        return [Span(_offset("start", given[0]), _offset("end", given[1]))], False
    found = [_PART.fullmatch(part) for part in cell.split(";")]
    spans = [Span(int(part[1]), int(part[2])) for part in found if part is not None]
    if len(spans) < len(found):
        raise DataError(f"spans is {_short(cell)}, expected START-END, joined by ; where there are gaps: 12-18;25-30")
    ordered = sorted(spans)
    whole = (ordered[0].start, ordered[-1].end)
    if any(given) and whole != (_offset("start", given[0]), _offset("end", given[1])):
        both = f"{given[0][:20]} and {given[1][:20]}"
        raise DataError(f"start and end are {both}, but spans {_short(cell)} goes from {whole[0]} to {whole[1]}")
    return ordered, ordered != spans


def _offset(name: str, cell: str) -> int:
    found = _NUMBER.fullmatch(cell)
    if found is None:
        raise DataError(f"{name} is {_short(cell)}, expected a number of characters, from 0")
    return int(found[1])


def _score(cell: str) -> float | None:
    cell = cell.strip()
    if not cell:
        return None
    if _SCORE.fullmatch(cell) is None or not math.isfinite(float(cell)):
        raise DataError(f"score is {_short(cell)}, expected a number from 0 to 1")
    return float(cell)


def _concepts(cell: str) -> tuple[str, ...]:
    r"""Return the concepts of a cell: ``|`` between two, ``\|`` for one within.

    >>> _concepts(r"MESH:D1|a\|b")
    ('MESH:D1', 'a|b')
    """
    return tuple(re.sub(r"\\(.)", r"\1", part, flags=re.DOTALL) for part in _CONCEPT.findall(cell))


def _attributes(cells: Mapping[str, str]) -> Mapping[str, object]:
    alone = {
        name.removeprefix(_ALONE): from_text(unguarded(cell))
        for name, cell in cells.items()
        if name.startswith(_ALONE) and cell.strip()
    }
    cell = cells.get("attributes", "").strip()
    if not cell:
        return alone
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise DataError(f'attributes is {_short(cell)}, expected an object of JSON, such as {{"negated": true}}')
    return alone | found


def _short(cell: str) -> str:
    return clip(cell[:_SHOWN])
