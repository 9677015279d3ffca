/* SPDX-License-Identifier: Apache-2.0 */
/* attend_json.c - a look as JSON. Tests: tests/cli/test_attend.py */
#include "attend/attend.h"
#include "shared/cli.h"

#include <stdlib.h>

enum { BEST = 5 };

/* Numbers of any shape (rank sides), nested; infinities are null. */
static json_t *nested(const float **next, const int64_t *side, int rank) {
    json_t *list = json_array();
    for (int64_t i = 0; i < side[0]; i++)
        json_array_append_new(list, rank > 1 ? nested(next, side + 1, rank - 1)
                                             : out_json_real((double)*(*next)++));
    return list;
}

#define SHAPE(...)                                                                                 \
    (const int64_t[]){__VA_ARGS__}, (int)(sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t))

static json_t *numbers(const float *from, const int64_t *side, int rank) {
    return nested(&from, side, rank);
}

/* The likeliest words of one slot, likeliest first. */
static json_t *best_json(const attend_view *v, const float *logits) {
    int32_t word[BEST];
    double probability[BEST];
    const int64_t n = v->look->n_words < BEST ? v->look->n_words : BEST;
    json_t *list = json_array();
    attni_likeliest(logits, v->look->n_words, n, word, probability);
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:s, s:f}", "word", v->model->words[word[i]],
                                              "probability", probability[i]));
    return list;
}

static json_t *answers_json(const attend_view *v) {
    json_t *answers = json_array();
    for (int64_t i = v->first; i < v->first + v->n_asked; i++) {
        json_t *first = json_array(), *best = json_array();
        for (int64_t s = 0; s < v->look->slots; s++) {
            json_t *list = best_json(v, attni_look_logits(v->look, i, s));
            json_array_append(first, json_array_get(list, 0));
            json_array_append_new(best, list);
        }
        json_array_append_new(answers,
                              json_pack("{s:I, s:s, s:o, s:o}", "at", (json_int_t)i, "token",
                                        v->word[i], "answer", first, "best", best));
    }
    return answers;
}

void attend_json_weights(const attend_view *v, json_t *root) {
    const attni_look *look = v->look;
    json_t *tokens = json_array();
    for (int64_t i = 0; i < look->n; i++) json_array_append_new(tokens, json_string(v->word[i]));
    json_object_set_new(root, "tokens", tokens);
    if (v->model) json_object_set_new(root, "answers", answers_json(v));
    json_object_set_new(root, "weights",
                        numbers(look->weights, SHAPE(look->layers, look->heads, look->n, look->n)));
}

/* ---------------------------------------------------------------------------------------- shown */

static json_t *product_json(const attend_view *v) {
    const attni_look *look = v->look;
    const int64_t first = (v->layer * look->heads + v->head) * look->n;
    return json_pack("{s:I, s:I, s:o, s:o, s:o}", "query", (json_int_t)v->at, "key",
                     (json_int_t)v->key, "q",
                     numbers(look->q + (first + v->at) * look->d_k, SHAPE(look->d_k)), "k",
                     numbers(look->k + (first + v->key) * look->d_k, SHAPE(look->d_k)), "score",
                     out_json_real((double)look->scores[(first + v->at) * look->n + v->key]));
}

static json_t *parameters_json(const attend_view *v) {
    json_t *list = json_array();
    char name[ATTEND_NAME];
    for (int64_t i = 0; i < v->look->n_parameters; i++)
        json_array_append_new(list, json_pack("{s:s, s:f}", "name", attend_parameter(v, i, name),
                                              "norm", v->look->by_parameter[i]));
    return list;
}

void attend_json_shown(const attend_view *v, json_t *root) {
    const attni_look *look = v->look;
    const int64_t n = look->n;
    if (v->show == ATTEND_MAP)
        json_object_set_new(root, "matrix", numbers(attend_matrix(v), SHAPE(n, n)));
    if (v->show == ATTEND_ENTROPY) /* in nats */
        json_object_set_new(root, "entropy",
                            numbers(look->entropy, SHAPE(look->layers, look->heads, n)));
    if (v->show == ATTEND_SHIFT)
        json_object_set_new(root, "shift", numbers(v->points, SHAPE(2, n, 2)));
    if (v->show == ATTEND_PRODUCT) json_object_set_new(root, "product", product_json(v));
    if (look->n_parameters == 0) return;
    json_object_set_new(root, "at", json_integer(v->at));
    json_object_set_new(root, "positions", numbers(look->by_position, SHAPE(n)));
    json_object_set_new(root, "parameters", parameters_json(v));
}

int attend_json_difference(const attend_view view[2], json_t *root) {
    attend_pair *pairs = NULL;
    const int64_t n = attend_align(view, &pairs);
    if (n < 0) {
        out_error("attend", "out of memory to compare");
        return CLI_FAILED;
    }
    json_t *names = json_array(), *rows = json_array();
    for (int64_t i = 0; i < n; i++) {
        json_t *row = json_array();
        json_array_append_new(
            names, json_pack("[I, I]", (json_int_t)pairs[i].of[0], (json_int_t)pairs[i].of[1]));
        for (int64_t j = 0; j < n; j++)
            json_array_append_new(row,
                                  out_json_real(attend_difference(view, &pairs[i], &pairs[j])));
        json_array_append_new(rows, row);
    }
    json_object_set_new(root, "pairs", names);
    json_object_set_new(root, "difference", rows);
    free(pairs);
    return CLI_OK;
}
