/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - `attn verify`: recomputes every worked number and tests every claim of the documents.
 * Fails only if our own numbers differ from the exact values on record.
 * Tests: tests/cli/test_verify.py, tests/cli/test_verify_record.c */
#include "verify.h"

#include "shared/out.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) .at = offsetof(verify_options, field)

static const cli_option options[] = {
    {.kind = CLI_SECTION, .name = "What to check"},
    {.kind = CLI_TEXT,
     .name = "only",
     AT(only),
     .value = "ID|DOCUMENT|claims|numbers",
     .help = "check one row (C-4, 004-11), one document (003) or one kind"},
    {.kind = CLI_FLAG, .name = "wrong", AT(wrong), .help = "show only rows that are wrong"},
    {.kind = CLI_UINT,
     .name = "seed",
     AT(seed),
     .value = "N",
     .help = "random seed (default 42, as in the documents)"},
    {.kind = CLI_SECTION, .name = "Output and threads"},
    {.kind = CLI_FLAG, .name = "markdown", AT(markdown), .help = "print Markdown tables"},
    CLI_THREADS_OPTION(verify_options, "number of threads (default: all CPUs)"),
    CLI_COMMON_OPTIONS,
};

static const cli_spec spec = {
    .command = "verify",
    .usage = "verify [--only ID|DOCUMENT|claims|numbers] [options]",
    .about = "Recomputes every worked number of the documents 001 to 004 and tests every claim\n"
             "of 000 to 004. Shows what is stated, what is computed now, the verdict (holds,\n"
             "holds if, wrong) and the reason in one line. A wrong row that only repeats an\n"
             "earlier error names it. Exit code 1 means that one of our own computations\n"
             "differs from the exact value on record, never that a document is wrong.",
    .notes = {{"Documents",
               "  000  an analysis report: findings and figures\n"
               "  001  a worked example in linear algebra\n"
               "  002  an interactive tutorial\n"
               "  003  a lesson with exercises\n"
               "  004  a slide deck\n"
               "  docs/documents.md describes where the documents and their ids come from.\n"},
              {"Examples", "  attn verify --only 001\n"
                           "  attn verify --only C-4\n"
                           "  attn verify --wrong\n"
                           "  attn verify --markdown > corrections.md\n"}},
    .options = options,
    .n_options = sizeof options / sizeof *options,
};

static const char *const documents[] = {"000", "001", "002", "003", "004"};
enum { N_DOCUMENTS = sizeof documents / sizeof *documents };

bool verify_is_of(const lab_claim *claim, const char *document) {
    return strncmp(claim->document, document, 3) == 0;
}

/* ------------------------------------------------------------------------------------ choosing */

static bool wanted(const verify_options *o, const lab_claim *claim, bool number) {
    if (!o->only) return true;
    if (strcmp(o->only, "claims") == 0) return !number;
    if (strcmp(o->only, "numbers") == 0) return number;
    if (lab_claim_has_id(claim, o->only)) return true;
    return strlen(o->only) == 3 && strstr(claim->document, o->only) != NULL;
}

static void choose(const verify_options *o, lab_claim_list list, const char *document, bool number,
                   verify_result *result) {
    for (size_t i = 0; i < list.n; i++) {
        const lab_claim *claim = &list.claim[i];
        if (verify_is_of(claim, document) && wanted(o, claim, number))
            result->row[result->n++] = (verify_row){.claim = claim, .number = number};
    }
}

/* ------------------------------------------------------------------------------------- testing */

typedef struct verify_clock {
    out_progress progress;
    double before, weight; /* expected seconds of the finished rows and of the current one */
} verify_clock;

static double seconds_of(const lab_claim *claim) { return claim->seconds + 0.002; }

static void listen(void *arg, double done) {
    verify_clock *clock = arg;
    out_progress_step(&clock->progress, clock->before + done * clock->weight);
}

