/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - a transformer with its words and its weights (f32). What it does with a text: look.h.
 * Tests: tests/models/test_model.c */
#ifndef ATTNI_MODEL_H
#define ATTNI_MODEL_H

#include "models/parameters.h"

typedef struct attni_model {
    attni_model_config config;
    attni_parameters parameters;
    float *weights;           /* (parameters.total) */
    const char *const *words; /* (config.n_words) */
    char task[32];            /* what it was trained for, "" if unknown */
    uint64_t seed;            /* that its weights began with */
    int64_t steps;            /* of training behind it */
    void *text;               /* memory of words that came from a file; else NULL */
} attni_model;

/* Weights at their start, by the seed. Keeps words. Errors: VALUE, MEMORY; *model is then empty. */
attn_status attni_model_create(const attni_model_config *config, const char *const *words,
                               uint64_t seed, attni_model *model, attn_error *err);
void attni_model_free(attni_model *model);

/* The token that these letters are: as they are written, else with another first letter case; -1
 * if there is none. */
int32_t attni_model_word(const attni_model *model, const char *letters, size_t n);

/* Moves *text to its next word and returns the length of that; a full stop at the end of a word is
 * a word of its own. 0 at the end of the text. */
size_t attni_model_cut(const char **text);

/* Weights as a safetensors file in memory; the metadata holds configuration, words and origin. */
attn_status attni_model_pack_size(const attni_model *model, size_t *size, attn_error *err);
attn_status attni_model_pack(const attni_model *model, void *bytes, attn_error *err);
/* Reads what pack wrote, trusting nothing. Errors: VALUE (not such a file), MEMORY. */
attn_status attni_model_unpack(const void *bytes, size_t size, attni_model *model, attn_error *err);

#endif
