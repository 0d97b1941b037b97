/* Best structures, in either way of counting (Viterbi). With w[e] the score of hyperedge e, or the largest of a bundle,

       b[s] = max over the choices c of state s of (w[edge of c] + sum over targets d of c of b[d])

   1. From the last token to the first, b of all states of a token, for several lanes side by side. Those of entries are
      kept.
   2. From the first token to the last, the choices of the best structure, lane by lane. Few states can be reached from
      where it is, and their choices are found again. To keep the choices of all states would take four times as long
      as their scores.

   Choices are in the order of their hyperedges, bundles included, so the first of equal choices is the first hyperedge.
 */
#include "lanes.h"

/* Lanes side by side, and the lane and token whose choices are found again. */
typedef struct {
    const best_arguments *a;
    lanes side;
    double *constant;         /* (E, WIDE) constant scores of hyperedges */
    double *p;                /* (2, R, WIDE) scores of roles at this token and the next, at its number modulo 2 */
    double *w;                /* (E + bundles, WIDE) scores of hyperedges, and the largest of each bundle */
    double *b;                /* (S, WIDE) the best scores of states */
    double *ahead;            /* (T + 1, X, WIDE) those of entries at each token */
    int64_t lane, token, now; /* `now`: a number for this token of this lane */
    int64_t *seen, *choice;   /* (S,) when the choice of a state was found, and which it is */
    double *value;            /* (S,) its score */
    int64_t *reached;         /* (2, S) scratch */
} group;

static inline double larger(double one, double two) { return one > two ? one : two; }

/* Compute the scores of hyperedges and of bundles at a token. */
static void weigh(const group *g, int64_t token) {
    const Automaton *automaton = &g->a->automaton;
    const Hyperedges *h = &automaton->hyperedges;
    int64_t edges = automaton->number.n, roles = g->a->scores.roles.m, masked = g->a->scores.allowed.n > 0;
    for (int64_t v = 0; v < (masked ? edges : h->varying.n); v++) {
        int64_t e = masked ? v : h->varying.at[v];
        double *restrict w = g->w + e * WIDE;
        const double *restrict constant = g->constant + e * WIDE;
        EACH_LANE w[lane] = constant[lane];
        for (int64_t i = h->role_ptr.at[e]; i < h->role_ptr.at[e + 1]; i++) {
            const double *restrict p = g->p + ((token + h->step.at[i]) % 2 * roles + h->role.at[i]) * WIDE;
            EACH_LANE w[lane] += p[lane];
        }
    }
    forbid_edges(&g->side, token, g->w, -INFINITY);
    for (int64_t i = 0; i + 1 < automaton->bundle_ptr.n; i++) {
        double *restrict bundle = g->w + (edges + i) * WIDE;
        EACH_LANE bundle[lane] = -INFINITY;
        for (int64_t j = automaton->bundle_ptr.at[i]; j < automaton->bundle_ptr.at[i + 1]; j++) {
            const double *restrict member = g->w + automaton->bundle_edge.at[j] * WIDE;
            EACH_LANE bundle[lane] = larger(member[lane], bundle[lane]);
        }
    }
}

/* Compute the best scores of a token's states where each choice leads to one state, four choices at once. Where there
   are fewer, the last one is compared again, which changes nothing. */
static void pull(const group *g) {
    const Automaton *automaton = &g->a->automaton;
    const int64_t *edge = automaton->edge.at, *target = automaton->target.at;
    for (int64_t j = automaton->order.n - 1; j >= 0; j--) {
        int64_t s = automaton->order.at[j], first = automaton->first.at[s], stop = automaton->stop.at[s];
        double *restrict own = g->b + s * WIDE;
        EACH_LANE own[lane] = -INFINITY;
        for (int64_t c = first; c < stop; c += 4) {
            int64_t c2 = least(c + 1, stop - 1);
            const double *restrict w1 = g->w + edge[c] * WIDE, *restrict b1 = g->b + target[c] * WIDE;
            const double *restrict w2 = g->w + edge[c2] * WIDE, *restrict b2 = g->b + target[c2] * WIDE;
            if (stop - c <= 2) {
                EACH_LANE own[lane] = larger(w2[lane] + b2[lane], larger(w1[lane] + b1[lane], own[lane]));
                continue;
            }
            int64_t c3 = c + 2, c4 = least(c + 3, stop - 1);
            const double *restrict w3 = g->w + edge[c3] * WIDE, *restrict b3 = g->b + target[c3] * WIDE;
            const double *restrict w4 = g->w + edge[c4] * WIDE, *restrict b4 = g->b + target[c4] * WIDE;
            EACH_LANE {
                double top = larger(w2[lane] + b2[lane], larger(w1[lane] + b1[lane], own[lane]));
                own[lane] = larger(w4[lane] + b4[lane], larger(w3[lane] + b3[lane], top));
            }
        }
    }
}

