r"""Lines of WebAnno TSV 3: the layers of the header, the texts of sentences, rows of tokens, and their escapes.

A file begins with ``#FORMAT=WebAnno TSV 3.3`` and a line for each layer, ``#T_SP=LAYER|FEATURE|...``, each feature of
which is a column. Then come sentences: ``#Text=`` lines, a row for each token (``1-2``), and below it rows for parts of
it that are annotated (``1-2.1``). Rows begin with a number, offsets and the surface; their values follow, of which
other tools leave out those that are missing. Other lines that begin with ``#`` are comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from spanloom.document.validate import Problem
from spanloom.errors import DataError, clip
from spanloom.formats.source import decode, raw_lines

SPAN, CHAIN, RELATION = "SP", "CH", "RL"
NONE = "_"  # in a column: no annotation

_VERSION = re.compile(r"#FORMAT=WebAnno TSV 3\.[23]\s*")
_LAYER = re.compile(r"#T_(SP|CH|RL)=([^|]+)(?:\|(.*))?")
_Parsed = tuple[str | None, int | None]  # a value and the number of its annotation
_INFERRED = "span"  # the layer of a file that names none
_TEXT, _SENTENCE_ID = "#Text=", "#Sentence.id="
_NUMBER = re.compile(r"([0-9]{1,9})-([0-9]{1,9})(?:\.([0-9]{1,9}))?")
_OFFSETS = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_FIXED = 3  # columns before those of the layers
_ROLE = "ROLE_"

_IN_TEXT = re.compile(r"\\([\\tnrfb\x01-\x1f])")
_IN_VALUE = re.compile(r"\\([\\\[\]|_;*tn]|->)")
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "b": "\b"}
_DIVIDER = re.compile(r"\\.|\|")
_VALUE = re.compile(r"((?:\\.|[^\\\[\]])*)(?:\[([0-9]{1,9})\])?")


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of annotations.

    Args:
        kind: `SPAN`, `CHAIN` or `RELATION`.
        name: the full name of its type.
        features: one for each of its columns; a layer without features has one column.
        first: its first column among the values of a row.
        own: the columns that are about an annotation itself, and not about the target of a role.
        plain: the features that have one value, without roles and their targets.
    """

    kind: str
    name: str
    features: tuple[str, ...]
    first: int
    own: tuple[int, ...]
    plain: tuple[str, ...]

    @classmethod
    def declared(cls, kind: str, name: str, features: tuple[str, ...], first: int) -> Layer:
        """Return the layer of a line of the header; the feature behind a role is its target."""
        roles = [feature.startswith(_ROLE) for feature in features]
        own = tuple(i for i in range(len(features)) if i == 0 or not roles[i - 1])
        return cls(kind, name, features, first, own, tuple(features[i] for i in own if features[i] and not roles[i]))

    def stacked(self, values: list[str]) -> Iterator[tuple[dict[str, str], int | None]]:
        """Yield the annotations of this layer in a row: the features that have a value, and a number.

        The number is the same in all rows of an annotation, where rows do not show it by themselves.

        Raises:
            DataError: values that do not belong together, or cannot be understood.
        """
        raw = {i: values[self.first + i] for i in self.own if values[self.first + i] != NONE}
        columns = {i: [parse_value(one) for one in split_stack(value)] for i, value in raw.items()}
        if len({len(column) for column in columns.values()}) > 1:
            columns = _aligned(columns)
        if len({len(column) for column in columns.values()}) > 1:
            shown = " and ".join(map(clip, raw.values()))
            raise DataError(f"found {shown} in the columns of {self.name}, expected as many values in each")
        for one in zip(*columns.values(), strict=True):
            found = dict(zip(columns, one, strict=True))
            numbers = {number for _, number in found.values() if number is not None}
            if len(numbers) > 1:
                shown = " and ".join(f"[{number}]" for number in sorted(numbers))
                raise DataError(f"found {shown} in the columns of one annotation of {self.name}, expected one number")
            texts = {self.features[i]: text for i, (text, _) in found.items() if text is not None}
            yield texts, next(iter(numbers), None)


def _aligned(columns: dict[int, list[_Parsed]]) -> dict[int, list[_Parsed]]:
    """Fill up columns that lack values, by the numbers of annotations; drop empty columns."""
    columns = {i: column for i, column in columns.items() if any(value != (None, None) for value in column)}
    numbers = dict.fromkeys(number for column in columns.values() for _, number in column)
    if None in numbers:
        return columns
    by_number = {i: {number: text for text, number in column} for i, column in columns.items()}
    return {i: [(found.get(number), number) for number in numbers] for i, found in by_number.items()}


