/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan.c - how a problem is divided into panels, blocks and scratch (src/attention/plan.c),
 * and what attn_plan_explain() says about it. */
#include "attention/plan.h"
#include "isas.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT = 4096 };

/* A pool that works on the calling thread: many workers, also where there are no threads. */
static void run_serially(void *user, int n_workers, void (*work)(void *arg, int worker),
                         void *arg) {
    (void)user;
    for (int w = 0; w < n_workers; w++) work(arg, w);
}

static attn_ctx *new_ctx(int threads, attn_isa isa) {
    attn_ctx_options o;
    attn_ctx *ctx = NULL;
    attn_ctx_options_init(&o);
    o.threads = threads;
    o.isa = isa;
    if (threads > 1) o.pool.run = run_serially;
    if (attn_ctx_create(&o, &ctx, NULL) != ATTN_OK) abort();
    return ctx;
}

static attn_args problem(attn_dtype dtype, int64_t H, int64_t H_kv, int64_t n_q, int64_t n_k) {
    attn_args a;
    attn_args_init(&a);
    a.q = attn_tensor_bhsd(NULL, dtype, 2, H, n_q, 40);
    a.k = attn_tensor_bhsd(NULL, dtype, 2, H_kv, n_k, 40);
    a.v = attn_tensor_bhsd(NULL, dtype, 2, H_kv, n_k, 24);
    return a;
}

/* -------------------------------------------------------------------------------------- panels */

/* vectors per panel that a table may have, and lanes per vector */
static const int all_vecs[] = {1, 2, 3, 4}, all_lanes[] = {1, 2, 4, 8, 16};

typedef void panels_check(const attni_kernels *k, int64_t rows);

static void for_panels(panels_check *check) {
    for (int v = 0; v < 4; v++) {
        for (int l = 0; l < 5; l++) {
            const attni_kernels k = {.vl = all_lanes[l], .min_vecs = 1, .max_vecs = all_vecs[v]};
            for (int64_t rows = 1; rows <= 700 && !check_has_failed(); rows++) check(&k, rows);
        }
    }
}

static void check_cover(const attni_kernels *k, int64_t rows) {
    int64_t left = rows;
    for (int panels = 0; left > 0; panels++) {
        const int vecs = attni_panel_vecs(k, left);
        CHECK_MSG(vecs >= 1 && vecs <= k->max_vecs, "%lld rows left: %d vectors of at most %d",
                  (long long)left, vecs, k->max_vecs);
        CHECK_MSG((vecs - 1) * k->vl < left, "%lld rows left: %d vectors of %d, one is empty",
                  (long long)left, vecs, k->vl);
        CHECK(panels <= rows);
        left -= vecs * k->vl;
    }
}

TEST(panels_cover_all_rows_with_at_most_max_vectors) { for_panels(check_cover); }

/* From two vectors on, panels of two and more can be formed: always if three fit, else if even. */
static void check_narrow(const attni_kernels *k, int64_t rows) {
    const int64_t vectors = attni_ceil_div(rows, k->vl);
    const bool avoidable =
        vectors >= 2 && (k->max_vecs >= 3 || (k->max_vecs == 2 && vectors % 2 == 0));
    int narrow = 0;
    for (int64_t left = rows; left > 0;) {
        const int vecs = attni_panel_vecs(k, left);
        narrow += vecs == 1;
        left -= vecs * k->vl;
    }
    CHECK_MSG(!avoidable || narrow == 0, "%lld vectors of at most %d: %d panels of one",
              (long long)vectors, k->max_vecs, narrow);
    CHECK(k->max_vecs < 2 || narrow <= 1);
}

TEST(panel_of_one_vector_comes_only_when_unavoidable) { for_panels(check_narrow); }

static void check_fewest(const attni_kernels *k, int64_t rows) {
    int64_t panels = 0;
    for (int64_t left = rows; left > 0; panels++) left -= attni_panel_vecs(k, left) * k->vl;
    CHECK_INT(panels, attni_ceil_div(attni_ceil_div(rows, k->vl), k->max_vecs));
}

TEST(panels_are_as_few_as_possible) { for_panels(check_fewest); }

/* -------------------------------------------------------------------------------------- blocks */

/* Calls check for plans of many row counts, groups, threads and instruction sets. */
typedef void plan_check(const attni_plan *plan, int64_t rows);

