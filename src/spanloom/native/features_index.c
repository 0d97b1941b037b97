/* The feature index: the merging of identical columns, and rows of keys. */
#include "hashing.h"
#include "spanloom.h"

#define CHUNK 64 /* keys that are looked up at a time */

/* The next random number of splitmix64 (Steele, Lea and Flood 2014). */
static inline uint64_t random_of(uint64_t state) {
    state = (state ^ (state >> 30)) * FINISHER;
    state = (state ^ (state >> 27)) * 0x94D049BB133111EBull;
    return state ^ (state >> 31);
}

/* Whether the entries of tokens from `begin` to `end` lie within a list. */
static int lie_within(i64_1 offsets, int64_t begin, int64_t end, int64_t size) {
    if (begin < 0 || end >= offsets.n || begin > end || offsets.at[begin] < 0 || offsets.at[end] > size) return 0;
    for (int64_t t = begin; t < end; t++)
        if (offsets.at[t] > offsets.at[t + 1]) return 0;
    return 1;
}

int64_t spanloom_signatures(const signatures_arguments *a) {
    if (!lie_within(a->offsets, a->begin, a->end, a->numbers.n)) return BAD_INDEX;
    for (int64_t t = a->begin; t < a->end; t++) {
        uint64_t one = random_of((uint64_t)(2 * t + 1) * MULTIPLIER),
                 two = random_of((uint64_t)(2 * t + 2) * MULTIPLIER);
        for (int64_t i = a->offsets.at[t]; i < a->offsets.at[t + 1]; i++) {
            int64_t row = a->numbers.at[i];
            if (row < 0 || row >= a->signature.n) return BAD_INDEX;
            uint64_t *signature = &AT2(a->signature, row, 0);
            signature[0] += 1;
            signature[1] += one;
            signature[2] += two;
        }
    }
    return 0;
}

int64_t spanloom_group(const group_arguments *a) {
    int64_t mask = a->table.n - 1, found = 0;
    if (a->table.n <= a->groups.n || (a->table.n & mask) != 0) return BAD_INDEX;
    memset(a->table.at, 0, (size_t)a->table.n * sizeof *a->table.at);
    for (int64_t begin = 0; begin < a->groups.n; begin += BATCH) {
        int64_t end = least(begin + BATCH, a->groups.n);
        for (int64_t i = begin; i < end; i++)
            __builtin_prefetch(&a->table.at[(int64_t)(AT2(a->signature, i, 1) >> 1) & mask]);
        for (int64_t i = begin; i < end; i++) {
            const uint64_t *own = &AT2(a->signature, i, 0);
            if ((int64_t)own[0] < a->min_count) {
                a->groups.at[i] = -1;
                continue;
            }
            int64_t slot = (int64_t)(own[1] >> 1) & mask;
            while (a->table.at[slot] != 0) {
                const uint64_t *other = &AT2(a->signature, a->first.at[a->table.at[slot] - 1], 0);
                if (other[1] == own[1] && other[2] == own[2] && other[0] == own[0]) break;
                slot = (slot + 1) & mask;
            }
            if (a->table.at[slot] == 0) {
                a->first.at[found] = (int32_t)i;
                a->counts.at[found] = (int32_t)own[0];
                a->sizes.at[found] = 0;
                a->table.at[slot] = (int32_t)++found;
            }
            a->groups.at[i] = a->table.at[slot] - 1;
            a->sizes.at[a->groups.at[i]] += 1;
        }
    }
    return found;
}

int64_t spanloom_rows_of_tokens(const rows_of_tokens_arguments *a) {
    if (!lie_within(a->offsets, a->begin, a->end, a->numbers.n)) return BAD_INDEX;
    int64_t n = a->out_offsets.at[a->begin];
    for (int64_t t = a->begin; t < a->end; t++) {
        for (int64_t i = a->offsets.at[t]; i < a->offsets.at[t + 1]; i++) {
            if (a->numbers.at[i] < 0 || a->numbers.at[i] >= a->rows.n) return BAD_INDEX;
            int32_t row = a->rows.at[a->numbers.at[i]];
            if (row >= a->last.n || n < 0 || n > i) return BAD_INDEX;
            if (row >= 0 && a->last.at[row] != t) {
                if (a->last.at[row] < 0) a->first.at[row] = (int32_t)t;
                a->last.at[row] = (int32_t)t;
                a->numbers.at[n++] = row;
            }
        }
        a->out_offsets.at[t + 1] = n;
    }
    return 0;
}

/* 1. A map of bits, which the processor's caches hold, leaves out most unknown keys before the table is touched.
   2. The slots of the others are touched, independently of one another.
   3. Those of the keys before them are looked up. */
int64_t spanloom_lookup(const lookup_arguments *a) {
    int64_t kept[2][CHUNK], n = 0, t = 0, tokens = a->offsets.n - 1, last = a->offsets.at[tokens], sought = 0;
    if (!lie_within(a->offsets, 0, tokens, a->keys.n)) return BAD_INDEX;
    if ((LOW >> (a->bits_shift & 63)) >= (uint64_t)a->bits.n * 8) return BAD_INDEX;
    for (int64_t begin = a->offsets.at[0], turn = 0; begin < last || sought > 0; begin += CHUNK, turn ^= 1) {
        int64_t likely = 0;
        for (int64_t i = begin; i < least(begin + CHUNK, last); i++) {
            uint64_t place = (a->keys.at[i] & LOW) >> (a->bits_shift & 63);
            kept[turn][likely] = i;
            likely += (a->bits.at[place >> 3] >> (place & 7)) & 1;
        }
        for (int64_t j = 0; j < likely; j++)
            __builtin_prefetch(&a->table.at[slot_of_key(a->table, a->shift, a->keys.at[kept[turn][j]])]);
        for (int64_t j = 0; j < sought; j++) {
            int64_t i = kept[turn ^ 1][j];
            while (a->offsets.at[t] <= i) a->out_offsets.at[t++] = n;
            uint64_t word = a->table.at[find(a->table, a->shift, a->keys.at[i])];
            if (word != 0 && (a->keys.at[i] & LOW) == word >> 32) {
                int64_t row = (int64_t)(word & LOW) - 1;
                if (row >= a->rows) return BAD_INDEX;
                a->indices.at[n++] = (int32_t)row;
            }
        }
        sought = likely;
    }
    while (t <= tokens) a->out_offsets.at[t++] = n;
    return n;
}
