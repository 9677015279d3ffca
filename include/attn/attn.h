/* SPDX-License-Identifier: Apache-2.0 */
/** attn.h - exact scaled dot-product attention on CPUs. This header is the manual.
 *
 *  Ten lines that work (compiled as tests/abi/example.c):
 *
 *      attn_ctx *ctx;
 *      attn_ctx_create(NULL, &ctx, NULL);                       // one thread, best instruction set
 *      attn_args args;
 *      attn_args_init(&args);
 *      args.q = attn_tensor_bhsd(q, ATTN_F32, 1, 8, 1024, 64);  // batch, heads, rows, head size
 *      args.k = attn_tensor_bhsd(k, ATTN_F32, 1, 8, 1024, 64);
 *      args.v = attn_tensor_bhsd(v, ATTN_F32, 1, 8, 1024, 64);
 *      args.causal = 1;
 *      attn_tensor out = attn_tensor_bhsd(o, ATTN_F32, 1, 8, 1024, 64);
 *      attn_forward(ctx, &args, &out, NULL, NULL);              // softmax(q k^T / 8 + mask) v
 *      attn_ctx_destroy(ctx);
 *
 *  Names used throughout: B is the batch size, H the number of query heads, H_kv the number of
 *  key/value heads, n_q and n_k the numbers of queries and keys, d_k and d_v the head sizes.
 *
 *  Guarantees. Results are exact attention, never an approximation. They are bit-identical for any
 *  thread count, batch composition, split of the queries and vector width within a class of
 *  machines: those with fused multiply-add (AVX2, AVX-512, NEON) and those without it (scalar,
 *  SSE2, wasm SIMD128). Memory is O(n). A NaN or Inf at a masked position never reaches a result. A
 *  call that fails leaves its outputs untouched, unless it was aborted. The library never prints,
 *  exits, aborts or changes floating-point state. It reads one environment variable, ATTN_ISA, in
 *  attn_ctx_create().
 *
 *  Ownership. A function "borrows" an argument (for the duration of the call), "keeps" it (until
 *  the object is destroyed) or "gives" a new object (which the caller destroys).
 *
 *  Threads. Make only one call per context at a time. Different contexts are independent. Patterns
 *  and input tensors are only read, so calls may share them.
 *
 *  Versions. A struct that may grow begins with struct_size, which attn_x_init() sets to the size
 *  the caller was compiled with. The library accepts every size it has shipped since 0.2.0, uses
 *  the defaults for fields the caller does not have, and never writes beyond that size. A larger
 *  struct, from a newer header, gives ATTN_E_STRUCT. Structs without struct_size never change.
 *  Enums only grow at their end. While the major version is 0, a new minor version may be
 *  incompatible; the name of the shared library then changes (libattn.so.0.2).
 *
 *  NULL. If a required pointer is NULL, functions that return a status return ATTN_E_NULL; the
 *  others do nothing, or return the value documented for NULL.
 *
 *  Contents:  1 status    2 tensors   3 the problem (attn_args)   4 context   5 forward
 *             6 backward  7 inspection   8 patterns   9 merging partial results
 *             10 planning and cost   11 oracle and self-test   12 helpers */
#ifndef ATTN_ATTN_H
#define ATTN_ATTN_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Define ATTN_STATIC when you link the static library (the CMake target attn::static does so for
 * you). A shared object that contains the library then does not re-export its functions, and on
 * Windows they are not imported from a DLL. ATTN_BUILDING_SHARED is only for building the library
 * itself. */
#if defined(ATTN_STATIC)
#define ATTN_API
#elif defined(_WIN32) && defined(ATTN_BUILDING_SHARED)
#define ATTN_API __declspec(dllexport)
#elif defined(_WIN32)
#define ATTN_API __declspec(dllimport)
#elif defined(__GNUC__) || defined(__clang__)
#define ATTN_API __attribute__((visibility("default")))
#else
#define ATTN_API
#endif

#define ATTN_VERSION_MAJOR 0
#define ATTN_VERSION_MINOR 2
#define ATTN_VERSION_PATCH 0
/** The version as one number that can be compared: 200 for 0.2.0, 10203 for 1.2.3. */
#define ATTN_VERSION_NUMBER                                                                        \
    (ATTN_VERSION_MAJOR * 10000 + ATTN_VERSION_MINOR * 100 + ATTN_VERSION_PATCH)

/** The version of the library at run time, as text ("0.2.0") and as a number. Compare the number
 *  with ATTN_VERSION_NUMBER, the version of the header the program was compiled with. */
ATTN_API const char *attn_version(void);
ATTN_API int attn_version_number(void);

/* ------------------------------------------------------------------------------------- 1 status */

