/* SPDX-License-Identifier: Apache-2.0 */
/* selftest.c - lets anybody check this library on their own machine: every usable instruction set
 * against the oracle, bit-identity across threads and instruction sets, NaN at masked positions,
 * rows that see no key. Uses the public interface only. Test: tests/attention/test_selftest.c; run
 * natively, under qemu and in node. */
#include "core/dtype.h"
#include "core/hash.h"
#include "core/rng.h"
#include "kernels/kernels.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { B = 2, H = 4, H_KV = 2, N_Q = 77, N_K = 211, D_K = 40, D_V = 33, N_THREADS = 4 };
enum { Q_SIZE = B * H * N_Q * D_K, K_SIZE = B * H_KV * N_K * D_K, V_SIZE = B * H_KV * N_K * D_V };
enum { OUT_SIZE = B * H * N_Q * D_V, LSE_SIZE = B * H * N_Q, BIAS_SIZE = H * N_Q * N_K };

static const int thread_counts[N_THREADS] = {1, 2, 3, 7};

/* The inputs are the same numbers on every machine: integers from Philox, scaled by powers of
 * two. */
typedef struct test_data {
    double q[Q_SIZE], k[K_SIZE], v[V_SIZE], bias[BIAS_SIZE]; /* of the dtype under test */
    double out[OUT_SIZE], lse[LSE_SIZE];
    double true_out[OUT_SIZE], true_lse[LSE_SIZE];
    double slopes[H], sinks[H];
} test_data;

typedef struct tester {
    void (*say)(void *user, const char *line);
    void *user;
    attn_error *err;
    attn_status status;
    test_data *data;
} tester;

/* Running out of memory is not a wrong result: the first failure decides the status of the whole
 * test. */
static attn_status note(tester *t, attn_status status) {
    if (status == ATTN_E_MEMORY && t->status == ATTN_OK) {
        t->status = attni_fail(t->err, status, "selftest: %s", attn_strerror(status));
    }
    return status;
}

static void report(tester *t, bool ok, const char *format, ...) ATTNI_PRINTF(3, 4);
static void report(tester *t, bool ok, const char *format, ...) {
    char line[200], text[220];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    snprintf(text, sizeof text, "%-4s %s", ok ? "ok" : "FAIL", line);
    if (t->say) t->say(t->user, text);
    if (!ok && t->status == ATTN_OK)
        t->status = attni_fail(t->err, ATTN_E_SELFTEST, "selftest: %s", line);
}

/* ---------------------------------------------------------------------------- inputs */

/* Numbers in [-2, 2) with 8 bits, exact in every dtype. */
static void fill(void *array, attn_dtype dtype, int64_t n, uint64_t key) {
    for (int64_t i = 0; i < n; i++) {
        const attni_philox r = attni_philox4x32(key, (uint32_t)i, 0, 0, 0);
        attni_store_as(dtype, array, i, ((double)(r.word[0] >> 24) - 128) / 64);
    }
}

static attn_args make_args(test_data *d, attn_dtype dtype) {
    attn_args a;
    attn_args_init(&a);
    fill(d->q, dtype, Q_SIZE, 1);
    fill(d->k, dtype, K_SIZE, 2);
    fill(d->v, dtype, V_SIZE, 3);
    fill(d->bias, dtype, BIAS_SIZE, 4);
    for (int h = 0; h < H; h++) {
        d->slopes[h] = 0.25 / (1 << h);
        d->sinks[h] = 0.5 * h;
    }
    a.q = attn_tensor_bhsd(d->q, dtype, B, H, N_Q, D_K);
    a.k = attn_tensor_bhsd(d->k, dtype, B, H_KV, N_K, D_K);
    a.v = attn_tensor_bhsd(d->v, dtype, B, H_KV, N_K, D_V);
    return a;
}

static attn_dtype lse_dtype(attn_dtype dtype) { return dtype == ATTN_F64 ? ATTN_F64 : ATTN_F32; }

