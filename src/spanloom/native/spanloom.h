/* The interface of all kernels: what Python reads to check the arguments of a call (`__init__.py`), and C to compile
   it.

   The comment behind an array gives its sizes. Equal letters of one kernel, or of one structure, are equal sizes; `E+1`
   is one more; `*` is any size; `*+1` is at least one. `out`: the kernel writes to it. Each kernel gets one pointer, to
   its arguments one after the other, and returns a number, NO_MEMORY or BAD_INDEX. */
#pragma once
#include "arrays.h"

#ifdef _WIN32
#define VISIBLE __declspec(dllexport)
#else
#define VISIBLE __attribute__((visibility("default")))
#endif

#define KERNEL(name, ...)                  \
    typedef struct { __VA_ARGS__ } name##_arguments; \
    VISIBLE int64_t spanloom_##name(const name##_arguments *a);

/* ------------------------------------------------------------------------------------------------------ hashing.c */

VISIBLE int64_t spanloom_has_avx2(void);

/* Let the allocator keep what is given back, where it is the GNU one; whether it does. */
VISIBLE int64_t spanloom_keep_memory(void);

/* Number the distinct strings in the order of their first occurrence; return their number. String i is the code points
   from starts[i] to ends[i]. The table is empty and has room; of each distinct string the hash and first occurrence.
*/
KERNEL(intern,
    u32_1 codes; // *
    i64_1 starts; // T
    i64_1 ends; // T
    i32_1 ids; // T out
    u64_1 table; // * out
    int64_t shift;
    u64_1 hashes; // T out
    i64_1 first; // T out
)

/* The number of each of some keys, -1 for none; `keys` are those of the numbers. */
KERNEL(find_numbers,
    u64_1 sought; // N
    u64_1 table; // *
    int64_t shift;
    u64_1 keys; // *
    i64_1 numbers; // N out
)

/* Number distinct keys from `begin` on in the order of their first occurrence, until more than `limit` are known.
   `found` are known before. `reached`: how far it came, and how many distinct keys are known then. */
KERNEL(number,
    u64_1 keys; // N
    int64_t begin;
    u64_1 table; // * out
    int64_t shift;
    u64_1 distinct; // * out
    int64_t found;
    int64_t limit;
    i32_1 numbers; // N out
    i64_1 reached; // 2 out
)

/* Enter distinct keys into an empty table, each with its row; those with a negative row are left out. */
KERNEL(fill,
    u64_1 keys; // N
    i32_1 rows; // N
    u64_1 table; // * out
    int64_t shift;
)

/* --------------------------------------------------------------------------------------------- features_columns.c */

/* Properties of each code point: `maps` itself, its lower case, the same with digits as 0, and its kind in a word's
   shape (below 128); `flags` bits of UPPER, TITLE, LOWER, DIGIT, ALNUM, MARK. */
typedef struct {
    u32_2 maps; // * X
    u8_1 flags; // X
} CharacterTable;

/* The letter case of each sentence, as `letter_case.py` numbers it: in capitals or lower case from `fewest` letters, in
   title case from `titled` tokens; and whether one of its tokens has at least `wide` characters. Sentence n has the
   tokens from sentences[n] to sentences[n+1], token t the code points from starts[t] to ends[t]. */
KERNEL(letter_cases,
    u32_1 codes; // C
    i64_1 starts; // T
    i64_1 ends; // T
    i64_1 sentences; // N+1
    int64_t fewest;
    int64_t titled;
    int64_t wide;
    u8_1 kinds; // N out
    u8_1 found; // N out
)

/* The values of columns of each distinct word: hashes, 0 if absent, and bits for `orth`. The word's code points are
   those from start to end; a column has a code and a parameter. `yes` and `no` are the hashes of True and False. */
KERNEL(word_columns,
    u32_1 codes; // *
    i64_1 starts; // N
    i64_1 ends; // N
    i64_2 specifications; // C 2
    CharacterTable characters;
    uint64_t yes;
    uint64_t no;
    u64_2 values; // N C out
)

/* ------------------------------------------------------------------------------------------------ features_keys.c */

/* Compiled templates. `kinds`: conjunction, bag or set; `places` are offsets into columns and shifts, in tokens from
   the current one; a bag has two, its first and its last. */
typedef struct {
    i64_1 kinds; // F
    u64_1 seeds; // F
    i64_1 places; // F+1
    i64_1 columns; // P
    i64_1 shifts; // P
    u64_1 before; // M
    u64_1 after; // M
    u64_1 members; // *
} FeatureProgram;

/* Values of C columns at T tokens: values[base[c] + ids[source[c], t] * stride[c]]; 0 if absent. */
typedef struct {
    i32_2 ids; // S T
    u64_1 values; // *
    i64_1 source; // C
    i64_1 base; // C
    i64_1 stride; // C
    i64_1 sizes; // S
} Columns;

/* The keys of all tokens of some sentences, at most `most` each, in the order of the features; absent ones are left
   out. Returns the number of keys. */
KERNEL(evaluate,
    FeatureProgram program;
    Columns table;
    int64_t most;
    i64_1 sentences; // *+1
    u64_1 keys; // * out
    i64_1 offsets; // *+1 out
)

/* F templates over named values: `ptr` shows where the atoms of each begin, `row` which values, `most` what each counts
   at most. */
