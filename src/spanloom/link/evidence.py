"""Spans of a text that may be mentions, with their probabilities from a tagging chain that is trained first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spanloom.hypergraph import Floats, Ints, Potentials
from spanloom.model.structured import LinearModel
from spanloom.parallel import SERIAL, Executor
from spanloom.structures.base import contiguous_table

_TOGETHER = 1 << 19  # spans whose probabilities are found at once; each time the sentence is summed again


class Evidence(NamedTuple):
    """S spans that a recognizer holds possible, ordered by sentence, first token, end and type.

    Args:
        sentence: (S,) counted over all documents.
        first, end: (S,) tokens of the sentence.
        kind: (S,) the type's number.
        probability: (S,) exact marginals.
    """

    sentence: Ints
    first: Ints
    end: Ints
    kind: Ints
    probability: Floats


def find_evidence(
    tagger: LinearModel, potentials: Potentials, offsets: Ints, least: float, longest: int, run: Executor = SERIAL
) -> Evidence:
    """The spans whose marginal probability reaches ``least``.

    Args:
        tagger: of the structure ``bilou``.
        potentials: its scores.
        offsets: (N + 1,) first token of each sentence.
        least: above 0.
        longest: tokens of a span, at most.
        run: how pieces of the work are run; the result does not depend on it.
    """
    spans = _possible(tagger, potentials, offsets, least, longest, run)
    # Where the chain is flat, as of 50,000 brackets, there are a million spans: their paths would take much memory
    for start in range(0, len(spans.sentence), _TOGETHER):
        rows = slice(start, start + _TOGETHER)
        table = contiguous_table(spans.sentence[rows], spans.kind[rows], spans.first[rows], spans.end[rows])
        spans.probability[rows] = tagger.probabilities(potentials, offsets, table, run, calibrated=False)
    keep = spans.probability >= least
    probability = spans.probability[keep]
    return Evidence(spans.sentence[keep], spans.first[keep], spans.end[keep], spans.kind[keep], probability)


def _possible(
    tagger: LinearModel, potentials: Potentials, offsets: Ints, least: float, longest: int, run: Executor
) -> Evidence:
    """The spans whose first token begins a mention, and whose last token ends one, with such a probability."""
    expected = tagger.engine.expectations(tagger.penalized(potentials), offsets, run).roles[:, :, 0]
    roles = {name: i for i, name in enumerate(tagger.engine.template.roles)}
    found: list[list[Ints]] = []
    limits = np.repeat(offsets[1:], np.diff(offsets))  # where each token's sentence ends
    for kind, name in enumerate(tagger.types):
        begins = expected[:, [roles[f"B-{name}"], roles[f"U-{name}"]]].sum(1)
        ends = expected[:, [roles[f"L-{name}"], roles[f"U-{name}"]]].sum(1)
        starts = np.flatnonzero(begins >= least)
        for size in range(1, longest + 1):
            inside = starts[starts + size <= limits[starts]]
            inside = inside[ends[inside + size - 1] >= least]
            found.append([inside, inside + size, np.full(len(inside), kind)])
    first, end, kinds = (np.concatenate(column).astype(np.int64) for column in zip(*found, strict=True))
    order = np.lexsort((kinds, end, first))
    first, end, kinds = first[order], end[order], kinds[order]
    sentence = np.searchsorted(offsets, first, side="right") - 1
    begin = offsets[sentence]
    return Evidence(sentence, first - begin, end - begin, kinds, np.zeros(len(first)))
