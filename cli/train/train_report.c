/* SPDX-License-Identifier: Apache-2.0 */
/* train_report.c - what a training run ended with, for people and as JSON.
 * Tests: tests/cli/test_train.py */
#include "attend/attend.h"
#include "train/train.h"

#include <string.h>

/* One held-out example with its questions, and a look at it. */
typedef struct shown_example {
    lab_task_example example;
    const char *word[LAB_TASK_LENGTH];
    attni_look look;
    attend_view view;
} shown_example;

/* The tokens from the first that is asked in this example to the last. */
static void choose_questions(const lab_task *task, const lab_task_example *example,
                             attend_view *view) {
    int last = 0;
    for (int q = task->n_questions - 1; q >= 0; q--) {
        if (example->answer[q][0] < 0) continue;
        view->first = task->first_question + q;
        if (!last) last = task->first_question + q;
    }
    view->n_asked = last - view->first + 1;
}

static int look_at_example(const train_run_state *run, shown_example *shown) {
    const lab_task *task = run->training.options.task;
    const attni_model *model = lab_trainer_model(run->training.trainer);
    attn_error error = {""};
    lab_task_draw(task, 1, 0, LAB_HELD_OUT, &shown->example);
    const lab_task_example *example = &shown->example;
    for (int i = 0; i < example->n; i++) shown->word[i] = task->words[example->token[i]];
    const attn_status status =
        attni_model_look(model, example->token, example->n, &shown->look, &error);
    shown->view = (attend_view){.look = &shown->look,
                                .model = model,
                                .word = shown->word,
                                .aggregate = ATTNI_SHOW_MEAN,
                                .layer = run->training.options.layers - 1};
    choose_questions(task, example, &shown->view);
    if (status == ATTN_OK) return CLI_OK;
    out_error("train", "%s", error.message);
    return cli_code_of(status);
}

/* ---------------------------------------------------------------------------------------- text */

static void print_title(const train_run_state *run) {
    const attni_model *model = lab_trainer_model(run->training.trainer);
    const attni_model_config *c = &model->config;
    char count[OUT_NUMBER], seconds[OUT_NUMBER];
    printf("%s%s%s: %s\n", out_begin(stdout, OUT_BOLD), run->training.options.task->name,
           out_begin(stdout, OUT_PLAIN), run->training.options.task->about);
    printf("%s, layers %lld, heads %lld, d %lld, d_k %lld, %s parameters, seed %llu",
           c->causal ? "decoder" : "encoder", (long long)c->layers, (long long)c->heads,
           (long long)c->d, (long long)c->d_k, out_grouped((double)model->parameters.count, count),
           (unsigned long long)run->training.options.seed);
    if (c->scale != ATTN_SCALE_AUTO) printf(", scale %.4g", c->scale);
    if (c->temperature != 1) printf(", temperature %.4g", c->temperature);
    if (strcmp(run->training.options.positions, "learned") != 0)
        printf(", positions %s", run->training.options.positions);
    printf("\n%lld steps of %lld examples in %s, %.0f steps/s on %d thread%s%s\n\n",
           (long long)run->training.step.step, (long long)run->training.options.batch,
           out_seconds(run->seconds, seconds),
           (double)run->training.step.step / (run->seconds > 0 ? run->seconds : 1),
           run->training.options.threads, run->training.options.threads == 1 ? "" : "s",
           run->training.stopped ? " (interrupted)" : "");
}

static void print_share(const char *name, double share, const char *remark) {
    printf("  %-34s %s%6.1f %%%s   %s\n", name, out_begin(stdout, OUT_BOLD), 100 * share,
           out_begin(stdout, OUT_PLAIN), remark);
}

static void print_selectivity(const lab_evaluation *e) {
    for (int64_t l = 0; l < e->layers; l++) {
        printf("  selectivity, layer %-15lld", (long long)l + 1);
        for (int64_t h = 0; h < e->heads; h++) {
            if (h > 0 && h % 4 == 0) printf("\n%36s", "");
            printf(" head %lld %5.1f %%", (long long)h + 1, 100 * e->selectivity[l * e->heads + h]);
        }
        printf("   of the averaged weights %s%.1f %%%s\n", out_begin(stdout, OUT_BOLD),
               100 * e->head_mean[l], out_begin(stdout, OUT_PLAIN));
    }
}

