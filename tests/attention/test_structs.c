/* SPDX-License-Identifier: Apache-2.0 */
/* test_structs.c - structs of older and newer callers: missing fields get their defaults, nothing
 * is read or written beyond the caller's size, other sizes are rejected. A made-up struct with
 * three shipped sizes stands for the public ones, whose table is checked too. */
#include "attention/structs.h"
#include "check.h"

#include <string.h>

typedef struct grown {
    uint32_t struct_size;
    int32_t first; /* 1.0 */
    double second; /* 1.1 */
    double third;  /* 1.2 */
} grown;

enum { SIZE_1_0 = 8, SIZE_1_1 = 16, SIZE_1_2 = 24, BEYOND = 64 };

static const grown defaults = {.first = 1, .second = 2, .third = 3};
static const attni_struct kind = {"grown_init()", &defaults, {SIZE_1_0, SIZE_1_1, SIZE_1_2}};

/* The caller's memory: its struct, and behind it what must stay as it is. */
typedef union memory {
    grown as;
    unsigned char bytes[BEYOND];
} memory;

static memory filled_with(int byte) {
    memory m;
    memset(&m, byte, sizeof m);
    return m;
}

static bool is_untouched_from(const memory *m, size_t from) {
    for (size_t at = from; at < sizeof m->bytes; at++) {
        if (m->bytes[at] != 0x5a) return false;
    }
    return true;
}

TEST(init_writes_the_defaults_that_the_caller_has_room_for) {
    static const size_t sizes[] = {SIZE_1_0, SIZE_1_1, SIZE_1_2};
    for (int n = 0; n < 3; n++) {
        memory m = filled_with(0x5a);
        attni_struct_init(&kind, &m, sizes[n]);
        CHECK_INT(m.as.struct_size, sizes[n]);
        CHECK_INT(m.as.first, 1);
        if (n > 0) CHECK_NEAR(m.as.second, 2, 0);
        if (n > 1) CHECK_NEAR(m.as.third, 3, 0);
        CHECK(is_untouched_from(&m, sizes[n]));
    }
}

TEST(init_of_a_newer_struct_clears_what_it_does_not_know) {
    memory m = filled_with(0x5a);
    attni_struct_init(&kind, &m, SIZE_1_2 + 8);
    CHECK_INT(m.as.struct_size, SIZE_1_2 + 8);
    CHECK_NEAR(m.as.third, 3, 0);
    for (int at = SIZE_1_2; at < SIZE_1_2 + 8; at++) CHECK_INT(m.bytes[at], 0);
    CHECK(is_untouched_from(&m, SIZE_1_2 + 8));
}

TEST(init_without_memory_does_nothing) {
    memory m = filled_with(0x5a);
    for (size_t size = 0; size < sizeof(uint32_t); size++) attni_struct_init(&kind, &m, size);
    CHECK(is_untouched_from(&m, 0));
    attni_struct_init(&kind, NULL, SIZE_1_2);
}

TEST(reading_an_older_struct_takes_defaults_for_the_rest) {
    static const size_t sizes[] = {SIZE_1_0, SIZE_1_1, SIZE_1_2};
    for (int n = 0; n < 3; n++) {
        memory m = filled_with(0x5a);
        grown full;
        m.as = (grown){.struct_size = (uint32_t)sizes[n], .first = 10, .second = 20, .third = 30};
        CHECK_INT(attni_struct_read(&kind, "x", &m, &full, NULL), ATTN_OK);
        CHECK_INT(full.struct_size, sizeof full);
        CHECK_INT(full.first, 10);
        CHECK_NEAR(full.second, n > 0 ? 20 : 2, 0);
        CHECK_NEAR(full.third, n > 1 ? 30 : 3, 0);
    }
}

TEST(writing_to_an_older_struct_ends_where_it_ends) {
    static const size_t sizes[] = {SIZE_1_0, SIZE_1_1, SIZE_1_2};
    const grown full = {.struct_size = 99, .first = 10, .second = 20, .third = 30};
    for (int n = 0; n < 3; n++) {
        memory m = filled_with(0x5a);
        m.as.struct_size = (uint32_t)sizes[n];
        attni_struct_write(&full, &m);
        CHECK_INT(m.as.struct_size, sizes[n]);
        CHECK_INT(m.as.first, 10);
        if (n > 0) CHECK_NEAR(m.as.second, 20, 0);
        CHECK(is_untouched_from(&m, sizes[n]));
    }
}

TEST(sizes_that_were_never_shipped_are_refused) {
    static const uint32_t sizes[] = {0, 1, 4, 7, 9, 15, 17, 20, 23, 25, 32, UINT32_MAX};
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        memory m = filled_with(0x5a), full = filled_with(0x5a);
        attn_error err = {""};
        m.as.struct_size = sizes[n];
        CHECK_INT(attni_struct_read(&kind, "x", &m, &full, &err), ATTN_E_STRUCT);
        CHECK(is_untouched_from(&full, 0));
        CHECK_MSG(strstr(err.message, "x: struct_size is ") == err.message &&
                      strstr(err.message, "expected 24 or an older size") &&
                      strstr(err.message, "grown_init()"),
                  "%s", err.message);
    }
    CHECK_INT(attni_struct_check(&kind, "x", NULL, NULL), ATTN_E_NULL);
}

/* ---------------------------------------------------------------------------- the public structs */

static const struct {
    const attni_struct *kind;
    size_t size;
} all[] = {
    {&attni_struct_args, sizeof(attn_args)},
    {&attni_struct_ctx_options, sizeof(attn_ctx_options)},
    {&attni_struct_cpu, sizeof(attn_cpu)},
    {&attni_struct_gradients, sizeof(attn_gradients)},
    {&attni_struct_results, sizeof(attn_results)},
    {&attni_struct_inspection, sizeof(attn_inspection)},
    {&attni_struct_partial, sizeof(attn_partial)},
    {&attni_struct_cost_info, sizeof(attn_cost_info)},
};
enum { N_ALL = sizeof all / sizeof *all };

TEST(shipped_sizes_ascend_to_the_current_one) {
    for (int n = 0; n < N_ALL; n++) {
        const uint16_t *sizes = all[n].kind->sizes;
        int last = 0;
        while (last + 1 < ATTNI_MAX_SIZES && sizes[last + 1]) {
            CHECK_MSG(sizes[last] < sizes[last + 1], "%s: %d after %d", all[n].kind->init,
                      sizes[last + 1], sizes[last]);
            last++;
        }
        CHECK_INT(sizes[last], all[n].size);
    }
}
