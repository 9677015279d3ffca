/* SPDX-License-Identifier: Apache-2.0 */
/* look.c - see look.h. Tests: tests/cli/test_train.py */
#include "train/look.h"

#include "shared/cli.h"
#include "shared/heatmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------- answers */

/* The likeliest word of a row of logits (n_words), and its probability. */
static int64_t likeliest(const float *logits, int64_t n_words, double *probability) {
    int64_t best = 0;
    double sum = 0;
    for (int64_t w = 1; w < n_words; w++)
        if (logits[w] > logits[best]) best = w;
    for (int64_t w = 0; w < n_words; w++) sum += exp((double)logits[w] - (double)logits[best]);
    *probability = 1 / sum;
    return best;
}

static const float *logits_at(const look_view *v, const attni_look *look, int64_t token,
                              int64_t slot) {
    const attni_model_config *c = &v->model->config;
    return look->logits + (token * c->slots + slot) * c->n_words;
}

static const char *word_at(const look_view *v, int64_t token) {
    return v->model->words[v->tokens[token]];
}

static void print_answers(const look_view *v, const attni_look *look) {
    const attni_model_config *c = &v->model->config;
    for (int64_t i = v->first; i < v->first + v->n_asked; i++) {
        printf("  %s ->", word_at(v, i));
        for (int64_t s = 0; s < c->slots; s++) {
            double probability;
            const int64_t word = likeliest(logits_at(v, look, i, s), c->n_words, &probability);
            printf(" %s%s%s (%.0f %%)", out_begin(stdout, OUT_BOLD), v->model->words[word],
                   out_begin(stdout, OUT_PLAIN), 100 * probability);
        }
        printf("\n");
    }
}

/* ---------------------------------------------------------------------------------------- text */

static void print_sentence(const look_view *v) {
    printf("  ");
    for (int64_t i = 0; i < v->n; i++) printf("%s%s", i ? " " : "", word_at(v, i));
    printf("\n");
}

/* The chosen head of the chosen layer, or the mean of its heads, into weights (n, n). */
static void choose(const look_view *v, const attni_look *look, double *weights) {
    const int64_t heads = v->model->config.heads, cells = v->n * v->n;
    const int64_t first = v->head < 0 ? 0 : v->head, end = v->head < 0 ? heads : v->head + 1;
    for (int64_t i = 0; i < cells; i++) {
        weights[i] = 0;
        for (int64_t h = first; h < end; h++)
            weights[i] += (double)look->weights[(v->layer * heads + h) * cells + i];
        weights[i] /= (double)(end - first);
    }
}

static int print_map(const look_view *v, const attni_look *look) {
    double *weights = calloc((size_t)(v->n * v->n), sizeof *weights);
    const char **word = calloc((size_t)v->n, sizeof *word);
    heatmap map = {.n = v->n, .word = word, .weights = weights};
    if (weights && word) {
        choose(v, look, weights);
        for (int64_t i = 0; i < v->n; i++) word[i] = word_at(v, i);
        for (int64_t i = v->first; i < v->first + v->n_asked && i < 64; i++)
            map.marked |= (uint64_t)1 << i;
        printf("\nattention in percent, layer %lld, ", (long long)v->layer + 1);
        if (v->head < 0)
            printf("mean of %lld heads", (long long)v->model->config.heads);
        else
            printf("head %lld", (long long)v->head + 1);
        printf(" (rows ask, columns are looked at)\n");
        heatmap_print(&map);
    }
    const bool ok = weights && word;
    free(weights);
    free(word);
    if (!ok) out_error("", "out of memory for the heatmap");
    return ok ? CLI_OK : CLI_FAILED;
}

static int look_at(const look_view *v, attni_look *look) {
    attn_error error = {""};
    const attn_status status = attni_model_look(v->model, v->tokens, v->n, look, &error);
    if (status == ATTN_OK) return CLI_OK;
    out_error("", "%s", error.message);
    return cli_code_of(status);
}

