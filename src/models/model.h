/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - a transformer with its vocabulary and its weights (f32). look.h runs it on a text.
 * Tests: tests/models/test_model.c */
#ifndef ATTNI_MODEL_H
#define ATTNI_MODEL_H

#include "models/parameters.h"

typedef struct attni_model {
    attni_model_config config;
    attni_parameters parameters;
    float *weights;           /* (parameters.total) */
    const char *const *words; /* (config.n_words) */
    char task[32];            /* the task it was trained for, "" if unknown */
    uint64_t seed;            /* seed of the initial weights */
    int64_t steps;            /* training steps so far */
    void *text;               /* memory of words that came from a file; else NULL */
} attni_model;

/* Creates a model with initial weights from the seed. Keeps words. Errors: VALUE, MEMORY; *model is
 * then empty. */
attn_status attni_model_create(const attni_model_config *config, const char *const *words,
                               uint64_t seed, attni_model *model, attn_error *err);
void attni_model_free(attni_model *model);

/* The token of this word: as written, otherwise with the case of the first letter changed; -1 if
 * there is none. */
int32_t attni_model_word(const attni_model *model, const char *letters, size_t n);

/* Moves *text to its next word and returns the length of that word; a full stop at the end of a
 * word is a word of its own. 0 at the end of the text. */
size_t attni_model_cut(const char **text);

/* Writes the weights as a safetensors file in memory; the metadata holds configuration, words and
 * origin. */
attn_status attni_model_pack_size(const attni_model *model, size_t *size, attn_error *err);
attn_status attni_model_pack(const attni_model *model, void *bytes, attn_error *err);
/* Reads what pack wrote, without trusting it. Errors: VALUE (not such a file), MEMORY. */
attn_status attni_model_unpack(const void *bytes, size_t size, attni_model *model, attn_error *err);

#endif
