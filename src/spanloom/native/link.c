/* Linking: the beam search of Lou et al. (2017), algorithm 1, and the structured perceptron with early update,
   algorithm 2.

   A derivation gives each token a label (0 outside, 1 + 2k the first of an entity of type k, 2 + 2k a further one), and
   each entity a choice: the number of a candidate of its span, or one past the last for none. An entity is closed by
   the action that follows it (SEPNOR, or a plain SEP where it is linked to nothing), and one more step closes what the
   last token leaves open.

   The derivations of a beam differ in few things: what the last segments show is the same for all that agree in those,
   and what the entities before them show is the same for all that agree in these. Each score is computed once. */
#include "link.h"

#define FREE (-1)     /* a label that is not prescribed */
#define STEP_KEYS 192 /* that the steps of a derivation have each, at most */

/* Whether all numbers of the arguments are valid, and whether there is room for all keys. */
static int fits(const BeamModel *model, const LinkData *data, const Workspace *work) {
    u64_1 program = model->program;
    const WeightTable *table = &model->table;
    int64_t sentences = data->document.n, spans = data->span_first.n, candidates = data->cand_concept.n;
    int64_t keys[PHASES] = {0};
    int64_t tokens = data->words.n, steps = work->parent.n, longest = model->longest, rows = work->choices.n;
    if (table->slots.n < 2 || (table->slots.n & (table->slots.n - 1)) || table->used.at[0] < 0) return 0;
    if (table->weights.n > table->keys.n || table->used.at[0] > table->weights.n) return 0;
    if (program.n < PHASES + 1 || model->types < 1 || longest < 1) return 0;
    for (int phase = 0; phase < PHASES; phase++) { /* the templates of each phase end where the next begins */
        uint64_t at = program.at[phase], end = program.at[phase + 1];
        if (at > end || end > (uint64_t)program.n) return 0;
        while (at < end) {
            if (end - at < 2 || program.at[at + 1] > end - at - 2) return 0;
            uint64_t last = at + 2 + program.at[at + 1];
            for (uint64_t i = at + 2; i < last; i++)
                if (program.at[i] >= VALUES) return 0;
            keys[phase]++;
            at = last;
        }
    }
    int64_t closing = keys[CLOSE] + keys[CLOSE_SEVERAL] + keys[CLOSE_LAST], segment = keys[SEGMENT] + data->span_keys.l;
    int64_t candidate = most(keys[UNPROPOSED], most(data->cand_keys.m, data->nil_keys.m));
    int64_t next = most(keys[APPEND], keys[NEXT] + keys[NEXT_FAR]);
    if (most(most(closing, segment), most(most(candidate, next), keys[CLOSE_FAR])) > work->keys.n) return 0;
    if (closing + segment + candidate + next + keys[CLOSE_FAR] > STEP_KEYS) return 0;
    if (data->span_keys.m < model->types || data->language.m != 2) return 0;
    if (work->span_at.n < steps || work->span_at.m < longest || work->segments.l < model->types) return 0;
    if (work->following.m < 1 + model->types || work->near.scores.m < 1 + model->types) return 0;
    if (work->states.m != work->parent.m || work->states.l != WIDTH || work->linked.n < model->forms.size.n) return 0;
    for (int64_t s = 0; s < spans; s++)
        if (data->cand_ptr.at[s] < 0 || data->cand_ptr.at[s] > data->cand_ptr.at[s + 1]) return 0;
    if (data->cand_ptr.at[spans] > candidates) return 0;
    for (int64_t n = 0; n < sentences; n++) {
        int64_t first = data->offsets.at[n], end = data->offsets.at[n + 1];
        int64_t begin = data->span_ptr.at[n], stop = data->span_ptr.at[n + 1];
        if (first < 0 || first > end || end > tokens || end - first >= steps) return 0;
        if (data->document.at[n] < 0 || data->document.at[n] > INT32_MAX) return 0;
        int64_t length = end - first;
        if (begin < 0 || begin > stop || stop > spans) return 0;
        for (int64_t s = begin; s < stop; s++) {
            if (data->span_first.at[s] < 0 || data->span_end.at[s] <= data->span_first.at[s]) return 0;
            if (data->span_end.at[s] > length) return 0;
        }
        if (data->cand_ptr.at[stop] - data->cand_ptr.at[begin] + stop - begin + length + 1 > rows) return 0;
    }
    for (int64_t c = 0; c < candidates; c++)
        if (data->cand_concept.at[c] < 0 || data->cand_concept.at[c] >= model->forms.size.n) return 0;
    return 1;
}

