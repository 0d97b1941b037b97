"""The values of the features of states, and their keys: templates 2, 4b, 6 to 15 of Lou et al. (2017), Table 2, ours.

What is said with which others is said in templates (`spanloom.link.templates`); here are the values, by their places.

What the words around a token say is not here: those are roles (see `spanloom.link.transitions`), scored before the
search. What a segment and its candidates say whatever came before them is summed once a sentence (`segment_score`,
`candidate_score`). Only what depends on earlier choices is looked up for each state.

A state is a row of int64 (hashes are kept bit for bit). Segments are entities, and single words outside of them; n is a
segment's normal form: a concept's number, or what stands for the words themselves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import kernel_only_no_refcount
from spanloom.kernels_hashing import ZERO, mix
from spanloom.link.kernels_table import weight

# groups of templates, as bits; see `spanloom.link.templates`
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
APPEND, NEXT, NEXT_FAR, CLOSE, CLOSE_SEVERAL, CLOSE_LAST, CLOSE_FAR, SEGMENT, UNPROPOSED = range(9)
CLOSING = (
    "bias", "word", "n[-1]", "n[-1].first", "n[-1].last", "n[-1].len:9", "n[-2]", "n[-2].last", "n[-2].len:9", "bigram",
    "trigram", "linked", "cand.way", "linked-before",
)  # fmt: skip
ATOMS = (
    ("bias", "known", "label"),
    (
        "bias", "label", "label[-1]", "label[-2]", "n[-1]", "n[-1].first", "n[-1].last", "n[-1].len:9", "n[-2]",
        "n[-2].last",
    ),
    ("bias", "label", "label[-1]", "e[-1]", "e[-1].last", "e[-2].last"),
    CLOSING,
    CLOSING,
    CLOSING,
    ("bias", "same", "between", "type", "gap:8", "cand.way", "e[-1].concept", "n"),
    (
        "bias", "type", "len:12", "len:5", "words", "word[first]", "word[last]", "word[first-1]", "word[last+1]",
        "ending[first]", "ending[last]", "shapes", "proposed",
    ),
    ("bias",),
)  # fmt: skip
"""The values of each phase by their places; the first is 0 everywhere."""
VALUES = max(map(len, ATOMS))


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


@kernel_only_no_refcount
def read(program, phase):
    """Return whether any template of a phase reads its values."""
    return program[phase] < program[phase + 1]


@kernel_only_no_refcount
def evaluate(program, phase, values, out):
    """The keys of the templates of a phase, in their order; how many there are.

    Args:
        program: uint64, where each phase begins, and the end of the last; then of each template what its key begins
            with, how many values it has, and their places.
        values: uint64.
        out: output.
    """
    at, end = np.int64(program[phase]), np.int64(program[phase + 1])
    n = 0
    while at < end:
        state = program[at]
        last = at + 2 + np.int64(program[at + 1])
        for i in range(at + 2, last):
            state = mix(state, values[np.int64(program[i])])
        out[n] = state
        n += 1
        at = last
    return n


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
def append_keys(program, values, known, label, out):
    """Template 2: whether the entity with the word appended is a name of the vocabulary."""
    if not read(program, APPEND):
        return 0
    values[1], values[2] = known, label
    return evaluate(program, APPEND, values, out)


@kernel_only_no_refcount
def next_keys(program, values, state, label, out):
    """Compute the keys of the next label with the segments before it: templates 11 to 14."""
    if not read(program, NEXT):
        return 0
    values[1], values[2], values[3] = label, state[LABEL1], state[LABEL2]
    values[4], values[5], values[6] = state[N1], state[N1_FIRST], state[N1_LAST]
    values[7], values[8], values[9] = min(state[N1_SIZE], 9), state[N2], state[N2_LAST]
    return evaluate(program, NEXT, values, out)


@kernel_only_no_refcount
def next_far_keys(program, values, state, label, out):
    """Compute the keys of the next label with the entities before it, up to the one just closed: templates 4b and 6."""
    if not read(program, NEXT_FAR):
        return 0
    values[1], values[2], values[3] = label, state[LABEL1], state[E1]
    values[4], values[5] = state[E1_LAST], state[E2_LAST]
    return evaluate(program, NEXT_FAR, values, out)


@kernel_only_no_refcount
def close_keys(program, values, state, concept, word, language, more, found, linked, out):
    """Compute the keys of linking the open entity with the segments before it: templates 7 to 10, 15, and ours.

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
    if read(program, CLOSE):
        values[1], values[2], values[3], values[4] = word, state[N1], state[N1_FIRST], state[N1_LAST]
        values[5], values[6], values[7] = min(state[N1_SIZE], 9), state[N2], state[N2_LAST]
        values[8] = min(state[N2_SIZE], 9)
        n = evaluate(program, CLOSE, values, out)
        if state[N1_SIZE] > 1:
            n += evaluate(program, CLOSE_SEVERAL, values, out[n:])
    values[9], values[10] = language[0] if more else 0, language[1] if more else 0
    values[11], values[12], values[13] = concept >= 0, found, linked
    return n + evaluate(program, CLOSE_LAST, values, out[n:])