typedef struct {
    u64_1 seeds; // F
    i64_1 ptr; // F+1
    i64_1 row; // A
    u64_1 most; // A
} ConjunctionProgram;

/* The keys of N things, in the order of the templates; one that lacks a value, which is 0, lacks the feature. Returns
   the number of keys; there is room for all. */
KERNEL(conjoin,
    ConjunctionProgram program;
    u64_2 values; // V N
    u64_1 ids; // * out
    i64_1 offsets; // N+1 out
)

/* scores[i] = the sum of the weights of the features of thing i, in the order of the templates, for things from `first`
   to `last`: what `conjoin`, `lookup` and `multiply` give, without keys and matrices. The index is that of `lookup`. */
KERNEL(weigh,
    ConjunctionProgram program;
    u64_2 values; // V N
    u64_1 table; // *
    int64_t shift;
    u8_1 bits; // *
    int64_t bits_shift;
    f32_1 weights; // *
    int64_t first;
    int64_t last;
    f32_1 scores; // N out
)

/* ---------------------------------------------------------------------------------------------- features_shared.c */

/* Features of G groups; all of a group read the same value: of a source, from the tokens `first` to `last`, in tokens
   from the current one. `features` are offsets into seeds and sets, `places` into columns. */
typedef struct {
    i64_1 source; // G
    i64_1 first; // G
    i64_1 last; // G
    u8_1 bag; // G
    i64_1 features; // G+1
    u64_1 seeds; // F
    u8_1 sets; // F
    i64_1 places; // F+1
    i64_1 columns; // *
    u64_1 before; // M
    u64_1 after; // M
    u64_1 members; // *
} SharedProgram;

/* The keys of all values of all groups, in the order of the features; absent ones are left out. Returns their number.
*/
KERNEL(value_keys,
    SharedProgram program;
    Columns table;
    i64_1 starts; // G
    u64_1 keys; // * out
    i64_1 offsets; // *+1 out
)

/* Which rows of `value_keys` the tokens of some sentences have, group by group. Returns the number of rows. */
KERNEL(refer,
    SharedProgram program;
    Columns table;
    i64_1 starts; // G
    i64_1 sentences; // *+1
    i32_1 rows; // * out
    i64_1 offsets; // *+1 out
)

/* ----------------------------------------------------------------------------------------------- features_index.c */

/* Add to each distinct key the number of its tokens, and two sums of random numbers of these tokens: two keys with
   equal counts and sums occur at the same tokens but with probability 2^-128. The keys of token t are
   numbers[offsets[t]:...]. */
KERNEL(signatures,
    i32_1 numbers; // *
    i64_1 offsets; // *+1
    int64_t begin;
    int64_t end;
    u64_2 signature; // * 3 out
)

/* Group the keys of equal signature, in the order of their first occurrence; those of fewer than `min_count` tokens get
   group -1. Of each group its first key, its tokens, its keys. Returns the number of groups. */
KERNEL(group,
    u64_2 signature; // N 3
    int64_t min_count;
    i32_1 table; // * out
    i32_1 groups; // N out
    i32_1 first; // N out
    i32_1 counts; // N out
    i32_1 sizes; // N out
)

/* Replace, in place, the keys of tokens by their rows, each row once. `rows`: each key's row, or -1; `last`: scratch,
   -1 before the first token; out_offsets[begin] shows where entries continue; `first`: the first token of each row. */
KERNEL(rows_of_tokens,
    i32_1 numbers; // * out
    i64_1 offsets; // T+1
    i32_1 rows; // *
    i32_1 last; // F out
    int64_t begin;
    int64_t end;
    i64_1 out_offsets; // T+1 out
    i32_1 first; // F out
)

/* Look up the rows of keys, below `rows`; unknown keys are left out. `bits`: the topmost bits of a key's lower half are
   the place of its bit. Returns the number of keys that are known. */
KERNEL(lookup,
    u64_1 keys; // *
    i64_1 offsets; // T+1
    u64_1 table; // *
    int64_t shift;
    u8_1 bits; // *
    int64_t bits_shift;
    int64_t rows;
    i32_1 indices; // * out
    i64_1 out_offsets; // T+1 out
)

/* -------------------------------------------------------------------------------------------- features_clusters.c */

/* Neighbours of each of V words, as compressed sparse rows. */
typedef struct {
    i64_1 right_start; // V
    i64_1 right_word; // R
    i64_1 right_count; // R
    i64_1 left_start; // V
    i64_1 left_word; // L
    i64_1 left_count; // L
} Bigrams;

/* The active clusters, one a slot; a cluster's name is its first, most frequent, word. `right[a, x]`: how often x
   follows a; `left` its transpose; `loss`: what merging loses, below the diagonal; `margin`: s[a]; `name`: -1 for a
   free slot; `parent`: union-find over words; `slot`: of a root, -1 for a word that has not entered; `logs`: of small
   numbers. */
typedef struct {
    i32_2 right; // C C out
    i32_2 left; // C C out
    i64_2 loss; // C C out
    i64_1 counts; // C out
    i64_1 margin; // C out
    i64_1 name; // C out
    i64_1 parent; // V out
    i64_1 slot; // V out
    i64_1 logs; // *
    double scale;
} Window;

