/* SPDX-License-Identifier: Apache-2.0 */
/* test_selftest.c - the library's self-test passes here. Its expected hashes are the same on every
 * machine of a class, so running it natively, under qemu (NEON) and in node (SIMD128) tests that
 * their bits agree. */
#include "attn/attn.h"
#include "check.h"

#include <stdio.h>
#include <string.h>

static int n_lines, n_failed, n_hashes;

static void hear(void *user, const char *line) {
    (void)user;
    n_lines++;
    n_failed += strncmp(line, "ok", 2) != 0;
    n_hashes += strstr(line, "bits") != NULL;
    if (strstr(line, "bits") || strncmp(line, "ok", 2) != 0) printf("\n    %s", line);
}

TEST(selftest_holds_with_the_hashes_known_for_every_machine) {
    attn_error error = {""};
    n_lines = n_failed = n_hashes = 0;
    const attn_status status = attn_selftest(hear, NULL, &error);
    printf("\n    ");
    CHECK_MSG(status == ATTN_OK, "%s", error.message);
    CHECK_INT(n_failed, 0);
    CHECK_STR(error.message, "");
    CHECK_MSG(n_hashes >= 4 && n_lines > n_hashes, "%d lines, %d hashes", n_lines, n_hashes);
}

TEST(selftest_needs_no_listener) { CHECK_INT(attn_selftest(NULL, NULL, NULL), ATTN_OK); }
