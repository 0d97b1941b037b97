"""Enumeration of words and mentions of short sentences: the oracle of all decoders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from spanloom.hypergraph import Potentials
from spanloom.model.structured import StructuredModel
from spanloom.segment.chains import MENTIONS, WORDS, Chains, Scored, product_model, taggings
from spanloom.structures.product import MENTION_CHAIN, WORD_CHAIN, WORD_TAGS, Constraint, allowed_pairs

TYPES = ("drug", "long name")


class Joint(NamedTuple):
    """One answer for a sentence."""

    score: float
    words: tuple[int, ...]
    mentions: tuple[int, ...]


def untrained(types: Sequence[str] = TYPES) -> Chains:
    """The two chains that stand alone, without weights."""
    nothing: Any = None
    tagged = taggings(types, (), pairs=False).items()
    models = {name: StructuredModel.build(own, "subgraphs", kinds, nothing) for name, (own, kinds) in tagged}
    return Chains(nothing, models)


def scored_at_random(
    chains: Chains, length: int, random: np.random.Generator, scale: float = 2.0
) -> tuple[Scored, Scored]:
    """Words and mentions with potentials."""
    words, mentions = (
        Scored(chains.models[name], random_potentials(chains.models[name], length, random, scale))
        for name in (WORDS, MENTIONS)
    )
    return words, mentions


def random_potentials(
    model: StructuredModel[Any], length: int, random: np.random.Generator, scale: float = 2.0
) -> Potentials:
    template = model.engine.template
    roles = random.normal(0, scale, (length, len(template.roles), 1)).astype(np.float32)
    return Potentials(roles, random.normal(0, scale / 2, (len(template.constants), 1)).astype(np.float32))


def joined(
    chains: Chains, sides: tuple[Scored, Scored], constraints: Sequence[Constraint], weight: float = 1
) -> Scored:
    """The product."""
    model = product_model(chains, tuple(constraints))
    scorer = replace(model.scorer, weight=weight)
    return Scored(replace(model, scorer=scorer), scorer.join(*(side.potentials for side in sides)))


def sequences(tags: Sequence[str], follows: object, length: int) -> Iterator[tuple[int, ...]]:
    """Every sequence of tags that a chain allows."""
    for numbers in product(range(len(tags)), repeat=length):
        names = ["O", *(tags[i] for i in numbers), "O"]
        if all(follows(a, b) for a, b in pairwise(names)):  # type: ignore[operator]
            yield numbers


def sequence_score(tags: Sequence[str], side: Scored, numbers: Sequence[int], at: int = 0) -> float:
    potentials = side.potentials
    number = {name: i for i, name in enumerate(side.model.engine.template.constants)}
    total = sum(float(potentials.roles[at + i, tag, 0]) for i, tag in enumerate(numbers))
    for one, two in pairwise(numbers):
        total += float(potentials.constants[number[f"{tags[one]} {tags[two]}"], 0])
    return total


def enumerate_joint(
    words: Scored, mentions: Scored, constraints: Sequence[Constraint], span: tuple[int, int], weight: float = 1.0
) -> list[Joint]:
    """Every pair of words and mentions of the characters ``span`` that keeps to the constraints."""
    first, end = span
    types = mentions.model.types
    allowed = allowed_pairs(constraints, types)
    sides = [
        [(tags, sequence_score(names, side, tags, first)) for tags in sequences(names, chain.follows, end - first)]
        for side, names, chain in (
            (words, WORD_TAGS, WORD_CHAIN),
            (mentions, MENTION_CHAIN.tags(types), MENTION_CHAIN),
        )
    ]
    return [
        Joint(one + weight * two, w, m)
        for w, one in sides[0]
        for m, two in sides[1]
        if all(allowed[a, b] for a, b in zip(w, m, strict=True))
    ]
