/* SPDX-License-Identifier: Apache-2.0 */
/* registry.c - the experiments, in the order of the report. To add one: write its file, add a line
 * here. Read by: report, cli. Tests: tests/lab/test_registry.c */
#include "experiment.h"

/*  symbol           id and file */
#define LAB_EXPERIMENTS(X)                                                                         \
    X(f1)                                                                                          \
    X(f2)                                                                                          \
    X(f3)                                                                                          \
    X(f4)                                                                                          \
    X(f5)                                                                                          \
    X(f6)                                                                                          \
    X(f7)                                                                                          \
    X(e1)                                                                                          \
    X(e2)                                                                                          \
    X(e3)                                                                                          \
    X(e4)                                                                                          \
    X(e5)                                                                                          \
    X(e6)                                                                                          \
    X(e7)                                                                                          \
    X(e8)                                                                                          \
    X(e9)                                                                                          \
    X(e10)                                                                                         \
    X(e11)

#define X(name) extern const lab_experiment lab_##name;
LAB_EXPERIMENTS(X)
#undef X

#define X(name) &lab_##name,
const lab_experiment *const lab_experiments[] = {LAB_EXPERIMENTS(X) NULL};
#undef X

const char *lab_verdict_name(lab_verdict verdict) {
    static const char *const name[] = {"holds", "holds if", "wrong", "measured"};
    return name[verdict];
}

const char *lab_verdict_words(lab_verdict verdict) {
    return verdict == LAB_HOLDS_IF ? "holds with a condition" : lab_verdict_name(verdict);
}