/** Every function that can fail returns one of these and passes its results through pointers. */
#define ATTN_STATUS_LIST(X)                                                                        \
    X(ATTN_OK, "ok")                                                                               \
    X(ATTN_E_NULL, "a required pointer is NULL")                                                   \
    X(ATTN_E_STRUCT, "struct_size is not one this library knows")                                  \
    X(ATTN_E_SHAPE, "shape mismatch")                                                              \
    X(ATTN_E_DTYPE, "element type not allowed here")                                               \
    X(ATTN_E_STRIDE, "stride not allowed here")                                                    \
    X(ATTN_E_VALUE, "value out of range")                                                          \
    X(ATTN_E_OVERLAP, "an output overlaps an input or another output")                             \
    X(ATTN_E_OVERFLOW, "sizes overflow the address space")                                         \
    X(ATTN_E_WORKSPACE, "workspace too small or misaligned")                                       \
    X(ATTN_E_MEMORY, "out of memory")                                                              \
    X(ATTN_E_ISA, "instruction set not available")                                                 \
    X(ATTN_E_THREADS, "threads could not be started")                                              \
    X(ATTN_E_SELFTEST, "self-test found a wrong result")                                           \
    X(ATTN_E_ABORTED, "stopped by the abort callback")

#define ATTN_STATUS_ENUMERATOR(name, text) name,
typedef enum attn_status { ATTN_STATUS_LIST(ATTN_STATUS_ENUMERATOR) } attn_status;

/** The fixed text of a status ("shape mismatch"); never NULL, not even for unknown values. */
ATTN_API const char *attn_strerror(attn_status status);
/** The name of a status ("ATTN_E_SHAPE"); never NULL. */
ATTN_API const char *attn_status_name(attn_status status);

/** Optional details of a failure, owned by the caller; pass NULL if you do not need them. The
 *  message names the argument, its value, what was expected and what to do. It is written only on
 *  failure. */
typedef struct attn_error {
    char message[256];
} attn_error;

/* ------------------------------------------------------------------------------------ 2 tensors */

typedef enum attn_dtype {
    ATTN_F32,  /* IEEE binary32 */
    ATTN_F64,  /* IEEE binary64 */
    ATTN_F16,  /* IEEE binary16, stored as uint16_t; arithmetic in f32 */
    ATTN_BF16, /* bfloat16, stored as uint16_t; arithmetic in f32 */
    ATTN_BOOL, /* one byte, 0 = false; masks only */
    ATTN_I64   /* int64_t; indices only */
} attn_dtype;

/** Size of one element in bytes; 0 for an unknown dtype. */
ATTN_API size_t attn_dtype_size(attn_dtype dtype);
/** "f32", "f64", "f16", "bf16", "bool", "i64"; "?" for an unknown dtype. */
ATTN_API const char *attn_dtype_name(attn_dtype dtype);

/** A view of memory that the caller owns: four dimensions, with strides counted in elements. The
 *  last dimension must be contiguous (stride 1) where a function reads or writes vectors. The other
 *  strides are arbitrary: 0 repeats an input, a negative stride walks backwards. In a tensor
 *  without elements all strides are arbitrary. Functions never write through an input.
 *
 *  An optional tensor is absent when data is NULL and the shape has no elements, which is how the
 *  init functions leave it. An optional input that has elements but no data (mask, bias) is
 *  rejected by the functions that read it. An output without data is not computed.
 *
 *  Functions that only count (attn_forward_workspace(), attn_backward_workspace(),
 *  attn_saved_size(), attn_cost(), attn_plan_explain()) need no data: every tensor with elements
 *  counts as present. In all other respects they validate arguments as the call itself does. */
typedef struct attn_tensor {
    void *data;
    attn_dtype dtype;
    int64_t shape[4];  /* batch, heads, rows, columns */
    int64_t stride[4]; /* elements from one index to the next */
} attn_tensor;

/** Returns a view of a dense array indexed [batch][head][row][column], for any B, H, n, d >= 0.
 *  Does not touch the data. */
ATTN_API attn_tensor attn_tensor_bhsd(const void *data, attn_dtype dtype, int64_t B, int64_t H,
                                      int64_t n, int64_t d);
/** Returns a view of a dense array indexed [batch][row][head][column]; the shape is still
 *  (B, H, n, d). */
ATTN_API attn_tensor attn_tensor_bshd(const void *data, attn_dtype dtype, int64_t B, int64_t H,
                                      int64_t n, int64_t d);

/* -------------------------------------------------------------------------------- 3 the problem */

typedef struct attn_pattern attn_pattern; /* section 8 */

/** Everything that defines one attention problem. Call attn_args_init(), then set q, k, v and
 *  whatever differs from the defaults.
 *
 *  Each score goes through these steps, in this order:
 *
 *      s = scale * (q . k)                           "raw"
 *      s = softcap * tanh(s / softcap)               "capped", if softcap > 0
 *      s = s - alibi[h] * |i + offset - j| + bias    "biased"
 *      s = -inf where masked
 *      w = softmax over the keys of s / temperature  "weights"; a sink adds exp(sink) to the sum
 *      w = w * keep / (1 - dropout)
 *      out = sum over the keys of w v
 *
 *  A key is visible to a query if every restriction that is set allows it (causal, window, lengths,
 *  mask, pattern, a bias other than -inf) and its score is not -inf. A row that sees no key has
 *  out = 0 and weights 0, never NaN. Keys whose score is +inf share the row equally.
 *
 *  At the limits of the number range. Arithmetic is f64 for f64 inputs and f32 for all others.
 *   - Scores are held in that type, in base 2: s counts as +-inf if s * log2(e) / temperature
 *     exceeds the largest finite number (|s| > 2.36e38 * temperature in f32). This applies to
 *     intermediate results too: queries are multiplied by scale first, products are added in the
 *     order of d, and whatever leaves the range is infinite from there on. (If terms of both signs
 *     leave the range in one sum, a machine without fused multiply-add gives NaN, and a machine
 *     with it gives the first of these infinities.)
 *   - Only -inf masks a key. A finite bias or ALiBi term is rounded to the nearest finite number of
 *     the type, and a score that these terms push below the range stays at its lower end.
 *   - In base 2, scale and softcap must be 0 or normal numbers of the type, and 1 / softcap and
 *     log2(e) / temperature must be normal numbers. Slopes must be finite, sinks finite or -inf.
 *     Otherwise the call returns ATTN_E_VALUE.
 *   - A weight below the smallest normal number may be rounded to 0. Mathematically the weight of a
 *     visible key is positive, so an Inf or NaN in its value reaches the row whatever the computed
 *     weight is, and even if dropout drops it. Infinities of both signs give NaN. Without dropout,
 *     finite values give a finite row.
 *   - A NaN in a result is always the positive quiet NaN without payload.
 *
 *  Grouped-query attention: H must be a multiple of H_kv; query head h reads key/value head
 *  h / (H / H_kv). */
