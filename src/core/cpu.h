/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.h - CPU detection: usable instruction sets, the CPU's name, its floating-point state. */
#ifndef ATTNI_CPU_H
#define ATTNI_CPU_H

#include "core/base.h"

bool attni_cpu_runs(attn_isa isa); /* can this machine execute the instruction set? */
void attni_cpu_name(char name[64]);

/* The floating-point control registers of this thread: rounding mode, flushing of subnormals,
 * exception masks. 0 if there are none. */
uint64_t attni_cpu_float_control(void);
void attni_cpu_set_float_control(uint64_t control);

#endif
