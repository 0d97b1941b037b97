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
