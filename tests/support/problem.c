/* SPDX-License-Identifier: Apache-2.0 */
/* problem.c - see problem.h. Every feature draws from its own stream, so that switching one on or
 * off leaves the others unchanged. Touches: its own buffers. */
#include "problem.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

static double pick(random_stream *r, const double *list, int n) { return list[random_below(r, n)]; }
#define PICK(r, ...)                                                                               \
    pick(r, (const double[]){__VA_ARGS__},                                                         \
         (int)(sizeof(const double[]){__VA_ARGS__} / sizeof(double)))

enum {
    STREAM_SHAPE,
    STREAM_LAYOUT,
    STREAM_VALUES,
    STREAM_SEQUENCES,
    STREAM_MASK,
    STREAM_BIAS,
    STREAM_PATTERN,
    STREAM_NUMBERS,
    STREAM_GRADIENTS = 200
};

/* ------------------------------------------------------------------------------------- elements */

bool tensor_next(const int64_t shape[4], int64_t at[4]) {
    for (int k = 3; k >= 0; k--) {
        if (++at[k] < shape[k]) return true;
        at[k] = 0;
    }
    return false;
}

bool tensor_is_empty(const int64_t shape[4]) {
    return shape[0] == 0 || shape[1] == 0 || shape[2] == 0 || shape[3] == 0;
}

static void fill_uniform(const attn_tensor *t, random_stream r, double magnitude) {
    int64_t at[4] = {0};
    if (tensor_is_empty(t->shape)) return;
    do tensor_set(t, at, random_between(&r, -magnitude, magnitude));
    while (tensor_next(t->shape, at));
}

/* -------------------------------------------------------------------------------------- layouts */

static void set_shape(attn_tensor *t, attn_dtype dtype, const int64_t shape[4]) {
    *t = (attn_tensor){.dtype = dtype};
    memcpy(t->shape, shape, sizeof t->shape);
}

/* Dense strides in the given order of dimensions, innermost first, with gaps before each. */
static void set_strides(attn_tensor *t, const int order[4], const int64_t gap[4]) {
    int64_t step = 1;
    for (int x = 0; x < 4; x++) {
        t->stride[order[x]] = step + gap[x];
        step = t->stride[order[x]] * t->shape[order[x]];
    }
}

static void lay_out(attn_tensor *t, problem_layout layout, random_stream *r) {
    static const int bhsd[4] = {3, 2, 1, 0}, bshd[4] = {3, 1, 2, 0};
    int64_t gap[4] = {0};
    if (layout == LAYOUT_PADDED || layout == LAYOUT_REVERSED) {
        for (int x = 1; x < 4; x++) gap[x] = random_below(r, 6);
    }
    set_strides(t, layout == LAYOUT_BSHD || layout == LAYOUT_QKV ? bshd : bhsd, gap);
    if (layout != LAYOUT_REVERSED && layout != LAYOUT_REPEATED) return;
    const int64_t chosen = 1 + random_below(r, 7); /* which of batch, head, row */
    for (int k = 0; k < 3; k++) {
        if (chosen >> k & 1) t->stride[k] = layout == LAYOUT_REVERSED ? -t->stride[k] : 0;
    }
}

/* Gives the tensor memory that reaches from its lowest to its highest element and not further. */
static bool give_memory(problem *p, int which, attn_tensor *t, random_stream *r) {
    int64_t low = 0, high = 1;
    for (int k = 0; k < 4; k++) {
        const int64_t reach = t->stride[k] * (t->shape[k] - 1);
        *(reach < 0 ? &low : &high) += reach;
    }
    if (tensor_is_empty(t->shape)) low = high = 0;
    const size_t size = attn_dtype_size(t->dtype);
    const guard_side side = random_chance(r, 0.5) ? GUARD_BEFORE : GUARD_AFTER;
    if (!guard_alloc(&p->buffer[which], (size_t)(high - low) * size, side)) {
        check_failed(__FILE__, __LINE__, "no memory for %s", p->text);
        return false;
    }
    t->data = p->buffer[which].data - low * (int64_t)size;
    return true;
}