static void for_plans(plan_check *check) {
    static const int64_t heads[][2] = {{1, 1}, {2, 1}, {3, 3}, {8, 2}, {12, 12}};
    EACH_ISA(isa) {
        EACH_THREAD_COUNT(threads) {
            attn_ctx *ctx = new_ctx(threads, isa);
            for (int h = 0; h < 5; h++) {
                for (int64_t n = 1; n < 500 && !check_has_failed(); n++) {
                    const attn_args a = problem(ATTN_F32, heads[h][0], heads[h][1], n, 100);
                    attni_plan plan;
                    CHECK_INT(attni_plan_make(ctx, &a, &plan, NULL), ATTN_OK);
                    check(&plan, n * heads[h][0] / heads[h][1]);
                }
            }
            attn_ctx_destroy(ctx);
        }
    }
}

static void check_blocks(const attni_plan *plan, int64_t rows) {
    const int64_t heads = attni_sequence_count(plan->args) * plan->args->k.shape[1];
    CHECK(plan->block_rows >= 1);
    CHECK_MSG(plan->blocks * plan->block_rows >= rows &&
                  (plan->blocks - 1) * plan->block_rows < rows,
              "%lld rows in %lld blocks of %lld", (long long)rows, (long long)plan->blocks,
              (long long)plan->block_rows);
    CHECK_INT(plan->n_tasks, heads * plan->blocks);
    const int64_t room = plan->block_panels * plan->kernels->max_vecs * plan->kernels->vl;
    CHECK_INT(plan->blocks, attni_ceil_div(rows, room));
    CHECK(plan->workers >= 1);
}

TEST(blocks_cover_the_rows_of_a_head_and_are_as_few_as_fit) { for_plans(check_blocks); }

/* Scratch holds block_panels panels: a block must not be cut into more. */
static void check_room(const attni_plan *plan, int64_t rows) {
    for (int64_t first = 0; first < rows; first += plan->block_rows) {
        int64_t panels = 0, left = attni_min(plan->block_rows, rows - first);
        for (; left > 0; panels++)
            left -= attni_panel_vecs(plan->kernels, left) * plan->kernels->vl;
        CHECK_MSG(panels <= plan->block_panels, "%lld rows: %lld panels in room for %lld",
                  (long long)rows, (long long)panels, (long long)plan->block_panels);
    }
    CHECK(plan->block_panels <= ATTNI_BLOCK_PANELS);
}

TEST(blocks_have_no_more_panels_than_room) { for_plans(check_room); }

/* Two panels share a key tile; with one there would be nothing to share. */
static void check_shared(const attni_plan *plan, int64_t rows) {
    const int64_t vectors = attni_ceil_div(rows, plan->kernels->vl);
    CHECK_MSG(plan->block_panels >= 2 || vectors <= plan->kernels->max_vecs,
              "%lld rows, %lld vectors: one panel per block", (long long)rows, (long long)vectors);
}

TEST(blocks_hold_two_panels_where_there_are_two) { for_plans(check_shared); }

static size_t scratch_before; /* of the row count before, same context and heads */

static void check_monotone(const attni_plan *plan, int64_t rows) {
    if (rows == plan->group) scratch_before = 0;
    CHECK_MSG(plan->workspace >= scratch_before, "%lld rows: %zu bytes, but %zu for fewer rows",
              (long long)rows, plan->workspace, scratch_before);
    scratch_before = plan->workspace;
}

/* Without this a second, smaller call would allocate. */
TEST(more_rows_never_need_less_scratch) { for_plans(check_monotone); }

TEST(scratch_is_one_part_per_worker) {
    for (int threads = 1; threads < 9; threads++) {
        attn_ctx *ctx = new_ctx(threads, ATTN_ISA_AUTO);
        const attn_args a = problem(ATTN_F32, 8, 8, 300, 300);
        attni_plan plan;
        CHECK_INT(attni_plan_make(ctx, &a, &plan, NULL), ATTN_OK);
        CHECK_INT(plan.workers, threads);
        CHECK_INT(plan.workspace, plan.layout.bytes * (size_t)threads);
        CHECK_INT(plan.layout.bytes % 64, 0);
        attn_ctx_destroy(ctx);
    }
}

