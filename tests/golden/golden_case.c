/* SPDX-License-Identifier: Apache-2.0 */
/* golden_case.c - see golden_case.h. Touches: its own buffers. */
#include "golden_case.h"

#include "check.h"
#include "ref/reference.h"

#include <stdlib.h>

const json_t *golden_file(void) {
    static json_t *root;
    json_error_t error;
    if (!root) root = json_load_file(GOLDEN_FILE, 0, &error);
    if (!root) check_failed(__FILE__, __LINE__, "%s: %s", GOLDEN_FILE, error.text);
    return root;
}

static int64_t integer(const json_t *json, const char *key, int64_t otherwise) {
    const json_t *value = json_object_get(json, key);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

golden golden_at(size_t n) {
    golden g = {.json = json_array_get(json_object_get(golden_file(), "cases"), n)};
    g.expected = json_object_get(g.json, "expected");
    g.name = json_string_value(json_object_get(g.json, "name"));
    g.H = integer(g.json, "Hq", 1);
    g.H_kv = integer(g.json, "Hkv", 1);
    g.n_q = integer(g.json, "n_q", 0);
    g.n_k = integer(g.json, "n_k", 0);
    g.d_k = integer(g.json, "d_k", 0);
    g.d_v = integer(g.json, "d_v", 0);
    return g;
}

bool golden_is_layer(const golden *g) { return json_object_get(g->json, "W") != NULL; }

void *golden_keep(golden_problem *p, void *buffer) {
    if (p->n_buffers == GOLDEN_MAX_BUFFERS || !buffer) abort();
    return p->buffers[p->n_buffers++] = buffer;
}

size_t golden_flatten(const json_t *value, double *to) {
    if (!json_is_array(value)) {
        if (to) *to = json_is_null(value) ? -INFINITY : json_number_value(value);
        return 1;
    }
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        n += golden_flatten(json_array_get(value, i), to ? to + n : NULL);
    }
    return n;
}

double *golden_numbers(golden_problem *p, const json_t *json, const char *key) {
    const json_t *value = json_object_get(json, key);
    if (!json_is_array(value)) return NULL;
    double *x = golden_keep(p, malloc(golden_flatten(value, NULL) * sizeof *x));
    golden_flatten(value, x);
    return x;
}

attn_tensor golden_tensor(golden_problem *p, const json_t *json, const char *key,
                          const int64_t shape[3]) {
    double *x = golden_numbers(p, json, key);
    if (!x) return (attn_tensor){0};
    const int64_t n = shape[0] * shape[1] * shape[2];
    if (p->dtype == ATTN_F32) {
        float *f = golden_keep(p, malloc((size_t)n * sizeof *f));
        for (int64_t i = 0; i < n; i++) f[i] = (float)x[i];
        return attn_tensor_bhsd(f, ATTN_F32, 1, shape[0], shape[1], shape[2]);
    }
    return attn_tensor_bhsd(x, ATTN_F64, 1, shape[0], shape[1], shape[2]);
}

attn_tensor golden_room(golden_problem *p, int64_t H, int64_t n, int64_t d) {
    void *data = golden_keep(p, calloc((size_t)(H * n * d), sizeof(double)));
    return attn_tensor_bhsd(data, p->dtype, 1, H, n, d);
}

/* --------------------------------------------------------------------- from case to problem */

/* The visible pairs, from the file or, for the one grouped case that only names its rule, by it. */
static void set_allow(golden_problem *p, const golden *g) {
    const double *given = golden_numbers(p, g->json, "allow");
    const bool bottom_right = json_is_string(json_object_get(g->json, "causal"));
    if (!given && !bottom_right) return;
    p->allow = golden_keep(p, malloc((size_t)(g->H * g->n_q * g->n_k)));
    for (int64_t e = 0; e < g->H * g->n_q * g->n_k; e++) {
        const int64_t j = e % g->n_k, i = e / g->n_k % g->n_q;
        p->allow[e] = given ? given[i * g->n_k + j] != 0 : j <= i + g->n_k - g->n_q;
    }
}

static bool named(const golden *g, const char *part) { return strstr(g->name, part) != NULL; }

static void set_native_position(golden_problem *p, const golden *g) {
    attn_args *a = &p->args;
    a->causal = named(g, "causal");
    if (named(g, "topleft") || named(g, "padding")) a->offset = ATTN_OFFSET_TOP_LEFT;
    if (named(g, "sliding_window_causal")) a->window_left = integer(g->json, "window", 0) - 1;
    if (named(g, "sliding_window_sym")) {
        a->window_left = a->window_right = integer(g->json, "radius", 0);
    }
    if (named(g, "padding_len3")) {
        p->len_k = 3;
        a->len_k = &p->len_k;
    }
    if (named(g, "left_padding")) { /* one row of mask for all rows: what the last row sees */
        a->mask = attn_tensor_bhsd(p->allow + (g->n_q - 1) * g->n_k, ATTN_BOOL, 1, 1, 1, g->n_k);
    }
}

static attn_status set_native_pattern(golden_problem *p, const golden *g) {
    if (named(g, "local_global"))
        ATTN_TRY(attn_pattern_longformer(g->n_q, 1, 1, NULL, &p->pattern, NULL));
    if (named(g, "prefix_lm")) {
        attn_pattern *causal = NULL, *prefix = NULL;
        ATTN_TRY(attn_pattern_causal(g->n_q, g->n_k, 0, NULL, &causal, NULL));
        ATTN_TRY(attn_pattern_prefix(g->n_q, g->n_k, 2, NULL, &prefix, NULL));
        ATTN_TRY(attn_pattern_union(causal, prefix, NULL, &p->pattern, NULL));
        attn_pattern_destroy(causal);
        attn_pattern_destroy(prefix);
    }
    p->args.pattern = p->pattern;
    return ATTN_OK;
}