class Row(NamedTuple):
    """A row: a token, or a part of one.

    Args:
        line: its number in the file.
        sentence: the number of the sentence.
        token: the number of the token in it.
        part: the number of the part, 0 for the token.
        start: in UTF-16 units.
        end: likewise.
        surface: the text.
        values: one for each column of the layers.
    """

    line: int
    sentence: int
    token: int
    part: int
    start: int
    end: int
    surface: str
    values: list[str]


@dataclass(slots=True)
class Sentence:
    """A sentence: its text and rows.

    Args:
        line: of the first line of its text.
        texts: its lines.
        rows: tokens, each followed by its parts.
        broken: whether a row could not be read.
    """

    line: int
    texts: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    broken: bool = False


@dataclass(slots=True)
class Sheet:
    """The parsed lines of a file.

    Args:
        layers: of the header.
        sentences: in the order of the file.
        identifiers: the number of sentences with an identifier.
        problems: an error for each line that cannot be read.
        comments: lines about something else, such as ``#Summary1=``.
        filled: the lines of rows that lack values.
        inferred: whether no line names the layers.
        width: the number of columns of the layers.
    """

    layers: list[Layer] = field(default_factory=list)
    sentences: list[Sentence] = field(default_factory=list)
    identifiers: int = 0
    problems: list[Problem] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    filled: list[int] = field(default_factory=list)
    inferred: bool = False
    width: int = 0


def read_sheet(path: str | Path) -> Sheet:
    """Read the lines of a file.

    Raises:
        DataError: the file cannot be read, or is of another version.
    """
    sheet = Sheet()
    apart, versioned = True, False  # apart: whether rows that follow belong to no sentence
    for number, raw in raw_lines(path):
        line = decode(raw, path, number).removesuffix("\n").removesuffix("\r")
        if not versioned:
            versioned = _version(line, number, path, sheet)
            continue
        try:
            apart = not line or _take(sheet, number, line, apart)
        except DataError as error:
            apart = False
            for sentence in sheet.sentences[-1:]:
                sentence.broken = True
            sheet.problems.append(wrong_line(number, error.message))
    bare = (sentence for sentence in sheet.sentences if not sentence.rows and not sentence.broken)
    message = f"found {_TEXT} without a token, expected a row for each token below it"
    sheet.problems += [wrong_line(sentence.line, message) for sentence in bare]
    sheet.problems.sort(key=lambda problem: problem.line or 0)
    return sheet


def wrong_line(line: int, message: str) -> Problem:
    """Return the error for a line."""
    return Problem("error", "WebAnno TSV", message, line=line)


def _version(line: str, number: int, path: str | Path, sheet: Sheet) -> bool:
    """Return whether a line names the version; only comments and blank lines may precede it."""
    if _VERSION.fullmatch(line):
        return True
    if line.startswith("#FORMAT=") or (line and not line.startswith("#")):
        message = f"found {clip(line)}, expected '#FORMAT=WebAnno TSV 3.2' or 3.3; export it from INCEpTION again"
        raise DataError(message, path=path, line=number)
    if line:
        sheet.comments.append(line)
    return False


def _take(sheet: Sheet, number: int, line: str, apart: bool) -> bool:
    """Add a line; return whether rows that follow belong to no sentence."""
    if line.startswith("#T_") and not sheet.sentences:
        if (match := _LAYER.fullmatch(line)) is None:
            message = f"found {clip(line)}, expected '#T_SP=', '#T_CH=' or '#T_RL=' with a layer and its features"
            raise DataError(message)
        sheet.layers.append(Layer.declared(match[1], match[2], tuple((match[3] or "").split("|")), sheet.width))
        sheet.width += len(sheet.layers[-1].features)
        return True
    if line.startswith(_SENTENCE_ID):
        sheet.identifiers += 1
        return True
    if line.startswith(_TEXT):
        if apart or sheet.sentences[-1].rows:
            sheet.sentences.append(Sentence(number))
        sheet.sentences[-1].texts.append(unescape_text(line.removeprefix(_TEXT)))
        return False
    if line.startswith("#") and not line.startswith("#T_"):
        sheet.comments.append(line)
        return apart
    if not sheet.sentences:
        sheet.sentences.append(Sentence(number, broken=True))
    sentence, row = sheet.sentences[-1], _row(line, number, sheet)
    if apart:
        shown = _numbered(row.sentence, row.token, row.part)
        raise DataError(f"found the row {shown}, expected '{_TEXT}' and the text of its sentence above it")
    place, expected = (row.sentence, row.token, row.part), [(row.sentence, 1, 0)]
    for last in sentence.rows[-1:]:
        expected = [(last.sentence, last.token + 1, 0), (last.sentence, last.token, last.part + 1)]
    if not sentence.broken and place not in expected:
        shown = " or ".join(_numbered(*one) for one in expected)
        raise DataError(f"found the row {_numbered(*place)}, expected {shown}")
    sentence.rows.append(row)
    return False


