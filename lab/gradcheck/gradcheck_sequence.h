/* SPDX-License-Identifier: Apache-2.0 */
/* gradcheck_sequence.h - the options of a check of the attention layer. */
#ifndef LAB_GRADCHECK_SEQUENCE_H
#define LAB_GRADCHECK_SEQUENCE_H

#include "layers/mha.h"

typedef struct grad_mha {
    bool cross;   /* cross-attention to a separate memory instead of self-attention */
    bool grouped; /* 4 query heads on 2 key heads, d_k != d_v */
    bool causal, padded;
    const char *positions; /* a position kind, or NULL */
    double dropout;
} grad_mha;

#endif