/* Bytes of 0xff are NaN in every float dtype, so padding that is read shows. */
static void poison(problem *p, int which) {
    if (p->buffer[which].size > 0) memset(p->buffer[which].data, 0xff, p->buffer[which].size);
}

static bool is_packed(const problem_spec *s) {
    return (s->features & PROBLEM_PACKED) && !(s->features & PROBLEM_LENGTHS);
}

/* One row holds q, k and v of all heads, side by side, in the first of their buffers. */
static bool make_qkv(problem *p, int which, attn_tensor *const tensors[3], random_stream *r) {
    int64_t width = 0;
    for (int x = 0; x < 3; x++) width += tensors[x]->shape[1] * tensors[x]->shape[3];
    const int64_t B = p->args.q.shape[0], n = p->spec.n_q;
    attn_tensor all;
    set_shape(&all, p->spec.dtype, (const int64_t[4]){B, 1, n, width});
    lay_out(&all, LAYOUT_BHSD, r);
    if (!give_memory(p, which, &all, r)) return false;
    char *at = all.data;
    for (int x = 0; x < 3; x++) {
        attn_tensor *t = tensors[x];
        const int64_t stride[4] = {n * width, t->shape[3], width, 1};
        memcpy(t->stride, stride, sizeof stride);
        t->data = at;
        at += t->shape[1] * t->shape[3] * (int64_t)attn_dtype_size(t->dtype);
    }
    return true;
}

/* q, k, v and out as the spec says; all with memory of their own unless q, k and v share rows. */
static bool make_tensors(problem *p) {
    const problem_spec *s = &p->spec;
    const int64_t B = is_packed(s) ? 1 : s->B;
    attn_tensor *const tensors[4] = {&p->args.q, &p->args.k, &p->args.v, &p->out};
    const int64_t shapes[4][4] = {{B, s->H, s->n_q, s->d_k},
                                  {B, s->H_kv, s->n_k, s->d_k},
                                  {B, s->H_kv, s->n_k, s->d_v},
                                  {B, s->H, s->n_q, s->d_v}};
    random_stream r = random_begin(s->seed, STREAM_LAYOUT);
    for (int x = 0; x < 4; x++) set_shape(tensors[x], s->dtype, shapes[x]);
    const bool shared = s->layout == LAYOUT_QKV && s->n_q == s->n_k;
    if (shared && !make_qkv(p, BUFFER_Q, tensors, &r)) return false;
    for (int x = shared ? 3 : 0; x < 4; x++) {
        const bool repeated_out = x == 3 && s->layout == LAYOUT_REPEATED; /* would be refused */
        lay_out(tensors[x], repeated_out ? LAYOUT_PADDED : s->layout, &r);
        if (!give_memory(p, BUFFER_Q + x, tensors[x], &r)) return false;
    }
    return true;
}

static bool make_lse(problem *p) {
    random_stream r = random_begin(p->spec.seed, STREAM_LAYOUT + 100);
    const int64_t *q = p->args.q.shape;
    set_shape(&p->lse, p->spec.wide_lse || p->spec.dtype == ATTN_F64 ? ATTN_F64 : ATTN_F32,
              (const int64_t[4]){q[0], q[1], q[2], 1});
    lay_out(&p->lse, p->spec.layout == LAYOUT_REPEATED ? LAYOUT_PADDED : p->spec.layout, &r);
    return give_memory(p, BUFFER_LSE, &p->lse, &r);
}

static void fill_tensors(problem *p) {
    random_stream r = random_begin(p->spec.seed, STREAM_NUMBERS + 100);
    const double q_size = PICK(&r, 0.3, 1, 1, 3), v_size = PICK(&r, 1e-3, 1, 1, 100);
    for (int which = BUFFER_Q; which <= BUFFER_V; which++) poison(p, which);
    fill_uniform(&p->args.q, random_begin(p->spec.seed, STREAM_VALUES + 101), q_size);
    fill_uniform(&p->args.k, random_begin(p->spec.seed, STREAM_VALUES + 102), 2);
    fill_uniform(&p->args.v, random_begin(p->spec.seed, STREAM_VALUES + 103), v_size);
}

/* ------------------------------------------------------------------------------------ sequences */

