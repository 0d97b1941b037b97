/* The paths of a template's automaton in the log domain, one sentence and type at a time: the sums of `sums.c` where
   those are not safe, and the k best structures. A choice's score is that of its hyperedge; b and a are inside and
   outside scores, as there. */
#include "hypergraph.h"

/* A sentence and a type, and scratch. */
typedef struct {
    const Automaton *automaton;
    const Potentials *scores;
    int64_t start, end, kind;
    double *w, *a, *b; /* (E + bundles,) scores of hyperedges and bundles; (S,) outside and inside scores */
} walk;

/* Compute the scores of hyperedges and of bundles. */
static void weigh(const walk *s, int64_t row) {
    const Automaton *automaton = s->automaton;
    score_all(s->w, s->scores, row, s->end, s->kind, automaton);
    for (int64_t i = 0; i + 1 < automaton->bundle_ptr.n; i++) {
        const int64_t *member = automaton->bundle_edge.at;
        int64_t begin = automaton->bundle_ptr.at[i], stop = automaton->bundle_ptr.at[i + 1];
        double top = -INFINITY, total = 0.0;
        for (int64_t j = begin; j < stop; j++) top = s->w[member[j]] > top ? s->w[member[j]] : top;
        for (int64_t j = begin; top > -INFINITY && j < stop; j++) total += exponential(s->w[member[j]] - top);
        s->w[automaton->hyperedges.constant.n + i] = top > -INFINITY ? top + logarithm(total) : top;
    }
}

/* Add to exp(values[here]) the sum over arcs of exp(w + values[there]), arcs in runs of equal `here`. */
static void gather_arcs(double *values, const int64_t *here, const int64_t *there, i64_1 order, const double *w,
                        const int64_t *choice) {
    int64_t i = 0;
    while (i < order.n) {
        int64_t state = here[order.at[i]], stop = i;
        double before = values[state], top = before;
        for (; stop < order.n && here[order.at[stop]] == state; stop++) {
            double value = w[choice[order.at[stop]]] + values[there[order.at[stop]]];
            top = value > top ? value : top;
        }
        if (top > -INFINITY) {
            double total = exponential(before - top);
            for (int64_t j = i; j < stop; j++) {
                double below = w[choice[order.at[j]]] + values[there[order.at[j]]] - top;
                if (below > NEGLIGIBLE) total += exponential(below);
            }
            values[state] = top + logarithm(total);
        }
        i = stop;
    }
}

/* Compute the inside scores of a token's states, from those of the next token's entries. */
static void pull(const walk *s, const double *following, i64_1 backward) {
    const Automaton *automaton = s->automaton;
    for (int64_t state = 0; state < automaton->first.n; state++) s->b[state] = -INFINITY;
    memcpy(s->b + automaton->order.n, following, (size_t)automaton->accept.n * sizeof *following);
    gather_arcs(s->b, automaton->source.at, automaton->target.at, backward, s->w, automaton->edge.at);
}

/* 1. Inside scores of entries, from the last token to the first.
   2. From the first token to the last, those of a token's states again, outside scores, and with both expected counts.
 */
int64_t spanloom_log_sums(const log_sums_arguments *a) {
    const Automaton *automaton = &a->automaton;
    const Hyperedges *h = &automaton->hyperedges;
    int64_t entries = automaton->accept.n, edges = h->constant.n, states = automaton->first.n, k = a->kind;
    int64_t length = a->end - a->start, all = edges + automaton->bundle_ptr.n - 1, exits = automaton->order.n;
    const int64_t range[2] = {a->start, a->end};
    if (!automaton_fits(automaton, &a->scores, (i64_1){(int64_t *)range, 2}) || !is_simple(automaton)) return BAD_INDEX;
    if (k < 0 || k >= a->scores.roles.l) return BAD_INDEX;
    if (a->expected.n > 0 && (a->expected.n != a->scores.roles.n || a->expected.m != a->scores.roles.m))
        return BAD_INDEX;
    if (!lie_below(a->backward, automaton->source.n) || !lie_below(a->forward, automaton->source.n)) return BAD_INDEX;
    memory own = {0};
    double *beta = TAKE(&own, double, (length + 1) * entries), *count = TAKE(&own, double, all);
    double *entry = TAKE(&own, double, entries);
    walk s = {automaton,
              &a->scores,
              a->start,
              a->end,
              k,
              TAKE(&own, double, all),
              TAKE(&own, double, states),
              TAKE(&own, double, states)};
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t x = 0; x < entries; x++) beta[length * entries + x] = automaton->accept.at[x] ? 0.0 : -INFINITY;
    for (int64_t token = length - 1; token >= 0; token--) { /* step 1 */
        weigh(&s, a->start + token);
        pull(&s, beta + (token + 1) * entries, a->backward);
        memcpy(beta + token * entries, s.b, (size_t)entries * sizeof *beta);
    }
    double log_z = a->log_partition.at[0] = beta[automaton->root];
    if (a->expected.n == 0 || !isfinite(log_z)) return give_back(&own, 0);
    for (int64_t x = 0; x < entries; x++) entry[x] = x == automaton->root ? 0.0 : -INFINITY;
    for (int64_t token = 0; token < length; token++) { /* step 2 */
        int64_t row = a->start + token;
        weigh(&s, row);
        pull(&s, beta + (token + 1) * entries, a->backward);
        for (int64_t state = 0; state < states; state++) s.a[state] = state < entries ? entry[state] : -INFINITY;
        gather_arcs(s.a, automaton->target.at, automaton->source.at, a->forward, s.w, automaton->edge.at);
        memcpy(entry, s.a + exits, (size_t)entries * sizeof *entry);
        memset(count, 0, (size_t)all * sizeof *count);
        for (int64_t i = 0; i < automaton->source.n; i++) {
            int64_t e = automaton->edge.at[i];
            count[e] += exponential(s.a[automaton->source.at[i]] + s.w[e] + s.b[automaton->target.at[i]] - log_z);
        }
        for (int64_t i = 0; i + 1 < automaton->bundle_ptr.n; i++)
            for (int64_t j = automaton->bundle_ptr.at[i]; count[edges + i] > 0.0 && j < automaton->bundle_ptr.at[i + 1];
                 j++) {
                int64_t e = automaton->bundle_edge.at[j];
                count[e] += count[edges + i] * exponential(s.w[e] - s.w[edges + i]);
            }
        for (int64_t e = 0; e < edges; e++) {
            if (h->constant.at[e] >= 0) AT2(a->totals, h->constant.at[e], k) += count[e];
            for (int64_t j = h->role_ptr.at[e]; j < h->role_ptr.at[e + 1]; j++)
                if (row + h->step.at[j] < a->end) {
                    float *sum = &AT3(a->expected, row + h->step.at[j], h->role.at[j], k);
                    *sum = (float)(*sum + count[e]);
                }
        }
    }
    return give_back(&own, 0);
}

