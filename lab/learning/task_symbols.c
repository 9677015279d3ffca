/* SPDX-License-Identifier: Apache-2.0 */
/* task_symbols.c - tasks in symbols, each for a decoder that predicts what comes next: induction,
 * copy, sort, add. Called through lab_tasks. Tests: tests/lab/test_task.c */
#include "core/hash.h"
#include "learning/task_dice.h"

#define LETTERS                                                                                    \
    "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", \
        "t", "u", "v", "w", "x", "y", "z"
#define DIGITS "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"

static uint64_t up_to(int token) { return ((uint64_t)2 << token) - 1; } /* tokens 0 .. token */

/* The tokens, which are below 256, as one number that identifies the example. */
static uint64_t mix(const int32_t *tokens, int n) {
    uint64_t hash = ATTNI_FNV1A_BEGIN;
    for (int i = 0; i < n; i++) {
        const uint8_t token = (uint8_t)tokens[i];
        hash = attni_fnv1a(hash, &token, sizeof token);
    }
    return hash;
}

/* ----------------------------------------------------------------------------------- induction */

/* A block of 6 to 11 distinct letters, repeated. From the second round on, every next letter is
 * determined: find the previous occurrence of the current letter, and take what followed it. The
 * length of the block varies, so that counting positions does not help. */

enum { BLOCK_MIN = 6, BLOCK_MAX = 11, INDUCTION_N = 24 };

static const char *const letter_words[] = {LETTERS, ">"};
enum { N_LETTERS = 26, COPY_MARK = N_LETTERS };

static uint64_t induction_draw(lab_dice *dice, lab_task_example *example) {
    int32_t block[BLOCK_MAX];
    const int period = BLOCK_MIN + lab_roll(dice, BLOCK_MAX - BLOCK_MIN + 1);
    lab_roll_distinct(dice, N_LETTERS, period, block);
    for (int i = 0; i < INDUCTION_N; i++) example->token[i] = block[i % period];
    for (int i = BLOCK_MIN; i < INDUCTION_N - 1; i++) {
        const int question = i - BLOCK_MIN;
        example->answer[question][0] = i < period ? -1 : example->token[i + 1];
        example->right[question] = 0;
        for (int j = i + 1 - period; j >= 1; j -= period)
            example->right[question] |= (uint64_t)1 << j;
        example->rival[question] = up_to(i) & ~example->right[question];
    }
    return mix(block, period);
}

const lab_task lab_task_induction = {
    .name = "induction",
    .about = "a b ... a -> b: find the last time, and say what came after it",
    .words = letter_words,
    .n_words = N_LETTERS,
    .n = INDUCTION_N,
    .n_questions = INDUCTION_N - 1 - BLOCK_MIN,
    .first_question = BLOCK_MIN,
    .slots = 1,
    .causal = true,
    .defaults = {.layers = 2, .heads = 2, .d = 32, .batch = 64, .steps = 2000, .rate = 2e-3},
    .draw = induction_draw,
};

/* ---------------------------------------------------------------------------------- copy, sort */

/* Eight symbols, a mark, and then eight symbols that follow from them: in the same order, or
 * sorted. The last answer is no longer a token. */

enum { LIST = 8, LIST_N = 2 * LIST };

/* Question i is asked at token LIST + i; its answer is at token place[i]. */
static void ask_for_list(lab_task_example *example, const int *place) {
    for (int i = 0; i < LIST; i++) {
        const int32_t answer = example->token[place[i]];
        example->answer[i][0] = answer;
        if (i + 1 < LIST) example->token[LIST + 1 + i] = answer;
        example->right[i] = (uint64_t)1 << place[i];
        example->rival[i] = up_to(LIST + i) & ~example->right[i];
    }
}

static uint64_t copy_draw(lab_dice *dice, lab_task_example *example) {
    static const int place[LIST] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int i = 0; i < LIST; i++) example->token[i] = lab_roll(dice, N_LETTERS);
    example->token[LIST] = COPY_MARK;
    ask_for_list(example, place);
    return mix(example->token, LIST);
}

