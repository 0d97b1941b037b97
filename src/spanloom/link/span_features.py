"""The features of spans and of candidates, as keys: what the models of the paper do not have.

Everything here is known before the search, so it is summed once a sentence.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanloom.features.conjunctions import atoms
from spanloom.hashing import Int64, UInt64, mixed
from spanloom.link.arrays import Forms
from spanloom.link.names import NameMemory
from spanloom.link.proposals import NAME_CLOSE, Proposals
from spanloom.link.templates import CANDIDATE, CANDIDATE_EVIDENCE, NIL, NIL_EVIDENCE, SPAN, SPAN_EVIDENCE, keys
from spanloom.native import Kernel
from spanloom.vocabulary.key_table import best_elsewhere

Values = dict[str, NDArray[Any]]
_rivals = Kernel("rivals")
_LOGITS = tuple(np.arange(-4.4, 7.0, 0.7).tolist())
_COARSE = (0.001, 0.05, 0.2, 0.5, 0.8, 0.95)
_COUNTS = (1, 2, 3, 5, 10, 30)
_SHARES = (1e-6, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999)
_SIMILAR = (1e-6, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.999)


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
    templates = {**SPAN, **(SPAN_EVIDENCE if evidence else {})}
    found = np.empty((spans, types, len(templates)), np.uint64)
    values = _of_spans(proposals)
    for kind in range(types):
        own = values | (_evidence(proposals, document, kind) if evidence else {})
        # one column after the other: a long text has so many spans that all of them twice would be much
        for i, (number, template) in enumerate(templates.items()):
            [found[:, kind, i]] = keys({number: template}, own)
    return found


def _of_spans(p: Proposals) -> Values:
    """Return all that is known of spans, (S,) by the names of atoms."""
    return {
        "mention.exact": _ratio(p, 0), "mention.close": _ratio(p, 1), "seen.exact": buckets(p.occurrences[0], _COUNTS),
        "seen.close": buckets(p.occurrences[1], _COUNTS), "best.way": _first(p, p.found.way),
        "best.share": _first(p, buckets(p.found.share, _SHARES)), "count": np.minimum(np.diff(p.cand_ptr), 3),
        "len": p.end - p.first, "abbreviation": p.expanded, "words.close": p.close, "word[last]": p.runs.low[p.end - 1],
    }  # fmt: skip


def _evidence(p: Proposals, document: Int64, kind: int) -> Values:
    """Return the values from the tagging chain for spans of a type, (S,) by the names of atoms."""
    probability = p.probability[:, kind]
    named = _first(p, (p.found.way > 0) & (p.found.way <= NAME_CLOSE))
    top = np.where(named, _first(p, p.found.concept), -1 - np.arange(len(p.first)))  # else a number of the span's own
    again = {"again.exact": p.exact, "again.close": p.close, "again.concept": top}
    return {
        "p": levels(probability),
        "p.coarse": buckets(probability, _COARSE),
        "rival": levels(rivals(p.ptr, p.first, p.end, probability)),
        "long": np.where(p.long[:, kind] < 0, 0, 1 + levels(p.long[:, kind])),
        **{name: buckets(elsewhere(document, key, probability), _COARSE) for name, key in again.items()},
    }


def candidate_keys(
    p: Proposals, document: Int64, memory: NameMemory, forms: Forms, evidence: bool
) -> tuple[UInt64, UInt64]:
    """(C, .) features of candidates, and (S, .) of there being none."""
    owner = np.repeat(np.arange(len(p.first)), np.diff(p.cand_ptr))
    found, chance = p.found, p.probability.max(1, initial=0)
    similarity = np.zeros(len(p.first), np.float32)
    np.maximum.at(similarity, owner, found.similarity)
    spans = _of_spans(p) | {
        "best.similarity": buckets(similarity, _SIMILAR),
        "nil.share": buckets(memory.nil_share(p.close), _SHARES),
        "p.best": buckets(chance, _COARSE),
    }
    sure = found.way <= NAME_CLOSE
    of_candidates = {**CANDIDATE, **(CANDIDATE_EVIDENCE if evidence else {})}
    of_nothing = {**NIL, **(NIL_EVIDENCE if evidence else {})}
    read = {atom.name for template in of_candidates.values() for atom in atoms(template)}
    candidates = {name: values[owner] for name, values in spans.items() if name in read} | {
        "cand": found.concept,
        "cand.way": found.way,
        "cand.ways": found.flags,
        "cand.share": buckets(found.share, _SHARES),
        "cand.rank": np.arange(len(owner)) - p.cand_ptr[owner],
        "cand.similarity": buckets(found.similarity, _SIMILAR),
        "cand.margin": buckets(similarity[owner] - found.similarity, (1e-6, 0.05, 0.1, 0.2)),
        "cand.prior": buckets(memory.prior[found.concept], (1, 2, 5, 10, 20, 50)),
        "cand.preferred": found.preferred,
        "cand.last=word[last]": forms.last[found.concept] == p.runs.low[p.end - 1][owner],
        "cand.first=word[first]": forms.first[found.concept] == p.runs.low[p.first][owner],
        "cand.others": buckets(supporters(document[owner], found.concept, sure, chance[owner], owner), (1, 2, 4)),
    }
    return np.stack(keys(of_candidates, candidates), 1), np.stack(keys(of_nothing, spans), 1)


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


def _first(p: Proposals, values: NDArray[np.generic]) -> Int64:
    """(S,) the value of the best candidate; 0 without candidates."""
    return np.append(values, 0)[np.where(np.diff(p.cand_ptr) > 0, p.cand_ptr[:-1], len(values))].astype(np.int64)


def _ratio(p: Proposals, degree: int) -> Int64:
    """(S,) how often the words are a mention where training has them: 0 never seen, 1 never, up to 6 always."""
    seen = p.occurrences[degree]
    ratio = p.mentions[degree] / np.maximum(seen, 1)
    return np.where(seen > 0, 1 + buckets(ratio, (1e-6, 0.2, 0.5, 0.8, 0.999)), 0)


def elsewhere(document: Int64, key: NDArray[np.generic], probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """(S,) the highest probability of another span of the document with the same key; 0 without such a span."""
    if not len(document):
        return np.zeros(0)
    group = np.unique(mixed(0, document, key), return_inverse=True)[1]
    every = np.arange(len(group))
    row = best_elsewhere(group, probability, every, group, every)
    return np.where(row >= 0, probability[row], 0.0)


def supporters(
    document: Int64, concept: NDArray[np.int32], sure: NDArray[np.bool_], probability: NDArray[np.float64], owner: Int64
) -> Int64:
    """(C,) how many other likely spans of the document are named by the same concept."""
    if not len(document):
        return np.zeros(0, np.int64)
    group = np.unique(document * (int(concept.max(initial=0)) + 1) + concept, return_inverse=True)[1]
    votes = (sure & (probability >= 0.3)).astype(np.int64)
    return np.bincount(group, votes)[group].astype(np.int64) - votes


def rivals(ptr: Int64, first: Int64, end: Int64, probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """(S,) the highest probability of a span of the same sentence that overlaps; 0 for none."""
    found = np.zeros(len(first))
    _rivals(ptr, first, end, probability, found)
    return found
