/* The sparse product, tokens x features by features x roles, and its transpose. */
#include "spanloom.h"

#define AHEAD 16  /* rows that are asked for before they are needed */
#define BLOCK 256 /* tokens whose sum is taken in single precision */
#define SINGLES 8 /* numbers of a vector */
typedef float singles __attribute__((vector_size(4 * SINGLES), aligned(4), may_alias));

static inline void add(float *restrict total, const float *restrict source, int64_t width) {
    for (int64_t r = 0; r < width; r++) total[r] += source[r];
}

static inline void add_times(float *restrict total, float x, const float *restrict source, int64_t width) {
    for (int64_t r = 0; r < width; r++) total[r] += x * source[r];
}

/* Sums of a row's weights stay in registers, for as many roles and types as two vectors hold. Where there are fewer,
   the vectors overlap: both then have the same sums of what they share. */
int64_t spanloom_multiply(const multiply_arguments *a) {
    int64_t width = a->weights.m;
    int paired = SINGLES <= width && width <= 2 * SINGLES;
    if (a->first < 0 || a->last > a->scores.n) return BAD_INDEX;
    for (int64_t place = a->first; place < a->last; place++) {
        int64_t t = a->rows.at[place];
        if (t < 0 || t >= a->offsets.n - 1 || a->offsets.at[t] < 0 || a->offsets.at[t + 1] > a->indices.n)
            return BAD_INDEX;
        float *total = &AT2(a->scores, place, 0);
        int64_t second = width - SINGLES;
        singles low = {0}, high = {0};
        if (paired) low = *(singles *)total, high = *(singles *)(total + second);
        for (int64_t i = a->offsets.at[t]; i < a->offsets.at[t + 1]; i++) {
            int64_t row = a->indices.at[i];
            if (row < 0 || row >= a->weights.n) return BAD_INDEX;
            if (i + AHEAD < a->indices.n) __builtin_prefetch(a->weights.at + a->indices.at[i + AHEAD] * width);
            const float *source = &AT2(a->weights, row, 0);
            if (paired) low += *(const singles *)source, high += *(const singles *)(source + second);
            else add(total, source, width);
        }
        if (paired) *(singles *)total = low, *(singles *)(total + second) = high;
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
    float *own = a->own.at;
    if (a->first < 0 || a->last > a->features.n) return BAD_INDEX;
    for (int64_t i = a->first; i < a->last; i++) {
        if (a->features.at[i] < 0 || a->features.at[i] >= a->gradient.n) return BAD_INDEX;
        if (a->ptr.at[i] < 0 || a->ptr.at[i + 1] > a->tokens.n) return BAD_INDEX;
        memset(own, 0, (size_t)width * sizeof *own);
        for (int64_t j = a->ptr.at[i]; j < a->ptr.at[i + 1]; j++) {
            int64_t t = a->tokens.at[j];
            if (t < 0 || t >= a->residual.n) return BAD_INDEX;
            add(own, &AT2(a->residual, t, 0), width);
        }
        add(&AT2(a->gradient, a->features.at[i], 0), own, width);
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
