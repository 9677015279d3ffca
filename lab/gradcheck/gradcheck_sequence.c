/* SPDX-License-Identifier: Apache-2.0 */
/* gradcheck_sequence.c - checks the layers that use positions: RoPE, relative bias, additive
 * attention, the attention layer. The rows are in gradcheck_layers.c. Tests:
 * tests/cli/test_cli_gradients.py */
#define ATTNI_REAL_f64
#include "gradcheck/gradcheck_sequence.h"
#include "gradcheck/gradcheck.h"
#include "layers/additive.h"
#include "layers/rope.h"

enum { B = 2, N_Q = 4, N_K = 5 };

/* ----------------------------------------------------------------------------------------- rope */

enum { HEADS = 2, COLUMNS = 7 };

typedef struct rope_case {
    attni_rope rope;
    attni_rope_rows rows;
    const double *x; /* (B, HEADS, N_Q, COLUMNS) */
    double *y;
} rope_case;

static attn_tensor rope_tensor(const double *x) {
    return attn_tensor_bhsd(x, ATTN_F64, B, HEADS, N_Q, COLUMNS);
}

static attn_status rope_forward(void *arg, attn_error *err) {
    rope_case *c = arg;
    const attn_tensor y = rope_tensor(c->y);
    memcpy(c->y, c->x, B * HEADS * N_Q * COLUMNS * sizeof *c->y);
    return R(rope_forward)(&c->rope, &c->rows, &y, err);
}

attn_status grad_check_rope(grad_session *s, const void *setting, grad_tally *tally,
                            attn_error *err) {
    enum { FIRST = 3, POSITIONS = FIRST + N_Q };
    const size_t n = B * HEADS * N_Q * COLUMNS;
    grad_problem p = {.forward = rope_forward};
    const grad_pair x = grad_input(s, &p, "dx", n);
    rope_case c = {*(const attni_rope *)setting, {.first = FIRST}, x.x, grad_output(s, &p, n)};
    const size_t angles = (size_t)(POSITIONS * c.rope.dim / 2);
    double *cosines = grad_blank(s, angles), *sines = grad_blank(s, angles);
    p.arg = &c;
    ATTN_TRY(grad_ready(s, err));
    R(rope_table)(POSITIONS, c.rope.dim, 10000, 1, cosines, sines);
    c.rope.n_positions = POSITIONS;
    c.rope.cosines = cosines;
    c.rope.sines = sines;
    const attn_tensor dx = rope_tensor(x.dx);
    memcpy(x.dx, p.dout, n * sizeof *x.dx);
    ATTN_TRY(R(rope_backward)(&c.rope, &c.rows, &dx, err));
    return grad_compare(&p, tally, err);
}

/* ------------------------------------------------------------------------------- relative bias */

typedef struct relative_case {
    attni_relative relative;
    attni_relative_shape shape;
    const double *table; /* (num_buckets, H) */
    double *by_distance; /* (H, n_q + n_k - 1) */
} relative_case;

static attn_status relative_forward(void *arg, attn_error *err) {
    relative_case *c = arg;
    return R(relative_forward)(&c->relative, &c->shape, c->table, c->by_distance, err);
}

attn_status grad_check_relative(grad_session *s, const void *setting, grad_tally *tally,
                                attn_error *err) {
    const attni_relative_shape shape = {3, 20, 23, 0}; /* distances on both sides of every bucket */
    relative_case c = {.relative = *(const attni_relative *)setting, .shape = shape};
    grad_problem p = {.forward = relative_forward, .arg = &c};
    const grad_pair table = grad_param(s, &p, "dtable", (size_t)(c.relative.num_buckets * shape.H));
    c.table = table.x;
    c.by_distance = grad_output(s, &p, (size_t)(shape.H * (shape.n_q + shape.n_k - 1)));
    ATTN_TRY(grad_ready(s, err));
    ATTN_TRY(R(relative_backward)(&c.relative, &c.shape, p.dout, table.dx, err));
    return grad_compare(&p, tally, err);
}

