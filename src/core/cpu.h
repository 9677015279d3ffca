/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.h - what the machine is: instruction sets and its name. */
#ifndef ATTNI_CPU_H
#define ATTNI_CPU_H

#include "core/base.h"

bool attni_cpu_runs(attn_isa isa); /* does this machine execute the instruction set? */
void attni_cpu_name(char name[64]);

#endif