typedef struct attn_args {
    uint32_t struct_size; /* set by attn_args_init() */

    attn_tensor q; /* (B, H,    n_q, d_k) f32, f64, f16 or bf16 */
    attn_tensor k; /* (B, H_kv, n_k, d_k) same dtype as q */
    attn_tensor v; /* (B, H_kv, n_k, d_v) same dtype as q */

    /* Numbers of the formula above. The ranges are those of f32 arithmetic, for scale and softcap
     * at temperature 1. */
    double scale; /* 0, or 8.2e-39 .. 2.3e38 in magnitude; ATTN_SCALE_AUTO (default): 1/sqrt(d_k) */
    double temperature; /* > 0: 4.3e-39 .. 1.2e38; default 1; small values sharpen the weights */
    double softcap; /* 8.2e-39 .. 5.8e37: limits scores smoothly to +-softcap; 0 (default): off */

    /* Position. Query i is aligned with key i + offset. causal masks the keys after that position.
     * Windows limit the number of visible keys before and after it; -1 (default) means no limit,
     * and the aligned key itself is always inside the window. offset is ATTN_OFFSET_TOP_LEFT (0),
     * ATTN_OFFSET_BOTTOM_RIGHT (default: n_k - n_q of each sequence, so that the last query sees
     * all keys) or any other number. */
    int causal; /* non-zero: key j is visible to query i iff j <= i + offset; default 0 */
    int64_t offset;
    const int64_t *offsets; /* (B) one per batch entry, instead of `offset`; or NULL */
    int64_t window_left, window_right;

    /* Masks. The key dimension m may be shorter than n_k; keys from m on are then masked. Batch,
     * heads and rows broadcast if they are 1. Any strides are allowed, in the key dimension too. */
    attn_tensor mask;            /* (B|1, H|1, n_q|1, m) ATTN_BOOL, true = may attend; optional */
    attn_tensor bias;            /* (B|1, H|1, n_q|1, m) any float dtype; -inf masks; optional */
    const attn_pattern *pattern; /* (n_q, n_k) from section 8, for all batches and heads; or NULL */

    /* Padded batches: rows from len_q[b] on see no key; keys from len_k[b] on are never read. */
    const int64_t *len_q; /* (B) or NULL */
    const int64_t *len_k; /* (B) or NULL */

    /* Packed sequences: q, k, v have B = 1 and hold n_seqs sequences one after another. Sequence s
     * has rows cu_q[s] .. cu_q[s+1]-1 and keys cu_k[s] .. cu_k[s+1]-1. "Batch" then means
     * "sequence" for offsets, mask, bias and dropout, and i and j count from the start of the
     * sequence. Mask, bias and pattern need enough rows and columns for the longest sequence. */
    const int64_t *cu_q; /* (n_seqs + 1) ascending from 0 to n_q, or NULL */
    const int64_t *cu_k; /* (n_seqs + 1) ascending from 0 to n_k, or NULL */
    int64_t n_seqs;

    const double *alibi; /* (H) slopes, see attn_alibi_slopes(); or NULL */
    const double *sinks; /* (H) logits added to the denominator, not divided by temperature;
                            -inf = none; or NULL */

    double dropout; /* 0 <= dropout < 1; default 0 */
    uint64_t seed;  /* dropout is a function of (seed, batch, head, i, j): attn_dropout_keep() */

    /* Scratch memory of the caller, 64-byte aligned, attn_forward_workspace() or
     * attn_backward_workspace() bytes. If NULL, the context uses its own, which grows whenever a
     * larger shape needs it. */
    void *workspace;
    size_t workspace_size;

    /* Memory in which attn_forward() saves the weights for attn_backward(), 64-byte aligned,
     * attn_saved_size() bytes. If NULL, attn_backward() recomputes them. */
    void *saved;
    size_t saved_size;
} attn_args;

#define ATTN_SCALE_AUTO          (-HUGE_VAL)
#define ATTN_OFFSET_TOP_LEFT     INT64_C(0)
#define ATTN_OFFSET_BOTTOM_RIGHT INT64_MIN

