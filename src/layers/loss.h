/* SPDX-License-Identifier: Apache-2.0 */
/* loss.h - the cross-entropy of logits against target indices, its gradient, and the accuracy.
 * Touches only its arguments. Tests: tests/layers/test_loss.c */
#ifndef ATTNI_LOSS_H
#define ATTNI_LOSS_H

#include "layers/real.h"

/* A row counts unless its target is -1. */
typedef struct attni_targets {
    int64_t n, vocab;
    const int32_t *ids; /* (n) 0 .. vocab-1, or -1: ignore the row */
    int64_t divisor; /* of the mean; 0: the counted rows of this call. A shard of a batch passes the
                        counted rows of the whole batch, so that losses and gradients add up. */
} attni_targets;

/* loss = sum over counted rows of (ln sum exp(logits) - logits[target]) / divisor, 0 if no row
 * counts. dlogits (n, vocab), set: (softmax - one-hot of the target) / divisor, 0 in ignored rows;
 * NULL: not requested; may be logits. A logit of -inf has probability 0. A target outside -1 ..
 * vocab-1 gives ATTN_E_VALUE and leaves everything untouched. */
attn_status R(cross_entropy)(const attn_ctx *ctx, const attni_targets *targets, const real *logits,
                             real *dlogits, double *loss, attn_error *err);

/* The index of the largest element of x (n), n >= 1; the lowest index among equals. NaN never beats
 * a number. */
int64_t R(argmax)(int64_t n, const real *x);

/* The number of counted rows of logits (n, vocab) whose largest value is at the target. */
int64_t R(count_correct)(const attni_targets *targets, const real *logits);

#endif
