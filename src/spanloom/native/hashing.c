/* Numbers of keys and of strings: see hashing.h. And what concerns the library as a whole. */
#include "hashing.h"
#include "spanloom.h"
#ifdef __GLIBC__
#include <malloc.h>
#endif

#define KEPT (32 << 20) /* bytes: of one array at most, which is the allocator's own limit, and eight times of all */

int64_t spanloom_has_avx2(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
#else
    return 0;
#endif
}

int64_t spanloom_keep_memory(void) {
#ifdef __GLIBC__
    return mallopt(M_MMAP_THRESHOLD, KEPT) && mallopt(M_TRIM_THRESHOLD, 8 * KEPT);
#else
    return 0;
#endif
}

int64_t spanloom_intern(const intern_arguments *a) {
    int64_t n = 0;
    for (int64_t i = 0; i < a->starts.n; i++) {
        if (a->starts.at[i] < 0 || a->ends.at[i] > a->codes.n) return BAD_INDEX;
        uint64_t state = START;
        for (int64_t k = a->starts.at[i]; k < a->ends.at[i]; k++) state = mix(state, a->codes.at[k]);
        state = finish(state);
        int64_t number = find_number(a->table, a->shift, a->hashes.at, n, state);
        if (number < 0) {
            number = n++;
            a->hashes.at[number] = state;
            a->first.at[number] = i;
            enter(a->table, a->shift, state, (uint64_t)n);
        }
        a->ids.at[i] = (int32_t)number;
    }
    return n;
}

int64_t spanloom_find_numbers(const find_numbers_arguments *a) {
    for (int64_t i = 0; i < a->sought.n; i++)
        a->numbers.at[i] = find_number(a->table, a->shift, a->keys.at, a->keys.n, a->sought.at[i]);
    return 0;
}

int64_t spanloom_number(const number_arguments *a) {
    int64_t begin = a->begin, found = a->found;
    if (begin < 0 || found < 0 || a->table.n < 1) return BAD_INDEX;
    while (begin < a->keys.n && found <= a->limit) {
        int64_t end = least(begin + BATCH, a->keys.n);
        for (int64_t i = begin; i < end; i++)
            __builtin_prefetch(&a->table.at[slot_of_key(a->table, a->shift, a->keys.at[i])]);
        for (int64_t i = begin; i < end; i++) {
            uint64_t key = a->keys.at[i], slot = find(a->table, a->shift, key);
            if (a->table.at[slot] == 0) {
                if (found >= a->distinct.n) return BAD_INDEX;
                a->distinct.at[found++] = key;
                a->table.at[slot] = (key << 32) | (uint64_t)found;
            }
            a->numbers.at[i] = (int32_t)((int64_t)(a->table.at[slot] & LOW) - 1);
        }
        begin = end;
    }
    a->reached.at[0] = begin;
    a->reached.at[1] = found;
    return 0;
}

int64_t spanloom_fill(const fill_arguments *a) {
    for (int64_t begin = 0; begin < a->keys.n; begin += BATCH) {
        int64_t end = least(begin + BATCH, a->keys.n);
        for (int64_t i = begin; i < end; i++)
            __builtin_prefetch(&a->table.at[slot_of_key(a->table, a->shift, a->keys.at[i])], 1);
        for (int64_t i = begin; i < end; i++)
            if (a->rows.at[i] >= 0) enter(a->table, a->shift, a->keys.at[i], (uint64_t)a->rows.at[i] + 1);
    }
    return 0;
}
