"""Oddities of a vocabulary that do not keep it from being used, counted by kind."""

from __future__ import annotations

from dataclasses import dataclass

from spanloom.errors import one_line

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
