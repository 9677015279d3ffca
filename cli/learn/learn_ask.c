/* SPDX-License-Identifier: Apache-2.0 */
/* learn_ask.c - see learn_ask.h. After a wrong answer the program prints the reason and offers
 * to run the command that shows it, if there is one; then it repeats the question. The score counts
 * first answers. Tests: tests/book/test_learn.py */
#include "learn/learn_ask.h"

#include "shared/cli.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { MOST_WORDS = 40, MOST_LETTERS = 500 };

static const char *look(out_look l) { return out_begin(stdout, l); }

static bool print_part(learn_line part) {
    return learn_render(part.at, part.n, learn_width(), stdout);
}

/* -------------------------------------------------------------------------------------- printed */

static bool print_question(const quiz *q, size_t i) {
    const quiz_item *item = &q->item[i];
    printf("\n%s%zu/%zu  %.*s%s\n\n", look(OUT_BOLD), i + 1, q->n, (int)item->title.n,
           item->title.at, look(OUT_PLAIN));
    bool ok = print_part(item->question);
    if (item->n_choices) printf("\n");
    for (size_t c = 0; c < item->n_choices && ok; c++) {
        const learn_line text = item->choice[c].text;
        /* The page's own line, "- b) text": the renderer indents what follows. */
        ok = print_part((learn_line){text.at - 5, text.n + 5});
    }
    return ok;
}

static bool print_key(const quiz_item *item) {
    printf("\n%sanswer: %.*s%s\n", look(OUT_BOLD), (int)item->answer.n, item->answer.at,
           look(OUT_PLAIN));
    return print_part(item->choice[item->right].reply);
}

static int exit_code(bool ok) {
    if (!ok) out_error("learn", "out of memory for the page");
    return ok ? CLI_OK : CLI_FAILED;
}

int learn_print_quiz(const quiz *q, bool answers) {
    bool ok = true;
    for (size_t i = 0; i < q->n && ok; i++) {
        ok = print_question(q, i);
        if (ok && answers) ok = print_key(&q->item[i]);
    }
    if (!answers) printf("\nWith answers: attn learn quiz --answers\n");
    return exit_code(ok);
}

/* ----------------------------------------------------------------------------------------- JSON */

static json_t *text_json(learn_line s) { return s.n ? json_stringn(s.at, s.n) : json_null(); }

static json_t *choice_json(const quiz_item *item, size_t c) {
    const quiz_choice *choice = &item->choice[c];
    const char letter[2] = {(char)('a' + (int)c), 0};
    return json_pack("{s:s, s:o, s:b, s:o, s:o}", "letter", letter, "text", text_json(choice->text),
                     "right", c == item->right, "reply", text_json(choice->reply), "command",
                     text_json(choice->command));
}

static json_t *item_json(const quiz_item *item) {
    json_t *choices = json_array();
    for (size_t c = 0; c < item->n_choices; c++)
        json_array_append_new(choices, choice_json(item, c));
    json_t *root =
        json_pack("{s:o, s:o, s:o, s:o}", "title", text_json(item->title), "question",
                  text_json(item->question), "answer", text_json(item->answer), "choices", choices);
    if (item->n_choices == 0) {
        json_object_set_new(root, "reply", text_json(item->choice[0].reply));
        json_object_set_new(root, "command", text_json(item->choice[0].command));
    }
    return root;
}

json_t *learn_quiz_json(const quiz *q) {
    json_t *items = json_array();
    for (size_t i = 0; i < q->n; i++) json_array_append_new(items, item_json(&q->item[i]));
    return json_pack("{s:o}", "items", items);
}

/* ---------------------------------------------------------------------------------- interactive */

/* Reads a line from standard input, without the newline; false at the end of the input. */
static bool read_answer(const char *prompt, char said[MOST_LETTERS]) {
    printf("\n%s%s%s ", look(OUT_ACCENT), prompt, look(OUT_PLAIN));
    fflush(stdout);
    if (!fgets(said, MOST_LETTERS, stdin)) return false;
    said[strcspn(said, "\n")] = 0;
    return true;
}

