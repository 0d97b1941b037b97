"""Concepts with their lines, as readers hand them over: cleaned, duplicates found, and everything odd counted."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from operator import itemgetter
from pathlib import Path
from typing import Final, NamedTuple
from warnings import warn

from spanloom.document.span import normalize_identifier
from spanloom.errors import DataError, DataWarning, UsageError, clip, one_line
from spanloom.formats.source import decode, raw_lines
from spanloom.text.patterns import pattern

NAMELESS: Final = "concepts without a name, left out"
_QUOTED: Final = re.compile(r"""'([^'\\]*)'|"([^"\\]*)\"""")
_UNFIT: Final = re.compile("[\0\ud800-\udfff]")
_LIST: Final = pattern(r"""\s*\[(?:\s*(?:'[^'\\]*'|"[^"\\]*")\s*,?)*+\s*\]\s*""")  # as Python and JSON print them


class Record(NamedTuple):
    """A concept as a reader found it.

    Args:
        concept: as it is written there.
        line: where it starts, from 1; ``None`` where the reader cannot know.
    """

    concept: Concept
    line: int | None = None


@dataclass(slots=True)
class Gathered:
    """What a file gives for one concept, in its order.

    Args:
        line: where it starts.
        names: each with its rank; the name of the lowest rank is the preferred one, of equal ranks the first.
        replaced_by: what an obsolete one refers to in its place.
    """

    line: int | None = None
    names: list[tuple[int, str]] = field(default_factory=list)
    alternatives: list[str] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    definition: str = ""
    categories: list[str] = field(default_factory=list)
    replaced_by: list[str] = field(default_factory=list)
    obsolete: bool = False


def gathered_records(found: Iterable[tuple[str, Gathered]], notes: Notes) -> Iterator[Record]:
    """The concepts of identifiers with what was gathered for each.

    Obsolete ones are left out and counted. An obsolete one becomes an alternative identifier of the one that replaces
    it. Those without a name are left to `merge`.
    """
    listed = list(found)
    replaced: dict[str, list[str]] = {}
    for identifier, one in listed:
        if one.obsolete:
            notes.add("obsolete terms, left out", identifier)
            if len(one.replaced_by) == 1:
                replaced.setdefault(one.replaced_by[0], []).append(identifier)
    for identifier, one in ((identifier, one) for identifier, one in listed if not one.obsolete):
        names = [text for _, text in sorted(one.names, key=itemgetter(0))] or [""]  # stable: else the file's order
        categories = "|".join(dict.fromkeys(one.categories))
        alternatives, parents = (*one.alternatives, *replaced.get(identifier, ())), tuple(one.parents)
        concept = Concept(identifier, names[0], tuple(names[1:]), alternatives, parents, one.definition, categories)
        yield Record(concept, one.line)