/* ------------------------------------------------------------------------------------------------------- shared scores
 */

/* What a search works on. */
typedef struct {
    const BeamModel *model;
    const LinkData *data;
    const Workspace *work;
    int64_t sentence, base, length, document;
    const uint64_t *words; /* of the sentence */
} search;

static inline int64_t *state_of(const search *s, int64_t step, int64_t slot) {
    return &AT3(s->work->states, step, slot, 0);
}

/* The span from a token that has so many tokens; -1 for none. */
static inline int64_t span_of(const search *s, int64_t first, int64_t size) {
    return size <= s->model->longest ? AT2(s->work->span_at, first, size - 1) : -1;
}

static inline const uint8_t *language_at(const search *s, int64_t i) {
    return i < s->length ? &AT2(s->data->language, s->base + i, 0) : NULL;
}

/* The row of a choice in the workspace: candidates, then spans without a concept, then what is no span. */
static int64_t choice_row(const search *s, int64_t span, int64_t choice, int64_t first) {
    const LinkData *data = s->data;
    int64_t begin = data->span_ptr.at[s->sentence], stop = data->span_ptr.at[s->sentence + 1];
    int64_t candidates = data->cand_ptr.at[stop] - data->cand_ptr.at[begin];
    if (span < 0) return candidates + stop - begin + first;
    if (choice < candidates_of(data, span)) return data->cand_ptr.at[span] + choice - data->cand_ptr.at[begin];
    return candidates + span - begin;
}

static float candidate_score(const search *s, int64_t span, int64_t choice) {
    int64_t n = candidate_keys(s->model->program, s->data, span, choice, s->work->keys.at);
    return total(&s->model->table, s->work->keys.at, n);
}

/* Enter a sentence's spans, and score its candidates. */
static search prepare(const BeamModel *model, const LinkData *data, const Workspace *work, int64_t sentence) {
    int64_t base = data->offsets.at[sentence], length = data->offsets.at[sentence + 1] - base;
    search s = {model, data, work, sentence, base, length, data->document.at[sentence], data->words.at + base};
    float nothing = candidate_score(&s, -1, 0);
    for (int64_t t = 0; t < length; t++) {
        for (int64_t size = 0; size < model->longest; size++) {
            AT2(work->span_at, t, size) = -1;
            for (int64_t kind = 0; kind < model->types; kind++) AT3(work->segments, t, size, kind) = NAN;
        }
        work->choices.at[choice_row(&s, -1, 0, t)] = nothing;
    }
    for (int64_t span = data->span_ptr.at[sentence]; span < data->span_ptr.at[sentence + 1]; span++) {
        int64_t size = data->span_end.at[span] - data->span_first.at[span];
        if (size <= model->longest) AT2(work->span_at, data->span_first.at[span], size - 1) = (int32_t)span;
        for (int64_t choice = 0; choice <= candidates_of(data, span); choice++)
            work->choices.at[choice_row(&s, span, choice, 0)] = candidate_score(&s, span, choice);
    }
    int64_t rows = choice_row(&s, -1, 0, length);
    memset(work->context.at, 0, (size_t)rows * sizeof *work->context.at);
    return s;
}

/* Some columns of a state and another number, as one. */
static uint64_t context_of(const int64_t *state, int begin, int end, int64_t other) {
    uint64_t result = mix(NOTHING, (uint64_t)other);
    for (int column = begin; column < end; column++) result = mix(result, (uint64_t)state[column]);
    return result;
}

/* The label that does not continue an entity, by number: O, or the first of an entity. */
static inline int64_t label_at(int64_t option) { return option == 0 ? 0 : 2 * option - 1; }

/* The row of a context among shared scores; `fresh` where it is a new one. */
static int64_t shared_row(const SharedScores *shared, uint64_t context, int *fresh) {
    int64_t size = shared->used.at[0];
    *fresh = 0;
    for (int64_t row = 0; row < size; row++)
        if (shared->contexts.at[row] == context) return row;
    *fresh = 1;
    shared->contexts.at[size] = context;
    shared->used.at[0] = size + 1;
    return size;
}

