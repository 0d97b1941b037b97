"""Kernels that walk along a derivation: its labels and choices, and its features one by one."""

from __future__ import annotations

import numpy as np

from spanloom.kernels import kernel_only_no_refcount
from spanloom.link import kernels_features as features
from spanloom.link.kernels_shared import concept_of, found_by
from spanloom.link.kernels_states import close, enter, form_of, role, start


@kernel_only_no_refcount
def trace(work, steps, slot, labels, choices):
    """The labels of the derivation that ends in a slot of the beam after some steps, and the choices at its actions.

    Args:
        labels, choices: (steps,), output; the choice of an action that closes nothing is -1.
    """
    for i in range(steps - 1, -1, -1):
        labels[i], choices[i] = work.label[i, slot], work.choice[i, slot]
        slot = work.parent[i, slot]


@kernel_only_no_refcount
def walk(model, data, work, sentence, labels, choices, begin, steps, out_roles, out_keys):
    """The features of a derivation's actions from ``begin`` to ``steps``.

    Args:
        labels, choices: (steps,) as `trace` gives them.
        out_roles: (., 2) output: token, counted in the sentence, and role.
        out_keys: uint64, output.

    Returns:
        How many roles, and how many keys.
    """
    base = data.offsets[sentence]
    length = data.offsets[sentence + 1] - base
    words, program, values = data.words, model.program, work.values
    document = data.document[sentence] + 1
    state = work.spare
    start(state)
    roles = n = 0
    for i in range(steps):
        label, choice = np.int64(labels[i]), np.int64(choices[i])
        previous, first = state[features.LABEL1], state[features.OPEN]
        word = words[base + i] if i < length else features.BEHIND
        language = data.language[min(base + i, len(words) - 1)]
        emit = i >= begin
        if choice >= 0:
            kind = (previous - 1) // 2
            span = np.int64(work.span_at[first, i - first - 1])
            concept, found = concept_of(data, span, choice), found_by(data, span, choice)
            if emit:
                between = features.between_entities(state, words, base, first)
                form = form_of(words, base, first, i, concept)
                n += features.segment_keys(program, values, data, base, length, first, i, span, kind, out_keys[n:])
                n += features.candidate_keys(program, values, data, span, choice, out_keys[n:])
                n += features.close_far_keys(
                    program, values, state, between, concept, form, first, kind, found, out_keys[n:]
                )
            close(model.forms, words, base, state, i, concept)
            if emit:
                linked = np.int64(concept >= 0 and work.linked[concept] == document)
                n += features.close_keys(
                    model.program,
                    work.values,
                    state,
                    concept,
                    word,
                    language,
                    i < length,
                    found,
                    linked,
                    out_keys[n:],
                )
        if i == length:
            break
        if emit:
            out_roles[roles, 0], out_roles[roles, 1] = i, label
            out_roles[roles + 1, 0], out_roles[roles + 1, 1] = i, role(model.types, previous, label)
            roles += 2
            if label > 0 and label % 2 == 0:
                span = work.span_at[first, i - first]
                known = np.int64(data.span_known[span]) if span >= 0 else 0
                n += features.append_keys(program, values, known, label, out_keys[n:])
            else:
                n += features.next_keys(program, values, state, label, out_keys[n:])
                n += features.next_far_keys(program, values, state, label, out_keys[n:])
        enter(words, base, state, i, label)
    return roles, n


@kernel_only_no_refcount
def link(data, work, sentence, labels, choices):
    """Note the concepts of a derivation, so that later sentences of the document see them."""
    base = data.offsets[sentence]
    length = data.offsets[sentence + 1] - base
    first = np.int64(0)
    for i in range(length + 1):
        if choices[i] >= 0:
            concept = concept_of(data, np.int64(work.span_at[first, i - first - 1]), np.int64(choices[i]))
            if concept >= 0:
                work.linked[concept] = data.document[sentence] + 1
        if i < length and labels[i] % 2 == 1:
            first = i
