/* SPDX-License-Identifier: Apache-2.0 */
/* poison.h - NaN and infinities by their bits, and problems with masked positions to put them
 * in. */
#ifndef POISON_H
#define POISON_H

#include "problem.h"

enum { QUIET_NAN, FULL_NAN, PLUS_INFINITY, MINUS_INFINITY, POISONS };

void poison_element(const attn_tensor *t, const int64_t at[4], int kind);
/* All columns of row (batch, head, row), or one of them if column >= 0. */
void poison_row(const attn_tensor *t, const int64_t at[3], int64_t column, int kind);
/* Every element of a buffer that holds elements of this type. */
void poison_buffer(const guard *g, attn_dtype dtype, int kind);

/* Problems that hide pairs in every way. False after a failure; then nothing is to be freed. */
enum { POISON_CASES = 15 };
bool poison_case(problem *p, int c, attn_dtype dtype, int64_t n_q);

/* The bytes of all buffers of a problem at one moment. */
typedef struct poison_copy {
    unsigned char *bytes[BUFFERS];
} poison_copy;

/* False, and a failed test, without memory; to be freed even then. */
bool poison_copy_take(poison_copy *copy, const problem *p);
void poison_copy_restore(const poison_copy *copy, problem *p);
void poison_copy_free(poison_copy *copy);

/* Is the pair, or every pair that an element of the bias stands for, hidden by something else than
 * the bias? */
bool poison_is_hidden_anyway(const problem *p, const int64_t at[4]);
bool poison_is_bias_hidden(const problem *p, const int64_t element[4]);

#endif