/* What each next label shows behind the last segments of a state. */
static const float *near_scores(const search *s, const int64_t *state, int64_t labels) {
    int fresh;
    int64_t row = shared_row(&s->work->near, context_of(state, 0, E1, 0), &fresh);
    float *scores = &AT2(s->work->near.scores, row, 0);
    for (int64_t option = 0; fresh && option < labels; option++) {
        int64_t n = next_keys(s->model->program, state, label_at(option), s->work->keys.at);
        scores[option] = total(&s->model->table, s->work->keys.at, n);
    }
    return scores;
}

/* What each next label shows behind the last entities of a state. */
static const float *far_scores(const search *s, const int64_t *state, int64_t labels) {
    int fresh;
    int64_t row = shared_row(&s->work->far, context_of(state, E1, E1_END, state[LABEL1]), &fresh);
    float *scores = &AT2(s->work->far.scores, row, 0);
    for (int64_t option = 0; fresh && option < labels; option++) {
        int64_t n = next_far_keys(s->model->program, state, label_at(option), s->work->keys.at);
        scores[option] = total(&s->model->table, s->work->keys.at, n);
    }
    return scores;
}

static inline int is_linked(const search *s, int64_t concept) {
    return concept >= 0 && s->work->linked.at[concept] == s->document + 1;
}

/* The score of closing the entity with a choice, and of each next label then, as far as segments show. */
static void look(const search *s, int64_t i, const int64_t *old, int64_t concept, int64_t found, int64_t row,
                 int64_t labels) {
    const Workspace *work = s->work;
    u64_1 program = s->model->program;
    int64_t state[WIDTH];
    memcpy(state, old, sizeof state);
    close_entity(&s->model->forms, s->words, state, i, concept);
    uint64_t word = i < s->length ? s->words[i] : BEHIND;
    int64_t n =
        close_keys(program, state, concept, word, language_at(s, i), found, is_linked(s, concept), work->keys.at);
    work->closing.at[row] = total(&s->model->table, work->keys.at, n);
    for (int64_t option = 0; option < labels; option++) {
        n = next_keys(program, state, label_at(option), work->keys.at);
        AT2(work->following, row, option) = total(&s->model->table, work->keys.at, n);
    }
}

/* The score of an entity's own words and of its span, computed when first asked for. */
static float segment_score(const search *s, int64_t first, int64_t end, int64_t kind) {
    float *value = &AT3(s->work->segments, first, end - first - 1, kind);
    if (isnan(*value)) {
        int64_t span = AT2(s->work->span_at, first, end - first - 1);
        uint64_t *keys = s->work->keys.at;
        int64_t n = segment_keys(s->model->program, s->data, s->base, s->length, first, end, span, kind, keys);
        *value = total(&s->model->table, keys, n);
    }
    return *value;
}

/* --------------------------------------------------------------------------------------------------------- beam search
 */

/* A derivation that may continue: back pointers, and whether it is the gold one so far. */
typedef struct {
    double score;
    int64_t parent, choice, label, gold;
} offer;

/* Put a derivation into the next beam, which is kept sorted; of equal ones the first offered is the better. */
static int64_t put(const Workspace *work, int64_t after, int64_t size, int64_t width, int64_t step, offer given) {
    double *scores = &AT2(work->scores, after, 0);
    int32_t *parent = &AT2(work->parent, step, 0), *choice = &AT2(work->choice, step, 0),
            *label = &AT2(work->label, step, 0);
    if (size == width && !(given.score > scores[size - 1])) return size;
    int64_t at = least(size, width - 1);
    for (; at > 0 && given.score > scores[at - 1]; at--) {
        scores[at] = scores[at - 1];
        parent[at] = parent[at - 1];
        choice[at] = choice[at - 1];
        label[at] = label[at - 1];
        AT3(work->states, after, at, GOLD) = AT3(work->states, after, at - 1, GOLD);
    }
    scores[at] = given.score;
    parent[at] = (int32_t)given.parent;
    choice[at] = (int32_t)given.choice;
    label[at] = (int32_t)given.label;
    AT3(work->states, after, at, GOLD) = given.gold;
    return least(size + 1, width);
}

