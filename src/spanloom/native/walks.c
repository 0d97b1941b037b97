/* Path probabilities, in either way of counting, and samples.

   At a token each *state* picks one of its *choices*, each of which leads on to states: to later ones of this token, or
   to *exits*, the *entries* of the next. For sub-hypergraphs these are the arcs of the automaton, for derivations the
   hyperedges of the template. With b the inside scores, and w the scores of hyperedges,

       p[c] = exp(w[c] + sum over its targets d of b[d] - b[source of c])

   is the probability of a choice at its state: a number between 0 and 1 at every token, whatever the scores. So flows
   along choices need neither logarithms nor scale factors, and what becomes too small for a float64 is nothing to 300
   digits. Where each choice leads to one state, p[c] does not change if the inside scores of a token are all multiplied
   by one number. So they are computed in the linear domain then, with sums of 1, and without logarithms; a sentence
   whose scores are so large that a number could vanish is computed again in the log domain.

   A path is a few *runs*, each of one row of allowed hyperedges for some tokens. A step multiplies a flow, one number
   for each entry, by a matrix that depends on token and row alone. Where more runs of one row lie side by side than
   there are entries, as where a thousand mentions cover one another, the products of 16 matrices, of 32, of 64 and so
   on are made once, and a run takes the largest that lie within it: paths of total length n^2 are walked in n log n
   steps. */
#include "lanes.h"

#define HELD                                                                                                           \
    (1 << 20) /* probabilities of choices that are kept; those of other tokens are computed when they are needed */
#define SHORTEST 16    /* tokens of the shortest product */
#define ROOM (1 << 26) /* bytes that lanes side by side may take */

/* A sentence and a type, with the cached probabilities of its tokens. */
typedef struct {
    const Potentials *scores;
    const Automaton *automaton;
    int64_t start, end, kind; /* rows, and the type */
    int simple, linear;       /* whether each choice leads to one state; whether inside scores are shares of a sum */
    double *ahead;            /* (T + 1, X) inside scores of entries */
    double *b;                /* (S,) scratch, inside scores of a token's states */
    double *own;              /* (E,) scratch, scores of hyperedges, or weights */
    double *base;             /* (E,) in the linear domain, weights of hyperedges without their roles */
    double *p;                /* (T, R) in the linear domain, weights of roles */
    double *chance;           /* (slots, C) the probability of each choice at its state, for some tokens */
    int64_t *held;            /* (slots,) the token of each slot */
    int64_t slots;
    const lanes *group; /* pairs side by side, whose lane has the probabilities, or NULL */
    int64_t lane;
} walk;

static inline double nothing(int linear) { return linear ? 0.0 : -INFINITY; }

static int fill_linear(const walk *s, int64_t begin, int64_t stop) {
    const Automaton *a = s->automaton;
    int64_t exits = a->order.n, entries = a->accept.n, choices = a->edge.n;
    int safe = 1;
    for (int64_t token = stop - 1; token >= begin; token--) {
        double *chance = s->chance + token % s->slots * choices;
        s->held[token % s->slots] = token;
        weigh_all(s->own, s->scores, s->start, s->end, s->kind, token, a, s->base, s->p);
        memcpy(s->b + exits, s->ahead + (token + 1) * entries, (size_t)entries * sizeof *s->b);
        for (int64_t j = exits - 1; j >= 0; j--) {
            int64_t state = a->order.at[j], first = a->first.at[state], last = a->stop.at[state];
            double total = 0.0;
            for (int64_t c = first; c < last; c++) {
                chance[c] = s->own[a->edge.at[c]] * s->b[a->target.at[c]];
                total += chance[c];
            }
            s->b[state] = total;
            double factor = total > 0.0 ? 1.0 / total : 0.0;
            for (int64_t c = first; c < last; c++) chance[c] *= factor;
        }
        double total = 0.0;
        for (int64_t x = 0; x < entries; x++) total += s->b[x];
        for (int64_t x = 0; x < entries; x++) {
            double share = total > 0.0 ? s->b[x] / total : 0.0;
            s->ahead[token * entries + x] = share;
            safe &= share >= TINIEST || share == 0.0;
        }
    }
    return safe;
}