/* n items in `parts` consecutive parts, some of them empty. */
static void split(random_stream *r, int64_t n, int64_t parts, int64_t *starts) {
    starts[0] = 0;
    for (int64_t s = 0; s < parts; s++) {
        const int64_t left = n - starts[s], fair = left / (parts - s);
        const int64_t take = random_chance(r, 0.15) ? 0 : random_below(r, 2 * fair + 1);
        starts[s + 1] = s == parts - 1 ? n : starts[s] + (take < left ? take : left);
    }
}

static void draw_lengths(random_stream *r, int64_t n, int64_t B, int64_t *lengths) {
    for (int64_t b = 0; b < B; b++) lengths[b] = random_chance(r, 0.3) ? n : random_below(r, n + 1);
}

static int64_t draw_offset(random_stream *r, const problem_spec *s) {
    switch (random_below(r, 8)) {
    case 0: return ATTN_OFFSET_TOP_LEFT;
    case 1: return ATTN_OFFSET_BOTTOM_RIGHT;
    case 2: return INT64_MAX - random_below(r, 3);
    default: return random_below(r, s->n_q + s->n_k + 3) - s->n_q - 1;
    }
}

static void make_sequences(problem *p) {
    const problem_spec *s = &p->spec;
    attn_args *a = &p->args;
    random_stream r = random_begin(s->seed, STREAM_SEQUENCES);
    split(&r, s->n_q, s->B, p->cu_q);
    split(&r, s->n_k, s->B, p->cu_k);
    draw_lengths(&r, s->n_q, s->B, p->len_q);
    draw_lengths(&r, s->n_k, s->B, p->len_k);
    const int64_t given = 1 + random_below(&r, 3); /* len_q, len_k or both */
    if (is_packed(s)) {
        a->cu_q = p->cu_q;
        a->cu_k = p->cu_k;
        a->n_seqs = s->B;
    } else if (s->features & PROBLEM_LENGTHS) {
        a->len_q = given & 1 ? p->len_q : NULL;
        a->len_k = given & 2 ? p->len_k : NULL;
    }
    r = random_begin(s->seed, STREAM_SEQUENCES + 100);
    const bool each = random_chance(&r, 0.5);
    for (int64_t b = 0; b < s->B; b++) p->offsets[b] = draw_offset(&r, s);
    if (!(s->features & PROBLEM_OFFSET)) return;
    a->offset = p->offsets[0];
    if (each) a->offsets = p->offsets;
}

int64_t problem_rows(const problem *p, int64_t s) {
    const attn_args *a = &p->args;
    if (a->cu_q) return a->cu_q[s + 1] - a->cu_q[s];
    return a->len_q ? a->len_q[s] : a->q.shape[2];
}

int64_t problem_keys(const problem *p, int64_t s) {
    const attn_args *a = &p->args;
    if (a->cu_k) return a->cu_k[s + 1] - a->cu_k[s];
    return a->len_k ? a->len_k[s] : a->k.shape[2];
}

/* The sizes that mask, bias and pattern must have. */
static void longest(const problem *p, int64_t *rows, int64_t *keys) {
    *rows = p->args.q.shape[2];
    *keys = p->args.k.shape[2];
    if (!p->args.cu_q) return;
    *rows = *keys = 0;
    for (int64_t s = 0; s < p->spec.B; s++) {
        *rows = problem_rows(p, s) > *rows ? problem_rows(p, s) : *rows;
        *keys = problem_keys(p, s) > *keys ? problem_keys(p, s) : *keys;
    }
}

/* ----------------------------------------------------------------------- mask, bias and pattern */

