"""The transition system of Lou et al. (2017), sections 2.1 and 2.2, by name.

A token is taken by one action, which gives it a label::

    SEPN            O      the token is outside of entities
    SEPY(k)         B-k    the token begins an entity of type k
    APP             I-k    the token continues the open entity
    SEPNOR(c) + SEPN or SEPY(k)    as these, after the open entity was linked to concept c

An open entity that a plain SEPN or SEPY follows is linked to nothing (NIL). After the last token one more action,
SEPNOR(c) or END, closes what is still open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

OUTSIDE = 0


class Segment(NamedTuple):
    """An entity of a sentence.

    Args:
        first, end: its tokens, half-open.
        kind: its type's number.
        concept: what it is linked to; ``None`` for nothing.
    """

    first: int
    end: int
    kind: int
    concept: str | None = None


def role_names(types: Sequence[str]) -> tuple[str, ...]:
    """Return the R = 2 + 7 K roles, which own weights of the features of tokens: each label, and each pair of labels.

    A pair is reduced to what the transition system distinguishes, so that R grows with K and not with its square.

    >>> role_names(["D"])[:7]
    ('O', 'B-D', 'I-D', 'O after O', 'O after D', 'B-D after O', 'B-D after an entity')
    """
    return (
        "O",
        *(f"{letter}-{name}" for name in types for letter in "BI"),
        "O after O",
        *(f"O after {name}" for name in types),
        *(f"B-{name} after {what}" for name in types for what in ("O", "an entity")),
        *(f"I-{name} after {letter}-{name}" for name in types for letter in "BI"),
    )


def label_of(kind: int, begins: bool) -> int:
    """The number of the label B or I of a type."""
    return 2 * kind + (1 if begins else 2)


def actions(length: int, segments: Sequence[Segment], types: Sequence[str]) -> list[str]:
    """The actions that derive some entities, by name; Table 1 of the paper is one case.

    Args:
        length: tokens of the sentence.
        segments: in text order, disjoint.
        types: K names.

    >>> actions(4, [Segment(1, 3, 0, "movement disorders")], ["disease"])
    ['SEPN', 'SEPY(disease)', 'APP', 'SEPNOR(movement disorders) SEPN']
    >>> actions(2, [Segment(0, 1, 0), Segment(1, 2, 0, "pain")], ["disease"])
    ['SEPY(disease)', 'SEPY(disease)', 'SEPNOR(pain) END']
    """
    begins = {segment.first: segment for segment in segments}
    ends = {segment.end: segment for segment in segments}
    inside = {t for segment in segments for t in range(segment.first + 1, segment.end)}
    result = []
    for t in range(length + 1):
        name = "APP" if t in inside else f"SEPY({types[begins[t].kind]})" if t in begins else "SEPN"
        if t == length:
            name = "END"
        closed = ends.get(t)
        if closed is not None and closed.concept is not None:
            name = f"SEPNOR({closed.concept}) {name}"
        if name != "END":
            result.append(name)
    return result
