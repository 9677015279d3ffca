/* SPDX-License-Identifier: Apache-2.0 */
/* cost.c - `attn cost`: what a problem would take, counted and not computed.
 * Tests: tests/cli/test_cli.py */
#include "run/pattern_option.h"
#include "shared/options.h"
#include "shared/out.h"

#include <string.h>

typedef struct cost_options {
    cli_common common;
    int64_t n, nk, d, dv, heads, kv_heads, batch; /* nk < 0: as n; dv, kv_heads 0: as d, heads */
    bool causal;
    const char *window, *pattern, *offset;
    int dtype;
    int64_t threads;
} cost_options;

enum { MAX_SIZE = 1000000000 }; /* visible pairs are counted row by row */

#define AT(field)  .at = offsetof(cost_options, field)
#define SIZE(from) .kind = CLI_INT, .value = "N", .min = (from), .max = MAX_SIZE

static const cli_option options[] = {
    {.kind = CLI_SECTION, .name = "Sizes"},
    {SIZE(0), .name = "n", AT(n), .help = "rows of queries (and of keys, without --nk); required"},
    {SIZE(0), .name = "nk", AT(nk), .help = "rows of keys and values"},
    {SIZE(1), .name = "d", AT(d), .help = "head size of queries and keys; default 64"},
    {SIZE(1), .name = "dv", AT(dv), .help = "head size of values; default as --d"},
    {SIZE(1), .name = "heads", AT(heads), .help = "query heads; default 1"},
    {SIZE(1), .name = "kv-heads", AT(kv_heads), .help = "key/value heads; default as --heads"},
    {SIZE(1), .name = "batch", AT(batch), .help = "sequences; default 1"},
    {.kind = CLI_CHOICE,
     .name = "dtype",
     AT(dtype),
     .value = "f32|f64|f16|bf16",
     .help = "element type; default f32"},
    {.kind = CLI_SECTION, .name = "What each query sees"},
    {.kind = CLI_FLAG, .name = "causal", AT(causal), .help = "keys up to its own position"},
    {.kind = CLI_TEXT,
     .name = "window",
     AT(window),
     .value = "L,R",
     .help = "L keys before and R after its own position; -1 = no limit"},
    {.kind = CLI_TEXT,
     .name = "offset",
     AT(offset),
     .value = "N|top-left|bottom-right",
     .help = "position of query 0 among the keys; default bottom-right: nk - n"},
    {.kind = CLI_TEXT,
     .name = "pattern",
     AT(pattern),
     .value = "P",
     .help = "a sparse pattern, as in `attn run`: longformer:256,64&causal"},
    {.kind = CLI_SECTION, .name = "Machine"},
    CLI_THREADS_OPTION(cost_options, "threads that share the scratch; default: all CPUs"),
    CLI_COMMON_OPTIONS,
};

static const cli_spec spec = {
    .command = "cost",
    .usage = "cost --n N [options]",
    .about = "Counts what one attention problem takes: pairs of queries and keys,\n"
             "floating-point operations forward and backward, bytes. Nothing is computed.",
    .notes = {{"Patterns for --pattern", pattern_help},
              {"Examples", "  attn cost --n 16384 --heads 32 --d 128 --causal\n"
                           "  attn cost --n 1 --nk 100000 --heads 32 --kv-heads 8 --dtype f16\n"}},
    .options = options,
    .n_options = sizeof options / sizeof *options,
};

static const attn_dtype dtypes[] = {ATTN_F32, ATTN_F64, ATTN_F16, ATTN_BF16};

static int usage_error(const char *option, const char *value, const char *expected) {
    out_error(spec.command, "--%s %s: expected %s", option, value, expected);
    return CLI_USAGE;
}

static int fill_visibility(const cost_options *o, attn_args *args) {
    int64_t window[2];
    args->causal = o->causal;
    if (o->window) {
        if (cli_parse_ints(o->window, window, 2) != 2)
            return usage_error("window", o->window, "two whole numbers L,R");
        args->window_left = window[0];
        args->window_right = window[1];
    }
    if (!o->offset || strcmp(o->offset, "bottom-right") == 0) return CLI_OK;
    if (strcmp(o->offset, "top-left") == 0)
        args->offset = ATTN_OFFSET_TOP_LEFT;
    else if (!cli_parse_int(o->offset, &args->offset))
        return usage_error("offset", o->offset, "a whole number, top-left or bottom-right");
    return CLI_OK;
}

static void fill_shapes(const cost_options *o, attn_args *args) {
    const attn_dtype dtype = dtypes[o->dtype];
    const int64_t n_k = o->nk >= 0 ? o->nk : o->n, d_v = o->dv ? o->dv : o->d;
    const int64_t H_kv = o->kv_heads ? o->kv_heads : o->heads;
    args->q = attn_tensor_bhsd(NULL, dtype, o->batch, o->heads, o->n, o->d);
    args->k = attn_tensor_bhsd(NULL, dtype, o->batch, H_kv, n_k, o->d);
    args->v = attn_tensor_bhsd(NULL, dtype, o->batch, H_kv, n_k, d_v);
}

