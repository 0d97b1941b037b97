/* The states of the linker's search, and the keys of their features: templates 2, 4b, 6 to 15 of Lou et al. (2017),
   Table 2, and ours.

   Templates define the conjunctions (`spanloom.link.templates`) and name values by their number; the values are
   computed here. What the words around a token show is not here: those are roles, scored before the search. What a
   segment and its candidates show whatever came before them is summed once a sentence. Only what depends on earlier
   choices is looked up for each state.

   A state is a row of int64 (hashes are kept bit for bit). Segments are entities, and single words outside of them; n
   is a segment's normal form: a concept's number, or a hash of the words themselves. */
#ifndef SPANLOOM_LINK_H
#define SPANLOOM_LINK_H

#include "hashing.h"
#include "spanloom.h"

/* Columns of a state: what is near, labels and segments, comes before what is far, entities. */
enum {
    LABEL1,
    LABEL2,
    OPEN,
    N1,
    N1_FIRST,
    N1_LAST,
    N1_SIZE,
    N2,
    N2_LAST,
    N2_SIZE,
    E1,
    E1_LAST,
    E2_LAST,
    E1_END,
    E1_CONCEPT,
    GOLD,
    WIDTH
};
/* Phases: which templates are read together. */
enum { APPEND, NEXT, NEXT_FAR, CLOSE, CLOSE_SEVERAL, CLOSE_LAST, CLOSE_FAR, SEGMENT, UNPROPOSED, PHASES };
#define NOTHING 0x51ED270B35A5F4C9ull /* a missing segment or entity */
#define BEHIND 0x7F4A7C15F39CC060ull  /* the word after the last */
#define NO_CONCEPT 0x3C6EF372FE94F82Bull
#define VALUES 14 /* the most that a phase has */

/* ------------------------------------------------------------------------------------------------------------ weights
 */

/* The weight of a key; 0 if it is unknown, and of key 0, which means that a feature is absent. */
static inline float weight_of(const WeightTable *table, uint64_t key) {
    if (key == 0) return 0.0f;
    uint64_t word = table->slots.at[find(table->slots, table->shift, key)];
    int64_t number = (int64_t)(word & LOW) - 1;
    return word != 0 && number < table->weights.n ? table->weights.at[number] : 0.0f;
}

/* Add to the weight of a key, which may be new; return whether there was room. */
static inline int change(const WeightTable *table, uint64_t key, double delta, double step) {
    if (key == 0) return 1;
    uint64_t slot = find(table->slots, table->shift, key);
    if (table->slots.at[slot] == 0) {
        if (table->used.at[0] < 0 || table->used.at[0] >= table->keys.n) return 0;
        table->keys.at[table->used.at[0]] = key;
        table->used.at[0] += 1;
        table->slots.at[slot] = (key << 32) | (uint64_t)table->used.at[0];
    }
    int64_t number = (int64_t)(table->slots.at[slot] & LOW) - 1;
    if (number < 0 || number >= least(table->weights.n, table->sums.n)) return 0;
    table->weights.at[number] += (float)delta;
    table->sums.at[number] += delta * step;
    return 1;
}

static inline float total(const WeightTable *table, const uint64_t *keys, int64_t n) {
    float sum = 0.0f;
    for (int64_t i = 0; i < n; i++) sum += weight_of(table, keys[i]);
    return sum;
}

/* ------------------------------------------------------------------------------------------------------------- states
 */

/* The role of a pair of labels: O, B and I of each type, O after each, B after O, B after an entity, I after B or I. */
static inline int64_t role_of(int64_t types, int64_t previous, int64_t label) {
    int64_t labels = 1 + 2 * types, base = labels + 1 + types;
    if (label == 0) return previous == 0 ? labels : labels + 1 + (previous - 1) / 2;
    int64_t kind = (label - 1) / 2;
    if (label % 2 == 1) return base + 2 * kind + (previous != 0);
    return base + 2 * types + 2 * kind + (previous == label);
}

/* The state before the first token. */
static inline void start_state(int64_t *state) {
    memset(state, 0, WIDTH * sizeof *state);
    state[OPEN] = state[E1_END] = -1;
    state[E1_CONCEPT] = -2;
    state[N1] = state[N1_FIRST] = state[N1_LAST] = state[N2] = state[N2_LAST] = (int64_t)NOTHING;
    state[E1] = state[E1_LAST] = state[E2_LAST] = (int64_t)NOTHING;
}

/* n of words that are linked to nothing, and e of a string. */
static inline uint64_t text_form(const uint64_t *words, int64_t first, int64_t end) {
    uint64_t state = NOTHING;
    for (int64_t t = first; t < end; t++) state = mix(state, words[t]);
    return state;
}

