"""Stages that add to mentions what is known of each: a list of them follows whatever finds mentions.

A stage is trained and immutable. It takes documents with mentions and returns them with more: concepts, attributes.
What a document gets depends on that document alone. A new stage is a class and a line in `STAGES`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any, ClassVar, Final, Protocol

from spanloom.document import Document, Mention
from spanloom.errors import UsageError
from spanloom.evaluate.concepts import Resolver
from spanloom.model.protocol import Annotation, Capability
from spanloom.modelfile import ModelPart
from spanloom.scoring.explanation import Candidate, Explanation

__all__ = ["STAGES", "Stage", "Staged", "explained", "run_stages", "stages_of"]

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

    def candidates(self, document: Document) -> list[list[Candidate]]:
        """Return what it chose from for each mention, the best first; nothing where it does not choose."""

    def describe(self) -> dict[str, Any]:
        """Describe the stage; ready for JSON."""

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file; the class method ``from_part`` takes it."""


def run_stages(stages: Sequence[Stage], documents: Iterable[Document]) -> Iterable[Document]:
    """Return what the stages, one after the other, make of documents with mentions."""
    for stage in stages:
        documents = stage.run(list(documents))
    return documents


def explained(
    stages: Sequence[Stage], document: Document, found: Sequence[Mention], explanations: Iterable[Explanation]
) -> Iterator[Explanation]:
    """Yield explanations whose mentions have what stages add, with the concepts that were compared.

    Args:
        stages: that follow recognition.
        document: its text, prepared.
        found: the mentions that are recognized in it.
        explanations: of some of them, and of others.
    """

    def marked(mentions: Sequence[Mention]) -> list[tuple[Mention, tuple[Candidate, ...]]]:
        [document_marked] = run_stages(stages, [document.copy(mentions=mentions)])
        compared = [stage.candidates(document_marked) for stage in stages]
        every = (tuple(chain.from_iterable(own)) for own in zip(*compared, strict=True))
        return list(zip(document_marked.mentions, every, strict=True))

    known = {(mention.key, mention.head): pair for (mention, pair) in zip(found, marked(found), strict=True)}
    for one in explanations:
        own = known.get((one.mention.key, one.mention.head))
        mention, candidates = own or marked([*found, one.mention])[-1]
        yield replace(one, mention=mention.replace(score=one.mention.score), candidates=candidates)


def stages_of(part: ModelPart) -> tuple[Stage, ...]:
    """Return the stages that a model file holds.

    Raises:
        ModelError: one is damaged.
    """
    return tuple(resolve_name(STAGES[name]).from_part(part.part(name)) for name in STAGES if name in part.parts)


class Staged:
    """Base class of estimators whose mentions stages add to.

    Attributes:
        stages_: in the order in which they run.
    """

    annotates: ClassVar[frozenset[Annotation]]
    capable: ClassVar[frozenset[Capability]]
    stages_: tuple[Stage, ...] = ()

    @property
    def resolver(self) -> Resolver:
        """The concepts that mentions are linked to.

        Raises:
            UsageError: it does not link.
        """
        for stage in self.stages_:
            if stage.resolver is not None:
                return stage.resolver
        raise UsageError("the model does not link mentions; train one with link")

    def _follow(self, stages: Sequence[Stage]) -> None:
        """Let stages follow, which add to the mentions that are found, and to given ones."""
        own, self.stages_ = type(self), tuple(stages)
        given = {"given_mentions"} if stages else set[Capability]()
        left_out = {"arrays"} if stages else set[Capability]()  # which hold spans and types alone
        vars(self).update(
            annotates=own.annotates.union(*(stage.gives for stage in stages)), capable=own.capable - left_out | given
        )
