"""A concept: an identifier and the names that stand for it."""

from __future__ import annotations

from dataclasses import dataclass


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
