/* SPDX-License-Identifier: Apache-2.0 */
/* model_file.c - a model as a safetensors file: one F32 tensor per parameter; the metadata holds
 * the configuration, the words (separated by spaces) and the origin of the model. Tests:
 * tests/models/test_model.c */
#include "models/model.h"
#include "models/safetensors.h"

#include <stdio.h>
#include <stdlib.h>

static const char format[] = "attn transformer 1";

/*    key, field of the configuration */
#define SIZES(X)                                                                                   \
    X("n_words", n_words)                                                                          \
    X("length", length)                                                                            \
    X("layers", layers)                                                                            \
    X("heads", heads)                                                                              \
    X("d", d)                                                                                      \
    X("d_k", d_k)                                                                                  \
    X("d_hidden", d_hidden)                                                                        \
    X("slots", slots)

enum { N_SIZES = 8, N_PAIRS = N_SIZES + 9 + ATTNI_N_POSITION_SETTINGS, NUMBER = 40, KEY = 40 };

/* Files written before there was a choice say nothing about positions. */
static const char first_positions[] = "learned";

/* --------------------------------------------------------------------------------------- write */

/* What the header points to while a file is written. */
typedef struct sheet {
    attni_st_tensor *tensor;      /* (parameters.n) */
    char *words;                  /* all of them, separated by spaces */
    attni_st_pair pair[N_PAIRS];  /* as many as are used */
    char number[N_PAIRS][NUMBER]; /* values that are numbers */
    char setting[ATTNI_N_POSITION_SETTINGS][KEY];
    attni_safetensors file;
} sheet;

static char *join(const char *const *words, int64_t n) {
    size_t size = 1;
    for (int64_t i = 0; i < n; i++) size += strlen(words[i]) + 1;
    char *text = malloc(size), *at = text;
    for (int64_t i = 0; text && i < n; i++) {
        const size_t length = strlen(words[i]);
        if (i) *at++ = ' ';
        memcpy(at, words[i], length);
        at += length;
    }
    if (text) *at = 0;
    return text;
}

static void put_text(sheet *s, const char *key, const char *value) {
    s->pair[s->file.n_metadata++] = (attni_st_pair){key, value};
}

static char *next_number(sheet *s) { return s->number[s->file.n_metadata]; }

static void put_int(sheet *s, const char *key, long long value) {
    snprintf(next_number(s), NUMBER, "%lld", value);
    put_text(s, key, next_number(s));
}

static void put_real(sheet *s, const char *key, double value) {
    snprintf(next_number(s), NUMBER, "%.17g", value);
    put_text(s, key, next_number(s));
}

/* The metadata key of a setting: "positions.base". */
static void name_setting(int setting, char key[KEY]) {
    snprintf(key, KEY, "positions.%s", attni_positions_setting_name(setting));
}

/* The name of the kind, and the settings that are not 0. */
static void put_positions(sheet *s, const attni_positions *positions) {
    put_text(s, "positions", attni_positions_name(positions->kind));
    for (int i = 0; i < ATTNI_N_POSITION_SETTINGS; i++) {
        const double value = attni_positions_get(positions, i);
        if (value == 0) continue;
        name_setting(i, s->setting[i]);
        put_real(s, s->setting[i], value);
    }
}

static void fill_metadata(const attni_model *model, sheet *s) {
    const attni_model_config *c = &model->config;
    put_text(s, "format", format);
    put_text(s, "task", model->task);
    put_text(s, "words", s->words);
    snprintf(next_number(s), NUMBER, "%llu", (unsigned long long)model->seed);
    put_text(s, "seed", next_number(s));
    put_int(s, "steps", model->steps);
#define X(key, field) put_int(s, key, c->field);
    SIZES(X)
#undef X
    put_text(s, "causal", c->causal ? "true" : "false");
    if (c->scale == ATTN_SCALE_AUTO)
        put_text(s, "scale", "auto");
    else
        put_real(s, "scale", c->scale);
    put_real(s, "temperature", c->temperature);
    put_positions(s, &c->positions);
}

