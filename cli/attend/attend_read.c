/* SPDX-License-Identifier: Apache-2.0 */
/* attend_read.c - a sentence as tokens of a model or words of random layers, and the look at it.
 * Tests: tests/cli/test_attend.py */
#include "attend/attend.h"
#include "lab/learning/task_form.h"
#include "shared/options.h"

#include <stdlib.h>
#include <string.h>

static const lab_task *task_of(const attni_model *model) {
    return lab_task_with_words(model->task, model->words, model->config.n_words);
}

static int report(attn_status status, const attn_error *error) {
    if (status == ATTN_OK) return CLI_OK;
    out_error("attend", "%s", error->message);
    return cli_code_of(status);
}

/* ----------------------------------------------------------------------- what cannot be read */

typedef struct word_list {
    const char *const *word;
    size_t n;
} word_list;

static const char *next_word(const void *arg, size_t i) {
    return ((const word_list *)arg)->word[i];
}

/* The word of the model that these letters are nearly, or NULL. */
static const char *nearest_word(const attni_model *model, const char *letters, size_t n) {
    char word[80];
    const word_list list = {model->words, (size_t)model->config.n_words};
    snprintf(word, sizeof word, "%.*s", (int)(n < 79 ? n : 79), letters);
    return cli_nearest(word, list.n, next_word, &list);
}

/* Of a model whose task has forms. A word that is nearly one of the model's is read as that. */
static void hint_nearest(const attni_model *model, const char *sentence) {
    const lab_task *task = task_of(model);
    int32_t tokens[LAB_TASK_LENGTH];
    int n = 0;
    if (!task || !task->forms) return;
    for (size_t length; n < LAB_TASK_LENGTH && (length = attni_model_cut(&sentence)) > 0;
         sentence += length) {
        tokens[n] = attni_model_word(model, sentence, length);
        const char *meant = tokens[n] < 0 ? nearest_word(model, sentence, length) : NULL;
        if (meant) tokens[n] = attni_model_word(model, meant, strlen(meant));
        n++;
    }
    char text[LAB_READING_TEXT];
    const lab_reading reading = lab_task_read(task, tokens, n);
    lab_reading_text(task, &reading, text, sizeof text);
    out_hint("nearest sentence it can read: \"%s\"", text);
}

static void hint_words(const attni_model *model) {
    fprintf(stderr, "  its words:");
    for (int64_t i = 0; i < model->config.n_words; i++) fprintf(stderr, " %s", model->words[i]);
    fprintf(stderr, "\n");
}

enum { UNKNOWN_TEXT = 400 };

/* Lists the unknown words of the sentence, each in quotes, as far as there is room; how many there
 * are. */
static int list_unknown(const attni_model *model, const char *sentence, char text[UNKNOWN_TEXT]) {
    int n = 0;
    size_t used = 0;
    text[0] = 0;
    for (size_t length; (length = attni_model_cut(&sentence)) > 0; sentence += length) {
        if (attni_model_word(model, sentence, length) >= 0) continue;
        if (used + length + 5 < UNKNOWN_TEXT)
            used += (size_t)snprintf(text + used, UNKNOWN_TEXT - used, "%s\"%.*s\"", n ? ", " : "",
                                     (int)length, sentence);
        n++;
    }
    return n;
}

static int refuse_words(const attni_model *model, const char *sentence) {
    char unknown[UNKNOWN_TEXT];
    const int n = list_unknown(model, sentence, unknown);
    const bool is_one = n == 1 && *unknown;
    const char *meant = is_one ? nearest_word(model, unknown + 1, strlen(unknown) - 2) : NULL;
    if (meant)
        out_error("attend", "%s: not a word of this model. Did you mean %s?", unknown, meant);
    else
        out_error("attend", "%s: not %s of this model", *unknown ? unknown : "a long word",
                  n == 1 ? "a word" : "words");
    hint_nearest(model, sentence);
    hint_words(model);
    return CLI_USAGE;
}

