/* SPDX-License-Identifier: Apache-2.0 */
/* test_beyond_structure.c - experiments E1 .. E5 and what they compute with: spectra, Markov
 * chains, counted memory, the dense peer. Expected values: by hand, figures.json, the documents, or
 * NumPy's SVD. */
#define ATTNI_REAL_f64
#include "experiment.h"
#include "models/rollout.h"
#include "steps/attend.h"
#include "steps/stream.h"
#include "support/dense.h"
#include "support/markov.h"
#include "support/meter.h"
#include "support/spectrum.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static attn_ctx *context(void) {
    static attn_ctx *ctx;
    if (ctx == NULL) attn_ctx_create(NULL, &ctx, NULL);
    return ctx;
}

/* ---- spectrum ---- */

/* Each row of a (rows, columns) mirrored at the plane across w: singular values stay. */
static void mirror_rows(double *a, int64_t rows, int64_t columns, const double *w) {
    double ww = 0;
    for (int64_t j = 0; j < columns; j++) ww += w[j] * w[j];
    for (int64_t i = 0; i < rows; i++) {
        double *row = a + i * columns, dot = 0;
        for (int64_t j = 0; j < columns; j++) dot += row[j] * w[j];
        for (int64_t j = 0; j < columns; j++) row[j] -= 2 * dot / ww * w[j];
    }
}

/* turned (columns, rows) */
static void turn(const double *a, int64_t rows, int64_t columns, double *turned) {
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) turned[j * rows + i] = a[i * columns + j];
    }
}

/* a (5, 3) with singular values 7, 2, 1e-9. */
static void known_matrix(double a[15]) {
    const double w3[] = {1, -2, 0.5}, w5[] = {0.3, 1, 2, -1, 1};
    double high[15] = {1e-9, 0, 0, 0, 7, 0, 0, 0, 2}, wide[15];
    mirror_rows(high, 5, 3, w3);
    turn(high, 5, 3, wide);
    mirror_rows(wide, 3, 5, w5);
    turn(wide, 3, 5, a);
}

TEST(singular_values_of_a_high_matrix_are_found) {
    double a[15], sigma[3];
    known_matrix(a);
    CHECK(lab_singular_values(5, 3, a, sigma, NULL) == ATTN_OK);
    CHECK_NEAR(sigma[0], 7, 1e-14);
    CHECK_NEAR(sigma[1], 2, 1e-14);
    CHECK_NEAR(sigma[2], 1e-9, 1e-15);
}

TEST(singular_values_of_a_wide_matrix_are_those_of_the_high_one) {
    double a[15], wide[15], sigma[3];
    known_matrix(a);
    turn(a, 5, 3, wide);
    CHECK(lab_singular_values(3, 5, wide, sigma, NULL) == ATTN_OK);
    CHECK_NEAR(sigma[0], 7, 1e-14);
    CHECK_NEAR(sigma[1], 2, 1e-14);
    CHECK_NEAR(sigma[2], 1e-9, 1e-15);
}

TEST(singular_values_of_signs_and_zeros) {
    const double a[] = {0, -3, 0, 0, 0, 0, 5, 0, 0};
    double sigma[3];
    CHECK(lab_singular_values(3, 3, a, sigma, NULL) == ATTN_OK);
    CHECK(sigma[0] == 5 && sigma[1] == 3 && sigma[2] == 0);
}

TEST(rank_of_a_sum_of_two_outer_products_is_two) {
    double a[36], sigma[6];
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++)
            a[i * 6 + j] = sin(i) * cos(j) + 1e-3 * (i - 2.5) * exp(0.3 * j);
    }
    CHECK(lab_singular_values(6, 6, a, sigma, NULL) == ATTN_OK);
    CHECK_INT(lab_rank(sigma, 6), 2);
}

TEST(energy_is_the_sum_of_squares) { /* 16/25 = 0.64 in the first */
    const double sigma[] = {4, 3, 0};
    CHECK_INT(lab_energy_count(sigma, 3, 0.63), 1);
    CHECK_INT(lab_energy_count(sigma, 3, 0.65), 2);
}

TEST(spectral_radius_of_a_turn_that_doubles_is_two) { /* eigenvalues 2i, -2i */
    const double turn_left[] = {0, -2, 2, 0};
    double radius;
    CHECK(lab_spectral_radius(2, turn_left, &radius, NULL) == ATTN_OK);
    CHECK_NEAR(radius, 2, 1e-8);
}