def _row(line: str, number: int, sheet: Sheet) -> Row:
    cells = line.split("\t")
    width = len(cells) - _FIXED - (not cells[-1])
    if not sheet.layers and width > 0 and _NUMBER.fullmatch(cells[0]):
        # no line names the layers: all columns are features of one, the first of them the type
        features = ("value", *(f"column{_FIXED + i}" for i in range(2, width + 1)))
        sheet.layers.append(Layer.declared(SPAN, _INFERRED, features, 0))
        sheet.width, sheet.inferred = width, True
    if len(cells) == _FIXED + sheet.width + 1 and not cells[-1]:
        cells.pop()  # each value may end in a tab
    values = [value or NONE for value in cells[_FIXED:]]
    missing = sheet.width - len(values)
    if missing < 0 or len(cells) < _FIXED:
        message = f"found {len(cells)} columns in {clip(line, 40)}, expected {_FIXED + sheet.width}, between tabs"
        raise DataError(f"{message}: number, offsets, token, and {sheet.width} of the layers")
    if missing or "" in cells[_FIXED:]:
        sheet.filled.append(number)
    place, offsets = _NUMBER.fullmatch(cells[0]), _OFFSETS.fullmatch(cells[1])
    if place is None:
        raise DataError(f"found {clip(cells[0], 20)}, expected the number of a token, as 1-2, or of a part, as 1-2.1")
    if offsets is None:
        raise DataError(f"found {clip(cells[1], 20)}, expected start and end of {clip(cells[2], 20)}, as 0-4")
    return Row(
        number, int(place[1]), int(place[2]), int(place[3] or 0), int(offsets[1]), int(offsets[2]), cells[2],
        values + [NONE] * missing,
    )  # fmt: skip


def _numbered(sentence: int, token: int, part: int) -> str:
    return f"{sentence}-{token}.{part}" if part else f"{sentence}-{token}"


def unescape_text(text: str) -> str:
    r"""Undo the escapes of ``#Text=`` lines.

    >>> unescape_text(r"C:\\temp\tx\rend\x")
    'C:\\temp\tx\rend\\x'
    """
    return _IN_TEXT.sub(_unescaped, text) if "\\" in text else text


def unescape_value(text: str) -> str:
    r"""Undo the escapes of values.

    >>> unescape_value(r"B\_x\[1\] \-> \*")
    'B_x[1] -> *'
    """
    return _IN_VALUE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    return _CONTROLS.get(match[1], match[1])


def split_stack(raw: str) -> list[str]:
    r"""Return the values of stacked annotations.

    >>> split_stack(r"PER[1]|a\|b[2]")
    ['PER[1]', 'a\\|b[2]']
    """
    if "|" not in raw:
        return [raw]
    # a file with NUL characters is not read
    return _DIVIDER.sub(lambda match: "\0" if match[0] == "|" else match[0], raw).split("\0")


def parse_value(raw: str) -> _Parsed:
    r"""Return a value and the number of its annotation, each possibly ``None``.

    Raises:
        DataError: brackets that are neither escaped nor those of a number.

    >>> parse_value("PER[12]"), parse_value("*[3]"), parse_value(r"\_")
    (('PER', 12), (None, 3), ('_', None))
    """
    if (match := _VALUE.fullmatch(raw)) is None:
        raise DataError(rf"found the value {clip(raw, 40)}, expected [ ] and \ as \[ \] \\, or a number, as PER[1]")
    text = None if match[1] in ("*", NONE, "") else unescape_value(match[1])
    return text, None if match[2] is None else int(match[2])
