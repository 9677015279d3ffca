/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - `attn bench WHAT`: options, the table, and the way to one benchmark. Tests:
 * tests/cli/test_cli.py */
#include "bench/bench.h"

#include "bench/blas.h"
#include "shared/terminal.h"

#include <string.h>

#define AT(field) .at = offsetof(bench_options, field)

static const cli_option option_table[] = {
    {.kind = CLI_SECTION, .name = "Measuring"},
    {.kind = CLI_TEXT,
     .name = "only",
     AT(only),
     .value = "TEXT",
     .help = "measure only rows whose name contains TEXT, e.g. --only \"n=4096 d=64\""},
    {.kind = CLI_REAL,
     .name = "seconds",
     AT(seconds),
     .value = "X",
     .help = "time per row (default 1)"},
    CLI_THREADS_OPTION(bench_options,
                       "number of threads in rows with several threads (default: all CPUs)"),
    {.kind = CLI_TEXT,
     .name = "isa",
     AT(isa_name),
     .value = "NAME",
     .help = "instruction set (default: the best)"},
    {.kind = CLI_FLAG, .name = "no-peers", AT(no_peers), .help = "leave out OpenBLAS"},
    CLI_COMMON_OPTIONS,
};

static const cli_spec spec = {
    .command = "bench",
    .usage = "bench forward [options]\nbench backward [options]\nbench small [options]\nbench gemm "
             "[options]\nbench decode [options]",
    .about = "Measures how close the engine comes to the limit of this machine: the rate of\n"
             "independent fused multiply-adds, measured in the same run. Contenders take\n"
             "turns; the figures are the best and the median of many samples, timed by the\n"
             "thread's CPU clock. Flops count visible pairs only.\n\n"
             "  forward   whole problems: dense, causal, odd sizes, windows, threads, f64,\n"
             "            f16, bf16; the peer is plain C around OpenBLAS with a full\n"
             "            n x n matrix\n"
             "  backward  the gradients of q, k and v; the peer computes the same five\n"
             "            products with two n x n matrices\n"
             "  small     the latency of one call with 8 heads of size 64\n"
             "  gemm      matrix products by the same micro-kernel, against OpenBLAS\n"
             "  decode    one new query on many keys, heads of size 128; the limit is the\n"
             "            rate at which the same keys and values are merely read",
    .notes = {{"Examples", "  attn bench forward --only \"n=4096\"\n  attn bench small --json\n"}},
    .options = option_table,
    .n_options = sizeof option_table / sizeof *option_table,
};

/* ------------------------------------------------------------------------------ table */

static json_t *times_json(const bench_times *t, double flops, double peak) {
    return json_pack("{s:i, s:f, s:f, s:f, s:f}", "samples", t->n, "best_seconds", t->best,
                     "median_seconds", t->median, "best_of_peak", flops / t->best / peak,
                     "median_of_peak", flops / t->median / peak);
}

static json_t *row_json(const bench_row *row, bench_unit unit) {
    const double limit = row->peak * row->threads;
    json_t *json =
        json_pack("{s:s, s:s, s:i, s:f, s:f, s:o}", "name", row->name, "dtype", row->dtype,
                  "threads", row->threads, unit == BENCH_BYTES ? "bytes" : "flops", row->work,
                  unit == BENCH_BYTES ? "peak_gbytes" : "peak_gflops", row->peak * 1e-9, "attn",
                  times_json(&row->ours, row->work, limit));
    if (row->peer.n > 0)
        json_object_set_new(json, "peer", times_json(&row->peer, row->work, limit));
    if (row->remark) json_object_set_new(json, "remark", json_string(row->remark));
    return json;
}

static void print_head(const bench_table *table) {
    static const char *const first[] = {"GFLOP/s", "time", "GB/s"}, *const second[] = {"of peak",
                                                                                       "x limit",
                                                                                       "of read"};
    printf("%s%-34s %-4s %7s %10s %9s %9s %9s%s\n", out_begin(stdout, OUT_BOLD), "problem", "",
           "threads", first[table->unit], second[table->unit], "median", table->peer,
           out_begin(stdout, OUT_PLAIN));
}

