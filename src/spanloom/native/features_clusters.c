/* The greedy merging of Brown clustering.

   Let n[a, x] be how often a word of cluster x follows one of cluster a, n[a] how often cluster a occurs, and M the
   number of tokens. The average mutual information of neighbouring clusters (Brown et al. 1992, section 3) is, times M
   and but for a constant,

       sum over a, x of  n[a, x] log n[a, x]  -  sum over a of  s[a] log n[a],    s[a] = sum over x of n[a, x] + n[x,
   a].

   With f(n) = n log n and g(i, j) = f(i) + f(j) - f(i + j), merging a and b loses

       loss[a, b] = sum over x not in {a, b} of  g(n[a, x], n[b, x]) + g(n[x, a], n[x, b])
                  + f(n[a, a]) + f(n[a, b]) + f(n[b, a]) + f(n[b, b]) - f(n[a, a] + n[a, b] + n[b, a] + n[b, b])
                  + (s[a] + s[b]) log(n[a] + n[b]) - s[a] log n[a] - s[b] log n[b].

   g is 0 where one of its arguments is. So a word that enters changes few losses, and a merge changes those only of the
   clusters that occur next to the rarer partner: a step costs O(C) for each neighbour of one rare word, and not the
   O(C^2) of the usual update (Brown et al. 1992; Liang 2005), which touches every pair. Only the search for the least
   loss reads all C^2 / 2 numbers.

   Logarithms are whole numbers, log(n) 2^k rounded. All sums are then exact: losses do not drift over thousands of
   updates, and equal losses are equal. */
#include "spanloom.h"

#define NEVER INT64_MAX

static int64_t log_of(const Window *w, int64_t n) {
    return n < w->logs.n ? w->logs.at[n] : llrint(logarithm((double)n) * w->scale);
}

static int64_t f(const Window *w, int64_t n) { return n * log_of(w, n); }

static int64_t g(const Window *w, int64_t i, int64_t j) { return f(w, i) + f(w, j) - f(w, i + j); }

static int64_t *loss(const Window *w, int64_t a, int64_t b) { return &AT2(w->loss, most(a, b), least(a, b)); }

/* The loss's second line: the counts between a and b themselves. */
static int64_t corner(const Window *w, int64_t a, int64_t b) {
    int64_t aa = AT2(w->right, a, a), ab = AT2(w->right, a, b), ba = AT2(w->right, b, a), bb = AT2(w->right, b, b);
    return f(w, aa) + f(w, ab) + f(w, ba) + f(w, bb) - f(w, aa + ab + ba + bb);
}

/* The loss's third line: the clusters' own frequencies. */
static int64_t margins(const Window *w, int64_t a, int64_t b) {
    const int64_t *count = w->counts.at, *margin = w->margin.at;
    int64_t joint = (margin[a] + margin[b]) * log_of(w, count[a] + count[b]);
    return joint - margin[a] * log_of(w, count[a]) - margin[b] * log_of(w, count[b]);
}

static int64_t root_of(int64_t *parent, int64_t word) {
    while (parent[word] != word) {
        parent[word] = parent[parent[word]];
        word = parent[word];
    }
    return word;
}

static void enter_counts(const Window *w, const Bigrams *bigrams, int64_t word, int64_t new) {
    for (int64_t e = bigrams->right_start.at[word]; e < bigrams->right_start.at[word + 1]; e++) {
        int64_t x = w->slot.at[root_of(w->parent.at, bigrams->right_word.at[e])];
        if (x >= 0) {
            AT2(w->right, new, x) += (int32_t)bigrams->right_count.at[e];
            AT2(w->left, x, new) = AT2(w->right, new, x);
        }
    }
    for (int64_t e = bigrams->left_start.at[word]; e < bigrams->left_start.at[word + 1]; e++) {
        int64_t x = w->slot.at[root_of(w->parent.at, bigrams->left_word.at[e])];
        if (x >= 0 && x != new) {
            AT2(w->right, x, new) += (int32_t)bigrams->left_count.at[e];
            AT2(w->left, new, x) = AT2(w->right, x, new);
        }
    }
}

