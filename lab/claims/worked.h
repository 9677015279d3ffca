/* SPDX-License-Identifier: Apache-2.0 */
/* worked.h - the rows of each file of this folder, which list.c joins. To add a row, write it in its
 * file. To add a file, add a line here and its name to CMakeLists.txt. */
#ifndef LAB_WORKED_H
#define LAB_WORKED_H

#include "claim.h"

/* Worked numbers, by document. */
#define LAB_WORKED_FILES(X)                                                                        \
    X(worked_001)                                                                                  \
    X(worked_002)                                                                                  \
    X(worked_003)                                                                                  \
    X(worked_004)

/* Claims, by topic. */
#define LAB_CLAIM_FILES(X)                                                                         \
    X(rows)                                                                                        \
    X(variance)                                                                                    \
    X(saturation)                                                                                  \
    X(gradients)                                                                                   \
    X(learning)                                                                                    \
    X(flow)                                                                                        \
    X(counts)                                                                                      \
    X(normalise)                                                                                   \
    X(streaming)                                                                                   \
    X(variants)                                                                                    \
    X(views)

#define X(file) extern const lab_claim_list lab_##file;
LAB_WORKED_FILES(X)
LAB_CLAIM_FILES(X)
#undef X

#define LAB_ROWS(rows) {rows, sizeof(rows) / sizeof *(rows)}

#endif
