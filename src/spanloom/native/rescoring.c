/* Candidates of the second stage: places that have their words, and values of each. */
#include "hashing.h"
#include "spanloom.h"

/* ------------------------------------------------------------------------ places that have the words of candidates */

/* 1. The words of the likely candidates of each document are a trie, whose nodes are hashes; a node has a list of the
      candidates that end there, the types of which differ.
   2. From each token the trie is walked down as far as the words go. */
int64_t spanloom_elsewhere(const elsewhere_arguments *a) {
    const Mentions *table = &a->found.table;
    const Words *text = &a->text;
    int64_t candidates = table->kind.n, sentences = text->documents.n, count = 0, nodes = 0, tokens = 0;
    if (candidates != a->found.odds.n || text->offsets.at[sentences] > text->words.n) return BAD_INDEX;
    memory own = {0};
    uint8_t *likely = TAKE_ZEROS(&own, uint8_t, candidates);
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t i = 0; i < candidates; i++) {
        int64_t at = table->ptr.at[i], n = table->sentence.at[i];
        if (at < 0 || at >= table->first.n || n < 0 || n >= sentences) return give_back(&own, BAD_INDEX);
        if (table->ptr.at[i + 1] != at + 1 || !(a->found.odds.at[i] > 0.0)) continue;
        int64_t first = table->first.at[at], end = table->end.at[at], low = text->offsets.at[n];
        if (low < 0 || low > text->words.n || first < 0 || end <= first || end > text->words.n - low)
            return give_back(&own, BAD_INDEX);
        int64_t size = end - first;
        likely[i] = size <= a->longest;
        tokens += likely[i] * size;
    }
    int64_t slots = 256, bits = 8;
    for (; slots < 2 * tokens; slots *= 2) bits++;
    u64_1 numbers = {TAKE_ZEROS(&own, uint64_t, slots), slots};
    uint64_t *keys = TAKE(&own, uint64_t, tokens);
    int64_t *head = TAKE(&own, int64_t, tokens), *next = TAKE(&own, int64_t, candidates), shift = 64 - bits;
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t i = 0; i < candidates; i++) {
        if (!likely[i]) continue;
        int64_t n = table->sentence.at[i], at = table->ptr.at[i], low = text->offsets.at[n], node = -1;
        uint64_t state = mix(START, (uint64_t)text->documents.at[n]);
        for (int64_t token = low + table->first.at[at]; token < low + table->end.at[at]; token++) {
            state = mix(state, text->words.at[token]);
            node = find_number(numbers, shift, keys, nodes, state);
            if (node < 0) {
                keys[node = nodes++] = state;
                head[node] = -1;
                enter(numbers, shift, state, (uint64_t)nodes);
            }
        }
        int64_t same = head[node];
        while (same >= 0 && table->kind.at[same] != table->kind.at[i]) same = next[same];
        if (same >= 0) continue;
        next[i] = head[node];
        head[node] = i;
    }
    for (int64_t n = 0; n < sentences; n++) {
        int64_t low = text->offsets.at[n], high = text->offsets.at[n + 1];
        if (low < 0 || high > text->words.n) return give_back(&own, BAD_INDEX);
        uint64_t start = mix(START, (uint64_t)text->documents.at[n]);
        for (int64_t begin = low; begin < high; begin++) {
            uint64_t state = start;
            for (int64_t token = begin; token < high; token++) {
                state = mix(state, text->words.at[token]);
                int64_t node = find_number(numbers, shift, keys, nodes, state);
                if (node < 0) break;
                for (int64_t i = head[node]; i >= 0; i = next[i], count++) {
                    if (count >= a->places.n) continue;
                    int64_t *row = &AT2(a->places, count, 0);
                    row[0] = n;
                    row[1] = table->kind.at[i];
                    row[2] = begin - low;
                    row[3] = token + 1 - low;
                }
            }
        }
    }
    return give_back(&own, count);
}

/* ---------------------------------------------------------------------------------------------- hashes of mentions */

