/* The sparse product, tokens x features by features x roles, and its transpose. */
#include "spanloom.h"

#define BLOCK 256 /* tokens whose sum is taken in single precision */

static inline void add(float *restrict total, const float *restrict source, int64_t width) {
    for (int64_t r = 0; r < width; r++) total[r] += source[r];
}

static inline void add_times(float *restrict total, float x, const float *restrict source, int64_t width) {
    for (int64_t r = 0; r < width; r++) total[r] += x * source[r];
}

/* Add to a row the sum of some others of a table: row by row, or apart and then at once. Wide rows are gone through in
   whole vectors, two at once. The last may overlap the one before: it begins with what was there before any. */
static inline void add_sum(float *total, const float *table, int64_t width, const int32_t *numbers, int64_t count,
                           int apart) {
    int64_t last = width - COLUMNS;
    if (last < 0) {
        float sum[COLUMNS] = {0};
        memcpy(sum, total, (size_t)(apart ? 0 : width) * sizeof *sum);
        for (int64_t i = 0; i < count; i++) add(sum, table + numbers[i] * width, width);
        for (int64_t r = 0; r < width; r++) total[r] = apart ? total[r] + sum[r] : sum[r];
        return;
    }
    columns before = *(columns *)(total + last);
    for (int64_t c = 0; c < width; c += 2 * COLUMNS) {
        int64_t here = least(c, last), there = least(c + COLUMNS, last);
        columns low = here == last ? before : *(columns *)(total + here), one = apart ? (columns){0} : low;
        columns high = there == last ? before : *(columns *)(total + there), two = apart ? (columns){0} : high;
        for (int64_t i = 0; i < count; i++) {
            const float *source = table + numbers[i] * width;
            one += *(columns *)(source + here);
            two += *(columns *)(source + there);
        }
        if (apart) one += low, two += high;
        *(columns *)(total + here) = one;
        *(columns *)(total + there) = two;
    }
}

/* Whether all of some numbers are those of a table's rows. */
static inline int are_rows(const int32_t *numbers, int64_t count, int64_t rows) {
    uint32_t largest = 0;
    for (int64_t i = 0; i < count; i++) largest = largest > (uint32_t)numbers[i] ? largest : (uint32_t)numbers[i];
    return count <= 0 || largest < least(rows, 1ll << 31);
}

int64_t spanloom_multiply(const multiply_arguments *a) {
    int64_t width = a->weights.m;
    const int32_t *indices = a->indices.at;
    if (a->first < 0 || a->last > a->scores.n) return BAD_INDEX;
    for (int64_t place = a->first; place < a->last; place++) {
        int64_t t = a->rows.at[place];
        if (t < 0 || t >= a->offsets.n - 1) return BAD_INDEX;
        int64_t begin = a->offsets.at[t], end = most(begin, a->offsets.at[t + 1]);
        if (begin < 0 || end > a->indices.n) return BAD_INDEX;
        if (!are_rows(indices + begin, end - begin, a->weights.n)) return BAD_INDEX;
        /* Ask for as many rows as there are here: most often they are of the token that comes next. */
        int64_t ahead = least(2 * end - begin, a->indices.n);
        for (int64_t i = end; i < ahead; i++) ask_for_row(a->weights.at + indices[i] * width, width);
        add_sum(&AT2(a->scores, place, 0), a->weights.at, width, indices + begin, end - begin, 0);
    }
    return 0;
}

/* Each position's product is summed on its own, and then added: it does not depend on how many others there are. */
int64_t spanloom_add_dense(const add_dense_arguments *a) {
    int64_t size = a->table.m, width = a->weights.m, positions = a->columns.m;
    float *own = a->own.at;
    if (a->first < 0 || a->last > a->scores.n || a->weights.n < positions * size) return BAD_INDEX;
    for (int64_t place = a->first; place < a->last; place++) {
        int64_t t = a->rows.at[place];
        if (t < 0 || t >= a->columns.n) return BAD_INDEX;
        for (int64_t p = 0; p < positions; p++) {
            int64_t row = AT2(a->columns, t, p);
            if (row < 0 || row >= a->table.n) return BAD_INDEX;
            memset(own, 0, (size_t)width * sizeof *own);
            for (int64_t d = 0; d < size; d++) {
                float x = AT2(a->table, row, d);
                if (x != 0.0f) add_times(own, x, &AT2(a->weights, p * size + d, 0), width);
            }
            add(&AT2(a->scores, place, 0), own, width);
        }
    }
    return 0;
}

