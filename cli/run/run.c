/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - `attn run`: attention on .npy files. This file holds the options and the order of the
 * steps; run.h lists the steps. Tests: tests/cli/test_cli.py, tests/cli/test_run.py */
#include "run/run.h"

#include "run/pattern_option.h"

#include <stdlib.h>
#include <string.h>

#define AT(field)   .at = offsetof(run_options, field)
#define TEXT(word)  .kind = CLI_TEXT, .value = word
#define SECTION(it) {.kind = CLI_SECTION, .name = it}

static const cli_option options[] = {
    SECTION("Input and output"),
    {TEXT("FILE"), .name = "q", AT(q), .help = "queries"},
    {TEXT("FILE"), .name = "k", AT(k), .help = "keys"},
    {TEXT("FILE"), .name = "v", AT(v), .help = "values"},
    {TEXT("FILE"), .name = "out", .letter = 'o', AT(out),
     .help = "write the output; without this option, small outputs are printed as a table"},
    {.kind = CLI_FLAG,
     .name = "demo",
     AT(demo),
     .help = "show the worked example of document 001 step by step; needs no files"},
    {.kind = CLI_CHOICE,
     .name = "layout",
     AT(layout),
     .value = "bhsd|bshd",
     .help = "order of dimensions of q, k, v and out: heads before rows (default) or after"},
    {.kind = CLI_CHOICE,
     .name = "dtype",
     AT(dtype),
     .value = "f32|f64|f16|bf16",
     .help = "convert inputs to this type first (default: the type of q). bf16 results are written "
             "as f4, because .npy has no bf16"},

    SECTION("What each query sees (every option given must allow a key)"),
    {.kind = CLI_FLAG,
     .name = "causal",
     AT(causal),
     .help = "only keys up to the query's own position"},
    {TEXT("N[,N..]|top-left|bottom-right"), .name = "offset", AT(offset),
     .help = "position of query 0 among the keys, one for all or one per sequence (default "
             "bottom-right: the last query is at the position of the last key)"},
    {TEXT("L,R"), .name = "window", AT(window),
     .help = "only L keys before and R keys after the query's own position; -1 = no limit"},
    {TEXT("FILE"), .name = "mask", AT(mask),
     .help = "booleans or 0/1 integers, true = may attend; rank 1 to 4, broadcast as in NumPy"},
    {TEXT("P"), .name = "pattern", AT(pattern), .help = "sparse pattern, see below"},
    {TEXT("N[,N..]"), .name = "lengths", AT(lengths),
     .help = "number of real keys in each padded sequence"},
    {TEXT("N[,N..]"), .name = "lengths-q", AT(lengths_q),
     .help = "number of real queries in each padded sequence"},
    {TEXT("0,N[,N..]"), .name = "cu-q", AT(cu_q),
     .help = "packed sequences: the first row of each in q, then the number of rows"},
    {TEXT("0,N[,N..]"), .name = "cu-k", AT(cu_k), .help = "the same for keys (default: as --cu-q)"},

    SECTION("Scores"),
    {.kind = CLI_REAL,
     .name = "scale",
     AT(scale),
     .value = "X",
     .help = "factor of the scores (default 1/sqrt(d_k))"},
    {.kind = CLI_REAL,
     .name = "softcap",
     AT(softcap),
     .value = "X",
     .help = "cap scores smoothly: X tanh(s / X)"},
    {TEXT("FILE"), .name = "bias", AT(bias),
     .help = "floats added to the scores, -inf masks; shapes as for --mask"},
    {.kind = CLI_FLAG,
     .name = "alibi",
     AT(alibi),
     .help = "subtract slope times distance, with the standard slope of each head"},
    {.kind = CLI_REAL,
     .name = "temperature",
     AT(temperature),
     .value = "X",
     .help = "divide scores by X before the softmax (default 1)"},
    {TEXT("FILE"), .name = "sinks", AT(sinks),
     .help = "one logit per head, added to the softmax denominator only"},
    {.kind = CLI_REAL,
     .name = "dropout",
     AT(dropout),
     .value = "P",
     .help = "drop weights with probability P and scale the rest by 1/(1-P)"},
    {.kind = CLI_UINT,
     .name = "seed",
     AT(seed),
     .value = "N",
     .help = "random seed of dropout (default 0)"},

    SECTION("Additional results, each written to a .npy file"),
    {TEXT("FILE"), .name = "lse", AT(lse), .help = "log-sum-exp of each row"},
    {TEXT("FILE"), .name = "weights", AT(weights), .help = "softmax weights (n_q x n_k)"},
    {.kind = CLI_TEXTS,
     .name = "scores",
     AT(scores),
     .value = "STAGE:FILE",
     .help = "scores at a stage: raw, capped, biased or softmax; may be repeated"},
    {TEXT("FILE"), .name = "entropy", AT(entropy), .help = "entropy of each row in nats"},
    {TEXT("K:FILE"), .name = "topk", AT(topk),
     .help =
         "the K largest weights of each row; their keys are written to FILE, ending in .keys.npy"},
    {TEXT("FILE"), .name = "received", AT(received),
     .help = "attention that each key receives from all rows"},

    SECTION("Gradients of a loss"),
    {TEXT("FILE"), .name = "dout", AT(dout),
     .help = "gradient of the loss with respect to the output, in the shape of the output"},
    {TEXT("FILE"), .name = "dq", AT(dq), .help = "write the gradient with respect to the queries"},
    {TEXT("FILE"), .name = "dk", AT(dk), .help = "write the gradient with respect to the keys"},
    {TEXT("FILE"), .name = "dv", AT(dv), .help = "write the gradient with respect to the values"},
    {TEXT("FILE"), .name = "dbias", AT(dbias),
     .help = "write the gradient with respect to --bias, in its shape"},
    {TEXT("FILE"), .name = "dsinks", AT(dsinks),
     .help = "write the gradient with respect to --sinks, one number per head"},
    {.kind = CLI_FLAG,
     .name = "dscale",
     AT(dscale),
     .help = "print the gradient with respect to the scale"},

    SECTION("How to compute"),
    CLI_THREADS_OPTION(
        run_options,
        "number of threads (default: all CPUs). Results are bit-identical for any number"),
    {TEXT("NAME"), .name = "isa", AT(isa), .help = "instruction set, see `attn info`"},
    {.kind = CLI_FLAG,
     .name = "reference",
     AT(reference),
     .help = "compute directly from the definition in double precision, slowly: the oracle"},
    {.kind = CLI_FLAG,
     .name = "explain",
     AT(explain),
     .help = "explain how the engine runs this problem and why"},
    {.kind = CLI_CHOICE,
     .name = "progress",
     AT(progress),
     .value = "auto|always|never",
     .help = "when to show progress; auto: after a second, on a terminal"},
    CLI_COMMON_OPTIONS,
};

