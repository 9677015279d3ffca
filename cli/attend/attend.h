/* SPDX-License-Identifier: Apache-2.0 */
/* attend.h - a look at a model and one text, as text or JSON, and two of them compared. attend.c
 * parses, attend_read.c reads, attend_compare.c compares, attend_text.c and attend_json.c show;
 * `attn train` ends with the same. */
#ifndef CLI_ATTEND_H
#define CLI_ATTEND_H

#include "lab/steps/random_look.h"
#include "shared/out.h"

/* -------------------------------------------------------------------------------------- reading */

/* Who reads: a model, or layers with random weights. */
typedef struct attend_reader {
    attni_model model;        /* weights NULL: random layers */
    lab_random_layers random; /* of random layers */
    int64_t layers, heads, d_k;
} attend_reader;

/* One sentence as its reader has it. */
typedef struct attend_words {
    int64_t n;
    int32_t *tokens;   /* (n) of a model */
    lab_words words;   /* of random layers */
    const char **word; /* (n) */
    int64_t question;  /* where the sentence is asked about; -1: the sentence does not say */
} attend_words;

/* An exit code after a message; then text is empty. */
int attend_read(const attend_reader *reader, const char *sentence, attend_words *text);
void attend_words_free(attend_words *text);
/* As the reader was made, without a gradient. */
attni_look_input attend_input(const attend_reader *reader, const attend_words *text);
/* An exit code after a message. */
int attend_look(const attend_reader *reader, const attend_words *text, const attni_look_input *in,
                attni_look *look);

/* -------------------------------------------------------------------------------------- showing */

/* What is shown: a matrix, which an attni_aggregate chooses, or something else. */
typedef enum attend_show {
    ATTEND_MAP,
    ATTEND_HEADS,      /* every head of every layer */
    ATTEND_ENTROPY,    /* of every row of every head */
    ATTEND_PRODUCT,    /* query times key of one pair */
    ATTEND_POSITIONS,  /* |d loss / d x| at each token */
    ATTEND_PARAMETERS, /* |d loss / d parameter| */
    ATTEND_SHIFT       /* where tokens lie before the first layer and after the last */
} attend_show;
#define ATTEND_SHOW_WORDS      "map|heads|entropy|product|positions|parameters|shift"
#define ATTEND_AGGREGATE_WORDS "head|mean|max|rollout|gradient" /* as attni_aggregate counts them */

typedef struct attend_view {
    const attni_look *look;
    const attni_model *model; /* NULL: random layers */
    const char *const *word;  /* (n) of the text */
    attend_show show;
    attni_aggregate aggregate;
    int64_t layer, head;    /* from 0 */
    int64_t first, n_asked; /* the tokens at which answers are shown */
    bool is_untaught;       /* the model was not trained to answer there */
    int64_t at, key;        /* the token in question; for a product, the one it attends to */
    const float *points;    /* (2, n, 2) of a shift: before and after, on two axes */
} attend_view;

static inline const float *attend_matrix(const attend_view *v) {
    return attni_look_matrix(v->look, v->aggregate, v->layer, v->head);
}

enum { ATTEND_NAME = 64 };
/* "layers.0.attention.w_q": what by_parameter[i] is of. */
const char *attend_parameter(const attend_view *view, int64_t i, char text[ATTEND_NAME]);

/* Prints the text, the answers and what is to be shown; an exit code. */
int attend_print(const attend_view *view);
/* The same of two texts: a difference of maps, or both shifts. */
int attend_print_both(const attend_view view[2]);
/* Adds "tokens", "answers" and "weights" (layers, heads, n, n) to root. */
void attend_json_weights(const attend_view *view, json_t *root);
/* Adds what is to be shown. */
void attend_json_shown(const attend_view *view, json_t *root);
/* Adds "pairs" and "difference" of two maps; an exit code. */
int attend_json_difference(const attend_view view[2], json_t *root);

/* ------------------------------------------------------------------------------------ comparing */

/* Tokens of two texts that belong together; -1 where one has nothing beside it. */
typedef struct attend_pair {
    int64_t of[2];
} attend_pair;

/* Words side by side with the fewest changes: *pairs (the result), to be freed; -1 without
 * memory. */
int64_t attend_align(const attend_view view[2], attend_pair **pairs);
/* First map minus second at a pair of queries and a pair of keys; NaN where one has no such cell or
 * both are masked. */
double attend_difference(const attend_view view[2], const attend_pair *query,
                         const attend_pair *key);
/* Sets the points of n_views = 1 or 2 views on shared axes: memory to be freed, or NULL. */
float *attend_shift(attend_view *view, int n_views);

#endif
