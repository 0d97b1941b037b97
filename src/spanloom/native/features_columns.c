/* The hashed values of the columns of distinct words; the definitions are the plain functions of
   `spanloom.features.columns`, and names here follow them. And the letter case of sentences. */
#include "hashing.h"
#include "spanloom.h"

enum { WORD, LOWERED, NORM, KIND }; /* rows of a table of characters */
enum { UPPER = 1, TITLE = 2, LOWER = 4, DIGIT = 8, ALNUM = 16, MARK = 32 };
#define KINDS 128 /* what is less is a kind of character in a word's shape */

typedef struct {
    const uint32_t *codes; /* of the word */
    int64_t length;
    u32_2 maps;
    const uint8_t *flags;
} word;

/* The hash of the string that a row of the maps makes of some of the word's characters. */
static uint64_t hash_of(const word *w, int64_t start, int64_t end, int row) {
    uint64_t state = START;
    for (int64_t k = start; k < end; k++) state = mix(state, AT2(w->maps, row, w->codes[k]));
    return finish(state);
}

static uint64_t shape(const word *w) {
    if (w->length <= 4) return hash_of(w, 0, w->length, KIND);
    uint64_t state = START;
    for (int64_t k = 0; k < 2; k++) state = mix(state, AT2(w->maps, KIND, w->codes[k]));
    int64_t last = -1;
    while (last < KINDS) { /* the next larger one of those in between, until none is left; there are few */
        int64_t kind = KINDS;
        for (int64_t k = 2; k < w->length - 2; k++) {
            int64_t other = AT2(w->maps, KIND, w->codes[k]);
            if (last < other && other < kind) kind = other;
        }
        if (kind < KINDS) state = mix(state, (uint64_t)kind);
        last = kind;
    }
    for (int64_t k = w->length - 2; k < w->length; k++) state = mix(state, AT2(w->maps, KIND, w->codes[k]));
    return finish(state);
}

static uint64_t short_shape(const word *w) {
    uint64_t state = START;
    for (int64_t k = 0; k < w->length; k++) {
        uint32_t kind = AT2(w->maps, KIND, w->codes[k]);
        if (k == 0 || kind != AT2(w->maps, KIND, w->codes[k - 1])) state = mix(state, kind);
    }
    return finish(state);
}

static int is_title(const word *w) {
    int cased = 0, inside = 0; /* a letter with case so far; the character before is one */
    for (int64_t k = 0; k < w->length; k++) {
        uint8_t flags = w->flags[w->codes[k]];
        int capital = (flags & (UPPER | TITLE)) != 0, small = (flags & LOWER) != 0;
        if ((capital && inside) || (small && !inside)) return 0;
        inside = capital || small;
        cased |= inside;
    }
    return cased;
}

/* Whether the word is a well-formed Roman numeral: thousands, then hundreds, tens and ones. */
static int is_roman(const word *w) {
    static const uint32_t digits[3][3] = {{'C', 'D', 'M'}, {'X', 'L', 'C'}, {'I', 'V', 'X'}}; /* one, five, ten */
    int64_t k = 0, end = w->length;
    const uint32_t *codes = w->codes;
    while (k < end && codes[k] == 'M') k++;
    for (int power = 0; power < 3; power++) {
        uint32_t one = digits[power][0], five = digits[power][1], ten = digits[power][2];
        if (k + 1 < end && codes[k] == one && (codes[k + 1] == ten || codes[k + 1] == five)) {
            k += 2;
            continue;
        }
        if (k < end && codes[k] == five) k++;
        int64_t limit = least(end, k + 3);
        while (k < limit && codes[k] == one) k++;
    }
    return end > 0 && k == end;
}

static int is_url(const word *w) {
    int found = w->length >= 4 && w->codes[3] == '.'; /* www. */
    for (int64_t k = 0; k < least(w->length, 3); k++) found &= AT2(w->maps, LOWERED, w->codes[k]) == 'w';
    for (int64_t k = 0; k < w->length - 2; k++)
        found |= w->codes[k] == ':' && w->codes[k + 1] == '/' && w->codes[k + 2] == '/';
    return found;
}

/* The flags that hold, as bits in the order of `columns.ORTHOGRAPHY`. */
static uint64_t orthography(const word *w, int every, int some) {
    int dot = 0, hyphen = 0;
    for (int64_t k = 0; k < w->length; k++) {
        dot |= w->codes[k] == '.';
        hyphen |= w->codes[k] == '-';
    }
    int capital = w->length > 0 && (w->flags[w->codes[0]] & UPPER) != 0, bits = 0;
    bits |= 1 * ((every & UPPER) != 0);
    bits |= 2 * ((every & DIGIT) != 0);
    bits |= 4 * ((every & ALNUM) != 0);
    bits |= 8 * ((some & DIGIT) != 0);
    bits |= 16 * dot;
    bits |= 32 * hyphen;
    bits |= 64 * capital;
    bits |= 128 * (w->length == 2 && capital && w->codes[1] == '.');
    bits |= 256 * ((every & MARK) != 0);
    bits |= 512 * is_roman(w);
    bits |= 1024 * (w->length == 1);
    bits |= 2048 * is_url(w);
    return (uint64_t)bits;
}

