/* Strands: written from hyperedges, contracted to runs, and covered by as few paths as possible.

   What is read, and why so, is described in `spanloom.structures.strands.reading`. A node is a token, a type and a
   position; its links lead to itself at the next token, to the node after it there, or to the leaf. */
#include "spanloom.h"

enum { STARTS = 0, STAY = 1, ADVANCE = 2, END = 4 }; /* kinds of arc; the last three are the links of a node, as bits */
enum { COMPONENT, GAP, BEFORE, HEAD, AFTER };        /* what a position is */
enum { UNSEEN = -2, BEGIN = -1 };

/* By what a position is, and kind of arc: which run out of a joint is served first. */
static const int turn[5][5] = {{0, 0, 2, 0, 1}, {0, 1, 0, 0, 0}, {0, 0, 1, 0, 0}, {0, 1, 0, 0, 2}, {0, 0, 0, 0, 1}};
static const int rank[3] = {2, 0, 1}; /* of runs into a joint, by kind of arc: STARTS, STAY, ADVANCE */

/* ------------------------------------------------------------------------------------------------ strands to runs */

int64_t spanloom_count_runs(const count_runs_arguments *a) {
    int64_t tokens = a->links.n, types = a->links.m, positions = a->links.l, joints = 0, runs = 0, bounds = 0;
    for (int64_t t = 0; t < tokens; t++)
        for (int64_t k = 0; k < types; k++)
            for (int64_t p = 0; p < positions; p++) {
                int link = AT3(a->links, t, k, p), begins = AT2(a->start, t, k) >> p & 1, into = begins;
                AT3(a->number, t, k, p) = -1;
                if (link == 0) continue;
                if (t > 0) {
                    into += AT3(a->links, t - 1, k, p) & STAY;
                    if (p > 0) into += (AT3(a->links, t - 1, k, p - 1) & ADVANCE) != 0;
                }
                int steps = ((link & ADVANCE) != 0) + ((link & END) != 0), out = steps + (link & STAY);
                runs += begins;
                bounds += steps + begins * (1 + p);
                if (into != 1 || out != 1) {
                    AT3(a->number, t, k, p) = (int32_t)joints++;
                    runs += out;
                }
            }
    a->counts.at[0] = joints;
    a->counts.at[1] = runs;
    a->counts.at[2] = bounds;
    return 0;
}

/* Follow a run from a node by an arc, or from a start to a node, to a joint or an end; note where it leads. */
static int follow(const contract_arguments *a, int64_t run, int step, int64_t t, int64_t k, int64_t p) {
    const StrandRuns *runs = &a->runs;
    int64_t at = runs->ptr.at[run], room = runs->bounds.n;
    int link = step;
    if (step == STARTS) {
        if (at + p >= room) return 0;
        for (int64_t i = 0; i <= p; i++) runs->bounds.at[at++] = t;
        link = AT3(a->number, t, k, p) < 0 ? AT3(a->links, t, k, p) : STARTS;
    }
    while (link != STARTS) {
        step = link;
        if (step != STAY) {
            if (at >= room) return 0;
            runs->bounds.at[at++] = t + 1;
            p++;
        }
        if (step == END) break;
        t++;
        if (t >= a->links.n || p >= a->links.l) return 0;
        link = AT3(a->number, t, k, p) < 0 ? AT3(a->links, t, k, p) : STARTS;
    }
    runs->enters.at[run] = step;
    runs->head.at[run] = step == END ? -1 : AT3(a->number, t, k, p);
    runs->ptr.at[run + 1] = at;
    return 1;
}

