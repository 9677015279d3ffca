/* SPDX-License-Identifier: Apache-2.0 */
/* e9_it.c - E9: where attention from "it" goes. Models learn `whois` here; one is asked about two
 * sentences that differ in one adjective, head by head, and what hiding a phrase from "it" changes.
 * Touches its tables. Tests: tests/lab/test_beyond_learning.c */
#include "experiment.h"
#include "learning/training.h"
#include "models/look.h"
#include "panels.h"
#include "progress.h"
#include "range.h"
#include "series.h"

#include <stdio.h>

enum {
    N = 13, /* tokens of a sentence */
    IT = 9,
    PHRASE = 3, /* tokens of "the COLOUR noun" */
    LAYERS = 2,
    HEADS = 2,
    ROWS = LAYERS * HEADS + 1, /* of a heatmap: the heads, then rollout */
    SENTENCES = 2,
    SEEDS = 3, /* the first one's model, the one of `attn train whois`, is looked into */
    CHUNK = 50 /* steps between two words about progress */
};

static const char *const words[SENTENCES][N] = {
    {"The", "red", "cat", "sat", "on", "the", "blue", "mat", "because", "it", "was", "tired", "."},
    {"The", "red", "cat", "sat", "on", "the", "blue", "mat", "because", "it", "was", "dirty", "."}};
static const char *const both_words[N] = {"The", "red",       "cat", "sat",     "on",
                                          "the", "blue",      "mat", "because", "it",
                                          "was", "adjective", "."};
static const int phrase_at[SENTENCES] = {0, 5}; /* of what "it" is */
static const char *const sentence_names[SENTENCES] = {"tired", "dirty"};
static const char *const row_names[ROWS] = {"layer 1, head 1", "layer 1, head 2", "layer 2, head 1",
                                            "layer 2, head 2", "rollout"};

/* Probabilities of the right noun and the right colour, in percent, of each sentence. */
static const char *const answer_columns[] = {"tired: cat", "tired: red", "dirty: mat",
                                             "dirty: blue"};
static const char *const answer_rows[] = {"nothing", "its phrase", "the rival"};
enum { NOTHING, ITS_PHRASE, THE_RIVAL, CONDITIONS };

/* In percent of held-out sentences, but for the seed. Selectivity: more weight on the right phrase
 * than on the other, weights averaged over the heads. */
static const char *const seed_columns[] = {"seed",          "right",          "selectivity 1",
                                           "selectivity 2", "without phrase", "without rival"};
enum { SEED, RIGHT, SELECTIVITY_1, SELECTIVITY_2, WITHOUT_PHRASE, WITHOUT_RIVAL, SEED_COLUMNS };

/* ---- measure ---- */

typedef struct course {
    const lab_settings *settings;
    size_t run;
} course;

static bool tell(void *arg, const lab_training *training, bool evaluated) {
    const course *c = arg;
    const size_t most = (size_t)training->options.steps, step = (size_t)training->step.step;
    (void)evaluated;
    if (step % CHUNK == 0) lab_progress(c->settings, c->run * most + step, SEEDS * most);
    return true;
}

/* As `attn train whois --seed N` does, to the bit. */
static attn_status train(course *c, lab_training *training, attn_error *err) {
    *training = (lab_training){.options = lab_trainer_defaults(lab_task_named("whois")),
                               .goal = LAB_TRAINING_GOAL,
                               .every = LAB_TRAINING_EVERY,
                               .watch = tell,
                               .arg = c};
    training->options.seed = LAB_TASK_SEED + c->run;
    training->options.threads = c->settings->threads;
    ATTN_TRY(lab_training_run(training, err));
    lab_progress(c->settings, c->run + 1, SEEDS);
    return ATTN_OK;
}

static void put_seed(const lab_training *training, double *row) {
    const lab_evaluation *found = &training->now;
    row[SEED] = (double)training->options.seed;
    row[RIGHT] = 100 * found->accuracy;
    row[SELECTIVITY_1] = 100 * found->head_mean[0];
    row[SELECTIVITY_2] = 100 * found->head_mean[1];
    row[WITHOUT_PHRASE] = 100 * found->without_right;
    row[WITHOUT_RIVAL] = 100 * found->without_rival;
}

