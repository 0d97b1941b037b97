"""The UMLS Metathesaurus in Rich Release Format: a folder with ``MRCONSO.RRF`` and files that say more of its concepts.

Columns as in the UMLS Reference Manual, "Metathesaurus - Rich Release Format". Files are read line by line; what is
kept is what the languages and sources that were asked for say.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from spanloom.errors import DataError, UsageError
from spanloom.formats.source import decode, raw_lines
from spanloom.vocabulary.concept import Concept
from spanloom.vocabulary.notes import Notes
from spanloom.vocabulary.records import Record

NAMES: Final = "MRCONSO.RRF"
ENGLISH: Final = ("ENG",)
_COLUMNS: Final = {NAMES: 18, "MRSTY.RRF": 6, "MRDEF.RRF": 8, "MRREL.RRF": 16}
# types of terms that stand for a concept of a source as a whole, so that its code is an identifier of the concept; an
# entry term of MeSH, for one, has the code of its descriptor, although it may be of another concept
_MAIN: Final = frozenset({"HT", "MH", "NM", "PN", "PT"})
_PREFIXES: Final = {"MSH": "MESH"}


@dataclass(slots=True)
class _Gathered:
    """Content of the files on one concept."""

    line: int
    names: list[tuple[bool, str]] = field(default_factory=list)  # whether it is the preferred one
    codes: list[str] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    definition: str = ""
    categories: list[str] = field(default_factory=list)


def scan_rrf(
    path: str | Path, notes: Notes, *, languages: Collection[str] = ENGLISH, sources: Collection[str] = ()
) -> Iterator[Record]:
    """The concepts of a folder, in the order of ``MRCONSO.RRF``.

    The preferred name is the one that is marked so (TS ``P``, STT ``PF``, ISPREF ``Y``), else the first. Alternatives
    are the codes of sources' main terms, parents those of the relationship ``PAR``, the category the semantic types.
    Suppressed names, definitions and relationships do not count. The other files may be missing.

    Args:
        path: the folder, or its ``MRCONSO.RRF``.
        notes: to add to.
        languages: such as ``ENG``, of names; no language stands for all.
        sources: such as ``MSH``, of names, definitions and relationships; no source stands for all.

    Raises:
        DataError: a file cannot be read, is not UTF-8, or a line has too few columns.
        UsageError: a language or a source that no line has.
    """
    folder = Path(path).parent if Path(path).name == NAMES else Path(path)
    found = _names(folder / NAMES, frozenset(languages), frozenset(sources), notes)
    wanted = frozenset(sources)
    readers: dict[str, Callable[[dict[str, _Gathered], list[str], frozenset[str]], None]] = {
        "MRSTY.RRF": _add_category,
        "MRDEF.RRF": _add_definition,
        "MRREL.RRF": _add_parent,
    }
    for name, add in readers.items():
        if not (folder / name).exists():
            notes.add("files that are not in the folder", name)
            continue
        for _, cells in _rows(folder / name):
            add(found, cells, wanted)
    for cui, gathered in found.items():
        yield Record(_concept(cui, gathered), gathered.line)


def _names(path: Path, languages: frozenset[str], sources: frozenset[str], notes: Notes) -> dict[str, _Gathered]:
    found: dict[str, _Gathered] = {}
    seen: tuple[set[str], set[str]] = (set(), set())
    for line, cells in _rows(path):
        cui, language, ts, _, stt, _, preferred = cells[:7]
        source, kind, code, text, suppressed = cells[11], cells[12], cells[13], cells[14], cells[16]
        seen[0].add(language)
        seen[1].add(source)
        if (languages and language not in languages) or (sources and source not in sources):
            continue
        if suppressed not in ("", "N"):
            notes.add("suppressed names, left out")
            continue
        if not cui:
            raise DataError("found a name without a CUI, expected each line to start with one", path=path, line=line)
        gathered = found.setdefault(cui, _Gathered(line))
        gathered.names.append(((ts, stt, preferred) == ("P", "PF", "Y"), text))
        if kind in _MAIN and code and code != "NOCODE":
            gathered.codes.append(code if ":" in code else f"{_PREFIXES.get(source, source)}:{code}")
    for given, known, what in ((languages, seen[0], "language"), (sources, seen[1], "source")):
        if unknown := sorted(given - known):
            message = f"found no name of the {what} {unknown[0]!r}, expected one of {', '.join(sorted(known))[:200]}"
            raise UsageError(f"{path}: {message}")
    return found


def _add_category(found: dict[str, _Gathered], cells: list[str], _: frozenset[str]) -> None:
    if cells[0] in found:
        found[cells[0]].categories.append(cells[3])


def _add_definition(found: dict[str, _Gathered], cells: list[str], sources: frozenset[str]) -> None:
    cui, source, text, suppressed = cells[0], cells[4], cells[5], cells[6]
    if cui in found and suppressed in ("", "N") and (not sources or source in sources) and not found[cui].definition:
        found[cui].definition = text


def _add_parent(found: dict[str, _Gathered], cells: list[str], sources: frozenset[str]) -> None:
    child, relation, parent, source, suppressed = cells[0], cells[3], cells[4], cells[10], cells[14]
    # the relationship is the one that the second concept has to the first: it is the parent
    if relation == "PAR" and child in found and suppressed in ("", "N") and (not sources or source in sources):
        found[child].parents.append(parent)


def _concept(cui: str, gathered: _Gathered) -> Concept:
    names = [text for _, text in sorted(gathered.names, key=lambda pair: not pair[0])]  # stable: else the file's order
    return Concept(
        f"UMLS:{cui}",
        names[0],
        tuple(names[1:]),
        tuple(gathered.codes),
        tuple(f"UMLS:{parent}" for parent in gathered.parents),
        gathered.definition,
        "|".join(dict.fromkeys(gathered.categories)),
    )


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    expected = _COLUMNS[path.name]
    for number, raw in raw_lines(path):
        cells = decode(raw, path, number).rstrip("\r\n").split("|")
        # each column ends with a bar, so one more cell follows the last
        if len(cells) not in (expected, expected + 1):
            if cells == [""]:
                continue
            message = f"found {len(cells)} columns, expected {expected} with | behind each"
            raise DataError(message, path=path, line=number)
        yield number, cells