static void fill_log(const walk *s, int64_t begin, int64_t stop) {
    const Automaton *a = s->automaton;
    int64_t exits = a->order.n, entries = a->accept.n, choices = a->edge.n, states = a->first.n;
    for (int64_t token = stop - 1; token >= begin; token--) {
        double *chance = s->chance + token % s->slots * choices;
        s->held[token % s->slots] = token;
        score_all(s->own, s->scores, s->start + token, s->end, s->kind, a);
        for (int64_t state = 0; state < states; state++) s->b[state] = -INFINITY;
        memcpy(s->b + exits, s->ahead + (token + 1) * entries, (size_t)entries * sizeof *s->b);
        for (int64_t j = exits - 1; j >= 0; j--) {
            int64_t state = a->order.at[j], first = a->first.at[state], last = a->stop.at[state];
            double top = -INFINITY, total = 0.0;
            for (int64_t c = first; c < last; c++) {
                double value = s->own[a->edge.at[c]];
                for (int64_t i = a->target_ptr.at[c]; i < a->target_ptr.at[c + 1]; i++) value += s->b[a->target.at[i]];
                chance[c] = value;
                top = value > top ? value : top;
            }
            for (int64_t c = first; c < last; c++) {
                double value = chance[c];
                chance[c] = value > -INFINITY ? (value < top ? exponential(value - top) : 1.0) : 0.0;
                total += chance[c];
            }
            if (total == 1.0) { /* as where there is one choice */
                s->b[state] = top;
            } else if (top > -INFINITY) {
                s->b[state] = top + logarithm(total);
                for (int64_t c = first; c < last; c++) chance[c] /= total;
            }
        }
        memcpy(s->ahead + token * entries, s->b, (size_t)entries * sizeof *s->b);
    }
}

/* Compute the probabilities of choices and the inside scores of entries, from the last token to the first. Returns
   whether they hold: in the linear domain a number may have vanished. */
static int fill(const walk *s, int64_t begin, int64_t stop) {
    if (s->linear) return fill_linear(s, begin, stop);
    fill_log(s, begin, stop);
    return 1;
}

/* A token's probabilities; they are computed, if they are not held. */
static const double *chances_at(const walk *s, int64_t token) {
    const Automaton *a = s->automaton;
    double *chance = s->chance + token % s->slots * a->edge.n;
    if (s->held[token % s->slots] == token) return chance;
    if (s->group == NULL) {
        fill(s, token, token + 1);
        return chance;
    }
    s->held[token % s->slots] = token;
    for (int64_t state = 0; state < a->order.n; state++)
        for (int64_t c = a->first.at[state]; c < a->stop.at[state]; c++)
            chance[c] = chance_of(s->group, s->lane, token, state, c);
    return chance;
}

/* Lead a flow through one token by usable choices (all of them, if NULL), each with probability p or, if NULL, 1;
   return the part that reaches its last state there. `at`: (S,) scratch, the flow into each state. */
static double step_flow(const walk *s, double *flow, double *at, const double *p, const uint8_t *usable) {
    const Automaton *a = s->automaton;
    int64_t exits = a->order.n, entries = a->accept.n;
    double arrived = 0.0;
    memset(at, 0, (size_t)a->first.n * sizeof *at);
    memcpy(at, flow, (size_t)entries * sizeof *at);
    for (int64_t j = 0; j < exits; j++) {
        int64_t state = a->order.at[j];
        double whole = at[state];
        if (whole < LEAST) continue;
        for (int64_t c = a->first.at[state]; c < a->stop.at[state]; c++) {
            if (usable != NULL && !usable[c]) continue;
            double part = p != NULL ? whole * p[c] : whole;
            int arrives = 1;
            for (int64_t i = a->target_ptr.at[c]; i < a->target_ptr.at[c + 1]; i++) {
                at[a->target.at[i]] += part;
                arrives &= a->target.at[i] >= exits;
            }
            if (arrives) arrived += part;
        }
    }
    memcpy(flow, at + exits, (size_t)entries * sizeof *flow);
    return arrived;
}