/* The runs come by place of their first node; each arc is looked at twice. */
int64_t spanloom_contract(const contract_arguments *a) {
    static const int arcs[4] = {STARTS, STAY, ADVANCE, END};
    const StrandRuns *runs = &a->runs;
    int64_t run = 0;
    runs->ptr.at[0] = 0;
    for (int64_t n = 0; n + 1 < a->offsets.n; n++) {
        if (a->offsets.at[n] < 0 || a->offsets.at[n + 1] > a->links.n) return BAD_INDEX;
        for (int64_t t = a->offsets.at[n]; t < a->offsets.at[n + 1]; t++)
            for (int64_t k = 0; k < a->links.m; k++)
                for (int64_t p = 0; p < a->links.l; p++) {
                    int64_t joint = AT3(a->number, t, k, p);
                    int begins = AT2(a->start, t, k) >> p & 1, leaving = joint >= 0 ? AT3(a->links, t, k, p) : 0;
                    if (joint < 0 && !begins) continue; /* as most */
                    if (joint >= runs->place.n) return BAD_INDEX;
                    if (joint >= 0) runs->place.at[joint] = a->heads ? BEFORE + p : p % 2;
                    for (int i = 0; i < 4; i++) {
                        int step = arcs[i];
                        if (!(step == STARTS ? begins : leaving & step)) continue;
                        if (run >= runs->tail.n) return BAD_INDEX;
                        runs->tail.at[run] = step == STARTS ? -1 : joint;
                        runs->leaves.at[run] = step;
                        runs->sentence.at[run] = n;
                        runs->kind.at[run] = k;
                        if (!follow(a, run++, step, t, k, p)) return BAD_INDEX;
                    }
                }
    }
    return run == runs->tail.n ? 0 : BAD_INDEX;
}

/* ---------------------------------------------------------------------------------------------------- runs to paths */

/* The runs of each joint, in the order in which they are served; three places each, -1 where there are fewer. */
typedef struct {
    int64_t *into, *outs, *ins, *out;
} graph;

static graph graph_of(const StrandRuns *runs, memory *own) {
    int64_t joints = runs->place.n;
    graph g = {
        TAKE(own, int64_t, 3 * joints),
        TAKE(own, int64_t, 3 * joints),
        TAKE_ZEROS(own, int64_t, joints),
        TAKE_ZEROS(own, int64_t, joints),
    };
    if (own->failed) return g;
    for (int64_t i = 0; i < 3 * joints; i++) g.into[i] = g.outs[i] = -1;
    for (int64_t run = 0; run < runs->tail.n; run++) {
        int64_t head = runs->head.at[run], tail = runs->tail.at[run];
        if (head >= 0) g.into[3 * head + rank[runs->enters.at[run]]] = run;
        if (tail >= 0) g.outs[3 * tail + turn[runs->place.at[tail]][runs->leaves.at[run]]] = run;
    }
    for (int64_t joint = 0; joint < joints; joint++)
        for (int side = 0; side < 2; side++) {
            int64_t *table = (side ? g.outs : g.into) + 3 * joint, *count = (side ? g.out : g.ins) + joint;
            for (int i = 0; i < 3; i++) {
                int64_t run = table[i];
                if (run < 0) continue;
                table[i] = -1;
                table[(*count)++] = run;
            }
        }
    return g;
}

/* Whether all runs lead between joints that are there, and each joint has runs in and out. */
static int are_runs(const StrandRuns *runs) {
    int64_t joints = runs->place.n;
    for (int64_t joint = 0; joint < joints; joint++)
        if (runs->place.at[joint] < COMPONENT || runs->place.at[joint] > AFTER) return 0;
    for (int64_t run = 0; run < runs->tail.n; run++) {
        int64_t enters = runs->enters.at[run], leaves = runs->leaves.at[run], head = runs->head.at[run];
        if (runs->tail.at[run] >= joints || head >= joints) return 0;
        if (leaves != STARTS && leaves != STAY && leaves != ADVANCE && leaves != END) return 0;
        if (head >= 0 && (enters < STARTS || enters > ADVANCE)) return 0;
        if (runs->ptr.at[run] < 0 || runs->ptr.at[run] > runs->ptr.at[run + 1]) return 0;
        if (runs->ptr.at[run + 1] > runs->bounds.n) return 0;
    }
    return 1;
}

/* Search breadth first, from a joint to an end with a spare unit. `came`: the run by which a joint was reached, BEGIN
   for the first; `queue`: the joints that were seen. Returns the run of the end, or -1. */
