/* SPDX-License-Identifier: Apache-2.0 */
/* study.c - see study.h. To add a study, add a row to lab_studies. */
#include "study.h"

#include "core/hash.h"
#include "steps/attend.h"

#include <math.h>
#include <string.h>

enum { EVERY = 50 };
static const double goal = 0.99;

const lab_study lab_studies[LAB_N_STUDIES] = {
    {.name = "layers",
     .question = "Does whois need two layers?",
     .steps = 2000,
     .kinds = {{"1 layer", LAB_SCALINGS, .layers = 1}, {"2 layers", LAB_SCALINGS, .layers = 2}}},
    {.name = "scaling",
     .question = "What does the scale of the scores do at d_k 16 and 128?",
     .steps = 1200,
     .kinds = {{"d_k 16, 1/sqrt(d_k)", LAB_SCALE_SQRT, .d_k = 16},
               {"d_k 16, none", LAB_SCALE_NONE, .d_k = 16},
               {"d_k 16, 1/d_k", LAB_SCALE_D_K, .d_k = 16},
               {"d_k 128, 1/sqrt(d_k)", LAB_SCALE_SQRT, .d_k = 128},
               {"d_k 128, none", LAB_SCALE_NONE, .d_k = 128},
               {"d_k 128, 1/d_k", LAB_SCALE_D_K, .d_k = 128}}},
    {.name = "temperature",
     .question = "Is temperature 0.25 at d_k 16 the same as no scaling?",
     .steps = 600,
     .kinds = {{"d_k 16, temperature 0.25", LAB_SCALE_SQRT, .d_k = 16, .temperature = 0.25},
               {"d_k 16, none", LAB_SCALE_NONE, .d_k = 16}},
     .compare_bits = true},
    {.name = "causal",
     .question = "Can whois be solved at \"it\" when no token sees a later one?",
     .steps = 1200,
     .kinds = {{"every token sees all", LAB_SCALINGS, .causal = false},
               {"causal", LAB_SCALINGS, .causal = true}}},
};

const lab_study *lab_study_named(const char *name) {
    for (size_t i = 0; i < LAB_N_STUDIES; i++)
        if (strcmp(lab_studies[i].name, name) == 0) return &lab_studies[i];
    return NULL;
}

static void apply(const lab_study_kind *kind, lab_trainer_options *options) {
    if (kind->layers) options->layers = kind->layers;
    if (kind->d_k) options->d_k = kind->d_k;
    if (kind->temperature > 0) options->temperature = kind->temperature;
    options->causal = options->causal || kind->causal;
    if (kind->scale != LAB_SCALINGS) lab_scaling_train(kind->scale, options);
}

static lab_study_outcome outcome_of(const lab_training *training) {
    const lab_evaluation *now = &training->now;
    const attni_model *model = lab_trainer_model(training->trainer);
    const size_t bytes = model->parameters.total * sizeof *model->weights;
    return (lab_study_outcome){
        .accuracy = now->accuracy,
        .selectivity = lab_evaluation_selectivity(now),
        .without_right = now->without_right,
        .without_rival = now->without_rival,
        .steps = (double)training->step.step,
        .solved_at = training->solved_at < 0 ? INFINITY : (double)training->solved_at,
        .fingerprint = attni_fnv1a(ATTNI_FNV1A_BEGIN, model->weights, bytes)};
}

attn_status lab_study_run(const lab_study_kind *kind, uint64_t seed, lab_training *training,
                          lab_study_outcome *outcome, attn_error *err) {
    training->options.seed = seed;
    training->goal = goal;
    training->every = EVERY;
    apply(kind, &training->options);
    const attn_status status = lab_training_run(training, err);
    if (status == ATTN_OK) *outcome = outcome_of(training);
    lab_trainer_destroy(training->trainer);
    training->trainer = NULL;
    return status;
}

/* --------------------------------------------------------------------------------------- spread */

lab_spread lab_study_spread(const lab_study_outcome *outcomes, int64_t n, size_t field) {
    double values[LAB_STUDY_SEEDS];
    for (int64_t i = 0; i < n; i++)
        memcpy(&values[i], (const char *)&outcomes[i] + field, sizeof *values);
    const double median = lab_median(values, n); /* sorts */
    return (lab_spread){median, values[0], values[n - 1]};
}

int64_t lab_study_solved(const lab_study_outcome *outcomes, int64_t n) {
    int64_t solved = 0;
    for (int64_t i = 0; i < n; i++) solved += isfinite(outcomes[i].solved_at);
    return solved;
}

int64_t lab_study_same_bits(const lab_study_outcome *a, const lab_study_outcome *b, int64_t n) {
    int64_t same = 0;
    for (int64_t i = 0; i < n; i++) same += a[i].fingerprint == b[i].fingerprint;
    return same;
}
