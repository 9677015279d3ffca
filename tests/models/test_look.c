/* SPDX-License-Identifier: Apache-2.0 */
/* test_look.c - a look at a model: masks, scale, temperature, heads off, aggregates, answers,
 * gradients. Expected values: properties, sums written out in double, finite differences. */
#include "check.h"

#include "models/look.h"

enum { N = 6, LAYERS = 2, HEADS = 3, WORDS = 7, SLOTS = 2, D = 8, D_K = 4, CELLS = N * N };

static const char *const words[WORDS] = {"a", "b", "c", "d", "e", "f", "g"};
static const int32_t tokens[N] = {3, 0, 6, 1, 4, 5}; /* each word once */

static attn_ctx *context(void) {
    static attn_ctx *ctx;
    if (!ctx) attn_ctx_create(NULL, &ctx, NULL);
    return ctx;
}

static void must(bool holds, const char *what) { CHECK_MSG(holds, "%s", what); }

static attni_model new_model(void) {
    const attni_model_config config = {.n_words = WORDS,
                                       .length = N,
                                       .layers = LAYERS,
                                       .heads = HEADS,
                                       .d = D,
                                       .d_k = D_K,
                                       .d_hidden = 12,
                                       .slots = SLOTS,
                                       .scale = ATTN_SCALE_AUTO,
                                       .temperature = 1};
    attni_model model;
    must(attni_model_create(&config, words, 5, &model, NULL) == ATTN_OK, "a model");
    return model;
}

static attni_look look_at(const attni_model *model, const attni_look_input *in) {
    attni_look look;
    attn_error error = {""};
    must(attni_look_at(context(), model, in, &look, &error) == ATTN_OK, error.message);
    return look;
}

static int index_of(const attni_model *model, const char *name) {
    int i = 0;
    while (strcmp(model->parameters.list[i].name, name) != 0) i++;
    return i;
}

static size_t offset_of(const attni_model *model, const char *name) {
    return model->parameters.list[index_of(model, name)].offset;
}

/* --------------------------------------------------------------------------------------- masks */

static void check_masked(const attni_look *look, bool (*sees)(int i, int j)) {
    for (int row = 0; row < LAYERS * HEADS * N; row++) {
        double sum = 0;
        int seen = 0;
        for (int j = 0; j < N; j++) {
            const bool visible = sees(row % N, j);
            sum += (double)look->weights[row * N + j];
            seen += visible;
            CHECK_INT(look->visible[row % N * N + j], visible);
            CHECK((look->weights[row * N + j] > 0) == visible);
            CHECK((look->scores[row * N + j] == -INFINITY) == !visible);
        }
        CHECK_NEAR(sum, seen > 0, N * 6e-8);
    }
}

static bool sees_all(int i, int j) { return i >= 0 && j >= 0; }
static bool sees_before(int i, int j) { return j <= i; }
static bool sees_near(int i, int j) { return j - i <= 1 && i - j <= 1; }
static bool sees_unpadded(int i, int j) { return i >= 0 && j < N - 2; }
static bool sees_given(int i, int j) { return i != 4 || j == 3; }
static bool sees_near_before_unpadded(int i, int j) {
    return sees_near(i, j) && sees_before(i, j) && sees_unpadded(i, j);
}

TEST(masked_weights_are_exactly_zero_and_rows_sum_to_one) {
    uint8_t given[CELLS];
    attni_model model = new_model();
    attni_look_input in[6];
    for (int i = 0; i < 6; i++) in[i] = attni_look_input_of(&model, tokens, N);
    for (int i = 0; i < CELLS; i++) given[i] = sees_given(i / N, i % N);
    bool (*const sees[6])(int, int) = {sees_all,      sees_before, sees_near,
                                       sees_unpadded, sees_given,  sees_near_before_unpadded};
    in[1].causal = in[5].causal = true;
    in[2].window = in[5].window = 1;
    in[3].padding = in[5].padding = 2;
    in[4].visible = given;
    for (int i = 0; i < 6; i++) {
        attni_look look = look_at(&model, &in[i]);
        check_masked(&look, sees[i]);
        attni_look_free(&look);
    }
    attni_model_free(&model);
}

