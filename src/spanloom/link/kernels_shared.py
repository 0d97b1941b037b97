"""The scores of a sentence's search, each computed once for all derivations that share it.

The derivations of a beam differ in few things: what the last segments say is the same for all that agree in those,
and what the entities before them say is the same for all that agree in these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import kernel_only_no_refcount
from spanloom.kernels_hashing import ZERO, mix
from spanloom.link import kernels_features as features
from spanloom.link.kernels_states import close, copy
from spanloom.link.kernels_table import WeightTable


class BeamModel(NamedTuple):
    """Model that scores derivations.

    Args:
        table: weights of the features of states, segments and candidates.
        forms: the concepts' names.
        program: templates.
        nil: whether an entity that has candidates may be linked to none of them.
        types: K.
        longest: tokens of an entity, at most.
    """

    table: WeightTable
    forms: features.Forms
    program: NDArray[np.uint64]
    nil: bool
    types: int
    longest: int


class SharedScores(NamedTuple):
    """Scores of the next label that derivations share.

    Args:
        contexts: (B,) what the derivations agree in.
        scores: (B, 1 + K).
        used: (1,) how many there are.
    """

    contexts: NDArray[np.uint64]
    scores: NDArray[np.float32]
    used: NDArray[np.int64]


class Workspace(NamedTuple):
    """Scratch memory for sentences of up to T tokens with a beam of B; it belongs to the caller.

    Args:
        states: (2, B + 1, WIDTH) of this step and the next; the last one is the gold derivation's.
        scores: (2, B + 1).
        parent, choice, label: (T + 1, B + 1) back pointers.
        span_at: (T, longest) number of the span that begins here and has so many tokens, -1 if there is none.
        segments: (T, longest, K) scores of entities; NaN where not computed.
        choices: scores of the sentence's candidates, of linking each of its spans to nothing, and of linking to nothing
            what is none of them and begins at each token.
        context, closing, following: for each of ``choices`` what is near, the score of choosing it there, and with each
            next label.
        near, far: (B, ) what of the states of this step was seen, and (B, 1 + K) what each next label says with it.
        spare: a state.
        linked: (V,) number of the document that was last linked to each concept, counted from 1.
        keys, values: scratch, for keys and what they are made of.
    """

    states: NDArray[np.int64]
    scores: NDArray[np.float64]
    parent: NDArray[np.int32]
    choice: NDArray[np.int32]
    label: NDArray[np.int32]
    span_at: NDArray[np.int32]
    segments: NDArray[np.float32]
    choices: NDArray[np.float32]
    context: NDArray[np.uint64]
    closing: NDArray[np.float32]
    following: NDArray[np.float32]
    near: SharedScores
    far: SharedScores
    spare: NDArray[np.int64]
    linked: NDArray[np.int64]
    keys: NDArray[np.uint64]
    values: NDArray[np.uint64]


@kernel_only_no_refcount
def concept_of(data, span, choice):
    """The concept of a choice, -1 for none."""
    if span < 0 or choice >= data.cand_ptr[span + 1] - data.cand_ptr[span]:
        return np.int64(-1)
    return np.int64(data.cand_concept[data.cand_ptr[span] + choice])


@kernel_only_no_refcount
def found_by(data, span, choice):
    """Return the way in which the candidate of a choice was found."""
    if span < 0 or choice >= data.cand_ptr[span + 1] - data.cand_ptr[span]:
        return np.int64(0)
    return np.int64(data.cand_class[data.cand_ptr[span] + choice])


@kernel_only_no_refcount
def _candidate_score(model, data, work, span, choice):
    n = features.candidate_keys(model.program, work.values, data, span, choice, work.keys)
    return features.total(model.table, work.keys, n)


@kernel_only_no_refcount
def prepare(model, data, work, sentence):
    """Enter a sentence's spans, and score its candidates."""
    base = data.offsets[sentence]
    length = data.offsets[sentence + 1] - base
    begin, stop = data.span_ptr[sentence], data.span_ptr[sentence + 1]
    nothing = _candidate_score(model, data, work, np.int64(-1), np.int64(0))
    for t in range(length):
        for size in range(model.longest):
            work.span_at[t, size] = -1
            for kind in range(model.types):
                work.segments[t, size, kind] = np.nan
        work.choices[choice_row(data, sentence, np.int64(-1), np.int64(0), t)] = nothing
    for span in range(begin, stop):
        size = data.span_end[span] - data.span_first[span]
        if size <= model.longest:
            work.span_at[data.span_first[span], size - 1] = span
        for choice in range(data.cand_ptr[span + 1] - data.cand_ptr[span] + 1):
            row = choice_row(data, sentence, span, choice, np.int64(0))
            work.choices[row] = _candidate_score(model, data, work, span, choice)
    for row in range(choice_row(data, sentence, np.int64(-1), np.int64(0), length)):
        work.context[row] = ZERO
    return length


