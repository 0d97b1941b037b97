/* Counts of the roles and constants of given structures, such as gold ones. */
#include "hypergraph.h"

/* From token to token, count how often each node is reached; a node that is reached must choose a hyperedge, once. */
int64_t spanloom_count_roles(const count_roles_arguments *a) {
    const Graph *graph = &a->graph;
    const Hyperedges *h = &graph->hyperedges;
    int64_t kinds = graph->final.n, edges = graph->head.n, types = a->edges.m;
    if (graph->root < 0 || graph->root >= kinds || h->constant.n != edges || !are_sentences(a->sentences, a->offsets))
        return BAD_INDEX;
    if (!hyperedges_fit(h, a->roles.n > 0 ? a->roles.m : INT64_MAX, a->constants.n) || a->constants.m != types)
        return BAD_INDEX;
    if (a->roles.n > 0 && (a->roles.n != a->edges.n || a->roles.l != types)) return BAD_INDEX;
    if (graph->child_ptr.at[0] < 0 || graph->child_ptr.at[edges] > graph->child.n) return BAD_INDEX;
    for (int64_t e = 0; e < edges; e++)
        if (graph->head.at[e] < 0 || graph->head.at[e] >= kinds || graph->child_ptr.at[e] > graph->child_ptr.at[e + 1])
            return BAD_INDEX;
    if (!lie_below(graph->child, kinds)) return BAD_INDEX;
    memory own = {0};
    double *both = TAKE(&own, double, 2 * kinds);
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t i = 0; i < a->sentences.n; i++) {
        int64_t start = a->offsets.at[a->sentences.at[i]], end = a->offsets.at[a->sentences.at[i] + 1];
        if (start < 0 || end > a->edges.n) return give_back(&own, BAD_INDEX);
        for (int64_t k = 0; k < types; k++) {
            double *now = both, *following = both + kinds;
            memset(both, 0, 2 * (size_t)kinds * sizeof *both);
            now[graph->root] = 1.0;
            for (int64_t row = start; row < end; row++) {
                for (int64_t d = 0; d < a->edges.l; d++) {
                    int64_t e = AT3(a->edges, row, k, d);
                    if (e < 0) break;
                    if (e >= edges) return give_back(&own, row);
                    double times = now[graph->head.at[e]], counted = a->unfold ? times : 1.0;
                    if (times == 0.0) return give_back(&own, row);
                    now[graph->head.at[e]] = 0.0;
                    for (int64_t j = graph->child_ptr.at[e]; j < graph->child_ptr.at[e + 1]; j++) {
                        if (row + graph->step.at[j] == end && !graph->final.at[graph->child.at[j]])
                            return give_back(&own, row);
                        (graph->step.at[j] ? following : now)[graph->child.at[j]] += times;
                    }
                    if (h->constant.at[e] >= 0) AT2(a->constants, h->constant.at[e], k) += counted;
                    for (int64_t j = h->role_ptr.at[e]; a->roles.n > 0 && j < h->role_ptr.at[e + 1]; j++)
                        if (row + h->step.at[j] < end) {
                            float *sum = &AT3(a->roles, row + h->step.at[j], h->role.at[j], k);
                            *sum = (float)(*sum + counted);
                        }
                }
                for (int64_t v = 0; v < kinds; v++)
                    if (now[v] > 0.0) return give_back(&own, row); /* a node was reached and chose nothing */
                double *spent = now;
                now = following;
                following = spent;
                memset(following, 0, (size_t)kinds * sizeof *following);
            }
        }
    }
    return give_back(&own, -1);
}

int64_t spanloom_count_constants(const count_constants_arguments *a) {
    if (!are_sentences(a->sentences, a->offsets)) return BAD_INDEX;
    for (int64_t i = 0; i < a->sentences.n; i++) {
        int64_t start = a->offsets.at[a->sentences.at[i]], end = a->offsets.at[a->sentences.at[i] + 1];
        if (start < 0 || end > a->edges.n) return BAD_INDEX;
        for (int64_t row = start; row < end; row++)
            for (int64_t k = 0; k < a->edges.m; k++)
                for (int64_t d = 0; d < a->edges.l; d++) {
                    int64_t e = AT3(a->edges, row, k, d);
                    if (e < 0) break;
                    if (e >= a->edge_constant.n || a->edge_constant.at[e] >= a->constants.n) return BAD_INDEX;
                    if (a->edge_constant.at[e] >= 0) AT2(a->constants, a->edge_constant.at[e], k) += 1.0;
                }
    }
    return 0;
}
