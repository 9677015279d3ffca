/* SPDX-License-Identifier: Apache-2.0 */
/* test_transformer.c - the whole model in double precision: its outputs against plain loops by
 * the formula, its gradients against central differences, and properties that hold for any such
 * model. */
#define ATTNI_REAL_f64
#include "transformer_case.h"

#include <stdio.h>

/* ------------------------------------------------------------------------- forward by the book */

enum { LAYERS = 2, D = 6, DK = 5, HEADS = 2, HIDDEN = 9 };

static const double *find(const transformer_case *c, const char *name) {
    for (int i = 0; i < c->run.parameters.n; i++)
        if (strcmp(c->run.parameters.list[i].name, name) == 0)
            return c->weights + c->run.parameters.list[i].offset;
    return NULL;
}

static const double *find_in(const transformer_case *c, int layer, const char *name) {
    char full[80];
    snprintf(full, sizeof full, "layers.%d.%s", layer, name);
    return find(c, full);
}

/* y (n_out) = x (n_in) W + b */
static void apply(const double *x, const double *w, const double *b, int n_in, int n_out,
                  double *y) {
    for (int o = 0; o < n_out; o++) {
        y[o] = b[o];
        for (int i = 0; i < n_in; i++) y[o] += x[i] * w[i * n_out + o];
    }
}

static void normalise(const double *x, const double *gain, const double *bias, double *y) {
    double mean = 0, variance = 0;
    for (int i = 0; i < D; i++) mean += x[i] / (double)D;
    for (int i = 0; i < D; i++) variance += (x[i] - mean) * (x[i] - mean) / (double)D;
    for (int i = 0; i < D; i++) y[i] = gain[i] * (x[i] - mean) / sqrt(variance + 1e-5) + bias[i];
}