static attn_status fill(const attni_model *model, sheet *s, attn_error *err) {
    const attni_parameters *p = &model->parameters;
    memset(s, 0, sizeof *s);
    s->tensor = calloc((size_t)p->n, sizeof *s->tensor);
    s->words = join(model->words, model->config.n_words);
    if (!s->tensor || !s->words)
        return attni_fail(err, ATTN_E_MEMORY, "model: no memory to write its header");
    s->file.tensor = s->tensor;
    for (int i = 0; i < p->n; i++) {
        const attni_parameter *from = &p->list[i];
        if (from->count == 0) continue;
        s->tensor[s->file.n_tensors++] =
            (attni_st_tensor){.name = from->name,
                              .dtype = ATTNI_ST_F32,
                              .rank = from->rank,
                              .shape = {(size_t)from->shape[0], (size_t)from->shape[1]},
                              .data = model->weights + from->offset,
                              .size = from->count * sizeof(float)};
    }
    fill_metadata(model, s);
    s->file.metadata = s->pair;
    return ATTN_OK;
}

static void release(sheet *s) {
    free(s->tensor);
    free(s->words);
}

attn_status attni_model_pack_size(const attni_model *model, size_t *size, attn_error *err) {
    sheet s;
    attn_status status = fill(model, &s, err);
    if (status == ATTN_OK) status = attni_safetensors_size(&s.file, size, err);
    release(&s);
    return status;
}

attn_status attni_model_pack(const attni_model *model, void *bytes, attn_error *err) {
    sheet s;
    const attn_status status = fill(model, &s, err);
    if (status == ATTN_OK) attni_safetensors_write(&s.file, bytes);
    release(&s);
    return status;
}

/* ---------------------------------------------------------------------------------------- read */

static attn_status missing(const char *key, const char *value, attn_error *err) {
    return attni_fail(err, ATTN_E_VALUE,
                      "model: metadata \"%s\" is %.40s, expected what attn train writes: is this a "
                      "model of attn?",
                      key, value ? value : "missing");
}

static bool read_int(const char *text, int64_t *value) {
    char *end;
    if (!text || *text < '0' || *text > '9' || strlen(text) > 18) return false;
    *value = strtoll(text, &end, 10);
    return *end == 0;
}

static bool read_real(const char *text, double *value) {
    char *end;
    if (!text || !*text) return false;
    *value = strtod(text, &end);
    return *end == 0;
}

static attn_status read_positions(const attni_safetensors *file, attni_positions *positions,
                                  attn_error *err) {
    const char *name = attni_safetensors_metadata(file, "positions");
    char key[KEY];
    ATTN_TRY(attni_positions_named(name ? name : first_positions, positions, err));
    for (int i = 0; name && i < ATTNI_N_POSITION_SETTINGS; i++) {
        double value = 0;
        name_setting(i, key);
        const char *text = attni_safetensors_metadata(file, key);
        if ((text && !read_real(text, &value)) || !attni_positions_set(positions, i, value))
            return missing(key, text, err);
    }
    return ATTN_OK;
}

static attn_status read_config(const attni_safetensors *file, attni_model_config *c,
                               attn_error *err) {
    const char *text = attni_safetensors_metadata(file, "format");
    if (!text || strcmp(text, format) != 0) return missing("format", text, err);
#define X(key, field)                                                                              \
    text = attni_safetensors_metadata(file, key);                                                  \
    if (!read_int(text, &c->field) || c->field > INT32_MAX) return missing(key, text, err);
    SIZES(X)
#undef X
    text = attni_safetensors_metadata(file, "causal");
    if (!text || (strcmp(text, "true") != 0 && strcmp(text, "false") != 0))
        return missing("causal", text, err);
    c->causal = *text == 't';
    text = attni_safetensors_metadata(file, "scale");
    c->scale = ATTN_SCALE_AUTO;
    if (!text || (strcmp(text, "auto") != 0 && !read_real(text, &c->scale)))
        return missing("scale", text, err);
    text = attni_safetensors_metadata(file, "temperature");
    if (!read_real(text, &c->temperature)) return missing("temperature", text, err);
    ATTN_TRY(read_positions(file, &c->positions, err));
    return attni_model_check(c, err);
}

