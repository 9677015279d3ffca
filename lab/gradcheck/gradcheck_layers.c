/* SPDX-License-Identifier: Apache-2.0 */
/* gradcheck_layers.c - the layers' backward functions against finite differences of their forward
 * functions, in f64. To add one, add a row to grad_layers. The layers for sequences are in
 * gradcheck_sequence.c. Tests: tests/cli/test_cli_gradients.py */
#define ATTNI_REAL_f64
#include "gradcheck/gradcheck.h"
#include "gradcheck/gradcheck_sequence.h"
#include "layers/dropout.h"
#include "layers/embedding.h"
#include "layers/linear.h"
#include "layers/loss.h"
#include "layers/mlp.h"
#include "layers/norm.h"
#include "layers/rope.h"

enum { ROWS = 5, WIDTH = 7, OTHER = 6 };

/* --------------------------------------------------------------------------------------- linear */

typedef struct linear_case {
    attn_ctx *ctx;
    attni_linear layer;
    const double *x; /* (ROWS, WIDTH) */
    double *y;       /* (ROWS, OTHER) */
} linear_case;

static attn_status linear_forward(void *arg, attn_error *err) {
    linear_case *c = arg;
    return R(linear_forward)(c->ctx, &c->layer, ROWS, c->x, c->y, err);
}

static attn_status check_linear(grad_session *s, const void *setting, grad_tally *tally,
                                attn_error *err) {
    (void)setting;
    grad_problem p = {.forward = linear_forward};
    const grad_pair x = grad_input(s, &p, "dx", ROWS * WIDTH);
    const grad_pair w = grad_param(s, &p, "dw", WIDTH * OTHER), b = grad_param(s, &p, "db", OTHER);
    linear_case c = {s->ctx, {WIDTH, OTHER, w.x, b.x}, x.x, grad_output(s, &p, ROWS * OTHER)};
    p.arg = &c;
    const attni_linear_grad grad = {.x = x.x, .dy = p.dout, .dx = x.dx, .dw = w.dx, .db = b.dx};
    ATTN_TRY(grad_ready(s, err));
    ATTN_TRY(R(linear_backward)(s->ctx, &c.layer, ROWS, &grad, err));
    return grad_compare(&p, tally, err);
}

/* ----------------------------------------------------------------------------------------- norm */

typedef struct norm_case {
    attni_norm norm;
    attni_norm_saved saved;
    const double *x; /* (ROWS, WIDTH) */
    double *y;       /* (ROWS, WIDTH) */
} norm_case;

static attn_status norm_forward(void *arg, attn_error *err) {
    norm_case *c = arg;
    (void)err;
    R(norm_forward)(&c->norm, ROWS, c->x, c->y, &c->saved);
    return ATTN_OK;
}

/* setting: const attni_norm */
static attn_status check_norm(grad_session *s, const void *setting, grad_tally *tally,
                              attn_error *err) {
    grad_problem p = {.forward = norm_forward};
    const grad_pair x = grad_input(s, &p, "dx", ROWS * WIDTH);
    const grad_pair gain = grad_param(s, &p, "dgain", WIDTH);
    const grad_pair bias = grad_param(s, &p, "dbias", WIDTH);
    norm_case c = {*(const attni_norm *)setting,
                   {grad_blank(s, ROWS), grad_blank(s, ROWS)},
                   x.x,
                   grad_output(s, &p, ROWS * WIDTH)};
    c.norm.gain = gain.x;
    c.norm.bias = bias.x;
    p.arg = &c;
    const attni_norm_grad grad = {
        .x = x.x, .dy = p.dout, .dx = x.dx, .dgain = gain.dx, .dbias = bias.dx};
    ATTN_TRY(grad_ready(s, err));
    ATTN_TRY(norm_forward(&c, err));
    R(norm_backward)(&c.norm, ROWS, &c.saved, &grad);
    return grad_compare(&p, tally, err);
}

/* ------------------------------------------------------------------------------------------ mlp */

typedef struct mlp_case {
    attn_ctx *ctx;
    attni_mlp mlp;
    attni_mlp_pass pass;
} mlp_case;

static attn_status mlp_forward(void *arg, attn_error *err) {
    mlp_case *c = arg;
    return R(mlp_forward)(c->ctx, &c->mlp, &c->pass, err);
}

/* ReLU has a kink at 0, where a finite difference is meaningless: no unit comes near it in any
 * row. */
static void leave_corner(const mlp_case *c, double *b_up) {
    for (int64_t unit = 0; unit < c->mlp.d_hidden; unit++) {
        for (int64_t i = 0; i < ROWS; i++) {
            if (fabs(c->pass.up[i * c->mlp.d_hidden + unit]) > 1e-3) continue;
            b_up[unit] += 2; /* away from 0 in this row; in others it is as unlikely as before */
            break;
        }
    }
}

