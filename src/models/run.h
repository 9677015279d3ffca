/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - what run.c and transformer.c share; everybody else includes transformer.h. */
#ifndef ATTNI_RUN_H
#define ATTNI_RUN_H

#include "models/transformer.h"

/* In the last layer, only the asked rows are ever read, so it computes no others. */
static inline bool attni_is_last(const attni_run *run, int64_t l) {
    return l + 1 == run->config.layers;
}

/* The attention layers of the run's model. */
attni_mha_config R(run_mha_config)(const attni_run *run);

#endif