static int64_t find_spare(const StrandRuns *runs, const graph *g, const int64_t *spare, int64_t joint,
                          const uint8_t *closed, int64_t *came, int64_t *queue, int64_t *seen) {
    came[joint] = BEGIN;
    queue[0] = joint;
    *seen = 1;
    for (int64_t place = 0; place < *seen; place++) {
        int64_t at = queue[place];
        for (int64_t i = 0; i < g->out[at]; i++) {
            int64_t run = g->outs[3 * at + i], other = runs->head.at[run];
            if (spare[run] <= 0) continue;
            if (other < 0) return run;
            if (came[other] == UNSEEN && !closed[other]) {
                came[other] = run;
                queue[(*seen)++] = other;
            }
        }
        for (int64_t i = 0; i < g->ins[at]; i++) {
            int64_t run = g->into[3 * at + i], other = runs->tail.at[run];
            if (other >= 0 && came[other] == UNSEEN && !closed[other]) {
                came[other] = run;
                queue[(*seen)++] = other;
            }
        }
    }
    return -1;
}

/* The units of each run in a minimum flow.

   1. From left to right each joint leads what it has too much to its first run out.
   2. Spare units are led from ends to the joints that need them.
   3. From right to left each joint takes what it still needs from one of its runs in. */
int64_t spanloom_cover_runs(const cover_runs_arguments *a) {
    const StrandRuns *runs = &a->runs;
    int64_t joints = runs->place.n, *spare = a->units.at, seen;
    if (!are_runs(runs) || a->units.n != runs->tail.n) return BAD_INDEX;
    memory own = {0};
    graph g = graph_of(runs, &own);
    int64_t *needs = TAKE_ZEROS(&own, int64_t, joints), *given = TAKE_ZEROS(&own, int64_t, joints);
    int64_t *came = TAKE(&own, int64_t, joints), *queue = TAKE(&own, int64_t, joints);
    uint8_t *closed = TAKE_ZEROS(&own, uint8_t, joints);
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t joint = 0; joint < joints; joint++)
        if (g.ins[joint] < 1 || g.out[joint] < 1) return give_back(&own, BAD_INDEX);
    memset(spare, 0, (size_t)runs->tail.n * sizeof *spare);
    for (int64_t joint = 0; joint < joints; joint++) { /* step 1 */
        int64_t rest = given[joint] + g.ins[joint] - g.out[joint];
        came[joint] = UNSEEN;
        needs[joint] = most(-rest, 0);
        if (rest > 0) {
            int64_t run = g.outs[3 * joint];
            spare[run] = rest;
            if (runs->head.at[run] >= 0) given[runs->head.at[run]] += rest;
        }
    }
    for (int64_t joint = 0; joint < joints; joint++) /* step 2 */
        while (needs[joint] > 0 && !closed[joint]) {
            int64_t run = find_spare(runs, &g, spare, joint, closed, came, queue, &seen), found = run;
            if (run >= 0) {
                spare[run] -= 1;
                int64_t at = runs->tail.at[run];
                while (at != joint) {
                    run = came[at];
                    int back = runs->tail.at[run] == at;
                    spare[run] += back ? 1 : -1;
                    at = back ? runs->head.at[run] : runs->tail.at[run];
                }
                needs[joint] -= 1;
            }
            for (int64_t i = 0; i < seen; i++) {
                came[queue[i]] = UNSEEN;
                closed[queue[i]] |= found < 0;
            }
        }
    for (int64_t joint = joints - 1; joint >= 0; joint--) { /* step 3 */
        if (needs[joint] <= 0) continue;
        int64_t run = g.into[3 * joint + (runs->place.at[joint] == GAP ? g.ins[joint] - 1 : 0)];
        spare[run] += needs[joint];
        if (runs->tail.at[run] >= 0) needs[runs->tail.at[run]] += needs[joint];
    }
    for (int64_t run = 0; run < runs->tail.n; run++) spare[run] += 1;
    return give_back(&own, 0);
}

/* Lists of the paths that wait at runs; a path is in one of them: a run's first path and its last, and the neighbours
   of each path in its list; -1 for none. */
