"""Tables of concepts: CSV, TSV and columns between bars, with a line of column names; and plain lists.

::

    id          name              synonyms                parents     category
    SPL:0002    left ventricle    LV|left ventricular     SPL:0001    anatomy

Columns with other usual names are recognized (`spanloom.vocabulary.fields`), and users may name them. Several rows of
one concept are joined. Lists have ``|`` between their values, or ``;`` where no list of the column has ``|``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from spanloom.errors import DataError, UsageError
from spanloom.formats.source import bare, plain_or_packed
from spanloom.vocabulary.fields import Columns, Gathering, assigned, given_columns
from spanloom.vocabulary.records import (
    Concept,
    Gathered,
    Notes,
    Record,
    check_width,
    gathered_records,
    lines_of,
    merge,
)

_CODE: Final = re.compile(r"\S*\d\S*")  # an identifier, in a table without a line of column names
_EXPECTED: Final = "expected id, name and perhaps synonyms; name the columns (--columns id=NAME,name=NAME)"

_Cells = tuple[int, list[str]]


def read_concepts(path: str | Path, columns: Columns = None) -> list[Concept]:
    """Reads a table of concepts, in the order of their first rows.

    Empty lines do not count; white space around a value does not either. Several rows of one concept are joined.

    Args:
        path: the file, which may be packed by gzip.
        columns: our names of columns -> those of the file, or their numbers from 1 where it has no line of names.

    Raises:
        DataError: a line with more or fewer columns than the first, a column that is missing or occurs twice, an id
            that is empty, no concept at all, or bytes that are not UTF-8.
        UsageError: a column that the file does not have.

    >>> from spanloom.data import clinical
    >>> concepts = read_concepts(clinical() / "vocabulary.tsv")
    >>> len(concepts), concepts[1].names, concepts[1].parents, concepts[1].category
    (449, ('left ventricle', 'LV', 'left ventricular'), ('SPL:0001',), 'anatomy')
    """
    notes = Notes()
    return merge(scan_table(path, notes, columns=columns), notes, path)


def scan_table(
    path: str | Path,
    notes: Notes,
    *,
    columns: Columns = None,
    languages: Collection[str] = (),
    sources: Collection[str] = (),
) -> Iterator[Record]:
    """The concepts of a table with their lines. Arguments and errors are those of `read_concepts` and `Gathering`."""
    lines = rows_of(path)
    header, places, lines = _header(lines, given_columns(columns), notes, path)
    if header and "id" not in places:
        notes.add("tables without identifiers, whose names are the identifiers")
        places = {**places, "id": places["name"]}
    gathering = Gathering(path, notes, languages, sources)
    for number, cells in lines:
        check_width(cells, len(header), " as in the first line", path, number)
        gathering.add({ours: [cells[place] for place in several] for ours, several in places.items()}, number)
    yield from gathered_records(gathering.finish().items(), notes)


def rows_of(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table; in CSV a cell may be quoted, between tabs or bars one that is quoted as a whole is."""
    first = next((line for _, line in lines_of(path) if line.strip()), "")
    return cells_of(lines_of(path), delimiter_of(first), path)


