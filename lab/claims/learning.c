/* SPDX-License-Identifier: Apache-2.0 */
/* learning.c - "the network cannot learn without scaling" and "scaling helps stability": a tiny
 * retrieval task, learned by plain gradient descent with and without 1/sqrt(d_k) at several learning
 * rates. 16 keys have random ids; the query is the id of one of them, and the answer its value. Only
 * W_Q and W_K are learned.
 * Tests: tests/lab/test_claims.c */
#define ATTNI_REAL_f32
#include "core/base.h"
#include "layers/linear.h"
#include "outcome.h"
#include "progress.h"
#include "steps/attend.h"
#include "steps/stream.h"
#include "worked.h"

#include <math.h>
#include <stdlib.h>

enum { BATCH = 32, KEYS = 16, ID = 16, VALUE = 8, D_K = 512, STEPS = 400, TESTED = 16 };
enum { RATES = 4 };
static const double rate[RATES] = {0.03, 0.3, 3, 30};

typedef struct task {
    attn_ctx *ctx;
    lab_stream stream;
    double scale;
    int target[BATCH]; /* index of the right key */
    float *asked;      /* (BATCH, ID) */
    float *id;         /* (BATCH, KEYS, ID) */
    float *value;      /* (BATCH, KEYS, VALUE) */
    float *q, *dq;     /* (BATCH, D_K) */
    float *k, *dk;     /* (BATCH, KEYS, D_K) */
    float *out, *dout; /* (BATCH, VALUE) */
    float *w_q, *dw_q; /* (ID, D_K) */
    float *w_k, *dw_k; /* (ID, D_K) */
    double lse[BATCH];
    double weights[BATCH * KEYS];
} task;

static attn_status task_create(task *t, attn_error *err) {
    const struct {
        float **to;
        size_t n;
    } part[] = {{&t->asked, BATCH * ID},
                {&t->id, BATCH * KEYS * ID},
                {&t->value, BATCH * KEYS * VALUE},
                {&t->q, BATCH * D_K},
                {&t->dq, BATCH * D_K},
                {&t->k, BATCH * KEYS * D_K},
                {&t->dk, BATCH * KEYS * D_K},
                {&t->out, BATCH * VALUE},
                {&t->dout, BATCH * VALUE},
                {&t->w_q, ID * D_K},
                {&t->w_k, ID * D_K},
                {&t->dw_q, ID * D_K},
                {&t->dw_k, ID * D_K}};
    size_t all = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) all += part[i].n;
    float *memory = calloc(all, sizeof *memory);
    if (!memory) return attni_fail(err, ATTN_E_MEMORY, "a retrieval task");
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        *part[i].to = memory;
        memory += part[i].n;
    }
    return ATTN_OK;
}

static void task_free(task *t) { free(t->asked); }

static void draw(lab_stream *stream, size_t n, double factor, float *x) {
    for (size_t i = 0; i < n; i++) x[i] = (float)(factor * lab_stream_normal(stream));
}

static void task_draw(task *t) {
    draw(&t->stream, BATCH * KEYS * ID, 1, t->id);
    draw(&t->stream, BATCH * KEYS * VALUE, 1, t->value);
    for (int b = 0; b < BATCH; b++) {
        t->target[b] = (int)((double)KEYS * lab_stream_uniform(&t->stream));
        memcpy(t->asked + b * ID, t->id + (b * KEYS + t->target[b]) * ID, ID * sizeof *t->asked);
    }
}

/* ---------------------------------------------------------------------------------- one batch */

static attn_tensor rows_of(const float *data, int64_t rows, int64_t columns) {
    return attn_tensor_bhsd(data, ATTN_F32, BATCH, 1, rows, columns);
}

static attn_args args_of(const task *t) {
    attn_args args;
    attn_args_init(&args);
    args.q = rows_of(t->q, 1, D_K);
    args.k = rows_of(t->k, KEYS, D_K);
    args.v = rows_of(t->value, KEYS, VALUE);
    args.scale = t->scale;
    return args;
}

static attn_results results_of(const task *t) {
    return (attn_results){.struct_size = sizeof(attn_results),
                          .out = rows_of(t->out, 1, VALUE),
                          .lse = attn_tensor_bhsd(t->lse, ATTN_F64, BATCH, 1, 1, 1),
                          .dout = rows_of(t->dout, 1, VALUE)};
}