/* n of an entity; `words` are those of the sentence. */
static inline uint64_t form_of(const uint64_t *words, int64_t first, int64_t end, int64_t concept) {
    return concept >= 0 ? mix(NO_CONCEPT, (uint64_t)(concept + 1)) : text_form(words, first, end);
}

static inline void push_segment(int64_t *state, uint64_t form, uint64_t first, uint64_t last, int64_t size) {
    state[N2] = state[N1];
    state[N2_LAST] = state[N1_LAST];
    state[N2_SIZE] = state[N1_SIZE];
    state[N1] = (int64_t)form;
    state[N1_FIRST] = (int64_t)first;
    state[N1_LAST] = (int64_t)last;
    state[N1_SIZE] = size;
}

/* A new last entity, as far as the features of the next label see it. */
static inline void push_entity(const uint64_t *words, int64_t *state, int64_t first, int64_t end) {
    state[E2_LAST] = state[E1_LAST];
    state[E1] = (int64_t)text_form(words, first, end);
    state[E1_LAST] = (int64_t)words[end - 1];
}

/* Close the open entity at token `end`: it becomes the last segment and the last entity. */
static inline void close_entity(const Forms *forms, const uint64_t *words, int64_t *state, int64_t end,
                                int64_t concept) {
    int64_t first = state[OPEN];
    uint64_t form = form_of(words, first, end, concept);
    if (concept >= 0)
        push_segment(state, form, forms->first.at[concept], forms->last.at[concept], forms->size.at[concept]);
    else push_segment(state, form, words[first], words[end - 1], end - first);
    push_entity(words, state, first, end);
    state[E1_END] = end;
    state[E1_CONCEPT] = concept;
    state[OPEN] = -1;
}

/* Take token i with a label; an entity that it does not continue with was closed before. */
static inline void enter_token(const uint64_t *words, int64_t *state, int64_t i, int64_t label) {
    state[LABEL2] = state[LABEL1];
    state[LABEL1] = label;
    if (label == 0) push_segment(state, words[i], words[i], words[i], 1);
    else if (label % 2 == 1) state[OPEN] = i;
}

/* --------------------------------------------------------------------------------------------------------------- keys
 */

/* `program`: where each phase begins, and the end of the last; then of each template what its key begins with, how many
   values it has, and their places. `values[0]` is 0 everywhere. */
static inline int reads(u64_1 program, int phase) { return program.at[phase] < program.at[phase + 1]; }

/* The keys of the templates of a phase, in their order; how many there are. */
static inline int64_t evaluate(u64_1 program, int phase, const uint64_t *values, uint64_t *out) {
    int64_t at = (int64_t)program.at[phase], end = (int64_t)program.at[phase + 1], n = 0;
    while (at < end) {
        uint64_t state = program.at[at];
        int64_t last = at + 2 + (int64_t)program.at[at + 1];
        for (int64_t i = at + 2; i < last; i++) state = mix(state, values[program.at[i]]);
        out[n++] = state;
        at = last;
    }
    return n;
}

/* Template 2: whether the entity with the word appended is a name of the vocabulary. */
static inline int64_t append_keys(u64_1 program, int known, int64_t label, uint64_t *out) {
    uint64_t values[VALUES] = {0, (uint64_t)known, (uint64_t)label};
    return evaluate(program, APPEND, values, out);
}

/* The next label with the segments before it: templates 11 to 14. */
static inline int64_t next_keys(u64_1 program, const int64_t *state, int64_t label, uint64_t *out) {
    if (!reads(program, NEXT)) return 0;
    uint64_t values[VALUES] = {
        0,
        (uint64_t)label,
        (uint64_t)state[LABEL1],
        (uint64_t)state[LABEL2],
        (uint64_t)state[N1],
        (uint64_t)state[N1_FIRST],
        (uint64_t)state[N1_LAST],
        (uint64_t)least(state[N1_SIZE], 9),
        (uint64_t)state[N2],
        (uint64_t)state[N2_LAST],
    };
    return evaluate(program, NEXT, values, out);
}

/* The next label with the entities before it, up to the one just closed: templates 4b and 6. */
static inline int64_t next_far_keys(u64_1 program, const int64_t *state, int64_t label, uint64_t *out) {
    if (!reads(program, NEXT_FAR)) return 0;
    uint64_t values[VALUES] = {
        0,
        (uint64_t)label,
        (uint64_t)state[LABEL1],
        (uint64_t)state[E1],
        (uint64_t)state[E1_LAST],
        (uint64_t)state[E2_LAST],
    };
    return evaluate(program, NEXT_FAR, values, out);
}

/* Linking the open entity with the segments before it: templates 7 to 10, 15, and ours. The state is that after the
   entity has become the last segment; `word` follows, with `language` its ranges of bigram and trigram, NULL at the
   end; `linked`: whether the document has been linked to the concept before. */