static void tokens_of(const attni_model *model, size_t sentence, int32_t *tokens) {
    for (size_t i = 0; i < N; i++) {
        const char *word = words[sentence][i];
        tokens[i] = attni_model_word(model, word, strlen(word));
    }
}

/* The row of "it" in every head, and in the rollout through both layers. */
static void put_rows(const attni_look *look, lab_table *table) {
    for (size_t j = 0; j < N; j++) {
        for (size_t r = 0; r + 1 < ROWS; r++)
            *lab_cell(table, r, j) = (double)look->weights[(r * N + IT) * N + j];
        *lab_cell(table, ROWS - 1, j) = (double)look->rollout[IT * N + j];
    }
    table->label = row_names;
}

/* A look at the sentence, in which "it" may not attend to the phrase at `hidden` in any layer (-1:
 * to everything). */
static attn_status look_at(const lab_settings *settings, const attni_model *model, size_t sentence,
                           int hidden, attni_look *look, attn_error *err) {
    int32_t tokens[N];
    uint8_t visible[N * N];
    tokens_of(model, sentence, tokens);
    attni_look_input in = attni_look_input_of(model, tokens, N);
    memset(visible, 1, sizeof visible);
    if (hidden >= 0) {
        memset(visible + IT * N + hidden, 0, PHRASE);
        in.visible = visible;
    }
    return attni_look_at(settings->ctx, model, &in, look, err);
}

static attn_status measure_attention(const lab_settings *settings, const attni_model *model,
                                     size_t sentence, lab_table *table, attn_error *err) {
    attni_look look;
    ATTN_TRY(look_at(settings, model, sentence, -1, &look, err));
    put_rows(&look, table);
    attni_look_free(&look);
    return ATTN_OK;
}

/* Answers at "it": noun and colour of the right phrase, in percent, into cells (2). */
static attn_status answer(const lab_settings *settings, const attni_model *model, size_t sentence,
                          int hidden, double *cells, attn_error *err) {
    static const int word_at[] = {2, 1}; /* noun, colour */
    int32_t tokens[N];
    attni_look look;
    ATTN_TRY(look_at(settings, model, sentence, hidden, &look, err));
    tokens_of(model, sentence, tokens);
    for (int slot = 0; slot < 2; slot++)
        cells[slot] = 100 * attni_probability(attni_look_logits(&look, IT, slot), look.n_words,
                                              tokens[phrase_at[sentence] + word_at[slot]]);
    attni_look_free(&look);
    return ATTN_OK;
}

static attn_status look_into(const lab_settings *settings, const attni_model *model, lab_data *data,
                             attn_error *err) {
    lab_table *seen[SENTENCES];
    for (size_t s = 0; s < SENTENCES; s++)
        seen[s] = lab_table_add(data, sentence_names[s], ROWS, N, words[s]);
    lab_table *difference = lab_table_add(data, "difference", ROWS, N, both_words);
    lab_table *answers = lab_table_add(data, "answers", CONDITIONS, 2 * SENTENCES, answer_columns);
    if (!seen[0] || !seen[1] || !difference || !answers)
        return attni_fail(err, ATTN_E_MEMORY, "E9: no memory for its tables");
    for (size_t s = 0; s < SENTENCES; s++) {
        const int hidden[CONDITIONS] = {-1, phrase_at[s], phrase_at[1 - s]};
        ATTN_TRY(measure_attention(settings, model, s, seen[s], err));
        for (size_t c = 0; c < CONDITIONS; c++)
            ATTN_TRY(answer(settings, model, s, hidden[c], lab_cell(answers, c, 2 * s), err));
    }
    for (size_t i = 0; i < ROWS * N; i++) difference->cell[i] = seen[0]->cell[i] - seen[1]->cell[i];
    difference->label = row_names;
    answers->label = answer_rows;
    return ATTN_OK;
}