/* round(log(n) * scale) for each n; 0 for n = 0. */
KERNEL(scaled_logs,
    i64_1 logs; // * out
    double scale;
)

/* Enter words, by frequency, with a merge after each one too many. */
KERNEL(enter_words,
    Window window;
    Bigrams bigrams;
    i64_1 counts; // *
    int64_t first;
    int64_t last;
)

/* Merge the clusters further, and write the names of each pair, the first name first. */
KERNEL(join_clusters,
    Window window;
    i64_2 merges; // * 2 out
)

/* -------------------------------------------------------------------------------------------------------- learn.c */

/* The features of a batch of tokens, each once, in order of first occurrence, and the places of its tokens in the
   batch, ascending; returns the number of features. `numbers`: 0 everywhere, before and afterwards. There is room for N
   entries of tokens. */
KERNEL(list_batch,
    i32_1 indices; // *
    i64_1 offsets; // *+1
    i64_1 tokens; // *
    i32_1 numbers; // * out
    i32_1 features; // N out
    i64_1 ptr; // N+1 out
    i32_1 places; // N out
)

/* One AdaGrad step on the weight rows of a batch's features, from `first` to `last` (Duchi et al. 2011): g = sum of
   residuals + penalty w; G += g^2; w -= rate stretch g / sqrt(G). `scales`: penalty and stretch of each, side by side,
   as both are needed at once. `row`: scratch. */
KERNEL(adagrad,
    i32_1 features; // B
    i64_1 ptr; // B+1
    i32_1 places; // *
    f32_2 residual; // * R
    f32_2 scales; // F 2
    double rate;
    int64_t first;
    int64_t last;
    f32_2 weights; // F R out
    f32_2 squares; // F R out
    f32_1 row; // R out
)

/* One pass of logistic regression over the rows of a binary matrix and `numbers`, in this order. `sparse` and `dense`:
   each weight, and by how much a dual of 1 raises it; `lengths`: the same for the score of a row and its own dual.
   sums: about the gap between primal and dual, and the loss, both as the pass went. */
KERNEL(ascend,
    i32_1 indices; // *
    i64_1 offsets; // C+1
    f64_2 numbers; // C D
    u8_1 right; // C
    f32_1 lengths; // C
    i64_1 order; // *
    f64_1 duals; // C out
    f32_2 sparse; // * 2 out
    f64_2 dense; // D 2 out
    f64_1 sums; // 2 out
)

/* Sums of products of blocks of 4096 elements, in double precision. */
KERNEL(dot,
    f32_1 x; // N
    f32_1 y; // N
    f64_1 partial; // * out
    int64_t first;
    int64_t last;
)

/* result = scale (x + factor y), and sums of its products with `other` as of `dot`; arrays may be the same one. */
KERNEL(add_scaled,
    f32_1 result; // N out
    f32_1 x; // N
    double factor;
    f32_1 y; // N
    double scale;
    f32_1 other; // N
    f64_1 partial; // * out
    int64_t first;
    int64_t last;
)

/* ------------------------------------------------------------------------------------------------------ scoring.c */

/* scores[i] += sum of the weight rows of the features of token rows[i], for places from `first` to `last`. */
KERNEL(multiply,
    i32_1 indices; // *
    i64_1 offsets; // *+1
    i64_1 rows; // B
    f32_2 weights; // F R
    int64_t first;
    int64_t last;
    f32_2 scores; // B R out
)

/* scores[i] += at each of P positions the vector of token rows[i] times that position's weights. `own`: scratch. */
KERNEL(add_dense,
    f32_2 table; // V D
    i32_2 columns; // T P
    i64_1 rows; // B
    f32_2 weights; // * R
    f32_1 own; // R out
    int64_t first;
    int64_t last;
    f32_2 scores; // B R out
)

/* scores[v] = row v of a table times the weights of one position. */
KERNEL(score_words,
    f32_2 table; // V D
    f32_2 weights; // D R
    int64_t first;
    int64_t last;
    f32_2 scores; // V R out
)

/* scores[i] += words[column[i]]. */
KERNEL(add_words,
    f32_2 words; // V R
    i32_1 column; // B
    int64_t first;
    int64_t last;
    f32_2 scores; // B R out
)

/* gradient[p D + d] = sum over tokens rows[i] of their vectors' number d at p times residual[i]. `own`: scratch. */
KERNEL(gather_dense,
    f32_2 table; // V D
    i32_2 columns; // T P
    i64_1 rows; // B
    f32_2 residual; // B R
    int64_t first;
    int64_t last;
    f32_2 own; // G R out
    f32_2 gradient; // G R out
)

/* Token lists of features; `ptr` has each feature's next place. */
KERNEL(transpose,
    i32_1 indices; // *
    i64_1 offsets; // *+1
    i64_1 ptr; // F out
    i32_1 tokens; // * out
)

/* Add to `counts` how often each number is among `indices`. */
KERNEL(count,
    i32_1 indices; // *
    i64_1 counts; // * out
)

/* gradient[features[i]] += sum of the residual rows of the tokens that have it. */
KERNEL(gather,
    i32_1 tokens; // *
    i64_1 ptr; // B+1
    i32_1 features; // B
    f32_2 residual; // * R
    int64_t first;
    int64_t last;
    f32_2 gradient; // F R out
)

