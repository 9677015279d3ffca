/* SPDX-License-Identifier: Apache-2.0 */
/* study.c - `attn train --study NAME`: a question, several kinds of runs over the same seeds, and a
 * table in Markdown (or JSON) with every spread. docs/studies.md holds the results.
 * Tests: tests/cli/test_train.py */
#include "train/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KINDS = 6, MAX_SEEDS = 100, STUDY_EVERY = 50 };

/* A kind of run: what differs from the defaults of whois. */
typedef struct kind {
    const char *name;
    lab_scaling scale;  /* LAB_SCALINGS: as the command is told */
    int64_t layers, dk; /* 0: default */
    bool causal;
    double temperature; /* 0: default */
} kind;

typedef struct study {
    const char *name, *question;
    int64_t steps;
    kind kinds[MAX_KINDS];
    bool compare_bits; /* the weights of the first two kinds, seed by seed */
} study;

static const study studies[] = {
    {.name = "layers",
     .question = "Does whois need two layers?",
     .steps = 2000,
     .kinds = {{"1 layer", LAB_SCALINGS, .layers = 1}, {"2 layers", LAB_SCALINGS, .layers = 2}}},
    {.name = "scaling",
     .question = "What does the scale of the scores do at d_k 16 and 128?",
     .steps = 1200,
     .kinds = {{"d_k 16, 1/sqrt(d_k)", LAB_SCALE_SQRT, .dk = 16},
               {"d_k 16, none", LAB_SCALE_NONE, .dk = 16},
               {"d_k 16, 1/d_k", LAB_SCALE_D_K, .dk = 16},
               {"d_k 128, 1/sqrt(d_k)", LAB_SCALE_SQRT, .dk = 128},
               {"d_k 128, none", LAB_SCALE_NONE, .dk = 128},
               {"d_k 128, 1/d_k", LAB_SCALE_D_K, .dk = 128}}},
    {.name = "temperature",
     .question = "Is temperature 0.25 at d_k 16 the same as no scaling?",
     .steps = 600,
     .kinds = {{"d_k 16, temperature 0.25", LAB_SCALE_SQRT, .dk = 16, .temperature = 0.25},
               {"d_k 16, none", LAB_SCALE_NONE, .dk = 16}},
     .compare_bits = true},
    {.name = "causal",
     .question = "Can whois be solved at \"it\" when no token sees a later one?",
     .steps = 1200,
     .kinds = {{"every token sees all", LAB_SCALINGS, .causal = false},
               {"causal", LAB_SCALINGS, .causal = true}}},
};
enum { N_STUDIES = sizeof studies / sizeof *studies };

const char train_study_help[] =
    "  layers       one layer against two on whois\n"
    "  scaling      scores q.k / sqrt(d_k), q.k and q.k / d_k, at d_k 16 and 128\n"
    "  temperature  temperature 0.25 at d_k 16 against no scaling, bit by bit\n"
    "  causal       whois with and without a view of what follows\n";

/* What one run ended with. */
typedef struct outcome {
    double accuracy, selectivity, without_right, without_rival, steps, solved_at;
    uint64_t fingerprint; /* of the bits of the weights */
} outcome;

/* ------------------------------------------------------------------------------------------ runs */

