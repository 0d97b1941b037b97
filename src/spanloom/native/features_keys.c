/* Keys of features: all templates at all tokens, and named values conjoined. */
#include "hashing.h"
#include "spanloom.h"

enum { CONJUNCTION, BAG, SET };

/* Add the keys of the members of a set. `values` has the set's bits. */
static int64_t add_set(const FeatureProgram *program, int64_t f, uint64_t value, int inside, uint64_t *keys,
                       int64_t n) {
    uint64_t state = program->seeds.at[f];
    if (!inside) {
        keys[n] = mix(state, value);
        return n + 1;
    }
    for (int64_t bit = 0; bit < program->members.n; bit++) {
        keys[n] = mix(state, program->members.at[bit]);
        n += (int64_t)((value >> (bit & 63)) & 1);
    }
    return n;
}

/* Add the keys of the distinct values of a column at the tokens around one, at `row[at]`; `low` and `high` are first
   and last of them. */
static int64_t add_bag(uint64_t seed, const uint64_t *row, int64_t low, int64_t at, int64_t high, uint64_t *keys,
                       int64_t n) {
    for (int64_t p = low; p <= high; p++) {
        uint64_t value = row[p];
        int fresh = (p != at) & (value != 0);
        for (int64_t q = low; q < p; q++) fresh &= (row[q] != value) | (q == at);
        keys[n] = mix(seed, value);
        n += fresh;
    }
    return n;
}

/* The values of a sentence are first laid out column by column, with a margin of boundary values on both sides, so that
   no place needs a test of bounds. A conjunction is then evaluated at all tokens before the next one: each of its
   places has a fixed distance, so the inner loops go through neighbours in memory. */
int64_t spanloom_evaluate(const evaluate_arguments *a) {
    const FeatureProgram *program = &a->program;
    const Columns *table = &a->table;
    int64_t width = table->source.n, count = program->kinds.n, margin = program->before.n, longest = 0;
    int64_t tokens = table->ids.m, *sentences = a->sentences.at, room = 0;
    for (int64_t s = 0; s + 1 < a->sentences.n; s++) {
        if (sentences[s] < 0 || sentences[s + 1] < sentences[s] || sentences[s + 1] > tokens) return BAD_INDEX;
        longest = most(longest, sentences[s + 1] - sentences[s]);
    }
    if (!lie_below(table->source, table->ids.n)) return BAD_INDEX;
    for (int64_t f = 0; f < count; f++) {
        int64_t begin = program->places.at[f], end = program->places.at[f + 1];
        int64_t kind = program->kinds.at[f], fewest = kind == CONJUNCTION ? 0 : kind == BAG ? 2 : 1;
        if (kind != CONJUNCTION && kind != BAG && kind != SET) return BAD_INDEX;
        if (begin < 0 || end < begin || end > program->columns.n || end - begin < fewest) return BAD_INDEX;
        for (int64_t k = begin; k < end; k++) {
            int64_t farthest = kind == BAG ? INT32_MAX : margin;
            if (program->shifts.at[k] < -farthest || program->shifts.at[k] > farthest) return BAD_INDEX;
            if (program->columns.at[k] < 0 || program->columns.at[k] >= width) return BAD_INDEX;
        }
        int64_t bag = kind == BAG ? program->shifts.at[begin + 1] - program->shifts.at[begin] + 1 : 1;
        room += kind == SET ? most(1, program->members.n) : most(0, bag);
    }
    if (room > a->most || sentences[a->sentences.n - 1] - sentences[0] >= a->offsets.n) return BAD_INDEX;
    memory own = {0};
    int64_t laid = longest + 2 * margin;
    uint64_t *values = TAKE(&own, uint64_t, width *laid), *states = TAKE(&own, uint64_t, count *longest);
    uint8_t *present = TAKE(&own, uint8_t, count *longest);
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t c = 0; c < width; c++)
        for (int64_t m = 0; m < margin; m++) values[c * laid + m] = program->before.at[m];
    int64_t n = 0, *offsets = a->offsets.at;
    uint64_t *keys = a->keys.at;
    offsets[0] = 0;
    for (int64_t s = 0; s + 1 < a->sentences.n; s++) {
        int64_t first = sentences[s], length = sentences[s + 1] - first;
        for (int64_t c = 0; c < width; c++) { /* 1. lay out the values */
            uint64_t *row = values + c * laid;
            const int32_t *ids = &AT2(table->ids, table->source.at[c], first);
            int64_t base = table->base.at[c], stride = table->stride.at[c], size = table->values.n;
            if (base < 0 || base > INT64_MAX / 4 || stride < 0 || stride > INT32_MAX) return give_back(&own, BAD_INDEX);
            for (int64_t t = 0; t < length; t++) {
                int64_t at = base + ids[t] * stride;
                if (at < 0 || at >= size) return give_back(&own, BAD_INDEX);
                row[margin + t] = table->values.at[at];
            }
            for (int64_t m = 0; m < margin; m++) row[margin + length + m] = program->after.at[m];
        }
        for (int64_t f = 0; f < count; f++) { /* 2. conjunctions at all tokens */
            uint64_t *state = states + f * longest, seed = program->seeds.at[f];
            uint8_t *there = present + f * longest;
            for (int64_t t = 0; t < length; t++) {
                state[t] = seed;
                there[t] = 1;
            }
            int64_t stop = program->kinds.at[f] == CONJUNCTION ? program->places.at[f + 1] : 0;
            for (int64_t k = program->places.at[f]; k < stop; k++) {
                const uint64_t *row = values + program->columns.at[k] * laid + margin + program->shifts.at[k];
                for (int64_t t = 0; t < length; t++) {
                    there[t] &= row[t] != 0;
                    state[t] = mix(state[t], row[t]);
                }
            }
        }
        for (int64_t t = 0; t < length; t++) { /* 3. keys, token by token */
            if (n + a->most > a->keys.n) return give_back(&own, BAD_INDEX);
            for (int64_t f = 0; f < count; f++) {
                int64_t place = program->places.at[f];
                if (program->kinds.at[f] == CONJUNCTION) {
                    keys[n] = states[f * longest + t];
                    n += present[f * longest + t];
                } else if (program->kinds.at[f] == BAG) {
                    const uint64_t *row = values + program->columns.at[place] * laid;
                    int64_t low = margin + most(0, t + program->shifts.at[place]);
                    int64_t high = margin + least(length - 1, t + program->shifts.at[place + 1]);
                    n = add_bag(program->seeds.at[f], row, low, margin + t, high, keys, n);
                } else {
                    int64_t at = t + program->shifts.at[place];
                    uint64_t value = values[program->columns.at[place] * laid + margin + at];
                    n = add_set(program, f, value, at >= 0 && at < length, keys, n);
                }
            }
            offsets[first - sentences[0] + t + 1] = n;
        }
    }
    return give_back(&own, n);
}