TEST(spectral_radius_of_a_nilpotent_matrix_is_zero) {
    const double a[] = {0, 5, 1, 0, 0, 7, 0, 0, 0};
    double radius;
    CHECK(lab_spectral_radius(3, a, &radius, NULL) == ATTN_OK);
    CHECK(radius == 0);
}

/* ---- Markov chains ---- */

enum { CHAIN = 4, CHAIN_CELLS = CHAIN * CHAIN };

/* Weights of the case rand_square: the first 24 normals of seed 42. */
static void golden_chain(double a[CHAIN_CELLS]) {
    double q[24];
    lab_stream stream;
    lab_stream_seed(&stream, 42);
    lab_stream_normals(&stream, 24, 1, q);
    const lab_head head = {.n_q = CHAIN, .n_k = CHAIN, .d_k = 3, .q = q, .k = q + 12};
    lab_head_weights(context(), &head, a, NULL);
}

/* Values of figures.json, `markov`, by name: a matrix or a row. */
static size_t golden_markov(const char *name, double *values) {
    json_t *root = json_load_file(FIGURES_FILE, 0, NULL), *row, *value;
    size_t n = 0, i, j;
    json_array_foreach(json_object_get(json_object_get(root, "markov"), name), i, row) {
        if (json_is_number(row)) values[n++] = json_number_value(row);
        json_array_foreach(row, j, value) values[n++] = json_number_value(value);
    }
    json_decref(root);
    return n;
}

static void check_golden_markov(const char *name, const double *actual, size_t n) {
    double expected[CHAIN_CELLS];
    CHECK(golden_markov(name, expected) == n);
    for (size_t i = 0; i < n; i++) CHECK_NEAR(actual[i], expected[i], 1e-14);
}

TEST(markov_powers_are_those_on_record) {
    double a[CHAIN_CELLS], a2[CHAIN_CELLS], a3[CHAIN_CELLS];
    golden_chain(a);
    lab_matrix_product(CHAIN, a, a, a2);
    lab_matrix_product(CHAIN, a2, a, a3);
    check_golden_markov("A", a, CHAIN_CELLS);
    check_golden_markov("A2", a2, CHAIN_CELLS);
    check_golden_markov("A3", a3, CHAIN_CELLS);
}

TEST(markov_stationary_distribution_is_the_one_on_record) {
    double a[CHAIN_CELLS], p[CHAIN];
    golden_chain(a);
    CHECK(lab_stationary(CHAIN, a, p, NULL) == ATTN_OK);
    check_golden_markov("stationary", p, CHAIN);
}

TEST(rollout_of_three_layers_is_the_one_on_record) {
    double a[CHAIN_CELLS], so_far[CHAIN_CELLS], next[CHAIN_CELLS];
    golden_chain(a);
    for (int layer = 0; layer < 3; layer++) {
        const double *before = layer > 0 ? so_far : NULL;
        CHECK(attni_rollout_layer_f64(context(), CHAIN, a, before, next, NULL) == ATTN_OK);
        memcpy(so_far, next, sizeof next);
    }
    check_golden_markov("rollout3", so_far, CHAIN_CELLS);
}

TEST(second_eigenvalue_of_two_states) { /* of [[1-a, a], [b, 1-b]]: 1 - a - b, here negative */
    const double chain[] = {0.1, 0.9, 0.6, 0.4};
    double modulus;
    CHECK(lab_second_eigenvalue(2, chain, &modulus, NULL) == ATTN_OK);
    CHECK_NEAR(modulus, 0.5, 1e-8);
}

TEST(row_spread_and_row_sums_by_hand) {
    const double a[] = {0.5, 0.5, 0.2, 0.9};
    CHECK_NEAR(lab_row_spread(2, a), 0.4, 1e-15);
    CHECK_NEAR(lab_row_sum_error(2, a), 0.1, 1e-15);
}

/* ---- counted memory and the dense peer ---- */