typedef struct {
    int64_t *first, *last, *before, *after;
} lists;

/* Collect the paths that come to a joint. What stays at its position comes first, and is one list from joint to joint.
   So each path is touched only where it starts, continues to another position, or ends, however many lie side by side.
 */
static void gather_paths(const StrandRuns *runs, const graph *g, int64_t joint, const lists *l, i64_2 bounds,
                         int64_t *the_first, int64_t *the_last) {
    int64_t first = l->first[g->into[3 * joint]], last = l->last[g->into[3 * joint]];
    for (int64_t i = 1; i < g->ins[joint]; i++) {
        int64_t run = g->into[3 * joint + i];
        if (runs->place.at[joint] < BEFORE) {
            l->after[last] = l->first[run];
            l->before[l->first[run]] = last;
            last = l->last[run];
            continue;
        }
        int64_t path = l->first[run];
        while (path >= 0) { /* into its place, by start; behind those that start there, too */
            int64_t onward = l->after[path], here = last;
            while (here >= 0 && AT2(bounds, here, 0) > AT2(bounds, path, 0)) here = l->before[here];
            int64_t behind = here >= 0 ? l->after[here] : first;
            l->before[path] = here;
            l->after[path] = behind;
            if (here >= 0) l->after[here] = path;
            else first = path;
            if (behind >= 0) l->before[behind] = path;
            else last = path;
            path = onward;
        }
    }
    *the_first = first;
    *the_last = last;
}

/* Lead a list of paths to the runs out of a joint, in their order; the list itself goes where most do. */
static void deal_paths(const graph *g, int64_t joint, const int64_t *units, const lists *l, int64_t first,
                       int64_t last) {
    const int64_t *outs = g->outs + 3 * joint;
    int64_t largest = 0;
    for (int64_t i = 0; i < g->out[joint]; i++)
        if (units[outs[i]] > units[outs[largest]]) largest = i;
    for (int64_t i = 0; i < largest; i++) {
        int64_t path = first;
        for (int64_t unit = 1; unit < units[outs[i]]; unit++) path = l->after[path];
        l->first[outs[i]] = first;
        l->last[outs[i]] = path;
        first = l->after[path];
        l->after[path] = l->before[first] = -1;
    }
    for (int64_t i = g->out[joint] - 1; i > largest; i--) {
        int64_t path = last;
        for (int64_t unit = 1; unit < units[outs[i]]; unit++) path = l->before[path];
        l->first[outs[i]] = path;
        l->last[outs[i]] = last;
        last = l->before[path];
        l->before[path] = l->after[last] = -1;
    }
    l->first[outs[largest]] = first;
    l->last[outs[largest]] = last;
}

/* Add the bounds of a run to those of a path; return whether there was room. */
static int extend(const read_paths_arguments *a, int64_t run, int64_t path) {
    for (int64_t i = a->runs.ptr.at[run]; i < a->runs.ptr.at[run + 1]; i++) {
        if (a->size.at[path] >= a->bounds.m) return 0;
        AT2(a->bounds, path, a->size.at[path]++) = a->runs.bounds.at[i];
    }
    return 1;
}

/* Each start begins as many paths as its run has units. From left to right the paths that come to a joint are collected
   and dealt out to the runs that leave it. `units` must be those of `cover_runs`. */
