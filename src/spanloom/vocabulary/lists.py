"""Plain lists: names, codes of diagnoses with their titles, and NCBI's taxonomy.

::

    chest pain        A000    Cholera due to Vibrio cholerae 01       9606 | Homo sapiens |  | scientific name |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from spanloom.errors import DataError
from spanloom.formats.source import bare, plain_or_packed
from spanloom.vocabulary.fields import assigned
from spanloom.vocabulary.notes import Concept, Notes
from spanloom.vocabulary.records import Gathered, Record, gathered_records, lines_of

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
    first = True
    for line, text in _lines(path):
        if first and assigned([text], {}):
            notes.add("lines that name the column, left out", text)
        elif text.startswith("# "):
            notes.add("comment lines, left out", text)
        elif "\t" in text or len(text) > _LONGEST:
            raise DataError(
                f"found {text[:40]!r}, expected a name of {_LONGEST} characters or less", path=path, line=line
            )
        else:
            notes.add("names of a list, which are their own identifiers")
            yield Record(Concept(text, text), line)
        first = False


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
