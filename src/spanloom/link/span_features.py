"""The features of spans and of candidates, as keys: what the models of the paper do not have.

Everything here is known before the search, so it is summed once a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from spanloom.hashing import Int64, UInt64, mixed
from spanloom.link.kernels_features import Forms
from spanloom.link.kernels_spans import rivals
from spanloom.link.names import Memory
from spanloom.link.proposals import NAME_CLOSE, Proposals

_LOGITS = tuple(np.arange(-4.4, 7.0, 0.7).tolist())
_COARSE = (0.001, 0.05, 0.2, 0.5, 0.8, 0.95)
_COUNTS = (1, 2, 3, 5, 10, 30)
_SHARES = (1e-6, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999)
_OF_SPANS, _OF_EVIDENCE = 6, 15  # columns of `_span_keys`
_SIMILAR = (1e-6, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.999)


def rows(*columns: UInt64) -> UInt64:
    """Columns of keys as a matrix."""
    return np.ascontiguousarray(np.stack(columns, -1))


def span_keys(proposals: Proposals, document: Int64, evidence: bool) -> UInt64:
    """(S, K, .) features of spans.

    Args:
        proposals: the spans.
        document: (S,) number of each span's document.
        evidence: whether the probabilities of the tagging chain may be looked at.
    """
    spans, types = proposals.probability.shape
    if not types or not spans:
        return np.zeros((spans, types, 1), np.uint64)
    keys = np.empty((spans, types, _OF_SPANS + _OF_EVIDENCE * evidence), np.uint64)
    for kind in range(types):
        # one column after the other: a long text has so many spans that all of them twice would be much
        for i, column in enumerate(_span_keys(proposals, document, kind, evidence)):
            keys[:, kind, i] = column
    return keys


def _span_keys(p: Proposals, document: Int64, kind: int, evidence: bool) -> Iterator[UInt64]:
    """The (S,) columns of one type."""
    probability = p.probability[:, kind]
    size = np.minimum(p.end - p.first, 6)
    way, share, count = _best(p)
    exact, close = _ratio(p, 0), _ratio(p, 1)
    exact_count, close_count = buckets(p.occurrences[0], _COUNTS), buckets(p.occurrences[1], _COUNTS)
    yield mixed(1, exact, exact_count)
    yield mixed(2, close, close_count)
    yield mixed(3, way, size)
    yield mixed(4, way, count, share)
    yield mixed(5, way, close)
    yield mixed(6, p.expanded, way)
    if evidence:
        fine, coarse = levels(probability), buckets(probability, _COARSE)
        long = np.where(p.long[:, kind] < 0, 0, 1 + levels(p.long[:, kind]))
        rival = rivals(p.ptr, p.first, p.end, probability)
        again = buckets(elsewhere(document, p.exact, p.first, probability), _COARSE)
        folded = buckets(elsewhere(document, p.close, p.first, probability), _COARSE)
        linked = buckets(elsewhere(document, _top(p), p.first, probability), _COARSE)
        yield mixed(11, fine)
        yield mixed(12, fine, way)
        yield mixed(13, coarse, exact)
        yield mixed(14, coarse, close, way)
        yield mixed(15, again, coarse)
        yield mixed(16, folded, coarse)
        yield mixed(17, linked, coarse)
        yield mixed(18, p.expanded, coarse)
        yield mixed(19, levels(rival), coarse)
        yield mixed(20, levels(rival), fine)
        yield mixed(21, coarse, size)
        yield mixed(22, linked, folded, coarse, way)
        yield mixed(23, long)
        yield mixed(24, long, coarse)
        yield mixed(25, long, exact, way)


def candidate_keys(
    p: Proposals, document: Int64, memory: Memory, forms: Forms, evidence: bool
) -> tuple[UInt64, UInt64]:
    """(C, .) features of candidates, and (S, .) of there being none."""
    owner = np.repeat(np.arange(len(p.first)), np.diff(p.cand_ptr))
    found = p.found
    rank = np.arange(len(owner)) - p.cand_ptr[owner]
    top, _, count = _best(p)
    way, share = found.way.astype(np.int64), buckets(found.share, _SHARES)
    similar = buckets(found.similarity, _SIMILAR)
    best_similar = np.zeros(len(p.first), np.float32)
    np.maximum.at(best_similar, owner, found.similarity)
    margin = buckets(best_similar[owner] - found.similarity, (1e-6, 0.05, 0.1, 0.2))
    prior = buckets(memory.prior[found.concept], (1, 2, 5, 10, 20, 50))
    head = (forms.last[found.concept] == p.runs.low[p.end - 1][owner]).astype(np.int64)
    start = (forms.first[found.concept] == p.runs.low[p.first][owner]).astype(np.int64)
    size = np.minimum(p.end - p.first, 5)[owner]
    chance = p.probability.max(1, initial=0)
    columns = [
        mixed(31, way, share),
        mixed(32, found.flags),
        mixed(33, np.minimum(rank, 6), way),
        mixed(34, similar, way),
        mixed(35, margin, np.minimum(rank, 3), way),
        mixed(36, prior, way),
        mixed(37, found.concept),
        mixed(38, found.concept, p.close[owner]),
        mixed(39, found.preferred, way, count[owner]),
        mixed(40, way, top[owner], np.minimum(rank, 3)),
        mixed(41, head, start, size, way),
        mixed(42, p.expanded[owner], way, share),
        mixed(43, found.concept, p.runs.low[p.end - 1][owner]),
        mixed(44, found.flags, prior, np.minimum(rank, 3)),
        mixed(45, similar, margin, head),
    ]
    support = buckets(supporters(document[owner], found.concept, way <= NAME_CLOSE, chance[owner], owner), (1, 2, 4))
    columns.append(mixed(46, support, way, np.minimum(rank, 3)))
    nothing = buckets(memory.nil_share(p.close), _SHARES)
    best = buckets(best_similar, _SIMILAR)
    nils = [
        mixed(61, top),
        mixed(62, top, best),
        mixed(63, nothing, top),
        mixed(64, p.close),
        mixed(65, count, top),
        mixed(66, np.minimum(p.end - p.first, 5), top),
        mixed(67, p.runs.low[p.end - 1]),
    ]
    if evidence:
        coarse = buckets(chance, _COARSE)
        columns += [mixed(51, coarse[owner], way), mixed(52, coarse[owner], similar, np.minimum(rank, 3))]
        nils += [mixed(71, coarse, top), mixed(72, coarse, best)]
    return rows(*columns), rows(*nils)


def buckets(values: NDArray[np.generic], edges: tuple[float, ...]) -> Int64:
    """(N,) how many of the ascending edges each value reaches.

    >>> buckets(np.array([0, 1, 5]), (1, 2)).tolist()
    [0, 1, 2]
    """
    return np.searchsorted(np.array(edges), values, side="right").astype(np.int64)


def levels(probability: NDArray[np.float64]) -> Int64:
    """Log-odds in steps of 0.7, from 1; 0 where there is no probability."""
    p = np.clip(probability, 1e-4, 1 - 1e-4)
    return np.where(probability > 0, 1 + buckets(np.log(p / (1 - p)), _LOGITS), 0)


def _best(p: Proposals) -> tuple[Int64, Int64, Int64]:
    """(S,) the way of the best candidate, its share's bucket, and how many candidates there are, up to 3."""
    count = np.diff(p.cand_ptr)
    first = np.where(count > 0, p.cand_ptr[:-1], len(p.found.way))
    way = np.append(p.found.way, 0).astype(np.int64)[first]
    share = np.append(buckets(p.found.share, _SHARES), 0)[first]
    return way, share, np.minimum(count, 3)


