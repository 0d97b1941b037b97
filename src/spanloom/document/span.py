"""Spans and mentions: plain values, compared by content.

Offsets are 0-based, half-open, in Unicode code points of the exact text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from operator import index
from typing import TYPE_CHECKING, NamedTuple

from spanloom.errors import DataError, clip

_NUMBERS = (float, Real)  # of these the first takes less time
_new = tuple.__new__  # of a span, in half the time of its own


class Span(NamedTuple):
    """Characters ``text[start:end]``.

    >>> from spanloom import Span
    >>> "left atrium"[slice(*Span(5, 11))]
    'atrium'
    """

    start: int
    end: int


@dataclass(frozen=True, slots=True, repr=False)
class Mention:
    """A mention: a type and one or more spans of the text.

    Args:
        type: the mention's type, such as ``"problem"``.
        spans: in text order, disjoint, not empty. Several spans make a *discontiguous* mention
            (others write discontinuous), unless only white space lies between them: see `align`.
        id: the mention's name in its file, if it has one.
        head: the span of the head word or words, if annotated.
        concepts: identifiers in a vocabulary, such as ``"MESH:D007674"``.
        score: a probability between 0 and 1, if a model gave one; Spanloom's are calibrated on development data.

    Raises:
        DataError: no span at all, spans or a head that are no pairs of whole numbers, concepts that are no list, or a
            value of another type.

    >>> from spanloom import Mention
    >>> mention = Mention("problem", [(0, 11), (22, 29)])
    >>> mention.spans[1].end, mention.text("infarctions watershed embolic")
    (29, 'infarctions embolic')
    >>> mention
    Mention('problem', [(0, 11), (22, 29)])
    """

    type: str
    spans: tuple[Span, ...]
    id: str | None = None
    head: Span | None = None
    concepts: tuple[str, ...] = ()
    score: float | None = None

    if TYPE_CHECKING:  # what is taken is wider than what is kept

        def __init__(
            self, type: str, spans: Iterable[Sequence[int]], id: str | None = None, head: Sequence[int] | None = None,
            concepts: Iterable[str] = (), score: float | None = None,
        ) -> None: ...  # fmt: skip

    def __repr__(self) -> str:
        parts = [repr(self.type), repr([tuple(span) for span in self.spans])]
        for name in ("id", "head", "concepts", "score"):
            value = getattr(self, name)
            if name in ("head", "concepts") and value:
                parts.append(f"{name}={tuple(value)!r}")
            elif name in ("id", "score") and value is not None:
                parts.append(f"{name}={value!r}")
        return f"Mention({', '.join(parts)})"

    def __post_init__(self) -> None:
        if not isinstance(self.type, str):
            raise DataError(f"the type of a mention is {self.type!r}, expected a text")
        if self.id is not None and not isinstance(self.id, str):
            raise DataError(f"a mention of type {clip(self.type)}: its id is {self.id!r}, expected a text")
        if self.score is not None and not isinstance(self.score, _NUMBERS):
            raise DataError(f"a mention of type {clip(self.type)}: its score is {self.score!r}, expected a number")
        try:
            spans = tuple([_new(Span, (index(start), index(end))) for start, end in self.spans])
            object.__setattr__(self, "spans", spans)
        except (TypeError, ValueError):
            message = f"the spans of a mention of type {clip(self.type)} are {self.spans!r}, expected pairs: [(0, 3)]"
            raise DataError(message) from None
        if self.head is not None:
            try:
                start, end = self.head
                object.__setattr__(self, "head", Span(index(start), index(end)))
            except (TypeError, ValueError):
                message = f"the head of a mention of type {clip(self.type)} is {self.head!r}, expected a pair: (0, 3)"
                raise DataError(message) from None
        if self.concepts != ():
            object.__setattr__(self, "concepts", self._listed_concepts())
        if not self.spans:
            raise DataError(f"a mention of type {clip(self.type)} has no span; give it at least one")

    def _listed_concepts(self) -> tuple[str, ...]:
        given: object = self.concepts
        found = given if isinstance(given, Iterable) and not isinstance(given, str) else (None,)
        concepts = tuple(found)
        if not all(isinstance(concept, str) for concept in concepts):
            example = [given] if isinstance(given, str) else ["D1"]
            message = f"a mention of type {clip(self.type)}: its concepts are {given!r}, expected a list: {example!r}"
            raise DataError(message)
        return concepts

    @property
    def start(self) -> int:
        """The first character of the first span."""
        return self.spans[0].start

    @property
    def end(self) -> int:
        """The end of the last span."""
        return self.spans[-1].end

    @property
    def key(self) -> tuple[str, tuple[Span, ...]]:
        """Type and spans, the key of exact comparison."""
        return self.type, self.spans

    def text(self, text: str) -> str:
        """Return the mention's surface: the text of its spans, joined by one space."""
        return " ".join(text[start:end] for start, end in self.spans)

    def replace(self, **changes: object) -> Mention:
        """Return a copy with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


def found_mention(
    type: str, spans: Iterable[tuple[int, int]], head: tuple[int, int] | None, concepts: tuple[str, ...],
    score: float | None, id: str | None = None,
) -> Mention:  # fmt: skip
    """Return a mention of valid parts: what `Mention` gives, without its checks, which take most of the time.

    >>> found_mention("problem", [(3, 7)], None, (), 0.5) == Mention("problem", [(3, 7)], score=0.5)
    True
    """
    mention = object.__new__(Mention)
    keep = object.__setattr__
    keep(mention, "type", type)
    keep(mention, "spans", tuple([_new(Span, span) for span in spans]))
    keep(mention, "id", id)
    keep(mention, "head", head and _new(Span, head))
    keep(mention, "concepts", concepts)
    keep(mention, "score", score)
    return mention


def join_spans(text: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Join spans that touch or that only white space separates, as comparisons need them.

    >>> join_spans("mild chest pain", [Span(0, 4), Span(5, 10)])
    (Span(start=0, end=10),)
    """
    joined = [spans[0]]
    for span in spans[1:]:
        if not text[joined[-1].end : span.start].strip():
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return tuple(joined)
