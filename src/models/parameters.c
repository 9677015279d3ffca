/* SPDX-License-Identifier: Apache-2.0 */
/* parameters.c - see parameters.h, whose two lists the registry is expanded from. Tests:
 * tests/models/test_transformer.c */
#include "models/parameters.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_SIZE = 65536, MAX_LAYERS = 256, MAX_COUNT = 1 << 28 };

attni_positions_shape attni_model_positions(const attni_model_config *config) {
    return (attni_positions_shape){.length = config->length,
                                   .d = config->d,
                                   .H = config->heads,
                                   .d_k = config->d_k,
                                   .causal = config->causal};
}

attn_status attni_model_check(const attni_model_config *config, attn_error *err) {
    const struct {
        const char *name;
        int64_t value, max;
    } sizes[] = {
        {"n_words", config->n_words, MAX_SIZE},
        {"length", config->length, MAX_SIZE},
        {"layers", config->layers, MAX_LAYERS},
        {"heads", config->heads, MAX_SIZE},
        {"d", config->d, MAX_SIZE},
        {"d_k", config->d_k, MAX_SIZE},
        {"d_hidden", config->d_hidden, MAX_SIZE},
        {"slots", config->slots, MAX_SIZE},
        {"heads * d_k", config->heads * config->d_k, MAX_SIZE},
        {"slots * n_words", config->slots * config->n_words, MAX_SIZE},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].value < 1 || sizes[i].value > sizes[i].max)
            return attni_fail(err, ATTN_E_VALUE, "model: %s is %lld, expected 1 .. %lld",
                              sizes[i].name, (long long)sizes[i].value, (long long)sizes[i].max);
    if (!isfinite(config->scale) && config->scale != ATTN_SCALE_AUTO)
        return attni_fail(err, ATTN_E_VALUE, "model: scale is %g, expected a finite number",
                          config->scale);
    if (!(config->temperature > 0) || !isfinite(config->temperature))
        return attni_fail(err, ATTN_E_VALUE, "model: temperature is %g, expected more than 0",
                          config->temperature);
    const attni_positions_shape shape = attni_model_positions(config);
    return attni_positions_check(&config->positions, &shape, err);
}

/* Appends one parameter; the list has room for it. */
static void append(attni_parameters *p, const char *name, int64_t rows, int64_t columns,
                   attni_start start) {
    attni_parameter *last = &p->list[p->n++];
    snprintf(last->name, sizeof last->name, "%s", name);
    last->rank = columns ? 2 : 1;
    last->shape[0] = rows;
    last->shape[1] = columns;
    last->offset = p->total;
    last->count = (size_t)(columns ? rows * columns : rows);
    last->start = start;
    p->count += last->count;
    p->total += (last->count + 15) / 16 * 16; /* each begins on a cache line */
}

static void append_outer(attni_parameters *p, const attni_model_config *config) {
    const int64_t n_words = config->n_words, d = config->d, none = 0;
    const int64_t n_logits = config->slots * config->n_words;
    const attni_positions_shape shape = attni_model_positions(config);
    const attni_positions_parameter positions = attni_positions_learn(&config->positions, &shape);
    const attni_start positions_start = positions.starts_random ? ATTNI_RANDOM : ATTNI_ZEROS;
#define X(place, name, rows, columns, start) append(p, name, rows, columns, start);
    ATTNI_OUTER_PARAMETERS(X)
#undef X
}

static void append_layer(attni_parameters *p, const attni_model_config *config, int64_t layer) {
    const int64_t d = config->d, d_hidden = config->d_hidden, none = 0;
    const int64_t d_heads = config->heads * config->d_k;
    char full[sizeof p->list->name];
#define X(place, name, rows, columns, start)                                                       \
    snprintf(full, sizeof full, "layers.%d.%s", (int)layer, name);                                 \
    append(p, full, rows, columns, start);
    ATTNI_LAYER_PARAMETERS(X)
#undef X
}

attn_status attni_parameters_create(const attni_model_config *config, attni_parameters *parameters,
                                    attn_error *err) {
    memset(parameters, 0, sizeof *parameters);
    ATTN_TRY(attni_model_check(config, err));
    const size_t n = (size_t)(ATTNI_P_LAYERS + config->layers * ATTNI_L_COUNT);
    parameters->list = calloc(n, sizeof *parameters->list);
    if (!parameters->list)
        return attni_fail(err, ATTN_E_MEMORY, "model: no memory for %zu parameters", n);
    append_outer(parameters, config);
    for (int64_t layer = 0; layer < config->layers && parameters->total <= MAX_COUNT; layer++)
        append_layer(parameters, config, layer);
    if (parameters->total <= MAX_COUNT) return ATTN_OK;
    attni_parameters_free(parameters);
    return attni_fail(err, ATTN_E_VALUE, "model: more than %d numbers, expected a small model",
                      MAX_COUNT);
}

void attni_parameters_free(attni_parameters *parameters) {
    free(parameters->list);
    memset(parameters, 0, sizeof *parameters);
}
