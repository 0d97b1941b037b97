/* The best structure, the sum over structures and path probabilities where a second automaton, the *guard*, reads what
   is picked and may refuse it.

   The automaton of a template is the same at every token; the guard has states of its own at each, q. A structure is a
   path through pairs of both states: a choice of hyperedge e leads from (s, q) to (target, next[q][letter of e]), and
   at the end of a token the guard's state becomes exit[q], one of the next token's; -1 refuses. So each structure that
   is not refused is one path, as in `paths.c`, whose log domain this has, too: a mention that is refused may have
   nearly all of the probability, and what is left is then exact. */
#include "hypergraph.h"

typedef struct {
    const guarded_arguments *a;
    int64_t length, edges, entries, states, width; /* tokens; of the automaton; the most states of a guard at a token */
    double *w;                                     /* (T, E) scores of hyperedges */
    double *at;                                    /* (S, width) scratch */
} walk;

static inline double add_logs(double one, double two) {
    double top = one > two ? one : two, below = one > two ? two - one : one - two;
    if (!(below > NEGLIGIBLE)) return top; /* one may be -inf, or both: then it is NaN */
    return top + logarithm(1.0 + exponential(below));
}

static inline int64_t states_at(const Guards *g, int64_t token) { return g->ptr.at[token + 1] - g->ptr.at[token]; }

/* Whether every number of a guard lies within the table that it leads to. */
static int guards_fit(const guarded_arguments *a, int64_t length) {
    const Guards *g = &a->guards;
    if (g->letter.n != length || g->letter.m != a->automaton.number.n || g->ptr.n != length + 1) return 0;
    if (g->ptr.at[0] != 0 || g->ptr.at[length] != g->exit.n) return 0;
    for (int64_t i = 0; i < length * g->letter.m; i++)
        if (g->letter.at[i] < 0 || g->letter.at[i] >= g->next.m) return 0;
    for (int64_t token = 0; token < length; token++) {
        int64_t count = states_at(g, token);
        if (count < 1) return 0;
        int64_t following = token + 1 < length ? states_at(g, token + 1) : 1;
        for (int64_t q = g->ptr.at[token]; q < g->ptr.at[token + 1]; q++) {
            if (q < 0 || q >= g->exit.n || g->exit.at[q] < -1 || g->exit.at[q] >= following) return 0;
            for (int64_t letter = 0; letter < g->next.m; letter++)
                if (AT2(g->next, q, letter) < 0 || AT2(g->next, q, letter) >= count) return 0;
        }
    }
    return 1;
}

static int questions_fit(const guarded_arguments *a, int64_t length) {
    int64_t count = a->first.n;
    if (a->row_ptr.at[0] != 0 || a->row_ptr.at[count] != a->row.n) return 0;
    if (count > 0 && a->usable.m != a->automaton.edge.n) return 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t size = a->row_ptr.at[i + 1] - a->row_ptr.at[i];
        if (size < 1 || a->first.at[i] < 0 || a->first.at[i] > length || size > length - a->first.at[i]) return 0;
    }
    for (int64_t i = 0; i < a->row.n; i++)
        if (a->row.at[i] < 0 || a->row.at[i] >= a->usable.n) return 0;
    return 1;
}

/* Inside scores of a token's states, or with `best` the best ways on and their first arcs, from those of the next. */
static void pull(const walk *s, int64_t token, const double *following, double *here, int64_t *best) {
    const Automaton *automaton = &s->a->automaton;
    const Guards *g = &s->a->guards;
    int64_t base = g->ptr.at[token], count = states_at(g, token), exits = automaton->order.n, width = s->width;
    for (int64_t i = 0; i < s->states * width; i++) s->at[i] = -INFINITY;
    for (int64_t x = 0; x < s->entries; x++)
        for (int64_t q = 0; q < count; q++)
            if (g->exit.at[base + q] >= 0)
                s->at[(exits + x) * width + q] = following[x * width + g->exit.at[base + q]];
    for (int64_t i = automaton->source.n - 1; i >= 0; i--) {
        int64_t e = automaton->edge.at[i], letter = AT2(g->letter, token, e);
        double w = s->w[token * s->edges + e], *own = s->at + automaton->source.at[i] * width;
        if (!(w > -INFINITY)) continue;
        for (int64_t q = 0; q < count; q++) {
            double value = w + s->at[automaton->target.at[i] * width + AT2(g->next, base + q, letter)];
            if (!(value > -INFINITY)) continue;
            if (best == NULL) {
                own[q] = add_logs(own[q], value);
            } else if (value >= own[q]) { /* arcs come from the last on: of equal ones the first wins */
                own[q] = value;
                best[automaton->source.at[i] * width + q] = i;
            }
        }
    }
    memcpy(here, s->at, (size_t)(s->entries * width) * sizeof *here);
}