/* Update s[c] where c occurs next to the new cluster, and with it the losses of c with every other. */
static void enter_margins(const Window *w, int64_t new) {
    const int64_t *count = w->counts.at;
    for (int64_t c = 0; c < w->counts.n; c++) {
        int64_t grown = (int64_t)AT2(w->right, new, c) + AT2(w->left, new, c);
        w->margin.at[new] += grown;
        if (grown == 0 || c == new) continue;
        w->margin.at[c] += grown;
        int64_t own = log_of(w, count[c]);
        for (int64_t d = 0; d < w->counts.n; d++)
            if (d != c && d != new && w->name.at[d] >= 0)
                *loss(w, c, d) += grown * (log_of(w, count[c] + count[d]) - own);
    }
}

/* Add the term of x = new to the losses of those pairs that both occur next to it; `row` is right or left. */
static void enter_pairs(const Window *w, i32_2 row, int64_t new) {
    for (int64_t c = 0; c < row.n; c++) {
        if (c == new || AT2(row, new, c) == 0) continue;
        for (int64_t d = 0; d < c; d++)
            if (d != new && AT2(row, new, d)) AT2(w->loss, c, d) += g(w, AT2(row, new, c), AT2(row, new, d));
    }
}

/* Add the terms g(row[new, x], row[c, x]) to losses[c]; `column` is the transpose of `row`. */
static void enter_row(const Window *w, i32_2 row, i32_2 column, int64_t new, int64_t *losses) {
    for (int64_t x = 0; x < row.n; x++) {
        int64_t i = AT2(row, new, x);
        if (i == 0 || x == new) continue;
        for (int64_t c = 0; c < row.n; c++) {
            int64_t j = AT2(column, x, c);
            if (j && c != x) losses[c] += g(w, i, j);
        }
    }
}

/* Make a word a cluster of its own, in the first free slot; `losses` is scratch. */
static void enter_word(const Window *w, const Bigrams *bigrams, int64_t word, int64_t count, int64_t *losses) {
    int64_t new = 0;
    while (w->name.at[new] >= 0) new++;
    w->slot.at[word] = new;
    w->name.at[new] = word;
    w->counts.at[new] = count;
    w->margin.at[new] = 0;
    enter_counts(w, bigrams, word, new);
    enter_margins(w, new);
    enter_pairs(w, w->right, new);
    enter_pairs(w, w->left, new);
    memset(losses, 0, (size_t)w->counts.n * sizeof *losses);
    enter_row(w, w->right, w->left, new, losses);
    enter_row(w, w->left, w->right, new, losses);
    for (int64_t c = 0; c < w->counts.n; c++)
        if (c != new && w->name.at[c] >= 0) *loss(w, c, new) = losses[c] + corner(w, new, c) + margins(w, new, c);
}

/* The two slots whose merging loses least; among equals those with the first names. */
static void cheapest(const Window *w, int64_t *left, int64_t *right) {
    const int64_t *name = w->name.at;
    int64_t best = NEVER, first = NEVER, second = NEVER;
    *left = *right = 0;
    for (int64_t c = 1; c < w->loss.n; c++) {
        const int64_t *row = &AT2(w->loss, c, 0);
        int64_t lowest = NEVER;
        for (int64_t d = 0; d < c; d++) lowest = least(lowest, row[d]);
        if (lowest > best || lowest == NEVER) continue;
        for (int64_t d = 0; d < c; d++) {
            if (row[d] != lowest) continue;
            int64_t one = least(name[c], name[d]), other = most(name[c], name[d]);
            if (lowest < best || one < first || (one == first && other < second)) {
                best = lowest;
                *left = c;
                *right = d;
                first = one;
                second = other;
            }
        }
    }
}

/* Update the losses of pairs of other clusters: replace the terms of x = a and x = b by that of their union. Nothing
   changes unless c or d occurs next to b. A pair of two such clusters is met twice: it is done where d < c. */
static void merge_pairs(const Window *w, i32_2 row, int64_t a, int64_t b) {
    for (int64_t c = 0; c < row.n; c++) {
        int64_t bc = AT2(row, b, c), ac = AT2(row, a, c);
        if (bc == 0 || c == a || c == b) continue;
        for (int64_t d = 0; d < row.n; d++) {
            int64_t ad = AT2(row, a, d), bd = AT2(row, b, d);
            if (ad + bd == 0 || d == a || d == b || d == c || (bd && d > c)) continue;
            *loss(w, c, d) += g(w, ac + bc, ad + bd) - g(w, ac, ad) - g(w, bc, bd);
        }
    }
}

