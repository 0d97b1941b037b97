"""Kernels of explanations: one derivation walked again, with the weight of each key."""

from __future__ import annotations

from spanloom.kernels import kernel
from spanloom.link import kernels_walk as derivation
from spanloom.link.kernels_shared import prepare as enter
from spanloom.link.kernels_table import weight


@kernel
def prepare(model, data, work, sentence, labels, choices, earlier):
    """A sentence made ready to be walked; if it is an earlier one, what it is linked to is noted."""
    enter(model, data, work, sentence)
    if earlier:
        derivation.link(data, work, sentence, labels, choices)


@kernel
def walk(model, data, work, sentence, labels, choices, begin, steps, roles, keys, weights):
    """The roles, keys and the keys' weights of some steps of a derivation; how many roles and keys there are."""
    counts = derivation.walk(model, data, work, sentence, labels, choices, begin, steps, roles, keys)
    for i in range(counts[1]):
        weights[i] = weight(model.table, keys[i])
    return counts
