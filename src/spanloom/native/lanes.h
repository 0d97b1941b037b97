/* Lanes: pairs of a sentence and a type, WIDE of them side by side, so that what a choice takes is a few vector
   operations for all of them. Past its last token a lane is computed like the others, and never read. */
#ifndef SPANLOOM_LANES_H
#define SPANLOOM_LANES_H

#include "hypergraph.h"

#define WIDE 8
#if defined(__GNUC__) && !defined(__clang__) /* it would unroll these loops before it looks for vector operations */
#define EACH_LANE _Pragma("GCC unroll 1") _Pragma("GCC ivdep") for (int64_t lane = 0; lane < WIDE; lane++)
#else
#define EACH_LANE for (int64_t lane = 0; lane < WIDE; lane++)
#endif

typedef struct {
    const Potentials *scores;
    const Automaton *automaton;
    int64_t longest; /* tokens */
    int64_t start[WIDE], length[WIDE], kind[WIDE];
} lanes;

/* Whether some lanes are those of sentences and types; find the longest. */
static inline int lanes_fit(const Potentials *scores, i64_1 sentence, i64_1 kind, i64_1 offsets, int64_t *longest) {
    if (!are_sentences(sentence, offsets)) return 0;
    *longest = 0;
    for (int64_t i = 0; i < sentence.n; i++) {
        if (kind.at[i] < 0 || kind.at[i] >= scores->roles.l) return 0;
        *longest = most(*longest, offsets.at[sentence.at[i] + 1] - offsets.at[sentence.at[i]]);
    }
    return 1;
}

/* Take the next lanes, from number `begin` on; where there are fewer, the others have no token. */
static inline void take_lanes(lanes *g, i64_1 sentence, i64_1 kind, i64_1 offsets, int64_t begin) {
    g->longest = 0;
    EACH_LANE {
        int there = begin + lane < sentence.n;
        int64_t n = there ? sentence.at[begin + lane] : 0;
        g->start[lane] = there ? offsets.at[n] : 0;
        g->length[lane] = there ? offsets.at[n + 1] - offsets.at[n] : 0;
        g->kind[lane] = there ? kind.at[begin + lane] : 0;
        g->longest = most(g->longest, g->length[lane]);
    }
}

/* Read the scores of roles at a token, (R, WIDE), with what is added to them; 0 past the end of a lane. */
static inline void read_roles(const lanes *g, int64_t token, const float *added, double *p) {
    f32_3 roles = g->scores->roles;
    EACH_LANE {
        const float *source = roles.at + (g->start[lane] + token) * roles.m * roles.l + g->kind[lane];
        int there = token < g->length[lane];
        for (int64_t r = 0; r < roles.m; r++)
            p[r * WIDE + lane] = there ? (double)(added ? source[r * roles.l] + added[r] : source[r * roles.l]) : 0.0;
    }
}

/* The constant scores of hyperedges, (E, WIDE). */
static inline void read_constants(const lanes *g, double *constant) {
    const int64_t *number = g->automaton->hyperedges.constant.at;
    for (int64_t e = 0; e < g->automaton->number.n; e++)
        EACH_LANE constant[e * WIDE + lane] =
            number[e] >= 0 ? (double)AT2(g->scores->constants, number[e], g->kind[lane]) : 0.0;
}

/* Replace the scores or weights of hyperedges that are forbidden at a token. */
static inline void forbid_edges(const lanes *g, int64_t token, double *w, double forbidden) {
    u8_2 allowed = g->scores->allowed;
    for (int64_t e = 0; allowed.n > 0 && e < g->automaton->number.n; e++) {
        int64_t number = g->automaton->number.at[e], types = g->scores->roles.l;
        EACH_LANE if (number >= 0 && token < g->length[lane] &&
                      !AT2(allowed, g->start[lane] + token, number * types + g->kind[lane])) w[e * WIDE + lane] =
            forbidden;
    }
}

/* Set the scores of the entries past the last token of lanes that end at this token; `ahead` has (T + 1, X, WIDE). */
static inline void end_lanes(const lanes *g, int64_t token, double *ahead, double yes, double no) {
    int64_t entries = g->automaton->accept.n;
    EACH_LANE for (int64_t x = 0; token + 1 == g->length[lane] && x < entries; x++)
        ahead[((token + 1) * entries + x) * WIDE + lane] = g->automaton->accept.at[x] ? yes : no;
}

#endif
