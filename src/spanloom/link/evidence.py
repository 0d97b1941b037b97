"""Spans of a text that may be mentions, with their probabilities from a tagging chain that is trained first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spanloom.hypergraph import Floats, Ints, Potentials
from spanloom.model.structured import LinearModel
from spanloom.parallel import SERIAL, Executor
from spanloom.sparse import places_of
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
    expected = tagger.engine.expectations(tagger.penalized(potentials), offsets, run).roles[:, :, 0]
    roles = {name: i for i, name in enumerate(tagger.engine.template.roles)}
    found: list[list[Ints]] = []
    limits = np.repeat(offsets[1:], np.diff(offsets))  # where each token's sentence ends
    for number, name in enumerate(tagger.types):  # spans whose first token begins a mention, and whose last ends one
        begins = expected[:, [roles[f"B-{name}"], roles[f"U-{name}"]]].sum(1)
        ends = expected[:, [roles[f"L-{name}"], roles[f"U-{name}"]]].sum(1)
        starts = np.flatnonzero(begins >= least)
        sizes = np.minimum(longest, limits[starts] - starts)
        last, start = places_of(starts, sizes)[0], np.repeat(starts, sizes)
        kept = ends[last] >= least
        found.append([start[kept], last[kept] + 1, np.full(kept.sum(), number)])
    first, end, kind = (np.concatenate(column).astype(np.int64) for column in zip(*found, strict=True))
    order = np.lexsort((kind, end, first))
    sentence = np.searchsorted(offsets, first[order], side="right") - 1
    first, end, kind = first[order] - offsets[sentence], end[order] - offsets[sentence], kind[order]
    probability = np.zeros(len(first))
    # Where the chain is flat, as of 50,000 brackets, there are a million spans: their paths would take much memory
    for begin in range(0, len(first), _TOGETHER):
        rows = slice(begin, begin + _TOGETHER)
        table = contiguous_table(sentence[rows], kind[rows], first[rows], end[rows])
        probability[rows] = tagger.probabilities(potentials, offsets, table, run, calibrated=False)
    keep = probability >= least
    return Evidence(sentence[keep], first[keep], end[keep], kind[keep], probability[keep])
