/* SPDX-License-Identifier: Apache-2.0 */
/* differences.c - the four-point formula. Its own test: test_differences.c */
#include "differences.h"

static double loss_at(differences_loss *loss, void *scene, double *x, double value) {
    *x = value;
    return loss(scene);
}

double differences_slope(differences_loss *loss, void *scene, double *x) {
    const double at = *x, h = DIFFERENCES_STEP;
    const double near = loss_at(loss, scene, x, at + h) - loss_at(loss, scene, x, at - h);
    const double far = loss_at(loss, scene, x, at + 2 * h) - loss_at(loss, scene, x, at - 2 * h);
    *x = at;
    return (8 * near - far) / (12 * h);
}
