"""The beam search of Lou et al. (2017), algorithm 1.

A derivation gives each token a label (0 outside, 1 + 2k the first of an entity of type k, 2 + 2k a further one), and
each entity a choice: the number of a candidate of its span, or one past the last for none. An entity is closed by the
action that follows it (SEPNOR, or a plain SEP where it is linked to nothing), and one more step closes what the last
token leaves open.
"""

from __future__ import annotations

import numpy as np

from spanloom.kernels import kernel_only_no_refcount
from spanloom.link import kernels_features as features
from spanloom.link import kernels_shared as shared
from spanloom.link.kernels_states import close, copy, enter, form_of, push_entity, role, start

FREE = -1  # a label that is not prescribed


@kernel_only_no_refcount
def _offer(work, after, size, width, step, score, parent, choice, label, gold):
    """Put a derivation into the next beam, which is kept sorted; of equal ones the first offered is the better."""
    scores, states = work.scores[after], work.states[after]
    if size == width and not score > scores[size - 1]:
        return size
    at = min(size, width - 1)
    while at > 0 and score > scores[at - 1]:
        scores[at] = scores[at - 1]
        work.parent[step, at], work.choice[step, at] = work.parent[step, at - 1], work.choice[step, at - 1]
        work.label[step, at] = work.label[step, at - 1]
        states[at, features.GOLD] = states[at - 1, features.GOLD]
        at -= 1
    scores[at] = score
    work.parent[step, at], work.choice[step, at], work.label[step, at] = parent, choice, label
    states[at, features.GOLD] = gold
    return min(size + 1, width)


@kernel_only_no_refcount
def search(model, data, work, sentence, local, width, forced, gold_label, gold_choice, learn, margin):
    """The best derivation that the beam finds, in the back pointers.

    Args:
        local: (T, R) scores of roles.
        width: B.
        forced: (T,) labels that are prescribed, or `FREE`.
        gold_label: (T,) labels of the gold derivation.
        gold_choice: (T,) choice of the gold entity whose last token it is.
        margin: added to the score of each label and choice that is not the gold derivation's.
        learn: whether to stop where the gold derivation has left the beam (Collins and Roark 2004).

    Returns:
        How many steps were taken, and whether the best derivation after the last of them is the gold one.
    """
    length = shared.prepare(model, data, work, sentence)
    base = data.offsets[sentence]
    words, program, values = data.words, model.program, work.values
    now, after = np.int64(0), np.int64(1)
    nothing_closed = np.int64(-1)
    start(work.states[now, 0])
    work.states[now, 0, features.GOLD] = 1
    work.scores[now, 0] = 0.0
    size = 1
    for i in range(length + 1):
        new = np.int64(0)
        work.near.used[0] = work.far.used[0] = 0
        wanted = forced[base + i] if i < length else 0
        labels = 1 + model.types if i < length else 1
        for slot in range(size):
            old = work.states[now, slot]
            score = work.scores[now, slot]
            on_gold = old[features.GOLD] == 1
            previous, first = old[features.LABEL1], old[features.OPEN]
            if first < 0:
                far = shared.far(model, work, old, labels)
                near = shared.near(model, work, old, labels)
                for option in range(labels):
                    label = shared.label_at(option)
                    if wanted != FREE and label != wanted:
                        continue
                    gold = 0
                    value = score
                    if i < length:
                        value += local[i, label] + local[i, role(model.types, previous, label)]
                        value += work.near.scores[near, option] + work.far.scores[far, option]
                        gold = np.int64(on_gold and gold_label[base + i] == label)
                        if gold_label[base + i] != label:
                            value += margin
                    else:
                        gold = np.int64(on_gold)
                    new = _offer(work, after, new, width, i, value, slot, nothing_closed, label, gold)
                continue
            kind = (previous - 1) // 2
            inside = 2 * kind + 2
            if i < length and i - first < model.longest and wanted in (FREE, inside):
                value = score + local[i, inside] + local[i, role(model.types, previous, inside)]
                span = work.span_at[first, i - first]
                known = np.int64(data.span_known[span]) if span >= 0 else 0
                n = features.append_keys(program, values, known, inside, work.keys)
                value += features.total(model.table, work.keys, n)
                gold = np.int64(on_gold and gold_label[base + i] == inside)
                if gold_label[base + i] != inside:
                    value += margin
                new = _offer(work, after, new, width, i, value, slot, nothing_closed, inside, gold)
            if wanted != FREE and wanted == inside:
                continue
            span = np.int64(work.span_at[first, i - first - 1])
            count = 0 if span < 0 else data.cand_ptr[span + 1] - data.cand_ptr[span]
            whole = score + shared.segment_score(model, data, work, sentence, first, i, kind)
            context = shared.context(old, 0, features.N2, i)
            between = features.between_entities(old, words, base, first)
            copy(old, work.spare)  # the action that closes an entity sees it as the last one
            push_entity(words, base, work.spare, first, i)
            far = shared.far(model, work, work.spare, labels)
            # what is learned is the same; without NIL it stays for what has no candidates
            nothing = count == 0 or learn or model.nil
            for choice in range(count + 1 if nothing else count):
                row = shared.choice_row(data, sentence, span, choice, first)
                concept, found = shared.concept_of(data, span, choice), shared.found_by(data, span, choice)
                if work.context[row] != context:
                    shared.look(model, data, work, sentence, i, old, concept, found, row, labels)
                    work.context[row] = context
                form = form_of(words, base, first, i, concept)
                n = features.close_far_keys(program, values, old, between, concept, form, first, kind, found, work.keys)
                closed = whole + work.choices[row] + work.closing[row] + features.total(model.table, work.keys, n)
                right = on_gold and gold_choice[base + i - 1] == choice
                if gold_choice[base + i - 1] != choice:
                    closed += margin
                for option in range(labels):
                    label = shared.label_at(option)
                    if wanted != FREE and label != wanted:
                        continue
                    value = closed
                    gold = np.int64(right)
                    if i < length:
                        value += local[i, label] + local[i, role(model.types, previous, label)]
                        value += work.following[row, option] + work.far.scores[far, option]
                        gold = np.int64(right and gold_label[base + i] == label)
                        if gold_label[base + i] != label:
                            value += margin
                    new = _offer(work, after, new, width, i, value, slot, choice, label, gold)
        on = False
        for slot in range(new):
            on |= work.states[after, slot, features.GOLD] == 1
            _succeed(model, data, work, base, length, now, after, slot, i)
        size = new
        now, after = after, now
        if learn and not on:
            return i + 1, False
    return length + 1, work.states[now, 0, features.GOLD] == 1


@kernel_only_no_refcount
def _succeed(model, data, work, base, length, now, after, slot, i):
    """The state of a derivation that was taken into the next beam."""
    target = work.states[after, slot]
    gold = target[features.GOLD]
    copy(work.states[now, work.parent[i, slot]], target)
    target[features.GOLD] = gold
    choice = np.int64(work.choice[i, slot])
    if choice >= 0:
        first = target[features.OPEN]
        concept = shared.concept_of(data, np.int64(work.span_at[first, i - first - 1]), choice)
        close(model.forms, data.words, base, target, i, concept)
    if i < length:
        enter(data.words, base, target, i, np.int64(work.label[i, slot]))