TEST(a_causal_model_reads_as_it_was_trained_unless_told_otherwise) {
    attni_model model = new_model();
    model.config.causal = true;
    attni_look_input in = attni_look_input_of(&model, tokens, N);
    attni_look look = look_at(&model, &in);
    check_masked(&look, sees_before);
    attni_look_free(&look);
    in.causal = false;
    look = look_at(&model, &in);
    check_masked(&look, sees_all);
    attni_look_free(&look);
    attni_model_free(&model);
}

TEST(scores_times_scale_over_temperature) {
    attni_model model = new_model();
    attni_look_input in = attni_look_input_of(&model, tokens, N);
    attni_look plain = look_at(&model, &in);
    in.scale = 1;
    in.temperature = 2; /* sqrt(d_k) */
    attni_look same = look_at(&model, &in);
    in.temperature = 1e9;
    attni_look level = look_at(&model, &in);
    for (int i = 0; i < LAYERS * HEADS * CELLS; i++) {
        CHECK_NEAR((double)same.weights[i], (double)plain.weights[i], 1e-6);
        CHECK_NEAR((double)level.weights[i], 1.0 / N, 1e-6);
    }
    attni_look_free(&plain);
    attni_look_free(&same);
    attni_look_free(&level);
    attni_model_free(&model);
}

/* -------------------------------------------------------------------------------------- heads */

TEST(a_head_that_is_off_adds_nothing) {
    static const int32_t off[] = {1 * HEADS + 2};
    attni_model model = new_model(), without = new_model();
    attni_look_input in = attni_look_input_of(&model, tokens, N);
    float *w_o = without.weights + offset_of(&without, "layers.1.attention.w_o");
    memset(w_o + 2 * D_K * D, 0, D_K * D * sizeof *w_o);
    attni_look expected = look_at(&without, &in), on = look_at(&model, &in);
    in.off = off;
    in.n_off = 1;
    attni_look look = look_at(&model, &in);
    CHECK(memcmp(look.logits, expected.logits, N * SLOTS * WORDS * sizeof(float)) == 0);
    CHECK(memcmp(look.logits, on.logits, N * SLOTS * WORDS * sizeof(float)) != 0);
    CHECK(memcmp(look.weights, on.weights, LAYERS * HEADS * CELLS * sizeof(float)) == 0);
    attni_look_free(&expected);
    attni_look_free(&on);
    attni_look_free(&look);
    attni_model_free(&without);
    attni_model_free(&model);
}

TEST(with_every_head_off_no_token_matters_to_another) {
    static const int32_t off[] = {0, 1, 2, 3, 4, 5}, others[N] = {3, 1, 1, 2, 0, 0};
    attni_model model = new_model();
    attni_look_input in = attni_look_input_of(&model, tokens, N);
    in.off = off;
    in.n_off = LAYERS * HEADS;
    attni_look look = look_at(&model, &in);
    in.tokens = others; /* the first one is the same */
    attni_look changed = look_at(&model, &in);
    CHECK(memcmp(look.logits, changed.logits, SLOTS * WORDS * sizeof(float)) == 0);
    attni_look_free(&look);
    attni_look_free(&changed);
    attni_model_free(&model);
}

/* ---------------------------------------------------------------------------------- aggregates */

/* Over the heads of one layer. */
static double mean_of(const attni_look *look, int l, int cell) {
    double sum = 0;
    for (int h = 0; h < HEADS; h++) sum += (double)look->weights[(l * HEADS + h) * CELLS + cell];
    return sum / HEADS;
}

static double largest_of(const attni_look *look, int l, int cell) {
    double most = 0;
    for (int h = 0; h < HEADS; h++)
        most = fmax(most, (double)look->weights[(l * HEADS + h) * CELLS + cell]);
    return most;
}

TEST(aggregates_are_those_of_the_weights) {
    attni_model model = new_model();
    const attni_look_input in = attni_look_input_of(&model, tokens, N);
    attni_look look = look_at(&model, &in);
    for (int l = 0; l < LAYERS; l++) {
        const float *head = attni_look_matrix(&look, ATTNI_SHOW_HEAD, l, 1);
        const float *mean = attni_look_matrix(&look, ATTNI_SHOW_MEAN, l, 0);
        const float *most = attni_look_matrix(&look, ATTNI_SHOW_MAX, l, 0);
        CHECK(head == look.weights + (l * HEADS + 1) * CELLS);
        for (int i = 0; i < CELLS; i++) {
            CHECK_NEAR((double)mean[i], mean_of(&look, l, i), 1e-7);
            CHECK(most[i] == (float)largest_of(&look, l, i));
        }
    }
    CHECK(!attni_look_matrix(&look, ATTNI_SHOW_GRADIENT, 0, 0));
    attni_look_free(&look);
    attni_model_free(&model);
}

