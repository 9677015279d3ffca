/* SPDX-License-Identifier: Apache-2.0 */
/* web_model.h - models that the page has opened, by number. Number 0 is the one being trained. */
#ifndef WEB_MODEL_H
#define WEB_MODEL_H

#include "models/model.h"

/* NULL with the error set if there is no model of that number. */
const attni_model *web_model(double handle);
/* The model being trained, or NULL. */
const attni_model *web_model_in_training(void);
/* What the page learns about a model. */
void web_put_model(double handle, const attni_model *model);

#endif
