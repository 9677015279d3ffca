/* SPDX-License-Identifier: Apache-2.0 */
/* learn_quiz.c - see learn_quiz.h. An item is read in four states, in this order: question,
 * choices, after the answer, replies. */
#include "learn/learn_quiz.h"

#include "core/base.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define BLANK "____"

typedef struct parser {
    learn_lines lines;
    int line_number;
    quiz *quiz;
    attn_error *err;
    learn_line *open; /* what the next lines continue, or NULL */
    size_t n_replies; /* of the current item */
    bool has_answer;
} parser;

static attn_status wrong(const parser *p, const char *what) {
    return attni_fail(p->err, ATTN_E_VALUE, "quiz, line %d: %s", p->line_number, what);
}

static bool begins(learn_line line, const char *with) {
    return line.n >= strlen(with) && memcmp(line.at, with, strlen(with)) == 0;
}

static learn_line trimmed(learn_line s) {
    while (s.n && isspace((unsigned char)*s.at)) s = (learn_line){s.at + 1, s.n - 1};
    while (s.n && isspace((unsigned char)s.at[s.n - 1])) s.n--;
    return s;
}

static learn_line after(learn_line line, size_t n) {
    return trimmed((learn_line){line.at + n, line.n - n});
}

static quiz_item *item_of(const parser *p) { return &p->quiz->item[p->quiz->n - 1]; }

/* -------------------------------------------------------------------------------- finished item */

static size_t count_blanks(learn_line s) {
    size_t n = 0;
    for (size_t i = 0; i + sizeof BLANK - 1 <= s.n; i++) {
        if (memcmp(s.at + i, BLANK, sizeof BLANK - 1) != 0) continue;
        n++;
        i += sizeof BLANK - 2;
    }
    return n;
}

static size_t count_of(learn_line s, char c) {
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) n += s.at[i] == c;
    return n;
}

/* The first `code` that begins with "attn ". */
static learn_line find_command(learn_line s) {
    const char *end = s.at + s.n, *c = s.at;
    while (c < end && (c = memchr(c, '`', (size_t)(end - c)))) {
        const char *close = c + 1 < end ? memchr(c + 1, '`', (size_t)(end - c - 1)) : NULL;
        if (!close) break;
        const learn_line code = {c + 1, (size_t)(close - c - 1)};
        if (begins(code, "attn ")) return code;
        c = close + 1;
    }
    return (learn_line){end, 0};
}

static attn_status finish_choices(const parser *p, quiz_item *item) {
    if (item->n_choices < 2) return wrong(p, "the item above has only one choice");
    if (p->n_replies != item->n_choices)
        return wrong(p, "the item above does not have a reply for every choice");
    if (item->answer.n != 1) return wrong(p, "the answer above is not one letter");
    item->right = (size_t)(item->answer.at[0] - 'a');
    return item->right < item->n_choices ? ATTN_OK
                                         : wrong(p, "the answer above is not one of the choices");
}

static attn_status finish_blanks(const parser *p, quiz_item *item) {
    item->n_blanks = count_blanks(item->question);
    if (item->n_blanks == 0) return wrong(p, "the item above has neither choices nor blanks");
    if (item->n_blanks > QUIZ_MOST_BLANKS) return wrong(p, "the item above has too many blanks");
    return count_of(item->answer, ';') + 1 == item->n_blanks
               ? ATTN_OK
               : wrong(p, "the item above does not have as many answers as blanks");
}

static attn_status finish_item(const parser *p) {
    if (p->quiz->n == 0) return ATTN_OK;
    quiz_item *item = item_of(p);
    item->question = trimmed(item->question);
    if (!item->question.n) return wrong(p, "the item above has no question");
    if (!p->has_answer) return wrong(p, "the item above has no line that begins with Answer:");
    ATTN_TRY(item->n_choices ? finish_choices(p, item) : finish_blanks(p, item));
    for (size_t i = 0; i < QUIZ_MOST_CHOICES; i++) {
        quiz_choice *choice = &item->choice[i];
        choice->text = trimmed(choice->text);
        choice->reply = trimmed(choice->reply);
        choice->command = find_command(choice->reply);
        if (count_of(choice->command, '\n'))
            return wrong(p, "a command in the item above is split across lines");
    }
    return ATTN_OK;
}

/* --------------------------------------------------------------------------------- line by line */

