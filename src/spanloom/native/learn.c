/* The optimizers: the AdaGrad step of a batch, and vector operations that do not depend on threads. */
#include "spanloom.h"

#define BLOCK 4096 /* elements of one partial sum */
#define AHEAD 8    /* rows that are asked for before they are needed */

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

/* Dual coordinate ascent. The dual of a row is near its chance of the wrong answer by all weights, `chance`, and moves
   towards it. It never moves too far: between both, the entropy curves by at least 1 / `spread`. */
int64_t spanloom_ascend(const ascend_arguments *a) {
    int64_t width = a->numbers.m, begin, end, soon, later;
    const int32_t *indices = a->indices.at;
    float *sparse = a->sparse.at;
    double gap = 0.0, loss = 0.0;
    for (int64_t k = 0; k < a->order.n; k++) {
        int64_t row = a->order.at[k], next = k + AHEAD < a->order.n ? a->order.at[k + AHEAD] : row;
        if (!range_of(a->indices, a->offsets, next, &soon, &later)) return BAD_INDEX;
        if (!range_of(a->indices, a->offsets, row, &begin, &end)) return BAD_INDEX;
        for (int64_t i = soon; i < later; i += 16) __builtin_prefetch(indices + i);
        __builtin_prefetch(&AT2(a->numbers, next, 0));
        __builtin_prefetch(a->duals.at + next);
        const double *numbers = &AT2(a->numbers, row, 0);
        double sums[4] = {0}, score = 0.0;
        for (int64_t i = begin; i < end; i += 4)
            for (int64_t j = 0; j < least(4, end - i); j++) {
                int64_t f = indices[i + j];
                if ((uint64_t)f >= (uint64_t)a->sparse.n) return BAD_INDEX;
                sums[j] += (double)sparse[2 * f];
            }
        for (int64_t d = 0; d < width; d++) score += numbers[d] * AT2(a->dense, d, 0);
        double sign = a->right.at[row] ? 1.0 : -1.0,
               margin = sign * (score + (sums[0] + sums[1]) + (sums[2] + sums[3]));
        double odds = exponential(margin), chance = 1.0 / (1.0 + odds), dual = a->duals.at[row];
        double here = dual * (1.0 - dual), there = chance * (1.0 - chance), spread = here > there ? here : there;
        double missing = chance - dual, most_of_both = (dual - 0.5) * (chance - 0.5) < 0.0 ? 0.25 : spread;
        double step = missing / (1.0 + (double)a->lengths.at[row] * most_of_both), change = sign * step;
        gap += missing * missing / (2.0 * spread + 1e-12);
        loss += margin < -30.0 ? -margin : logarithm(1.0 + 1.0 / odds);
        a->duals.at[row] = dual + step;
        for (int64_t i = begin; i < end; i++) {
            float *weight = sparse + 2 * (int64_t)indices[i];
            weight[0] += (float)change * weight[1];
        }
        for (int64_t d = 0; d < width; d++) AT2(a->dense, d, 0) += change * numbers[d] * AT2(a->dense, d, 1);
    }
    a->sums.at[0] = gap;
    a->sums.at[1] = loss;
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
