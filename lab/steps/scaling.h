/* SPDX-License-Identifier: Apache-2.0 */
/* scaling.h - what scores are divided by; the only place that knows the rule. The library takes the
 * factor; commands, experiments and the page name one of these ways. Tests: tests/lab/test_steps.c,
 * tests/lab/test_figures.c */
#ifndef LAB_SCALING_H
#define LAB_SCALING_H

#include <stdint.h>

/* In the order of the figures, of the values of --scale, and of SCALES in the page. */
typedef enum lab_scaling {
    LAB_SCALE_NONE,
    LAB_SCALE_SQRT, /* by sqrt(d_k): the usual way */
    LAB_SCALE_D_K,
    LAB_SCALINGS
} lab_scaling;

/* 1, 1/sqrt(d_k), 1/d_k */
double lab_scaling_factor(lab_scaling scaling, int64_t d_k);
/* Sets the scale of a model to be trained; the usual way stays "auto" in its file. */
struct lab_trainer_options;
void lab_scaling_train(lab_scaling scaling, struct lab_trainer_options *options);
/* "unscaled", "scaled", "by_d_k": names of tables */
extern const char *const lab_scaling_name[LAB_SCALINGS];

#endif
