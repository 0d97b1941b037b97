"""WebAnno TSV 3.2 and 3.3, as INCEpTION and WebAnno export them, one document a file; read only.

These annotations are mentions:

- ``NamedEntity`` of DKPro Core, and the other types in its layer: ``value`` is the type, ``identifier`` the concept;
- all span layers outside DKPro Core: the type is their ``value``, their ``label``, or else their first feature, and
  ``identifier`` the concept; without a value the type is the layer's name;
- or, with the option ``types``, those layers instead.

Parts of speech and lemmas become columns. Chains, relations, other layers and other features are not read, which is
reported. Offsets count UTF-16 units and become code points. The file lacks the text between two sentences: it is
a line end, followed by spaces where there is room for more, as INCEpTION does when it reads such a file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from spanloom.document import Document, Mention
from spanloom.document.validate import Problem, find_errors
from spanloom.errors import DataError, clip
from spanloom.files import STDIO
from spanloom.formats.attributes import from_text
from spanloom.formats.base import Scanned, altered, no_document
from spanloom.formats.source import bare, begins_with
from spanloom.formats.webanno_lines import (
    NONE,
    SPAN,
    Layer,
    Row,
    Sentence,
    Sheet,
    Value,
    read_sheet,
    split_stack,
    unescape_text,
    unescape_value,
    wrong_line,
)
from spanloom.formats.xmi import COLUMNS

_DKPRO, _NAMED = "de.tudarmstadt.ukp.dkpro.core.api.", "de.tudarmstadt.ukp.dkpro.core.api.ner.type."
_MARK = re.compile(rb"\A(?:\xef\xbb\xbf)?(?:(?!#FORMAT)#[^\n]*\n|\r?\n)*#FORMAT=WebAnno TSV 3\.")
_TYPES, _CONCEPT = ("value", "label"), "identifier"
_MOST_FILLED = 1 << 24  # characters between sentences; an offset may say anything
# layer -> the feature and the column
_COLUMNS = {kind: (feature, name) for name, (kind, feature, _) in COLUMNS.items()}


def scan(path: str | Path, types: Collection[str] | None = None, stem: str | None = None) -> Iterator[Scanned]:
    """Yield the document of a file.

    Args:
        path: the file, or ``-``.
        types: full names of the span layers whose annotations are mentions.
        stem: the ``id`` of the document; the file's name without its ending if not given.
    """
    name = str(path)
    sheet = read_sheet(path)
    if not sheet.sentences and not sheet.problems:
        yield no_document(name, "'#Text=' lines and a row for each token")
        return
    text = _Text()
    problems = sheet.problems or text.add(sheet)
    document, lines = None, []
    if not problems:
        found = _Annotations(sheet, text, types)
        document, lines = found.document(), found.lines
        document.id = stem if stem is not None else "" if name == STDIO else bare(path).stem
        problems = found.problems or [*found.not_read(document), *_filled(sheet), *find_errors(document)]
        if sheet.comments:
            document.meta.setdefault("webanno", {})["comments"] = sheet.comments
    placed = [replace(problem, path=name) for problem in problems]
    yield Scanned(document, placed, name, mention_places=[(name, line) for line in lines])


def _filled(sheet: Sheet) -> Iterator[Problem]:
    """Yield warnings about what the file leaves open."""
    if sheet.inferred:
        first = sheet.sentences[0].rows[0]
        message = "no line '#T_SP=' names the layers: column 4 is read as the type, and the others are not read"
        yield altered("layers without names", message, first.line)
    for line in sheet.filled:
        message = "the row lacks values of layers, which are read as missing"
        yield altered("missing values", message, line)


@dataclass(slots=True)
class _Text:
    """The text, put together of sentences.

    Args:
        pieces: of the text.
        length: of the text, in characters.
        units: likewise, in UTF-16 units.
        filled: characters between sentences.
        tokens: start and end in characters.
        bounds: first and end token of each sentence.
        rows: all rows, each with the index of its token, start and end in characters.
    """

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    units: int = 0
    filled: int = 0
    tokens: list[tuple[int, int]] = field(default_factory=list)
    bounds: list[tuple[int, int]] = field(default_factory=list)
    rows: list[tuple[Row, int, int, int]] = field(default_factory=list)

    def add(self, sheet: Sheet) -> list[Problem]:
        """Add all sentences, and return an error for each row that is not where it should be."""
        problems: list[Problem] = []
        for sentence in sheet.sentences:
            first = sentence.rows[0]
            try:
                self._fill(first.start - self.units, first)
            except DataError as error:
                problems.append(wrong_line(first.line, error.message))
            else:
                problems += self._add_sentence(sentence)
        return problems

    def _fill(self, gap: int, first: Row) -> None:
        if gap < 0:
            message = f"found a sentence at {first.start}, expected {self.units} or more, where the one before it ends"
            raise DataError(message)
        self.filled += gap
        if self.filled > _MOST_FILLED:
            message = (
                f"found a sentence at {first.start}, {gap} behind the one before it; expected less than {_MOST_FILLED} "
                "characters between sentences"
            )
            raise DataError(message)
        if gap:
            self.pieces.append("\n" * bool(self.pieces) + " " * (gap - bool(self.pieces)))
        self.length += gap
        self.units += gap

    def _add_sentence(self, sentence: Sentence) -> Iterator[Problem]:
        text = "\n".join(sentence.texts)
        places = _places(text)
        first, end = len(self.tokens), 0
        token: tuple[int, int] | None = None  # the one that parts belong to, if it is sound
        for row in sentence.rows:
            if row.part and token is None:
                continue
            inside = token if row.part and token is not None else (end, len(text))
            units = (offset - self.units for offset in (row.start, row.end))
            start, stop = (places[unit] if 0 <= unit < len(places) else -1 for unit in units)
            try:
                _check(row, text, start, stop, inside, self.units)
            except DataError as error:
                token = token if row.part else None
                yield wrong_line(row.line, error.message)
                continue
            if not row.part:
                token, end = (start, stop), stop
                self.tokens.append((self.length + start, self.length + stop))
            self.rows.append((row, len(self.tokens) - 1, self.length + start, self.length + stop))
        self.bounds.append((first, len(self.tokens)))
        self.pieces.append(text)
        self.length += len(text)
        self.units += len(places) - 1


def _places(text: str) -> Sequence[int]:
    """Return the character at each UTF-16 unit of a text, -1 within a character, and the length at the end."""
    if text.isascii() or max(text) <= "\uffff":
        return range(len(text) + 1)
    found: list[int] = []
    for place, character in enumerate(text):
        found += (place, -1) if character > "\uffff" else (place,)
    return [*found, len(text)]


def _check(row: Row, text: str, start: int, stop: int, inside: tuple[int, int], units: int) -> None:
    """Raise an error if the text of a row does not match, or if it precedes the last row or is outside its token."""
    where = f"{clip(row.surface, 40)} at {row.start}-{row.end}"
    if start < 0 or stop < 0:
        message = f"found {where}, outside its sentence or within a character; expected UTF-16 units from {units} on"
        raise DataError(message)
    if start < inside[0] or stop > inside[1] or start > stop or (start == stop and not row.part):
        kind = "a place inside its token" if row.part else "a place behind the token before it"
        raise DataError(f"found {where}, expected {kind}, with its start before its end")
    stands = text[start:stop]
    if stands not in (row.surface, unescape_value(row.surface), unescape_text(row.surface)):
        message = f"found {where}, expected {clip(stands, 40)}, which '#Text=' has there; offsets count UTF-16 units"
        raise DataError(message)


@dataclass(slots=True)
class _Span:
    """An annotation, as far as its rows were read."""

    layer: Layer
    kind: str | None
    concept: str | None
    start: int
    end: int
    token: int
    line: int
    last: int
    attributes: dict[str, str]

    @property
    def type(self) -> str:
        """The type of the mention: the layer's name if it has no value."""
        return self.kind or self.layer.name.rpartition(".")[2]


