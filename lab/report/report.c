/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - measures: the experiments one after another, then every statement of the documents. See
 * report.h. */
#include "report/report.h"

#include "core/base.h"

#include <stdlib.h>
#include <strings.h>

const char *const lab_finding_ids[LAB_FINDINGS] = {"F1", "F2", "F4", "F5", "F6", "F7", "E2"};

/* ---- which experiments ---- */

bool lab_list_names(const char *list, const char *id) {
    const size_t length = strlen(id);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (strncasecmp(at, id, length) == 0 && (at[length] == ',' || at[length] == 0)) return true;
    }
    return false;
}

static bool wanted(const lab_report_options *options, const char *id) {
    return options->only == NULL || lab_list_names(options->only, id);
}

/* The corrections belong to the whole report; --only may name them too. */
static bool has_corrections(const lab_report_options *options) {
    return wanted(options, "corrections");
}

static size_t count_words(const char *list) {
    size_t n = 1;
    for (; *list; list++) n += *list == ',';
    return n;
}

attn_status lab_report_check(const lab_report_options *options, attn_error *err) {
    char ids[160] = "";
    size_t found = has_corrections(options);
    for (size_t i = 0; lab_experiments[i]; i++) {
        const size_t used = strlen(ids);
        snprintf(ids + used, sizeof ids - used, "%s%s", i ? ", " : "", lab_experiments[i]->id);
        found += wanted(options, lab_experiments[i]->id);
    }
    if (options->only == NULL || found == count_words(options->only)) return ATTN_OK;
    return attni_fail(err, ATTN_E_VALUE,
                      "only: \"%s\" names an unknown experiment; there are %s, corrections",
                      options->only, ids);
}

/* ---- progress: one bar over many measurements ---- */

typedef struct meter {
    const lab_report_options *options;
    double before, total; /* seconds */
    double own;           /* of the present measurement */
    const char *stage;
} meter;

static void advance(void *arg, double done) {
    const meter *m = arg;
    if (m->options->progress == NULL) return;
    m->options->progress(m->options->progress_arg, m->before + done * m->own, m->total, m->stage);
}

/* Begins a measurement that takes about `seconds`. */
static void enter(meter *m, const char *stage, double seconds) {
    m->before += m->own;
    m->own = seconds;
    m->stage = stage;
    advance(m, 0);
}

/* ---- measuring ---- */

static attn_status measure_all(const lab_settings *settings, meter *m, lab_report *report,
                               attn_error *err) {
    for (size_t i = 0; i < report->n; i++) {
        lab_result *result = &report->result[i];
        enter(m, result->experiment->title, result->experiment->seconds);
        ATTN_TRY(result->experiment->measure(settings, &result->data, err));
        result->experiment->judge(&result->data, &result->finding);
        if (result->finding.verdict != LAB_HOLDS_IF) result->finding.condition[0] = 0;
    }
    return ATTN_OK;
}

static attn_status test_statements(const lab_settings *settings, meter *m, lab_report *report,
                                   attn_error *err) {
    for (size_t i = 0; i < report->n_statements; i++) {
        lab_statement *statement = &report->statement[i];
        enter(m, "statements of the documents", statement->claim->seconds);
        ATTN_TRY(lab_claim_test(settings, statement->claim, &statement->outcome, err));
        if (has_corrections(m->options))
            lab_tally_add(&report->tally, statement->claim, &statement->outcome);
    }
    return ATTN_OK;
}

static double expected_seconds(const lab_report *report) {
    double seconds = 0;
    for (size_t i = 0; i < report->n; i++) seconds += report->result[i].experiment->seconds;
    for (size_t i = 0; i < report->n_statements; i++)
        seconds += report->statement[i].claim->seconds;
    return seconds;
}

static bool has_figure(const lab_report *report, const char *claim) {
    for (size_t i = 0; i < report->n; i++) {
        if (lab_list_names(report->result[i].experiment->claims, claim)) return true;
    }
    return false;
}

/* A report of some experiments tests only the claims that these answer. */
static void pick_statements(const lab_report_options *options, const lab_claim_list *list,
                            lab_report *report) {
    for (size_t i = 0; i < list->n; i++) {
        const lab_claim *claim = &list->claim[i];
        if (!has_corrections(options) && !has_figure(report, claim->id)) continue;
        report->statement[report->n_statements++].claim = claim;
    }
}

/* Picks experiments and statements and makes room for what they find. */
static attn_status prepare(const lab_report_options *options, lab_report *report, attn_error *err) {
    const lab_claim_list numbers = lab_worked_numbers(), claims = lab_claims();
    size_t all = 0;
    while (lab_experiments[all]) all++;
    report->result = calloc(all + 1, sizeof *report->result);
    report->statement = calloc(numbers.n + claims.n + 1, sizeof *report->statement);
    if (report->result == NULL || report->statement == NULL) {
        return attni_fail(err, ATTN_E_MEMORY, "report: no memory for the list of results");
    }
    for (size_t i = 0; i < all; i++) {
        if (!wanted(options, lab_experiments[i]->id)) continue;
        report->result[report->n++].experiment = lab_experiments[i];
    }
    pick_statements(options, &numbers, report);
    pick_statements(options, &claims, report);
    return lab_report_check(options, err);
}

attn_status lab_report_measure(const lab_report_options *options, lab_report *report,
                               attn_error *err) {
    *report = (lab_report){.n = 0};
    lab_settings settings = {.seed = options->seed, .threads = options->threads};
    meter m = {.options = options};
    attn_ctx_options wish;
    attn_ctx_options_init(&wish);
    wish.threads = options->threads;
    attn_status status = prepare(options, report, err);
    if (status != ATTN_OK) goto done;
    m.total = expected_seconds(report);
    settings.progress = advance;
    settings.progress_arg = &m;
    status = attn_ctx_create(&wish, &settings.ctx, err);
    if (status == ATTN_OK) status = measure_all(&settings, &m, report, err);
    if (status == ATTN_OK) status = test_statements(&settings, &m, report, err);
done:
    attn_ctx_destroy(settings.ctx);
    if (status != ATTN_OK) lab_report_free(report);
    return status;
}

void lab_report_free(lab_report *report) {
    for (size_t i = 0; i < report->n; i++) lab_data_free(&report->result[i].data);
    free(report->result);
    free(report->statement);
    *report = (lab_report){.n = 0};
}

const lab_result *lab_report_find(const lab_report *report, const char *id) {
    for (size_t i = 0; i < report->n; i++) {
        if (strcmp(report->result[i].experiment->id, id) == 0) return &report->result[i];
    }
    return NULL;
}

size_t lab_report_count(const lab_report *report, lab_verdict verdict) {
    size_t n = 0;
    for (size_t i = 0; i < report->n_statements; i++) {
        n += report->statement[i].outcome.verdict == verdict;
    }
    return n;
}
