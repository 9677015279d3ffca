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
    X(run, "compute attention on NumPy files, or a worked example with --demo")                    \
    X(cost, "count the pairs, flops and bytes of a problem without computing it")                  \
    X(trace, "show attention step by step, with every number")                                     \
    X(report, "run experiments on attention: a PDF, figures and their numbers")                    \
    X(verify, "recompute every worked number and claim of the documents")                          \
    X(learn, "read the book on attention page by page, or take its quiz")                          \
    X(train, "train a tiny transformer on a task and test where it attends")                       \
    X(attend, "show a trained model's answers and its attention as a heatmap")                     \
    X(explore, "serve the explorer, an interactive page about attention")                          \
    X(gradcheck, "check every gradient against finite differences")                                \
    X(bench, "measure the engine against this machine's peak")                                     \
    X(info, "show what this machine and this build support")                                       \
    X(selftest, "check the engine on this machine, in about a second")                             \
    X(completion, "print a script that completes attn's options in your shell")                    \
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
