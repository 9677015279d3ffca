/* SPDX-License-Identifier: Apache-2.0 */
/* gradcheck_sequence.h - what a check of the attention layer may vary. */
#ifndef LAB_GRADCHECK_SEQUENCE_H
#define LAB_GRADCHECK_SEQUENCE_H

#include "layers/mha.h"

typedef struct grad_mha {
    bool cross;   /* a memory of its own instead of self-attention */
    bool grouped; /* 4 query heads on 2 key heads, d_k != d_v */
    bool causal, padded;
    const char *positions; /* a kind, or NULL */
    double dropout;
} grad_mha;

#endif
