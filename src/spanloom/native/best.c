/* Best structures, in either way of counting (Viterbi).

   Pairs of a sentence and a type run side by side as *lanes*, the longest sentences first. With w[e] the score of
   hyperedge e, or the largest of a bundle,

       b[s] = max over the choices c of state s of (w[edge of c] + sum over targets d of c of b[d])

   from the last token to the first. The choice that gives the maximum is kept for each state, token and lane; to look
   for it again where the best structure comes by takes longer, as processors cannot foresee what is found. Choices
   are in the order of their hyperedges, bundles included, so the first of equal choices is the first hyperedge. */
#include "hypergraph.h"

#define BLOCK (4 * WIDTH) /* lanes */
#define AHEAD 3           /* tokens whose scores are asked for before they are needed */
typedef int32_t picks __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));

/* A group of lanes side by side. */
typedef struct {
    const best_arguments *a;
    const int64_t *starts, *ends, *kinds, *rows, *columns; /* (lanes,) */
    uint8_t *marked;                                       /* (lanes,) */
    int64_t lanes, wide;       /* `wide` is a row of the arrays below: whole blocks of lanes */
    double *b;                 /* (S, lanes) the best scores of states */
    double *w;                 /* (E + bundles, lanes) the scores of hyperedges, and the largest of each bundle */
    double *constant;          /* (E, lanes) the constant scores of hyperedges */
    double *p;                 /* (2, R, lanes) role scores of this token and the next, at its number modulo 2 */
    const float **at;          /* (lanes,) the first role of each at this token */
    double *best, *sum, *none; /* (lanes,) the largest score so far, a sum over several states, zeros */
    int32_t *pick;             /* (lanes,) the choice of the largest score so far */
    int32_t *choices;          /* (T, S - X, lanes) */
    int32_t *members;          /* (T, bundles, lanes) the best hyperedge of each bundle */
} group;

/* Keep the larger of one + two and the best so far, with its choice. */
static inline void keep_larger(const double *restrict one, const double *restrict two, int64_t this,
                               double *restrict best, int32_t *restrict pick, int64_t lanes) {
    for (int64_t lane = 0; lane < lanes; lane++) {
        double value = one[lane] + two[lane];
        pick[lane] = value > best[lane] ? (int32_t)this : pick[lane];
        best[lane] = value > best[lane] ? value : best[lane];
    }
}

/* The largest score so far of a block of lanes, and the choice that gives it, in registers. */
typedef struct {
    vector best[BLOCK / WIDTH];
    mask pick[BLOCK / WIDTH];
} leading;

static inline leading lead_of(int64_t first) {
    leading lead;
    for (int i = 0; i < BLOCK / WIDTH; i++) {
        lead.best[i] = (vector){0} - INFINITY;
        lead.pick[i] = (mask){0} + first;
    }
    return lead;
}

/* Keep the larger of one + two and the best so far, with its choice. */
static inline void take_larger(leading *lead, const double *one, const double *two, int64_t this) {
    for (int i = 0; i < BLOCK / WIDTH; i++) {
        vector value = ((const vector *)one)[i] + ((const vector *)two)[i];
        mask larger = value > lead->best[i];
        lead->best[i] = (vector)(((mask)value & larger) | ((mask)lead->best[i] & ~larger));
        lead->pick[i] = (larger & this) | (lead->pick[i] & ~larger);
    }
}

static inline void store(const leading *lead, double *best, int32_t *pick) {
    for (int i = 0; i < BLOCK / WIDTH; i++) {
        ((vector *)best)[i] = lead->best[i];
        ((picks *)pick)[i] = __builtin_convertvector(lead->pick[i], picks);
    }
}

