/* SPDX-License-Identifier: Apache-2.0 */
/* attend.c - `attn attend MODEL "sentence"`: what a trained model answers and where it looks, or
 * how layers with random weights read any words. Tests: tests/cli/test_attend.py */
#include "attend/attend.h"
#include "lab/learning/task.h"
#include "shared/model_load.h"
#include "shared/scale_option.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OFF = 64 };

typedef struct attend_options {
    cli_common common;
    int show;            /* attend_show */
    int aggregate;       /* attni_aggregate; NOTHING_CHOSEN: by --head */
    int64_t layer, head; /* from 1; 0: the last layer, not chosen */
    const char *at;      /* a word, or a position from 1; NULL: where the task asks */
    int64_t key;         /* from 1; 0: not chosen */
    bool causal;
    int64_t window; /* -1: none */
    int64_t padding;
    int scale;          /* lab_scaling; LAB_SCALINGS: the model's */
    double temperature; /* 0: the model's */
    const char *off, *compare;
    bool random;
    int64_t seed, layers, heads, d_model; /* of random layers; -1 or 0: not given */
} attend_options;

enum { NOTHING_CHOSEN = ATTNI_SHOW_GRADIENT + 1 };

#define AT(field) .at = offsetof(attend_options, field)
#define COUNT(field_name, field, least, most, text)                                                \
    {.kind = CLI_INT,                                                                              \
     .name = field_name,                                                                           \
     AT(field),                                                                                    \
     .value = "N",                                                                                 \
     .min = least,                                                                                 \
     .max = most,                                                                                  \
     .help = text}

static const cli_option options[] = {
    {.kind = CLI_SECTION, .name = "What to show"},
    {.kind = CLI_CHOICE,
     .name = "show",
     AT(show),
     .value = ATTEND_SHOW_WORDS,
     .help = "one of the views below (default: map)"},
    {.kind = CLI_CHOICE,
     .name = "aggregate",
     AT(aggregate),
     .value = ATTEND_AGGREGATE_WORDS,
     .help = "matrix that a map shows (default: mean, or head with --head)"},
    COUNT("layer", layer, 1, 256, "layer, from 1 (default: the last)"),
    COUNT("head", head, 1, 65536, "head, from 1 (default: 1)"),
    {.kind = CLI_TEXT,
     .name = "at",
     AT(at),
     .value = "WORD",
     .help = "where to ask: a word, or its position from 1 (default: as the task asks)"},
    COUNT("key", key, 1, 65536, "key of a product, from 1 (default: the largest weight)"),
    {.kind = CLI_TEXT,
     .name = "compare",
     AT(compare),
     .value = "SENTENCE",
     .help = "subtract the map of another sentence, or show both shifts"},
    {.kind = CLI_SECTION, .name = "What to change"},
    {.kind = CLI_FLAG, .name = "causal", AT(causal), .help = "hide every later token"},
    COUNT("window", window, 0, 65536, "hide tokens more than N positions away"),
    COUNT("padding", padding, 0, 65536, "hide the last N tokens"),
    {.kind = CLI_CHOICE,
     .name = "scale",
     AT(scale),
     .value = CLI_SCALE_WORDS "|model",
     .help = "divide scores by nothing, sqrt(d_k) or d_k (default: as in the model)"},
    {.kind = CLI_REAL,
     .name = "temperature",
     AT(temperature),
     .value = "X",
     .help = "temperature of the attention softmax (default: as in the model)"},
    {.kind = CLI_TEXT,
     .name = "off",
     AT(off),
     .value = "L.H[,L.H]",
     .help = "heads to switch off: layer and head, from 1"},
    {.kind = CLI_SECTION, .name = "Random weights"},
    {.kind = CLI_FLAG,
     .name = "random",
     AT(random),
     .help = "read any words with random weights, without a model"},
    COUNT("seed", seed, 0, UINT32_MAX, "random seed (default 42)"),
    COUNT("layers", layers, 1, LAB_RANDOM_LAYERS, "number of layers (default 2)"),
    COUNT("heads", heads, 1, LAB_MOST_WIDTH, "heads in each layer (default 4)"),
    COUNT("d-model", d_model, 1, LAB_MOST_WIDTH, "width of the layers (default 32)"),
    CLI_COMMON_OPTIONS,
};

