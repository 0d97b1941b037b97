/* What all kernels of the engines share: scores of hyperedges, and checks of the indices in tables. */
#ifndef SPANLOOM_HYPERGRAPH_H
#define SPANLOOM_HYPERGRAPH_H

#include "spanloom.h"

#define NEGLIGIBLE (-40.0) /* what is smaller by so much leaves a float64 as it is */
#define LARGEST 40.0       /* a finite score beyond this could make a number vanish in the linear domain */
#define TINIEST 1e-150     /* so could a share between 0 and this: the next token could take it below 1e-308 */
#define WIDTH 4            /* numbers of a vector */

/* A few numbers on which operations are made at once, and what comparisons of them give: all bits of a number, or none.
   Compilers make loops over so few numbers operations on single ones. */
typedef double vector __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
typedef int64_t mask __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));

/* The numbers where a mask is set, elsewhere 0. */
#define KEEP(where, values) ((vector)((mask)(values) & (where)))

/* Whether a score cannot make a number vanish; NaN is not safe, either. */
static inline int is_safe(double score) { return fabs(score) <= LARGEST || score == -INFINITY; }

/* Whether every number of the tables lies within the table that it leads to, so that kernels need not look again. */
static inline int hyperedges_fit(const Hyperedges *h, int64_t roles, int64_t constants) {
    int64_t edges = h->constant.n;
    if (h->role_ptr.at[0] < 0 || h->role_ptr.at[edges] > h->role.n) return 0;
    for (int64_t e = 0; e < edges; e++)
        if (h->constant.at[e] >= constants || h->role_ptr.at[e] > h->role_ptr.at[e + 1]) return 0;
    for (int64_t i = 0; i < h->role.n; i++)
        if (h->role.at[i] < 0 || h->role.at[i] >= roles || h->step.at[i] < 0 || h->step.at[i] > 1) return 0;
    for (int64_t i = 0; i < h->varying.n; i++) {
        int64_t e = h->varying.at[i];
        if (e < 0 || e >= edges || h->role_ptr.at[e] == h->role_ptr.at[e + 1]) return 0;
    }
    return 1;
}

static inline int automaton_fits(const Automaton *a, const Potentials *p, i64_1 offsets) {
    int64_t states = a->first.n, exits = a->order.n, entries = a->accept.n, choices = a->edge.n;
    int64_t edges = a->number.n, bundles = a->bundle_ptr.n - 1, types = p->roles.l, tokens = p->roles.n;
    if (states != exits + entries || a->root < 0 || a->root >= entries || bundles < 0 || types < 1) return 0;
    if (edges != a->hyperedges.constant.n || !hyperedges_fit(&a->hyperedges, p->roles.m, p->constants.n)) return 0;
    if (!lie_below(a->order, exits) || !lie_below(a->target, states) || !lie_below(a->bundle_edge, edges)) return 0;
    for (int64_t s = 0; s < states; s++)
        if (a->first.at[s] < 0 || a->first.at[s] > a->stop.at[s] || a->stop.at[s] > choices) return 0;
    if (a->target_ptr.at[0] < 0 || a->target_ptr.at[choices] > a->target.n) return 0;
    for (int64_t c = 0; c < choices; c++) {
        if (a->source.at[c] < 0 || a->source.at[c] >= states || a->target_ptr.at[c] > a->target_ptr.at[c + 1]) return 0;
        if (a->edge.at[c] < 0 || a->edge.at[c] >= edges + bundles) return 0;
    }
    if (a->bundle_ptr.at[0] < 0 || a->bundle_ptr.at[bundles] > a->bundle_edge.n) return 0;
    for (int64_t i = 0; i < bundles; i++)
        if (a->bundle_ptr.at[i] >= a->bundle_ptr.at[i + 1]) return 0;
    if (p->gate.n > 0 && p->gate.n != tokens) return 0;
    for (int64_t e = 0; e < edges; e++)
        if (p->gate.n > 0 && a->number.at[e] >= 0 && (a->number.at[e] + 1) * types > p->allowed.m) return 0;
    for (int64_t n = 0; n + 1 < offsets.n; n++)
        if (offsets.at[n] < 0 || offsets.at[n] > offsets.at[n + 1] || offsets.at[n + 1] > tokens) return 0;
    for (int64_t row = offsets.at[0]; p->gate.n > 0 && row < offsets.at[offsets.n - 1]; row++)
        if (p->gate.at[row] >= p->allowed.n) return 0;
    return 1;
}