/* Compute the same where a choice leads to any number of states. */
static void pull_several(const group *g) {
    const Automaton *automaton = &g->a->automaton;
    for (int64_t j = automaton->order.n - 1; j >= 0; j--) {
        int64_t s = automaton->order.at[j];
        double *restrict own = g->b + s * WIDE;
        EACH_LANE own[lane] = -INFINITY;
        for (int64_t c = automaton->first.at[s]; c < automaton->stop.at[s]; c++) {
            double sum[WIDE];
            memcpy(sum, g->w + automaton->edge.at[c] * WIDE, sizeof sum);
            for (int64_t i = automaton->target_ptr.at[c]; i < automaton->target_ptr.at[c + 1]; i++)
                EACH_LANE sum[lane] += g->b[automaton->target.at[i] * WIDE + lane];
            EACH_LANE own[lane] = larger(sum[lane], own[lane]);
        }
    }
}

/* Step 1. */
static void find_scores(const group *g, int single) {
    const Automaton *automaton = &g->a->automaton;
    int64_t exits = automaton->order.n, entries = automaton->accept.n, roles = g->a->scores.roles.m;
    size_t row = (size_t)(entries * WIDE) * sizeof *g->b;
    read_constants(&g->side, g->constant);
    memcpy(g->w, g->constant, (size_t)(automaton->number.n * WIDE) * sizeof *g->w);
    memset(g->ahead + g->side.longest * entries * WIDE, 0, row);
    memset(g->p, 0, (size_t)(2 * roles * WIDE) * sizeof *g->p);
    for (int64_t token = g->side.longest - 1; token >= 0; token--) {
        end_lanes(&g->side, token, g->ahead, 0.0, -INFINITY);
        read_roles(&g->side, token, g->a->added.at, g->p + token % 2 * roles * WIDE);
        weigh(g, token);
        memcpy(g->b + exits * WIDE, g->ahead + (token + 1) * entries * WIDE, row);
        if (single) pull(g);
        else pull_several(g);
        memcpy(g->ahead + token * entries * WIDE, g->b, row);
    }
}

/* The score of a hyperedge where the choices are found again, as `weigh` computes it. */
static double score_of(const group *g, int64_t e) {
    const Hyperedges *h = &g->a->automaton.hyperedges;
    const Potentials *scores = &g->a->scores;
    int64_t row = g->side.start[g->lane] + g->token, kind = g->side.kind[g->lane];
    int64_t number = g->a->automaton.number.at[e];
    double value = g->constant[e * WIDE + g->lane];
    for (int64_t i = h->role_ptr.at[e]; i < h->role_ptr.at[e + 1]; i++)
        if (g->token + h->step.at[i] < g->side.length[g->lane])
            value +=
                (double)(AT3(scores->roles, row + h->step.at[i], h->role.at[i], kind) + g->a->added.at[h->role.at[i]]);
    if (scores->allowed.n > 0 && number >= 0 && !AT2(scores->allowed, row, number * scores->roles.l + kind))
        value = -INFINITY;
    return value;
}

/* The first of the best hyperedges of a bundle, or the hyperedge itself; `score`: its score. */
static int64_t best_member(const group *g, int64_t e, double *score) {
    const Automaton *automaton = &g->a->automaton;
    int64_t bundle = e - automaton->number.n;
    if (bundle < 0) {
        *score = score_of(g, e);
        return e;
    }
    int64_t found = automaton->bundle_edge.at[automaton->bundle_ptr.at[bundle]];
    *score = -INFINITY;
    for (int64_t j = automaton->bundle_ptr.at[bundle]; j < automaton->bundle_ptr.at[bundle + 1]; j++) {
        double value = score_of(g, automaton->bundle_edge.at[j]);
        if (value > *score) {
            *score = value;
            found = automaton->bundle_edge.at[j];
        }
    }
    return found;
}

/* Find the best choice of a state, once for each token; return its score. No state leads back to an earlier one. */
static double look(group *g, int64_t s) {
    const Automaton *automaton = &g->a->automaton;
    int64_t exits = automaton->order.n, entries = automaton->accept.n;
    if (s >= exits) return g->ahead[((g->token + 1) * entries + s - exits) * WIDE + g->lane];
    if (g->seen[s] == g->now) return g->value[s];
    g->seen[s] = g->now;
    g->value[s] = -INFINITY;
    g->choice[s] = automaton->first.at[s];
    for (int64_t c = automaton->first.at[s]; c < automaton->stop.at[s]; c++) {
        double value;
        best_member(g, automaton->edge.at[c], &value);
        for (int64_t i = automaton->target_ptr.at[c]; i < automaton->target_ptr.at[c + 1]; i++)
            value += look(g, automaton->target.at[i]);
        if (value > g->value[s]) {
            g->value[s] = value;
            g->choice[s] = c;
        }
    }
    return g->value[s];
}

/* Add a state to the reached ones, once; return their number. */
static int64_t reach(int64_t state, int64_t *reached, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (reached[i] == state) return count;
    reached[count] = state;
    return count + 1;
}