TEST(workers_and_scratch_follow_the_tasks) {
    attn_ctx *ctx = new_ctx(16, ATTN_ISA_SCALAR);
    for (int64_t heads = 1; heads < 20; heads++) {
        attn_args a = problem(ATTN_F32, heads, heads, 2, 1500); /* too few keys to be split */
        a.q.shape[3] = a.k.shape[3] = a.v.shape[3] = 2000;      /* but enough work */
        a.q.shape[0] = a.k.shape[0] = a.v.shape[0] = 1;
        attni_plan plan;
        CHECK_INT(attni_plan_make(ctx, &a, &plan, NULL), ATTN_OK);
        CHECK_INT(plan.n_tasks, heads);
        CHECK_INT(plan.workers, heads < 16 ? heads : 16);
        CHECK_INT(plan.workspace, plan.layout.bytes * (size_t)plan.workers);
    }
    attn_ctx_destroy(ctx);
}

/* One query of one head, as in text generation: the only way to more than one thread. */
TEST(keys_are_split_where_there_are_fewer_blocks_than_threads) {
    for (int threads = 1; threads < 9; threads++) {
        attn_ctx *ctx = new_ctx(threads, ATTN_ISA_AUTO);
        for (int64_t groups = 1; groups < 30; groups++) {
            attn_args a = problem(ATTN_F32, 1, 1, 1, groups * ATTNI_GROUP_KEYS);
            a.q.shape[0] = a.k.shape[0] = a.v.shape[0] = 1;
            a.q.shape[3] = a.k.shape[3] = a.v.shape[3] = 2000; /* enough work for many threads */
            attni_plan plan;
            CHECK_INT(attni_plan_make(ctx, &a, &plan, NULL), ATTN_OK);
            CHECK_INT(plan.ranges, threads == 1 ? 1 : attni_min(groups, 4 * threads));
            CHECK_INT(plan.n_tasks, plan.ranges);
            CHECK_INT(plan.workers, attni_min(threads, plan.ranges));
        }
        attn_ctx_destroy(ctx);
    }
}

TEST(keys_of_many_queries_are_not_split) {
    attn_ctx *ctx = new_ctx(8, ATTN_ISA_AUTO);
    for (int64_t rows = 500; rows < 20000; rows *= 3) {
        attn_args a = problem(ATTN_F32, 1, 1, rows, 50000);
        a.q.shape[0] = a.k.shape[0] = a.v.shape[0] = 1;
        attni_plan plan;
        CHECK_INT(attni_plan_make(ctx, &a, &plan, NULL), ATTN_OK);
        CHECK_INT(plan.ranges, 1);
        CHECK_INT(plan.workspace, plan.layout.bytes * (size_t)plan.workers);
    }
    attn_ctx_destroy(ctx);
}

TEST(tiny_problem_stays_on_the_calling_thread) {
    attn_ctx *ctx = new_ctx(8, ATTN_ISA_AUTO);
    const attn_args a = problem(ATTN_F32, 2, 2, 8, 8);
    attni_plan plan;
    CHECK_INT(attni_plan_make(ctx, &a, &plan, NULL), ATTN_OK);
    CHECK_INT(plan.workers, 1);
    CHECK_INT(plan.workspace, plan.layout.bytes);
    attn_ctx_destroy(ctx);
}

/* ------------------------------------------------------------------------------------- in words */

static char text[TEXT];

/* The explanation of a; "" if there is none. */
static const char *explain(attn_ctx *ctx, const attn_args *a) {
    attn_error err = {""};
    text[0] = 0;
    if (attn_plan_explain(ctx, a, text, sizeof text, NULL, &err) != ATTN_OK)
        check_failed(__FILE__, __LINE__, "%s", err.message);
    return text;
}

/* The line that begins with the word, without it; "" if there is none. Kept until the next call. */
static const char *line(const char *explanation, const char *word) {
    static char found[512];
    found[0] = 0;
    for (const char *at = explanation; at && *at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, word, strlen(word)) != 0) continue;
        at += strlen(word);
        snprintf(found, sizeof found, "%.*s", (int)strcspn(at, "\n"), at);
        break;
    }
    return found;
}

#define CHECK_SAYS(explanation, word, part)                                                        \
    CHECK_MSG(strstr(line(explanation, word), part), "\"%s\" is not in the line \"%s%s\"", part,   \
              word, line(explanation, word))

