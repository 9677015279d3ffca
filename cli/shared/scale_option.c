/* SPDX-License-Identifier: Apache-2.0 */
/* scale_option.c - see scale_option.h. */
#include "shared/scale_option.h"

#include "shared/out.h"

int cli_settle_scale(const char *command, bool no_scale, int *scale) {
    const bool given = *scale != LAB_SCALINGS;
    if (no_scale && given) {
        out_error(command, "--no-scale and --scale: choose one");
        return CLI_USAGE;
    }
    if (!given) *scale = no_scale ? LAB_SCALE_NONE : LAB_SCALE_SQRT;
    return CLI_OK;
}
