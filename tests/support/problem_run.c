/* SPDX-License-Identifier: Apache-2.0 */
/* problem_run.c - describes a problem in words, and runs it: what the library must not touch is
 * compared byte by byte. See problem.h. */
#include "problem.h"

#include "check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------- text */

static void append(problem *p, const char *format, ...) CHECK_PRINTF(2, 3);

static void append(problem *p, const char *format, ...) {
    const size_t used = strlen(p->text);
    va_list list;
    va_start(list, format);
    vsnprintf(p->text + used, sizeof p->text - used, format, list);
    va_end(list);
}

static void append_tensor(problem *p, const char *name, const attn_tensor *t) {
    if (!t->data) return;
    append(p, " %s=%s(", name, attn_dtype_name(t->dtype));
    for (int k = 0; k < 4; k++) append(p, "%s%" PRId64, k ? "," : "", t->shape[k]);
    for (int k = 0; k < 4; k++) append(p, "%s%" PRId64, k ? "," : "|", t->stride[k]);
    append(p, ")");
}

static void append_list(problem *p, const char *name, const int64_t *list, int64_t n) {
    if (!list) return;
    append(p, " %s=", name);
    for (int64_t x = 0; x < n; x++) append(p, "%s%" PRId64, x ? "," : "", list[x]);
}

/* Anew before each run: tests change the arguments of a problem. */
void problem_describe(problem *p) {
    const attn_args *a = &p->args;
    p->text[0] = 0;
    append(p, "problem seed=%" PRIu64 " features=0x%x layout=%d:", p->spec.seed, p->spec.features,
           (int)p->spec.layout);
    append_tensor(p, "q", &a->q);
    append_tensor(p, "k", &a->k);
    append_tensor(p, "v", &a->v);
    append_tensor(p, "out", &p->out);
    append_tensor(p, "mask", &a->mask);
    append_tensor(p, "bias", &a->bias);
    for (int which = 0; which < GRADIENTS; which++) {
        const attn_tensor t = problem_gradient(p, which);
        append_tensor(p, gradient_names[which], &t);
    }
    append_list(p, "len_q", a->len_q, p->spec.B);
    append_list(p, "len_k", a->len_k, p->spec.B);
    append_list(p, "cu_q", a->cu_q, p->spec.B + 1);
    append_list(p, "cu_k", a->cu_k, p->spec.B + 1);
    append_list(p, "offsets", a->offsets, p->spec.B);
    append(p, " offset=%" PRId64 " causal=%d window=%" PRId64 ",%" PRId64, a->offset, a->causal,
           a->window_left, a->window_right);
    append(p, " scale=%g temperature=%g softcap=%g dropout=%g seed=0x%" PRIx64 "%s%s%s", a->scale,
           a->temperature, a->softcap, a->dropout, a->seed, a->alibi ? " alibi" : "",
           a->sinks ? " sinks" : "", a->pattern ? " pattern" : "");
}

/* ------------------------------------------------------------------------------------------ run */

void problem_remember(problem *p) {
    for (int which = 0; which < BUFFERS; which++) {
        const guard *g = &p->buffer[which];
        free(p->before[which]);
        p->before[which] = malloc(g->size + 1);
        if (!p->before[which]) {
            check_failed(__FILE__, __LINE__, "no memory for %s", p->text);
            return;
        }
        if (g->size > 0) memcpy(p->before[which], g->data, g->size);
    }
}

/* The buffer in which a tensor lies. */
static int buffer_of(const problem *p, const attn_tensor *t) {
    const unsigned char *at = t->data;
    for (int which = 0; which < BUFFERS; which++) {
        const guard *g = &p->buffer[which];
        if (g->size > 0 && at >= g->data && at < g->data + g->size) return which;
    }
    return -1;
}

/* Copies what an output now holds into the remembered bytes: these may change. */
static void accept_output(problem *p, const attn_tensor *t) {
    const int which = t->data && !tensor_is_empty(t->shape) ? buffer_of(p, t) : -1;
    int64_t at[4] = {0};
    if (which < 0) return;
    do {
        const unsigned char *element = tensor_at(t, at);
        memcpy(p->before[which] + (element - p->buffer[which].data), element,
               attn_dtype_size(t->dtype));
    } while (tensor_next(t->shape, at));
}