TEST(meter_counts_what_is_held_and_the_most_that_was) {
    lab_meter meter = {0};
    void *a = lab_meter_take(&meter, 100), *b = lab_meter_take(&meter, 50);
    CHECK(a && b && (uintptr_t)a % 64 == 0);
    lab_meter_give(&meter, a);
    void *c = lab_meter_take(&meter, 20);
    CHECK(meter.now == 70 && meter.peak == 150);
    lab_meter_give(&meter, b);
    lab_meter_give(&meter, c);
    CHECK(meter.now == 0);
}

TEST(meter_sees_the_memory_of_a_context) {
    lab_meter meter = {0};
    attn_ctx_options options;
    attn_ctx_options_init(&options);
    options.alloc = lab_meter_alloc(&meter);
    attn_ctx *ctx;
    CHECK(attn_ctx_create(&options, &ctx, NULL) == ATTN_OK);
    CHECK(meter.now > 0);
    attn_ctx_destroy(ctx);
    CHECK(meter.now == 0);
}

enum { DENSE_N = 37, DENSE_D = 8, DENSE_CELLS = DENSE_N * DENSE_D };

/* The peer and the engine's oracle on the same random problem. */
typedef struct dense_pair {
    float q[DENSE_CELLS], k[DENSE_CELLS], v[DENSE_CELLS], dout[DENSE_CELLS];
    float out[DENSE_CELLS], dq[DENSE_CELLS], dk[DENSE_CELLS], dv[DENSE_CELLS];
    float weights[DENSE_N * DENSE_N], dscores[DENSE_N * DENSE_N];
    double exact_out[DENSE_CELLS], exact_dq[DENSE_CELLS], exact_dk[DENSE_CELLS],
        exact_dv[DENSE_CELLS];
} dense_pair;

static attn_tensor dense_tensor(const void *data, attn_dtype dtype) {
    return attn_tensor_bhsd(data, dtype, 1, 1, DENSE_N, DENSE_D);
}

static attn_status run_oracle(dense_pair *p) {
    attn_args args;
    attn_args_init(&args);
    args.q = dense_tensor(p->q, ATTN_F32);
    args.k = dense_tensor(p->k, ATTN_F32);
    args.v = dense_tensor(p->v, ATTN_F32);
    const attn_results results = {.struct_size = sizeof(attn_results),
                                  .dout = dense_tensor(p->dout, ATTN_F32)};
    attn_gradients gradients;
    attn_gradients_init(&gradients);
    gradients.dq = dense_tensor(p->exact_dq, ATTN_F64);
    gradients.dk = dense_tensor(p->exact_dk, ATTN_F64);
    gradients.dv = dense_tensor(p->exact_dv, ATTN_F64);
    const attn_tensor out = dense_tensor(p->exact_out, ATTN_F64);
    const attn_status status = attn_reference(&args, &out, NULL, NULL);
    return status == ATTN_OK ? attn_reference_backward(&args, &results, &gradients, NULL) : status;
}

static const dense_pair *run_dense_pair(void) {
    static dense_pair p;
    lab_stream stream;
    lab_stream_seed(&stream, 7);
    float *const drawn[] = {p.q, p.k, p.v, p.dout};
    for (int x = 0; x < 4; x++) {
        for (int i = 0; i < DENSE_CELLS; i++) drawn[x][i] = (float)lab_stream_normal(&stream);
    }
    const lab_dense dense = {.n = DENSE_N,
                             .d = DENSE_D,
                             .q = p.q,
                             .k = p.k,
                             .v = p.v,
                             .weights = p.weights,
                             .out = p.out};
    const lab_dense_gradients gradients = {
        .dout = p.dout, .dscores = p.dscores, .dq = p.dq, .dk = p.dk, .dv = p.dv};
    const bool ran = lab_dense_forward(context(), &dense, NULL) == ATTN_OK &&
                     lab_dense_backward(context(), &dense, &gradients, NULL) == ATTN_OK &&
                     run_oracle(&p) == ATTN_OK;
    return ran ? &p : NULL;
}

/* Sums of 37 products of numbers up to about 10 in f32. */
static void check_dense(const float *actual, const double *exact) {
    for (int i = 0; i < DENSE_CELLS; i++) CHECK_NEAR((double)actual[i], exact[i], 2e-5);
}

TEST(dense_peer_forward_is_attention) {
    const dense_pair *p = run_dense_pair();
    CHECK(p);
    check_dense(p->out, p->exact_out);
}