static double gelu(double x) {
    return 0.5 * x * (1 + tanh(sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}

static bool has(const attni_model_config *config, const char *positions) {
    return strcmp(attni_positions_name(config->positions.kind), positions) == 0;
}

/* What is added to column t of the embedding at position i. */
static double embedded_position(const transformer_case *c, int i, int t) {
    const attni_positions *how = &c->run.config.positions;
    if (has(&c->run.config, "learned"))
        return find(c, "embedding.positions")[(how->first_row + i) * D + t];
    if (!has(&c->run.config, "sinusoidal")) return 0;
    const int pair = how->interleaved ? t / 2 : t % (D / 2);
    const bool is_sine = how->interleaved ? t % 2 == 0 : t < D / 2;
    const double angle = i * pow(how->base, -2.0 * pair / D);
    return is_sine ? sin(angle) : cos(angle);
}

/* Rotates a query or key (HEADS, DK) at position i, with complex numbers' rule for each pair. */
static void rotate(const attni_model_config *config, int i, double *x) {
    const attni_positions *how = &config->positions;
    const int width = how->rotary ? (int)how->rotary : DK - DK % 2;
    if (!has(config, "rope")) return;
    for (int h = 0; h < HEADS; h++)
        for (int p = 0; p < width / 2; p++) {
            double *a = x + h * DK + (how->interleaved ? 2 * p : p);
            double *b = how->interleaved ? a + 1 : a + width / 2, before = *a;
            const double angle = i / how->factor * pow(how->base, -2.0 * p / width);
            *a = before * cos(angle) - *b * sin(angle);
            *b = before * sin(angle) + *b * cos(angle);
        }
}

/* The bucket of T5 for distances below 5: with 32 buckets each distance has its own; with 4 (up to
 * distance 4) a decoder has ranges 0, 1, 2, 3 .., an encoder 0 and 1 .. in each direction. */
static int bucket(const attni_model_config *config, int i, int j) {
    static const int of_four[CASE_N] = {0, 1, 2, 3, 3};
    const int distance = abs(i - j), after = j > i ? (int)config->positions.buckets / 2 : 0;
    if (config->positions.buckets == 32) return distance + (config->causal ? 0 : after);
    return config->causal ? of_four[distance] : (distance > 0) + after;
}

/* What is added to the score of query i and key j. */
static double position_bias(const transformer_case *c, int h, int i, int j) {
    const attni_model_config *config = &c->run.config;
    if (has(config, "alibi")) return -abs(i - j) * (h == 0 ? 1.0 / 16 : 1.0 / 256);
    if (!has(config, "t5")) return 0;
    return find(c, "attention.relative_bias")[bucket(config, i, j) * HEADS + h];
}

/* x (CASE_N, D) += attention(norm x) of one text; weights (HEADS, CASE_N, CASE_N) are kept. */
static void attend(const transformer_case *c, int l, double x[CASE_N][D],
                   double weights[HEADS][CASE_N][CASE_N]) {
    double normed[D], q[CASE_N][HEADS * DK], k[CASE_N][HEADS * DK], v[CASE_N][HEADS * DK];
    double concat[CASE_N][HEADS * DK] = {{0}}, added[D];
    const attni_model_config *config = &c->run.config;
    for (int i = 0; i < CASE_N; i++) {
        normalise(x[i], find_in(c, l, "norm_1.gain"), find_in(c, l, "norm_1.bias"), normed);
        apply(normed, find_in(c, l, "attention.w_q"), find_in(c, l, "attention.b_q"), D, HEADS * DK,
              q[i]);
        apply(normed, find_in(c, l, "attention.w_k"), find_in(c, l, "attention.b_k"), D, HEADS * DK,
              k[i]);
        apply(normed, find_in(c, l, "attention.w_v"), find_in(c, l, "attention.b_v"), D, HEADS * DK,
              v[i]);
        rotate(config, i, q[i]);
        rotate(config, i, k[i]);
    }
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < CASE_N; i++) {
            double sum = 0;
            for (int j = 0; j < CASE_N; j++) {
                double score = 0;
                for (int t = 0; t < DK; t++) score += q[i][h * DK + t] * k[j][h * DK + t];
                const bool seen = !config->causal || j <= i;
                score = score / sqrt(DK) + position_bias(c, h, i, j);
                weights[h][i][j] = seen ? exp(score / config->temperature) : 0;
                sum += weights[h][i][j];
            }
            for (int j = 0; j < CASE_N; j++) {
                weights[h][i][j] /= sum;
                for (int t = 0; t < DK; t++)
                    concat[i][h * DK + t] += weights[h][i][j] * v[j][h * DK + t];
            }
        }
    for (int i = 0; i < CASE_N; i++) {
        apply(concat[i], find_in(c, l, "attention.w_o"), find_in(c, l, "attention.b_o"), HEADS * DK,
              D, added);
        for (int t = 0; t < D; t++) x[i][t] += added[t];
    }
}

static void feed(const transformer_case *c, int l, double x[CASE_N][D]) {
    double normed[D], hidden[HIDDEN], added[D];
    for (int i = 0; i < CASE_N; i++) {
        normalise(x[i], find_in(c, l, "norm_2.gain"), find_in(c, l, "norm_2.bias"), normed);
        apply(normed, find_in(c, l, "mlp.w_up"), find_in(c, l, "mlp.b_up"), D, HIDDEN, hidden);
        for (int t = 0; t < HIDDEN; t++) hidden[t] = gelu(hidden[t]);
        apply(hidden, find_in(c, l, "mlp.w_down"), find_in(c, l, "mlp.b_down"), HIDDEN, D, added);
        for (int t = 0; t < D; t++) x[i][t] += added[t];
    }
}

/* The residual stream of text b after all layers, and the weights of each. */
static void by_the_book(const transformer_case *c, int b, double x[CASE_N][D],
                        double weights[LAYERS][HEADS][CASE_N][CASE_N]) {
    for (int i = 0; i < CASE_N; i++)
        for (int t = 0; t < D; t++)
            x[i][t] = find(c, "embedding.words")[c->tokens[b * CASE_N + i] * D + t] +
                      embedded_position(c, i, t);
    for (int l = 0; l < LAYERS; l++) {
        attend(c, l, x, weights[l]);
        feed(c, l, x);
    }
}

static void check_forward(bool causal, attni_positions positions) {
    const attni_model_config config = case_config_with(causal, positions);
    transformer_case c;
    CHECK(case_begin(&c, &config));
    CHECK(case_loss(&c, false) > 0);
    for (int a = 0; a < CASE_B * CASE_ASKED; a++) {
        double x[CASE_N][D], weights[LAYERS][HEADS][CASE_N][CASE_N], normed[D];
        double logits[CASE_SLOTS * CASE_WORDS];
        by_the_book(&c, a / CASE_ASKED, x, weights);
        normalise(x[CASE_FIRST + a % CASE_ASKED], find(&c, "norm.gain"), find(&c, "norm.bias"),
                  normed);
        apply(normed, find(&c, "output.w"), find(&c, "output.b"), D, CASE_SLOTS * CASE_WORDS,
              logits);
        for (int i = 0; i < CASE_SLOTS * CASE_WORDS; i++)
            CHECK_NEAR(c.run.value.logits[a * CASE_SLOTS * CASE_WORDS + i], logits[i], 1e-12);
    }
    case_end(&c);
}

static void check_encoder(attni_positions positions) { check_forward(false, positions); }
static void check_decoder(attni_positions positions) { check_forward(true, positions); }

/* Every kind as it is by default, then settings that real models choose otherwise. */
static void check_any_positions(void (*check)(attni_positions)) {
    static const char *const names[] = {"learned", "sinusoidal", "rope", "rope", "t5"};
    enum { N_OTHERS = sizeof names / sizeof *names };
    attni_positions others[N_OTHERS];
    for (int i = 0; i < N_OTHERS; i++) others[i] = case_positions(names[i]);
    others[0].first_row = 2;
    others[1].interleaved = false;
    others[2].interleaved = true;
    others[2].base = 500;
    others[3].rotary = 2;
    others[3].factor = 4;
    others[4].buckets = others[4].max_distance = 4;
    for (int kind = 0; kind < attni_positions_count(); kind++) {
        const char *name = attni_positions_name(kind);
        check(case_positions(name));
        CHECK_MSG(!check_has_failed(), "%s: is the formula of this kind above?", name);
    }
    for (int i = 0; i < N_OTHERS && !check_has_failed(); i++) check(others[i]);
}

TEST(an_encoder_computes_its_formula_with_any_positions) { check_any_positions(check_encoder); }

TEST(a_decoder_computes_its_formula_with_any_positions) { check_any_positions(check_decoder); }

static void check_taps(attni_positions positions) {
    const attni_model_config config = case_config_with(true, positions);
    transformer_case c;
    double x[CASE_N][D], expected[LAYERS][HEADS][CASE_N][CASE_N];
    double weights[CASE_B][HEADS][CASE_ASKED][CASE_N];
    attn_inspection what;
    CHECK(case_begin(&c, &config));
    CHECK(case_loss(&c, false) > 0);
    by_the_book(&c, 1, x, expected);
    for (int l = 0; l < LAYERS; l++) {
        const attn_args args = R(transformer_attention)(&c.run, &c.text, l);
        attn_inspection_init(&what);
        what.weights = attn_tensor_bhsd(weights, ATTN_F64, CASE_B, HEADS, CASE_ASKED, CASE_N);
        CHECK_INT(attn_inspect(c.ctx, &args, &what, NULL), ATTN_OK);
        for (int h = 0; h < HEADS; h++)
            for (int i = 0; i < CASE_ASKED; i++)
                for (int j = 0; j < CASE_N; j++)
                    CHECK_NEAR(weights[1][h][i][j], expected[l][h][CASE_FIRST + i][j], 1e-12);
    }
    case_end(&c);
}

TEST(the_taps_give_the_weights_of_attention_with_any_positions) { check_any_positions(check_taps); }

/* ----------------------------------------------------------------------------------- gradients */

/* Central differences with h = 1e-6: truncation about h^2 = 1e-12 times the third derivative,
 * rounding about 1e-16 * loss / h = 2e-10; losses and derivatives here are of order 1. */
static void check_gradients(const attni_model_config *config, const uint8_t *visible) {
    const double h = 1e-6, tolerance = 1e-8;
    transformer_case c;
    CHECK(case_begin(&c, config));
    c.text.visible = visible;
    CHECK(case_loss(&c, true) > 0);
    for (int p = 0; p < c.run.parameters.n; p++) {
        const attni_parameter *parameter = &c.run.parameters.list[p];
        for (size_t i = parameter->offset; i < parameter->offset + parameter->count; i++) {
            const double before = c.weights[i];
            c.weights[i] = before + h;
            const double above = case_loss(&c, false);
            c.weights[i] = before - h;
            const double below = case_loss(&c, false);
            c.weights[i] = before;
            const double expected = (above - below) / (2 * h);
            CHECK_MSG(check_is_near(c.dweights[i], expected, tolerance),
                      "%s[%zu]: %.10g, by differences %.10g", parameter->name,
                      i - parameter->offset, c.dweights[i], expected);
        }
    }
    case_end(&c);
}

TEST(gradients_of_an_encoder_are_its_differences) {
    const attni_model_config config = case_config(false);
    check_gradients(&config, NULL);
}

TEST(gradients_of_a_decoder_are_its_differences) {
    attni_model_config config = case_config(true);
    config.scale = 0.7;
    check_gradients(&config, NULL);
}

TEST(gradients_with_every_kind_of_positions_are_its_differences) {
    for (int kind = 0; kind < attni_positions_count() && !check_has_failed(); kind++) {
        const attni_positions positions = case_positions(attni_positions_name(kind));
        const attni_model_config encoder = case_config_with(false, positions);
        const attni_model_config decoder = case_config_with(true, positions);
        check_gradients(&encoder, NULL);
        check_gradients(&decoder, NULL);
    }
}

TEST(gradients_with_hidden_tokens_are_its_differences) {
    const attni_model_config config = case_config(false);
    uint8_t visible[CASE_B * CASE_N * CASE_N];
    for (size_t i = 0; i < sizeof visible; i++) visible[i] = i % 3 != 0;
    check_gradients(&config, visible);
}

TEST(gradients_of_the_residual_stream_can_be_read) {
    const double h = 1e-6;
    const attni_model_config config = case_config(false);
    transformer_case c;
    CHECK(case_begin(&c, &config));
    CHECK(case_loss(&c, true) > 0);
    /* the first residual is words + positions: moving a position moves its rows of both texts */
    const size_t at = c.run.parameters.list[ATTNI_P_POSITIONS].offset + 2 * D + 3;
    const double *d = c.run.gradient.layer[0].residual;
    const double read = d[2 * D + 3] + d[(CASE_N + 2) * D + 3];
    c.weights[at] += h;
    const double above = case_loss(&c, false);
    c.weights[at] -= 2 * h;
    const double below = case_loss(&c, false);
    CHECK_NEAR(read, (above - below) / (2 * h), 1e-8);
    case_end(&c);
}

TEST(backward_adds_to_gradients) {
    const attni_model_config config = case_config(false);
    transformer_case c;
    CHECK(case_begin(&c, &config));
    CHECK(case_loss(&c, true) > 0);
    const size_t at = c.run.parameters.list[ATTNI_P_W_OUT].offset;
    const double once = c.dweights[at];
    CHECK(once != 0 && case_loss(&c, true) > 0);
    CHECK_NEAR(c.dweights[at], 2 * once, 1e-15);
    case_end(&c);
}

/* ---------------------------------------------------------------------------------- properties */

static void check_later_tokens(attni_positions positions) {
    const attni_model_config config = case_config_with(true, positions);
    transformer_case c;
    double before[CASE_SLOTS * CASE_WORDS];
    CHECK(case_begin(&c, &config));
    CHECK(case_loss(&c, false) > 0);
    memcpy(before, c.run.value.logits, sizeof before); /* asked at token 1 of the first text */
    for (int i = 2; i < CASE_N; i++) c.tokens[i] = 0;
    CHECK(case_loss(&c, false) > 0);
    CHECK(memcmp(before, c.run.value.logits, sizeof before) == 0);
    case_end(&c);
}

TEST(a_decoder_does_not_see_what_comes_later_with_any_positions) {
    for (int kind = 0; kind < attni_positions_count() && !check_has_failed(); kind++)
        check_later_tokens(case_positions(attni_positions_name(kind)));
}

/* How much the answers at token 1 change when tokens 0 and 3 of an encoder change places. */
static double order_matters_by(const char *positions) {
    const attni_model_config config = case_config_with(false, case_positions(positions));
    transformer_case c;
    double before[CASE_SLOTS * CASE_WORDS], most = 0;
    if (!case_begin(&c, &config) || !(case_loss(&c, false) > 0)) return NAN;
    memcpy(before, c.run.value.logits, sizeof before);
    const int32_t first = c.tokens[0];
    c.tokens[0] = c.tokens[3];
    c.tokens[3] = first;
    if (!(case_loss(&c, false) > 0)) return NAN;
    for (int i = 0; i < CASE_SLOTS * CASE_WORDS; i++)
        most = fmax(most, fabs(c.run.value.logits[i] - before[i]));
    case_end(&c);
    return most;
}

TEST(an_encoder_sees_the_order_of_its_text_by_positions_only) {
    CHECK_NEAR(order_matters_by("none"), 0, 1e-13);
    for (int kind = 1; kind < attni_positions_count(); kind++) {
        const double most = order_matters_by(attni_positions_name(kind));
        CHECK_MSG(most > 1e-4, "%s: %.3g", attni_positions_name(kind), most);
    }
}

TEST(hidden_tokens_have_no_influence) {
    const attni_model_config config = case_config(false);
    transformer_case c;
    double before[CASE_SLOTS * CASE_WORDS];
    uint8_t visible[CASE_B * CASE_N * CASE_N];
    memset(visible, 1, sizeof visible);
    for (int i = 0; i < CASE_N; i++) visible[i * CASE_N + 3] = i == 3; /* only it sees itself */
    CHECK(case_begin(&c, &config));
    c.text.visible = visible;
    CHECK(case_loss(&c, false) > 0);
    memcpy(before, c.run.value.logits, sizeof before);
    c.tokens[3] = (c.tokens[3] + 1) % CASE_WORDS;
    CHECK(case_loss(&c, false) > 0);
    CHECK(memcmp(before, c.run.value.logits, sizeof before) == 0);
    c.text.visible = NULL;
    CHECK(case_loss(&c, false) > 0);
    CHECK(memcmp(before, c.run.value.logits, sizeof before) != 0);
    case_end(&c);
}

TEST(a_text_alone_and_in_a_batch_gives_the_same_bits) {
    const attni_model_config config = case_config(false);
    transformer_case c;
    double before[CASE_SLOTS * CASE_WORDS];
    CHECK(case_begin(&c, &config));
    CHECK(case_loss(&c, false) > 0);
    const size_t last = (CASE_B * CASE_ASKED - 1) * CASE_SLOTS * CASE_WORDS;
    memcpy(before, c.run.value.logits + last, sizeof before);
    const attni_text text = {.B = 1,
                             .n = CASE_N,
                             .tokens = c.tokens + CASE_N,
                             .first_asked = CASE_FIRST + CASE_ASKED - 1,
                             .n_asked = 1};
    CHECK_INT(R(transformer_forward)(c.ctx, &c.run, c.weights, &text, NULL), ATTN_OK);
    CHECK(memcmp(before, c.run.value.logits, sizeof before) == 0);
    case_end(&c);
}

/* --------------------------------------------------------------------------------------- errors */

TEST(words_that_are_none_and_texts_that_do_not_fit_are_refused) {
    const attni_model_config config = case_config(false);
    transformer_case c;
    attn_error error = {""};
    CHECK(case_begin(&c, &config));
    c.tokens[4] = CASE_WORDS;
    CHECK_INT(R(transformer_forward)(c.ctx, &c.run, c.weights, &c.text, &error), ATTN_E_VALUE);
    c.tokens[4] = 0;
    c.text.B = 3;
    CHECK_INT(R(transformer_forward)(c.ctx, &c.run, c.weights, &c.text, &error), ATTN_E_VALUE);
    c.text.B = 2;
    c.text.first_asked = CASE_N - CASE_ASKED + 1;
    CHECK_INT(R(transformer_forward)(c.ctx, &c.run, c.weights, &c.text, &error), ATTN_E_VALUE);
    CHECK(strstr(error.message, "question"));
    c.text.first_asked = -1;
    CHECK_INT(R(transformer_forward)(c.ctx, &c.run, c.weights, &c.text, &error), ATTN_E_VALUE);
    case_end(&c);
}

TEST(configurations_that_make_no_sense_are_refused) {
    const attni_model_config good = case_config(false);
    attni_model_config bad[] = {good, good, good, good, good, good};
    attni_parameters parameters;
    bad[0].layers = 0;
    bad[1].heads = -1;
    bad[2].n_words = (int64_t)1 << 40;
    bad[3].temperature = 0;
    bad[4].scale = NAN;
    bad[5].layers = 200;
    bad[5].d = bad[5].d_hidden = 65536;
    for (int i = 0; i < 6; i++) {
        attn_error error = {""};
        CHECK_INT(attni_parameters_create(&bad[i], &parameters, &error), ATTN_E_VALUE);
        CHECK(strstr(error.message, "model") && !parameters.list);
    }
}