static attn_status test_all(const lab_settings *settings, verify_clock *clock,
                            verify_result *result, attn_error *error) {
    for (size_t i = 0; i < result->n; i++) {
        verify_row *row = &result->row[i];
        clock->weight = seconds_of(row->claim);
        clock->progress.stage = row->claim->id;
        const attn_status status = lab_claim_test(settings, row->claim, &row->outcome, error);
        if (status != ATTN_OK) {
            out_progress_end(&clock->progress);
            out_error(spec.command, "%s: %s: %s", row->claim->id, attn_strerror(status),
                      error->message);
            return status;
        }
        clock->before += clock->weight;
        out_progress_step(&clock->progress, clock->before);
    }
    out_progress_end(&clock->progress);
    return ATTN_OK;
}

static attn_status run(const verify_options *o, verify_result *result) {
    attn_ctx_options wish;
    attn_ctx *ctx;
    attn_error error = {""};
    verify_clock clock = {0};
    double total = 0;
    attn_ctx_options_init(&wish);
    wish.threads = (int)o->threads;
    attn_status status = attn_ctx_create(&wish, &ctx, &error);
    if (status != ATTN_OK) {
        out_error(spec.command, "%s", error.message);
        return status;
    }
    for (size_t i = 0; i < result->n; i++) total += seconds_of(result->row[i].claim);
    const lab_settings settings = {.seed = (uint32_t)o->seed,
                                   .threads = attn_ctx_threads(ctx),
                                   .ctx = ctx,
                                   .progress = listen,
                                   .progress_arg = &clock};
    out_progress_begin(&clock.progress, "verify", total, 0);
    const double begin = out_clock();
    status = test_all(&settings, &clock, result, &error);
    result->seconds = out_clock() - begin;
    attn_ctx_destroy(ctx);
    return status;
}

/* ------------------------------------------------------------------------------------ printing */

static bool all_agree(const verify_result *result) {
    for (size_t i = 0; i < result->n; i++) {
        if (!result->row[i].outcome.agrees) return false;
    }
    return true;
}

static int print(const verify_options *o, const verify_result *result) {
    if (o->common.json)
        return verify_print_json(o, result);
    else if (o->markdown)
        verify_print_markdown(o, result);
    else
        verify_print_text(o, result);
    return CLI_OK;
}

static int no_such_row(const char *only) {
    const char *remark = lab_claim_not_computed(only);
    if (remark) {
        out_error(spec.command, "--only %s: nothing to compute: %s", only, remark);
        return CLI_USAGE;
    }
    out_error(spec.command, "--only %s: no such row", only);
    out_hint("ids are 001-01 .. 004-25 and C-1 .. C-52; documents 000 .. 004; or: claims, numbers");
    return CLI_USAGE;
}

int verify_lists(const verify_options *o, lab_claim_list numbers, lab_claim_list claims) {
    verify_result result = {.row = calloc(numbers.n + claims.n + 1, sizeof *result.row)};
    int code = CLI_FAILED;
    if (!result.row) {
        out_error(spec.command, "out of memory");
        return code;
    }
    for (int i = 0; i < N_DOCUMENTS; i++) {
        choose(o, numbers, documents[i], true, &result);
        choose(o, claims, documents[i], false, &result);
    }
    if (result.n == 0)
        code = no_such_row(o->only);
    else if (run(o, &result) == ATTN_OK) {
        code = print(o, &result);
        if (code == CLI_OK && !all_agree(&result)) code = CLI_FAILED;
    }
    free(result.row);
    return code;
}

int cmd_verify(int argc, char **argv) {
    verify_options o = {.seed = 42};
    const int code = cli_parse(&spec, argc, argv, &o);
    if (code != CLI_GO) return code;
    if (o.seed > UINT32_MAX) {
        out_error(spec.command, "--seed %llu: expected at most %u", (unsigned long long)o.seed,
                  UINT32_MAX);
        return CLI_USAGE;
    }
    if (o.common.json && o.markdown) {
        out_error(spec.command, "--json and --markdown: choose one");
        return CLI_USAGE;
    }
    return verify_lists(&o, lab_worked_numbers(), lab_claims());
}