/* Whether each choice leads to one state, so that `target` has one for each. */
static inline int is_simple(const Automaton *a) {
    int simple = a->target.n == a->edge.n;
    for (int64_t c = 0; c < a->edge.n; c++) simple &= a->target_ptr.at[c] == c && a->target_ptr.at[c + 1] == c + 1;
    return simple;
}

/* Whether some numbers are those of sentences. */
static inline int are_sentences(i64_1 numbers, i64_1 offsets) { return lie_below(numbers, offsets.n - 1); }

/* What is allowed of a type at a token, a number for each hyperedge and type from that type on; NULL for everything. */
static inline const uint8_t *gate_at(const Potentials *p, int64_t row, int64_t k) {
    return p->gate.n > 0 && p->gate.at[row] >= 0 ? &AT2(p->allowed, p->gate.at[row], k) : NULL;
}

/* Compute the scores of all hyperedges at a token; roles of the token past the last are ignored. */
static inline void score_all(double *w, const Potentials *p, int64_t row, int64_t end, int64_t k, const Automaton *a) {
    const Hyperedges *h = &a->hyperedges;
    const uint8_t *gate = gate_at(p, row, k);
    int64_t types = p->constants.m;
    for (int64_t e = 0; e < h->constant.n; e++) {
        double value = h->constant.at[e] >= 0 ? (double)AT2(p->constants, h->constant.at[e], k) : 0.0;
        for (int64_t i = h->role_ptr.at[e]; i < h->role_ptr.at[e + 1]; i++)
            if (row + h->step.at[i] < end) value += AT3(p->roles, row + h->step.at[i], h->role.at[i], k);
        if (gate != NULL && a->number.at[e] >= 0 && !gate[a->number.at[e] * types]) value = -INFINITY;
        w[e] = value;
    }
}

/* Compute the weights of a sentence's roles, (T, R), and of hyperedges without them, (E,); return whether none is
   enormous. */
static inline int weigh_sentence(const Potentials *scores, int64_t start, int64_t end, int64_t k, const Automaton *a,
                                 double *base, double *p) {
    int64_t roles = scores->roles.m, count = (end - start) * roles;
    int safe = 1;
    for (int64_t e = 0; e < a->number.n; e++) {
        int64_t constant = a->hyperedges.constant.at[e];
        double score = constant >= 0 ? (double)AT2(scores->constants, constant, k) : 0.0;
        safe &= is_safe(score);
        base[e] = exponential(score);
    }
    for (int64_t i = 0; i < count; i++) p[i] = scores->roles.at[(start * roles + i) * scores->roles.l + k];
    for (int64_t i = 0; i < count; i++) safe &= is_safe(p[i]);
    for (int64_t i = 0; i < count; i++) p[i] = exponential(p[i]);
    return safe;
}

/* Compute the weights of all hyperedges at a token, counted in its sentence, as `score_all` does their scores. */
static inline void weigh_all(double *w, const Potentials *scores, int64_t start, int64_t end, int64_t k, int64_t token,
                             const Automaton *a, const double *base, const double *p) {
    const Hyperedges *h = &a->hyperedges;
    int64_t types = scores->roles.l, roles = scores->roles.m;
    memcpy(w, base, (size_t)h->constant.n * sizeof *w);
    for (int64_t v = 0; v < h->varying.n; v++) {
        int64_t e = h->varying.at[v];
        for (int64_t i = h->role_ptr.at[e]; i < h->role_ptr.at[e + 1]; i++)
            if (start + token + h->step.at[i] < end) w[e] *= p[(token + h->step.at[i]) * roles + h->role.at[i]];
    }
    const uint8_t *gate = gate_at(scores, start + token, k);
    for (int64_t e = 0; gate != NULL && e < h->constant.n; e++)
        if (a->number.at[e] >= 0 && !gate[a->number.at[e] * types]) w[e] = 0.0;
}

#endif
