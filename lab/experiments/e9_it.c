/* SPDX-License-Identifier: Apache-2.0 */
/* e9_it.c - E9: where attention from "it" goes. Models learn `whois` here; one is asked about two
 * sentences that differ in one adjective, head by head, and what hiding a phrase from "it" changes.
 * Touches its tables. Tests: tests/lab/test_beyond_learning.c */
#include "experiment.h"
#include "learning/trainer.h"
#include "models/look.h"
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
    SEEDS = 3, /* the first one's model is looked into */
    STEPS = 600,
    CHUNK = 50, /* steps between two words about progress */
    EXAMPLES = 1024
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
 * than on the other, mean of the heads. */
static const char *const seed_columns[] = {"seed",          "right",          "selectivity 1",
                                           "selectivity 2", "without phrase", "without rival"};
enum { SEED, RIGHT, SELECTIVITY_1, SELECTIVITY_2, WITHOUT_PHRASE, WITHOUT_RIVAL, SEED_COLUMNS };

/* ---- measure ---- */

/* The defaults of the task at twice the rate, which falls as if for twice the steps. */
static attn_status train(const lab_settings *settings, size_t run, lab_trainer **trainer,
                         attn_error *err) {
    lab_trainer_options options = lab_trainer_defaults(lab_task_named("whois"));
    options.rate = 0.004;
    options.warmup = 20;
    options.steps = 2 * STEPS;
    options.seed = run + 1;
    options.threads = settings->threads;
    ATTN_TRY(lab_trainer_create(&options, trainer, err));
    for (size_t i = 0; i < STEPS; i++) {
        lab_training_step step;
        ATTN_TRY(lab_trainer_step(*trainer, &step, err));
        if ((i + 1) % CHUNK == 0) lab_progress(settings, run * STEPS + i + 1, SEEDS * STEPS);
    }
    return ATTN_OK;
}