static const cli_spec spec = {
    .command = "attend",
    .usage = "attend MODEL \"sentence\" [options]\nattend \"sentence\" --random [options]",
    .about = "Shows what a model of `attn train --save` answers to a sentence and where its\n"
             "attention goes. A model of whois or sense reads the sentences of its task only,\n"
             "with or without a full stop; it names the nearest one when it cannot read what\n"
             "was typed. With --random, layers with random weights read any words: they show\n"
             "the arithmetic, not meaning, and give no answers.",
    .notes =
        {{"Views",
          "  map         weights of one head; the mean or the largest of a layer's heads;\n"
          "              rollout: (A + I) / 2 of all layers, multiplied; gradient: weights\n"
          "              times -dL/dA where that is positive, mean of the heads\n"
          "  heads       a map of every head\n"
          "  entropy     entropy of each row of each head in nats (natural logarithm)\n"
          "  product     query of --at times key of --key, element by element\n"
          "  positions   |dL/dx| of each token\n"
          "  parameters  |dL/dw| of each parameter\n"
          "  shift       where each token lies before the first layer and after the last,\n"
          "              on the two axes along which these vectors differ most\n"
          "  L is the loss of the model's own answer at --at. Random weights give no\n"
          "  answer; L is then -|x|^2 / 2 of the vector that leaves the last layer at --at.\n"},
         {"Examples", "  attn train whois --save whois.safetensors\n"
                      "  attn attend whois.safetensors \\\n"
                      "      \"The cat sat on the mat because it was tired.\"\n"
                      "  attn attend whois.safetensors \\\n"
                      "      \"The cat sat on the mat because it was dirty.\" --at mat\n"
                      "  attn attend \"any words at all\" --random --aggregate rollout\n"}},
    .options = options,
    .n_options = sizeof options / sizeof *options,
};

/* -------------------------------------------------------------------------------------- reader */

static int open_model(const char *path, attend_reader *r) {
    const int code = cli_model_load(spec.command, path, &r->model);
    if (code != CLI_OK) return code;
    r->layers = r->model.config.layers;
    r->heads = r->model.config.heads;
    r->d_k = r->model.config.d_k;
    return CLI_OK;
}

static void choose_random_layers(const attend_options *o, attend_reader *r) {
    r->random = (lab_random_layers){.layers = o->layers ? o->layers : 2,
                                    .how = {.H = o->heads ? o->heads : 4,
                                            .d_model = o->d_model ? o->d_model : 32,
                                            .seed = o->seed < 0 ? 42 : (uint32_t)o->seed}};
    r->layers = r->random.layers;
    r->heads = r->random.how.H;
    r->d_k = r->random.how.d_model / r->heads;
}

/* ------------------------------------------------------------------------------------- settings */

static bool is_by_gradient(const attend_view *v) {
    return v->show == ATTEND_POSITIONS || v->show == ATTEND_PARAMETERS ||
           (v->show == ATTEND_MAP && v->aggregate == ATTNI_SHOW_GRADIENT);
}

static int out_of_range(const char *option, int64_t value, const char *has, int64_t most) {
    out_error(spec.command, "--%s %lld: %s %lld", option, (long long)value, has, (long long)most);
    return CLI_USAGE;
}

static int check(const attend_options *o, const attend_reader *r) {
    const char *has = o->random ? "there are" : "this model has";
    if (o->layer > r->layers) return out_of_range("layer", o->layer, has, r->layers);
    if (o->head > r->heads) return out_of_range("head", o->head, has, r->heads);
    if (o->compare && o->show != ATTEND_MAP && o->show != ATTEND_SHIFT) {
        out_error(spec.command, "--compare: works only with --show map or shift");
        return CLI_USAGE;
    }
    if (o->temperature >= 0) return CLI_OK;
    out_error(spec.command, "--temperature %g: expected more than 0", o->temperature);
    return CLI_USAGE;
}

/* One "2.1" of a list as layer * heads + head; *text moves to the next one, or becomes NULL. -1 if
 * it is none. */
static int32_t next_head(const char **text, const attend_reader *r) {
    char *dot, *end;
    const long layer = strtol(*text, &dot, 10);
    if (*dot != '.') return -1;
    const long head = strtol(dot + 1, &end, 10);
    const bool is_there = layer >= 1 && layer <= r->layers && head >= 1 && head <= r->heads;
    if (!is_there || (*end && *end != ',')) return -1;
    *text = *end ? end + 1 : NULL;
    return (int32_t)((layer - 1) * r->heads + head - 1);
}

/* Fills off (MOST_OFF) from "2.1,2.2" or NULL; how many, or -1 after a message. */
static int64_t parse_off(const char *text, const attend_reader *r, int32_t *off) {
    int64_t n = 0;
    for (const char *at = text; at; n++) {
        const int32_t head = n < MOST_OFF ? next_head(&at, r) : -1;
        if (head < 0) {
            out_error(spec.command,
                      "--off %s: expected at most %d LAYER.HEAD separated by commas, layers 1 to "
                      "%lld, heads 1 to %lld",
                      text, MOST_OFF, (long long)r->layers, (long long)r->heads);
            return -1;
        }
        off[n] = head;
    }
    return n;
}

