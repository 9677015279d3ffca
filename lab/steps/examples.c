/* SPDX-License-Identifier: Apache-2.0 */
/* examples.c - see examples.h. Contains only inputs and statements; every other number is
 * computed. */
#include "steps/examples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MATRIX(r, c, ...)                                                                          \
    {                                                                                              \
        .rows = (r), .columns = (c), .cell = (const double[]) { __VA_ARGS__ }                      \
    }
#define STATEMENTS(list) .statement = (list), .n_statements = sizeof(list) / sizeof *(list)
#define PLAIN            .H = 1, .scaling = LAB_SCALE_SQRT, .temperature = 1

/* 64 times the same number: a row of a key whose product with a query of ones is 64 times it. */
#define FOUR(x)      x, x, x, x
#define SIXTEEN(x)   FOUR(x), FOUR(x), FOUR(x), FOUR(x)
#define SIXTYFOUR(x) SIXTEEN(x), SIXTEEN(x), SIXTEEN(x), SIXTEEN(x)

/* ---------------------------------------------------------------------------------------- names */

static const char *const two_queries[] = {"query 1", "query 2"};
static const char *const one_query[] = {"query"};
static const char *const keys[] = {"key 1", "key 2", "key 3", "key 4"};
static const char *const i_love_cats[] = {"I", "love", "cats"};
static const char *const i_love_apple_phones[] = {"I", "love", "apple", "phones"};
static const char *const positions[] = {"token 1", "token 2", "token 3"};

/* ----------------------------------------------------------------------------------- statements */

static const lab_statement stated_001[] = {
    {LAB_SCALED, 0, "0.707 0.707 0", false},
    {LAB_WEIGHTS, 0, "0.382 0.382 0.236", false},
    {LAB_OUTPUT, 0, "0.618 1.000", false},
};

static const lab_statement stated_002_scaling[] = {
    {LAB_SCORES, 0, "30 25 -10 5", false},
    {LAB_SCORES, 0, "30 25 -10 5", true},
    {LAB_SCALED, 0, "3.75 3.125 -1.25 0.625", false},
    {LAB_WEIGHTS, 0, "0.42 0.32 0.04 0.22", false},
    {LAB_WEIGHTS, 0, "0.993 0.007 0.000 0.000", true},
};

static const lab_statement stated_003[] = {
    {LAB_SCALED, 0, "0.707 1.414 2.121", false},
    {LAB_SCALED, 1, "1.414 2.828 4.243", false},
    {LAB_SCALED, 2, "2.121 4.243 6.364", false},
    {LAB_WEIGHTS, 0, "1 0 0", false},
    {LAB_WEIGHTS, 1, "0.196 0.804 0", false},
    {LAB_WEIGHTS, 2, "0.063 0.262 0.675", false},
    {LAB_OUTPUT, 0, "1 0", false},
    {LAB_OUTPUT, 1, "1.804 0", false},
    {LAB_OUTPUT, 2, "2.612 0", false},
};

static const lab_statement stated_003_scaling[] = {
    {LAB_SCORES, 0, "0 64 128", false},
    {LAB_SCORES, 0, "0 64 128", true},
    {LAB_WEIGHTS, 0, "1.12e-7 0.0003 0.9997", false},
    {LAB_WEIGHTS, 0, "0 0 1", true},
};

enum {
    STATED_004_QKV = 12,   /* the first rows of the list are about Q, K and V */
    STATED_004_HEAD_1 = 24 /* the rows before those of the concatenation */
};

static const lab_statement stated_004[] = {
    {LAB_Q, 0, "1.2 0.6", false},
    {LAB_Q, 1, "1.0 1.1", false},
    {LAB_Q, 2, "1.1 0.7", false},
    {LAB_Q, 3, "0.4 1.3", false},
    {LAB_K, 0, "1.2 0.6", false},
    {LAB_K, 1, "0.9 1.1", false},
    {LAB_K, 2, "0.7 0.7", false},
    {LAB_K, 3, "1.3 0.3", false},
    {LAB_V, 0, "1.2 0.6", false},
    {LAB_V, 1, "0.9 1.1", false},
    {LAB_V, 2, "1.1 1.2", false},
    {LAB_V, 3, "1.3 1.3", false},
    {LAB_SCORES, 0, "1.80 1.74 1.26 1.74", false},
    {LAB_SCORES, 1, "1.86 2.11 1.47 1.96", false},
    {LAB_SCORES, 2, "1.74 1.76 1.26 1.64", false},
    {LAB_SCORES, 3, "1.26 1.79 1.19 1.91", false},
    {LAB_WEIGHTS, 0, "0.278 0.266 0.190 0.266", false},
    {LAB_WEIGHTS, 1, "0.248 0.296 0.189 0.267", false},
    {LAB_WEIGHTS, 2, "0.273 0.277 0.195 0.255", false},
    {LAB_WEIGHTS, 3, "0.200 0.292 0.191 0.317", false},
    {LAB_OUTPUT, 0, "1.128 1.034", false},
    {LAB_OUTPUT, 1, "1.119 1.049", false},
    {LAB_OUTPUT, 2, "1.124 1.035", false},
    {LAB_OUTPUT, 3, "1.125 1.082", false},
    {LAB_CONCAT, 0, "1.128 1.034", false}, /* of head 1; those of head 2 are simulated */
    {LAB_CONCAT, 1, "1.119 1.049", false},
    {LAB_CONCAT, 2, "1.124 1.035", false},
    {LAB_CONCAT, 3, "1.125 1.082", false},
};