int64_t spanloom_score_words(const score_words_arguments *a) {
    int64_t width = a->weights.m;
    if (a->first < 0 || a->last > a->scores.n) return BAD_INDEX;
    for (int64_t v = a->first; v < a->last; v++) {
        float *own = &AT2(a->scores, v, 0);
        memset(own, 0, (size_t)width * sizeof *own);
        for (int64_t d = 0; d < a->table.m; d++) {
            float x = AT2(a->table, v, d);
            if (x != 0.0f) add_times(own, x, &AT2(a->weights, d, 0), width);
        }
    }
    return 0;
}

int64_t spanloom_add_words(const add_words_arguments *a) {
    if (a->first < 0 || a->last > a->scores.n) return BAD_INDEX;
    for (int64_t place = a->first; place < a->last; place++) {
        int64_t row = a->column.at[place];
        if (row < 0 || row >= a->words.n) return BAD_INDEX;
        add(&AT2(a->scores, place, 0), &AT2(a->words, row, 0), a->words.m);
    }
    return 0;
}

/* A sum of many numbers in single precision is taken in blocks, or its end would be lost. */
int64_t spanloom_gather_dense(const gather_dense_arguments *a) {
    int64_t size = a->table.m, width = a->residual.m, first = a->first, end = a->last;
    if (first < 0 || end > a->own.n || end > size * a->columns.m) return BAD_INDEX;
    if (end <= first) return 0;
    memset(&AT2(a->gradient, first, 0), 0, (size_t)((end - first) * width) * sizeof(float));
    for (int64_t begin = 0; begin < a->rows.n; begin += BLOCK) {
        memset(&AT2(a->own, first, 0), 0, (size_t)((end - first) * width) * sizeof(float));
        for (int64_t place = begin; place < least(a->rows.n, begin + BLOCK); place++) {
            const float *source = &AT2(a->residual, place, 0);
            int64_t t = a->rows.at[place];
            if (t < 0 || t >= a->columns.n) return BAD_INDEX;
            for (int64_t p = first / size; p < (end + size - 1) / size; p++) {
                int64_t row = AT2(a->columns, t, p);
                if (row < 0 || row >= a->table.n) return BAD_INDEX;
                for (int64_t c = most(first, p * size); c < least(end, (p + 1) * size); c++) {
                    float x = AT2(a->table, row, c - p * size);
                    if (x != 0.0f) add_times(&AT2(a->own, c, 0), x, source, width);
                }
            }
        }
        add(&AT2(a->gradient, first, 0), &AT2(a->own, first, 0), (end - first) * width);
    }
    return 0;
}

int64_t spanloom_transpose(const transpose_arguments *a) {
    for (int64_t t = 0; t + 1 < a->offsets.n; t++) {
        if (a->offsets.at[t] < 0 || a->offsets.at[t + 1] > a->indices.n) return BAD_INDEX;
        for (int64_t i = a->offsets.at[t]; i < a->offsets.at[t + 1]; i++) {
            int64_t f = a->indices.at[i];
            if (f < 0 || f >= a->ptr.n || a->ptr.at[f] < 0 || a->ptr.at[f] >= a->tokens.n) return BAD_INDEX;
            a->tokens.at[a->ptr.at[f]++] = (int32_t)t;
        }
    }
    return 0;
}

int64_t spanloom_count(const count_arguments *a) {
    for (int64_t i = 0; i < a->indices.n; i++) {
        int64_t f = a->indices.at[i];
        if (f < 0 || f >= a->counts.n) return BAD_INDEX;
        a->counts.at[f] = (int64_t)((uint64_t)a->counts.at[f] + 1);
    }
    return 0;
}

/* Each sum is taken apart and then added, so that it does not depend on what the gradient already contains. */
int64_t spanloom_gather(const gather_arguments *a) {
    int64_t width = a->residual.m;
    if (a->first < 0 || a->last > a->features.n) return BAD_INDEX;
    for (int64_t i = a->first; i < a->last; i++) {
        int64_t begin = a->ptr.at[i], end = most(begin, a->ptr.at[i + 1]);
        if (a->features.at[i] < 0 || a->features.at[i] >= a->gradient.n || begin < 0 || end > a->tokens.n)
            return BAD_INDEX;
        if (!are_rows(a->tokens.at + begin, end - begin, a->residual.n)) return BAD_INDEX;
        add_sum(&AT2(a->gradient, a->features.at[i], 0), a->residual.at, width, a->tokens.at + begin, end - begin, 1);
    }
    return 0;
}

int64_t spanloom_add_rows(const add_rows_arguments *a) {
    if (a->begin < 0) return BAD_INDEX;
    for (int64_t i = 0; i < a->features.n; i++) {
        int64_t row = a->features.at[i] < 0 ? -1 : a->features.at[i] - a->begin;
        if (row < 0 || row >= a->gradient.n) return BAD_INDEX;
        add(&AT2(a->gradient, row, 0), &AT2(a->rows, i, 0), a->rows.m);
    }
    return 0;
}
