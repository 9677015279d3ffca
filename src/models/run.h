/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - what run.c and transformer.c share; everybody else includes transformer.h. */
#ifndef ATTNI_RUN_H
#define ATTNI_RUN_H

#include "models/transformer.h"

/* The attention layer that a model's configuration means. */
attni_mha_config R(run_mha_config)(const attni_model_config *config);

#endif