static attn_status measure(const lab_settings *settings, lab_data *data, attn_error *err) {
    lab_table *seeds = lab_table_add(data, "seeds", SEEDS, SEED_COLUMNS, seed_columns);
    if (!seeds) return attni_fail(err, ATTN_E_MEMORY, "E9: no memory for its tables");
    attn_status status = ATTN_OK;
    for (size_t run = 0; run < SEEDS && status == ATTN_OK; run++) {
        course c = {settings, run};
        lab_training training;
        status = train(&c, &training, err);
        if (status == ATTN_OK) put_seed(&training, lab_cell(seeds, run, 0));
        if (status == ATTN_OK && run == 0)
            status = look_into(settings, lab_trainer_model(training.trainer), data, err);
        lab_trainer_destroy(training.trainer);
    }
    return status;
}

/* ---- draw ---- */

static void draw_heads(const lab_data *data, const char *name, const plot_heatmap *look,
                       plot_canvas *canvas, plot_rect area) {
    const lab_table *table = lab_table_named(data, name);
    plot_heatmap map = *look;
    map.rows = table->rows;
    map.columns = table->columns;
    map.cell = table->cell;
    map.row_name = table->label;
    map.column_name = table->heading;
    plot_heatmap_draw(canvas, area, &map);
}

static const double least_number = 0.05; /* smaller weights are shown by their colour only */

/* A sentence, and under it what the model answers, as it is and with the phrase hidden. */
static void draw_sentence(const lab_data *data, size_t sentence, plot_canvas *canvas,
                          plot_rect area) {
    const lab_table *answers = lab_table_named(data, "answers");
    const char *const *word = words[sentence] + phrase_at[sentence];
    char title[80], note[160];
    snprintf(title, sizeof title, "%s  From “it” in “... because it was %s.”",
             sentence == 0 ? "a" : "b", sentence_names[sentence]);
    snprintf(note, sizeof note,
             "answer: %s %.0f %%, %s %.0f %%; with its phrase masked: %s %.0f %%, %s %.0f %%",
             word[2], *lab_cell(answers, NOTHING, 2 * sentence), word[1],
             *lab_cell(answers, NOTHING, 2 * sentence + 1), word[2],
             *lab_cell(answers, ITS_PHRASE, 2 * sentence), word[1],
             *lab_cell(answers, ITS_PHRASE, 2 * sentence + 1));
    const plot_heatmap look = {.title = title,
                               .max = 1,
                               .number = "%.2f",
                               .number_from = least_number,
                               .bar_label = "weight",
                               .note = note};
    draw_heads(data, sentence_names[sentence], &look, canvas, area);
}

/* The same measures of three models. */
static void draw_seeds(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    static const char *const groups[] = {"right answers", "layer 1 prefers the phrase",
                                         "layer 2 prefers the phrase", "right, phrase masked",
                                         "right, rival masked"};
    static const char *const names[SEEDS] = {"seed 42", "seed 43", "seed 44"};
    static const plot_color colors[SEEDS] = {PLOT_BLUE, PLOT_GREEN, PLOT_PURPLE};
    const lab_table *table = lab_table_named(data, "seeds");
    plot_bar_series series[SEEDS];
    for (size_t i = 0; i < SEEDS; i++)
        series[i] = (plot_bar_series){
            .name = names[i], .color = colors[i], .value = lab_cell(table, i, RIGHT)};
    const plot_bars bars = {.title = "d  Three models, 2048 held-out sentences each",
                            .group = groups,
                            .n_groups = SEED_COLUMNS - RIGHT,
                            .value = {.label = "%", .min = 0, .max = 100},
                            .series = series,
                            .n_series = SEEDS,
                            .horizontal = true};
    plot_bars_draw(canvas, area, &bars);
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    const plot_heatmap difference = {.title = "c  Difference: tired minus dirty",
                                     .map = PLOT_SIGNED,
                                     .min = -1,
                                     .max = 1,
                                     .number = "%.2f",
                                     .number_from = least_number,
                                     .bar_label = "difference"};
    draw_sentence(data, 0, canvas, lab_panel(area, 2, 2, 0));
    draw_sentence(data, 1, canvas, lab_panel(area, 2, 2, 1));
    draw_heads(data, "difference", &difference, canvas, lab_panel(area, 2, 2, 2));
    draw_seeds(data, canvas, lab_panel(area, 2, 2, 3));
}