/* ------------------------------------------------------------------------------------- examples */

#define X_002                                                                                      \
    MATRIX(3, 4, -1.00, 0.74, 0.37, -0.98, -0.34, -0.63, -0.87, 0.06, 0.83, 0.02, 0.14, 0.47)
#define ROWS_003 MATRIX(3, 2, 1, 0, 2, 0, 3, 0)
#define X_004                                                                                      \
    MATRIX(4, 4, 1.0, 0.5, 0.2, 0.1, 0.9, 1.1, 0.1, 0.0, 0.1, 0.2, 1.0, 0.5, 0.0, 0.1, 0.4, 1.2)

const lab_example lab_examples[] = {
    {
        .name = "001",
        .title = "two queries, three keys",
        .about = "Document 001 gives Q, K and V; there are no tokens and no projections.",
        .lesson = "The scores are right, their softmax is not: exp(0.7071) is 2.028 times exp(0), "
                  "but 0.382 is only 1.619 times 0.236.",
        .key = keys,
        .query = two_queries,
        .problem = {.given = {[LAB_Q] = MATRIX(2, 2, 1, 0, 0, 1),
                              [LAB_K] = MATRIX(3, 2, 1, 0, 1, 1, 0, 1),
                              [LAB_V] = MATRIX(3, 2, 1, 0, 0, 2, 1, 1)},
                    PLAIN},
        STATEMENTS(stated_001),
    },
    {
        .name = "002",
        .title = "I love cats",
        .about = "Document 002 gives X only. W_Q, W_K and W_V are ours: 0.5 times normal numbers "
                 "(seed 42), rounded to two decimals.",
        .key = i_love_cats,
        .problem = {.given = {[LAB_X] = X_002,
                              [LAB_W_Q] = MATRIX(4, 3, 0.25, -0.07, 0.32, 0.76, -0.12, -0.12, 0.79,
                                                 0.38, -0.23, 0.27, -0.23, -0.23),
                              [LAB_W_K] = MATRIX(4, 3, 0.12, -0.96, -0.86, -0.28, -0.51, 0.16,
                                                 -0.45, -0.71, 0.73, -0.11, 0.03, -0.71),
                              [LAB_W_V] = MATRIX(4, 3, -0.27, 0.06, -0.58, 0.19, -0.30, -0.15,
                                                 -0.30, 0.93, -0.01, -0.53, 0.41, -0.61)},
                    PLAIN},
    },
    {
        .name = "002-plain",
        .title = "I love cats, without projections",
        .about = "Document 002 gives X only. Here Q = K = V = X, which is what no projection "
                 "means: scores are symmetric, and most tokens match themselves best.",
        .key = i_love_cats,
        .problem = {.given = {[LAB_X] = X_002}, PLAIN},
    },
    {
        .name = "002-scaling",
        .title = "scores 30, 25, -10, 5 at d_k = 64",
        .about = "Document 002 gives the scores and d_k. The query of ones, the keys and the "
                 "values are ours, made to give these scores; with --no-scale: the other half of "
                 "its table.",
        .lesson = "No temperature gives the stated softmax: the logarithms of 0.42, 0.32 and 0.04 "
                  "differ by 0.272 and 2.079, the scores by 0.625 and 4.375, another proportion.",
        .key = keys,
        .query = one_query,
        .problem = {.given = {[LAB_Q] = MATRIX(1, 64, SIXTYFOUR(1.0)),
                              [LAB_K] = MATRIX(4, 64, SIXTYFOUR(0.46875), SIXTYFOUR(0.390625),
                                               SIXTYFOUR(-0.15625), SIXTYFOUR(0.078125)),
                              [LAB_V] = MATRIX(4, 1, 1, 2, 3, 4)},
                    PLAIN},
        STATEMENTS(stated_002_scaling),
    },
    {
        .name = "003",
        .title = "example 2: three tokens, causal",
        .about = "Document 003 gives Q = K = V and a causal mask.",
        .lesson = "The steps between the scores of the last row are equal, so the logarithms of "
                  "its weights must step equally too; the stated ones do not.",
        .key = positions,
        .problem = {.given = {[LAB_Q] = ROWS_003, [LAB_K] = ROWS_003, [LAB_V] = ROWS_003},
                    .causal = true,
                    PLAIN},
        STATEMENTS(stated_003),
    },
    {
        .name = "003-scaling",
        .title = "example 3: scores 0, 64, 128 at d_k = 64",
        .about =
            "Document 003 gives the scores and d_k. The query of ones, the keys and the "
            "values are ours, made to give these scores; with --no-scale: its unscaled softmax.",
        .key = keys,
        .query = one_query,
        .problem = {.given = {[LAB_Q] = MATRIX(1, 64, SIXTYFOUR(1.0)),
                              [LAB_K] =
                                  MATRIX(3, 64, SIXTYFOUR(0.0), SIXTYFOUR(1.0), SIXTYFOUR(2.0)),
                              [LAB_V] = MATRIX(3, 1, 1, 2, 3)},
                    PLAIN},
        STATEMENTS(stated_003_scaling),
    },
    {
        .name = "004",
        .title = "I love apple phones, head 1",
        .about = "Document 004 gives X, W_Q, W_K and W_V of head 1; of head 2 and W_O it gives no "
                 "numbers.",
        .lesson = "K and V are not X W_K and X W_V, and everything after them is off. By the "
                  "document \"apple\" looks strongly at \"phones\"; in truth phones comes third of "
                  "four, below an even share. --example 004-stated begins with its Q, K, V; "
                  "004-heads adds a head.",
        .key = i_love_apple_phones,
        .problem = {.given = {[LAB_X] = X_004,
                              [LAB_W_Q] = MATRIX(4, 2, 1, 0, 0, 1, 1, 0, 0, 1),
                              [LAB_W_K] = MATRIX(4, 2, 1, 0, 0, 1, 0, 1, 1, 0),
                              [LAB_W_V] = MATRIX(4, 2, 1, 0, 0, 1, 1, 1, 0, 1)},
                    PLAIN},
        .statement = stated_004,
        .n_statements = STATED_004_HEAD_1,
    },
    {
        .name = "004-heads",
        .title = "I love apple phones, two heads",
        .about = "Head 1 is that of document 004, which only simulates head 2. Ours takes the last "
                 "two numbers of X; its W_K swaps them.",
        .lesson = "In head 2 \"apple\" looks most at \"phones\", as the document says of head 1. "
                  "The columns of head 1 stay wrong.",
        .key = i_love_apple_phones,
        .problem =
            {.given = {[LAB_X] = X_004,
                       [LAB_W_Q] = MATRIX(4, 4, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 2, 0, 0, 1, 0, 2),
                       [LAB_W_K] = MATRIX(4, 4, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0),
                       [LAB_W_V] = MATRIX(4, 4, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1)},
             .H = 2,
             .scaling = LAB_SCALE_SQRT,
             .temperature = 1},
        STATEMENTS(stated_004),
    },
    {
        .name = "004-stated",
        .title = "I love apple phones, from the Q, K, V that the document states",
        .about = "The tables of Q, K and V as document 004 prints them, wrong as K and V are.",
        .lesson = "Two scores do not follow even from the stated Q and K. The softmax of the "
                  "stated scores is right, so the error is in the products.",
        .key = i_love_apple_phones,
        .problem = {.given = {[LAB_Q] = MATRIX(4, 2, 1.2, 0.6, 1.0, 1.1, 1.1, 0.7, 0.4, 1.3),
                              [LAB_K] = MATRIX(4, 2, 1.2, 0.6, 0.9, 1.1, 0.7, 0.7, 1.3, 0.3),
                              [LAB_V] = MATRIX(4, 2, 1.2, 0.6, 0.9, 1.1, 1.1, 1.2, 1.3, 1.3)},
                    PLAIN},
        .statement = stated_004 + STATED_004_QKV,
        .n_statements = STATED_004_HEAD_1 - STATED_004_QKV,
    },
};
const size_t lab_n_examples = sizeof lab_examples / sizeof *lab_examples;

