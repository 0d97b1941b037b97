"""Enumeration of words and mentions of short sentences: the oracle of all decoders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from spanloom.hypergraph import Potentials
from spanloom.segment.constraints import Constraint, allowed_pairs
from spanloom.segment.lattice import Lattice
from spanloom.segment.tags import MENTIONS, WORD_TAGS, WORDS, mention_tags

TYPES = ("drug", "long name")


class Joint(NamedTuple):
    """One answer for a sentence."""

    score: float
    words: tuple[int, ...]
    mentions: tuple[int, ...]


def random_potentials(lattice: Lattice, length: int, random: np.random.Generator, scale: float = 2.0) -> Potentials:
    template = lattice.engine.template
    roles = random.normal(0, scale, (length, len(template.roles), 1)).astype(np.float32)
    return Potentials(roles, random.normal(0, scale / 2, (len(template.constants), 1)).astype(np.float32))


def sequences(tags: Sequence[str], follows: object, length: int) -> Iterator[tuple[int, ...]]:
    """Every sequence of tags that a chain allows."""
    for numbers in product(range(len(tags)), repeat=length):
        names = ["O", *(tags[i] for i in numbers), "O"]
        if all(follows(a, b) for a, b in pairwise(names)):  # type: ignore[operator]
            yield numbers


def sequence_score(lattice: Lattice, potentials: Potentials, numbers: Sequence[int], at: int = 0) -> float:
    tags = lattice.structure.tags(lattice.types)
    number = {name: i for i, name in enumerate(lattice.engine.template.constants)}
    total = sum(float(potentials.roles[at + i, tag, 0]) for i, tag in enumerate(numbers))
    for one, two in pairwise(numbers):
        total += float(potentials.constants[number[f"{tags[one]} {tags[two]}"], 0])
    return total


def enumerate_joint(
    words: tuple[Lattice, Potentials], mentions: tuple[Lattice, Potentials], constraints: Sequence[Constraint],
    span: tuple[int, int], weight: float = 1.0,
) -> list[Joint]:  # fmt: skip
    """Every pair of words and mentions of the characters ``span`` that keeps to the constraints."""
    first, end = span
    types = mentions[0].types
    allowed = allowed_pairs(constraints, types)
    sides = [
        [(tags, sequence_score(*side, tags, first)) for tags in sequences(names, chain.follows, end - first)]
        for side, names, chain in ((words, WORD_TAGS, WORDS), (mentions, mention_tags(types), MENTIONS))
    ]
    return [
        Joint(one + weight * two, w, m)
        for w, one in sides[0]
        for m, two in sides[1]
        if all(allowed[a, b] for a, b in zip(w, m, strict=True))
    ]
