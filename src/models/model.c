/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - see model.h; files are model_file.c. Tests: tests/models/test_model.c */
#define ATTNI_REAL_f32
#include "models/model.h"

#include "core/os.h"
#include "models/transformer.h"

#include <stdlib.h>

attn_status attni_model_create(const attni_model_config *config, const char *const *words,
                               uint64_t seed, attni_model *model, attn_error *err) {
    memset(model, 0, sizeof *model);
    ATTN_TRY(attni_parameters_create(config, &model->parameters, err));
    model->config = *config;
    model->words = words;
    model->seed = seed;
    /* total is checked to be small */
    model->weights = attni_memory_alloc(model->parameters.total * sizeof *model->weights, 64);
    if (!model->weights) {
        attni_model_free(model);
        return attni_fail(err, ATTN_E_MEMORY, "model: no memory for its weights");
    }
    attni_weights_start_f32(&model->parameters, seed, model->weights);
    return ATTN_OK;
}

void attni_model_free(attni_model *model) {
    attni_parameters_free(&model->parameters);
    attni_memory_free(model->weights);
    free(model->text);
    memset(model, 0, sizeof *model);
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

int32_t attni_model_word(const attni_model *model, const char *letters, size_t n) {
    int32_t similar = -1;
    for (int64_t w = 0; w < model->config.n_words; w++) {
        const char *word = model->words[w];
        if (strlen(word) != n) continue;
        if (memcmp(word, letters, n) == 0) return (int32_t)w;
        if (similar < 0 && n > 0 && lower(*word) == lower(*letters) &&
            memcmp(word + 1, letters + 1, n - 1) == 0)
            similar = (int32_t)w;
    }
    return similar;
}

size_t attni_model_cut(const char **text) {
    static const char space[] = " \t\n\r";
    *text += strspn(*text, space);
    const size_t n = strcspn(*text, space);
    return n > 1 && (*text)[n - 1] == '.' ? n - 1 : n;
}
