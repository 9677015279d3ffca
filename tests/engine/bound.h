/* SPDX-License-Identifier: Apache-2.0 */
/* bound.h - compares results with attn_reference() under an error bound derived for each
 * element. */
#ifndef BOUND_H
#define BOUND_H

#include "problem.h"

/* The result of the last problem_run() against the oracle. False, and a failed test that names the
 * element, both values and the problem, if one is further away than its bound. *worst (may be NULL)
 * is raised to the largest error in units of its bound. */
bool bound_check(const problem *p, double *worst);

/* ---------------------------------------------------------- the model, for gradient_bound.c too */

/* One row of a problem, its weights and what rounding can do to them. */
typedef struct bound_row {
    const problem *p;
    attn_args full;        /* with scale filled in */
    int64_t s, b, h, i;    /* sequence, batch, head, row in the sequence */
    int64_t row, key0;     /* packed index of the row and of key 0 */
    double u;              /* unit roundoff of the engine's arithmetic */
    double common;         /* relative error that every weight has */
    double denominator;    /* relative error of the sum; infinite: nothing is known */
    double lse;            /* the oracle's */
    double *w, *z, *error; /* (n_k) weights, biased scores, relative weight errors */
} bound_row;

/* Calls look() for every row of every head, padding rows too, with the model of the row filled in.
 * False as soon as look() is, or without memory (a failed test). */
typedef bool bound_look(bound_row *m, void *user);
bool bound_each_row(const problem *p, bound_look *look, void *user);

double bound_output(const bound_row *m, int64_t d); /* of out[d] before it is stored */
/* Half an ulp of the output type where it is narrower than the arithmetic. */
double bound_store(attn_dtype dtype, double x);
/* S(n): what n rounding errors add up to in a sum, in units of one. */
double bound_sum(double n);

typedef struct bound_comparison {
    const char *name;
    double actual, expected, bound;
    int64_t at[4];
} bound_comparison;

/* False, and a failed test, if actual is further from expected than the bound. */
bool bound_holds(const problem *p, const bound_comparison *c, double *worst);

#endif
