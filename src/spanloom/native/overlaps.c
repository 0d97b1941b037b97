/* Pairs of mentions that overlap: see `model/pairs.py`. */
#include "spanloom.h"

enum { SAME, NESTED, CROSSING, SHARING };

/* How many tokens two mentions have in common. */
static int64_t common_of(const Mentions *table, int64_t one, int64_t other) {
    int64_t count = 0;
    for (int64_t i = table->ptr.at[one]; i < table->ptr.at[one + 1]; i++) {
        for (int64_t j = table->ptr.at[other]; j < table->ptr.at[other + 1]; j++) {
            int64_t first = most(table->first.at[i], table->first.at[j]);
            count += most(0, least(table->end.at[i], table->end.at[j]) - first);
        }
    }
    return count;
}

int64_t spanloom_overlaps(const overlaps_arguments *a) {
    const Mentions *table = &a->mentions;
    int64_t mentions = table->kind.n, types = a->allowed.m, count = 0;
    memory own = {0};
    int64_t *tokens = TAKE(&own, int64_t, mentions);
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t i = 0; i < 4 * types * types; i++) a->seen.at[i] = 0;
    for (int64_t i = 0; i < mentions; i++) {
        int64_t begin = table->ptr.at[i], end = table->ptr.at[i + 1];
        if (begin < 0 || end <= begin || end > table->first.n || table->kind.at[i] < 0 || table->kind.at[i] >= types)
            return give_back(&own, BAD_INDEX);
        tokens[i] = 0;
        for (int64_t at = begin; at < end; at++) {
            if (table->first.at[at] < (at > begin ? table->end.at[at - 1] : 0) ||
                table->end.at[at] < table->first.at[at])
                return give_back(&own, BAD_INDEX);
            tokens[i] += table->end.at[at] - table->first.at[at];
        }
    }
    for (int64_t i = 0; i < mentions; i++) {
        int64_t end = table->end.at[table->ptr.at[i + 1] - 1];
        for (int64_t j = i + 1; j < least(i + 1 + a->following, mentions); j++) {
            if (table->sentence.at[j] != table->sentence.at[i] || table->first.at[table->ptr.at[j]] >= end) break;
            int64_t common = common_of(table, i, j);
            if (common == 0) continue;
            int64_t one = tokens[j] > tokens[i] ? j : i, other = one == i ? j : i;
            int gap = table->ptr.at[i + 1] - table->ptr.at[i] > 1 || table->ptr.at[j + 1] - table->ptr.at[j] > 1;
            int64_t way = common == tokens[one] ? SAME : common == tokens[other] ? NESTED : gap ? SHARING : CROSSING;
            AT3(a->seen, way, table->kind.at[one], table->kind.at[other])++;
            if (AT3(a->allowed, way, table->kind.at[one], table->kind.at[other])) continue;
            if (count++ >= a->pairs.n) continue;
            int64_t *row = &AT2(a->pairs, count - 1, 0);
            row[0] = one;
            row[1] = other;
            row[2] = way;
        }
    }
    return give_back(&own, count);
}