def lines_of(path: str | Path) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers, from 1."""
    return ((number, decode(raw, path, number)) for number, raw in raw_lines(path))


def check_width(cells: Sequence[str], width: int, how: str, path: str | Path, line: int) -> None:
    """Check that a row has as many columns as it must have.

    Raises:
        DataError: it has more, or fewer.
    """
    if len(cells) != width:
        raise DataError(f"found {len(cells)} columns, expected {width}{how}", path=path, line=line)


def check_chosen(what: str, chosen: Collection[str], seen: Collection[str], path: str | Path) -> None:
    """Check that the languages, or sources, of names that are asked for occur.

    Raises:
        UsageError: one does not.
    """
    if unknown := sorted(set(chosen) - set(seen)):
        known = ", ".join(sorted(filter(None, seen)))[:200] or "none"
        raise UsageError(f"{path}: found no name of the {what} {unknown[0]!r}, expected one of {known}")


def split_values(cell: str, separator: str = "|") -> tuple[str, ...]:
    """The values of a cell that holds several, or a list of quoted ones; empty ones do not count.

    >>> split_values("LV| left ventricular||"), split_values("['LV', 'left ventricle']")
    (('LV', 'left ventricular'), ('LV', 'left ventricle'))
    """
    if _LIST.fullmatch(cell):
        return tuple(part for part in (found[1] or found[2] for found in _QUOTED.finditer(cell)) if part)
    return tuple(part for part in map(str.strip, cell.split(separator)) if part)


def merge(records: Iterable[Record], notes: Notes, path: str | Path | None = None) -> list[Concept]:
    """Cleaned concepts, each identifier once, in the order of their first records.

    Identifiers are normalized; runs of white space in names become one space; names and identifiers that occur twice in
    a concept, and alternatives that are its own identifier, count once. The same concept twice is noted. A concept
    without a name is left out and noted, with a `DataWarning`, whatever it was read from.

    Raises:
        DataError: no concept, one without an identifier, two that differ under one identifier, or text with NUL or
            half of a surrogate pair.
    """
    found: dict[str, Record] = {}
    for record in records:
        concept = _clean(record, path)
        if not concept.name:
            notes.add(NAMELESS, concept.id)
            continue
        earlier = found.setdefault(concept.id, Record(concept, record.line))
        if earlier.concept is concept:
            continue
        if earlier.concept != concept:
            differing = next(f.name for f in fields(Concept) if getattr(concept, f.name) != getattr(earlier[0], f.name))
            place = "" if earlier.line is None else f", first on line {earlier.line}"
            message = (
                f"found the id {clip(concept.id)} twice{place}, with different values of {differing}; "
                "expected one record for each concept; join them, or give them different ids"
            )
            raise DataError(message, path=path, line=record.line)
        notes.add("concepts that occur twice with the same content, kept once", concept.id)
    if nameless := next((note for note in notes.to_tuple() if note.kind == NAMELESS), None):
        warn(f"vocabulary{'' if path is None else f' {path}'}: {nameless}", DataWarning, stacklevel=2)
    if not found:
        raise DataError("found no concept, expected at least one; is this the right file or format?", path=path)
    return [record.concept for record in found.values()]


def _clean(record: Record, path: str | Path | None) -> Concept:
    concept = record.concept
    identifier = normalize_identifier(concept.id)
    if not identifier:
        message = f"found a concept without an id ({concept.name[:80]!r}), expected each to have one"
        raise DataError(message, path=path, line=record.line)
    names = [*dict.fromkeys(filter(None, map(_spaced, (concept.name, *concept.synonyms))))]
    alternatives = dict.fromkeys(map(normalize_identifier, concept.alternatives))
    parents = dict.fromkeys(map(normalize_identifier, concept.parents))
    cleaned = Concept(
        identifier,
        names[0] if names else "",  # a synonym where it has no preferred name
        tuple(names[1:]),
        tuple(other for other in alternatives if other and other != identifier),
        tuple(parent for parent in parents if parent),
        _spaced(concept.definition),
        _spaced(concept.category),
    )
    single = (cleaned.id, cleaned.name, cleaned.definition, cleaned.category)
    if found := _UNFIT.search("\n".join((*single, *cleaned.synonyms, *cleaned.alternatives, *cleaned.parents))):
        problem = "a NUL character" if found[0] == "\0" else "half of a surrogate pair"
        message = f"found {problem} in the concept {identifier[:80]!r}, expected text; correct it"
        raise DataError(message, path=path, line=record.line)
    return cleaned


def _spaced(text: str) -> str:
    return " ".join(text.split())


def examine(concepts: Sequence[Concept], notes: Notes) -> None:
    """Note what is odd between concepts: ambiguous names, identifiers of several concepts, parents that go nowhere."""
    holders: dict[str, int] = {}
    names = ((name, number) for number, concept in enumerate(concepts) for name in concept.names)
    for name in dict.fromkeys(name for name, number in names if holders.setdefault(name, number) != number):
        notes.add("names of several concepts", repr(name))
    numbers = {concept.id: number for number, concept in enumerate(concepts)}
    owners: dict[str, str] = {}
    for concept in concepts:
        for other in concept.alternatives:
            if other in numbers:
                notes.add("alternative identifiers that are another concept's own, which they mean", other)
            elif owners.setdefault(other, concept.id) != concept.id:
                notes.add("alternative identifiers of several concepts, which mean the first", other)
        for parent in concept.parents:
            if parent not in numbers:
                notes.add("parents that are not in the vocabulary", parent)
    parents = [[numbers[parent] for parent in concept.parents if parent in numbers] for concept in concepts]
    for number in _closing(parents):
        notes.add("parents that close a circle", concepts[number].id)


def _closing(parents: Sequence[Sequence[int]]) -> Iterator[int]:
    """The children of links that lead back to where a walk upward came from; without these links no walk is endless."""
    new, open_, done = 0, 1, 2
    state = [new] * len(parents)
    for start in range(len(parents)):
        if state[start] != new:
            continue
        state[start] = open_
        walk = [(start, iter(parents[start]))]
        while walk:
            number, rest = walk[-1]
            parent = next(rest, None)
            if parent is None:
                state[number] = done
                walk.pop()
            elif state[parent] == open_:
                yield number
            elif state[parent] == new:
                state[parent] = open_
                walk.append((parent, iter(parents[parent])))


# Oddities of a vocabulary that do not keep it from being used, counted by kind.

_EXAMPLES = 3
_SHOWN = 80  # characters of each


@dataclass(frozen=True, slots=True)
class Note:
    """Something odd that was found in a vocabulary.

    Args:
        kind: what it is, in the plural.
        count: how often it was found.
        examples: the first few: identifiers, or names.

    >>> str(Note("parents that are not in the vocabulary", 2, ("MESH:C", "MESH:F")))
    'parents that are not in the vocabulary: 2, such as MESH:C, MESH:F'
    """

    kind: str
    count: int
    examples: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = f", such as {', '.join(self.examples)}" if self.examples else ""
        return f"{self.kind}: {self.count:,}{shown}"


class Notes:
    """Collects what is odd while a vocabulary is read.

    >>> notes = Notes()
    >>> notes.add("obsolete terms, left out", "DOID:1")
    >>> notes.to_tuple()
    (Note(kind='obsolete terms, left out', count=1, examples=('DOID:1',)),)
    """

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, list[str]]] = {}

    def add(self, kind: str, example: str | None = None) -> None:
        """Count one; the first few examples of a kind are kept."""
        count, examples = self._found.get(kind, (0, []))
        if example is not None and len(examples) < _EXAMPLES:
            examples.append(one_line(example[:_SHOWN]))
        self._found[kind] = (count + 1, examples)

    def to_tuple(self) -> tuple[Note, ...]:
        """One note a kind, in the order in which they were first found."""
        return tuple(Note(kind, count, tuple(examples)) for kind, (count, examples) in self._found.items())


# A concept: an identifier and the names that stand for it.


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept of a vocabulary.

    Args:
        id: such as ``MESH:D007674``.
        name: the preferred name.
        synonyms: its other names.
        alternatives: other identifiers of the same concept, such as ``OMIM:263200``.
        parents: ids of broader concepts; they need not be in the vocabulary.
        definition: in a sentence or more, possibly empty.
        category: its semantic category, such as ``anatomy``, possibly empty. Several are separated by ``|``.

    >>> Concept("SPL:0002", "left ventricle", ("LV",)).names
    ('left ventricle', 'LV')
    """

    id: str
    name: str
    synonyms: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    definition: str = ""
    category: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """All names, the preferred one first, each once."""
        return tuple(dict.fromkeys((self.name, *self.synonyms)))