@kernel_only_no_refcount
def choice_row(data, sentence, span, choice, first):
    """The row of a choice in the workspace: candidates, then spans without a concept, then what is no span."""
    begin, stop = data.span_ptr[sentence], data.span_ptr[sentence + 1]
    candidates = data.cand_ptr[stop] - data.cand_ptr[begin]
    if span < 0:
        return candidates + stop - begin + first
    if choice < data.cand_ptr[span + 1] - data.cand_ptr[span]:
        return data.cand_ptr[span] + choice - data.cand_ptr[begin]
    return candidates + span - begin


@kernel_only_no_refcount
def context(state, begin, end, other):
    """Some columns of a state and another number, as one."""
    result = mix(features.NOTHING, np.uint64(other))
    for column in range(begin, end):
        result = mix(result, np.uint64(state[column]))
    return result


@kernel_only_no_refcount
def label_at(option):
    """The label that does not continue an entity, by number: O, or the first of an entity."""
    return 0 if option == 0 else 2 * option - 1


@kernel_only_no_refcount
def _shared(shared, context):
    """The row of a context, and whether it is a new one."""
    size = shared.used[0]
    for row in range(size):
        if shared.contexts[row] == context:
            return row, False
    shared.contexts[size] = context
    shared.used[0] += 1
    return size, True


@kernel_only_no_refcount
def near(model, work, state, labels):
    """The row of ``work.near`` with what each next label says behind the last segments of a state."""
    row, new = _shared(work.near, context(state, 0, features.E1, 0))
    if new:
        for option in range(labels):
            n = features.next_keys(model.program, work.values, state, label_at(option), work.keys)
            work.near.scores[row, option] = features.total(model.table, work.keys, n)
    return row


@kernel_only_no_refcount
def far(model, work, state, labels):
    """The row of ``work.far`` with what each next label says behind the last entities of a state."""
    row, new = _shared(work.far, context(state, features.E1, features.E1_END, state[features.LABEL1]))
    if new:
        for option in range(labels):
            n = features.next_far_keys(model.program, work.values, state, label_at(option), work.keys)
            work.far.scores[row, option] = features.total(model.table, work.keys, n)
    return row


@kernel_only_no_refcount
def look(model, data, work, sentence, i, old, concept, found, row, labels):
    """The score of closing the entity with a choice, and of each next label then, as far as segments tell."""
    base = data.offsets[sentence]
    length = data.offsets[sentence + 1] - base
    words, program, values = data.words, model.program, work.values
    word = words[base + i] if i < length else features.BEHIND
    state = work.spare
    copy(old, state)
    close(model.forms, words, base, state, i, concept)
    linked = np.int64(concept >= 0 and work.linked[concept] == data.document[sentence] + 1)
    language = data.language[min(base + i, len(words) - 1)]
    n = features.close_keys(program, values, state, concept, word, language, i < length, found, linked, work.keys)
    work.closing[row] = features.total(model.table, work.keys, n)
    for option in range(labels):
        n = features.next_keys(program, values, state, label_at(option), work.keys)
        work.following[row, option] = features.total(model.table, work.keys, n)


@kernel_only_no_refcount
def segment_score(model, data, work, sentence, first, end, kind):
    """The score of an entity's own words and of its span, computed when first asked for."""
    value = work.segments[first, end - first - 1, kind]
    if np.isnan(value):
        base = data.offsets[sentence]
        length = data.offsets[sentence + 1] - base
        span = np.int64(work.span_at[first, end - first - 1])
        n = features.segment_keys(model.program, work.values, data, base, length, first, end, span, kind, work.keys)
        value = features.total(model.table, work.keys, n)
        work.segments[first, end - first - 1, kind] = value
    return value
