/* SPDX-License-Identifier: Apache-2.0 */
/* quota.h - the number of CPUs that the control group of this process may keep busy. In a container
 * with a CPU limit it is lower than the number of CPUs the process may run on. Tests:
 * tests/core/test_quota.c */
#ifndef ATTNI_QUOTA_H
#define ATTNI_QUOTA_H

/* The lowest limit of the group and its ancestors, rounded up to whole CPUs; 0 if there is no
 * limit. Reads ROOT/proc/self/cgroup and, below ROOT/sys/fs/cgroup, cpu.max (version 2) or
 * cpu/cpu.cfs_quota_us and cpu.cfs_period_us (version 1). root is "" except in tests. Files that
 * cannot be read or parsed set no limit. */
int attni_quota_cpus(const char *root);

#endif