/* The state of a derivation that was taken into the next beam. */
static void succeed(const search *s, int64_t now, int64_t after, int64_t slot, int64_t i) {
    const Workspace *work = s->work;
    int64_t *target = state_of(s, after, slot), gold = target[GOLD];
    memcpy(target, state_of(s, now, AT2(work->parent, i, slot)), WIDTH * sizeof *target);
    target[GOLD] = gold;
    int64_t choice = AT2(work->choice, i, slot), first = target[OPEN];
    if (choice >= 0) {
        int64_t concept = concept_of(s->data, span_of(s, first, i - first), choice);
        close_entity(&s->model->forms, s->words, target, i, concept);
    }
    if (i < s->length) enter_token(s->words, target, i, AT2(work->label, i, slot));
}

/* What is known of the gold derivation of a sentence, and what labels are prescribed. */
typedef struct {
    const int32_t *forced, *label, *choice; /* of the sentence's tokens */
    int learn;     /* whether to stop where the gold derivation has left the beam (Collins and Roark 2004) */
    double margin; /* added to the score of each label and choice that is not the gold derivation's */
} given_labels;

/* The best derivation that the beam finds, in the back pointers. Returns how many steps were taken; `right`: whether
   the best derivation after the last of them is the gold one.

   At each token every derivation in the beam continues in all ways that are allowed: an open entity is continued or
   closed with each choice, and then, as without one, comes each label that does not continue it. */
static int64_t find_best(const search *s, f32_2 local, int64_t width, given_labels gold, int *right) {
    const BeamModel *model = s->model;
    const LinkData *data = s->data;
    const Workspace *work = s->work;
    int64_t now = 0, after = 1, size = 1, length = s->length, types = model->types;
    start_state(state_of(s, now, 0));
    state_of(s, now, 0)[GOLD] = 1;
    AT2(work->scores, now, 0) = 0.0;
    for (int64_t i = 0; i <= length; i++) {
        int64_t new = 0, forced = i < length ? gold.forced[i] : 0, labels = i < length ? 1 + types : 1;
        const float *scores = i < length ? &AT2(local, i, 0) : NULL;
        work->near.used.at[0] = work->far.used.at[0] = 0;
        for (int64_t slot = 0; slot < size; slot++) {
            const int64_t *old = state_of(s, now, slot);
            double score = AT2(work->scores, now, slot);
            int on_gold = old[GOLD] == 1;
            int64_t previous = old[LABEL1], first = old[OPEN];
            if (first < 0) { /* no entity is open */
                const float *far = far_scores(s, old, labels), *near = near_scores(s, old, labels);
                for (int64_t option = 0; option < labels; option++) {
                    int64_t label = label_at(option);
                    if (forced != FREE && label != forced) continue;
                    offer next = {score, slot, -1, label, on_gold};
                    if (i < length) {
                        next.score += scores[label] + scores[role_of(types, previous, label)];
                        next.score += near[option] + far[option];
                        next.gold = on_gold && gold.label[i] == label;
                        if (gold.label[i] != label) next.score += gold.margin;
                    }
                    new = put(work, after, new, width, i, next);
                }
                continue;
            }
            int64_t kind = (previous - 1) / 2, inside = 2 * kind + 2; /* 1. the entity continues */
            if (i < length && i - first < model->longest && (forced == FREE || forced == inside)) {
                offer next = {score + (scores[inside] + scores[role_of(types, previous, inside)]), slot, -1, inside, 0};
                int64_t span = span_of(s, first, i - first + 1);
                int64_t n = append_keys(model->program, span >= 0 && data->span_known.at[span], inside, work->keys.at);
                next.score += total(&model->table, work->keys.at, n);
                next.gold = on_gold && gold.label[i] == inside;
                if (gold.label[i] != inside) next.score += gold.margin;
                new = put(work, after, new, width, i, next);
            }
            if (forced != FREE && forced == inside) continue;
            int64_t span = span_of(s, first, i - first), count = candidates_of(data, span); /* 2. it ends */
            double whole = score + segment_score(s, first, i, kind);
            uint64_t context = context_of(old, 0, N2, i), between = between_entities(old, s->words, first);
            int64_t closed_state[WIDTH]; /* the action that closes an entity sees it as the last one */
            memcpy(closed_state, old, sizeof closed_state);
            push_entity(s->words, closed_state, first, i);
            const float *far = far_scores(s, closed_state, labels);
            /* what is learned is the same; without NIL it stays for what has no candidates */
            int nothing = count == 0 || gold.learn || model->nil;
            for (int64_t choice = 0; choice < count + nothing; choice++) {
                int64_t row = choice_row(s, span, choice, first);
                int64_t concept = concept_of(data, span, choice), found = found_by(data, span, choice);
                if (work->context.at[row] != context) {
                    look(s, i, old, concept, found, row, labels);
                    work->context.at[row] = context;
                }
                uint64_t form = form_of(s->words, first, i, concept);
                int64_t n =
                    close_far_keys(model->program, old, between, concept, form, first, kind, found, work->keys.at);
                double closed = whole + work->choices.at[row] + work->closing.at[row];
                closed += total(&model->table, work->keys.at, n);
                int is_right = on_gold && gold.choice[i - 1] == choice;
                if (gold.choice[i - 1] != choice) closed += gold.margin;
                for (int64_t option = 0; option < labels; option++) {
                    int64_t label = label_at(option);
                    if (forced != FREE && label != forced) continue;
                    offer next = {closed, slot, choice, label, is_right};
                    if (i < length) {
                        next.score += scores[label] + scores[role_of(types, previous, label)];
                        next.score += AT2(work->following, row, option) + far[option];
                        next.gold = is_right && gold.label[i] == label;
                        if (gold.label[i] != label) next.score += gold.margin;
                    }
                    new = put(work, after, new, width, i, next);
                }
            }
        }
        int on = 0;
        for (int64_t slot = 0; slot < new; slot++) {
            on |= state_of(s, after, slot)[GOLD] == 1;
            succeed(s, now, after, slot, i);
        }
        size = new;
        now = after;
        after = 1 - after;
        if (gold.learn && !on) {
            *right = 0;
            return i + 1;
        }
    }
    *right = state_of(s, now, 0)[GOLD] == 1;
    return length + 1;
}

