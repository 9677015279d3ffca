/* SPDX-License-Identifier: Apache-2.0 */
/* learn_quiz.h - the questions of docs/book/12-quiz.md, which describes its own form. All pointers
 * point into the page. Tests: tests/book/test_learn_quiz.c */
#ifndef CLI_LEARN_QUIZ_H
#define CLI_LEARN_QUIZ_H

#include "attn/attn.h"
#include "learn/learn_render.h"

enum { QUIZ_MOST_ITEMS = 40, QUIZ_MOST_CHOICES = 6, QUIZ_MOST_BLANKS = 4 };

typedef struct quiz_choice {
    learn_line text;    /* "- b) " precedes it in the page */
    learn_line reply;   /* why it is right or wrong */
    learn_line command; /* "attn ..." to try, n = 0 if the reply names none */
} quiz_choice;

/* Multiple choice if it has choices, otherwise blanks to fill in, with the reply in choice[0]. */
typedef struct quiz_item {
    learn_line title, question;
    learn_line answer; /* as written: "c", or "i; future | later" */
    quiz_choice choice[QUIZ_MOST_CHOICES];
    size_t n_choices, right;
    size_t n_blanks;
} quiz_item;

typedef struct quiz {
    quiz_item item[QUIZ_MOST_ITEMS];
    size_t n;
} quiz;

/* Errors: VALUE; the message gives the line number and what is wrong. */
attn_status quiz_parse(const char *markdown, size_t n, quiz *result, attn_error *err);

/* True if the words of `said`, in any case and separated by spaces or commas, fill the blanks. */
bool quiz_fills(const quiz_item *item, const char *said);

#endif