static attn_status begin_item(parser *p, learn_line line) {
    const char *dot = memchr(line.at, '.', line.n);
    if (!dot) return wrong(p, "expected a heading of the form: ## 3. Title");
    ATTN_TRY(finish_item(p));
    if (p->quiz->n == QUIZ_MOST_ITEMS) return wrong(p, "too many items");
    quiz_item *item = &p->quiz->item[p->quiz->n++];
    const char *next = line.at + line.n;
    *item = (quiz_item){.title = after(line, (size_t)(dot + 1 - line.at)), .question = {next, 0}};
    for (size_t i = 0; i < QUIZ_MOST_CHOICES; i++)
        item->choice[i] = (quiz_choice){{next, 0}, {next, 0}, {next, 0}};
    p->open = &item->question;
    p->n_replies = 0;
    p->has_answer = false;
    return ATTN_OK;
}

/* "- b) text": a choice before the answer, a reply after it. */
static attn_status begin_choice(parser *p, learn_line line) {
    quiz_item *item = item_of(p);
    size_t *n = p->has_answer ? &p->n_replies : &item->n_choices;
    if (*n == QUIZ_MOST_CHOICES) return wrong(p, "too many choices");
    if (line.at[2] != (char)('a' + (int)*n)) return wrong(p, "letters are not a, b, c, ...");
    if (p->has_answer && *n == item->n_choices) return wrong(p, "a reply without a choice");
    quiz_choice *choice = &item->choice[(*n)++];
    p->open = p->has_answer ? &choice->reply : &choice->text;
    *p->open = after(line, 5);
    return ATTN_OK;
}

static attn_status begin_answer(parser *p, learn_line line) {
    quiz_item *item = item_of(p);
    if (p->has_answer) return wrong(p, "a second answer");
    item->answer = after(line, strlen("Answer:"));
    if (!item->answer.n) return wrong(p, "the answer is missing");
    p->has_answer = true;
    p->open = NULL;
    if (item->n_choices == 0) { /* the reply to a question with blanks */
        p->open = &item->choice[0].reply;
        *p->open = (learn_line){line.at + line.n, 0};
    }
    return ATTN_OK;
}

static bool is_choice(learn_line line) {
    return line.n > 5 && begins(line, "- ") && line.at[3] == ')' && line.at[4] == ' ' &&
           line.at[5] != ' ';
}

static attn_status read_line(parser *p, learn_line line) {
    if (begins(line, "## ")) return begin_item(p, line);
    if (p->quiz->n == 0) return ATTN_OK; /* the introduction */
    if (is_choice(line)) return begin_choice(p, line);
    if (begins(line, "Answer:")) return begin_answer(p, line);
    if (p->open)
        p->open->n = (size_t)(line.at + line.n - p->open->at);
    else if (trimmed(line).n)
        return wrong(p, "text that belongs to no question, choice or reply");
    return ATTN_OK;
}

attn_status quiz_parse(const char *markdown, size_t n, quiz *result, attn_error *err) {
    parser p = {.lines = {markdown, markdown + n}, .quiz = result, .err = err};
    learn_line line;
    result->n = 0;
    while (learn_next_line(&p.lines, &line)) {
        p.line_number++;
        ATTN_TRY(read_line(&p, line));
    }
    if (result->n == 0) return wrong(&p, "no questions");
    return finish_item(&p);
}

/* --------------------------------------------------------------------------------------- blanks */

/* The next part of *rest up to one of `stops`, trimmed; false when nothing is left. */
static bool next_part(learn_line *rest, const char *stops, learn_line *part) {
    if (!rest->at) return false;
    size_t n = 0;
    while (n < rest->n && !strchr(stops, rest->at[n])) n++;
    *part = trimmed((learn_line){rest->at, n});
    *rest = n < rest->n ? (learn_line){rest->at + n + 1, rest->n - n - 1} : (learn_line){NULL, 0};
    return true;
}

static bool same(learn_line a, learn_line b) {
    return a.n == b.n && strncasecmp(a.at, b.at, a.n) == 0;
}

static bool is_allowed(learn_line alternatives, learn_line word) {
    learn_line one;
    while (next_part(&alternatives, "|", &one))
        if (same(one, word)) return true;
    return false;
}

/* The next word of a typed answer: letters between spaces, commas and the like. */
static bool next_word(learn_line *rest, learn_line *word) {
    while (next_part(rest, " ,;\t\n", word))
        if (word->n) return true;
    return false;
}

bool quiz_fills(const quiz_item *item, const char *said) {
    learn_line answers = item->answer, words = {said, strlen(said)}, alternatives, word;
    for (size_t i = 0; i < item->n_blanks; i++)
        if (!next_part(&answers, ";", &alternatives) || !next_word(&words, &word) ||
            !is_allowed(alternatives, word))
            return false;
    return !next_word(&words, &word);
}
