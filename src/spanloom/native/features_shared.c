/* Features that depend on one value near the token: their keys, and which tokens have them. */
#include "hashing.h"
#include "spanloom.h"

/* The place of a column's value of a number among all values; -1 for none. */
static inline int64_t place_of(const Columns *table, int64_t column, int64_t number) {
    int64_t at = table->base.at[column] + number * table->stride.at[column];
    return at >= 0 && at < table->values.n ? at : -1;
}

/* Whether all numbers in the program are those of groups, columns and values that are there. */
static int fits(const SharedProgram *program, const Columns *table, i64_1 starts) {
    if (starts.n != program->source.n + 1 || !lie_below(program->columns, table->source.n)) return 0;
    for (int64_t c = 0; c < table->source.n; c++) {
        if (table->base.at[c] < 0 || table->base.at[c] > INT64_MAX / 4) return 0;
        if (table->stride.at[c] < 0 || table->stride.at[c] > INT32_MAX) return 0;
    }
    for (int64_t source = 0; source < table->sizes.n; source++)
        if (table->sizes.at[source] > INT32_MAX) return 0;
    for (int64_t g = 0; g < program->source.n; g++) {
        int64_t source = program->source.at[g], begin = program->features.at[g], end = program->features.at[g + 1];
        if (source < 0 || source >= table->ids.n || starts.at[g + 1] < starts.at[g]) return 0;
        if (begin < 0 || end < begin || end > program->seeds.n) return 0;
        for (int64_t f = begin; f < end; f++) {
            int64_t first = program->places.at[f], stop = program->places.at[f + 1];
            if (first < 0 || stop < first || stop > program->columns.n) return 0;
            for (int64_t k = first; k < stop; k++) { /* then every smaller number is included, too */
                int64_t column = program->columns.at[k];
                if (table->sizes.at[source] > 0 && place_of(table, column, table->sizes.at[source] - 1) < 0) return 0;
            }
        }
    }
    return 1;
}

/* A group has a row for each distinct value of its source. Behind these a group of one place has a row for each
   distance from the sentence at which that place can be. */
int64_t spanloom_value_keys(const value_keys_arguments *a) {
    const SharedProgram *program = &a->program;
    const Columns *table = &a->table;
    if (!fits(program, table, a->starts)) return BAD_INDEX;
    int64_t n = 0, room = a->keys.n;
    uint64_t *keys = a->keys.at;
    a->offsets.at[0] = 0;
    for (int64_t g = 0; g < program->source.n; g++) {
        int64_t size = table->sizes.at[program->source.at[g]], first = a->starts.at[g];
        if (first < 0 || a->starts.at[g + 1] >= a->offsets.n) return BAD_INDEX;
        for (int64_t number = 0; number < a->starts.at[g + 1] - first; number++) {
            int inside = number < size;
            uint64_t outside = 0;
            if (!inside) {
                int64_t distance = number - size, reach = program->before.n;
                if (distance >= reach) return BAD_INDEX;
                outside =
                    program->first.at[g] > 0 ? program->after.at[distance] : program->before.at[reach - 1 - distance];
            }
            for (int64_t f = program->features.at[g]; f < program->features.at[g + 1]; f++) {
                uint64_t state = program->seeds.at[f];
                int64_t begin = program->places.at[f], end = program->places.at[f + 1];
                if (inside && program->sets.at[f]) {
                    if (begin == end || n + program->members.n > room) return BAD_INDEX;
                    uint64_t value = table->values.at[place_of(table, program->columns.at[begin], number)];
                    for (int64_t bit = 0; bit < program->members.n; bit++) {
                        keys[n] = mix(state, program->members.at[bit]);
                        n += (int64_t)((value >> (bit & 63)) & 1);
                    }
                    continue;
                }
                int present = 1;
                for (int64_t k = begin; k < end; k++) {
                    uint64_t value =
                        inside ? table->values.at[place_of(table, program->columns.at[k], number)] : outside;
                    present &= value != 0;
                    state = mix(state, value);
                }
                if (n >= room) return BAD_INDEX;
                keys[n] = state;
                n += present;
            }
            a->offsets.at[first + number + 1] = n;
        }
    }
    return n;
}

