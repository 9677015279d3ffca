/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.h - what the machine is: instruction sets, CPUs of this process, its name. */
#ifndef ATTNI_CPU_H
#define ATTNI_CPU_H

#include "core/base.h"

#if !defined(__wasm__)
#include <pthread.h>
/* Keeps a thread on the index-th CPU this process may use (modulo their number); does nothing
 * where it cannot. */
void attni_cpu_pin(pthread_t thread, int index);
#endif

bool attni_cpu_runs(attn_isa isa); /* does this machine execute the instruction set? */
int attni_cpu_count(void);         /* CPUs this process may run on, at least 1 */
void attni_cpu_name(char name[64]);

#endif
