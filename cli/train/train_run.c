/* SPDX-License-Identifier: Apache-2.0 */
/* train_run.c - what one sees of a training run: progress, log, Ctrl-C.
 * Tests: tests/cli/test_train.py */
#include "train/train.h"

#include "shared/terminal.h"

#include <signal.h>

static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal_number) {
    signal(signal_number, interrupt); /* Windows forgets a handler that it has called */
    is_interrupted = 1;
}

/* ------------------------------------------------------------------------------------ progress */

static void show(train_run_state *run, bool evaluated) {
    train_progress *p = &run->shown;
    const lab_training *t = &run->training;
    const double now = run->begin + run->seconds;
    if (!p->on || (p->lines ? !evaluated : now - p->at < 0.1)) return;
    const double rate = (double)t->step.step / (run->seconds > 0 ? run->seconds : 1e-9);
    const int left = (int)((double)(t->options.steps - t->step.step) / rate + 0.5);
    char text[OUT_STATUS]; /* the most important first: the end may be cut */
    snprintf(text, sizeof text,
             "%s  step %lld/%lld  %d:%02d left  loss %.4f  held-out %.1f %%  selectivity %.1f %%"
             "  %.0f steps/s",
             t->options.task->name, (long long)t->step.step, (long long)t->options.steps, left / 60,
             left % 60, t->step.loss, 100 * t->now.accuracy,
             100 * lab_evaluation_selectivity(&t->now), rate);
    if (p->lines)
        fprintf(stderr, "%s\n", text);
    else
        out_status(text);
    p->at = now;
    p->drawn = true;
}

/* ----------------------------------------------------------------------------------------- log */

static json_t *step_json(const lab_training *t, bool evaluated) {
    const lab_training_step *s = &t->step;
    json_t *line = json_pack("{s:I, s:o, s:o, s:f}", "step", (json_int_t)s->step, "loss",
                             out_json_real(s->loss), "gradient_norm",
                             out_json_real(s->gradient_norm), "rate", s->rate);
    json_t *norms = json_array();
    for (int64_t l = 0; l < t->options.layers; l++)
        json_array_append_new(norms, out_json_real(lab_trainer_layer_norm(t->trainer, l)));
    json_object_set_new(line, "layer_gradient_norms", norms);
    if (!evaluated) return line;
    json_object_set_new(line, "held_out_loss", out_json_real(t->now.loss));
    json_object_set_new(line, "accuracy", json_real(t->now.accuracy));
    json_object_set_new(line, "answers", json_real(t->now.answers));
    json_object_set_new(line, "selectivity", json_real(lab_evaluation_selectivity(&t->now)));
    return line;
}

static void record(const train_run_state *run, bool evaluated) {
    if (run->log) {
        json_t *line = step_json(&run->training, evaluated);
        json_dumpf(line, run->log, JSON_COMPACT | JSON_REAL_PRECISION(9));
        fputc('\n', run->log);
        json_decref(line);
    }
    if (run->history && evaluated)
        json_array_append_new(run->history, step_json(&run->training, true));
}

/* ----------------------------------------------------------------------------------------- run */

static bool watch(void *arg, const lab_training *training, bool evaluated) {
    train_run_state *run = arg;
    (void)training; /* run->training */
    run->seconds = out_clock() - run->begin;
    record(run, evaluated);
    show(run, evaluated);
    return !is_interrupted;
}

void train_watch_begin(train_run_state *run) {
    is_interrupted = 0;
    run->before_int = signal(SIGINT, interrupt);
    run->before_term = signal(SIGTERM, interrupt);
    run->shown =
        (train_progress){.on = run->progress == 1 || (run->progress == 0 && terminal_is(stderr)),
                         .lines = run->progress == 1};
    run->begin = out_clock();
    run->training.watch = watch;
    run->training.arg = run;
}

void train_watch_end(train_run_state *run) {
    signal(SIGINT, run->before_int);
    signal(SIGTERM, run->before_term);
    if (run->shown.drawn && !run->shown.lines) out_status_end();
}

int train_code(attn_status status, const attn_error *error) {
    if (status == ATTN_OK) return CLI_OK;
    out_error("train", "%s", error->message);
    return cli_code_of(status);
}

int train_run(train_run_state *run) {
    attn_error error = {""};
    train_watch_begin(run);
    const attn_status status = lab_training_run(&run->training, &error);
    train_watch_end(run);
    return train_code(status, &error);
}
