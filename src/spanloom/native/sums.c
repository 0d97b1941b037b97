/* Sums that count each sub-hypergraph once, and their marginals, over the automaton of a template.

   Several (sentence, type) pairs run side by side as *lanes*, so that every arc is one vector operation: a group of
   sentences of falling length, times K types. At token t the first lanes are the sentences that reach it. With
   p[r] = exp(score of role r) and w[e] = product of p over the roles of hyperedge e, or the sum over a bundle of them,

       b[s] = sum over arcs s -> d with hyperedge e of w[e] b[d]        (inside, from the last token to the first)
       a[d] = sum over arcs s -> d with hyperedge e of a[s] w[e]        (outside, from the first to the last)
       m[e] = w[e] * sum over its arcs of a[s] b[d] / (sum over entries of a b)

   in the linear domain, with one scale factor a token and lane: five times faster than logarithms. Inside scores of all
   states are kept, so that the way back need not compute them again. A number could only vanish below the smallest
   float after it was seen to be tiny, or by one step of enormous scores. Lanes where either happens are not *safe*; the
   caller computes them again in the log domain (`log_sums`). So the result is exact for any scores. */
#include "hypergraph.h"

#define NORMAL 2.3e-308 /* the smallest float64 of all its digits, about */
#define LOG_2 0.6931471805599453
#define PIECE 64          /* hyperedges whose gates stay in a cache */
#define CHUNK (2 * WIDTH) /* lanes of a row are a multiple of it, so that loops over arcs have no rest */

/* Loops over lanes process whole vectors, mostly in chunks. What is computed behind the last token of a sentence, or in
   lanes of no sentence, is finite where the lane is safe; it is not used, and adds 0 to sums over tokens. */
static int64_t whole(int64_t lanes) { return (lanes + CHUNK - 1) / CHUNK * CHUNK; }

/* The numbers of a row from a lane on, and whole numbers. */
typedef float singles __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));
typedef uint64_t bits __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
#define OF(row, lane) (*(vector *)((row) + (lane)))
#define MASK_OF(row, lane) (*(mask *)((row) + (lane)))

/* Arcs of one state, or a tile: those of several states that lead to the same ones, whose weights are those of all
   tokens and lanes. They are in registers while what they share is read once. */
#define TILE 4
typedef struct {
    const int64_t *arcs;   /* of a tile those of each state in turn */
    int64_t count;         /* of a state */
    const double *weights; /* (count, TILE) of a tile; NULL for one state */
} run;

/* A group of sentences side by side. */
typedef struct {
    const sums_arguments *a;
    const int64_t *starts, *ends; /* rows of each sentence, longest first */
    int64_t count, types, lanes,  /* sentences; lanes in use are sentences times types, and `lanes` whole chunks */
        wide;                     /* a row of `base` and `w` */
    int64_t *length;              /* (lanes,) tokens */
    double *p;                    /* (T + 1, R, lanes) weights of roles, 1 behind the last token */
    double *b;                    /* (T, S, lanes) inside scores of states, scaled where they are exits */
    double *base;                 /* (E + bundles, wide) weights of hyperedges without their roles */
    double *w;                    /* (E + bundles, wide) weights of hyperedges */
    int64_t *safe;                /* (lanes,) all bits set, or none */
    uint8_t *gate;                /* (PIECE, lanes) scratch: which hyperedges are allowed */
    run *backward, *forward;      /* (A + 1,) arcs in the order of their sources, and of their targets */
    int held; /* whether weights of hyperedges without roles are those of a token where something is forbidden */
} group;

/* How many of the group's first sentences have this token. */
static int64_t reach_of(const group *g, int64_t count, int64_t token) {
    while (count > 0 && g->starts[count - 1] + token >= g->ends[count - 1]) count--;
    return count;
}

