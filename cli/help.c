/* SPDX-License-Identifier: Apache-2.0 */
/* help.c - `attn` without arguments, `attn help [CMD]`, and the help text of a command, made
 * from its table of options. Tests: tests/cli/test_cli.py */
#include "shared/options.h"
#include "shared/out.h"
#include "shared/text.h"

#include <string.h>

enum { HELP_COLUMN = 26, OVERVIEW_COLUMN = 14, MOST_WIDTH = 80, LEAST_WIDTH = 20 };

static const char *bold(void) { return out_begin(stdout, OUT_BOLD); }
static const char *plain(void) { return out_begin(stdout, OUT_PLAIN); }

static int help_width(void) { return out_columns(LEAST_WIDTH, MOST_WIDTH); }

/* Prints a name that ends at `column` and its explanation beside it, or below where it is narrow. */
static void print_explained(int column, int beside, const char *help) {
    const int width = help_width(), indent = width >= 2 * beside ? beside : 6;
    if (column + 2 > indent) {
        printf("\n");
        column = 0;
    }
    printf("%*s", indent - column, "");
    text_wrap(stdout, help, (text_box){indent, indent, width});
}

static void print_option(const cli_option *option) {
    char name[256];
    int n = option->letter ? snprintf(name, sizeof name, "-%c, --%s", option->letter, option->name)
                           : snprintf(name, sizeof name, "--%s", option->name);
    if (option->value) n += snprintf(name + n, sizeof name - (size_t)n, " %s", option->value);
    printf("  ");
    if (2 + n <= help_width()) {
        printf("%s", name);
        print_explained(2 + n, HELP_COLUMN, option->help);
    } else { /* many choices */
        text_wrap(stdout, name, (text_box){2, 4, help_width()});
        print_explained(0, HELP_COLUMN, option->help);
    }
}

static void print_title(const char *title) {
    printf("\n%s", bold());
    text_wrap(stdout, title, (text_box){.width = help_width()});
    printf("%s", plain());
}

static void print_usage(const char *usage) {
    const char *label = "usage:";
    while (*usage) {
        char line[512];
        const size_t length = strcspn(usage, "\n");
        snprintf(line, sizeof line, "attn %.*s", (int)length, usage);
        printf("%s%-6s%s ", bold(), label, plain());
        text_wrap(stdout, line, (text_box){7, 11, help_width()});
        usage += length + (usage[length] == '\n');
        label = "";
    }
}

static const char numbers[] =
    "Whole numbers may be written as 16k (16 x 1024), 2M (2 x 1024 x 1024), 1G or 1e6 (a million).";

/* Whether a number may be so large that one would rather not count its digits. */
static bool takes_large_numbers(const cli_spec *spec) {
    for (size_t i = 0; i < spec->n_options; i++)
        if (spec->options[i].kind == CLI_INT && spec->options[i].max > 99999 &&
            strcmp(spec->options[i].name, "seed") != 0)
            return true;
    return false;
}

void cli_print_help(const cli_spec *spec) {
    print_usage(spec->usage);
    printf("\n");
    text_reflow(stdout, spec->about, help_width());
    for (size_t i = 0; i < spec->n_options; i++) {
        const cli_option *option = &spec->options[i];
        if (option->kind == CLI_SECTION)
            print_title(option->name);
        else
            print_option(option);
    }
    if (takes_large_numbers(spec)) {
        printf("\n");
        text_reflow(stdout, numbers, help_width());
    }
    for (size_t i = 0; i < sizeof spec->notes / sizeof *spec->notes; i++) {
        if (!spec->notes[i].title) continue;
        print_title(spec->notes[i].title);
        text_reflow(stdout, spec->notes[i].text, help_width());
    }
}

static void print_overview(void) {
    printf("%sattn %s%s - ", bold(), attn_version(), plain());
    text_wrap(stdout, "exact attention on CPUs: out = softmax(scale Q K^T + mask) V",
              (text_box){8 + (int)strlen(attn_version()), 2, help_width()});
    printf("\n%susage:%s attn COMMAND [options]\n\n", bold(), plain());
    for (size_t i = 0; i < cli_n_commands; i++) {
        const int column = 2 + (int)strlen(cli_commands[i].name);
        printf("  %s%s%s", out_begin(stdout, OUT_ACCENT), cli_commands[i].name, plain());
        print_explained(column, OVERVIEW_COLUMN, cli_commands[i].summary);
    }
    printf("\n%sTry%s\n", bold(), plain());
    text_reflow(stdout,
                "  attn trace                  every step of a worked example\n"
                "  attn run --q q.npy --k k.npy --v v.npy --causal -o out.npy\n",
                help_width());
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
