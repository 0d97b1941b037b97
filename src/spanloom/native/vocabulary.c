/* Candidate search: texts to vectors, the nearest concepts, runs of tokens that are names. */
#include "hashing.h"
#include "spanloom.h"

int64_t spanloom_vectors(const vectors_arguments *a) {
    memory own = {0};
    float *total = TAKE_ZEROS(&own, float, a->size);
    if (own.failed) return give_back(&own, NO_MEMORY);
    int64_t n = 0, words = a->feature_ptr.n - 1;
    a->out_ptr.at[0] = 0;
    for (int64_t q = 0; q + 1 < a->ptr.n; q++) {
        int64_t begin = n;
        if (a->ptr.at[q] < 0 || a->ptr.at[q + 1] > a->words.n) return give_back(&own, BAD_INDEX);
        for (int64_t w = a->ptr.at[q]; w < a->ptr.at[q + 1]; w++) {
            int64_t word = a->words.at[w];
            if (word < 0 || word >= words) return give_back(&own, BAD_INDEX);
            int64_t low = a->feature_ptr.at[word], high = a->feature_ptr.at[word + 1];
            if (low < 0 || high > a->features.n) return give_back(&own, BAD_INDEX);
            for (int64_t i = low; i < high; i++) {
                int64_t feature = a->features.at[i];
                if (feature < 0 || feature >= a->size) return give_back(&own, BAD_INDEX);
                if (total[feature] == 0.0f) {
                    if (n >= a->out_features.n) return give_back(&own, BAD_INDEX);
                    a->out_features.at[n++] = feature;
                }
                total[feature] += a->counts.at[i];
            }
        }
        for (int64_t i = begin; i < n; i++) {
            a->out_counts.at[i] = total[a->out_features.at[i]];
            total[a->out_features.at[i]] = 0.0f;
        }
        a->out_ptr.at[q + 1] = n;
    }
    return give_back(&own, 0);
}

/* The best concepts by their best rows, of those above 0; rows are in the order of their concepts. Returns how many. */
static int64_t best_rows(f32_1 scores, i32_1 row_concept, i32_1 best_row, f32_1 best_score) {
    int64_t k = best_row.n, found = 0, row = 0;
    float lowest = 0.0f;
    while (row < scores.n && k > 0) {
        if (!(scores.at[row] > lowest)) {
            row++;
            continue;
        }
        int32_t concept = row_concept.at[row];
        int64_t top = row;
        for (; row < scores.n && row_concept.at[row] == concept; row++) /* those before were no better than `lowest` */
            if (scores.at[row] > scores.at[top]) top = row;
        float score = scores.at[top];
        if (found < k) found++;
        int64_t place = found - 1;
        for (; place > 0 && best_score.at[place - 1] < score; place--) {
            best_score.at[place] = best_score.at[place - 1];
            best_row.at[place] = best_row.at[place - 1];
        }
        best_score.at[place] = score;
        best_row.at[place] = (int32_t)top;
        if (found == k) lowest = best_score.at[k - 1];
    }
    return found;
}

int64_t spanloom_best_concepts(const best_concepts_arguments *a) {
    return best_rows(a->scores, a->row_concept, a->best_row, a->best_score);
}

/* Each query adds its weight times theirs to the rows that have its features; then one pass over the rows, which are
   ordered by concept, keeps the best k. */
int64_t spanloom_nearest(const nearest_arguments *a) {
    int64_t rows = a->row_concept.n, n = 0, k = a->k;
    memory own = {0};
    float *sums = TAKE(&own, float, rows), *best_score = TAKE(&own, float, k);
    int32_t *best_row = TAKE(&own, int32_t, k);
    if (own.failed) return give_back(&own, NO_MEMORY);
    if (a->out_row.n < (a->ptr.n - 1) * k) return give_back(&own, BAD_INDEX);
    a->out_ptr.at[0] = 0;
    for (int64_t q = 0; q + 1 < a->ptr.n; q++) {
        if (a->ptr.at[q] < 0 || a->ptr.at[q + 1] > a->features.n) return give_back(&own, BAD_INDEX);
        memset(sums, 0, (size_t)rows * sizeof *sums);
        for (int64_t i = a->ptr.at[q]; i < a->ptr.at[q + 1]; i++) {
            int64_t feature = a->features.at[i];
            float weight = a->weights.at[i];
            if (feature < 0 || feature >= a->posting_ptr.n - 1) return give_back(&own, BAD_INDEX);
            int64_t low = a->posting_ptr.at[feature], high = a->posting_ptr.at[feature + 1];
            if (low < 0 || high > a->postings.n) return give_back(&own, BAD_INDEX);
            for (int64_t p = low; p < high; p++) {
                int64_t row = a->postings.at[p];
                if (row < 0 || row >= rows) return give_back(&own, BAD_INDEX);
                sums[row] += weight * a->posting_weights.at[p];
            }
        }
        int64_t found = best_rows((f32_1){sums, rows}, a->row_concept, (i32_1){best_row, k}, (f32_1){best_score, k});
        for (int64_t i = 0; i < found; i++, n++) {
            a->out_row.at[n] = best_row[i];
            a->out_score.at[n] = best_score[i];
        }
        a->out_ptr.at[q + 1] = n;
    }
    return give_back(&own, 0);
}

int64_t spanloom_runs(const runs_arguments *a) {
    int64_t n = 0;
    for (int64_t s = 0; s + 1 < a->bounds.n; s++) {
        if (a->bounds.at[s] < 0 || a->bounds.at[s + 1] > a->values.n) return BAD_INDEX;
        for (int64_t first = a->bounds.at[s]; first < a->bounds.at[s + 1]; first++) {
            if (a->values.at[first] == 0) continue;
            uint64_t total = 0;
            for (int64_t last = first; last < least(first + a->longest, a->bounds.at[s + 1]); last++) {
                total += a->values.at[last];
                if (a->values.at[last] == 0) continue;
                int64_t key = find_number(a->table, a->shift, a->keys.at, a->keys.n, total);
                if (key < 0) continue;
                if (n < a->out_first.n) {
                    a->out_first.at[n] = first;
                    a->out_end.at[n] = last + 1;
                    a->out_key.at[n] = key;
                }
                n++;
            }
        }
    }
    return n;
}
