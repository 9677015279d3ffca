/* SPDX-License-Identifier: Apache-2.0 */
/* attend_compare.c - two sentences side by side: which words belong together, how their maps
 * differ, and where the layers move their tokens on shared axes. Tests: tests/cli/test_attend.py */
#include "attend/attend.h"
#include "lab/steps/principal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------ alignment */

/* How many words must be changed, added or left out between the first i and the first j words. */
typedef struct distances {
    const attend_view *view;
    int64_t width;
    int32_t *cost; /* (n + 1, width) */
} distances;

static int32_t *cost_at(const distances *d, int64_t i, int64_t j) {
    return &d->cost[i * d->width + j];
}

static int32_t changed(const distances *d, int64_t i, int64_t j) {
    return *cost_at(d, i - 1, j - 1) +
           (strcmp(d->view[0].word[i - 1], d->view[1].word[j - 1]) != 0);
}

static int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }

static void fill(const distances *d) {
    for (int64_t i = 0; i <= d->view[0].look->n; i++)
        for (int64_t j = 0; j < d->width; j++)
            *cost_at(d, i, j) =
                i == 0 || j == 0 ? (int32_t)(i + j)
                                 : least(changed(d, i, j),
                                         1 + least(*cost_at(d, i - 1, j), *cost_at(d, i, j - 1)));
}

/* From the last words to the first, then turned round. */
static int64_t walk_back(const distances *d, attend_pair *pairs) {
    int64_t n = 0, i = d->view[0].look->n, j = d->view[1].look->n;
    while (i > 0 || j > 0) {
        const int32_t cost = *cost_at(d, i, j);
        if (i > 0 && j > 0 && cost == changed(d, i, j))
            pairs[n++] = (attend_pair){{--i, --j}};
        else if (i > 0 && cost == 1 + *cost_at(d, i - 1, j))
            pairs[n++] = (attend_pair){{--i, -1}};
        else
            pairs[n++] = (attend_pair){{-1, --j}};
    }
    for (int64_t k = 0; k < n / 2; k++) {
        const attend_pair other = pairs[k];
        pairs[k] = pairs[n - 1 - k];
        pairs[n - 1 - k] = other;
    }
    return n;
}

int64_t attend_align(const attend_view view[2], attend_pair **pairs) {
    const int64_t n_a = view[0].look->n, n_b = view[1].look->n;
    distances d = {.view = view, .width = n_b + 1};
    d.cost = calloc((size_t)((n_a + 1) * d.width), sizeof *d.cost);
    *pairs = calloc((size_t)(n_a + n_b), sizeof **pairs);
    int64_t n = -1;
    if (d.cost && *pairs) {
        fill(&d);
        n = walk_back(&d, *pairs);
    } else {
        free(*pairs);
        *pairs = NULL;
    }
    free(d.cost);
    return n;
}

/* -------------------------------------------------------------------------------------- numbers */

double attend_difference(const attend_view view[2], const attend_pair *query,
                         const attend_pair *key) {
    double cell[2];
    bool seen = false;
    for (int s = 0; s < 2; s++) {
        const attni_look *look = view[s].look;
        const int64_t at = query->of[s] * look->n + key->of[s];
        if (query->of[s] < 0 || key->of[s] < 0) return NAN;
        cell[s] = (double)attend_matrix(&view[s])[at];
        seen = seen || view[s].aggregate == ATTNI_SHOW_ROLLOUT || look->visible[at];
    }
    return seen ? cell[0] - cell[1] : NAN;
}

float *attend_shift(attend_view *view, int n_views) {
    const size_t d = (size_t)view->look->d;
    size_t rows = 0;
    for (int s = 0; s < n_views; s++) rows += 2 * (size_t)view[s].look->n;
    float *states = malloc(rows * d * sizeof *states), *points = malloc(2 * rows * sizeof *points);
    float *to = states;
    for (int s = 0; s < n_views && states; s++) {
        const size_t cells = 2 * (size_t)view[s].look->n * d;
        memcpy(to, view[s].look->states, cells * sizeof *to);
        to += cells;
    }
    if (!states || !points ||
        lab_principal((int64_t)rows, (int64_t)d, states, points, NULL) != ATTN_OK) {
        free(points);
        points = NULL;
    }
    free(states);
    view[0].points = points;
    if (points && n_views > 1) view[1].points = points + 4 * view[0].look->n;
    return points;
}
