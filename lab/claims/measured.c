/* SPDX-License-Identifier: Apache-2.0 */
/* measured.c - see measured.h. */
#include "measured.h"

#include "core/base.h"

#include <math.h>

static const lab_experiment *experiment_named(const char *id) {
    for (const lab_experiment *const *at = lab_experiments; *at; at++) {
        if (strcmp((*at)->id, id) == 0) return *at;
    }
    return NULL;
}

attn_status lab_experiment_test(const lab_settings *settings, const lab_claim *claim,
                                lab_outcome *outcome, attn_error *err) {
    const lab_from_experiment *from = claim->data;
    const lab_experiment *experiment = experiment_named(from->id);
    lab_data data = {0};
    if (!experiment)
        return attni_fail(err, ATTN_E_VALUE, "%s: no experiment %s", claim->id, from->id);
    const attn_status status = experiment->measure(settings, &data, err);
    if (status == ATTN_OK) from->judge(settings, claim, &data, outcome);
    lab_data_free(&data);
    return status;
}

double lab_measured_row(const lab_data *data, const char *table, size_t row, const char *column) {
    const lab_table *found = lab_table_named(data, table);
    const double *cell = found ? lab_column_named(found, column) : NULL;
    return cell && row < found->rows ? cell[row * found->columns] : NAN;
}

double lab_measured(const lab_data *data, const char *table, double key, const char *column) {
    const lab_table *found = lab_table_named(data, table);
    for (size_t row = 0; found && row < found->rows; row++) {
        if (*lab_cell(found, row, 0) == key) return lab_measured_row(data, table, row, column);
    }
    return NAN;
}

lab_range lab_measured_range(const lab_data *data, const char *table, const char *column) {
    const lab_table *found = lab_table_named(data, table);
    lab_range range = {INFINITY, -INFINITY};
    for (size_t row = 0; found && row < found->rows; row++) {
        const double cell = lab_measured_row(data, table, row, column);
        range.low = fmin(range.low, cell);
        range.high = fmax(range.high, cell);
    }
    return range;
}
