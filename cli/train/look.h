/* SPDX-License-Identifier: Apache-2.0 */
/* look.h - a trained model and one text, as text or JSON: answers and attention; and model files.
 * */
#ifndef CLI_LOOK_H
#define CLI_LOOK_H

#include "models/model.h"
#include "shared/out.h"

/* What is looked at. */
typedef struct look_view {
    const attni_model *model;
    const int32_t *tokens; /* (n) */
    int64_t n;
    int64_t layer, head;    /* from 0; head -1: the mean of the heads */
    int64_t first, n_asked; /* the tokens at which answers are shown */
} look_view;

/* Prints the text, the answers and the heatmap; an exit code. */
int look_print(const look_view *view);
/* Adds "tokens", "answers" and "weights" (layers, heads, n, n) to root; an exit code. */
int look_json(const look_view *view, json_t *root);

/* Reads a model file; an exit code after a message. */
int look_load(const char *command, const char *path, attni_model *model);

#endif
