/* SPDX-License-Identifier: Apache-2.0 */
/* test_quota.c - src/core/quota.c on directories that look like those of a Linux system. */
#include "check.h"
#include "core/os.h"
#include "core/quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A root folder with a few files; remove_all() takes both away. */
enum { MAX_MADE = 32 };
static char root[64], made[MAX_MADE][256];
static int n_made;

static void note(const char *path) {
    if (n_made == MAX_MADE) abort();
    snprintf(made[n_made++], sizeof made[0], "%s", path);
}

static void make_root(void) {
    snprintf(root, sizeof root, "%s", "test_quota.XXXXXX");
    if (!mkdtemp(root)) abort();
    note(root);
}

static void remove_all(void) {
    while (n_made > 0) remove(made[--n_made]);
}

static void put(const char *name, const char *content) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        if (mkdir(path, 0700) == 0) note(path);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    if (!file) abort();
    fputs(content, file);
    fclose(file);
    note(path);
}

static int limit_with(const char *const files[][2]) {
    make_root();
    for (int f = 0; files[f][0]; f++) put(files[f][0], files[f][1]);
    const int cpus = attni_quota_cpus(root);
    remove_all();
    return cpus;
}

#define LIMIT(...) limit_with((const char *const[][2]){__VA_ARGS__, {NULL}})
#define GROUP      "proc/self/cgroup"
#define MAX        "sys/fs/cgroup/cpu.max"
#define V1         "sys/fs/cgroup/cpu/"

TEST(quota_of_version_2_is_rounded_up) {
    static const struct {
        const char *line;
        int cpus;
    } cases[] = {{"max 100000\n", 0},     {"100000 100000\n", 1}, {"150000 100000\n", 2},
                 {"200000 100000", 2},    {"1000 100000\n", 1},   {"200001 100000\n", 3},
                 {"1600000 100000\n", 16}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const int cpus = LIMIT({GROUP, "0::/\n"}, {MAX, cases[c].line});
        CHECK_MSG(cpus == cases[c].cpus, "%s: %d, expected %d", cases[c].line, cpus, cases[c].cpus);
    }
}

TEST(what_is_no_quota_limits_nothing) {
    static const char *const lines[] = {"",
                                        "\n",
                                        "max\n",
                                        "100000\n",
                                        "0 100000",
                                        "-1 5",
                                        "100000 0\n",
                                        "1e5 100000\n",
                                        "abc def\n",
                                        "1 2 3\n",
                                        "100000x 7\n",
                                        "100000 100000x\n",
                                        "-100 -100",
                                        "9999999999999999999999 1",
                                        "100000 -5\n"};
    for (size_t c = 0; c < sizeof lines / sizeof *lines; c++) {
        const int cpus = LIMIT({GROUP, "0::/\n"}, {MAX, lines[c]});
        CHECK_MSG(cpus == 0, "\"%s\": %d", lines[c], cpus);
    }
}

TEST(groups_around_limit_too) {
    CHECK_INT(LIMIT({GROUP, "0::/a/b\n"}, {"sys/fs/cgroup/a/b/cpu.max", "500000 100000\n"},
                    {"sys/fs/cgroup/a/cpu.max", "300000 100000\n"}, {MAX, "max 100000\n"}),
              3);
    CHECK_INT(LIMIT({GROUP, "0::/a/b\n"}, {"sys/fs/cgroup/a/b/cpu.max", "100000 100000\n"},
                    {"sys/fs/cgroup/a/cpu.max", "300000 100000\n"}),
              1);
}

/* In a container /proc may name the group as the host sees it. */
TEST(group_that_is_not_there_leaves_the_mount) {
    CHECK_INT(LIMIT({GROUP, "0::/docker/0123\n"}, {MAX, "200000 100000\n"}), 2);
    CHECK_INT(LIMIT({GROUP, "7:cpu,cpuacct:/docker/0123\n0::/x\n"},
                    {V1 "cpu.cfs_quota_us", "250000\n"}, {V1 "cpu.cfs_period_us", "100000\n"}),
              3);
}

TEST(quota_of_version_1_is_read_with_its_period) {
    CHECK_INT(LIMIT({GROUP, "3:cpuset:/\n2:cpuacct,cpu:/g\n1:name=systemd:/\n"},
                    {V1 "g/cpu.cfs_quota_us", "50000\n"}, {V1 "g/cpu.cfs_period_us", "20000\n"},
                    {V1 "cpu.cfs_quota_us", "-1\n"}, {V1 "cpu.cfs_period_us", "100000\n"}),
              3);
    CHECK_INT(LIMIT({GROUP, "2:cpu:/\n"}, {V1 "cpu.cfs_quota_us", "-1\n"},
                    {V1 "cpu.cfs_period_us", "100000\n"}),
              0);
    CHECK_INT(LIMIT({GROUP, "2:cpu:/\n"}, {V1 "cpu.cfs_quota_us", "100000\n"}), 0);
    CHECK_INT(LIMIT({GROUP, "2:cpuset,cpuacct:/\n"}, {V1 "cpu.cfs_quota_us", "100000\n"},
                    {V1 "cpu.cfs_period_us", "100000\n"}),
              0);
}

TEST(odd_group_files_are_survived) {
    static char endless[5000];
    memset(endless, 'x', sizeof endless - 1);
    CHECK_INT(LIMIT({GROUP, ""}, {MAX, "100000 100000\n"}), 0);
    CHECK_INT(LIMIT({GROUP, "nonsense\n:\n::\n0:\n"}, {MAX, "400000 100000\n"}), 4); /* "::" is / */
    CHECK_INT(LIMIT({GROUP, endless}, {MAX, endless}), 0);
    CHECK_INT(LIMIT({GROUP, "0::/\n"}, {MAX, endless}), 0);
    CHECK_INT(attni_quota_cpus("no/such/folder"), 0);
}

TEST(cpu_count_respects_the_quota_of_this_process) {
    const int quota = attni_quota_cpus("");
    CHECK(quota >= 0);
    CHECK(quota == 0 || attni_cpu_count() <= quota);
}
