/* SPDX-License-Identifier: Apache-2.0 */
/* test_core.c - src/core without the pool: size arithmetic, arenas, half types, Philox, hashes,
 * logarithm, names. Expected values: arithmetic in wider integers and doubles, published vectors, libm. */
#include "check.h"
#include "core/arena.h"
#include "core/base.h"
#include "core/half.h"
#include "core/hash.h"
#include "core/log2.h"
#include "core/rng.h"
#include "random.h"

#include <stdio.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

typedef __int128 wide;
typedef unsigned __int128 uwide;

/* -------------------------------------------------------------------------- size arithmetic */

static const size_t sizes[] = {0,
                               1,
                               2,
                               3,
                               7,
                               (size_t)1 << (sizeof(size_t) * 4),
                               ((size_t)1 << (sizeof(size_t) * 4)) - 1,
                               SIZE_MAX / 3,
                               SIZE_MAX / 2,
                               SIZE_MAX / 2 + 1,
                               SIZE_MAX - 1,
                               SIZE_MAX};

TEST(mul_gives_the_product_or_says_that_it_does_not_fit) {
    for (int a = 0; a < COUNT_OF(sizes); a++) {
        for (int b = 0; b < COUNT_OF(sizes); b++) {
            const uwide product = (uwide)sizes[a] * sizes[b];
            size_t out = 0;
            const bool fits = attni_mul(sizes[a], sizes[b], &out);
            CHECK_MSG(fits == (product <= SIZE_MAX), "%zu * %zu: fits says %d", sizes[a], sizes[b],
                      fits);
            CHECK_MSG(!fits || out == product, "%zu * %zu = %zu", sizes[a], sizes[b], out);
        }
    }
}

TEST(add_gives_the_sum_or_says_that_it_does_not_fit) {
    for (int a = 0; a < COUNT_OF(sizes); a++) {
        for (int b = 0; b < COUNT_OF(sizes); b++) {
            const uwide sum = (uwide)sizes[a] + sizes[b];
            size_t out = 0;
            const bool fits = attni_add(sizes[a], sizes[b], &out);
            CHECK_MSG(fits == (sum <= SIZE_MAX), "%zu + %zu: fits says %d", sizes[a], sizes[b],
                      fits);
            CHECK_MSG(!fits || out == sum, "%zu + %zu = %zu", sizes[a], sizes[b], out);
        }
    }
}

static const int64_t integers[] = {INT64_MIN, INT64_MIN + 1, INT64_MIN / 2, -3,       -1, 0, 1, 2,
                                   5,         INT64_MAX / 2, INT64_MAX - 1, INT64_MAX};

TEST(add_sat_stops_at_the_ends) {
    for (int a = 0; a < COUNT_OF(integers); a++) {
        for (int b = 0; b < COUNT_OF(integers); b++) {
            wide want = (wide)integers[a] + integers[b];
            if (want > INT64_MAX) want = INT64_MAX;
            if (want < INT64_MIN) want = INT64_MIN;
            CHECK_INT(attni_add_sat(integers[a], integers[b]), (int64_t)want);
        }
    }
}

TEST(clamp_min_and_max_order_any_numbers) {
    for (int a = 0; a < COUNT_OF(integers); a++) {
        for (int b = 0; b < COUNT_OF(integers); b++) {
            const int64_t x = integers[a], y = integers[b];
            CHECK_INT(attni_min(x, y), x <= y ? x : y);
            CHECK_INT(attni_max(x, y), x <= y ? y : x);
            CHECK_INT(attni_clamp(x, -3, 5), x < -3 ? -3 : x > 5 ? 5 : x);
            CHECK(x > y || (attni_clamp(x, x, y) == x && attni_clamp(y, x, y) == y));
        }
    }
}

TEST(ceil_div_rounds_up) {
    for (int64_t a = 0; a < 50; a++) {
        for (int64_t b = 1; b < 9; b++) {
            const int64_t q = attni_ceil_div(a, b);
            CHECK_MSG(q * b >= a && q * b < a + b, "ceil(%lld / %lld) = %lld", (long long)a,
                      (long long)b, (long long)q);
        }
    }
}

/* ----------------------------------------------------------------------------------- arenas */

static const int64_t shapes[][3] = {{1, 1, 1}, {0, 5, 2}, {3, 5, 7}, {2, 8, 4}, {1, 1, 65}};

