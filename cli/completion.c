/* SPDX-License-Identifier: Apache-2.0 */
/* completion.c - `attn completion SHELL`: a script that completes commands, options and their values,
 * made from the option tables that the parser uses. Tests: tests/cli/test_completion.py */
#include "lab/learning/task.h"
#include "learn/learn_pages.h"
#include "shared/options.h"
#include "shared/out.h"
#include "shared/text.h"

#include <string.h>

typedef struct completion_options {
    cli_common common;
} completion_options;

static const cli_option options[] = {
    {.kind = CLI_SECTION, .name = "Common"},
    {.kind = CLI_FLAG, /* the only one: a script has no form in JSON or colour */
     .name = "help",
     .letter = 'h',
     .at = offsetof(cli_common, help),
     .help = "print this help"},
};

static const cli_spec spec = {
    .command = "completion",
    .usage = "completion bash|zsh|fish",
    .about = "Prints a script that completes the commands, options and values of attn in your\n"
             "shell. `cmake --install` installs all three scripts where the shells look for\n"
             "them; this command is for shells that look elsewhere.",
    .notes = {{"Examples", "  source <(attn completion bash)          in ~/.bashrc\n"
                           "  source <(attn completion zsh)           in ~/.zshrc, after compinit\n"
                           "  attn completion fish | source           in config.fish\n"}},
    .options = options,
    .n_options = sizeof options / sizeof *options,
};

/* ---- what can be completed ---- */

/* The words that may follow a command directly, one after another; NULL after the last. */
static const char *next_word(const char *command, size_t i) {
    static const char *const benches[] = {"forward", "backward", "small", "gemm"};
    static const char *const shells[] = {"bash", "zsh", "fish"};
    if (strcmp(command, "bench") == 0) return i < 4 ? benches[i] : NULL;
    if (strcmp(command, "completion") == 0) return i < 3 ? shells[i] : NULL;
    if (strcmp(command, "help") == 0) return i < cli_n_commands ? cli_commands[i].name : NULL;
    if (strcmp(command, "train") == 0) return i < LAB_N_TASKS ? lab_tasks[i]->name : NULL;
    if (strcmp(command, "learn") != 0 || i >= learn_n_pages) return NULL;
    return learn_pages[i].file + strspn(learn_pages[i].file, "0123456789-"); /* 03-masks */
}

static void put_words(const char *command) {
    const char *word;
    for (size_t i = 0; (word = next_word(command, i)); i++) printf("%s%s", i ? " " : "", word);
}

/* `attn attend` begins with the name of a model file. */
static bool begins_with_file(const char *command) { return strcmp(command, "attend") == 0; }

static bool has_file(const cli_option *option) {
    return option->value && (strstr(option->value, "FILE") || strstr(option->value, "DIR"));
}

static void put_choices(const cli_option *option) {
    for (const char *at = option->value; *at; at++) putchar(*at == '|' ? ' ' : *at);
}

/* Calls put for every option of a command. */
static void each_option(const cli_command *command,
                        void (*put)(const cli_command *command, const cli_option *option)) {
    cli_spec table;
    if (!cli_spec_of(command, &table)) return;
    for (size_t i = 0; i < table.n_options; i++)
        if (table.options[i].kind != CLI_SECTION) put(command, &table.options[i]);
}

/* A text inside single quotes; `special` letters get a backslash, and a quote becomes `quote`. */
static void put_quoted(const char *text, const char *special, const char *quote) {
    char room[TEXT_ROOM];
    for (const char *at = text_short(text, 70, room); *at; at++) {
        if (*at == '\'') {
            printf("%s", quote);
        } else {
            if (strchr(special, *at)) putchar('\\');
            putchar(*at);
        }
    }
}

/* ---- bash ---- */

static void put_bash_name(const cli_command *command, const cli_option *option) {
    (void)command;
    if (option->letter) printf(" -%c", option->letter);
    printf(" --%s", option->name);
}

/* What may follow an option that takes a value. */
static void put_bash_value(const cli_command *command, const cli_option *option) {
    (void)command;
    if (option->kind == CLI_FLAG) return;
    printf("        ");
    if (option->letter) printf("-%c|", option->letter);
    printf("--%s) ", option->name);
    if (option->kind == CLI_CHOICE) {
        printf("files= words='");
        put_choices(option);
        printf("'");
    } else {
        printf("%s", has_file(option) ? "files=1" : "files= words=");
    }
    printf(" ;;\n");
}

static void put_bash_command(const cli_command *command) {
    printf("    %s)\n", command->name);
    printf("        words='");
    each_option(command, put_bash_name);
    printf("'\n");
    if (next_word(command->name, 0)) {
        printf("        ((COMP_CWORD > 2)) || words+=' ");
        put_words(command->name);
        printf("'\n");
    }
    if (begins_with_file(command->name)) printf("        [[ $cur == -* ]] || files=1\n");
    printf("        case $prev in\n");
    each_option(command, put_bash_value);
    printf("        esac\n        ;;\n");
}

