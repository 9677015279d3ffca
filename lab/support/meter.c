/* SPDX-License-Identifier: Apache-2.0 */
/* meter.c - every block is preceded by a note of its beginning and its length. See meter.h. */
#include "support/meter.h"

#include "core/base.h"
#include "core/os.h"

typedef struct note {
    void *base;
    size_t bytes;
} note;

static note *note_of(void *memory) { return (note *)memory - 1; }

static void *take(void *user, size_t bytes, size_t align) {
    lab_meter *meter = user;
    const size_t before = align < sizeof(note) ? sizeof(note) : align; /* preserves the alignment */
    size_t whole;
    if (!attni_add(bytes, before, &whole)) return NULL;
    void *base = attni_memory_alloc(whole, before);
    if (base == NULL) return NULL;
    char *memory = (char *)base + before;
    *note_of(memory) = (note){.base = base, .bytes = bytes};
    meter->now += bytes;
    if (meter->now > meter->peak) meter->peak = meter->now;
    return memory;
}

static void give(void *user, void *memory) {
    lab_meter *meter = user;
    if (memory == NULL) return;
    meter->now -= note_of(memory)->bytes;
    attni_memory_free(note_of(memory)->base);
}

attn_alloc lab_meter_alloc(lab_meter *meter) {
    return (attn_alloc){.alloc = take, .free = give, .user = meter};
}

void *lab_meter_take(lab_meter *meter, size_t bytes) { return take(meter, bytes, 64); }

void lab_meter_give(lab_meter *meter, void *memory) { give(meter, memory); }
