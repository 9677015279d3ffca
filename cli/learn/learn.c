/* SPDX-License-Identifier: Apache-2.0 */
/* learn.c - `attn learn [TOPIC]`: the pages of docs/book in the terminal, the quiz, and the
 * figures.
 * Tests: tests/book */
#include "lab/book/figure.h"
#include "learn/learn_ask.h"
#include "learn/learn_pages.h"
#include "shared/options.h"
#include "shared/terminal.h"

#include <stdlib.h>
#include <string.h>

typedef struct learn_options {
    cli_common common;
    const char *figures;
    bool answers;
} learn_options;

static const cli_option options[] = {
    {.kind = CLI_SECTION, .name = "Figures"},
    {.kind = CLI_TEXT,
     .name = "figures",
     .at = offsetof(learn_options, figures),
     .value = "DIR",
     .help = "draw the figures of the book as SVG files, light and dark, into this folder"},
    {.kind = CLI_SECTION, .name = "Quiz"},
    {.kind = CLI_FLAG,
     .name = "answers",
     .at = offsetof(learn_options, answers),
     .help = "print the questions and their answers instead of asking"},
    CLI_COMMON_OPTIONS,
};

static const cli_spec spec = {
    .command = "learn",
    .usage = "learn\nlearn TOPIC\nlearn quiz [--answers]\nlearn --figures DIR",
    .about = "Shows the book on attention that comes with the program. Without a topic it\n"
             "lists the pages. A topic is the name of a page, its number, or the beginning of\n"
             "its name. The quiz is interactive on a terminal; elsewhere it prints its\n"
             "questions. On a terminal, pages are shown in $PAGER, or in less. Where a page\n"
             "has a figure, the text says what it shows; --figures draws them all.",
    .notes = {{"Examples", "  attn learn\n"
                           "  attn learn masks\n"
                           "  attn learn quiz\n"
                           "  attn learn --figures figures\n"}},
    .options = options,
    .n_options = sizeof options / sizeof *options,
};

/* --------------------------------------------------------------------------------------- topics */

/* "03-masks" -> "masks" */
static const char *topic_of(const learn_page *page) {
    const char *name = page->file + strspn(page->file, "0123456789");
    return *name == '-' ? name + 1 : page->file;
}

static const char *next_topic(const void *arg, size_t i) {
    (void)arg;
    return topic_of(&learn_pages[i]);
}

static learn_line text_of(const learn_page *page) {
    return (learn_line){(const char *)page->text, page->n};
}

/* A page begins with "# Title", an empty line, and one line of summary. */
static void read_head(const learn_page *page, learn_line *title, learn_line *summary) {
    const learn_line text = text_of(page);
    learn_lines lines = {text.at, text.at + text.n};
    *title = *summary = (learn_line){text.at, 0};
    learn_next_line(&lines, title);
    if (title->n > 2) *title = (learn_line){title->at + 2, title->n - 2};
    while (summary->n == 0 && learn_next_line(&lines, summary)) {}
    if (summary->n > 2 && summary->at[0] == '*')
        *summary = (learn_line){summary->at + 1, summary->n - 2};
}

/* Finds a page by name, file name, number or an unambiguous beginning of its name; NULL if there is
 * none. */
static const learn_page *find_topic(const char *word) {
    const learn_page *found = NULL;
    int64_t number;
    const bool is_number = cli_parse_int(word, &number);
    size_t n_found = 0;
    for (size_t i = 0; i < learn_n_pages; i++) {
        const learn_page *page = &learn_pages[i];
        const char *topic = topic_of(page);
        if (strcmp(word, topic) == 0 || strcmp(word, page->file) == 0) return page;
        if (is_number && topic != page->file && atoi(page->file) == number) return page;
        if (strncmp(word, topic, strlen(word)) != 0) continue;
        found = page;
        n_found++;
    }
    return n_found == 1 ? found : NULL;
}

static int unknown_topic(const char *word) {
    const char *meant = cli_nearest(word, learn_n_pages, next_topic, NULL);
    if (meant)
        out_error(spec.command, "%s: no such topic. Did you mean attn learn %s?", word, meant);
    else
        out_error(spec.command, "%s: no such topic", word);
    out_hint("all topics: attn learn");
    return CLI_USAGE;
}

/* ----------------------------------------------------------------------------------------- list */

