/* SPDX-License-Identifier: Apache-2.0 */
/* golden_case.h - the attention cases of golden.json (60-digit arithmetic, rounded once) as
 * problems for attn: as given (mask and bias as matrices) and, where attn_args has an option for it
 * (causal, window, lengths, ALiBi, temperature, patterns), expressed by options. */
#ifndef GOLDEN_CASE_H
#define GOLDEN_CASE_H

#include "attn/attn.h"

#include <jansson.h>
#include <stdbool.h>

enum { GOLDEN_CASES = 46, GOLDEN_MAX_BUFFERS = 48 };

typedef struct golden {
    const json_t *json, *expected;
    const char *name;
    int64_t H, H_kv, n_q, n_k, d_k, d_v;
} golden;

/* NULL, and a failed test, if the file cannot be read. */
const json_t *golden_file(void);
golden golden_at(size_t n);
bool golden_is_layer(const golden *g);

typedef enum golden_way { AS_GIVEN, NATIVE } golden_way;

/* One case as a problem in one dtype, with room for the answers. */
typedef struct golden_problem {
    attn_args args;
    attn_tensor out, lse;
    attn_tensor dout;         /* absent where the case has no gradients */
    attn_gradients gradients; /* room for dq, dk, dv, and dbias where there is a bias */
    attn_dtype dtype;
    double tau;     /* golden scores are divided by it, scores of args are not */
    uint8_t *allow; /* (H, n_q, n_k) the pairs that are visible, or NULL: all */
    int64_t len_k;  /* storage for args.len_k */
    double slope;   /* storage for args.alibi */
    attn_pattern *pattern;
    void *buffers[GOLDEN_MAX_BUFFERS];
    int n_buffers;
} golden_problem;

/* False if there is nothing to say by options; golden_end() in any case. */
bool golden_begin(golden_problem *p, const golden *g, attn_dtype dtype, golden_way how);
void golden_end(golden_problem *p);

/* Memory that golden_end() frees. */
void *golden_keep(golden_problem *p, void *buffer);
/* All numbers of a nested array: their count; golden_numbers() NULL if the key is absent. */
size_t golden_flatten(const json_t *value, double *to);
double *golden_numbers(golden_problem *p, const json_t *json, const char *key);
/* The same numbers, or room for some, in the dtype of the problem. shape: heads, rows, columns. */
attn_tensor golden_tensor(golden_problem *p, const json_t *json, const char *key,
                          const int64_t shape[3]);
attn_tensor golden_room(golden_problem *p, int64_t H, int64_t n, int64_t d);
/* Element e of (H, n_q, n_k). */
bool golden_is_allowed(const golden_problem *p, int64_t e);

/* Fails the test if an element of t is further from want than `allowed`: of max(1, |x|) in f64, of
 * max(1, |row|) in f32. */
void golden_compare(const golden *g, const char *what, const attn_tensor *t, const double *want,
                    double allowed);

typedef attn_status golden_engine(attn_ctx *ctx, golden_problem *p, attn_error *err);
typedef void golden_examine(attn_ctx *ctx, golden_problem *p, const golden *g, golden_engine *run);

/* Calls look() for every case that can be said in this way and expects `needs` ("output", "dQ"), in
 * this dtype. Returns how many there were. */
int golden_for_every_case(golden_examine *look, golden_engine *run, attn_dtype dtype,
                          golden_way how, const char *needs);

#endif
