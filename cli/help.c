/* SPDX-License-Identifier: Apache-2.0 */
/* help.c - `attn` without arguments, `attn help [CMD]`, and the help text of a command, made
 * from its table of options. Tests: tests/cli/test_cli.py */
#include "shared/options.h"
#include "shared/out.h"

#include <string.h>

enum { HELP_COLUMN = 26, HELP_WIDTH = 80 };

static const char *bold(void) { return out_begin(stdout, OUT_BOLD); }
static const char *plain(void) { return out_begin(stdout, OUT_PLAIN); }

/* Prints text from the current column on, broken between words, continued at HELP_COLUMN. */
static void print_wrapped(const char *text, int column) {
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (column > HELP_COLUMN && column + 1 + length > HELP_WIDTH) {
            printf("\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        }
        column += printf("%s%.*s", column > HELP_COLUMN ? " " : "", length, text);
        text += length;
        text += strspn(text, " ");
    }
    printf("\n");
}

static void print_option(const cli_option *option) {
    int column = option->letter ? printf("  -%c, --%s", option->letter, option->name)
                                : printf("  --%s", option->name);
    if (option->value) column += printf(" %s", option->value);
    if (column + 2 > HELP_COLUMN) {
        printf("\n");
        column = 0;
    }
    printf("%*s", HELP_COLUMN - column, "");
    print_wrapped(option->help, HELP_COLUMN);
}

static void print_usage(const char *usage) {
    const char *label = "usage:";
    while (*usage) {
        const int length = (int)strcspn(usage, "\n");
        printf("%s%-6s%s attn %.*s\n", bold(), label, plain(), length, usage);
        usage += length + (usage[length] == '\n');
        label = "";
    }
}

void cli_print_help(const cli_spec *spec) {
    print_usage(spec->usage);
    printf("\n%s\n", spec->about);
    for (size_t i = 0; i < spec->n_options; i++) {
        const cli_option *option = &spec->options[i];
        if (option->kind == CLI_SECTION)
            printf("\n%s%s%s\n", bold(), option->name, plain());
        else
            print_option(option);
    }
    for (size_t i = 0; i < sizeof spec->notes / sizeof *spec->notes; i++)
        if (spec->notes[i].title)
            printf("\n%s%s%s\n%s", bold(), spec->notes[i].title, plain(), spec->notes[i].text);
}

static void print_overview(void) {
    printf("%sattn %s%s - exact attention on CPUs: out = softmax(scale Q K^T + mask) V\n\n", bold(),
           attn_version(), plain());
    printf("%susage:%s attn COMMAND [options]\n\n", bold(), plain());
    for (size_t i = 0; i < cli_n_commands; i++)
        printf("  %s%-10s%s %s\n", out_begin(stdout, OUT_ACCENT), cli_commands[i].name, plain(),
               cli_commands[i].summary);
    printf("\n%sTry%s\n"
           "  attn trace                                   every step of a worked example\n"
           "  attn learn                                   what attention is, page by page\n"
           "  attn run --q q.npy --k k.npy --v v.npy --causal -o out.npy\n",
           bold(), plain());
}

int cmd_help(int argc, char **argv) {
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_overview();
        return CLI_OK;
    }
    char name[] = "attn", flag[] = "--help";
    char *help[] = {name, argv[1], flag, NULL};
    return cli_main(3, help);
}