static int print_text(const train_run_state *run) {
    const lab_evaluation *e = &run->training.now;
    char remark[100];
    print_title(run);
    snprintf(remark, sizeof remark, "of %lld examples not seen in training: every answer right",
             (long long)e->examples);
    print_share("held-out accuracy", e->accuracy, remark);
    print_share("single answers", e->answers, "right");
    print_selectivity(e);
    print_share("accuracy, deciding tokens hidden", e->without_right,
                "from the questions, everywhere");
    print_share("accuracy, rivals hidden", e->without_rival, "from the questions, everywhere");
    printf("\n");
    shown_example shown;
    int code = look_at_example(run, &shown);
    if (code != CLI_OK) return code;
    code = attend_print(&shown.view);
    attni_look_free(&shown.look);
    return code;
}

/* ---------------------------------------------------------------------------------------- JSON */

static json_t *model_json(const train_run_state *run) {
    const attni_model *model = lab_trainer_model(run->training.trainer);
    const attni_model_config *c = &model->config;
    json_t *root = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "layers", (json_int_t)c->layers,
                             "heads", (json_int_t)c->heads, "d", (json_int_t)c->d, "d_k",
                             (json_int_t)c->d_k, "d_hidden", (json_int_t)c->d_hidden, "parameters",
                             (json_int_t)model->parameters.count, "causal", c->causal);
    json_object_set_new(root, "scale",
                        c->scale == ATTN_SCALE_AUTO ? json_string("1/sqrt(d_k)")
                                                    : json_real(c->scale));
    json_object_set_new(root, "temperature", json_real(c->temperature));
    json_object_set_new(root, "positions", json_string(attni_positions_name(c->positions.kind)));
    return root;
}

static json_t *evaluation_json(const lab_evaluation *e) {
    json_t *layers = json_array(), *means = json_array();
    for (int64_t l = 0; l < e->layers; l++) {
        json_t *heads = json_array();
        for (int64_t h = 0; h < e->heads; h++)
            json_array_append_new(heads, json_real(e->selectivity[l * e->heads + h]));
        json_array_append_new(layers, heads);
        json_array_append_new(means, json_real(e->head_mean[l]));
    }
    return json_pack(
        "{s:I, s:o, s:f, s:f, s:o, s:o, s:o, s:o}", "examples", (json_int_t)e->examples, "loss",
        out_json_real(e->loss), "accuracy", e->accuracy, "answers", e->answers, "selectivity",
        layers, "selectivity_of_averaged_weights", means, "accuracy_without_right",
        out_json_real(e->without_right), "accuracy_without_rival", out_json_real(e->without_rival));
}

static int print_json(const train_run_state *run) {
    shown_example shown;
    const int code = look_at_example(run, &shown);
    if (code != CLI_OK) return code;
    json_t *root = json_pack(
        "{s:s, s:I, s:o, s:I, s:I, s:f, s:i, s:I, s:f, s:b, s:o, s:O}", "task",
        run->training.options.task->name, "seed", (json_int_t)run->training.options.seed, "model",
        model_json(run), "batch", (json_int_t)run->training.options.batch, "steps",
        (json_int_t)run->training.step.step, "learning_rate", run->training.options.rate, "threads",
        run->training.options.threads, "solved_at", (json_int_t)run->training.solved_at, "seconds",
        run->seconds, "interrupted", run->training.stopped, "held_out",
        evaluation_json(&run->training.now), "history", run->history);
    json_t *example = json_object();
    attend_json_weights(&shown.view, example);
    attni_look_free(&shown.look);
    json_object_set_new(root, "example", example);
    return out_json(root);
}

int train_report(const train_run_state *run, bool as_json) {
    return as_json ? print_json(run) : print_text(run);
}