/* Compute the scores of hyperedges that vary, and of bundles with their best member, at a token. */
static void weigh(const group *g, int64_t token, int64_t lanes, int64_t lanes_next) {
    const Automaton *automaton = &g->a->automaton;
    const Hyperedges *h = &automaton->hyperedges;
    int64_t edges = automaton->number.n, roles = g->a->scores.roles.m, types = g->a->scores.roles.l;
    int64_t bundles = automaton->bundle_ptr.n - 1;
    int64_t gated = g->a->scores.gate.n > 0 ? lanes : 0;
    for (int64_t lane = 0; lane < least(gated, lanes_next); lane++) /* what was forbidden at the next token */
        if (gate_at(&g->a->scores, g->starts[lane] + token + 1, g->kinds[lane]) != NULL)
            for (int64_t e = 0; e < edges; e++) g->w[e * g->wide + lane] = g->constant[e * g->wide + lane];
    for (int64_t v = 0; v < h->varying.n; v++) {
        int64_t e = h->varying.at[v];
        for (int64_t lane = 0; lane < lanes; lane += BLOCK) {
            const vector *constant = (vector *)(g->constant + e * g->wide + lane);
            vector sum[BLOCK / WIDTH], *w = (vector *)(g->w + e * g->wide + lane);
            for (int j = 0; j < BLOCK / WIDTH; j++) sum[j] = constant[j];
            for (int64_t i = h->role_ptr.at[e]; i < h->role_ptr.at[e + 1]; i++) {
                int64_t row = (token + h->step.at[i]) % 2 * roles + h->role.at[i];
                for (int j = 0; j < BLOCK / WIDTH; j++) sum[j] += ((vector *)(g->p + row * g->wide + lane))[j];
            }
            for (int j = 0; j < BLOCK / WIDTH; j++) w[j] = sum[j];
        }
    }
    for (int64_t lane = 0; lane < gated; lane++) {
        const uint8_t *gate = gate_at(&g->a->scores, g->starts[lane] + token, g->kinds[lane]);
        for (int64_t e = 0; gate != NULL && e < edges; e++)
            if (automaton->number.at[e] >= 0 && !gate[automaton->number.at[e] * types])
                g->w[e * g->wide + lane] = -INFINITY;
    }
    for (int64_t i = 0; i < bundles; i++) {
        const int64_t *edge = automaton->bundle_edge.at, begin = automaton->bundle_ptr.at[i];
        for (int64_t lane = 0; lane < lanes; lane += BLOCK) {
            leading lead = lead_of(edge[begin]);
            for (int64_t j = begin; j < automaton->bundle_ptr.at[i + 1]; j++)
                take_larger(&lead, g->w + edge[j] * g->wide + lane, g->none + lane, edge[j]);
            store(&lead, g->w + (edges + i) * g->wide + lane, g->members + (token * bundles + i) * g->wide + lane);
        }
    }
}

/* Compute the best scores of a token's states, from those of its exits, and the choices that give them. Each choice
   leads to one state here. Lanes are gone through in blocks, whose best scores stay in registers; those behind the last
   lane are computed and not used. */
static void pull(const group *g, int32_t *choices, int64_t lanes) {
    const Automaton *automaton = &g->a->automaton;
    const int64_t *edge = automaton->edge.at, *target = automaton->target.at;
    for (int64_t j = automaton->order.n - 1; j >= 0; j--) {
        int64_t s = automaton->order.at[j], first = automaton->first.at[s], stop = automaton->stop.at[s];
        for (int64_t lane = 0; lane < lanes; lane += BLOCK) {
            leading lead = lead_of(first);
            for (int64_t c = first; c < stop; c++)
                take_larger(&lead, g->w + edge[c] * g->wide + lane, g->b + target[c] * g->wide + lane, c);
            store(&lead, g->b + s * g->wide + lane, choices + s * g->wide + lane);
        }
    }
}

/* Compute the same as `pull`, where a choice leads to any number of states. */
static void pull_several(const group *g, int32_t *choices, int64_t lanes) {
    const Automaton *automaton = &g->a->automaton;
    const int64_t *target_ptr = automaton->target_ptr.at, *target = automaton->target.at;
    for (int64_t j = automaton->order.n - 1; j >= 0; j--) {
        int64_t s = automaton->order.at[j];
        for (int64_t lane = 0; lane < lanes; lane++) {
            g->best[lane] = -INFINITY;
            g->pick[lane] = (int32_t)automaton->first.at[s];
        }
        for (int64_t c = automaton->first.at[s]; c < automaton->stop.at[s]; c++) {
            int64_t begin = target_ptr[c], last = target_ptr[c + 1] - 1;
            memcpy(g->sum, g->w + automaton->edge.at[c] * g->wide, (size_t)lanes * sizeof *g->sum);
            for (int64_t i = begin; i < last; i++)
                for (int64_t lane = 0; lane < lanes; lane++) g->sum[lane] += g->b[target[i] * g->wide + lane];
            keep_larger(g->sum, begin <= last ? g->b + target[last] * g->wide : g->none, c, g->best, g->pick, lanes);
        }
        memcpy(g->b + s * g->wide, g->best, (size_t)lanes * sizeof *g->best);
        memcpy(choices + s * g->wide, g->pick, (size_t)lanes * sizeof *g->pick);
    }
}

