/* SPDX-License-Identifier: Apache-2.0 */
/* args_scene.c - see args_scene.h. */
#include "args_scene.h"

scene now, before;
attn_ctx *ctx;
static attn_pattern *pattern, *other_pattern; /* one fits, one does not */

static void set_question(scene *s) {
    attn_args_init(&s->args);
    s->args.q = attn_tensor_bhsd(s->q, ATTN_F32, B, H, N_Q, D_K);
    s->args.k = attn_tensor_bhsd(s->k, ATTN_F32, B, H_KV, N_K, D_K);
    s->args.v = attn_tensor_bhsd(s->v, ATTN_F32, B, H_KV, N_K, D_V);
    s->mask_view = attn_tensor_bhsd(s->mask, ATTN_BOOL, B, H, N_Q, N_K);
    s->bias_view = attn_tensor_bhsd(s->bias, ATTN_F32, B, H, N_Q, N_K);
    s->out = attn_tensor_bhsd(s->o, ATTN_F32, B, H, N_Q, D_V);
    s->lse = attn_tensor_bhsd(s->l, ATTN_F32, B, H, N_Q, 1);
    s->p_args = &s->args;
    s->p_out = &s->out;
    s->p_lse = &s->lse;
}

static void set_inspection(scene *s) {
    attn_inspection *w = &s->what;
    attn_inspection_init(w);
    w->raw = attn_tensor_bhsd(s->raw, ATTN_F64, B, H, N_Q, N_K);
    w->capped = attn_tensor_bhsd(s->capped, ATTN_F64, B, H, N_Q, N_K);
    w->biased = attn_tensor_bhsd(s->biased, ATTN_F64, B, H, N_Q, N_K);
    w->weights = attn_tensor_bhsd(s->weights, ATTN_F64, B, H, N_Q, N_K);
    w->entropy = attn_tensor_bhsd(s->entropy, ATTN_F64, B, H, N_Q, 1);
    w->top_weight = attn_tensor_bhsd(s->top_weight, ATTN_F64, B, H, N_Q, K);
    w->top_key = attn_tensor_bhsd(s->top_key, ATTN_I64, B, H, N_Q, K);
    w->received = attn_tensor_bhsd(s->received, ATTN_F64, B, H, 1, N_K);
    s->p_what = w;
}

static void set_partials(scene *s) {
    attn_partial_init(&s->a);
    attn_partial_init(&s->b);
    attn_partial_init(&s->result);
    s->a.out = attn_tensor_bhsd(s->a_out, ATTN_F32, B, H, N_Q, D_V);
    s->b.out = attn_tensor_bhsd(s->b_out, ATTN_F32, B, H, N_Q, D_V);
    s->result.out = attn_tensor_bhsd(s->o, ATTN_F32, B, H, N_Q, D_V);
    s->a.lse = attn_tensor_bhsd(s->a_lse, ATTN_F32, B, H, N_Q, 1);
    s->b.lse = attn_tensor_bhsd(s->b_lse, ATTN_F32, B, H, N_Q, 1);
    s->result.lse = attn_tensor_bhsd(s->l, ATTN_F32, B, H, N_Q, 1);
    s->p_a = &s->a;
    s->p_b = &s->b;
    s->p_result = &s->result;
}

void scene_reset(scene *s) {
    if (!ctx && attn_ctx_create(NULL, &ctx, NULL) != ATTN_OK) abort();
    if (!pattern && attn_pattern_prefix(N_Q, N_K, 2, NULL, &pattern, NULL) != ATTN_OK) abort();
    if (!other_pattern &&
        attn_pattern_prefix(N_Q + 1, N_K, 2, NULL, &other_pattern, NULL) != ATTN_OK)
        abort();
    memset(s, 0x5a, sizeof *s);
    for (int e = 0; e < COUNT_OF(s->q); e++) s->q[e] = (float)(e % 7) / 4;
    for (int e = 0; e < COUNT_OF(s->k); e++) s->k[e] = (float)(e % 5) / 4;
    for (int e = 0; e < COUNT_OF(s->v); e++) s->v[e] = (float)(e % 11) / 4;
    memset(s->mask, 1, sizeof s->mask);
    memset(s->bias, 0, sizeof s->bias);
    for (int h = 0; h < H; h++) s->per_head[h] = 0.25;
    for (int n = 0; n < 3; n++) {
        s->cu_q[n] = (int64_t[]){0, 1, N_Q}[n];
        s->cu_k[n] = (int64_t[]){0, 2, N_K}[n];
    }
    s->lengths[0] = 1;
    s->lengths[1] = N_Q;
    s->ctx = ctx;
    s->pattern = pattern;
    s->other_pattern = other_pattern;
    set_question(s);
    set_inspection(s);
    set_partials(s);
    attn_cost_info_init(&s->cost);
    s->p_cost = &s->cost;
    s->p_bytes = &s->bytes;
    s->p_text = s->text;
    s->p_slopes = s->slopes;
    s->slopes_H = H;
    attn_ctx_options_init(&s->options);
    s->p_options = &s->options;
}

