"""Stages that add to mentions what is known of each: a list of them follows whatever finds mentions.

A stage is trained and immutable. It takes documents with mentions and returns them with more: concepts, attributes.
What a document gets depends on that document alone. A new stage is a class and a line in `STAGES`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any, ClassVar, Final, Protocol

from spanloom.document import Document
from spanloom.evaluate.concepts import Resolver
from spanloom.model.protocol import Annotation
from spanloom.modelfile import ModelPart

__all__ = ["STAGES", "Stage", "run_stages", "stages_of"]

STAGES: Final[Mapping[str, str]] = MappingProxyType(
    {"concepts": "spanloom.concepts.stage:ConceptStage", "attributes": "spanloom.attributes.model:AttributeModel"}
)
"""The name of each stage, which is that of its part in a model file -> its class; in the order in which they run."""


class Stage(Protocol):
    """A trained stage."""

    name: ClassVar[str]
    gives: ClassVar[frozenset[Annotation]]

    def run(self, documents: Sequence[Document]) -> Iterable[Document]:
        """Return the documents with more known of their mentions."""

    @property
    def resolver(self) -> Resolver | None:
        """The concepts that it gives, by their identifiers; ``None`` if it gives none."""

    def describe(self) -> dict[str, Any]:
        """Describe the stage; ready for JSON."""

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file; the class method ``from_part`` takes it."""


def run_stages(stages: Sequence[Stage], documents: Iterable[Document]) -> Iterable[Document]:
    """Return what the stages, one after the other, make of documents with mentions."""
    for stage in stages:
        documents = stage.run(list(documents))
    return documents


def stages_of(part: ModelPart) -> tuple[Stage, ...]:
    """Return the stages that a model file holds.

    Raises:
        ModelError: one is damaged.
    """
    return tuple(resolve_name(STAGES[name]).from_part(part.part(name)) for name in STAGES if name in part.parts)
