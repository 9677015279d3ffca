/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.c - --pattern: names with numbers, joined by + (union) and & (intersection, binds
 * tighter), with ! (complement) and parentheses. A recursive-descent parser that makes patterns as
 * it goes.
 *     sum = product { "+" product }    product = part { "&" part }
 *     part = "!" part | "(" sum ")" | name [ ":" number { "," number } ]
 * Tests: tests/cli/test_pattern_option.c */
#include "run/pattern_option.h"

#include "core/base.h"
#include "shared/options.h"

#include <ctype.h>
#include <stdio.h>

const char pattern_help[] =
    "  causal                     keys up to the query's own position\n"
    "  window:LEFT,RIGHT          keys near the query's position; -1 = no limit\n"
    "  prefix:N                   the first N keys, for every query\n"
    "  global:N                   the first N tokens see all tokens and all see them\n"
    "  strided:N                  every N-th key, counted from the query's position\n"
    "  random:BLOCK,COUNT[,SEED]  COUNT random key blocks for each block of queries\n"
    "  longformer:SIDE,GLOBAL     SIDE keys on each side and GLOBAL global tokens\n"
    "  bigbird:BLOCK,WINDOW,GLOBAL,RANDOM[,SEED]   band, global and random blocks\n"
    "  A+B  visible in A or in B      A&B  visible in both (binds tighter than +)\n"
    "  !A   visible where A is not    (A)  grouping\n";

enum {
    MAX_NUMBERS = 5,
    MAX_DEPTH = 32,
    MAX_ROWS = 1 << 24,     /* what a pattern may take: 24 bytes a row ... */
    MAX_INTERVALS = 1 << 27 /* ... and 16 bytes an interval */
};

typedef struct parser {
    const char *text, *at;
    const pattern_shape *shape;
    attn_error *err;
    int depth;
} parser;

typedef attn_status maker(const pattern_shape *s, const int64_t *number, attn_pattern **pattern,
                          attn_error *err);

static attn_status check_offset(const pattern_shape *s, attn_error *err) {
    if (s->one_offset) return ATTN_OK;
    return attni_fail(err, ATTN_E_VALUE,
                      "pattern: the sequences have different offsets, but share one pattern; give "
                      "a single --offset N");
}

static attn_status make_causal(const pattern_shape *s, const int64_t *number,
                               attn_pattern **pattern, attn_error *err) {
    (void)number;
    ATTN_TRY(check_offset(s, err));
    return attn_pattern_causal(s->n_q, s->n_k, s->offset, NULL, pattern, err);
}

static attn_status make_window(const pattern_shape *s, const int64_t *number,
                               attn_pattern **pattern, attn_error *err) {
    ATTN_TRY(check_offset(s, err));
    return attn_pattern_window(s->n_q, s->n_k, s->offset, number[0], number[1], NULL, pattern, err);
}

static attn_status make_prefix(const pattern_shape *s, const int64_t *number,
                               attn_pattern **pattern, attn_error *err) {
    return attn_pattern_prefix(s->n_q, s->n_k, number[0], NULL, pattern, err);
}

static attn_status make_global(const pattern_shape *s, const int64_t *number,
                               attn_pattern **pattern, attn_error *err) {
    return attn_pattern_global(s->n_q, s->n_k, number[0], NULL, pattern, err);
}

/* Refuses a pattern of so many key ranges per row that it would not fit in memory. */
static attn_status check_size(const pattern_shape *s, int64_t per_row, attn_error *err) {
    if (s->n_q == 0 || per_row <= MAX_INTERVALS / s->n_q) return ATTN_OK;
    return attni_fail(err, ATTN_E_VALUE,
                      "pattern: about %lld key ranges in each of %lld rows, expected at most %d in "
                      "total; make the step or the blocks larger",
                      (long long)per_row, (long long)s->n_q, MAX_INTERVALS);
}

static attn_status make_strided(const pattern_shape *s, const int64_t *number,
                                attn_pattern **pattern, attn_error *err) {
    ATTN_TRY(check_offset(s, err));
    if (number[0] > 1) ATTN_TRY(check_size(s, s->n_k / number[0], err));
    return attn_pattern_strided(s->n_q, s->n_k, s->offset, number[0], NULL, pattern, err);
}