int64_t spanloom_identities(const identities_arguments *a) {
    const Mentions *table = &a->mentions;
    for (int64_t i = 0; i < table->kind.n; i++) {
        uint64_t state = mix(mix(mix(START, 0), (uint64_t)table->sentence.at[i]), (uint64_t)table->kind.at[i]);
        state = mix(mix(state, (uint64_t)AT2(table->heads, i, 0)), (uint64_t)AT2(table->heads, i, 1));
        int64_t begin = table->ptr.at[i], end = table->ptr.at[i + 1];
        if (begin < 0 || end > table->first.n) return BAD_INDEX;
        for (int64_t at = begin; at < end; at++) {
            state = mix(mix(START, (uint64_t)(at - begin)), state != 0 ? state : 1);
            state = mix(mix(state, (uint64_t)table->first.at[at]), (uint64_t)table->end.at[at]);
        }
        a->found.at[i] = state != 0 ? state : 1;
    }
    return 0;
}

/* Hashes of ranges of words in constant time: polynomials modulo 2^64, as of `RangeHashes`. */
typedef struct {
    uint64_t *up, *down, *sums; /* of each token, and one more */
    int64_t tokens;
} Ranges;

static Ranges ranges_of(memory *own, u64_1 words) {
    Ranges all = {TAKE(own, uint64_t, words.n + 1), TAKE(own, uint64_t, words.n + 1), TAKE(own, uint64_t, words.n + 1),
                  words.n};
    if (own->failed) return all;
    const uint64_t base = MULTIPLIER;
    uint64_t inverse = base; /* by Newton's method: each step doubles the right bits, of which there are three */
    for (int step = 0; step < 5; step++) inverse *= 2 - base * inverse;
    all.up[0] = all.down[0] = 1;
    all.sums[0] = 0;
    for (int64_t t = 0; t < words.n; t++) {
        all.up[t + 1] = all.up[t] * base;
        all.down[t + 1] = all.down[t] * inverse;
        all.sums[t + 1] = all.sums[t] + words.at[t] * all.down[t];
    }
    return all;
}

/* The hash of the words of some ranges, one behind the other, whose tokens are counted from `low`. */
static uint64_t text_of(const Ranges *all, int64_t low, const int64_t *first, const int64_t *end, int64_t count) {
    uint64_t sum = 0;
    int64_t size = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t begin = low + first[i], stop = low + end[i];
        sum += (all->sums[stop] - all->sums[begin]) * all->up[begin] * all->down[size];
        size += stop - begin;
    }
    uint64_t state = mix(mix(mix(START, 0), sum), (uint64_t)size);
    return state != 0 ? state : 1;
}

/* Whether the ranges of all mentions are in their sentences, none of them empty, and the sentences in the text. */
static int are_in_text(const Mentions *table, i64_1 offsets, int64_t words) {
    for (int64_t i = 0; i < table->kind.n; i++) {
        int64_t n = table->sentence.at[i], begin = table->ptr.at[i], end = table->ptr.at[i + 1];
        if (begin < 0 || end <= begin || end > table->first.n || n < 0 || n >= offsets.n - 1) return 0;
        int64_t low = offsets.at[n], size;
        if (low < 0 || offsets.at[n + 1] < low || offsets.at[n + 1] > words) return 0;
        size = offsets.at[n + 1] - low;
        for (int64_t at = begin; at < end; at++)
            if (table->first.at[at] < (at > begin ? table->end.at[at - 1] : 0) ||
                table->end.at[at] <= table->first.at[at] || table->end.at[at] > size)
                return 0;
    }
    return 1;
}

int64_t spanloom_texts(const texts_arguments *a) {
    const Mentions *table = &a->mentions;
    if (!are_in_text(table, a->text.offsets, a->text.words.n) || a->found.n != table->kind.n) return BAD_INDEX;
    memory own = {0};
    Ranges all = ranges_of(&own, a->text.words);
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t i = 0; i < table->kind.n; i++) {
        int64_t at = table->ptr.at[i], low = a->text.offsets.at[table->sentence.at[i]];
        a->found.at[i] = text_of(&all, low, &table->first.at[at], &table->end.at[at], table->ptr.at[i + 1] - at);
    }
    return give_back(&own, 0);
}