/* Compute the flow into each entry up to a token: its probability or, `late`, the expected visits. */
static void find_visits(const walk *s, double *visits, double *flow, double *at, int late, int64_t last) {
    const Automaton *a = s->automaton;
    int64_t exits = a->order.n, entries = a->accept.n;
    for (int64_t x = 0; x < entries; x++) flow[x] = x == a->root ? 1.0 : 0.0;
    for (int64_t token = 0; token <= last; token++) {
        const double *chance = chances_at(s, token);
        memcpy(visits + token * entries, flow, (size_t)entries * sizeof *flow);
        if (!s->simple || late) {
            step_flow(s, flow, at, chance, NULL);
            if (late) memcpy(visits + token * entries, at, (size_t)entries * sizeof *at);
            continue;
        }
        memset(at, 0, (size_t)a->first.n * sizeof *at); /* the same, in half of the time */
        memcpy(at, flow, (size_t)entries * sizeof *at);
        for (int64_t j = 0; j < exits; j++) {
            int64_t state = a->order.at[j];
            double whole = at[state];
            if (whole < LEAST) continue;
            for (int64_t c = a->first.at[state]; c < a->stop.at[state]; c++) at[a->target.at[c]] += whole * chance[c];
        }
        memcpy(flow, at + exits, (size_t)entries * sizeof *flow);
    }
}

/* The products of a row of hyperedges: of `width` tokens in turn from token `low` on, of twice as many, and so on. */
typedef struct {
    int64_t size, width, count, low,
        base;        /* entries of a matrix; products of the shortest width; offset of the first */
    int64_t *member; /* the entries */
} products;

/* The entries that a run of a row can stay in for ever: others hold no flow after as many tokens as there are entries.
 */
static int64_t find_lasting(const walk *s, const uint8_t *usable, int64_t *member, double *flow, double *at,
                            uint8_t *marks) {
    int64_t entries = s->automaton->accept.n, count = 0;
    uint8_t *lasting = marks, *reached = marks + entries, *leads = marks + 2 * entries;
    memset(lasting, 1, (size_t)entries);
    for (int changed = 1; changed;) {
        memset(reached, 0, 2 * (size_t)entries);
        for (int64_t x = 0; x < entries; x++) {
            if (!lasting[x]) continue;
            for (int64_t y = 0; y < entries; y++) flow[y] = x == y ? 1.0 : 0.0;
            step_flow(s, flow, at, NULL, usable);
            for (int64_t y = 0; y < entries; y++)
                if (flow[y] > 0.0 && lasting[y]) reached[y] = leads[x] = 1;
        }
        changed = 0;
        for (int64_t x = 0; x < entries; x++)
            if (lasting[x] && !(reached[x] && leads[x])) {
                lasting[x] = 0;
                changed = 1;
            }
    }
    for (int64_t x = 0; x < entries; x++)
        if (lasting[x]) member[count++] = x;
    return count;
}

/* Choose the rows to precompute products for; return the total size of the products. */
static int64_t plan(const walk *s, products *rows, const path_probability_arguments *a, const int64_t *queries,
                    int64_t count, int64_t *total, int64_t *high, double *flow, double *at, uint8_t *marks) {
    int64_t entries = s->automaton->accept.n, length = 0, kinds = a->paths.allowed.n;
    for (int64_t row = 0; row < kinds; row++) {
        rows[row].low = (int64_t)1 << 62;
        rows[row].count = total[row] = high[row] = 0;
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t token = a->paths.first.at[queries[i]];
        for (int64_t run = a->paths.run_ptr.at[queries[i]]; run < a->paths.run_ptr.at[queries[i] + 1]; run++) {
            int64_t row = a->paths.row.at[run], size = a->paths.size.at[run];
            if (size > SHORTEST) {
                total[row] += size;
                rows[row].low = least(rows[row].low, token + 1);
                high[row] = most(high[row], token + size - 1);
            }
            token += size;
        }
    }
    for (int64_t row = 0; row < kinds; row++) {
        products *own = rows + row;
        if (total[row] == 0 || total[row] <= entries * (high[row] - own->low)) continue;
        own->size = find_lasting(s, &AT2(a->paths.allowed, row, 0), own->member, flow, at, marks);
        if (own->size == 0) continue;
        own->width = most(SHORTEST, own->size);
        own->count = (high[row] - own->low) / own->width;
        own->base = length;
        for (int64_t some = own->count; some > 0; some /= 2) length += some * own->size * own->size;
    }
    return length;
}

