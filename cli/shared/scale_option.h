/* SPDX-License-Identifier: Apache-2.0 */
/* scale_option.h - what scores are divided by, as commands are told: `--scale none|sqrt|dk`, and
 * `--no-scale` for the first.
 * Tests: tests/cli/test_trace.py, tests/cli/test_train.py */
#ifndef CLI_SCALE_OPTION_H
#define CLI_SCALE_OPTION_H

#include "lab/steps/scaling.h"
#include "shared/options.h"

#define CLI_SCALE_WORDS "none|sqrt|dk" /* as lab_scaling counts them */

/* For settings with `int scale`, at first LAB_SCALINGS: not given, and `bool no_scale`. */
#define CLI_SCALE_OPTIONS(settings)                                                                \
    {.kind = CLI_CHOICE,                                                                           \
     .name = "scale",                                                                              \
     .at = offsetof(settings, scale),                                                              \
     .value = CLI_SCALE_WORDS,                                                                     \
     .help = "divide scores by nothing, sqrt(d_k) or d_k (default sqrt)"},                         \
        {.kind = CLI_FLAG,                                                                         \
         .name = "no-scale",                                                                       \
         .at = offsetof(settings, no_scale),                                                       \
         .help = "same as --scale none"}

/* Makes *scale a lab_scaling; CLI_USAGE after a message if both options were given. */
int cli_settle_scale(const char *command, bool no_scale, int *scale);

#endif
