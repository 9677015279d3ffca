/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c - describes the plan in words: which code path, why, and what it costs. Decides
 * nothing. Test: tests/attention/test_plan.c */
#include "attention/plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

typedef struct writer {
    char *text;
    size_t size, used; /* used may exceed size: then it only counts */
} writer;

static void say(writer *w, const char *format, ...) ATTNI_PRINTF(2, 3);
static void say(writer *w, const char *format, ...) {
    va_list list;
    va_start(list, format);
    const bool room = w->used < w->size;
    const int n =
        vsnprintf(room ? w->text + w->used : NULL, room ? w->size - w->used : 0, format, list);
    va_end(list);
    if (n > 0) w->used += (size_t)n;
}

static void say_problem(writer *w, const attni_plan *plan) {
    const attn_args *a = plan->args;
    say(w,
        "problem    B=%" PRId64 " H=%" PRId64 " H_kv=%" PRId64 " n_q=%" PRId64 " n_k=%" PRId64
        " d_k=%" PRId64 " d_v=%" PRId64 " %s",
        a->q.shape[0], a->q.shape[1], a->k.shape[1], a->q.shape[2], a->k.shape[2], a->q.shape[3],
        a->v.shape[3], attn_dtype_name(a->q.dtype));
    if (a->cu_q) say(w, ", %" PRId64 " packed sequences", a->n_seqs);
    say(w, "\nscore      scale %.9g, temperature %.9g", a->scale, a->temperature);
    if (a->softcap > 0) say(w, ", softcap %.9g", a->softcap);
    if (a->bias.data) say(w, ", bias %s", attn_dtype_name(a->bias.dtype));
    if (a->alibi) say(w, ", ALiBi");
    if (a->sinks) say(w, ", sinks");
    if (a->dropout > 0) say(w, ", dropout %.9g (seed %" PRIu64 ")", a->dropout, a->seed);
    say(w, "\n");
}

static void say_offset(writer *w, const attn_args *a) {
    if (a->offsets) {
        say(w, "offset     given per batch\n");
    } else if (a->offset != ATTN_OFFSET_BOTTOM_RIGHT) {
        say(w, "offset     %" PRId64 " (given%s)\n", a->offset, a->offset == 0 ? ", top-left" : "");
    } else if (a->len_q || a->len_k || a->cu_q) {
        say(w, "offset     bottom-right (default): n_k - n_q of each sequence, the last query sees "
               "all its keys\n");
    } else {
        say(w,
            "offset     %" PRId64
            " = n_k - n_q, bottom-right (default): the last query sees all keys\n",
            a->k.shape[2] - a->q.shape[2]);
    }
}

static void say_masks(writer *w, const attn_args *a) {
    say(w, "visible   ");
    if (a->causal) say(w, " causal");
    if (a->window_left >= 0) say(w, " window-left=%" PRId64, a->window_left);
    if (a->window_right >= 0) say(w, " window-right=%" PRId64, a->window_right);
    if (a->len_q || a->len_k) say(w, " lengths");
    if (a->pattern) say(w, " pattern(%" PRId64 " intervals)", attn_pattern_intervals(a->pattern));
    if (a->mask.data) say(w, " mask");
    if (a->bias.data) say(w, " bias>-inf");
    const bool limited = a->causal || a->window_left >= 0 || a->window_right >= 0 || a->len_q ||
                         a->len_k || a->pattern || a->mask.data || a->bias.data;
    if (!limited) say(w, " every key");
    say(w, "\n");
    if (a->causal || a->window_left >= 0 || a->window_right >= 0 || a->alibi) say_offset(w, a);
}

static const char *why_not_all(const attni_plan *plan, int threads) {
    if (plan->workers == threads) return "";
    if (plan->n_tasks <= 1) return " (a task runs on one thread)";
    return plan->worth_waking ? " (one per task)" : " (too little work to wake more)";
}