static attn_status measure_seed(lab_trainer *trainer, double *row, attn_error *err) {
    const lab_evaluation_wish wish = {.examples = EXAMPLES, .knock_out = true};
    lab_evaluation found;
    ATTN_TRY(lab_trainer_evaluate(trainer, &wish, &found, err));
    row[SEED] = (double)lab_trainer_model(trainer)->seed;
    row[RIGHT] = 100 * found.accuracy;
    row[SELECTIVITY_1] = 100 * found.head_mean[0];
    row[SELECTIVITY_2] = 100 * found.head_mean[1];
    row[WITHOUT_PHRASE] = 100 * found.without_right;
    row[WITHOUT_RIVAL] = 100 * found.without_rival;
    return ATTN_OK;
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
        lab_trainer *trainer = NULL;
        status = train(settings, run, &trainer, err);
        if (status == ATTN_OK) status = measure_seed(trainer, lab_cell(seeds, run, 0), err);
        if (status == ATTN_OK && run == 0)
            status = look_into(settings, lab_trainer_model(trainer), data, err);
        lab_trainer_destroy(trainer);
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

/* A sentence, and under it what the model answers, as it is and with the phrase hidden. */
static void draw_sentence(const lab_data *data, size_t sentence, plot_canvas *canvas,
                          plot_rect area) {
    const lab_table *answers = lab_table_named(data, "answers");
    const char *const *word = words[sentence] + phrase_at[sentence];
    char title[80], note[160];
    snprintf(title, sizeof title, "From “it” in “... because it was %s.”",
             sentence_names[sentence]);
    snprintf(note, sizeof note,
             "answer: %s %.0f %%, %s %.0f %%; its phrase hidden: %s %.0f %%, %s %.0f %%", word[2],
             *lab_cell(answers, NOTHING, 2 * sentence), word[1],
             *lab_cell(answers, NOTHING, 2 * sentence + 1), word[2],
             *lab_cell(answers, ITS_PHRASE, 2 * sentence), word[1],
             *lab_cell(answers, ITS_PHRASE, 2 * sentence + 1));
    const plot_heatmap look = {.title = title, .max = 1, .number = "%.2f", .note = note};
    draw_heads(data, sentence_names[sentence], &look, canvas, area);
}

/* The same measures of three models. */
static void draw_seeds(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    static const char *const groups[] = {"answers right", "layer 1 looks right",
                                         "layer 2 looks right", "right, phrase hidden",
                                         "right, rival hidden"};
    static const char *const names[SEEDS] = {"seed 1", "seed 2", "seed 3"};
    static const plot_color colors[SEEDS] = {PLOT_BLUE, PLOT_GREEN, PLOT_PURPLE};
    const lab_table *table = lab_table_named(data, "seeds");
    plot_bar_series series[SEEDS];
    for (size_t i = 0; i < SEEDS; i++)
        series[i] = (plot_bar_series){
            .name = names[i], .color = colors[i], .value = lab_cell(table, i, RIGHT)};
    const plot_bars bars = {.title = "Three models, 1024 new sentences each",
                            .group = groups,
                            .n_groups = SEED_COLUMNS - RIGHT,
                            .value = {.label = "%", .min = 0, .max = 100},
                            .series = series,
                            .n_series = SEEDS,
                            .horizontal = true};
    plot_bars_draw(canvas, area, &bars);
}

static void draw(const lab_data *data, plot_canvas *canvas, plot_rect area) {
    const plot_heatmap difference = {.title = "From “it”: tired minus dirty",
                                     .map = PLOT_SIGNED,
                                     .min = -1,
                                     .max = 1,
                                     .number = "%.2f"};
    draw_sentence(data, 0, canvas, plot_grid(area, 2, 2, 0, 18));
    draw_sentence(data, 1, canvas, plot_grid(area, 2, 2, 1, 18));
    draw_heads(data, "difference", &difference, canvas, plot_grid(area, 2, 2, 2, 18));
    draw_seeds(data, canvas, plot_grid(area, 2, 2, 3, 18));
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
             "%.0f %% of "
             "the weight before \"tired\" and %.0f %% before \"dirty\", \"the blue mat\" %.0f and "
             "%.0f %%; in %d models the last layer prefers the right phrase in %s %% of new "
             "sentences.",
             last_layer(tired, 0), last_layer(dirty, 0), last_layer(tired, 5), last_layer(dirty, 5),
             SEEDS, lab_range_said(looks).text);
    snprintf(finding->text, LAB_TEXT,
             "Rows are heads, columns are what \"it\" looks at. Layer 1 does not choose (it looks "
             "right in %s %%), layer 2 does. The answer depends on it: with its phrase hidden "
             "\"cat\" falls from %.0f to %.0f %%, \"red\" from %.0f to %.0f %%, and only %s %% of "
             "new sentences are still right (of %s %%). Rollout, which mixes layers and residuals, "
             "blurs "
             "this: the phrases get %.0f and %.0f %% (tired), %.0f and %.0f %% (dirty).",
             lab_range_said(lab_range_of(seeds, SELECTIVITY_1)).text,
             *lab_cell(answers, NOTHING, 0), *lab_cell(answers, ITS_PHRASE, 0),
             *lab_cell(answers, NOTHING, 1), *lab_cell(answers, ITS_PHRASE, 1),
             lab_range_said(hidden).text, lab_range_said(lab_range_of(seeds, RIGHT)).text,
             percent_of_phrase(tired, ROWS - 1, 0), percent_of_phrase(tired, ROWS - 1, 5),
             percent_of_phrase(dirty, ROWS - 1, 0), percent_of_phrase(dirty, ROWS - 1, 5));
}

const lab_experiment lab_e9 = {
    .id = "E9",
    .title = "Where attention from \"it\" goes",
    .question = "Does attention find what \"it\" means, and do the answers depend on it?",
    .method =
        "Transformers of 2 layers, 2 heads, width 32 learn whois for 600 steps of 64 sentences "
        "(AdamW, rate 0.004), training seeds 1 to 3. The model of seed 1 reads \"The red cat sat "
        "on the blue mat because it was tired.\" and the same with dirty. Hiding: \"it\" may not "
        "attend to a phrase in any layer. Rollout: (A + I)/2 of each layer, multiplied.",
    .command = "attn train whois --save whois.safetensors",
    .seconds = 4.5,
    .measure = measure,
    .draw = draw,
    .judge = judge,
};