/** Sets all fields to the defaults given above; q, k, v are absent. Every attn_x_init() passes the
 *  size of the caller's struct to its attn_x_init_sized(), which writes nothing beyond that size.
 *  Bindings for other languages call the latter. */
ATTN_API void attn_args_init_sized(attn_args *args, size_t size);
static inline void attn_args_init(attn_args *args) {
    attn_args_init_sized(args, sizeof(attn_args));
}

/* ------------------------------------------------------------------------------------ 4 context */

/** Instruction sets, each a group of CPU features. AUTO takes the best one that both the machine
 *  and the build have. */
typedef enum attn_isa {
    ATTN_ISA_AUTO,
    ATTN_ISA_SCALAR, /* plain C, runs everywhere */
    ATTN_ISA_SSE2,   /* x86-64 baseline */
    ATTN_ISA_AVX2,   /* AVX2 + FMA + F16C: Intel since 2013, AMD since 2015 */
    ATTN_ISA_AVX512, /* AVX-512 F, BW, DQ, VL */
    ATTN_ISA_NEON,   /* aarch64 */
    ATTN_ISA_SIMD128 /* wasm32 */
} attn_isa;

/** "scalar", "sse2", "avx2", ...; "?" for an unknown value. */
ATTN_API const char *attn_isa_name(attn_isa isa);
/** The number of instruction sets this library knows, AUTO included: 0 .. attn_isa_count() - 1 are
 *  valid values of attn_isa. */
ATTN_API int attn_isa_count(void);
/** 1 if this library contains code for the instruction set, else 0 (also for AUTO and for unknown
 *  values). */
ATTN_API int attn_isa_built(attn_isa isa);
/** 1 if the library contains code for the instruction set and this machine can run it, else 0. */
ATTN_API int attn_isa_usable(attn_isa isa);

/** Memory callbacks. alloc returns `size` > 0 bytes aligned to at least `align` (a power of two),
 *  or NULL on failure. free takes a pointer that alloc returned. */
typedef struct attn_alloc {
    void *(*alloc)(void *user, size_t size, size_t align);
    void (*free)(void *user, void *ptr);
    void *user;
} attn_alloc;

/** The caller's own thread pool. run() must call work(arg, w) exactly once for every w in
 *  0..n_workers-1, on any threads, in any order, concurrently or one after another, and return when
 *  all these calls have returned. */
typedef struct attn_pool {
    void (*run)(void *user, int n_workers, void (*work)(void *arg, int worker), void *arg);
    void *user;
} attn_pool;

typedef struct attn_ctx_options {
    uint32_t struct_size; /* set by attn_ctx_options_init() */
    int threads;          /* maximum number of workers. Default 1: no thread is started. 0 = the
                             number of CPUs that attn_cpu_info() reports */
    attn_isa isa;         /* default AUTO; the environment variable ATTN_ISA=name replaces AUTO */
    int pin;              /* non-zero: pin each of the library's workers to one CPU; default 0 */
    attn_alloc alloc;     /* default: malloc and free */
    attn_pool pool;       /* default: the library's own threads. To use yours, set run() and set
                             threads to the number of its workers (2 or more, or 0 = one per CPU).
                             run() is called whenever a call has work for more than one worker. A
                             pool with threads = 1 is rejected */

    /* Ends attn_forward(), attn_backward() and attn_inspect() early: they call abort(abort_user)
     * repeatedly and return ATTN_E_ABORTED once it returns non-zero. Outputs are then unspecified;
     * the context remains usable. Default NULL. The callback runs on the thread that made the call,
     * or with pool.run on any of its threads, but never on two at once. It must not use the
     * context. Between two calls of abort, a thread processes at most 384 query rows with all their
     * keys in forward, 96 in backward and one in inspect: 384 rows, 16384 keys and d = 128 take 3.2
     * GFLOP, about 30 ms on one core. A calling thread that has run out of work calls abort every
     * few milliseconds until the other threads are done; these stop within as many rows. */
    int (*abort)(void *user);
    void *abort_user;
} attn_ctx_options;

/** Sets all fields to the defaults given above. */
ATTN_API void attn_ctx_options_init_sized(attn_ctx_options *options, size_t size);
static inline void attn_ctx_options_init(attn_ctx_options *options) {
    attn_ctx_options_init_sized(options, sizeof(attn_ctx_options));
}

typedef struct attn_ctx attn_ctx;

/** attn_ctx_create(): gives a context, which holds the worker threads, the selected kernels and
 *  scratch memory that only grows. options may be NULL (defaults). Borrows options, keeps the
 *  callbacks. Errors: NULL, STRUCT, VALUE, ISA (not in this build, or not on this machine), MEMORY,
 *  THREADS; *ctx is then NULL.
 *
 *  Signals: the library's workers block every signal, so that handlers run on your threads.
 *  Floating-point state: during a call all workers, yours and the library's, take over the state of
 *  the calling thread (rounding mode, subnormals, exception masks), so that one thread and many
 *  give the same bits whatever that state is; afterwards their own state is restored.
 *  fork(): the child may use and destroy the contexts it inherited; its first parallel call starts
 *  new workers.
 *  Workers: a call uses no more workers than it has tasks, and its scratch depends on the number of
 *  workers it uses. */
