/* The best structure, the sum over structures and path probabilities where *guards* read what is picked, and may refuse
   it.

   The automaton of a template is the same at every token; a guard has states of its own at each of some tokens, q, and
   one state elsewhere. A structure is a path through pairs of both states: a choice of hyperedge e leads from (s, q) to
   (target, next[q][letter of e]), and at the end of a token the guard's state becomes exit[q], one of the next token's;
   -1 refuses. So each structure that is not refused is one path. A mention that is refused may have nearly all of the
   probability, and what is left is then exact: sums are of what is not refused, in the linear domain with one factor a
   token, so that inside scores of entries sum to 1. Where a number may have vanished, as `sums.c` has it, and for the
   best structure, numbers are logarithms, and the factors are 0. */
#include "hypergraph.h"

/* What a guard does at a token. */
typedef struct {
    int64_t count, letters; /* its states; the length of a row of `next` */
    const int64_t *letter, *next, *exit;
} stage;

typedef struct {
    const guarded_arguments *a;
    int64_t start, end, kind, edges, entries, states, width; /* `width`: the most states of the lane's guards */
    int linear;                                              /* whether numbers are weights, not logarithms */
    double none;                                             /* then 0, else -inf */
    int64_t *row;           /* (T,) the row of the guards' tables at each token, -1 between guards */
    int64_t *nothing;       /* (E,) zeros */
    double *base, *p;       /* (E,) weights of hyperedges without roles, (T, R) of roles */
    double *w;              /* (T, E) weights of hyperedges */
    double *at;             /* (S, states of the guard at a token) scratch */
    double *factor;         /* (T,) */
    int64_t *arc_ptr, *arc; /* the usable arcs of each row of `usable`, and behind them all arcs */
} walk;

static inline double add_logs(double one, double two) {
    double top = one > two ? one : two, below = one > two ? two - one : one - two;
    if (!(below > NEGLIGIBLE)) return top; /* one may be -inf, or both: then it is NaN */
    return top + logarithm(1.0 + exponential(below));
}

static inline double both_of(int linear, double one, double two) { return linear ? one * two : one + two; }
static inline double sum_of(int linear, double one, double two) { return linear ? one + two : add_logs(one, two); }

static inline int64_t states_at(const Guards *g, int64_t row) { return g->ptr.at[row + 1] - g->ptr.at[row]; }

static inline stage stage_at(const walk *s, int64_t token) {
    const Guards *g = &s->a->guards;
    int64_t row = s->row[token];
    if (row < 0) return (stage){1, 0, s->nothing, s->nothing, s->nothing};
    int64_t base = g->ptr.at[row];
    return (stage){states_at(g, row), g->next.m, &AT2(g->letter, row, 0), &AT2(g->next, base, 0), g->exit.at + base};
}

/* Whether every number of the guards lies within the table that it leads to. */
static int guards_fit(const guarded_arguments *a) {
    const Guards *g = &a->guards;
    int64_t rows = g->letter.n, guards = g->begin.n - 1;
    if (g->letter.m != a->automaton.number.n || g->ptr.n != rows + 1 || guards < 0) return 0;
    if (g->ptr.at[0] != 0 || g->ptr.at[rows] != g->exit.n) return 0;
    if (g->begin.at[0] != 0 || g->begin.at[guards] != rows) return 0;
    for (int64_t i = 0; i < rows * g->letter.m; i++)
        if (g->letter.at[i] < 0 || g->letter.at[i] >= g->next.m) return 0;
    for (int64_t row = 0; row < rows; row++)
        if (g->ptr.at[row] < 0 || g->ptr.at[row] >= g->ptr.at[row + 1]) return 0;
    for (int64_t i = 0; i < guards; i++)
        for (int64_t row = g->begin.at[i]; row < g->begin.at[i + 1]; row++) {
            if (row < 0 || row >= rows) return 0;
            int64_t following = row + 1 < g->begin.at[i + 1] ? states_at(g, row + 1) : 1;
            for (int64_t q = g->ptr.at[row]; q < g->ptr.at[row + 1]; q++) {
                if (g->exit.at[q] < -1 || g->exit.at[q] >= following) return 0;
                for (int64_t letter = 0; letter < g->next.m; letter++)
                    if (AT2(g->next, q, letter) < 0 || AT2(g->next, q, letter) >= states_at(g, row)) return 0;
            }
        }
    return 1;
}

