/* SPDX-License-Identifier: Apache-2.0 */
/* look.c - the memory of a look, and the views that any attention layers allow: masks, weights,
 * aggregates, rollout, gradient times weight. look_model.c runs a transformer to obtain them.
 * Tests: tests/models/test_look.c */
#define ATTNI_REAL_f32
#include "models/look.h"

#include "core/arena.h"
#include "models/rollout.h"

#include <stdlib.h>

/* -------------------------------------------------------------------------------------- memory */

#define PART(field, size, sides) {#field, offsetof(attni_look, field), size, sides}
const attni_look_part attni_look_parts[ATTNI_LOOK_PARTS] = {
    PART(visible, 1, "nn"),        PART(scores, 4, "lhnn"),   PART(weights, 4, "lhnn"),
    PART(entropy, 4, "lhn"),       PART(mean, 4, "lnn"),      PART(largest, 4, "lnn"),
    PART(rollout, 4, "nn"),        PART(q, 4, "lhnk"),        PART(k, 4, "lhnk"),
    PART(states, 4, "2nd"),        PART(logits, 4, "nsw"),    PART(weighted, 4, "lhnn"),
    PART(weighted_mean, 4, "lnn"), PART(by_position, 4, "n"), PART(by_parameter, 8, "p"),
};

int attni_look_shape(const attni_look *look, const attni_look_part *part, int64_t *side) {
    static const char letter[] = "nlhdkswp";
    const int64_t size[] = {look->n,   look->layers, look->heads,   look->d,
                            look->d_k, look->slots,  look->n_words, look->n_parameters};
    int rank = 0;
    for (; part->sides[rank]; rank++) {
        const char *at = strchr(letter, part->sides[rank]);
        side[rank] = at ? size[at - letter] : 2;
    }
    return rank;
}

const void *attni_look_data(const attni_look *look, const attni_look_part *part) {
    const void *data;
    memcpy(&data, (const char *)look + part->at, sizeof data); /* of one type or another */
    return data;
}

/* Sets the pointers into memory; without it only measures. One array after another, in the order of
 * the list above:
 *
 *     visible | scores | weights | ... | logits | and with a gradient: weighted | ... | by_parameter |
 */
static attni_arena place(attni_look *look) {
    const int n = look->n_parameters > 0 ? ATTNI_LOOK_PARTS : ATTNI_LOOK_PLAIN_PARTS;
    attni_arena arena = {.base = look->memory};
    for (int p = 0; p < n; p++) {
        const attni_look_part *part = &attni_look_parts[p];
        int64_t side[4];
        const int rank = attni_look_shape(look, part, side);
        const void *here = attni_arena_take(&arena, rank, side, part->size);
        memcpy((char *)look + part->at, &here, sizeof here);
    }
    return arena;
}

static bool sees(const attni_look_input *in, int64_t i, int64_t j) {
    const bool in_window = in->window < 0 || (j - i <= in->window && i - j <= in->window);
    return (!in->causal || j <= i) && in_window && j < in->n - in->padding &&
           (!in->visible || in->visible[i * in->n + j]);
}

bool attni_look_needs_mask(const attni_look_input *in) {
    return in->window >= 0 || in->padding > 0 || in->visible;
}

attn_status attni_look_no_memory(attn_error *err) {
    return attni_fail(err, ATTN_E_MEMORY, "out of memory to look; try fewer words");
}

attn_status attni_look_take(const attni_look_input *in, attni_look *look, attn_error *err) {
    const attni_arena measured = place(look);
    attn_status status = ATTN_OK;
    if (in->gradient_at >= in->n)
        status = attni_fail(err, ATTN_E_VALUE, "gradient at token %lld of %lld",
                            (long long)in->gradient_at, (long long)in->n);
    else if (!attni_arena_fits(&measured) || !(look->memory = malloc(measured.used)))
        status = attni_look_no_memory(err);
    if (status != ATTN_OK) {
        *look = (attni_look){0};
        return status;
    }
    place(look);
    for (int64_t i = 0; i < in->n; i++)
        for (int64_t j = 0; j < in->n; j++) look->visible[i * in->n + j] = sees(in, i, j);
    return ATTN_OK;
}