ATTN_API attn_status attn_ctx_create(const attn_ctx_options *options, attn_ctx **ctx,
                                     attn_error *err);
/** Stops the workers and frees everything. NULL is allowed. */
ATTN_API void attn_ctx_destroy(attn_ctx *ctx);
/** Frees the scratch memory; the next call allocates what it needs. The workers are kept, asleep.
 *  NULL is allowed. */
ATTN_API void attn_ctx_trim(attn_ctx *ctx);
/** The instruction set in use; ATTN_ISA_AUTO for NULL. */
ATTN_API attn_isa attn_ctx_isa(const attn_ctx *ctx);
/** The maximum number of workers of a call; 0 for NULL. */
ATTN_API int attn_ctx_threads(const attn_ctx *ctx);

typedef struct attn_cpu {
    uint32_t struct_size; /* set by attn_cpu_init() */
    attn_isa best;        /* what AUTO chooses; for the others see attn_isa_usable() */
    int cpus;             /* number of CPUs this process can keep busy: those it may run on, or
                             fewer under a CPU quota (Linux control groups) */
    char name[64];        /* "AMD EPYC ...", "" if unknown */
} attn_cpu;

/** Sets all fields to 0. */
ATTN_API void attn_cpu_init_sized(attn_cpu *info, size_t size);
static inline void attn_cpu_init(attn_cpu *info) { attn_cpu_init_sized(info, sizeof(attn_cpu)); }

/** Describes the machine. Call attn_cpu_init() on info first. Errors: NULL, STRUCT. */
ATTN_API attn_status attn_cpu_info(attn_cpu *info, attn_error *err);

/* ------------------------------------------------------------------------------------ 5 forward */

/** attn_forward(): computes out = softmax(scale q k^T + ...) v tile by tile; no n_q x n_k matrix is
 *  ever built.
 *  out (B, H, n_q, d_v): dtype of q, last dimension contiguous.
 *  lse (B, H, n_q, 1): f64, or f32 unless the inputs are f64; or NULL. The log-sum-exp: the natural
 *  logarithm of each row's denominator, which is exp(sink) plus the sum over the row's keys of
 *  exp(s / temperature). A row that sees no key has the sink itself as lse, or -inf without a sink.
 *  Borrows everything; out and lse must not overlap each other or any input. Scratch comes from
 *  args->workspace or from the context.
 *  Errors: any except SELFTEST; out and lse are then untouched, except after ABORTED.
 *  Cost: 2 (d_k + d_v) flops per visible pair, O(n) memory. */
ATTN_API attn_status attn_forward(attn_ctx *ctx, const attn_args *args, const attn_tensor *out,
                                  const attn_tensor *lse, attn_error *err);

/** attn_forward_workspace(): the size in bytes of the args->workspace that attn_forward() needs for
 *  this problem on this context. */
ATTN_API attn_status attn_forward_workspace(attn_ctx *ctx, const attn_args *args, size_t *bytes,
                                            attn_error *err);

/* ----------------------------------------------------------------------------------- 6 backward */

/** Where gradients are written. Leave the data (or the pointer) NULL for gradients you do not need;
 *  they are then not computed. Gradients are written, not added to what is there. */
typedef struct attn_gradients {
    uint32_t struct_size; /* set by attn_gradients_init() */
    attn_tensor dq;       /* (B, H,    n_q, d_k) dtype of q, last dimension contiguous */
    attn_tensor dk;       /* (B, H_kv, n_k, d_k) same */
    attn_tensor dv;       /* (B, H_kv, n_k, d_v) same */
    attn_tensor dbias;    /* shape of args->bias, f32 or f64: summed over the dimensions in which
                             the bias was broadcast. Any strides; elements that share memory are
                             summed, so that a sliding view (row stride -1) gives the gradient of a
                             relative bias in O(n) memory */
    double *dsinks;       /* (H) */
    double *dscale;       /* one number: d loss / d scale, also if scale was ATTN_SCALE_AUTO */
} attn_gradients;

/** Sets all outputs to absent. */
ATTN_API void attn_gradients_init_sized(attn_gradients *gradients, size_t size);
static inline void attn_gradients_init(attn_gradients *gradients) {
    attn_gradients_init_sized(gradients, sizeof(attn_gradients));
}

/** The results of attn_forward() and the gradient of the loss with respect to them. */
typedef struct attn_results {
    uint32_t struct_size; /* set by attn_results_init(), or by you: sizeof(attn_results) */
    attn_tensor out;      /* (B, H, n_q, d_v) from attn_forward() with the same arguments */
    attn_tensor lse;      /* (B, H, n_q, 1) from the same call. f32 rounds it: at 1000 that moves
                             weights by 3e-5 of themselves, f64 by nothing that matters. Beyond
                             1024, scores are computed once more instead, at 20 % of the cost */
    attn_tensor dout; /* (B, H, n_q, d_v) gradient of the loss with respect to out, dtype of q */
} attn_results;

/** Sets all tensors to absent. */
ATTN_API void attn_results_init_sized(attn_results *results, size_t size);
static inline void attn_results_init(attn_results *results) {
    attn_results_init_sized(results, sizeof(attn_results));
}