/* Compute a row's products. `flows`: (size, X) scratch. */
static void multiply(const walk *s, const products *own, const uint8_t *usable, double *result, double *flows,
                     double *at) {
    int64_t size = own->size, count = own->count, entries = s->automaton->accept.n, area = size * size;
    double *base = result + own->base;
    for (int64_t block = 0; block < count; block++) {
        memset(flows, 0, (size_t)(size * entries) * sizeof *flows);
        for (int64_t i = 0; i < size; i++) flows[i * entries + own->member[i]] = 1.0;
        for (int64_t token = own->low + block * own->width; token < own->low + (block + 1) * own->width; token++) {
            const double *chance = chances_at(s, token);
            for (int64_t i = 0; i < size; i++) step_flow(s, flows + i * entries, at, chance, usable);
        }
        for (int64_t i = 0; i < size; i++)
            for (int64_t j = 0; j < size; j++) base[block * area + i * size + j] = flows[i * entries + own->member[j]];
    }
    while (count > 1) {
        double *below = base;
        base += count * area;
        count /= 2;
        for (int64_t block = 0; block < count; block++) {
            const double *one = below + 2 * block * area, *two = one + area;
            double *product = base + block * area;
            memset(product, 0, (size_t)area * sizeof *product);
            for (int64_t i = 0; i < size; i++)
                for (int64_t m = 0; m < size; m++)
                    for (int64_t j = 0; one[i * size + m] >= LEAST && j < size; j++)
                        product[i * size + j] += one[i * size + m] * two[m * size + j];
        }
    }
}

/* Lead a flow through the largest products that fit, one after the other; return the token reached. */
static int64_t leap(const products *own, const double *all, double *flow, int64_t entries, double *one, double *two,
                    int64_t token, int64_t stop) {
    int64_t shortest = own->width, low = own->low, size = own->size;
    if (token < low || (token - low) % shortest || token + shortest > stop) return token;
    for (int64_t i = 0; i < size; i++) one[i] = flow[own->member[i]];
    while (token + shortest <= stop && (token - low) / shortest < own->count) {
        int64_t base = own->base, width = shortest, count = own->count, block = (token - low) / shortest;
        while (block % 2 == 0 && block / 2 < count / 2 && token + 2 * width <= stop) {
            base += count * size * size;
            width *= 2;
            count /= 2;
            block /= 2;
        }
        base += block * size * size;
        memset(two, 0, (size_t)size * sizeof *two);
        for (int64_t i = 0; i < size; i++)
            for (int64_t j = 0; one[i] >= LEAST && j < size; j++) two[j] += one[i] * all[base + i * size + j];
        memcpy(one, two, (size_t)size * sizeof *one);
        token += width;
    }
    memset(flow, 0, (size_t)entries * sizeof *flow);
    for (int64_t i = 0; i < size; i++) flow[own->member[i]] = one[i];
    return token;
}

