/* SPDX-License-Identifier: Apache-2.0 */
/* gradcheck_attention.c - attn_backward() against differences of attn_forward(), one row for each
 * feature of attention, on small problems. To add one: a row in grad_features. Called by:
 * gradcheck.c. Tests: tests/cli/test_gradients.py */
#include "core/base.h"
#include "core/rng.h"
#include "gradcheck.h"

#include <math.h>

enum { B = 2 };

typedef enum bias_kind { NO_BIAS, FULL_BIAS, SHARED_BIAS, RELATIVE_BIAS } bias_kind;

/* What differs from plain attention; 0 is the default of a size (see sized()). */
typedef struct feature {
    int64_t H, H_kv, n_q, n_k, d_k, d_v;
    bool causal, offsets, window, mask, pattern, lengths, packed, alibi, sinks;
    bias_kind bias;
    double softcap, temperature, scale, dropout;
} feature;

/* A feature as a problem of the library. */
typedef struct attention {
    feature f; /* sizes filled in */
    grad_session *session;
    attn_args args;
    attn_tensor out, lse;
    attn_results results;
    attn_gradients gradients;
    attn_mask *pattern;
    double *q, *k, *v, *bias, *sinks; /* may be moved */
    size_t n_bias;                    /* numbers behind the bias, which may be a view of fewer */
    int64_t lists[4][B + 1];
} attention;

/* -------------------------------------------------------------------------------------- inputs */

static feature sized(feature f) {
    if (!f.H) f.H = 2;
    if (!f.H_kv) f.H_kv = f.H;
    if (!f.n_q) f.n_q = 6;
    if (!f.n_k) f.n_k = 7;
    if (!f.d_k) f.d_k = 4;
    if (!f.d_v) f.d_v = f.d_k;
    return f;
}

/* Packed, the sequences follow one another in a single batch entry. */
static attn_tensor tensor_of(const attention *a, const double *data, int64_t H, int64_t n,
                             int64_t d) {
    return a->f.packed ? attn_tensor_bhsd(data, ATTN_F64, 1, H, B * n, d)
                       : attn_tensor_bhsd(data, ATTN_F64, B, H, n, d);
}

static size_t size_of(int64_t H, int64_t n, int64_t d) { return (size_t)(B * H * n * d); }

static void set_tensors(attention *a) {
    const feature *f = &a->f;
    a->q = grad_random(a->session, size_of(f->H, f->n_q, f->d_k));
    a->k = grad_random(a->session, size_of(f->H_kv, f->n_k, f->d_k));
    a->v = grad_random(a->session, size_of(f->H_kv, f->n_k, f->d_v));
    a->args.q = tensor_of(a, a->q, f->H, f->n_q, f->d_k);
    a->args.k = tensor_of(a, a->k, f->H_kv, f->n_k, f->d_k);
    a->args.v = tensor_of(a, a->v, f->H_kv, f->n_k, f->d_v);
    a->out =
        tensor_of(a, grad_blank(a->session, size_of(f->H, f->n_q, f->d_v)), f->H, f->n_q, f->d_v);
    a->lse = tensor_of(a, grad_blank(a->session, size_of(f->H, f->n_q, 1)), f->H, f->n_q, 1);
}

/* The lists name places of B sequences; the packed ones are of different lengths. */
static void set_positions(attention *a) {
    const feature *f = &a->f;
    enum { OFFSETS, QUERIES, KEYS };
    a->args.causal = f->causal;
    if (f->window) {
        a->args.window_left = f->n_k / 2 - 1;
        a->args.window_right = 1;
    }
    if (f->offsets) { /* in the second sequence the first two queries see nothing when causal */
        a->lists[OFFSETS][0] = 1;
        a->lists[OFFSETS][1] = -2;
        a->args.offsets = a->lists[OFFSETS];
    }
    if (f->lengths) {
        a->lists[QUERIES][0] = f->n_q, a->lists[QUERIES][1] = f->n_q - 2;
        a->lists[KEYS][0] = f->n_k - 3, a->lists[KEYS][1] = f->n_k;
        a->args.len_q = a->lists[QUERIES];
        a->args.len_k = a->lists[KEYS];
    }
    if (f->packed) {
        a->lists[QUERIES][1] = f->n_q - 1, a->lists[QUERIES][2] = B * f->n_q;
        a->lists[KEYS][1] = f->n_k + 1, a->lists[KEYS][2] = B * f->n_k;
        a->args.cu_q = a->lists[QUERIES];
        a->args.cu_k = a->lists[KEYS];
        a->args.n_seqs = B;
    }
}

/* Rows and keys of the longest sequence. */
static int64_t most_rows(const feature *f) { return f->packed ? f->n_q + 1 : f->n_q; }
static int64_t most_keys(const feature *f) { return f->packed ? f->n_k + 1 : f->n_k; }