/* The column of a bag's value. */
static int64_t column_of_bag(const SharedProgram *program, int64_t g) {
    return program->columns.at[program->places.at[program->features.at[g]]];
}

/* Find, within the reach of a bag's window, the last token before each one that has the same value; -1 if none. */
static void find_earlier(const SharedProgram *program, const Columns *table, int64_t g, int64_t first, int64_t end,
                         int64_t *earlier) {
    int64_t column = column_of_bag(program, g), reach = program->last.at[g] - program->first.at[g];
    const int32_t *ids = &AT2(table->ids, program->source.at[g], 0);
    for (int64_t t = first; t < end; t++) {
        uint64_t value = table->values.at[place_of(table, column, ids[t])];
        int64_t q = t - 1, lowest = most(first, t - reach);
        while (q >= lowest && table->values.at[place_of(table, column, ids[q])] != value) q--;
        earlier[t - first] = q >= lowest ? q : -1;
    }
}

/* 1. For a bag, find where each token's value occurred before.
   2. At each token and for each group, name the row of the value. A bag's value is new where its last token before is
      outside the window; the current token does not count, so one that was last there is new if that was new itself. */
int64_t spanloom_refer(const refer_arguments *a) {
    const SharedProgram *program = &a->program;
    const Columns *table = &a->table;
    if (!fits(program, table, a->starts)) return BAD_INDEX;
    int64_t longest = 0, groups = program->source.n, tokens = table->ids.m, *sentences = a->sentences.at;
    for (int64_t s = 0; s + 1 < a->sentences.n; s++) {
        if (sentences[s] < 0 || sentences[s + 1] < sentences[s] || sentences[s + 1] > tokens) return BAD_INDEX;
        longest = most(longest, sentences[s + 1] - sentences[s]);
        for (int64_t g = 0; g < groups; g++)
            for (int64_t t = sentences[s]; t < sentences[s + 1]; t++) {
                int64_t number = AT2(table->ids, program->source.at[g], t);
                if (number < 0 || number >= table->sizes.at[program->source.at[g]]) return BAD_INDEX;
            }
    }
    memory own = {0};
    int64_t *earlier = TAKE(&own, int64_t, groups *longest), n = 0, room = a->rows.n;
    if (own.failed) return give_back(&own, NO_MEMORY);
    a->offsets.at[0] = 0;
    for (int64_t s = 0; s + 1 < a->sentences.n; s++) {
        int64_t first = sentences[s], end = sentences[s + 1];
        for (int64_t g = 0; g < groups; g++)
            if (program->bag.at[g]) find_earlier(program, table, g, first, end, earlier + g * longest);
        for (int64_t t = first; t < end; t++) {
            for (int64_t g = 0; g < groups; g++) {
                int64_t source = program->source.at[g], start = a->starts.at[g];
                if (program->bag.at[g]) {
                    const int64_t *before = earlier + g * longest;
                    int64_t column = column_of_bag(program, g), low = most(first, t + program->first.at[g]);
                    for (int64_t p = low; p <= least(end - 1, t + program->last.at[g]); p++) {
                        int64_t q = before[p - first], number = AT2(table->ids, source, p);
                        if (q == t) q = before[t - first];
                        if (p != t && q < low && table->values.at[place_of(table, column, number)] != 0) {
                            if (n >= room) return give_back(&own, BAD_INDEX);
                            a->rows.at[n++] = (int32_t)(start + number);
                        }
                    }
                    continue;
                }
                int64_t at = t + program->first.at[g], size = table->sizes.at[source];
                int64_t number = at < first  ? size + first - at - 1
                                 : at >= end ? size + at - end
                                             : AT2(table->ids, source, at);
                if (n >= room) return give_back(&own, BAD_INDEX);
                a->rows.at[n++] = (int32_t)(start + number);
            }
            a->offsets.at[t - sentences[0] + 1] = n;
        }
    }
    return give_back(&own, n);
}