TEST(explanation_names_shapes_and_dtype) {
    attn_ctx *ctx = new_ctx(1, ATTN_ISA_AUTO);
    const attn_args a = problem(ATTN_F16, 6, 3, 11, 13);
    const char *says = explain(ctx, &a);
    static const char *const parts[] = {"B=2",    "H=6",    "H_kv=3", "n_q=11",
                                        "n_k=13", "d_k=40", "d_v=24", "f16"};
    for (int p = 0; p < 8; p++) CHECK_SAYS(says, "problem", parts[p]);
    attn_ctx_destroy(ctx);
}

TEST(explanation_names_the_kernels_of_every_instruction_set) {
    EACH_ISA(isa) {
        attn_ctx *ctx = new_ctx(1, isa);
        const attn_args single = problem(ATTN_F32, 1, 1, 5, 5),
                        twice = problem(ATTN_F64, 1, 1, 5, 5);
        CHECK_SAYS(explain(ctx, &single), "kernels", attn_isa_name(isa));
        CHECK_SAYS(explain(ctx, &single), "kernels", "f32");
        CHECK_SAYS(explain(ctx, &twice), "kernels", "f64");
        attn_ctx_destroy(ctx);
    }
}

TEST(explanation_names_the_tile) {
    attn_ctx *ctx = new_ctx(1, ATTN_ISA_AUTO);
    const attn_args a = problem(ATTN_F32, 6, 3, 11, 13);
    char want[32];
    snprintf(want, sizeof want, "%d keys per tile", ATTNI_KEY_TILE);
    CHECK_SAYS(explain(ctx, &a), "path", want);
    attn_ctx_destroy(ctx);
}

TEST(explanation_states_the_bottom_right_offset_and_its_value) {
    static const int64_t sizes[][2] = {{11, 13}, {13, 11}, {7, 7}};
    static const char *const values[] = {" 2 ", " -2 ", " 0 "};
    attn_ctx *ctx = new_ctx(1, ATTN_ISA_AUTO);
    for (int n = 0; n < 3; n++) {
        attn_args a = problem(ATTN_F32, 1, 1, sizes[n][0], sizes[n][1]);
        a.causal = 1;
        CHECK_SAYS(explain(ctx, &a), "offset", values[n]);
        CHECK_SAYS(text, "offset", "bottom-right");
    }
    attn_ctx_destroy(ctx);
}

TEST(explanation_states_an_offset_that_was_given) {
    attn_ctx *ctx = new_ctx(1, ATTN_ISA_AUTO);
    attn_args a = problem(ATTN_F32, 1, 1, 11, 13);
    const int64_t offsets[2] = {3, 4};
    a.window_left = 4;
    a.offset = -7;
    CHECK_SAYS(explain(ctx, &a), "offset", " -7 ");
    a.offset = ATTN_OFFSET_TOP_LEFT;
    CHECK_SAYS(explain(ctx, &a), "offset", "top-left");
    a.offsets = offsets;
    CHECK_SAYS(explain(ctx, &a), "offset", "per batch");
    attn_ctx_destroy(ctx);
}

TEST(explanation_says_that_lengths_decide_the_offset) {
    attn_ctx *ctx = new_ctx(1, ATTN_ISA_AUTO);
    attn_args a = problem(ATTN_F32, 1, 1, 11, 13);
    const int64_t lengths[2] = {3, 4};
    a.causal = 1;
    a.len_k = lengths;
    CHECK_SAYS(explain(ctx, &a), "offset", "n_k - n_q of each sequence");
    attn_ctx_destroy(ctx);
}

TEST(explanation_is_silent_about_an_offset_without_effect) {
    attn_ctx *ctx = new_ctx(1, ATTN_ISA_AUTO);
    const attn_args a = problem(ATTN_F32, 1, 1, 11, 13);
    CHECK_STR(line(explain(ctx, &a), "offset"), "");
    CHECK_SAYS(text, "visible", "every key");
    attn_ctx_destroy(ctx);
}