static json_t *page_json(const learn_page *page, bool with_text) {
    learn_line title, summary;
    read_head(page, &title, &summary);
    json_t *root = json_pack("{s:s, s:s, s:s%, s:s%}", "topic", topic_of(page), "file", page->file,
                             "title", title.at, title.n, "summary", summary.at, summary.n);
    if (with_text)
        json_object_set_new(root, "markdown", json_stringn((const char *)page->text, page->n));
    return root;
}

static json_t *list_json(void) {
    json_t *pages = json_array();
    for (size_t i = 0; i < learn_n_pages; i++)
        json_array_append_new(pages, page_json(&learn_pages[i], false));
    return json_pack("{s:o}", "topics", pages);
}

static void print_list(void) {
    printf("%sThe attn book%s: attn learn TOPIC\n\n", out_begin(stdout, OUT_BOLD),
           out_begin(stdout, OUT_PLAIN));
    for (size_t i = 0; i < learn_n_pages; i++) {
        learn_line title, summary;
        read_head(&learn_pages[i], &title, &summary);
        printf("  %s%-18s%s %.*s\n", out_begin(stdout, OUT_ACCENT), topic_of(&learn_pages[i]),
               out_begin(stdout, OUT_PLAIN), (int)summary.n, summary.at);
    }
}

/* ---------------------------------------------------------------------------------------- pages */

/* Prints a page, through a pager on a terminal. */
static int show_page(learn_line text) {
    const char *pager = terminal_pager();
    fflush(stdout);
    FILE *pipe = pager ? terminal_pager_begin(pager) : NULL;
    const bool ok = learn_render(text.at, text.n, learn_width(), pipe ? pipe : stdout);
    if (pipe) terminal_pager_end(pipe);
    if (!ok) out_error(spec.command, "out of memory for the page");
    return ok ? CLI_OK : CLI_FAILED;
}

static int show_questions(const learn_options *o, const quiz *questions) {
    if (o->common.json) return out_json(learn_quiz_json(questions));
    if (!o->answers && terminal_is(stdin) && terminal_is(stdout)) return learn_ask_quiz(questions);
    return learn_print_quiz(questions, o->answers);
}

static int show_quiz(const learn_options *o, const learn_page *page) {
    quiz *questions = malloc(sizeof *questions);
    attn_error error = {"out of memory for the quiz"};
    attn_status status = ATTN_E_MEMORY;
    if (questions) status = quiz_parse((const char *)page->text, page->n, questions, &error);
    const int code = status == ATTN_OK ? show_questions(o, questions) : CLI_FAILED;
    if (status != ATTN_OK) out_error(spec.command, "%s", error.message);
    free(questions);
    return code;
}

/* -------------------------------------------------------------------------------------- figures */

static json_t *figures_json(const char *folder) {
    json_t *names = json_array();
    for (size_t i = 0; lab_book_figures[i]; i++)
        json_array_append_new(names, json_string(lab_book_figures[i]->name));
    return json_pack("{s:s, s:o}", "folder", folder, "figures", names);
}

static int draw_figures(const learn_options *o) {
    attn_error error = {""};
    size_t n = 0;
    if (!plot_is_built()) {
        out_error(spec.command,
                  "--figures %s: this build draws no pictures; to get them, build "
                  "attn with cairo and pango (-DATTN_WITH_PICTURES=ON, "
                  "docs/building.md)",
                  o->figures);
        return CLI_USAGE;
    }
    if (lab_book_write(o->figures, &error) != ATTN_OK) {
        out_error(spec.command, "%s", error.message);
        return CLI_FAILED;
    }
    if (o->common.json) return out_json(figures_json(o->figures));
    while (lab_book_figures[n]) n++;
    printf("%zu figures in %s, each as NAME.svg and NAME-dark.svg\n", n, o->figures);
    return CLI_OK;
}

int cmd_learn(int argc, char **argv) {
    const int words = argc > 1 && argv[1][0] != '-';
    learn_options o = {0};
    const int code = cli_parse(&spec, argc - words, argv + words, &o);
    if (code != CLI_GO) return code;
    if (o.figures && words) {
        out_error(spec.command, "--figures draws the figures of all pages: leave out %s", argv[1]);
        return CLI_USAGE;
    }
    if (o.figures) return draw_figures(&o);
    if (!words) {
        if (o.common.json) return out_json(list_json());
        print_list();
        return CLI_OK;
    }
    const learn_page *page = find_topic(argv[1]);
    if (!page) return unknown_topic(argv[1]);
    if (strcmp(topic_of(page), "quiz") == 0) return show_quiz(&o, page);
    if (o.common.json) return out_json(page_json(page, true));
    return show_page(text_of(page));
}