/* gradient[features[i] - begin] += rows[i]. */
KERNEL(add_rows,
    i32_1 features; // B
    f32_2 rows; // B R
    int64_t begin;
    f32_2 gradient; // * R out
)

/* ---------------------------------------------------------------------------------------------------- rescoring.c */

/* M mentions, counted in their sentences: `ptr` shows where the ranges of each begin. */
typedef struct {
    i64_1 sentence; // M
    i64_1 kind; // M
    i64_1 ptr; // M+1
    i64_1 first; // R
    i64_1 end; // R
    i64_2 heads; // M 2
} Mentions;

/* C candidates, by sentence and first token: what proposes each, and its log-odds. */
typedef struct {
    Mentions table;
    i64_1 level; // C
    f64_1 odds; // C
} Candidates;

/* The words of N sentences, as hashes, and the document of each sentence. */
typedef struct {
    i64_1 offsets; // N+1
    i64_1 documents; // N
    u64_1 words; // *
} Words;

/* The places that have the words of a likely candidate of their document: sentence, type, first token and end in it.
   Returns how many there are; those beyond `places` are only counted. */
KERNEL(elsewhere,
    Candidates found;
    Words text;
    int64_t longest;
    i64_2 places; // * 4 out
)

/* The hash of each mention: of its sentence, type, ranges and head; never 0. */
KERNEL(identities,
    Mentions mentions;
    u64_1 found; // * out
)

/* The hash of the words of each mention, without what lies in its gaps. */
KERNEL(texts,
    Words text;
    Mentions mentions;
    u64_1 found; // * out
)

/* How training mentions of each text were of a type; see `rescoring/seen.py`. `keys` ascend. */
KERNEL(recall,
    u64_1 text; // C
    i64_1 kind; // C
    u64_1 keys; // M
    i64_1 counts; // M
    double often;
    i64_1 found; // C out
)

/* Values of candidates as wholes, a row of `found` each; see `rescoring/values.py`. Each candidate is compared with
   `following` next at most; one of the level `given` or above is nothing to others. `marks`: hashes of words, and what
   each means in `bits`. `pair`: log-odds of pairs. `found` is of zeros before. */
KERNEL(wholes,
    Candidates candidates;
    Words text;
    u64_1 marks; // B
    u8_1 bits; // B
    f64_1 pair; // *
    int64_t given;
    int64_t following;
    u64_2 found; // * * out
)

/* The value of a column at a token of some mentions, those of the numbers `rows`, in the row `row` of `found`:
   `distance` tokens from the first (0), the last (1), the gap (2), or the token behind the first gap (3). `before` and
   `after` stand for tokens outside of the sentence; 0 for a place within an absent gap. And in the rows `here` what
   these mentions have in the rows `there` of `whole`. */
KERNEL(values_at,
    Columns table;
    i64_1 offsets; // *
    Mentions mentions;
    i64_1 rows; // N
    i64_1 column; // V
    i64_1 place; // V
    i64_1 distance; // V
    i64_1 row; // V
    u64_2 whole; // * *
    i64_1 here; // W
    i64_1 there; // W
    uint64_t before;
    uint64_t after;
    u64_2 found; // * N out
)

/* ---------------------------------------------------------------------------------------------------- overlaps.c */

/* Pairs of mentions of a sentence that have a token in common and are not allowed: the one that has more tokens, the
   other, and how they overlap. Each is compared with `following` next at most. `seen`: how many there are of each way
   and the types of both, allowed or not. Returns how many there are; those beyond `pairs` are only counted. */
KERNEL(overlaps,
    Mentions mentions;
    u8_3 allowed; // 4 K K
    int64_t following;
    i64_2 pairs; // * 3 out
    i64_3 seen; // 4 K K out
)

/* ------------------------------------------------------------------------------------------------------- pairs.c */

/* Pairs of parts that are worth a look: sentence, type, and the ranges of both. `number`: of each token's word.
   `shapes`: tokens of both parts and the gap, with the log-probability of each. `floor`: log-odds that pairs exceed.
   Returns how many there are; those beyond `pairs` are only counted. */
KERNEL(propose_pairs,
    Candidates found;
    Words text;
    i64_1 number; // *
    f32_2 edges; // W 6
    f32_3 kinds; // W 2 K
    f32_2 lengths; // 3 *
    f32_1 rate; // 1
    i64_2 shapes; // S 3
    f64_1 weights; // S
    double floor;
    int64_t given;
    i64_2 pairs; // * 6 out
)

/* The log-odds of each candidate as a pair of parts; -inf for one that has not two, or longer ones. */
KERNEL(score_pairs,
    Candidates candidates;
    Words text;
    i64_1 number; // *
    f32_2 edges; // W 6
    f32_3 kinds; // W 2 K
    f32_2 lengths; // 3 *
    f32_1 rate; // 1
    int64_t given;
    f64_1 found; // * out
)

/* --------------------------------------------------------------------------------------------------------- text.c */

/* The tokens of all stretches without white space that are easy, and the stretches that are left, start and end of
   each; neighbours are one. `classes`: of characters; those beyond are hard. Returns the number of tokens. */
KERNEL(easy_tokens,
    u32_1 codes; // C
    u8_1 classes; // *
    i64_2 tokens; // C 2 out
    i64_2 hard; // C 2 out
    i64_1 left; // 1 out
)

