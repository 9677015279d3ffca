/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - parses options by their table; suggests the nearest name for an unknown one.
 * Tests: tests/cli/test_options.c, tests/fuzz/fuzz_cli.c */
#include "shared/options.h"

#include "core/base.h"
#include "shared/out.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_WORD = 40 };

/* ------------------------------------------------------------------------------------- numbers */

static bool parse_uint(const char *text, uint64_t *value) {
    char *end;
    if (!isdigit((unsigned char)*text)) return false;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (errno || *end) return false;
    *value = number;
    return true;
}

static bool parse_real(const char *text, double *value) {
    char *end;
    if (!isdigit((unsigned char)*text) && *text != '-' && *text != '.') return false;
    const double number = strtod(text, &end);
    if (end == text || *end || !isfinite(number)) return false;
    *value = number;
    return true;
}

/* The index of word among "a|b|c", or -1. */
static int choice_index(const char *choices, const char *word) {
    const size_t length = strlen(word);
    for (int index = 0;; index++) {
        const size_t n = strcspn(choices, "|");
        if (n == length && memcmp(choices, word, n) == 0) return index;
        if (choices[n] == 0) return -1;
        choices += n + 1;
    }
}

/* --------------------------------------------------------------------------------- suggestions */

int cli_distance(const char *a, const char *b) {
    int row[3][LONGEST_WORD + 1]; /* two rows back, one row back, this row */
    const size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST_WORD || m > LONGEST_WORD) return 2 * LONGEST_WORD;
    for (size_t j = 0; j <= m; j++) row[1][j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        row[2][0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int best = row[1][j - 1] + (a[i - 1] != b[j - 1]);
            if (row[1][j] + 1 < best) best = row[1][j] + 1;
            if (row[2][j - 1] + 1 < best) best = row[2][j - 1] + 1;
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && row[0][j - 2] + 1 < best) best = row[0][j - 2] + 1;
            row[2][j] = best;
        }
        memcpy(row[0], row[1], sizeof row[0]);
        memcpy(row[1], row[2], sizeof row[0]);
    }
    return row[1][m];
}

/* One letter of three may be wrong, and none of two. */
static bool is_near(const char *word, const char *candidate, int distance) {
    const size_t a = strlen(word), b = strlen(candidate);
    return distance <= (int)((a > b ? a : b) / 3);
}

const char *cli_nearest(const char *word, size_t n, const char *(*next)(const void *arg, size_t i),
                        const void *arg) {
    const char *nearest = NULL;
    const size_t length = strlen(word);
    int least = 0;
    for (size_t i = 0; i < n; i++) {
        const char *candidate = next(arg, i);
        if (!candidate) continue;
        int distance = cli_distance(word, candidate);
        /* the beginning of a name is nearly the name: --temp for --temperature */
        if (length >= 3 && strncmp(word, candidate, length) == 0) distance = 1;
        if (!is_near(word, candidate, distance) || (nearest && distance >= least)) continue;
        nearest = candidate;
        least = distance;
    }
    return nearest;
}

static const char *option_name(const void *arg, size_t i) {
    const cli_option *option = &((const cli_spec *)arg)->options[i];
    return option->kind == CLI_SECTION ? NULL : option->name;
}

/* ------------------------------------------------------------------------------------- parsing */

static int refuse(const cli_spec *spec) {
    out_hint("try: attn %s --help", spec->command);
    return CLI_USAGE;
}

static const cli_option *find_name(const cli_spec *spec, const char *name, size_t length) {
    for (size_t i = 0; i < spec->n_options; i++) {
        const cli_option *option = &spec->options[i];
        if (option->kind != CLI_SECTION && strlen(option->name) == length &&
            memcmp(option->name, name, length) == 0)
            return option;
    }
    return NULL;
}

static const cli_option *find_letter(const cli_spec *spec, char letter) {
    for (size_t i = 0; i < spec->n_options; i++)
        if (spec->options[i].letter == letter) return &spec->options[i];
    return NULL;
}

static int unknown_option(const cli_spec *spec, const char *argument) {
    char name[LONGEST_WORD + 2];
    const char *bare = argument + strspn(argument, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(bare, "="), bare);
    const char *meant = cli_nearest(name, spec->n_options, option_name, spec);
    if (meant)
        out_error(spec->command, "%s: unknown option. Did you mean --%s?", argument, meant);
    else
        out_error(spec->command, "%s: unknown option", argument);
    return refuse(spec);
}

