/* Arrays as kernels take them, memory that a kernel takes for itself, and elementary functions.

   An array is a pointer and its sizes; elements lie in C order. `f64_2` is a matrix of float64: `n` rows of `m`; a
   third axis has the size `l`. The binding checks types, sizes and layout before a call (`__init__.py`).

   Results must not depend on machine, compiler or level: no contraction of products and sums, no functions of the
   system's mathematical library, sums in the order written here. */
#ifndef SPANLOOM_ARRAYS_H
#define SPANLOOM_ARRAYS_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARRAYS(type, name)                                                                                             \
    typedef struct {                                                                                                   \
        type *at;                                                                                                      \
        int64_t n;                                                                                                     \
    } name##_1;                                                                                                        \
    typedef struct {                                                                                                   \
        type *at;                                                                                                      \
        int64_t n, m;                                                                                                  \
    } name##_2;                                                                                                        \
    typedef struct {                                                                                                   \
        type *at;                                                                                                      \
        int64_t n, m, l;                                                                                               \
    } name##_3;

ARRAYS(float, f32)
ARRAYS(double, f64)
ARRAYS(int8_t, i8)
ARRAYS(int16_t, i16)
ARRAYS(int32_t, i32)
ARRAYS(int64_t, i64)
ARRAYS(uint8_t, u8)
ARRAYS(uint32_t, u32)
ARRAYS(uint64_t, u64)

#define AT2(a, i, j) ((a).at[(i) * (a).m + (j)])
#define AT3(a, i, j, k) ((a).at[((i) * (a).m + (j)) * (a).l + (k)])

#define NO_MEMORY INT64_MIN
#define BAD_INDEX (INT64_MIN + 1) /* an index leads out of its table: the file or the arguments are damaged */

/* Memory of one call: taken piece by piece, given back at once. After pieces were taken, `failed` shows whether one is
   missing; a kernel looks before it uses any. */
typedef struct piece {
    struct piece *next;
} piece;
typedef struct {
    piece *last;
    int failed;
} memory;

static inline void *take(memory *all, int64_t count, size_t size, int zeros) {
    size_t bytes, whole;
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) || __builtin_add_overflow(bytes, 64, &whole)) {
        all->failed = 1;
        return NULL;
    }
    piece *got = zeros ? calloc(whole, 1) : malloc(whole);
    if (got == NULL) {
        all->failed = 1;
        return NULL;
    }
    got->next = all->last;
    all->last = got;
    return (char *)got + 64;
}

#define TAKE(all, type, count) ((type *)take(all, count, sizeof(type), 0))
#define TAKE_ZEROS(all, type, count) ((type *)take(all, count, sizeof(type), 1))

static inline int64_t give_back(memory *all, int64_t result) {
    while (all->last != NULL) {
        piece *next = all->last->next;
        free(all->last);
        all->last = next;
    }
    return result;
}

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Whether all numbers are from 0 on and below a limit. */
static inline int lie_below(i64_1 numbers, int64_t limit) {
    for (int64_t i = 0; i < numbers.n; i++)
        if (numbers.at[i] < 0 || numbers.at[i] >= limit) return 0;
    return 1;
}

/* A few columns of a row, on which operations are made at once. Compilers make loops over so few numbers operations on
   single ones. */
#define COLUMNS 8
typedef float columns __attribute__((vector_size(4 * COLUMNS), aligned(4), may_alias));

/* Ask for all of a row before it is needed. */
static inline void ask_for_row(const float *row, int64_t width) {
    for (int64_t r = 0; r < width; r += 16) __builtin_prefetch(row + r);
    __builtin_prefetch(row + width - 1);
}

static inline uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double of_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* exp(x), 0 below -708 and infinite above 709, with an error of at most 1.5 units in the last place.

   1. k is the whole number nearest to x / log 2: adding 1.5 * 2^52 leaves no room for a fraction, and k in the lowest
      bits. So neither a conversion to an integer nor a call keeps a loop from vector operations.
   2. r = x - k log 2 lies within 0.35 of 0. log 2 is taken off in two parts, the first of which has so few digits that
      its product with k is exact (Cody and Waite 1980).
   3. exp(r) = 1 + r + r^2 / 2 + ... + r^13 / 13! by Horner's scheme; what is left out is below 2^-58 of the sum.
   4. exp(x) = 2^k exp(r), where 2^k is made of its bits. */
static inline double exponential(double x) {
    const double shift = 0x1.8p52;
    double y = x > -708.0 ? x : -708.0;
    y = y < 709.0 ? y : 709.0;
    double shifted = y * 1.4426950408889634 + shift, k = shifted - shift;
    double r = (y - k * 6.93147180369123816490e-1) - k * 1.90821492927058770002e-10;
    double total = 1.0 / 6227020800.0;
    total = total * r + 1.0 / 479001600.0;
    total = total * r + 1.0 / 39916800.0;
    total = total * r + 1.0 / 3628800.0;
    total = total * r + 1.0 / 362880.0;
    total = total * r + 1.0 / 40320.0;
    total = total * r + 1.0 / 5040.0;
    total = total * r + 1.0 / 720.0;
    total = total * r + 1.0 / 120.0;
    total = total * r + 1.0 / 24.0;
    total = total * r + 1.0 / 6.0;
    total = total * r + 0.5;
    total = total * r + 1.0;
    total = total * r + 1.0;
    double value = total * of_bits((bits_of(shifted) + 1023) << 52);
    value = x < -708.0 ? 0.0 : value;
    value = x > 709.0 ? INFINITY : value;
    return x != x ? x : value;
}

/* log(x), with an error of less than a unit in the last place; -inf for 0, NaN below.

   1. x = 2^k (1 + f) with 1 + f between 1/sqrt 2 and sqrt 2.
   2. With s = f / (2 + f), log(1 + f) = 2 artanh(s) = 2 s + 2 s^3 / 3 + 2 s^5 / 5 + ..., and s is below 0.172: terms
      beyond s^25 do not count.
   3. 2 s = f - (h - s h) with h = f^2 / 2, so that what is rounded is small beside f. */
static inline double logarithm(double x) {
    if (!(x > 0.0)) return x == 0.0 ? -INFINITY : NAN;
    if (x == INFINITY) return x;
    int64_t k = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        k = -54;
    }
    uint64_t bits = bits_of(x);
    k += (int64_t)(bits >> 52) - 1023;
    double y = of_bits((bits & 0xFFFFFFFFFFFFFull) | 0x3FF0000000000000ull);
    if (y > 1.4142135623730951) {
        y *= 0.5;
        k++;
    }
    double f = y - 1.0, s = f / (2.0 + f), z = s * s, h = 0.5 * f * f, rest = 2.0 / 25.0;
    for (int odd = 23; odd >= 3; odd -= 2) rest = rest * z + 2.0 / odd;
    rest *= z;
    double scale = (double)k;
    return scale * 6.93147180369123816490e-1 - ((h - (s * (h + rest) + scale * 1.90821492927058770002e-10)) - f);
}

#endif
