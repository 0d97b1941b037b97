"""The features of states, as 64-bit keys: templates 2, 4b and 6 to 15 of Lou et al. (2017), Table 2, and ours.

What the words around a token say is not here: those are roles (see `spanloom.link.transitions`), scored before the
search. What a segment and its candidates say whatever came before them is summed once a sentence (`segment_score`,
`candidate_score`). Only what depends on earlier choices is looked up for each state.

A state is a row of int64 (hashes are kept bit for bit). Segments are entities, and single words outside of them; n is a
segment's normal form: a concept's number, or what stands for the words themselves.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import kernel, kernel_only_no_refcount
from spanloom.kernels_hashing import ZERO, mix
from spanloom.link.kernels_table import weight

# groups of templates, as bits
RECOGNITION, NORMALIZATION, JOINT, SEGMENTS, CANDIDATES, HISTORY, LANGUAGE = 1, 2, 4, 8, 16, 32, 64
NIL = 128  # no group of features: whether an entity that has candidates may be linked to none of them

# columns of a state: what is near, labels and segments, stands before what is far, entities
(LABEL1, LABEL2, OPEN, N1, N1_FIRST, N1_LAST, N1_SIZE, N2, N2_LAST, N2_SIZE,
 E1, E1_LAST, E2_LAST, E1_END, E1_CONCEPT, GOLD) = range(16)  # fmt: skip
WIDTH = 16
NOTHING = np.uint64(0x51ED270B35A5F4C9)  # stands for a segment or an entity that is not there
BEHIND = np.uint64(0x7F4A7C15F39CC060)  # stands for the word after the last
NO_CONCEPT = np.uint64(0x3C6EF372FE94F82B)
MOST = 64  # keys that one step gives, at most


class Data(NamedTuple):
    """N sentences with T tokens, S spans that may be entities, and C candidate concepts, as arrays.

    Args:
        offsets: (N + 1,) first token of each sentence.
        document: (N,) number of each sentence's document; ascending.
        words: (T,) hashes.
        endings: (T,) hashes of last letters.
        shapes: (T,) hashes.
        language: (T, 2) ranges of bigram and trigram, 0 where there are none.
        span_ptr: (N + 1,) the spans of each sentence.
        span_first, span_end: (S,) in tokens of the sentence.
        span_known: (S,) uint8, whether it is a name of the vocabulary.
        span_keys: (S, K, .) features of the span as a mention of each type.
        nil_keys: (S, .) features of a mention without a concept there.
        cand_ptr: (S + 1,) the candidates of each span, best first.
        cand_concept: (C,) numbers of concepts.
        cand_class: (C,) uint8, how a candidate was found, for conjunctions.
        cand_keys: (C, .) features of the candidate.
    """

    offsets: NDArray[np.int64]
    document: NDArray[np.int64]
    words: NDArray[np.uint64]
    endings: NDArray[np.uint64]
    shapes: NDArray[np.uint64]
    language: NDArray[np.uint8]
    span_ptr: NDArray[np.int64]
    span_first: NDArray[np.int32]
    span_end: NDArray[np.int32]
    span_known: NDArray[np.uint8]
    span_keys: NDArray[np.uint64]
    nil_keys: NDArray[np.uint64]
    cand_ptr: NDArray[np.int64]
    cand_concept: NDArray[np.int32]
    cand_class: NDArray[np.uint8]
    cand_keys: NDArray[np.uint64]


class Forms(NamedTuple):
    """The preferred names of V concepts, for templates that look into normal forms.

    Args:
        first, last: (V,) hashes of the first and the last word.
        size: (V,) how many words.
    """

    first: NDArray[np.uint64]
    last: NDArray[np.uint64]
    size: NDArray[np.int64]


@partial(kernel, signature="uint64(uint64, uint64)")
def key1(template, a):
    """The key of a template with one value."""
    return mix(mix(NOTHING, template), a)


@partial(kernel, signature="uint64(uint64, uint64, uint64)")
def key2(template, a, b):
    """The key of a template with two values."""
    return mix(mix(mix(NOTHING, template), a), b)


@partial(kernel, signature="uint64(uint64, uint64, uint64, uint64)")
def key3(template, a, b, c):
    """The key of a template with three values."""
    return mix(mix(mix(mix(NOTHING, template), a), b), c)


@partial(kernel, signature="uint64(uint64, uint64, uint64, uint64, uint64)")
def key4(template, a, b, c, d):
    """The key of a template with four values."""
    return mix(mix(mix(mix(mix(NOTHING, template), a), b), c), d)


@kernel_only_no_refcount
def concept_form(concept):
    """n of a concept."""
    return mix(NO_CONCEPT, np.uint64(concept + 1))


@kernel_only_no_refcount
def text_form(words, first, end):
    """n of words that are linked to nothing, and e of a string."""
    state = NOTHING
    for t in range(first, end):
        state = mix(state, words[t])
    return state


@kernel_only_no_refcount
def append_keys(groups, known, label, out):
    """Template 2: whether the entity with the word appended is a name of the vocabulary."""
    n = 0
    if groups & RECOGNITION:
        out[n] = key2(200, known, label)
        n += 1
    return n


@kernel_only_no_refcount
def next_keys(groups, state, word, label, out):
    """What the next label says with the segments before it: templates 11 to 14."""
    n = 0
    l1, l2 = state[LABEL1], state[LABEL2]
    if groups & JOINT:
        n1, n2, size = state[N1], state[N2], min(state[N1_SIZE], 9)
        out[n] = key2(1101, n1, label)
        out[n + 1] = key3(1103, n1, l2, label)
        out[n + 2] = key4(1302, n2, l1, label, 0)
        out[n + 3] = key3(1303, l1, label, size)
        out[n + 4] = key4(1401, l2, l1, label, size)
        out[n + 5] = key3(1402, l2, n1, label)
        out[n + 6] = key4(1104, state[N1_FIRST], l1, label, 0)
        out[n + 7] = key4(1201, state[N1_LAST], l1, label, 0)
        out[n + 8] = key4(1202, state[N2_LAST], n1, l1, label)
        out[n + 9] = key3(1102, n1, l1, label)
        n += 10
    return n


@kernel_only_no_refcount
def next_far_keys(groups, state, label, out):
    """What the next label says with the entities before it, the one just closed among them: templates 4b and 6."""
    n = 0
    if groups & RECOGNITION:
        out[n] = key3(401, state[E1], state[LABEL1], label)
        out[n + 1] = key3(601, state[E2_LAST], state[E1_LAST], label)
        n += 2
    return n


@kernel_only_no_refcount
def close_keys(groups, state, concept, word, language, more, found, linked, out):
    """What linking the open entity says with the segments before it: templates 7 to 10, 15, and ours.

    Args:
        state: after the entity has become the last segment.
        concept: its number, -1 for none.
        word: the one that follows.
        language: ranges of bigram and trigram at the word that follows.
        more: whether there is such a word.
        found: how the candidate was found.
        linked: whether the document has been linked to it before.
    """
    n = 0
    n1, n2, size1 = state[N1], state[N2], min(state[N1_SIZE], 9)
    if groups & NORMALIZATION:
        size2 = min(state[N2_SIZE], 9)
        out[n] = key2(701, n1, word)
        out[n + 1] = key2(702, state[N1_FIRST], word)
        out[n + 2] = key2(801, size2, n1)
        out[n + 3] = key2(802, state[N2_LAST], n1)
        out[n + 4] = key2(803, state[N2_LAST], state[N1_LAST])
        out[n + 5] = key1(901, n1)
        out[n + 6] = key2(902, n1, n2)
        out[n + 7] = key2(1001, state[N1_LAST], size1)
        out[n + 8] = key2(1002, n2, size1)
        out[n + 9] = key2(1003, state[N2_LAST], size1)
        n += 10
        if state[N1_SIZE] > 1:
            out[n] = key2(903, state[N1_FIRST], state[N1_LAST])
            n += 1
    if groups & LANGUAGE:
        out[n] = key2(1501, language[0] if more else 0, concept >= 0)
        out[n + 1] = key2(1502, language[1] if more else 0, concept >= 0)
        n += 2
    if groups & HISTORY:
        out[n] = key3(2001, linked, found, concept >= 0)
        n += 1
    return n


@kernel_only_no_refcount
def close_far_keys(groups, state, between, concept, form, first, kind, found, out):
    """What linking the open entity says with the entity before it, if there is one in the sentence.

    Args:
        state: before the entity is closed.
        between: what stands between the two, see `between_entities`.
        concept: the entity's number, -1 for none.
        form: n of the entity.
        first: its first token, in the sentence.
        kind: its type's number.
        found: how the candidate was found.
    """
    n = 0
    if groups & HISTORY and state[E1_END] >= 0:
        same = np.int64(2) if concept < 0 else np.int64(concept == state[E1_CONCEPT])
        gap = first - state[E1_END]
        out[n] = key3(2002, same, between, kind)
        out[n + 1] = key3(2003, same, min(gap, 8), found)
        out[n + 2] = key3(2004, state[E1_CONCEPT], form, kind)
        n += 3
    return n


@kernel_only_no_refcount
def between_entities(state, words, base, first):
    """The words between the entity before and a token, if there are at most two, else how many there are."""
    end = state[E1_END]
    gap = first - end
    return text_form(words, base + end, base + first) if end >= 0 and gap <= 2 else np.uint64(min(gap, 8))


@kernel_only_no_refcount
def segment_keys(groups, data, base, length, first, end, span, kind, out):
    """What an entity's own words and those beside it say, and what is known of the span.

    Args:
        base: the sentence's first token.
        length: its tokens.
        first, end: the entity's, in the sentence.
        span: its number among the spans, -1 if it is none of them.
        kind: its type's number.
    """
    n = 0
    if not groups & SEGMENTS:
        return n
    words, size = data.words, end - first
    last = base + end - 1
    before = words[base + first - 1] if first else BEHIND
    after = words[last + 1] if end < length else BEHIND
    out[n] = key2(3001, min(size, 12), kind)
    out[n + 1] = key2(3002, text_form(words, base + first, base + end), kind)
    out[n + 2] = key3(3003, words[base + first], words[last], kind)
    out[n + 3] = key3(3004, before, after, kind)
    out[n + 4] = key3(3005, words[last], min(size, 5), kind)
    out[n + 5] = key3(3006, words[base + first], min(size, 5), kind)
    out[n + 6] = key3(3007, before, words[base + first], kind)
    out[n + 7] = key3(3008, words[last], after, kind)
    out[n + 8] = key4(3009, data.endings[base + first], data.endings[last], min(size, 5), kind)
    shape = NOTHING
    for t in range(base + first, base + end):
        shape = mix(shape, data.shapes[t])
    out[n + 9] = key2(3010, shape, kind)
    out[n + 10] = key2(3011, span >= 0, kind)
    n += 11
    if span >= 0:
        for j in range(data.span_keys.shape[2]):
            value = data.span_keys[span, kind, j]
            out[n] = mix(value, np.uint64(kind)) if value != ZERO else ZERO
            n += 1
    return n


@kernel_only_no_refcount
def candidate_keys(groups, data, span, choice, out):
    """What is known of a candidate, or of there being none: ``choice`` is its number, counted in the span."""
    n = 0
    if not groups & CANDIDATES:
        return n
    if span < 0:
        out[0] = key1(4001, 0)
        return 1
    candidates = data.cand_ptr[span + 1] - data.cand_ptr[span]
    row = data.cand_keys[data.cand_ptr[span] + choice] if choice < candidates else data.nil_keys[span]
    for j in range(len(row)):
        out[n] = row[j]
        n += 1
    return n


@kernel_only_no_refcount
def total(table, keys, n):
    """The sum of the weights of n keys."""
    result = np.float32(0)
    for i in range(n):
        result += weight(table, keys[i])
    return result
