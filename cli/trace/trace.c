/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - `attn trace`: attention step by step, every number shown: options and command.
 * Tests: tests/cli/test_trace.py */
#include "trace/trace.h"

#include "shared/terminal.h"

#include <stdlib.h>

#define AT(field) .at = offsetof(trace_options, field)
#define MATRIX(name_, which, help_)                                                                \
    {.kind = CLI_TEXT, .name = (name_), AT(file[which]), .value = "FILE", .help = (help_)}

static const cli_option options[] = {
    {.kind = CLI_SECTION, .name = "What to compute"},
    {.kind = CLI_TEXT,
     .name = "example",
     AT(example),
     .value = "NAME",
     .help = "a worked example: 001, 002, 002-plain, 002-scaling, 003, 003-scaling, 004, "
             "004-heads, 004-stated (default 004)"},
    MATRIX("x", TRACE_X, "token embeddings X (n, d_model): .npy, .npy.gz or FILE.npz:NAME"),
    MATRIX("wq", TRACE_WQ, "W_Q (d_model, heads * d_k); without --wq --wk --wv: Q = K = V = X"),
    MATRIX("wk", TRACE_WK, "W_K (d_model, heads * d_k)"),
    MATRIX("wv", TRACE_WV, "W_V (d_model, heads * d_v)"),
    MATRIX("wo", TRACE_WO, "W_O (heads * d_v, columns of the result)"),
    MATRIX("q", TRACE_Q, "queries instead of --x: (n_q, heads * d_k) or (heads, n_q, d_k)"),
    MATRIX("k", TRACE_K, "keys: (n_k, heads * d_k) or (heads, n_k, d_k)"),
    MATRIX("v", TRACE_V, "values: (n_k, heads * d_v) or (heads, n_k, d_v)"),
    {.kind = CLI_INT,
     .name = "heads",
     AT(heads),
     .value = "H",
     .min = 1,
     .max = LAB_MOST_WIDTH,
     .help = "number of heads, which split the columns (default 2 for a sentence, else 1)"},
    {.kind = CLI_INT,
     .name = "d-model",
     AT(d_model),
     .value = "N",
     .min = 1,
     .max = LAB_MOST_WIDTH,
     .help = "size of the random embeddings of a sentence (default 8)"},
    {.kind = CLI_INT,
     .name = "d-k",
     AT(d_k),
     .value = "N",
     .min = 1,
     .max = LAB_MOST_WIDTH,
     .help = "head size for a sentence (default d-model / heads)"},
    {.kind = CLI_INT,
     .name = "seed",
     AT(seed),
     .value = "N",
     .min = 0,
     .max = 4294967295,
     .help = "random seed for a sentence (default 42)"},
    {.kind = CLI_SECTION, .name = "What to change"},
    {.kind = CLI_FLAG, .name = "causal", AT(causal), .help = "hide later keys from every query"},
    {.kind = CLI_REAL,
     .name = "temperature",
     AT(temperature),
     .value = "X",
     .help = "divide the scores by X inside the softmax (default 1)"},
    CLI_SCALE_OPTIONS(trace_options),
    {.kind = CLI_TEXT,
     .name = "set",
     AT(set),
     .value = "CHANGES",
     .help = "change numbers of the input matrices, row and column from 1: "
             "'w_q:1,2=0.5;x:3,1=-1'"},
    {.kind = CLI_SECTION, .name = "What to show"},
    {.kind = CLI_TEXT,
     .name = "mistake",
     AT(mistake),
     .value = "axis|inplace",
     .help = "show a common mistake beside the right result: softmax over the queries, or -inf "
             "written into the scores in place"},
    {.kind = CLI_TEXT,
     .name = "pick",
     AT(pick),
     .value = "I,J",
     .help = "show one cell factor by factor: query I and key J, from 1 or by word"},
    {.kind = CLI_INT,
     .name = "head",
     AT(head),
     .value = "N",
     .min = 1,
     .max = LAB_MOST_WIDTH,
     .help = "show one head, from 1 (default: all; with --pick the first)"},
    {.kind = CLI_TEXT,
     .name = "step",
     AT(step),
     .value = "N",
     .help = "show one step, by its number or a name such as weights"},
    {.kind = CLI_FLAG,
     .name = "markdown",
     AT(markdown),
     .help = "print Markdown instead of plain text"},
    {.kind = CLI_FLAG,
     .name = "interactive",
     AT(interactive),
     .help = "show one step at a time: Enter next, b back, a number jumps, q quits"},
    CLI_COMMON_OPTIONS,
};

static const cli_spec spec = {
    .command = "trace",
    .usage = "trace [--example NAME] [options]\n"
             "trace \"a sentence\" [options]\n"
             "trace --x FILE [--wq FILE --wk FILE --wv FILE] [--wo FILE] [options]\n"
             "trace --q FILE --k FILE --v FILE [--wo FILE] [options]",
    .about = "Computes attention step by step, in double precision, and shows every number:\n"
             "X, Q, K, V, scores, weights, outputs. The examples come from documents 001 to\n"
             "004; where a document states a different number, both are shown. The vectors of\n"
             "your own sentence are random: they show the arithmetic, not meaning.",
    .notes = {{"Examples", "  attn trace\n"
                           "  attn trace --example 004 --pick apple,phones\n"
                           "  attn trace \"the cat saw the dog\" --causal --heads 2\n"
                           "  attn trace --example 003 --step weights --markdown\n"
                           "  attn trace --example 001 --set 'q:1,1=2;q:1,2=0'\n"
                           "  attn trace --example 001 --mistake axis\n"
                           "  attn trace --interactive\n"}},
    .options = options,
    .n_options = sizeof options / sizeof *options,
};

