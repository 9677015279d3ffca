/* SPDX-License-Identifier: Apache-2.0 */
/* whole_number.h - whole numbers as people write sizes: 16384, 16k, 1.5M, 1e6. The suffixes are
 * binary, because sizes of attention are: 16k is 16384. Tests: tests/cli/test_options.c */
#ifndef CLI_WHOLE_NUMBER_H
#define CLI_WHOLE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Digits, with a sign if need be, and nothing else; false if text is not such a number or does not
 * fit. */
bool cli_parse_int(const char *text, int64_t *value);

/* The same with a suffix k, K (1024), M (1024^2) or G (1024^3), or with a decimal exponent, not
 * both. Only these may follow a decimal point, and the result must be whole: 1.5k is 1536. Returns
 * NULL, or what is wrong: "" for a text that is not a whole number, or a reason such as "does not
 * fit in 64 bits". */
const char *cli_parse_size(const char *text, int64_t *value);

/* "5,3,-1", "4k,0" into at most max numbers; the number of them, or -1. */
int64_t cli_parse_sizes(const char *text, int64_t *values, int64_t max);

#endif