static attn_status run(tester *t, attn_isa isa, int threads, const attn_args *a) {
    attn_ctx_options options;
    attn_ctx_options_init(&options);
    options.isa = isa;
    options.threads = threads;
    attn_ctx *ctx;
    const attn_status created = attn_ctx_create(&options, &ctx, NULL);
    if (created == ATTN_E_MEMORY) return note(t, created);
    ATTN_TRY(created);
    const attn_tensor out = attn_tensor_bhsd(t->data->out, a->q.dtype, B, H, N_Q, D_V);
    const attn_tensor lse = attn_tensor_bhsd(t->data->lse, lse_dtype(a->q.dtype), B, H, N_Q, 1);
    const attn_status status = attn_forward(ctx, a, &out, &lse, NULL);
    attn_ctx_destroy(ctx);
    return note(t, status);
}

/* ---------------------------------------------------------------------------- oracle */

typedef struct feature {
    const char *name;
    void (*set)(attn_args *a, test_data *d);
} feature;

static void set_plain(attn_args *a, test_data *d) { (void)a, (void)d; }
static void set_causal(attn_args *a, test_data *d) {
    (void)d;
    a->causal = 1;
}
static void set_window(attn_args *a, test_data *d) {
    (void)d;
    a->window_left = 50;
    a->window_right = 3;
}
static void set_everything(attn_args *a, test_data *d) {
    a->causal = 1;
    a->softcap = 5;
    a->temperature = 0.75;
    a->alibi = d->slopes;
    a->sinks = d->sinks;
    a->dropout = 0.25;
    a->seed = 7;
    a->bias = attn_tensor_bhsd(d->bias, a->q.dtype, 1, H, N_Q, N_K);
}

static const feature features[] = {{"plain", set_plain},
                                   {"causal", set_causal},
                                   {"window", set_window},
                                   {"every option", set_everything}};
enum { N_FEATURES = sizeof features / sizeof *features };

/* The largest |error| of the outputs, whose true values are of order 1. */
static double worst_error(const test_data *d, attn_dtype dtype) {
    double worst = 0;
    for (int64_t i = 0; i < OUT_SIZE; i++) {
        const double error = fabs(attni_load_as(dtype, d->out, i) - d->true_out[i]);
        if (!(error <= worst)) worst = error;
    }
    for (int64_t i = 0; i < LSE_SIZE; i++) {
        const double got = attni_load_as(lse_dtype(dtype), d->lse, i),
                     error = fabs(got - d->true_lse[i]);
        if (got != d->true_lse[i] && !(error / 8 <= worst))
            worst = error / 8; /* LSE is up to 8 here */
    }
    return worst;
}

static void check_against_oracle(tester *t, attn_dtype dtype) {
    static const double allowed[] = {
        [ATTN_F32] = 2e-6, [ATTN_F64] = 5e-15, [ATTN_F16] = 1.1e-3, [ATTN_BF16] = 9e-3};
    test_data *d = t->data;
    for (int f = 0; f < N_FEATURES; f++) {
        attn_args a = make_args(d, dtype);
        features[f].set(&a, d);
        const attn_tensor out = attn_tensor_bhsd(d->true_out, ATTN_F64, B, H, N_Q, D_V);
        const attn_tensor lse = attn_tensor_bhsd(d->true_lse, ATTN_F64, B, H, N_Q, 1);
        if (note(t, attn_reference(&a, &out, &lse, NULL)) != ATTN_OK) {
            report(t, false, "oracle %s %s could not run", attn_dtype_name(dtype),
                   features[f].name);
            return;
        }
        for (int isa = ATTN_ISA_SCALAR; isa < ATTNI_ISA_COUNT; isa++) {
            if (!attni_kernels_get((attn_isa)isa, false)) continue;
            const attn_status status = run(t, (attn_isa)isa, 1, &a);
            const double error = status == ATTN_OK ? worst_error(d, dtype) : HUGE_VAL;
            report(t, error <= allowed[dtype], "%-7s %-4s %-12s max |error| %.1e, allowed %.1e",
                   attn_isa_name((attn_isa)isa), attn_dtype_name(dtype), features[f].name, error,
                   allowed[dtype]);
        }
    }
}

/* ------------------------------------------------------------------------------ bits */

static uint64_t hash_results(const test_data *d, attn_dtype dtype) {
    const uint64_t hash = attni_fnv1a(ATTNI_FNV1A_BEGIN, d->out, OUT_SIZE * attn_dtype_size(dtype));
    return attni_fnv1a(hash, d->lse, LSE_SIZE * attn_dtype_size(lse_dtype(dtype)));
}

