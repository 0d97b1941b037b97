"""The arrays that the kernels of the linker take (`native/link.c`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Data(NamedTuple):
    """N sentences with T tokens, S spans that may be entities, and C candidate concepts, as arrays.

    Args:
        offsets: (N + 1,) first token of each sentence.
        document: (N,) number of each sentence's document; ascending.
        words: (T,) hashes.
        endings: (T,) hashes of last letters.
        shapes: (T,) hashes.
        language: (T, 2) ranges of bigram and trigram; 0 without a language model.
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


class WeightTable(NamedTuple):
    """Keys and their weights, in the order in which they entered.

    Args:
        slots, shift: the number of each key (see `spanloom.hashing.Slots`).
        keys: uint64, distinct, with room for more where something is learned, 0 there.
        weights: float32.
        sums: float64, u; empty where nothing is learned.
        used: (1,) int64, how many keys there are.
    """

    slots: NDArray[np.uint64]
    shift: np.uint64
    keys: NDArray[np.uint64]
    weights: NDArray[np.float32]
    sums: NDArray[np.float64]
    used: NDArray[np.int64]


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
    forms: Forms
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
        span_at: (T, longest) number of the span with this first token and so many tokens; -1 for no span.
        segments: (T, longest, K) scores of entities; NaN where not computed.
        choices: scores of the sentence's candidates, of linking each of its spans to nothing, and, by first token, of
            linking any other span to nothing.
        context, closing, following: for each of ``choices`` what is near, the score of choosing it there, and with each
            next label.
        near, far: (B,) distinct contexts of this step's states, and (B, 1 + K) scores of each next label in them.
        linked: (V,) number of the document that was last linked to each concept, counted from 1.
        keys: scratch.
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
    linked: NDArray[np.int64]
    keys: NDArray[np.uint64]