TEST(rollout_is_the_product_of_half_the_mean_and_half_the_identity) {
    attni_model model = new_model();
    const attni_look_input in = attni_look_input_of(&model, tokens, N);
    attni_look look = look_at(&model, &in);
    const float *rollout = attni_look_matrix(&look, ATTNI_SHOW_ROLLOUT, 0, 0);
    for (int i = 0; i < CELLS; i++) {
        double sum = 0;
        for (int k = 0; k < N; k++) {
            const double second = mean_of(&look, 1, i / N * N + k) + (i / N == k);
            sum += second * (mean_of(&look, 0, k * N + i % N) + (k == i % N)) / 4;
        }
        CHECK_NEAR((double)rollout[i], sum, 1e-6);
    }
    attni_look_free(&look);
    attni_model_free(&model);
}

TEST(entropy_is_that_of_the_weights) {
    attni_model model = new_model();
    const attni_look_input in = attni_look_input_of(&model, tokens, N);
    attni_look look = look_at(&model, &in);
    for (int row = 0; row < LAYERS * HEADS * N; row++) {
        double sum = 0;
        for (int j = 0; j < N; j++) {
            const double w = (double)look.weights[row * N + j];
            sum -= w * log(w);
        }
        CHECK_NEAR((double)look.entropy[row], sum, 1e-5);
    }
    attni_look_free(&look);
    attni_model_free(&model);
}

/* ------------------------------------------------------------------------------------- answers */

TEST(the_likeliest_words_come_first_with_their_probabilities) {
    static const float logits[] = {1, -2, 3, 3, 0.5f, 700, -700};
    static const int32_t expected[] = {5, 2, 3};
    int32_t word[WORDS];
    double probability[WORDS];
    attni_likeliest(logits, 5, 3, word, probability); /* without the last two */
    double sum = 0;
    for (int w = 0; w < 5; w++) sum += exp((double)logits[w]);
    CHECK_INT(word[0], 2);
    CHECK_INT(word[1], 3);
    CHECK_INT(word[2], 0);
    CHECK_NEAR(probability[0], exp(3) / sum, 1e-15);
    CHECK_NEAR(probability[2], exp(1) / sum, 1e-15);
    CHECK_NEAR(attni_probability(logits, 5, 1), exp(-2) / sum, 1e-15);
    attni_likeliest(logits, WORDS, 3, word, probability);
    for (int i = 0; i < 3; i++) CHECK_INT(word[i], expected[i]);
    CHECK(probability[0] == 1 && attni_probability(logits, WORDS, 6) == 0);
    attni_likeliest(logits, 1, 1, word, probability);
    CHECK(word[0] == 0 && probability[0] == 1);
}

/* ------------------------------------------------------------------------------------ gradients */

enum { ASKED = 3 };

/* The cross-entropy, over the slots, of the answers that the look `base` gives. */
static double loss_of(const attni_model *model, const attni_look_input *in,
                      const attni_look *base) {
    attni_look_input plain = *in;
    plain.gradient_at = -1;
    attni_look look = look_at(model, &plain);
    double loss = 0;
    for (int s = 0; s < SLOTS; s++) {
        int32_t answer;
        double probability;
        attni_likeliest(attni_look_logits(base, ASKED, s), WORDS, 1, &answer, &probability);
        loss -= log(attni_probability(attni_look_logits(&look, ASKED, s), WORDS, answer));
    }
    attni_look_free(&look);
    return loss;
}

/* The norm of the loss's gradient over `n` weights from `at` on, by central differences. Floats
 * carry 1e-7 of a loss near 2, so that a step of 1e-2 leaves 1e-5 for each weight. */
