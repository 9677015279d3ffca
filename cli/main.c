/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the attn command: signals, the command, and a last look at standard output.
 * Tests: tests/cli/test_cli.py */
#include "lab/support/outfile.h"
#include "shared/cli.h"
#include "shared/out.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Leaves no half-written file behind. */
static void stop(int signal_number) {
    outfile_remove_pending();
    _exit(128 + signal_number); /* 130 for Ctrl-C */
}

static void catch_signals(void) {
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    struct sigaction action = {.sa_handler = stop};
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        struct sigaction before;
        sigaction(caught[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) sigaction(caught[i], &action, NULL); /* nohup stays */
    }
}

int main(int argc, char **argv) {
    catch_signals();
    int code = cli_main(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        out_error("", "standard output: %s", strerror(errno));
        if (code == CLI_OK) code = CLI_FILE;
    }
    return code;
}