def _top(p: Proposals) -> Int64:
    """(S,) the best candidate where the words name it, else a number of the span's own."""
    count = np.diff(p.cand_ptr)
    first = np.where(count > 0, p.cand_ptr[:-1], len(p.found.way))
    named = np.append((p.found.way > 0) & (p.found.way <= NAME_CLOSE), False)[first]
    return np.where(named, np.append(p.found.concept, 0)[first], -1 - np.arange(len(count)))


def _ratio(p: Proposals, degree: int) -> Int64:
    """(S,) how often the words are a mention where training has them: 0 never seen, 1 never, up to 6 always."""
    seen = p.occurrences[degree]
    ratio = p.mentions[degree] / np.maximum(seen, 1)
    return np.where(seen > 0, 1 + buckets(ratio, (1e-6, 0.2, 0.5, 0.8, 0.999)), 0)


def elsewhere(
    document: Int64, key: NDArray[np.generic], first: Int64, probability: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(S,) the highest probability of another span of the document with the same key; 0 if there is none."""
    if not len(document):
        return np.zeros(0)
    _, group = np.unique(np.stack([document.astype(np.uint64), key.astype(np.uint64)]), axis=1, return_inverse=True)
    group = group.reshape(-1)
    order = np.lexsort((-probability, group))
    new = np.append(True, group[order][1:] != group[order][:-1])
    starts = np.flatnonzero(new)
    best = probability[order][starts]
    alone = np.append(starts[1:], len(order)) - starts < 2
    second = np.where(alone, 0.0, probability[order][np.minimum(starts + 1, len(order) - 1)])
    rank = np.arange(len(order)) - starts[np.cumsum(new) - 1]
    result = np.empty(len(document))
    result[order] = np.where(rank == 0, second[group[order]], best[group[order]])
    return result


def supporters(
    document: Int64, concept: NDArray[np.int32], sure: NDArray[np.bool_], probability: NDArray[np.float64], owner: Int64
) -> Int64:
    """(C,) how many other likely spans of the document are named by the same concept."""
    if not len(document):
        return np.zeros(0, np.int64)
    pair = document * (int(concept.max(initial=0)) + 1) + concept
    _, group = np.unique(pair, return_inverse=True)
    group = group.reshape(-1)
    votes = (sure & (probability >= 0.3)).astype(np.int64)
    return np.bincount(group, votes)[group].astype(np.int64) - votes
