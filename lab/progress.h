/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - how an experiment reports its progress. */
#ifndef LAB_PROGRESS_H
#define LAB_PROGRESS_H

#include "experiment.h"

/* `done` of `all` parts. */
static inline void lab_progress(const lab_settings *settings, size_t done, size_t all) {
    if (settings->progress) settings->progress(settings->progress_arg, (double)done / (double)all);
}

#endif
