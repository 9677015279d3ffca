/* SPDX-License-Identifier: Apache-2.0 */
/* look.h - a look at a model: how it reads a text with a given mask, scale and temperature, and
 * without the heads that are switched off. A look holds weights, scores, aggregates over heads and
 * layers, answers, and the gradient of one answer. Layers outside a transformer fill a look with
 * attni_look_take() and attni_look_fill(). All numbers are f32. Tests: tests/models/test_look.c */
#ifndef ATTNI_LOOK_H
#define ATTNI_LOOK_H

#include "models/model.h"

/* The text, and how reading it differs from training. Borrowed for the call. */
typedef struct attni_look_input {
    int64_t n;
    const int32_t *tokens;     /* (n) of a model */
    bool causal;               /* no token sees a later one */
    int64_t window;            /* a token sees this many on each side of it; -1: all */
    int64_t padding;           /* no token sees the last `padding` tokens */
    const uint8_t *visible;    /* (n, n) or NULL: 0 masks the key for the query as well */
    double scale, temperature; /* as in attni_model_config */
    int64_t n_off;
    const int32_t *off;  /* (n_off) heads that are switched off: layer * heads + head */
    int64_t gradient_at; /* the token whose answer is differentiated; -1: no gradient */
} attni_look_input;

/* A text read as in training, without a gradient. */
attni_look_input attni_look_input_of(const attni_model *model, const int32_t *tokens, int64_t n);

typedef struct attni_look {
    int64_t n, layers, heads, d, d_k;
    int64_t slots, n_words; /* both 0: layers that give no answers */
    int64_t n_parameters;   /* with norms of their gradients; 0: a look without a gradient */
    uint8_t *visible;       /* (n, n) 0: masked */
    float *scores;          /* (layers, heads, n, n) before softmax, -inf where masked */
    float *weights;         /* (layers, heads, n, n) */
    float *entropy;         /* (layers, heads, n) of the rows of weights, in nats */
    float *mean, *largest;  /* (layers, n, n) of the weights over the heads */
    float *rollout;         /* (n, n) over all layers, see rollout.h */
    float *q, *k;           /* (layers, heads, n, d_k) */
    float *states;          /* (2, n, d) input of the first layer, output of the last */
    float *logits;          /* (n, slots, n_words) */
    /* Gradients of the loss of one answer; NULL without a gradient. */
    float *weighted;      /* (layers, heads, n, n) max(0, -weights * d loss / d weights) */
    float *weighted_mean; /* (layers, n, n) over the heads */
    float *by_position;   /* (n) |d loss / d x| of the input of the first layer */
    double *by_parameter; /* (n_parameters) |d loss / d parameter| */
    void *memory;         /* owns all of it */
} attni_look;

/* Gives a look at a model; release it with attni_look_free(). The loss is the cross-entropy of the
 * model's own answer at gradient_at, summed over the slots; parameters are those of
 * model->parameters. Errors: VALUE, MEMORY; *look is then empty. */
attn_status attni_look_at(attn_ctx *ctx, const attni_model *model, const attni_look_input *in,
                          attni_look *look, attn_error *err);
/* The same for a text read as in training, with a context of its own. */
attn_status attni_model_look(const attni_model *model, const int32_t *tokens, int64_t n,
                             attni_look *look, attn_error *err);
void attni_look_free(attni_look *look);

/* One matrix (n, n) for all heads, or for one. */
typedef enum attni_aggregate {
    ATTNI_SHOW_HEAD,
    ATTNI_SHOW_MEAN,
    ATTNI_SHOW_MAX,
    ATTNI_SHOW_ROLLOUT, /* over all layers */
    ATTNI_SHOW_GRADIENT /* mean of `weighted`; NULL without a gradient */
} attni_aggregate;
const float *attni_look_matrix(const attni_look *look, attni_aggregate what, int64_t layer,
                               int64_t head);

/* The row of logits (n_words) of one slot of the answer at a token. */
const float *attni_look_logits(const attni_look *look, int64_t token, int64_t slot);
/* softmax(logits)[word] */
double attni_probability(const float *logits, int64_t n_words, int32_t word);
/* The n_best <= n_words most likely words, in descending order, and their probabilities. */
void attni_likeliest(const float *logits, int64_t n_words, int64_t n_best, int32_t *word,
                     double *probability);

/* One array of a look, for callers that pass on all of them. */
typedef struct attni_look_part {
    const char *name; /* of the field */
    uint16_t at;      /* where its pointer is in attni_look */
    uint8_t size;     /* of an element: 1 uint8_t, 4 float, 8 double */
    char sides[5];    /* n, l layers, h heads, d, k d_k, s slots, w n_words, p n_parameters, 2 */
} attni_look_part;
enum { ATTNI_LOOK_PARTS = 15, ATTNI_LOOK_PLAIN_PARTS = 11 }; /* the last four need a gradient */
extern const attni_look_part attni_look_parts[ATTNI_LOOK_PARTS];
/* Returns the rank, 1 .. 4; fills side (4). */
int attni_look_shape(const attni_look *look, const attni_look_part *part, int64_t *side);
const void *attni_look_data(const attni_look *look, const attni_look_part *part);

/* ----------------------------------------------------------------------------- for other layers */

/* What a pass through a stack of attention layers has computed. */
typedef struct attni_look_pass {
    const attn_args *attention;  /* (layers) */
    const float *before, *after; /* (n, d) input of the first layer and output of the last */
    float *const *dconcat;       /* (layers) of (n, heads, d_k): gradients of the heads' outputs */
    const float *dbefore;        /* (n, d) gradient of before; both only with a gradient */
} attni_look_pass;

/* Returns ATTN_E_MEMORY, with a message. */
attn_status attni_look_no_memory(attn_error *err);
/* Whether attention needs the mask (n, n), or `causal` is enough. */
bool attni_look_needs_mask(const attni_look_input *in);
/* Sets to 0 the rows of w_o (heads * d_k, d) that read a head of this layer that is switched
 * off. */
void attni_look_switch_off(const attni_look_input *in, int64_t layer, const attni_look *look,
                           float *w_o);
/* Allocates memory for the sizes in *look and fills in `visible`. Errors: VALUE (gradient_at),
 * MEMORY; *look is then empty. */
attn_status attni_look_take(const attni_look_input *in, attni_look *look, attn_error *err);
/* Fills everything except logits and by_parameter. */
attn_status attni_look_fill(attn_ctx *ctx, const attni_look_pass *pass, attni_look *look,
                            attn_error *err);
/* The square root of the sum of squares. */
double attni_norm_of(const float *x, size_t n);

#endif
