/* SPDX-License-Identifier: Apache-2.0 */
/* learn_ask.h - the quiz: printed, as JSON, and interactive. */
#ifndef CLI_LEARN_ASK_H
#define CLI_LEARN_ASK_H

#include "learn/learn_quiz.h"

/* Prints all questions, and with `answers` their answers; returns an exit code. */
int learn_print_quiz(const quiz *q, bool answers);
json_t *learn_quiz_json(const quiz *q);
/* Runs the quiz on standard output and standard input; returns an exit code. */
int learn_ask_quiz(const quiz *q);

#endif
