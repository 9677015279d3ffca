/* SPDX-License-Identifier: Apache-2.0 */
/* info.c - `attn info`: the machine, the instruction sets of this build, and what a run would use.
 * Tests: tests/cli/test_cli.py */
#include "lab/plot/plot.h"
#include "shared/options.h"
#include "shared/out.h"

#include <stdlib.h>

typedef struct info_options {
    cli_common common;
} info_options;

static const cli_option options[] = {CLI_COMMON_OPTIONS};

static const cli_spec spec = {
    .command = "info",
    .usage = "info [--json]",
    .about = "Shows what this machine offers, what this build can use of it, and what\n"
             "`attn run` would choose.",
    .notes = {{"Environment",
               "  ATTN_ISA=NAME makes every command use this instruction set, unless --isa is\n"
               "  given. Results are bit-identical within each of two classes: instruction sets\n"
               "  with fused multiply-add (avx2, avx512, neon) and without (scalar, sse2,\n"
               "  simd128).\n"}},
    .options = options,
    .n_options = sizeof options / sizeof *options,
};

static const char *const isa_about[] = {
    [ATTN_ISA_SCALAR] = "plain C, any CPU",
    [ATTN_ISA_SSE2] = "x86-64 baseline",
    [ATTN_ISA_AVX2] = "AVX2, FMA and F16C",
    [ATTN_ISA_AVX512] = "AVX-512 F, BW, DQ, VL",
    [ATTN_ISA_NEON] = "aarch64",
    [ATTN_ISA_SIMD128] = "WebAssembly",
};

/* What a context with default instruction set and all CPUs would be. */
typedef struct choice {
    attn_isa isa;
    int threads;
    attn_status status;
    attn_error error;
} choice;

static void choose(choice *chosen) {
    attn_ctx_options wish;
    attn_ctx *ctx = NULL;
    attn_ctx_options_init(&wish);
    wish.threads = 0;
    *chosen = (choice){.isa = ATTN_ISA_AUTO};
    chosen->status = attn_ctx_create(&wish, &ctx, &chosen->error);
    if (chosen->status == ATTN_OK) {
        chosen->isa = attn_ctx_isa(ctx);
        chosen->threads = attn_ctx_threads(ctx);
    }
    attn_ctx_destroy(ctx);
}

static int print_json(const attn_cpu *cpu, const choice *chosen, const char *from_env) {
    json_t *built = json_array(), *usable = json_array();
    for (int isa = ATTN_ISA_SCALAR; isa < attn_isa_count(); isa++) {
        const char *name = attn_isa_name((attn_isa)isa);
        if (attn_isa_built((attn_isa)isa)) json_array_append_new(built, json_string(name));
        if (attn_isa_usable((attn_isa)isa)) json_array_append_new(usable, json_string(name));
    }
    const bool ok = chosen->status == ATTN_OK;
    return out_json(json_pack("{s:s, s:s, s:i, s:o, s:o, s:s, s:s?, s:i, s:s?, s:b}", "version",
                              attn_version(), "cpu", cpu->name, "cpus", cpu->cpus, "built", built,
                              "usable", usable, "best", attn_isa_name(cpu->best), "chosen",
                              ok ? attn_isa_name(chosen->isa) : NULL, "threads", chosen->threads,
                              "ATTN_ISA", from_env, "pictures", plot_is_built()));
}

static void print_isa(int isa, const choice *chosen) {
    const bool used = (attn_isa)isa == chosen->isa;
    const char *state = used                             ? "usable, chosen"
                        : attn_isa_usable((attn_isa)isa) ? "usable"
                        : attn_isa_built((attn_isa)isa)  ? "built, but not supported by this CPU"
                                                         : "not in this build";
    printf("  %s%-9s%s %-24s %s%s%s\n", out_begin(stdout, used ? OUT_BOLD : OUT_PLAIN),
           attn_isa_name((attn_isa)isa), out_begin(stdout, OUT_PLAIN), isa_about[isa],
           out_begin(stdout, used ? OUT_GOOD : OUT_PLAIN), state, out_begin(stdout, OUT_PLAIN));
}

static void print_text(const attn_cpu *cpu, const choice *chosen, const char *from_env) {
    printf("attn %s\n\n", attn_version());
    printf("  cpu       %s\n", cpu->name[0] ? cpu->name : "(unknown)");
    printf("  threads   %d (one per CPU available to this process; --threads N changes it)\n",
           cpu->cpus);
    printf("  ATTN_ISA  %s\n", from_env ? from_env : "not set");
    printf("  pictures  %s\n\n", plot_is_built() ? "PDF, SVG, PNG" : "not in this build");
    printf("%sinstruction sets%s\n", out_begin(stdout, OUT_BOLD), out_begin(stdout, OUT_PLAIN));
    for (int isa = ATTN_ISA_SCALAR; isa < attn_isa_count(); isa++) print_isa(isa, chosen);
}

int cmd_info(int argc, char **argv) {
    info_options o = {{0}};
    const int parsed = cli_parse(&spec, argc, argv, &o);
    if (parsed != CLI_GO) return parsed;
    const char *from_env = getenv("ATTN_ISA");
    attn_cpu cpu = {.struct_size = sizeof cpu};
    choice chosen;
    attn_cpu_info(&cpu, NULL);
    choose(&chosen);
    if (o.common.json) {
        const int code = print_json(&cpu, &chosen, from_env);
        if (code != CLI_OK) return code;
    } else {
        print_text(&cpu, &chosen, from_env);
    }
    if (chosen.status == ATTN_OK) return CLI_OK;
    out_error(spec.command, "cannot create a context: %s", chosen.error.message);
    return cli_code_of(chosen.status);
}
