/* SPDX-License-Identifier: Apache-2.0 */
/* test_learn_quiz.c - the questions of the quiz page (cli/learn/learn_quiz.h): what is accepted,
 * what is rejected, what fills a blank. */
#include "learn/learn_pages.h"
#include "learn/learn_quiz.h"

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static quiz parsed;
static attn_error error;

static attn_status parse(const char *text) {
    error.message[0] = 0;
    return quiz_parse(text, strlen(text), &parsed, &error);
}

static const char *copy(learn_line s) {
    static char text[400];
    snprintf(text, sizeof text, "%.*s", (int)s.n, s.at);
    return text;
}

#define HEAD    "# Quiz\n\nHow to read this.\n\n## 1. First\n\n"
#define CHOICES "What?\n\n- a) one\n  more\n- b) two\n\n"
#define REPLIES "\n- a) no: `x` and `attn cost --n 8`\n- b) yes\n"

TEST(quiz_choice_question_is_read) {
    CHECK_INT(parse(HEAD CHOICES "Answer: b\n" REPLIES), ATTN_OK);
    const quiz_item *item = &parsed.item[0];
    CHECK_INT(parsed.n, 1);
    CHECK_STR(copy(item->title), "First");
    CHECK_STR(copy(item->question), "What?");
    CHECK_INT(item->n_choices, 2);
    CHECK_STR(copy(item->choice[0].text), "one\n  more");
    CHECK_STR(copy(item->choice[1].text), "two");
    CHECK_INT(item->right, 1);
    CHECK_STR(copy(item->choice[0].command), "attn cost --n 8");
    CHECK_INT(item->choice[1].command.n, 0);
    CHECK_STR(copy(item->choice[1].reply), "yes");
}

TEST(quiz_blanks_are_read_and_filled_in_any_case) {
    CHECK_INT(parse(HEAD "Through `____`, not `____`.\n\nAnswer: i; future | later\n\nSo.\n"),
              ATTN_OK);
    const quiz_item *item = &parsed.item[0];
    CHECK_INT(item->n_choices, 0);
    CHECK_INT(item->n_blanks, 2);
    CHECK(quiz_fills(item, "i, future"));
    CHECK(quiz_fills(item, " I  Later "));
    CHECK(!quiz_fills(item, "i"));
    CHECK(!quiz_fills(item, "future i"));
    CHECK(!quiz_fills(item, "i future tokens"));
    CHECK(!quiz_fills(item, ""));
    CHECK_STR(copy(item->choice[0].reply), "So.");
}

TEST(quiz_two_items_do_not_mix) {
    CHECK_INT(parse(HEAD CHOICES "Answer: a\n" REPLIES
                                 "\n## 2. Next\n\nSay `____`.\n\nAnswer: x\n\nEnd.\n"),
              ATTN_OK);
    CHECK_INT(parsed.n, 2);
    CHECK_INT(parsed.item[0].right, 0);
    CHECK_STR(copy(parsed.item[0].choice[1].reply), "yes");
    CHECK_STR(copy(parsed.item[1].question), "Say `____`.");
}

/* Each of these is refused with a message that says so. */
static const struct {
    const char *text, *says;
} refused[] = {
    {"# Quiz\n\nNothing.\n", "no questions"},
    {HEAD CHOICES, "has no line"},
    {HEAD CHOICES "Answer:\n" REPLIES, "the answer is missing"},
    {HEAD CHOICES "Answer: c\n" REPLIES, "not one of the choices"},
    {HEAD CHOICES "Answer: ab\n" REPLIES, "not one letter"},
    {HEAD CHOICES "Answer: b\nAnswer: b\n" REPLIES, "a second answer"},
    {HEAD CHOICES "Answer: b\n\n- a) no\n", "a reply for every choice"},
    {HEAD CHOICES "Answer: b\n" REPLIES "- c) three\n", "a reply without a choice"},
    {HEAD "What?\n\n- a) one\n- c) two\n\nAnswer: a\n", "letters are not a, b, c"},
    {HEAD "What?\n\n- a) one\n\nAnswer: a\n\n- a) yes\n", "only one choice"},
    {HEAD "\nAnswer: a\n", "no question"},
    {HEAD "What?\n\nAnswer: a\n", "neither choices nor blanks"},
    {HEAD "Say `____`.\n\nAnswer: a; b\n", "as many answers as blanks"},
    {HEAD CHOICES "Answer: b\n\nLoose text.\n" REPLIES, "belongs to no question"},
    {HEAD CHOICES "Answer: b\n\n- a) `attn\n  cost`\n- b) `attn cost\n  --n 8`\n",
     "split across lines"},
    {"## Without number\n", "expected a heading"},
};

TEST(quiz_malformed_items_are_refused_with_line_and_reason) {
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        CHECK_INT(parse(refused[i].text), ATTN_E_VALUE);
        CHECK_MSG(strstr(error.message, refused[i].says) && strstr(error.message, "line "),
                  "case %zu: \"%s\", expected \"%s\"", i, error.message, refused[i].says);
    }
}

static const learn_page *quiz_page(void) {
    for (size_t i = 0; i < learn_n_pages; i++)
        if (strcmp(learn_pages[i].file, "12-quiz") == 0) return &learn_pages[i];
    return NULL;
}

TEST(quiz_page_has_at_least_ten_questions_of_four_choices) {
    const learn_page *page = quiz_page();
    CHECK(page);
    CHECK_MSG(quiz_parse((const char *)page->text, page->n, &parsed, &error) == ATTN_OK, "%s",
              error.message);
    size_t with_choices = 0;
    for (size_t i = 0; i < parsed.n; i++) with_choices += parsed.item[i].n_choices == 4;
    CHECK_MSG(with_choices >= 10, "%zu", with_choices);
}

static bool has_number(learn_line s) {
    for (size_t i = 0; i < s.n; i++)
        if (s.at[i] >= '0' && s.at[i] <= '9') return true;
    return false;
}

TEST(quiz_page_answers_every_wrong_choice_with_a_command_or_a_number) {
    const learn_page *page = quiz_page();
    CHECK_INT(quiz_parse((const char *)page->text, page->n, &parsed, &error), ATTN_OK);
    for (size_t i = 0; i < parsed.n; i++)
        for (size_t c = 0; c < parsed.item[i].n_choices; c++) {
            const quiz_choice *choice = &parsed.item[i].choice[c];
            CHECK_MSG(c == parsed.item[i].right || choice->command.n || has_number(choice->reply),
                      "item %zu, choice %c", i + 1, (char)('a' + (int)c));
        }
}

/* Any cut of the page is read or refused, and never read beyond its end (the copy ends there). */
TEST(quiz_any_beginning_of_the_page_is_read_or_refused) {
    const learn_page *page = quiz_page();
    for (size_t n = 0; n < page->n; n++) {
        char *cut = malloc(n ? n : 1);
        CHECK(cut);
        memcpy(cut, page->text, n);
        const attn_status status = quiz_parse(cut, n, &parsed, &error);
        free(cut);
        CHECK_MSG(status == ATTN_OK || status == ATTN_E_VALUE, "first %zu bytes: %d", n, status);
    }
}