static int64_t most_blocks(const pattern_shape *s, int64_t block, int64_t count) {
    return block < 1 ? 0 : attni_min(count, s->n_k / block);
}

static attn_status make_random(const pattern_shape *s, const int64_t *number,
                               attn_pattern **pattern, attn_error *err) {
    ATTN_TRY(check_size(s, most_blocks(s, number[0], number[1]), err));
    return attn_pattern_random_blocks(s->n_q, s->n_k, number[0], number[1], (uint64_t)number[2],
                                      NULL, pattern, err);
}

static attn_status check_square(const pattern_shape *s, const char *name, attn_error *err) {
    if (s->n_q == s->n_k) return ATTN_OK;
    return attni_fail(err, ATTN_E_SHAPE, "pattern: %s needs n_q = n_k, but they are %lld and %lld",
                      name, (long long)s->n_q, (long long)s->n_k);
}

static attn_status make_longformer(const pattern_shape *s, const int64_t *number,
                                   attn_pattern **pattern, attn_error *err) {
    ATTN_TRY(check_square(s, "longformer", err));
    return attn_pattern_longformer(s->n_q, number[0], number[1], NULL, pattern, err);
}

static attn_status make_bigbird(const pattern_shape *s, const int64_t *number,
                                attn_pattern **pattern, attn_error *err) {
    ATTN_TRY(check_square(s, "bigbird", err));
    ATTN_TRY(check_size(s, most_blocks(s, number[0], number[3]), err));
    return attn_pattern_bigbird(s->n_q, number[0], number[1], number[2], number[3],
                                (uint64_t)number[4], NULL, pattern, err);
}

static const struct {
    const char *name;
    const char *form; /* for messages */
    int least, most;  /* how many numbers; missing ones are 0 */
    maker *make;
} parts[] = {
    {"causal", "causal", 0, 0, make_causal},
    {"window", "window:LEFT,RIGHT", 2, 2, make_window},
    {"prefix", "prefix:N", 1, 1, make_prefix},
    {"global", "global:N", 1, 1, make_global},
    {"strided", "strided:N", 1, 1, make_strided},
    {"random", "random:BLOCK,COUNT[,SEED]", 2, 3, make_random},
    {"longformer", "longformer:SIDE,GLOBAL", 2, 2, make_longformer},
    {"bigbird", "bigbird:BLOCK,WINDOW,GLOBAL,RANDOM[,SEED]", 4, 5, make_bigbird},
};
enum { N_PARTS = sizeof parts / sizeof *parts };

static const char *part_name(const void *arg, size_t i) {
    (void)arg;
    return parts[i].name;
}

static attn_status unknown_part(const parser *p, const char *name) {
    const char *meant = cli_nearest(name, N_PARTS, part_name, NULL);
    if (meant)
        return attni_fail(p->err, ATTN_E_VALUE, "pattern: unknown name '%s'. Did you mean %s?",
                          name, meant);
    return attni_fail(
        p->err, ATTN_E_VALUE,
        "pattern: '%s' at character %d of \"%.60s\", expected causal, window, prefix, "
        "global, strided, random, longformer or bigbird",
        name, (int)(p->at - p->text) + 1, p->text);
}

/* name [ ":" numbers ] */
static attn_status parse_name(parser *p, attn_pattern **pattern) {
    char name[24], digits[120] = "";
    const size_t length = strspn(p->at, "abcdefghijklmnopqrstuvwxyz");
    snprintf(name, sizeof name, "%.*s", (int)attni_min((int64_t)length, 23), p->at);
    size_t which = 0;
    while (which < N_PARTS && strcmp(name, parts[which].name) != 0) which++;
    if (which == N_PARTS) return unknown_part(p, name);
    p->at += length;

    int64_t number[MAX_NUMBERS] = {0}, n = 0;
    if (*p->at == ':') {
        const size_t span = strspn(++p->at, "0123456789,-.eEkKMG");
        snprintf(digits, sizeof digits, "%.*s", (int)attni_min((int64_t)span, 119), p->at);
        n = cli_parse_sizes(digits, number, MAX_NUMBERS);
        p->at += span;
    }
    if (n < parts[which].least || n > parts[which].most)
        return attni_fail(p->err, ATTN_E_VALUE, "pattern: '%s%s%s', expected %s", name,
                          *digits ? ":" : "", digits, parts[which].form);
    return parts[which].make(p->shape, number, pattern, p->err);
}