/* The mean squared error of this batch, and its gradient in dout. */
static attn_status forward(task *t, double *loss, attn_error *err) {
    const attni_linear to_q = {ID, D_K, t->w_q, NULL}, to_k = {ID, D_K, t->w_k, NULL};
    ATTN_TRY(attni_linear_forward_f32(t->ctx, &to_q, BATCH, t->asked, t->q, err));
    ATTN_TRY(attni_linear_forward_f32(t->ctx, &to_k, BATCH * KEYS, t->id, t->k, err));
    const attn_args args = args_of(t);
    const attn_results results = results_of(t);
    ATTN_TRY(attn_forward(t->ctx, &args, &results.out, &results.lse, err));
    *loss = 0;
    for (int i = 0; i < BATCH * VALUE; i++) {
        const int b = i / VALUE;
        const float wanted = t->value[(b * KEYS + t->target[b]) * VALUE + i % VALUE];
        const float off = t->out[i] - wanted;
        *loss += (double)off * (double)off / (BATCH * VALUE);
        t->dout[i] = 2 * off / (BATCH * VALUE);
    }
    return ATTN_OK;
}

static attn_status backward(task *t, attn_error *err) {
    const attni_linear to_q = {ID, D_K, t->w_q, NULL}, to_k = {ID, D_K, t->w_k, NULL};
    const attn_args args = args_of(t);
    const attn_results results = results_of(t);
    attn_gradients gradients;
    attn_gradients_init(&gradients);
    gradients.dq = rows_of(t->dq, 1, D_K);
    gradients.dk = rows_of(t->dk, KEYS, D_K);
    ATTN_TRY(attn_backward(t->ctx, &args, &results, &gradients, err));
    memset(t->dw_q, 0, ID * D_K * sizeof *t->dw_q);
    memset(t->dw_k, 0, ID * D_K * sizeof *t->dw_k);
    const attni_linear_grad of_q = {.x = t->asked, .dy = t->dq, .dw = t->dw_q},
                            of_k = {.x = t->id, .dy = t->dk, .dw = t->dw_k};
    ATTN_TRY(attni_linear_backward_f32(t->ctx, &to_q, BATCH, &of_q, err));
    return attni_linear_backward_f32(t->ctx, &to_k, BATCH * KEYS, &of_k, err);
}

/* Counts queries of this batch whose largest weight is on the right key; call after forward. */
static attn_status count_right(task *t, int *right, attn_error *err) {
    const attn_args args = args_of(t);
    attn_inspection what;
    attn_inspection_init(&what);
    what.weights = attn_tensor_bhsd(t->weights, ATTN_F64, BATCH, 1, 1, KEYS);
    ATTN_TRY(attn_inspect(t->ctx, &args, &what, err));
    for (int b = 0; b < BATCH; b++) {
        const double *w = t->weights + b * KEYS;
        *right += w[t->target[b]] == lab_largest(w, KEYS);
    }
    return ATTN_OK;
}

/* ------------------------------------------------------------------------------------- one run */

typedef struct learned {
    double start;    /* mean loss of the first ten steps */
    double loss;     /* on new data, after training */
    double accuracy; /* on the same data */
} learned;

static attn_status examine(task *t, learned *result, attn_error *err) {
    int right = 0;
    result->loss = 0;
    for (int i = 0; i < TESTED; i++) {
        double loss;
        task_draw(t);
        ATTN_TRY(forward(t, &loss, err));
        ATTN_TRY(count_right(t, &right, err));
        result->loss += loss / (double)TESTED;
    }
    result->accuracy = (double)right / (TESTED * BATCH);
    return ATTN_OK;
}

static attn_status learn(task *t, double step, uint32_t seed, learned *result, attn_error *err) {
    lab_stream_seed(&t->stream, seed);
    draw(&t->stream, ID * D_K, 1 / sqrt(ID), t->w_q);
    draw(&t->stream, ID * D_K, 1 / sqrt(ID), t->w_k);
    *result = (learned){0};
    for (int i = 0; i < STEPS; i++) {
        double loss;
        task_draw(t);
        ATTN_TRY(forward(t, &loss, err));
        if (i < 10) result->start += loss / 10;
        ATTN_TRY(backward(t, err));
        for (int w = 0; w < ID * D_K; w++) {
            t->w_q[w] -= (float)step * t->dw_q[w];
            t->w_k[w] -= (float)step * t->dw_k[w];
        }
    }
    return examine(t, result, err);
}

