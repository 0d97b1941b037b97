"""Rich Release Format: the UMLS Metathesaurus and RxNorm, folders with a file of names and files on its concepts.

Columns as in the UMLS Reference Manual, "Metathesaurus - Rich Release Format", and in the RxNorm technical
documentation. Files are read line by line; names, definitions and relationships of the wanted languages and sources
are kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from spanloom.errors import DataError
from spanloom.formats.source import bare, plain_or_packed
from spanloom.vocabulary.notes import Notes
from spanloom.vocabulary.records import Gathered, Record, check_asked, gathered_records, lines_of

NAMES: Final = ("MRCONSO.RRF", "RXNCONSO.RRF")
"""The files of names, of UMLS and of RxNorm."""
ENGLISH: Final = ("ENG",)
# columns of the file of names, and of those beside it, which are called MRSTY.RRF or RXNSTY.RRF
_COLUMNS: Final = {"CONSO": 18, "STY": 6, "DEF": 8, "REL": 16}
_BESIDE: Final = {"MR": ("STY", "DEF", "REL"), "RXN": ("STY", "REL")}
# types of terms that stand for a concept of a source as a whole, so that its code is an identifier of the concept; an
# entry term of MeSH, for one, has the code of its descriptor, although it may be of another concept
_MAIN: Final = frozenset({"HT", "MH", "NM", "PN", "PT"})
_PREFIXES: Final = {"MSH": "MESH"}
_FURTHER: Final = frozenset({"ET", "PSN", "SY", "TMSY"})  # types of RxNorm's own terms that are no preferred names


def scan_rrf(
    path: str | Path, notes: Notes, *, languages: Collection[str] = ENGLISH, sources: Collection[str] = ()
) -> Iterator[Record]:
    """The concepts of a folder or a file of names, in the order of that file.

    The preferred name of UMLS is the one that is marked so (TS ``P``, STT ``PF``, ISPREF ``Y``), that of RxNorm the
    source RXNORM's own; else the first. Alternatives are the codes of sources' main terms, parents those of the
    relationship ``PAR``, the category the semantic types. Suppressed names, definitions and relationships do not
    count. The other files may be missing.

    Args:
        path: the folder, or its file of names; another file of such lines is read alone.
        notes: to add to.
        languages: such as ``ENG``, of names; no language stands for all.
        sources: such as ``MSH``, of names, definitions and relationships; no source stands for all.

    Raises:
        DataError: a file cannot be read, is not UTF-8, or a line has too few columns.
        UsageError: a language or a source that no line has.
    """
    path = Path(path)
    if path.is_dir():
        path = next(filter(None, (plain_or_packed(path / name) for name in NAMES)), path / NAMES[0])
    wanted = frozenset(sources)
    found = _names(path, frozenset(languages), wanted, notes)

    family = bare(path).name.removesuffix("CONSO.RRF")
    for kind in _BESIDE.get(family, ()):
        name = f"{family}{kind}.RRF"
        beside = plain_or_packed(path.with_name(name))
        if beside is None:
            notes.add("files that are not in the folder", name)
            continue
        for _, cells in _rows(beside, kind):
            if cells[0] in found:
                _describe(found[cells[0]], kind, cells, wanted)
    umls = {f"UMLS:{cui}" if _is_umls(cui) else cui: gathered for cui, gathered in found.items()}
    return gathered_records(umls.items(), notes)


def _is_umls(cui: str) -> bool:
    return not cui.isdigit()  # those of RxNorm are numbers


def _names(path: Path, languages: frozenset[str], sources: frozenset[str], notes: Notes) -> dict[str, Gathered]:
    found: dict[str, Gathered] = {}
    seen: tuple[set[str], set[str]] = (set(), set())
    for line, cells in _rows(path, "CONSO"):
        cui, language, ts, _, stt, _, preferred = cells[:7]
        source, kind, code, text, suppressed = cells[11], cells[12], cells[13], cells[14], cells[16]
        seen[0].add(language)
        seen[1].add(source)
        if (languages and language not in languages) or (sources and source not in sources):
            notes.add("names of other languages or sources, left out")
            continue
        if suppressed not in ("", "N"):
            notes.add("suppressed names, left out")
            continue
        if not cui:
            raise DataError("found a name without a CUI, expected each line to start with one", path=path, line=line)
        umls = _is_umls(cui)
        gathered = found.setdefault(cui, Gathered(line, alternatives=[] if umls else [f"RXNORM:{cui}"]))
        first = (ts, stt, preferred) == ("P", "PF", "Y") if umls else source == "RXNORM" and kind not in _FURTHER
        gathered.names.append((0 if first else 1, text))
        if kind in _MAIN and code and code != "NOCODE":
            gathered.alternatives.append(code if ":" in code else f"{_PREFIXES.get(source, source)}:{code}")
    check_asked("language", languages, seen[0], path)
    check_asked("source", sources, seen[1], path)
    return found


def _describe(gathered: Gathered, kind: str, cells: Sequence[str], sources: Collection[str]) -> None:
    """Add a row of a file beside the names to what was gathered for its concept."""
    if kind == "STY":
        gathered.categories.append(cells[3])
        return
    source, suppressed = (cells[4], cells[6]) if kind == "DEF" else (cells[10], cells[14])
    if suppressed not in ("", "N") or (sources and source not in sources):
        return
    if kind == "DEF":
        gathered.definition = gathered.definition or cells[5]
    elif cells[3] == "PAR":  # the relationship is the one that the second concept has to the first: it is the parent
        gathered.parents.append(f"UMLS:{cells[4]}" if _is_umls(cells[4]) else cells[4])


def _rows(path: Path, kind: str) -> Iterator[tuple[int, list[str]]]:
    expected = _COLUMNS[kind]
    for number, line in lines_of(path):
        cells = line.rstrip("\r\n").split("|")
        # each column ends with a bar, so one more cell follows the last
        if len(cells) not in (expected, expected + 1):
            if cells == [""]:
                continue
            message = f"found {len(cells)} columns, expected {expected} with | behind each"
            raise DataError(message, path=path, line=number)
        yield number, cells