/* Where sentences may end in N texts, one behind the other; text i is from bounds[i] to bounds[i+1]. `sure`: behind a
   full stop between a word, none of those of `ruled`, ascending hashes, and a capital letter. `unsure`: at a mark that
   a rule decides about, among them `marks`, characters beyond ASCII. `lines`: which texts have a line end. `counts`:
   how many are sure and unsure. */
KERNEL(stops,
    u32_1 codes; // C
    i64_1 bounds; // N+1
    u32_1 marks; // *
    u64_1 ruled; // *
    i64_1 sure; // C out
    i64_1 unsure; // C out
    u8_1 lines; // N out
    i64_1 counts; // 2 out
)

/* Lists of pairs of numbers as JSON, `[[0,2],[3,8]]`, one behind the other, in bytes of ASCII: 44 for each pair, and
   two for each list, are enough. List i is of the pairs from ptr[i] to ptr[i+1]; `ends` is where it ends. Returns the
   number of bytes. */
KERNEL(write_pairs,
    i64_2 pairs; // N 2
    i64_1 ptr; // L+1
    u8_1 found; // * out
    i64_1 ends; // L out
)

/* --------------------------------------------------------------------------------------------------- vocabulary.c */

/* Texts as sparse vectors, the sums of their words' vectors; features in the order of their first occurrence. */
KERNEL(vectors,
    i64_1 words; // *
    i64_1 ptr; // Q+1
    i64_1 feature_ptr; // *+1
    i64_1 features; // F
    f32_1 counts; // F
    int64_t size;
    i64_1 out_ptr; // Q+1 out
    i64_1 out_features; // M out
    f32_1 out_counts; // M out
)

/* The k concepts with the largest scalar products, each by its best row; best first, of equal ones the lower concept.
   `row_concept` ascends. */
KERNEL(nearest,
    i64_1 ptr; // Q+1
    i64_1 features; // F
    f32_1 weights; // F
    i64_1 posting_ptr; // *+1
    i32_1 postings; // P
    f32_1 posting_weights; // P
    i32_1 row_concept; // *
    int64_t k;
    i64_1 out_ptr; // Q+1 out
    i32_1 out_row; // M out
    f32_1 out_score; // M out
)

/* The best concepts by their best rows, of those above 0; as many as fit. Returns how many. */
KERNEL(best_concepts,
    f32_1 scores; // R
    i32_1 row_concept; // R
    i32_1 best_row; // K out
    f32_1 best_score; // K out
)

/* Runs of tokens whose values sum to a key; they begin and end with a value that is not 0, and leave no sentence.
   Returns their number; where it is larger than the output, call again with more room. */
KERNEL(runs,
    u64_1 values; // *
    i64_1 bounds; // *+1
    int64_t longest;
    u64_1 keys; // *
    u64_1 table; // *
    int64_t shift;
    i64_1 out_first; // M out
    i64_1 out_end; // M out
    i64_1 out_key; // M out
)

/* ----------------------------------------------------------------------------------------------------- language.c */

/* The n-grams of one order, as the children of their contexts. */
typedef struct {
    i64_1 ptr; // *+1
    i32_1 words; // N
    f32_1 scores; // N
    f32_1 backoff; // N
} Level;

/* The log10 probability of each word after none, one and two words before it in its sentence, from <s> to </s>. */
KERNEL(score_words_of,
    i32_1 stream; // S
    Level unigrams;
    Level bigrams;
    Level trigrams;
    f32_2 scores; // S 3 out
)

/* --------------------------------------------------------------------------------------------------------- link.c */

/* Weights by 64-bit key, in the order in which they entered. An unknown key weighs nothing. With each weight w
   is kept u, the sum of its changes, each times the number of steps before it: the mean of w after each of c steps is
   w - u / c. `sums` are empty where nothing is learned; `used`: how many keys there are. */
typedef struct {
    u64_1 slots; // *
    int64_t shift;
    u64_1 keys; // N
    f32_1 weights; // N
    f64_1 sums; // *
    i64_1 used; // 1
} WeightTable;

/* The preferred names of V concepts: hashes of the first and the last word, and how many words. */
typedef struct {
    u64_1 first; // V
    u64_1 last; // V
    i64_1 size; // V
} Forms;

/* N sentences with T tokens, S spans that may be entities, and C candidate concepts: see `spanloom.link.instances`. */
typedef struct {
    i64_1 offsets; // N+1
    i64_1 document; // N
    u64_1 words; // T
    u64_1 endings; // T
    u64_1 shapes; // T
    u8_2 language; // T *
    i64_1 span_ptr; // N+1
    i32_1 span_first; // S
    i32_1 span_end; // S
    u8_1 span_known; // S
    u64_3 span_keys; // S * *
    u64_2 nil_keys; // S *
    i64_1 cand_ptr; // S+1
    i32_1 cand_concept; // C
    u8_1 cand_class; // C
    u64_2 cand_keys; // C *
} LinkData;

/* What scores derivations: K types; entities have at most `longest` tokens; `nil`: one that has candidates may be
   linked to none of them. */
typedef struct {
    WeightTable table;
    Forms forms;
    u64_1 program; // *
    int64_t nil;
    int64_t types;
    int64_t longest;
} BeamModel;