static uint64_t value_of(const word *w, int64_t code, int64_t size, int every, int some,
                         const word_columns_arguments *a) {
    int64_t start = 0, end = w->length;
    int holds;
    switch (code) {
    case 3: return shape(w);
    case 4: return short_shape(w);
    case 5: holds = (some & UPPER) != 0 && (some & (LOWER | TITLE)) == 0; break;
    case 6: holds = is_title(w); break;
    case 7: holds = (every & DIGIT) != 0; break;
    case 8: return orthography(w, every, some);
    default:
        if (code == 10 && end < llabs(size)) return 0;
        if (size > 0) end = least(end, size);
        if (size < 0) start = most(0, end + size);
        return hash_of(w, start, end, code >= 0 && code < 3 ? (int)code : WORD);
    }
    return holds ? a->yes : a->no;
}

int64_t spanloom_word_columns(const word_columns_arguments *a) {
    u32_2 maps = a->characters.maps;
    if (maps.n < 4) return BAD_INDEX;
    for (int64_t i = 0; i < a->codes.n; i++)
        if (a->codes.at[i] >= maps.m) return BAD_INDEX;
    for (int64_t c = 0; c < a->specifications.n; c++)
        if (AT2(a->specifications, c, 1) < -INT32_MAX || AT2(a->specifications, c, 1) > INT32_MAX) return BAD_INDEX;
    for (int64_t i = 0; i < a->starts.n; i++) {
        int64_t start = a->starts.at[i], end = a->ends.at[i];
        if (start < 0 || end < start || end > a->codes.n) return BAD_INDEX;
        word w = {a->codes.at + start, end - start, maps, a->characters.flags.at};
        int every = end > start ? 255 : 0, some = 0;
        for (int64_t k = 0; k < w.length; k++) {
            every &= w.flags[w.codes[k]];
            some |= w.flags[w.codes[k]];
        }
        for (int64_t c = 0; c < a->specifications.n; c++)
            AT2(a->values, i, c) =
                value_of(&w, AT2(a->specifications, c, 0), AT2(a->specifications, c, 1), every, some, a);
    }
    return 0;
}

enum { USUAL, ALL_CAPITALS, ALL_SMALL, TITLES }; /* letter case of a sentence */

static inline int is_capital(uint32_t c) { return c - 'A' < 26; }

static inline int is_small(uint32_t c) { return c - 'a' < 26; }

/* The characters of a sentence are those up to the next sentence with tokens, or one, if that begins no later. */
int64_t spanloom_letter_cases(const letter_cases_arguments *a) {
    const uint32_t *codes = a->codes.at;
    int64_t size = a->codes.n, next = size + 1; /* where the next sentence with tokens begins */
    for (int64_t n = a->kinds.n - 1; n >= 0; n--) {
        int64_t first = a->sentences.at[n], end = a->sentences.at[n + 1], long_one = 0;
        a->kinds.at[n] = USUAL;
        a->found.at[n] = 0;
        if (first == end || size == 0) continue;
        if (first < 0 || end < first || end > a->starts.n) return BAD_INDEX;
        int64_t begin = a->starts.at[first], small = 0, titled = 0;
        uint32_t uppers = 0, others = 0;
        if (begin < 0 || begin > size) return BAD_INDEX;
        int64_t stop = begin < next ? next : begin + 1;
        for (int64_t i = begin; i < least(stop, size); i++) {
            uppers += is_capital(codes[i]);
            others += is_small(codes[i]) | (codes[i] > 127);
        }
        for (int64_t t = first; t < end; t++) {
            int64_t start = a->starts.at[t];
            if (start < 0 || start > size || a->ends.at[t] < 0 || a->ends.at[t] > size) return BAD_INDEX;
            int64_t length = a->ends.at[t] - start;
            long_one |= length >= a->wide;
            if (length > 0) small += is_small(codes[start]);
            if (length > 1) titled += is_capital(codes[start]) && is_small(codes[start + 1]);
        }
        a->found.at[n] = (uint8_t)long_one;
        if (uppers >= a->fewest && 8 * (int64_t)others <= uppers) a->kinds.at[n] = ALL_CAPITALS;
        else if (others >= a->fewest && uppers == 0) a->kinds.at[n] = ALL_SMALL;
        else if (titled >= a->titled && 8 * small <= titled) a->kinds.at[n] = TITLES;
        next = begin;
    }
    return 0;
}
