/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - command-line options as tables: one row gives name, type, place and help of an
 * option, and both the parser and the help text are made from it.
 * Tests: tests/cli/test_options.c, tests/fuzz/fuzz_cli.c */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "shared/cli.h"
#include "shared/whole_number.h"

typedef enum cli_kind {
    CLI_SECTION, /* a heading of the help text */
    CLI_FLAG,    /* bool */
    CLI_TEXT,    /* const char * */
    CLI_TEXTS,   /* cli_texts: the option may be repeated */
    CLI_INT,     /* int64_t, min..max; 16k and 1e6 are understood */
    CLI_UINT,    /* uint64_t */
    CLI_REAL,    /* double, finite */
    CLI_CHOICE   /* int: index into the |-separated words of `value` */
} cli_kind;

enum { CLI_MAX_TEXTS = 8 };

typedef struct cli_texts {
    const char *item[CLI_MAX_TEXTS];
    int n;
} cli_texts;

typedef struct cli_option {
    cli_kind kind;
    const char *name;  /* without the dashes; the title of a section */
    char letter;       /* short form, or 0 */
    size_t at;         /* offset of the field in the settings struct */
    const char *value; /* "FILE" in the help; the words of a choice */
    const char *help;
    int64_t min, max; /* CLI_INT; both 0 = any */
} cli_option;

/* Every settings struct begins with this; every option table ends with CLI_COMMON_OPTIONS. */
typedef struct cli_common {
    bool help;
    bool json;
    int color; /* index into CLI_COLOR_CHOICES */
} cli_common;

#define CLI_COLOR_CHOICES "auto|always|never"
#define CLI_COMMON_OPTIONS                                                                         \
    {.kind = CLI_SECTION, .name = "Common"},                                                       \
        {.kind = CLI_FLAG,                                                                         \
         .name = "json",                                                                           \
         .at = offsetof(cli_common, json),                                                         \
         .help = "print the result as JSON"},                                                      \
        {.kind = CLI_CHOICE,                                                                       \
         .name = "color",                                                                          \
         .at = offsetof(cli_common, color),                                                        \
         .value = CLI_COLOR_CHOICES,                                                               \
         .help = "when to use colour; auto: on a terminal, unless NO_COLOR is set"},               \
        {.kind = CLI_FLAG,                                                                         \
         .name = "help",                                                                           \
         .letter = 'h',                                                                            \
         .at = offsetof(cli_common, help),                                                         \
         .help = "print this help"}

/* The option --threads of settings that have a field `int64_t threads`. */
#define CLI_THREADS_OPTION(settings, text)                                                         \
    {.kind = CLI_INT,                                                                              \
     .name = "threads",                                                                            \
     .at = offsetof(settings, threads),                                                            \
     .value = "N",                                                                                 \
     .min = 1,                                                                                     \
     .max = 1024,                                                                                  \
     .help = text}

/* A section after the options, its text already wrapped. */
typedef struct cli_note {
    const char *title, *text;
} cli_note;

typedef struct cli_spec {
    const char *command; /* "run" */
    const char *usage;   /* lines that follow "attn ", separated by newlines */
    const char *about;   /* a paragraph, already wrapped */
    cli_note notes[4];   /* as many as have a title */
    const cli_option *options;
    size_t n_options;
} cli_spec;

enum { CLI_GO = -1 };

/* Fills *settings (which holds the defaults) from argv[1..] and sets the colour up. Returns CLI_GO,
 * or the exit code when there is nothing more to do: the help was asked for and printed, or a
 * message was. Texts point into argv. */
int cli_parse(const cli_spec *spec, int argc, char **argv, void *settings);

/* Copies what a command hands to cli_parse(), which every command calls before anything else; false
 * for `help`, which has no options. */
bool cli_spec_of(const cli_command *command, cli_spec *spec);

/* Prints the help text of a command on standard output. */
void cli_print_help(const cli_spec *spec);

/* How many letters to insert, delete, replace or swap with the next to get from a to b. Words of
 * more than 40 letters count as far away. */
int cli_distance(const char *a, const char *b);

/* Of the n words that next(arg, i) gives, the nearest one, if at most a third of its letters is
 * wrong; or NULL. */
const char *cli_nearest(const char *word, size_t n, const char *(*next)(const void *arg, size_t i),
                        const void *arg);

#endif