/* Scores of the next label that derivations share: `used` of them. */
typedef struct {
    u64_1 contexts; // B out
    f32_2 scores; // B * out
    i64_1 used; // 1 out
} SharedScores;

/* Scratch memory for sentences of up to T tokens with a beam of B: see `spanloom.link.learning.Workspace`. */
typedef struct {
    i64_3 states; // 2 B * out
    f64_2 scores; // 2 B out
    i32_2 parent; // T B out
    i32_2 choice; // T B out
    i32_2 label; // T B out
    i32_2 span_at; // T L out
    f32_3 segments; // T L * out
    f32_1 choices; // R out
    u64_1 context; // R out
    f32_1 closing; // R out
    f32_2 following; // R * out
    SharedScores near;
    SharedScores far;
    i64_1 linked; // * out
    u64_1 keys; // * out
} Workspace;

/* Train on sentences in an order, from `begin`, until the table has no room for the next one. `indices`, `offsets` and
   `values` are the features of tokens; `ptr`, `sentences` and `concepts` what each document is linked to, and where
   first; `step`: how many sentences were seen before; `forced`: labels that are prescribed, or -1. `reached`: how far
   it came in the order, and how many updates were made. */
KERNEL(link_train,
    BeamModel model;
    LinkData data;
    i32_1 indices; // I
    i64_1 offsets; // *+1
    f32_1 values; // I
    i32_1 gold_label; // T
    i32_1 gold_choice; // T
    i64_1 ptr; // *+1
    i64_1 sentences; // H
    i64_1 concepts; // H
    i64_1 order; // *
    int64_t begin;
    int64_t step;
    f32_2 weights; // F R out
    f64_2 sums; // F R out
    Workspace work;
    f32_2 local; // * R out
    int64_t width;
    i32_1 forced; // T
    double margin;
    i64_1 reached; // 2 out
)

/* The best derivations of sentences `first` to `last`, in the documents' order; `local` are scores of the roles at the
   tokens from `base` on; `out_choice`: of the entity whose last token it is, else -1. */
KERNEL(link_predict,
    BeamModel model;
    LinkData data;
    int64_t first;
    int64_t last;
    f32_2 local; // * R
    int64_t base;
    Workspace work;
    int64_t width;
    i32_1 forced; // T
    i32_1 out_label; // T out
    i32_1 out_choice; // T out
    f64_1 out_score; // N out
)

/* Search one sentence. Returns the steps taken; labels and choices of the best derivation, and whether it is the gold
   one. */
KERNEL(link_search,
    BeamModel model;
    LinkData data;
    Workspace work;
    int64_t sentence;
    f32_2 local; // * R
    int64_t width;
    i32_1 forced; // T
    i32_1 gold_label; // T
    i32_1 gold_choice; // T
    int64_t learn;
    double margin;
    i32_1 labels; // S out
    i32_1 choices; // S out
    i64_1 right; // 1 out
)

/* Walk along a derivation of a sentence, from step `begin`: token and role of its actions, and their keys; `counts`:
   how many of each. With `note`, only what the sentence is linked to is noted. */
KERNEL(link_walk,
    BeamModel model;
    LinkData data;
    Workspace work;
    int64_t sentence;
    i32_1 labels; // S
    i32_1 choices; // S
    int64_t begin;
    int64_t steps;
    int64_t note;
    i64_2 roles; // * 2 out
    u64_1 keys; // * out
    i64_1 counts; // 2 out
)

/* The weight of each of some keys. */
KERNEL(link_weights,
    WeightTable table;
    u64_1 keys; // K
    f32_1 weights; // K out
)

/* Add to the weights of some keys, at a step of training. */
KERNEL(link_change,
    WeightTable table;
    u64_1 keys; // K
    f64_1 deltas; // K
    double step;
)

/* The role of a label after another one. */
KERNEL(link_role,
    int64_t types;
    int64_t previous;
    int64_t label;
)

/* The highest probability of a span of the same sentence that overlaps, or what `found` has before. */
KERNEL(rivals,
    i64_1 ptr; // *+1
    i64_1 first; // S
    i64_1 end; // S
    f64_1 probability; // S
    f64_1 found; // S out
)

/* ------------------------------------------------------------------------------------------------------ strands.c */

/* R runs between J joints, which are numbered from left to right: see `spanloom.structures.strands.graph.StrandRuns`.
*/
typedef struct {
    i64_1 tail; // R
    i64_1 head; // R
    i64_1 leaves; // R
    i64_1 enters; // R
    i64_1 sentence; // R
    i64_1 kind; // R
    i64_1 ptr; // R+1
    i64_1 bounds; // *
    i64_1 place; // J
} StrandRuns;

/* Number the joints of a strand, with -1 for other nodes; count joints, runs and bounds. */
KERNEL(count_runs,
    u8_2 start; // T K
    u8_3 links; // T K P
    i32_3 number; // T K P out
    i64_1 counts; // 3 out
)

/* Find the runs of a valid strand, which are filled in; `heads`: whether it is a strand of heads. */
KERNEL(contract,
    u8_2 start; // T K
    u8_3 links; // T K P
    i32_3 number; // T K P
    int64_t heads;
    i64_1 offsets; // *+1
    StrandRuns runs;
)