/* Walks over all shapes, every second one by its offset; at (COUNT_OF(shapes)) gets where they
 * begin. */
static void walk(attni_arena *arena, size_t *at) {
    for (int s = 0; s < COUNT_OF(shapes); s++) {
        at[s] = arena->used;
        if (s % 2) {
            const size_t rows = (size_t)(shapes[s][0] * shapes[s][1]),
                         columns = (size_t)shapes[s][2];
            CHECK_INT(attni_arena_place(arena, rows, columns, (size_t)(1 + s)), at[s]);
        } else {
            const char *part = attni_arena_take(arena, 3, shapes[s], (size_t)(1 + s));
            CHECK(part == (arena->base ? arena->base + at[s] : NULL));
        }
    }
}

TEST(arena_measures_what_it_hands_out_and_parts_follow_aligned_and_apart) {
    static char block[4096];
    size_t at[2][COUNT_OF(shapes)];
    attni_arena measured = {0}, arena = {.base = block};
    walk(&measured, at[0]);
    walk(&arena, at[1]);
    CHECK_INT(measured.used, arena.used);
    CHECK(attni_arena_fits(&measured) && attni_arena_fits(&arena));
    for (int s = 0; s < COUNT_OF(shapes); s++) {
        const int64_t bytes = shapes[s][0] * shapes[s][1] * shapes[s][2] * (1 + s);
        const size_t end = s + 1 < COUNT_OF(shapes) ? at[0][s + 1] : measured.used;
        CHECK_INT(at[0][s], at[1][s]);
        CHECK_INT(at[0][s] % 64, 0);
        CHECK_INT(end - at[0][s], (bytes + 63) / 64 * 64);
    }
}

TEST(arena_remembers_that_something_did_not_fit) {
    static const int64_t half = PTRDIFF_MAX / 2 + 1;
    const int64_t huge[][2] = {{INT64_MAX, 1}, {half, 4}, {half, 2}, {PTRDIFF_MAX - 63, 1}};
    for (int s = 0; s < COUNT_OF(huge); s++) {
        attni_arena arena = {0};
        attni_arena_take(&arena, 2, huge[s], 8);
        attni_arena_take(&arena, 0, NULL, 8);
        CHECK_MSG(!attni_arena_fits(&arena), "%lld times %lld", (long long)huge[s][0],
                  (long long)huge[s][1]);
    }
    attni_arena sum = {0}; /* each fits, both do not */
    for (int n = 0; n < 2; n++) {
        CHECK(attni_arena_fits(&sum));
        attni_arena_place(&sum, (size_t)half, 1, 1);
    }
    CHECK(!attni_arena_fits(&sum));
}

/* ------------------------------------------------------------------------------------ errors */

TEST(fail_writes_the_message_and_returns_the_status) {
    attn_error err = {"old"};
    CHECK_INT(attni_fail(&err, ATTN_E_VALUE, "threads: %d", 7), ATTN_E_VALUE);
    CHECK_STR(err.message, "threads: 7");
    CHECK_INT(attni_fail(NULL, ATTN_E_SHAPE, "nobody listens"), ATTN_E_SHAPE);
}

TEST(fail_cuts_a_long_message_inside_the_buffer) {
    struct {
        attn_error err;
        char guard[8];
    } room;
    char text[600];
    memset(&room, '#', sizeof room);
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    attni_fail(&room.err, ATTN_E_VALUE, "%s", text);
    CHECK_INT(strlen(room.err.message), sizeof room.err.message - 1);
    CHECK_INT(memcmp(room.guard, "########", 8), 0);
}

/* ------------------------------------------------------------------------------------- names */

