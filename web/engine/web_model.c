/* SPDX-License-Identifier: Apache-2.0 */
/* web_model.c - model files: their contents, the models read from them, and their words. */
#include "web_model.h"

#include "engine.h"
#include "lab/learning/task_form.h"
#include "models/safetensors.h"

#include <stdlib.h>

enum { MOST_MODELS = 64 };

static attni_model models[MOST_MODELS + 1]; /* 0 is never used; weights NULL: free */

const attni_model *web_model(double handle) {
    const int i = handle >= 0 && handle <= (double)MOST_MODELS ? (int)handle : 0;
    const attni_model *model = handle == 0 ? web_model_in_training() : &models[i];
    if (model && model->weights) return model;
    attni_fail(&web_error, ATTN_E_VALUE, "model %g: not open; open its file again", handle);
    return NULL;
}

void web_put_model(double handle, const attni_model *model) {
    const attni_model_config *c = &model->config;
    web_put_number("handle", handle);
    web_put_text("task", model->task);
    web_put_texts("words", model->words, c->n_words);
    web_put_number("layers", (double)c->layers);
    web_put_number("heads", (double)c->heads);
    web_put_number("d", (double)c->d);
    web_put_number("d_k", (double)c->d_k);
    web_put_number("length", (double)c->length);
    web_put_number("slots", (double)c->slots);
    web_put_number("causal", c->causal);
    web_put_number("scale", c->scale); /* -inf: 1/sqrt(d_k) */
    web_put_number("temperature", c->temperature);
    web_put_number("parameters", (double)model->parameters.count);
    web_put_number("seed", (double)model->seed);
    web_put_number("steps", (double)model->steps);
}

EXPORT(model_open) web_model_open(const void *bytes, size_t size) {
    int handle = 1;
    web_begin();
    while (handle <= MOST_MODELS && models[handle].weights) handle++;
    if (handle > MOST_MODELS)
        return attni_fail(&web_error, ATTN_E_VALUE, "%d models are open; close one first",
                          MOST_MODELS);
    ATTN_TRY(attni_model_unpack(bytes, size, &models[handle], &web_error));
    web_put_model(handle, &models[handle]);
    return web_result_status();
}

EXPORT(model_close) web_model_close(double handle) {
    web_begin();
    if (handle == 0) return ATTN_OK; /* it belongs to training */
    if (!web_model(handle)) return ATTN_E_VALUE;
    attni_model_free(&models[(int)handle]);
    return ATTN_OK;
}

/* --------------------------------------------------------------------------------------- header */

static void put_tensors(const attni_safetensors *file, const char **list) {
    const int64_t n = (int64_t)file->n_tensors;
    double *about = web_put("about", WEB_F64, /* bytes, rank, sides */
                            WEB_SHAPE(n, 2 + ATTNI_ST_MAX_RANK));
    for (int64_t i = 0; i < n; i++) list[i] = file->tensor[i].name;
    web_put_texts("name", list, n);
    for (int64_t i = 0; i < n; i++) list[i] = attni_st_dtype_name(file->tensor[i].dtype);
    web_put_texts("dtype", list, n);
    for (int64_t i = 0; about && i < n; i++, about += 2 + ATTNI_ST_MAX_RANK) {
        const attni_st_tensor *t = &file->tensor[i];
        about[0] = (double)t->size;
        about[1] = t->rank;
        for (int d = 0; d < t->rank; d++) about[2 + d] = (double)t->shape[d];
    }
}

static void put_metadata(const attni_safetensors *file, const char **list) {
    const int64_t n = (int64_t)file->n_metadata;
    for (int64_t i = 0; i < n; i++) list[i] = file->metadata[i].key;
    web_put_texts("key", list, n);
    for (int64_t i = 0; i < n; i++) list[i] = file->metadata[i].value;
    web_put_texts("value", list, n);
}

static size_t header_length(const unsigned char *bytes, size_t size) {
    uint64_t length = 0;
    for (int i = 7; size >= 8 && i >= 0; i--) length = length << 8 | bytes[i];
    return length < SIZE_MAX ? (size_t)length : SIZE_MAX;
}

/* Why these bytes are not an attn model; "" if they are. */
static const char *problem_of(const void *bytes, size_t size) {
    attni_model model;
    if (attni_model_unpack(bytes, size, &model, &web_error) != ATTN_OK) return web_error.message;
    attni_model_free(&model);
    return "";
}

/* bytes: the whole file, or at least its beginning up to the end of the header, in which case the
 * weights are not examined. file_size must be the size of the whole file. */
EXPORT(header) web_header(const void *bytes, size_t size, double file_size) {
    attni_safetensors file;
    web_begin();
    const size_t whole = file_size < (double)SIZE_MAX / 2 ? (size_t)file_size : 0;
    const size_t length = header_length(bytes, size);
    if (whole < size || (length > size - 8 && length <= whole - 8 && length <= ATTNI_ST_MAX_HEADER))
        return attni_fail(&web_error, ATTN_E_VALUE, "file: %g bytes, of which %zu were read",
                          file_size, size);
    ATTN_TRY(attni_safetensors_parse(bytes, whole, &file, &web_error));
    const char **list = web_scratch(file.n_tensors + file.n_metadata, sizeof *list);
    if (list) {
        put_tensors(&file, list);
        put_metadata(&file, list);
    }
    attni_safetensors_free(&file);
    web_put_text("problem", size < whole ? "not read to its end" : problem_of(bytes, size));
    return web_result_status();
}

/* --------------------------------------------------------------------------------------- tokens */

/* Splits text, which the page passes as writable memory, into words in letters, each terminated by
 * 0. */
static int64_t cut(const attni_model *model, const char *text, char *letters, const char **word,
                   int32_t *token) {
    int64_t n = 0;
    for (size_t length; (length = attni_model_cut(&text)) > 0; text += length, n++) {
        token[n] = attni_model_word(model, text, length);
        word[n] = token[n] < 0 ? letters : model->words[token[n]];
        memcpy(letters, text, length);
        letters[length] = 0;
        letters += length + 1;
    }
    return n;
}

/* Where the task asks (-1: the sentence does not say) and, if the model has not learned to read
 * such a sentence, the nearest that it can read (else ""). */
static void put_reading(const attni_model *model, const int32_t *token, int64_t n) {
    const lab_task *task = lab_task_with_words(model->task, model->words, model->config.n_words);
    lab_reading reading = {.question = -1};
    char nearest[LAB_READING_TEXT] = "";
    if (task && task->forms) reading = lab_task_read(task, token, n);
    if (reading.distance > 0) lab_reading_text(task, &reading, nearest, sizeof nearest);
    web_put_number("question", reading.question);
    web_put_text("nearest", nearest);
}

/* Known words in the model's spelling, others as they were typed. */
EXPORT(tokenize) web_tokenize(double handle, const char *text) {
    web_begin();
    const attni_model *model = web_model(handle);
    if (!model) return ATTN_E_VALUE;
    const size_t most = strlen(text) + 1; /* words, and their letters when each is ended by 0 */
    char *letters = web_scratch(most, 2);
    const char **word = web_scratch(most, sizeof *word);
    int32_t *token = web_scratch(most, sizeof *token);
    ATTN_TRY(web_result_status());
    const int64_t n = cut(model, text, letters, word, token);
    int32_t *tokens = web_put("tokens", WEB_I32, WEB_SHAPE(n));
    if (tokens) memcpy(tokens, token, (size_t)n * sizeof *tokens);
    web_put_texts("words", word, n);
    put_reading(model, token, n);
    return web_result_status();
}