const lab_task lab_task_copy = {
    .name = "copy",
    .about = "eight letters, then the same again",
    .words = letter_words,
    .n_words = N_LETTERS + 1,
    .n = LIST_N,
    .n_questions = LIST,
    .first_question = LIST,
    .slots = 1,
    .causal = true,
    .defaults = {.layers = 2, .heads = 2, .d = 32, .batch = 64, .steps = 2000, .rate = 2e-3},
    .draw = copy_draw,
};

static const char *const sort_words[] = {DIGITS, "10", "11", "12", "13", "14", "15", "16",
                                         "17",   "18", "19", "20", "21", "22", "23", "24",
                                         "25",   "26", "27", "28", "29", "30", "31", ">"};
enum { SORT_NUMBERS = 32, SORT_MARK = SORT_NUMBERS };

static uint64_t sort_draw(lab_dice *dice, lab_task_example *example) {
    int place[LIST];
    lab_roll_distinct(dice, SORT_NUMBERS, LIST, example->token);
    example->token[LIST] = SORT_MARK;
    for (int i = 0; i < LIST; i++) {
        int smaller = 0;
        for (int j = 0; j < LIST; j++) smaller += example->token[j] < example->token[i];
        place[smaller] = i;
    }
    ask_for_list(example, place);
    return mix(example->token, LIST);
}

const lab_task lab_task_sort = {
    .name = "sort",
    .about = "eight different numbers below 32, then the same in order",
    .words = sort_words,
    .n_words = SORT_NUMBERS + 1,
    .n = LIST_N,
    .n_questions = LIST,
    .first_question = LIST,
    .slots = 1,
    .causal = true,
    .defaults = {.layers = 2, .heads = 2, .d = 32, .batch = 64, .steps = 2000, .rate = 2e-3},
    .draw = sort_draw,
};

/* ----------------------------------------------------------------------------------------- add */

/* a2 a1 a0 + b2 b1 b0 = c0 c1 c2 c3: the sum is written from its last digit on, as one adds by
 * hand, so that each carry follows from what was written before. */

enum { DIGIT = 3, ADD_PLUS = 10, ADD_EQUALS = 11, ADD_MARK = 2 * DIGIT + 1 };

static const char *const add_words[] = {DIGITS, "+", "="};

static int power_of_ten(int exponent) {
    return exponent == 0 ? 1 : 10 * power_of_ten(exponent - 1);
}

static uint64_t add_draw(lab_dice *dice, lab_task_example *example) {
    const int a = lab_roll(dice, 1000), b = lab_roll(dice, 1000);
    for (int i = 0; i < DIGIT; i++) {
        example->token[DIGIT - 1 - i] = a / power_of_ten(i) % 10;
        example->token[2 * DIGIT - i] = b / power_of_ten(i) % 10;
    }
    example->token[DIGIT] = ADD_PLUS;
    example->token[ADD_MARK] = ADD_EQUALS;
    for (int i = 0; i <= DIGIT; i++) {
        const int column = i < DIGIT ? i : DIGIT - 1; /* the first digit is the carry of the last
                                                         column */
        example->answer[i][0] = (a + b) / power_of_ten(i) % 10;
        if (i < DIGIT) example->token[ADD_MARK + 1 + i] = example->answer[i][0];
        example->right[i] = (uint64_t)1 << (DIGIT - 1 - column) | (uint64_t)1
                                                                      << (2 * DIGIT - column);
        example->rival[i] = up_to(ADD_MARK + i) & ~example->right[i];
    }
    return (uint64_t)a * 1000 + (uint64_t)b;
}

const lab_task lab_task_add = {
    .name = "add",
    .about = "two numbers of three digits; the sum is said from its last digit on",
    .words = add_words,
    .n_words = 12,
    .n = ADD_MARK + 1 + DIGIT,
    .n_questions = DIGIT + 1,
    .first_question = ADD_MARK,
    .slots = 1,
    .causal = true,
    .defaults = {.layers = 2, .heads = 4, .d = 32, .batch = 64, .steps = 3000, .rate = 2e-3},
    .draw = add_draw,
};
