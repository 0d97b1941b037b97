/* Look-up of n-grams. */
#include "spanloom.h"

#define FIRST_WORD 1 /* the number of <s> */

/* The number of an n-gram, -1 if it is missing and -2 if the table is damaged, by binary search among the children of
   its context. */
static int64_t find_gram(const Level *level, int64_t context, int64_t word) {
    if (context < 0 || context + 1 >= level->ptr.n) return -2;
    int64_t low = level->ptr.at[context], end = level->ptr.at[context + 1], high = end;
    if (low < 0 || end > level->words.n) return -2;
    while (low < high) {
        int64_t middle = (low + high) >> 1;
        if (level->words.at[middle] < word) low = middle + 1;
        else high = middle;
    }
    return low < end && level->words.at[low] == word ? low : -1;
}

/* A probability that is not listed is that of the shorter n-gram times the context's back-off weight, 1 if the context
   is not listed either. Of a sentence's first word the only context is <s>; <s> itself has no score. */
int64_t spanloom_score_words_of(const score_words_of_arguments *a) {
    int64_t before = -1, context = -1; /* the word before, and the bigram that ends with it */
    for (int64_t i = 0; i < a->stream.n; i++) {
        int64_t word = a->stream.at[i];
        float *scores = &AT2(a->scores, i, 0);
        if (word < 0 || word >= a->unigrams.scores.n || word >= a->unigrams.backoff.n) return BAD_INDEX;
        if (word == FIRST_WORD) {
            scores[0] = scores[1] = scores[2] = 0.0f;
            before = word;
            context = -1;
            continue;
        }
        scores[0] = a->unigrams.scores.at[word];
        int64_t pair = before < 0 ? -1 : find_gram(&a->bigrams, before, word);
        if (pair < -1) return BAD_INDEX;
        float weight = before < 0 ? 0.0f : a->unigrams.backoff.at[before];
        scores[1] = pair >= 0 ? a->bigrams.scores.at[pair] : weight + scores[0];
        scores[2] = scores[1];
        if (context >= 0) {
            int64_t triple = find_gram(&a->trigrams, context, word);
            if (triple < -1) return BAD_INDEX;
            scores[2] = triple >= 0 ? a->trigrams.scores.at[triple] : a->bigrams.backoff.at[context] + scores[1];
        }
        before = word;
        context = pair;
    }
    return 0;
}
