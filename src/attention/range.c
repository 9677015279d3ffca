/* SPDX-License-Identifier: Apache-2.0 */
/* range.c - the numbers of attn_args in the arithmetic type. Scores are computed in base 2, so
 * scale, bias, slopes and cap are multiplied by log2(e) / temperature. Outside the normal numbers
 * of the type such a factor would be infinite or would have lost digits, which gives a wrong result
 * without any sign of it. The engine and the oracle both reject it instead. Tests:
 * tests/attention/test_range.c */
#include "attention/args.h"

#include <float.h>
#include <inttypes.h>

#define LOG2E 1.4426950408889634074

/* The arithmetic type: its name and its positive normal numbers. */
typedef struct real_range {
    const char *name;
    double least, most;
} real_range;

static real_range range_of(const attn_args *a) {
    if (a->q.dtype == ATTN_F64) return (real_range){"f64", DBL_MIN, DBL_MAX};
    return (real_range){"f32", FLT_MIN, FLT_MAX};
}

static bool is_within(double x, double least, double most) { return x >= least && x <= most; }

static attn_status check_temperature(const attn_args *a, const real_range *r, attn_error *err) {
    if (is_within(LOG2E / a->temperature, r->least, r->most)) return ATTN_OK;
    return attni_fail(err, ATTN_E_VALUE,
                      "temperature: %g, expected %.3g .. %.3g in %s arithmetic; "
                      "divide it and scale by a common factor",
                      a->temperature, LOG2E / r->most, LOG2E / r->least, r->name);
}

static attn_status check_scale(const attn_args *a, const real_range *r, attn_error *err) {
    const double unit = LOG2E / a->temperature;
    if (a->scale == 0 || is_within(fabs(a->scale) * unit, r->least, r->most)) return ATTN_OK;
    return attni_fail(
        err, ATTN_E_VALUE,
        "scale: %g, expected 0 or a magnitude of %.3g .. %.3g at temperature %g in %s "
        "arithmetic; scale q or k instead",
        a->scale, r->least / unit, r->most / unit, a->temperature, r->name);
}

/* Scores are also divided by the cap: its inverse must be a normal number as well. */
static attn_status check_softcap(const attn_args *a, const real_range *r, attn_error *err) {
    const double unit = LOG2E / a->temperature, most = 1 / r->least;
    if (a->softcap == 0 || is_within(a->softcap * unit, r->least, most)) return ATTN_OK;
    return attni_fail(err, ATTN_E_VALUE,
                      "softcap: %g, expected 0 (off) or %.3g .. %.3g at temperature %g in %s "
                      "arithmetic",
                      a->softcap, r->least / unit, most / unit, a->temperature, r->name);
}

/* A slope or sink that is too small to be a normal number changes no score. */
static attn_status check_heads(const attn_args *a, const real_range *r, attn_error *err) {
    const double unit = LOG2E / a->temperature;
    for (int64_t h = 0; (a->alibi || a->sinks) && h < a->q.shape[1]; h++) {
        if (a->alibi && !(fabs(a->alibi[h]) * unit <= r->most)) {
            return attni_fail(err, ATTN_E_VALUE,
                              "alibi[%" PRId64 "]: %g, expected a slope of at most %.3g at "
                              "temperature %g in %s arithmetic",
                              h, a->alibi[h], r->most / unit, a->temperature, r->name);
        }
        const bool sinks = a->sinks && a->sinks[h] != -HUGE_VAL;
        if (sinks && !(fabs(a->sinks[h]) * LOG2E <= r->most)) {
            return attni_fail(err, ATTN_E_VALUE,
                              "sinks[%" PRId64 "]: %g, expected -inf (none) or a magnitude of at "
                              "most %.3g in %s arithmetic",
                              h, a->sinks[h], r->most / LOG2E, r->name);
        }
    }
    return ATTN_OK;
}

attn_status attni_check_range(const attn_args *full, attn_error *err) {
    const real_range r = range_of(full);
    ATTN_TRY(check_temperature(full, &r, err));
    ATTN_TRY(check_scale(full, &r, err));
    ATTN_TRY(check_softcap(full, &r, err));
    return check_heads(full, &r, err);
}