/** attn_backward(): computes the gradients of a loss with respect to the inputs of attn_forward(),
 *  through every option of attn_args. Weights are recomputed from lse tile by tile, in O(n) memory.
 *  Rows that see no key and keys that no query sees get 0, whatever dout holds there. A row whose
 *  lse is +inf has no finite gradient and gives NaN. Dropout drops the same weights as in
 *  attn_forward().
 *  Borrows everything; gradients must not overlap each other or any input. Scratch comes from
 *  args->workspace or from the context.
 *  One of the guarantees above is weaker here: dk and dv are summed over blocks of 96 queries,
 *  counted from the first, so splitting the queries changes them by rounding.
 *  Errors: any except SELFTEST; gradients are then untouched, except after ABORTED.
 *  Cost: 2 (3 d_k + 2 d_v) flops per visible pair. */
ATTN_API attn_status attn_backward(attn_ctx *ctx, const attn_args *args,
                                   const attn_results *results, const attn_gradients *gradients,
                                   attn_error *err);

/** attn_saved_size(): the size in bytes of args->saved, n_q x n_k reals per head. With it,
 *  attn_backward() takes 8 d instead of 10 d flops per pair (d = d_k = d_v). The size is 0 if the
 *  plan recomputes the weights in any case: for long rows, for f16 and bf16, and with any option
 *  that masks or modifies scores. Pass the same memory to attn_forward() and then, unmodified, to
 *  attn_backward(). */
ATTN_API attn_status attn_saved_size(attn_ctx *ctx, const attn_args *args, size_t *bytes,
                                     attn_error *err);

/** attn_backward_workspace(): the size in bytes of the args->workspace that attn_backward() needs
 *  for these gradients of this problem. */
ATTN_API attn_status attn_backward_workspace(attn_ctx *ctx, const attn_args *args,
                                             const attn_gradients *gradients, size_t *bytes,
                                             attn_error *err);

/* --------------------------------------------------------------------------------- 7 inspection */

/** The quantities to inspect; leave data NULL for those you do not need. Each may be f32 or f64,
 *  with any strides. Weights are those before dropout. Pairs outside a sequence (beyond the
 *  lengths, or in different packed sequences) give -inf in raw, capped and biased, and 0 in
 *  weights. */
typedef struct attn_inspection {
    uint32_t struct_size;   /* set by attn_inspection_init() */
    attn_tensor raw;        /* (B, H, n_q, n_k) scale * q.k for every pair, masked or not */
    attn_tensor capped;     /* (B, H, n_q, n_k) after softcap */
    attn_tensor biased;     /* (B, H, n_q, n_k) after bias and ALiBi, -inf where masked */
    attn_tensor weights;    /* (B, H, n_q, n_k) after softmax, exactly 0 where masked */
    attn_tensor entropy;    /* (B, H, n_q, 1) of each row's weights, in nats; 0 if it sees no key */
    attn_tensor top_weight; /* (B, H, n_q, K) largest weights, descending, ties by key; then 0 */
    attn_tensor top_key;    /* (B, H, n_q, K) ATTN_I64, their keys; then -1; the same K */
    attn_tensor received;   /* (B, H, 1, n_k) column sums: the total weight each key receives */
} attn_inspection;

/** Sets all outputs to absent. */
ATTN_API void attn_inspection_init_sized(attn_inspection *what, size_t size);
static inline void attn_inspection_init(attn_inspection *what) {
    attn_inspection_init_sized(what, sizeof(attn_inspection));
}

/** attn_inspect(): computes the requested quantities row by row in double precision. Only raw,
 *  capped, biased and weights are n_q x n_k; the others need O(n) memory. Borrows everything;
 *  outputs must not overlap inputs. Errors: as attn_forward(); outputs are then untouched, except
 *  after ABORTED. Cost: about n_q n_k (d_k + 10) operations per head, shared among the threads. */
ATTN_API attn_status attn_inspect(attn_ctx *ctx, const attn_args *args, const attn_inspection *what,
                                  attn_error *err);

/* ----------------------------------------------------------------------------------- 8 patterns */

/** A pattern is an immutable set of visible (query, key) pairs of an n_q x n_k problem, stored as
 *  sorted key intervals per row, so that a masked tile costs nothing. Every constructor below gives
 *  a new pattern (free it with attn_pattern_destroy()), borrows its arguments, and on failure sets
 *  *pattern to NULL. Memory: 16 bytes per interval and 8 per row, taken from alloc, which the
 *  pattern keeps until it is destroyed; alloc may be NULL (malloc). Errors: NULL, VALUE (the
 *  message names the argument), SHAPE (the operands differ in shape), OVERFLOW, MEMORY.
 *
 *  The comment of each constructor states when query i sees key j. */

/** j <= i + offset; offset as in attn_args (ATTN_OFFSET_BOTTOM_RIGHT allowed). */
ATTN_API attn_status attn_pattern_causal(int64_t n_q, int64_t n_k, int64_t offset,
                                         const attn_alloc *alloc, attn_pattern **pattern,
                                         attn_error *err);
/** i + offset - left <= j <= i + offset + right; -1 = no limit on that side. */
ATTN_API attn_status attn_pattern_window(int64_t n_q, int64_t n_k, int64_t offset, int64_t left,
                                         int64_t right, const attn_alloc *alloc,
                                         attn_pattern **pattern, attn_error *err);