/* Whether the atoms of each template lie in the program, and their rows among so many. */
static int is_sound(const ConjunctionProgram *program, int64_t rows) {
    if (!lie_below(program->row, rows)) return 0;
    for (int64_t f = 0; f < program->seeds.n; f++)
        if (program->ptr.at[f] < 0 || program->ptr.at[f + 1] > program->row.n) return 0;
    return 1;
}

/* The keys of a template at some things, from `begin` on; 0 where one lacks a value. */
static void keys_of(const ConjunctionProgram *program, int64_t f, u64_2 values, int64_t begin, int64_t count,
                    uint64_t *keys) {
    uint64_t missing[BATCH] = {0};
    for (int64_t j = 0; j < count; j++) keys[j] = program->seeds.at[f];
    for (int64_t i = program->ptr.at[f]; i < program->ptr.at[f + 1]; i++) {
        const uint64_t *row = &AT2(values, program->row.at[i], begin);
        uint64_t limit = program->most.at[i];
        for (int64_t j = 0; j < count; j++) {
            keys[j] = mix(keys[j], row[j] < limit ? row[j] : limit);
            missing[j] |= row[j] == 0;
        }
    }
    for (int64_t j = 0; j < count; j++) keys[j] = missing[j] ? 0 : keys[j] != 0 ? keys[j] : 1;
}

int64_t spanloom_conjoin(const conjoin_arguments *a) {
    int64_t n = 0, things = a->values.m, count = a->program.seeds.n;
    if (!is_sound(&a->program, a->values.n)) return BAD_INDEX;
    if (things > 0 && count > a->ids.n / things) return BAD_INDEX;
    memory own = {0};
    uint64_t *keys = TAKE(&own, uint64_t, count *BATCH);
    if (own.failed) return give_back(&own, NO_MEMORY);
    a->offsets.at[0] = 0;
    for (int64_t begin = 0; begin < things; begin += BATCH) {
        int64_t size = least(BATCH, things - begin);
        for (int64_t f = 0; f < count; f++) keys_of(&a->program, f, a->values, begin, size, keys + f * BATCH);
        for (int64_t j = 0; j < size; j++) {
            for (int64_t f = 0; f < count; f++) {
                a->ids.at[n] = keys[f * BATCH + j];
                n += keys[f * BATCH + j] != 0;
            }
            a->offsets.at[begin + j + 1] = n;
        }
    }
    return give_back(&own, n);
}

#define FEW 10     /* things, of BATCH, whose keys are sooner made one by one */
#define SOUGHT 256 /* keys that are looked up at a time */
#define AHEAD 24   /* slots and weights that are asked for before they are needed */