/* --------------------------------------------------------------------------------------------------------- derivations
 */

/* The labels of the best derivation after some steps, and the choices at its actions, -1 where one closes nothing. */
static void trace(const Workspace *work, int64_t steps, int32_t *labels, int32_t *choices) {
    for (int64_t i = steps - 1, slot = 0; i >= 0; i--) {
        labels[i] = AT2(work->label, i, slot);
        choices[i] = AT2(work->choice, i, slot);
        slot = AT2(work->parent, i, slot);
    }
}

/* Whether labels and choices are a derivation's, so that it can be walked. */
static int can_be_walked(const search *s, const int32_t *labels, const int32_t *choices, int64_t steps) {
    int64_t open = -1, count = 2 * s->model->types;
    if (steps < 0 || steps > s->length + 1) return 0;
    for (int64_t i = 0; i < steps; i++) {
        int inside = i < s->length && labels[i] > 0 && labels[i] % 2 == 0;
        if (i < s->length && (labels[i] < 0 || labels[i] > count)) return 0;
        if ((choices[i] >= 0) != (open >= 0 && !inside) || (inside && open < 0)) return 0;
        if (!inside) open = i < s->length && labels[i] ? i : -1;
    }
    return 1;
}

/* The features of a derivation's actions from `begin` to `steps`: token and role, and keys. */
static void walk(const search *s, const int32_t *labels, const int32_t *choices, int64_t begin, int64_t steps,
                 int64_t *out_roles, int64_t *roles, uint64_t *out_keys, int64_t *keys) {
    const BeamModel *model = s->model;
    const LinkData *data = s->data;
    u64_1 program = model->program;
    int64_t state[WIDTH], n = 0, count = 0;
    start_state(state);
    for (int64_t i = 0; i < steps; i++) {
        int64_t label = labels[i], choice = choices[i], previous = state[LABEL1], first = state[OPEN];
        int emit = i >= begin;
        if (choice >= 0) {
            int64_t kind = (previous - 1) / 2, span = span_of(s, first, i - first);
            int64_t concept = concept_of(data, span, choice), found = found_by(data, span, choice);
            if (emit) {
                uint64_t between = between_entities(state, s->words, first),
                         form = form_of(s->words, first, i, concept);
                n += segment_keys(program, data, s->base, s->length, first, i, span, kind, out_keys + n);
                n += candidate_keys(program, data, span, choice, out_keys + n);
                n += close_far_keys(program, state, between, concept, form, first, kind, found, out_keys + n);
            }
            close_entity(&model->forms, s->words, state, i, concept);
            if (emit) {
                uint64_t word = i < s->length ? s->words[i] : BEHIND;
                n += close_keys(program, state, concept, word, language_at(s, i), found, is_linked(s, concept),
                                out_keys + n);
            }
        }
        if (i == s->length) break;
        if (emit) {
            const int64_t both[4] = {i, label, i, role_of(model->types, previous, label)};
            memcpy(out_roles + 2 * count, both, sizeof both);
            count += 2;
            if (label > 0 && label % 2 == 0) {
                int64_t span = span_of(s, first, i - first + 1);
                n += append_keys(program, span >= 0 && data->span_known.at[span], label, out_keys + n);
            } else {
                n += next_keys(program, state, label, out_keys + n);
                n += next_far_keys(program, state, label, out_keys + n);
            }
        }
        enter_token(s->words, state, i, label);
    }
    *roles = count;
    *keys = n;
}

