"""The beam search of Lou et al. (2017), algorithm 1, and the walk that lists a derivation's features.

A derivation gives each token a label (0 outside, 1 + 2k the first of an entity of type k, 2 + 2k a further one), and
each entity a choice: the number of a candidate of its span, or one past the last for none. An entity is closed by the
action that follows it (SEPNOR, or a plain SEP where it is linked to nothing), and one more step closes what the last
token leaves open.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanloom.kernels import inner
from spanloom.link import kernels_features as features
from spanloom.link.kernels_states import close, copy, enter, role, start
from spanloom.link.kernels_table import ZERO, Table, mix

FREE = -1  # a label that is not prescribed


class Model(NamedTuple):
    """What scores derivations.

    Args:
        table: weights of the features of states, segments and candidates.
        forms: the concepts' names.
        groups: which templates, as bits.
        types: K.
        longest: tokens of an entity, at most.
    """

    table: Table
    forms: features.Forms
    groups: int
    types: int
    longest: int


class Workspace(NamedTuple):
    """Scratch memory for sentences of up to T tokens with a beam of B; it belongs to the caller.

    Args:
        states: (2, B + 1, WIDTH) of this step and the next; the last one is the gold derivation's.
        scores: (2, B + 1).
        parent, choice, label: (T + 1, B + 1) back pointers.
        span_at: (T, longest) number of the span that begins here and has so many tokens, -1 if there is none.
        segments: (T, longest, K) scores of entities; NaN where not computed.
        choices: scores of the sentence's candidates, of linking each of its spans to nothing, and of linking what is
            none of them to nothing.
        context, closing, following: for each of ``choices`` a state, the score of choosing it there, and with each
            next label.
        spare: a state.
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
    spare: NDArray[np.int64]
    linked: NDArray[np.int64]
    keys: NDArray[np.uint64]


@inner
def concept_of(data, span, choice):
    """The concept of a choice, -1 for none."""
    if span < 0 or choice >= data.cand_ptr[span + 1] - data.cand_ptr[span]:
        return np.int64(-1)
    return np.int64(data.cand_concept[data.cand_ptr[span] + choice])


@inner
def found_by(data, span, choice):
    """How the candidate of a choice was found."""
    if span < 0 or choice >= data.cand_ptr[span + 1] - data.cand_ptr[span]:
        return np.int64(0)
    return np.int64(data.cand_class[data.cand_ptr[span] + choice])


@inner
def _weigh(model, data, work, sentence, span, choice):
    row = choice_row(data, sentence, span, choice)
    n = features.candidate_keys(model.groups, data, span, choice, work.keys)
    work.choices[row] = features.total(model.table, work.keys, n)
    work.context[row] = ZERO


@inner
def prepare(model, data, work, sentence):
    """Enter a sentence's spans, and score its candidates."""
    base = data.offsets[sentence]
    length = data.offsets[sentence + 1] - base
    for t in range(length):
        for size in range(model.longest):
            work.span_at[t, size] = -1
            for kind in range(model.types):
                work.segments[t, size, kind] = np.nan
    for span in range(data.span_ptr[sentence], data.span_ptr[sentence + 1]):
        size = data.span_end[span] - data.span_first[span]
        if size <= model.longest:
            work.span_at[data.span_first[span], size - 1] = span
        for choice in range(data.cand_ptr[span + 1] - data.cand_ptr[span] + 1):
            _weigh(model, data, work, sentence, span, choice)
    _weigh(model, data, work, sentence, np.int64(-1), np.int64(0))
    return length


@inner
def choice_row(data, sentence, span, choice):
    """The row of a choice in the workspace: candidates, then spans without a concept, then what is no span."""
    begin, stop = data.span_ptr[sentence], data.span_ptr[sentence + 1]
    candidates = data.cand_ptr[stop] - data.cand_ptr[begin]
    if span < 0:
        return candidates + stop - begin
    if choice < data.cand_ptr[span + 1] - data.cand_ptr[span]:
        return data.cand_ptr[span] + choice - data.cand_ptr[begin]
    return candidates + span - begin