/** j < prefix, in every row (the mask of a prefix LM is the union with causal). */
ATTN_API attn_status attn_pattern_prefix(int64_t n_q, int64_t n_k, int64_t prefix,
                                         const attn_alloc *alloc, attn_pattern **pattern,
                                         attn_error *err);
/** doc_q[i] == doc_k[j]: block-diagonal documents. doc_q (n_q) and doc_k (n_k) hold arbitrary
 *  document numbers, which need not be sorted. */
ATTN_API attn_status attn_pattern_document(int64_t n_q, int64_t n_k, const int64_t *doc_q,
                                           const int64_t *doc_k, const attn_alloc *alloc,
                                           attn_pattern **pattern, attn_error *err);
/** i < tokens or j < tokens: these first tokens see every key and are seen by every query. */
ATTN_API attn_status attn_pattern_global(int64_t n_q, int64_t n_k, int64_t tokens,
                                         const attn_alloc *alloc, attn_pattern **pattern,
                                         attn_error *err);
/** (i + offset - j) is a multiple of step (step >= 1). */
ATTN_API attn_status attn_pattern_strided(int64_t n_q, int64_t n_k, int64_t offset, int64_t step,
                                          const attn_alloc *alloc, attn_pattern **pattern,
                                          attn_error *err);
/** Rows and keys are divided into blocks of `block`. Each block of rows sees `count` distinct key
 *  blocks chosen at random (all of them if there are no more than that). The same seed gives the
 *  same pattern on every machine. */
ATTN_API attn_status attn_pattern_random_blocks(int64_t n_q, int64_t n_k, int64_t block,
                                                int64_t count, uint64_t seed,
                                                const attn_alloc *alloc, attn_pattern **pattern,
                                                attn_error *err);
/** allow (n_q, n_k) bytes, row-major, non-zero = visible. */
ATTN_API attn_status attn_pattern_dense(int64_t n_q, int64_t n_k, const uint8_t *allow,
                                        const attn_alloc *alloc, attn_pattern **pattern,
                                        attn_error *err);
/** Compressed sparse rows (CSR): row i sees the keys col[row_ptr[i]] .. col[row_ptr[i+1]-1]. The
 *  columns of a row must be strictly ascending. */
ATTN_API attn_status attn_pattern_from_csr(int64_t n_q, int64_t n_k, const int64_t *row_ptr,
                                           const int64_t *col, const attn_alloc *alloc,
                                           attn_pattern **pattern, attn_error *err);

/** Pairs that are visible in both a and b; in either; not in a. */
ATTN_API attn_status attn_pattern_intersect(const attn_pattern *a, const attn_pattern *b,
                                            const attn_alloc *alloc, attn_pattern **pattern,
                                            attn_error *err);
ATTN_API attn_status attn_pattern_union(const attn_pattern *a, const attn_pattern *b,
                                        const attn_alloc *alloc, attn_pattern **pattern,
                                        attn_error *err);
ATTN_API attn_status attn_pattern_complement(const attn_pattern *a, const attn_alloc *alloc,
                                             attn_pattern **pattern, attn_error *err);

/** Longformer: a window of `side` keys on each side; the first `global` tokens see every key and
 *  are seen by every query. */
ATTN_API attn_status attn_pattern_longformer(int64_t n, int64_t side, int64_t global,
                                             const attn_alloc *alloc, attn_pattern **pattern,
                                             attn_error *err);
/** BigBird, in blocks: each block of rows sees a band of `window` key blocks (odd, or 0 for none)
 *  centred on its own and `random` randomly chosen key blocks; the first `global` blocks see every
 *  key and are seen by every query. */
ATTN_API attn_status attn_pattern_bigbird(int64_t n, int64_t block, int64_t window, int64_t global,
                                          int64_t random, uint64_t seed, const attn_alloc *alloc,
                                          attn_pattern **pattern, attn_error *err);

/** Frees a pattern. NULL is allowed. The functions below that return a number give 0 for NULL. */
ATTN_API void attn_pattern_destroy(attn_pattern *pattern);
ATTN_API int64_t attn_pattern_rows(const attn_pattern *pattern);
ATTN_API int64_t attn_pattern_keys(const attn_pattern *pattern);
/** 1 if query i sees key j, else 0 (also out of range). O(log intervals of the row). */
ATTN_API int attn_pattern_at(const attn_pattern *pattern, int64_t i, int64_t j);
/** Number of visible pairs. O(1). */
ATTN_API int64_t attn_pattern_count(const attn_pattern *pattern);
/** Number of intervals in all rows, a measure of how scattered the pattern is. O(1). */
ATTN_API int64_t attn_pattern_intervals(const attn_pattern *pattern);
/** Writes row_ptr (n_q + 1) and col (attn_pattern_count()). */
ATTN_API attn_status attn_pattern_to_csr(const attn_pattern *pattern, int64_t *row_ptr,
                                         int64_t *col, attn_error *err);

/* -------------------------------------------------------------------- 9 merging partial results */

typedef struct attn_partial {
    uint32_t struct_size; /* set by attn_partial_init(), or by you: sizeof(attn_partial) */
    attn_tensor out;      /* (B, H, n_q, d_v) attention over some of the keys, any float dtype */
    attn_tensor lse;      /* (B, H, n_q, 1) its log-sum-exp, f32 or f64 */
} attn_partial;