/* The words, separated; one block holds the list of pointers followed by the text. */
static attn_status read_words(const char *text, attni_model *model, attn_error *err) {
    const size_t n = (size_t)model->config.n_words, length = text ? strlen(text) : 0;
    size_t at = 0;
    if (!text) return missing("words", text, err);
    model->text = malloc(n * sizeof(char *) + length + 1);
    if (!model->text) return attni_fail(err, ATTN_E_MEMORY, "model: no memory for its words");
    const char **list = model->text;
    char *letters = (char *)(list + n);
    memcpy(letters, text, length + 1);
    for (char *word = letters; at < n; at++) {
        const size_t size = strcspn(word, " ");
        list[at] = word;
        word += size;
        if (size == 0 || (*word == 0) != (at + 1 == n)) break;
        *word++ = 0;
    }
    model->words = list;
    return at == n ? ATTN_OK : missing("words", text, err);
}

static attn_status read_weights(const attni_safetensors *file, attni_model *model,
                                attn_error *err) {
    const attni_parameters *p = &model->parameters;
    size_t n_tensors = 0;
    for (int i = 0; i < p->n; i++) {
        const attni_parameter *to = &p->list[i];
        if (to->count == 0) continue;
        n_tensors++;
        const attni_st_tensor *from = attni_safetensors_find(file, to->name);
        bool same = from && from->dtype == ATTNI_ST_F32 && from->rank == to->rank;
        for (int d = 0; same && d < to->rank; d++) same = from->shape[d] == (size_t)to->shape[d];
        if (!same)
            return attni_fail(
                err, ATTN_E_VALUE, "model: tensor %s is %s, expected F32 (%lld%s%lld)", to->name,
                from ? "of another type or shape" : "missing", (long long)to->shape[0],
                to->rank == 2 ? ", " : ",", (long long)to->shape[1]);
        memcpy(model->weights + to->offset, from->data, from->size);
    }
    if (file->n_tensors == n_tensors) return ATTN_OK;
    return attni_fail(err, ATTN_E_VALUE, "model: %zu tensors, expected %zu", file->n_tensors,
                      n_tensors);
}

static attn_status read_model(const attni_safetensors *file, attni_model *model, attn_error *err) {
    attni_model_config config;
    int64_t seed = 0;
    ATTN_TRY(read_config(file, &config, err));
    ATTN_TRY(attni_model_create(&config, NULL, 0, model, err));
    ATTN_TRY(read_words(attni_safetensors_metadata(file, "words"), model, err));
    ATTN_TRY(read_weights(file, model, err));
    const char *task = attni_safetensors_metadata(file, "task");
    const char *steps = attni_safetensors_metadata(file, "steps");
    if (!task || strlen(task) >= sizeof model->task) return missing("task", task, err);
    if (!read_int(steps, &model->steps)) return missing("steps", steps, err);
    if (read_int(attni_safetensors_metadata(file, "seed"), &seed)) model->seed = (uint64_t)seed;
    snprintf(model->task, sizeof model->task, "%s", task);
    return ATTN_OK;
}

attn_status attni_model_unpack(const void *bytes, size_t size, attni_model *model,
                               attn_error *err) {
    attni_safetensors file;
    memset(model, 0, sizeof *model);
    ATTN_TRY(attni_safetensors_parse(bytes, size, &file, err));
    const attn_status status = read_model(&file, model, err);
    if (status != ATTN_OK) attni_model_free(model);
    attni_safetensors_free(&file);
    return status;
}
