/* SPDX-License-Identifier: Apache-2.0 */
/* not_the_math_library.c - a target called m that is somebody's own: linking it by mistake does not link,
 * because the function it needs exists nowhere. */
int nobody_defines_this(void);
int parents_own(void);
double exp(double x);

int parents_own(void) { return nobody_defines_this(); }
double exp(double x) { return x * nobody_defines_this(); }