/* Lead the flow into a token's entries on to the next token's, by usable choices; by all, if NULL. */
static void push(const walk *s, int64_t token, double *flow, const uint8_t *usable) {
    const Automaton *automaton = &s->a->automaton;
    const Guards *g = &s->a->guards;
    int64_t base = g->ptr.at[token], count = states_at(g, token), exits = automaton->order.n, width = s->width;
    for (int64_t i = 0; i < s->states * width; i++) s->at[i] = -INFINITY;
    memcpy(s->at, flow, (size_t)(s->entries * width) * sizeof *flow);
    for (int64_t i = 0; i < automaton->source.n; i++) {
        int64_t e = automaton->edge.at[i], letter = AT2(g->letter, token, e);
        double w = s->w[token * s->edges + e];
        if (!(w > -INFINITY) || (usable != NULL && !usable[i])) continue;
        for (int64_t q = 0; q < count; q++) {
            double value = w + s->at[automaton->source.at[i] * width + q];
            if (!(value > -INFINITY)) continue;
            double *target = s->at + automaton->target.at[i] * width + AT2(g->next, base + q, letter);
            *target = add_logs(*target, value);
        }
    }
    for (int64_t i = 0; i < s->entries * width; i++) flow[i] = -INFINITY;
    for (int64_t x = 0; x < s->entries; x++)
        for (int64_t q = 0; q < count; q++)
            if (g->exit.at[base + q] >= 0) {
                double *target = flow + x * width + g->exit.at[base + q];
                *target = add_logs(*target, s->at[(exits + x) * width + q]);
            }
}

/* 1. Inside scores, or the best ways on, from the last token to the first.
   2. Where `edges` has rows, the best structure from the first token on.
   3. Else the flow into each token, and each path from its first token on: how much of the flow keeps to it, times what
      comes behind. */
int64_t spanloom_guarded(const guarded_arguments *a) {
    const Automaton *automaton = &a->automaton;
    const Guards *g = &a->guards;
    const int64_t range[2] = {a->start, a->end};
    if (!automaton_fits(automaton, &a->scores, (i64_1){(int64_t *)range, 2}) || !is_simple(automaton)) return BAD_INDEX;
    int64_t length = a->end - a->start, exits = automaton->order.n;
    if (a->kind < 0 || a->kind >= a->scores.roles.l || automaton->bundle_ptr.n != 1) return BAD_INDEX;
    if (!guards_fit(a, length) || !questions_fit(a, length) || (a->edges.n > 0 && a->edges.n != length))
        return BAD_INDEX;
    walk s = {a, length, automaton->number.n, automaton->accept.n, automaton->first.n, 1, NULL, NULL};
    for (int64_t token = 0; token < length; token++) s.width = most(s.width, states_at(g, token));
    int64_t layer = s.entries * s.width, all = s.states * s.width;
    memory own = {0};
    double *beta = TAKE(&own, double, (length + 1) * layer), *alpha = TAKE(&own, double, (length + 1) * layer);
    double *flow = TAKE(&own, double, layer);
    int64_t *best = TAKE(&own, int64_t, a->edges.n > 0 ? length * all : 0);
    s.w = TAKE(&own, double, length * s.edges);
    s.at = TAKE(&own, double, all);
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t token = 0; token < length; token++)
        score_all(s.w + token * s.edges, &a->scores, a->start + token, a->end, a->kind, automaton);
    for (int64_t i = 0; i < layer; i++) beta[length * layer + i] = -INFINITY;
    for (int64_t x = 0; x < s.entries; x++)
        if (automaton->accept.at[x]) beta[length * layer + x * s.width] = 0.0;
    for (int64_t token = length - 1; token >= 0; token--) /* step 1 */
        pull(&s, token, beta + (token + 1) * layer, beta + token * layer,
             a->edges.n > 0 ? best + token * all : NULL);
    double total = a->total.at[0] = beta[automaton->root * s.width];
    if (!(total > -INFINITY)) return give_back(&own, 0);
    if (a->edges.n > 0) { /* step 2 */
        int64_t state = automaton->root, q = 0;
        for (int64_t token = 0; token < length; token++) {
            int64_t d = 0;
            while (state < exits) {
                int64_t i = best[token * all + state * s.width + q];
                int64_t number = automaton->number.at[automaton->edge.at[i]];
                if (number >= 0 && d >= a->edges.m) return give_back(&own, BAD_INDEX);
                if (number >= 0) AT2(a->edges, token, d++) = (int16_t)number;
                q = AT2(g->next, g->ptr.at[token] + q, AT2(g->letter, token, automaton->edge.at[i]));
                state = automaton->target.at[i];
            }
            state -= exits;
            q = g->exit.at[g->ptr.at[token] + q];
        }
        return give_back(&own, 0);
    }
    for (int64_t i = 0; i < layer; i++) alpha[i] = -INFINITY; /* step 3 */
    alpha[automaton->root * s.width] = 0.0;
    for (int64_t token = 0; token < length && a->first.n > 0; token++) {
        memcpy(alpha + (token + 1) * layer, alpha + token * layer, (size_t)layer * sizeof *alpha);
        push(&s, token, alpha + (token + 1) * layer, NULL);
    }
    for (int64_t i = 0; i < a->first.n; i++) {
        int64_t token = a->first.at[i];
        memcpy(flow, alpha + token * layer, (size_t)layer * sizeof *flow);
        for (int64_t j = a->row_ptr.at[i]; j < a->row_ptr.at[i + 1]; j++)
            push(&s, token++, flow, &AT2(a->usable, a->row.at[j], 0));
        double sum = -INFINITY;
        for (int64_t j = 0; j < layer; j++) {
            double value = flow[j] + beta[token * layer + j];
            if (value > -INFINITY) sum = add_logs(sum, value);
        }
        a->probability.at[i] = sum < total ? exponential(sum - total) : 1.0;
    }
    return give_back(&own, 0);
}
