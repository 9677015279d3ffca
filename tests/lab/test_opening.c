/* SPDX-License-Identifier: Apache-2.0 */
/* test_opening.c - the criterion that chose the seed of the whois model (docs/training.md): in the
 * sentence that the documents open with, for both adjectives, the mean of the last layer's heads
 * gives more than 90 % of the weight from "it" to the phrase of what it refers to, and the answer
 * is right. The model is the one that `attn train whois` makes and that comes with the page
 * (web/tests/engine.test.mjs checks that file). */
#include "check.h"

#include "learning/training.h"
#include "models/look.h"

enum { N = 11, IT = 7, PHRASE = 2 };

static lab_training run;

static const attni_model *shipped(void) {
    if (run.trainer) return lab_trainer_model(run.trainer);
    run = (lab_training){.options = lab_trainer_defaults(lab_task_named("whois")),
                         .goal = LAB_TRAINING_GOAL,
                         .every = LAB_TRAINING_EVERY};
    if (lab_training_run(&run, NULL) != ATTN_OK) check_failed(__FILE__, __LINE__, "not trained");
    return run.trainer ? lab_trainer_model(run.trainer) : NULL;
}

__attribute__((destructor)) static void free_run(void) { lab_trainer_destroy(run.trainer); }

static void check_adjective(const char *adjective, const char *referent, int phrase) {
    const char *const words[N] = {"The",     "cat", "sat", "on",      "the", "mat",
                                  "because", "it",  "was", adjective, "."};
    const attni_model *model = shipped();
    int32_t tokens[N], best;
    double weight = 0, chance;
    attni_look look;
    if (!model) return;
    for (int i = 0; i < N; i++) tokens[i] = attni_model_word(model, words[i], strlen(words[i]));
    CHECK_INT(attni_model_look(model, tokens, N, &look, NULL), ATTN_OK);
    const float *mean = attni_look_matrix(&look, ATTNI_SHOW_MEAN, model->config.layers - 1, 0);
    for (int j = phrase; j < phrase + PHRASE; j++) weight += (double)mean[IT * N + j];
    CHECK_MSG(weight > 0.9, "%s: the phrase of %s gets %g", adjective, referent, weight);
    attni_likeliest(attni_look_logits(&look, IT, 0), look.n_words, 1, &best, &chance);
    CHECK_STR(model->words[best], referent);
    CHECK(chance > 0.9);
    attni_look_free(&look);
}

TEST(tired_it_looks_at_the_cat) { check_adjective("tired", "cat", 0); }
TEST(dirty_it_looks_at_the_mat) { check_adjective("dirty", "mat", 4); }

TEST(the_seed_is_the_one_that_is_documented) {
    CHECK_INT(LAB_TASK_SEED, 42);
    if (shipped()) CHECK_INT((int64_t)shipped()->seed, LAB_TASK_SEED);
}

TEST(the_model_answers_new_sentences) {
    if (!shipped()) return;
    CHECK_MSG(run.now.accuracy > 0.999, "accuracy %g", run.now.accuracy);
    CHECK_MSG(run.now.without_right < 0.05, "phrase hidden %g", run.now.without_right);
}