static void print_row(const bench_table *table, const bench_row *row) {
    const double limit = row->peak * row->threads;
    char first[OUT_NUMBER], peer[OUT_NUMBER] = "";
    double best = row->work / row->ours.best / limit, median = row->work / row->ours.median / limit;
    double others = row->peer.n > 0 ? row->work / row->peer.best / limit : 0;
    if (table->unit == BENCH_LATENCY) {
        out_seconds(row->ours.best, first);
        best = 1 / best;
        median = 1 / median;
        others = others > 0 ? 1 / others : 0;
    } else {
        snprintf(first, sizeof first, "%.1f", row->work / row->ours.best * 1e-9);
    }
    if (table->unit == BENCH_BYTES) {
        snprintf(peer, sizeof peer, "%9.1f", row->work / row->peer.best * 1e-9);
    } else if (others > 0) {
        snprintf(peer, sizeof peer, "%9.3f", others);
    }
    printf("%-34s %-4s %7d %10s %s%9.3f%s %9.3f %9s%s%s\n", row->name, row->dtype, row->threads,
           first, out_begin(stdout, OUT_BOLD), best, out_begin(stdout, OUT_PLAIN), median, peer,
           row->remark ? "  " : "", row->remark ? row->remark : "");
    fflush(stdout);
}

static bool on_terminal(const bench_options *options) {
    return !options->common.json && terminal_is(stderr);
}

void bench_progress(const bench_options *o, const char *name) {
    char text[OUT_STATUS];
    snprintf(text, sizeof text, "%s ...", name);
    if (on_terminal(o)) out_status(text);
}

static void end_progress(const bench_options *o) {
    if (on_terminal(o)) out_status_end();
}

void bench_table_begin(bench_table *table, const bench_options *o, const char *what,
                       const char *peer, bench_unit unit) {
    *table =
        (bench_table){.options = o, .what = what, .peer = peer, .unit = unit, .rows = json_array()};
    bench_peak(o->isa, false);
    if (!o->common.json) print_head(table);
}

void bench_table_add(bench_table *table, const bench_row *row) {
    end_progress(table->options);
    table->n++;
    if (table->options->common.json) {
        json_array_append_new(table->rows, row_json(row, table->unit));
    } else {
        print_row(table, row);
    }
}

int bench_table_end(bench_table *table) {
    const bench_options *o = table->options;
    end_progress(o);
    if (table->n == 0) {
        out_error("bench", "--only %s: no row of `attn bench %s` has this text in its name",
                  o->only ? o->only : "", table->what);
        json_decref(table->rows);
        return CLI_USAGE;
    }
    attn_cpu cpu = {.struct_size = sizeof cpu};
    attn_cpu_info(&cpu, NULL);
    const double peak = bench_peak(o->isa, false) * 1e-9;
    if (o->common.json) {
        return out_json(json_pack("{s:s, s:s, s:s, s:i, s:s, s:f, s:s, s:o}", "bench", table->what,
                                  "version", attn_version(), "cpu", cpu.name, "cpus", cpu.cpus,
                                  "isa", attn_isa_name(o->isa), "peak_gflops_f32", peak, "peer",
                                  table->peer, "rows", table->rows));
    }
    json_decref(table->rows);
    printf("\nlimit: %.1f GFLOP/s f32 per core, %s, %s\n", peak, attn_isa_name(o->isa), cpu.name);
    return CLI_OK;
}

bool bench_wanted(const bench_options *o, const char *name) {
    return !o->only || strstr(name, o->only);
}

/* ---------------------------------------------------------------------------- command */

static int resolve_isa(bench_options *o) {
    attn_ctx_options wish;
    attn_ctx_options_init(&wish);
    attn_ctx *ctx = NULL;
    attn_error error = {""};
    if ((o->isa_name && !cli_isa_named(o->isa_name, &wish.isa)) ||
        attn_ctx_create(&wish, &ctx, &error) != ATTN_OK) {
        out_error(spec.command, "--isa %s: %s", o->isa_name ? o->isa_name : "auto",
                  *error.message ? error.message : "unknown instruction set; attn info lists them");
        return CLI_USAGE;
    }
    o->isa = attn_ctx_isa(ctx);
    attn_ctx_destroy(ctx);
    return CLI_GO;
}

int cmd_bench(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(const bench_options *);
    } benches[] = {{"forward", bench_forward},
                   {"backward", bench_backward},
                   {"small", bench_small},
                   {"gemm", bench_gemm},
                   {"decode", bench_decode}};
    const bool named = argc > 1 && argv[1][0] != '-';
    const char *what = named ? argv[1] : "";
    bench_options o = {.seconds = 1};
    const int parsed = cli_parse(&spec, named ? argc - 1 : argc, named ? argv + 1 : argv, &o);
    if (parsed != CLI_GO) return parsed;
    const int resolved = resolve_isa(&o);
    if (resolved != CLI_GO) return resolved;
    attn_cpu cpu = {.struct_size = sizeof cpu};
    attn_cpu_info(&cpu, NULL);
    if (o.threads == 0) o.threads = cpu.cpus;
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++) {
        if (strcmp(what, benches[i].name) == 0) return benches[i].run(&o);
    }
    out_error(spec.command,
              "%s%swhat to measure? Expected forward, backward, small, gemm or decode", what,
              *what ? ": " : "");
    return CLI_USAGE;
}
