/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.h - what the machine is: instruction sets and its name. */
#ifndef ATTNI_CPU_H
#define ATTNI_CPU_H

#include "core/base.h"

bool attni_cpu_runs(attn_isa isa); /* does this machine execute the instruction set? */
void attni_cpu_name(char name[64]);

/* The control registers of floating-point arithmetic of this thread: rounding, flushing of
 * subnormals, masks of exceptions. 0 where there are none. */
uint64_t attni_cpu_float_control(void);
void attni_cpu_set_float_control(uint64_t control);

#endif
