/* SPDX-License-Identifier: Apache-2.0 */
/* cost.c - `attn cost`: counts what a problem would cost, without computing it.
 * Tests: tests/cli/test_cli.py, tests/cli/test_cost.py */
#include "lab/support/layer_cost.h"
#include "run/pattern_option.h"
#include "shared/options.h"
#include "shared/out.h"

#include <string.h>

typedef struct cost_options {
    cli_common common;
    int64_t n, nk, d, dv, heads, kv_heads, batch; /* nk < 0: as n; dv, kv_heads 0: as d, heads */
    int64_t d_model;                              /* 0: the layer around it is not counted */
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
    {SIZE(0), .name = "n", AT(n),
     .help = "number of queries (and of keys, without --nk); required"},
    {SIZE(0), .name = "nk", AT(nk), .help = "number of keys and values (default: as --n)"},
    {SIZE(1), .name = "d", AT(d), .help = "head size of queries and keys (default 64)"},
    {SIZE(1), .name = "dv", AT(dv), .help = "head size of values (default: as --d)"},
    {SIZE(1), .name = "heads", AT(heads), .help = "number of query heads (default 1)"},
    {SIZE(1), .name = "kv-heads", AT(kv_heads),
     .help = "number of key/value heads (default: as --heads)"},
    {SIZE(1), .name = "batch", AT(batch), .help = "number of sequences (default 1)"},
    {SIZE(1), .name = "d-model", AT(d_model),
     .help = "width of the layer; also counts its projections and softmax (default: neither)"},
    {.kind = CLI_CHOICE,
     .name = "dtype",
     AT(dtype),
     .value = "f32|f64|f16|bf16",
     .help = "element type (default f32)"},
    {.kind = CLI_SECTION, .name = "What each query sees"},
    {.kind = CLI_FLAG,
     .name = "causal",
     AT(causal),
     .help = "only keys up to the query's own position"},
    {.kind = CLI_TEXT,
     .name = "window",
     AT(window),
     .value = "L,R",
     .help = "only L keys before and R keys after the query's own position; -1 = no limit"},
    {.kind = CLI_TEXT,
     .name = "offset",
     AT(offset),
     .value = "N|top-left|bottom-right",
     .help = "position of query 0 among the keys (default bottom-right: nk - n)"},
    {.kind = CLI_TEXT,
     .name = "pattern",
     AT(pattern),
     .value = "P",
     .help = "sparse pattern, as in `attn run`: longformer:256,64&causal"},
    {.kind = CLI_SECTION, .name = "Machine"},
    CLI_THREADS_OPTION(
        cost_options, "number of threads, on which the scratch memory depends (default: all CPUs)"),
    CLI_COMMON_OPTIONS,
};

static const cli_spec spec = {
    .command = "cost",
    .usage = "cost --n N [options]",
    .about = "Counts the cost of one attention problem: pairs of queries and keys, forward\n"
             "and backward floating-point operations, and bytes; with --d-model also the\n"
             "layer around it. Nothing is computed.",
    .notes = {{"Patterns for --pattern", pattern_help},
              {"Examples", "  attn cost --n 16384 --heads 32 --d 128 --causal\n"
                           "  attn cost --n 4096 --d-model 512\n"
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
        if (cli_parse_sizes(o->window, window, 2) != 2)
            return usage_error("window", o->window, "two whole numbers L,R");
        args->window_left = window[0];
        args->window_right = window[1];
    }
    if (!o->offset || strcmp(o->offset, "bottom-right") == 0) return CLI_OK;
    if (strcmp(o->offset, "top-left") == 0)
        args->offset = ATTN_OFFSET_TOP_LEFT;
    else if (cli_parse_size(o->offset, &args->offset))
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

typedef struct counted {
    attn_cost_info cost;
    lab_layer_cost layer; /* with --d-model */
    double crossover; /* with --d-model: the n at which projections and attention cost the same */
    int threads;
} counted;

/* The numbers of --d-model. */
static void add_layer_json(json_t *root, const counted *c) {
    json_object_set_new(root, "flops_projections", out_json_count(c->layer.projections));
    json_object_set_new(root, "flops_softmax", out_json_count(c->layer.softmax));
    json_object_set_new(root, "flops_layer", out_json_count(c->layer.total));
    json_object_set_new(root, "attention_share", out_json_real(c->layer.core / c->layer.total));
    json_object_set_new(root, "crossover", out_json_real(c->crossover));
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
    print_row("flops per byte", remark, "inputs and output");
}

/* What --d-model adds. */
static void print_layer(const cost_options *o, const counted *c) {
    char number[OUT_NUMBER], remark[80];
    printf("\nLayer of width %lld: Q, K, V and output projections around it\n\n",
           (long long)o->d_model);
    print_flops("projections", c->layer.projections);
    print_flops("products", c->layer.products);
    print_flops("softmax, 5 per weight", c->layer.softmax);
    print_flops("layer, forward", c->layer.total);
    snprintf(number, sizeof number, "%.2f %%", 100 * c->layer.core / c->layer.total);
    print_row("attention's share", number, "products and softmax");
    snprintf(number, sizeof number, "n = %.2f", c->crossover);
    snprintf(remark, sizeof remark, "where dense attention costs as much as projections");
    print_row("equal at", number, remark);
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

static attn_status count(const cost_options *o, attn_args *args, counted *c, attn_error *error) {
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
        c->threads = attn_ctx_threads(ctx);
        attn_cost_info_init(&c->cost);
        status = attn_cost(ctx, args, &c->cost, error);
    }
    if (status == ATTN_OK && o->d_model) {
        status = lab_layer_count(ctx, args, o->d_model, &c->layer, error);
        c->crossover = lab_layer_crossover(args, o->d_model);
    }
    attn_pattern_destroy(pattern);
    attn_ctx_destroy(ctx);
    return status;
}

static int print(const cost_options *o, const attn_args *args, const counted *c) {
    if (o->common.json) {
        json_t *root = as_json(args, &c->cost, c->threads);
        if (o->d_model) add_layer_json(root, c);
        return out_json(root);
    }
    print_title(o, args);
    print_text(&c->cost, c->threads);
    if (o->d_model) print_layer(o, c);
    return CLI_OK;
}

int cmd_cost(int argc, char **argv) {
    cost_options o = {.n = -1, .nk = -1, .d = 64, .heads = 1, .batch = 1};
    attn_args args;
    counted c = {0};
    attn_error error = {""};
    int code = cli_parse(&spec, argc, argv, &o);
    if (code != CLI_GO) return code;
    attn_args_init(&args);
    code = check_sizes(&o);
    if (code == CLI_OK) code = fill_visibility(&o, &args);
    if (code != CLI_OK) return code;
    fill_shapes(&o, &args);
    const attn_status status = count(&o, &args, &c, &error);
    if (status != ATTN_OK) {
        out_error(spec.command, "%s", error.message);
        code = cli_code_of(status);
        return code == CLI_FILE ? CLI_USAGE : code; /* shapes come from options here */
    }
    return print(&o, &args, &c);
}
