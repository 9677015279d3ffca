/* SPDX-License-Identifier: Apache-2.0 */
/* report_data.h - `attn report --data`: the numbers behind figures on standard output, no files.
 * Tests: tests/cli/test_report_data.py */
#ifndef CLI_REPORT_DATA_H
#define CLI_REPORT_DATA_H

#include "lab/report/report.h"

#include <stdbool.h>

/* Each table as a comment line "# F2 causal" and CSV with the digits of the files in data/; or one
 * JSON object, {"F2": {"causal": ...}}. An exit code. */
int report_print_data(const lab_report *report, bool json);

#endif