/* Whether a lane's guards and questions lie within its sentence. */
static int lane_fits(const guarded_arguments *a, int64_t lane) {
    if (lane < 0 || lane >= a->sentence.n || a->kind.at[lane] < 0 || a->kind.at[lane] >= a->scores.roles.l) return 0;
    if (!are_sentences((i64_1){a->sentence.at + lane, 1}, a->offsets)) return 0;
    int64_t n = a->sentence.at[lane], length = a->offsets.at[n + 1] - a->offsets.at[n], end = 0;
    const int64_t *placed = a->placed_ptr.at + lane, *query = a->query_ptr.at + lane;
    if (placed[0] < 0 || placed[1] > a->guard.n || query[0] < 0 || query[1] > a->first.n) return 0;
    for (int64_t i = placed[0]; i < placed[1]; i++) {
        int64_t guard = a->guard.at[i], low = a->low.at[i];
        if (guard < 0 || guard >= a->guards.begin.n - 1 || low < end) return 0; /* one behind the other */
        int64_t size = a->guards.begin.at[guard + 1] - a->guards.begin.at[guard];
        if (size < 0 || low > length - size) return 0;
        end = low + size;
    }
    for (int64_t i = query[0]; i < query[1]; i++) {
        int64_t begin = a->row_ptr.at[i], stop = a->row_ptr.at[i + 1], first = a->first.at[i];
        if (begin < 0 || begin >= stop || stop > a->row.n || first < 0 || first > length - (stop - begin)) return 0;
        for (int64_t j = begin; j < stop; j++)
            if (a->row.at[j] < 0 || a->row.at[j] >= a->usable.n) return 0;
    }
    return query[0] >= query[1] || a->usable.m == a->automaton.edge.n;
}

/* Inside scores of a token's entries, or with `best` the best ways on and their first arcs, from those of the next. */
static void pull(const walk *s, int64_t token, const double *following, double *here, int64_t *best) {
    const int linear = s->linear;
    const Automaton *automaton = &s->a->automaton;
    const stage g = stage_at(s, token);
    int64_t exits = automaton->order.n, width = s->width, count = g.count;
    const int64_t *source = automaton->source.at, *target = automaton->target.at, *edge = automaton->edge.at;
    double *at = s->at;
    const double *w = s->w + token * s->edges;
    for (int64_t i = 0; i < s->states * count; i++) at[i] = s->none;
    for (int64_t x = 0; x < s->entries; x++)
        for (int64_t q = 0; q < count; q++)
            if (g.exit[q] >= 0) at[(exits + x) * count + q] = following[x * width + g.exit[q]];
    if (linear && count == 1) { /* between guards, at most tokens */
        for (int64_t i = automaton->source.n - 1; i >= 0; i--) at[source[i]] += w[edge[i]] * at[target[i]];
    } else {
        for (int64_t i = automaton->source.n - 1; i >= 0; i--) {
            int64_t e = edge[i], letter = g.letter[e];
            double *own = at + source[i] * count, *ahead = at + target[i] * count;
            for (int64_t q = 0; q < count; q++) {
                double value = both_of(linear, w[e], ahead[g.next[q * g.letters + letter]]);
                if (best == NULL) {
                    own[q] = sum_of(linear, own[q], value);
                } else if (value > -INFINITY && value >= own[q]) { /* arcs come from the last on: the first wins */
                    own[q] = value;
                    best[source[i] * width + q] = i;
                }
            }
        }
    }
    for (int64_t x = 0; x < s->entries; x++)
        for (int64_t q = 0; q < width; q++) here[x * width + q] = q < count ? at[x * count + q] : s->none;
}

/* Lead the flow into a token's entries on to the next token's, by the usable arcs of a row. */
static void push(const walk *s, int64_t token, double *flow, int64_t row) {
    const int linear = s->linear;
    const Automaton *automaton = &s->a->automaton;
    const stage g = stage_at(s, token);
    int64_t exits = automaton->order.n, width = s->width, count = g.count;
    const int64_t *source = automaton->source.at, *target = automaton->target.at, *edge = automaton->edge.at;
    double *at = s->at;
    const double *w = s->w + token * s->edges;
    for (int64_t i = s->entries * count; i < s->states * count; i++) at[i] = s->none;
    for (int64_t x = 0; x < s->entries; x++)
        for (int64_t q = 0; q < count; q++) at[x * count + q] = flow[x * width + q];
    for (int64_t j = s->arc_ptr[row]; j < s->arc_ptr[row + 1]; j++) {
        int64_t i = s->arc[j], e = edge[i];
        if (linear && count == 1) {
            at[target[i]] += w[e] * at[source[i]];
            continue;
        }
        double *own = at + source[i] * count, *ahead = at + target[i] * count;
        for (int64_t q = 0; q < count; q++) {
            double *to = ahead + g.next[q * g.letters + g.letter[e]];
            *to = sum_of(linear, *to, both_of(linear, w[e], own[q]));
        }
    }
    for (int64_t i = 0; i < s->entries * width; i++) flow[i] = s->none;
    for (int64_t x = 0; x < s->entries; x++)
        for (int64_t q = 0; q < count; q++)
            if (g.exit[q] >= 0) {
                double *to = flow + x * width + g.exit[q];
                *to = sum_of(linear, *to, both_of(linear, at[(exits + x) * count + q], s->factor[token]));
            }
}

