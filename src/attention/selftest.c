/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base.h"
attn_status attn_selftest(void (*say)(void *user, const char *line), void *user, attn_error *err) {
    (void)say;
    (void)user;
    (void)err;
    return ATTN_OK;
}
