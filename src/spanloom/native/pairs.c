/* Pairs of parts as candidates with a gap: see `rescoring/parts.py`. */
#include "spanloom.h"

#define EDGES 6
#define LEAST (-8.0)        /* log-odds of a begin or an end that no candidate has */
#define BEHIND 3.0          /* log-odds of a type below those of the likeliest, from which on it is not proposed */
#define SHAPE_FLOOR (-9.0f) /* log-probability of three lengths together */
#define NEVER (-1000.0)     /* log-probability of what training does not have */

static inline double larger(double a, double b) { return a > b ? a : b; }
static inline float larger_of(float a, float b) { return a > b ? a : b; }

/* The log-odds of the likeliest candidate without a gap that begins, or ends, at each token, (T, K). */
typedef struct {
    double *begin, *end;
} Marginals;

/* One of another type counts half. `begin` is NULL where an index leads out of the text. */
static Marginals marginals_of(memory *own, const Candidates *found, const Words *text, int64_t types, int64_t given) {
    const Mentions *table = &found->table;
    int64_t tokens = text->words.n;
    Marginals all = {TAKE(own, double, (tokens * types)), TAKE(own, double, (tokens * types))};
    if (own->failed) return all;
    for (int64_t i = 0; i < tokens * types; i++) all.begin[i] = all.end[i] = LEAST;
    for (int64_t i = 0; i < table->kind.n; i++) {
        int64_t at = table->ptr.at[i], n = table->sentence.at[i], k = table->kind.at[i];
        if (at < 0 || at >= table->first.n || n < 0 || n >= text->documents.n || k < 0 || k >= types) all.begin = NULL;
        if (all.begin == NULL) return all;
        if (table->ptr.at[i + 1] != at + 1 || found->level.at[i] >= given) continue;
        int64_t low = text->offsets.at[n], first = table->first.at[at], last = table->end.at[at];
        if (first < 0 || last <= first || last > tokens - low) all.begin = NULL;
        if (all.begin == NULL) return all;
        last--;
        double odds = larger(found->odds.at[i], LEAST);
        odds = odds < -LEAST ? odds : -LEAST;
        double *begins = &all.begin[(low + first) * types + k], *ends = &all.end[(low + last) * types + k];
        *begins = larger(*begins, odds);
        *ends = larger(*ends, odds);
    }
    for (int side = 0; side < 2; side++) {
        for (int64_t t = 0; t < tokens; t++) {
            double *row = (side ? all.end : all.begin) + t * types, best = LEAST;
            for (int64_t k = 0; k < types; k++) best = larger(best, row[k]);
            for (int64_t k = 0; k < types; k++) row[k] = (row[k] + best) / 2;
        }
    }
    return all;
}

/* Whether the arguments fit together: each word's number is a row, and sentences lie in the text. */
static int fit(const Candidates *found, const Words *text, i64_1 number, f32_2 edges) {
    if (found->level.n != found->table.kind.n || number.n != text->words.n || !lie_below(number, edges.n)) return 0;
    for (int64_t n = 0; n < text->documents.n; n++)
        if (text->offsets.at[n] < 0 || text->offsets.at[n + 1] < text->offsets.at[n] ||
            text->offsets.at[n + 1] > text->words.n)
            return 0;
    return 1;
}

/* 1. The scores of parts and gaps of each length are computed at each token, and those of each shape, which is three
      lengths, are sums of three. Pairs whose sum can reach the floor with the best type are kept.
   2. All types that training has with gaps are tried with these; those that are much less likely than the best are left
      out. */