@kernel_only_no_refcount
def close_far_keys(program, values, state, between, concept, form, first, kind, found, out):
    """Compute the keys of linking the open entity with the entity before it, if there is one in the sentence.

    Args:
        state: before the entity is closed.
        between: what stands between the two, see `between_entities`.
        concept: the entity's number, -1 for none.
        form: n of the entity.
        first: its first token, in the sentence.
        kind: its type's number.
        found: how the candidate was found.
    """
    if state[E1_END] < 0:
        return 0
    values[1] = np.int64(2) if concept < 0 else np.int64(concept == state[E1_CONCEPT])
    values[2], values[3], values[4] = between, kind, min(first - state[E1_END], 8)
    values[5], values[6], values[7] = found, state[E1_CONCEPT], form
    return evaluate(program, CLOSE_FAR, values, out)


@kernel_only_no_refcount
def between_entities(state, words, base, first):
    """The words between the entity before and a token, if there are at most two, else how many there are."""
    end = state[E1_END]
    gap = first - end
    return text_form(words, base + end, base + first) if end >= 0 and gap <= 2 else np.uint64(min(gap, 8))


@kernel_only_no_refcount
def segment_keys(program, values, data, base, length, first, end, span, kind, out):
    """Compute the keys of an entity's own words and those beside it, and of what is known of the span.

    Args:
        base: the sentence's first token.
        length: its tokens.
        first, end: the entity's, in the sentence.
        span: its number among the spans, -1 if it is none of them.
        kind: its type's number.
    """
    if not read(program, SEGMENT):
        return 0
    words, size = data.words, end - first
    last = base + end - 1
    shape = NOTHING
    for t in range(base + first, base + end):
        shape = mix(shape, data.shapes[t])
    values[1], values[2], values[3] = kind, min(size, 12), min(size, 5)
    values[4], values[5], values[6] = text_form(words, base + first, base + end), words[base + first], words[last]
    values[7] = words[base + first - 1] if first else BEHIND
    values[8] = words[last + 1] if end < length else BEHIND
    values[9], values[10], values[11] = data.endings[base + first], data.endings[last], shape
    values[12] = span >= 0
    n = evaluate(program, SEGMENT, values, out)
    if span >= 0:
        for j in range(data.span_keys.shape[2]):
            value = data.span_keys[span, kind, j]
            out[n] = mix(value, np.uint64(kind)) if value != ZERO else ZERO
            n += 1
    return n


@kernel_only_no_refcount
def candidate_keys(program, values, data, span, choice, out):
    """Write the keys of a candidate, or of there being none: ``choice`` is its number, counted in the span."""
    if span < 0 or not read(program, UNPROPOSED):
        return evaluate(program, UNPROPOSED, values, out)
    candidates = data.cand_ptr[span + 1] - data.cand_ptr[span]
    row = data.cand_keys[data.cand_ptr[span] + choice] if choice < candidates else data.nil_keys[span]
    for j in range(len(row)):
        out[j] = row[j]
    return len(row)


@kernel_only_no_refcount
def total(table, keys, n):
    """The sum of the weights of n keys."""
    result = np.float32(0)
    for i in range(n):
        result += weight(table, keys[i])
    return result