class _Annotations:
    """The annotations in the values of all rows.

    Args:
        sheet: the layers.
        text: the rows.
        types: names of layers that are mentions; ``None`` to choose them by name.
    """

    def __init__(self, sheet: Sheet, text: _Text, types: Collection[str] | None) -> None:
        self.problems: list[Problem] = []
        self._text = text
        self._others: Counter[str] = Counter({"sentence identifiers": sheet.identifiers} if sheet.identifiers else {})
        self._spans: list[_Span] = []
        self._numbered: dict[tuple[str, int], _Span] = {}
        self._columns: dict[str, list[str]] = {}
        self._named_by = {layer.first: _named_by(layer) for layer in sheet.layers}
        take = [partial(self._taker(layer, types), layer) for layer in sheet.layers]
        for row, token, start, end in text.rows:
            try:
                for one in take:
                    one(row, token, start, end)
            except DataError as error:
                self.problems.append(wrong_line(row.line, error.message))
        self._others["empty annotations"] = sum(span.start == span.end for span in self._spans)
        self._spans = [span for span in self._spans if span.start < span.end]

    @property
    def lines(self) -> list[int]:
        """The first line of each mention."""
        return [span.line for span in self._spans]

    def document(self) -> Document:
        """Return the document, without its identifier."""
        text = self._text
        mentions = [
            Mention(
                span.type,
                [(span.start, span.end)],
                concepts=(span.concept,) if span.concept else (),
                attributes={name: from_text(text) for name, text in span.attributes.items()},
            )
            for span in self._spans
        ]
        return Document(
            "".join(text.pieces), "", np.array(text.tokens, np.int64), np.array(text.bounds, np.int64), self._columns,
            mentions,
        )  # fmt: skip

    def not_read(self, document: Document) -> Iterator[Problem]:
        """Count in ``meta`` what was not read, and report it."""
        found = {name: count for name, count in self._others.items() if count}
        if found:
            document.meta["webanno"] = {"not_read": found}
            shown = ", ".join(f"{count} {name}" for name, count in Counter(found).most_common(5))
            message = f"annotations and features that are not read: {shown}"
            yield altered("annotations not read", message)

    def _taker(self, layer: Layer, types: Collection[str] | None) -> Any:
        if layer.kind != SPAN:
            return self._count
        if types is not None and layer.name in types:
            return self._mention
        if layer.name in _COLUMNS:
            return self._column
        mentions = types is None and (not layer.name.startswith(_DKPRO) or layer.name.startswith(_NAMED))
        return self._mention if mentions else self._count

    def _count(self, layer: Layer, row: Row, token: int, start: int, end: int) -> None:
        raw = row.values[layer.first]
        if raw != NONE:
            self._others[layer.name] += len(split_stack(raw))

    def _column(self, layer: Layer, row: Row, token: int, start: int, end: int) -> None:
        feature, name = _COLUMNS[layer.name]
        for place, value in enumerate(layer.stacked(row.values)):
            if place or row.part or (held := value.features.get(feature)) is None:
                self._others[layer.name] += 1
                continue
            self._columns.setdefault(name, [""] * len(self._text.tokens))[token] = held
            self._count_features(layer, value, {feature})

    def _count_features(self, layer: Layer, value: Value, used: Collection[str]) -> None:
        self._others.update(f"{layer.name}|{name}" for name in value.features.keys() - set(used))

    def _mention(self, layer: Layer, row: Row, token: int, start: int, end: int) -> None:
        feature = self._named_by[layer.first]
        for value in layer.stacked(row.values):
            kind, concept = value.features.get(feature or ""), value.features.get(_CONCEPT)
            used = {feature or "", _CONCEPT}
            others = {name: text for name, text in value.features.items() if name in layer.plain and name not in used}
            span = _Span(layer, kind, concept, start, end, token, row.line, row.line, others)
            before = None if value.number is None else self._numbered.get((layer.name, value.number))
            if before is not None:
                _extend(before, span, value.number)
                continue
            self._spans.append(span)
            if value.number is not None:
                self._numbered[layer.name, value.number] = span
            self._count_features(layer, value, {*used, *others})