@inner
def _context(state, i):
    """What of a state the features see that fire when its entity is closed at token i."""
    result = mix(features.NOTHING, np.uint64(i))
    for column in range(features.GOLD):
        result = mix(result, np.uint64(state[column]))
    return result


@inner
def _look(model, data, work, sentence, i, old, span, choice, row, labels):
    """The scores of closing the entity with a choice, and of each next label then; derivations share them."""
    base = data.offsets[sentence]
    length = data.offsets[sentence + 1] - base
    words = data.words
    word = words[base + i] if i < length else features.BEHIND
    concept = concept_of(data, span, choice)
    state = work.spare
    copy(old, state)
    close(model.forms, words, base, state, i, concept)
    linked = np.int64(concept >= 0 and work.linked[concept] == data.document[sentence] + 1)
    kind, first = (old[features.LABEL1] - 1) // 2, old[features.OPEN]
    language = data.language[min(base + i, len(words) - 1)]
    n = features.close_keys(model.groups, state, concept, base, first, kind, word, words, language, i < length,
                            found_by(data, span, choice), linked, work.keys)  # fmt: skip
    work.closing[row] = features.total(model.table, work.keys, n)
    for option in range(labels):
        label = 0 if option == 0 else 2 * option - 1
        n = features.next_keys(model.groups, state, word, label, work.keys)
        work.following[row, option] = features.total(model.table, work.keys, n)


@inner
def segment_score(model, data, work, sentence, first, end, kind):
    """The score of an entity's own words and of its span, computed when first asked for."""
    value = work.segments[first, end - first - 1, kind]
    if np.isnan(value):
        base = data.offsets[sentence]
        length = data.offsets[sentence + 1] - base
        span = np.int64(work.span_at[first, end - first - 1])
        n = features.segment_keys(model.groups, data, base, length, first, end, span, kind, work.keys)
        value = features.total(model.table, work.keys, n)
        work.segments[first, end - first - 1, kind] = value
    return value


@inner
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


@inner
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
    length = prepare(model, data, work, sentence)
    base = data.offsets[sentence]
    words = data.words
    now, after = np.int64(0), np.int64(1)
    nothing_closed = np.int64(-1)
    start(work.states[now, 0])
    work.states[now, 0, features.GOLD] = 1
    work.scores[now, 0] = 0.0
    size = 1
    for i in range(length + 1):
        new = np.int64(0)
        word = words[base + i] if i < length else features.BEHIND
        wanted = forced[base + i] if i < length else 0
        labels = 1 + model.types if i < length else 1
        for slot in range(size):
            old = work.states[now, slot]
            score = work.scores[now, slot]
            on_gold = old[features.GOLD] == 1
            previous, first = old[features.LABEL1], old[features.OPEN]
            if first < 0:
                for option in range(labels):
                    label = 0 if option == 0 else 2 * option - 1
                    if wanted != FREE and label != wanted:
                        continue
                    gold = 0
                    value = score
                    if i < length:
                        value += local[i, label] + local[i, role(model.types, previous, label)]
                        n = features.next_keys(model.groups, old, word, label, work.keys)
                        value += features.total(model.table, work.keys, n)
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
                n = features.append_keys(model.groups, known, inside, work.keys)
                value += features.total(model.table, work.keys, n)
                gold = np.int64(on_gold and gold_label[base + i] == inside)
                if gold_label[base + i] != inside:
                    value += margin
                new = _offer(work, after, new, width, i, value, slot, nothing_closed, inside, gold)
            if wanted != FREE and wanted == inside:
                continue
            span = np.int64(work.span_at[first, i - first - 1])
            count = 0 if span < 0 else data.cand_ptr[span + 1] - data.cand_ptr[span]
            whole = score + segment_score(model, data, work, sentence, first, i, kind)
            context = _context(old, i)
            # what is learned is the same; without NIL it stays for what has no candidates
            nothing = count == 0 or learn or model.groups & features.NIL
            for choice in range(count + 1 if nothing else count):
                row = choice_row(data, sentence, span, choice)
                if work.context[row] != context:
                    _look(model, data, work, sentence, i, old, span, choice, row, labels)
                    work.context[row] = context
                closed = whole + work.choices[row] + work.closing[row]
                right = on_gold and gold_choice[base + i - 1] == choice
                if gold_choice[base + i - 1] != choice:
                    closed += margin
                for option in range(labels):
                    label = 0 if option == 0 else 2 * option - 1
                    if wanted != FREE and label != wanted:
                        continue
                    value = closed
                    gold = np.int64(right)
                    if i < length:
                        value += local[i, label] + local[i, role(model.types, previous, label)]
                        value += work.following[row, option]
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


