/* SPDX-License-Identifier: Apache-2.0 */
/* outcome.c - see outcome.h. */
#include "outcome.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static void say(char *text, const char *format, va_list list) {
    const size_t used = strlen(text);
    vsnprintf(text + used, LAB_TEXT - used, format, list);
}

void lab_say(char *text, const char *format, ...) {
    va_list list;
    va_start(list, format);
    say(text, format, list);
    va_end(list);
}

void lab_say_list(char *text, const char *format, const double *value, size_t n, size_t columns) {
    for (size_t i = 0; i < n; i++) {
        const bool new_row = columns && i && i % columns == 0;
        lab_say(text, "%s", i == 0 ? (n > 1 ? "[" : "") : new_row ? "; " : ", ");
        lab_say(text, format, value[i]);
    }
    if (n > 1) lab_say(text, "]");
}

attn_status lab_claim_test(const lab_settings *settings, const lab_claim *claim,
                           lab_outcome *outcome, attn_error *err) {
    *outcome = (lab_outcome){.agrees = true}; /* until a number differs from the record */
    return claim->test(settings, claim, outcome, err);
}

static bool near(double value, double exact, double tolerance) {
    return value == exact || fabs(value - exact) <= tolerance; /* false for NaN */
}

bool lab_expect(lab_outcome *outcome, double value, double exact, double tolerance) {
    if (near(value, exact, tolerance)) return true;
    if (outcome->agrees)
        snprintf(outcome->why, LAB_TEXT, "we compute %.12g, the record has %.12g: a bug of ours",
                 value, exact);
    outcome->agrees = false;
    return false;
}

void lab_expect_all(lab_outcome *outcome, const double *value, const double *exact, size_t n,
                    double tolerance) {
    for (size_t i = 0; i < n; i++)
        lab_expect(outcome, value[i], exact[i], tolerance * fmax(1, fabs(exact[i])));
}

void lab_require(lab_outcome *outcome, bool holds, const char *what) {
    if (holds || !outcome->agrees) return;
    snprintf(outcome->why, LAB_TEXT, "does not hold here: %s: a bug of ours", what);
    outcome->agrees = false;
}

void lab_conclude(const lab_claim *claim, lab_outcome *outcome, lab_verdict verdict,
                  const char *format, ...) {
    const lab_verdict recorded = *(const lab_verdict *)claim->data;
    outcome->verdict = verdict;
    if (!outcome->agrees) return;
    if (verdict != recorded) {
        snprintf(outcome->why, LAB_TEXT, "our verdict is \"%s\", on record \"%s\": a bug of ours",
                 lab_verdict_name(verdict), lab_verdict_name(recorded));
        outcome->agrees = false;
        return;
    }
    va_list list;
    va_start(list, format);
    outcome->why[0] = 0;
    say(outcome->why, format, list);
    va_end(list);
}