/* ------------------------------------------------------------------------------------- additive */

typedef struct additive_case {
    attn_ctx *ctx;
    attni_additive layer;
    double *context; /* (B, N_Q, d_h) */
} additive_case;

static attn_status additive_forward(void *arg, attn_error *err) {
    additive_case *c = arg;
    return R(additive_forward)(c->ctx, &c->layer, c->context, err);
}

attn_status grad_check_additive(grad_session *s, const void *setting, grad_tally *tally,
                                attn_error *err) {
    enum { D_S = 3, D_H = 4, D_A = 6 };
    static const int64_t lengths[B] = {N_K, N_K - 2};
    (void)setting;
    grad_problem p = {.forward = additive_forward};
    const grad_pair states = grad_input(s, &p, "ds", B * N_Q * D_S);
    const grad_pair notes = grad_input(s, &p, "dh", B * N_K * D_H);
    const grad_pair w_s = grad_param(s, &p, "dw_s", D_S * D_A);
    const grad_pair w_h = grad_param(s, &p, "dw_h", D_H * D_A), v = grad_param(s, &p, "dv", D_A);
    additive_case c = {.ctx = s->ctx, .context = grad_output(s, &p, B * N_Q * D_H)};
    c.layer = (attni_additive){.B = B,
                               .n_q = N_Q,
                               .n_k = N_K,
                               .d_s = D_S,
                               .d_h = D_H,
                               .d_a = D_A,
                               .s = states.x,
                               .h = notes.x,
                               .len_k = lengths,
                               .params = {w_s.x, w_h.x, v.x},
                               .from_s = grad_blank(s, B * N_Q * D_A),
                               .from_h = grad_blank(s, B * N_K * D_A),
                               .weights = grad_blank(s, B * N_Q * N_K)};
    p.arg = &c;
    const attni_additive_gradients g = {.dcontext = p.dout,
                                        .ds = states.dx,
                                        .dh = notes.dx,
                                        .params = {w_s.dx, w_h.dx, v.dx},
                                        .dfrom_s = grad_blank(s, B * N_Q * D_A),
                                        .dfrom_h = grad_blank(s, B * N_K * D_A),
                                        .dweights = grad_blank(s, N_K)};
    ATTN_TRY(grad_ready(s, err));
    ATTN_TRY(additive_forward(&c, err));
    ATTN_TRY(R(additive_backward)(s->ctx, &c.layer, &g, err));
    return grad_compare(&p, tally, err);
}

/* ------------------------------------------------------------------------------ attention layer */

typedef struct mha_case {
    attn_ctx *ctx;
    attni_mha_config config;
    attni_position_plan positions;
    attni_mha_params params;
    attni_mha_input input;
    attni_mha_saved saved;
    attni_mha_gradients gradients;
    double *y; /* (B, n_q, d_model) */
} mha_case;

static attni_mha mha_layer(const mha_case *c) {
    return (attni_mha){&c->config, &c->params, &c->input, &c->saved};
}

static attn_status mha_forward(void *arg, attn_error *err) {
    const mha_case *c = arg;
    const attni_mha layer = mha_layer(c);
    return R(mha_forward)(c->ctx, &layer, c->y, err);
}

/* One array of parameters: its numbers and their gradients. */
typedef struct mha_param {
    const char *name;
    double **x, **dx;
    int64_t n;
} mha_param;

