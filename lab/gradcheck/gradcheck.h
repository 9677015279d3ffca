/* SPDX-License-Identifier: Apache-2.0 */
/* gradcheck.h - checks gradients against central differences, in f64. A check says how to compute
 * outputs from numbers that may be varied, and which gradients backward gives for them; the
 * comparison is the same for all checks. Tests: tests/lab/test_gradcheck.c */
#ifndef LAB_GRADCHECK_H
#define LAB_GRADCHECK_H

#include "attn/attn.h"

#include <stdbool.h>

/* ---------------------------------------------------------------------------------- comparison */

/* Numbers to differentiate with respect to, and their gradients from backward. */
typedef struct grad_part {
    const char *name; /* "dq" */
    double *x;        /* (n) */
    const double *dx; /* (n) */
    size_t n;
} grad_part;

enum { GRAD_MAX_PARTS = 64 };

/* loss = sum of dout * out, where forward() reads x of every part and writes out. */
typedef struct grad_problem {
    attn_status (*forward)(void *arg, attn_error *err);
    void *arg;
    const double *out;  /* (n_out) */
    const double *dout; /* (n_out) */
    size_t n_out;
    grad_part part[GRAD_MAX_PARTS];
    int n_parts;
} grad_problem;

/* The result of a check. */
typedef struct grad_tally {
    size_t n;       /* numbers compared */
    size_t nonzero; /* those that affect the loss: a check without them would prove nothing */
    double largest; /* |backward - differences| / max(1, |differences|); NaN counts as infinite */
    char part[48];  /* where the largest error was */
    size_t element;
    double backward, differences;
} grad_tally;

void grad_add(grad_problem *problem, const char *name, double *x, const double *dx, size_t n);
/* Moves every element of every part up and down by 6e-6 max(1, |x|), and compares. An element that
 * is not finite (a bias of -inf) cannot be moved: its gradient must be 0. */
attn_status grad_compare(const grad_problem *problem, grad_tally *tally, attn_error *err);

/* -------------------------------------------------------------------------------------- memory */

enum { GRAD_MAX_BLOCKS = 128 };

/* The resources of a check. Memory lives until the check is over. */
typedef struct grad_session {
    attn_ctx *ctx;
    uint64_t seed;
    void *block[GRAD_MAX_BLOCKS];
    int n_blocks;
    bool short_of_memory;
} grad_session;

/* n numbers: random in (-1, 1), the same for the same seed; or NaN, for results still to be
 * written. NULL if out of memory: call grad_ready() after all allocations. */
double *grad_random(grad_session *session, size_t n);
double *grad_blank(grad_session *session, size_t n);
/* 64-byte aligned scratch. */
void *grad_bytes(grad_session *session, size_t bytes);
/* ATTN_E_MEMORY if any allocation failed. */
attn_status grad_ready(const grad_session *session, attn_error *err);
void grad_release(grad_session *session);

/* Creates a part of a problem in one step. */
typedef struct grad_pair {
    double *x;  /* (n) random */
    double *dx; /* (n) where backward writes */
} grad_pair;

/* dx starts as NaN, for gradients that backward sets. */
grad_pair grad_input(grad_session *session, grad_problem *problem, const char *name, size_t n);
/* dx starts as 0, for gradients that backward adds to. */
grad_pair grad_param(grad_session *session, grad_problem *problem, const char *name, size_t n);
/* The outputs, with a random dout; returns where forward writes them. */
double *grad_output(grad_session *session, grad_problem *problem, size_t n);

/* -------------------------------------------------------------------------------------- checks */

typedef attn_status grad_run(grad_session *session, const void *setting, grad_tally *tally,
                             attn_error *err);

/* One line of the table. */
typedef struct grad_check {
    const char *name, *about;
    grad_run *run;
    const void *setting;
} grad_check;

extern const grad_check grad_features[]; /* gradcheck_attention.c */
extern const size_t grad_n_features;
extern const grad_check grad_layers[]; /* gradcheck_layers.c */
extern const size_t grad_n_layers;

/* gradcheck_sequence.c; settings are layers from their headers. */
grad_run grad_check_rope, grad_check_relative, grad_check_additive, grad_check_mha;
grad_run grad_check_transformer; /* gradcheck_model.c; setting: const bool, causal */
grad_run grad_check_positions;   /* gradcheck_model.c; no setting */

#endif
