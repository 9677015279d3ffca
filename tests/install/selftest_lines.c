/* SPDX-License-Identifier: Apache-2.0 */
/* selftest_lines.c - prints the output of attn_selftest(), including errors and hashes, and whether
 * this process still has denormal numbers. Linked with libraries built in different ways, whose
 * output must be the same. */
#include <attn/attn.h>

#include <float.h>
#include <stdio.h>

static void print_line(void *user, const char *line) {
    (void)user;
    puts(line);
}

int main(void) {
    volatile double smallest = DBL_MIN;
    const attn_status status = attn_selftest(print_line, NULL, NULL);
    printf("denormals %s\n", smallest / 2 > 0 ? "kept" : "flushed to zero");
    return status == ATTN_OK ? 0 : 1;
}
