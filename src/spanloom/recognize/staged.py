"""Stages that follow recognition: concepts and attributes of the mentions that are found, or given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import ClassVar

from spanloom.attributes import AttributeModel, attributing
from spanloom.document import Document
from spanloom.errors import UsageError
from spanloom.evaluate.concepts import Resolver
from spanloom.model.protocol import Annotation, Capability
from spanloom.model.stages import Stage, run_stages

__all__ = ["Staged"]


class Staged:
    """An estimator whose mentions stages add to.

    Attributes:
        stages_: in the order in which they run.
    """

    annotates: ClassVar[frozenset[Annotation]]
    capable: ClassVar[frozenset[Capability]]
    stages_: tuple[Stage, ...] = ()

    def _follow(self, stages: Sequence[Stage]) -> None:
        """Let stages follow, which add to the mentions that are found, and to given ones."""
        own, self.stages_ = type(self), tuple(stages)
        given = {"given_mentions"} if stages else set[Capability]()
        left_out = {"arrays"} if stages else set[Capability]()  # which hold spans and types alone
        vars(self).update(
            annotates=own.annotates.union(*(stage.gives for stage in stages)), capable=own.capable - left_out | given
        )

    @property
    def attributes_(self) -> AttributeModel | None:
        """The stage that predicts attributes, if any was learned."""
        return next((stage for stage in self.stages_ if isinstance(stage, AttributeModel)), None)

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

    def _staged(
        self, found: Iterable[Iterable[Document]], attributes: Sequence[str] | str | None
    ) -> Iterator[Document]:
        """Yield documents with what stages add; of attributes the named ones, see `attributing`.

        Args:
            found: documents with mentions, in batches.
            attributes: names; those that were learned when ``None``.
        """
        own = self.attributes_
        others = [stage for stage in self.stages_ if stage is not own]
        return attributing(own, attributes)(chain.from_iterable(run_stages(others, batch) for batch in found))