static attn_status parse_sum(parser *p, attn_pattern **pattern);

static attn_status parse_complement(parser *p, attn_pattern **pattern);

static attn_status parse_group(parser *p, attn_pattern **pattern) {
    p->at++;
    ATTN_TRY(parse_sum(p, pattern));
    if (*p->at == ')') {
        p->at++;
        return ATTN_OK;
    }
    attn_pattern_destroy(*pattern);
    *pattern = NULL;
    return attni_fail(p->err, ATTN_E_VALUE, "pattern: ')' missing at character %d of \"%.60s\"",
                      (int)(p->at - p->text) + 1, p->text);
}

static attn_status parse_part(parser *p, attn_pattern **pattern) {
    if (p->depth == MAX_DEPTH)
        return attni_fail(p->err, ATTN_E_VALUE, "pattern: nested deeper than %d", MAX_DEPTH);
    p->depth++;
    const attn_status status = *p->at == '!'   ? parse_complement(p, pattern)
                               : *p->at == '(' ? parse_group(p, pattern)
                                               : parse_name(p, pattern);
    p->depth--;
    return status;
}

static attn_status parse_complement(parser *p, attn_pattern **pattern) {
    attn_pattern *inner = NULL;
    p->at++;
    ATTN_TRY(parse_part(p, &inner));
    const attn_status status = attn_pattern_complement(inner, NULL, pattern, p->err);
    attn_pattern_destroy(inner);
    return status;
}

typedef attn_status parse_fn(parser *p, attn_pattern **pattern);
typedef attn_status join_fn(const attn_pattern *a, const attn_pattern *b, const attn_alloc *alloc,
                            attn_pattern **pattern, attn_error *err);

/* operand { sign operand }, joined from the left. */
static attn_status parse_joined(parser *p, char sign, parse_fn *operand, join_fn *join,
                                attn_pattern **pattern) {
    attn_pattern *left = NULL;
    ATTN_TRY(operand(p, &left));
    while (*p->at == sign) {
        attn_pattern *right = NULL, *both = NULL;
        p->at++;
        attn_status status = operand(p, &right);
        if (status == ATTN_OK) status = join(left, right, NULL, &both, p->err);
        attn_pattern_destroy(left);
        attn_pattern_destroy(right);
        if (status != ATTN_OK) return status;
        left = both;
    }
    *pattern = left;
    return ATTN_OK;
}

static attn_status parse_product(parser *p, attn_pattern **pattern) {
    return parse_joined(p, '&', parse_part, attn_pattern_intersect, pattern);
}

static attn_status parse_sum(parser *p, attn_pattern **pattern) {
    return parse_joined(p, '+', parse_product, attn_pattern_union, pattern);
}

attn_status pattern_build(const char *text, const pattern_shape *shape, attn_pattern **pattern,
                          attn_error *err) {
    parser p = {.text = text, .at = text, .shape = shape, .err = err};
    *pattern = NULL;
    if (shape->n_q > MAX_ROWS || shape->n_k > MAX_ROWS)
        return attni_fail(err, ATTN_E_VALUE, "pattern: n_q = %lld, n_k = %lld, at most %d each",
                          (long long)shape->n_q, (long long)shape->n_k, MAX_ROWS);
    ATTN_TRY(parse_sum(&p, pattern));
    if (*p.at == 0) return ATTN_OK;
    attn_pattern_destroy(*pattern);
    *pattern = NULL;
    return attni_fail(err, ATTN_E_VALUE, "pattern: unexpected '%c' at character %d of \"%.60s\"",
                      isprint((unsigned char)*p.at) ? *p.at : '?', (int)(p.at - text) + 1, text);
}
