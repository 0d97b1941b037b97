/* Tokens and sentence ends that need no regular expression, and pairs of numbers as text.

   Easy tokens are runs of letters and digits, and single characters. The kernel takes the classes of characters and not
   the expressions themselves, so it knows where it need not look further: a stretch without white space that holds
   nothing but letters, digits, and marks that are tokens by themselves has no other tokens. Any other stretch is left
   to the expressions: one with a character that is hard, a full stop that neither ends it nor parts digits (3.5), a
   comma before a digit, two to four letters behind digits (10mg), letters behind a decimal number, or the same mark
   twice (--). */
#include "hashing.h"
#include "spanloom.h"

enum { HARD, SPACE, LETTER, DIGIT, SINGLE, MARK, STOP, COMMA }; /* classes of characters */
enum { SHORTEST = 2, LONGEST = 4 };                             /* letters of a unit */

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
                int64_t letters = 0; /* and what is behind them, in a run that begins with a digit */
                int unit = 1;
                while (kind == LETTER || kind == DIGIT) {
                    letters += first == DIGIT && (letters > 0 || kind == LETTER);
                    unit &= letters == 0 || kind == LETTER;
                    kind = class_of(a, ++i);
                }
                easy &= letters < SHORTEST || letters > LONGEST || !unit;
                if (first == DIGIT && letters == 0 && kind == STOP && class_of(a, i + 1) == DIGIT) {
                    while (kind == DIGIT || (kind == STOP && class_of(a, i + 1) == DIGIT)) kind = class_of(a, ++i);
                    easy &= kind != LETTER;
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

#define REACH 32 /* characters that a word before a full stop is looked for in */

static inline int is_capital(uint32_t c) { return c - 'A' < 26; }

static inline int is_small(uint32_t c) { return c - 'a' < 26; }

/* Whether a line ends at this character. */
static inline int ends_line(uint32_t c) { return c - '\n' < 4 || c == 0x85 || c == 0x2028 || c == 0x2029; }

/* Whether white space, a closing mark or another mark of an end may be what is behind a full stop. */
static inline int may_follow(uint32_t c) {
    return c == ' ' || c - '\t' < 5 || c - 0x1c < 4 || c == '"' || c == '\'' || c == ')' || c == ']' || c == '}' ||
           c == '[' || c == '.' || c == '!' || c == '?' || c > 127;
}

/* Whether a word begins behind this character. */
static inline int divides(uint32_t c) {
    return c <= ' ' || c == '(' || c == '[' || c == '{' || c == '"' || c == '\'' || c == '/' || c == ',' || c == ';';
}

/* Whether the word before a full stop is of ASCII, without a mark that ends a sentence, no number or initial, which may
   be that of a list item, and in no rule. */
static int is_plain_word(const stops_arguments *a, int64_t begin, int64_t stop) {
    const uint32_t *codes = a->codes.at;
    int64_t first = stop;
    int plain = 0;
    uint64_t hash = START;
    while (first > begin && stop - first < REACH && !divides(codes[first - 1])) first--;
    if (first > begin && !divides(codes[first - 1])) return 0;
    for (int64_t i = first; i < stop; i++) {
        uint32_t c = codes[i], small = is_capital(c) ? c | 32 : c;
        if (c > 126 || c == '.' || c == '!' || c == '?') return 0;
        if (is_small(small)) plain |= i > first && small != 'i' && small != 'v' && small != 'x';
        else plain |= c - '0' >= 10 && c != '#';
        hash = mix(hash, small);
    }
    hash = finish(hash);
    const uint64_t *low = a->ruled.at;
    for (int64_t left = a->ruled.n; left > 1; left -= left / 2) low += low[left / 2 - 1] < hash ? left / 2 : 0;
    return plain && (a->ruled.n == 0 || *low != hash);
}

/* Whether a sentence may begin with what begins with a small letter: p53, c-Myc. */
static int may_begin(const uint32_t *codes, int64_t begin, int64_t end) {
    int64_t i = begin;
    while (i < end && is_small(codes[i])) i++;
    return i < end && i - begin < 6 && (codes[i] == '-' || codes[i] - '0' < 10 || is_capital(codes[i]));
}

/* Most marks are the full stops of numbers and abbreviations, with a letter, digit or comma behind them, or a word of
   small letters, which end no sentence; or full stops between a word and a capitalized one, which do if no rule can
   concern the word. */
int64_t spanloom_stops(const stops_arguments *a) {
    const uint32_t *codes = a->codes.at;
    int64_t sure = 0, unsure = 0;
    if (a->bounds.at[0] < 0) return BAD_INDEX;
    for (int64_t n = 0; n < a->lines.n; n++) {
        int64_t begin = a->bounds.at[n], end = a->bounds.at[n + 1];
        if (begin > end || end > a->codes.n) return BAD_INDEX;
        int lines = 0;
        for (int64_t i = begin; i < end; i++) {
            uint32_t c = codes[i], next = i + 1 < end ? codes[i + 1] : 0;
            int asks = 0;
            if (c - '0' < 10 || is_small(c | 32) || c == ' ') continue;
            lines |= ends_line(c);
            if (c == '.') {
                uint32_t then = i + 2 < end ? codes[i + 2] : 0;
                if (next == ' ' && is_capital(then) && is_plain_word(a, begin, i)) a->sure.at[sure++] = i + 1;
                else if (next == ' ' && is_small(then)) asks = may_begin(codes, i + 2, end);
                else
                    asks = may_follow(next) ||
                           (is_capital(next) && i - begin > 1 && is_small(codes[i - 1]) && is_small(codes[i - 2]));
            } else if (c < 128) {
                asks = c == '!' || c == '?' || (c == ';' && i > begin && codes[i - 1] > 127);
            } else {
                for (int64_t j = 0; j < a->marks.n; j++) asks |= a->marks.at[j] == c;
            }
            if (asks) a->unsure.at[unsure++] = i;
        }
        a->lines.at[n] = (uint8_t)lines;
    }
    a->counts.at[0] = sure;
    a->counts.at[1] = unsure;
    return 0;
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
