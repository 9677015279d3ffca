/* SPDX-License-Identifier: Apache-2.0 */
/* test_positions.c - experiments E6 and E7: positions and normalisers. Expected: figures.json, the
 * claims C-20 .. C-22 and C-43 of the documents, formulas. */
#include "experiment.h"
#include "experiments/range.h"

#include "check.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const lab_experiment lab_e6, lab_e7;

/* An experiment measured once, by as many threads; check ok first. */
typedef struct measured {
    lab_data data;
    bool ok;
} measured;

static measured measure(const lab_experiment *experiment, int threads) {
    measured m = {.ok = false};
    attn_ctx *ctx = NULL;
    attn_ctx_options options;
    attn_ctx_options_init(&options);
    options.threads = threads;
    if (attn_ctx_create(&options, &ctx, NULL) != ATTN_OK) return m;
    const lab_settings settings = {.seed = 42, .threads = threads, .ctx = ctx};
    m.ok = experiment->measure(&settings, &m.data, NULL) == ATTN_OK;
    attn_ctx_destroy(ctx);
    return m;
}

static double at(const measured *m, const char *table, size_t row, const char *column) {
    const lab_table *t = lab_table_named(&m->data, table);
    return lab_column_named(t, column)[row * t->columns];
}

static double largest_in(const measured *m, const char *table, const char *column) {
    double largest = 0;
    for (size_t r = 0; r < lab_table_named(&m->data, table)->rows; r++)
        largest = fmax(largest, at(m, table, r, column));
    return largest;
}

/* ---- E6 ---- */

TEST(sinusoidal_dot_products_are_constant_along_an_offset) { /* C-43: to 3e-15 */
    measured m = measure(&lab_e6, 1);
    CHECK(m.ok);
    CHECK(largest_in(&m, "sinusoidal", "d=8 spread") <= 3e-15);
    CHECK(largest_in(&m, "sinusoidal", "d=128 spread") <= 1e-12);
    lab_data_free(&m.data);
}

TEST(sinusoidal_codes_have_squares_of_half_their_size) {
    measured m = measure(&lab_e6, 1);
    CHECK(m.ok);
    CHECK_NEAR(at(&m, "sinusoidal", 0, "d=8 dot"), 4, 1e-14);
    CHECK_NEAR(at(&m, "sinusoidal", 0, "d=128 dot"), 64, 1e-13);
    lab_data_free(&m.data);
}

/* Position 0 against 1, 2, 7 of figures.json: the dot product at that offset. */
TEST(sinusoidal_dot_products_are_those_of_the_codes_on_record) {
    json_t *root = json_load_file(FIGURES_FILE, 0, NULL);
    const json_t *rows =
        json_object_get(json_object_get(json_object_get(root, "positional"), "sinusoidal"), "rows");
    static const char *const positions[] = {"1", "2", "7"};
    measured m = measure(&lab_e6, 1);
    CHECK(m.ok);
    for (size_t p = 0; p < 3; p++) {
        double dot = 0;
        for (size_t c = 0; c < 8; c++)
            dot += json_number_value(json_array_get(json_object_get(rows, "0"), c)) *
                   json_number_value(json_array_get(json_object_get(rows, positions[p]), c));
        CHECK_NEAR(at(&m, "sinusoidal", strtoul(positions[p], NULL, 10), "d=8 dot"), dot, 1e-14);
    }
    json_decref(root);
    lab_data_free(&m.data);
}

TEST(sinusoidal_offsets_look_alike_from_two_places) {
    measured m = measure(&lab_e6, 1);
    CHECK(m.ok);
    for (size_t offset = 0; offset <= 64; offset++)
        CHECK_NEAR(at(&m, "sinusoidal", offset, "d=32 from 63"),
                   at(&m, "sinusoidal", offset, "d=32 from 0"), 1e-14);
    CHECK_NEAR(at(&m, "sinusoidal", 5, "d=32 from 0"), at(&m, "sinusoidal", 5, "d=32 dot") / 16,
               1e-15);
    lab_data_free(&m.data);
}

