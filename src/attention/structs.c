/* SPDX-License-Identifier: Apache-2.0 */
/* structs.c - see structs.h. */
#include "attention/structs.h"

#include "attention/context.h"

/* ---------------------------------------------------------------------------------- shipped sizes */

/* The size of a struct whose last field is `last` and whose field of strictest alignment is of type
 * `most`. */
#define THROUGH(type, last, most)                                                                  \
    ((offsetof(type, last) + sizeof(((type *)0)->last) + _Alignof(most) - 1) / _Alignof(most) *    \
     _Alignof(most))

/* A new field becomes the last field. After a release, the new size is appended to the list; before
 * that, it replaces the last size. The field must not fit into the padding at the end of a shipped
 * struct, since the size could then not tell the two apart (tests/attention/test_structs.c). */
#define CURRENT(type, last, most)                                                                  \
    _Static_assert(THROUGH(type, last, most) == sizeof(type),                                      \
                   #type ": its last field has changed; see the comment above")

static const attn_args default_args = {
    .scale = ATTN_SCALE_AUTO,
    .temperature = 1,
    .offset = ATTN_OFFSET_BOTTOM_RIGHT,
    .window_left = -1,
    .window_right = -1,
};
static const attn_ctx_options default_options = {
    .threads = 1,
    .alloc = {.alloc = attni_default_alloc, .free = attni_default_free},
};

/* filled by, defaults, sizes: 0.2.0 */
const attni_struct attni_struct_args = {
    "attn_args_init()", &default_args, {THROUGH(attn_args, saved_size, double)}};
const attni_struct attni_struct_ctx_options = {
    "attn_ctx_options_init()", &default_options, {THROUGH(attn_ctx_options, abort_user, void *)}};
const attni_struct attni_struct_cpu = {"attn_cpu_init()", NULL, {THROUGH(attn_cpu, name, int)}};
const attni_struct attni_struct_gradients = {
    "attn_gradients_init()", NULL, {THROUGH(attn_gradients, dscale, int64_t)}};
const attni_struct attni_struct_results = {
    "attn_results_init()", NULL, {THROUGH(attn_results, dout, int64_t)}};
const attni_struct attni_struct_inspection = {
    "attn_inspection_init()", NULL, {THROUGH(attn_inspection, received, int64_t)}};
const attni_struct attni_struct_partial = {
    "attn_partial_init()", NULL, {THROUGH(attn_partial, lse, int64_t)}};
const attni_struct attni_struct_cost_info = {
    "attn_cost_info_init()", NULL, {THROUGH(attn_cost_info, bytes_scratch, double)}};

CURRENT(attn_args, saved_size, double);
CURRENT(attn_ctx_options, abort_user, void *);
CURRENT(attn_cpu, name, int);
CURRENT(attn_gradients, dscale, int64_t);
CURRENT(attn_results, dout, int64_t);
CURRENT(attn_inspection, received, int64_t);
CURRENT(attn_partial, lse, int64_t);
CURRENT(attn_cost_info, bytes_scratch, double);

/* -------------------------------------------------------------------------------------- the door */

static size_t current_size(const attni_struct *s) {
    int last = 0;
    while (last + 1 < ATTNI_MAX_SIZES && s->sizes[last + 1] != 0) last++;
    return s->sizes[last];
}

static uint32_t struct_size(const void *of) {
    uint32_t size;
    memcpy(&size, of, sizeof size);
    return size;
}

static bool was_shipped(const attni_struct *s, uint32_t size) {
    bool found = false;
    for (int n = 0; n < ATTNI_MAX_SIZES; n++) found = found || s->sizes[n] == size;
    return found && size != 0;
}

/* A size beyond the current one is stored too: the functions then reject the struct. */
void attni_struct_init(const attni_struct *s, void *to, size_t size) {
    const uint32_t told = (uint32_t)size;
    const size_t known = current_size(s);
    if (!to || size < sizeof told) return;
    memset(to, 0, size);
    if (s->defaults) memcpy(to, s->defaults, size < known ? size : known);
    memcpy(to, &told, sizeof told);
}

attn_status attni_struct_check(const attni_struct *s, const char *name, const void *from,
                               attn_error *err) {
    if (!from)
        return attni_fail(err, ATTN_E_NULL, "%s: NULL, expected a struct from %s", name, s->init);
    if (was_shipped(s, struct_size(from))) return ATTN_OK;
    return attni_fail(
        err, ATTN_E_STRUCT,
        "%s: struct_size is %u, expected %zu%s; call %s first, with a library at least "
        "as new as the header",
        name, (unsigned)struct_size(from), current_size(s), s->sizes[1] ? " or an older size" : "",
        s->init);
}

attn_status attni_struct_read(const attni_struct *s, const char *name, const void *from, void *full,
                              attn_error *err) {
    ATTN_TRY(attni_struct_check(s, name, from, err));
    attni_struct_init(s, full, current_size(s));
    const uint32_t size = struct_size(from);
    const size_t head = sizeof size;
    memcpy((char *)full + head, (const char *)from + head, size - head);
    return ATTN_OK;
}

void attni_struct_write(const void *full, void *to) {
    const uint32_t size = struct_size(to);
    const size_t head = sizeof size;
    memcpy((char *)to + head, (const char *)full + head, size - head);
}

/* ---------------------------------------------------------------------------------- public inits */

void attn_args_init_sized(attn_args *args, size_t size) {
    attni_struct_init(&attni_struct_args, args, size);
}
void attn_ctx_options_init_sized(attn_ctx_options *options, size_t size) {
    attni_struct_init(&attni_struct_ctx_options, options, size);
}
void attn_cpu_init_sized(attn_cpu *info, size_t size) {
    attni_struct_init(&attni_struct_cpu, info, size);
}
void attn_gradients_init_sized(attn_gradients *gradients, size_t size) {
    attni_struct_init(&attni_struct_gradients, gradients, size);
}
void attn_results_init_sized(attn_results *results, size_t size) {
    attni_struct_init(&attni_struct_results, results, size);
}
void attn_inspection_init_sized(attn_inspection *what, size_t size) {
    attni_struct_init(&attni_struct_inspection, what, size);
}
void attn_partial_init_sized(attn_partial *partial, size_t size) {
    attni_struct_init(&attni_struct_partial, partial, size);
}
void attn_cost_info_init_sized(attn_cost_info *cost, size_t size) {
    attni_struct_init(&attni_struct_cost_info, cost, size);
}
