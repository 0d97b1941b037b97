"""BioC documents as plain values: what stands in a file, before it is understood.

BioC (Comeau et al. 2013, "BioC: a minimalist approach to interoperability for biomedical text processing", Database)
has two spellings, XML and JSON, of one tree: a collection of documents, of passages, perhaps of sentences, each with
annotations, relations and *infons* (keys with values). Both spellings are read into the values of this module, and
written from them. The JSON spelling is in `spanloom.formats.bioc_values`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Infons = dict[str, Any]  # strings as a rule; a list where a key stands several times; JSON has other values, too


@dataclass(slots=True)
class Annotation:
    """What a file says about pieces of the text.

    Args:
        id: empty if there is none.
        infons: keys and values.
        locations: offset and length of each piece.
        text: of the pieces together; ``None`` if the file gives none.
        line: in the file, from 1; ``None`` in JSON.
    """

    id: str = ""
    infons: Infons = field(default_factory=dict)
    locations: list[tuple[int, int]] = field(default_factory=list)
    text: str | None = None
    line: int | None = None


@dataclass(slots=True)
class Relation:
    """A relation between annotations, or other relations: ``nodes`` are pairs of an identifier and a role."""

    id: str = ""
    infons: Infons = field(default_factory=dict)
    nodes: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Section:
    """A passage, or a sentence of one.

    Args:
        offset: where it begins in the document, as the file says.
        text: ``None`` if it stands in the sentences only.
        infons: keys and values.
        sentences: of a passage.
        annotations: that stand in it.
        relations: that stand in it.
        line: in the file, from 1.
    """

    offset: int = 0
    text: str | None = None
    infons: Infons = field(default_factory=dict)
    sentences: list[Section] = field(default_factory=list)
    annotations: list[Annotation] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    line: int | None = None


@dataclass(slots=True)
class Tree:
    """A document: its passages, what stands outside of them, and by place the fields that BioC does not know."""

    id: str = ""
    infons: Infons = field(default_factory=dict)
    passages: list[Section] = field(default_factory=list)
    annotations: list[Annotation] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    line: int | None = None
    unread: dict[str, Any] = field(default_factory=dict)
