"""Constraints on models that are not one hypergraph: what is required and forbidden, and what then takes its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from typing import Any

from spanloom.document import Document, Mention, batches
from spanloom.errors import UsageError
from spanloom.model.corpus import Notice
from spanloom.model.parameters import FLOOR, MentionEstimator
from spanloom.model.stages import Stage, run_stages
from spanloom.recognize.constraints import Constraints, refuse
from spanloom.recognize.expressions import ANY
from spanloom.text import prepare_all

_AT_ONCE = 20_000  # tokens
Conflict = Callable[[Mention, Mention], bool]


def constrained(
    model: MentionEstimator[Any], documents: Iterable[Document], constraints: Constraints, stages: Sequence[Stage],
    threshold: float, notice: Notice, *, flat: bool, answers: bool,
) -> Iterator[Document]:  # fmt: skip
    """Yield documents with the mentions that a model finds, and that meet constraints.

    1. Mentions that are forbidden, or that overlap a required one in a way that the model does not allow, are removed.
    2. A candidate of probability p that these had excluded is added if p / (1 - q) exceeds one half; q is the sum of
       the probabilities of the removed mentions. As they exclude it, this is its probability without them.

    Args:
        model: trained.
        documents: in which to find mentions.
        constraints: on them.
        stages: that add to mentions.
        threshold: leave out mentions with a lower score.
        notice: called with warnings.
        flat: whether no two mentions may overlap, or none of one type.
        answers: whether answers as a whole are asked for, whose probabilities are not known.

    Raises:
        DataError: nothing meets the constraints.
        UsageError: answers are asked for.
    """
    if answers:
        raise UsageError(f"answers under constraints have no probability for a {model.kind}; leave one of the two out")
    bare: Any = copy(model)
    bare.stages_ = ()

    def conflict(one: Mention, other: Mention) -> bool:
        if one.end <= other.start or other.end <= one.start:
            return False
        inner, outer = sorted((one, other), key=lambda mention: mention.end - mention.start)
        nested = outer.start <= inner.start and inner.end <= outer.end and inner.spans != outer.spans
        ruled = any(a in (ANY, inner.type) and b in (ANY, outer.type) for a, b in constraints.nesting)
        return flat or one.type == other.type or (nested and ruled)

    for some in batches(documents, _AT_ONCE, prepare_all):
        chosen = []
        for given, (found, others) in zip(some, bare._considered(some, notice, FLOOR), strict=True):
            own = found.copy(mentions=given.mentions)
            required, forbidden = constraints.demands(own, model.types_)
            _check(own, required, forbidden, conflict, model.types_)
            mentions = _chosen(found.mentions, others, required, {one.key for one in forbidden}, conflict)
            chosen.append(found.copy(mentions=[one for one in mentions if (one.score or 0.0) >= threshold]))
        yield from constraints.restored(some, run_stages(stages, chosen))
    constraints.warn_unused(notice)


def _check(
    document: Document, required: Sequence[Mention], forbidden: Sequence[Mention], conflict: Conflict,
    types: Sequence[str],
) -> None:  # fmt: skip
    denied = {one.key for one in forbidden}
    for number, one in enumerate(required):
        why = "it is forbidden, too" if one.key in denied else "the model finds no gaps" if len(one.spans) > 1 else ""
        if any(one.key != other.key and conflict(one, other) for other in required[:number]):
            why = "it overlaps another that is required"
        if one.type not in types:
            why = f"the model has other types ({', '.join(types)})"
        if why:
            refuse(document, one, why)


def _chosen(
    found: Sequence[Mention], others: Sequence[Mention], required: Sequence[Mention], forbidden: set[Any],
    conflict: Conflict,
) -> list[Mention]:  # fmt: skip
    known = {one.key: one for one in (*others, *found)}
    kept = {one.key: known.get(one.key, Mention(one.type, one.spans)).replace(score=1.0) for one in required}
    dropped = []
    for one in sorted(found, key=lambda mention: -(mention.score or 0.0)):
        if one.key not in kept:
            if one.key in forbidden or any(conflict(one, other) for other in kept.values()):
                dropped.append(one)
            else:
                kept[one.key] = one
    for one in sorted(others, key=lambda mention: -(mention.score or 0.0)):
        rivals = [other.score or 0.0 for other in dropped if conflict(one, other)]
        if rivals and one.key not in forbidden and not any(conflict(one, other) for other in kept.values()):
            score = min(1.0, (one.score or 0.0) / max(1.0 - sum(rivals), 1e-9))
            if score > 0.5:
                kept[one.key] = one.replace(score=score)
    return sorted(kept.values(), key=lambda mention: (mention.start, -mention.end, mention.type))
