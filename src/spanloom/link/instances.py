"""Documents as the arrays that the search reads, and their gold derivations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spanloom.document import Batch
from spanloom.hashing import Int64
from spanloom.hypergraph import Potentials
from spanloom.link import span_features
from spanloom.link.arrays import Data, Forms
from spanloom.link.columns import language_ranges
from spanloom.link.evidence import find_evidence
from spanloom.link.learning import GoldDerivations, History
from spanloom.link.names import Concepts
from spanloom.link.proposals import NAME_CLOSE, Proposer
from spanloom.link.transitions import label_of
from spanloom.model.corpus import Gold, Lost, lost
from spanloom.model.structured import LinearModel
from spanloom.parallel import SERIAL, Executor

GAP = "it has a gap, and a linker holds no gaps"
OVERLAP = "it overlaps a longer one, and a linker holds no overlaps"
LONG = "it has more tokens than the linker looks at"


class Instance(NamedTuple):
    """Sentences as the search reads them.

    Args:
        data: arrays.
        first, end: (S,) tokens of the spans, counted over all documents.
    """

    data: Data
    first: Int64
    end: Int64

    def number(self) -> dict[tuple[int, int], int]:
        """The number of each span."""
        return {pair: n for n, pair in enumerate(zip(self.first.tolist(), self.end.tolist(), strict=True))}


@dataclass(frozen=True)
class Reader:
    """Turns batches with their columns into instances.

    Args:
        tagger: gives probabilities of spans.
        proposer: gives candidates.
        forms: the concepts' names.
        least: probability of a span that is looked at.
        evidence: whether features look at probabilities.
    """

    tagger: LinearModel
    proposer: Proposer
    forms: Forms
    least: float
    evidence: bool

    def read(
        self, batch: Batch, potentials: Potentials | None = None, given: tuple[Int64, Int64] | None = None,
        gold: Int64 | None = None, run: Executor = SERIAL,
    ) -> Instance:  # fmt: skip
        """An instance.

        Args:
            batch: with columns.
            potentials: the tagger's scores, if they are at hand.
            given: first tokens and ends of spans that must be among the proposals.
            gold: concepts that must be among their candidates.
            run: how pieces of the work are run; the result does not depend on it.
        """
        offsets, document = batch.sentences, np.repeat(np.arange(len(batch.documents)), np.diff(batch.firsts))
        scores = self.tagger.score(batch, run) if potentials is None else potentials
        evidence = find_evidence(self.tagger, scores, offsets, self.least, self.proposer.longest, run)
        found = self.proposer.propose(batch, evidence, given, gold)
        sentence = np.repeat(np.arange(len(offsets) - 1), np.diff(found.ptr))
        own = document[sentence]
        begin = offsets[sentence]
        known = np.zeros(len(found.first), np.uint8)
        owner = np.repeat(np.arange(len(found.first)), np.diff(found.cand_ptr))
        known[owner[found.found.flags & (1 << NAME_CLOSE) != 0]] = 1
        candidates, nils = span_features.candidate_keys(found, own, self.proposer.memory, self.forms, self.evidence)
        data = Data(
            offsets, document, found.runs.low, found.runs.endings, found.runs.shapes, language_ranges(batch),
            found.ptr, (found.first - begin).astype(np.int32), (found.end - begin).astype(np.int32), known,
            span_features.span_keys(found, own, self.evidence), nils, found.cand_ptr,
            found.found.concept, found.found.way.astype(np.uint8), candidates,
        )  # fmt: skip
        return Instance(data, found.first, found.end)


def join(instances: Sequence[Instance]) -> Instance:
    """Several instances, one after the other, as one."""
    if len(instances) == 1:
        return instances[0]
    rows = [instance.data for instance in instances]
    tokens = _starts([len(data.words) for data in rows])
    documents = _starts([int(data.document.max(initial=-1)) + 1 for data in rows])
    spans = _starts([len(data.span_first) for data in rows])
    candidates = _starts([len(data.cand_concept) for data in rows])
    moved = {
        "offsets": _pointers([data.offsets for data in rows], tokens),
        "span_ptr": _pointers([data.span_ptr for data in rows], spans),
        "cand_ptr": _pointers([data.cand_ptr for data in rows], candidates),
        "document": np.concatenate([data.document + at for data, at in zip(rows, documents, strict=False)]),
    }
    data = Data(*(
        moved[name] if name in moved else np.concatenate([getattr(data, name) for data in rows])
        for name in Data._fields
    ))  # fmt: skip
    first, end = (
        np.concatenate([getattr(instance, name) + at for instance, at in zip(instances, tokens, strict=False)])
        for name in ("first", "end")
    )
    return Instance(data, first, end)


def _starts(sizes: Sequence[int]) -> list[int]:
    return [0, *np.cumsum(sizes).tolist()]


def _pointers(parts: Sequence[Int64], starts: Sequence[int]) -> Int64:
    return np.concatenate(
        [*(part[:-1] + at for part, at in zip(parts, starts, strict=False)), parts[-1][-1:] + starts[-2]]
    )


class Derivations(NamedTuple):
    """The gold derivations of an instance.

    Args:
        gold: labels and choices.
        history: the concepts that each document is linked to.
        lost: mentions that no derivation holds.
        counts: how many mentions there are, are ``proposed`` and have their concept among the candidates (``linked``).
    """

    gold: GoldDerivations
    history: History
    lost: tuple[Lost, ...]
    counts: dict[str, int]


def derive(batch: Batch, instance: Instance, types: Sequence[str], concepts: Concepts, longest: int) -> Derivations:
    """The gold derivations of a batch.

    Of mentions that overlap the longest is kept. An entity whose concept is not among the candidates is linked to
    nothing.
    """
    data = instance.data
    mentions = Gold(batch, types)
    labels = np.zeros(len(data.words), np.int32)
    choices = np.full(len(labels), -1, np.int32)
    number = instance.number()
    found: list[dict[int, int]] = [{} for _ in batch.documents]
    counts = Counter[str](mentions=mentions.total)
    gone = list(mentions.lost)
    rows = sorted(enumerate(mentions.table.rows()), key=lambda row: row[1][2][0][0] - row[1][2][-1][1])
    for i, (sentence, kind, ranges) in rows:
        owner = mentions.owner(i)
        begin = int(data.offsets[sentence])
        first, end = begin + ranges[0][0], begin + ranges[0][1]
        reason = (
            GAP if len(ranges) > 1 else LONG if end - first > longest else OVERLAP if labels[first:end].any() else ""
        )
        if reason:
            gone.append(lost(*owner, reason))
            continue
        labels[first], labels[first + 1 : end] = label_of(kind, True), label_of(kind, False)
        concept = concepts.number(owner[1].concepts)
        span = number.get((first, end), -1)
        choices[end - 1] = _choice(data, span, concept)
        counts["proposed"] += span >= 0
        counts["concepts"] += concept >= 0
        if concept >= 0:
            seen = found[data.document[sentence]]
            seen[concept] = min(seen.get(concept, sentence), sentence)
            counts["linked"] += span >= 0 and choices[end - 1] < data.cand_ptr[span + 1] - data.cand_ptr[span]
    history = History(
        np.array(_starts([len(seen) for seen in found]), np.int64),
        np.array([sentence for seen in found for sentence in seen.values()], np.int64),
        np.array([concept for seen in found for concept in seen], np.int64),
    )
    plain = {name: int(count) for name, count in counts.items()}
    return Derivations(GoldDerivations(labels, choices), history, tuple(gone), plain)


def _choice(data: Data, span: int, concept: int) -> int:
    """Return the number of a concept among the candidates of a span; one past the last if it is not a candidate."""
    if span < 0:
        return 0
    candidates = data.cand_concept[data.cand_ptr[span] : data.cand_ptr[span + 1]].tolist()
    return candidates.index(concept) if concept in candidates else len(candidates)
