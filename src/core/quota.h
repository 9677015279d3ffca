/* SPDX-License-Identifier: Apache-2.0 */
/* quota.h - how many CPUs the control group of this process may keep busy: what a container with a
 * CPU limit has, whatever the number of CPUs it may run on. Tests: tests/core/test_quota.c */
#ifndef ATTNI_QUOTA_H
#define ATTNI_QUOTA_H

/* The smallest limit of the group and of the groups around it, rounded up to whole CPUs; 0 when
 * there is none. Reads ROOT/proc/self/cgroup and, below ROOT/sys/fs/cgroup, cpu.max (version 2) or
 * cpu/cpu.cfs_quota_us and cpu.cfs_period_us (version 1). root is "" except in tests. What cannot
 * be read or understood limits nothing. */
int attni_quota_cpus(const char *root);

#endif