TEST(every_status_has_a_text_and_its_own_name){
#define X(status, text)                                                                            \
    CHECK_STR(attn_status_name(status), #status);                                                  \
    CHECK_STR(attn_strerror(status), text);
    ATTN_STATUS_LIST(X)
#undef X
}

TEST(unknown_numbers_have_names_too) {
    static const int numbers[] = {-1, 14, 99, INT32_MAX, INT32_MIN};
    for (int n = 0; n < COUNT_OF(numbers); n++) {
        const char *texts[] = {attn_status_name((attn_status)numbers[n]),
                               attn_strerror((attn_status)numbers[n])};
        CHECK(texts[0] && strlen(texts[0]) > 0);
        CHECK(texts[1] && strlen(texts[1]) > 0);
        CHECK_STR(attn_dtype_name((attn_dtype)numbers[n]), "?");
        CHECK_INT(attn_dtype_size((attn_dtype)numbers[n]), 0);
        CHECK_STR(attn_isa_name((attn_isa)numbers[n]), "?");
    }
    CHECK_STR(attn_isa_name((attn_isa)attn_isa_count()), "?");
}

TEST(dtypes_have_the_names_and_sizes_of_the_header) {
    static const char *const names[] = {"f32", "f64", "f16", "bf16", "bool", "i64"};
    static const size_t bytes[] = {sizeof(float),    sizeof(double),  sizeof(uint16_t),
                                   sizeof(uint16_t), sizeof(uint8_t), sizeof(int64_t)};
    for (int d = ATTN_F32; d <= ATTN_I64; d++) {
        CHECK_STR(attn_dtype_name((attn_dtype)d), names[d]);
        CHECK_INT(attn_dtype_size((attn_dtype)d), bytes[d]);
    }
}

TEST(isas_have_the_names_of_the_header) {
    static const char *const names[] = {"auto",   "scalar", "sse2",   "avx2",
                                        "avx512", "neon",   "simd128"};
    CHECK_INT(attn_isa_count(), COUNT_OF(names));
    for (int i = 0; i < COUNT_OF(names); i++) CHECK_STR(attn_isa_name((attn_isa)i), names[i]);
}

TEST(version_is_the_one_of_the_header) {
    char want[32];
    snprintf(want, sizeof want, "%d.%d.%d", ATTN_VERSION_MAJOR, ATTN_VERSION_MINOR,
             ATTN_VERSION_PATCH);
    CHECK_STR(attn_version(), want);
}

/* -------------------------------------------------------------------------------- half types */

/* A binary format by its numbers. */
typedef struct format {
    int mantissa; /* stored bits */
    int min_exp;  /* exponent of the smallest normal number */
    int max_exp;  /* exponent of the largest finite number */
} format;

static const format f16 = {10, -14, 15}, bf16 = {7, -126, 127};

/* The value of a bit pattern by the definition of the format. */
static double value_of(format f, unsigned bits) {
    const unsigned sign = bits >> 15, fraction = bits & ((1u << f.mantissa) - 1);
    const int exponent = (int)(bits >> f.mantissa) & (2 * f.max_exp + 1);
    double x;
    if (exponent == 2 * f.max_exp + 1) {
        x = fraction ? NAN : INFINITY;
    } else if (exponent == 0) {
        x = ldexp((double)fraction, f.min_exp - f.mantissa);
    } else {
        x = ldexp(1 + ldexp((double)fraction, -f.mantissa), exponent - f.max_exp);
    }
    return sign ? -x : x;
}

/* Nearest value of the format, ties to the even last bit; slow: counts units in the last place. */
static double rounded_to(format f, double x) {
    if (isnan(x) || isinf(x) || x == 0) return x;
    int exponent;
    frexp(x, &exponent); /* |x| = 0.5..1 * 2^exponent */
    const int unit = (exponent - 1 > f.min_exp ? exponent - 1 : f.min_exp) - f.mantissa;
    const double steps = ldexp(fabs(x), -unit), whole = floor(steps), rest = steps - whole;
    const bool up = rest > 0.5 || (rest == 0.5 && fmod(whole, 2) == 1);
    const double y = ldexp(whole + up, unit);
    return copysign(y >= ldexp(1, f.max_exp + 1) ? INFINITY : y, x);
}

static bool same_value(double a, double b) {
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

TEST(every_f16_has_the_value_of_its_bits) {
    for (unsigned h = 0; h < 65536; h++) {
        const float x = attni_f16_to_f32((uint16_t)h);
        CHECK_MSG(same_value((double)x, value_of(f16, h)), "0x%04x gives %.9g", h, (double)x);
    }
}

TEST(every_bf16_has_the_value_of_its_bits) {
    for (unsigned h = 0; h < 65536; h++) {
        const float x = attni_bf16_to_f32((uint16_t)h);
        CHECK_MSG(same_value((double)x, value_of(bf16, h)), "0x%04x gives %.9g", h, (double)x);
    }
}

/* NaN keeps sign and payload and comes back quiet; everything else is the same bits. */
TEST(every_f16_survives_the_way_to_f32_and_back) {
    for (unsigned h = 0; h < 65536; h++) {
        const bool nan = (h & 0x7fff) > 0x7c00;
        CHECK_INT(attni_f32_to_f16(attni_f16_to_f32((uint16_t)h)), nan ? h | 0x200 : h);
    }
}

TEST(every_bf16_survives_the_way_to_f32_and_back) {
    for (unsigned h = 0; h < 65536; h++) {
        const bool nan = (h & 0x7fff) > 0x7f80;
        CHECK_INT(attni_f32_to_bf16(attni_bf16_to_f32((uint16_t)h)), nan ? h | 0x40 : h);
    }
}

static bool rounds_right(float x) {
    const uint16_t h = attni_f32_to_f16(x), b = attni_f32_to_bf16(x);
    const bool ok = same_value(value_of(f16, h), rounded_to(f16, (double)x)) &&
                    same_value(value_of(bf16, b), rounded_to(bf16, (double)x));
    if (!ok) check_failed(__FILE__, __LINE__, "%a gives f16 0x%04x, bf16 0x%04x", (double)x, h, b);
    return ok;
}

/* Every f16 and bf16 number, the middle to its neighbour, and the floats on both sides of each. */
TEST(f32_rounds_to_the_nearest_half_and_ties_to_even) {
    for (unsigned h = 0; h < 65536; h++) {
        const uint32_t around[] = {attni_bits_of(attni_f16_to_f32((uint16_t)h)),
                                   attni_bits_of(attni_f16_to_f32((uint16_t)h)) + 0x1000,
                                   (uint32_t)h << 16, ((uint32_t)h << 16) + 0x8000};
        for (int a = 0; a < COUNT_OF(around); a++) {
            for (int step = -1; step <= 1; step++) {
                if (!rounds_right(attni_float_of(around[a] + (uint32_t)step))) return;
            }
        }
    }
}

/* In the subnormal range of f16 the middles are at odd multiples of 2^-25. */
TEST(f32_rounds_right_among_the_subnormals_of_f16) {
    for (int n = -2100; n <= 2100; n++) {
        const float middle = ldexpf((float)n, -25);
        if (!rounds_right(nextafterf(middle, -1)) || !rounds_right(middle) ||
            !rounds_right(nextafterf(middle, 1))) {
            return;
        }
    }
}

TEST(f32_rounds_right_for_bits_all_over_its_range) {
    random_stream random = random_begin(1, 0);
    for (int n = 0; n < 300000; n++) {
        if (!rounds_right(attni_float_of((uint32_t)random_bits(&random)))) return;
    }
}

TEST(f32_too_large_for_f16_becomes_infinity_from_the_middle_on) {
    CHECK_INT(attni_f32_to_f16(65504.f), 0x7bff);
    CHECK_INT(attni_f32_to_f16(nextafterf(65520.f, 0)), 0x7bff);
    CHECK_INT(attni_f32_to_f16(65520.f), 0x7c00);
    CHECK_INT(attni_f32_to_f16(-65520.f), 0xfc00);
    CHECK_INT(attni_f32_to_f16(INFINITY), 0x7c00);
    CHECK_INT(attni_f32_to_bf16(3.40282347e38f), 0x7f80);
    CHECK_INT(attni_f32_to_bf16(-INFINITY), 0xff80);
}

TEST(nan_stays_nan_also_if_its_payload_is_cut_off) {
    for (int bit = 0; bit < 23; bit++) {
        for (uint32_t sign = 0; sign < 2; sign++) {
            const float x = attni_float_of(sign << 31 | 0x7f800000u | 1u << bit);
            CHECK(isnan(value_of(f16, attni_f32_to_f16(x))));
            CHECK(isnan(value_of(bf16, attni_f32_to_bf16(x))));
            CHECK_INT(attni_f32_to_f16(x) >> 15, sign);
            CHECK_INT(attni_f32_to_bf16(x) >> 15, sign);
        }
    }
}

/* ---------------------------------------------------------------------------- random numbers */

/* Known answers of the Random123 distribution, philox4x32 with 10 rounds. */
TEST(philox_gives_the_published_vectors) {
    static const struct {
        uint32_t counter[4], key[2], want[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (int n = 0; n < COUNT_OF(known); n++) {
        const uint32_t *c = known[n].counter, *k = known[n].key;
        const attni_philox r =
            attni_philox4x32((uint64_t)k[1] << 32 | k[0], c[0], c[1], c[2], c[3]);
        for (int w = 0; w < 4; w++) CHECK_INT(r.word[w], known[n].want[w]);
    }
}

TEST(fnv1a_gives_the_published_vectors) {
    CHECK(attni_fnv1a(ATTNI_FNV1A_BEGIN, "", 0) == 0xcbf29ce484222325u);
    CHECK(attni_fnv1a(ATTNI_FNV1A_BEGIN, "a", 1) == 0xaf63dc4c8601ec8cu);
    CHECK(attni_fnv1a(ATTNI_FNV1A_BEGIN, "foobar", 6) == 0x85944171f73967e8u);
    CHECK(attni_fnv1a_32(ATTNI_FNV1A_32_BEGIN, "a", 1) == 0xe40c292cu);
    CHECK(attni_fnv1a_32(ATTNI_FNV1A_32_BEGIN, "foobar", 6) == 0xbf9cf968u);
}

TEST(fnv1a_in_two_parts_is_that_of_the_whole) {
    const uint64_t first = attni_fnv1a(ATTNI_FNV1A_BEGIN, "foo", 3);
    CHECK(attni_fnv1a(first, "bar", 3) == attni_fnv1a(ATTNI_FNV1A_BEGIN, "foobar", 6));
}

TEST(dropout_word_of_key_j_is_word_j_mod_4_of_its_counter) {
    const uint64_t seed = 0x299f31d0a4093822u;
    const attni_philox r = attni_philox4x32(seed, 0x12345, 7, 3, 2);
    for (int64_t w = 0; w < 4; w++)
        CHECK_INT(attni_dropout_word(seed, 2, 3, 7, 4 * 0x12345 + w), r.word[w]);
}

TEST(dropout_threshold_is_the_share_of_all_words) {
    CHECK_INT(attni_dropout_threshold(0), 0);
    CHECK_INT(attni_dropout_threshold(0.25), 0x40000000);
    CHECK_INT(attni_dropout_threshold(0.5), 0x80000000);
    CHECK_INT(attni_dropout_threshold(nextafter(1, 0)), 0xffffffff);
}

/* --------------------------------------------------------------------------------- logarithm */

/* ln x in long double, by more terms than needed (logl is no better than log in some libraries). */
static long double exact_ln(double x) {
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0.7) { /* around 1, so that the parts do not cancel */
        m *= 2;
        exponent--;
    }
    const long double z = ((long double)m - 1) / ((long double)m + 1);
    long double sum = 0, power = z;
    for (int k = 1; k < 60; k += 2, power *= z * z) sum += power / k;
    return exponent * 0.693147180559945309417232121458176568L + 2 * sum;
}

/* |attni_lse(0, x) - ln x| in units in the last place of ln x. */
static double ulps_of_ln(double x) {
    const double got = attni_lse(0, x);
    const long double want = exact_ln(x);
    const double at = fabs((double)want), unit = nextafter(at, INFINITY) - at;
    return (double)fabsl((long double)got - want) / unit;
}

TEST(ln_stays_within_one_and_a_half_units_where_it_is_used) {
    random_stream random = random_begin(2, 0);
    for (int n = 0; n < 30000; n++) {
        /* sums of a softmax: 1 and more, dense just above 1 */
        const int exponent = (int)random_below(&random, 60) - 30;
        const double sum = 1 + ldexp(random_between(&random, 0, 1), exponent);
        CHECK_MSG(ulps_of_ln(sum) <= 1.5, "ln(%a) is off by %.3f ulp", sum, ulps_of_ln(sum));
    }
}

TEST(ln_of_one_is_zero_and_of_powers_of_two_exact) {
    CHECK_NEAR(attni_lse(0, 1), 0, 0);
    for (int e = -1022; e <= 1023; e++) {
        CHECK_NEAR(attni_lse(0, ldexp(1, e)), e * 0.69314718055994530942, 0);
        CHECK_NEAR(attni_lse(e, 1), e * 0.69314718055994530942, 0);
    }
}

TEST(lse_of_nan_is_nan_and_of_an_infinite_maximum_infinite) {
    CHECK(isnan(attni_lse(0, NAN)));
    CHECK(isnan(attni_lse(NAN, 1)));
    CHECK_NEAR(attni_lse(INFINITY, 3), INFINITY, 0);
    CHECK_NEAR(attni_lse(-INFINITY, 1), -INFINITY, 0);
}
