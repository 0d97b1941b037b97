/* The optimizers: the AdaGrad step of a batch, and vector operations that do not depend on threads. */
#include "spanloom.h"

#define BLOCK 4096 /* elements of one partial sum */

/* The features of token `t` as a range of `indices`; whether they lie within. */
static int range_of(i32_1 indices, i64_1 offsets, int64_t t, int64_t *begin, int64_t *end) {
    if (t < 0 || t >= offsets.n - 1) return 0;
    *begin = offsets.at[t];
    *end = offsets.at[t + 1];
    return *begin >= 0 && *end <= indices.n;
}

int64_t spanloom_distinct_features(const distinct_features_arguments *a) {
    int64_t found = 0, begin, end;
    for (int64_t place = 0; place < a->tokens.n; place++) {
        if (!range_of(a->indices, a->offsets, a->tokens.at[place], &begin, &end)) return BAD_INDEX;
        for (int64_t i = begin; i < end; i++) {
            int32_t f = a->indices.at[i];
            if (f < 0 || f >= a->counts.n) return BAD_INDEX;
            if (a->counts.at[f] == 0) {
                if (found >= a->features.n) return BAD_INDEX;
                a->features.at[found++] = f;
            }
            a->counts.at[f] = (int32_t)((uint32_t)a->counts.at[f] + 1);
        }
    }
    return found;
}

int64_t spanloom_feature_places(const feature_places_arguments *a) {
    int64_t begin, end;
    a->ptr.at[0] = 0;
    for (int64_t j = 0; j < a->features.n; j++) {
        int32_t f = a->features.at[j];
        if (f < 0 || f >= a->counts.n || a->counts.at[f] < 0) return BAD_INDEX;
        a->ptr.at[j + 1] = a->ptr.at[j] + a->counts.at[f];
        a->counts.at[f] = (int32_t)a->ptr.at[j]; /* from now on the next place to fill */
    }
    for (int64_t place = 0; place < a->tokens.n; place++) {
        if (!range_of(a->indices, a->offsets, a->tokens.at[place], &begin, &end)) return BAD_INDEX;
        for (int64_t i = begin; i < end; i++) {
            int32_t f = a->indices.at[i];
            if (f < 0 || f >= a->counts.n || a->counts.at[f] < 0 || a->counts.at[f] >= a->places.n) return BAD_INDEX;
            a->places.at[a->counts.at[f]++] = (int32_t)place;
        }
    }
    for (int64_t j = 0; j < a->features.n; j++) a->counts.at[a->features.at[j]] = 0;
    return 0;
}

int64_t spanloom_adagrad(const adagrad_arguments *a) {
    int64_t width = a->weights.m;
    float *row = a->row.at;
    if (a->first < 0 || a->last > a->features.n) return BAD_INDEX;
    for (int64_t j = a->first; j < a->last; j++) {
        int32_t f = a->features.at[j];
        if (f < 0 || f >= a->weights.n) return BAD_INDEX;
        for (int64_t i = a->ptr.at[j]; i < a->ptr.at[j + 1]; i++) {
            if (i < 0 || i >= a->places.n || a->places.at[i] < 0 || a->places.at[i] >= a->residual.n) return BAD_INDEX;
            const float *source = &AT2(a->residual, a->places.at[i], 0);
            if (i == a->ptr.at[j]) memcpy(row, source, (size_t)width * sizeof *row);
            else
                for (int64_t r = 0; r < width; r++) row[r] += source[r];
        }
        float penalty = a->penalty.at[f], step = (float)(a->rate * a->stretch.at[f]);
        float *weights = &AT2(a->weights, f, 0), *squares = &AT2(a->squares, f, 0);
        for (int64_t r = 0; r < width; r++) {
            float g = row[r] + penalty * weights[r], total = squares[r] + g * g;
            squares[r] = total;
            weights[r] -= step * g / (sqrtf(total) + 1e-8f);
        }
    }
    return 0;
}

/* Eight sums side by side: an addition need not wait for the one before. */
static inline double product(const float *x, const float *y, int64_t size) {
    double sums[8] = {0}, total = 0.0;
    int64_t whole = size / 8 * 8;
    for (int64_t i = 0; i < whole; i += 8)
        for (int j = 0; j < 8; j++) sums[j] += (double)x[i + j] * (double)y[i + j];
    for (int64_t i = whole; i < size; i++) sums[0] += (double)x[i] * (double)y[i];
    for (int j = 0; j < 8; j++) total += sums[j];
    return total;
}

int64_t spanloom_dot(const dot_arguments *a) {
    if (a->first < 0 || a->last > (a->x.n + BLOCK - 1) / BLOCK || a->last > a->partial.n) return BAD_INDEX;
    for (int64_t block = a->first; block < a->last; block++) {
        int64_t low = block * BLOCK;
        a->partial.at[block] = product(a->x.at + low, a->y.at + low, least(BLOCK, a->x.n - low));
    }
    return 0;
}

/* Block by block, so that what has just been written need not be read from memory for the product. */
int64_t spanloom_add_scaled(const add_scaled_arguments *a) {
    float factor = (float)a->factor, scale = (float)a->scale;
    if (a->first < 0 || a->last > (a->x.n + BLOCK - 1) / BLOCK || a->last > a->partial.n) return BAD_INDEX;
    for (int64_t block = a->first; block < a->last; block++) {
        float own[BLOCK], *result = a->result.at + block * BLOCK;
        const float *x = a->x.at + block * BLOCK, *y = a->y.at + block * BLOCK, *other = a->other.at + block * BLOCK;
        int64_t size = least(BLOCK, a->x.n - block * BLOCK);
        for (int64_t i = 0; i < size; i++) own[i] = scale * (x[i] + factor * y[i]);
        memcpy(result, own, (size_t)size * sizeof *own);
        a->partial.at[block] = product(own, other, size);
    }
    return 0;
}
