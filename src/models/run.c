/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - the memory of a pass through a transformer, and the initial weights. Compiled per real
 * type. One block holds all values and gradients (core/arena.h). Tests:
 * tests/models/test_transformer.c */
#include "models/run.h"

#include "core/arena.h"
#include "core/os.h"
#include "core/rng.h"

#include <stdlib.h>

/* ---------------------------------------------------------------------------------- the block */

/* The block, as place() walks through it; `asking` is in the last layer only:
 *
 *     values    | layer 0 | layer 1 | ... | residual | normed | logits | mean | inverse |
 *     gradients | layer 0 | layer 1 | ... | residual | normed | logits |
 *     constants of the positions |
 *
 *     layer: residual | normed_1 | asking | attention (mha.c) | middle | normed_2 | up | hidden |
 *            and of values: attended | fed | mean_1 | inverse_1 | mean_2 | inverse_2 |            */

static real *take(attni_arena *arena, int64_t rows, int64_t columns) {
    return attni_arena_take(arena, 2, (const int64_t[]){rows, columns}, sizeof(real));
}

static void place_attention(attni_arena *arena, const attni_run *run, int64_t n_q,
                            attni_mha_saved *saved) {
    const attni_mha_config config = R(run_mha_config)(run);
    const attni_mha_input input = {.B = run->B, .n_q = n_q, .n_k = run->n};
    size_t reals = 0;
    if (R(mha_saved_size)(&config, &input, &reals, NULL) != ATTN_OK) arena->overflow = true;
    real *memory = take(arena, (int64_t)reals, 1);
    if (memory) *saved = R(mha_saved_place)(&config, &input, memory);
}

/* Fields of values that gradients do not have stay NULL there. */
static void place_layer(attni_arena *arena, const attni_run *run, int64_t l, attni_layer_taps *taps,
                        bool is_value) {
    const bool is_last = attni_is_last(run, l);
    const int64_t n_left = is_last ? run->n_asked : run->n, left = run->B * n_left;
    const int64_t rows = run->B * run->n, d = run->config.d, d_hidden = run->config.d_hidden;
    taps->residual = take(arena, rows, d);
    taps->normed_1 = take(arena, rows, d);
    if (is_last) taps->asking = take(arena, left, d);
    place_attention(arena, run, n_left, &taps->attention);
    taps->middle = take(arena, left, d);
    taps->normed_2 = take(arena, left, d);
    taps->up = take(arena, left, d_hidden);
    taps->hidden = take(arena, left, d_hidden);
    if (!is_value) return;
    taps->attended = take(arena, left, d);
    taps->fed = take(arena, left, d);
    taps->mean_1 = take(arena, rows, 1);
    taps->inverse_1 = take(arena, rows, 1);
    taps->mean_2 = take(arena, left, 1);
    taps->inverse_2 = take(arena, left, 1);
}

static void place_taps(attni_arena *arena, const attni_run *run, attni_taps *taps, bool is_value) {
    const attni_model_config *config = &run->config;
    const int64_t asked = run->B * run->n_asked;
    for (int64_t l = 0; l < config->layers; l++)
        place_layer(arena, run, l, &taps->layer[l], is_value);
    taps->residual = take(arena, asked, config->d);
    taps->normed = take(arena, asked, config->d);
    taps->logits = take(arena, asked, config->slots * config->n_words);
    if (!is_value) return;
    taps->mean = take(arena, asked, 1);
    taps->inverse = take(arena, asked, 1);
}

static attni_arena place(attni_run *run) {
    attni_arena arena = {.base = (char *)run->memory};
    place_taps(&arena, run, &run->value, true);
    place_taps(&arena, run, &run->gradient, false);
    const attni_position_plan *plan = &run->positions;
    run->positions.constants =
        take(&arena, (int64_t)R(position_constants)(&plan->how, &plan->shape), 1);
    return arena;
}

static attn_status no_memory(attn_error *err) {
    return attni_fail(err, ATTN_E_MEMORY, "model: no memory for a run, try a smaller batch");
}

static attn_status take_memory(attni_run *run, attn_error *err) {
    const size_t layers = (size_t)run->config.layers;
    run->value.layer = calloc(layers, sizeof *run->value.layer);
    run->gradient.layer = calloc(layers, sizeof *run->gradient.layer);
    if (!run->value.layer || !run->gradient.layer) return no_memory(err);
    const attni_arena measured = place(run);
    if (!attni_arena_fits(&measured))
        return attni_fail(err, ATTN_E_OVERFLOW, "model: sizes overflow the address space");
    run->memory = attni_memory_alloc(measured.used, 64);
    if (!run->memory) return no_memory(err);
    memset(run->memory, 0, measured.used);
    place(run);
    return R(position_prepare)(&run->positions, err);
}

attn_status R(run_create)(const attni_model_config *config, const attni_text *largest,
                          attni_run *run, attn_error *err) {
    memset(run, 0, sizeof *run);
    ATTN_TRY(attni_parameters_create(config, &run->parameters, err));
    run->config = *config;
    run->positions =
        (attni_position_plan){.how = config->positions, .shape = attni_model_positions(config)};
    run->B = largest->B;
    run->n = largest->n;
    run->n_asked = largest->n_asked;
    attn_status status =
        run->B < 1 || run->B > INT32_MAX || run->n < 1 || run->n > config->length ||
                run->n_asked < 1 || run->n_asked > run->n
            ? attni_fail(err, ATTN_E_VALUE,
                         "text: %lld times %lld tokens, %lld of them asked, expected up to %lld",
                         (long long)run->B, (long long)run->n, (long long)run->n_asked,
                         (long long)config->length)
            : take_memory(run, err);
    if (status != ATTN_OK) R(run_free)(run);
    return status;
}

void R(run_free)(attni_run *run) {
    attni_parameters_free(&run->parameters);
    free(run->value.layer);
    free(run->gradient.layer);
    attni_memory_free(run->memory);
    memset(run, 0, sizeof *run);
}

/* --------------------------------------------------------------------------------- the weights */

/* Uniform in (-1, 1): the i-th number of parameter p. Does not use libm, so that every machine
 * starts from the same weights. */
static real uniform(uint64_t seed, uint32_t p, size_t i) {
    const attni_philox r = attni_philox4x32(seed, (uint32_t)(i / 4), p, 0, 0x77656967);
    return (real)(((double)r.word[i % 4] + 0.5) * 0x1p-31 - 1);
}

static void start(const attni_parameter *parameter, uint64_t seed, uint32_t p, real *weights) {
    const bool is_table = p == ATTNI_P_WORDS || p == ATTNI_P_POSITIONS;
    const double deviation = is_table ? 0.5 : 1 / sqrt((double)parameter->shape[0]);
    const real range = (real)(deviation * 1.7320508075688772); /* of a uniform number: sqrt 3 */
    for (size_t i = 0; i < parameter->count; i++)
        weights[i] = parameter->start == ATTNI_RANDOM ? range * uniform(seed, p, i)
                     : parameter->start == ATTNI_ONES ? 1
                                                      : 0;
}

void R(weights_start)(const attni_parameters *parameters, uint64_t seed, real *weights) {
    memset(weights, 0, parameters->total * sizeof *weights);
    for (int p = 0; p < parameters->n; p++)
        start(&parameters->list[p], seed, (uint32_t)p, weights + parameters->list[p].offset);
}
