/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - the functions of a kernel table and the structs they work on. Included by attention/
 * and layers/, which call them, and by the kernels themselves. A kernel never sees a public struct,
 * never allocates, never fails. All `void` arrays hold the table's real type (float or double).
 * "lanes" = vecs * vl is the number of queries of a panel, one per vector lane.
 * Tests: tests/engine/ */
#ifndef ATTNI_KERNELS_H
#define ATTNI_KERNELS_H

#include "core/base.h"

/* Keys per tile, counted from key 0 of the sequence. Part of the definition of the result bits:
 * every tile is summed from zero and tiles are merged in ascending order, on every ISA. 192 keys
 * x 24 queries of f32 scores are 18 KiB, in L1. */
#define ATTNI_KEY_TILE 192

/* Weighted values are summed from zero over each half of a tile: the rounding error of 96 equal
 * additions in a row is half that of 192. No segment of a visit crosses the middle. */
#define ATTNI_HALF_TILE (ATTNI_KEY_TILE / 2)

/* Tiles per group: the tiles of a group are merged by plain sums, groups by compensated sums
 * (fold.h). Groups are counted from key 0 and are part of the definition of the result bits, as
 * tiles are. */
#define ATTNI_GROUP_TILES 8
#define ATTNI_GROUP_KEYS  (ATTNI_GROUP_TILES * ATTNI_KEY_TILE)

/* The page's engine never has more keys than fit one group and, to stay small, leaves out the code
 * that merges groups. */
#ifndef ATTNI_JOIN_GROUPS
#define ATTNI_JOIN_GROUPS 1
#endif

/* A few queries have a kernel of their own, attni_few, except in the page's engine. */
#define ATTNI_HAS_FEW ATTNI_JOIN_GROUPS

#define ATTNI_MAX_LANES 48 /* 3 vectors of 16 floats */

/* A run of visible keys inside one tile: keys key .. key + n - 1, counted from the tile's first
 * key. */
typedef struct attni_segment {
    int32_t key, n;
} attni_segment;

/* The edits of a score between q.k and the softmax. Scores are in base 2: multiplied by log2e /
 * temperature. */
typedef struct attni_modify {
    double cap;           /* softcap in base 2, or 0 */
    double inverse_cap;   /* 1 / cap */
    double bias_factor;   /* log2e / temperature */
    const void *bias;     /* (keys of the visit in segment order, lanes), -inf masks; or NULL */
    const void *slope;    /* (lanes) ALiBi slopes in base 2; or NULL */
    const void *position; /* (lanes) i + offset, counted from the tile's first key */
} attni_modify;

typedef struct attni_dropout {
    uint64_t seed;
    uint32_t threshold; /* keep iff the random word is >= threshold */
    uint32_t batch;
    double multiplier;    /* 1 / (1 - p) */
    int64_t first_key;    /* of the tile */
    const uint32_t *row;  /* (lanes) i */
    const uint32_t *head; /* (lanes) h */
} attni_dropout;

/* One panel of queries visits the visible keys of one tile. */
typedef struct attni_visit {
    int vecs;                      /* query vectors, min_vecs .. max_vecs */
    int32_t n_segments;            /* at least 1; the segments hold n_keys keys together */
    const attni_segment *segments; /* ascending, disjoint, each in one half of the tile */
    int32_t n_keys;
    bool first;    /* the panel has seen no key yet: o_t and stats are written, not read */
    bool prefetch; /* the first panel of a block prefetches the tile into L2 */

    int64_t d_k, d_v;
    const void *q_t; /* (d_k, lanes) from pack_queries() */
    const void *k;   /* first key of the tile; rows k_stride elements apart */
    const void *v;
    ptrdiff_t k_stride, v_stride;

    const uint64_t *allow; /* (KEY_TILE) bit x of allow[key]: lane x sees it; NULL: all see all */
    const attni_modify *modify;   /* or NULL */
    const attni_dropout *dropout; /* or NULL */
    uint64_t *seen;               /* (KEY_TILE) or NULL; bit x of seen[key] is set where lane x sees
                                     the key and its score is not -inf; only visited keys */

    void *scores; /* (n_keys, lanes) scratch */
    void *o_t;    /* (d_v, lanes) running weighted sum of values */
    void *stats;  /* (2, lanes) running maximum and sum of the base-2 softmax */
} attni_visit;

