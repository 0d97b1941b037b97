/* The one family of hashes (`spanloom.hashing`), and the hash table with open addressing that all look-ups share.

   A table is an array of 64-bit words, 0 where empty: the key's lower half above, and a number counted from 1 below.
   The slot is the key's topmost bits, so 32 bits and the slot are compared, and a table of a hundred megabytes keeps
   only one word a key. A table from a file may be full: a search ends after one round. */
#ifndef SPANLOOM_HASHING_H
#define SPANLOOM_HASHING_H

#include "arrays.h"

/* Odd constants with half their bits set; the second is splitmix64's (Steele, Lea and Flood 2014). */
#define MULTIPLIER 0x9E3779B97F4A7C15ull
#define FINISHER 0xBF58476D1CE4E5B9ull
#define START 0x243F6A8885A308D3ull
#define LOW 0xFFFFFFFFull
#define BATCH 32 /* keys that are looked up together, so that the processor waits for many cache misses at a time */

static inline uint64_t mix(uint64_t state, uint64_t value) {
    state = (state ^ value) * MULTIPLIER;
    return state ^ (state >> 32);
}

/* The hash of a string from that of its characters; never 0, which means that a value is absent. */
static inline uint64_t finish(uint64_t state) {
    state = mix(state, FINISHER);
    return state != 0 ? state : 1;
}

/* The slot where a search for a key begins; `shift` is 64 minus the binary logarithm of the table's size. */
static inline uint64_t slot_of_key(u64_1 table, int64_t shift, uint64_t key) {
    return (key >> (shift & 63)) & (uint64_t)(table.n - 1);
}

/* The slot of a key, or the empty one where it belongs. */
static inline uint64_t find(u64_1 table, int64_t shift, uint64_t key) {
    uint64_t mask = (uint64_t)(table.n - 1), slot = slot_of_key(table, shift, key), tag = key & LOW;
    for (int64_t step = 0; step < table.n; step++) {
        uint64_t word = table.at[slot];
        if (word == 0 || word >> 32 == tag) break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

/* Enter a key that is not there with its number, counted from 1. */
static inline void enter(u64_1 table, int64_t shift, uint64_t key, uint64_t number) {
    uint64_t mask = (uint64_t)(table.n - 1), slot = slot_of_key(table, shift, key);
    for (int64_t step = 0; step < table.n && table.at[slot] != 0; step++) slot = (slot + 1) & mask;
    table.at[slot] = (key << 32) | number;
}

/* The number of a key by its 64 bits, -1 if it is not there; `keys` are those of the numbers. */
static inline int64_t find_number(u64_1 table, int64_t shift, const uint64_t *keys, int64_t count, uint64_t key) {
    uint64_t mask = (uint64_t)(table.n - 1), slot = slot_of_key(table, shift, key), tag = key & LOW;
    for (int64_t step = 0; step < table.n; step++) {
        uint64_t word = table.at[slot];
        if (word == 0) return -1;
        if (word >> 32 == tag) {
            int64_t number = (int64_t)(word & LOW) - 1;
            if (number >= 0 && number < count && keys[number] == key) return number;
        }
        slot = (slot + 1) & mask;
    }
    return -1;
}

#endif