/* Says what is wrong with a number, if not its range, and which numbers are accepted. */
static int bad_int(const cli_spec *spec, const cli_option *option, const char *value,
                   const char *wrong) {
    char range[80] = "";
    if (option->max == INT64_MAX)
        snprintf(range, sizeof range, " of %lld or more", (long long)option->min);
    else if (option->min || option->max)
        snprintf(range, sizeof range, " from %lld to %lld", (long long)option->min,
                 (long long)option->max);
    out_error(spec->command, "--%s %s: %s%sexpected a whole number%s", option->name, value,
              wrong ? wrong : "", wrong && *wrong ? "; " : "", range);
    return refuse(spec);
}

static int store_int(const cli_spec *spec, const cli_option *option, const char *text,
                     int64_t *field) {
    int64_t value = 0;
    const char *wrong = cli_parse_size(text, &value);
    const bool limited = option->min || option->max;
    if (wrong || (limited && (value < option->min || value > option->max)))
        return bad_int(spec, option, text, wrong);
    *field = value;
    return CLI_GO;
}

/* Stores the value of one option; CLI_GO or an exit code. */
static int store(const cli_spec *spec, const cli_option *option, const char *value, void *into) {
    void *field = (char *)into + option->at;
    const char *expected = NULL;
    switch (option->kind) {
    case CLI_FLAG: *(bool *)field = true; break;
    case CLI_TEXT: *(const char **)field = value; break;
    case CLI_TEXTS: {
        cli_texts *texts = field;
        if (texts->n < CLI_MAX_TEXTS)
            texts->item[texts->n++] = value;
        else
            expected = "fewer repetitions of this option";
        break;
    }
    case CLI_INT: return store_int(spec, option, value, field);
    case CLI_UINT:
        if (!parse_uint(value, field)) expected = "a whole number of 0 or more";
        break;
    case CLI_REAL:
        if (!parse_real(value, field)) expected = "a number";
        break;
    case CLI_CHOICE: {
        const int index = choice_index(option->value, value);
        if (index < 0)
            expected = option->value;
        else
            *(int *)field = index;
        break;
    }
    case CLI_SECTION: break;
    }
    if (!expected) return CLI_GO;
    out_error(spec->command, "--%s %s: expected %s", option->name, value, expected);
    return refuse(spec);
}

/* Finds the option that argument names and where its value stands: after '=' or directly after the
 * letter; NULL if it is a word of its own. */
static const cli_option *find(const cli_spec *spec, const char *argument, const char **value) {
    *value = NULL;
    if (argument[1] != '-') {
        if (argument[2]) *value = argument + 2 + (argument[2] == '=');
        return find_letter(spec, argument[1]);
    }
    const size_t length = strcspn(argument + 2, "=");
    if (argument[2 + length]) *value = argument + 2 + length + 1;
    return find_name(spec, argument + 2, length);
}

/* Takes the option at argv[*at] and its value; CLI_GO or an exit code. */
static int take_option(const cli_spec *spec, int argc, char **argv, int *at, void *into) {
    const char *argument = argv[*at], *value;
    const cli_option *option = find(spec, argument, &value);
    if (!option) return unknown_option(spec, argument);
    if (option->kind == CLI_FLAG) {
        if (!value) return store(spec, option, NULL, into);
        out_error(spec->command, "%s: --%s takes no value", argument, option->name);
        return refuse(spec);
    }
    if (!value) {
        const bool missing = *at + 1 >= argc || strncmp(argv[*at + 1], "--", 2) == 0;
        if (missing) {
            out_error(spec->command, "--%s needs a value: --%s %s", option->name, option->name,
                      option->value);
            return refuse(spec);
        }
        value = argv[++*at];
    }
    return store(spec, option, value, into);
}

/* Where cli_parse() copies the table of the command that calls it, instead of parsing; or NULL. */
static cli_spec *asked;

bool cli_spec_of(const cli_command *command, cli_spec *spec) {
    char name[] = "attn", help[] = "--help";
    char *argv[] = {name, help, NULL};
    *spec = (cli_spec){0};
    if (command->run == cmd_help) return false;
    asked = spec;
    command->run(2, argv);
    asked = NULL;
    return spec->command != NULL;
}

int cli_parse(const cli_spec *spec, int argc, char **argv, void *settings) {
    const cli_common *common = settings;
    if (asked) {
        *asked = *spec;
        return CLI_OK;
    }
    for (int at = 1; at < argc; at++) {
        if (argv[at][0] != '-' || argv[at][1] == 0) {
            out_error(spec->command,
                      "%s: unexpected argument; files and values are given with options", argv[at]);
            return refuse(spec);
        }
        const int code = take_option(spec, argc, argv, &at, settings);
        if (code != CLI_GO) return code;
        out_set_color(common->color);
        if (common->help) {
            cli_print_help(spec);
            return CLI_OK;
        }
    }
    return CLI_GO;
}