/** Sets both tensors to absent. */
ATTN_API void attn_partial_init_sized(attn_partial *partial, size_t size);
static inline void attn_partial_init(attn_partial *partial) {
    attn_partial_init_sized(partial, sizeof(attn_partial));
}

/** attn_merge(): combines the partial results of n_parts disjoint key sets into attention over
 *  their union. It computes in double precision, in the order given, and rounds once, so the result
 *  is exact up to that rounding for any number of parts. A row for which no part has a key or a
 *  sink gives out = 0 and lse = -inf. Pass sinks to only one of the parts.
 *  All shapes must agree. dtypes may differ, so that an f64 result can accumulate f32 parts call
 *  after call without losing digits. The result may be one of the parts (same data, dtype and
 *  strides) but must not overlap them otherwise. Errors: NULL, VALUE, SHAPE, DTYPE, STRIDE,
 *  OVERLAP; result is then untouched. */
ATTN_API attn_status attn_merge(const attn_partial *const *parts, int64_t n_parts,
                                const attn_partial *result, attn_error *err);

/* ------------------------------------------------------------------------- 10 planning and cost */

/** attn_plan_explain(): describes in words how attn_forward() would run this problem and why:
 *  kernels, tiles, code paths, the effective offset, skipped work, scratch memory. Writes at most
 *  size bytes including the terminating 0; *needed (needed may be NULL) receives the full length
 *  + 1. */
ATTN_API attn_status attn_plan_explain(attn_ctx *ctx, const attn_args *args, char *text,
                                       size_t size, size_t *needed, attn_error *err);

typedef struct attn_cost_info {
    uint32_t struct_size;  /* set by attn_cost_info_init() */
    double pairs;          /* (query, key) pairs in all heads */
    double visible_pairs;  /* those that are not masked (a bias of -inf masks) */
    double flops;          /* forward pass: 2 (d_k + d_v) per visible pair */
    double flops_backward; /* backward pass that recomputes the weights: 5 products instead of 2 */
    double bytes_io;       /* reading q, k, v once and writing out once */
    double bytes_dense;    /* the n_q x n_k weights, if they were stored; they never are */
    double bytes_scratch;  /* memory attn_forward() uses beyond inputs and outputs */
} attn_cost_info;

/** Sets all counts to 0. */
ATTN_API void attn_cost_info_init_sized(attn_cost_info *cost, size_t size);
static inline void attn_cost_info_init(attn_cost_info *cost) {
    attn_cost_info_init_sized(cost, sizeof(attn_cost_info));
}

/** attn_cost(): counts the work of a problem exactly, without computing attention. Call
 *  attn_cost_info_init() on cost first. A mask or bias without data masks nothing.
 *  Errors: as attn_forward(). Cost: O(n_q) per sequence, O(n_q n_k) with a dense mask or bias. */
ATTN_API attn_status attn_cost(attn_ctx *ctx, const attn_args *args, attn_cost_info *cost,
                               attn_error *err);

/* ---------------------------------------------------------------------- 11 oracle and self-test */

/** attn_reference(): the oracle. Computes the same as attn_forward() directly from the definition,
 *  in double precision, one pair at a time. Same arguments and validation, except that
 *  args->workspace is ignored and that out and lse may be f64 whatever the dtype of q. Allocates
 *  O(n_k) memory. Slow on purpose. */
ATTN_API attn_status attn_reference(const attn_args *args, const attn_tensor *out,
                                    const attn_tensor *lse, attn_error *err);

/** attn_reference_backward(): the oracle for attn_backward(), computed directly from the
 *  definition. Same arguments and validation, except that lse is recomputed, so that results->out
 *  and results->lse may be absent, and that dq, dk and dv may be f64 whatever the dtype of q.
 *  Allocates O(n) memory. Slow on purpose. */
ATTN_API attn_status attn_reference_backward(const attn_args *args, const attn_results *results,
                                             const attn_gradients *gradients, attn_error *err);

/** attn_selftest(): checks this library on this machine: every usable instruction set against the
 *  oracle, bit-identity across thread counts and instruction sets, NaN and Inf at masked positions,
 *  rows that see no key. say (may be NULL) is called with one line per check. Takes about a second.
 *  Errors: SELFTEST (the message names the first check that failed), MEMORY, THREADS. */
ATTN_API attn_status attn_selftest(void (*say)(void *user, const char *line), void *user,
                                   attn_error *err);

/* ----------------------------------------------------------------------------------- 12 helpers */

/** Writes the standard ALiBi slopes for H heads: 2^(-8(h+1)/H) if H is a power of two; otherwise
 *  those of the next lower power of two, followed by every other slope of the next higher one. */
ATTN_API attn_status attn_alibi_slopes(int64_t H, double *slopes, attn_error *err);

/** 1 if dropout keeps the weight of (batch, head, i, j), else 0. A pure function of its arguments
 *  (Philox 4x32-10). */
ATTN_API int attn_dropout_keep(uint64_t seed, double dropout, int64_t batch, int64_t head,
                               int64_t i, int64_t j);

#ifdef __cplusplus
}
#endif
#endif