/* Compute the change of the losses of a with every other cluster, without the second and third line. */
static void merge_row(const Window *w, i32_2 row, i32_2 column, int64_t a, int64_t b, int64_t *change) {
    for (int64_t x = 0; x < row.n; x++) {
        if (AT2(row, b, x) == 0 || x == a || x == b) continue;
        int64_t i = AT2(row, a, x), k = i + AT2(row, b, x), base = f(w, k) - f(w, i);
        for (int64_t c = 0; c < row.n; c++) {
            int64_t j = AT2(column, x, c);
            if (j && c != x) change[c] += base - f(w, k + j) + f(w, i + j);
        }
    }
    int64_t ab = AT2(row, a, b);
    for (int64_t c = 0; ab && c < row.n; c++) change[c] -= g(w, ab, AT2(column, b, c));
}

/* Move cluster b into a and free its slot; write their names. */
static void pour(const Window *w, int64_t a, int64_t b, int64_t *names) {
    int64_t size = w->counts.n;
    const i32_2 both[2] = {w->right, w->left};
    for (int i = 0; i < 2; i++) {
        for (int64_t x = 0; x < size; x++) AT2(both[i], a, x) += AT2(both[i], b, x);
        for (int64_t x = 0; x < size; x++) AT2(both[i], x, a) += AT2(both[i], x, b);
        for (int64_t x = 0; x < size; x++) AT2(both[i], b, x) = AT2(both[i], x, b) = 0;
    }
    for (int64_t x = 0; x < size; x++) AT2(w->loss, b, x) = AT2(w->loss, x, b) = NEVER;
    w->counts.at[a] += w->counts.at[b];
    w->margin.at[a] += w->margin.at[b];
    names[0] = least(w->name.at[a], w->name.at[b]);
    names[1] = most(w->name.at[a], w->name.at[b]);
    w->parent.at[names[1]] = names[0];
    w->slot.at[names[0]] = a;
    w->name.at[a] = names[0];
    w->name.at[b] = -1;
}

static int64_t neighbours(const Window *w, int64_t a) {
    int64_t found = 0;
    for (int64_t x = 0; x < w->counts.n; x++) found += (AT2(w->left, a, x) > 0) + (AT2(w->right, a, x) > 0);
    return found;
}

/* Merge the two cheapest clusters and write their names; `change` is scratch. */
static void merge(const Window *w, int64_t *names, int64_t *change) {
    int64_t a, b, size = w->counts.n;
    cheapest(w, &a, &b);
    if (neighbours(w, a) < neighbours(w, b)) {
        int64_t other = a;
        a = b;
        b = other;
    }
    memset(change, 0, (size_t)size * sizeof *change);
    merge_pairs(w, w->right, a, b);
    merge_pairs(w, w->left, a, b);
    merge_row(w, w->right, w->left, a, b, change);
    merge_row(w, w->left, w->right, a, b, change);
    for (int64_t c = 0; c < size; c++)
        if (c != a && c != b && w->name.at[c] >= 0) change[c] -= corner(w, a, c) + margins(w, a, c);
    pour(w, a, b, names);
    for (int64_t c = 0; c < size; c++)
        if (c != a && w->name.at[c] >= 0) {
            change[c] += corner(w, a, c) + margins(w, a, c);
            *loss(w, a, c) += change[c];
        }
}

int64_t spanloom_scaled_logs(const scaled_logs_arguments *a) {
    for (int64_t n = 0; n < a->logs.n; n++) a->logs.at[n] = n ? llrint(logarithm((double)n) * a->scale) : 0;
    return 0;
}

int64_t spanloom_enter_words(const enter_words_arguments *a) {
    const Window *w = &a->window;
    memory own = {0};
    int64_t *scratch = TAKE(&own, int64_t, w->counts.n), names[2];
    if (own.failed) return give_back(&own, NO_MEMORY);
    if (a->first < 0 || a->last > a->counts.n) return give_back(&own, BAD_INDEX);
    for (int64_t word = a->first; word < a->last; word++) {
        enter_word(w, &a->bigrams, word, a->counts.at[word], scratch);
        if (word + 1 >= w->counts.n) merge(w, names, scratch);
    }
    return give_back(&own, 0);
}

int64_t spanloom_join_clusters(const join_clusters_arguments *a) {
    memory own = {0};
    int64_t *scratch = TAKE(&own, int64_t, a->window.counts.n);
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t m = 0; m < a->merges.n; m++) merge(&a->window, &AT2(a->merges, m, 0), scratch);
    return give_back(&own, 0);
}