/* A tensor of scores: broadcast or not in every dimension, sometimes shorter than the keys. */
static bool make_score_tensor(problem *p, int which, attn_tensor *t, random_stream *r) {
    int64_t rows, keys;
    longest(p, &rows, &keys);
    const int64_t full[3] = {p->spec.B, p->spec.H, rows};
    int64_t shape[4];
    for (int k = 0; k < 3; k++) shape[k] = random_chance(r, 0.5) ? full[k] : 1;
    shape[3] = random_chance(r, 0.8) ? keys : random_below(r, keys + 1);
    const attn_dtype dtype = which == BUFFER_MASK ? ATTN_BOOL : (attn_dtype)random_below(r, 4);
    set_shape(t, dtype, shape);
    lay_out(t, random_chance(r, 0.5) ? LAYOUT_PADDED : LAYOUT_REVERSED, r);
    const int64_t step = (int64_t)PICK(r, 1, 1, 1, 2, -1);
    for (int k = 0; k < 4; k++) t->stride[k] *= step;
    return give_memory(p, which, t, r);
}

static bool make_mask(problem *p) {
    static const uint8_t truths[4] = {1, 2, 0x80, 0xff};
    attn_tensor *t = &p->args.mask;
    random_stream r = random_begin(p->spec.seed, STREAM_MASK);
    if (!make_score_tensor(p, BUFFER_MASK, t, &r)) return false;
    const double change = PICK(&r, 0.5, 0.1, 0.02);
    bool allow = random_chance(&r, 0.5);
    int64_t at[4] = {0};
    if (tensor_is_empty(t->shape)) return true;
    do {
        if (random_chance(&r, change)) allow = !allow;
        tensor_set(t, at, allow ? truths[random_below(&r, 4)] : 0);
    } while (tensor_next(t->shape, at));
    return true;
}

static bool make_bias(problem *p) {
    attn_tensor *t = &p->args.bias;
    random_stream r = random_begin(p->spec.seed, STREAM_BIAS);
    if (!make_score_tensor(p, BUFFER_BIAS, t, &r)) return false;
    poison(p, BUFFER_BIAS);
    const double masked = PICK(&r, 0, 0.02, 0.3);
    int64_t at[4] = {0};
    if (tensor_is_empty(t->shape)) return true;
    do {
        const double x = random_between(&r, -3, 3);
        tensor_set(t, at, random_chance(&r, masked) ? -INFINITY : x);
    } while (tensor_next(t->shape, at));
    return true;
}

static attn_status dense_pattern(random_stream *r, int64_t n_q, int64_t n_k,
                                 attn_pattern **pattern) {
    uint8_t *allow = malloc((size_t)(n_q * n_k) + 1);
    if (!allow) return ATTN_E_MEMORY;
    const double change = PICK(r, 0.5, 0.05);
    bool on = true;
    for (int64_t e = 0; e < n_q * n_k; e++) {
        if (random_chance(r, change)) on = !on;
        allow[e] = on;
    }
    const attn_status status = attn_pattern_dense(n_q, n_k, allow, NULL, pattern, NULL);
    free(allow);
    return status;
}

static attn_status window_and_global(random_stream *r, int64_t n_q, int64_t n_k,
                                     attn_pattern **pattern) {
    attn_pattern *window = NULL, *global = NULL;
    *pattern = NULL;
    attn_pattern_window(n_q, n_k, 0, random_below(r, 9), random_below(r, 40), NULL, &window, NULL);
    attn_pattern_global(n_q, n_k, random_below(r, 3), NULL, &global, NULL);
    if (window && global) attn_pattern_union(window, global, NULL, pattern, NULL);
    attn_pattern_destroy(window);
    attn_pattern_destroy(global);
    return *pattern ? ATTN_OK : ATTN_E_MEMORY;
}

static bool make_pattern(problem *p) {
    random_stream r = random_begin(p->spec.seed, STREAM_PATTERN);
    int64_t n_q, n_k;
    longest(p, &n_q, &n_k);
    attn_status status;
    switch (random_below(&r, 4)) {
    case 0: status = dense_pattern(&r, n_q, n_k, &p->pattern); break;
    case 1: status = window_and_global(&r, n_q, n_k, &p->pattern); break;
    case 2:
        status = attn_pattern_strided(n_q, n_k, random_below(&r, 5), 1 + random_below(&r, 4), NULL,
                                      &p->pattern, NULL);
        break;
    default:
        status = attn_pattern_random_blocks(n_q, n_k, 1 + random_below(&r, 60), 2, random_bits(&r),
                                            NULL, &p->pattern, NULL);
        break;
    }
    if (status != ATTN_OK) check_failed(__FILE__, __LINE__, "no pattern for %s", p->text);
    p->args.pattern = p->pattern;
    return status == ATTN_OK;
}