const char *function_name(int function) {
    static const char *const names[FUNCTIONS] = {
        "attn_forward",   "attn_forward_workspace", "attn_reference", "attn_inspect",
        "attn_cost",      "attn_plan_explain",      "attn_merge",     "attn_alibi_slopes",
        "attn_ctx_create"};
    for (int f = 0; f < FUNCTIONS; f++) {
        if (function == 1 << f) return names[f];
    }
    return "?";
}

/* Besides the status, a context that could not be made must be NULL. */
static attn_status create(const scene *s, attn_error *err) {
    attn_ctx *made = (attn_ctx *)(uintptr_t)s;
    const attn_status status = attn_ctx_create(s->p_options, &made, err);
    if (status != ATTN_OK && made != NULL) check_failed(__FILE__, __LINE__, "*ctx is not NULL");
    if (status == ATTN_OK) attn_ctx_destroy(made);
    return status;
}

attn_status call(scene *s, int function, attn_error *err) {
    switch (function) {
    case FORWARD: return attn_forward(s->ctx, s->p_args, s->p_out, s->p_lse, err);
    case WORKSPACE: return attn_forward_workspace(s->ctx, s->p_args, s->p_bytes, err);
    case REFERENCE: return attn_reference(s->p_args, s->p_out, s->p_lse, err);
    case INSPECT: return attn_inspect(s->ctx, s->p_args, s->p_what, err);
    case COST: return attn_cost(s->ctx, s->p_args, s->p_cost, err);
    case EXPLAIN:
        return attn_plan_explain(s->ctx, s->p_args, s->p_text, sizeof s->text, &s->needed, err);
    case MERGE: return attn_merge((const attn_partial *[]){s->p_a, s->p_b}, 2, s->p_result, err);
    case SLOPES: return attn_alibi_slopes(s->slopes_H, s->p_slopes, err);
    default: return create(s, err);
    }
}

static void apply(scene *s, const change *c) {
    char *at = (char *)s + c->at, *address = (char *)s + c->from;
    const int32_t small = (int32_t)c->integer;
    const void *const null = NULL;
    switch (c->kind) {
    case TO_I64: memcpy(at, &c->integer, sizeof c->integer); break;
    case TO_F64: memcpy(at, &c->number, sizeof c->number); break;
    case TO_I32: memcpy(at, &small, sizeof small); break;
    case TO_ADDRESS: memcpy(at, &address, sizeof address); break;
    case TO_FIELD: memcpy(at, address, sizeof(void *)); break;
    case TO_TENSOR: memcpy(at, address, sizeof(attn_tensor)); break;
    case TO_NULL: memcpy(at, &null, sizeof null); break;
    default: break;
    }
}

void apply_all(scene *s, const change changes[CHANGES]) {
    for (int c = 0; c < CHANGES && changes[c].kind != END; c++) apply(s, &changes[c]);
}

/* The message begins with the name of the argument: "q: ..." or "len_q[1]: ...". */
static bool names_it(const char *message, const wrong *w) {
    const size_t n = strlen(w->name);
    return strncmp(message, w->name, n) == 0 && message[n] == ':' &&
           (!w->value || strstr(message + n, w->value));
}

static void check_refused(const wrong *w, int number, int function) {
    attn_error err = {"no message"};
    for (int with_error = 1; with_error >= 0; with_error--) {
        scene_reset(&now);
        apply_all(&now, w->changes);
        memcpy(&before, &now, sizeof now);
        const attn_status status = call(&now, function, with_error ? &err : NULL);
        CHECK_MSG(status == w->status, "case %d (%s %s), %s: %s instead of %s: %s", number, w->name,
                  w->value ? w->value : "", function_name(function), attn_status_name(status),
                  attn_status_name(w->status), err.message);
        CHECK_MSG(memcmp(&before, &now, sizeof now) == 0, "case %d (%s), %s: something was written",
                  number, w->name, function_name(function));
    }
    CHECK_MSG(names_it(err.message, w), "case %d, %s: expected \"%s: ... %s\", got \"%s\"", number,
              function_name(function), w->name, w->value ? w->value : "", err.message);
}

void check_all_refused(const wrong *table, int n) {
    for (int w = 0; w < n; w++) {
        for (int f = 0; f < FUNCTIONS; f++) {
            if (table[w].by & 1 << f) check_refused(&table[w], w, 1 << f);
            if (check_has_failed()) return;
        }
    }
}
