/* Sums that count derivations: the papers' inside recursion, where a shared node is counted once for each parent.

   Lu and Roth (2015), section 3.4; what it counts, and why it is deficient: Muis and Lu (2017), section 5.2. In the log
   domain, since the product over all starts grows with the square of the length. Expected counts run from the root
   down, n[child] += n[node] p(hyperedge | node), and may exceed 1. */
#include "hypergraph.h"

/* Compute the inside scores of a sentence's nodes, and the probability of each hyperedge at its node, (T, C). Node v of
   a token comes after those of the tokens before. A hyperedge whose probability underflows has probability 0. */
static void find_inside(const derivation_sums_arguments *a, double *inside, double *own, double *chance, int64_t start,
                        int64_t end, int64_t k) {
    const Automaton *automaton = &a->automaton;
    int64_t kinds = automaton->accept.n, choices = automaton->edge.n;
    for (int64_t v = 0; v < kinds; v++) inside[(end - start) * kinds + v] = automaton->accept.at[v] ? 0.0 : -INFINITY;
    for (int64_t row = end - 1; row >= start; row--) {
        double *nodes = inside + (row - start) * kinds, *chances = chance + (row - start) * choices;
        score_all(own, &a->scores, row, end, k, automaton);
        for (int64_t v = kinds - 1; v >= 0; v--) {
            int64_t first = automaton->first.at[v], stop = automaton->stop.at[v];
            double top = -INFINITY;
            for (int64_t c = first; c < stop; c++) {
                double value = own[automaton->edge.at[c]];
                for (int64_t i = automaton->target_ptr.at[c]; i < automaton->target_ptr.at[c + 1]; i++)
                    value += nodes[automaton->target.at[i]];
                chances[c] = value;
                top = value > top ? value : top;
            }
            nodes[v] = top;
            if (top == -INFINITY) {
                for (int64_t c = first; c < stop; c++) chances[c] = 0.0;
            } else if (stop - first == 1) {
                chances[first] = 1.0;
            } else {
                double total = 0.0;
                for (int64_t c = first; c < stop; c++) {
                    double below = chances[c] - top;
                    chances[c] = below < NEGLIGIBLE ? 0.0 : below < 0.0 ? exponential(below) : 1.0;
                    total += chances[c];
                }
                nodes[v] += logarithm(total);
                double inverse = 1.0 / total;
                for (int64_t c = first; c < stop; c++) chances[c] *= inverse;
            }
        }
    }
}

/* Compute the expected visits of all nodes, from the root down, in the order of `inside`; add to the expected counts.
 */
static void descend(const derivation_sums_arguments *a, double *visits, const double *chance, int64_t n, int64_t k) {
    const Automaton *automaton = &a->automaton;
    const Hyperedges *h = &automaton->hyperedges;
    int64_t kinds = automaton->accept.n, choices = automaton->edge.n, start = a->offsets.at[n],
            end = a->offsets.at[n + 1];
    memset(visits, 0, (size_t)((end - start + 1) * kinds) * sizeof *visits);
    visits[automaton->root] = 1.0;
    for (int64_t row = start; row < end; row++) {
        double *nodes = visits + (row - start) * kinds;
        const double *chances = chance + (row - start) * choices;
        for (int64_t v = 0; v < kinds; v++) {
            double times = nodes[v];
            if (times == 0.0) continue;
            for (int64_t c = automaton->first.at[v]; c < automaton->stop.at[v]; c++) {
                double count = times * chances[c];
                int64_t e = automaton->edge.at[c];
                for (int64_t i = automaton->target_ptr.at[c]; i < automaton->target_ptr.at[c + 1]; i++)
                    nodes[automaton->target.at[i]] += count;
                if (h->constant.at[e] >= 0) AT3(a->totals, n, h->constant.at[e], k) += count;
                for (int64_t i = h->role_ptr.at[e]; i < h->role_ptr.at[e + 1]; i++)
                    if (row + h->step.at[i] < end) {
                        float *sum = &AT3(a->expected, row + h->step.at[i], h->role.at[i], k);
                        *sum = (float)(*sum + count);
                    }
            }
        }
    }
}

int64_t spanloom_derivation_sums(const derivation_sums_arguments *a) {
    const Automaton *automaton = &a->automaton;
    int64_t kinds = automaton->accept.n, longest = 0;
    if (!automaton_fits(automaton, &a->scores, a->offsets) || automaton->bundle_ptr.n != 1) return BAD_INDEX;
    if (automaton->order.n != kinds || !are_sentences(a->sentences, a->offsets)) return BAD_INDEX;
    if (a->expected.n > 0 && (a->expected.n != a->scores.roles.n || a->expected.m != a->scores.roles.m))
        return BAD_INDEX;
    for (int64_t i = 0; i < a->sentences.n; i++) {
        int64_t n = a->sentences.at[i];
        longest = most(longest, a->offsets.at[n + 1] - a->offsets.at[n]);
    }
    memory own = {0};
    double *inside = TAKE(&own, double, (longest + 1) * kinds), *visits = TAKE(&own, double, (longest + 1) * kinds);
    double *scores = TAKE(&own, double, automaton->number.n), *chance = TAKE(&own, double, longest * automaton->edge.n);
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t i = 0; i < a->sentences.n; i++) {
        int64_t n = a->sentences.at[i], start = a->offsets.at[n], end = a->offsets.at[n + 1];
        for (int64_t k = 0; start < end && k < a->scores.roles.l; k++) {
            find_inside(a, inside, scores, chance, start, end, k);
            AT2(a->log_partition, n, k) = inside[automaton->root];
            if (a->expected.n > 0 && inside[automaton->root] > -INFINITY) descend(a, visits, chance, n, k);
        }
    }
    return give_back(&own, 0);
}