static void set_params(mha_case *c, grad_session *s, grad_problem *p) {
    const attni_mha_config *f = &c->config;
    attni_mha_params *x = &c->params, *dx = &c->gradients.params;
    const attni_position_plan *plan = &c->positions;
    const attni_positions_parameter learned = attni_positions_learn(&plan->how, &plan->shape);
    const int64_t q = f->H * f->d_k, k = f->H_kv * f->d_k, v = f->H_kv * f->d_v, o = f->H * f->d_v;
    const mha_param params[] = {
        {"dw_q", &x->w_q, &dx->w_q, f->d_model * q},
        {"dw_k", &x->w_k, &dx->w_k, f->d_model * k},
        {"dw_v", &x->w_v, &dx->w_v, f->d_model * v},
        {"dw_o", &x->w_o, &dx->w_o, f->d_model * o},
        {"db_q", &x->b_q, &dx->b_q, q},
        {"db_k", &x->b_k, &dx->b_k, k},
        {"db_v", &x->b_v, &dx->b_v, v},
        {"db_o", &x->b_o, &dx->b_o, f->d_model},
        {"dpositions", &x->positions, &dx->positions, learned.rows * learned.columns},
    };
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        if (params[i].n == 0) continue;
        const grad_pair pair = grad_param(s, p, params[i].name, (size_t)params[i].n);
        *params[i].x = pair.x;
        *params[i].dx = pair.dx;
    }
}

static void set_inputs(mha_case *c, grad_session *s, grad_problem *p, const grad_mha *setting) {
    static const int64_t lengths[B] = {N_K, N_K - 2}, own_lengths[B] = {N_Q, N_Q - 1};
    const int64_t d = c->config.d_model;
    const grad_pair x = grad_input(s, p, "dx", (size_t)(B * N_Q * d));
    c->input = (attni_mha_input){.B = B,
                                 .n_q = N_Q,
                                 .n_k = setting->cross ? N_K : N_Q,
                                 .x = x.x,
                                 .dropout = setting->dropout,
                                 .seed = s->seed};
    c->gradients.dx = x.dx;
    if (setting->padded) c->input.len_k = setting->cross ? lengths : own_lengths;
    if (setting->cross) {
        const grad_pair memory = grad_input(s, p, "dmemory", (size_t)(B * N_K * d));
        c->input.memory = memory.x;
        c->gradients.dmemory = memory.dx;
    }
}

static attn_status set_saved(mha_case *c, grad_session *s, attn_error *err) {
    size_t n;
    ATTN_TRY(R(mha_saved_size)(&c->config, &c->input, &n, err));
    double *saved = grad_blank(s, n), *d = grad_blank(s, n);
    ATTN_TRY(grad_ready(s, err));
    c->saved = R(mha_saved_place)(&c->config, &c->input, saved);
    c->gradients.d = R(mha_saved_place)(&c->config, &c->input, d);
    return ATTN_OK;
}

static attn_status set_positions(mha_case *c, grad_session *s, const char *name, attn_error *err) {
    attni_position_plan *plan = &c->positions;
    plan->shape = (attni_positions_shape){.length = attni_max(N_Q, N_K),
                                          .H = c->config.H,
                                          .d_k = c->config.d_k,
                                          .causal = c->config.causal};
    ATTN_TRY(attni_positions_named(name, &plan->how, err));
    plan->constants = grad_blank(s, R(position_constants)(&plan->how, &plan->shape));
    ATTN_TRY(grad_ready(s, err));
    c->config.positions = plan;
    return R(position_prepare)(plan, err);
}

attn_status grad_check_mha(grad_session *s, const void *setting, grad_tally *tally,
                           attn_error *err) {
    const grad_mha *wish = setting;
    mha_case c = {.ctx = s->ctx, .config = R(mha_defaults)(6, 2)};
    grad_problem p = {.forward = mha_forward, .arg = &c};
    if (wish->grouped) c.config.H = 4, c.config.H_kv = 2, c.config.d_k = 4, c.config.d_v = 3;
    c.config.causal = wish->causal;
    if (wish->positions) ATTN_TRY(set_positions(&c, s, wish->positions, err));
    set_inputs(&c, s, &p, wish);
    set_params(&c, s, &p);
    c.y = grad_output(s, &p, (size_t)(B * N_Q * c.config.d_model));
    ATTN_TRY(set_saved(&c, s, err));
    ATTN_TRY(mha_forward(&c, err));
    const attni_mha layer = mha_layer(&c);
    ATTN_TRY(R(mha_backward)(s->ctx, &layer, p.dout, &c.gradients, err));
    return grad_compare(&p, tally, err);
}