/* Note the concepts of a derivation, so that later sentences of the document see them. */
static void note_links(const search *s, const int32_t *labels, const int32_t *choices) {
    int64_t first = 0;
    for (int64_t i = 0; i <= s->length; i++) {
        if (choices[i] >= 0) {
            int64_t concept = concept_of(s->data, span_of(s, first, i - first), choices[i]);
            if (concept >= 0) s->work->linked.at[concept] = s->document + 1;
        }
        if (i < s->length && labels[i] % 2 == 1) first = i;
    }
}

/* ------------------------------------------------------------------------------------------------------------- kernels
 */

static int update(const link_train_arguments *a, int64_t base, const int64_t *roles, int64_t count,
                  const uint64_t *keys, int64_t size, double sign, double step) {
    for (int64_t j = 0; j < count; j++) {
        int64_t t = base + roles[2 * j], r = roles[2 * j + 1];
        for (int64_t i = a->offsets.at[t]; i < a->offsets.at[t + 1]; i++) {
            double delta = sign * a->values.at[i];
            AT2(a->weights, a->indices.at[i], r) += (float)delta;
            AT2(a->sums, a->indices.at[i], r) += delta * step;
        }
    }
    for (int64_t j = 0; j < size; j++)
        if (!change(&a->model.table, keys[j], sign, step)) return 0;
    return 1;
}

/* Whether the sparse features, gold labels and history of training are valid indices. */
static int can_be_learned(const link_train_arguments *a) {
    const LinkData *data = &a->data;
    int64_t tokens = data->words.n, features = a->weights.n, labels = 1 + 2 * a->model.types;
    if (a->offsets.n != tokens + 1 || a->weights.m < 2 + 7 * a->model.types || a->local.m != a->weights.m) return 0;
    if (a->local.n < a->work.parent.n - 1 || a->model.table.sums.n < a->model.table.keys.n) return 0;
    for (int64_t t = 0; t < tokens; t++) {
        if (a->offsets.at[t] < 0 || a->offsets.at[t] > a->offsets.at[t + 1] || a->offsets.at[t + 1] > a->indices.n)
            return 0;
        if (a->gold_label.at[t] < 0 || a->gold_label.at[t] >= labels) return 0;
    }
    for (int64_t i = 0; i < a->indices.n; i++)
        if (a->indices.at[i] < 0 || a->indices.at[i] >= features) return 0;
    if (!lie_below(a->concepts, a->work.linked.n)) return 0;
    for (int64_t n = 0; n < data->document.n; n++) {
        int64_t document = data->document.at[n];
        if (document < 0 || document + 1 >= a->ptr.n) return 0;
        if (a->ptr.at[document] < 0 || a->ptr.at[document + 1] > a->concepts.n) return 0;
    }
    for (int64_t place = 0; place < a->order.n; place++)
        if (a->order.at[place] < 0 || a->order.at[place] >= data->document.n) return 0;
    return 1;
}

/* For each sentence: search; where the best derivation is not the gold one, add the features of the gold derivation
   from the first action in which they differ, and take off those of the other. */
