/* SPDX-License-Identifier: Apache-2.0 */
/* positions.h - how a model encodes the position of a token: a kind (rope, alibi, ...: the list is
 * in CMakeLists.txt) and its settings. Plain data, the same for layers, models and model files.
 * What a kind computes is in its row of the table in position_kind.h. Not compiled per real type.
 * Tests: tests/layers/test_position_kinds.c */
#ifndef ATTNI_POSITIONS_H
#define ATTNI_POSITIONS_H

#include "core/base.h"

/* A setting that a kind does not name is 0 and ignored.
 *    type, name; which kinds read it */
#define ATTNI_POSITION_SETTINGS(X)                                                                 \
    X(double, base)       /* sinusoidal, rope: pair p is rotated by t / base^(2p/width) */         \
    X(double, factor)     /* rope: positions are divided by it (linear scaling) */                 \
    X(int64_t, rotary)    /* rope: number of rotated columns of a head, from the first; 0: all */  \
    X(bool, interleaved)  /* sinusoidal, rope: a pair is adjacent columns, not one of each half */ \
    X(int64_t, first_row) /* learned: row of the table for position 0; 2 in OPT and RoBERTa */     \
    X(int64_t, buckets)   /* t5: rows of the table of biases */                                    \
    X(int64_t, max_distance) /* t5: all distances from here on share a bucket */

typedef struct attni_positions {
    int kind; /* its index in the table; 0: none */
#define X(type, name) type name;
    ATTNI_POSITION_SETTINGS(X)
#undef X
} attni_positions;

/* The model or layer that the positions are for. */
typedef struct attni_positions_shape {
    int64_t length; /* positions 0 .. length - 1 */
    int64_t d;      /* width of the embeddings; may be 0 for a single layer */
    int64_t H, d_k;
    bool causal;
} attni_positions_shape;

/* The kinds of this build, 0 .. count - 1, and a one-line description of each. */
int attni_positions_count(void);
const char *attni_positions_name(int kind);
const char *attni_positions_about(int kind);

/* The kind of that name with its default settings. ATTN_E_VALUE lists the available names. */
attn_status attni_positions_named(const char *name, attni_positions *positions, attn_error *err);

/* Errors: VALUE (an unknown kind, a setting out of range; the message names it). */
attn_status attni_positions_check(const attni_positions *positions,
                                  const attni_positions_shape *shape, attn_error *err);

/* What a kind learns: one matrix for the whole model, or nothing (rows 0). */
typedef struct attni_positions_parameter {
    const char *name; /* in files */
    int64_t rows, columns;
    bool starts_random; /* initialised like embeddings; false: with 0 */
} attni_positions_parameter;

attni_positions_parameter attni_positions_learn(const attni_positions *positions,
                                                const attni_positions_shape *shape);

/* Settings by number, for files: name, value; set returns false if the type cannot hold it. */
enum {
#define X(type, name) ATTNI_POSITION_##name,
    ATTNI_POSITION_SETTINGS(X)
#undef X
        ATTNI_N_POSITION_SETTINGS
};
const char *attni_positions_setting_name(int setting);
double attni_positions_get(const attni_positions *positions, int setting);
bool attni_positions_set(attni_positions *positions, int setting, double value);

#endif