/* ------------------------------------------------------------------------------------------- names of the training */

/* The counts of a batch of keys. The searches have no branches, which no processor could foresee, and take turns, so
   that it reads for one while it waits for another. */
static void count_keys(const recall_arguments *a, const uint64_t *keys, int64_t count, int64_t *counts) {
    const uint64_t *low[BATCH];
    for (int64_t k = 0; k < count; k++) low[k] = a->keys.at;
    for (int64_t left = a->keys.n; left > 1; left -= left / 2)
        for (int64_t k = 0; k < count; k++) low[k] += low[k][left / 2 - 1] < keys[k] ? left / 2 : 0;
    for (int64_t k = 0; k < count; k++)
        counts[k] = a->keys.n > 0 && *low[k] == keys[k] ? a->counts.at[low[k] - a->keys.at] : 0;
}

/* 1. Texts, but for 0, which is no key, are looked up.
   2. So are those that are there with their types. */
int64_t spanloom_recall(const recall_arguments *a) {
    for (int64_t begin = 0; begin < a->text.n; begin += BATCH) {
        uint64_t keys[BATCH];
        int64_t who[BATCH], counts[BATCH], total[BATCH] = {0}, own[BATCH] = {0}, size = 0;
        int64_t end = least(begin + BATCH, a->text.n);
        for (int64_t i = begin; i < end; i++) {
            if (a->text.at[i] == 0) continue;
            keys[size] = a->text.at[i];
            who[size++] = i - begin;
        }
        count_keys(a, keys, size, counts);
        for (int64_t k = 0; k < size; k++) total[who[k]] = counts[k];
        size = 0;
        for (int64_t i = begin; i < end; i++) {
            if (total[i - begin] <= 0) continue;
            uint64_t key = mix(mix(mix(START, 0), a->text.at[i]), (uint64_t)a->kind.at[i]);
            keys[size] = key != 0 ? key : 1;
            who[size++] = i - begin;
        }
        count_keys(a, keys, size, counts);
        for (int64_t k = 0; k < size; k++) own[who[k]] = counts[k];
        for (int64_t i = begin; i < end; i++) {
            int64_t all = total[i - begin], of_kind = own[i - begin];
            double share = (double)of_kind / (double)most(all, 1);
            a->found.at[i] = all == 0           ? 0
                             : share == 1.0     ? 2 - (of_kind == 1)
                             : share > a->often ? 3
                             : share > 0.0      ? 4
                                                : 5;
        }
    }
    return 0;
}

/* ------------------------------------------------------------------------------ what candidates are to one another */

/* The numbers of relations; from OUTER on each has another one behind it, for other types. */
enum { TWIN = 0, OUTER = 1, INNER = 7, PARTLY = 13, PART = 15, WHOLE = 17, HULL = 19, SIBLING = 21, RELATED = 23 };

/* Count the ranges of a candidate that are ranges of another. */
static int64_t shared_ranges(int64_t one, int64_t other, const Mentions *table) {
    int64_t count = 0;
    for (int64_t i = table->ptr.at[one]; i < table->ptr.at[one + 1]; i++)
        for (int64_t j = table->ptr.at[other]; j < table->ptr.at[other + 1]; j++)
            count += table->first.at[i] == table->first.at[j] && table->end.at[i] == table->end.at[j];
    return count;
}

/* Note what the other is to one, of two candidates that overlap. */
static void note(int64_t one, int64_t other, const Mentions *table, double odds, f64_2 found) {
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
    double *largest = &AT2(found, one, relation);
    if (odds > *largest) *largest = odds;
    if (shared > 0 && relation != TWIN && (parts > 1 || parts_other > 1)) {
        int64_t kind = parts > 1 && parts_other > 1 ? SIBLING : parts > 1 ? PART : WHOLE;
        largest = &AT2(found, one, kind + stranger);
        if (odds > *largest) *largest = odds;
    }
}