/* The hash of one fixed problem with every option on; it is the same on every machine of a
 * class. */
static const uint64_t known_hash[2][2] = {
    /* mul+add, fma */
    [ATTN_F32] = {0x4ff09227a7847845, 0x10fc59fa696a837d},
    [ATTN_F64] = {0xdeb70dd31ab002a8, 0xca1c6d405dd348e5},
};

static void check_bits(tester *t, attn_dtype dtype) {
    attn_args a = make_args(t->data, dtype);
    set_everything(&a, t->data);
    for (int isa = ATTN_ISA_SCALAR; isa < ATTNI_ISA_COUNT; isa++) {
        const attni_kernels *kernels = attni_kernels_get((attn_isa)isa, dtype == ATTN_F64);
        if (!kernels) continue;
        int same = 0, ran = 0;
        uint64_t hash = 0;
        for (int n = 0; n < N_THREADS; n++) {
            const attn_status status = run(t, (attn_isa)isa, thread_counts[n], &a);
            if (status == ATTN_E_THREADS && n > 0) break; /* a build without threads */
            hash = hash_results(t->data, dtype);
            same += status == ATTN_OK && hash == known_hash[dtype][kernels->fused];
            ran++;
        }
        report(t, same == ran, "bits    %-4s %-7s %s class, %s: %016llx", attn_dtype_name(dtype),
               attn_isa_name((attn_isa)isa), kernels->fused ? "fma" : "mul+add",
               ran == N_THREADS ? "1, 2, 3, 7 threads" : "1 thread", (unsigned long long)hash);
    }
}

/* ---------------------------------------------------------------------------- poison */

/* A NaN in every key and value beyond the lengths and above the diagonal must change nothing. */
static void check_poison(tester *t) {
    static const int64_t len_k[B] = {50, 190};
    test_data *d = t->data;
    attn_args a = make_args(d, ATTN_F32);
    a.causal = 1;
    a.offset = 0;
    a.len_k = len_k;
    const attn_status clean = run(t, ATTN_ISA_AUTO, 1, &a);
    const uint64_t hash = hash_results(d, ATTN_F32);
    for (int64_t row = 0; row < B * H_KV * N_K; row++) {
        const int64_t j = row % N_K;
        if (j < len_k[row / N_K / H_KV] && j < N_Q) continue;
        for (int c = 0; c < D_K; c++) ((float *)d->k)[row * D_K + c] = (float)NAN;
        for (int c = 0; c < D_V; c++) ((float *)d->v)[row * D_V + c] = (float)NAN;
    }
    const attn_status poisoned = run(t, ATTN_ISA_AUTO, 1, &a);
    report(t, clean == ATTN_OK && poisoned == ATTN_OK && hash == hash_results(d, ATTN_F32),
           "poison  a NaN in masked keys and values changes no bit");
}

static void check_empty_rows(tester *t) {
    test_data *d = t->data;
    attn_args a = make_args(d, ATTN_F32);
    a.causal = 1;
    a.offset = -N_Q; /* the last query comes one position before the first key */
    const attn_status status = run(t, ATTN_ISA_AUTO, 1, &a);
    bool zero = status == ATTN_OK;
    for (int64_t i = 0; i < OUT_SIZE; i++) zero = zero && ((const float *)d->out)[i] == 0;
    for (int64_t i = 0; i < LSE_SIZE; i++)
        zero = zero && ((const float *)d->lse)[i] == -(float)HUGE_VAL;
    report(t, zero, "empty   rows that see no key give 0 and -inf");
}

attn_status attn_selftest(void (*say)(void *user, const char *line), void *user, attn_error *err) {
    tester t = {.say = say, .user = user, .err = err, .data = malloc(sizeof(test_data))};
    if (!t.data)
        return attni_fail(err, ATTN_E_MEMORY, "selftest: no memory for %zu bytes",
                          sizeof(test_data));
    for (int dtype = ATTN_F32; dtype <= ATTN_BF16; dtype++)
        check_against_oracle(&t, (attn_dtype)dtype);
    check_bits(&t, ATTN_F32);
    check_bits(&t, ATTN_F64);
    check_poison(&t);
    check_empty_rows(&t);
    free(t.data);
    return t.status;
}
