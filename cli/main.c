/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the attn command: signals, the command, and a last look at standard output.
 * Tests: tests/cli/test_cli.py */
#include "lab/support/outfile.h"
#include "shared/cli.h"
#include "shared/out.h"
#include "shared/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Leaves no half-written file behind. */
static void stop(int signal_number) {
    if (!outfile_remove_pending()) return;
    _Exit(128 + signal_number); /* 130 for Ctrl-C */
}

int main(int argc, char **argv) {
    terminal_begin();
    terminal_on_end(stop);
    int code = cli_main(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        out_error("", "standard output: %s", strerror(errno));
        if (code == CLI_OK) code = CLI_FILE;
    }
    return code;
}
