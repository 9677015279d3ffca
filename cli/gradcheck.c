/* SPDX-License-Identifier: Apache-2.0 */
/* gradcheck.c - `attn gradcheck`: the options, the table and the verdict. The checks are those of
 * lab/gradcheck. Tests: tests/cli/test_cli_gradients.py */
#include "lab/gradcheck/gradcheck.h"
#include "shared/options.h"
#include "shared/out.h"

#include <math.h>
#include <string.h>

typedef struct gradcheck_options {
    cli_common common;
    uint64_t seed;
    double tolerance;
    cli_texts features, layers;
    bool list;
} gradcheck_options;

#define AT(field) .at = offsetof(gradcheck_options, field)

static const cli_option options[] = {
    {.kind = CLI_SECTION, .name = "What to check"},
    {.kind = CLI_TEXTS,
     .name = "feature",
     AT(features),
     .value = "NAME",
     .help = "check only this feature of attention; may be repeated"},
    {.kind = CLI_TEXTS,
     .name = "layer",
     AT(layers),
     .value = "NAME",
     .help = "check only this layer; may be repeated"},
    {.kind = CLI_FLAG,
     .name = "list",
     AT(list),
     .help = "list all features and layers, check nothing"},
    {.kind = CLI_SECTION, .name = "How to check"},
    {.kind = CLI_UINT,
     .name = "seed",
     AT(seed),
     .value = "N",
     .help = "random seed of the inputs (default 1)"},
    {.kind = CLI_REAL,
     .name = "tolerance",
     AT(tolerance),
     .value = "X",
     .help = "largest error allowed, relative to max(1, |difference|) (default 1e-7). Finite "
             "differences in f64 are accurate to about 1e-10"},
    CLI_COMMON_OPTIONS,
};

static const cli_spec spec = {
    .command = "gradcheck",
    .usage = "gradcheck [--feature NAME] [--layer NAME] [options]",
    .about = "Checks every gradient against finite differences: moves each input number of\n"
             "small f64 problems slightly up and down and compares the change of the output\n"
             "with the result of the backward pass, for every feature of attention and every\n"
             "layer. The exit code is 0 if all agree, 1 if not.",
    .notes = {{"Examples", "  attn gradcheck\n"
                           "  attn gradcheck --feature causal --feature sinks --seed 7\n"
                           "  ATTN_ISA=scalar attn gradcheck --json\n"}},
    .options = options,
    .n_options = sizeof options / sizeof *options,
};

/* ----------------------------------------------------------------------------------- selection */

typedef struct kind {
    const char *name; /* "feature" */
    const grad_check *checks;
    size_t n;
    const cli_texts *chosen;
} kind;

enum { N_KINDS = 2 };

static const char *check_name(const void *arg, size_t i) {
    return ((const grad_check *)arg)[i].name;
}

static bool is_chosen(const kind *k, const grad_check *check) {
    for (int i = 0; i < k->chosen->n; i++)
        if (strcmp(check->name, k->chosen->item[i]) == 0) return true;
    return false;
}

/* Rejects an unknown name. */
static int check_names(const kind *k) {
    for (int i = 0; i < k->chosen->n; i++) {
        const char *word = k->chosen->item[i];
        bool known = false;
        for (size_t c = 0; c < k->n; c++) known |= strcmp(k->checks[c].name, word) == 0;
        if (known) continue;
        const char *meant = cli_nearest(word, k->n, check_name, k->checks);
        if (meant)
            out_error(spec.command, "--%s %s: no such %s. Did you mean %s?", k->name, word, k->name,
                      meant);
        else
            out_error(spec.command, "--%s %s: no such %s", k->name, word, k->name);
        out_hint("attn gradcheck --list shows all of them");
        return CLI_USAGE;
    }
    return CLI_OK;
}

static int list_all(const kind *kinds, bool as_json) {
    json_t *root = json_object();
    for (int k = 0; k < N_KINDS; k++) {
        json_t *names = json_array();
        if (!as_json && kinds[k].n > 0)
            printf("%s%s%ss%s\n", k > 0 ? "\n" : "", out_begin(stdout, OUT_BOLD), kinds[k].name,
                   out_begin(stdout, OUT_PLAIN));
        for (size_t c = 0; c < kinds[k].n; c++) {
            const grad_check *check = &kinds[k].checks[c];
            json_array_append_new(
                names, json_pack("{s:s, s:s}", "name", check->name, "about", check->about));
            if (!as_json) printf("  %-20s %s\n", check->name, check->about);
        }
        json_object_set_new(root, k == 0 ? "features" : "layers", names);
    }
    if (as_json) return out_json(root);
    json_decref(root);
    return CLI_OK;
}

/* ------------------------------------------------------------------------------------- running */

typedef struct run {
    const gradcheck_options *o;
    grad_session session;
    json_t *rows;
    int n, failed;
    size_t numbers;
    double largest;
} run;

static void print_head(const kind *k, bool first) {
    printf("%s%s%-20s %12s %15s %11s%s\n", first ? "" : "\n", out_begin(stdout, OUT_BOLD), k->name,
           "gradients", "largest error", "tolerance", out_begin(stdout, OUT_PLAIN));
}