TEST(explanation_lists_what_limits_the_keys) {
    attn_ctx *ctx = new_ctx(1, ATTN_ISA_AUTO);
    attn_args a = problem(ATTN_F32, 1, 1, 4, 4);
    const uint8_t allow[16] = {1, 0, 1};
    const float bias[16] = {0};
    const int64_t lengths[2] = {3, 4};
    attn_pattern *pattern = NULL;
    CHECK_INT(attn_pattern_prefix(4, 4, 2, NULL, &pattern, NULL), ATTN_OK);
    a.causal = 1;
    a.window_left = 5;
    a.window_right = 6;
    a.len_q = lengths;
    a.mask = attn_tensor_bhsd(allow, ATTN_BOOL, 1, 1, 4, 4);
    a.bias = attn_tensor_bhsd(bias, ATTN_F32, 1, 1, 4, 4);
    a.pattern = pattern;
    static const char *const parts[] = {
        "causal", "window-left=5", "window-right=6", "lengths", "pattern(4 ", "mask", "bias"};
    explain(ctx, &a);
    for (int p = 0; p < 7; p++) CHECK_SAYS(text, "visible", parts[p]);
    CHECK(!strstr(line(text, "visible"), "every key"));
    attn_pattern_destroy(pattern);
    attn_ctx_destroy(ctx);
}

TEST(explanation_lists_what_changes_the_scores) {
    attn_ctx *ctx = new_ctx(1, ATTN_ISA_AUTO);
    attn_args a = problem(ATTN_F32, 1, 1, 4, 4);
    const double one[1] = {1};
    a.scale = 0.375;
    a.temperature = 1.5;
    a.softcap = 30;
    a.alibi = a.sinks = one;
    a.dropout = 0.25;
    a.seed = 987654321;
    static const char *const parts[] = {"scale 0.375", "temperature 1.5", "softcap 30", "ALiBi",
                                        "sinks",       "dropout 0.25",    "987654321"};
    explain(ctx, &a);
    for (int p = 0; p < 7; p++) CHECK_SAYS(text, "score", parts[p]);
    attn_ctx_destroy(ctx);
}

TEST(explanation_fills_in_the_default_scale) {
    attn_ctx *ctx = new_ctx(1, ATTN_ISA_AUTO);
    const attn_args a = problem(ATTN_F32, 1, 1, 4, 4); /* d_k = 40 */
    char want[32];
    snprintf(want, sizeof want, "scale %.9g", 1 / sqrt(40.));
    CHECK_SAYS(explain(ctx, &a), "score", want);
    attn_ctx_destroy(ctx);
}

TEST(explanation_counts_the_visible_pairs) {
    attn_ctx *ctx = new_ctx(1, ATTN_ISA_AUTO);
    attn_args a = problem(ATTN_F32, 3, 3, 10, 10);
    a.causal = 1;
    CHECK_SAYS(explain(ctx, &a), "work", " 330 of 600 pairs"); /* 2 batches, 3 heads */
    CHECK_SAYS(text, "work", "(55 %)");
    attn_ctx_destroy(ctx);
}

TEST(explanation_says_how_many_threads_work_and_why) {
    attn_ctx *ctx = new_ctx(6, ATTN_ISA_AUTO);
    const attn_args large = problem(ATTN_F32, 8, 8, 300, 300),
                    small = problem(ATTN_F32, 1, 1, 4, 4);
    CHECK_SAYS(explain(ctx, &large), "threads", " 6 of 6,");
    CHECK_SAYS(explain(ctx, &small), "threads", " 1 of 6,");
    CHECK_SAYS(text, "threads", "too little work");
    attn_args few = problem(ATTN_F32, 2, 2, 2, 1500);        /* two batches, one panel each */
    few.q.shape[3] = few.k.shape[3] = few.v.shape[3] = 2000; /* but much work */
    CHECK_SAYS(explain(ctx, &few), "threads", " 4 of 6, 4 tasks (one per task)");
    CHECK(!strstr(text, "ranges"));
    few.q.shape[0] = few.k.shape[0] = few.v.shape[0] = 1;
    few.q.shape[1] = few.k.shape[1] = few.v.shape[1] = 1;
    CHECK_SAYS(explain(ctx, &few), "threads", " 1 of 6, 1 task (a task runs on one thread)");
    few.k.shape[2] = few.v.shape[2] = 20000;
    CHECK_SAYS(explain(ctx, &few), "threads", " 6 of 6, 14 tasks");
    CHECK(strstr(text, "keys are split into 14 ranges"));
    attn_ctx_destroy(ctx);
    ctx = new_ctx(1, ATTN_ISA_AUTO);
    CHECK_SAYS(explain(ctx, &small), "threads", " 1 of 1,");
    CHECK(!strstr(text, "too little"));
    attn_ctx_destroy(ctx);
}

