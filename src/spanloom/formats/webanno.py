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
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from spanloom.document import Document, Mention
from spanloom.document.counting import CountedText, Counting
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
_UTF16: Final = Counting("utf16")
_MOST_FILLED = 1 << 24  # characters between sentences; an offset may be anything
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
    problems, document, lines = sheet.problems, None, []
    text = None if problems else _laid_out(sheet, problems)
    if text is not None and not problems:
        found = _Annotations(sheet, text, types)
        document, lines = found.document(), [span.line for span in found.spans]
        document.id = stem if stem is not None else "" if name == STDIO else bare(path).stem
        problems = found.problems or [*found.not_read(document), *_filled(sheet), *find_errors(document)]
        if sheet.comments:
            document.meta.setdefault("webanno", {})["comments"] = sheet.comments
    placed = [replace(problem, path=name) for problem in problems]
    yield Scanned(document, placed, name, mention_places=[(name, line) for line in lines])


def _filled(sheet: Sheet) -> Iterator[Problem]:
    """Yield warnings about what the file leaves open."""
    if sheet.inferred:
        message = "no line '#T_SP=' names the layers: column 4 is read as the type, and the others are not read"
        yield altered("layers without names", message, sheet.sentences[0].rows[0].line)
    for line in sheet.filled:
        message = "the row lacks values of layers, which are read as missing"
        yield altered("missing values", message, line)


class _Text(NamedTuple):
    """The text, put together of sentences.

    Args:
        text: of the document.
        tokens: start and end in characters.
        bounds: first and end token of each sentence.
        rows: all rows, each with the index of its token, start and end in characters.
    """

    text: str
    tokens: list[tuple[int, int]]
    bounds: list[tuple[int, int]]
    rows: list[tuple[Row, int, int, int]]


def _laid_out(sheet: Sheet, problems: list[Problem]) -> _Text:
    """Return the text of all sentences, and add an error for each row that is not where it should be."""
    pieces: list[str] = []
    placed: list[tuple[Sentence, int, int]] = []  # start and end in characters
    length = units = filled = 0
    for sentence in sheet.sentences:
        first = sentence.rows[0]
        gap = first.start - units
        filled += gap
        if gap < 0:
            message = f"found a sentence at {first.start}, expected {units} or more, where the one before it ends"
            problems.append(wrong_line(first.line, message))
        elif filled > _MOST_FILLED:
            message = f"found a sentence at {first.start}, {gap} behind the one before it"
            message += f"; expected less than {_MOST_FILLED} characters between sentences"
            problems.append(wrong_line(first.line, message))
        else:
            text = "\n".join(sentence.texts)
            placed.append((sentence, length + gap, length + gap + len(text)))
            pieces += ["\n" * bool(gap and pieces) + " " * (gap - bool(pieces)), text]
            length += gap + len(text)
            units += gap + len(text) + sum(character > "\uffff" for character in text)
    laid = _Text("".join(pieces), [], [], [])
    counted = CountedText(laid.text)
    for sentence, start, end in placed:
        first_token, last = len(laid.tokens), start
        token: tuple[int, int] | None = None  # the one that parts belong to, if it is sound
        for row in sentence.rows:
            if row.part and token is None:
                continue
            span = _UTF16.to_characters(counted, (row.start, row.end))
            sound = span is not None and start <= min(span) and max(span) <= end
            inside = token if row.part and token is not None else (last, end)
            wrong = _fault(row, laid.text, span if sound else None, inside, sentence.rows[0].start)
            if wrong or span is None:
                problems.append(wrong_line(row.line, wrong))
                token = token if row.part else None
                continue
            if not row.part:
                token, last = span, span[1]
                laid.tokens.append(span)
            laid.rows.append((row, len(laid.tokens) - 1, *span))
        laid.bounds.append((first_token, len(laid.tokens)))
    return laid