int64_t spanloom_link_train(const link_train_arguments *a) {
    const LinkData *data = &a->data;
    const Workspace *work = &a->work;
    if (!fits(&a->model, data, work) || !can_be_learned(a) || a->width < 1 || a->width >= work->states.m)
        return BAD_INDEX;
    if (a->width > work->near.contexts.n || a->width > work->far.contexts.n) return BAD_INDEX;
    memory own = {0};
    int64_t steps = work->parent.n, updates = 0, step = a->step;
    int32_t *labels = TAKE(&own, int32_t, steps), *choices = TAKE(&own, int32_t, steps);
    int32_t *right_labels = TAKE(&own, int32_t, steps), *right_choices = TAKE(&own, int32_t, steps);
    int64_t *roles = TAKE(&own, int64_t, 4 * steps), count, size, place = a->begin;
    uint64_t *keys = TAKE(&own, uint64_t, steps *STEP_KEYS);
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (; place < a->order.n; place++) {
        int64_t n = a->order.at[place], base = data->offsets.at[n], length = data->offsets.at[n + 1] - base;
        int64_t document = data->document.at[n];
        if (a->model.table.used.at[0] + 2 * STEP_KEYS * (length + 1) > a->model.table.keys.n) break;
        step++;
        for (int64_t j = a->ptr.at[document]; j < a->ptr.at[document + 1]; j++)
            work->linked.at[a->concepts.at[j]] = a->sentences.at[j] < n ? document + 1 : 0;
        for (int64_t t = 0; t < length; t++) {
            float *row = &AT2(a->local, t, 0);
            memset(row, 0, (size_t)a->local.m * sizeof *row);
            for (int64_t i = a->offsets.at[base + t]; i < a->offsets.at[base + t + 1]; i++) {
                const float *source = &AT2(a->weights, a->indices.at[i], 0);
                for (int64_t r = 0; r < a->local.m; r++) row[r] += a->values.at[i] * source[r];
            }
        }
        const int32_t *gold_label = a->gold_label.at + base, *gold_choice = a->gold_choice.at + base;
        given_labels gold = {a->forced.at + base, gold_label, gold_choice, 1, a->margin};
        search s = prepare(&a->model, data, work, n);
        int right;
        int64_t taken = find_best(&s, a->local, a->width, gold, &right), same = 0;
        if (right) continue;
        updates++;
        trace(work, taken, labels, choices);
        for (int64_t i = 0; i < taken; i++) {
            right_labels[i] = i < length ? gold_label[i] : 0;
            right_choices[i] = i > 0 && gold_choice[i - 1] >= 0 ? gold_choice[i - 1] : -1;
        }
        if (!can_be_walked(&s, right_labels, right_choices, taken)) return give_back(&own, BAD_INDEX);
        while (same < taken && labels[same] == right_labels[same] && choices[same] == right_choices[same]) same++;
        walk(&s, right_labels, right_choices, same, taken, roles, &count, keys, &size);
        if (!update(a, base, roles, count, keys, size, 1.0, (double)(step - 1))) return give_back(&own, BAD_INDEX);
        walk(&s, labels, choices, same, taken, roles, &count, keys, &size);
        if (!update(a, base, roles, count, keys, size, -1.0, (double)(step - 1))) return give_back(&own, BAD_INDEX);
    }
    a->reached.at[0] = place;
    a->reached.at[1] = updates;
    return give_back(&own, 0);
}

int64_t spanloom_link_predict(const link_predict_arguments *a) {
    const LinkData *data = &a->data;
    const Workspace *work = &a->work;
    if (!fits(&a->model, data, work) || a->width < 1 || a->width >= work->states.m) return BAD_INDEX;
    if (a->width > work->near.contexts.n || a->width > work->far.contexts.n) return BAD_INDEX;
    if (a->first < 0 || a->last > data->document.n || a->local.m < 2 + 7 * a->model.types) return BAD_INDEX;
    memory own = {0};
    int64_t steps = work->parent.n;
    int32_t *labels = TAKE(&own, int32_t, steps), *choices = TAKE(&own, int32_t, steps),
            *unused = TAKE(&own, int32_t, steps);
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t i = 0; i < steps; i++) unused[i] = -2;
    for (int64_t n = a->first; n < a->last; n++) {
        int64_t start = data->offsets.at[n], length = data->offsets.at[n + 1] - start, from = start - a->base;
        if (from < 0 || from + length > a->local.n) return give_back(&own, BAD_INDEX);
        f32_2 local = {a->local.at + from * a->local.m, length, a->local.m};
        given_labels gold = {a->forced.at + start, unused, unused, 0, 0.0};
        search s = prepare(&a->model, data, work, n);
        int right;
        int64_t taken = find_best(&s, local, a->width, gold, &right);
        trace(work, taken, labels, choices);
        a->out_score.at[n] = AT2(work->scores, (length + 1) % 2, 0);
        for (int64_t i = 0; i < length; i++) {
            a->out_label.at[start + i] = labels[i];
            a->out_choice.at[start + i] = choices[i + 1];
        }
        note_links(&s, labels, choices);
    }
    return give_back(&own, 0);
}

