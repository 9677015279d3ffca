/* SPDX-License-Identifier: Apache-2.0 */
/* test_stream.c - the random stream is NumPy's, word by word. Expected values: figures.json, `rng`,
 * which NumPy 1.24.2 wrote. */
#include "steps/stream.h"

#include "check.h"

#include <jansson.h>
#include <stdlib.h>

static json_t *golden_seeds(void) {
    json_t *root = json_load_file(FIGURES_FILE, 0, NULL);
    json_t *seeds = json_incref(json_object_get(json_object_get(root, "rng"), "seeds"));
    json_decref(root);
    return seeds;
}

/* Calls check(stream at the seed, what is expected of it) for every seed on record; how many. */
static size_t for_each_seed(void (*check)(lab_stream *stream, const json_t *expected)) {
    json_t *seeds = golden_seeds();
    const size_t n = json_object_size(seeds);
    const char *seed;
    json_t *expected;
    json_object_foreach(seeds, seed, expected) {
        lab_stream stream;
        lab_stream_seed(&stream, (uint32_t)strtoul(seed, NULL, 10));
        check(&stream, expected);
    }
    json_decref(seeds);
    return n;
}

static void check_words(lab_stream *stream, const json_t *expected) {
    const json_t *words = json_object_get(expected, "u32_first4");
    for (size_t i = 0; i < 4; i++) {
        CHECK(lab_stream_u32(stream) == json_integer_value(json_array_get(words, i)));
    }
}

TEST(words_are_those_of_mt19937) { CHECK(for_each_seed(check_words) >= 3); }

static void check_uniforms(lab_stream *stream, const json_t *expected) {
    const json_t *values = json_object_get(expected, "rand_first4");
    for (size_t i = 0; i < 4; i++) {
        CHECK(lab_stream_uniform(stream) == json_real_value(json_array_get(values, i)));
    }
}

TEST(uniforms_are_those_of_rand) { CHECK(for_each_seed(check_uniforms) >= 3); }

static void check_normals(lab_stream *stream, const json_t *expected) {
    const json_t *first = json_object_get(expected, "first16");
    double sum = 0, last = 0;
    for (size_t i = 0; i < 20000; i++) {
        last = lab_stream_normal(stream);
        sum += last;
        if (i < 16) CHECK(last == json_real_value(json_array_get(first, i)));
    }
    CHECK(last == json_real_value(json_object_get(expected, "z19999")));
    CHECK_NEAR(sum, json_real_value(json_object_get(expected, "sum20000")), 1e-10);
}

TEST(twenty_thousand_normals_are_those_of_randn) { CHECK(for_each_seed(check_normals) >= 3); }
