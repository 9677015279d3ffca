/* SPDX-License-Identifier: Apache-2.0 */
/* figure_shift.c - what a trained model does to "apple": where it enters, and where it leaves the
 * layers next to each of twelve cues for the fruit and twelve for the company. */
#include "book/figure.h"
#include "core/base.h"
#include "learning/trainer.h"
#include "models/look.h"
#include "plot/diagram.h"
#include "steps/principal.h"

#include <math.h>
#include <stdlib.h>

enum { CUES = 12, N = 9, APPLE = 1, CUE = 4, D = 32, STEPS = 400, ROWS = 1 + 2 * CUES };

static const char *const cue[2 * CUES] = {
    "water",  "tree", "grass",   "leaf",   "mud",    "forest", "garden",   "rain",
    "root",   "seed", "fish",    "meadow", "money",  "loan",   "office",   "stock",
    "market", "code", "manager", "price",  "screen", "deal",   "engineer", "wage"};
static const char *const heading[] = {"x", "y"};

static attn_status train(lab_trainer **trainer, attn_error *err) {
    lab_trainer_options options = lab_trainer_defaults(lab_task_named("sense"));
    options.seed = 1;
    options.threads = 1;
    options.d = D;
    ATTN_TRY(lab_trainer_create(&options, trainer, err));
    for (int i = 0; i < STEPS; i++) {
        lab_training_step step;
        ATTN_TRY(lab_trainer_step(*trainer, &step, err));
    }
    return ATTN_OK;
}

/* "the apple near the CUE and the door .": row 0 of states is what enters the layers at "apple",
 * row 1 + c what leaves them. */
static attn_status read_sentence(const lab_settings *settings, const attni_model *model, size_t c,
                                 float *states, attn_error *err) {
    const char *words[N] = {"the", "apple", "near", "the", cue[c], "and", "the", "door", "."};
    int32_t tokens[N];
    attni_look look;
    for (int i = 0; i < N; i++) tokens[i] = attni_model_word(model, words[i], strlen(words[i]));
    const attni_look_input in = attni_look_input_of(model, tokens, N);
    ATTN_TRY(attni_look_at(settings->ctx, model, &in, &look, err));
    memcpy(states, look.states + APPLE * D, D * sizeof *states);
    memcpy(states + (1 + c) * D, look.states + (N + APPLE) * D, D * sizeof *states);
    attni_look_free(&look);
    return ATTN_OK;
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    float states[ROWS * D], points[ROWS * 2];
    lab_trainer *trainer = NULL;
    lab_table *table = lab_table_add(data, "points", ROWS, 2, heading);
    if (!table) return attni_fail(err, ATTN_E_MEMORY, "shift: no memory");
    attn_status status = train(&trainer, err);
    for (size_t c = 0; c < 2 * CUES && status == ATTN_OK; c++)
        status = read_sentence(settings, lab_trainer_model(trainer), c, states, err);
    if (status == ATTN_OK) status = lab_principal(ROWS, D, states, points, err);
    for (size_t i = 0; i < ROWS * 2 && status == ATTN_OK; i++) table->cell[i] = (double)points[i];
    lab_trainer_destroy(trainer);
    return status;
}

/* ---- drawing ---- */

typedef struct place {
    double x, y;
} place;

/* From the plane of the table to the page: the same scale on both axes. */
typedef struct view {
    double scale, left, top;
} view;

static view view_of(const lab_table *table, plot_rect area) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t c = 0; c < 2; c++) {
            low[c] = fmin(low[c], *lab_cell(table, i, c));
            high[c] = fmax(high[c], *lab_cell(table, i, c));
        }
    }
    const double scale = fmin(area.width / (high[0] - low[0]), area.height / (high[1] - low[1]));
    return (view){scale, area.x + area.width / 2 - scale * (low[0] + high[0]) / 2,
                  area.y + area.height / 2 + scale * (low[1] + high[1]) / 2};
}

static place place_of(const lab_table *table, const view *v, size_t i) {
    return (place){v->left + v->scale * *lab_cell(table, i, 0),
                   v->top - v->scale * *lab_cell(table, i, 1)};
}

/* The box around the points of one meaning. */
static plot_rect box_of(const lab_table *table, const view *v, size_t meaning) {
    place low = {INFINITY, INFINITY}, high = {-INFINITY, -INFINITY};
    for (size_t c = 0; c < CUES; c++) {
        const place p = place_of(table, v, 1 + meaning * CUES + c);
        low = (place){fmin(low.x, p.x), fmin(low.y, p.y)};
        high = (place){fmax(high.x, p.x), fmax(high.y, p.y)};
    }
    const double air = 22;
    return (plot_rect){low.x - air, low.y - air, high.x - low.x + 2 * air,
                       high.y - low.y + 2 * air};
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    static const plot_color color[2] = {PLOT_GREEN, PLOT_BLUE};
    static const char *const region[2] = {"fruit", "technology"};
    static const char *const beside[2] = {"near the tree", "near the stock"};
    static const size_t named[2] = {1 + 1, 1 + CUES + 3}; /* rows of tree and stock */
    const lab_table *table = lab_table_named(data, "points");
    const view v = view_of(table, plot_inset(area, 56, 34, 56, 58));
    const place start = place_of(table, &v, 0);
    for (size_t m = 0; m < 2; m++) {
        const plot_rect box = box_of(table, &v, m);
        const plot_style bold = {.size = 11, .bold = true, .align = PLOT_CENTER, .color = color[m]};
        const plot_style faint = {.size = 9, .align = PLOT_CENTER, .color = PLOT_FAINT};
        const double x = box.x + box.width / 2, under = box.y + box.height;
        const place end = place_of(table, &v, named[m]);
        plot_region(canvas, box, color[m]);
        for (size_t c = 0; c < CUES; c++) {
            const place p = place_of(table, &v, 1 + m * CUES + c);
            plot_dot(canvas, p.x, p.y, 2.2, color[m]);
        }
        plot_arrow(canvas, start.x, start.y, end.x, end.y, color[m], 1.4);
        plot_word(canvas, x, under + 9, &bold, region[m]);
        plot_word(canvas, x, under + 23, &faint, beside[m]);
    }
    const plot_style name = {.size = 11, .bold = true, .align = PLOT_CENTER};
    plot_dot(canvas, start.x, start.y, 4, PLOT_INK);
    plot_word(canvas, start.x, start.y - 13, &name, "apple");
}

const lab_book_figure lab_book_shift = {"shift", 250, measure, draw};