TEST(rope_scores_do_not_depend_on_the_place) {
    measured m = measure(&lab_e6, 1);
    CHECK(m.ok);
    /* angles of 1127 radians are off by up to 1.2e-13 each, times |q| |k| of about 64 */
    CHECK(largest_in(&m, "rope", "drawn spread") <= 1e-11);
    CHECK(largest_in(&m, "rope", "same spread") <= 1e-11);
    CHECK_NEAR(at(&m, "rope", 70, "drawn at 0"), at(&m, "rope", 70, "drawn at 1000"), 1e-11);
    lab_data_free(&m.data);
}

/* Pairs (2p, 2p + 1) turn by distance * 10000^(-2p/64). NumPy's first normals of seed 42 are q. */
TEST(rope_score_of_a_vector_with_itself_is_a_sum_of_cosines) {
    enum { D = 64, FIRST16 = 16 };
    json_t *root = json_load_file(FIGURES_FILE, 0, NULL);
    const json_t *first = json_object_get(
        json_object_get(json_object_get(json_object_get(root, "rng"), "seeds"), "42"), "first16");
    measured m = measure(&lab_e6, 1);
    CHECK(m.ok);
    /* the part of the first 16 numbers, and for the other pairs bounds by what is left at 0 */
    double part = 0, turned = 0;
    for (size_t p = 0; p < FIRST16 / 2; p++) {
        const double a = json_number_value(json_array_get(first, 2 * p));
        const double b = json_number_value(json_array_get(first, 2 * p + 1));
        part += a * a + b * b;
        turned += (a * a + b * b) * cos(5 * pow(10000, -2.0 * (double)p / (double)D));
    }
    const double rest = at(&m, "rope", 64, "same at 0") - part;
    const double left = at(&m, "rope", 64 + 5, "same at 0") - turned;
    CHECK(rest > 0);
    CHECK(left <= rest);
    CHECK(left >= rest * cos(5 * pow(10000, -16.0 / (double)D)));
    json_decref(root);
    lab_data_free(&m.data);
}

TEST(rope_of_a_vector_with_itself_is_symmetric_and_largest_at_home) {
    measured m = measure(&lab_e6, 1);
    CHECK(m.ok);
    for (size_t distance = 1; distance <= 64; distance++) {
        CHECK_NEAR(at(&m, "rope", 64 + distance, "same at 0"),
                   at(&m, "rope", 64 - distance, "same at 0"), 1e-12);
        CHECK(at(&m, "rope", 64 + distance, "same at 0") < at(&m, "rope", 64, "same at 0"));
    }
    lab_data_free(&m.data);
}

TEST(alibi_falls_by_its_slope_at_every_step) {
    json_t *root = json_load_file(FIGURES_FILE, 0, NULL);
    const json_t *slopes =
        json_object_get(json_object_get(json_object_get(root, "positional"), "alibi_slopes"), "8");
    measured m = measure(&lab_e6, 1);
    CHECK(m.ok);
    const lab_table *bias = lab_table_named(&m.data, "alibi_bias");
    const lab_table *weights = lab_table_named(&m.data, "alibi_weights");
    for (size_t h = 0; h < 8; h++) {
        const double slope = json_number_value(json_array_get(slopes, h));
        for (size_t distance = 0; distance <= 64; distance++)
            CHECK(*lab_cell(bias, distance, 1 + h) == -slope * (double)distance);
        CHECK_NEAR(*lab_cell(weights, 10, 1 + h) / *lab_cell(weights, 9, 1 + h), exp(-slope),
                   1e-14);
    }
    json_decref(root);
    lab_data_free(&m.data);
}

/* ---- E7 ---- */

TEST(max_and_sum_normalisation_make_no_distribution) { /* C-20 */
    measured m = measure(&lab_e7, 1);
    CHECK(m.ok);
    double sum = 0;
    for (size_t j = 0; j < 3; j++) sum += at(&m, "scores_apart", j, "max");
    CHECK_NEAR(sum, 0.75, 1e-15);
    CHECK_NEAR(at(&m, "scores_apart", 0, "L1"), 4.0 / 3, 1e-15);
    CHECK_NEAR(at(&m, "scores_apart", 1, "L1"), -2.0 / 3, 1e-15);
    CHECK_NEAR(at(&m, "scores_apart", 2, "L1"), 1.0 / 3, 1e-15);
    lab_data_free(&m.data);
}

