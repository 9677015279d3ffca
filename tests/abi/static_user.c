/* SPDX-License-Identifier: Apache-2.0 */
/* static_user.c - a third-party shared object that contains the static library. */
#include <attn/attn.h>

int static_user_run(void);
int static_user_run(void) { return attn_selftest(NULL, NULL, NULL) == ATTN_OK; }