/* Two thirds are visible; the first row of the first head sees nothing. */
static bool set_mask(attention *a) {
    const int64_t rows = most_rows(&a->f), keys = most_keys(&a->f), n = a->f.H * rows * keys;
    uint8_t *allow = grad_bytes(a->session, (size_t)n);
    if (!allow) return false;
    for (int64_t i = 0; i < n; i++)
        allow[i] =
            i >= keys && attni_philox4x32(a->session->seed, (uint32_t)i, 1, 0, 0).word[0] % 3;
    a->args.mask = attn_tensor_bhsd(allow, ATTN_BOOL, 1, a->f.H, rows, keys);
    return true;
}

static attn_tensor bias_view(const attention *a, double *data) {
    const int64_t H = a->f.H, rows = most_rows(&a->f), keys = most_keys(&a->f);
    if (a->f.bias == FULL_BIAS) return attn_tensor_bhsd(data, ATTN_F64, B, H, rows, keys);
    if (a->f.bias == SHARED_BIAS) return attn_tensor_bhsd(data, ATTN_F64, 1, H, 1, keys - 1);
    /* Element (h, i, j) is number j - i of head h, counted from -(rows - 1). */
    attn_tensor t = attn_tensor_bhsd(data + (rows - 1), ATTN_F64, 1, H, rows, keys);
    t.stride[1] = rows + keys - 1;
    t.stride[2] = -1;
    return t;
}

/* Every fifth number of a full bias is -inf: it masks. */
static bool set_bias(attention *a) {
    const int64_t H = a->f.H, rows = most_rows(&a->f), keys = most_keys(&a->f);
    const int64_t sizes[] = {0, B * H * rows * keys, H * (keys - 1), H * (rows + keys - 1)};
    a->n_bias = (size_t)sizes[a->f.bias];
    a->bias = grad_random(a->session, a->n_bias);
    if (!a->bias) return false;
    if (a->f.bias == FULL_BIAS)
        for (size_t i = 0; i < a->n_bias; i += 5) a->bias[i] = -INFINITY;
    a->args.bias = bias_view(a, a->bias);
    return true;
}

/* A band or every third key. */
static attn_status set_pattern(attention *a, attn_error *err) {
    const int64_t rows = most_rows(&a->f), keys = most_keys(&a->f);
    attn_mask *band = NULL, *strided = NULL;
    attn_status status = attn_mask_window(rows, keys, 0, 1, 0, &band, err);
    if (status == ATTN_OK) status = attn_mask_strided(rows, keys, 0, 3, &strided, err);
    if (status == ATTN_OK) status = attn_mask_union(band, strided, &a->pattern, err);
    attn_mask_destroy(band);
    attn_mask_destroy(strided);
    a->args.pattern = a->pattern;
    return status;
}

static attn_status set_scores(attention *a, attn_error *err) {
    const feature *f = &a->f;
    if (f->scale != 0) a->args.scale = f->scale;
    if (f->temperature != 0) a->args.temperature = f->temperature;
    a->args.softcap = f->softcap;
    a->args.dropout = f->dropout;
    a->args.seed = a->session->seed;
    if (f->sinks) {
        a->sinks = grad_random(a->session, (size_t)f->H);
        a->args.sinks = a->sinks;
    }
    if (!f->alibi) return ATTN_OK;
    double *slopes = grad_blank(a->session, (size_t)f->H);
    a->args.alibi = slopes;
    return attn_alibi_slopes(f->H, slopes, err);
}

static attn_status set_up(attention *a, attn_error *err) {
    attn_args_init(&a->args);
    set_tensors(a);
    set_positions(a);
    if ((a->f.mask && !set_mask(a)) || (a->f.bias && !set_bias(a)))
        return attni_fail(err, ATTN_E_MEMORY, "no memory for a gradient check");
    if (a->f.pattern) ATTN_TRY(set_pattern(a, err));
    return set_scores(a, err);
}

/* ----------------------------------------------------------------------------------- gradients */

static attn_status forward(void *arg, attn_error *err) {
    attention *a = arg;
    return attn_forward(a->session->ctx, &a->args, &a->out, NULL, err);
}

/* Everything there is to differentiate by, with room for what backward says. */
static void set_parts(attention *a, grad_problem *p) {
    const feature *f = &a->f;
    grad_session *s = a->session;
    const size_t sizes[] = {size_of(f->H, f->n_q, f->d_k), size_of(f->H_kv, f->n_k, f->d_k),
                            size_of(f->H_kv, f->n_k, f->d_v)};
    double *dq = grad_blank(s, sizes[0]), *dk = grad_blank(s, sizes[1]),
           *dv = grad_blank(s, sizes[2]);
    double *dscale = grad_blank(s, 1);
    attn_gradients_init(&a->gradients);
    a->gradients.dq = tensor_of(a, dq, f->H, f->n_q, f->d_k);
    a->gradients.dk = tensor_of(a, dk, f->H_kv, f->n_k, f->d_k);
    a->gradients.dv = tensor_of(a, dv, f->H_kv, f->n_k, f->d_v);
    a->gradients.dscale = dscale;
    grad_add(p, "dq", a->q, dq, sizes[0]);
    grad_add(p, "dk", a->k, dk, sizes[1]);
    grad_add(p, "dv", a->v, dv, sizes[2]);
    grad_add(p, "dscale", &a->args.scale, dscale, 1);
    if (f->bias) {
        double *dbias = grad_blank(s, a->n_bias);
        a->gradients.dbias = bias_view(a, dbias);
        grad_add(p, "dbias", a->bias, dbias, a->n_bias);
    }
    if (f->sinks) {
        a->gradients.dsinks = grad_blank(s, (size_t)f->H);
        grad_add(p, "dsinks", a->sinks, a->gradients.dsinks, (size_t)f->H);
    }
}