TEST(explanation_names_the_path_of_few_queries) {
    attn_ctx *ctx = new_ctx(1, ATTN_ISA_AUTO);
    attn_args a = problem(ATTN_F32, 2, 2, 1, 300);
    const int64_t cu_q[] = {0, 1, 41}, cu_k[] = {0, 100, 300};
    if (!attni_ctx_kernels(ctx, false)->few) SKIP("this build has no path for few queries");
    CHECK_SAYS(explain(ctx, &a), "path", "decode: at most 8 queries");
    a.q.shape[2] = 40;
    CHECK_SAYS(explain(ctx, &a), "path", "tiled");
    CHECK(!strstr(text, "decode"));
    a.q.shape[0] = a.k.shape[0] = a.v.shape[0] = 1;
    a.q.shape[2] = 41;
    a.cu_q = cu_q;
    a.cu_k = cu_k;
    a.n_seqs = 2;
    CHECK_SAYS(explain(ctx, &a), "path", "tiled");
    CHECK(strstr(text, "decode for 1 of 2 sequences"));
    attn_ctx_destroy(ctx);
}

TEST(explanation_states_the_scratch_of_the_call) {
    static float data[2 * 8 * 300 * 40];
    attn_ctx *ctx = new_ctx(3, ATTN_ISA_AUTO);
    attn_args a = problem(ATTN_F32, 8, 8, 300, 300);
    char want[32];
    size_t bytes = 0;
    a.q.data = a.k.data = a.v.data = data;
    CHECK_INT(attn_forward_workspace(ctx, &a, &bytes, NULL), ATTN_OK);
    CHECK(bytes > 0);
    snprintf(want, sizeof want, " %zu bytes", bytes);
    CHECK_SAYS(explain(ctx, &a), "scratch", want);
    attn_ctx_destroy(ctx);
}

TEST(packed_sequences_are_counted) {
    attn_ctx *ctx = new_ctx(1, ATTN_ISA_AUTO);
    attn_args a = problem(ATTN_F32, 1, 1, 9, 9);
    const int64_t starts[4] = {0, 2, 5, 9};
    a.q.shape[0] = a.k.shape[0] = a.v.shape[0] = 1;
    a.cu_q = a.cu_k = starts;
    a.n_seqs = 3;
    CHECK_SAYS(explain(ctx, &a), "problem", "3 packed");
    attn_ctx_destroy(ctx);
}

/* ------------------------------------------------------------------------------------- the room */

TEST(explanation_is_cut_to_the_room_and_says_how_much_it_needs) {
    attn_ctx *ctx = new_ctx(1, ATTN_ISA_AUTO);
    attn_args a = problem(ATTN_F32, 6, 3, 11, 13);
    a.causal = 1;
    a.softcap = 2;
    static char whole[TEXT], part[TEXT];
    strcpy(whole, explain(ctx, &a));
    const size_t length = strlen(whole);
    CHECK(length > 200 && length < TEXT - 10);
    for (size_t size = 0; size < length + 5; size++) {
        size_t needed = 0;
        memset(part, '#', sizeof part);
        CHECK_INT(attn_plan_explain(ctx, &a, part, size, &needed, NULL), ATTN_OK);
        CHECK_INT(needed, length + 1);
        const size_t kept = size == 0 ? 0 : size <= length ? size - 1 : length;
        CHECK_MSG(strncmp(part, whole, kept) == 0, "size %zu", size);
        CHECK_MSG(size == 0 || part[kept] == 0, "size %zu: no 0 at %zu", size, kept);
        for (size_t e = size; e < TEXT; e++)
            CHECK_MSG(part[e] == '#', "size %zu: byte %zu was written", size, e);
    }
    attn_ctx_destroy(ctx);
}

TEST(size_of_the_explanation_can_be_asked_without_room) {
    attn_ctx *ctx = new_ctx(1, ATTN_ISA_AUTO);
    const attn_args a = problem(ATTN_F32, 6, 3, 11, 13);
    size_t needed = 0;
    CHECK_INT(attn_plan_explain(ctx, &a, NULL, 0, &needed, NULL), ATTN_OK);
    CHECK_INT(needed, strlen(explain(ctx, &a)) + 1);
    CHECK_INT(attn_plan_explain(ctx, &a, NULL, 0, NULL, NULL), ATTN_OK);
    attn_ctx_destroy(ctx);
}