/* Whether paths lie within their sentences, have rows that are there, and come sorted by sentence, type and token. */
static int paths_fit(const path_probability_arguments *a) {
    const Paths *paths = &a->paths;
    int64_t queries = paths->sentence.n, rows = paths->allowed.n;
    if (paths->allowed.m != a->automaton.edge.n || rows < 1 || a->starts.m != a->automaton.accept.n) return 0;
    if (a->starts.n != rows || !are_sentences(paths->sentence, a->offsets)) return 0;
    for (int64_t i = 0; i < paths->row.n; i++)
        if (paths->row.at[i] < 0 || paths->row.at[i] >= a->starts.n || paths->size.at[i] < 1) return 0;
    for (int64_t i = 0; i < a->order.n; i++) {
        int64_t q = a->order.at[i];
        if (q < 0 || q >= queries || paths->kind.at[q] < 0 || paths->kind.at[q] >= a->scores.roles.l) return 0;
        int64_t begin = paths->run_ptr.at[q], stop = paths->run_ptr.at[q + 1], n = paths->sentence.at[q];
        if (begin < 0 || begin >= stop || stop > paths->row.n || paths->first.at[q] < 0) return 0;
        int64_t token = paths->first.at[q], length = a->offsets.at[n + 1] - a->offsets.at[n];
        for (int64_t run = begin; run < stop; run++) {
            if (paths->size.at[run] > length - token) return 0;
            token += paths->size.at[run];
        }
        if (i == 0) continue;
        int64_t last = a->order.at[i - 1];
        if (paths->sentence.at[last] == n && paths->kind.at[last] == paths->kind.at[q] &&
            paths->first.at[last] > paths->first.at[q])
            return 0;
    }
    return 1;
}

/* A sentence and a type with their paths, which are some of those in the order of the arguments. */
typedef struct {
    int64_t length, begin, end;
} pair;