TEST(dense_peer_backward_is_its_gradient) {
    const dense_pair *p = run_dense_pair();
    CHECK(p);
    check_dense(p->dq, p->exact_dq);
    check_dense(p->dk, p->exact_dk);
    check_dense(p->dv, p->exact_dv);
}

/* ---- experiments ---- */

/* The experiment of that id measured with seed 42, once. NULL: it failed. */
static const lab_data *measured(const char *id) {
    enum { MOST = 16 };
    static lab_data data[MOST];
    for (size_t i = 0; lab_experiments[i] != NULL; i++) {
        if (strcmp(lab_experiments[i]->id, id) != 0) continue;
        lab_data *mine = &data[id[1] - '0'];
        const lab_settings settings = {.seed = 42, .threads = 1, .ctx = context()};
        if (mine->n > 0) return mine;
        return lab_experiments[i]->measure(&settings, mine, NULL) == ATTN_OK ? mine : NULL;
    }
    return NULL;
}

/* The cell in the row whose first column is `key`. */
static double at(const lab_data *data, const char *table, double key, const char *heading) {
    const lab_table *t = lab_table_named(data, table);
    const double *column = t ? lab_column_named(t, heading) : NULL;
    for (size_t row = 0; column && row < t->rows; row++) {
        if (*lab_cell(t, row, 0) == key) return column[row * t->columns];
    }
    return NAN;
}

TEST(e1_tiled_and_dense_give_the_same_output) {
    const lab_data *data = measured("E1");
    CHECK(data);
    for (double n = 128; n <= 512; n *= 2) CHECK(at(data, "time", n, "difference") < 1e-5);
}

TEST(e1_every_path_ran_and_has_a_slope) {
    const lab_data *data = measured("E1");
    CHECK(data);
    CHECK(at(data, "time", 512, "dense_ms") > 0 && at(data, "time", 512, "tiled_ms") > 0);
    CHECK(at(data, "time", 512, "causal_ms") > 0 && at(data, "time", 512, "window_ms") > 0);
    const lab_table *growth = lab_table_named(data, "growth");
    for (size_t i = 0; i < growth->rows; i++) CHECK(isfinite(*lab_cell(growth, i, 0)));
}

static const double mib = 1024 * 1024;

TEST(e2_dense_holds_one_square_forward_and_two_backward) {
    const lab_data *data = measured("E2");
    CHECK(data);
    for (double n = 128; n <= 16384; n *= 2) {
        const double square = 4 * n * n / mib, rows = 4 * n * 64 / mib, engine = 4;
        const double forward = at(data, "peak", n, "forward_dense_mib") - square - 4 * rows,
                     backward = at(data, "peak", n, "backward_dense_mib") - 2 * square - 8 * rows;
        CHECK_MSG(forward > 0 && forward < engine, "forward: %g MiB more at n = %g", forward, n);
        CHECK_MSG(backward > 0 && backward < engine, "backward: %g MiB more at n = %g", backward,
                  n);
    }
}

TEST(e2_tiled_holds_what_the_engine_says_it_needs) {
    const lab_data *data = measured("E2");
    CHECK(data);
    enum { E2_N = 2048, E2_D = 64 };
    static float x[E2_N * E2_D];
    attn_args args;
    attn_args_init(&args);
    args.q = args.k = args.v = attn_tensor_bhsd(x, ATTN_F32, 1, 1, E2_N, E2_D);
    size_t scratch;
    CHECK(attn_forward_workspace(context(), &args, &scratch, NULL) == ATTN_OK);
    const double rest = at(data, "peak", E2_N, "forward_tiled_mib") * mib -
                        (double)(4 * sizeof(float) * E2_N * E2_D + scratch);
    CHECK_MSG(rest > 0 && rest < 65536, "context of %g bytes", rest); /* the context itself */
}

TEST(e2_tiled_grows_with_n_and_not_with_its_square) {
    const lab_data *data = measured("E2");
    CHECK(data);
    const char *const pass[] = {"forward_tiled_mib", "backward_tiled_mib"};
    for (int i = 0; i < 2; i++) {
        CHECK(at(data, "peak", 16384, pass[i]) < 2 * at(data, "peak", 8192, pass[i]));
        CHECK(at(data, "peak", 16384, pass[i]) > 16384 * 64 * 16 / mib);
    }
}

