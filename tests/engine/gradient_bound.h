/* SPDX-License-Identifier: Apache-2.0 */
/* gradient_bound.h - compares gradients with attn_reference_backward() under an error bound derived
 * for each element. */
#ifndef GRADIENT_BOUND_H
#define GRADIENT_BOUND_H

#include "problem.h"

/* The gradients of the last problem_run_backward() against the oracle. False, and a failed test
 * that names the element, both values and the problem, if one is further away than its bound, or
 * finite where the oracle is not or the other way round.
 * *worst (may be NULL) is raised to the largest error in units of its bound. */
bool gradient_bound_check(const problem *p, double *worst);

#endif
