"""Kernels of state changes by the actions of the transition system (columns: `spanloom.link.kernels_features`)."""

from __future__ import annotations

import numpy as np

from spanloom.kernels import kernel_only_no_refcount
from spanloom.link import kernels_features as features


@kernel_only_no_refcount
def role(types, previous, label):
    """The role of a pair of labels; see `spanloom.link.transitions.role_names`."""
    labels = 1 + 2 * types
    if label == 0:
        return labels if previous == 0 else labels + 1 + (previous - 1) // 2
    kind = (label - 1) // 2
    base = labels + 1 + types
    if label % 2 == 1:
        return base + 2 * kind + (previous != 0)
    return base + 2 * types + 2 * kind + (previous == label)


@kernel_only_no_refcount
def start(state):
    """The state before the first token."""
    state[:] = 0
    state[features.OPEN] = -1
    state[features.E1_END] = -1
    state[features.E1_CONCEPT] = -2
    for column in (features.N1, features.N1_FIRST, features.N1_LAST, features.N2, features.N2_LAST,
                   features.E1, features.E1_LAST, features.E2_LAST):  # fmt: skip
        state[column] = np.int64(features.NOTHING)


@kernel_only_no_refcount
def copy(source, target):
    """A state over another; a loop, as what stands behind a slice takes a second to compile."""
    for column in range(features.WIDTH):
        target[column] = source[column]


@kernel_only_no_refcount
def push(state, form, first, last, size):
    """A new last segment."""
    state[features.N2], state[features.N2_LAST] = state[features.N1], state[features.N1_LAST]
    state[features.N2_SIZE] = state[features.N1_SIZE]
    state[features.N1], state[features.N1_FIRST] = np.int64(form), np.int64(first)
    state[features.N1_LAST], state[features.N1_SIZE] = np.int64(last), size


@kernel_only_no_refcount
def form_of(words, base, first, end, concept):
    """n of an entity."""
    if concept >= 0:
        return features.concept_form(concept)
    return features.text_form(words, base + first, base + end)


@kernel_only_no_refcount
def close(forms, words, base, state, end, concept):
    """Close the open entity at token ``end``: it becomes the last segment and the last entity."""
    first = state[features.OPEN]
    form = form_of(words, base, first, end, concept)
    if concept >= 0:
        push(state, form, forms.first[concept], forms.last[concept], forms.size[concept])
    else:
        push(state, form, words[base + first], words[base + end - 1], end - first)
    push_entity(words, base, state, first, end)
    state[features.E1_END], state[features.E1_CONCEPT] = end, concept
    state[features.OPEN] = -1


@kernel_only_no_refcount
def push_entity(words, base, state, first, end):
    """A new last entity, as far as the features of the next label see it."""
    state[features.E2_LAST] = state[features.E1_LAST]
    state[features.E1] = np.int64(features.text_form(words, base + first, base + end))
    state[features.E1_LAST] = np.int64(words[base + end - 1])


@kernel_only_no_refcount
def enter(words, base, state, i, label):
    """Take token i with a label; an entity that it does not go on with was closed before."""
    state[features.LABEL2], state[features.LABEL1] = state[features.LABEL1], label
    if label == 0:
        push(state, words[base + i], words[base + i], words[base + i], 1)
    elif label % 2 == 1:
        state[features.OPEN] = i