/* The largest log-odds of the candidates that are something to each, (C, RELATED). */
static void strongest(const wholes_arguments *a, f64_2 found) {
    const Mentions *table = &a->candidates.table;
    const int64_t *level = a->candidates.level.at;
    const double *odds = a->candidates.odds.at;
    int64_t count = table->kind.n;
    for (int64_t i = 0; i < RELATED * count; i++) found.at[i] = -INFINITY;
    for (int64_t one = 0; one < count; one++) {
        int64_t end = table->end.at[table->ptr.at[one + 1] - 1];
        for (int64_t other = one + 1; other < least(one + 1 + a->following, count); other++) {
            if (table->sentence.at[other] != table->sentence.at[one]) break;
            if (table->first.at[table->ptr.at[other]] >= end) break;
            if (level[other] < a->given) note(one, other, table, odds[other], found);
            if (level[one] < a->given) note(other, one, table, odds[one], found);
        }
    }
}

/* ---------------------------------------------------------------------------------------------- bins of log-odds */

#define BINS 16 /* on each side of 0 */

static int64_t bin(double odds, double width) {
    if (odds == -INFINITY) return 0;
    double lowest = -BINS * width, place = floor((odds > lowest ? odds : lowest) / width);
    return (int64_t)(place < BINS - 1.0 ? place : BINS - 1.0) + BINS + 1;
}

/* ------------------------------------------------------------------------------------------- values of candidates */

/* Note for each candidate the largest log-odds in its group among those that are proposed and have another label; -inf
   for none.

   1. Of each group: the largest log-odds and its label, and the largest of any other label.
   2. A candidate of that label gets the second, any other the first. */
static int64_t best_but(const Candidates *all, int64_t given, const uint64_t *group, const int64_t *label,
                        double *found) {
    int64_t count = all->level.n, groups = 0, slots = 256, bits = 8;
    for (; slots < 2 * count; slots *= 2) bits++;
    memory own = {0};
    u64_1 table = {TAKE_ZEROS(&own, uint64_t, slots), slots};
    uint64_t *keys = TAKE(&own, uint64_t, count);
    double *best = TAKE(&own, double, count), *second = TAKE(&own, double, count);
    int64_t *usual = TAKE(&own, int64_t, count), shift = 64 - bits; /* the label of the best */
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t i = 0; i < count; i++) {
        if (all->level.at[i] >= given) continue;
        double odds = all->odds.at[i];
        int64_t g = find_number(table, shift, keys, groups, group[i]), own_label = label != NULL ? label[i] : i;
        if (g < 0) {
            g = groups++;
            keys[g] = group[i];
            usual[g] = own_label;
            best[g] = second[g] = -INFINITY;
            enter(table, shift, group[i], (uint64_t)groups);
        }
        if (own_label != usual[g]) {
            double smaller = odds < best[g] ? odds : best[g];
            if (smaller > second[g]) second[g] = smaller;
        }
        if (odds > best[g]) {
            best[g] = odds;
            usual[g] = own_label;
        }
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t g = find_number(table, shift, keys, groups, group[i]), own_label = label != NULL ? label[i] : i;
        found[i] = g < 0 ? -INFINITY : own_label == usual[g] ? second[g] : best[g];
    }
    return give_back(&own, 0);
}

/* The rows of `wholes`; `rescoring/values.py` numbers them so. The relations follow, and how much less they are. */
enum {
    TYPE,
    ODDS,
    COARSE_ODDS,
    LEVEL,
    LENGTH,
    TEXT,
    PARTS,
    BRACKETS,
    GAP_LENGTH,
    GAP_TEXT,
    GAP_KIND,
    PAIR,
    FIRST_TEXT,
    SECOND_TEXT,
    AGAIN,
    AGAIN_OTHER,
    PLAIN
};
/* Bits of marks. */
enum { OPENS = 1, CLOSES = 2, JOINS = 4, COMMA = 8, PREPOSITION = 16 };
#define FINE 0.5
#define COARSE 1.5
#define USUAL 10.0 /* what is added to the log-odds of pairs, so that bins are where they differ */