/* ------------------------------------------------------------------------------------- sentence */

/* Whether the argument is an option whose value is the next one. */
static bool takes_next(const char *argument) {
    if (strncmp(argument, "--", 2) != 0) return false;
    for (size_t i = 0; i < spec.n_options; i++)
        if (options[i].kind != CLI_SECTION && options[i].kind != CLI_FLAG &&
            strcmp(argument + 2, options[i].name) == 0)
            return true;
    return false;
}

/* Words that belong to no option, wherever they stand, become one sentence; the rest of argv moves
 * up. false: out of memory. */
static bool take_sentence(int *argc, char **argv, char **sentence) {
    int kept = 1;
    size_t length = 0;
    for (int at = 1; at < *argc; at++) length += strlen(argv[at]) + 1;
    char *text = calloc(length + 1, 1), *end = text;
    bool any = false;
    for (int at = 1; text && at < *argc; at++) {
        if (argv[at][0] == '-') {
            const bool pair = takes_next(argv[at]) && at + 1 < *argc;
            argv[kept++] = argv[at];
            if (pair) argv[kept++] = argv[++at];
            continue;
        }
        if (any) *end++ = ' ';
        const size_t n = strlen(argv[at]);
        memcpy(end, argv[at], n);
        end += n;
        any = true;
    }
    *argc = kept;
    *sentence = any ? text : NULL;
    if (!any) free(text);
    return text || any;
}

/* -------------------------------------------------------------------------------------- command */

static int check_view(const trace_job *job, int *only) {
    const trace_options *o = job->o;
    *only = -1;
    if (o->head > job->steps.H) {
        out_error(spec.command, "--head %lld: there %s %lld", (long long)o->head,
                  job->steps.H == 1 ? "is" : "are", (long long)job->steps.H);
        return CLI_USAGE;
    }
    if (!o->step) return CLI_OK;
    *only = trace_page_of(job, o->step);
    if (*only >= 0) return CLI_OK;
    out_error(spec.command, "--step %s: expected a number from 1 to %d or one of these", o->step,
              job->n_pages);
    for (int i = 0; i < job->n_pages; i++) out_hint("%2d  %s", i + 1, job->page[i].title);
    return CLI_USAGE;
}

static int show(const trace_job *job, int only) {
    const trace_options *o = job->o;
    if (o->common.json) return trace_json(job, only);
    if (o->interactive) return trace_browse(job);
    if (o->pick) return o->markdown ? trace_pick_markdown(job) : trace_pick_text(job);
    return o->markdown ? trace_markdown(job, only) : trace_text(job, only);
}

static int check_interactive(const trace_options *o) {
    if (!o->interactive) return CLI_OK;
    if (o->markdown || o->common.json || o->pick || o->step) {
        out_error(spec.command,
                  "--interactive: cannot be combined with --markdown, --json, --pick or "
                  "--step");
        return CLI_USAGE;
    }
    if (terminal_is(stdin) && terminal_is(stdout)) return CLI_OK;
    out_error(spec.command, "--interactive: needs a terminal; leave it out to print all steps");
    return CLI_USAGE;
}

static int trace(trace_options *o, const char *sentence) {
    trace_job job = {.o = o, .sentence = sentence};
    lab_mistake mistake = LAB_MISTAKES;
    int only, code = cli_settle_scale(spec.command, o->no_scale, &o->scale);
    if (code == CLI_OK) code = check_interactive(o);
    if (code == CLI_OK && o->mistake) code = trace_check_mistake(o, &mistake);
    if (code == CLI_OK && o->markdown && o->common.json) {
        out_error(spec.command, "--markdown and --json: choose one");
        code = CLI_USAGE;
    }
    if (code == CLI_OK) code = trace_load(&job);
    if (code == CLI_OK) {
        trace_make_pages(&job);
        code = check_view(&job, &only);
    }
    if (code == CLI_OK && o->pick) code = trace_take_pick(&job);
    if (code == CLI_OK) code = o->mistake ? trace_mistake(&job, mistake) : show(&job, only);
    trace_free(&job);
    return code;
}

int cmd_trace(int argc, char **argv) {
    trace_options o = {.seed = -1, .scale = LAB_SCALINGS, .temperature = 1};
    char **rest = calloc((size_t)argc + 1, sizeof *rest);
    char *sentence = NULL;
    int code = CLI_FAILED;
    if (rest) memcpy(rest, argv, (size_t)argc * sizeof *rest);
    if (!rest || !take_sentence(&argc, rest, &sentence)) {
        out_error(spec.command, "out of memory");
    } else {
        code = cli_parse(&spec, argc, rest, &o);
        if (code == CLI_GO) code = trace(&o, sentence);
    }
    free(sentence);
    free(rest);
    return code;
}