static inline int64_t close_keys(u64_1 program, const int64_t *state, int64_t concept, uint64_t word,
                                 const uint8_t *language, int64_t found, int linked, uint64_t *out) {
    uint64_t values[VALUES] = {
        0,
        word,
        (uint64_t)state[N1],
        (uint64_t)state[N1_FIRST],
        (uint64_t)state[N1_LAST],
        (uint64_t)least(state[N1_SIZE], 9),
        (uint64_t)state[N2],
        (uint64_t)state[N2_LAST],
        (uint64_t)least(state[N2_SIZE], 9),
        language ? language[0] : 0,
        language ? language[1] : 0,
        concept >= 0,
        (uint64_t)found,
        (uint64_t)linked,
    };
    int64_t n = 0;
    if (reads(program, CLOSE)) {
        n = evaluate(program, CLOSE, values, out);
        if (state[N1_SIZE] > 1) n += evaluate(program, CLOSE_SEVERAL, values, out + n);
    }
    return n + evaluate(program, CLOSE_LAST, values, out + n);
}

/* The words between the entity before and a token, if there are at most two, else how many there are. */
static inline uint64_t between_entities(const int64_t *state, const uint64_t *words, int64_t first) {
    int64_t end = state[E1_END], gap = first - end;
    return end >= 0 && gap <= 2 ? text_form(words, end, first) : (uint64_t)least(gap, 8);
}

/* Linking the open entity with the entity before it, if there is one in the sentence; the state is that before the
   entity is closed, `form` n of the entity, `first` its first token. */
static inline int64_t close_far_keys(u64_1 program, const int64_t *state, uint64_t between, int64_t concept,
                                     uint64_t form, int64_t first, int64_t kind, int64_t found, uint64_t *out) {
    if (state[E1_END] < 0) return 0;
    uint64_t values[VALUES] = {
        0,
        concept < 0 ? 2 : concept == state[E1_CONCEPT],
        between,
        (uint64_t)kind,
        (uint64_t)least(first - state[E1_END], 8),
        (uint64_t)found,
        (uint64_t)state[E1_CONCEPT],
        form,
    };
    return evaluate(program, CLOSE_FAR, values, out);
}

/* An entity's own words and those beside it, and what is known of the span; `span` is -1 for none. */
static inline int64_t segment_keys(u64_1 program, const LinkData *data, int64_t base, int64_t length, int64_t first,
                                   int64_t end, int64_t span, int64_t kind, uint64_t *out) {
    if (!reads(program, SEGMENT)) return 0;
    const uint64_t *words = data->words.at + base, *endings = data->endings.at + base, *shapes = data->shapes.at + base;
    int64_t size = end - first;
    uint64_t values[VALUES] = {
        0,
        (uint64_t)kind,
        (uint64_t)least(size, 12),
        (uint64_t)least(size, 5),
        text_form(words, first, end),
        words[first],
        words[end - 1],
        first ? words[first - 1] : BEHIND,
        end < length ? words[end] : BEHIND,
        endings[first],
        endings[end - 1],
        text_form(shapes, first, end),
        span >= 0,
    };
    int64_t n = evaluate(program, SEGMENT, values, out);
    for (int64_t j = 0; span >= 0 && j < data->span_keys.l; j++) {
        uint64_t value = AT3(data->span_keys, span, kind, j);
        out[n++] = value != 0 ? mix(value, (uint64_t)kind) : 0;
    }
    return n;
}

static inline int64_t candidates_of(const LinkData *data, int64_t span) {
    return span < 0 ? 0 : data->cand_ptr.at[span + 1] - data->cand_ptr.at[span];
}

/* A candidate, or there being none: `choice` is its number, counted in the span. */
static inline int64_t candidate_keys(u64_1 program, const LinkData *data, int64_t span, int64_t choice, uint64_t *out) {
    static const uint64_t values[VALUES] = {0};
    if (span < 0 || !reads(program, UNPROPOSED)) return evaluate(program, UNPROPOSED, values, out);
    int there = choice < candidates_of(data, span);
    int64_t size = there ? data->cand_keys.m : data->nil_keys.m;
    const uint64_t *row =
        there ? &AT2(data->cand_keys, data->cand_ptr.at[span] + choice, 0) : &AT2(data->nil_keys, span, 0);
    memcpy(out, row, (size_t)size * sizeof *out);
    return size;
}

/* The concept of a choice, -1 for none. */
static inline int64_t concept_of(const LinkData *data, int64_t span, int64_t choice) {
    return choice < candidates_of(data, span) ? data->cand_concept.at[data->cand_ptr.at[span] + choice] : -1;
}

/* The way in which the candidate of a choice was found. */
static inline int64_t found_by(const LinkData *data, int64_t span, int64_t choice) {
    return choice < candidates_of(data, span) ? data->cand_class.at[data->cand_ptr.at[span] + choice] : 0;
}

#endif