int64_t spanloom_link_search(const link_search_arguments *a) {
    const LinkData *data = &a->data;
    if (!fits(&a->model, data, &a->work) || a->width < 1 || a->width >= a->work.states.m) return BAD_INDEX;
    if (a->sentence < 0 || a->sentence >= data->document.n || a->width > a->work.near.contexts.n) return BAD_INDEX;
    int64_t base = data->offsets.at[a->sentence];
    given_labels gold = {
        a->forced.at + base, a->gold_label.at + base, a->gold_choice.at + base, a->learn != 0, a->margin,
    };
    search s = prepare(&a->model, data, &a->work, a->sentence);
    int right;
    int64_t taken = find_best(&s, a->local, a->width, gold, &right);
    if (a->labels.n < taken) return BAD_INDEX;
    trace(&a->work, taken, a->labels.at, a->choices.at);
    a->right.at[0] = right;
    return taken;
}

int64_t spanloom_link_walk(const link_walk_arguments *a) {
    if (!fits(&a->model, &a->data, &a->work)) return BAD_INDEX;
    if (a->sentence < 0 || a->sentence >= a->data.document.n) return BAD_INDEX;
    search s = prepare(&a->model, &a->data, &a->work, a->sentence);
    int64_t steps = a->steps;
    if (a->labels.n < steps || !can_be_walked(&s, a->labels.at, a->choices.at, steps)) return BAD_INDEX;
    if (a->note) {
        if (steps != s.length + 1) return BAD_INDEX;
        note_links(&s, a->labels.at, a->choices.at);
        return 0;
    }
    if (a->begin < 0 || a->roles.n < 2 * steps || a->keys.n < steps * STEP_KEYS) return BAD_INDEX;
    walk(&s, a->labels.at, a->choices.at, a->begin, steps, a->roles.at, &a->counts.at[0], a->keys.at, &a->counts.at[1]);
    return 0;
}

int64_t spanloom_link_weights(const link_weights_arguments *a) {
    for (int64_t i = 0; i < a->keys.n; i++) a->weights.at[i] = weight_of(&a->table, a->keys.at[i]);
    return 0;
}

int64_t spanloom_link_change(const link_change_arguments *a) {
    for (int64_t i = 0; i < a->keys.n; i++)
        if (!change(&a->table, a->keys.at[i], a->deltas.at[i], a->step)) return BAD_INDEX;
    return 0;
}

int64_t spanloom_link_role(const link_role_arguments *a) {
    if (a->types < 0 || a->types > INT32_MAX) return BAD_INDEX;
    int64_t labels = 1 + 2 * a->types;
    if (a->previous < 0 || a->previous >= labels || a->label < 0 || a->label >= labels) return BAD_INDEX;
    return role_of(a->types, a->previous, a->label);
}

int64_t spanloom_rivals(const rivals_arguments *a) {
    for (int64_t n = 0; n + 1 < a->ptr.n; n++) {
        if (a->ptr.at[n] < 0 || a->ptr.at[n + 1] > a->first.n) return BAD_INDEX;
        for (int64_t one = a->ptr.at[n]; one < a->ptr.at[n + 1]; one++)
            for (int64_t other = one + 1; other < a->ptr.at[n + 1]; other++) {
                if (a->first.at[other] >= a->end.at[one]) break;
                if (a->probability.at[other] > a->found.at[one]) a->found.at[one] = a->probability.at[other];
                if (a->probability.at[one] > a->found.at[other]) a->found.at[other] = a->probability.at[one];
            }
    }
    return 0;
}
