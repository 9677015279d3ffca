/* SPDX-License-Identifier: Apache-2.0 */
/* train_study.c - `attn train --study NAME`: a table in Markdown, or JSON, with every spread. The
 * studies are those of lab/study.h. Tests: tests/cli/test_train.py */
#include "train/train.h"

#include "lab/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char train_study_help[] =
    "  layers       one layer compared with two on whois\n"
    "  scaling      scores q.k / sqrt(d_k), q.k and q.k / d_k, at d_k 16 and 128\n"
    "  temperature  temperature 0.25 at d_k 16 compared with no scaling, bit for bit\n"
    "  causal       whois with and without sight of later tokens\n";

/* The outcomes of a study. */
typedef struct results {
    const lab_study *study;
    int64_t seeds;
    lab_study_outcome of[LAB_STUDY_KINDS][LAB_STUDY_SEEDS];
    int n_kinds;
} results;

/* ---------------------------------------------------------------------------------------- table */

/* "median (min..max)" of the field at this offset, times factor. */
static void format_spread(const lab_study_outcome *outcomes, int64_t n, size_t field, double factor,
                          char text[60]) {
    const lab_spread spread = lab_study_spread(outcomes, n, field);
    const double shown[3] = {spread.median, spread.least, spread.most};
    char part[3][16];
    for (int i = 0; i < 3; i++)
        snprintf(part[i], sizeof part[i], isinf(shown[i]) ? "never" : "%.*f", factor == 100 ? 1 : 0,
                 factor * shown[i]);
    if (strcmp(part[1], part[2]) == 0)
        snprintf(text, 60, "%s", part[0]);
    else
        snprintf(text, 60, "%s (%s..%s)", part[0], part[1], part[2]);
}

static void print_head(const lab_study *s, int64_t seeds, int64_t steps) {
    printf("%s\nwhois, seeds 1..%lld, at most %lld steps; median (min..max)\n\n", s->question,
           (long long)seeds, (long long)steps);
    printf("| kind | solved (99 %%) | steps to 99 %% | held-out %% | selectivity, averaged weights "
           "%% | deciding tokens hidden %% | rivals hidden %% |\n");
    printf("|---|---|---|---|---|---|---|\n");
}

static void print_row(const char *kind, const lab_study_outcome *outcomes, int64_t n) {
    static const size_t percents[] = {
        offsetof(lab_study_outcome, accuracy), offsetof(lab_study_outcome, selectivity),
        offsetof(lab_study_outcome, without_right), offsetof(lab_study_outcome, without_rival)};
    char text[60];
    format_spread(outcomes, n, offsetof(lab_study_outcome, solved_at), 1, text);
    printf("| %s | %lld of %lld | %s |", kind, (long long)lab_study_solved(outcomes, n),
           (long long)n, text);
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        format_spread(outcomes, n, percents[i], 100, text);
        printf(" %s |", text);
    }
    printf("\n");
    fflush(stdout);
}

static json_t *outcomes_json(const char *kind, const lab_study_outcome *outcomes, int64_t n) {
    json_t *runs = json_array();
    for (int64_t i = 0; i < n; i++) {
        char bits[20];
        snprintf(bits, sizeof bits, "%016llx", (unsigned long long)outcomes[i].fingerprint);
        json_array_append_new(
            runs,
            json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:o, s:s}", "seed", (json_int_t)i + 1,
                      "accuracy", outcomes[i].accuracy, "selectivity", outcomes[i].selectivity,
                      "accuracy_without_right", outcomes[i].without_right, "accuracy_without_rival",
                      outcomes[i].without_rival, "steps", outcomes[i].steps, "solved_at",
                      out_json_real(outcomes[i].solved_at), "fingerprint", bits));
    }
    return json_pack("{s:s, s:o}", "kind", kind, "runs", runs);
}

/* -------------------------------------------------------------------------------------- command */

static int run_one(train_run_state *run, const lab_study_kind *kind, uint64_t seed,
                   lab_study_outcome *outcome) {
    attn_error error = {""};
    train_watch_begin(run);
    const attn_status status = lab_study_run(kind, seed, &run->training, outcome, &error);
    train_watch_end(run);
    return train_code(status, &error);
}

static int run_all(const train_options *o, const lab_trainer_options *options, results *r) {
    for (int k = 0; k < LAB_STUDY_KINDS && r->study->kinds[k].name; k++) {
        const lab_study_kind *kind = &r->study->kinds[k];
        for (int64_t seed = 0; seed < r->seeds; seed++) {
            train_run_state run = {.training.options = *options, .progress = o->progress};
            const int code = run_one(&run, kind, (uint64_t)seed + 1, &r->of[k][seed]);
            if (code != CLI_OK) return code;
            if (run.training.stopped) return CLI_INTERRUPTED;
        }
        if (!o->common.json) print_row(kind->name, r->of[k], r->seeds);
        r->n_kinds++;
    }
    return CLI_OK;
}

static int finish(const results *r, bool as_json) {
    const lab_study *s = r->study;
    const int64_t same = s->compare_bits ? lab_study_same_bits(r->of[0], r->of[1], r->seeds) : -1;
    if (!as_json) {
        if (same >= 0)
            printf("\nweights after training identical to the bit: %lld of %lld seeds\n",
                   (long long)same, (long long)r->seeds);
        return CLI_OK;
    }
    json_t *kinds = json_array();
    for (int k = 0; k < r->n_kinds; k++)
        json_array_append_new(kinds, outcomes_json(s->kinds[k].name, r->of[k], r->seeds));
    json_t *root =
        json_pack("{s:s, s:s, s:o}", "study", s->name, "question", s->question, "kinds", kinds);
    if (same >= 0) json_object_set_new(root, "identical_seeds", json_integer((json_int_t)same));
    return out_json(root);
}

static const char *study_name(const void *arg, size_t i) {
    (void)arg;
    return lab_studies[i].name;
}

static int unknown_study(const char *name) {
    const char *meant = cli_nearest(name, LAB_N_STUDIES, study_name, NULL);
    out_error("train", "--study %s: expected layers, scaling, temperature or causal%s%s%s", name,
              meant ? ". Did you mean " : "", meant ? meant : "", meant ? "?" : "");
    return CLI_USAGE;
}

int train_study(const train_options *o) {
    const lab_study *study = lab_study_named(o->study);
    if (!study) return unknown_study(o->study);
    results *r = calloc(1, sizeof *r);
    if (!r) {
        out_error("train", "out of memory");
        return CLI_FAILED;
    }
    r->study = study;
    r->seeds = o->seeds;
    lab_trainer_options options = train_wish(o, lab_task_named("whois"));
    if (!o->steps) options.steps = study->steps;
    if (!o->common.json) print_head(study, o->seeds, options.steps);
    int code = run_all(o, &options, r);
    if (code == CLI_OK) code = finish(r, o->common.json);
    free(r);
    return code;
}
