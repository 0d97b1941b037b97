/* Tokens that need no regular expression, and pairs of numbers as text.

   Easy tokens are runs of letters and digits, and single characters. The kernel takes the classes of characters and not
   the expressions themselves, so it knows where it need not look further: a stretch without white space that holds
   nothing but letters, digits, and marks that are tokens by themselves has no other tokens. Any other stretch is left
   to the expressions: one with a character that is hard, a full stop that does not end it, a comma before a digit, a
   letter in a run that begins with a digit (10mg), or the same mark twice
   (--). */
#include "spanloom.h"

enum { HARD, SPACE, LETTER, DIGIT, SINGLE, MARK, STOP, COMMA }; /* classes of characters */

/* The class of a character; behind the text is white space. */
static inline int class_of(const easy_tokens_arguments *a, int64_t i) {
    if (i >= a->codes.n) return SPACE;
    return a->codes.at[i] < a->classes.n ? a->classes.at[a->codes.at[i]] : HARD;
}

int64_t spanloom_easy_tokens(const easy_tokens_arguments *a) {
    int64_t n = 0, left = 0, i = 0, before = -1; /* before: the tokens when the last hard stretch was found */
    while (i < a->codes.n) {
        int kind = class_of(a, i), easy = 1;
        if (kind == SPACE) {
            i++;
            continue;
        }
        int64_t begin = i, kept = n;
        while (kind != SPACE) {
            int64_t start = i++;
            int first = kind;
            kind = class_of(a, i);
            if (first == LETTER || first == DIGIT) {
                while (kind == LETTER || kind == DIGIT) {
                    easy &= first == LETTER || kind == DIGIT;
                    kind = class_of(a, ++i);
                }
            } else if (first == STOP) {
                easy &= kind == SPACE;
            } else if (first == COMMA) {
                easy &= kind != DIGIT;
            } else if (first != SINGLE) {
                easy &= first == MARK && (i == a->codes.n || a->codes.at[i] != a->codes.at[start]);
            }
            AT2(a->tokens, n, 0) = start;
            AT2(a->tokens, n++, 1) = i;
        }
        if (!easy) { /* neighbours are one */
            n = kept;
            if (n != before) AT2(a->hard, left++, 0) = begin;
            AT2(a->hard, left - 1, 1) = i;
            before = n;
        }
    }
    a->left.at[0] = left;
    return n;
}

/* Write a number in decimal digits, and return the end of them. */
static uint8_t *write_number(int64_t number, uint8_t *to) {
    uint8_t digits[20];
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    int64_t count = 0;
    if (number < 0) *to++ = '-';
    do {
        digits[count++] = (uint8_t)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    while (count > 0) *to++ = digits[--count];
    return to;
}

int64_t spanloom_write_pairs(const write_pairs_arguments *a) {
    uint8_t *to = a->found.at;
    if (a->found.n / 2 < a->ends.n || a->pairs.n > (a->found.n - 2 * a->ends.n) / 44) return BAD_INDEX;
    if (a->ptr.at[0] < 0 || a->ptr.at[a->ends.n] > a->pairs.n) return BAD_INDEX;
    for (int64_t l = 0; l < a->ends.n; l++) {
        if (a->ptr.at[l] > a->ptr.at[l + 1]) return BAD_INDEX;
    }
    for (int64_t l = 0; l < a->ends.n; l++) {
        *to++ = '[';
        for (int64_t i = a->ptr.at[l]; i < a->ptr.at[l + 1]; i++) {
            if (i > a->ptr.at[l]) *to++ = ',';
            *to++ = '[';
            to = write_number(AT2(a->pairs, i, 0), to);
            *to++ = ',';
            to = write_number(AT2(a->pairs, i, 1), to);
            *to++ = ']';
        }
        *to++ = ']';
        a->ends.at[l] = to - a->found.at;
    }
    return to - a->found.at;
}