const lab_example *lab_example_named(const char *name) {
    for (size_t i = 0; i < lab_n_examples; i++)
        if (strcmp(name, lab_examples[i].name) == 0) return &lab_examples[i];
    return NULL;
}

/* ------------------------------------------------------------------------------- stated numbers */

/* Half a unit of the last printed digit; rounding in our own arithmetic for a whole number. */
static double allowance(const char *text, int length) {
    const char *point = memchr(text, '.', (size_t)length);
    const char *power = memchr(text, 'e', (size_t)length);
    if (!point) return 1e-9;
    const char *end = power ? power : text + length;
    const double exponent = power ? strtod(power + 1, NULL) : 0;
    return 0.5 * pow(10, exponent - (double)(end - point - 1)) * (1 + 1e-9);
}

int lab_statement_read(const lab_statement *statement, lab_stated number[LAB_MOST_STATED]) {
    const char *text = statement->stated;
    int n = 0;
    while (*text && n < LAB_MOST_STATED) {
        const int length = (int)strcspn(text, " ");
        number[n++] = (lab_stated){strtod(text, NULL), allowance(text, length), length};
        text += length + (text[length] == ' ');
    }
    return n;
}

bool lab_stated_holds(const lab_stated *number, double truth) {
    return fabs(number->value - truth) <= number->allowance;
}