/* Step 2, for one lane: from the root on, parents first. Return whether there was room. */
static int follow(group *g, int64_t number) {
    const Automaton *automaton = &g->a->automaton;
    i16_3 edges = g->a->edges;
    int64_t exits = automaton->order.n, width = automaton->first.n, count = 1;
    g->reached[0] = automaton->root;
    for (g->token = 0; g->token < g->side.length[g->lane]; g->token++, g->now++) {
        int64_t *here = g->reached + g->token % 2 * width, *there = g->reached + (g->token + 1) % 2 * width;
        int64_t ahead = 0, depth = 0;
        int16_t *picked = &AT3(edges, g->a->row.at[number] + g->token, g->a->column.at[number], 0);
        while (depth < edges.l && picked[depth] >= 0) depth++; /* by another part of the template */
        while (count > 0) {
            int64_t at = 0;
            for (int64_t i = 1; i < count; i++) at = here[i] < here[at] ? i : at;
            int64_t s = here[at];
            here[at] = here[--count];
            double score = look(g, s);
            int64_t c = g->choice[s];
            if (c >= automaton->stop.at[s]) return 0;
            int64_t edge = automaton->number.at[best_member(g, automaton->edge.at[c], &score)];
            if (edge >= 0) {
                if (depth >= edges.l) return 0;
                picked[depth++] = (int16_t)edge;
                g->a->marked.at[number] |= g->a->mark.at[edge];
            }
            for (int64_t i = automaton->target_ptr.at[c]; i < automaton->target_ptr.at[c + 1]; i++) {
                int64_t to = automaton->target.at[i];
                if (to < exits) count = reach(to, here, count);
                else ahead = reach(to - exits, there, ahead);
            }
        }
        count = ahead;
    }
    return 1;
}

/* Whether each state leads only to later ones, and hyperedges have marks. */
static int is_ordered(const Automaton *a, int64_t marks, int64_t *place) {
    int64_t exits = a->order.n, states = a->first.n;
    for (int64_t s = 0; s < states; s++) place[s] = s < exits ? -1 : exits;
    for (int64_t j = 0; j < exits; j++) place[a->order.at[j]] = j;
    for (int64_t s = 0; s < exits; s++)
        for (int64_t c = a->first.at[s]; c < a->stop.at[s]; c++)
            for (int64_t i = a->target_ptr.at[c]; i < a->target_ptr.at[c + 1]; i++)
                if (place[a->target.at[i]] <= place[s]) return 0;
    for (int64_t e = 0; e < a->number.n; e++)
        if (a->number.at[e] >= marks) return 0;
    return 1;
}

int64_t spanloom_best(const best_arguments *a) {
    const Automaton *automaton = &a->automaton;
    int64_t states = automaton->first.n, edges = automaton->number.n, entries = automaton->accept.n, longest;
    int64_t all = edges + automaton->bundle_ptr.n - 1, roles = a->scores.roles.m;
    if (!automaton_fits(automaton, &a->scores, a->offsets) || a->added.n != roles) return BAD_INDEX;
    if (!lanes_fit(&a->scores, a->sentence, a->kind, a->offsets, &longest)) return BAD_INDEX;
    for (int64_t i = 0; i < a->sentence.n; i++) {
        int64_t n = a->sentence.at[i], length = a->offsets.at[n + 1] - a->offsets.at[n];
        if (a->row.at[i] < 0 || length > a->edges.n || a->row.at[i] > a->edges.n - length) return BAD_INDEX;
        if (a->column.at[i] < 0 || a->column.at[i] >= a->edges.m) return BAD_INDEX;
    }
    memory own = {0};
    group g = {
        .a = a,
        .side = {.scores = &a->scores, .automaton = automaton},
        .constant = TAKE(&own, double, edges *WIDE),
        .p = TAKE(&own, double, 2 * roles * WIDE),
        .w = TAKE(&own, double, all *WIDE),
        .b = TAKE(&own, double, states *WIDE),
        .ahead = TAKE(&own, double, (longest + 1) * entries * WIDE),
        .now = 1,
        .seen = TAKE_ZEROS(&own, int64_t, states),
        .choice = TAKE(&own, int64_t, states),
        .value = TAKE(&own, double, states),
        .reached = TAKE(&own, int64_t, 2 * states),
    };
    if (own.failed) return give_back(&own, NO_MEMORY);
    if (!is_ordered(automaton, a->mark.n, g.choice)) return give_back(&own, BAD_INDEX);
    int single = is_simple(automaton);
    for (int64_t begin = 0; begin < a->sentence.n; begin += WIDE) {
        take_lanes(&g.side, a->sentence, a->kind, a->offsets, begin);
        find_scores(&g, single);
        for (g.lane = 0; g.lane < WIDE; g.lane++) {
            if (g.side.length[g.lane] == 0) continue;
            double score = g.ahead[automaton->root * WIDE + g.lane];
            a->score.at[begin + g.lane] += score;
            if (score > -INFINITY && !follow(&g, begin + g.lane)) return give_back(&own, BAD_INDEX);
        }
    }
    return give_back(&own, 0);
}