static const char about[] =
    "Computes out = softmax(scale Q K^T + mask) V, exactly. Inputs are NumPy arrays\n"
    "of rank 2 (rows, d), 3 (heads, rows, d) or 4 (batch, heads, rows, d). The output\n"
    "has the rank and layout of q. Keys and values may have fewer heads than queries\n"
    "(H must be a multiple of H_kv). All other results keep heads before rows,\n"
    "whatever the layout.";

static const char files[] =
    "  FILE.npy       one array; `-` is standard input or output\n"
    "  FILE.npz:NAME  one array of an archive; without NAME, the only one (input only)\n"
    "  FILE.npy.gz    one array, compressed (input only)\n"
    "  N[,N..]        whole numbers, such as 512, 16k (16 x 1024), 2M or 1e6; a list of\n"
    "                 them may also be a file of integers\n";

static const char examples[] =
    "  attn run --demo\n"
    "  attn run --q q.npy --k k.npy --v v.npy --causal -o out.npy --lse lse.npy\n"
    "  attn run --q q.npy --k k.npy --v v.npy --pattern 'longformer:256,64&causal'\n"
    "  attn run --q q.npy --k k.npy --v v.npy --topk 5:top.npy --json\n"
    "  attn run --q q.npy --k k.npy --v v.npy --dout g.npy --dq dq.npy --dscale\n"
    "  cat q.npy k.npy v.npy | attn run --q - --k - --v - -o - > out.npy\n";

static const cli_spec spec = {
    .command = "run",
    .usage = "run --q FILE --k FILE --v FILE [-o FILE] [options]\nrun --demo [options]",
    .about = about,
    .notes = {{"Patterns for --pattern", pattern_help},
              {"Files and lists", files},
              {"Examples", examples}},
    .options = options,
    .n_options = sizeof options / sizeof *options,
};

static void job_free(run_job *job) {
    run_views_free(job);
    for (int i = 0; i < N_INPUTS; i++) npy_free(&job->input[i]);
    for (int i = 0; i < N_LISTS; i++) free(job->list[i]);
    free(job->alibi);
    free(job->sinks);
    free(job->explanation);
    attn_pattern_destroy(job->pattern);
    attn_ctx_destroy(job->ctx);
}

int cmd_run(int argc, char **argv) {
    static int (*const steps[])(run_job *) = {run_views_wish, run_load,        run_views_allocate,
                                              run_compute,    run_views_write, run_report};
    run_options o = {
        .dtype = -1, .scale = ATTN_SCALE_AUTO, .temperature = 1, .softcap = 0, .dropout = 0};
    int code = cli_parse(&spec, argc, argv, &o);
    if (code != CLI_GO) return code;
    run_job job = {.o = &o};
    code = CLI_OK;
    for (size_t step = 0; step < sizeof steps / sizeof *steps && code == CLI_OK; step++)
        code = steps[step](&job);
    job_free(&job);
    return code;
}