TEST(softmax_of_three_scores_at_three_temperatures) {
    static const char *const columns[] = {"tau 0.25", "softmax", "tau 4"};
    static const double taus[] = {0.25, 1, 4};
    measured m = measure(&lab_e7, 1);
    CHECK(m.ok);
    for (size_t t = 0; t < 3; t++) {
        const double sum = exp(2 / taus[t]) + exp(-1 / taus[t]) + exp(0.5 / taus[t]);
        CHECK_NEAR(at(&m, "scores_apart", 0, columns[t]), exp(2 / taus[t]) / sum, 1e-15);
        CHECK_NEAR(at(&m, "scores_apart", 1, columns[t]), exp(-1 / taus[t]) / sum, 1e-15);
    }
    lab_data_free(&m.data);
}

TEST(worked_row_is_that_of_document_001) {
    measured m = measure(&lab_e7, 1);
    CHECK(m.ok);
    CHECK_NEAR(at(&m, "scores_tied", 0, "score"), sqrt(0.5), 1e-15);
    CHECK_NEAR(at(&m, "scores_tied", 1, "softmax"), 0.40111209, 5e-9);
    CHECK_NEAR(at(&m, "scores_tied", 2, "softmax"), 0.19777581, 5e-9);
    lab_data_free(&m.data);
}

TEST(entropies_at_seven_temperatures_are_those_on_record) { /* C-22, as printed there */
    static const double expected[] = {.693, .697, .961, 1.053, 1.086, 1.098, 1.0986};
    static const double taus[] = {.001, .1, .5, 1, 2, 10, 1000};
    measured m = measure(&lab_e7, 1);
    CHECK(m.ok);
    for (size_t i = 0; i < 7; i++) {
        CHECK(at(&m, "temperature_stated", i, "tau") == taus[i]);
        CHECK_NEAR(at(&m, "temperature_stated", i, "entropy tied"), expected[i],
                   i < 6 ? 5.01e-4 : 5.01e-5);
    }
    lab_data_free(&m.data);
}

TEST(cold_ties_share_and_heat_makes_uniform) { /* C-21 */
    measured m = measure(&lab_e7, 1);
    CHECK(m.ok);
    CHECK(at(&m, "temperature", 0, "largest tied") == 0.5);
    CHECK(at(&m, "temperature", 0, "largest apart") == 1);
    CHECK_NEAR(at(&m, "temperature", 120, "entropy apart"), log(3), 1e-5);
    lab_data_free(&m.data);
}

/* ---- what they say ---- */

TEST(a_range_is_said_once_where_both_ends_read_the_same) {
    lab_data data = {.n = 0};
    lab_table *table = lab_table_add(&data, "x", 3, 2, NULL);
    *lab_cell(table, 0, 1) = 48.24;
    *lab_cell(table, 2, 1) = 0.5; /* between them nothing: NaN */
    CHECK_STR(lab_range_said(lab_range_of(table, 1)).text, "0.5 to 48.2");
    CHECK_STR(lab_range_said(lab_range_of(table, 0)).text, "0");
    CHECK_STR(lab_range_said((lab_range){99.96, 100}).text, "100");
    lab_data_free(&data);
}

/* Every sentence is filled in, fits, and is balanced as markup. */
static void check_finding(const lab_experiment *experiment, lab_verdict verdict) {
    measured m = measure(experiment, 1);
    CHECK(m.ok);
    lab_finding finding = {.verdict = LAB_MEASURED};
    experiment->judge(&m.data, &finding);
    CHECK_STR(lab_verdict_name(finding.verdict), lab_verdict_name(verdict));
    CHECK(strlen(finding.headline) > 40 && strlen(finding.headline) < LAB_TEXT - 1);
    CHECK(strlen(finding.text) > 40 && strlen(finding.text) < LAB_TEXT - 1);
    CHECK(strstr(finding.headline, "nan") == NULL && strstr(finding.text, "nan") == NULL);
    lab_data_free(&m.data);
}

TEST(positions_hold) { check_finding(&lab_e6, LAB_HOLDS); }

TEST(cold_softmax_is_argmax_only_without_ties) { check_finding(&lab_e7, LAB_HOLDS_IF); }
