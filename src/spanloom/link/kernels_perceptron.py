"""Training and prediction over many sentences: the structured perceptron with early update (algorithm 2)."""

from __future__ import annotations

import numpy as np

from spanloom.kernels import kernel, kernel_only_no_refcount
from spanloom.link import kernels_walk as derivation
from spanloom.link.kernels_beam import search
from spanloom.link.kernels_features import MOST
from spanloom.link.kernels_table import change

_KEYS = 3 * MOST  # that the steps of a derivation have each, at most


@kernel_only_no_refcount
def local_scores(indices, offsets, values, weights, base, length, out):
    """(T, R) scores of roles at the tokens of a sentence."""
    for t in range(length):
        row = out[t]
        for r in range(len(row)):
            row[r] = 0.0
        for i in range(offsets[base + t], offsets[base + t + 1]):
            value, source = values[i], weights[indices[i]]
            for r in range(len(row)):
                row[r] += value * source[r]


@kernel_only_no_refcount
def _update(matrix, weights, sums, table, base, roles, keys, sign, step):
    indices, offsets, values = matrix
    for j in range(len(roles)):
        t, r = base + roles[j, 0], roles[j, 1]
        for i in range(offsets[t], offsets[t + 1]):
            delta = sign * values[i]
            weights[indices[i], r] += np.float32(delta)
            sums[indices[i], r] += delta * step
    for j in range(len(keys)):
        change(table, keys[j], sign, step)


@kernel
def train(model, data, matrix, gold, history, order, begin, step, weights, sums, work, local, width, forced, margin):
    """Sentences in an order, from ``begin``; stops where the table has no room for the next one.

    Args:
        matrix: indices, offsets and values of the features of tokens.
        gold: (T,) labels, and (T,) choices at the last tokens of entities.
        history: which concepts each document has been linked to: (D + 1,) pointers, sentences, concepts.
        step: how many sentences were seen before, in all passes.
        weights, sums: (F, R).
        forced: (T,) labels that are prescribed.

    Returns:
        How far it came in ``order``, and how many updates were made.
    """
    gold_label, gold_choice = gold
    steps = len(work.parent)
    labels, choices = np.empty(steps, np.int32), np.empty(steps, np.int32)
    right_labels, right_choices = np.empty(steps, np.int32), np.empty(steps, np.int32)
    roles = np.empty((2 * steps, 2), np.int64)
    keys = np.empty(steps * _KEYS, np.uint64)
    ptr, sentences, concepts = history
    updates = 0
    for place in range(begin, len(order)):
        n = order[place]
        base = data.offsets[n]
        length = data.offsets[n + 1] - base
        if model.table.used[0] + 2 * _KEYS * (length + 1) > len(model.table.keys):
            return place, updates
        step += 1
        document = data.document[n]
        for j in range(ptr[document], ptr[document + 1]):
            work.linked[concepts[j]] = document + 1 if sentences[j] < n else 0
        local_scores(matrix[0], matrix[1], matrix[2], weights, base, length, local)
        taken, right = search(
            model, data, work, n, local, width, forced, gold_label, gold_choice, np.bool_(True), margin
        )
        if right:
            continue
        updates += 1
        derivation.trace(work, taken, 0, labels, choices)
        for i in range(taken):
            right_labels[i] = gold_label[base + i] if i < length else 0
            closes = i > 0 and gold_choice[base + i - 1] >= 0
            right_choices[i] = gold_choice[base + i - 1] if closes else -1
        same = 0
        while same < taken and labels[same] == right_labels[same] and choices[same] == right_choices[same]:
            same += 1
        a, b = derivation.walk(model, data, work, n, right_labels, right_choices, same, taken, roles, keys)
        _update(matrix, weights, sums, model.table, base, roles[:a], keys[:b], 1.0, step - 1)
        a, b = derivation.walk(model, data, work, n, labels, choices, same, taken, roles, keys)
        _update(matrix, weights, sums, model.table, base, roles[:a], keys[:b], -1.0, step - 1)
    return len(order), updates


@kernel
def predict(model, data, first, end, local, base, work, width, forced, out_label, out_choice, out_score):
    """The best derivations of sentences ``first`` to ``end``, in the documents' order.

    Args:
        local: (., R) scores of the roles at the tokens from token ``base`` on.
        out_label: (T,) output.
        out_choice: (T,) output: the choice of the entity whose last token it is, else -1.
        out_score: (N,) output.
    """
    steps = len(work.parent)
    labels, choices = np.empty(steps, np.int32), np.empty(steps, np.int32)
    unused = np.full(len(forced), -2, np.int32)
    for n in range(first, end):
        start = data.offsets[n]
        length = data.offsets[n + 1] - start
        taken, _ = search(
            model,
            data,
            work,
            n,
            local[start - base : start - base + length],
            width,
            forced,
            unused,
            unused,
            np.bool_(False),
            0.0,
        )
        derivation.trace(work, taken, 0, labels, choices)
        out_score[n] = work.scores[(length + 1) % 2, 0]
        for i in range(length):
            out_label[start + i] = labels[i]
            out_choice[start + i] = choices[i + 1]
        derivation.link(data, work, n, labels, choices)
