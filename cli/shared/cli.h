/* SPDX-License-Identifier: Apache-2.0 */
/* cli.h - the table of subcommands and what they share: exit codes and the common options.
 * A subcommand is one function in a file of its own; argv[0] is its name. It returns an exit code,
 * never calls exit(), and frees what it takes, so that the fuzzers can call it again and again. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "attn/attn.h"

#include <stdbool.h>

/*    name      one line for the overview */
#define CLI_COMMANDS(X)                                                                            \
    X(run, "attention on .npy files, or a worked example with --demo")                             \
    X(cost, "count pairs, flops and bytes of a problem without computing it")                      \
    X(trace, "attention step by step, every number shown")                                         \
    X(report, "write up what attention does: PDF, figures and their numbers")                      \
    X(verify, "every worked number and claim of the documents, computed now")                      \
    X(learn, "the book: what attention is, page by page, and a quiz")                              \
    X(train, "teach a tiny transformer a task and judge where it looks")                           \
    X(attend, "what a trained model answers, and its attention as a heatmap")                      \
    X(explore, "the page: see attention, step through it, watch it learn")                         \
    X(gradcheck, "compare every gradient with differences of the forward pass")                    \
    X(bench, "measure the engine against this machine's peak")                                     \
    X(info, "what this machine and this build offer")                                              \
    X(selftest, "check the engine on this machine, in about a second")                             \
    X(help, "explain a command: attn help run")

#define X(name, summary) int cmd_##name(int argc, char **argv);
CLI_COMMANDS(X)
#undef X

typedef struct cli_command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} cli_command;

extern const cli_command cli_commands[];
extern const size_t cli_n_commands;

enum {
    CLI_OK = 0,
    CLI_FAILED = 1, /* a check did not hold, or the machine could not do it (memory) */
    CLI_USAGE = 2,  /* options */
    CLI_FILE = 3,   /* a file could not be read, understood or written */
    CLI_INTERRUPTED = 130
};

/* Runs the command that argv[1] names; main() without the process-wide set-up. */
int cli_main(int argc, char **argv);

/* The exit code that goes with a status of the library. */
int cli_code_of(attn_status status);

/* The instruction set of that name; false if there is none. */
bool cli_isa_named(const char *name, attn_isa *isa);

#endif