/* Compute exp(score of each role) at the tokens of a group. */
static void weigh_roles(group *g) {
    const Potentials *scores = &g->a->scores;
    int64_t roles = scores->roles.m, types = g->types, lanes = g->lanes, rows = (g->length[0] + 1) * roles;
    double *restrict p = g->p;
    memset(p, 0, (size_t)(rows * lanes) * sizeof *p);
    for (int64_t lane = 0; lane < g->count * types; lane++) {
        const float *restrict source = scores->roles.at + g->starts[lane / types] * roles * types + lane % types;
        for (int64_t i = 0; i < g->length[lane] * roles; i++) p[i * lanes + lane] = source[i * types];
    }
    for (int64_t lane = 0; lane < lanes; lane += WIDTH) {
        mask safe = MASK_OF(g->safe, lane);
        for (int64_t i = 0; i < rows; i++) {
            vector score = OF(p + i * lanes, lane);
            safe &= ((score >= -LARGEST) & (score <= LARGEST)) | (score == -INFINITY);
        }
        MASK_OF(g->safe, lane) = safe;
    }
    for (int64_t i = 0; i < rows * lanes; i++) p[i] = exponential(p[i]);
}

/* Forbid hyperedges at a token of the first sentences, and lift what was forbidden at the one before. Hyperedges are
   gone through in pieces, whose gates stay in a cache. */
static void forbid(group *g, int64_t token, int64_t count) {
    const Automaton *automaton = &g->a->automaton;
    const int16_t *number = automaton->number.at;
    const int64_t *role_ptr = automaton->hyperedges.role_ptr.at;
    int64_t types = g->types, lanes = count * types, edges = automaton->number.n;
    int forbidden = 0;
    for (int64_t j = 0; j < count; j++) forbidden |= gate_at(&g->a->scores, g->starts[j] + token, 0) != NULL;
    for (int64_t begin = 0; begin < (forbidden || g->held ? edges : 0); begin += PIECE) {
        int64_t stop = least(PIECE, edges - begin);
        for (int64_t i = 0; i < stop; i++) memset(g->gate + i * g->lanes, 1, (size_t)lanes);
        for (int64_t j = 0; j < count; j++) {
            const uint8_t *row = gate_at(&g->a->scores, g->starts[j] + token, 0);
            for (int64_t i = 0; row != NULL && i < stop; i++) {
                int64_t column = number[begin + i] > 0 ? number[begin + i] * types : 0;
                for (int64_t k = 0; k < types; k++) g->gate[i * g->lanes + j * types + k] = row[column + k];
            }
        }
        for (int64_t i = 0; i < stop; i++) {
            int64_t e = begin + i;
            if (number[e] < 0) continue;
            double *w = g->w + e * g->wide;
            const double *weights = role_ptr[e] == role_ptr[e + 1] ? g->base + e * g->wide : w;
            const uint8_t *gate = g->gate + i * g->lanes;
            for (int64_t lane = 0; lane < lanes; lane++) w[lane] = gate[lane] > 0 ? weights[lane] : 0.0;
        }
    }
    g->held = forbidden;
}

/* Compute the weights of hyperedges and bundles at a token of the first sentences. */
static void weigh(group *g, int64_t token, int64_t count) {
    const Automaton *automaton = &g->a->automaton;
    const Hyperedges *h = &automaton->hyperedges;
    int64_t roles = g->a->scores.roles.m, edges = h->constant.n, lanes = whole(count * g->types);
    for (int64_t v = 0; v < h->varying.n; v++) {
        int64_t e = h->varying.at[v];
        for (int64_t i = h->role_ptr.at[e]; i < h->role_ptr.at[e + 1]; i++) {
            const double *p = g->p + ((token + h->step.at[i]) * roles + h->role.at[i]) * g->lanes;
            const double *before = (i == h->role_ptr.at[e] ? g->base : g->w) + e * g->wide;
            for (int64_t lane = 0; lane < lanes; lane += WIDTH)
                OF(g->w + e * g->wide, lane) = OF(before, lane) * OF(p, lane);
        }
    }
    if (g->a->scores.gate.n > 0) forbid(g, token, count);
    for (int64_t i = 0; i + 1 < automaton->bundle_ptr.n; i++) {
        double *bundle = g->w + (edges + i) * g->wide;
        memset(bundle, 0, (size_t)lanes * sizeof *bundle);
        for (int64_t j = automaton->bundle_ptr.at[i]; j < automaton->bundle_ptr.at[i + 1]; j++) {
            const double *member = g->w + automaton->bundle_edge.at[j] * g->wide;
            for (int64_t lane = 0; lane < lanes; lane += WIDTH) OF(bundle, lane) += OF(member, lane);
        }
    }
}

