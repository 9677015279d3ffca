/* SPDX-License-Identifier: Apache-2.0 */
/* selftest.c - `attn selftest`: the library's own checks, one line each.
 * Tests: tests/cli/test_cli.py */
#include "shared/options.h"
#include "shared/out.h"

typedef struct selftest_options {
    cli_common common;
} selftest_options;

static const cli_option options[] = {CLI_COMMON_OPTIONS};

static const cli_spec spec = {
    .command = "selftest",
    .usage = "selftest [--json]",
    .about = "Checks the engine on this machine: every usable instruction set against the\n"
             "oracle, bit-identical results across threads and instruction sets, poisoned\n"
             "masked values, empty rows. Takes about a second. max |error| is the largest\n"
             "absolute difference from the oracle, which computes in double precision; the\n"
             "true outputs are of order 1. The exit code is 0 if all checks pass, 1 if not.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
};

static const char metric[] = "largest absolute difference from the double-precision oracle";

/* Where lines go: straight to the reader, or into a list. */
typedef struct listener {
    json_t *lines; /* NULL: print */
    int n;
} listener;

static void hear(void *user, const char *line) {
    listener *to = user;
    to->n++;
    if (to->lines) {
        json_array_append_new(to->lines, json_string(line));
    } else {
        printf("  %s\n", line);
        fflush(stdout);
    }
}

int cmd_selftest(int argc, char **argv) {
    selftest_options o = {{0}};
    const int parsed = cli_parse(&spec, argc, argv, &o);
    if (parsed != CLI_GO) return parsed;
    attn_error error = {""};
    listener to = {.lines = o.common.json ? json_array() : NULL};
    if (!o.common.json) printf("max |error|: %s\n", metric);
    const double begin = out_clock();
    const attn_status status = attn_selftest(hear, &to, &error);
    const bool ok = status == ATTN_OK;
    const double seconds = out_clock() - begin;
    if (o.common.json) {
        const int code = out_json(json_pack("{s:b, s:s?, s:f, s:s, s:o}", "ok", ok, "error",
                                            ok ? NULL : error.message, "seconds", seconds,
                                            "max_error", metric, "lines", to.lines));
        if (code != CLI_OK) return code;
    } else if (ok) {
        char text[OUT_NUMBER];
        printf("%sall %d checks passed%s (%s)\n", out_begin(stdout, OUT_GOOD), to.n,
               out_begin(stdout, OUT_PLAIN), out_seconds(seconds, text));
    }
    if (ok) return CLI_OK;
    out_error(spec.command, "%s: %s", attn_strerror(status), error.message);
    return CLI_FAILED;
}