/* -------------------------------------------------------------------------------------- numbers */

/* Huge windows and huge offsets are not drawn together: test_extreme.c has them. */
static int64_t draw_window(random_stream *r, const problem_spec *s) {
    const int64_t huge = s->features & PROBLEM_OFFSET ? 3 * s->n_k : INT64_MAX;
    const int64_t any = random_below(r, s->n_k + 2) / 2;
    return random_chance(r, 0.25) ? -1 : random_chance(r, 0.2) ? huge : any;
}

static void make_heads(problem *p, random_stream *r) {
    const bool usual = random_chance(r, 0.5), drained = random_chance(r, 0.2);
    attn_alibi_slopes(p->spec.H, p->alibi, NULL);
    for (int64_t h = 0; h < p->spec.H; h++) {
        const double slope = random_between(r, -0.25, 0.5);
        if (!usual) p->alibi[h] = slope;
        p->sinks[h] = drained ? -INFINITY : random_between(r, -3, 3);
    }
}

/* Everything is drawn, used or not: what one feature gets does not depend on the others. */
static void make_numbers(problem *p) {
    const unsigned features = p->spec.features;
    attn_args *a = &p->args;
    random_stream r = random_begin(p->spec.seed, STREAM_NUMBERS);
    const int64_t left = draw_window(&r, &p->spec), right = draw_window(&r, &p->spec);
    const double softcap = PICK(&r, 0.5, 5, 50), temperature = PICK(&r, 0.2, 0.7, 3);
    const double scale = PICK(&r, 0, -0.4, 0.1, 1), dropout = PICK(&r, 0.1, 0.5, 0.9);
    a->seed = random_bits(&r);
    make_heads(p, &r);
    a->causal = (features & PROBLEM_CAUSAL) != 0;
    if (features & PROBLEM_WINDOW) {
        a->window_left = left;
        a->window_right = right;
    }
    if (features & PROBLEM_SOFTCAP) a->softcap = softcap;
    if (features & PROBLEM_TEMPERATURE) a->temperature = temperature;
    if (features & PROBLEM_SCALE) a->scale = scale;
    if (features & PROBLEM_DROPOUT) a->dropout = dropout;
    if (features & PROBLEM_ALIBI) a->alibi = p->alibi;
    if (features & PROBLEM_SINKS) a->sinks = p->sinks;
}

/* ------------------------------------------------------------------------------------ gradients */

const char *const gradient_names[GRADIENTS] = {"dq", "dk", "dv", "dbias", "dsinks", "dscale"};

attn_tensor problem_gradient(const problem *p, int which) {
    const attn_gradients *g = &p->gradients;
    const attn_tensor all[GRADIENTS] = {g->dq,
                                        g->dk,
                                        g->dv,
                                        g->dbias,
                                        attn_tensor_bhsd(g->dsinks, ATTN_F64, 1, 1, 1, p->spec.H),
                                        attn_tensor_bhsd(g->dscale, ATTN_F64, 1, 1, 1, 1)};
    return all[which];
}

/* dq, dk and dv look as q, k and v do, but no two elements may share memory. */
static bool make_dqkv(problem *p, unsigned wanted, random_stream *r) {
    const attn_tensor *const inputs[3] = {&p->args.q, &p->args.k, &p->args.v};
    attn_tensor *const tensors[3] = {&p->gradients.dq, &p->gradients.dk, &p->gradients.dv};
    const problem_layout layout =
        p->spec.layout == LAYOUT_REPEATED ? LAYOUT_PADDED : p->spec.layout;
    for (int x = 0; x < 3; x++) set_shape(tensors[x], p->spec.dtype, inputs[x]->shape);
    const bool shared = layout == LAYOUT_QKV && p->spec.n_q == p->spec.n_k;
    if (shared && !make_qkv(p, BUFFER_DQ, tensors, r)) return false;
    for (int x = 0; x < 3; x++) {
        if (!shared) lay_out(tensors[x], layout, r);
        if (!(wanted & (unsigned)WANT_DQ << x)) {
            tensors[x]->data = NULL;
        } else if (!shared && !give_memory(p, BUFFER_DQ + x, tensors[x], r)) {
            return false;
        }
    }
    return true;
}