/* Whether the arcs from `i` on are those of a tile, so many for each state. */
static int is_tile(const sums_arguments *a, const int64_t *here, const int64_t *there, i64_1 order, int64_t i,
                   int64_t count) {
    const int64_t *choice = a->automaton.edge.at, *role_ptr = a->automaton.hyperedges.role_ptr.at;
    if (a->scores.constants.m > 1 || a->scores.gate.n > 0 || i + TILE * count > order.n) return 0;
    for (int64_t j = 0; j < TILE * count; j++) {
        int64_t arc = order.at[i + j], row = i + j / count * count, e = choice[arc];
        if (here[arc] != here[order.at[row]] || there[arc] != there[order.at[i + j % count]]) return 0;
        if (e >= a->automaton.hyperedges.constant.n || role_ptr[e] < role_ptr[e + 1]) return 0;
        for (int64_t other = i; other < row; other += count)
            if (here[arc] == here[order.at[other]]) return 0;
    }
    return 1;
}

/* Group arcs in runs of equal `here`, and these in tiles; the last run is empty. */
static void find_runs(const sums_arguments *a, const int64_t *here, const int64_t *there, i64_1 order,
                      const double *base, int64_t wide, run *next, double *weights) {
    for (int64_t i = 0, stop; i < order.n; i = stop) {
        for (stop = i + 1; stop < order.n && here[order.at[stop]] == here[order.at[i]];) stop++;
        int64_t count = stop - i;
        int tiled = is_tile(a, here, there, order, i, count);
        if (tiled) stop = i + TILE * count;
        for (int64_t j = 0; tiled && j < TILE * count; j++)
            weights[i + j % count * TILE + j / count] = base[a->automaton.edge.at[order.at[i + j]] * wide];
        *next++ = (run){order.at + i, count, tiled ? weights + i : NULL};
    }
    *next = (run){NULL, 0, NULL};
}

/* Add to values[here] the sum over arcs of w * values[there], in the order of the runs. No arc leads from a state to
   itself, so that no state of a tile waits for another. */
static void gather_arcs(double *values, int64_t width, const int64_t *here, const int64_t *there, const run *runs,
                        const double *w, int64_t wide, const int64_t *choice, int64_t lanes) {
    for (; runs->count > 0; runs++) {
        const int64_t *arcs = runs->arcs;
        int64_t count = runs->count;
        for (int64_t lane = 0; lane < lanes; lane += CHUNK) {
            double *own = values + lane;
            if (runs->weights == NULL) {
                vector *at = (vector *)(own + here[arcs[0]] * width), low = at[0], high = at[1];
                for (int64_t j = 0; j < count; j++) {
                    const vector *v = (const vector *)(own + there[arcs[j]] * width);
                    const vector *weight = (const vector *)(w + choice[arcs[j]] * wide + lane);
                    low += weight[0] * v[0];
                    high += weight[1] * v[1];
                }
                at[0] = low;
                at[1] = high;
                continue;
            }
            vector low[TILE], high[TILE];
            for (int r = 0; r < TILE; r++) {
                const vector *at = (const vector *)(own + here[arcs[r * count]] * width);
                low[r] = at[0];
                high[r] = at[1];
            }
            for (int64_t j = 0; j < count; j++) {
                const vector *v = (const vector *)(own + there[arcs[j]] * width);
                for (int r = 0; r < TILE; r++) {
                    low[r] += runs->weights[j * TILE + r] * v[0];
                    high[r] += runs->weights[j * TILE + r] * v[1];
                }
            }
            for (int r = 0; r < TILE; r++) {
                vector *at = (vector *)(own + here[arcs[r * count]] * width);
                at[0] = low[r];
                at[1] = high[r];
            }
        }
    }
}

/* Scale rows to sum 1 in some lanes, at once, or to 0 where they end. A lane where one becomes tiny is not safe. */
static inline void scale_rows(const double *values, double *result, int64_t rows, int64_t lanes, int64_t lane,
                              const mask *used, const mask *checked, int64_t *safe, vector *sum) {
    vector total = {0};
    for (int64_t x = 0; x < rows; x++) total += OF(values + x * lanes, lane);
    *sum = total;
    for (int64_t x = 0; x < rows; x++) { /* 0 where everything is forbidden */
        vector share = KEEP(total > 0.0, OF(values + x * lanes, lane) / total);
        OF(result + x * lanes, lane) = KEEP(*used, share);
        MASK_OF(safe, lane) &= (share >= TINIEST) | (share == 0.0) | ~*checked;
    }
}

