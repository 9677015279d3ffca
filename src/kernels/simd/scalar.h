/* SPDX-License-Identifier: Apache-2.0 */
/* scalar.h - one lane, plain C: runs everywhere, and shows that results do not depend on the
 * vector width. */
#define VBYTES (REAL_BITS / 8)
typedef real vr __attribute__((vector_size(VBYTES)));
typedef real_int vi __attribute__((vector_size(VBYTES)));

#define FUSED        false
#define ACCUMULATORS 12 /* vectors of sums that fit the register file beside the operands */
#define MAX_VECS     2  /* query vectors per panel */
#define MAX_ROWS     8

static inline vr v_fma(vr a, vr b, vr c) { return a * b + c; }
static inline vr v_max(vr a, vr b) { return a[0] > b[0] ? a : b; }