def _fault(row: Row, text: str, span: tuple[int, int] | None, inside: tuple[int, int], units: int) -> str:
    """Return what is wrong with the place of a row, empty if nothing is.

    Args:
        row: the row.
        text: of the document.
        span: of the row in it; ``None`` if it is outside its sentence, or cuts a character.
        inside: the place of its token, or that behind the token before it.
        units: where its sentence begins.
    """
    where = f"{clip(row.surface, 40)} at {row.start}-{row.end}"
    if span is None:
        return f"found {where}, outside its sentence or within a character; expected UTF-16 units from {units} on"
    start, stop = span
    if start < inside[0] or stop > inside[1] or start > stop or (start == stop and not row.part):
        kind = "a place inside its token" if row.part else "a place behind the token before it"
        return f"found {where}, expected {kind}, with its start before its end"
    shown = text[start:stop]
    if shown not in (row.surface, unescape_value(row.surface), unescape_text(row.surface)):
        return f"found {where}, expected {clip(shown, 40)}, which '#Text=' has there; offsets count UTF-16 units"
    return ""


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


class _Annotations:
    """The annotations in the values of all rows.

    Args:
        sheet: the layers.
        text: the rows.
        types: names of layers that are mentions; ``None`` to choose them by name.
    """

    def __init__(self, sheet: Sheet, text: _Text, types: Collection[str] | None) -> None:
        self.problems: list[Problem] = []
        self.spans: list[_Span] = []
        self._text = text
        self._others: Counter[str] = Counter({"sentence identifiers": sheet.identifiers} if sheet.identifiers else {})
        self._numbered: dict[tuple[str, int], _Span] = {}
        self._columns: dict[str, list[str]] = {}
        take = [(self._taker(layer, types), layer) for layer in sheet.layers]
        for row, token, start, end in text.rows:
            try:
                for taken, layer in take:
                    taken(layer, row, token, start, end)
            except DataError as error:
                self.problems.append(wrong_line(row.line, error.message))
        self._others["empty annotations"] = sum(span.start == span.end for span in self.spans)
        self.spans = [span for span in self.spans if span.start < span.end]

    def document(self) -> Document:
        """Return the document, without its identifier."""
        mentions = []
        for span in self.spans:
            kind = span.kind or span.layer.name.rpartition(".")[2]
            attributes = {name: from_text(text) for name, text in span.attributes.items()}
            place, concepts = [(span.start, span.end)], (span.concept,) if span.concept else ()
            mentions.append(Mention(kind, place, concepts=concepts, attributes=attributes))
        text, tokens, bounds, _ = self._text
        return Document(text, "", np.array(tokens, np.int64), np.array(bounds, np.int64), self._columns, mentions)

    def not_read(self, document: Document) -> Iterator[Problem]:
        """Count in ``meta`` what was not read, and report it."""
        if found := {name: count for name, count in self._others.items() if count}:
            document.meta["webanno"] = {"not_read": found}
            shown = ", ".join(f"{count} {name}" for name, count in Counter(found).most_common(5))
            yield altered("annotations not read", f"annotations and features that are not read: {shown}")

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
        for place, (features, _) in enumerate(layer.stacked(row.values)):
            if place or row.part or feature not in features:
                self._others[layer.name] += 1
                continue
            self._columns.setdefault(name, [""] * len(self._text.tokens))[token] = features[feature]
            self._others.update(f"{layer.name}|{other}" for other in features.keys() - {feature})

    def _mention(self, layer: Layer, row: Row, token: int, start: int, end: int) -> None:
        names = [name for name in layer.plain if name != _CONCEPT]
        feature = next((name for name in _TYPES if name in names), names[0] if names else "")
        for features, number in layer.stacked(row.values):
            others = {name: features[name] for name in names if name != feature and name in features}
            kind, concept = features.get(feature), features.get(_CONCEPT)
            span = _Span(layer, kind, concept, start, end, token, row.line, row.line, others)
            before = None if number is None else self._numbered.setdefault((layer.name, number), span)
            if before is not None and before is not span:
                _extend(before, span, number)
                continue
            self.spans.append(span)
            self._others.update(f"{layer.name}|{name}" for name in features.keys() - {feature, _CONCEPT, *others})


def _extend(span: _Span, more: _Span, number: int | None) -> None:
    """Add a row to an annotation."""
    named = f"the annotation [{number}] of {span.layer.name}"
    if more.line == span.last:
        raise DataError(f"found {named} twice, expected a number of its own for each annotation")
    if more.token > span.token + 1:
        expected = "expected one stretch of text, and a number of its own for each annotation"
        raise DataError(f"found {named} as in line {span.last}, with tokens without it between; {expected}")
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
