/* SPDX-License-Identifier: Apache-2.0 */
/* commands.c - the table of subcommands and the way from argv to one of them.
 * Tests: tests/cli/test_cli.py */
#include "shared/options.h"
#include "shared/out.h"

#include <string.h>

const cli_command cli_commands[] = {
#define X(name, summary) {#name, summary, cmd_##name},
    CLI_COMMANDS(X)
#undef X
};
const size_t cli_n_commands = sizeof cli_commands / sizeof *cli_commands;

static const char *command_name(const void *arg, size_t i) {
    (void)arg;
    return cli_commands[i].name;
}

static int unknown_command(const char *word) {
    const char *meant = cli_nearest(word, cli_n_commands, command_name, NULL);
    if (meant)
        out_error("", "%s: unknown command. Did you mean attn %s?", word, meant);
    else
        out_error("", "%s: unknown command", word);
    out_hint("try: attn help");
    return CLI_USAGE;
}

int cli_main(int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : "help";
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("attn %s\n", attn_version());
        return CLI_OK;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) word = "help";
    for (size_t i = 0; i < cli_n_commands; i++)
        if (strcmp(word, cli_commands[i].name) == 0)
            return cli_commands[i].run(argc > 1 ? argc - 1 : argc, argc > 1 ? argv + 1 : argv);
    return unknown_command(word);
}

int cli_code_of(attn_status status) {
    switch (status) {
    case ATTN_OK: return CLI_OK;
    case ATTN_E_SHAPE:
    case ATTN_E_DTYPE:
    case ATTN_E_STRIDE:
    case ATTN_E_OVERLAP: return CLI_FILE; /* shapes and types come from files */
    case ATTN_E_VALUE:
    case ATTN_E_OVERFLOW:
    case ATTN_E_ISA: return CLI_USAGE;
    default: return CLI_FAILED;
    }
}

bool cli_isa_named(const char *name, attn_isa *isa) {
    for (int i = 0; i < attn_isa_count(); i++) {
        if (strcmp(name, attn_isa_name((attn_isa)i)) != 0) continue;
        *isa = (attn_isa)i;
        return true;
    }
    return false;
}
