/* SPDX-License-Identifier: Apache-2.0 */
/* sentence.c - see sentence.h. */
#include "steps/sentence.h"

#include "core/base.h"
#include "core/hash.h"
#include "steps/stream.h"

#include <stdlib.h>

/* --------------------------------------------------------------------------------------- words */

static bool is_space(char c) { return (unsigned char)c <= ' ' || c == 127; }

/* The length of the word that *text is moved to; 0 at the end. */
static size_t next_word(const char **text) {
    size_t n = 0;
    while (**text && is_space(**text)) ++*text;
    while ((*text)[n] && !is_space((*text)[n])) n++;
    if (n > 1 && strchr(".,;:!?", (*text)[n - 1])) n--;
    return n;
}

static char *copy_word(const char *text, size_t length) {
    char *word = malloc(length + 1);
    if (!word) return NULL;
    memcpy(word, text, length);
    word[length] = 0;
    return word;
}

attn_status lab_words_split(const char *sentence, lab_words *words, attn_error *err) {
    int64_t n = 0;
    const char *text = sentence;
    *words = (lab_words){0};
    for (size_t length; (length = next_word(&text)) > 0; text += length) n++;
    if (n == 0) return attni_fail(err, ATTN_E_VALUE, "the sentence is empty; give some words");
    if (n > LAB_MOST_WORDS)
        return attni_fail(err, ATTN_E_VALUE, "the sentence has %lld words, expected at most %d",
                          (long long)n, LAB_MOST_WORDS);
    words->word = calloc((size_t)n, sizeof *words->word);
    text = sentence;
    for (size_t length; words->word && (length = next_word(&text)) > 0; text += length) {
        words->word[words->n] = copy_word(text, length);
        if (!words->word[words->n]) break;
        words->n++;
    }
    if (words->n == n) return ATTN_OK;
    lab_words_free(words);
    return attni_fail(err, ATTN_E_MEMORY, "out of memory for %lld words", (long long)n);
}

void lab_words_free(lab_words *words) {
    for (int64_t i = 0; i < words->n; i++) free(words->word[i]);
    free(words->word);
    *words = (lab_words){0};
}

/* ------------------------------------------------------------------------------------- numbers */

static void draw(lab_stream *stream, int64_t n, double factor, double *x) {
    lab_stream_normals(stream, (size_t)n, factor, x);
    for (int64_t i = 0; i < n; i++) x[i] = round(100 * x[i]) / 100 + 0.0; /* no -0 */
}

/* A hash of the letters, begun from the seed. */
static uint32_t hash(const char *word, uint32_t seed) {
    return attni_fnv1a_32(ATTNI_FNV1A_32_BEGIN ^ (seed * 2654435761u), word, strlen(word));
}

static void embed(const lab_words *words, uint32_t seed, int64_t d_model, double *x) {
    lab_stream stream;
    for (int64_t i = 0; i < words->n; i++) {
        lab_stream_seed(&stream, hash(words->word[i], seed));
        draw(&stream, d_model, 1, x + i * d_model);
    }
}

static attn_status check(const lab_random *how, int64_t *d_k, attn_error *err) {
    if (how->H < 1 || how->H > how->d_model || how->d_model > LAB_MOST_WIDTH)
        return attni_fail(err, ATTN_E_VALUE,
                          "heads: %lld, d_model: %lld, expected 1 <= heads <= d_model <= %d",
                          (long long)how->H, (long long)how->d_model, LAB_MOST_WIDTH);
    if (how->d_k == 0 && how->d_model % how->H)
        return attni_fail(err, ATTN_E_VALUE,
                          "heads: %lld do not divide d_model = %lld; choose a divisor or give d_k",
                          (long long)how->H, (long long)how->d_model);
    *d_k = how->d_k ? how->d_k : how->d_model / how->H;
    if (*d_k >= 1 && *d_k * how->H <= LAB_MOST_WIDTH) return ATTN_OK;
    return attni_fail(err, ATTN_E_VALUE, "d_k: %lld for %lld heads, expected at most %d in all",
                      (long long)*d_k, (long long)how->H, LAB_MOST_WIDTH);
}

attn_status lab_sentence_problem(const lab_words *words, const lab_random *how,
                                 lab_problem *problem, double **memory, attn_error *err) {
    static const lab_part drawn[] = {LAB_W_Q, LAB_W_K, LAB_W_V, LAB_W_O};
    int64_t d_k = 0;
    *memory = NULL;
    ATTN_TRY(check(how, &d_k, err));
    const int64_t d = how->d_model, all = how->H * d_k;
    double *x = malloc((size_t)(words->n * d + 4 * d * all) * sizeof *x);
    if (!x) return attni_fail(err, ATTN_E_MEMORY, "out of memory for the embeddings");
    *problem = lab_problem_defaults();
    problem->H = how->H;
    problem->given[LAB_X] = (lab_matrix){words->n, d, x};
    embed(words, how->seed, d, x);
    double *next = x + words->n * d;
    lab_stream stream;
    lab_stream_seed(&stream, how->seed);
    for (size_t i = 0; i < 4; i++, next += d * all) {
        const int64_t rows = drawn[i] == LAB_W_O ? all : d, columns = d * all / rows;
        draw(&stream, d * all, 1 / sqrt((double)rows), next);
        problem->given[drawn[i]] = (lab_matrix){rows, columns, next};
    }
    *memory = x;
    return ATTN_OK;
}