/* The shape of the bias. A sliding view (row stride minus column stride) and strides of 0 are sums
 * over what shares an element. */
static bool make_dbias(problem *p, random_stream *r) {
    attn_tensor *t = &p->gradients.dbias;
    set_shape(t, random_chance(r, 0.5) ? ATTN_F32 : ATTN_F64, p->args.bias.shape);
    lay_out(t, random_chance(r, 0.5) ? LAYOUT_PADDED : LAYOUT_REVERSED, r);
    const int64_t kind = random_below(r, 6), step = (int64_t)PICK(r, 1, 1, 2, -1);
    if (kind == 0) t->stride[2] = -t->stride[3];
    if (kind == 1) t->stride[random_below(r, 4)] = 0;
    for (int k = 0; k < 4; k++) t->stride[k] *= step;
    return give_memory(p, BUFFER_DBIAS, t, r);
}

static bool make_numbers_room(problem *p, int which, int64_t n, double **to) {
    attn_tensor t = attn_tensor_bhsd(NULL, ATTN_F64, 1, 1, 1, n);
    random_stream r = random_begin(p->spec.seed, STREAM_GRADIENTS + (uint64_t)which);
    if (!give_memory(p, which, &t, &r)) return false;
    *to = t.data;
    return true;
}

static bool make_dout(problem *p, random_stream *r) {
    const problem_layout layout = p->spec.layout;
    set_shape(&p->dout, p->spec.dtype, p->out.shape);
    lay_out(&p->dout, layout, r);
    if (!give_memory(p, BUFFER_DOUT, &p->dout, r)) return false;
    poison(p, BUFFER_DOUT);
    random_stream numbers = random_begin(p->spec.seed, STREAM_GRADIENTS + 101);
    fill_uniform(&p->dout, random_begin(p->spec.seed, STREAM_GRADIENTS + 102),
                 PICK(&numbers, 1e-3, 1, 1, 10));
    return true;
}

bool problem_make_backward(problem *p, unsigned wanted) {
    random_stream r = random_begin(p->spec.seed, STREAM_GRADIENTS);
    attn_gradients *g = &p->gradients;
    attn_gradients_init(g);
    if (!make_dout(p, &r) || !make_dqkv(p, wanted, &r)) return false;
    if ((wanted & WANT_DBIAS) && p->args.bias.data && !make_dbias(p, &r)) return false;
    if ((wanted & WANT_DSINKS) && p->args.sinks &&
        !make_numbers_room(p, BUFFER_DSINKS, p->spec.H, &g->dsinks))
        return false;
    if ((wanted & WANT_DSCALE) && !make_numbers_room(p, BUFFER_DSCALE, 1, &g->dscale)) return false;
    for (int which = BUFFER_DQ; which <= BUFFER_DSCALE; which++) poison(p, which);
    problem_describe(p);
    problem_remember(p);
    return !check_has_failed();
}

/* -------------------------------------------------------------------------------- make and free */

bool problem_make(problem *p, const problem_spec *spec) {
    memset(p, 0, sizeof *p);
    p->spec = *spec;
    attn_args_init(&p->args);
    problem_describe(p);
    if (!make_tensors(p) || !make_lse(p)) return false;
    fill_tensors(p);
    make_sequences(p);
    make_numbers(p);
    if ((spec->features & PROBLEM_MASK) && !make_mask(p)) return false;
    if ((spec->features & PROBLEM_BIAS) && !make_bias(p)) return false;
    if ((spec->features & PROBLEM_PATTERN) && !make_pattern(p)) return false;
    problem_describe(p);
    guard_explain(p->text);
    problem_remember(p);
    return !check_has_failed();
}

void problem_free(problem *p) {
    for (int which = 0; which < BUFFERS; which++) {
        guard_free(&p->buffer[which]);
        free(p->before[which]);
        p->before[which] = NULL;
    }
    attn_pattern_destroy(p->pattern);
    p->pattern = NULL;
    guard_explain(NULL);
}

