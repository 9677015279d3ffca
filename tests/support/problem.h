/* SPDX-License-Identifier: Apache-2.0 */
/* problem.h - random attention problems identified by a seed: shapes, strides, dtypes, masks and
 * every other option of attn_args, all buffers between guard pages, padding in inputs filled with
 * NaN. A problem is a pure function of its spec on every machine; the logical values of q, k and v
 * do not depend on layout or features, so that two specs can be compared. */
#ifndef PROBLEM_H
#define PROBLEM_H

#include "element.h"
#include "guard.h"
#include "random.h"

#include <stdbool.h>
#include <stdint.h>

/* ------------------------------------------------------------------------------------- problems */

/* What a problem may have beyond q, k and v. */
enum {
    PROBLEM_CAUSAL = 1 << 0,
    PROBLEM_WINDOW = 1 << 1,
    PROBLEM_MASK = 1 << 2,
    PROBLEM_BIAS = 1 << 3,
    PROBLEM_PATTERN = 1 << 4,
    PROBLEM_LENGTHS = 1 << 5,
    PROBLEM_PACKED = 1 << 6, /* ignored beside LENGTHS, which excludes it */
    PROBLEM_OFFSET = 1 << 7,
    PROBLEM_ALIBI = 1 << 8,
    PROBLEM_SINKS = 1 << 9,
    PROBLEM_SOFTCAP = 1 << 10,
    PROBLEM_TEMPERATURE = 1 << 11,
    PROBLEM_SCALE = 1 << 12,
    PROBLEM_DROPOUT = 1 << 13,
    PROBLEM_EVERYTHING = (1 << 14) - 1
};

typedef enum problem_layout {
    LAYOUT_BHSD,
    LAYOUT_BSHD,
    LAYOUT_QKV,      /* a row holds all heads of q, k and v; n_q == n_k, else as BSHD */
    LAYOUT_PADDED,   /* gaps between rows, heads and batches */
    LAYOUT_REVERSED, /* some strides negative */
    LAYOUT_REPEATED, /* some strides of q, k, v zero, so that other values result */
    LAYOUT_COUNT
} problem_layout;

enum { PROBLEM_MAX_B = 8, PROBLEM_MAX_H = 16 };

typedef struct problem_spec {
    uint64_t seed;
    attn_dtype dtype;
    int64_t B; /* batches, or sequences if packed; at most PROBLEM_MAX_B */
    int64_t H, H_kv;
    int64_t n_q, n_k; /* packed: of all sequences together */
    int64_t d_k, d_v;
    unsigned features;
    problem_layout layout;
    bool wide_lse; /* lse in f64 whatever dtype is */
} problem_spec;

/* A random spec. vl lanes per vector and `lanes` per panel are what sizes are drawn around. */
problem_spec problem_draw(uint64_t seed, attn_dtype dtype, int vl, int lanes);

enum {
    BUFFER_Q,
    BUFFER_K,
    BUFFER_V,
    BUFFER_OUT,
    BUFFER_LSE,
    BUFFER_MASK,
    BUFFER_BIAS,
    BUFFER_DOUT,
    BUFFER_DQ, /* all of dq, dk and dv where these share rows */
    BUFFER_DK,
    BUFFER_DV,
    BUFFER_DBIAS,
    BUFFER_DSINKS,
    BUFFER_DSCALE,
    BUFFERS
};

/* The gradients that a problem asks for. */
enum {
    WANT_DQ = 1 << 0,
    WANT_DK = 1 << 1,
    WANT_DV = 1 << 2,
    WANT_DBIAS = 1 << 3,  /* ignored without bias */
    WANT_DSINKS = 1 << 4, /* ignored without sinks */
    WANT_DSCALE = 1 << 5,
    WANT_ALL = (1 << 6) - 1
};

typedef struct problem {
    problem_spec spec;
    attn_args args;
    attn_tensor out, lse;
    attn_tensor dout;               /* absent before problem_make_backward() */
    attn_gradients gradients;       /* likewise; those not wanted stay absent */
    guard buffer[BUFFERS];          /* unused ones have size 0 */
    unsigned char *before[BUFFERS]; /* what problem_remember() saw */
    attn_pattern *pattern;
    int64_t offsets[PROBLEM_MAX_B], len_q[PROBLEM_MAX_B], len_k[PROBLEM_MAX_B];
    int64_t cu_q[PROBLEM_MAX_B + 1], cu_k[PROBLEM_MAX_B + 1];
    double alibi[PROBLEM_MAX_H], sinks[PROBLEM_MAX_H];
    char text[2000]; /* the seed and everything else, for messages */
} problem;

/* Fills *p, which must then stay where it is. On false the test has already failed (no memory). */
bool problem_make(problem *p, const problem_spec *spec);
/* Also of a problem whose problem_make() gave false. */
void problem_free(problem *p);

/* Rows and keys of sequence s (a batch entry, or packed), lengths considered. */
int64_t problem_rows(const problem *p, int64_t s);
int64_t problem_keys(const problem *p, int64_t s);
/* Does query i of head h of sequence s see key j? By the words of attn.h, one condition each. */
bool problem_sees(const problem *p, int64_t s, int64_t h, int64_t i, int64_t j);

/* Runs attn_forward() with a workspace of exactly attn_forward_workspace() bytes between guard
 * pages. False, and a failed test, if it does not return ATTN_OK, if a byte changed that belongs to
 * neither out nor lse, or if it wrote beside the workspace. */
bool problem_run(problem *p, attn_ctx *ctx);
/* Takes the bytes as they are now for the ones that a run must keep. */
void problem_remember(problem *p);

/* Says in p->text what p is; called again by whatever changes it. */
void problem_describe(problem *p);

/* Adds dout and room for the wanted gradients, filled with NaN. Values of dout do not depend on the
 * layout; dbias is f32 or f64, in strides of its own, some of which make elements share memory. */
bool problem_make_backward(problem *p, unsigned wanted);
/* Runs attn_backward() on the results of the last problem_run(), as problem_run() runs forward: all
 * bytes but those of the wanted gradients must stay. */
bool problem_run_backward(problem *p, attn_ctx *ctx);
/* The gradients as tensors, f64 vectors among them; absent ones have no data. */
enum { GRADIENTS = 6 };
extern const char *const gradient_names[GRADIENTS];
attn_tensor problem_gradient(const problem *p, int which);

/* Moves to the next index in row-major order; false after the last one. */
bool tensor_next(const int64_t shape[4], int64_t at[4]);
bool tensor_is_empty(const int64_t shape[4]);

/* How often to repeat: `full` natively; less under sanitizers and where the environment variable
 * ATTN_TEST_PERCENT says so; at least once. */
int test_rounds(int full);

#endif