/* The maximum number of queries of attni_few. */
#define ATTNI_FEW_ROWS 8

/* A few queries visit the visible keys of one tile, as in text generation: what attni_visit does,
 * with the same bits, but vector lanes are keys and then columns of values, keys and values may be
 * of a half type, and each row of them has an address of its own. */
typedef struct attni_few {
    int rows;  /* queries, 1 .. ATTNI_FEW_ROWS and at most `lanes` */
    int lanes; /* of stats */
    int32_t n_segments;
    const attni_segment *segments; /* as in attni_visit */
    bool first;                    /* no key has been seen yet: o and stats are written, not read */

    int64_t d_k, d_v;
    const void *q; /* (rows, d_k) reals, times the query factor */
    attn_dtype k_dtype, v_dtype;
    const void *const
        *k; /* (KEY_TILE) rows of keys; masked keys have the address of a visible one */
    const void *const
        *v;        /* (KEY_TILE) rows of values, likewise; after them those of the next keys */
    bool has_next; /* there are next keys, which are to be prefetched */

    const uint64_t *allow; /* as in attni_visit */
    const attni_modify
        *modify; /* or NULL; bias is (rows, KEY_TILE), slope and position are (rows) */

    void *scores; /* (rows, KEY_TILE) scratch */
    void *sums;   /* (rows, d_v) scratch */
    void *o;      /* (rows, d_v) running weighted sum of values */
    void *stats;  /* (2, lanes) as in attni_visit */
} attni_few;

/* Adds a panel's sums over one group of tiles to those over the previous groups. */
typedef struct attni_fold {
    int vecs;
    int64_t d;         /* rows of o_t */
    const void *o_t;   /* (d, lanes) sums of the group */
    const void *stats; /* (2, lanes) its maximum and sum */
    void *total;       /* (d, lanes) */
    void *lost;        /* (d, lanes) accumulated rounding error of total */
    void *total_stats; /* (3, lanes) maximum, sum, and accumulated rounding error of the sum */
} attni_fold;

/* Backward uses the same size of query blocks and key tiles on every ISA, so that its sums have the
 * same order everywhere: 96 x 96 of P^T and dS^T are 72 KiB of f32, in L2. */
#define ATTNI_BLOCK_ROWS    96
#define ATTNI_BACKWARD_KEYS 96
/* As in forward, sums are plain within a group and compensated between groups: groups of tiles for
 * dq, groups of blocks for dk and dv. */
#define ATTNI_BACKWARD_GROUP_TILES 4
#define ATTNI_GROUP_BLOCKS         32

/* One panel of queries visits the visible keys of one tile in backward. `visit` describes panel and
 * tile; its `first` refers to dq_t, and its scores, o_t and stats are not used. */
typedef struct attni_backward_visit {
    attni_visit visit;
    const void *do_t;    /* (d_v, lanes) from pack_queries() */
    const void *whole;   /* (lanes) the row's log-sum-exp in base 2, rounded to a whole number */
    const void *inverse; /* (lanes) 2^(whole - log-sum-exp); 0 for a row that sees nothing */
    const void *stored;  /* (n_keys, stored_row) weights saved by forward, to be multiplied by
                            inverse; or NULL: recompute them */
    ptrdiff_t stored_row;
    void *delta;         /* (lanes) dout . out; recomputed more accurately for `short_rows` */
    uint64_t short_rows; /* bit x: all keys that lane x may see are in this tile */
    bool scores_mask;    /* a score may be -inf where nothing else masks: check each score */
    void *p, *ds; /* (BACKWARD_KEYS, BLOCK_ROWS) from the panel's first lane: keep P and dS */
    void *dz;     /* (n_keys, lanes) gradient of the biased score times temperature, or NULL */
    void *keep;   /* (n_keys, lanes) scratch, with dropout */
    void *dq_t;   /* (d_k, lanes) running sum, or NULL */
} attni_backward_visit;

