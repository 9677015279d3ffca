/* SPDX-License-Identifier: Apache-2.0 */
/* meter.h - counts memory: how many bytes are held now, and the maximum so far. A context uses it
 * as its allocator and an experiment for its own buffers, so that one sum covers both. Not
 * thread-safe. Tests: tests/lab/test_beyond_structure.c */
#ifndef LAB_METER_H
#define LAB_METER_H

#include "attn/attn.h"

typedef struct lab_meter {
    size_t now, peak; /* bytes requested; the allocator's own overhead is not counted */
} lab_meter;

/* Callbacks for attn_ctx_options that count here; the meter must outlive the context. */
attn_alloc lab_meter_alloc(lab_meter *meter);
/* Memory aligned to 64 bytes, or NULL. */
void *lab_meter_take(lab_meter *meter, size_t bytes);
/* NULL is allowed. */
void lab_meter_give(lab_meter *meter, void *memory);

#endif
