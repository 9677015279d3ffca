/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_grid.c - see pattern_grid.h. */
#include "pattern_grid.h"

const shape shapes[SHAPES] = {{0, 0}, {0, 3}, {3, 0}, {1, 1},   {1, 5},  {5, 1},
                              {4, 4}, {7, 5}, {5, 7}, {13, 13}, {3, 17}, {19, 2}};

grid grid_random(shape s, int percent, random_stream *r) {
    grid g = {.n_q = s.n_q, .n_k = s.n_k};
    for (int64_t t = 0; t < s.n_q * s.n_k; t++)
        g.allow[t] = (uint8_t)(random_below(r, 100) < percent ? 1 + t % 255 : 0);
    return g;
}

attn_pattern *pattern_of(const grid *g) {
    attn_pattern *m = NULL;
    attn_pattern_dense(g->n_q, g->n_k, g->allow, NULL, &m, NULL);
    return m;
}

/* Maximal runs of visible keys and visible pairs, counted from the pairs. */
static void measure(const grid *g, int64_t *count, int64_t *runs) {
    *count = *runs = 0;
    for (int64_t i = 0; i < g->n_q; i++) {
        for (int64_t j = 0; j < g->n_k; j++) {
            const uint8_t *at = &g->allow[i * g->n_k + j];
            *count += *at != 0;
            *runs += *at && (j == 0 || !at[-1]);
        }
    }
}

void check_normalised(const attn_pattern *m) {
    CHECK_INT(m->row_ptr[0], 0);
    for (int64_t i = 0; i < m->n_q; i++) {
        int64_t n, after = -1;
        const attni_run *run = attni_pattern_row(m, i, &n);
        for (int64_t r = 0; r < n; r++) {
            CHECK_MSG(run[r].lo > after && run[r].hi > run[r].lo && run[r].hi <= m->n_k,
                      "row %" PRId64 ": run %" PRId64 "..%" PRId64 " after %" PRId64, i, run[r].lo,
                      run[r].hi, after);
            after = run[r].hi;
        }
    }
}

void check_equals(const attn_pattern *m, const grid *g) {
    CHECK(m != NULL);
    CHECK_INT(attn_pattern_rows(m), g->n_q);
    CHECK_INT(attn_pattern_keys(m), g->n_k);
    for (int64_t i = 0; i < g->n_q; i++) {
        for (int64_t j = 0; j < g->n_k; j++) {
            const int expected = g->allow[i * g->n_k + j] != 0;
            CHECK_MSG(attn_pattern_at(m, i, j) == expected,
                      "pair (%" PRId64 ", %" PRId64 ") of %" PRId64 " x %" PRId64
                      " is %d, expected %d",
                      i, j, g->n_q, g->n_k, attn_pattern_at(m, i, j), expected);
        }
    }
    int64_t count, runs;
    measure(g, &count, &runs);
    CHECK_INT(attn_pattern_count(m), count);
    CHECK_INT(attn_pattern_intervals(m), runs);
    check_normalised(m);
}

bool gave(attn_status status, attn_pattern *const *m, const grid *expected) {
    if (status != ATTN_OK) {
        check_failed(__FILE__, __LINE__, "status is %s", attn_status_name(status));
        return false;
    }
    check_equals(*m, expected);
    attn_pattern_destroy(*m);
    return !check_has_failed();
}

bool same_patterns(const attn_pattern *a, const attn_pattern *b) {
    if (!a || !b || a->n_q != b->n_q || a->n_k != b->n_k || a->count != b->count) return false;
    const size_t rows = (size_t)a->n_q + 1;
    if (memcmp(a->row_ptr, b->row_ptr, rows * sizeof *a->row_ptr) != 0) return false;
    const size_t runs = (size_t)a->row_ptr[a->n_q];
    return runs == 0 || memcmp(a->runs, b->runs, runs * sizeof *a->runs) == 0;
}