/* Says the case by options instead of matrices; false if there is nothing to say so. */
static bool set_native(golden_problem *p, const golden *g) {
    const json_t *tau = json_object_get(g->json, "tau");
    const json_t *slope = json_object_get(g->json, "alibi_slope");
    if (!p->allow && !tau && !slope) return false;
    if (p->allow && named(g, "bool_mask")) return false;
    set_native_position(p, g);
    if (set_native_pattern(p, g) != ATTN_OK) abort();
    if (tau) {
        p->tau = p->args.temperature = json_number_value(tau);
        p->args.scale *= p->tau;
    }
    if (slope) {
        p->slope = json_number_value(slope);
        p->args.alibi = &p->slope;
        p->args.bias = (attn_tensor){0};
    }
    return true;
}

/* What the loss says, and room for what it means for the inputs. */
static void set_gradients(golden_problem *p, const golden *g) {
    p->dout = golden_tensor(p, g->json, "dO", (int64_t[]){g->H, g->n_q, g->d_v});
    attn_gradients_init(&p->gradients);
    if (!p->dout.data) return;
    p->gradients.dq = golden_room(p, g->H, g->n_q, g->d_k);
    p->gradients.dk = golden_room(p, g->H_kv, g->n_k, g->d_k);
    p->gradients.dv = golden_room(p, g->H_kv, g->n_k, g->d_v);
    if (p->args.bias.data) p->gradients.dbias = golden_room(p, 1, g->n_q, g->n_k);
}

bool golden_begin(golden_problem *p, const golden *g, attn_dtype dtype, golden_way how) {
    *p = (golden_problem){.dtype = dtype, .tau = 1};
    attn_args_init(&p->args);
    p->args.scale = json_number_value(json_object_get(g->json, "scale"));
    p->args.q = golden_tensor(p, g->json, "Q", (int64_t[]){g->H, g->n_q, g->d_k});
    p->args.k = golden_tensor(p, g->json, "K", (int64_t[]){g->H_kv, g->n_k, g->d_k});
    p->args.v = golden_tensor(p, g->json, "V", (int64_t[]){g->H_kv, g->n_k, g->d_v});
    p->args.bias = golden_tensor(p, g->json, "bias", (int64_t[]){1, g->n_q, g->n_k});
    p->out = golden_room(p, g->H, g->n_q, g->d_v);
    p->lse = golden_room(p, g->H, g->n_q, 1);
    set_allow(p, g);
    bool said = true;
    if (how == NATIVE) {
        said = set_native(p, g);
    } else if (p->allow) {
        p->args.mask = attn_tensor_bhsd(p->allow, ATTN_BOOL, 1, g->H, g->n_q, g->n_k);
    }
    set_gradients(p, g);
    return said;
}

void golden_end(golden_problem *p) {
    attn_pattern_destroy(p->pattern);
    while (p->n_buffers > 0) free(p->buffers[--p->n_buffers]);
}

/* ------------------------------------------------------------------------------------ comparing */

static double tolerance(const attn_tensor *t, const double *row, int64_t j, double allowed) {
    if (t->dtype == ATTN_F64) return allowed * fmax(1, fabs(row[j]));
    double scale = 1;
    for (int64_t c = 0; c < t->shape[3]; c++) {
        if (isfinite(row[c])) scale = fmax(scale, fabs(row[c]));
    }
    return allowed * scale;
}

void golden_compare(const golden *g, const char *what, const attn_tensor *t, const double *want,
                    double allowed) {
    const int64_t columns = t->shape[3];
    for (int64_t e = 0; e < t->shape[1] * t->shape[2] * columns; e++) {
        const int64_t j = e % columns, i = e / columns % t->shape[2], h = e / columns / t->shape[2];
        const double x = attni_ref_load(t, 0, h, i, j),
                     room = tolerance(t, want + e - j, j, allowed);
        if (check_is_near(x, want[e], room)) continue;
        check_failed(__FILE__, __LINE__, "%s: %s[%d][%d][%d] is %.17g, expected %.17g +- %.2g",
                     g->name, what, (int)h, (int)i, (int)j, x, want[e], room);
        return;
    }
}

bool golden_is_allowed(const golden_problem *p, int64_t e) { return !p->allow || p->allow[e]; }

/* ---------------------------------------------------------------------------------------- cases */

int golden_for_every_case(golden_examine *look, golden_engine *run, attn_dtype dtype,
                          golden_way how, const char *needs) {
    attn_ctx *ctx = NULL;
    int seen = 0;
    if (!golden_file() || attn_ctx_create(NULL, &ctx, NULL) != ATTN_OK) return 0;
    for (size_t n = 0; n < GOLDEN_CASES; n++) {
        const golden g = golden_at(n);
        golden_problem p;
        if (golden_is_layer(&g) || !json_object_get(g.expected, needs)) continue;
        if (golden_begin(&p, &g, dtype, how)) {
            look(ctx, &p, &g, run);
            seen++;
        }
        golden_end(&p);
    }
    attn_ctx_destroy(ctx);
    return seen;
}