/* ---- judge ---- */

static double percent_of_phrase(const lab_table *table, size_t row, int at) {
    double sum = 0;
    for (size_t i = 0; i < PHRASE; i++) sum += *lab_cell(table, row, (size_t)at + i);
    return 100 * sum;
}

/* Of the mean of the heads of layer 2. */
static double last_layer(const lab_table *table, int at) {
    return (percent_of_phrase(table, ROWS - 3, at) + percent_of_phrase(table, ROWS - 2, at)) / 2;
}

static void judge(const lab_data *data, lab_finding *finding) {
    const lab_table *tired = lab_table_named(data, "tired"),
                    *dirty = lab_table_named(data, "dirty");
    const lab_table *answers = lab_table_named(data, "answers");
    const lab_table *seeds = lab_table_named(data, "seeds");
    const lab_range looks = lab_range_of(seeds, SELECTIVITY_2);
    const lab_range hidden = lab_range_of(seeds, WITHOUT_PHRASE);
    finding->verdict = looks.low > 90 && hidden.high < 25 ? LAB_HOLDS : LAB_MEASURED;
    snprintf(finding->headline, LAB_TEXT,
             "One adjective moves attention from \"it\": the heads of layer 2 give \"The red cat\" "
             "%.0f %% of the weight before \"tired\" and %.0f %% before \"dirty\"; \"the blue "
             "mat\" gets %.0f and %.0f %%. In %d models the last layer prefers the right phrase in "
             "%s %% of held-out sentences.",
             last_layer(tired, 0), last_layer(dirty, 0), last_layer(tired, 5), last_layer(dirty, 5),
             SEEDS, lab_range_said(looks).text);
    snprintf(
        finding->text, LAB_TEXT,
        "Rows are heads, columns are the keys of \"it\"; weights below 0.05 carry no number. "
        "Layer 1 does not choose (it prefers the right phrase in %s %%), layer 2 does. The "
        "answer depends on this: with the phrase masked, \"cat\" falls from %.0f to %.0f %%, "
        "\"red\" from %.0f to %.0f %%, and only %s %% of held-out sentences are still right (of "
        "%s %%). Rollout, which mixes layers and residuals, blurs this: the phrases get %.0f "
        "and %.0f %% (tired), %.0f and %.0f %% (dirty).",
        lab_range_said(lab_range_of(seeds, SELECTIVITY_1)).text, *lab_cell(answers, NOTHING, 0),
        *lab_cell(answers, ITS_PHRASE, 0), *lab_cell(answers, NOTHING, 1),
        *lab_cell(answers, ITS_PHRASE, 1), lab_range_said(hidden).text,
        lab_range_said(lab_range_of(seeds, RIGHT)).text, percent_of_phrase(tired, ROWS - 1, 0),
        percent_of_phrase(tired, ROWS - 1, 5), percent_of_phrase(dirty, ROWS - 1, 0),
        percent_of_phrase(dirty, ROWS - 1, 5));
}

const lab_experiment lab_e9 = {
    .id = "E9",
    .title = "Where attention from \"it\" goes",
    .question = "Does attention find what \"it\" means, and do the answers depend on it?",
    .method =
        "Transformers of 2 layers, 2 heads, width 32 learn whois as attn train does, until 99.9 % "
        "of the held-out sentences are right; training seeds 42 to 44. The model of seed 42 reads "
        "\"The red cat sat on the blue mat because it was tired.\" and the same with dirty. "
        "Masked: "
        "\"it\" cannot attend to the phrase in any layer. Rollout: (A + I)/2 of each layer, "
        "multiplied.",
    .command = "attn report --only E9 --data",
    .panels = 4,
    .seconds = 7,
    .measure = measure,
    .draw = draw,
    .judge = judge,
};