typedef struct mlp_kind {
    attni_activation activation;
    bool gated;
} mlp_kind;

/* setting: const mlp_kind */
static attn_status check_mlp(grad_session *s, const void *setting, grad_tally *tally,
                             attn_error *err) {
    const size_t weights = WIDTH * OTHER, hidden = ROWS * OTHER;
    grad_problem p = {.forward = mlp_forward};
    const mlp_kind *kind = setting;
    const grad_pair x = grad_input(s, &p, "dx", ROWS * WIDTH);
    const grad_pair up = grad_param(s, &p, "dw_up", weights);
    const grad_pair b_up = grad_param(s, &p, "db_up", OTHER);
    const grad_pair down = grad_param(s, &p, "dw_down", weights);
    const grad_pair b_down = grad_param(s, &p, "db_down", WIDTH);
    grad_pair gate = {0}, b_gate = {0};
    if (kind->gated) {
        gate = grad_param(s, &p, "dw_gate", weights);
        b_gate = grad_param(s, &p, "db_gate", OTHER);
    }
    mlp_case c = {
        .ctx = s->ctx,
        .mlp = {WIDTH, OTHER, kind->activation, up.x, b_up.x, gate.x, b_gate.x, down.x, b_down.x}};
    c.pass = (attni_mlp_pass){.n = ROWS,
                              .x = x.x,
                              .up = grad_blank(s, hidden),
                              .gate = grad_blank(s, hidden),
                              .hidden = grad_blank(s, hidden),
                              .y = grad_output(s, &p, ROWS * WIDTH)};
    p.arg = &c;
    const attni_mlp_grad grad = {.dy = p.dout,
                                 .dhidden = grad_blank(s, hidden),
                                 .dup = grad_blank(s, hidden),
                                 .dgate = grad_blank(s, hidden),
                                 .dx = x.dx,
                                 .dw_up = up.dx,
                                 .db_up = b_up.dx,
                                 .dw_gate = gate.dx,
                                 .db_gate = b_gate.dx,
                                 .dw_down = down.dx,
                                 .db_down = b_down.dx};
    ATTN_TRY(grad_ready(s, err));
    ATTN_TRY(mlp_forward(&c, err));
    if (kind->activation == ATTNI_RELU) leave_corner(&c, b_up.x);
    ATTN_TRY(mlp_forward(&c, err));
    ATTN_TRY(R(mlp_backward)(s->ctx, &c.mlp, &c.pass, &grad, err));
    return grad_compare(&p, tally, err);
}

/* ------------------------------------------------------------------- embedding, dropout, loss */

enum { VOCAB = 8 };
static const int32_t ids[ROWS] = {3, 0, 7, 3, 5};      /* one occurs twice: its gradients add up */
static const int32_t targets[ROWS] = {2, -1, 7, 0, 2}; /* one row does not count */

typedef struct embedding_case {
    attni_embedding embedding;
    double *y; /* (ROWS, WIDTH) */
} embedding_case;

static attn_status embedding_forward(void *arg, attn_error *err) {
    embedding_case *c = arg;
    return R(embedding_forward)(&c->embedding, ROWS, ids, false, c->y, err);
}

static attn_status check_embedding(grad_session *s, const void *setting, grad_tally *tally,
                                   attn_error *err) {
    (void)setting;
    grad_problem p = {.forward = embedding_forward};
    const grad_pair table = grad_param(s, &p, "dtable", VOCAB * WIDTH);
    embedding_case c = {{VOCAB, WIDTH, table.x}, grad_output(s, &p, ROWS * WIDTH)};
    p.arg = &c;
    ATTN_TRY(grad_ready(s, err));
    R(embedding_backward)(&c.embedding, ROWS, ids, p.dout, table.dx);
    return grad_compare(&p, tally, err);
}

typedef struct dropout_case {
    attni_drop drop;
    const double *x; /* (ROWS * WIDTH) */
    double *y;       /* (ROWS * WIDTH) */
} dropout_case;

static attn_status dropout_forward(void *arg, attn_error *err) {
    dropout_case *c = arg;
    (void)err;
    R(dropout_apply)(&c->drop, ROWS * WIDTH, c->x, c->y);
    return ATTN_OK;
}

static attn_status check_dropout(grad_session *s, const void *setting, grad_tally *tally,
                                 attn_error *err) {
    grad_problem p = {.forward = dropout_forward};
    const grad_pair x = grad_input(s, &p, "dx", ROWS * WIDTH);
    dropout_case c = {*(const attni_drop *)setting, x.x, grad_output(s, &p, ROWS * WIDTH)};
    c.drop.seed = s->seed;
    p.arg = &c;
    ATTN_TRY(grad_ready(s, err));
    R(dropout_apply)(&c.drop, ROWS * WIDTH, p.dout, x.dx);
    return grad_compare(&p, tally, err);
}