@inner
def _succeed(model, data, work, base, length, now, after, slot, i):
    """The state of a derivation that was taken into the next beam."""
    target = work.states[after, slot]
    gold = target[features.GOLD]
    copy(work.states[now, work.parent[i, slot]], target)
    target[features.GOLD] = gold
    choice = np.int64(work.choice[i, slot])
    concept = np.int64(-1)
    if choice >= 0:
        first = target[features.OPEN]
        concept = concept_of(data, np.int64(work.span_at[first, i - first - 1]), choice)
        close(model.forms, data.words, base, target, i, concept)
    if i < length:
        enter(data.words, base, target, i, np.int64(work.label[i, slot]), choice >= 0, concept)


@inner
def trace(work, steps, slot, labels, choices):
    """The labels of the derivation that ends in a slot of the beam after some steps, and the choices at its actions.

    Args:
        labels, choices: (steps,), output; the choice of an action that closes nothing is -1.
    """
    for i in range(steps - 1, -1, -1):
        labels[i], choices[i] = work.label[i, slot], work.choice[i, slot]
        slot = work.parent[i, slot]


@inner
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
    words = data.words
    document = data.document[sentence] + 1
    state = np.empty(features.WIDTH, np.int64)
    start(state)
    roles = n = 0
    for i in range(steps):
        label, choice = np.int64(labels[i]), np.int64(choices[i])
        previous, first = state[features.LABEL1], state[features.OPEN]
        word = words[base + i] if i < length else features.BEHIND
        language = data.language[min(base + i, len(words) - 1)]
        emit = i >= begin
        concept = np.int64(-1)
        if choice >= 0:
            kind = (previous - 1) // 2
            span = np.int64(work.span_at[first, i - first - 1])
            concept = concept_of(data, span, choice)
            close(model.forms, words, base, state, i, concept)
            if emit:
                linked = np.int64(concept >= 0 and work.linked[concept] == document)
                n += features.segment_keys(model.groups, data, base, length, first, i, span, kind, out_keys[n:])
                n += features.candidate_keys(model.groups, data, span, choice, out_keys[n:])
                n += features.close_keys(model.groups, state, concept, base, first, kind, word, words, language,
                                         i < length, found_by(data, span, choice), linked, out_keys[n:])  # fmt: skip
        if i == length:
            break
        if emit:
            out_roles[roles, 0], out_roles[roles, 1] = i, label
            out_roles[roles + 1, 0], out_roles[roles + 1, 1] = i, role(model.types, previous, label)
            roles += 2
            if label > 0 and label % 2 == 0:
                span = work.span_at[first, i - first]
                known = np.int64(data.span_known[span]) if span >= 0 else 0
                n += features.append_keys(model.groups, known, label, out_keys[n:])
            else:
                n += features.next_keys(model.groups, state, word, label, out_keys[n:])
        enter(words, base, state, i, label, choice >= 0, concept)
    return roles, n


@inner
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