/* Fill in inside scores, or the best ways on, from the last token to the first. Return the logarithm of the sum over
   all structures, or the score of the best; NaN where a number may have vanished. */
static double fill(const walk *s, double *beta, int64_t *best) {
    const Automaton *automaton = &s->a->automaton;
    int64_t length = s->end - s->start, layer = s->entries * s->width;
    double scale = 0.0;
    int safe = !s->linear || weigh_sentence(&s->a->scores, s->start, s->end, s->kind, automaton, s->base, s->p);
    for (int64_t token = 0; token < length; token++) {
        double *w = s->w + token * s->edges;
        if (s->linear) weigh_all(w, &s->a->scores, s->start, s->end, s->kind, token, automaton, s->base, s->p);
        else score_all(w, &s->a->scores, s->start + token, s->end, s->kind, automaton);
        s->factor[token] = 0.0;
    }
    for (int64_t i = 0; i < layer; i++) beta[length * layer + i] = s->none;
    for (int64_t x = 0; x < s->entries; x++)
        if (automaton->accept.at[x]) beta[length * layer + x * s->width] = s->linear ? 1.0 : 0.0;
    for (int64_t token = length - 1; token >= 0 && safe; token--) {
        double *here = beta + token * layer, total = 0.0;
        pull(s, token, here + layer, here, best == NULL ? NULL : best + token * s->states * s->width);
        if (!s->linear) continue;
        for (int64_t i = 0; i < layer; i++) total += here[i];
        s->factor[token] = total > 0.0 ? 1.0 / total : 0.0;
        for (int64_t i = 0; i < layer; i++) here[i] *= s->factor[token];
        for (int64_t i = 0; i < layer; i++) safe &= here[i] >= TINIEST || here[i] == 0.0;
        scale += logarithm(total);
    }
    double first = beta[automaton->root * s->width];
    return safe ? (s->linear ? logarithm(first) + scale : first) : NAN;
}

/* Add the hyperedges of the best structure to those of other parts of the template; return whether there was room. */
static int follow(const walk *s, const int64_t *best) {
    const Automaton *automaton = &s->a->automaton;
    i16_3 edges = s->a->edges;
    int64_t state = automaton->root, exits = automaton->order.n, q = 0;
    for (int64_t token = 0; token < s->end - s->start; token++) {
        stage g = stage_at(s, token);
        int64_t depth = 0;
        int16_t *row = &AT3(edges, s->start + token, s->kind, 0);
        while (depth < edges.l && row[depth] >= 0) depth++;
        while (state < exits) {
            int64_t i = best[(token * s->states + state) * s->width + q], e = automaton->edge.at[i];
            if (automaton->number.at[e] >= 0 && depth >= edges.l) return 0;
            if (automaton->number.at[e] >= 0) row[depth++] = automaton->number.at[e];
            q = g.next[q * g.letters + g.letter[e]];
            state = automaton->target.at[i];
        }
        state -= exits;
        q = g.exit[q];
    }
    return 1;
}

/* The flow into each token, and each path from its first token on: how much of the flow keeps to it, times what comes
   behind. */
static void answer(const walk *s, int64_t lane, const double *beta, double *alpha, double *flow) {
    const guarded_arguments *a = s->a;
    int64_t layer = s->entries * s->width, root = a->automaton.root * s->width, last = 0;
    for (int64_t i = a->query_ptr.at[lane]; i < a->query_ptr.at[lane + 1]; i++) last = most(last, a->first.at[i]);
    for (int64_t i = 0; i < layer; i++) alpha[i] = s->none;
    alpha[root] = s->linear ? 1.0 : 0.0;
    for (int64_t token = 0; token < last; token++) {
        double *ahead = alpha + (token + 1) * layer;
        memcpy(ahead, alpha + token * layer, (size_t)layer * sizeof *alpha);
        push(s, token, ahead, a->usable.n);
        for (int64_t i = 0; i < layer; i++) /* what leads nowhere could grow without an end */
            if (beta[(token + 1) * layer + i] == s->none) ahead[i] = s->none;
    }
    for (int64_t i = a->query_ptr.at[lane]; i < a->query_ptr.at[lane + 1]; i++) {
        int64_t token = a->first.at[i];
        memcpy(flow, alpha + token * layer, (size_t)layer * sizeof *flow);
        for (int64_t j = a->row_ptr.at[i]; j < a->row_ptr.at[i + 1]; j++) push(s, token++, flow, a->row.at[j]);
        double sum = s->none;
        for (int64_t j = 0; j < layer; j++)
            if (flow[j] > s->none) sum = sum_of(s->linear, sum, both_of(s->linear, flow[j], beta[token * layer + j]));
        if (sum < beta[root]) a->probability.at[i] *= s->linear ? sum / beta[root] : exponential(sum - beta[root]);
    }
}