static attn_status check_attention(grad_session *session, const void *setting, grad_tally *tally,
                                   attn_error *err) {
    attention a = {.f = sized(*(const feature *)setting), .session = session};
    const size_t n_out = size_of(a.f.H, a.f.n_q, a.f.d_v);
    attn_status status = set_up(&a, err);
    grad_problem p = {.forward = forward, .arg = &a, .out = a.out.data, .n_out = n_out};
    double *dout = grad_random(session, n_out);
    p.dout = dout;
    if (status == ATTN_OK) status = attn_forward(session->ctx, &a.args, &a.out, &a.lse, err);
    if (status == ATTN_OK) {
        set_parts(&a, &p);
        a.results = (attn_results){a.out, a.lse, tensor_of(&a, dout, a.f.H, a.f.n_q, a.f.d_v)};
        status = attn_backward(session->ctx, &a.args, &a.results, &a.gradients, err);
    }
    if (a.args.scale == ATTN_SCALE_AUTO) a.args.scale = 1 / sqrt((double)a.f.d_k);
    if (status == ATTN_OK) status = grad_compare(&p, tally, err);
    attn_mask_destroy(a.pattern);
    return status;
}

/* -------------------------------------------------------------------------------------- table */

#define FEATURE(name, about, ...)                                                                  \
    {                                                                                              \
        name, about, check_attention, &(const feature) { __VA_ARGS__ }                             \
    }

const grad_check grad_features[] = {
    FEATURE("plain", "every query sees every key", .H = 2),
    FEATURE("causal", "keys up to the query's own place", .causal = true),
    FEATURE("offset", "a place per sequence; some queries see nothing", .causal = true,
            .offsets = true),
    FEATURE("window", "a few keys on both sides of the query", .window = true),
    FEATURE("mask", "booleans per head; a row that sees nothing", .mask = true),
    FEATURE("bias", "added to each score; -inf masks", .bias = FULL_BIAS),
    FEATURE("shared-bias", "one row per head, shorter than the keys", .bias = SHARED_BIAS),
    FEATURE("relative-bias", "one number per distance: a sliding view", .bias = RELATIVE_BIAS),
    FEATURE("pattern", "a band or every third key", .pattern = true),
    FEATURE("lengths", "padded sequences", .lengths = true, .causal = true),
    FEATURE("packed", "sequences one after another", .packed = true, .causal = true),
    FEATURE("alibi", "slope times distance", .alibi = true, .causal = true),
    FEATURE("sinks", "a logit per head in the denominator", .sinks = true),
    FEATURE("softcap", "scores through tanh", .softcap = 0.7, .scale = 1.5),
    FEATURE("temperature", "scores divided before softmax", .temperature = 0.4),
    FEATURE("scale", "another than 1/sqrt(d_k)", .scale = -1.7),
    FEATURE("dropout", "weights dropped by a seed", .dropout = 0.3),
    FEATURE("gqa", "six query heads share two key heads", .H = 6, .H_kv = 2, .causal = true),
    FEATURE("mqa", "all query heads share one key head", .H = 3, .H_kv = 1),
    FEATURE("head-sizes", "d_k = 5, d_v = 3", .d_k = 5, .d_v = 3),
    FEATURE("one-query", "decoding: a single query", .n_q = 1, .n_k = 9, .causal = true),
    FEATURE("long", "several panels of queries and tiles of keys", .H = 1, .n_q = 29, .n_k = 201,
            .d_k = 3, .d_v = 2, .causal = true),
    FEATURE("everything", "all of the above at once, padded", .H = 4, .H_kv = 2, .n_q = 9,
            .n_k = 12, .d_k = 5, .d_v = 3, .causal = true, .offsets = true, .window = true,
            .mask = true, .pattern = true, .lengths = true, .alibi = true, .sinks = true,
            .bias = FULL_BIAS, .softcap = 0.9, .temperature = 0.6, .scale = 1.3, .dropout = 0.2),
    FEATURE("everything-packed", "the same for packed sequences", .H = 4, .H_kv = 2, .n_q = 9,
            .n_k = 12, .d_k = 5, .d_v = 3, .causal = true, .offsets = true, .window = true,
            .mask = true, .pattern = true, .packed = true, .alibi = true, .sinks = true,
            .bias = FULL_BIAS, .softcap = 0.9, .temperature = 0.6, .scale = 1.3, .dropout = 0.2),
};
const size_t grad_n_features = sizeof grad_features / sizeof *grad_features;