/* ----------------------------------------------------------------------------------- visibility */

/* What a mask or bias holds for a pair; a dimension of size 1 is shared. */
static double score_element(const attn_tensor *t, const int64_t at[4]) {
    return tensor_get(t, t->shape[0] == 1 ? 0 : at[0], t->shape[1] == 1 ? 0 : at[1],
                      t->shape[2] == 1 ? 0 : at[2], at[3]);
}

bool problem_sees(const problem *p, int64_t s, int64_t h, int64_t i, int64_t j) {
    const attn_args *a = &p->args;
    const int64_t at[4] = {s, h, i, j}, len_q = problem_rows(p, s), len_k = problem_keys(p, s);
    if (i >= len_q || j >= len_k) return false;
    const int64_t offset = a->offsets ? a->offsets[s] : a->offset;
    const __int128 position =
        (__int128)i + (offset == ATTN_OFFSET_BOTTOM_RIGHT ? len_k - len_q : offset);
    if (a->causal && j > position) return false;
    if (a->window_left >= 0 && j < position - a->window_left) return false;
    if (a->window_right >= 0 && j > position + a->window_right) return false;
    if (a->mask.data && (j >= a->mask.shape[3] || score_element(&a->mask, at) == 0)) return false;
    if (a->bias.data && (j >= a->bias.shape[3] || score_element(&a->bias, at) == -INFINITY))
        return false;
    return !a->pattern || attn_pattern_at(a->pattern, i, j);
}

/* ---------------------------------------------------------------------------------- random spec */

static int64_t draw_length(random_stream *r, int vl, int lanes) {
    const int64_t around[] = {0,      1,          vl - 1, vl,        vl + 1,    2 * vl - 1,
                              2 * vl, 2 * vl + 1, lanes,  lanes + 1, lanes - 1, 191,
                              192,    193,        385,    2,         5};
    const int64_t chosen = around[random_below(r, (int64_t)(sizeof around / sizeof around[0]))];
    return random_chance(r, 0.6) ? chosen : random_below(r, 70);
}

static int64_t draw_head_size(random_stream *r) {
    return (int64_t)PICK(r, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 40, 64, 72, 100, 129);
}

static double work_of(const problem_spec *s) {
    return (double)(s->B * s->H * s->n_q) * (double)(s->n_k * (s->d_k + s->d_v));
}

problem_spec problem_draw(uint64_t seed, attn_dtype dtype, int vl, int lanes) {
    static const double most_work = 1.2e6; /* the oracle needs some milliseconds for it */
    random_stream r = random_begin(seed, STREAM_SHAPE);
    problem_spec s = {.seed = seed, .dtype = dtype};
    do {
        s.B = 1 + random_below(&r, 3);
        s.H_kv = 1 + random_below(&r, 3);
        s.H = s.H_kv * (1 + random_below(&r, 5));
        s.n_q = draw_length(&r, vl, lanes);
        s.n_k = random_chance(&r, 0.3) ? s.n_q : draw_length(&r, vl, lanes);
        if (random_chance(&r, 0.2)) s.n_q = (lanes * s.H_kv + random_below(&r, 3) - 1) / s.H;
        s.d_k = draw_head_size(&r);
        s.d_v = random_chance(&r, 0.5) ? s.d_k : draw_head_size(&r);
    } while (work_of(&s) > most_work);
    s.layout = (problem_layout)random_below(&r, LAYOUT_COUNT);
    const double density = PICK(&r, 0, 0.1, 0.3, 0.6);
    for (unsigned feature = 1; feature < PROBLEM_EVERYTHING; feature *= 2) {
        if (random_chance(&r, density)) s.features |= feature;
    }
    return s;
}

/* --------------------------------------------------------------------------------------- effort */

int test_rounds(int full) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    int percent = 15;
#else
    int percent = 100;
#endif
    const char *given = getenv("ATTN_TEST_PERCENT");
    if (given && atoi(given) > 0) percent = atoi(given);
    const int64_t rounds = (int64_t)full * percent / 100;
    return rounds < 1 ? 1 : (int)rounds;
}