/* Compute the inside scores of states, and log_partition of lanes. The product of all scale factors is kept as numbers
   in [1, 2) times powers of 2, which have no largest; a factor of 0 is left to the caller. */
static void find_inside(group *g, double *log_partition, double *product, int64_t *exponent) {
    const Automaton *automaton = &g->a->automaton;
    int64_t exits = automaton->order.n, entries = automaton->accept.n, states = automaton->first.n, width = g->lanes;
    for (int64_t lane = 0; lane < width; lane++) {
        product[lane] = 1.0;
        exponent[lane] = 0;
    }
    for (int64_t token = g->length[0] - 1; token >= 0; token--) {
        int64_t count = reach_of(g, g->count, token), lanes = whole(count * g->types);
        double *own = g->b + token * states * width, *exit = own + exits * width;
        for (int64_t lane = 0; lane < lanes; lane += WIDTH) {
            mask inside = token + 1 < MASK_OF(g->length, lane);
            int some = token + 1 < g->length[lane]; /* the first is the longest */
            vector total = {0};
            for (int64_t x = 0; !some && x < entries; x++) OF(exit + x * width, lane) = (vector){0};
            if (some) scale_rows(own + states * width, exit, entries, width, lane, &inside, &inside, g->safe, &total);
            for (int64_t x = 0; x < entries; x++)
                if (automaton->accept.at[x]) OF(exit + x * width, lane) += KEEP(~inside, 1.0 + (vector){0});
            if (!some) continue;
            MASK_OF(g->safe, lane) &= ((total >= NORMAL) & (total < INFINITY)) | (total == 0.0) | ~inside;
            vector grown = OF(product, lane) * (KEEP(inside, total) + KEEP(~inside, 1.0 + (vector){0}));
            MASK_OF(exponent, lane) += (mask)((bits)grown >> 52) - 1023;
            MASK_OF(product, lane) = ((mask)grown & 0xFFFFFFFFFFFFFll) | 0x3FF0000000000000ll;
        }
        memset(own, 0, (size_t)(exits * width) * sizeof *own);
        weigh(g, token, count);
        gather_arcs(own, width, automaton->source.at, automaton->target.at, g->backward, g->w, g->wide,
                    automaton->edge.at, lanes);
    }
    for (int64_t lane = 0; lane < width; lane++) {
        double first = g->length[lane] > 0 ? g->b[automaton->root * width + lane] : 1.0;
        log_partition[lane] = logarithm(first) + logarithm(product[lane]) + (double)exponent[lane] * LOG_2;
    }
}

/* Compute the weights of hyperedges without their roles, and which lanes they leave safe. A lane's type is that of its
   number modulo K, so the first lanes of many are those of few. */
static void weigh_lanes(const sums_arguments *a, double *base, int64_t *safe, int64_t lanes) {
    const int64_t *constant = a->automaton.hyperedges.constant.at;
    int64_t types = a->scores.constants.m, edges = a->automaton.hyperedges.constant.n;
    memset(safe, -1, (size_t)lanes * sizeof *safe);
    for (int64_t i = 0; i < (edges + a->automaton.bundle_ptr.n - 1) * lanes; i++) base[i] = 1.0;
    for (int64_t e = 0; e < edges; e++)
        for (int64_t k = 0; constant[e] >= 0 && k < types; k++) {
            double score = AT2(a->scores.constants, constant[e], k), weight = exponential(score);
            for (int64_t lane = k; lane < lanes; lane += types) {
                base[e * lanes + lane] = weight;
                safe[lane] &= -is_safe(score); /* NaN is not, either */
            }
        }
}

/* The scratch of the way back. */
typedef struct {
    double *a, *entry; /* (S, lanes) outside scores, (X, lanes) */
    double *count;     /* (E + bundles, lanes) of a token, and behind them (E, lanes) of all, see `count_edges` */
    int64_t *row;      /* (E + bundles,) of a hyperedge in `count`, -1 where it need not be counted */
    float *present, *following; /* (R, lanes) counts of roles at a token and the next; rows lie apart in `expected` */
    uint8_t *occurs;            /* (R,) */
} way_back;