static bool is_untouched(const problem *p) {
    static const char *const names[BUFFERS] = {"q",    "k",     "v",      "out",   "lse",
                                               "mask", "bias",  "dout",   "dq",    "dk",
                                               "dv",   "dbias", "dsinks", "dscale"};
    for (int which = 0; which < BUFFERS; which++) {
        const guard *g = &p->buffer[which];
        for (size_t x = 0; x < g->size; x++) {
            if (g->data[x] == p->before[which][x]) continue;
            check_failed(__FILE__, __LINE__, "byte %zu of the buffer of %s was overwritten\n    %s",
                         x, names[which], p->text);
            return false;
        }
        if (!guard_intact(g)) {
            check_failed(__FILE__, __LINE__, "bytes beside %s were overwritten\n    %s",
                         names[which], p->text);
            return false;
        }
    }
    return true;
}

/* One of the engine's two passes; need() says how many bytes of workspace it needs. */
typedef attn_status need_function(problem *p, attn_ctx *ctx, size_t *bytes, attn_error *err);
typedef attn_status pass_function(problem *p, attn_ctx *ctx, attn_error *err);

static bool run_pass(problem *p, attn_ctx *ctx, need_function *need, pass_function *pass) {
    attn_error err = {""};
    guard workspace = {0};
    bool ok = false;
    size_t bytes = 0;
    problem_describe(p);
    attn_status status = need(p, ctx, &bytes, &err);
    if (status != ATTN_OK) goto done;
    if (!guard_alloc(&workspace, bytes, p->spec.seed & 1 ? GUARD_BEFORE : GUARD_AFTER)) {
        status = ATTN_E_MEMORY;
        goto done;
    }
    p->args.workspace = workspace.data;
    p->args.workspace_size = bytes;
    guard_explain(p->text);
    status = pass(p, ctx, &err);
    if (status != ATTN_OK) goto done;
    ok = is_untouched(p);
    if (!guard_intact(&workspace)) {
        check_failed(__FILE__, __LINE__, "bytes beside the workspace were overwritten\n    %s",
                     p->text);
        ok = false;
    }
done:
    if (status != ATTN_OK) {
        check_failed(__FILE__, __LINE__, "%s: %s\n    %s", attn_status_name(status), err.message,
                     p->text);
    }
    p->args.workspace = NULL;
    p->args.workspace_size = 0;
    guard_free(&workspace);
    return ok;
}

static attn_status need_forward(problem *p, attn_ctx *ctx, size_t *bytes, attn_error *err) {
    return attn_forward_workspace(ctx, &p->args, bytes, err);
}

static attn_status pass_forward(problem *p, attn_ctx *ctx, attn_error *err) {
    const attn_status status = attn_forward(ctx, &p->args, &p->out, &p->lse, err);
    accept_output(p, &p->out);
    accept_output(p, &p->lse);
    return status;
}

bool problem_run(problem *p, attn_ctx *ctx) { return run_pass(p, ctx, need_forward, pass_forward); }

static attn_status need_backward(problem *p, attn_ctx *ctx, size_t *bytes, attn_error *err) {
    return attn_backward_workspace(ctx, &p->args, &p->gradients, bytes, err);
}

static attn_status pass_backward(problem *p, attn_ctx *ctx, attn_error *err) {
    const attn_results results = {
        .struct_size = sizeof(attn_results), .out = p->out, .lse = p->lse, .dout = p->dout};
    const attn_status status = attn_backward(ctx, &p->args, &results, &p->gradients, err);
    for (int which = 0; which < GRADIENTS; which++) {
        const attn_tensor t = problem_gradient(p, which);
        accept_output(p, &t);
    }
    return status;
}

bool problem_run_backward(problem *p, attn_ctx *ctx) {
    return run_pass(p, ctx, need_backward, pass_backward);
}