/* The longest first; pairs of one length in their order. */
static int compare_pairs(const void *one, const void *two) {
    const pair *a = one, *b = two;
    if (a->length != b->length) return a->length > b->length ? -1 : 1;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Scratch of a call. */
typedef struct {
    double *visits, *flow, *at, *one, *two, *flows; /* (T, X), (X,), (S,), (X,), (X,), (X, X) */
    products *rows;                                 /* of each row of hyperedges */
    int64_t *total, *high;                          /* of each row */
    uint8_t *marks;                                 /* (3, X) */
} scratch;

/* Compute the probabilities of choices, and the flow into each entry, of a sentence and type without others. */
static void fill_alone(walk *s, const scratch *o, int late, int64_t last) {
    const Automaton *automaton = s->automaton;
    int64_t entries = automaton->accept.n;
    s->group = NULL;
    s->linear = s->simple && weigh_sentence(s->scores, s->start, s->end, s->kind, s->automaton, s->base, s->p);
    for (int filled = 0; !filled;) {
        for (int64_t slot = 0; slot < s->slots; slot++) s->held[slot] = -1;
        for (int64_t x = 0; x < entries; x++)
            s->ahead[(s->end - s->start) * entries + x] =
                automaton->accept.at[x] ? (s->linear ? 1.0 : 0.0) : nothing(s->linear);
        filled = fill(s, 0, s->end - s->start);
        if (!filled) s->linear = 0;
    }
    find_visits(s, o->visits, o->flow, o->at, late, last);
}

/* Make products of rows with many runs, and walk each path of a sentence and type from its first token. `visits` has
   an entry's number in every `step`-th place. Return whether there was memory. */
static int walk_paths(const walk *s, const path_probability_arguments *a, const scratch *o, const pair *own,
                      const double *visits, int64_t step) {
    const Paths *paths = &a->paths;
    const int64_t *queries = a->order.at + own->begin;
    int64_t entries = s->automaton->accept.n, count = own->end - own->begin;
    int64_t size = plan(s, o->rows, a, queries, count, o->total, o->high, o->flow, o->at, o->marks);
    memory more = {0};
    double *all = TAKE(&more, double, size);
    if (more.failed) return (int)give_back(&more, 0);
    for (int64_t row = 0; row < paths->allowed.n; row++)
        if (o->rows[row].count > 0) multiply(s, o->rows + row, &AT2(paths->allowed, row, 0), all, o->flows, o->at);
    for (int64_t place = 0; place < count; place++) {
        int64_t q = queries[place], token = paths->first.at[q], first_row = paths->row.at[paths->run_ptr.at[q]];
        double arrived = 0.0;
        for (int64_t x = 0; x < entries; x++)
            o->flow[x] = AT2(a->starts, first_row, x) ? visits[(token * entries + x) * step] : 0.0;
        for (int64_t run = paths->run_ptr.at[q]; run < paths->run_ptr.at[q + 1]; run++) {
            int64_t row = paths->row.at[run], begin = token, stop = token + paths->size.at[run];
            while (token < stop) {
                int64_t after = token;
                if (token > begin && o->rows[row].count > 0) /* from here on the flow is in lasting entries */
                    after = leap(o->rows + row, all, o->flow, entries, o->one, o->two, token, stop - 1);
                if (after == token) {
                    const uint8_t *usable = &AT2(paths->allowed, row, 0);
                    arrived = s->group != NULL ? step_lane(s->group, s->lane, token, usable, o->flow, o->at)
                                               : step_flow(s, o->flow, o->at, chances_at(s, token), usable);
                    after++;
                }
                token = after;
            }
        }
        a->probability.at[q] = arrived < 1.0 ? arrived : 1.0;
    }
    return (int)give_back(&more, 1);
}

/* 1. Paths of one sentence and type make a pair. Those of about one length are computed side by side in the linear
      domain, where each choice leads to one state and there is room.
   2. The probabilities of choices and the flow into each entry; without others where numbers may have vanished.
   3. Products of rows with many runs are made, and each path is walked from its first token. */
int64_t spanloom_path_probability(const path_probability_arguments *a) {
    const Automaton *automaton = &a->automaton;
    const Paths *paths = &a->paths;
    int64_t entries = automaton->accept.n, choices = automaton->edge.n, states = automaton->first.n;
    int64_t rows = paths->allowed.n, roles = a->scores.roles.m, count = 0;
    if (!automaton_fits(automaton, &a->scores, a->offsets) || automaton->bundle_ptr.n != 1 || !paths_fit(a))
        return BAD_INDEX;
    memory own = {0};
    pair *pairs = TAKE(&own, pair, a->order.n);
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t i = 0, j; i < a->order.n; i = j) { /* step 1 */
        int64_t n = paths->sentence.at[a->order.at[i]], k = paths->kind.at[a->order.at[i]];
        for (j = i; j < a->order.n && paths->sentence.at[a->order.at[j]] == n && paths->kind.at[a->order.at[j]] == k;)
            j++;
        pairs[count++] = (pair){a->offsets.at[n + 1] - a->offsets.at[n], i, j};
    }
    if (count == 0) return give_back(&own, 0);
    qsort(pairs, (size_t)count, sizeof *pairs, compare_pairs);
    int64_t longest = pairs[0].length, slots = least(longest, most(SHORTEST, HELD / most(choices, 1)));
    int simple = is_simple(automaton);
    int64_t held = simple && !a->late ? least(longest, ROOM / bytes_of_token(automaton, roles)) : 0;
    walk s = {
        &a->scores,
        automaton,
        0,
        0,
        0,
        simple,
        0,
        TAKE(&own, double, (longest + 1) * entries),
        TAKE(&own, double, states),
        TAKE(&own, double, automaton->number.n),
        TAKE(&own, double, automaton->number.n),
        TAKE(&own, double, simple ? longest * roles : 0),
        TAKE(&own, double, slots *choices),
        TAKE(&own, int64_t, slots),
        slots,
        NULL,
        0,
    };
    scratch o = {
        TAKE(&own, double, longest *entries), TAKE(&own, double, entries), TAKE(&own, double, states),
        TAKE(&own, double, entries),          TAKE(&own, double, entries), TAKE(&own, double, entries *entries),
        TAKE(&own, products, rows),           TAKE(&own, int64_t, rows),   TAKE(&own, int64_t, rows),
        TAKE(&own, uint8_t, 3 * entries),
    };
    int64_t *members = TAKE(&own, int64_t, rows *entries);
    lanes g = {.scores = &a->scores, .automaton = automaton};
    take_lanes(&own, &g, held);
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t row = 0; row < rows; row++) o.rows[row].member = members + row * entries;
    for (int64_t first = 0; first < count; first += g.count) {
        g.longest = pairs[first].length;
        g.count = g.longest <= held ? least(LANES, count - first) : 1;
        int64_t last = 0;
        for (int64_t lane = 0; lane < g.count; lane++) {
            const pair *next = pairs + first + lane;
            int64_t q = a->order.at[next->end - 1];
            g.start[lane] = a->offsets.at[paths->sentence.at[q]];
            g.length[lane] = next->length;
            g.kind[lane] = paths->kind.at[q];
            g.safe[lane] = 0;
            last = most(last, paths->first.at[q]);
        }
        if (g.longest <= held) { /* step 2 */
            fill_lanes(&g);
            visit_lanes(&g, last);
        }
        for (int64_t lane = 0; lane < g.count; lane++) {
            const pair *next = pairs + first + lane;
            s.start = g.start[lane];
            s.end = s.start + g.length[lane];
            s.kind = g.kind[lane];
            s.group = &g;
            s.lane = lane;
            for (int64_t slot = 0; slot < least(slots, g.length[lane]); slot++) s.held[slot] = -1;
            if (!g.safe[lane]) fill_alone(&s, &o, a->late != 0, paths->first.at[a->order.at[next->end - 1]]);
            int done = g.safe[lane] ? walk_paths(&s, a, &o, next, g.visits + lane, LANES) /* step 3 */
                                    : walk_paths(&s, a, &o, next, o.visits, 1);
            if (!done) return give_back(&own, NO_MEMORY);
        }
    }
    return give_back(&own, 0);
}