int64_t spanloom_read_paths(const read_paths_arguments *a) {
    const StrandRuns *runs = &a->runs;
    const int64_t *units = a->units.at;
    int64_t count = a->size.n, path = 0, run_count = runs->tail.n, first, last;
    if (!are_runs(runs) || a->units.n != runs->tail.n) return BAD_INDEX;
    memory own = {0};
    graph g = graph_of(runs, &own);
    lists l = {
        TAKE(&own, int64_t, run_count),
        TAKE(&own, int64_t, run_count),
        TAKE(&own, int64_t, count),
        TAKE(&own, int64_t, count),
    };
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t run = 0; run < run_count; run++) {
        if (units[run] < 1 || units[run] > count) return give_back(&own, BAD_INDEX);
        l.first[run] = l.last[run] = -1;
    }
    for (int64_t joint = 0; joint < runs->place.n; joint++) { /* what comes in goes out */
        int64_t balance = 0;
        for (int64_t i = 0; i < g.ins[joint]; i++) balance += units[g.into[3 * joint + i]];
        for (int64_t i = 0; i < g.out[joint]; i++) balance -= units[g.outs[3 * joint + i]];
        if (balance != 0 || g.ins[joint] < 1 || g.out[joint] < 1) return give_back(&own, BAD_INDEX);
    }
    for (int64_t run = 0; run < run_count; run++) {
        if (runs->tail.at[run] >= 0) continue;
        if (path + units[run] > count) return give_back(&own, BAD_INDEX);
        l.first[run] = path;
        l.last[run] = path + units[run] - 1;
        for (int64_t i = 0; i < units[run]; i++, path++) {
            l.before[path] = i > 0 ? path - 1 : -1;
            l.after[path] = i < units[run] - 1 ? path + 1 : -1;
            a->sentence.at[path] = runs->sentence.at[run];
            a->kind.at[path] = runs->kind.at[run];
            a->size.at[path] = 0;
            for (int64_t j = 0; j < a->bounds.m; j++) AT2(a->bounds, path, j) = -1;
            if (!extend(a, run, path)) return give_back(&own, BAD_INDEX);
        }
    }
    if (path != count) return give_back(&own, BAD_INDEX);
    for (int64_t joint = 0; joint < runs->place.n; joint++) {
        for (int64_t i = 0; i < g.ins[joint]; i++)
            if (l.first[g.into[3 * joint + i]] < 0) return give_back(&own, BAD_INDEX);
        gather_paths(runs, &g, joint, &l, a->bounds, &first, &last);
        deal_paths(&g, joint, units, &l, first, last);
        for (int64_t i = 0; i < g.out[joint]; i++) {
            int64_t run = g.outs[3 * joint + i];
            if (runs->ptr.at[run] == runs->ptr.at[run + 1]) continue;
            for (path = l.first[run]; path >= 0; path = l.after[path])
                if (!extend(a, run, path)) return give_back(&own, BAD_INDEX);
        }
    }
    return give_back(&own, 0);
}

/* ------------------------------------------------------------------------------------------- hyperedges to strands */

/* The row of a table for a hyperedge; the last row is for none. */
static inline int64_t row_of(int64_t edge, int64_t rows) { return edge < 0 || edge >= rows ? rows - 1 : edge; }

int64_t spanloom_flagged(const flagged_arguments *a) {
    int64_t rows = a->now.n;
    if (rows < 1) return BAD_INDEX;
    for (int64_t k = 0; k < a->edges.m; k++) {
        int next = 0; /* bits of the next token */
        for (int64_t t = 0; t < a->edges.n; t++) {
            int bits = next;
            next = 0;
            for (int64_t d = 0; d < a->edges.l; d++) {
                int64_t row = row_of(AT3(a->edges, t, k, d), rows);
                bits |= a->now.at[row];
                next |= a->following.at[row];
            }
            AT2(a->begins, t, k) = (bits & a->start) != 0;
            AT3(a->links, t, k, 0) = (uint8_t)(bits & (STAY | END));
        }
    }
    return 0;
}

int64_t spanloom_stranded(const stranded_arguments *a) {
    int64_t rows = a->place.n;
    if (rows < 1) return BAD_INDEX;
    for (int64_t t = 0; t < a->edges.n; t++)
        for (int64_t k = 0; k < a->edges.m; k++)
            for (int64_t d = 1; d < a->edges.l; d++) { /* the first is of no strand */
                const int64_t *place = &AT2(a->place, row_of(AT3(a->edges, t, k, d), rows), 0);
                if (place[0] != a->strand) continue;
                if (place[1] >= a->links.l) return BAD_INDEX;
                if (place[1] >= 0) AT3(a->links, t, k, place[1]) = (uint8_t)place[2];
                else AT2(a->start, t, k) = (uint8_t)most(AT2(a->start, t, k), place[2]);
            }
    return 0;
}