int64_t spanloom_guarded(const guarded_arguments *a) {
    const Automaton *automaton = &a->automaton;
    if (!automaton_fits(automaton, &a->scores, a->offsets) || !is_simple(automaton) || !guards_fit(a)) return BAD_INDEX;
    if (automaton->bundle_ptr.n != 1) return BAD_INDEX;
    if (a->edges.n > 0 && (a->edges.n != a->scores.roles.n || a->edges.m != a->scores.roles.l)) return BAD_INDEX;
    if (a->usable.n > 0 && a->usable.m != automaton->edge.n) return BAD_INDEX;
    int64_t rows = a->usable.n, arcs = automaton->edge.n, some = arcs;
    for (int64_t i = 0; i < rows * arcs; i++) some += a->usable.at[i] != 0;
    memory shared = {0};
    int64_t *arc_ptr = TAKE_ZEROS(&shared, int64_t, rows + 2), *arc = TAKE(&shared, int64_t, some);
    if (shared.failed) return give_back(&shared, NO_MEMORY);
    for (int64_t row = 0; row <= rows; row++) {
        arc_ptr[row + 1] = arc_ptr[row];
        for (int64_t i = 0; i < arcs; i++)
            if (row == rows || AT2(a->usable, row, i)) arc[arc_ptr[row + 1]++] = i;
    }
    for (int64_t i = 0; i < a->lanes.n; i++) {
        int64_t lane = a->lanes.at[i];
        if (!lane_fits(a, lane)) return give_back(&shared, BAD_INDEX);
        int64_t n = a->sentence.at[lane], length = a->offsets.at[n + 1] - a->offsets.at[n];
        walk s = {.a = a, .start = a->offsets.at[n], .end = a->offsets.at[n + 1], .kind = a->kind.at[lane], .width = 1};
        s.arc_ptr = arc_ptr;
        s.arc = arc;
        s.edges = automaton->number.n;
        s.entries = automaton->accept.n;
        s.states = automaton->first.n;
        s.linear = a->edges.n == 0;
        s.none = s.linear ? 0.0 : -INFINITY;
        memory own = {0};
        s.row = TAKE(&own, int64_t, length);
        if (own.failed) return give_back(&own, give_back(&shared, NO_MEMORY));
        for (int64_t token = 0; token < length; token++) s.row[token] = -1;
        for (int64_t j = a->placed_ptr.at[lane]; j < a->placed_ptr.at[lane + 1]; j++) {
            const int64_t *begin = a->guards.begin.at + a->guard.at[j];
            for (int64_t row = begin[0]; row < begin[1]; row++) {
                s.row[a->low.at[j] + row - begin[0]] = row;
                s.width = most(s.width, states_at(&a->guards, row));
            }
        }
        int64_t layer = (length + 1) * s.entries * s.width, all = s.states * s.width;
        double *beta = TAKE(&own, double, layer), *alpha = TAKE(&own, double, s.linear ? layer : 0);
        int64_t *best = s.linear ? NULL : TAKE(&own, int64_t, length *all);
        s.nothing = TAKE_ZEROS(&own, int64_t, s.edges);
        s.base = TAKE(&own, double, s.edges);
        s.p = TAKE(&own, double, length * a->scores.roles.m);
        s.w = TAKE(&own, double, length *s.edges);
        s.factor = TAKE(&own, double, length);
        s.at = TAKE(&own, double, 2 * all);
        if (own.failed) return give_back(&own, give_back(&shared, NO_MEMORY));
        double total = fill(&s, beta, best);
        if (isnan(total) && s.linear) {
            s.linear = 0;
            s.none = -INFINITY;
            total = fill(&s, beta, NULL);
        }
        a->total.at[lane] += total;
        int room = 1;
        if (total > -INFINITY && best != NULL) room = follow(&s, best);
        else if (total > -INFINITY) answer(&s, lane, beta, alpha, s.at + all);
        give_back(&own, 0);
        if (!room) return give_back(&shared, BAD_INDEX);
    }
    return give_back(&shared, 0);
}
