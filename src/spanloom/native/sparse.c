/* Sparse matrices times dense ones, and the largest matching of two sides. */
#include "spanloom.h"

int64_t spanloom_sparse_product(const sparse_product_arguments *a) {
    int64_t width = a->dense.m;
    for (int64_t i = 0; i + 1 < a->ptr.n; i++) {
        if (a->ptr.at[i] < 0 || a->ptr.at[i + 1] > a->columns.n) return BAD_INDEX;
        double *restrict total = &AT2(a->result, i, 0);
        memset(total, 0, (size_t)width * sizeof *total);
        for (int64_t p = a->ptr.at[i]; p < a->ptr.at[i + 1]; p++) {
            int64_t column = a->columns.at[p];
            if (column < 0 || column >= a->dense.n) return BAD_INDEX;
            const double *restrict source = &AT2(a->dense, column, 0);
            for (int64_t d = 0; d < width; d++) total[d] += a->values.at[p] * source[d];
        }
    }
    return 0;
}

/* Hopcroft and Karp (1973), with rows and columns in their order.

   1. Breadth first from all rows without a partner, the distance of each row along paths that alternate.
   2. Depth first along growing distances, paths to columns without a partner; each is flipped, and is one pair more.
   3. Again, until no row without a partner reaches such a column. */
int64_t spanloom_match(const match_arguments *a) {
    int64_t rows = a->ptr.n - 1, count = a->partner.n, matched = 0;
    for (int64_t i = 0; i < rows; i++)
        if (a->ptr.at[i] < 0 || a->ptr.at[i] > a->ptr.at[i + 1] || a->ptr.at[i + 1] > a->columns.n) return BAD_INDEX;
    if (!lie_below(a->columns, a->size)) return BAD_INDEX;
    memory own = {0};
    int64_t *of_column = TAKE(&own, int64_t, a->size), *distance = TAKE(&own, int64_t, rows),
            *next = TAKE(&own, int64_t, rows);
    int64_t *queue = TAKE(&own, int64_t, rows), *partner = a->partner.at;
    if (own.failed) return give_back(&own, NO_MEMORY);
    for (int64_t i = 0; i < count; i++) partner[i] = -1;
    for (int64_t j = 0; j < a->size; j++) of_column[j] = -1;
    for (;;) {
        int64_t seen = 0, found = 0;
        for (int64_t i = 0; i < rows; i++) { /* step 1 */
            distance[i] = partner[i] < 0 ? 0 : INT64_MAX;
            next[i] = a->ptr.at[i];
            if (partner[i] < 0) queue[seen++] = i;
        }
        for (int64_t place = 0; place < seen; place++) {
            int64_t i = queue[place];
            for (int64_t p = a->ptr.at[i]; p < a->ptr.at[i + 1]; p++) {
                int64_t other = of_column[a->columns.at[p]];
                if (other < 0) found = 1;
                else if (distance[other] == INT64_MAX) {
                    distance[other] = distance[i] + 1;
                    queue[seen++] = other;
                }
            }
        }
        if (!found) return give_back(&own, matched);
        for (int64_t root = 0; root < rows; root++) { /* step 2; the queue is the path */
            if (partner[root] >= 0) continue;
            int64_t depth = 0;
            queue[0] = root;
            while (depth >= 0) {
                int64_t i = queue[depth];
                if (next[i] == a->ptr.at[i + 1]) { /* nothing leads on from here */
                    distance[i] = INT64_MAX;
                    depth--;
                    continue;
                }
                int64_t column = a->columns.at[next[i]++], other = of_column[column];
                if (other >= 0) {
                    if (distance[i] < INT64_MAX && distance[other] == distance[i] + 1) queue[++depth] = other;
                    continue;
                }
                for (; depth >= 0; depth--) { /* flip the path */
                    int64_t row = queue[depth], before = partner[row];
                    partner[row] = column;
                    of_column[column] = row;
                    column = before;
                }
                matched++;
            }
        }
    }
}
