/* SPDX-License-Identifier: Apache-2.0 */
/* real.h - layers and models are written once, for `real`, and compiled twice, for float and
 * double. The build defines ATTNI_REAL_f32 or ATTNI_REAL_f64 (attn_per_real() in
 * src/CMakeLists.txt), and R(linear_forward) is attni_linear_forward_f32 or
 * attni_linear_forward_f64. A caller that is not itself compiled twice (a command, a tool) selects
 * one with `#define ATTNI_REAL_f32` before its includes and calls R(...) or the full name; a caller
 * that needs both has a small source file per real type, added with attn_per_real(). */
#ifndef ATTNI_REAL_H
#define ATTNI_REAL_H

#include "core/base.h"

#include <math.h>

#if defined(ATTNI_REAL_f32) == defined(ATTNI_REAL_f64)
#error "define exactly one of ATTNI_REAL_f32 and ATTNI_REAL_f64 before including layers"
#endif

#if defined(ATTNI_REAL_f32)
typedef float real;
#define R(name)     attni_##name##_f32
#define REAL_IS_F64 false
#define REAL_DTYPE  ATTN_F32
static inline real real_sqrt(real x) { return sqrtf(x); }
#else
typedef double real;
#define R(name)     attni_##name##_f64
#define REAL_IS_F64 true
#define REAL_DTYPE  ATTN_F64
static inline real real_sqrt(real x) { return sqrt(x); }
#endif

#endif
