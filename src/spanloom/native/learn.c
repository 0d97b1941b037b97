/* The optimizers: the AdaGrad step of a batch, and vector operations that do not depend on threads. */
#include "spanloom.h"

#define BLOCK 4096 /* elements of one partial sum */
#define AHEAD 16   /* rows that are asked for before they are needed */

/* The features of token `t` as a range of `indices`; whether they lie within. */
static int range_of(i32_1 indices, i64_1 offsets, int64_t t, int64_t *begin, int64_t *end) {
    if (t < 0 || t >= offsets.n - 1) return 0;
    *begin = offsets.at[t];
    *end = offsets.at[t + 1];
    return *begin >= 0 && *end <= indices.n;
}

int64_t spanloom_list_batch(const list_batch_arguments *a) {
    int64_t found = 0, entry = 0, at = 0, begin, end, next, stop;
    int32_t *restrict numbers = a->numbers.at, *restrict features = a->features.at, *restrict places = a->places.at;
    int64_t *restrict ptr = a->ptr.at;
    memory own = {0};
    int32_t *restrict listed = TAKE(&own, int32_t, a->places.n); /* the number of each entry's feature, from 1 */
    if (own.failed) return give_back(&own, NO_MEMORY);
    memset(ptr, 0, (size_t)a->ptr.n * sizeof *ptr);
    for (int64_t place = 0; place < a->tokens.n; place++) {
        if (!range_of(a->indices, a->offsets, a->tokens.at[place], &begin, &end) || end - begin > a->places.n - entry)
            return give_back(&own, BAD_INDEX);
        if (place + 1 < a->tokens.n && range_of(a->indices, a->offsets, a->tokens.at[place + 1], &next, &stop))
            for (; next < stop; next++) __builtin_prefetch(numbers + a->indices.at[next]);
        for (int64_t i = begin; i < end; i++) { /* without a branch that processors cannot foresee */
            int32_t f = a->indices.at[i];
            if (f < 0 || f >= a->numbers.n) return give_back(&own, BAD_INDEX);
            int32_t number = numbers[f], new = number == 0;
            if (number < 0 || number > found) return give_back(&own, BAD_INDEX);
            features[found] = f;
            found += new;
            number += (int32_t)found & -new;
            numbers[f] = listed[entry++] = number;
            ptr[number]++;
        }
    }
    for (int64_t j = 1; j <= found; j++) { /* from counts to the first place of each, which then moves to its end */
        int64_t count = ptr[j];
        ptr[j] = at;
        at += count;
        numbers[features[j - 1]] = 0;
    }
    entry = 0;
    for (int64_t place = 0; place < a->tokens.n; place++) {
        range_of(a->indices, a->offsets, a->tokens.at[place], &begin, &end);
        for (int64_t i = begin; i < end; i++) places[ptr[listed[entry++]]++] = (int32_t)place;
    }
    return give_back(&own, found);
}

static inline void step_columns(const columns *sum, float penalty, float step, columns *weights, columns *squares) {
    columns g = *sum + penalty * *weights, root = *squares += g * g;
    for (int r = 0; r < COLUMNS; r++) root[r] = sqrtf(root[r]);
    *weights -= step * g / (root + 1e-8f);
}

/* Wide rows are gone through in whole vectors. The last may overlap the one before, so a copy of it takes the step. */
int64_t spanloom_adagrad(const adagrad_arguments *a) {
    int64_t width = a->weights.m, last = width - COLUMNS;
    float *row = a->row.at;
    if (a->first < 0 || a->last > a->features.n) return BAD_INDEX;
    for (int64_t j = a->first; j < a->last; j++) {
        int64_t f = a->features.at[j], begin = a->ptr.at[j], end = a->ptr.at[j + 1];
        if (f < 0 || f >= a->weights.n || begin < 0 || begin >= end || end > a->places.n) return BAD_INDEX;
        for (int64_t i = begin; i < end; i++)
            if (a->places.at[i] < 0 || a->places.at[i] >= a->residual.n) return BAD_INDEX;
        if (j + AHEAD < a->last) {
            int64_t next = a->features.at[j + AHEAD];
            ask_for_row(a->weights.at + next * width, width);
            ask_for_row(a->squares.at + next * width, width);
            __builtin_prefetch(a->scales.at + next * 2);
        }
        float penalty = AT2(a->scales, f, 0), step = (float)(a->rate * AT2(a->scales, f, 1));
        float *weights = &AT2(a->weights, f, 0), *squares = &AT2(a->squares, f, 0);
        if (last < 0) {
            memcpy(row, &AT2(a->residual, a->places.at[begin], 0), (size_t)width * sizeof *row);
            for (int64_t i = begin + 1; i < end; i++)
                for (int64_t r = 0; r < width; r++) row[r] += AT2(a->residual, a->places.at[i], r);
            for (int64_t r = 0; r < width; r++) {
                float g = row[r] + penalty * weights[r];
                squares[r] += g * g;
                weights[r] -= step * g / (sqrtf(squares[r]) + 1e-8f);
            }
            continue;
        }
        columns last_weights = *(columns *)(weights + last), last_squares = *(columns *)(squares + last);
        for (int64_t c = 0; c < width; c += COLUMNS) {
            int64_t here = least(c, last);
            columns sum = *(columns *)&AT2(a->residual, a->places.at[begin], here);
            for (int64_t i = begin + 1; i < end; i++) sum += *(columns *)&AT2(a->residual, a->places.at[i], here);
            if (here == last) step_columns(&sum, penalty, step, &last_weights, &last_squares);
            else step_columns(&sum, penalty, step, (columns *)(weights + c), (columns *)(squares + c));
        }
        *(columns *)(weights + last) = last_weights;
        *(columns *)(squares + last) = last_squares;
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
        double at_dual = dual * (1.0 - dual), at_chance = chance * (1.0 - chance);
        double spread = at_dual > at_chance ? at_dual : at_chance;
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