void attni_look_free(attni_look *look) {
    free(look->memory);
    *look = (attni_look){0};
}

/* --------------------------------------------------------------------------------------- heads */

static bool is_off(const attni_look_input *in, int64_t head) {
    for (int64_t i = 0; i < in->n_off; i++)
        if (in->off[i] == head) return true;
    return false;
}

void attni_look_switch_off(const attni_look_input *in, int64_t layer, const attni_look *look,
                           float *w_o) {
    const int64_t head = look->d_k * look->d;
    for (int64_t h = 0; h < look->heads; h++)
        if (is_off(in, layer * look->heads + h))
            memset(w_o + h * head, 0, (size_t)head * sizeof *w_o);
}

/* --------------------------------------------------------------------------------------- views */

/* One layer of (layers, heads, n, columns) for attn_inspect(). */
static attn_tensor layer_of(const attni_look *look, float *all, int64_t l, int64_t columns) {
    return attn_tensor_bhsd(all + l * look->heads * look->n * columns, ATTN_F32, 1, look->heads,
                            look->n, columns);
}

static attn_status fill_weights(attn_ctx *ctx, const attni_look_pass *pass, attni_look *look,
                                attn_error *err) {
    for (int64_t l = 0; l < look->layers; l++) {
        attn_inspection what;
        attn_inspection_init(&what);
        what.biased = layer_of(look, look->scores, l, look->n);
        what.weights = layer_of(look, look->weights, l, look->n);
        what.entropy = layer_of(look, look->entropy, l, 1);
        ATTN_TRY(attn_inspect(ctx, &pass->attention[l], &what, err));
    }
    return ATTN_OK;
}

/* mean and largest (layers, n, n; largest or NULL) of all (layers, heads, n, n). */
static void aggregate(const attni_look *look, const float *all, float *mean, float *largest) {
    const int64_t cells = look->n * look->n;
    for (int64_t i = 0; i < look->layers * cells; i++) {
        const float *cell = all + i + i / cells * (look->heads - 1) * cells;
        float sum = 0, most = 0; /* nothing here is negative */
        for (int64_t h = 0; h < look->heads; h++) {
            sum += cell[h * cells];
            most = fmaxf(most, cell[h * cells]);
        }
        mean[i] = sum / (float)look->heads;
        if (largest) largest[i] = most;
    }
}

/* Alternates between two matrices from layer to layer; one of them is the result. */
static attn_status fill_rollout(attn_ctx *ctx, attni_look *look, attn_error *err) {
    const size_t cells = (size_t)(look->n * look->n);
    float *other = malloc(cells * sizeof *other), *place[2] = {look->rollout, other};
    if (!other) return attni_look_no_memory(err);
    attn_status status = ATTN_OK;
    for (int64_t l = 0; l < look->layers && status == ATTN_OK; l++) {
        const int64_t to = (look->layers - 1 - l) % 2; /* the last one writes place[0] */
        status = R(rollout_layer)(ctx, look->n, look->mean + (size_t)l * cells,
                                  l > 0 ? place[1 - to] : NULL, place[to], err);
    }
    free(other);
    return status;
}

/* Dense, head by head. */
static float *copy_heads(const attn_tensor *from, float *to) {
    const float *cell = from->data;
    const int64_t d = from->shape[3];
    for (int64_t h = 0; h < from->shape[1]; h++)
        for (int64_t i = 0; i < from->shape[2]; i++, to += d)
            memcpy(to, cell + h * from->stride[1] + i * from->stride[2], (size_t)d * sizeof *to);
    return to;
}