def cells_of(
    lines: Iterable[tuple[int, str]], delimiter: str, path: str | Path, *, before: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """The rows of some lines, of which ``before`` come before these; those without cells are left out.

    Raises:
        DataError: a row is no CSV.
    """
    if delimiter not in (",", ";"):
        for number, line in lines:
            if line.strip():
                cells = line.rstrip("\r\n").split(delimiter) if delimiter else [line]
                yield number, [_unquoted(cell.strip()) for cell in cells]
        return
    reader = csv.reader((line for _, line in lines), delimiter=delimiter, strict=True)
    start = before + 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield start, [cell.strip() for cell in row]
            start = before + reader.line_num + 1
    except csv.Error as error:
        message = f'found a row that is no CSV ({error}); expected cells with " around, and "" for one within'
        raise DataError(message, path=path, line=start) from None


def _unquoted(cell: str) -> str:
    whole = len(cell) > 1 and cell[0] == cell[-1] == '"' and cell.count('"') % 2 == 0
    return cell[1:-1].replace('""', '"').strip() if whole else cell


def delimiter_of(line: str) -> str:
    """Return what divides the cells of a line; empty if nothing does.

    >>> delimiter_of("id;name;synonyms|more"), delimiter_of("D1||heart"), delimiter_of("heart")
    (';', '||', '')
    """
    unquoted = re.sub(r'"[^"]*"', "", line)
    certain = next((mark for mark in ("\t", "||") if mark in unquoted), None)
    if certain is not None:
        return certain
    best = max((",", ";", "|"), key=unquoted.count)
    return best if best in unquoted else ""


def _header(
    lines: Iterator[_Cells], given: Mapping[str, Sequence[str]], notes: Notes, path: str | Path
) -> tuple[Sequence[str], Mapping[str, Sequence[int]], Iterator[_Cells]]:
    """Return the names of columns, our name -> places of columns, and the rows that follow."""
    if given and all(name.isdigit() for names in given.values() for name in names):
        first = next(lines, None)
        if first is None:
            return (), {}, lines
        places = {ours: [int(name) - 1 for name in names] for ours, names in given.items()}
        last = max(map(max, places.values()))
        if min(map(min, places.values())) < 0 or last >= len(first[1]):
            raise UsageError(f"{path}: found {len(first[1])} columns, expected numbers of columns from 1 to that")
        if "name" not in places:
            raise UsageError("found no column of names, expected one, such as id=1,name=2")
        return first[1], places, chain([first], lines)
    for number, cells in lines:
        try:
            found = assigned(cells, given)
        except UsageError as error:
            raise UsageError(f"{path}: {error}") from None
        if found and ("id" in found or not any(map(_CODE.fullmatch, cells))):
            used = [name for names in found.values() for name in names]
            unread = [name for name in cells if name and name not in used]
            if twice := next((name for name in used if cells.count(name) > 1), None):
                raise DataError(f"found the column {twice!r} twice, expected it once", path=path, line=number)
            if "id" not in found and unread and "name" not in given:
                raise DataError(f"found the columns {', '.join(cells)[:80]}, {_EXPECTED}", path=path, line=number)
            for name in unread:
                notes.add("columns that are not read", name)
            return cells, {ours: list(map(cells.index, names)) for ours, names in found.items()}, lines
        if cells[0].startswith("#"):
            notes.add("comment lines before the columns, left out", cells[0])
            continue
        codes = [place for place, cell in enumerate(cells) if _CODE.fullmatch(cell)]
        if len(cells) != 2 or len(codes) != 1:
            raise DataError(f"found the columns {', '.join(cells)[:80]}, {_EXPECTED}", path=path, line=number)
        notes.add("tables without a line of columns, read as an identifier and a name", cells[codes[0]])
        return cells, {"id": codes, "name": [1 - codes[0]]}, chain([(number, cells)], lines)
    return (), {}, lines


# Plain lists: names, codes of diagnoses with their titles, and NCBI's taxonomy.
#
# ::
#
#     chest pain        A000    Cholera due to Vibrio cholerae 01       9606 | Homo sapiens |  | scientific name |

TAXA: Final = "names.dmp"
_LONGEST: Final = 200  # characters of a name in a list
CODE_LINE: Final = re.compile(
    r"(?P<order>\d{5}[ ])?(?P<code>[A-Z]\d[0-9A-Z](?:\.?[0-9A-Z]{1,4})?|(?:\d|[VE]\d)\d{2}(?:\.?\d{1,2})?)"
    r"[ ]+(?(order)[01][ ](?P<short>.{60})[ ]?)(?P<title>\S.*)"
)
"""A line of the lists of ICD-9-CM and ICD-10-CM, in the order file with a short title before the long one."""
_DOT_BEHIND: Final = 3  # characters of a code


def scan_words(path: str | Path, notes: Notes) -> Iterator[Record]:
    """The names of a list, one a line, each of which is its own identifier; blank lines do not count.

    Raises:
        DataError: the file cannot be read, or a line is too long for a name, or has a tab.
    """
    for number, (line, text) in enumerate(_lines(path)):
        if not number and assigned([text], {}):
            notes.add("lines that name the column, left out", text)
        elif text.startswith("# "):
            notes.add("comment lines, left out", text)
        elif "\t" in text or len(text) > _LONGEST:
            message = f"found {text[:40]!r}, expected a name of {_LONGEST} characters or less"
            raise DataError(message, path=path, line=line)
        else:
            notes.add("names of a list, which are their own identifiers")
            yield Record(Concept(text, text), line)


def scan_codes(path: str | Path, notes: Notes) -> Iterator[Record]:
    """The codes of a list of ICD-9-CM or ICD-10-CM with their titles; the code with its dot is an alternative.

    Raises:
        DataError: the file cannot be read, or a line is not of this form.
    """
    for line, text in _lines(path):
        found = CODE_LINE.fullmatch(text)
        if found is None:
            message = f"found {text[:40]!r}, expected a code and its title, such as A000    Cholera"
            raise DataError(message, path=path, line=line)
        code, short = found["code"], found["short"] or ""
        at = _DOT_BEHIND + (code[0] == "E" and code[1:].isdigit() and len(code) > _DOT_BEHIND)  # E849.0 of ICD-9-CM
        dotted = code if "." in code or len(code) <= at else f"{code[:at]}.{code[at:]}"
        yield Record(Concept(code, found["title"], (short,), (dotted,)), line)


def scan_taxonomy(path: str | Path, notes: Notes) -> Iterator[Record]:
    """The taxa of NCBI's ``names.dmp``, with ranks and parents of ``nodes.dmp``, if it is beside it.

    The preferred name is the scientific name; identifiers are the numbers, and alternatives such as
    ``NCBITaxon:9606``.

    Args:
        path: the file of names, or its folder.
        notes: to add to.

    Raises:
        DataError: a file cannot be read, or a line is not of this form.
    """
    path = Path(path)
    if path.is_dir():
        path = plain_or_packed(path / TAXA) or path / TAXA
    found: dict[str, Gathered] = {}
    for line, (taxon, name, _, kind) in _dumped(path, 4):
        gathered = found.setdefault(taxon, Gathered(line, alternatives=[f"NCBITaxon:{taxon}"]))
        if kind == "authority":  # the scientific name with who described it
            notes.add("names with authorities, left out", name)
        else:
            gathered.names.append((0 if kind == "scientific name" else 1, name))
    nodes = plain_or_packed(path.with_name("nodes.dmp"))
    if nodes is None:
        notes.add("files that are not in the folder", "nodes.dmp")
    for _, (taxon, parent, rank) in _dumped(nodes, 3) if nodes else ():
        if taxon in found:
            found[taxon].categories.append(rank)
            if parent != taxon:
                found[taxon].parents.append(parent)
    return gathered_records(found.items(), notes)


def _dumped(path: Path, width: int) -> Iterator[tuple[int, list[str]]]:
    for line, text in _lines(path):
        cells = [cell.strip() for cell in text.split("|")]
        if len(cells) < width or not cells[0].isdigit():
            message = f"found {text[:40]!r}, expected a number and {width - 1} more columns with | behind each"
            raise DataError(message, path=path, line=line)
        yield line, cells[:width]


def _lines(path: str | Path) -> Iterator[tuple[int, str]]:
    return ((number, stripped) for number, line in lines_of(path) if (stripped := line.strip()))


def is_list_of_names(name: str, lines: list[str]) -> bool:
    """Return whether the lines at the beginning of a file can be a list of names: short, and no sentences.

    >>> is_list_of_names("drugs.txt", ["aspirin", "acetylsalicylic acid"])
    True
    >>> is_list_of_names("note.txt", ["He was seen today. He has no pain.", "Home."])
    False
    """
    prose = sum(len(line) > _LONGEST or line.count(" ") > 15 or ". " in line or line[-1:] in ".:{}[]" for line in lines)
    plain = all(line.isprintable() and "\ufffd" not in line for line in lines)
    if bare(name).suffix.lower() in (".csv", ".tsv") and re.search(r"\S[,;\t]\S", lines[0] if lines else ""):
        return False  # a table, whatever its columns are called
    return bool(lines) and plain and prose * 10 <= len(lines) and bare(name).suffix.lower() not in _OTHERS


_OTHERS: Final = frozenset((".bin", ".html", ".json", ".jsonl", ".md", ".obo", ".owl", ".rdf", ".ttl", ".xml", ".yaml"))