static double slope(attni_model *model, const attni_look_input *in, const attni_look *base,
                    size_t at, int n) {
    const float step = 0x1p-7f;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        float *weight = &model->weights[at + (size_t)i];
        const float before = *weight;
        *weight = before + step;
        const double above = loss_of(model, in, base);
        *weight = before - step;
        const double d = (above - loss_of(model, in, base)) / (2 * (double)step);
        *weight = before;
        sum += d * d;
    }
    return sqrt(sum);
}

TEST(gradients_are_those_of_finite_differences) {
    static const char *const names[] = {"layers.0.attention.b_v", "layers.1.attention.b_o",
                                        "layers.0.mlp.b_up", "output.b"};
    static const int counts[] = {HEADS * D_K, D, 12, SLOTS * WORDS};
    attni_model model = new_model();
    attni_look_input in = attni_look_input_of(&model, tokens, N);
    in.window = 2;
    in.gradient_at = ASKED;
    attni_look look = look_at(&model, &in);
    CHECK_INT(look.n_parameters, model.parameters.n);
    for (int p = 0; p < 4; p++) {
        const double found = look.by_parameter[index_of(&model, names[p])];
        const double expected = slope(&model, &in, &look, offset_of(&model, names[p]), counts[p]);
        CHECK_NEAR(found, expected, 2e-3 * expected + 1e-4);
    }
    const size_t embeddings = offset_of(&model, "embedding.words");
    for (int i = 0; i < N; i++) {
        const size_t at = embeddings + (size_t)(tokens[i] * D);
        const double expected = slope(&model, &in, &look, at, D);
        CHECK_NEAR((double)look.by_position[i], expected, 2e-3 * expected + 1e-4);
    }
    attni_look_free(&look);
    attni_model_free(&model);
}

/* In the last layer, with a window of 0, the one weight of the asked row is 1, and what it does for
 * the loss is what scaling its head's rows of W_O does. */
TEST(weights_times_gradient_are_what_scaling_a_head_does_for_the_loss) {
    attni_model model = new_model();
    attni_look_input in = attni_look_input_of(&model, tokens, N);
    in.window = 0;
    in.gradient_at = ASKED;
    attni_look look = look_at(&model, &in);
    float *w_o = model.weights + offset_of(&model, "layers.1.attention.w_o");
    float mean = 0;
    for (int h = 0; h < HEADS; h++) {
        float before[D_K * D], *rows = w_o + h * D_K * D;
        double loss[2];
        memcpy(before, rows, sizeof before);
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < D_K * D; i++)
                rows[i] = before[i] * (side ? 1 + 0x1p-6f : 1 - 0x1p-6f);
            loss[side] = loss_of(&model, &in, &look);
        }
        memcpy(rows, before, sizeof before);
        const float found = look.weighted[((HEADS + h) * N + ASKED) * N + ASKED];
        CHECK_NEAR((double)found, fmax(0, (loss[0] - loss[1]) * 32), 1e-3);
        mean += found / HEADS;
    }
    const float *all = attni_look_matrix(&look, ATTNI_SHOW_GRADIENT, 1, 0);
    CHECK(mean > 0);
    for (int i = 0; i < CELLS; i++)
        CHECK_NEAR((double)all[i], i == ASKED * N + ASKED ? (double)mean : 0, 1e-7);
    attni_look_free(&look);
    attni_model_free(&model);
}

/* ------------------------------------------------------------------------------------- refusals */

static void check_refused(const attni_model *model, const attni_look_input *in, const char *says) {
    attni_look look;
    attn_error error = {""};
    CHECK_INT(attni_look_at(context(), model, in, &look, &error), ATTN_E_VALUE);
    CHECK_MSG(strstr(error.message, says), "%s", error.message);
    CHECK(!look.memory);
}

TEST(texts_that_are_too_long_or_empty_and_rows_that_are_not_there_are_refused) {
    static const int32_t many[N + 1] = {0}, none[1] = {WORDS};
    attni_model model = new_model();
    attni_look_input in = attni_look_input_of(&model, many, N + 1);
    check_refused(&model, &in, "expected up to 6");
    in.n = 0;
    check_refused(&model, &in, "expected up to 6");
    in = attni_look_input_of(&model, none, 1);
    check_refused(&model, &in, "7");
    in = attni_look_input_of(&model, tokens, N);
    in.gradient_at = N;
    check_refused(&model, &in, "gradient at token 6 of 6");
    attni_model_free(&model);
}
