/* SPDX-License-Identifier: Apache-2.0 */
/* figure_masks.c - the same scores under four masks: none, causal, padding, both. */
#include "book/figure.h"
#include "steps/attend.h"
#include "steps/stream.h"

enum { N = 6, D_K = 8, CELLS = N * N, MASKS = 4, REAL = 4 }; /* REAL keys are not padding */

static const char *const name[MASKS] = {"none", "causal", "padding", "both"};

static bool is_visible(size_t mask, size_t i, size_t j) {
    const bool causal = mask % 2 == 1, padding = mask >= 2;
    return !(causal && j > i) && !(padding && j >= REAL);
}

/* weights (N, N) where the pairs of this mask are visible. */
static attn_status weigh(attn_ctx *ctx, const lab_head *head, size_t mask, double *weights,
                         attn_error *err) {
    uint8_t allow[CELLS];
    attn_pattern *pattern = NULL;
    attn_args args;
    attn_inspection what;
    for (size_t c = 0; c < CELLS; c++) allow[c] = is_visible(mask, c / N, c % N);
    attn_status status = attn_pattern_dense(N, N, allow, NULL, &pattern, err);
    lab_head_args(head, &args);
    args.pattern = pattern;
    attn_inspection_init(&what);
    what.weights = attn_tensor_bhsd(weights, ATTN_F64, 1, 1, N, N);
    if (status == ATTN_OK) status = attn_inspect(ctx, &args, &what, err);
    attn_pattern_destroy(pattern);
    return status;
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    double q[N * D_K], k[N * D_K], weights[CELLS];
    const lab_head head = {.n_q = N, .n_k = N, .d_k = D_K, .q = q, .k = k};
    lab_stream stream;
    attn_status status = ATTN_OK;
    lab_stream_seed(&stream, settings->seed);
    lab_stream_normals(&stream, N * D_K, 1, q);
    lab_stream_normals(&stream, N * D_K, 1, k);
    for (size_t mask = 0; mask < MASKS && status == ATTN_OK; mask++) {
        status = weigh(settings->ctx, &head, mask, weights, err);
        if (status == ATTN_OK) status = lab_book_keep(data, name[mask], N, N, weights, err);
    }
    return status;
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    static const char *const title[MASKS] = {"No mask", "Causal", "Padding: the last two keys",
                                             "Causal and padding"};
    static const char *const full[] = {"The", "cat", "sat", "on", "the", "mat"};
    static const char *const padded[] = {"The", "cat", "sat", "on", "–", "–"};
    for (size_t mask = 0; mask < MASKS; mask++) {
        unsigned char hidden[CELLS];
        for (size_t c = 0; c < CELLS; c++) hidden[c] = !is_visible(mask, c / N, c % N);
        const char *const *words = mask >= 2 ? padded : full;
        plot_heatmap_draw(canvas, plot_grid(area, 2, 2, mask, 14),
                          &(plot_heatmap){.title = title[mask],
                                          .rows = N,
                                          .columns = N,
                                          .cell = lab_table_named(data, name[mask])->cell,
                                          .hidden = hidden,
                                          .row_name = words,
                                          .column_name = words,
                                          .map = PLOT_CIVIDIS,
                                          .max = 1,
                                          .number = "%.2f"});
    }
}

const lab_book_figure lab_book_masks = {"masks", 352, measure, draw};