static json_t *as_json(const attn_args *args, const attn_cost_info *cost, int threads) {
    const struct {
        const char *name;
        double value;
    } counts[] = {
        {"B", (double)args->q.shape[0]},
        {"H", (double)args->q.shape[1]},
        {"H_kv", (double)args->k.shape[1]},
        {"n_q", (double)args->q.shape[2]},
        {"n_k", (double)args->k.shape[2]},
        {"d_k", (double)args->q.shape[3]},
        {"d_v", (double)args->v.shape[3]},
        {"threads", threads},
        {"pairs", cost->pairs},
        {"visible_pairs", cost->visible_pairs},
        {"flops", cost->flops},
        {"flops_backward", cost->flops_backward},
        {"bytes_io", cost->bytes_io},
        {"bytes_dense", cost->bytes_dense},
        {"bytes_scratch", cost->bytes_scratch},
    };
    json_t *root = json_pack("{s:s}", "dtype", attn_dtype_name(args->q.dtype));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        json_object_set_new(root, counts[i].name, out_json_count(counts[i].value));
    return root;
}

static void print_row(const char *name, const char *number, const char *remark) {
    printf("  %-26s %s%20s%s%s%s\n", name, out_begin(stdout, OUT_BOLD), number,
           out_begin(stdout, OUT_PLAIN), *remark ? "   " : "", remark);
}

static void print_flops(const char *name, double flops) {
    char human[OUT_NUMBER], unit[OUT_NUMBER + 8], exact[OUT_NUMBER];
    snprintf(unit, sizeof unit, "%sFLOP", out_human(flops, human));
    print_row(name, unit, out_grouped(flops, exact));
}

static void print_title(const cost_options *o, const attn_args *args) {
    printf("B %lld   H %lld   H_kv %lld   n_q %lld   n_k %lld   d_k %lld   d_v %lld   %s",
           (long long)args->q.shape[0], (long long)args->q.shape[1], (long long)args->k.shape[1],
           (long long)args->q.shape[2], (long long)args->k.shape[2], (long long)args->q.shape[3],
           (long long)args->v.shape[3], attn_dtype_name(args->q.dtype));
    printf("%s", o->causal ? "   causal" : "");
    if (o->window) printf("   window %s", o->window);
    if (o->pattern) printf("   %s", o->pattern);
    printf("\n\n");
}

static void print_text(const attn_cost_info *cost, int threads) {
    char text[OUT_NUMBER], remark[80];
    print_row("query-key pairs", out_grouped(cost->pairs, text), "");
    snprintf(remark, sizeof remark, "%.3g %%",
             cost->pairs > 0 ? 100 * cost->visible_pairs / cost->pairs : 0.0);
    print_row("visible pairs", out_grouped(cost->visible_pairs, text), remark);
    print_flops("forward", cost->flops);
    print_flops("backward, recomputing", cost->flops_backward);
    print_row("inputs and output", out_bytes(cost->bytes_io, text), "read or written once");
    print_row("dense weights", out_bytes(cost->bytes_dense, text), "never allocated");
    snprintf(remark, sizeof remark, "at %d thread%s", threads, threads == 1 ? "" : "s");
    print_row("scratch", out_bytes(cost->bytes_scratch, text), remark);
    snprintf(remark, sizeof remark, "%.4g",
             cost->bytes_io > 0 ? cost->flops / cost->bytes_io : 0.0);
    print_row("flops per byte", remark, "of inputs and output");
}

static int check_sizes(const cost_options *o) {
    if (o->n < 0) {
        out_error(spec.command, "--n is missing: how many rows? For example --n 4096");
        return CLI_USAGE;
    }
    if (o->n * o->batch <= MAX_SIZE) return CLI_OK;
    out_error(spec.command, "--n times --batch is %lld, expected at most %d",
              (long long)(o->n * o->batch), MAX_SIZE);
    return CLI_USAGE;
}

/* Counts; *threads gets what the context has. */
static attn_status count(const cost_options *o, attn_args *args, attn_cost_info *cost, int *threads,
                         attn_error *error) {
    attn_ctx_options wish;
    attn_ctx *ctx = NULL;
    attn_pattern *pattern = NULL;
    attn_ctx_options_init(&wish);
    wish.threads = (int)o->threads;
    attn_status status = attn_ctx_create(&wish, &ctx, error);
    if (status == ATTN_OK && o->pattern) {
        const int64_t n_q = args->q.shape[2], n_k = args->k.shape[2];
        const bool given = args->offset != ATTN_OFFSET_BOTTOM_RIGHT;
        const pattern_shape shape = {n_q, n_k, given ? args->offset : n_k - n_q, true};
        status = pattern_build(o->pattern, &shape, &pattern, error);
        args->pattern = pattern;
    }
    if (status == ATTN_OK) {
        *threads = attn_ctx_threads(ctx);
        attn_cost_info_init(cost);
        status = attn_cost(ctx, args, cost, error);
    }
    attn_pattern_destroy(pattern);
    attn_ctx_destroy(ctx);
    return status;
}

int cmd_cost(int argc, char **argv) {
    cost_options o = {.n = -1, .nk = -1, .d = 64, .heads = 1, .batch = 1};
    attn_args args;
    attn_cost_info cost = {.struct_size = sizeof cost};
    attn_error error = {""};
    int threads = 0, code = cli_parse(&spec, argc, argv, &o);
    if (code != CLI_GO) return code;
    attn_args_init(&args);
    code = check_sizes(&o);
    if (code == CLI_OK) code = fill_visibility(&o, &args);
    if (code != CLI_OK) return code;
    fill_shapes(&o, &args);
    const attn_status status = count(&o, &args, &cost, &threads, &error);
    if (status != ATTN_OK) {
        out_error(spec.command, "%s", error.message);
        code = cli_code_of(status);
        return code == CLI_FILE ? CLI_USAGE : code; /* shapes come from options here */
    }
    if (o.common.json) return out_json(as_json(&args, &cost, threads));
    print_title(&o, &args);
    print_text(&cost, threads);
    return CLI_OK;
}