typedef struct loss_case {
    const attn_ctx *ctx;
    attni_targets targets;
    const double *logits; /* (ROWS, VOCAB) */
    double loss;
} loss_case;

static attn_status loss_forward(void *arg, attn_error *err) {
    loss_case *c = arg;
    return R(cross_entropy)(c->ctx, &c->targets, c->logits, NULL, &c->loss, err);
}

static attn_status check_loss(grad_session *s, const void *setting, grad_tally *tally,
                              attn_error *err) {
    (void)setting;
    const double one = 1;
    grad_problem p = {.forward = loss_forward, .dout = &one, .n_out = 1};
    const grad_pair logits = grad_input(s, &p, "dlogits", ROWS * VOCAB);
    loss_case c = {s->ctx, {.n = ROWS, .vocab = VOCAB, .ids = targets}, logits.x, 0};
    p.arg = &c;
    p.out = &c.loss;
    ATTN_TRY(grad_ready(s, err));
    ATTN_TRY(R(cross_entropy)(s->ctx, &c.targets, logits.x, logits.dx, &c.loss, err));
    return grad_compare(&p, tally, err);
}

/* ---------------------------------------------------------------------------------------- table */

static const bool no = false, yes = true;
static const attni_relative t5 = {true, 8, 16};

const grad_check grad_layers[] = {
    {"linear", "y = x W + b", check_linear, NULL},
    {"layer-norm", "with gain and bias", check_norm,
     &(const attni_norm){.width = WIDTH, .eps = 1e-5}},
    {"rms-norm", "with gain and bias", check_norm,
     &(const attni_norm){.width = WIDTH, .eps = 1e-5, .rms = true}},
    {"mlp-relu", "linear, ReLU, linear", check_mlp, &(const mlp_kind){ATTNI_RELU, false}},
    {"mlp-gelu", "the exact GELU", check_mlp, &(const mlp_kind){ATTNI_GELU, false}},
    {"mlp-gelu-tanh", "GELU by tanh", check_mlp, &(const mlp_kind){ATTNI_GELU_TANH, false}},
    {"mlp-silu", "x / (1 + e^-x)", check_mlp, &(const mlp_kind){ATTNI_SILU, false}},
    {"swiglu", "SiLU of one product gates another", check_mlp, &(const mlp_kind){ATTNI_SILU, true}},
    {"embedding", "rows of a table", check_embedding, NULL},
    {"dropout", "on activations", check_dropout, &(const attni_drop){.p = 0.3, .stream = 1}},
    {"cross-entropy", "of logits; a row that does not count", check_loss, NULL},
    {"rope", "rotary positions, halves of a head", grad_check_rope, &(const attni_rope){.dim = 4}},
    {"rope-interleaved", "rotary positions, neighbouring columns", grad_check_rope,
     &(const attni_rope){.dim = 6, .interleaved = true}},
    {"t5-bias", "numbers by distance, both directions", grad_check_relative, &t5},
    {"t5-bias-causal", "numbers by distance, backwards only", grad_check_relative,
     &(const attni_relative){false, 4, 6}},
    {"additive", "Bahdanau's attention, padded", grad_check_additive, NULL},
    {"mha", "attention layer: self, every weight and bias", grad_check_mha,
     &(const grad_mha){.cross = false}},
    {"mha-cross", "queries look at another sequence, padded", grad_check_mha,
     &(const grad_mha){.cross = true, .padded = true}},
    {"mha-grouped", "causal, fewer key heads, d_k != d_v", grad_check_mha,
     &(const grad_mha){.grouped = true, .causal = true}},
    {"mha-rope", "causal, with rotary positions", grad_check_mha,
     &(const grad_mha){.positions = "rope", .causal = true}},
    {"mha-t5", "with a learned relative bias", grad_check_mha,
     &(const grad_mha){.positions = "t5"}},
    {"mha-alibi", "causal, with a slope for each head", grad_check_mha,
     &(const grad_mha){.positions = "alibi", .causal = true}},
    {"mha-everything", "grouped, padded, RoPE, dropout", grad_check_mha,
     &(const grad_mha){
         .cross = true, .grouped = true, .padded = true, .positions = "rope", .dropout = 0.2}},
    {"encoder", "a transformer of two layers, every parameter", grad_check_transformer, &no},
    {"decoder", "the same, causal", grad_check_transformer, &yes},
    {"positions", "a decoder with each kind of positions", grad_check_positions, NULL},
};
const size_t grad_n_layers = sizeof grad_layers / sizeof *grad_layers;
