/* SPDX-License-Identifier: Apache-2.0 */
/* attend_read.c - a sentence as tokens of a model or words of random layers, and the look at it.
 * Tests: tests/cli/test_attend.py */
#include "attend/attend.h"
#include "shared/options.h"

#include <stdlib.h>
#include <string.h>

typedef struct word_list {
    const char *const *word;
    size_t n;
} word_list;

static const char *next_word(const void *arg, size_t i) {
    return ((const word_list *)arg)->word[i];
}

static int unknown_word(const attni_model *model, const char *letters, size_t n) {
    char word[80];
    const word_list list = {model->words, (size_t)model->config.n_words};
    snprintf(word, sizeof word, "%.*s", (int)(n < 79 ? n : 79), letters);
    const char *meant = cli_nearest(word, list.n, next_word, &list);
    if (meant)
        out_error("attend", "%s: not a word of this model. Did you mean %s?", word, meant);
    else
        out_error("attend", "%s: not a word of this model", word);
    fprintf(stderr, "  it knows:");
    for (size_t i = 0; i < list.n; i++) fprintf(stderr, " %s", list.word[i]);
    fprintf(stderr, "\n");
    return CLI_USAGE;
}

static int report(attn_status status, const attn_error *error) {
    if (status == ATTN_OK) return CLI_OK;
    out_error("attend", "%s", error->message);
    return cli_code_of(status);
}

/* text has room for the longest one. */
static int tokenize(const attni_model *model, const char *sentence, attend_words *text) {
    const int64_t most = model->config.length;
    for (size_t length; (length = attni_model_cut(&sentence)) > 0; sentence += length) {
        const int32_t token = attni_model_word(model, sentence, length);
        if (token < 0) return unknown_word(model, sentence, length);
        if (text->n == most) {
            out_error("attend", "the sentence is too long: this model reads up to %lld words",
                      (long long)most);
            return CLI_USAGE;
        }
        text->tokens[text->n] = token;
        text->word[text->n++] = model->words[token];
    }
    if (text->n > 0) return CLI_OK;
    out_error("attend", "the sentence is empty");
    return CLI_USAGE;
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
    *text = (attend_words){0};
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
