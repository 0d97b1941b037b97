/* Candidates of the second stage: places that have their words, what they are to one another, bins of log-odds. */
#include "hashing.h"
#include "spanloom.h"

/* ------------------------------------------------------------ places that have the words of candidates, by a trie of
 * hashes */

int64_t spanloom_prefixes(const prefixes_arguments *a) {
    int64_t count = 0;
    for (int64_t stretch = 0; stretch < a->begins.n; stretch++) {
        if (a->begins.at[stretch] < 0 || a->ends.at[stretch] > a->words.n) return BAD_INDEX;
        uint64_t state = mix(START, (uint64_t)a->documents.at[stretch]);
        for (int64_t token = a->begins.at[stretch]; token < a->ends.at[stretch]; token++) {
            state = mix(state, a->words.at[token]);
            int64_t number = find_number(a->table, a->shift, a->keys.at, count, state);
            if (number < 0) {
                if (count >= a->keys.n) return BAD_INDEX;
                a->keys.at[count] = state;
                number = count++;
                enter(a->table, a->shift, state, (uint64_t)count);
            }
            a->numbers.at[stretch] = number;
        }
    }
    return count;
}

int64_t spanloom_places(const places_arguments *a) {
    int64_t count = 0;
    for (int64_t n = 0; n + 1 < a->offsets.n; n++) {
        int64_t low = a->offsets.at[n], high = a->offsets.at[n + 1];
        if (low < 0 || high > a->words.n) return BAD_INDEX;
        uint64_t start = mix(START, (uint64_t)a->documents.at[n]);
        for (int64_t begin = low; begin < high; begin++) {
            uint64_t state = start;
            for (int64_t token = begin; token < high; token++) {
                state = mix(state, a->words.at[token]);
                int64_t number = find_number(a->table, a->shift, a->keys.at, a->keys.n, state);
                if (number < 0) break;
                if (number + 1 >= a->ptr.n) return BAD_INDEX;
                int64_t i = a->ptr.at[number], end = a->ptr.at[number + 1];
                if (i < 0 || i > end || end > INT32_MAX) return BAD_INDEX;
                count += end - i;
                for (int64_t place = count - (end - i); i < end && place < a->found.n; i++, place++) {
                    int64_t *row = &AT2(a->found, place, 0);
                    row[0] = n;
                    row[1] = begin - low;
                    row[2] = token + 1 - low;
                    row[3] = i;
                }
            }
        }
    }
    return count;
}

/* ------------------------------------------------------------------------------ what candidates are to one another */

/* The numbers of relations; from OUTER on each has another one behind it, for other types. */
enum { TWIN = 0, OUTER = 1, INNER = 7, PARTLY = 13, PART = 15, WHOLE = 17, HULL = 19, SIBLING = 21, RELATED = 23 };

/* Count the ranges of a candidate that are ranges of another. */
static int64_t shared_ranges(int64_t one, int64_t other, const Candidates *table) {
    int64_t count = 0;
    for (int64_t i = table->ptr.at[one]; i < table->ptr.at[one + 1]; i++)
        for (int64_t j = table->ptr.at[other]; j < table->ptr.at[other + 1]; j++)
            count += table->first.at[i] == table->first.at[j] && table->end.at[i] == table->end.at[j];
    return count;
}

/* Note what the other is to one, of two candidates that overlap. */
static void note(int64_t one, int64_t other, const Candidates *table, f64_2 found) {
    const int64_t *ptr = table->ptr.at;
    int64_t first = table->first.at[ptr[one]], end = table->end.at[ptr[one + 1] - 1];
    int64_t first_other = table->first.at[ptr[other]], end_other = table->end.at[ptr[other + 1] - 1];
    int64_t parts = ptr[one + 1] - ptr[one], parts_other = ptr[other + 1] - ptr[other];
    int64_t stranger = table->kind.at[one] != table->kind.at[other], relation, shared = 0;
    int64_t edge = first == first_other ? 0 : end == end_other ? 1 : 2;
    if (first == first_other && end == end_other) relation = HULL + stranger;
    else if (first_other <= first && end <= end_other) relation = OUTER + 2 * edge + stranger;
    else if (first <= first_other && end_other <= end) relation = INNER + 2 * edge + stranger;
    else relation = PARTLY + stranger;
    if (relation >= HULL || parts > 1 || parts_other > 1) shared = shared_ranges(one, other, table);
    if (relation >= HULL && shared == parts && shared == parts_other) relation = TWIN;
    double odds = table->odds.at[other], *largest = &AT2(found, relation, one);
    if (odds > *largest) *largest = odds;
    if (shared > 0 && relation != TWIN && (parts > 1 || parts_other > 1)) {
        int64_t kind = parts > 1 && parts_other > 1 ? SIBLING : parts > 1 ? PART : WHOLE;
        largest = &AT2(found, kind + stranger, one);
        if (odds > *largest) *largest = odds;
    }
}

