r"""Rows of CSV and TSV with the lines where they begin, and cells that no spreadsheet takes for a formula.

A spreadsheet runs a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line end, which the text of a note may
well do. Such a cell is written with an apostrophe before it, which spreadsheets know as the mark of text; `unguarded`
takes it away. A cell that begins with apostrophes before such a sign gets one more, so that each cell reads back
as it was.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple
from warnings import catch_warnings

from spanloom.document.validate import Problem
from spanloom.errors import DataError
from spanloom.files.output import Sink
from spanloom.formats.json_text import loads
from spanloom.formats.source import bare, decode, head_of, raw_lines
from spanloom.text.patterns import pattern

_DELIMITERS: Final = (",", ";", "\t")  # spreadsheets of many countries write semicolons
_FORMULA: Final = pattern(r"'*[=+\-@\t\r\n＝＋－＠]")
_LONGEST_CELL: Final = 1 << 30  # characters
_LONGEST_VALUE: Final = 1 << 20  # characters of a cell that holds a list
LONGEST_LITERAL: Final = 1 << 23  # characters of Python, which takes a hundred times as much memory
# how NumPy prints a list of numbers, of texts, and a number in a list
_NUMBERS: Final = pattern(r"\[\s*+-?\d++(?:\s++-?\d++)*+\s*+\]")
_QUOTED: Final = pattern(r"""'[^'\\]*+'|"[^"\\]*+\"""")
_TEXTS: Final = pattern(rf"\[\s*+(?:{_QUOTED.pattern})(?:\s++(?:{_QUOTED.pattern}))++\s*+\]")
_SCALAR: Final = pattern(r"\b(?:np|numpy)\.\w+\(([^()]*)\)|\barray\(([^()]*)(?:, dtype=\w+)?\)")
_BETWEEN: Final = pattern(r"(?<=[}\]])\s+(?=[{\[])")


class Row(NamedTuple):
    """Cells, and the line where they begin; a row with a ``problem`` has not the cells of the header."""

    line: int
    cells: list[str]
    problem: Problem | None = None


def guarded(cell: str) -> str:
    """Return a cell that is no formula.

    >>> guarded("-pain"), guarded("pain"), unguarded(guarded("'=1"))
    ("'-pain", 'pain', "'=1")
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unguarded(cell: str) -> str:
    """Undo `guarded`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def value_of(cell: str) -> list[Any] | dict[str, Any] | None:
    """Return the list or object that a cell holds, as JSON or as Python prints it; ``None`` if it holds neither.

    >>> value_of('[{"start": 3}]'), value_of("[(3, 7, 'problem')]"), value_of("[sic] pain")
    ([{'start': 3}], [[3, 7, 'problem']], None)
    """
    if cell[:1] not in ("[", "{", '"') or len(cell) > _LONGEST_VALUE:
        return None
    try:
        value = loads(cell.encode("utf-8", "surrogatepass"), "cell", 1)
    except DataError:
        value = _of_python(cell)
    if isinstance(value, str):  # JSON as text of JSON
        return value_of(value) if cell[0] == '"' and value[:1] in ("[", "{") else None
    return value if isinstance(value, list | dict) else None


def _of_python(cell: str) -> Any:
    """Parse a value as Python or NumPy prints it; return ``None`` if it is invalid.

    >>> _of_python("['a' 'b']"), _of_python("[0 1]"), _of_python("[{'score': np.float32(0.5)}\\n {'score': 1}]")
    (['a', 'b'], [0, 1], [{'score': 0.5}, {'score': 1}])
    """
    if _NUMBERS.fullmatch(cell):
        return [int(number) for number in cell[1:-1].split()]
    if _TEXTS.fullmatch(cell):
        return [text[1:-1] for text in _QUOTED.findall(cell)]
    texts = dict.fromkeys((cell, _BETWEEN.sub(", ", _SCALAR.sub(r"\1\2", cell))))
    return next((value for value in map(literal_of, texts) if value is not None), None)


def literal_of(source: str | ast.expr) -> Any:
    """Return the value of a Python literal, with lists in place of tuples; ``None`` if it is not a literal.

    >>> literal_of("[('no pain', {'entities': [(3, 7, 'x')]})]"), literal_of("open('a')")
    ([['no pain', {'entities': [[3, 7, 'x']]}]], None)
    """
    if isinstance(source, str) and len(source) > LONGEST_LITERAL:
        return None
    errors = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)
    with suppress(*errors), catch_warnings(action="ignore"):  # of its escapes
        return _listed(ast.literal_eval(source))
    return None


def _listed(value: Any) -> Any:
    """Return a value of Python with lists in place of tuples."""
    if isinstance(value, dict):
        return {str(key): _listed(part) for key, part in value.items()}
    return [_listed(part) for part in value] if isinstance(value, list | tuple | set) else value


def header_of(path: Path) -> list[str]:
    """Return the first row of a file, if it looks like one; nothing is an error.

    Raises:
        DataError: the file cannot be read.
    """
    line = head_of(path).partition(b"\n")[0].decode("utf-8", "replace")
    with suppress(csv.Error):
        return next(csv.reader([line], delimiter=_delimiter(line, path)), [])
    return []


def _delimiter(line: str, path: str | Path) -> str:
    """Return what divides the names of a header: what it has most of; a tab for ``.tsv``."""
    unquoted = re.sub(r'"[^"]*"', "", line)
    choices = ("\t",) if bare(path).suffix.lower() == ".tsv" else _DELIMITERS
    return max(choices, key=unquoted.count)


def rows(path: str | Path, tabs: bool = False) -> Iterator[Row]:
    """Yield the rows of a table, its header first; blank lines are skipped.

    Args:
        path: the file, or ``-``.
        tabs: whether tabs divide cells; else the header shows it.

    Raises:
        DataError: the file cannot be read.
    """
    lines = (decode(raw, path, number) for number, raw in raw_lines(path))
    first = next(lines, "")
    delimiter = "\t" if tabs else _delimiter(first, path)
    reader = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
    width = 0
    while True:
        line = reader.line_num + 1
        before = csv.field_size_limit(_LONGEST_CELL)  # a limit of the process; a cell may be as long as a text
        try:
            cells = next(reader, None)
        except csv.Error as error:
            message = f'a row that is no CSV ({error}); expected cells with " around them, and "" for one within'
            yield Row(line, [], Problem("error", "not CSV", message, path=str(path), line=line))
            return
        finally:
            csv.field_size_limit(before)
        if cells is None:
            return
        width = width or len(cells)
        if len(cells) not in (0, width):
            message = f"the row has {len(cells)} cells, expected {width}, as in the header"
            yield Row(line, cells, Problem("error", "wrong width", message, path=str(path), line=line))
        elif cells:
            yield Row(line, cells)


class RowWriter:
    """Writes rows with LF at their ends, and quotes where they must be.

    Args:
        sink: the output.
        delimiter: what divides cells.
    """

    def __init__(self, sink: Sink, delimiter: str) -> None:
        self._sink = sink
        # with both line ends at the end of a row, cells that hold either are quoted
        self._writer = csv.writer(self, delimiter=delimiter, lineterminator="\r\n")

    def write(self, row: str) -> None:
        """Take a row of the CSV module."""
        self._sink.write(row.removesuffix("\r\n") + "\n")

    def __call__(self, cells: Sequence[str]) -> None:
        """Write a row.

        Raises:
            DataError: a cell with a NUL character.
        """
        if wrong := next((cell for cell in cells if "\0" in cell), None):
            raise DataError(f"a table cannot hold {wrong[:40]!r}, which has a NUL character in it; remove it")
        self._writer.writerow(cells)
