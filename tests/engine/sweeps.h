/* SPDX-License-Identifier: Apache-2.0 */
/* sweeps.h - problems at every size where something begins or ends, and with every feature, on one
 * instruction set. */
#ifndef SWEEPS_H
#define SWEEPS_H

#include "isas.h"
#include "problem.h"

typedef struct sweep {
    attn_isa isa;
    attn_dtype dtype;
    /* Runs one problem and compares; false after a failure. */
    bool (*passes)(attn_ctx *ctx, const problem_spec *spec, double *worst);
    bool (*is_taken)(int64_t x, attn_dtype dtype); /* which problems; NULL: all */
    attn_ctx *ctx;                                 /* this and the rest are sweep_run()'s */
    double worst;                                  /* error in units of its bound */
    bool ok;                                       /* no failure so far */
} sweep;

/* Calls problems() with a context and prints the worst error; SKIPs where the instruction set
 * cannot run. */
void sweep_run(sweep s, void (*problems)(sweep *s));
/* Runs one problem unless another has failed or problem x is not to be taken. */
void sweep_try(sweep *s, int64_t x, const problem_spec *spec);

int sweep_lanes(const sweep *s);  /* of a panel */
int sweep_vector(const sweep *s); /* lanes of a vector */

/* Seeds count from the one given. */
void sweep_head_sizes(sweep *s, uint64_t seed);
/* Around vectors, panels and three lengths more. */
void sweep_lengths(sweep *s, uint64_t seed, const int64_t blocks[3]);
/* n_q and the heads of a group together fill a panel, one row less, one row more. */
void sweep_groups(sweep *s, uint64_t seed);
/* Each feature alone, some and all together, in every layout in turn; n_k: across a tile border. */
void sweep_features(sweep *s, uint64_t seed, int64_t n_k);

enum { HEAD_SIZES = 17, FEATURE_SETS = 20 };
extern const int64_t head_sizes[HEAD_SIZES];
extern const unsigned feature_sets[FEATURE_SETS];

#endif