/* For each state of each token the `count` best ways on, by falling score: the choice, and which of the best ways of
   the state that it leads to. */
int64_t spanloom_kbest(const kbest_arguments *a) {
    const Automaton *automaton = &a->automaton;
    int64_t exits = automaton->order.n, entries = automaton->accept.n, states = automaton->first.n;
    int64_t most_paths = a->score.n, k = a->kind;
    const int64_t range[2] = {a->start, a->end}, *source = automaton->source.at, *target = automaton->target.at;
    if (!automaton_fits(automaton, &a->scores, (i64_1){(int64_t *)range, 2}) || !is_simple(automaton)) return BAD_INDEX;
    int64_t length = a->end - a->start;
    if (k < 0 || k >= a->scores.roles.l || automaton->bundle_ptr.n != 1 || a->edges.m != length) return BAD_INDEX;
    memory own = {0};
    double *w = TAKE(&own, double, automaton->number.n), *value = TAKE(&own, double, states *most_paths);
    int64_t *arc = TAKE(&own, int64_t, length * states * most_paths),
            *rank = TAKE_ZEROS(&own, int64_t, length * states * most_paths);
    double *following = TAKE(&own, double, entries *most_paths);
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t i = 0; i < length * states * most_paths; i++) arc[i] = -1;
    for (int64_t x = 0; x < entries; x++)
        for (int64_t j = 0; j < most_paths; j++)
            following[x * most_paths + j] = j == 0 && automaton->accept.at[x] ? 0.0 : -INFINITY;
    for (int64_t token = length - 1; token >= 0; token--) {
        score_all(w, &a->scores, a->start + token, a->end, k, automaton);
        for (int64_t i = 0; i < states * most_paths; i++) value[i] = -INFINITY;
        memcpy(value + exits * most_paths, following, (size_t)(entries * most_paths) * sizeof *value);
        for (int64_t i = automaton->source.n - 1; i >= 0; i--) {
            double *own_value = value + source[i] * most_paths;
            int64_t *own_arc = arc + (token * states + source[i]) * most_paths;
            int64_t *own_rank = rank + (token * states + source[i]) * most_paths;
            for (int64_t j = most_paths - 1; j >= 0;
                 j--) { /* from the worst, so that of equals the better-ranked ends first */
                double candidate = w[automaton->edge.at[i]] + value[target[i] * most_paths + j];
                if (!(candidate > -INFINITY) || candidate < own_value[most_paths - 1]) continue;
                int64_t place = most_paths - 1;
                for (; place > 0 && own_value[place - 1] <= candidate; place--) {
                    own_value[place] = own_value[place - 1];
                    own_arc[place] = own_arc[place - 1];
                    own_rank[place] = own_rank[place - 1];
                }
                own_value[place] = candidate;
                own_arc[place] = i;
                own_rank[place] = j;
            }
        }
        memcpy(following, value, (size_t)(entries * most_paths) * sizeof *value);
    }
    for (int64_t i = 0; i < most_paths * length * a->edges.l; i++) a->edges.at[i] = -1;
    for (int64_t c = 0; c < most_paths; c++) {
        a->score.at[c] = following[automaton->root * most_paths + c];
        if (!(a->score.at[c] > -INFINITY)) continue;
        int64_t state = automaton->root, j = c;
        for (int64_t token = 0; token < length; token++) {
            int64_t d = 0, steps = 0, i;
            while ((i = arc[(token * states + state) * most_paths + j]) >= 0) {
                j = rank[(token * states + state) * most_paths + j];
                int64_t number = automaton->number.at[automaton->edge.at[i]];
                if ((number >= 0 && d >= a->edges.l) || ++steps > states) return give_back(&own, BAD_INDEX);
                if (number >= 0) AT3(a->edges, c, token, d++) = (int16_t)number;
                state = target[i];
            }
            state -= exits;
            if (state < 0) return give_back(&own, BAD_INDEX);
        }
    }
    return give_back(&own, 0);
}
