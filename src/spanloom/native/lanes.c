/* Inside scores and visits of a few pairs of a sentence and a type side by side.

   What `walks.c` computes for a pair is computed for LANES of them by vector operations, which is several times faster
   where the automaton has hundreds of choices. The probability of a choice is not kept for each token, but computed
   from the weight of its hyperedge and the inside scores of its states, which all stay in a cache. A shorter sentence
   begins where the longer ones have come to its length; lanes behind their last token are computed and not used. */
#include "lanes.h"

void take_lanes(memory *all, lanes *g, int64_t tokens) {
    const Automaton *a = g->automaton;
    int64_t edges = a->number.n, entries = a->accept.n, roles = g->scores->roles.m;
    g->base = TAKE(all, double, edges *LANES);
    g->p = TAKE(all, double, (tokens + 1) * roles * LANES);
    g->own = TAKE(all, double, tokens * edges * LANES);
    g->b = TAKE(all, double, tokens * a->first.n * LANES);
    g->factor = TAKE(all, double, tokens * a->order.n * LANES);
    g->visits = TAKE(all, double, (tokens + 1) * entries * LANES);
    g->scratch = TAKE(all, double, a->first.n *LANES);
}

/* Compute the weights of roles, and of hyperedges without them. */
static void weigh_roles(lanes *g) {
    const Automaton *a = g->automaton;
    const Potentials *scores = g->scores;
    int64_t roles = scores->roles.m, count = (g->longest + 1) * roles * LANES;
    double *restrict p = g->p;
    memset(p, 0, (size_t)count * sizeof *p);
    memset(g->base, 0, (size_t)(a->number.n * LANES) * sizeof *g->base);
    for (int64_t lane = 0; lane < g->count; lane++) {
        int64_t kind = g->kind[lane];
        int safe = 1;
        for (int64_t e = 0; e < a->number.n; e++) {
            int64_t constant = a->hyperedges.constant.at[e];
            double score = constant >= 0 ? (double)AT2(scores->constants, constant, kind) : 0.0;
            safe &= is_safe(score);
            g->base[e * LANES + lane] = exponential(score);
        }
        const float *row = scores->roles.at + g->start[lane] * roles * scores->roles.l + kind;
        for (int64_t i = 0; i < g->length[lane] * roles; i++) {
            double score = row[i * scores->roles.l];
            safe &= is_safe(score);
            p[i * LANES + lane] = score;
        }
        g->safe[lane] = -safe; /* all bits, as of a comparison */
    }
    for (int64_t i = 0; i < count; i++) p[i] = exponential(p[i]);
}

/* Compute the weights of hyperedges at a token. */
static void weigh(const lanes *g, double *own, int64_t token) {
    const Hyperedges *h = &g->automaton->hyperedges;
    int64_t edges = h->constant.n, roles = g->scores->roles.m, types = g->scores->roles.l;
    memcpy(own, g->base, (size_t)(edges * LANES) * sizeof *own);
    for (int64_t v = 0; v < h->varying.n; v++) {
        vector *w = (vector *)(own + h->varying.at[v] * LANES);
        for (int64_t i = h->role_ptr.at[h->varying.at[v]]; i < h->role_ptr.at[h->varying.at[v] + 1]; i++) {
            const vector *p = (vector *)(g->p + ((token + h->step.at[i]) * roles + h->role.at[i]) * LANES);
            for (int j = 0; j < VECTORS; j++) w[j] *= p[j];
        }
    }
    for (int64_t lane = 0; lane < g->count; lane++) {
        if (token >= g->length[lane]) continue;
        const uint8_t *gate = gate_at(g->scores, g->start[lane] + token, g->kind[lane]);
        for (int64_t e = 0; gate != NULL && e < edges; e++) {
            int64_t number = g->automaton->number.at[e];
            if (number >= 0 && !gate[number * types]) own[e * LANES + lane] = 0.0;
        }
    }
}

/* Compute the inside scores of a token's states from those of its exits, the last state first. */
static void pull(const Automaton *a, const double *own, double *b, double *factor) {
    for (int64_t j = a->order.n - 1; j >= 0; j--) {
        int64_t state = a->order.at[j];
        vector total[VECTORS] = {0}, *inside = (vector *)(b + state * LANES);
        for (int64_t c = a->first.at[state]; c < a->stop.at[state]; c++) {
            const vector *w = (vector *)(own + a->edge.at[c] * LANES), *to = (vector *)(b + a->target.at[c] * LANES);
            for (int i = 0; i < VECTORS; i++) total[i] += w[i] * to[i];
        }
        for (int i = 0; i < VECTORS; i++) {
            inside[i] = total[i];
            ((vector *)(factor + state * LANES))[i] = KEEP(total[i] > 0.0, 1.0 / total[i]);
        }
    }
}