/* The units of each run in a minimum flow: by how many paths it is used. */
KERNEL(cover_runs,
    StrandRuns runs;
    i64_1 units; // R out
)

/* As few paths as use every run: sentence, kind and size, and bounds, tokens of the batch, with -1 where there are
   fewer. */
KERNEL(read_paths,
    StrandRuns runs;
    i64_1 units; // R
    i64_1 sentence; // M out
    i64_1 kind; // M out
    i64_1 size; // M out
    i64_2 bounds; // M * out
)

/* Write the strand of one position that hyperedges show. `now`, `following`: the bits of each for its token and for the
   next, the last row for none; `start`: the bit of the start of a mention. */
KERNEL(flagged,
    i16_3 edges; // T K *
    u8_1 now; // E
    u8_1 following; // E
    int64_t start;
    u8_2 begins; // T K out
    u8_3 links; // T K 1 out
)

/* Write one of the strands that hyperedges show. `place`: strand, position and links of each hyperedge, the last row
   for none; of a start, position -1 and the positions as bits. */
KERNEL(stranded,
    i16_3 edges; // T K *
    i64_2 place; // * 3
    int64_t strand;
    u8_2 start; // T K out
    u8_3 links; // T K P out
)

/* ----------------------------------------------------------------- hypergraph.h: tables and scores of the engines */

/* Roles and constants of E hyperedges: see `spanloom.hypergraph.tables`. */
typedef struct {
    i64_1 constant; // E
    i64_1 role_ptr; // E+1
    i64_1 role; // L
    i64_1 step; // L
    i64_1 varying; // *
} Hyperedges;

/* S states of a token, and C choices that lead from state to state: see `spanloom.hypergraph.tables`. */
typedef struct {
    i64_1 order; // *
    i64_1 first; // S
    i64_1 stop; // S
    i64_1 source; // C
    i64_1 edge; // C
    i64_1 target_ptr; // C+1
    i64_1 target; // *
    i64_1 bundle_ptr; // *+1
    i64_1 bundle_edge; // *
    i64_1 accept; // *
    int64_t root;
    i16_1 number; // E
    Hyperedges hyperedges;
} Automaton;

/* Scores of T tokens, R roles and K types, and of C constants; `gate`: for each token the row of `allowed`, -1 where
   nothing is forbidden, or nothing at all; `allowed`: 0 where a hyperedge of the template is forbidden, a column for
   each hyperedge and type. */
typedef struct {
    f32_3 roles; // T R K
    f32_2 constants; // C K
    i64_1 gate; // *
    u8_2 allowed; // * *
} Potentials;

/* --------------------------------------------------------------------------------------------------------- sums.c */

/* log_partition of each sentence and type and, where `expected` has rows, expected counts of roles and of constants.
   Sentences are in groups, as ranges of `sentences`, longest first; `backward` are the choices by source, last stages
   first, `forward` by target, first stages first; the automaton has bundles; `room`: scratch, R + S numbers for each
   lane of a group and each token of its longest sentence; `safely`: made 0 where a lane must be computed again, of
   which nothing is in the counts. */
KERNEL(sums,
    Potentials scores;
    i64_1 group_ptr; // *+1
    i64_1 sentences; // *
    i64_1 offsets; // N+1
    i64_1 backward; // *
    i64_1 forward; // *
    Automaton automaton;
    f64_1 room; // * out
    f64_2 log_partition; // N K out
    u8_2 safely; // N K out
    f32_3 expected; // * * * out
    f64_3 totals; // N * K out
)

/* -------------------------------------------------------------------------------------------------------- paths.c */

/* log_partition of one sentence, from row `start` to `end`, and type in the log domain; add to `expected` and `totals`,
   if `expected` has rows. */
KERNEL(log_sums,
    Potentials scores;
    int64_t start;
    int64_t end;
    int64_t kind;
    i64_1 backward; // *
    i64_1 forward; // *
    Automaton automaton;
    f64_1 log_partition; // 1 out
    f32_3 expected; // * * * out
    f64_2 totals; // * * out
)

/* The best structures of one sentence and type, best first; -inf where there are fewer. The automaton has no bundles.
   `edges`: the hyperedges picked at each token, -1 for no more. */
KERNEL(kbest,
    Potentials scores;
    int64_t start;
    int64_t end;
    int64_t kind;
    Automaton automaton;
    f64_1 score; // B out
    i16_3 edges; // B * * out
)

/* ------------------------------------------------------------------------------------------------------- guards.c */

/* Automata with states of their own at each of some tokens, side by side: see `spanloom.hypergraph.guards`. */
typedef struct {
    i64_1 begin; // *+1
    i64_2 letter; // * E
    i64_1 ptr; // *+1
    i64_2 next; // S *
    i64_1 exit; // S
} Guards;

/* The structures that guards let through, of some lanes, each a sentence and a type; guards are at tokens of their
   sentences from `low` on. If `edges` has rows, the best structures: their hyperedges are appended, and their scores
   added to `total`. Else the logarithms of sums are added, and `probability` is multiplied by that of each of Q paths,
   whose rows are those of `usable` choices at the tokens from `first` on. -inf where nothing is let through. The
   automaton has no bundles. */