int64_t spanloom_strongest(const strongest_arguments *a) {
    const Candidates *table = &a->table;
    int64_t count = table->kind.n;
    if (a->found.n != RELATED || a->found.m != count) return BAD_INDEX;
    for (int64_t one = 0; one < count; one++)
        if (table->ptr.at[one] < 0 || table->ptr.at[one + 1] <= table->ptr.at[one] ||
            table->ptr.at[one + 1] > table->first.n)
            return BAD_INDEX;
    for (int64_t i = 0; i < RELATED * count; i++) a->found.at[i] = -INFINITY;
    for (int64_t one = 0; one < count; one++) {
        int64_t end = table->end.at[table->ptr.at[one + 1] - 1];
        for (int64_t other = one + 1; other < least(one + 1 + a->following, count); other++) {
            if (table->sentence.at[other] != table->sentence.at[one]) break;
            if (table->first.at[table->ptr.at[other]] >= end) break;
            if (!table->given.at[other]) note(one, other, table, a->found);
            if (!table->given.at[one]) note(other, one, table, a->found);
        }
    }
    return 0;
}

/* ---------------------------------------------------------------------------------------------- bins of log-odds */

#define BINS 16 /* on each side of 0 */

static int64_t bin(double odds, double width) {
    if (odds == -INFINITY) return 0;
    double lowest = -BINS * width, place = floor((odds > lowest ? odds : lowest) / width);
    return (int64_t)(place < BINS - 1.0 ? place : BINS - 1.0) + BINS + 1;
}

int64_t spanloom_bins(const bins_arguments *a) {
    for (int64_t i = 0; i < a->odds.n; i++) a->found.at[i] = bin(a->odds.at[i], a->width);
    return 0;
}

int64_t spanloom_bins_of_related(const bins_of_related_arguments *a) {
    for (int64_t relation = 0; relation < a->related.n; relation++) {
        for (int64_t i = 0; i < a->odds.n; i++) {
            double other = AT2(a->related, relation, i);
            int there = other != -INFINITY; /* of most relations there is none */
            AT2(a->found, relation, i) = there ? bin(other, a->width) : 0;
            AT2(a->less, relation, i) = there ? bin(a->odds.at[i] - other, a->width) : 0;
        }
    }
    return 0;
}

int64_t spanloom_values_at(const values_at_arguments *a) {
    const Columns *table = &a->table;
    int64_t tokens = table->ids.m;
    for (int64_t i = 0; i < a->low.n; i++)
        if (a->low.at[i] < 0 || a->high.at[i] > tokens) return BAD_INDEX;
    for (int64_t v = 0; v < a->column.n; v++) {
        int64_t column = a->column.at[v], place = a->place.at[v], source, base, stride;
        if (column < 0 || column >= table->source.n || place < 0 || place >= a->places.n) return BAD_INDEX;
        source = table->source.at[column], base = table->base.at[column], stride = table->stride.at[column];
        if (source < 0 || source >= table->ids.n) return BAD_INDEX;
        for (int64_t i = 0; i < a->low.n; i++) {
            int64_t token, value;
            if (__builtin_add_overflow(AT2(a->places, place, i), a->distance.at[v], &token)) return BAD_INDEX;
            uint64_t *found = &AT2(a->found, v, i);
            if (!AT2(a->there, place, i)) *found = 0;
            else if (token < a->low.at[i]) *found = a->before;
            else if (token >= a->high.at[i]) *found = a->after;
            else {
                if (__builtin_mul_overflow(stride, (int64_t)AT2(table->ids, source, token), &value) ||
                    __builtin_add_overflow(value, base, &value) || value < 0 || value >= table->values.n)
                    return BAD_INDEX;
                *found = table->values.at[value];
            }
        }
    }
    return 0;
}

/* 1. Of each group: the largest log-odds and its label, and the largest of any other label.
   2. A candidate of that label gets the second, any other the first. */
int64_t spanloom_best_but(const best_but_arguments *a) {
    int64_t count = a->group.n, groups = 0;
    memory own = {0};
    double *best = TAKE(&own, double, count), *second = TAKE(&own, double, count);
    int64_t *usual = TAKE(&own, int64_t, count); /* the label of the best */
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t i = 0; i < count; i++) {
        if (!a->counts.at[i]) continue;
        double odds = a->odds.at[i];
        int64_t label = a->label.at[i], g = find_number(a->table, a->shift, a->keys.at, groups, a->group.at[i]);
        if (g < 0) {
            g = groups++;
            a->keys.at[g] = a->group.at[i];
            usual[g] = label;
            best[g] = second[g] = -INFINITY;
            enter(a->table, a->shift, a->group.at[i], (uint64_t)groups);
        }
        if (label != usual[g]) {
            double smaller = odds < best[g] ? odds : best[g];
            if (smaller > second[g]) second[g] = smaller;
        }
        if (odds > best[g]) {
            best[g] = odds;
            usual[g] = label;
        }
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t g = find_number(a->table, a->shift, a->keys.at, groups, a->group.at[i]);
        a->found.at[i] = g < 0 ? -INFINITY : a->label.at[i] == usual[g] ? second[g] : best[g];
    }
    return give_back(&own, 0);
}