/* From the last token to the first:
   1. Exits have the inside scores of the next token's entries; those behind a lane's last token, 1 where it may end.
   2. Weights, inside scores and factors are computed.
   3. The inside scores of entries are divided by their sum. */
void fill_lanes(lanes *g) {
    const Automaton *a = g->automaton;
    int64_t inner = a->order.n, entries = a->accept.n, states = a->first.n;
    for (int lane = (int)g->count; lane < LANES; lane++) g->start[lane] = g->length[lane] = g->kind[lane] = 0;
    weigh_roles(g);
    const mask *length = (mask *)g->length;
    for (int64_t token = g->longest - 1; token >= 0; token--) {
        double *own = g->own + token * a->number.n * LANES, *b = g->b + token * states * LANES;
        vector *share = (vector *)g->scratch, *first = (vector *)b, *exit = (vector *)(b + inner * LANES);
        for (int64_t i = 0; i < entries * VECTORS; i++) { /* step 1 */
            double end = a->accept.at[i / VECTORS] ? 1.0 : 0.0;
            mask inside = token + 1 < length[i % VECTORS];
            exit[i] = KEEP(inside, share[i]) + KEEP(~inside, end + (vector){0});
        }
        weigh(g, own, token); /* step 2 */
        pull(a, own, b, g->factor + token * inner * LANES);
        vector total[VECTORS] = {0}; /* step 3 */
        for (int64_t i = 0; i < entries * VECTORS; i++) total[i % VECTORS] += first[i];
        for (int64_t i = 0; i < entries * VECTORS; i++) {
            mask *safe = (mask *)g->safe + i % VECTORS;
            share[i] = KEEP(total[i % VECTORS] > 0.0, first[i] / total[i % VECTORS]);
            *safe &= (share[i] >= TINIEST) | (share[i] == 0.0) | (token >= length[i % VECTORS]);
        }
    }
}

/* From the first token on, the flow into each state is divided among its choices. */
void visit_lanes(lanes *g, int64_t last) {
    const Automaton *a = g->automaton;
    int64_t inner = a->order.n, entries = a->accept.n, states = a->first.n;
    double *at = g->scratch;
    for (int64_t x = 0; x < entries; x++)
        for (int lane = 0; lane < LANES; lane++) g->visits[x * LANES + lane] = x == a->root ? 1.0 : 0.0;
    for (int64_t token = 0; token < last; token++) {
        const double *own = g->own + token * a->number.n * LANES, *b = g->b + token * states * LANES;
        memset(at, 0, (size_t)(states * LANES) * sizeof *at);
        memcpy(at, g->visits + token * entries * LANES, (size_t)(entries * LANES) * sizeof *at);
        for (int64_t j = 0; j < inner; j++) {
            int64_t state = a->order.at[j], reached = 0;
            const vector *factor = (vector *)(g->factor + (token * inner + state) * LANES);
            vector whole[VECTORS];
            for (int i = 0; i < VECTORS; i++) {
                whole[i] = ((vector *)(at + state * LANES))[i];
                mask enough = whole[i] >= LEAST;
                whole[i] = KEEP(enough, whole[i]);
                for (int lane = 0; lane < WIDTH; lane++) reached |= enough[lane];
            }
            for (int64_t c = a->first.at[state]; reached && c < a->stop.at[state]; c++) {
                const vector *w = (vector *)(own + a->edge.at[c] * LANES);
                const vector *from = (vector *)(b + a->target.at[c] * LANES);
                vector *to = (vector *)(at + a->target.at[c] * LANES);
                for (int i = 0; i < VECTORS; i++) to[i] += whole[i] * (w[i] * from[i] * factor[i]);
            }
        }
        memcpy(g->visits + (token + 1) * entries * LANES, at + inner * LANES, (size_t)(entries * LANES) * sizeof *at);
    }
}

double step_lane(const lanes *g, int64_t lane, int64_t token, const uint8_t *usable, double *flow, double *at) {
    const Automaton *a = g->automaton;
    int64_t inner = a->order.n, entries = a->accept.n;
    double arrived = 0.0;
    memset(at, 0, (size_t)a->first.n * sizeof *at);
    memcpy(at, flow, (size_t)entries * sizeof *at);
    for (int64_t j = 0; j < inner; j++) {
        int64_t state = a->order.at[j];
        double whole = at[state];
        if (whole < LEAST) continue;
        for (int64_t c = a->first.at[state]; c < a->stop.at[state]; c++) {
            if (!usable[c]) continue;
            double part = whole * chance_of(g, lane, token, state, c);
            at[a->target.at[c]] += part;
            if (a->target.at[c] >= inner) arrived += part;
        }
    }
    memcpy(flow, at + inner, (size_t)entries * sizeof *flow);
    return arrived;
}