/* Fill in the choices of all states, the members of all bundles and the best scores. */
static void choose(const group *g, int single) {
    const best_arguments *a = g->a;
    const Automaton *automaton = &a->automaton;
    const int64_t *constant = automaton->hyperedges.constant.at;
    int64_t inside = automaton->order.n, entries = automaton->accept.n, edges = automaton->number.n, lanes = 0;
    int64_t roles = a->scores.roles.m, types = a->scores.roles.l;
    const float *added = a->added.at;
    for (int64_t e = 0; e < edges; e++)
        for (int64_t lane = 0; lane < g->lanes; lane++) {
            double score = constant[e] >= 0 ? (double)AT2(a->scores.constants, constant[e], g->kinds[lane]) : 0.0;
            g->w[e * g->wide + lane] = g->constant[e * g->wide + lane] = score;
        }
    for (int64_t token = g->ends[0] - g->starts[0] - 1; token >= 0; token--) {
        int64_t lanes_next = lanes, ahead = least(token, AHEAD) * roles * types;
        for (int64_t x = 0; x < entries; x++)
            memcpy(g->b + (inside + x) * g->wide, g->b + x * g->wide, (size_t)lanes_next * sizeof *g->b);
        for (; lanes < g->lanes && g->starts[lanes] + token < g->ends[lanes]; lanes++) {
            for (int64_t x = 0; x < entries; x++)
                g->b[(inside + x) * g->wide + lanes] = automaton->accept.at[x] ? 0.0 : -INFINITY;
            for (int64_t r = 0; r < roles; r++) g->p[((token + 1) % 2 * roles + r) * g->wide + lanes] = 0.0;
        }
        for (int64_t lane = 0; lane < lanes; lane++) {
            g->at[lane] = &AT3(a->scores.roles, g->starts[lane] + token, 0, g->kinds[lane]);
            __builtin_prefetch(g->at[lane] - ahead);
        }
        for (int64_t r = 0; r < roles; r++) {
            double *restrict p = g->p + (token % 2 * roles + r) * g->wide;
            for (int64_t lane = 0; lane < lanes; lane++) p[lane] = g->at[lane][r * types] + added[r];
        }
        weigh(g, token, lanes, lanes_next);
        int32_t *choices = g->choices + token * inside * g->wide;
        if (single) pull(g, choices, lanes);
        else pull_several(g, choices, lanes);
    }
}

/* Collect the hyperedges of the best structures that are not forbidden, where each choice leads to one state. Lanes
   take turns at each token, so that the processor reads for one while it waits for another. Return whether there was
   room. */
static int follow(const group *g, int64_t *states) {
    const Automaton *automaton = &g->a->automaton;
    const int64_t *edge = automaton->edge.at, *target = automaton->target.at;
    const int16_t *number = automaton->number.at;
    i16_3 picked = g->a->edges;
    int64_t inside = automaton->order.n, edges = automaton->number.n, bundles = automaton->bundle_ptr.n - 1,
            all = automaton->edge.n, wide = g->wide, lanes = g->lanes;
    for (int64_t lane = 0; lane < lanes; lane++)
        states[lane] = g->b[automaton->root * wide + lane] == -INFINITY ? -1 : automaton->root;
    for (int64_t token = 0; token < g->ends[0] - g->starts[0]; token++) {
        while (g->starts[lanes - 1] + token >= g->ends[lanes - 1]) lanes--;
        for (int64_t lane = 0; lane < lanes; lane++) {
            const int32_t *choices = g->choices + token * inside * wide + lane;
            int64_t s = states[lane], depth = 0, steps = 0;
            if (s < 0) continue;
            int16_t *row = &AT3(picked, g->rows[lane] + token, g->columns[lane], 0);
            uint8_t marked = 0;
            while (depth < picked.l && row[depth] >= 0) depth++; /* by another part of the template */
            while (s < inside) {
                int64_t choice = choices[s * wide];
                if (choice >= all) return 0;
                int64_t e = edge[choice];
                if (e >= edges) e = g->members[(token * bundles + e - edges) * wide + lane];
                if (number[e] >= 0) {
                    if (depth >= picked.l) return 0;
                    row[depth++] = number[e];
                    marked |= g->a->mark.at[number[e]];
                }
                s = target[choice];
                if (++steps > inside) return 0;
            }
            g->marked[lane] |= marked;
            states[lane] = s - inside;
        }
    }
    return 1;
}

/* Add a state to the reached ones, once; return their number. */
static int64_t reach(int64_t state, int64_t *reached, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (reached[i] == state) return count;
    reached[count] = state;
    return count + 1;
}