int64_t spanloom_wholes(const wholes_arguments *a) {
    const Candidates *all = &a->candidates;
    const Mentions *table = &all->table;
    const Words *text = &a->text;
    int64_t count = table->kind.n, tokens = text->words.n;
    if (!are_in_text(table, text->offsets, tokens) || all->level.n != count || a->pair.n != count) return BAD_INDEX;
    if (a->found.n < PLAIN + 2 * RELATED || a->found.m != count) return BAD_INDEX;
    memory own = {0};
    Ranges ranges = ranges_of(&own, text->words);
    uint8_t *marks = TAKE(&own, uint8_t, tokens);
    int64_t *opened = TAKE(&own, int64_t, tokens + 1), *closed = TAKE(&own, int64_t, tokens + 1);
    int64_t *joined = TAKE(&own, int64_t, tokens + 1);
    uint64_t *of_kind = TAKE(&own, uint64_t, count), *of_text = TAKE(&own, uint64_t, count);
    f64_2 odds = {TAKE(&own, double, RELATED *count), count, RELATED};
    double *same = TAKE(&own, double, count), *other = TAKE(&own, double, count);
    if (own.failed) return give_back(&own, NO_MEMORY);
    opened[0] = closed[0] = joined[0] = 0;
    uint8_t some[256] = {0}; /* whether a mark's hash has this last byte: most words need no more */
    for (int64_t i = 0; i < a->marks.n; i++) some[a->marks.at[i] & 255] = 1;
    for (int64_t t = 0; t < tokens; t++) {
        marks[t] = 0;
        for (int64_t i = 0; some[text->words.at[t] & 255] && i < a->marks.n; i++)
            if (a->marks.at[i] == text->words.at[t]) marks[t] |= (uint8_t)a->bits.at[i];
        opened[t + 1] = opened[t] + (marks[t] & OPENS) / OPENS;
        closed[t + 1] = closed[t] + (marks[t] & CLOSES) / CLOSES;
        joined[t + 1] = joined[t] + (marks[t] & JOINS) / JOINS;
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t *first = &table->first.at[table->ptr.at[i]], *end = &table->end.at[table->ptr.at[i]];
        int64_t parts = table->ptr.at[i + 1] - table->ptr.at[i], size = 0;
        int64_t low = text->offsets.at[table->sentence.at[i]], begin = low + first[0], stop = low + end[parts - 1];
        for (int64_t part = 0; part < parts; part++) size += end[part] - first[part];
        int64_t opens = opened[stop] - opened[begin], closes = closed[stop] - closed[begin];
        uint64_t document = (uint64_t)text->documents.at[table->sentence.at[i]];
        uint64_t words = text_of(&ranges, low, first, end, parts), state = mix(mix(mix(START, 0), document), words);
        of_text[i] = state != 0 ? state : 1;
        state = mix(state, (uint64_t)table->kind.at[i]);
        of_kind[i] = state != 0 ? state : 1;
        AT2(a->found, TYPE, i) = (uint64_t)table->kind.at[i] + 1;
        AT2(a->found, ODDS, i) = (uint64_t)bin(all->odds.at[i], FINE);
        AT2(a->found, COARSE_ODDS, i) = (uint64_t)bin(all->odds.at[i], COARSE);
        AT2(a->found, LEVEL, i) = (uint64_t)all->level.at[i] + 1;
        AT2(a->found, LENGTH, i) = (uint64_t)size;
        AT2(a->found, TEXT, i) = words;
        AT2(a->found, PARTS, i) = (uint64_t)parts;
        AT2(a->found, BRACKETS, i) = opens > closes ? 3 : closes > opens ? 4 : 1 + (opens > 0);
        AT2(a->found, PAIR, i) = (uint64_t)bin(a->pair.at[i] + USUAL, 1.0);
        if (parts == 1) continue;
        int64_t gap = low + end[0], join = low + first[1];
        AT2(a->found, GAP_LENGTH, i) = (uint64_t)(join - gap);
        AT2(a->found, GAP_TEXT, i) = text_of(&ranges, low, end, first + 1, 1);
        AT2(a->found, FIRST_TEXT, i) = text_of(&ranges, low, first, end, 1);
        AT2(a->found, SECOND_TEXT, i) = text_of(&ranges, low, first + 1, end + 1, 1);
        AT2(a->found, GAP_KIND, i) =
            (uint64_t)(1 + 2 * ((marks[gap] & (JOINS | COMMA)) != 0) + 4 * ((marks[join - 1] & JOINS) != 0) +
                       8 * (joined[join] > joined[gap]) + 16 * ((marks[gap] & OPENS) != 0) +
                       32 * (opened[join] - closed[join] != opened[gap] - closed[gap]) +
                       64 * ((marks[gap - 1] & PREPOSITION) != 0));
    }
    strongest(a, odds);
    for (int64_t i = 0; i < count; i++) {
        for (int64_t relation = 0; relation < RELATED; relation++) {
            double related = AT2(odds, i, relation);
            if (related == -INFINITY) continue; /* as of most relations */
            AT2(a->found, PLAIN + relation, i) = (uint64_t)bin(related, COARSE);
            AT2(a->found, PLAIN + RELATED + relation, i) = (uint64_t)bin(all->odds.at[i] - related, COARSE);
        }
    }
    if (best_but(all, a->given, of_kind, NULL, same) != 0) return give_back(&own, NO_MEMORY);
    if (best_but(all, a->given, of_text, table->kind.at, other) != 0) return give_back(&own, NO_MEMORY);
    for (int64_t i = 0; i < count; i++) {
        AT2(a->found, AGAIN, i) = (uint64_t)bin(same[i], COARSE);
        AT2(a->found, AGAIN_OTHER, i) = (uint64_t)bin(other[i], COARSE);
    }
    return give_back(&own, 0);
}

