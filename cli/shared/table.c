/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - aligned columns of numbers, with "..." where there are too many.
 * Tests: tests/cli/test_cli.py, tests/cli/test_run.py */
#include "shared/table.h"

#include "core/half.h"
#include "shared/out.h"

enum {
    MOST = 16, /* rows and columns that are shown in full ... */
    EDGE = 3   /* ... and what is left of more, at each end */
};

double table_at(const attn_tensor *t, int64_t batch, int64_t head, int64_t row, int64_t column) {
    const int64_t at =
        batch * t->stride[0] + head * t->stride[1] + row * t->stride[2] + column * t->stride[3];
    switch (t->dtype) {
    case ATTN_F32: return (double)((const float *)t->data)[at];
    case ATTN_F64: return ((const double *)t->data)[at];
    case ATTN_F16: return (double)attni_f16_to_f32(((const uint16_t *)t->data)[at]);
    case ATTN_BF16: return (double)attni_bf16_to_f32(((const uint16_t *)t->data)[at]);
    case ATTN_BOOL: return ((const uint8_t *)t->data)[at];
    case ATTN_I64: return (double)((const int64_t *)t->data)[at];
    }
    return NAN;
}

static double cell(const table *t, int64_t row, int64_t column) {
    return table_at(t->tensor, t->batch, t->head, row, column);
}

/* The next index to show after i of n; jumps over the middle of a long range. */
static int64_t next_shown(int64_t i, int64_t n) {
    return n > MOST && i == EDGE - 1 ? n - EDGE : i + 1;
}

static bool is_cut(int64_t i, int64_t n) { return n > MOST && i == EDGE - 1; }

/* Fixed point while it stays readable. */
static bool needs_exponent(const table *t) {
    const int64_t rows = t->tensor->shape[2], columns = t->tensor->shape[3];
    for (int64_t i = 0; i < rows; i = next_shown(i, rows))
        for (int64_t j = 0; j < columns; j = next_shown(j, columns)) {
            const double x = fabs(cell(t, i, j));
            if (isfinite(x) && x >= 1e5) return true;
        }
    return false;
}

typedef struct layout {
    int width;
    int label; /* width of the row labels */
    bool exponent;
} layout;

static void print_number(const table *t, const layout *l, double x) {
    /* 256-colour greys from dim to white: the eye sees where a row looks. */
    if (t->shade && *out_begin(stdout, OUT_BOLD))
        printf("\033[38;5;%dm", 240 + (int)(15 * (x < 0 ? 0 : x > 1 ? 1 : sqrt(x))));
    if (isinf(x) && x < 0)
        printf("%*s", l->width, "-inf");
    else if (t->short_numbers)
        printf("%*.4g", l->width, x);
    else if (l->exponent)
        printf("%*.5e", l->width, x);
    else
        printf("%*.6f", l->width, x);
    if (t->shade) printf("%s", out_begin(stdout, OUT_PLAIN));
}

static void print_head(const table *t, const layout *l) {
    char label[40];
    const int64_t columns = t->tensor->shape[3];
    if (!t->column_name) return;
    printf("%s  %*s", out_begin(stdout, OUT_DIM), l->label, "");
    for (int64_t j = 0; j < columns; j = next_shown(j, columns)) {
        snprintf(label, sizeof label, "%s %lld", t->column_name, (long long)j);
        printf("%*s%s", l->width, label, is_cut(j, columns) ? "  ..." : "");
    }
    if (t->row_sums) printf("%*s", l->width, "sum");
    printf("%s\n", out_begin(stdout, OUT_PLAIN));
}

static void print_row(const table *t, const layout *l, int64_t row) {
    char label[40] = "";
    const int64_t columns = t->tensor->shape[3];
    double sum = 0;
    if (t->row_name) snprintf(label, sizeof label, "%s %lld", t->row_name, (long long)row);
    printf("  %s%-*s%s", out_begin(stdout, OUT_DIM), l->label, label, out_begin(stdout, OUT_PLAIN));
    for (int64_t j = 0; j < columns; j = next_shown(j, columns)) {
        print_number(t, l, cell(t, row, j));
        if (is_cut(j, columns)) printf("  ...");
    }
    for (int64_t j = 0; j < columns; j++) sum += cell(t, row, j);
    if (t->row_sums) printf("%*.6f", l->width, sum);
    printf("\n");
}

void table_print(const table *t) {
    const int64_t rows = t->tensor->shape[2];
    layout l = {.width = t->short_numbers ? 5 : 12, .exponent = needs_exponent(t)};
    if (l.exponent) l.width = 14;
    if (t->row_name) l.label = snprintf(NULL, 0, "%s %lld", t->row_name, (long long)rows - 1);
    print_head(t, &l);
    for (int64_t i = 0; i < rows; i = next_shown(i, rows)) {
        print_row(t, &l, i);
        if (is_cut(i, rows)) printf("  %*s\n", l.label + l.width, "...");
    }
    if (rows == 0 || t->tensor->shape[3] == 0) printf("  (empty)\n");
}
