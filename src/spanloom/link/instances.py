"""Documents as the arrays that the search reads, and their gold derivations."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from spanloom.document import Batch
from spanloom.files.scratch import MEMORY, Growing, Scratch
from spanloom.hashing import Int64
from spanloom.hypergraph import Potentials
from spanloom.link import span_features
from spanloom.link.arrays import Data, Forms
from spanloom.link.columns import language_ranges
from spanloom.link.evidence import find_evidence
from spanloom.link.learning import GoldDerivations, History, label_of
from spanloom.link.names import Concepts
from spanloom.link.proposals import NAME_CLOSE, Proposer
from spanloom.model.corpus import Gold, Lost, lost
from spanloom.model.structured import LinearModel
from spanloom.parallel import SERIAL, Executor
from spanloom.sparse import found_in

GAP = "it has a gap, and a linker holds no gaps"
OVERLAP = "it overlaps a longer one, and a linker holds no overlaps"
LONG = "it has more tokens than the linker looks at"


_POINTERS: Final = ("offsets", "span_ptr", "cand_ptr")
_COUNTED: Final = {
    "offsets": "tokens", "span_ptr": "spans", "cand_ptr": "candidates", "document": "documents", "first": "tokens",
    "end": "tokens",
}  # fmt: skip
"""Arrays that number what others hold -> what they number."""


class Instance(NamedTuple):
    """Sentences as the search reads them.

    Args:
        data: arrays.
        first, end: (S,) tokens of the spans, counted over all documents.
    """

    data: Data
    first: Int64
    end: Int64

    def spans_at(self, first: Int64, end: Int64) -> Int64:
        """Return the number of each span of some first tokens and ends, -1 for other ranges; spans ascend."""
        width = int(max((self.end - self.first).max(initial=0), (end - first).max(initial=0))) + 1
        own, sought = (begin * width + stop - begin for begin, stop in ((self.first, self.end), (first, end)))
        return found_in(own, sought)


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
        scores = self.tagger.scorer.score(batch, run) if potentials is None else potentials
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


def join(instances: Iterable[Instance], scratch: Scratch = MEMORY) -> Instance:
    """Several instances, one after the other, as one.

    Args:
        instances: one at least; each may be made when it is its turn.
        scratch: where the arrays are made.
    """
    growing: dict[str, tuple[Growing, tuple[int, ...]]] = {}  # with the sizes of the axes behind the first
    base = dict.fromkeys(_COUNTED.values(), 0)
    for data, first, end in instances:
        for name, values in {**data._asdict(), "first": first, "end": end}.items():
            kept = values[1:] if name in _POINTERS and name in growing else values  # from where the one before ends
            moved = kept + base[_COUNTED[name]] if name in _COUNTED else kept
            if name not in growing:
                growing[name] = scratch.growing(f"spans-{name}", values.dtype), values.shape[1:]
            growing[name][0].append(moved.reshape(-1))
        base["tokens"] += len(data.words)
        base["documents"] += int(data.document.max(initial=-1)) + 1
        base["spans"] += len(data.span_first)
        base["candidates"] += len(data.cand_concept)
        scratch.release()
    # a size of 0 leaves that of the first axis open
    *arrays, first, end = (
        array.reshape(len(array) // max(1, math.prod(form)), *form)
        for array, form in ((one.array(), form) for one, form in growing.values())
    )
    return Instance(Data._make(arrays), first, end)


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
    found: list[dict[int, int]] = [{} for _ in batch.documents]
    counts = Counter[str](mentions=mentions.total)
    gone = list(mentions.lost)
    table = mentions.table
    begins = data.offsets[table.sentence]
    spans = instance.spans_at(begins + table.first[table.ptr[:-1]], begins + table.end[table.ptr[1:] - 1]).tolist()
    rows = sorted(enumerate(table.rows()), key=lambda row: row[1][2][0][0] - row[1][2][-1][1])
    for i, (sentence, kind, ranges) in rows:
        owner = mentions.owner(i)
        begin = int(data.offsets[sentence])
        first, end = begin + ranges[0][0], begin + ranges[0][1]
        if len(ranges) > 1 or end - first > longest or labels[first:end].any():
            gone.append(lost(*owner, GAP if len(ranges) > 1 else LONG if end - first > longest else OVERLAP))
            continue
        labels[first], labels[first + 1 : end] = label_of(kind, True), label_of(kind, False)
        concept = concepts.number(owner[1].concepts)
        span = spans[i]
        own = slice(*data.cand_ptr[span : span + 2].tolist()) if span >= 0 else slice(0)
        candidates = data.cand_concept[own].tolist()
        choices[end - 1] = candidates.index(concept) if concept in candidates else len(candidates)
        counts["proposed"] += span >= 0
        counts["concepts"] += concept >= 0
        if concept >= 0:
            seen = found[data.document[sentence]]
            seen[concept] = min(seen.get(concept, sentence), sentence)
            counts["linked"] += concept in candidates
    history = History(
        np.cumsum([0, *map(len, found)], dtype=np.int64),
        np.array([sentence for seen in found for sentence in seen.values()], np.int64),
        np.array([concept for seen in found for concept in seen], np.int64),
    )
    return Derivations(GoldDerivations(labels, choices), history, tuple(gone), dict(counts))