KERNEL(guarded,
    Potentials scores;
    i64_1 offsets; // *+1
    i64_1 lanes; // *
    i64_1 sentence; // L
    i64_1 kind; // L
    i64_1 placed_ptr; // L+1
    i64_1 guard; // G
    i64_1 low; // G
    Automaton automaton;
    Guards guards;
    i64_1 query_ptr; // L+1
    i64_1 first; // Q
    i64_1 row_ptr; // Q+1
    i64_1 row; // *
    u8_2 usable; // * *
    f64_1 total; // L out
    i16_3 edges; // * * * out
    f64_1 probability; // Q out
)

/* -------------------------------------------------------------------------------------------------- derivations.c */

/* log_partition over derivations of each sentence and type and, where `expected` has rows, expected counts. */
KERNEL(derivation_sums,
    Potentials scores;
    i64_1 sentences; // *
    i64_1 offsets; // N+1
    Automaton automaton;
    f64_2 log_partition; // N K out
    f32_3 expected; // * * * out
    f64_3 totals; // N * K out
)

/* --------------------------------------------------------------------------------------------------------- best.c */

/* The best structure of each lane, a sentence and a type; of equal choices the first hyperedge wins. Lanes run side by
   side in groups, as ranges, longest sentences first. `added`: to the scores of roles. `score` is added to, -inf where
   every structure is forbidden; `edges`: the hyperedges picked at each token, parents first, appended to existing ones,
   in a row for each token of a lane from `row` on, and in `column`; `marked`: made 1 where the structure picks a
   hyperedge that has a `mark`. */
KERNEL(best,
    Potentials scores;
    f32_1 added; // *
    i64_1 group_ptr; // *+1
    i64_1 sentence; // L
    i64_1 kind; // L
    i64_1 offsets; // N+1
    i64_1 row; // L
    i64_1 column; // L
    u8_1 mark; // *
    Automaton automaton;
    f64_1 score; // L out
    u8_1 marked; // L out
    i16_3 edges; // * * * out
)

/* --------------------------------------------------------------------------------------------------------- gold.c */

/* E hyperedges of a template with V kinds: see `spanloom.hypergraph.tables`. */
typedef struct {
    int64_t root;
    i64_1 head; // E
    i64_1 child_ptr; // E+1
    i64_1 child; // L
    i64_1 step; // L
    u8_1 final; // V
    Hyperedges hyperedges;
} Graph;

/* Count each role and constant of structures; with `unfold`, a shared node once for each parent. `edges`: as `best`
   gives them; `roles` have no rows to count constants only. Returns the first token whose hyperedges are not those of
   the nodes reached there; -1 for none. */
KERNEL(count_roles,
    i16_3 edges; // * * *
    i64_1 sentences; // *
    i64_1 offsets; // *+1
    Graph graph;
    int64_t unfold;
    f32_3 roles; // * * * out
    f64_2 constants; // * * out
)

/* Count each constant where a hyperedge counts once, without a check of the structure. */
KERNEL(count_constants,
    i16_3 edges; // * K *
    i64_1 sentences; // *
    i64_1 offsets; // *+1
    i64_1 edge_constant; // *
    f64_2 constants; // * K out
)

/* -------------------------------------------------------------------------------------------------------- walks.c */

/* Q paths: from a token on, a structure picks only allowed hyperedges. See `spanloom.hypergraph.tables`. */
typedef struct {
    i64_1 sentence; // Q
    i64_1 kind; // Q
    i64_1 first; // Q
    i64_1 run_ptr; // Q+1
    i64_1 row; // L
    i64_1 size; // L
    u8_2 allowed; // * *
} Paths;

/* The probability of each path or, `late`, the expected number of times in a derivation, 1 at most. `allowed` of the
   paths is here of choices; `starts`: for each row the entries where a path may begin; `order`: paths sorted by
   sentence and type, and then by token. The automaton has no bundles. */
KERNEL(path_probability,
    Potentials scores;
    i64_1 offsets; // *+1
    Paths paths;
    u8_2 starts; // * *
    i64_1 order; // *
    int64_t late;
    Automaton automaton;
    f64_1 probability; // Q out
)

/* Draw structures of one sentence and type, each with its probability. `random`: numbers drawn between 0 and 1;
   `edges`: the hyperedges picked at each token, -1 for no more. The automaton has no bundles. Returns whether there are
   any. */
KERNEL(sample,
    Potentials scores;
    int64_t start;
    int64_t end;
    int64_t kind;
    f64_3 random; // B T D
    Automaton automaton;
    i16_3 edges; // B T D out
)

/* The kernels' own exponential function and logarithm. */
KERNEL(take_exponentials,
    f64_1 x; // N
    f64_1 result; // N out
)

KERNEL(take_logarithms,
    f64_1 x; // N
    f64_1 result; // N out
)

/* ------------------------------------------------------------------------------------------------------- sparse.c */

/* The product of a sparse matrix, by rows, and a dense one. */
KERNEL(sparse_product,
    i64_1 ptr; // R+1
    i64_1 columns; // P
    f64_1 values; // P
    f64_2 dense; // * D
    f64_2 result; // R D out
)

/* The largest matching of rows with `size` columns that a sparse matrix joins: the column of each row, -1 for none.
   Returns the number of pairs. */
KERNEL(match,
    i64_1 ptr; // R+1
    i64_1 columns; // *
    int64_t size;
    i64_1 partner; // R out
)