static void print_bash(void) {
    printf(
        "# attn(1) completion for bash; made by `attn completion bash`\n"
        "_attn() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words files=\n"
        "    if [[ $cur == = ]]; then # --option=value arrives as three words\n"
        "        cur=\n"
        "    elif [[ $prev == = ]]; then\n"
        "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
        "    fi\n"
        "    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; i < cli_n_commands; i++) put_bash_command(&cli_commands[i]);
    printf("    esac\n"
           "    if ((COMP_CWORD == 1)); then\n"
           "        words='--help --version");
    for (size_t i = 0; i < cli_n_commands; i++) printf(" %s", cli_commands[i].name);
    printf("' files=\n"
           "    fi\n"
           "    COMPREPLY=()\n"
           "    if [[ $files ]]; then # as bash completes the names of files\n"
           "        compopt -o default 2>/dev/null\n"
           "    else\n"
           "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
           "    fi\n"
           "}\n"
           "complete -F _attn attn\n");
}

/* ---- zsh ---- */

static void put_zsh_text(const char *text) { put_quoted(text, "[]:\\", "'\\''"); }

static void put_zsh_form(const cli_option *option, const char *dashes, const char *name) {
    printf("            '%s%s%s%s[", option->kind == CLI_TEXTS ? "*" : "", dashes, name,
           option->kind != CLI_FLAG && dashes[1] ? "=" : "");
    put_zsh_text(option->help);
    printf("]");
    if (option->kind != CLI_FLAG) {
        printf(":");
        put_zsh_text(option->value);
        printf(":");
        if (option->kind == CLI_CHOICE) {
            printf("(");
            put_choices(option);
            printf(")");
        } else if (has_file(option)) {
            printf("_files");
        }
    }
    printf("' \\\n");
}

static void put_zsh_option(const cli_command *command, const cli_option *option) {
    const char letter[] = {option->letter, 0};
    (void)command;
    if (option->letter) put_zsh_form(option, "-", letter);
    put_zsh_form(option, "--", option->name);
}

static void put_zsh_command(const cli_command *command) {
    printf("    %s)\n        _arguments \\\n", command->name);
    each_option(command, put_zsh_option);
    if (next_word(command->name, 0)) {
        printf("            '1:word:(");
        put_words(command->name);
        printf(")' \\\n");
    }
    if (begins_with_file(command->name)) printf("            '1:file:_files' \\\n");
    printf("        ;;\n");
}

static void print_zsh(void) {
    printf("#compdef attn\n"
           "# attn(1) completion for zsh; made by `attn completion zsh`\n"
           "_attn() {\n"
           "    local -a commands=(\n");
    for (size_t i = 0; i < cli_n_commands; i++) {
        printf("        '%s:", cli_commands[i].name);
        put_zsh_text(cli_commands[i].summary);
        printf("'\n");
    }
    printf("    )\n"
           "    if ((CURRENT == 2)); then\n"
           "        _describe command commands\n"
           "        return\n"
           "    fi\n"
           "    local command=$words[2]\n"
           "    shift words\n"
           "    ((CURRENT--))\n"
           "    case $command in\n");
    for (size_t i = 0; i < cli_n_commands; i++) put_zsh_command(&cli_commands[i]);
    printf("    esac\n"
           "}\n"
           "if [[ $funcstack[1] == _attn ]]; then # loaded by compinit\n"
           "    _attn \"$@\"\n"
           "else\n"
           "    compdef _attn attn\n"
           "fi\n");
}

/* ---- fish ---- */

static void put_fish_text(const char *text) { put_quoted(text, "\\", "\\'"); }

static void put_fish_option(const cli_command *command, const cli_option *option) {
    printf("complete -c attn -n '__fish_seen_subcommand_from %s' -l %s", command->name,
           option->name);
    if (option->letter) printf(" -s %c", option->letter);
    if (option->kind == CLI_CHOICE) {
        printf(" -x -a '");
        put_choices(option);
        printf("'");
    } else if (option->kind != CLI_FLAG) {
        printf("%s", has_file(option) ? " -r -F" : " -x");
    }
    printf(" -d '");
    put_fish_text(option->help);
    printf("'\n");
}

static void print_fish(void) {
    printf("# attn(1) completion for fish; made by `attn completion fish`\n"
           "complete -c attn -f\n");
    for (size_t i = 0; i < cli_n_commands; i++) {
        const cli_command *command = &cli_commands[i];
        printf("complete -c attn -n __fish_use_subcommand -a %s -d '", command->name);
        put_fish_text(command->summary);
        printf("'\n");
        each_option(command, put_fish_option);
        if (next_word(command->name, 0)) {
            printf("complete -c attn -n '__fish_seen_subcommand_from %s' -a '", command->name);
            put_words(command->name);
            printf("'\n");
        }
        if (begins_with_file(command->name))
            printf("complete -c attn -n '__fish_seen_subcommand_from %s' -F\n", command->name);
    }
}

/* ---- command ---- */

int cmd_completion(int argc, char **argv) {
    static void (*const print[])(void) = {print_bash, print_zsh, print_fish};
    const bool named = argc > 1 && argv[1][0] != '-';
    const char *shell = named ? argv[1] : "";
    completion_options o = {{0}};
    const int parsed = cli_parse(&spec, named ? argc - 1 : argc, named ? argv + 1 : argv, &o);
    if (parsed != CLI_GO) return parsed;
    for (size_t i = 0; i < sizeof print / sizeof *print; i++) {
        if (strcmp(shell, next_word("completion", i)) != 0) continue;
        print[i]();
        return CLI_OK;
    }
    out_error(spec.command, "%s%sexpected the name of a shell: bash, zsh or fish", shell,
              *shell ? ": " : "");
    return CLI_USAGE;
}