static int refuse_sentence(const attni_model *model, const char *sentence) {
    out_error("attend", "this model knows the words but has not learned sentences like this one");
    hint_nearest(model, sentence);
    return CLI_USAGE;
}

static int refuse_length(const attni_model *model, const char *sentence) {
    out_error("attend", "the sentence is too long: this model reads up to %lld words",
              (long long)model->config.length);
    hint_nearest(model, sentence);
    return CLI_USAGE;
}

/* -------------------------------------------------------------------------------------- reading */

/* How many words the sentence has, or -1 if the model does not know one of them. */
static int64_t count_words(const attni_model *model, const char *sentence) {
    int64_t n = 0;
    for (size_t length; (length = attni_model_cut(&sentence)) > 0; sentence += length, n++)
        if (attni_model_word(model, sentence, length) < 0) return -1;
    return n;
}

/* text has room for the longest one. */
static int tokenize(const attni_model *model, const char *sentence, attend_words *text) {
    const lab_task *task = task_of(model);
    const int64_t n = count_words(model, sentence);
    if (n < 0) return refuse_words(model, sentence);
    if (n > model->config.length) return refuse_length(model, sentence);
    if (n == 0) {
        out_error("attend", "the sentence is empty");
        return CLI_USAGE;
    }
    const char *at = sentence;
    for (size_t length; (length = attni_model_cut(&at)) > 0; at += length) {
        text->tokens[text->n] = attni_model_word(model, at, length);
        text->word[text->n] = model->words[text->tokens[text->n]];
        text->n++;
    }
    if (!task || !task->forms) return CLI_OK;
    const lab_reading reading = lab_task_read(task, text->tokens, n);
    text->question = reading.question;
    return reading.distance == 0 ? CLI_OK : refuse_sentence(model, sentence);
}

static int read_tokens(const attni_model *model, const char *sentence, attend_words *text) {
    const size_t most = (size_t)model->config.length;
    text->tokens = calloc(most, sizeof *text->tokens);
    text->word = calloc(most, sizeof *text->word);
    if (text->tokens && text->word) return tokenize(model, sentence, text);
    out_error("attend", "out of memory");
    return CLI_FAILED;
}

static int split_words(const char *sentence, attend_words *text) {
    attn_error error = {""};
    const attn_status status = lab_words_split(sentence, &text->words, &error);
    if (status != ATTN_OK) return report(status, &error);
    text->n = text->words.n;
    text->word = calloc((size_t)text->n, sizeof *text->word);
    if (!text->word) {
        out_error("attend", "out of memory");
        return CLI_FAILED;
    }
    for (int64_t i = 0; i < text->n; i++) text->word[i] = text->words.word[i];
    return CLI_OK;
}

int attend_read(const attend_reader *reader, const char *sentence, attend_words *text) {
    *text = (attend_words){.question = -1};
    const int code = reader->model.weights ? read_tokens(&reader->model, sentence, text)
                                           : split_words(sentence, text);
    if (code != CLI_OK) attend_words_free(text);
    return code;
}

void attend_words_free(attend_words *text) {
    lab_words_free(&text->words);
    free(text->tokens);
    free(text->word);
    *text = (attend_words){0};
}

attni_look_input attend_input(const attend_reader *reader, const attend_words *text) {
    if (reader->model.weights) return attni_look_input_of(&reader->model, text->tokens, text->n);
    return (attni_look_input){
        .n = text->n, .window = -1, .scale = ATTN_SCALE_AUTO, .temperature = 1, .gradient_at = -1};
}

int attend_look(const attend_reader *reader, const attend_words *text, const attni_look_input *in,
                attni_look *look) {
    attn_ctx *ctx = NULL;
    attn_error error = {""};
    attn_status status = attn_ctx_create(NULL, &ctx, &error);
    if (status == ATTN_OK)
        status = reader->model.weights
                     ? attni_look_at(ctx, &reader->model, in, look, &error)
                     : lab_random_look(ctx, &text->words, &reader->random, in, look, &error);
    attn_ctx_destroy(ctx);
    return report(status, &error);
}