/* ------------------------------------------------------------------------------------ the claim */

/* Runs at several learning rates. */
typedef struct rates_tried {
    learned best;           /* the run with the smallest loss */
    double lowest_accuracy; /* of all runs */
    int usable;             /* runs that get at least 90 % right */
} rates_tried;

static attn_status try_rates(task *t, const lab_settings *settings, int first, rates_tried *found,
                             attn_error *err) {
    *found = (rates_tried){.best.loss = INFINITY, .lowest_accuracy = 1};
    for (int r = first; r < RATES; r++) {
        learned run;
        ATTN_TRY(learn(t, rate[r], settings->seed, &run, err));
        found->usable += run.accuracy >= 0.9;
        found->lowest_accuracy = fmin(found->lowest_accuracy, run.accuracy);
        if (run.loss < found->best.loss) found->best = run; /* false for NaN */
    }
    return ATTN_OK;
}

enum { SCALED, UNSCALED, WAYS };

/* Trains at the rates from `first` on, with and without scaling. */
static attn_status train_both(const lab_settings *settings, int first, rates_tried found[WAYS],
                              attn_error *err) {
    task *t = calloc(1, sizeof *t);
    attn_status status = t ? task_create(t, err) : attni_fail(err, ATTN_E_MEMORY, "a task");
    for (int way = 0; way < WAYS && status == ATTN_OK; way++) {
        t->ctx = settings->ctx;
        t->scale = way == SCALED ? ATTN_SCALE_AUTO : 1;
        status = try_rates(t, settings, first, &found[way], err);
        lab_progress(settings, (size_t)way + 1, WAYS);
    }
    if (t) task_free(t);
    free(t);
    return status;
}

static attn_status cannot_learn(const lab_settings *settings, const lab_claim *claim,
                                lab_outcome *outcome, attn_error *err) {
    rates_tried found[WAYS];
    ATTN_TRY(train_both(settings, 0, found, err));
    const learned *scaled = &found[SCALED].best, *unscaled = &found[UNSCALED].best;
    lab_say(outcome->computed,
            "d_k = 512: %.1f %% right, scaled %.1f %%; usable rates %d, scaled %d, of %d",
            100 * unscaled->accuracy, 100 * scaled->accuracy, found[UNSCALED].usable,
            found[SCALED].usable, RATES);
    lab_require(outcome, scaled->accuracy > 0.9, "the task can be learned");
    lab_conclude(claim, outcome, unscaled->accuracy < 0.5 ? LAB_HOLDS : LAB_WRONG,
                 "it learns, with a worse start (loss %.2f, scaled %.2f) and end (%.4f, %.4f); one "
                 "task, one seed",
                 unscaled->start, scaled->start, unscaled->loss, scaled->loss);
    return ATTN_OK;
}

static attn_status stability(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err) {
    enum { FIRST = 2 }; /* the two largest rates; at the smaller ones both learn */
    rates_tried found[WAYS];
    ATTN_TRY(train_both(settings, FIRST, found, err));
    const double scaled = found[SCALED].lowest_accuracy, unscaled = found[UNSCALED].lowest_accuracy;
    lab_say(outcome->computed,
            "d_k = 512, rates %g and %g: at least %.0f %% right; unscaled %.0f %%", rate[FIRST],
            rate[FIRST + 1], 100 * scaled, 100 * unscaled);
    lab_conclude(claim, outcome, scaled > 0.8 && unscaled < 0.5 ? LAB_HOLDS : LAB_WRONG,
                 "large learning rates need scaling; E8 trains transformers at one rate");
    return ATTN_OK;
}

static const lab_claim rows[] = {
    {"C-3d", "002,004", "learning without scaling", "\"cannot learn\", \"stops learning\"", 3,
     cannot_learn, .data = LAB_RECORDED(LAB_WRONG)},
    {"C-52", "003", "scaling and training", "scaling helps training stability", 1.5, stability,
     .data = LAB_RECORDED(LAB_HOLDS)},
};
const lab_claim_list lab_learning = LAB_ROWS(rows);
