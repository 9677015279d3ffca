/* SPDX-License-Identifier: Apache-2.0 */
/* report_data.c - see report_data.h. */
#include "report_data.h"

#include "shared/cli.h"
#include "shared/out.h"

static int print_json(const lab_report *report) {
    json_t *root = json_object();
    for (size_t i = 0; i < report->n; i++)
        json_object_set_new(root, report->result[i].experiment->id,
                            lab_data_json(&report->result[i].data));
    return out_json(root);
}

static void print_tables(const lab_result *result) {
    for (size_t i = 0; i < result->data.n; i++) {
        const lab_table *table = &result->data.table[i];
        printf("# %s %s\n", result->experiment->id, table->name);
        lab_table_csv(table, stdout); /* the command checks standard output when it ends */
    }
}

int report_print_data(const lab_report *report, bool json) {
    if (json) return print_json(report);
    for (size_t i = 0; i < report->n; i++) print_tables(&report->result[i]);
    return CLI_OK;
}