TEST(e2_cache_holds_keys_and_values_of_every_kv_head) { /* 2 tensors, 128 numbers of 2 bytes */
    const lab_data *data = measured("E2");
    CHECK(data);
    CHECK_NEAR(at(data, "cache", 4096, "h_kv_32_mib"), 2 * 4096.0 * 128 * 2 * 32 / mib, 1e-9);
    CHECK_NEAR(at(data, "cache", 4096, "h_kv_8_mib"), 2 * 4096.0 * 128 * 2 * 8 / mib, 1e-9);
    CHECK_NEAR(at(data, "cache", 4096, "h_kv_1_mib"), 2 * 4096.0 * 128 * 2 / mib, 1e-9);
}

TEST(e3_jacobians_are_those_of_figure_4) {
    const lab_data *data = measured("E3");
    CHECK(data);
    json_t *root = json_load_file(FIGURES_FILE, 0, NULL), *row;
    size_t i;
    json_array_foreach(json_object_get(json_object_get(root, "report_figures"), "F4"), i, row) {
        const double d_k = json_number_value(json_object_get(row, "d_k"));
        const json_t *s = json_object_get(row, "scaled"), *u = json_object_get(row, "unscaled");
        const double expected[] = {json_number_value(json_object_get(s, "jac")),
                                   json_number_value(json_object_get(s, "jac_median")),
                                   json_number_value(json_object_get(u, "jac")),
                                   json_number_value(json_object_get(u, "jac_median"))};
        CHECK_NEAR(at(data, "jacobian", d_k, "scaled_mean"), expected[0], 1e-9);
        CHECK_NEAR(at(data, "jacobian", d_k, "scaled_trials"), expected[1], 1e-9);
        CHECK_NEAR(at(data, "jacobian", d_k, "unscaled_mean"), expected[2], 1e-9);
        CHECK_NEAR(at(data, "jacobian", d_k, "unscaled_trials"), expected[3], 1e-9);
    }
    CHECK_INT(i, 9);
    json_decref(root);
}

TEST(e3_band_holds_the_median) {
    const lab_data *data = measured("E3");
    CHECK(data);
    for (double d_k = 2; d_k <= 1024; d_k *= 2) {
        CHECK(at(data, "jacobian", d_k, "unscaled_low") <
              at(data, "jacobian", d_k, "unscaled_median"));
        CHECK(at(data, "jacobian", d_k, "unscaled_median") <
              at(data, "jacobian", d_k, "unscaled_high"));
    }
}

/* Claim C-3c, with the digits on record. */
TEST(e3_gradients_of_queries_are_those_of_the_claim) {
    const lab_data *data = measured("E3");
    CHECK(data);
    const double d_k[] = {64, 256, 512, 1024};
    const double unscaled_total[] = {59.3, 170, 273, 440},
                 unscaled_row[] = {4.28, 2.69, 1.52, 0.70};
    const double scaled_total[] = {9.8, 19.4, 27.3, 38.3}, scaled_row[] = {2.15, 4.30, 6.09, 8.50};
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(at(data, "gradient", d_k[i], "unscaled_total"), unscaled_total[i],
                   i ? 0.5 : 0.05);
        CHECK_NEAR(at(data, "gradient", d_k[i], "scaled_total"), scaled_total[i], 0.05);
        CHECK_NEAR(at(data, "gradient", d_k[i], "unscaled_row"), unscaled_row[i], 0.005);
        CHECK_NEAR(at(data, "gradient", d_k[i], "scaled_row"), scaled_row[i], 0.005);
    }
    CHECK_NEAR(at(data, "gradient", 512, "unscaled_starved"), 0.27, 0.005);
    CHECK(at(data, "gradient", 512, "scaled_starved") == 0);
}

TEST(e4_shown_powers_multiply_up) { /* A^2 A^3 = A^5, with and without a mask */
    const lab_data *data = measured("E4");
    CHECK(data);
    const char *const walk[] = {"powers", "causal"};
    for (int w = 0; w < 2; w++) {
        const lab_table *t = lab_table_named(data, walk[w]);
        double product[64];
        lab_matrix_product(8, lab_cell(t, 8, 0), lab_cell(t, 16, 0), product);
        for (size_t i = 0; i < 64; i++) CHECK_NEAR(product[i], lab_cell(t, 24, 0)[i], 1e-14);
    }
}