static void print_row(const run *r, const grad_check *check, const grad_tally *t, bool ok) {
    char numbers[OUT_NUMBER];
    printf("%-20s %12s %15.1e %11.1e  %s%s%s\n", check->name, out_grouped((double)t->n, numbers),
           t->largest, r->o->tolerance, out_begin(stdout, ok ? OUT_GOOD : OUT_BAD),
           ok ? "ok" : "FAIL", out_begin(stdout, OUT_PLAIN));
    if (!ok)
        printf("  %s[%zu]: backward gives %.12g, finite differences give %.12g\n", t->part,
               t->element, t->backward, t->differences);
    fflush(stdout);
}

static json_t *row_json(const kind *k, const grad_check *check, const grad_tally *t, bool ok) {
    return json_pack("{s:s, s:s, s:I, s:I, s:o, s:{s:s, s:I, s:o, s:o}, s:b}", "kind", k->name,
                     "name", check->name, "gradients", (json_int_t)t->n, "nonzero",
                     (json_int_t)t->nonzero, "largest_error", out_json_real(t->largest), "worst",
                     "gradient", t->part, "element", (json_int_t)t->element, "backward",
                     out_json_real(t->backward), "differences", out_json_real(t->differences), "ok",
                     ok);
}

static int run_check(run *r, const kind *k, const grad_check *check) {
    grad_tally tally = {0};
    attn_error error = {""};
    const attn_status status = check->run(&r->session, check->setting, &tally, &error);
    grad_release(&r->session);
    if (status != ATTN_OK) {
        out_error(spec.command, "%s: %s", check->name,
                  *error.message ? error.message : attn_strerror(status));
        return CLI_FAILED;
    }
    const bool ok = tally.largest <= r->o->tolerance;
    r->n++;
    r->failed += !ok;
    r->numbers += tally.n;
    r->largest = fmax(r->largest, tally.largest);
    json_array_append_new(r->rows, row_json(k, check, &tally, ok));
    if (!r->o->common.json) print_row(r, check, &tally, ok);
    return CLI_OK;
}

static int run_kinds(run *r, const kind *kinds) {
    bool all = true;
    for (int k = 0; k < N_KINDS; k++) all &= kinds[k].chosen->n == 0;
    for (int k = 0; k < N_KINDS; k++) {
        if (!r->o->common.json && kinds[k].n > 0 && (all || kinds[k].chosen->n > 0))
            print_head(&kinds[k], r->n == 0);
        for (size_t c = 0; c < kinds[k].n; c++) {
            const grad_check *check = &kinds[k].checks[c];
            if (!all && !is_chosen(&kinds[k], check)) continue;
            const int code = run_check(r, &kinds[k], check);
            if (code != CLI_OK) return code;
        }
    }
    return CLI_OK;
}

static int report(const run *r, double seconds) {
    char numbers[OUT_NUMBER], time[OUT_NUMBER];
    if (r->o->common.json) {
        const int code = out_json(json_pack(
            "{s:b, s:s, s:I, s:f, s:I, s:o, s:f, s:O}", "ok", r->failed == 0, "isa",
            attn_isa_name(attn_ctx_isa(r->session.ctx)), "seed", (json_int_t)r->o->seed,
            "tolerance", r->o->tolerance, "gradients", (json_int_t)r->numbers, "largest_error",
            out_json_real(r->largest), "seconds", seconds, "checks", r->rows));
        if (code != CLI_OK) return code;
    } else if (r->failed == 0) {
        printf("\n%s%s gradients agree with finite differences%s, the worst to %.1e (%s, %s)\n",
               out_begin(stdout, OUT_GOOD), out_grouped((double)r->numbers, numbers),
               out_begin(stdout, OUT_PLAIN), r->largest,
               attn_isa_name(attn_ctx_isa(r->session.ctx)), out_seconds(seconds, time));
    }
    if (r->failed == 0) return CLI_OK;
    out_error(spec.command, "%d of %d checks failed", r->failed, r->n);
    return CLI_FAILED;
}

int cmd_gradcheck(int argc, char **argv) {
    gradcheck_options o = {.seed = 1, .tolerance = 1e-7};
    int code = cli_parse(&spec, argc, argv, &o);
    if (code != CLI_GO) return code;
    const kind kinds[N_KINDS] = {{"feature", grad_features, grad_n_features, &o.features},
                                 {"layer", grad_layers, grad_n_layers, &o.layers}};
    if (o.list) return list_all(kinds, o.common.json);
    code = check_names(&kinds[0]);
    if (code == CLI_OK) code = check_names(&kinds[1]);
    if (code == CLI_OK && !(o.tolerance > 0)) {
        out_error(spec.command, "--tolerance %g: expected a number above 0", o.tolerance);
        code = CLI_USAGE;
    }
    if (code != CLI_OK) return code;
    attn_error error = {""};
    run r = {.o = &o, .session = {.seed = o.seed}, .rows = json_array()};
    const attn_status status = attn_ctx_create(NULL, &r.session.ctx, &error);
    const double begin = out_clock();
    if (status == ATTN_OK)
        code = run_kinds(&r, kinds);
    else
        code = cli_code_of(status), out_error(spec.command, "%s", error.message);
    if (code == CLI_OK) code = report(&r, out_clock() - begin);
    json_decref(r.rows);
    attn_ctx_destroy(r.session.ctx);
    return code;
}