/* c (m, n_columns) = a (m, k) b, or c += with add; a by strides, b (k, lanes) packed. n_columns
 * <= lanes. */
typedef struct attni_product {
    int vecs; /* 2 .. max_vecs */
    int n_columns;
    bool add;
    int64_t m, k;
    const void *a;
    ptrdiff_t a_row, a_step;
    const void *b;
    void *c;
    ptrdiff_t c_row;
} attni_product;

/* to (n_rows, lanes) = from (n_rows, n_columns) by strides; missing columns are set to zero. */
typedef struct attni_pack {
    int vecs; /* 2 .. max_vecs */
    int n_columns;
    int64_t n_rows;
    const void *from;
    ptrdiff_t row, column;
    void *to;
} attni_pack;

typedef struct attni_kernels {
    const char *name;
    bool fused;   /* class of result bits: with or without fused multiply-add */
    int vl;       /* lanes per vector */
    int min_vecs; /* vectors per panel, from 1 or 2 ... */
    int max_vecs; /* ... up to these */

    /* A table for products only has product, pack_panel and exp2; the other functions are NULL. */

    /* rows (vecs * vl pointers to d reals) -> q_t (d, lanes), times factor */
    void (*pack_queries)(int vecs, int64_t d, const void *const *rows, double factor, void *q_t);
    void (*visit)(const attni_visit *visit);
    void (*few)(const attni_few *few); /* NULL unless ATTNI_HAS_FEW */
    void (*fold)(const attni_fold *fold);
    void (*accumulate)(int64_t n, const void *x, void *total, void *lost); /* total += x */
    void (*settle)(int64_t n, void *total, const void *lost);              /* total += lost */
    /* dout . out (n) in double, bit-identical on every ISA; where out is 0 the product counts as
     * 0 */
    double (*dot)(int64_t n, const void *dout, const void *out);
    bool (*are_below)(int64_t n, const void *numbers, double limit); /* magnitudes; false for NaN */
    void (*scale_row)(int64_t n, double factor, void *row);          /* with a single kind of NaN */
    void (*product)(const attni_product *product);
    void (*backward)(const attni_backward_visit *visit);
    /* product() with add, without the pairs that `weights`, the P^T of a block laid out like a,
     * marks as masked. */
    void (*product_guarded)(const attni_product *product, const void *weights);
    void (*pack_panel)(const attni_pack *pack);
    /* Adds the sink logits (lanes, base 2), unless NULL, to stats, and turns stats into (max, sum,
     * 1/sum); stats has room for (3, lanes). A lane that saw no key gets 1/sum = 0, and the sink
     * alone as its sum. */
    void (*finish)(int vecs, const void *sinks, void *stats);
    /* rows (n_rows pointers to d reals) = panel (d, lanes) times factors (lanes), with a single
     * kind of NaN. Returns whether all results are finite. */
    bool (*unpack_rows)(int vecs, int n_rows, int64_t d, const void *panel, const void *factors,
                        void *const *rows);

    /* f16 or bf16 to f32, and back; in the f32 table only */
    void (*widen)(int64_t n, attn_dtype dtype, const void *from, float *to);
    void (*narrow)(int64_t n, attn_dtype dtype, const float *from, void *to);

    /* rounds x 12 independent multiply-adds on full vectors: measures the machine's limit, for
     * benchmarks. Returns the number of flops. NULL in builds optimised for size. */
    double (*burn)(int64_t rounds);
    /* Reads n reals and does nothing else: measures the rate of memory. NULL where burn is. */
    void (*read)(int64_t n, const void *from);
    /* The 2^x (x <= 0) of the softmax, for layers, and the tanh of the softcap, for tests (NULL
     * where burn is), on arrays; n is a multiple of vl, y may be x. */
    void (*exp2)(int64_t n, const void *x, void *y);
    void (*tanh)(int64_t n, const void *x, void *y);
} attni_kernels;

/* The table for real type f64 ? double : float; NULL if the ISA is not in this build or cannot run
 * on this machine. */
const attni_kernels *attni_kernels_get(attn_isa isa, bool f64);
/* The best ISA of this build on this machine. */
attn_isa attni_kernels_best(void);
bool attni_kernels_built(attn_isa isa);

#endif