/* Of each row of values, which of some things have one, a bit for each. */
static void note_values(u64_2 values, int64_t begin, int64_t size, uint32_t *there) {
    for (int64_t v = 0; v < values.n; v++) {
        const uint64_t *row = &AT2(values, v, begin);
        there[v] = 0;
        for (int64_t j = 0; j < size; j++) there[v] |= (uint32_t)(row[j] != 0) << j;
    }
}

/* The key of a template at a thing that has all its values. */
static uint64_t key_of(const ConjunctionProgram *program, int64_t f, u64_2 values, int64_t thing) {
    uint64_t key = program->seeds.at[f];
    for (int64_t i = program->ptr.at[f]; i < program->ptr.at[f + 1]; i++) {
        uint64_t value = AT2(values, program->row.at[i], thing), limit = program->most.at[i];
        key = mix(key, value < limit ? value : limit);
    }
    return key != 0 ? key : 1;
}

/* Look up keys and add the weights of those that are there to the totals of things; return whether rows are valid. */
static int add_weights(const weigh_arguments *a, const uint64_t *keys, const uint8_t *things, int64_t count,
                       float *total) {
    int64_t rows[SOUGHT + BATCH];
    uint8_t owners[SOUGHT + BATCH];
    int64_t found = 0;
    for (int64_t k = 0; k < least(AHEAD, count); k++)
        __builtin_prefetch(&a->table.at[slot_of_key(a->table, a->shift, keys[k])]);
    for (int64_t k = 0; k < count; k++) {
        if (k + AHEAD < count) __builtin_prefetch(&a->table.at[slot_of_key(a->table, a->shift, keys[k + AHEAD])]);
        uint64_t word = a->table.at[find(a->table, a->shift, keys[k])];
        if (word == 0 || (keys[k] & LOW) != word >> 32) continue;
        int64_t row = (int64_t)(word & LOW) - 1;
        if (row < 0 || row >= a->weights.n) return 0;
        __builtin_prefetch(&a->weights.at[row]);
        rows[found] = row;
        owners[found++] = things[k];
    }
    for (int64_t k = 0; k < found; k++) total[owners[k]] += a->weights.at[rows[k]];
    return 1;
}

/* Template by template, for a batch of things at a time:
   1. Keys, of the few things that have the values of a rare template alone. A map of bits leaves out most that the
      index does not know.
   2. The others are looked up, many at a time, so that the processor waits for many cache misses at once.
   3. Their weights are added, in the order of the templates. */
int64_t spanloom_weigh(const weigh_arguments *a) {
    const ConjunctionProgram *program = &a->program;
    if (!is_sound(program, a->values.n) || (a->table.n & (a->table.n - 1)) != 0) return BAD_INDEX;
    if (a->first < 0 || a->last > a->values.m || a->table.n < 1) return BAD_INDEX;
    if ((LOW >> (a->bits_shift & 63)) >= (uint64_t)a->bits.n * 8) return BAD_INDEX;
    memory own = {0};
    uint32_t *there = TAKE(&own, uint32_t, a->values.n);
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t begin = a->first; begin < a->last; begin += BATCH) {
        int64_t size = least(BATCH, a->last - begin), likely = 0;
        uint64_t sought[SOUGHT + BATCH];
        uint8_t things[SOUGHT + BATCH];
        float total[BATCH] = {0};
        note_values(a->values, begin, size, there);
        for (int64_t f = 0; f < program->seeds.n; f++) {
            uint64_t keys[BATCH];
            int64_t count = 0;
            uint32_t all = (uint32_t)(LOW >> (BATCH - size));
            for (int64_t i = program->ptr.at[f]; i < program->ptr.at[f + 1]; i++) all &= there[program->row.at[i]];
            for (uint32_t rest = all; rest != 0; rest &= rest - 1) count++;
            if (count > FEW) keys_of(program, f, a->values, begin, size, keys);
            for (; all != 0; all &= all - 1) {
                int64_t j = __builtin_ctz(all);
                uint64_t key = count > FEW ? keys[j] : key_of(program, f, a->values, begin + j);
                uint64_t place = (key & LOW) >> (a->bits_shift & 63);
                sought[likely] = key;
                things[likely] = (uint8_t)j;
                likely += (a->bits.at[place >> 3] >> (place & 7)) & 1;
            }
            if (likely < SOUGHT && f + 1 < program->seeds.n) continue;
            if (!add_weights(a, sought, things, likely, total)) return give_back(&own, BAD_INDEX);
            likely = 0;
        }
        memcpy(&a->scores.at[begin], total, (size_t)size * sizeof *total);
    }
    return give_back(&own, 0);
}