static void fill_vectors(const attni_look_pass *pass, attni_look *look) {
    const size_t cells = (size_t)(look->n * look->d);
    float *q = look->q, *k = look->k;
    for (int64_t l = 0; l < look->layers; l++) {
        q = copy_heads(&pass->attention[l].q, q);
        k = copy_heads(&pass->attention[l].k, k);
    }
    memcpy(look->states, pass->before, cells * sizeof(float));
    memcpy(look->states + cells, pass->after, cells * sizeof(float));
}

double attni_norm_of(const float *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

/* The weights whose growth would lower the loss: out = A v, so dA = dout v^T. These are dot
 * products, which attn_inspect() computes as scores of dout and v; the result is A * -dA where it
 * is positive. */
static attn_status fill_gradient(attn_ctx *ctx, const attni_look_pass *pass, attni_look *look,
                                 attn_error *err) {
    const int64_t cells = look->layers * look->heads * look->n * look->n;
    for (int64_t l = 0; l < look->layers; l++) {
        attn_args args;
        attn_inspection what;
        attn_args_init(&args);
        attn_inspection_init(&what);
        args.q = args.k = args.v = pass->attention[l].v;
        args.q.data = pass->dconcat[l]; /* same layout as v */
        args.scale = 1;
        what.raw = layer_of(look, look->weighted, l, look->n);
        ATTN_TRY(attn_inspect(ctx, &args, &what, err));
    }
    for (int64_t i = 0; i < cells; i++)
        look->weighted[i] = fmaxf(0, -look->weights[i] * look->weighted[i]);
    aggregate(look, look->weighted, look->weighted_mean, NULL);
    for (int64_t i = 0; i < look->n; i++)
        look->by_position[i] = (float)attni_norm_of(pass->dbefore + i * look->d, (size_t)look->d);
    return ATTN_OK;
}

attn_status attni_look_fill(attn_ctx *ctx, const attni_look_pass *pass, attni_look *look,
                            attn_error *err) {
    ATTN_TRY(fill_weights(ctx, pass, look, err));
    aggregate(look, look->weights, look->mean, look->largest);
    ATTN_TRY(fill_rollout(ctx, look, err));
    fill_vectors(pass, look);
    return look->n_parameters > 0 ? fill_gradient(ctx, pass, look, err) : ATTN_OK;
}

/* ------------------------------------------------------------------------------------- reading */

const float *attni_look_matrix(const attni_look *look, attni_aggregate what, int64_t layer,
                               int64_t head) {
    const int64_t cells = look->n * look->n;
    switch (what) {
    case ATTNI_SHOW_HEAD: return look->weights + (layer * look->heads + head) * cells;
    case ATTNI_SHOW_MEAN: return look->mean + layer * cells;
    case ATTNI_SHOW_MAX: return look->largest + layer * cells;
    case ATTNI_SHOW_ROLLOUT: return look->rollout;
    default: return look->weighted_mean ? look->weighted_mean + layer * cells : NULL;
    }
}

const float *attni_look_logits(const attni_look *look, int64_t token, int64_t slot) {
    return look->logits + (token * look->slots + slot) * look->n_words;
}

double attni_probability(const float *logits, int64_t n_words, int32_t word) {
    double sum = 0;
    for (int64_t w = 0; w < n_words; w++) sum += exp((double)logits[w] - (double)logits[word]);
    return 1 / sum;
}

void attni_likeliest(const float *logits, int64_t n_words, int64_t n_best, int32_t *word,
                     double *probability) {
    int64_t n = 0;
    for (int32_t w = 0; w < n_words; w++) { /* inserted in order; the last one may drop out */
        int64_t at = n < n_best ? n++ : n_best;
        for (; at > 0 && logits[w] > logits[word[at - 1]]; at--)
            if (at < n_best) word[at] = word[at - 1];
        if (at < n_best) word[at] = w;
    }
    for (int64_t i = 0; i < n; i++) probability[i] = attni_probability(logits, n_words, word[i]);
}
