/* SPDX-License-Identifier: Apache-2.0 */
/* structs.h - public structs that may grow. A caller may have been compiled with an older header:
 * its struct is copied into one of the current size, and nothing is written beyond the end of its
 * own struct. Tests: tests/attention/test_structs.c, tests/abi */
#ifndef ATTNI_STRUCTS_H
#define ATTNI_STRUCTS_H

#include "core/base.h"

enum { ATTNI_MAX_SIZES = 4 };

typedef struct attni_struct {
    const char *init;     /* the function that fills it, for messages */
    const void *defaults; /* of the current size; NULL: all fields 0 */
    uint16_t
        sizes[ATTNI_MAX_SIZES]; /* every size shipped, ascending, then 0; the last is current */
} attni_struct;

extern const attni_struct attni_struct_args, attni_struct_ctx_options, attni_struct_cpu,
    attni_struct_gradients, attni_struct_results, attni_struct_inspection, attni_struct_partial,
    attni_struct_cost_info;

/* Fills the caller's struct of `size` bytes with the defaults; to may be NULL. */
void attni_struct_init(const attni_struct *s, void *to, size_t size);

/* Checks that from is not NULL and has a size that was shipped; name is the argument's. */
attn_status attni_struct_check(const attni_struct *s, const char *name, const void *from,
                               attn_error *err);
/* Checks and copies the caller's struct to *full, with defaults for the fields it does not have. */
attn_status attni_struct_read(const attni_struct *s, const char *name, const void *from, void *full,
                              attn_error *err);
/* Copies as much of *full as fits to the caller's checked struct, whose struct_size is kept. */
void attni_struct_write(const void *full, void *to);

#endif