/* Returns whether there are any structures. */
int64_t spanloom_sample(const sample_arguments *a) {
    const Automaton *automaton = &a->automaton;
    int64_t entries = automaton->accept.n, choices = automaton->edge.n, states = automaton->first.n,
            exits = automaton->order.n;
    const int64_t range[2] = {a->start, a->end};
    if (!automaton_fits(automaton, &a->scores, (i64_1){(int64_t *)range, 2}) || !is_simple(automaton)) return BAD_INDEX;
    int64_t length = a->end - a->start;
    if (a->kind < 0 || a->kind >= a->scores.roles.l || a->edges.m != length || automaton->bundle_ptr.n != 1)
        return BAD_INDEX;
    memory own = {0};
    walk s = {
        &a->scores,
        automaton,
        a->start,
        a->end,
        a->kind,
        1,
        0,
        TAKE(&own, double, (length + 1) * entries),
        TAKE(&own, double, states),
        TAKE(&own, double, automaton->number.n),
        NULL,
        NULL,
        TAKE_ZEROS(&own, double, length *choices),
        TAKE(&own, int64_t, length),
        length,
        NULL,
        0,
    };
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t x = 0; x < entries; x++) s.ahead[length * entries + x] = automaton->accept.at[x] ? 0.0 : -INFINITY;
    fill(&s, 0, length);
    if (length > 0 && s.ahead[automaton->root] == -INFINITY) return give_back(&own, 0);
    for (int64_t sample = 0; sample < a->edges.n; sample++) {
        int64_t state = automaton->root;
        for (int64_t token = 0; token < length; token++) {
            const double *chance = s.chance + token * choices;
            int64_t depth = 0, steps = 0;
            while (state < exits) {
                if (steps >= a->random.l) return give_back(&own, BAD_INDEX);
                double left = AT3(a->random, sample, token, steps++);
                int64_t picked = -1;
                for (int64_t c = automaton->first.at[state]; c < automaton->stop.at[state]; c++)
                    if (chance[c] > 0.0 && (picked < 0 || left >= 0.0)) {
                        picked = c;
                        left -= chance[c];
                    }
                if (picked < 0) return give_back(&own, BAD_INDEX);
                int64_t number = automaton->number.at[automaton->edge.at[picked]];
                if (number >= 0) AT3(a->edges, sample, token, depth++) = (int16_t)number;
                state = automaton->target.at[picked];
            }
            state -= exits;
        }
    }
    return give_back(&own, 1);
}

int64_t spanloom_take_exponentials(const take_exponentials_arguments *a) {
    for (int64_t i = 0; i < a->x.n; i++) a->result.at[i] = exponential(a->x.at[i]);
    return 0;
}

int64_t spanloom_take_logarithms(const take_logarithms_arguments *a) {
    for (int64_t i = 0; i < a->x.n; i++) a->result.at[i] = logarithm(a->x.at[i]);
    return 0;
}
