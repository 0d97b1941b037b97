"""Structures that annotation allows, where one mask cannot express them.

A mask lists the hyperedges that may be used, so the structures that it allows are a product over tokens and types. The
claims that a mention is not there, that one of two is, or that it has one of several types, cannot be expressed so, but
as a sum and difference of masks: the structures without a mention are all less those with it, and the types of a
sentence that has neither of two are those of each type separately. A sentence with such a claim has therefore several
*versions*, which are masks, and the sum over the allowed structures is a sum of products, over types, of signed sums
over versions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.errors import UsageError
from spanloom.hypergraph import Engine, Expectations, Floats, Ints, Mask, Potentials
from spanloom.learn.target import TargetCounts, tokens_of
from spanloom.parallel import SERIAL, Executor
from spanloom.sparse import places_of

_LEAST = 1e-5  # of the structures of a version, which are taken to be left when those with a mention are taken away


class Readings(NamedTuple):
    """The structures that the annotation of N sentences allows, with V versions of some of them, and J terms.

    The sum of a sentence's terms is its sum over the structures that are allowed. A term is a product over types, and
    its factor of a type is a signed sum over the versions of this type that its parts name. No factor is 0 whatever the
    scores.

    Args:
        allowed: (T, E, K) the hyperedges of the structures of each sentence, but for those with versions.
        owner: (V,) the sentence of each version, sorted.
        offsets: (V + 1,) first token of each version.
        masks: (T', E, K) the hyperedges that each version allows.
        term: (J,) the sentence of each term, sorted.
        part: (P, 4) of each part of a factor its term, type, version, and sign.
    """

    allowed: Mask
    owner: Ints
    offsets: Ints
    masks: Mask
    term: Ints
    part: Ints

    @classmethod
    def of(cls, allowed: Mask) -> Readings:
        """Return the readings of one mask."""
        none = np.zeros(0, np.int64)
        return cls(allowed, none, np.zeros(1, np.int64), allowed[:0], none, np.zeros((0, 4), np.int64))

    def take(self, sentences: Ints, tokens: Ints) -> Readings:
        """Return those of some sentences, in their order, with their tokens."""
        place = np.full(max(int(max(self.owner.max(initial=-1), sentences.max(initial=-1))) + 1, 1), -1, np.int64)
        place[sentences] = np.arange(len(sentences))
        versions, terms = (_in_order(place[column]) for column in (self.owner, self.term))
        offsets, rows = tokens_of(self.offsets, versions)
        of_version, of_term = (
            _inverse(chosen, len(old)) for chosen, old in ((versions, self.owner), (terms, self.term))
        )
        part = self.part[of_term[self.part[:, 0]] >= 0]
        part = np.stack([of_term[part[:, 0]], part[:, 1], of_version[part[:, 2]], part[:, 3]], axis=1)
        return Readings(
            self.allowed[tokens], place[self.owner[versions]], offsets, self.masks[rows], place[self.term[terms]], part
        )

    def expectations(
        self, engine: Engine, potentials: Potentials, offsets: Ints, run: Executor = SERIAL
    ) -> Expectations:
        """Compute expected counts over the allowed structures, as `spanloom.hypergraph.Engine.expectations` does.

        The log-partition function of a sentence with versions is that of all types together, in equal parts.
        """
        found = engine.expectations(potentials, offsets, run, allowed=self.allowed)
        if not len(self.owner):
            return found
        sizes = np.diff(self.offsets)
        rows, _ = places_of(offsets[self.owner], sizes)
        scores = Potentials(potentials.roles[rows], potentials.constants)
        each = engine.expectations(scores, self.offsets, run, allowed=self.masks)
        shares, totals = self.shares(each.log_partition)
        # counts of sentences with versions are the versions', each with its share
        roles, constants, log_partition = found.roles.copy(), found.each.copy(), found.log_partition.copy()
        roles[rows], constants[self.owner] = 0.0, 0.0
        of_tokens, of_versions = np.repeat(shares, sizes, axis=0)[:, None], shares[:, None]
        np.add.at(roles, rows, (of_tokens * np.where(of_tokens != 0, each.roles, 0.0)).astype(np.float32))
        np.add.at(constants, self.owner, of_versions * np.where(of_versions != 0, each.each, 0.0))
        log_partition[np.unique(self.owner)] = totals[:, None] / shares.shape[1]
        return Expectations(log_partition, np.maximum(roles, 0.0), np.maximum(constants, 0.0))

    def shares(self, log_partition: Floats) -> tuple[Floats, Floats]:
        """Return what share each version has in the counts of its sentence, and log-partition functions of sentences.

        Args:
            log_partition: (V, K) of the versions.

        Returns:
            (V, K), which is 1 when summed over the versions of a sentence and may be below 0 for some of them; and of
            each sentence with versions, in their order.
        """
        signed, most, largest = self._signed(log_partition)
        place, count = self._place(log_partition.shape[1])
        factors = np.maximum(np.bincount(place, signed, count), _LEAST * largest).reshape(-1, log_partition.shape[1])
        of_term = np.searchsorted(np.unique(self.owner), self.term)
        total = np.bincount(of_term, factors.prod(1), len(most))
        # of each factor the product of all others of its term
        ones = np.ones((len(factors), 1))
        before = np.hstack([ones, factors[:, :-1].cumprod(1)])
        behind = np.hstack([factors[:, :0:-1].cumprod(1)[:, ::-1], ones])
        others = before * behind / total[of_term, None]
        to = self.part[:, 2] * log_partition.shape[1] + self.part[:, 1]
        shares: Floats = np.bincount(to, signed * others.ravel()[place], log_partition.size).astype(float)
        logarithms: Floats = np.log(total) + most.sum(1)
        return shares.reshape(log_partition.shape), logarithms

    def factors(self, log_partition: Floats) -> Floats:
        """Return (J, K) what is left of each factor, as a share of its parts' absolute values.

        Args:
            log_partition: (V, K) of the versions.
        """
        signed, _, largest = self._signed(log_partition)
        place, count = self._place(log_partition.shape[1])
        left = np.bincount(place, signed, count) / np.where(largest > 0, largest, 1.0)
        found: Floats = left.reshape(-1, log_partition.shape[1])
        return found

    def _place(self, width: int) -> tuple[Ints, int]:
        """Return the number of each part's factor, and how many there are."""
        return self.part[:, 0] * width + self.part[:, 1], len(self.term) * width

    def _signed(self, log_partition: Floats) -> tuple[Floats, Floats, Floats]:
        """Return (P,) the parts as shares of the largest of (S, K) sentences, its logarithm, and absolute sums."""
        width = log_partition.shape[1]
        sentences, number = np.unique(self.owner, return_inverse=True)
        most: Floats = np.full((len(sentences), width), -np.inf)
        np.maximum.at(most, number, log_partition)
        most = np.where(np.isfinite(most), most, 0.0)
        _, kind, version, sign = self.part.T
        signed: Floats = sign * np.exp(log_partition - most[number])[version, kind]
        place, count = self._place(width)
        largest: Floats = np.bincount(place, np.abs(signed), count).astype(float)
        return signed, most, largest


@dataclass(frozen=True)
class ReadingsTarget:
    """Partial annotation: any of the structures that it allows; see `AllowedTarget`.

    Args:
        engine: of the structures.
        offsets: (N + 1,) first token of each sentence.
        readings: of these sentences.
    """

    engine: Engine
    offsets: Ints
    readings: Readings

    @property
    def allowed(self) -> Mask:
        """(T, E, K) true where a hyperedge may be picked, but for sentences with versions."""
        return self.readings.allowed

    @property
    def shape(self) -> tuple[int, int, int, int, int]:
        """(N, T, R, C, K)."""
        template, tokens = self.engine.template, len(self.readings.allowed)
        types = self.readings.allowed[0].size // len(template.edges) if tokens else 0
        return len(self.offsets) - 1, tokens, len(template.roles), len(template.constants), types

    def target_counts(
        self, potentials: Potentials, sentences: Ints | None = None, tokens: Ints | None = None
    ) -> TargetCounts:
        """Return what is wanted of some sentences; see `spanloom.learn.Target`."""
        offsets, own = self.offsets, self.readings
        if sentences is not None and tokens is not None:
            offsets, _ = tokens_of(self.offsets, sentences)
            own = own.take(sentences, tokens)
        found = own.expectations(self.engine, potentials, offsets)
        return TargetCounts(found.roles, found.constants, (float(found.log_partition.sum()), 0.0))

    def take(self, sentences: Ints) -> ReadingsTarget:
        """Return the target of some sentences."""
        own, tokens = tokens_of(self.offsets, sentences)
        return ReadingsTarget(self.engine, own, self.readings.take(sentences, tokens))


class AllowedTarget(ReadingsTarget):
    """Partial or latent annotation: any of the structures that a mask allows.

    The loss is log Z minus log Z of what is allowed: minus the log-probability that the structure is one of these. It
    is not convex, so where training begins matters; and where nothing speaks against mentions, it calls everything one
    (see `spanloom.learn.complete`). It is what a structure needs that writes some mentions in several ways.

    Args:
        engine: of the structures.
        offsets: (N + 1,) first token of each sentence.
        allowed: (T, E, K) true where a hyperedge may be picked.

    Raises:
        UsageError: a sentence in which every structure is forbidden.

    >>> from spanloom.hypergraph import SubgraphEngine
    >>> from spanloom.structures import STRUCTURES
    >>> engine, offsets = SubgraphEngine(STRUCTURES["separators"].template(["x"])), np.array([0, 3])
    >>> scores = Potentials(np.ones((3, len(engine.template.roles), 1), np.float32), np.zeros((0, 1), np.float32))
    >>> free = AllowedTarget(engine, offsets, np.ones((3, len(engine.template.edges), 1), bool))
    >>> bool((free.target_counts(scores).roles == engine.expectations(scores, offsets).roles).all())  # nothing to learn
    True
    """

    def __init__(self, engine: Engine, offsets: Ints, allowed: Mask) -> None:
        super().__init__(engine, offsets, Readings.of(allowed))
        _, tokens, roles, constants, types = self.shape
        zeros = Potentials(np.zeros((tokens, roles, types), np.float32), np.zeros((constants, types), np.float32))
        none = np.argwhere(np.isneginf(engine.log_partition(zeros, offsets, allowed=allowed)))
        if len(none):
            sentence, kind = none[0].tolist()
            raise UsageError(
                f"no structure of sentence {sentence} and type {kind} is allowed; what is annotated contradicts itself"
            )


def _in_order(place: Ints) -> Ints:
    """Return the numbers of those that have a place, in the order of places."""
    order = np.argsort(place, kind="stable")
    return order[place[order] >= 0]


def _inverse(chosen: Ints, size: int) -> NDArray[np.int64]:
    """Return the place of each of ``size`` numbers among those that are chosen, or -1.

    >>> _inverse(np.array([2, 0]), 3).tolist()
    [1, -1, 0]
    """
    found = np.full(size, -1, np.int64)
    found[chosen] = np.arange(len(chosen))
    return found
