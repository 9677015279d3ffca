/* SPDX-License-Identifier: Apache-2.0 */
/* scaling.c - see scaling.h. */
#include "steps/scaling.h"

#include "core/base.h"
#include "learning/trainer.h"

const char *const lab_scaling_name[LAB_SCALINGS] = {"unscaled", "scaled", "by_d_k"};

double lab_scaling_factor(lab_scaling scaling, int64_t d_k) {
    if (scaling == LAB_SCALE_NONE) return 1;
    return 1 / (scaling == LAB_SCALE_SQRT ? sqrt((double)d_k) : (double)d_k);
}

void lab_scaling_train(lab_scaling scaling, lab_trainer_options *options) {
    const lab_trainer_options *o = options;
    const int64_t d_k = o->d_k ? o->d_k : o->d / attni_max(1, o->heads);
    options->scale = scaling == LAB_SCALE_SQRT ? ATTN_SCALE_AUTO
                                               : lab_scaling_factor(scaling, attni_max(1, d_k));
}