/* The number of sequences with few queries. */
static int64_t count_few(const attni_plan *plan) {
    int64_t n = 0;
    for (int64_t index = 0; index < attni_sequence_count(plan->args); index++) {
        const attni_sequence seq = attni_sequence_at(plan->args, index);
        n += attni_plan_is_few(plan, &seq);
    }
    return n;
}

static void say_path(writer *w, const attni_plan *plan, int threads) {
    const attni_kernels *k = plan->kernels;
    say(w, "kernels    %s %s, %d lanes, panels of %d queries, %s multiply-add\n", k->name,
        plan->real_size == 8 ? "f64" : "f32", k->vl, k->vl * k->max_vecs,
        k->fused ? "fused" : "separate");
    const int64_t few = count_few(plan), sequences = attni_sequence_count(plan->args);
    if (few < sequences) {
        say(w, "path       tiled: %d keys per tile, %" PRId64 " panels share a tile, O(n) memory\n",
            ATTNI_KEY_TILE, plan->block_panels);
        if (plan->half)
            say(w, "           %s tiles are widened to f32 once per block\n",
                attn_dtype_name(plan->args->q.dtype));
    }
    if (few > 0) {
        say(w, "%s", few == sequences ? "path       decode: " : "           ");
        if (few < sequences)
            say(w, "decode for %" PRId64 " of %" PRId64 " sequences: ", few, sequences);
        say(w, "at most %d queries per key/value head, lanes are keys, O(n) memory\n",
            ATTNI_FEW_ROWS);
    }
    if (plan->group > 1)
        say(w, "           the %" PRId64 " query heads of a key/value head share its tiles\n",
            plan->group);
    const attn_args *a = plan->args;
    if (a->bias.data || a->alibi || a->softcap > 0) {
        say(w, "           scores take an extra pass (%s%s%s )\n", a->softcap > 0 ? " softcap" : "",
            a->alibi ? " ALiBi" : "", a->bias.data ? " bias" : "");
    }
    if (a->dropout > 0) say(w, "           weights take an extra pass (dropout)\n");
    say(w, "threads    %d of %d, %" PRId64 " %s%s\n", plan->workers, threads, plan->n_tasks,
        plan->n_tasks == 1 ? "task" : "tasks", why_not_all(plan, threads));
    if (plan->ranges > 1)
        say(w, "           keys are split into %" PRId64 " ranges, merged in ascending order\n",
            plan->ranges);
    say(w, "scratch    %zu bytes\n", plan->workspace);
}

static void say_backward(writer *w, const attni_plan *plan, double flops) {
    say(w, "backward   %.4g flops, weights recomputed from the log-sum-exp, O(n) memory\n", flops);
    const size_t saved = attni_plan_saved(plan).bytes;
    if (saved > 0) {
        say(w, "           with args->saved (%zu bytes) kept by forward instead: a fifth less\n",
            saved);
    }
}

attn_status attn_plan_explain(attn_ctx *ctx, const attn_args *args, char *text, size_t size,
                              size_t *needed, attn_error *err) {
    attn_args a;
    attni_plan plan;
    if (!ctx)
        return attni_fail(err, ATTN_E_NULL, "ctx: NULL, expected a context from attn_ctx_create()");
    if (!text && size > 0) return attni_fail(err, ATTN_E_NULL, "text: NULL, but size is %zu", size);
    ATTN_TRY(attni_args_check_shapes(args, &a, err));
    ATTN_TRY(attni_plan_make(ctx, &a, &plan, err));
    attn_cost_info cost;
    attn_cost_info_init(&cost);
    ATTN_TRY(attn_cost(ctx, args, &cost, err));
    writer w = {.text = text, .size = size};
    say_problem(&w, &plan);
    say_masks(&w, &a);
    say(&w, "work       %.6g of %.6g pairs visible (%.4g %%), %.4g flops\n", cost.visible_pairs,
        cost.pairs, cost.pairs > 0 ? 100 * cost.visible_pairs / cost.pairs : 0, cost.flops);
    say_path(&w, &plan, attn_ctx_threads(ctx));
    say_backward(&w, &plan, cost.flops_backward);
    if (needed) *needed = w.used + 1;
    return ATTN_OK;
}
