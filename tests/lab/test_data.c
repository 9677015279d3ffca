/* SPDX-License-Identifier: Apache-2.0 */
/* test_data.c - tables keep what they are given, and are written so that they read back the
 * same. */
#include "support/data.h"
#include "support/system.h"

#include "check.h"

#include <stdlib.h>

static const char *const headings[] = {"n", "a, quoted"};

static lab_table *two_by_two(lab_data *data) {
    lab_table *table = lab_table_add(data, "pairs", 2, 2, headings);
    *lab_cell(table, 0, 0) = 1;
    *lab_cell(table, 0, 1) = 0.1;
    *lab_cell(table, 1, 0) = 1.0 / 3;
    return table;
}

/* What lab_table_csv() writes, empty if it fails; the caller frees it. */
static char *csv_of(const lab_table *table) {
    system_text text;
    if (!system_text_begin(&text)) abort();
    const int failed = lab_table_csv(table, text.stream);
    if (!system_text_end(&text)) abort();
    if (failed) text.text[0] = 0;
    return text.text;
}

TEST(csv_reads_back_to_the_same_numbers) {
    lab_data data = {.n = 0};
    char *csv = csv_of(two_by_two(&data));
    CHECK_STR(csv, "n,\"a, quoted\"\n1,0.1\n0.3333333333333333,\n");
    free(csv);
    lab_data_free(&data);
}

TEST(matrix_columns_are_numbered_and_rows_named) {
    static const char *const names[] = {"cat", "mat"};
    lab_data data = {.n = 0};
    lab_table *matrix = lab_table_add(&data, "weights", 2, 2, NULL);
    matrix->label = names;
    for (size_t i = 0; i < 4; i++) matrix->cell[i] = (double)i;
    char *csv = csv_of(matrix);
    CHECK_STR(csv, "name,0,1\ncat,0,1\nmat,2,3\n");
    free(csv);
    lab_data_free(&data);
}

TEST(json_holds_null_where_there_is_nothing) {
    lab_data data = {.n = 0};
    two_by_two(&data);
    json_t *json = lab_data_json(&data);
    const json_t *rows = json_object_get(json_object_get(json, "pairs"), "rows");
    CHECK(json_real_value(json_array_get(json_array_get(rows, 1), 0)) == 1.0 / 3);
    CHECK(json_is_null(json_array_get(json_array_get(rows, 1), 1)));
    json_decref(json);
    lab_data_free(&data);
}

TEST(tables_and_columns_are_found_by_name) {
    lab_data data = {.n = 0};
    lab_table *table = two_by_two(&data);
    CHECK(lab_table_named(&data, "pairs") == table);
    CHECK(lab_table_named(&data, "others") == NULL);
    CHECK(*lab_column_named(table, "a, quoted") == 0.1);
    CHECK(lab_column_named(table, "b") == NULL);
    lab_data_free(&data);
}
