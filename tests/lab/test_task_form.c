/* SPDX-License-Identifier: Apache-2.0 */
/* test_task_form.c - what a task can read: every sentence it draws, the documents' sentences in all
 * ways to type them, and the nearest sentence to one that it cannot read. */
#include "check.h"

#include "learning/task_form.h"

#include <stdio.h>

/* Tokens of words separated by spaces; -1 of an unknown one. */
static int tokens_of(const lab_task *task, const char *text, int32_t *tokens) {
    int n = 0;
    while (*text) {
        const size_t length = strcspn(text, " ");
        tokens[n] = -1;
        for (int w = 0; w < task->n_words; w++)
            if (strlen(task->words[w]) == length && memcmp(task->words[w], text, length) == 0)
                tokens[n] = w;
        n++;
        text += length + (text[length] == ' ');
    }
    return n;
}

static lab_reading read_text(const char *name, const char *text) {
    const lab_task *task = lab_task_named(name);
    int32_t tokens[64];
    const int n = tokens_of(task, text, tokens);
    return lab_task_read(task, tokens, n);
}

TEST(a_task_reads_every_sentence_that_it_draws) {
    for (int t = 0; t < LAB_N_TASKS; t++) {
        const lab_task *task = lab_tasks[t];
        for (uint64_t i = 0; task->forms && i < 500; i++) {
            lab_task_example e;
            lab_task_draw(task, 3, i, i % 2 ? LAB_HELD_OUT : LAB_TRAINING, &e);
            const lab_reading reading = lab_task_read(task, e.token, e.n);
            CHECK_INT(reading.distance, 0);
            CHECK_INT(reading.n, e.n);
            CHECK(memcmp(reading.token, e.token, (size_t)e.n * sizeof *e.token) == 0);
            CHECK(e.answer[reading.question - task->first_question][0] >= 0);
        }
    }
}

TEST(the_sentences_of_the_documents_are_read) {
    static const struct {
        const char *task, *text;
        int question;
    } sentences[] = {{"whois", "The cat sat on the mat because it was tired .", 7},
                     {"whois", "The cat sat on the mat because it was dirty", 7},
                     {"whois", "the cat sat on the mat because it was dirty .", 7},
                     {"whois", "The red cat sat on the mat because it was tired .", 8},
                     {"whois", "The cat sat on the blue mat because it was tired .", 8},
                     {"whois", "The red cat sat on the blue mat because it was tired .", 9},
                     {"sense", "I love apple phones", 2},
                     {"sense", "the bank of the river .", 1}};
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
        const lab_reading reading = read_text(sentences[i].task, sentences[i].text);
        CHECK_MSG(reading.distance == 0, "%s", sentences[i].text);
        CHECK_INT(reading.question, sentences[i].question);
    }
}

static void check_nearest(const char *task, const char *text, const char *expected) {
    char nearest[LAB_READING_TEXT];
    const lab_reading reading = read_text(task, text);
    lab_reading_text(lab_task_named(task), &reading, nearest, sizeof nearest);
    CHECK_STR(nearest, expected);
    CHECK_MSG(reading.distance > 0, "%s: was read", text);
}

TEST(the_nearest_sentence_keeps_the_words_that_fit) {
    check_nearest("whois", "The dragon sat on the carpet because it was tired .",
                  "The cat sat on the carpet because it was tired.");
    check_nearest("whois", "The statue stood near my nurse because it was rusty",
                  "The statue stood near the nurse because it was rusty");
    check_nearest("whois", "The old red cat sat on the mat because it was so sad",
                  "The red cat sat on the mat because it was sad");
    check_nearest("whois", "The cat was hungry", "The cat sat on the mat because it was hungry");
    check_nearest("whois", "The cat sat on the dog because it was sad",
                  "The cat sat on the mat because it was sad");
    check_nearest("whois", "", "The cat sat on the mat because it was tired");
    check_nearest("sense", "I ate an apple .", "I love apple water.");
    check_nearest("sense", "the bank near the lamp and the door",
                  "the bank near the water and the door");
}

TEST(a_text_without_end_is_as_far_as_it_is_long) {
    const lab_task *task = lab_task_named("whois");
    static int32_t tokens[5000];
    const lab_reading some = lab_task_read(task, tokens, 100);
    const lab_reading more = lab_task_read(task, tokens, 5000);
    CHECK(some.distance > 0 && more.distance > some.distance);
    CHECK(more.n <= task->n);
}

TEST(only_the_words_of_a_task_make_it_the_task_of_a_model) {
    const lab_task *task = lab_task_named("sense");
    const char *words[64];
    CHECK(task->n_words <= 64);
    for (int i = 0; i < task->n_words; i++) words[i] = task->words[i];
    CHECK(lab_task_with_words("sense", words, task->n_words) == task);
    CHECK(lab_task_with_words("whois", words, task->n_words) == NULL);
    CHECK(lab_task_with_words("nothing", words, task->n_words) == NULL);
    words[3] = "other";
    CHECK(lab_task_with_words("sense", words, task->n_words) == NULL);
}
