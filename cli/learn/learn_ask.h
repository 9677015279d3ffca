/* SPDX-License-Identifier: Apache-2.0 */
/* learn_ask.h - the quiz: on paper, as JSON, and as a conversation. */
#ifndef CLI_LEARN_ASK_H
#define CLI_LEARN_ASK_H

#include "learn/learn_quiz.h"

/* All questions on standard output; with the key. An exit code. */
int learn_print_quiz(const quiz *q, bool answers);
json_t *learn_quiz_json(const quiz *q);
/* Asks on standard output, reads standard input; an exit code. */
int learn_ask_quiz(const quiz *q);

#endif