/* Collect the same as `follow`, where a choice leads to any number of states: from the root on, parents first. */
static int unfold(const group *g, int64_t lane, int64_t *reached) {
    const Automaton *automaton = &g->a->automaton;
    const int64_t *target_ptr = automaton->target_ptr.at, *target = automaton->target.at;
    i16_3 picked = g->a->edges;
    int64_t inside = automaton->order.n, width = automaton->first.n, count = 1;
    reached[0] = automaton->root;
    for (int64_t token = 0; token < g->ends[lane] - g->starts[lane]; token++) {
        int64_t *now = reached + token % 2 * width, *following = reached + (token + 1) % 2 * width, ahead = 0,
                depth = 0;
        while (count > 0) {
            int64_t at = 0;
            for (int64_t i = 1; i < count; i++) at = now[i] < now[at] ? i : at;
            int64_t choice = g->choices[(token * inside + now[at]) * g->wide + lane];
            if (choice >= automaton->edge.n) return 0;
            int64_t e = automaton->edge.at[choice];
            now[at] = now[--count];
            if (depth >= picked.l || e >= automaton->number.n) return 0;
            AT3(picked, g->rows[lane] + token, g->columns[lane], depth++) = automaton->number.at[e];
            if (automaton->number.at[e] >= 0) g->marked[lane] |= g->a->mark.at[automaton->number.at[e]];
            for (int64_t i = target_ptr[choice]; i < target_ptr[choice + 1]; i++) {
                if (target[i] < inside) count = reach(target[i], now, count);
                else ahead = reach(target[i] - inside, following, ahead);
            }
        }
        count = ahead;
    }
    return 1;
}

int64_t spanloom_best(const best_arguments *a) {
    const Automaton *automaton = &a->automaton;
    int64_t inside = automaton->order.n, states = automaton->first.n, edges = automaton->number.n;
    int64_t bundles = automaton->bundle_ptr.n - 1, roles = a->scores.roles.m, single = is_simple(automaton);
    if (!automaton_fits(automaton, &a->scores, a->offsets) || !are_sentences(a->sentence, a->offsets)) return BAD_INDEX;
    if (a->added.n != roles) return BAD_INDEX;
    for (int64_t e = 0; e < edges; e++)
        if (automaton->number.at[e] >= a->mark.n) return BAD_INDEX;
    for (int64_t number = 0; number + 1 < a->group_ptr.n; number++) {
        int64_t begin = a->group_ptr.at[number], end = a->group_ptr.at[number + 1];
        if (begin < 0 || end <= begin || end > a->sentence.n) return BAD_INDEX;
        int64_t lanes = end - begin, wide = (lanes + BLOCK - 1) / BLOCK * BLOCK;
        memory own = {0};
        int64_t *starts = TAKE(&own, int64_t, lanes), *ends = TAKE(&own, int64_t, lanes), longest = 0,
                previous = INT64_MAX;
        int64_t *scratch = TAKE(&own, int64_t, most(lanes, 2 * states));
        if (own.failed) return give_back(&own, NO_MEMORY);
        for (int64_t lane = 0; lane < lanes; lane++) {
            int64_t n = a->sentence.at[begin + lane], k = a->kind.at[begin + lane];
            starts[lane] = a->offsets.at[n];
            ends[lane] = a->offsets.at[n + 1];
            if (k < 0 || k >= a->scores.roles.l || ends[lane] - starts[lane] > previous)
                return give_back(&own, BAD_INDEX);
            previous = ends[lane] - starts[lane];
            int64_t row = a->row.at[begin + lane], column = a->column.at[begin + lane];
            if (row < 0 || previous > a->edges.n || row > a->edges.n - previous) return give_back(&own, BAD_INDEX);
            if (column < 0 || column >= a->edges.m) return give_back(&own, BAD_INDEX);
            longest = most(longest, previous);
        }
        if (longest == 0) {
            give_back(&own, 0);
            continue;
        }
        group g = {
            a,
            starts,
            ends,
            a->kind.at + begin,
            a->row.at + begin,
            a->column.at + begin,
            a->marked.at + begin,
            lanes,
            wide,
            TAKE_ZEROS(&own, double, states *wide),
            TAKE_ZEROS(&own, double, (edges + bundles) * wide),
            TAKE(&own, double, edges *wide),
            TAKE(&own, double, 2 * roles * wide),
            TAKE(&own, const float *, wide),
            TAKE(&own, double, wide),
            TAKE(&own, double, wide),
            TAKE_ZEROS(&own, double, wide),
            TAKE(&own, int32_t, wide),
            TAKE(&own, int32_t, longest * inside * wide),
            TAKE(&own, int32_t, longest * bundles * wide),
        };
        if (own.failed) return give_back(&own, NO_MEMORY);
        choose(&g, (int)single);
        for (int64_t lane = 0; lane < lanes; lane++)
            if (ends[lane] > starts[lane]) a->score.at[begin + lane] += g.b[automaton->root * wide + lane];
        int room = single ? follow(&g, scratch) : 1;
        for (int64_t lane = 0; !single && room && lane < lanes; lane++)
            if (g.b[automaton->root * wide + lane] > -INFINITY) room = unfold(&g, lane, scratch);
        give_back(&own, 0);
        if (!room) return BAD_INDEX;
    }
    return 0;
}
