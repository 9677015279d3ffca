/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h - attention step by step, keeping every number: inputs, projections, scores, weights,
 * outputs of the heads, concatenation, W_O. Meant for display, so sizes are limited; the engine
 * computes, in double precision. Tests: tests/lab/test_steps.c */
#ifndef LAB_STEPS_H
#define LAB_STEPS_H

#include "attn/attn.h"
#include "steps/scaling.h"

#include <stdbool.h>

/* The matrices, in the order in which they arise. */
typedef enum lab_part {
    LAB_X,       /* (n, d_model) */
    LAB_W_Q,     /* (d_model, H * d_k) */
    LAB_W_K,     /* (d_model, H * d_k) */
    LAB_W_V,     /* (d_model, H * d_v) */
    LAB_Q,       /* (n_q, d_k) of each head */
    LAB_K,       /* (n_k, d_k) of each head */
    LAB_V,       /* (n_k, d_v) of each head */
    LAB_SCORES,  /* (n_q, n_k) of each head: q.k */
    LAB_SCALED,  /* (n_q, n_k) of each head: scale q.k */
    LAB_MASKED,  /* (n_q, n_k) of each head: -inf where the query does not see the key */
    LAB_WEIGHTS, /* (n_q, n_k) of each head: softmax of the rows of masked / temperature */
    LAB_OUTPUT,  /* (n_q, d_v) of each head */
    LAB_CONCAT,  /* (n_q, H * d_v) */
    LAB_W_O,     /* (H * d_v, columns of y) */
    LAB_Y,       /* (n_q, its columns) */
    LAB_N_PARTS
} lab_part;

/* A matrix owned by somebody else. */
typedef struct lab_matrix {
    int64_t rows, columns;
    const double *cell; /* (rows, columns), finite; or NULL: none */
} lab_matrix;

/* The inputs: either X, with W_Q, W_K and W_V or with none of them (then Q = K = V = X); or Q, K
 * and V with the columns of all heads side by side. W_O is optional. Nothing else. */
typedef struct lab_problem {
    lab_matrix given[LAB_N_PARTS];
    int64_t H; /* divides the columns of Q and of V */
    lab_scaling scaling;
    double temperature; /* > 0 */
    bool causal;        /* query i sees key j if j <= i + n_k - n_q */
} lab_problem;

/* One head, scores by sqrt(d_k), temperature 1, not causal; nothing given. */
lab_problem lab_problem_defaults(void);

enum { LAB_MOST_PAIRS = 1 << 18, LAB_SENTENCE = 200 }; /* pairs of query and key in all heads */

/* One matrix, or one per head. Cell (i, j) of head h is cell[h * head_stride + i * row_stride + j];
 * heads may be interleaved. cell NULL: this problem has no such matrix. */
typedef struct lab_step {
    const char *name;    /* "w_q" */
    const char *formula; /* "Q = X W_Q" */
    char sentence[LAB_SENTENCE];
    bool per_head;
    int64_t heads, rows, columns; /* heads 1 unless per_head */
    int64_t head_stride, row_stride;
    const double *cell;
    double flops; /* of all heads. 2 per multiply-add, 1 per scaled score, 5 per softmax weight */
} lab_step;

typedef struct lab_steps {
    int64_t n_q, n_k, H, d_k, d_v;
    double scale, temperature; /* scale: the factor, by scaling and d_k */
    bool causal;
    lab_step step[LAB_N_PARTS];
    double *memory; /* owns the cells */
} lab_steps;

static inline double lab_step_at(const lab_step *step, int64_t head, int64_t i, int64_t j) {
    return step->cell[head * step->head_stride + i * step->row_stride + j];
}

/* Computes all steps. Errors: SHAPE (names the matrix), VALUE (not finite, or a result overflows),
 * OVERFLOW (more than LAB_MOST_PAIRS), MEMORY; *steps is then empty. */
attn_status lab_steps_compute(attn_ctx *ctx, const lab_problem *problem, lab_steps *steps,
                              attn_error *err);
void lab_steps_free(lab_steps *steps);

/* "w_q"; the part of that name, or LAB_N_PARTS. */
const char *lab_part_name(lab_part part);
lab_part lab_part_named(const char *name);

#endif