/* Set the outside scores of a token's entries, so that with their inside scores they sum to 1, and others to 0. */
static void begin_token(const group *g, const way_back *o, const double *b, int64_t lanes) {
    int64_t entries = g->a->automaton.accept.n, states = g->a->automaton.first.n, width = g->lanes;
    for (int64_t lane = 0; lane < lanes; lane += WIDTH) {
        vector norm = {0};
        for (int64_t x = 0; x < entries; x++) norm += OF(o->entry + x * width, lane) * OF(b + x * width, lane);
        norm = KEEP(norm > 0.0, 1.0 / norm);
        for (int64_t x = 0; x < entries; x++) OF(o->a + x * width, lane) = OF(o->entry + x * width, lane) * norm;
    }
    memset(o->a + entries * width, 0, (size_t)((states - entries) * width) * sizeof *o->a);
}

/* Add a row to another, times a third and a fourth where there are any. */
static inline void add_row(double *sums, const double *x, const double *y, const double *z, int64_t lanes) {
    for (int64_t lane = 0; lane < lanes; lane += WIDTH) {
        vector value = OF(x, lane);
        if (y != NULL) value *= OF(y, lane);
        if (z != NULL) value *= OF(z, lane);
        OF(sums, lane) += value;
    }
}

/* Count the hyperedges and bundles of a token's arcs. The counts of those that vary are of this token, but for their
   weights. Counts of others are added to those of all tokens, with their weights where a mask changes these. */
static void count_edges(const group *g, const way_back *o, const double *b, int64_t lanes) {
    const Automaton *automaton = &g->a->automaton;
    int64_t edges = automaton->hyperedges.constant.n, all = edges + automaton->bundle_ptr.n - 1, width = g->lanes;
    int masked = g->a->scores.gate.n > 0;
    for (int64_t e = 0; e < all; e++)
        if (o->row[e] == e) memset(o->count + e * width, 0, (size_t)lanes * sizeof *o->count);
    for (int64_t i = 0; i < automaton->source.n; i++) {
        int64_t e = automaton->edge.at[i], row = o->row[e];
        const double *from = o->a + automaton->source.at[i] * width, *to = b + automaton->target.at[i] * width;
        if (row < 0) continue;
        if (row < all || !masked) add_row(o->count + row * width, from, to, NULL, lanes);
        else add_row(o->count + row * width, from, g->w + e * g->wide, to, lanes);
    }
    for (int64_t i = 0; i + 1 < automaton->bundle_ptr.n; i++) {
        const double *bundle = o->count + (edges + i) * width;
        for (int64_t j = automaton->bundle_ptr.at[i]; j < automaton->bundle_ptr.at[i + 1]; j++) {
            int64_t e = automaton->bundle_edge.at[j], row = o->row[e];
            if (row < 0) continue;
            add_row(o->count + row * width, bundle, row >= all && masked ? g->w + e * g->wide : NULL, NULL, lanes);
        }
    }
}

/* Count the roles of a token's hyperedges, at this token and the next. */
static void count_roles_of(const group *g, const way_back *o, int64_t lanes) {
    const Hyperedges *h = &g->a->automaton.hyperedges;
    int64_t all = h->constant.n + g->a->automaton.bundle_ptr.n - 1, width = g->lanes;
    for (int64_t v = 0; v < h->varying.n; v++) {
        int64_t e = h->varying.at[v];
        double *count = o->count + e * width;
        for (int64_t lane = 0; lane < lanes; lane += WIDTH) OF(count, lane) *= OF(g->w + e * g->wide, lane);
        if (h->constant.at[e] >= 0) add_row(o->count + (all + e) * width, count, NULL, NULL, lanes);
        for (int64_t i = h->role_ptr.at[e]; i < h->role_ptr.at[e + 1]; i++) {
            float *row = (h->step.at[i] ? o->following : o->present) + h->role.at[i] * width;
            for (int64_t lane = 0; lane < lanes; lane += WIDTH) {
                singles *sum = (singles *)(row + lane);
                *sum = __builtin_convertvector(__builtin_convertvector(*sum, vector) + OF(count, lane), singles);
            }
        }
    }
}

