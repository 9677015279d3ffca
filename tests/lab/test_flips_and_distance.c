/* SPDX-License-Identifier: Apache-2.0 */
/* test_flips_and_distance.c - experiments E10 and E11. Expected values: the same draws in plain
 * Python (NumPy's legacy stream written out, sums by fsum), to 12 digits. */
#include "check.h"
#include "experiment.h"

#include <math.h>
#include <string.h>

static const lab_data *measured(const char *id) {
    static lab_data data[2];
    const int which = strcmp(id, "E11") == 0;
    if (data[which].n > 0) return &data[which];
    size_t at = 0;
    while (strcmp(lab_experiments[at]->id, id) != 0) at++;
    lab_settings settings = {.seed = 42, .threads = 1};
    attn_error err = {""};
    attn_ctx_create(NULL, &settings.ctx, NULL);
    if (lab_experiments[at]->measure(&settings, &data[which], &err) != ATTN_OK)
        check_failed(__FILE__, __LINE__, "%s: %s", id, err.message);
    attn_ctx_destroy(settings.ctx);
    return &data[which];
}

/* The row of a table that begins with `key`. */
static const double *row_of(const char *id, const char *table, double key) {
    const lab_table *found = lab_table_named(measured(id), table);
    for (size_t row = 0; found && row < found->rows; row++) {
        if (*lab_cell(found, row, 0) == key) return lab_cell(found, row, 0);
    }
    check_failed(__FILE__, __LINE__, "%s %s has no row %g", id, table, key);
    return NULL;
}

static void check_row(const double *row, const double *expected, int n) {
    for (int i = 0; row && i < n; i++)
        CHECK_MSG(fabs(row[1 + i] - expected[i]) <= 2e-11 * fabs(expected[i]),
                  "column %d: %.13g, expected %.13g", 1 + i, row[1 + i], expected[i]);
}

/* flipped %, moved unscaled and scaled, the same in rows that flip */
TEST(flips_by_head_size_are_those_of_the_oracle) {
    static const double at_4[] = {9.375, 0.0571874797644, 0.0343823741601, 0.0779817334221,
                                  0.0384355608257},
                        at_64[] = {10, 0.0881153603006, 0.0367344853399, 0.308072291045,
                                   0.0429342022422},
                        at_512[] = {9.5, 0.0935939840898, 0.036612845605, 0.618971172392,
                                    0.0421958863867};
    check_row(row_of("E10", "by_d_k", 4), at_4, 5);
    check_row(row_of("E10", "by_d_k", 64), at_64, 5);
    check_row(row_of("E10", "by_d_k", 512), at_512, 5);
}

TEST(flips_by_size_of_the_change_are_those_of_the_oracle) {
    static const double small[] = {1.375, 0.0090106114441, 0.00366450017367, 0.0913933805971,
                                   0.00390158623685},
                        large[] = {40.375, 0.406653189661, 0.179612351632, 0.91981897053,
                                   0.199586838783};
    check_row(row_of("E10", "by_change", 0.01), small, 5);
    check_row(row_of("E10", "by_change", 0.5), large, 5);
}

TEST(more_weight_moves_where_rows_flip_and_without_scaling) {
    const lab_table *table = lab_table_named(measured("E10"), "by_d_k");
    for (size_t i = 0; i < table->rows; i++) {
        const double *row = lab_cell(table, i, 0); /* 2: all rows, 4: rows that flip */
        CHECK(row[4] > row[2] && row[5] > row[3] && row[2] > row[3] && row[4] > row[5]);
    }
}

/* attention, recurrent with gain 0.5, 1, 1.5 */
TEST(gradients_by_distance_are_those_of_the_oracle) {
    static const double at_0[] = {1.96306405489, 2.49744056974, 2.29123656865, 2.05505179274},
                        at_1[] = {0.246805946439, 0.858358394604, 1.43796218471, 1.73395313908},
                        at_10[] = {0.244946946045, 7.75868276434e-05, 0.0278923174715,
                                   0.333428177962},
                        at_31[] = {0.190444177277, 2.47081766967e-14, 4.43519176423e-06,
                                   0.0251193043548};
    check_row(row_of("E11", "gradient", 0), at_0, 4);
    check_row(row_of("E11", "gradient", 1), at_1, 4);
    check_row(row_of("E11", "gradient", 10), at_10, 4);
    check_row(row_of("E11", "gradient", 31), at_31, 4);
}

TEST(a_path_has_one_step_in_attention_and_as_many_as_the_distance_otherwise) {
    for (int distance = 1; distance < 32; distance++) {
        const double *row = row_of("E11", "gradient", distance);
        CHECK(row && row[9] == 1 && row[10] == distance);
        CHECK_NEAR(row[5], row[1] / row_of("E11", "gradient", 1)[1], 1e-15);
    }
}
