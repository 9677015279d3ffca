/* SPDX-License-Identifier: Apache-2.0 */
/* web_math.h - the few functions of libm that the engine calls, without the tables that make libm
 * faster: 14 kB that do not compress. Errors up to 1 ulp, for tanh and cos up to 4. In the wasm
 * module they replace those of libm; native tests compare them with libm. Tests:
 * tests/web/test_web_libc.c */
#ifndef WEB_MATH_H
#define WEB_MATH_H

double web_exp(double x);
double web_log(double x);
double web_tanh(double x);
/* Exact to the last bit or nearly so for whole y up to 2^31; else exp(y log x) for x > 0. */
double web_pow(double x, double y);
/* |x| <= 4, which is what the learning rate schedule needs; NaN beyond. */
double web_cos(double x);

#endif