/* Compute expected counts of a group: of roles, and of hyperedges in each lane. */
static void find_outside(group *g, way_back *o) {
    const Automaton *automaton = &g->a->automaton;
    f32_3 expected = g->a->expected;
    int64_t roles = expected.m, types = g->types, states = automaton->first.n, exits = automaton->order.n;
    int64_t width = g->lanes;
    const uint8_t *restrict occurs = o->occurs;
    for (int64_t token = 0; token < g->length[0]; token++) {
        int64_t count = reach_of(g, g->count, token), lanes = whole(count * types);
        const double *b = g->b + token * states * width;
        weigh(g, token, count);
        begin_token(g, o, b, lanes);
        gather_arcs(o->a, width, automaton->target.at, automaton->source.at, g->forward, g->w, g->wide,
                    automaton->edge.at, lanes);
        count_edges(g, o, b, lanes);
        for (int64_t lane = 0; lane < lanes; lane += WIDTH) {
            mask inside = token + 1 < MASK_OF(g->length, lane), checked = token < MASK_OF(g->length, lane);
            vector total;
            scale_rows(o->a + exits * width, o->entry, automaton->accept.n, width, lane, &inside, &checked, g->safe,
                       &total);
        }
        count_roles_of(g, o, lanes);
        for (int64_t j = 0; j < count; j++) {
            float *restrict into = &AT3(expected, g->starts[j] + token, 0, 0);
            const float *restrict present = o->present + j * types;
            for (int64_t r = 0; r < roles; r++)
                for (int64_t k = 0; occurs[r] && k < types; k++) into[r * types + k] = present[r * width + k];
        }
        float *spent = o->present;
        o->present = o->following;
        o->following = spent;
        memset(spent, 0, (size_t)(roles * width) * sizeof *spent);
    }
}

/* Whether groups are ranges of sentences, longest first, and there is room for each. */
static int groups_fit(const sums_arguments *a, int64_t *widest) {
    i64_1 ptr = a->group_ptr, offsets = a->offsets;
    int64_t types = a->scores.roles.l, each = a->scores.roles.m + a->automaton.first.n;
    *widest = 0;
    if (!are_sentences(a->sentences, offsets)) return 0;
    for (int64_t g = 0; g + 1 < ptr.n; g++) {
        if (ptr.at[g] < 0 || ptr.at[g] >= ptr.at[g + 1] || ptr.at[g + 1] > a->sentences.n) return 0;
        int64_t longest = -1, previous = 0, count = ptr.at[g + 1] - ptr.at[g];
        for (int64_t i = ptr.at[g]; i < ptr.at[g + 1]; i++) {
            int64_t n = a->sentences.at[i], length = offsets.at[n + 1] - offsets.at[n];
            if (longest < 0) longest = previous = length;
            if (length > previous) return 0;
            previous = length;
        }
        if ((longest + 1) * each > a->room.n / whole(count * types)) return 0;
        *widest = most(*widest, whole(count * types));
    }
    return 1;
}