/* Splits at spaces, except between double quotes; returns the number of words. */
static int split_words(char *text, char *words[MOST_WORDS + 1]) {
    int n = 0;
    while (*text && n < MOST_WORDS) {
        text += strspn(text, " \n");
        if (!*text) break;
        const char *stop = *text == '"' ? "\"" : " \n";
        if (*text == '"') text++;
        words[n++] = text;
        text += strcspn(text, stop);
        if (*text) *text++ = 0;
    }
    words[n] = NULL;
    return n;
}

/* Offers the command and runs it in this process. False at the end of the input. */
static bool offer(learn_line command) {
    char said[MOST_LETTERS], text[MOST_LETTERS], *words[MOST_WORDS + 1];
    if (!command.n || command.n >= sizeof text) return true;
    memcpy(text, command.at, command.n);
    text[command.n] = 0;
    printf("\n    $ %s%s%s\n", look(OUT_BOLD), text, look(OUT_PLAIN));
    if (!read_answer("run it now? [y/N]", said)) return false;
    if (tolower((unsigned char)said[0]) != 'y') return true;
    printf("\n");
    cli_main(split_words(text, words), words);
    return true;
}

typedef enum judgement { RIGHT, WRONG, UNCLEAR, SKIPPED, LEFT } judgement;

/* Sets *c to the choice that was made. */
static judgement judge(const quiz_item *item, const char *said, size_t *c) {
    *c = 0;
    if (strcasecmp(said, "q") == 0 || strcasecmp(said, "quit") == 0) return LEFT;
    if (strcasecmp(said, "s") == 0 || strcasecmp(said, "skip") == 0) return SKIPPED;
    if (item->n_choices == 0) return quiz_fills(item, said) ? RIGHT : WRONG;
    *c = (size_t)(tolower((unsigned char)said[0]) - 'a');
    if (said[0] == 0 || said[1] != 0 || *c >= item->n_choices) return UNCLEAR;
    return *c == item->right ? RIGHT : WRONG;
}

static void prompt_for(const quiz_item *item, char text[80]) {
    if (item->n_choices)
        snprintf(text, 80, "a-%c, s to skip, q to quit:", (char)('a' + (int)item->n_choices - 1));
    else
        snprintf(text, 80, "%zu word%s, s to skip, q to quit:", item->n_blanks,
                 item->n_blanks == 1 ? "" : "s");
}

/* Prints the reply to an answer, or the right answer to a skipped question. */
static bool respond(const quiz_item *item, judgement j, size_t c) {
    if (j == RIGHT) printf("\n%sright%s\n", look(OUT_GOOD), look(OUT_PLAIN));
    if (j == SKIPPED) return print_key(item);
    if (j == WRONG) printf("\n%snot quite%s\n", look(OUT_BAD), look(OUT_PLAIN));
    if (j == WRONG && item->n_choices == 0) {
        printf("Try again, or s for the answer.\n");
        return true;
    }
    return print_part(item->choice[c].reply);
}

/* Repeats a question until it is answered or skipped; *at_once counts right first answers. */
static judgement ask(const quiz *q, size_t i, size_t *at_once) {
    const quiz_item *item = &q->item[i];
    char prompt[80], said[MOST_LETTERS];
    prompt_for(item, prompt);
    if (!print_question(q, i)) return LEFT;
    for (int tries = 0;;) {
        size_t c;
        if (!read_answer(prompt, said)) return LEFT;
        const judgement j = judge(item, said, &c);
        if (j == LEFT) return LEFT;
        if (j == UNCLEAR) continue;
        if (!respond(item, j, c)) return LEFT;
        if (j == RIGHT && tries == 0) (*at_once)++;
        tries++;
        const bool shows = item->n_choices ? j == WRONG : j == RIGHT;
        if (shows && !offer(item->choice[c].command)) return LEFT;
        if (j != WRONG) return j;
    }
}

int learn_ask_quiz(const quiz *q) {
    size_t at_once = 0, asked = 0;
    while (asked < q->n && ask(q, asked, &at_once) != LEFT) asked++;
    printf("\n%s%zu of %zu right at the first attempt%s\n", look(OUT_BOLD), at_once, asked,
           look(OUT_PLAIN));
    return CLI_OK;
}
