/* SPDX-License-Identifier: Apache-2.0 */
/* bound.h - compares results with attn_reference() under an error bound derived for each element.
 * Called by the programs of tests/kernels/. */
#ifndef BOUND_H
#define BOUND_H

#include "problem.h"

/* The result of the last problem_run() against the oracle. False, and a failed test that names the
 * element, both values and the problem, if one is further away than its bound. *worst (may be NULL)
 * is raised to the largest error in units of its bound. */
bool bound_check(const problem *p, double *worst);

#endif
