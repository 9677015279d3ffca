/* SPDX-License-Identifier: Apache-2.0 */
/* test_experiments.c - every registered experiment measures, is drawn in every format and theme,
 * and says something; the same seed gives the same numbers and the same bytes. Pictures go to a
 * temporary folder, or to the one that LAB_KEEP names, where they stay; LAB_ONLY takes those whose
 * id begins so:
 *     LAB_KEEP=/tmp/figures LAB_ONLY=F4 build/release/tests/lab/test_experiments */
#include "check.h"
#include "experiment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_EXPERIMENTS = 64, MAX_PATH = 600 };

typedef struct picture {
    plot_format format;
    plot_theme theme;
    const char *ending, *magic; /* of the file name; first bytes of the file */
} picture;

static const picture pictures[] = {
    {PLOT_PNG, PLOT_LIGHT, "light.png", "\x89PNG"}, {PLOT_PNG, PLOT_DARK, "dark.png", "\x89PNG"},
    {PLOT_SVG, PLOT_LIGHT, "light.svg", "<?xml"},   {PLOT_SVG, PLOT_DARK, "dark.svg", "<?xml"},
    {PLOT_PDF, PLOT_LIGHT, "light.pdf", "%PDF"},    {PLOT_PDF, PLOT_DARK, "dark.pdf", "%PDF"}};
enum { PICTURES = sizeof pictures / sizeof *pictures };

/* ---- measuring each experiment once ---- */

static lab_data measured[MAX_EXPERIMENTS];

static bool measure(const lab_experiment *experiment, lab_data *data) {
    attn_error err = {""};
    attn_ctx_options options;
    attn_ctx_options_init(&options);
    options.threads = 2;
    lab_settings settings = {.seed = 42, .threads = options.threads};
    const bool done = attn_ctx_create(&options, &settings.ctx, &err) == ATTN_OK &&
                      experiment->measure(&settings, data, &err) == ATTN_OK;
    attn_ctx_destroy(settings.ctx);
    if (!done) check_failed(__FILE__, __LINE__, "%s: %s", experiment->id, err.message);
    return done;
}

/* Experiment i or the next that LAB_ONLY takes; where the list ends if there is none. */
static size_t taken(size_t i) {
    const char *only = getenv("LAB_ONLY");
    while (only && lab_experiments[i] && strncmp(lab_experiments[i]->id, only, strlen(only)) != 0) {
        i++;
    }
    return i;
}

/* Tables of experiment i, or NULL, and the test has failed. */
static const lab_data *tables_of(size_t i) {
    lab_data *data = &measured[i];
    return data->n > 0 || measure(lab_experiments[i], data) ? data : NULL;
}

__attribute__((destructor)) static void free_all(void) {
    for (size_t i = 0; i < MAX_EXPERIMENTS; i++) lab_data_free(&measured[i]);
}

/* ---- files ---- */

/* The folder for pictures: made when first asked for, removed at the end unless it is to stay. */
static char folder[MAX_PATH];
static bool kept;

static const char *picture_folder(void) {
    const char *keep = getenv("LAB_KEEP");
    if (folder[0]) return folder;
    kept = keep && keep[0];
    snprintf(folder, sizeof folder, "%s", kept ? keep : "/tmp/attn-experiments-XXXXXX");
    if (!kept && !mkdtemp(folder)) folder[0] = 0;
    return folder;
}

__attribute__((destructor)) static void remove_folder(void) {
    if (folder[0] && !kept) rmdir(folder);
}

/* The whole file, ended with 0; the caller frees it. NULL: not there or empty. */
static char *contents(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *bytes = NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (*size = (size_t)ftell(file)) > 0) {
        rewind(file);
        bytes = calloc(*size + 1, 1);
        if (bytes && fread(bytes, 1, *size, file) != *size) {
            free(bytes);
            bytes = NULL;
        }
    }
    fclose(file);
    return bytes;
}

/* Draws as the report does, and reads the file. NULL, and the test has failed, if it cannot. */
static char *drawn(size_t i, const picture *as, size_t *size) {
    const lab_experiment *experiment = lab_experiments[i];
    const lab_data *data = tables_of(i);
    if (!data) return NULL;
    char path[MAX_PATH + 80];
    snprintf(path, sizeof path, "%s/%s-%s", picture_folder(), experiment->id, as->ending);
    const plot_output output = {.format = as->format,
                                .theme = as->theme,
                                .path = path,
                                .width = 800,
                                .height = 440,
                                .title = experiment->title};
    attn_error err = {""};
    plot_canvas *canvas;
    attn_status status = plot_open(&output, &canvas, &err);
    if (status == ATTN_OK) {
        experiment->draw(data, canvas, plot_inset(plot_page(canvas), 20, 20, 20, 20));
        status = plot_close(canvas, &err);
    }
    char *bytes = status == ATTN_OK ? contents(path, size) : NULL;
    if (!bytes) check_failed(__FILE__, __LINE__, "%s: not written: %s", path, err.message);
    if (!kept) unlink(path);
    return bytes;
}

