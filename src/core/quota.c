/* SPDX-License-Identifier: Apache-2.0 */
/* quota.c - see quota.h. */
#include "core/quota.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 1024, MAX_NAME = 2048 };

/* The first line of a file without its line end; false if there is none or it is too long. */
static bool read_line(const char *folder, const char *name, char line[MAX_LINE]) {
    char path[MAX_NAME];
    const int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = n > 0 && n < MAX_NAME ? fopen(path, "r") : NULL;
    if (!file) return false;
    const bool read = fgets(line, MAX_LINE, file) != NULL;
    fclose(file);
    if (!read || strlen(line) == MAX_LINE - 1) return false;
    line[strcspn(line, "\n")] = 0;
    return true;
}

/* A whole number followed by nothing but spaces and what `rest` receives. */
static bool parse_number(const char *text, long long *number, const char **rest) {
    char *end;
    *number = strtoll(text, &end, 10); /* clamped to the range of long long */
    *rest = end + strspn(end, " \t\r");
    return end != text && (*end == 0 || *rest != end);
}

static int cpus_of(long long quota, long long period) {
    if (quota <= 0 || period <= 0) return 0;
    const long long cpus = quota / period + (quota % period != 0);
    return cpus < INT_MAX ? (int)cpus : 0;
}

/* "QUOTA PERIOD", or "max PERIOD" for no limit. */
static int limit_of_v2(const char *folder) {
    char line[MAX_LINE];
    const char *rest;
    long long quota, period;
    if (!read_line(folder, "cpu.max", line)) return 0;
    if (!parse_number(line, &quota, &rest) || !parse_number(rest, &period, &rest)) return 0;
    return *rest == 0 ? cpus_of(quota, period) : 0;
}

/* A quota of -1 means no limit. */
static int limit_of_v1(const char *folder) {
    char line[2][MAX_LINE];
    const char *rest[2];
    long long quota, period;
    if (!read_line(folder, "cpu.cfs_quota_us", line[0]) ||
        !read_line(folder, "cpu.cfs_period_us", line[1]))
        return 0;
    if (!parse_number(line[0], &quota, &rest[0]) || !parse_number(line[1], &period, &rest[1]))
        return 0;
    return *rest[0] == 0 && *rest[1] == 0 ? cpus_of(quota, period) : 0;
}

static int smaller(int a, int b) { return a == 0 || (b > 0 && b < a) ? b : a; }

/* The smallest limit of the group at `path` below `mount` and of all groups that contain it. A
 * container may see the host's path, which does not exist here; the mount itself is then its
 * group. */
static int smallest_limit(const char *root, const char *mount, const char *path,
                          int (*limit_of)(const char *folder)) {
    char folder[MAX_NAME];
    int cpus = 0;
    const int n = snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s", root, mount);
    const int length = snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s%s", root, mount, path);
    if (length < n || length >= MAX_NAME) return 0;
    for (;;) {
        cpus = smaller(cpus, limit_of(folder));
        char *last = strrchr(folder + n, '/');
        if (!last) return cpus;
        *last = 0;
    }
}

/* Whether "cpu" is one of the comma-separated names. */
static bool names_cpu(const char *names) {
    for (;; names++) {
        const size_t n = strcspn(names, ",");
        if (n == 3 && strncmp(names, "cpu", 3) == 0) return true;
        names += n;
        if (*names == 0) return false;
    }
}

/* "HIERARCHY:CONTROLLERS:PATH"; version 2 has no controllers here. */
static int limit_of_line(const char *root, char *line) {
    line[strcspn(line, "\n")] = 0;
    char *names = strchr(line, ':');
    char *path = names ? strchr(names + 1, ':') : NULL;
    if (!path) return 0;
    *path++ = 0;
    if (*++names == 0) return smallest_limit(root, "", path, limit_of_v2);
    return names_cpu(names) ? smallest_limit(root, "/cpu", path, limit_of_v1) : 0;
}

int attni_quota_cpus(const char *root) {
    char line[MAX_LINE];
    int cpus = 0;
    const int n = snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *file = n > 0 && n < MAX_LINE ? fopen(line, "r") : NULL;
    if (!file) return 0;
    while (fgets(line, sizeof line, file)) cpus = smaller(cpus, limit_of_line(root, line));
    fclose(file);
    return cpus;
}