/* Changes the input as the options say, but for the heads that are off. */
static void settle_input(const attend_options *o, const attend_reader *r, const attend_view *view,
                         attni_look_input *in) {
    in->causal |= o->causal;
    in->window = o->window;
    in->padding = o->padding;
    if (o->scale < LAB_SCALINGS) in->scale = lab_scaling_factor((lab_scaling)o->scale, r->d_k);
    if (o->temperature > 0) in->temperature = o->temperature;
    in->gradient_at = is_by_gradient(view) ? view->at : -1;
}

/* The tokens at which the task asks, or all when they are unknown or not all there; of random
 * layers none. */
static void choose_questions(const attend_words *text, attend_view *view) {
    if (!view->model) return;
    const lab_task *task = lab_task_named(view->model->task);
    const bool is_known = text->question >= 0 || (task && text->n > task->first_question);
    view->first = text->question >= 0 ? text->question : is_known ? task->first_question : 0;
    view->n_asked = text->question >= 0 ? 1 : text->n - view->first;
    if (is_known && view->n_asked > task->n_questions) view->n_asked = task->n_questions;
}

/* Asks at this token instead. */
static void ask_at(int64_t at, const attend_words *text, attend_view *view) {
    const bool is_taught = at >= view->first && at < view->first + view->n_asked;
    view->at = at;
    if (!view->model) return;
    view->is_untaught = !is_taught && view->n_asked < text->n;
    view->first = at;
    view->n_asked = 1;
}

static void choose_view(const attend_options *o, const attend_reader *r, int64_t at,
                        const attend_words *text, attend_view *view) {
    choose_questions(text, view);
    view->show = (attend_show)o->show;
    view->aggregate = o->aggregate != NOTHING_CHOSEN ? (attni_aggregate)o->aggregate
                      : o->head                      ? ATTNI_SHOW_HEAD
                                                     : ATTNI_SHOW_MEAN;
    view->layer = (o->layer ? o->layer : r->layers) - 1;
    view->head = (o->head ? o->head : 1) - 1;
    const bool is_asked = view->n_asked > 0 && view->n_asked < text->n;
    view->at = is_asked ? view->first : text->n - 1;
    if (at >= 0) ask_at(at, text, view);
}

/* The token that --at names, from 0: a position or a word that occurs once; -1: it names none. */
static int64_t token_named(const char *at, const attend_words *text) {
    int64_t position, found = -1;
    if (cli_parse_int(at, &position))
        return position >= 1 && position <= text->n ? position - 1 : -1;
    for (int64_t i = 0; i < text->n; i++) {
        if (strcmp(text->word[i], at) != 0) continue;
        if (found >= 0) return -1;
        found = i;
    }
    return found;
}

/* Says why token_named() found nothing. */
static int no_token(const char *at, const attend_words *text) {
    char positions[80] = "";
    size_t used = 0;
    int64_t position;
    if (cli_parse_int(at, &position))
        return out_of_range("at", position, "tokens in the sentence:", text->n);
    for (int64_t i = 0; i < text->n && used < sizeof positions; i++)
        if (strcmp(text->word[i], at) == 0)
            used += (size_t)snprintf(positions + used, sizeof positions - used, "%s%lld",
                                     used ? " or " : "", (long long)i + 1);
    if (used) {
        out_error(spec.command, "--at %s: occurs more than once in the sentence", at);
        out_hint("choose it by its position: --at %s", positions);
    } else {
        out_error(spec.command, "--at %s: not a word of the sentence", at);
        out_hint("expected one of its words, or a position from 1 to %lld", (long long)text->n);
    }
    return CLI_USAGE;
}

/* The key that the token in question gives most weight to. */
static int64_t largest_key(const attend_view *view) {
    const float *row = attni_look_matrix(view->look, ATTNI_SHOW_HEAD, view->layer, view->head) +
                       view->at * view->look->n;
    int64_t most = 0;
    for (int64_t j = 1; j < view->look->n; j++)
        if (row[j] > row[most]) most = j;
    return most;
}

/* -------------------------------------------------------------------------------------- command */

/* A sentence and the look at it. */
typedef struct looked_at {
    attend_words text;
    attni_look_input in;
    attni_look look;
} looked_at;

static void release(looked_at *side) {
    attni_look_free(&side->look);
    attend_words_free(&side->text);
}