/* ---- facts ---- */

TEST(every_experiment_is_drawn_in_every_format_and_theme) {
    for (size_t i = taken(0); lab_experiments[i]; i = taken(i + 1)) {
        for (size_t p = 0; p < PICTURES; p++) {
            size_t size;
            char *bytes = drawn(i, &pictures[p], &size);
            if (!bytes) return;
            const bool right = strncmp(bytes, pictures[p].magic, strlen(pictures[p].magic)) == 0;
            free(bytes);
            CHECK_MSG(right, "%s: not a %s", lab_experiments[i]->id, pictures[p].ending);
        }
    }
}

TEST(drawing_again_gives_the_same_bytes) {
    for (size_t i = taken(0); lab_experiments[i]; i = taken(i + 1)) {
        for (size_t p = 0; p < PICTURES; p += 2) {
            size_t size[2] = {0, 0};
            char *bytes[2] = {drawn(i, &pictures[p], &size[0]), drawn(i, &pictures[p], &size[1])};
            const bool same = bytes[0] && bytes[1] && size[0] == size[1] &&
                              memcmp(bytes[0], bytes[1], size[0]) == 0;
            free(bytes[0]);
            free(bytes[1]);
            CHECK_MSG(same, "%s: %s differs", lab_experiments[i]->id, pictures[p].ending);
        }
    }
}

static bool same_numbers(const lab_data *a, const lab_data *b) {
    if (a->n != b->n) return false;
    for (size_t t = 0; t < a->n; t++) {
        const lab_table *x = &a->table[t], *y = &b->table[t];
        if (x->rows != y->rows || x->columns != y->columns) return false;
        if (memcmp(x->cell, y->cell, x->rows * x->columns * sizeof(double)) != 0) return false;
    }
    return true;
}

TEST(measuring_again_gives_the_same_numbers) {
    const double most_seconds = 5; /* training is tested for the same bits where it is at home */
    for (size_t i = taken(0); lab_experiments[i]; i = taken(i + 1)) {
        if (lab_experiments[i]->timed || lab_experiments[i]->seconds > most_seconds) continue;
        const lab_data *once = tables_of(i);
        lab_data again = {.n = 0};
        const bool same = once && measure(lab_experiments[i], &again) && same_numbers(once, &again);
        lab_data_free(&again);
        CHECK_MSG(same, "%s: other numbers for the same seed", lab_experiments[i]->id);
    }
}

/* Not empty, not cut, and no number that is none. */
static bool is_sentence(const char *text) {
    const size_t length = strlen(text);
    return length > 20 && length < LAB_TEXT - 1 && !strstr(text, "nan") && !strstr(text, "inf ") &&
           text[length - 1] == '.';
}

TEST(every_finding_is_said_in_sentences) {
    for (size_t i = taken(0); lab_experiments[i]; i = taken(i + 1)) {
        const lab_data *data = tables_of(i);
        if (!data) return;
        lab_finding finding = {.headline = ""};
        lab_experiments[i]->judge(data, &finding);
        if (kept)
            printf("%s: %s\n    %s\n", lab_experiments[i]->id, finding.headline, finding.text);
        const bool has_condition = strncmp(finding.condition, "if ", 3) == 0;
        CHECK_MSG(finding.verdict != LAB_HOLDS_IF || has_condition, "%s: under which condition?",
                  lab_experiments[i]->id);
        CHECK_MSG(is_sentence(finding.headline), "%s: %s", lab_experiments[i]->id,
                  finding.headline);
        CHECK_MSG(is_sentence(finding.text), "%s: %s", lab_experiments[i]->id, finding.text);
    }
}

TEST(every_table_has_a_name_of_its_own) {
    for (size_t i = taken(0); lab_experiments[i]; i = taken(i + 1)) {
        const lab_data *data = tables_of(i);
        if (!data) return;
        for (size_t t = 0; t < data->n; t++) {
            CHECK_MSG(lab_table_named(data, data->table[t].name) == &data->table[t],
                      "%s: two tables are called %s", lab_experiments[i]->id, data->table[t].name);
        }
    }
}
