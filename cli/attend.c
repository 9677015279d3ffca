/* SPDX-License-Identifier: Apache-2.0 */
/* attend.c - `attn attend MODEL "sentence"`: what a trained model answers and where it looks.
 * Tests: tests/cli/test_train.py */
#include "lab/learning/task.h"
#include "shared/scale_option.h"
#include "train/look.h"

#include <stdlib.h>
#include <string.h>

typedef struct attend_options {
    cli_common common;
    int64_t layer, head; /* from 1; 0: last layer, mean of heads */
    bool causal;
    int scale;          /* lab_scaling; LAB_SCALINGS: the model's */
    double temperature; /* 0: the model's */
} attend_options;

#define AT(field) .at = offsetof(attend_options, field)

static const cli_option options[] = {
    {.kind = CLI_SECTION, .name = "What to show"},
    {.kind = CLI_INT,
     .name = "layer",
     AT(layer),
     .value = "N",
     .min = 1,
     .max = 256,
     .help = "from 1; default: the last"},
    {.kind = CLI_INT,
     .name = "head",
     AT(head),
     .value = "N",
     .min = 1,
     .max = 65536,
     .help = "from 1; default: the mean of all heads"},
    {.kind = CLI_SECTION, .name = "What to change"},
    {.kind = CLI_FLAG, .name = "causal", AT(causal), .help = "no token sees a later one"},
    {.kind = CLI_CHOICE,
     .name = "scale",
     AT(scale),
     .value = CLI_SCALE_WORDS "|model",
     .help = "scores divided by nothing, sqrt(d_k) or d_k; default: the model's"},
    {.kind = CLI_REAL,
     .name = "temperature",
     AT(temperature),
     .value = "X",
     .help = "of the attention softmax; default: the model's"},
    CLI_COMMON_OPTIONS,
};

static const cli_spec spec = {
    .command = "attend",
    .usage = "attend MODEL \"sentence\" [options]",
    .about = "Shows what a model of `attn train --save` answers to a sentence and where its\n"
             "attention goes. Words are those of its task, separated by spaces; a full stop\n"
             "may follow a word directly.",
    .notes = {{"Examples", "  attn train whois --save whois.safetensors\n"
                           "  attn attend whois.safetensors \\\n"
                           "      \"The red cat sat on the blue mat because it was tired.\"\n"
                           "  attn attend whois.safetensors \\\n"
                           "      \"The red cat sat on the blue mat because it was dirty.\"\n"}},
    .options = options,
    .n_options = sizeof options / sizeof *options,
};

/* -------------------------------------------------------------------------------------- tokens */

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
        out_error(spec.command, "%s: not a word of this model. Did you mean %s?", word, meant);
    else
        out_error(spec.command, "%s: not a word of this model", word);
    fprintf(stderr, "  it knows:");
    for (size_t i = 0; i < list.n; i++) fprintf(stderr, " %s", list.word[i]);
    fprintf(stderr, "\n");
    return CLI_USAGE;
}

/* The next word of *text and its length; a full stop is a word of its own. 0 at the end. */
static size_t next_letters(const char **text) {
    static const char space[] = " \t\n\r";
    *text += strspn(*text, space);
    size_t n = strcspn(*text, space);
    if (n > 1 && (*text)[n - 1] == '.') n--;
    return n;
}

/* At most `most` tokens; an exit code. */
static int tokenize(const attni_model *model, const char *text, int32_t *tokens, int64_t *n) {
    const int64_t most = model->config.length;
    *n = 0;
    for (size_t length; (length = next_letters(&text)) > 0; text += length) {
        const int32_t token = attni_model_word(model, text, length);
        if (token < 0) return unknown_word(model, text, length);
        if (*n == most) {
            out_error(spec.command, "the sentence is too long: this model reads up to %lld words",
                      (long long)most);
            return CLI_USAGE;
        }
        tokens[(*n)++] = token;
    }
    if (*n > 0) return CLI_OK;
    out_error(spec.command, "the sentence is empty");
    return CLI_USAGE;
}

/* --------------------------------------------------------------------------------------- command */

/* The tokens at which the task asks, or all when they are unknown or not all there. */
static void choose_questions(look_view *view) {
    const lab_task *task = lab_task_named(view->model->task);
    view->first = 0;
    view->n_asked = view->n;
    if (!task || view->n <= task->first_question) return;
    view->first = task->first_question;
    view->n_asked = view->n - view->first;
    if (view->n_asked > task->n_questions) view->n_asked = task->n_questions;
}

static int show(const attend_options *o, look_view *view) {
    if (!o->common.json) return look_print(view);
    json_t *root =
        json_pack("{s:s, s:I, s:I, s:b, s:f}", "task", view->model->task, "seed",
                  (json_int_t)view->model->seed, "steps", (json_int_t)view->model->steps, "causal",
                  view->model->config.causal, "temperature", view->model->config.temperature);
    const int code = look_json(view, root);
    if (code == CLI_OK) return out_json(root);
    json_decref(root);
    return code;
}

static int check(const attend_options *o, const attni_model *model) {
    if (o->layer > model->config.layers) {
        out_error(spec.command, "--layer %lld: this model has %lld", (long long)o->layer,
                  (long long)model->config.layers);
        return CLI_USAGE;
    }
    if (o->head > model->config.heads) {
        out_error(spec.command, "--head %lld: this model has %lld in each layer",
                  (long long)o->head, (long long)model->config.heads);
        return CLI_USAGE;
    }
    if (o->temperature >= 0) return CLI_OK;
    out_error(spec.command, "--temperature %g: expected more than 0", o->temperature);
    return CLI_USAGE;
}

static int attend(const attend_options *o, attni_model *model, const char *sentence) {
    look_view view = {.model = model, .head = o->head - 1};
    int code = check(o, model);
    if (code != CLI_OK) return code;
    int32_t *tokens = calloc((size_t)model->config.length, sizeof *tokens);
    if (!tokens) {
        out_error(spec.command, "out of memory");
        return CLI_FAILED;
    }
    code = tokenize(model, sentence, tokens, &view.n);
    if (code == CLI_OK) {
        if (o->causal) model->config.causal = true;
        if (o->scale != LAB_SCALINGS)
            model->config.scale = lab_scaling_factor((lab_scaling)o->scale, model->config.d_k);
        if (o->temperature > 0) model->config.temperature = o->temperature;
        view.tokens = tokens;
        view.layer = (o->layer ? o->layer : model->config.layers) - 1;
        choose_questions(&view);
        code = show(o, &view);
    }
    free(tokens);
    return code;
}

int cmd_attend(int argc, char **argv) {
    int words = 0;
    while (words + 1 < argc && words < 2 &&
           (argv[words + 1][0] != '-' || strcmp(argv[words + 1], "-") == 0))
        words++;
    attend_options o = {.scale = LAB_SCALINGS};
    int code = cli_parse(&spec, argc - words, argv + words, &o);
    if (code != CLI_GO) return code;
    if (words < 2) {
        out_error(spec.command, "%s is missing: attn attend MODEL \"sentence\"",
                  words == 0 ? "the model" : "the sentence");
        out_hint("try: attn help attend");
        return CLI_USAGE;
    }
    attni_model model;
    code = look_load(spec.command, argv[1], &model);
    if (code != CLI_OK) return code;
    code = attend(&o, &model, argv[2]);
    attni_model_free(&model);
    return code;
}