def _named_by(layer: Layer) -> str | None:
    """Return the feature that is the type of a layer's mentions."""
    names = [name for name in layer.plain if name != _CONCEPT]
    return next((name for name in _TYPES if name in names), names[0] if names else None)


def _extend(span: _Span, more: _Span, number: int | None) -> None:
    """Add a row to an annotation."""
    named = f"the annotation [{number}] of {span.layer.name}"
    if more.line == span.last:
        raise DataError(f"found {named} twice, expected a number of its own for each annotation")
    if more.token > span.token + 1:
        message = (
            f"found {named} as in line {span.last}, with tokens without it between; expected one stretch of text, and "
            "a number of its own for each annotation"
        )
        raise DataError(message)
    if more.kind not in (None, span.kind or more.kind) or more.concept not in (None, span.concept or more.concept):
        found = f"{clip(more.kind or '', 40)} {more.concept or ''}".strip()
        message = f"found {found} for {named}, expected {clip(span.kind or '', 40)} {span.concept or ''}".strip()
        raise DataError(f"{message}, as in line {span.line}")
    span.kind, span.concept = span.kind or more.kind, span.concept or more.concept
    span.attributes = more.attributes | span.attributes
    span.start, span.end = min(span.start, more.start), max(span.end, more.end)
    span.token, span.last = more.token, more.line


def claims(path: Path) -> bool:
    """Return whether a file begins as one of WebAnno does."""
    return begins_with(_MARK, ".tsv", path)
