/* SPDX-License-Identifier: Apache-2.0 */
/* run_args.h - what run_inputs.c and run_args.c share. */
#ifndef CLI_RUN_ARGS_H
#define CLI_RUN_ARGS_H

#include "run/run.h"

/* Numbers, lists, pattern and ALiBi slopes -> job->args, which already has q, k, v. */
int run_take_options(run_job *job);

#endif