int64_t spanloom_values_at(const values_at_arguments *a) {
    const Columns *table = &a->table;
    const Mentions *mentions = &a->mentions;
    int64_t tokens = table->ids.m, count = a->rows.n;
    if (!are_in_text(mentions, a->offsets, tokens) || a->found.m != count || a->whole.m != mentions->kind.n)
        return BAD_INDEX;
    for (int64_t j = 0; j < count; j++)
        if (a->rows.at[j] < 0 || a->rows.at[j] >= mentions->kind.n) return BAD_INDEX;
    for (int64_t v = 0; v < a->here.n; v++) {
        int64_t here = a->here.at[v], there = a->there.at[v];
        if (here < 0 || here >= a->found.n || there < 0 || there >= a->whole.n) return BAD_INDEX;
        for (int64_t j = 0; j < count; j++) AT2(a->found, here, j) = AT2(a->whole, there, a->rows.at[j]);
    }
    for (int64_t v = 0; v < a->column.n; v++) {
        int64_t column = a->column.at[v], place = a->place.at[v], row = a->row.at[v], source, base, stride;
        if (column < 0 || column >= table->source.n || place < 0 || place > 3) return BAD_INDEX;
        source = table->source.at[column], base = table->base.at[column], stride = table->stride.at[column];
        if (source < 0 || source >= table->ids.n || row < 0 || row >= a->found.n) return BAD_INDEX;
        for (int64_t j = 0; j < count; j++) {
            int64_t i = a->rows.at[j], token, value;
            int64_t begin = mentions->ptr.at[i], stop = mentions->ptr.at[i + 1], n = mentions->sentence.at[i];
            uint64_t *found = &AT2(a->found, row, j);
            *found = 0;
            if (place >= 2 && stop - begin == 1) continue;
            token = place == 0   ? mentions->first.at[begin]
                    : place == 1 ? mentions->end.at[stop - 1] - 1
                    : place == 2 ? mentions->end.at[begin]
                                 : mentions->first.at[begin + 1];
            token += a->offsets.at[n];
            if (__builtin_add_overflow(token, a->distance.at[v], &token)) return BAD_INDEX;
            if (token < a->offsets.at[n]) *found = a->before;
            else if (token >= a->offsets.at[n + 1]) *found = a->after;
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
