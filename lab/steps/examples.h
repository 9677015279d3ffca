/* SPDX-License-Identifier: Apache-2.0 */
/* examples.h - the worked examples of the documents as data: what they give, and what they say
 * comes out, as printed. Example 1 of document 003 is a variance over random draws, not a
 * computation on matrices: lab/claims. Tests: tests/lab/test_steps.c */
#ifndef LAB_EXAMPLES_H
#define LAB_EXAMPLES_H

#include "steps/steps.h"

#include <stddef.h>

/* What a document says of one row of one matrix. */
typedef struct lab_statement {
    lab_part part;
    int64_t row;
    const char *stated; /* the numbers as printed, separated by single spaces */
    bool unscaled;      /* said of scores that are not divided by sqrt(d_k) */
} lab_statement;

typedef struct lab_example {
    const char *name;         /* "004": the document, and "-" and a word where it has several */
    const char *title;        /* one line */
    const char *about;        /* what is given and what is ours */
    const char *lesson;       /* what the comparison shows, or NULL */
    const char *const *key;   /* (n_k) names of keys */
    const char *const *query; /* (n_q) names of queries; NULL: the same as of the keys */
    lab_problem problem;
    const lab_statement *statement;
    size_t n_statements;
} lab_example;

extern const lab_example lab_examples[];
extern const size_t lab_n_examples;

/* NULL if there is none of that name. */
const lab_example *lab_example_named(const char *name);

enum { LAB_MOST_STATED = 4 }; /* numbers in one statement */

/* A number as a document prints it: 0.278 is anything from 0.2775 to 0.2785, 1.12e-7 anything from
 * 1.115e-7 to 1.125e-7; a whole number is meant exactly. */
typedef struct lab_stated {
    double value, allowance;
    int length; /* characters in the document */
} lab_stated;

/* How many there are. */
int lab_statement_read(const lab_statement *statement, lab_stated number[LAB_MOST_STATED]);
bool lab_stated_holds(const lab_stated *number, double truth);

#endif