int look_print(const look_view *view) {
    attni_look look;
    int code = look_at(view, &look);
    if (code != CLI_OK) return code;
    print_sentence(view);
    print_answers(view, &look);
    code = print_map(view, &look);
    attni_look_free(&look);
    return code;
}

/* ---------------------------------------------------------------------------------------- JSON */

static json_t *rows_json(const float *weights, int64_t n) {
    json_t *rows = json_array();
    for (int64_t i = 0; i < n; i++) {
        json_t *row = json_array();
        for (int64_t j = 0; j < n; j++)
            json_array_append_new(row, json_real((double)weights[i * n + j]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *weights_json(const look_view *v, const attni_look *look) {
    const attni_model_config *c = &v->model->config;
    json_t *layers = json_array();
    for (int64_t l = 0; l < c->layers; l++) {
        json_t *heads = json_array();
        for (int64_t h = 0; h < c->heads; h++)
            json_array_append_new(
                heads, rows_json(look->weights + (l * c->heads + h) * v->n * v->n, v->n));
        json_array_append_new(layers, heads);
    }
    return layers;
}

static json_t *answers_json(const look_view *v, const attni_look *look) {
    const attni_model_config *c = &v->model->config;
    json_t *answers = json_array();
    for (int64_t i = v->first; i < v->first + v->n_asked; i++) {
        json_t *words = json_array();
        for (int64_t s = 0; s < c->slots; s++) {
            double probability;
            const int64_t word = likeliest(logits_at(v, look, i, s), c->n_words, &probability);
            json_array_append_new(words, json_pack("{s:s, s:f}", "word", v->model->words[word],
                                                   "probability", probability));
        }
        json_array_append_new(answers, json_pack("{s:I, s:s, s:o}", "at", (json_int_t)i, "token",
                                                 word_at(v, i), "answer", words));
    }
    return answers;
}

int look_json(const look_view *view, json_t *root) {
    attni_look look;
    const int code = look_at(view, &look);
    if (code != CLI_OK) return code;
    json_t *tokens = json_array();
    for (int64_t i = 0; i < view->n; i++)
        json_array_append_new(tokens, json_string(word_at(view, i)));
    json_object_set_new(root, "tokens", tokens);
    json_object_set_new(root, "answers", answers_json(view, &look));
    json_object_set_new(root, "weights", weights_json(view, &look));
    attni_look_free(&look);
    return CLI_OK;
}

/* --------------------------------------------------------------------------------------- files */

enum { MAX_FILE = 1 << 30 };

/* The whole file, or NULL with errno set. */
static char *read_all(FILE *file, size_t *size) {
    size_t room = 1 << 16;
    char *bytes = malloc(room);
    *size = 0;
    while (bytes) {
        *size += fread(bytes + *size, 1, room - *size, file);
        if (*size < room) break;
        char *more = room < MAX_FILE ? realloc(bytes, room * 2) : NULL;
        if (!more) {
            free(bytes);
            errno = EFBIG;
            return NULL;
        }
        bytes = more;
        room *= 2;
    }
    if (bytes && ferror(file)) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

int look_load(const char *command, const char *path, attni_model *model) {
    const bool standard = strcmp(path, "-") == 0;
    attn_error error = {""};
    size_t size = 0;
    FILE *file = standard ? stdin : fopen(path, "rb");
    char *bytes = file ? read_all(file, &size) : NULL;
    if (!bytes) out_error(command, "%s: cannot be read: %s", path, strerror(errno));
    if (file && !standard) fclose(file);
    if (!bytes) return CLI_FILE;
    const attn_status status = attni_model_unpack(bytes, size, model, &error);
    free(bytes);
    if (status == ATTN_OK) return CLI_OK;
    out_error(command, "%s: %s", path, error.message);
    return status == ATTN_E_MEMORY ? CLI_FAILED : CLI_FILE;
}
