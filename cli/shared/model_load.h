/* SPDX-License-Identifier: Apache-2.0 */
/* model_load.h - model files. */
#ifndef CLI_MODEL_LOAD_H
#define CLI_MODEL_LOAD_H

#include "models/model.h"

/* Reads a model file, "-" for standard input; an exit code after a message. */
int cli_model_load(const char *command, const char *path, attni_model *model);

#endif