TEST(e4_causal_walks_never_go_forward_and_end_at_token_zero) {
    const lab_data *data = measured("E4");
    CHECK(data);
    const lab_table *t = lab_table_named(data, "causal");
    for (size_t row = 0; row < t->rows; row++) {
        for (size_t j = row % 8 + 1; j < 8; j++) CHECK(*lab_cell(t, row, j) == 0);
    }
    double last = 1;
    for (double k = 1; k <= 20; k++) {
        CHECK(at(data, "hops", k, "causal_rest") <= last);
        last = at(data, "hops", k, "causal_rest");
    }
    for (size_t row = 40; row < 48; row++) CHECK(*lab_cell(t, row, 0) >= 1 - last); /* k = 20 */
}

TEST(e4_rows_stay_weights) {
    const lab_data *data = measured("E4");
    CHECK(data);
    for (size_t w = 0; w < 3; w++) {
        CHECK(*lab_cell(lab_table_named(data, "summary"), w, 1) < 1e-14);
    }
}

TEST(e4_differences_shrink_by_the_second_eigenvalue) {
    const lab_data *data = measured("E4");
    CHECK(data);
    const double rate = *lab_cell(lab_table_named(data, "summary"), 0, 0);
    const double mean_rate =
        pow(at(data, "hops", 20, "powers_spread") / at(data, "hops", 8, "powers_spread"), 1.0 / 12);
    CHECK_NEAR(mean_rate, rate, 0.05);
}

/* NumPy: numpy.linalg.svd of the same draws. */
TEST(e5_singular_values_are_those_of_numpy) {
    const lab_data *data = measured("E5");
    CHECK(data);
    const lab_table *rank = lab_table_named(data, "rank");
    CHECK_NEAR(*lab_cell(rank, 0, 1), 54.6521433973909, 1e-11);
    CHECK_NEAR(*lab_cell(rank, 1, 1), 1.0056305528248175, 1e-12);
    CHECK_NEAR(*lab_cell(rank, 1, 2), 0.00019945595199416334, 1e-14);
    CHECK_NEAR(*lab_cell(rank, 2, 1), 2.3229136070351686, 1e-12);
    CHECK_NEAR(at(data, "spectrum", 64, "scores"), 12.372105523862105 / 54.6521433973909, 1e-13);
}

TEST(e5_scores_have_rank_d_k_and_weights_full_rank) {
    const lab_data *data = measured("E5");
    CHECK(data);
    CHECK_INT(*lab_cell(lab_table_named(data, "rank"), 0, 0), 64);
    CHECK_INT(*lab_cell(lab_table_named(data, "rank"), 1, 0), 256);
}

TEST(e5_energy_counts_are_those_of_numpy) {
    const lab_data *data = measured("E5");
    CHECK(data);
    const int expected[3][2] = {{44, 61}, {68, 156}, {107, 148}};
    for (size_t i = 0; i < 3; i++) {
        CHECK_INT(*lab_cell(lab_table_named(data, "rank"), i, 3), expected[i][0]);
        CHECK_INT(*lab_cell(lab_table_named(data, "rank"), i, 4), expected[i][1]);
    }
}

TEST(beyond_findings_have_numbers_and_no_gaps) {
    const char *const id[] = {"E1", "E2", "E3", "E4", "E5"};
    for (int e = 0; e < 5; e++) {
        const lab_data *data = measured(id[e]);
        CHECK(data);
        for (size_t i = 0; lab_experiments[i] != NULL; i++) {
            if (strcmp(lab_experiments[i]->id, id[e]) != 0) continue;
            lab_finding finding = {0};
            lab_experiments[i]->judge(data, &finding);
            CHECK_MSG(strlen(finding.headline) > 40 && strlen(finding.headline) < LAB_TEXT - 1,
                      "%s: \"%s\"", id[e], finding.headline);
            CHECK_MSG(strlen(finding.text) > 80 && strlen(finding.text) < LAB_TEXT - 1,
                      "%s: \"%s\"", id[e], finding.text);
            CHECK_MSG(!strstr(finding.headline, "nan") && !strstr(finding.text, "nan"),
                      "%s: %s / %s", id[e], finding.headline, finding.text);
        }
    }
}
