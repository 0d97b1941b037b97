"""Protocols of models of any kind, for those who use them: what a model annotates, and what it is capable of.

Verbs, the server and other libraries ask for these and never for the kind, so that a class of a user's own serves as
well as Spanloom's. `fills_column` and the other questions show type checkers which methods there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeGuard, overload

if TYPE_CHECKING:
    from spanloom.document import Document, Mention
    from spanloom.document.arrays import MentionArrays
    from spanloom.evaluate.concepts import Resolver
    from spanloom.evaluate.measures import Learning
    from spanloom.formats.inputs import Dev, Given, One, Several
    from spanloom.learn import Listener
    from spanloom.model.structured import AnyModel
    from spanloom.scoring.explanation import Explanation

Annotation = Literal["mentions", "words", "columns", "concepts", "attributes"]
"""Annotations that a model writes into documents: ``words`` are tokens in place of their own."""

Capability = Literal[
    "scores", "readings", "given_mentions", "explain", "alternatives", "sweep", "hypergraph", "arrays", "compact",
    "attributes", "constraints", "guarantees", "dictionary",
]  # fmt: skip
"""Capabilities of a model, besides annotating.

- ``scores``: its mentions have probabilities; `stream` takes ``threshold`` and ``answers``.
- ``readings``: it has a parameter ``reading``, and `stream` takes ``notice``.
- ``given_mentions``: `stream` takes ``mentions``, to keep to those of the documents.
- ``explain``, ``alternatives``, ``sweep``: it has a method of this name.
- ``hypergraph``: its best sub-hypergraphs can be drawn.
- ``arrays``: it has a method `stream_arrays`, which gives what `stream` finds without an object for each mention.
- ``compact``: where its scores are of features, `spanloom.recognize.compact` makes it smaller.
- ``attributes``: it may have learned attributes of mentions, `stream` takes ``attributes``.
- ``constraints``: `stream` takes ``constraints``.
- ``dictionary``: `stream` takes ``dictionary``, words that stay whole.
- ``guarantees``: `spanloom.recognize.Reliance` labels its candidates at promised rates.
"""


class Saved(Protocol):
    """Whatever is saved as a folder: a model, or what models look things up in."""

    @property
    def kind(self) -> str:
        """The name of its kind in ``model.json``."""

    @property
    def annotates(self) -> frozenset[Annotation]:
        """The annotations that it writes into documents; none, if it is looked things up in."""

    @property
    def capable(self) -> frozenset[Capability]:
        """Its other capabilities."""

    def describe(self) -> dict[str, Any]:
        """Return what it is and what it learned, ready for JSON, in the order in which it is shown."""

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write it as a folder."""


class Model(Saved, Protocol):
    """A model that annotates documents."""

    def fit(
        self, X: Given, y: Iterable[Any] | None = None, *, dev: Dev | None = None, progress: Listener | None = None
    ) -> Self:
        """Train."""

    @overload
    def predict(self, X: One) -> Document: ...  # type: ignore[overload-overlap]

    @overload
    def predict(self, X: Several) -> list[Document]: ...

    def stream(self, X: Given, *_: Any, **options: Any) -> Iterator[Document]:
        """Annotate documents lazily; the options are those that it is capable of."""

    def check(self) -> None:
        """Raise `UsageError` for an invalid parameter."""

    def set_params(self, **params: Any) -> Self:
        """Change parameters; ``n_jobs``, the number of threads, is one of them."""

    def summary(self) -> Iterator[str]:
        """Yield lines on the training data, the choices of training, and the mentions that the model cannot hold."""


class MentionModel(Model, Protocol):
    """A model that finds mentions."""

    @property
    def types_(self) -> tuple[str, ...]:
        """Types of mentions."""

    def learning(self) -> Learning | None:
        """Return how its training went, step by step, if it knows."""


class ColumnModel(Model, Protocol):
    """A model that fills a column."""

    @property
    def column(self) -> str:
        """The name of the column."""


class LinkingModel(MentionModel, Protocol):
    """A model that links mentions to concepts."""

    @property
    def resolver(self) -> Resolver:
        """The concepts, by their identifiers."""


class Explainer(MentionModel, Protocol):
    """A model that explains why it finds mentions."""

    def explain(self, X: One, mentions: Sequence[Mention] | None = None) -> list[Explanation]:
        """Explain mentions of a text; what is predicted when ``None``."""


class Considering(MentionModel, Protocol):
    """A model that returns the mentions that it considers, but does not find."""

    def alternatives(self, X: Given) -> Iterator[Document]:
        """Return documents with mentions that are considered, but not found."""


class Swept(MentionModel, Protocol):
    """A model with a mention penalty."""

    @property
    def fitted(self) -> AnyModel:
        """The trained model of mentions."""

    def sweep(self, X: Given, penalties: Sequence[float]) -> list[list[Document]]:
        """Return what is found with each of some penalties."""


class Drawable(MentionModel, Protocol):
    """A model whose best sub-hypergraphs can be drawn."""

    @property
    def fitted(self) -> AnyModel:
        """The trained model of mentions."""

    def ready(self, documents: Iterable[Document]) -> list[Document]:
        """Return documents with what `fitted` needs."""


class Tabular(MentionModel, Protocol):
    """A model that gives the mentions that it finds as arrays."""

    def stream_arrays(self, X: Given, *, threshold: float = ...) -> Iterator[MentionArrays]:
        """Return what `stream` finds, in the order of the documents, for some of them at a time."""


def annotates(saved: Saved) -> TypeGuard[Model]:
    """Return whether a model annotates documents."""
    return bool(saved.annotates)


def finds_mentions(saved: Saved) -> TypeGuard[MentionModel]:
    """Return whether a model finds mentions."""
    return "mentions" in saved.annotates


def fills_column(saved: Saved) -> TypeGuard[ColumnModel]:
    """Return whether a model fills a column."""
    return "columns" in saved.annotates


def links(saved: Saved) -> TypeGuard[LinkingModel]:
    """Return whether a model links mentions to concepts."""
    return "concepts" in saved.annotates


def explains(saved: Saved) -> TypeGuard[Explainer]:
    """Return whether a model explains why it finds mentions."""
    return "explain" in saved.capable


def considers(saved: Saved) -> TypeGuard[Considering]:
    """Return whether a model gives alternatives to the mentions that it finds."""
    return "alternatives" in saved.capable


def sweeps(saved: Saved) -> TypeGuard[Swept]:
    """Return whether a model's mention penalty can be varied."""
    return "sweep" in saved.capable


def draws_hypergraph(saved: Saved) -> TypeGuard[Drawable]:
    """Return whether a model's sub-hypergraphs can be drawn."""
    return "hypergraph" in saved.capable


def gives_arrays(saved: Saved) -> TypeGuard[Tabular]:
    """Return whether a model gives the mentions that it finds as arrays."""
    return "arrays" in saved.capable
