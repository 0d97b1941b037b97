/* Inside scores and visits of a few pairs of a sentence and a type side by side, for `walks.c`. */
#ifndef SPANLOOM_LANES_H
#define SPANLOOM_LANES_H

#include "hypergraph.h"

#define LEAST 1e-300 /* a smaller flow counts as zero: a float64 holds it with fewer digits, at less speed */
#define VECTORS 2    /* side by side, so that one adds while another still does */
#define LANES (WIDTH * VECTORS)

/* Pairs side by side. Each number of a lane is computed by the same operations as without the others. */
typedef struct {
    const Potentials *scores;
    const Automaton *automaton; /* each choice leads to one state */
    int64_t count, longest;     /* pairs, the most tokens of one */
    int64_t start[LANES], length[LANES], kind[LANES];
    int64_t safe[LANES]; /* whether no number may have vanished */
    double *base;        /* (E, LANES) weights of hyperedges without their roles */
    double *p;           /* (T + 1, R, LANES) weights of roles; 1 behind the last token */
    double *own;         /* (T, E, LANES) weights of hyperedges */
    double *b;           /* (T, S, LANES) inside scores of states; those of exits are shares */
    double *factor;      /* (T, S - X, LANES) 1 over the inside score of each state that is no exit */
    double *visits;      /* (T + 1, X, LANES) probability of each entry */
    double *scratch;     /* (S, LANES) */
} lanes;

/* Bytes that a token takes. */
static inline int64_t bytes_of_token(const Automaton *a, int64_t roles) {
    return (int64_t)sizeof(double) * LANES * (roles + a->number.n + 2 * a->first.n + a->accept.n);
}

/* Take memory for as many tokens. */
void take_lanes(memory *all, lanes *g, int64_t tokens);

/* Compute weights, inside scores and factors. */
void fill_lanes(lanes *g);

/* Compute the probability of each entry at the first tokens, up to `last`. */
void visit_lanes(lanes *g, int64_t last);

/* The probability of a choice at its state: its weight over the sum of the weights of all choices there. */
static inline double chance_of(const lanes *g, int64_t lane, int64_t token, int64_t state, int64_t choice) {
    const Automaton *a = g->automaton;
    int64_t inner = a->order.n, states = a->first.n;
    double weight = g->own[(token * a->number.n + a->edge.at[choice]) * LANES + lane] *
                    g->b[(token * states + a->target.at[choice]) * LANES + lane];
    return weight * g->factor[(token * inner + state) * LANES + lane];
}

/* Lead a flow of one lane through a token by usable choices; return the part that reaches its last state there. `at`:
   (S,) scratch. */
double step_lane(const lanes *g, int64_t lane, int64_t token, const uint8_t *usable, double *flow, double *at);

#endif
