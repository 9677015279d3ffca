/* SPDX-License-Identifier: Apache-2.0 */
/* sentence.h - turns the user's own sentence into a problem: words, and seeded random embeddings
 * and weights that show the arithmetic, not meaning. Tests: tests/lab/test_steps.c */
#ifndef LAB_SENTENCE_H
#define LAB_SENTENCE_H

#include "steps/steps.h"

enum { LAB_MOST_WORDS = 512, LAB_MOST_WIDTH = 1024 };

typedef struct lab_words {
    int64_t n;
    char **word; /* (n) */
} lab_words;

/* Words are separated by spaces and control characters; one of .,;:!? at the end of a word is a
 * word of its own. Errors: VALUE (no words, or more than LAB_MOST_WORDS), MEMORY; *words is then
 * empty. */
attn_status lab_words_split(const char *sentence, lab_words *words, attn_error *err);
void lab_words_free(lab_words *words);

typedef struct lab_random {
    int64_t H, d_model, d_k; /* d_k 0: d_model / H; d_v is as d_k */
    uint32_t seed;
} lab_random;

/* X, W_Q, W_K, W_V and W_O for the words, normally distributed and rounded to two decimals so that
 * they can be checked by hand. The embedding depends only on the word, the seed and d_model: same
 * word, same row. Weights have a variance of 1 / rows, so that products keep a variance near 1.
 * *memory owns the numbers: free(). Errors: VALUE, MEMORY. */
attn_status lab_sentence_problem(const lab_words *words, const lab_random *how,
                                 lab_problem *problem, double **memory, attn_error *err);

#endif
