/* SPDX-License-Identifier: Apache-2.0 */
/* loss.h - cross-entropy of logits against target numbers, its gradient, and accuracy. Touches only
 * its arguments. Tests: tests/layers/test_loss.c */
#ifndef ATTNI_LOSS_H
#define ATTNI_LOSS_H

#include "layers/real.h"

/* A row counts unless its target is -1. */
typedef struct attni_targets {
    int64_t n, vocab;
    const int32_t *ids; /* (n) 0 .. vocab-1, or -1: ignore the row */
    int64_t divisor; /* the mean's; 0: the counted rows of this call. A shard of a batch gives the
                        counted rows of the whole batch: then losses and gradients just add up. */
} attni_targets;

/* loss = sum over counted rows of (ln sum exp(logits) - logits[target]) / divisor, 0 if none count.
 * dlogits (n, vocab), set: (softmax - one at the target) / divisor, 0 in ignored rows; NULL: not
 * wanted; may be logits. A logit of -inf has probability 0. A target outside -1 .. vocab-1 is
 * ATTN_E_VALUE and leaves everything untouched. */
attn_status R(cross_entropy)(const attn_ctx *ctx, const attni_targets *targets, const real *logits,
                             real *dlogits, double *loss, attn_error *err);

/* Index of the largest of x (n), n >= 1; the lowest index among equals. NaN never wins over a
 * number. */
int64_t R(argmax)(int64_t n, const real *x);

/* How many counted rows of logits (n, vocab) have their largest value at the target. */
int64_t R(count_correct)(const attni_targets *targets, const real *logits);

#endif
