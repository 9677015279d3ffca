/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.c - see numbers.h. */
#include "numbers.h"

#include "core/base.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

/* -------------------------------------------------------------------------- numbers in a text */

/* The unit of the last digit of the number written from text to end. */
static double last_place(const char *text, const char *end, bool about) {
    int place = 0;
    const char *p = text;
    for (bool fraction = false; p < end && (isdigit((unsigned char)*p) || *p == '.'); p++) {
        if (*p == '.')
            fraction = true;
        else if (fraction)
            place--;
    }
    for (const char *zero = p - 1; about && place >= 0 && zero > text && *zero == '0'; zero--)
        place++;
    if (p < end) place += atoi(p + 1); /* the exponent, after its e */
    return pow(10, place);
}

static double suffix(char letter) {
    return letter == 'K' ? 1e3 : letter == 'M' ? 1e6 : letter == 'G' ? 1e9 : 1;
}

/* Reads one number at text; returns where it ends. */
static const char *read_number(const char *text, bool about, lab_said *stated) {
    char *end;
    stated->value = strtod(text, &end);
    stated->unit = last_place(text + (*text == '-'), end, about);
    if (*end == '/' && isdigit((unsigned char)end[1])) {
        stated->value /= strtod(end + 1, &end);
        stated->unit = 0;
    }
    const double factor = suffix(*end);
    stated->value *= factor;
    stated->unit *= factor;
    return end;
}

static bool begins_number(const char *text, const char *p) {
    const char before = p > text ? p[-1] : ' ';
    if (isalnum((unsigned char)before) && before != 'x') return false; /* d64; but 8x12 */
    return isdigit((unsigned char)*p) || ((*p == '-' || *p == '.') && isdigit((unsigned char)p[1]));
}

size_t lab_said_numbers(const char *words, lab_said *stated, size_t max) {
    size_t n = 0;
    const char *p = words;
    while (*p) {
        if (!begins_number(words, p)) {
            p++;
            continue;
        }
        lab_said one;
        p = read_number(p, p > words && p[-1] == '~', &one);
        if (n < max) stated[n] = one;
        n++;
    }
    return n;
}

lab_verdict lab_said_verdict(lab_said said, double value) {
    const double rounding = 1e-12 * fmax(1, fabs(value)); /* of our own arithmetic */
    const double off = fabs(said.value - value);
    if (off <= 0.5 * said.unit + rounding) return LAB_HOLDS;
    const bool cut = fabs(said.value) < fabs(value) && off < said.unit - rounding;
    return cut ? LAB_HOLDS_IF : LAB_WRONG;
}

/* ----------------------------------------------------------------------------------- the test */

/* The worst verdict of n numbers; *right: how many hold. */
static lab_verdict compare(const lab_said *stated, const double *value, size_t n, size_t *right) {
    lab_verdict worst = LAB_HOLDS;
    *right = 0;
    for (size_t i = 0; i < n; i++) {
        const lab_verdict one = lab_said_verdict(stated[i], value[i]);
        if (one == LAB_HOLDS) (*right)++;
        if (one > worst) worst = one;
    }
    return worst;
}

static double largest_difference(const lab_said *stated, const double *value, size_t n) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(stated[i].value - value[i]));
    return largest;
}

static double accuracy(double tolerance) { return tolerance > 0 ? tolerance : 1e-13; }

/* Whether the stated row is correct arithmetic on what the document states further up. */
static attn_status trace_back(attn_ctx *ctx, const lab_numbers *row, const lab_said *stated,
                              lab_outcome *outcome, char *words, attn_error *err) {
    const lab_alternate *way = &row->alternate;
    double value[LAB_MAX_NUMBERS];
    size_t right;
    if (!way->compute) return ATTN_OK;
    ATTN_TRY(way->compute(ctx, row->row, value, err));
    lab_expect_all(outcome, value, way->exact, row->n, accuracy(way->tolerance));
    const lab_verdict verdict = compare(stated, value, row->n, &right);
    if (verdict == LAB_HOLDS && way->ids) {
        outcome->follows_from = way->ids;
        lab_say(words, "; a consequence of %s: follows from %s", way->ids, way->from);
        return ATTN_OK;
    }
    lab_say(words, "; %s give ", way->from);
    lab_say_list(words, "%.5g", value, row->n, row->columns);
    if (way->ids) lab_say(words, ", so it is wrong even given %s", way->ids);
    return ATTN_OK;
}

static void conclude(const lab_claim *claim, const lab_numbers *row, lab_outcome *outcome,
                     lab_verdict verdict, const char *words) {
    const char *remark = row->remark ? row->remark : "";
    lab_conclude(claim, outcome, verdict, "%s%s%s", words, *remark && *words ? "; " : "", remark);
}

attn_status lab_numbers_test(const lab_settings *settings, const lab_claim *claim,
                             lab_outcome *outcome, attn_error *err) {
    const lab_numbers *row = claim->data;
    double value[LAB_MAX_NUMBERS];
    lab_said stated[LAB_MAX_NUMBERS];
    char words[LAB_TEXT] = "";
    size_t right;
    ATTN_TRY(row->compute(settings->ctx, row->row, value, err));
    lab_expect_all(outcome, value, row->exact, row->n, accuracy(row->tolerance));
    lab_say_list(outcome->computed, row->format ? row->format : "%.6f", value, row->n,
                 row->columns);
    if (!claim->stated) {
        conclude(claim, row, outcome, LAB_MEASURED, "");
        return ATTN_OK;
    }
    const size_t n = lab_said_numbers(claim->stated, stated, LAB_MAX_NUMBERS);
    if (n != row->n)
        return attni_fail(err, ATTN_E_VALUE, "%s: %zu numbers stated, expected %zu", claim->id, n,
                          row->n);
    const lab_verdict verdict = compare(stated, value, n, &right);
    if (verdict == LAB_HOLDS)
        lab_say(words, "correct as rounded");
    else if (verdict == LAB_HOLDS_IF)
        lab_say(words, "holds if the digits are truncated, not rounded");
    else
        lab_say(words, "off by up to %.2g", largest_difference(stated, value, n));
    if (verdict == LAB_WRONG && right) lab_say(words, "; %zu of %zu correct", right, n);
    if (verdict == LAB_WRONG) ATTN_TRY(trace_back(settings->ctx, row, stated, outcome, words, err));
    conclude(claim, row, outcome, verdict, words);
    return ATTN_OK;
}