/* off (MOST_OFF) must stay as long as the side. */
static int look_at(const attend_options *o, const attend_reader *r, const char *sentence,
                   int32_t *off, looked_at *side, attend_view *view) {
    int code = attend_read(r, sentence, &side->text);
    if (code != CLI_OK) return code;
    const int64_t at = o->at ? token_named(o->at, &side->text) : -1;
    *view = (attend_view){
        .look = &side->look, .model = r->model.weights ? &r->model : NULL, .word = side->text.word};
    if (o->at && at < 0 && sentence != o->compare) return no_token(o->at, &side->text);
    if (o->key > side->text.n)
        return out_of_range("key", o->key, "tokens in the sentence:", side->text.n);
    choose_view(o, r, at, &side->text, view);
    side->in = attend_input(r, &side->text);
    settle_input(o, r, view, &side->in);
    side->in.off = off;
    side->in.n_off = parse_off(o->off, r, off);
    if (side->in.n_off < 0) return CLI_USAGE;
    code = attend_look(r, &side->text, &side->in, &side->look);
    if (code == CLI_OK) view->key = o->key ? o->key - 1 : largest_key(view);
    return code;
}

static json_t *side_json(const attend_view *view, const attni_look_input *in) {
    const attni_model *m = view->model;
    json_t *root = json_object();
    if (m) {
        json_object_set_new(root, "task", json_string(m->task));
        json_object_set_new(root, "seed", json_integer((json_int_t)m->seed));
        json_object_set_new(root, "steps", json_integer((json_int_t)m->steps));
    }
    json_object_set_new(root, "causal", json_boolean(in->causal));
    json_object_set_new(root, "temperature", json_real(in->temperature));
    attend_json_weights(view, root);
    attend_json_shown(view, root);
    return root;
}

static int show_json(const looked_at *sides, const attend_view *view, int n_sides) {
    json_t *root = side_json(&view[0], &sides[0].in);
    if (n_sides == 1) return out_json(root);
    json_object_set_new(root, "compare", side_json(&view[1], &sides[1].in));
    const int code = view->show == ATTEND_MAP ? attend_json_difference(view, root) : CLI_OK;
    if (code == CLI_OK) return out_json(root);
    json_decref(root);
    return code;
}

static int show(const attend_options *o, const looked_at *sides, attend_view *view, int n_sides) {
    float *points = view->show == ATTEND_SHIFT ? attend_shift(view, n_sides) : NULL;
    if (view->show == ATTEND_SHIFT && !points) {
        out_error(spec.command, "out of memory for the shift");
        return CLI_FAILED;
    }
    const int code = o->common.json ? show_json(sides, view, n_sides)
                     : n_sides == 2 ? attend_print_both(view)
                                    : attend_print(view);
    free(points);
    return code;
}

static int attend(const attend_options *o, const attend_reader *r, const char *sentence) {
    const char *const sentences[] = {sentence, o->compare};
    const int n_sides = o->compare ? 2 : 1;
    int32_t off[MOST_OFF];
    looked_at sides[2] = {0};
    attend_view view[2];
    int code = check(o, r);
    for (int s = 0; s < n_sides && code == CLI_OK; s++)
        code = look_at(o, r, sentences[s], off, &sides[s], &view[s]);
    if (code == CLI_OK) code = show(o, sides, view, n_sides);
    for (int s = 0; s < n_sides; s++) release(&sides[s]);
    return code;
}

static int check_words(const attend_options *o, int words) {
    const bool sized = o->seed >= 0 || o->layers || o->heads || o->d_model;
    const char *missing = words == 0 && !o->random ? "the model" : "the sentence";
    if (o->random && words > 1)
        out_error(spec.command, "--random takes no model: attn attend \"sentence\" --random");
    else if (!o->random && sized)
        out_error(spec.command, "--seed, --layers, --heads, --d-model: work only with --random");
    else if (words == (o->random ? 1 : 2))
        return CLI_OK;
    else
        out_error(spec.command, "%s is missing: attn attend %s", missing,
                  o->random ? "\"sentence\" --random" : "MODEL \"sentence\"");
    out_hint("try: attn help attend");
    return CLI_USAGE;
}

int cmd_attend(int argc, char **argv) {
    int words = 0;
    while (words + 1 < argc && words < 2 &&
           (argv[words + 1][0] != '-' || strcmp(argv[words + 1], "-") == 0))
        words++;
    attend_options o = {
        .aggregate = NOTHING_CHOSEN, .window = -1, .scale = LAB_SCALINGS, .seed = -1};
    int code = cli_parse(&spec, argc - words, argv + words, &o);
    if (code != CLI_GO) return code;
    code = check_words(&o, words);
    if (code != CLI_OK) return code;
    attend_reader reader = {0};
    if (o.random)
        choose_random_layers(&o, &reader);
    else
        code = open_model(argv[1], &reader);
    if (code == CLI_OK) code = attend(&o, &reader, argv[words]);
    attni_model_free(&reader.model);
    return code;
}