int64_t spanloom_sums(const sums_arguments *a) {
    const Automaton *automaton = &a->automaton;
    const Hyperedges *h = &automaton->hyperedges;
    int64_t roles = a->scores.roles.m, types = a->scores.roles.l, edges = h->constant.n, states = automaton->first.n;
    int64_t all = edges + automaton->bundle_ptr.n - 1, wide, entries = automaton->accept.n, counted = a->expected.n > 0;
    if (!automaton_fits(automaton, &a->scores, a->offsets) || !is_simple(automaton) || !groups_fit(a, &wide))
        return BAD_INDEX;
    if (counted && (a->expected.n != a->scores.roles.n || a->expected.m != roles)) return BAD_INDEX;
    if (!lie_below(a->backward, automaton->source.n) || !lie_below(a->forward, automaton->source.n)) return BAD_INDEX;
    for (int64_t i = 0; i < automaton->source.n; i++)
        if (automaton->source.at[i] == automaton->target.at[i]) return BAD_INDEX;
    memory own = {0};
    group g = {.a = a, .types = types, .wide = wide};
    double *log_z = TAKE(&own, double, wide), *product = TAKE(&own, double, wide);
    int64_t *exponent = TAKE(&own, int64_t, wide), *rows = TAKE(&own, int64_t, 2 * wide);
    int64_t *fitting = TAKE(&own, int64_t, wide), back = counted ? wide : 0;
    g.length = TAKE(&own, int64_t, wide);
    g.base = TAKE(&own, double, all *wide);
    g.w = TAKE(&own, double, all *wide);
    g.safe = TAKE(&own, int64_t, wide);
    g.backward = TAKE(&own, run, a->backward.n + 1);
    g.forward = TAKE(&own, run, a->forward.n + 1);
    double *weights = TAKE(&own, double, a->backward.n + a->forward.n);
    g.gate = TAKE(&own, uint8_t, PIECE *wide);
    way_back o = {
        TAKE(&own, double, states *back),
        TAKE(&own, double, entries *back),
        TAKE(&own, double, (all + edges) * back),
        TAKE(&own, int64_t, all),
        NULL,
        NULL,
        TAKE_ZEROS(&own, uint8_t, roles),
    };
    float *both = TAKE(&own, float, 2 * roles * back);
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t e = 0; e < all; e++) o.row[e] = e >= edges ? e : h->constant.at[e] >= 0 ? all + e : -1;
    for (int64_t v = 0; v < h->varying.n; v++) o.row[h->varying.at[v]] = h->varying.at[v];
    for (int64_t i = 0; i < h->role.n; i++) o.occurs[h->role.at[i]] = 1;
    weigh_lanes(a, g.base, fitting, wide);
    find_runs(a, automaton->source.at, automaton->target.at, a->backward, g.base, wide, g.backward, weights);
    find_runs(a, automaton->target.at, automaton->source.at, a->forward, g.base, wide, g.forward,
              weights + a->backward.n);
    for (int64_t number = 0; number + 1 < a->group_ptr.n; number++) {
        const int64_t *members = a->sentences.at + a->group_ptr.at[number];
        g.count = a->group_ptr.at[number + 1] - a->group_ptr.at[number];
        g.lanes = whole(g.count * types);
        for (int64_t j = 0; j < g.count; j++) {
            rows[j] = a->offsets.at[members[j]];
            rows[g.count + j] = a->offsets.at[members[j] + 1];
        }
        for (int64_t lane = 0; lane < g.lanes; lane++) {
            int64_t j = lane / types;
            g.length[lane] = j < g.count ? rows[g.count + j] - rows[j] : 0;
        }
        g.starts = rows;
        g.ends = rows + g.count;
        g.p = a->room.at;
        g.b = a->room.at + (g.length[0] + 1) * roles * g.lanes;
        memcpy(g.safe, fitting, (size_t)g.lanes * sizeof *g.safe);
        weigh_roles(&g);
        g.held = 0;
        memcpy(g.w, g.base, (size_t)(all * wide) * sizeof(double)); /* the last group may have left any numbers */
        find_inside(&g, log_z, product, exponent);
        if (counted) {
            memset(o.count + all * g.lanes, 0, (size_t)(edges * g.lanes) * sizeof(double));
            memset(o.entry, 0, (size_t)(entries * g.lanes) * sizeof(double));
            for (int64_t lane = 0; lane < g.lanes; lane++) o.entry[automaton->root * g.lanes + lane] = 1.0;
            memset(both, 0, (size_t)(2 * roles * g.lanes) * sizeof(float));
            o.present = both;
            o.following = both + roles * g.lanes;
            find_outside(&g, &o);
        }
        for (int64_t lane = 0; lane < g.count * types; lane++) {
            int64_t n = members[lane / types], k = lane % types, safe = g.safe[lane] && log_z[lane] < INFINITY;
            AT2(a->log_partition, n, k) = log_z[lane];
            AT2(a->safely, n, k) = (uint8_t)safe;
            for (int64_t row = a->offsets.at[n]; !safe && counted && row < a->offsets.at[n + 1]; row++)
                for (int64_t r = 0; r < roles; r++) AT3(a->expected, row, r, k) = 0.0f;
            for (int64_t e = 0; safe && counted && e < edges; e++) {
                if (h->constant.at[e] < 0) continue;
                /* hyperedges without roles are weighed now, unless there is a mask */
                int steady = o.row[e] >= all && a->scores.gate.n == 0;
                AT3(a->totals, n, h->constant.at[e], k) +=
                    o.count[(all + e) * g.lanes + lane] * (steady ? g.base[e * wide + lane] : 1.0);
            }
        }
    }
    return give_back(&own, 0);
}