int64_t spanloom_propose_pairs(const propose_pairs_arguments *a) {
    const Words *text = &a->text;
    int64_t tokens = text->words.n, types = a->kinds.l, longest = a->lengths.m, count = 0, rest;
    if (!fit(&a->found, text, a->number, a->edges)) return BAD_INDEX;
    for (int64_t s = 0; s < a->shapes.n; s++)
        for (int64_t i = 0; i < 3; i++)
            if (AT2(a->shapes, s, i) < 1 || AT2(a->shapes, s, i) > longest) return BAD_INDEX;
    memory own = {0};
    Marginals all = marginals_of(&own, &a->found, text, types, a->given);
    float *runs = TAKE(&own, float, 3 * longest * tokens);
    double *opens = TAKE(&own, double, tokens), *closes = TAKE(&own, double, tokens);
    double *odds = TAKE(&own, double, types);
    if (own.failed) return give_back(&own, NO_MEMORY);
    if (all.begin == NULL) return give_back(&own, BAD_INDEX);
    for (int64_t t = 0; t < tokens; t++) {
        opens[t] = closes[t] = LEAST;
        for (int64_t k = 0; k < types; k++) {
            opens[t] = larger(opens[t], all.begin[t * types + k]);
            closes[t] = larger(closes[t], all.end[t * types + k]);
        }
    }
    for (int64_t part = 0; part < 3; part++) {
        for (int64_t size = 1; size <= longest; size++) {
            float *run = runs + (part * longest + size - 1) * tokens;
            for (int64_t t = 0; t + size <= tokens; t++) {
                float left = AT2(a->edges, a->number.at[t], 2 * part);
                float right = AT2(a->edges, a->number.at[t + size - 1], 2 * part + 1);
                run[t] = left + right;
                if (size == 1) run[t] -= 0.5f * (left < right ? left : right);
            }
        }
    }
    for (int64_t n = 0; n < text->documents.n; n++) {
        int64_t low = text->offsets.at[n], high = text->offsets.at[n + 1];
        for (int64_t s = 0; s < a->shapes.n; s++) {
            int64_t one = AT2(a->shapes, s, 0), gap = AT2(a->shapes, s, 1), two = AT2(a->shapes, s, 2);
            const float *firsts = runs + (one - 1) * tokens, *gaps = runs + (longest + gap - 1) * tokens + one;
            const float *seconds = runs + (2 * longest + two - 1) * tokens + one + gap;
            float weight = (float)(a->weights.at[s] + (double)a->rate.at[0]);
            int64_t size = one + gap + two;
            for (int64_t t = low; t + size <= high; t++) {
                float sum = firsts[t] + gaps[t] + seconds[t] + weight;
                if (!(sum + (opens[t] + closes[t + size - 1]) > a->floor)) continue;
                const float *kinds = &AT3(a->kinds, a->number.at[t], 0, 0);
                const float *lasts = &AT3(a->kinds, a->number.at[t + size - 1], 1, 0);
                double best = a->floor;
                for (int64_t k = 0; k < types; k++) {
                    if (!(AT3(a->kinds, a->kinds.n - 1, 0, k) > NEVER / 2)) continue;
                    double ends = all.begin[t * types + k] + all.end[(t + size - 1) * types + k];
                    odds[k] = sum + (larger_of(kinds[k], lasts[k]) + ends);
                    best = larger(best, odds[k]);
                }
                for (int64_t k = 0; k < types; k++) {
                    if (!(AT3(a->kinds, a->kinds.n - 1, 0, k) > NEVER / 2)) continue;
                    if (!(odds[k] > larger(a->floor, best - BEHIND))) continue;
                    rest = count++;
                    if (rest >= a->pairs.n) continue;
                    int64_t *row = &AT2(a->pairs, rest, 0), begin = t - low;
                    row[0] = n;
                    row[1] = k;
                    row[2] = begin;
                    row[3] = begin + one;
                    row[4] = begin + one + gap;
                    row[5] = begin + size;
                }
            }
        }
    }
    return give_back(&own, count);
}

/* Over the six edges, of which the smaller counts half where two of them are one token; over the lengths, the words
   and marginals of the type. */
int64_t spanloom_score_pairs(const score_pairs_arguments *a) {
    const Mentions *table = &a->candidates.table;
    const Words *text = &a->text;
    int64_t types = a->kinds.l, longest = a->lengths.m;
    if (!fit(&a->candidates, text, a->number, a->edges) || a->found.n != table->kind.n) return BAD_INDEX;
    memory own = {0};
    Marginals all = marginals_of(&own, &a->candidates, text, types, a->given);
    if (own.failed) return give_back(&own, NO_MEMORY);
    if (all.begin == NULL) return give_back(&own, BAD_INDEX);
    for (int64_t i = 0; i < table->kind.n; i++) {
        a->found.at[i] = -INFINITY;
        int64_t at = table->ptr.at[i], n = table->sentence.at[i], k = table->kind.at[i];
        if (at < 0 || at >= table->first.n || n < 0 || n >= text->documents.n || k < 0 || k >= types)
            return give_back(&own, BAD_INDEX);
        if (table->ptr.at[i + 1] != at + 2) continue;
        if (at + 1 == table->first.n) return give_back(&own, BAD_INDEX);
        int64_t low = text->offsets.at[n], room = text->offsets.at[n + 1] - low;
        int64_t bounds[4] = {table->first.at[at], table->end.at[at], table->first.at[at + 1], table->end.at[at + 1]};
        for (int64_t edge = 0; edge < 4; edge++) {
            if (bounds[edge] < (edge > 0 ? bounds[edge - 1] - low : 0) || bounds[edge] > room)
                return give_back(&own, BAD_INDEX);
            bounds[edge] += low;
        }
        double sum = 0.0;
        float shape = 0.0f;
        int fits = 1;
        for (int64_t part = 0; part < 3; part++) {
            int64_t size = bounds[part + 1] - bounds[part];
            fits &= size >= 1 && size <= longest;
            if (!fits) break;
            float left = AT2(a->edges, a->number.at[bounds[part]], 2 * part);
            float right = AT2(a->edges, a->number.at[bounds[part + 1] - 1], 2 * part + 1);
            sum += (double)(left + right) - (size == 1 ? 0.5 : 0.0) * (double)(left < right ? left : right);
            shape += larger_of(AT2(a->lengths, part, size - 1), SHAPE_FLOOR);
        }
        if (!fits) continue;
        int64_t first = bounds[0], last = bounds[3] - 1;
        float typed = larger_of(AT3(a->kinds, a->number.at[first], 0, k), AT3(a->kinds, a->number.at[last], 1, k));
        a->found.at[i] = sum + (double)shape + (double)a->rate.at[0] + (double)larger_of(typed, (float)LEAST) +
                         (all.begin[first * types + k] + all.end[last * types + k]);
    }
    return give_back(&own, 0);
}