/* FNV-1a over the bytes of the weights. */
static uint64_t fingerprint(const attni_model *model) {
    const unsigned char *bytes = (const unsigned char *)model->weights;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < model->parameters.total * sizeof *model->weights; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

static train_options options_of(const train_options *o, const study *s, const kind *k,
                                uint64_t seed) {
    train_options run = *o;
    run.seed = seed;
    if (k->layers) run.layers = k->layers;
    if (k->dk) run.dk = k->dk;
    if (k->temperature > 0) run.temperature = k->temperature;
    if (!run.steps) run.steps = s->steps;
    run.causal = run.causal || k->causal;
    if (k->scale != LAB_SCALINGS) run.scale = k->scale;
    return run;
}

static int run_one(const train_options *o, outcome *result) {
    train_run_state run = {.wish = train_wish(o, lab_task_named("whois")),
                           .stop_at = 0.99,
                           .every = STUDY_EVERY,
                           .progress = o->progress};
    int code = train_run(&run);
    if (code == CLI_OK) {
        *result = (outcome){.accuracy = run.now.accuracy,
                            .selectivity = train_selectivity(&run.now),
                            .without_right = run.now.without_right,
                            .without_rival = run.now.without_rival,
                            .steps = (double)run.step.step,
                            .solved_at = run.solved_at < 0 ? INFINITY : (double)run.solved_at,
                            .fingerprint = fingerprint(lab_trainer_model(run.trainer))};
        if (run.interrupted) code = CLI_INTERRUPTED;
    }
    lab_trainer_destroy(run.trainer);
    return code;
}

/* ----------------------------------------------------------------------------------------- table */

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* "median (min..max)" of the outcomes' field at this offset, times factor. */
static void spread(const outcome *outcomes, int64_t n, size_t at, double factor, char text[60]) {
    double values[MAX_SEEDS];
    char part[3][16];
    for (int64_t i = 0; i < n; i++)
        values[i] = factor * *(const double *)((const char *)&outcomes[i] + at);
    qsort(values, (size_t)n, sizeof *values, ascending);
    const double shown[3] = {(values[(n - 1) / 2] + values[n / 2]) / 2, values[0], values[n - 1]};
    for (int i = 0; i < 3; i++)
        snprintf(part[i], sizeof part[i], isinf(shown[i]) ? "never" : "%.*f", factor == 100 ? 1 : 0,
                 shown[i]);
    if (strcmp(part[1], part[2]) == 0)
        snprintf(text, 60, "%s", part[0]);
    else
        snprintf(text, 60, "%s (%s..%s)", part[0], part[1], part[2]);
}

static int64_t count_solved(const outcome *outcomes, int64_t n) {
    int64_t solved = 0;
    for (int64_t i = 0; i < n; i++) solved += isfinite(outcomes[i].solved_at);
    return solved;
}

static void print_head(const study *s, const train_options *o) {
    printf("%s\nwhois, seeds 1..%lld, at most %lld steps; median (min..max)\n\n", s->question,
           (long long)o->seeds, (long long)(o->steps ? o->steps : s->steps));
    printf("| kind | solved (99 %%) | steps to 99 %% | held-out %% | selectivity %% | hiding what "
           "decides %% | hiding the rivals %% |\n");
    printf("|---|---|---|---|---|---|---|\n");
}

static void print_row(const kind *k, const outcome *outcomes, int64_t n) {
    static const size_t percents[] = {offsetof(outcome, accuracy), offsetof(outcome, selectivity),
                                      offsetof(outcome, without_right),
                                      offsetof(outcome, without_rival)};
    char text[60];
    spread(outcomes, n, offsetof(outcome, solved_at), 1, text);
    printf("| %s | %lld of %lld | %s |", k->name, (long long)count_solved(outcomes, n),
           (long long)n, text);
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        spread(outcomes, n, percents[i], 100, text);
        printf(" %s |", text);
    }
    printf("\n");
    fflush(stdout);
}

static int64_t count_same(const outcome *a, const outcome *b, int64_t n) {
    int64_t same = 0;
    for (int64_t i = 0; i < n; i++) same += a[i].fingerprint == b[i].fingerprint;
    return same;
}

static json_t *outcomes_json(const kind *k, const outcome *outcomes, int64_t n) {
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
    return json_pack("{s:s, s:o}", "kind", k->name, "runs", runs);
}

/* --------------------------------------------------------------------------------------- command */

/* The outcomes of a study, (kinds, seeds). */
typedef struct results {
    outcome of[MAX_KINDS][MAX_SEEDS];
    int n_kinds;
} results;

static int run_all(const train_options *o, const study *s, results *r) {
    for (int k = 0; k < MAX_KINDS && s->kinds[k].name; k++) {
        for (int64_t seed = 0; seed < o->seeds; seed++) {
            const train_options run = options_of(o, s, &s->kinds[k], (uint64_t)seed + 1);
            const int code = run_one(&run, &r->of[k][seed]);
            if (code != CLI_OK) return code;
        }
        if (!o->common.json) print_row(&s->kinds[k], r->of[k], o->seeds);
        r->n_kinds++;
    }
    return CLI_OK;
}

static int finish(const train_options *o, const study *s, const results *r) {
    const int64_t same = s->compare_bits ? count_same(r->of[0], r->of[1], o->seeds) : -1;
    if (!o->common.json) {
        if (same >= 0)
            printf("\nweights after training identical to the bit: %lld of %lld seeds\n",
                   (long long)same, (long long)o->seeds);
        return CLI_OK;
    }
    json_t *kinds = json_array();
    for (int k = 0; k < r->n_kinds; k++)
        json_array_append_new(kinds, outcomes_json(&s->kinds[k], r->of[k], o->seeds));
    json_t *root =
        json_pack("{s:s, s:s, s:o}", "study", s->name, "question", s->question, "kinds", kinds);
    if (same >= 0) json_object_set_new(root, "identical_seeds", json_integer((json_int_t)same));
    return out_json(root);
}

static const char *study_name(const void *arg, size_t i) {
    (void)arg;
    return studies[i].name;
}

int train_study(const train_options *o) {
    const study *s = NULL;
    for (size_t i = 0; i < N_STUDIES; i++)
        if (strcmp(studies[i].name, o->study) == 0) s = &studies[i];
    if (!s) {
        const char *meant = cli_nearest(o->study, N_STUDIES, study_name, NULL);
        out_error("train", "--study %s: expected layers, scaling, temperature or causal%s%s%s",
                  o->study, meant ? ". Did you mean " : "", meant ? meant : "", meant ? "?" : "");
        return CLI_USAGE;
    }
    results *r = calloc(1, sizeof *r);
    if (!r) {
        out_error("train", "out of memory");
        return CLI_FAILED;
    }
    if (!o->common.json) print_head(s, o);
    int code = run_all(o, s, r);
    if (code == CLI_OK) code = finish(o, s, r);
    free(r);
    return code;
}
