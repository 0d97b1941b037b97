"""Records of an XML file one at a time, in the memory of one, and those of MeSH and MEDIC; nothing is fetched.

Entities are refused, except, where namespaces are read, short ones for the addresses of namespaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers.expat import ParserCreate

from spanloom.errors import DataError
from spanloom.formats.expat import feed
from spanloom.formats.source import opened, raw_lines
from spanloom.vocabulary.records import Concept, Notes, Record, check_width, lines_of, split_values
from spanloom.vocabulary.table import cells_of

_CHUNK = 1 << 16
_DEEPEST = 100  # elements within each other; vocabularies have a dozen
_ADDRESS: Final = re.compile(r"[^&%<>\s]{1,200}")  # the text of an entity that may be declared for a namespace
_ENTITIES: Final = 500


def xml_records(
    path: str | Path, roots: Iterable[str], records: Iterable[str], *, namespaces: bool = False
) -> Iterator[tuple[Element, int]]:
    """The records of an XML file, with the lines on which they start.

    Args:
        path: the file.
        roots: what the outermost element may be called.
        records: the elements below it to give.
        namespaces: whether names are those of a namespace, its address before them.

    Raises:
        DataError: the file cannot be read, is no XML, or cut off; another outermost element; an entity.
    """
    outermost, kept = frozenset(roots), frozenset(records)
    found: list[tuple[Element, int]] = []
    tree: TreeBuilder | None = None  # of the record at hand
    depth = entities = start = 0
    expat = ParserCreate(namespace_separator="" if namespaces else None)  # reads neither files nor addresses on its own

    def error(message: str) -> DataError:
        return DataError(message, path=path, line=expat.CurrentLineNumber)

    def opens(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, start, tree
        if depth == 0 and tag not in outermost:
            expected = " or ".join(f"<{root}>" for root in sorted(outermost))
            raise error(f"found the element <{tag[:80]}>, expected {expected}; is this another format?")
        if depth == _DEEPEST:
            raise error(f"found more than {_DEEPEST} elements within each other, expected records")
        if depth == 1 and tag in kept:
            tree, start = TreeBuilder(), expat.CurrentLineNumber
        depth += 1
        if tree is not None:
            tree.start(tag, attributes)

    def closes(tag: str) -> None:
        nonlocal depth, tree
        depth -= 1
        if tree is not None:
            tree.end(tag)
            if depth == 1:
                found.append((tree.close(), start))
                tree = None

    def data(text: str) -> None:
        if tree is not None:
            tree.data(text)

    def declared(name: str, parameter: bool, value: str | None, *_: Any) -> None:
        nonlocal entities
        entities += 1
        if not namespaces or parameter or not _ADDRESS.fullmatch(value or "") or entities > _ENTITIES:
            raise error(f"found a declaration of the entity {name[:80]!r}, expected none; replace it by its text")

    def unknown(name: str, *_: Any) -> None:
        # after a mention of a DTD elsewhere, which is not fetched, an unknown entity is no error for Expat
        raise error(f"found the entity {name[:80]!r}, which is not declared here; replace it by its text")

    expat.buffer_text = True
    expat.StartElementHandler, expat.EndElementHandler, expat.CharacterDataHandler = opens, closes, data
    expat.EntityDeclHandler, expat.SkippedEntityHandler = declared, unknown
    with opened(path) as file:
        for chunk in chain(iter(lambda: file.read(_CHUNK), b""), [b""]):
            feed(expat, chunk, path, not chunk)
            yield from found
            found.clear()


# MeSH of the National Library of Medicine: descriptors, qualifiers and supplementary records, as XML and as ASCII.

ROOTS: Final = ("DescriptorRecordSet", "QualifierRecordSet", "SupplementalRecordSet")
_PREFIXES: Final = {
    "DescriptorRecord": "Descriptor", "QualifierRecord": "Qualifier", "SupplementalRecord": "SupplementalRecord",
}  # of UI and Name # fmt: skip
NEW_RECORD: Final = "*NEWRECORD"
"""What begins each record of the ASCII files."""
_NAMES: Final = ("MH", "NM", "SH")  # fields of a record's name in ASCII
_TERMS: Final = ("ENTRY", "PRINT ENTRY", "SY", "QE")


def scan_mesh(path: str | Path, notes: Notes) -> Iterator[Record]:
    """The records of a MeSH file.

    All terms of a record are names of it. Parents are the descriptors one step up in the trees, and those that a
    supplementary record is mapped to. The category is the letters of the trees, such as ``C|F``.

    Raises:
        DataError: the file cannot be read, is neither XML nor ASCII of MeSH, or not of this form.
    """
    first = next((line for _, line in raw_lines(path) if line.strip()), b"").strip()
    trees: dict[str, str] = {}  # tree number -> the descriptor there
    found: list[tuple[Concept, list[str], int]] = []
    for concept, numbers, line in _ascii(path) if first == NEW_RECORD.encode() else _xml(path):
        for number in numbers:
            if trees.setdefault(number, concept.id) != concept.id:
                notes.add("tree numbers of several descriptors, which mean the first", number)
        found.append((concept, numbers, line))
    for concept, numbers, line in found:
        above = [trees[number.rpartition(".")[0]] for number in numbers if number.rpartition(".")[0] in trees]
        yield Record(replace(concept, parents=(*concept.parents, *above)), line)


def _xml(path: str | Path) -> Iterator[tuple[Concept, list[str], int]]:
    """The concepts of a file, their tree numbers and lines."""
    for element, line in xml_records(path, ROOTS, _PREFIXES):
        kind = _PREFIXES[element.tag]
        identifier, name = (element.findtext(f"{kind}{part}", "").strip() for part in ("UI", "Name/String"))
        if not identifier:
            message = f"found a {element.tag} without {kind}UI, expected each to have one"
            raise DataError(message, path=path, line=line)
        numbers = [number.text.strip() for number in element.iterfind("TreeNumberList/TreeNumber") if number.text]
        terms = tuple(term.text or "" for term in element.iterfind("ConceptList/Concept/TermList/Term/String"))
        # a star marks a mapping to a main topic
        mapped = element.iterfind("HeadingMappedToList/HeadingMappedTo/DescriptorReferredTo/DescriptorUI")
        parents = tuple((parent.text or "").lstrip("*") for parent in mapped)
        definition = element.findtext("ConceptList/Concept[@PreferredConceptYN='Y']/ScopeNote", "")
        category = "|".join(dict.fromkeys(number[0] for number in numbers))
        yield Concept(identifier, name, terms, (), parents, definition, category), numbers, line


def _ascii(path: str | Path) -> Iterator[tuple[Concept, list[str], int]]:
    record: dict[str, list[str]] = {}
    start = 1
    for number, line in chain(lines_of(path), [(0, NEW_RECORD)]):
        text = line.strip()
        if text == NEW_RECORD:
            if record:
                yield _ascii_concept(record, path, start)
            record, start = {}, number
            continue
        name, equals, value = f"{text} ".partition(" = ")
        if text and not equals:
            message = f"found {text[:80]!r}, expected a field such as MH = Heart"
            raise DataError(message, path=path, line=number)
        if text:
            record.setdefault(name, []).append(value.strip())


def _ascii_concept(record: dict[str, list[str]], path: str | Path, line: int) -> tuple[Concept, list[str], int]:
    def values(*names: str) -> list[str]:  # what follows a bar describes the value
        return [value.partition("|")[0].strip() for name in names for value in record.get(name, ())]

    (name, *_), (identifier, *_), numbers = values(*_NAMES) or [""], values("UI") or [""], values("MN")
    if not identifier:
        raise DataError("found a record without UI, expected each to have one", path=path, line=line)
    # the names of descriptors that a supplementary record is mapped to are no identifiers, so there are no parents
    category = "|".join(dict.fromkeys(number[0] for number in numbers if number))
    definition = next(iter(record.get("MS", [])), "")
    return Concept(identifier, name, tuple(values(*_TERMS)), (), (), definition, category), numbers, line


# MEDIC, the diseases of the Comparative Toxicogenomics Database, in three of the forms that CTD offers: XML, CSV, TSV.
#
# Davis et al. 2012, "MEDIC: a practical disease vocabulary used at the Comparative Toxicogenomics Database". CTD's
# table
# of chemicals has the same form and is read as well. For the OBO file of MEDIC see `spanloom.vocabulary.obo`.

KINDS: Final = ("Disease", "Chemical")  # a file is of one kind, and its columns are called after it


def scan_medic(path: str | Path, notes: Notes) -> Iterator[Record]:
    """Yield the concepts of a CTD file: XML if it begins with ``<``, else a table with the divider of its header line.

    Raises:
        DataError: the file cannot be read, is not UTF-8, or has another format.
    """
    first = next((line.strip() for _, line in raw_lines(path) if line.strip()), b"")
    # UTF-16 begins with a mark; as a table it would be refused anyway
    rows = _xml_rows(path) if first.startswith((b"<", b"\xff\xfe", b"\xfe\xff")) else _table_rows(path)
    for row, line in rows:
        kind = next((kind for kind in KINDS if f"{kind}ID" in row or f"{kind}Name" in row), None)
        if kind is None:
            message = f"found a row with {', '.join(row)[:80] or 'nothing'}, expected DiseaseName and DiseaseID"
            raise DataError(message, path=path, line=line)
        one = dict.fromkeys(("Definition", f"{kind}ID", f"{kind}Name"), "") | row
        synonyms, alternatives, parents, categories = (
            split_values(row.get(name, "")) for name in ("Synonyms", f"Alt{kind}IDs", "ParentIDs", "SlimMappings")
        )
        concept = Concept(
            one[f"{kind}ID"], one[f"{kind}Name"], synonyms, alternatives, parents, one["Definition"],
            "|".join(categories),
        )  # fmt: skip
        yield Record(concept, line)


def _xml_rows(path: str | Path) -> Iterator[tuple[dict[str, str], int]]:
    for element, line in xml_records(path, roots=["RowSet"], records=["Row"]):
        row: dict[str, str] = {}
        for child in element:
            if child.tag in row:
                message = f"found {child.tag[:80]} twice in a row, expected it once; values have | between"
                raise DataError(message, path=path, line=line)
            row[child.tag] = (child.text or "").strip()
        yield row, line


def _table_rows(path: str | Path) -> Iterator[tuple[dict[str, str], int]]:
    """Yield the rows of a table; its columns are named in a comment, or in the first other line."""
    columns: list[str] = []
    separator, number = "\t", 0
    lines = lines_of(path)
    first: list[tuple[int, str]] = []  # the line that is the first row
    for number, line in lines:
        content = line.lstrip("#").strip()
        if columns and not line.startswith("#"):
            first = [(number, line)]
            break
        mark = "\t" if "\t" in content else ","
        cells = [cell.strip() for cell in content.split(mark)]
        if any(f"{kind}ID" in cells and f"{kind}Name" in cells for kind in KINDS):
            columns, separator = cells, mark
        elif content and not line.startswith("#"):
            message = f"found {content[:80]!r} before a line of columns, expected one with DiseaseName and DiseaseID"
            raise DataError(message, path=path, line=number)
    if not columns:
        raise DataError("found no line of columns, expected one with DiseaseName and DiseaseID", path=path)
    for place, cells in cells_of(chain(first, lines), separator, path, before=number - 1):
        if not cells[0].startswith("#"):
            check_width(cells, len(columns), f": {', '.join(columns)}", path, place)
            yield dict(zip(columns, cells, strict=True)), place
