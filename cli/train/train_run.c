/* SPDX-License-Identifier: Apache-2.0 */
/* train_run.c - one training run: steps, evaluations, progress, log, Ctrl-C.
 * Tests: tests/cli/test_train.py */
#include "train/train.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal_number) {
    (void)signal_number;
    is_interrupted = 1;
}

double train_selectivity(const lab_evaluation *e) {
    return e->layers > 0 ? e->head_mean[e->layers - 1] : 0;
}

/* ------------------------------------------------------------------------------------ progress */

typedef struct progress {
    bool on, lines; /* lines: one for each evaluation, not redrawn */
    bool drawn;
    double begin, shown;
} progress;

static void show(progress *p, const train_run_state *run, bool evaluated) {
    const double now = out_clock(), elapsed = now - p->begin;
    if (!p->on || (p->lines ? !evaluated : now - p->shown < 0.1)) return;
    const double rate = (double)run->step.step / (elapsed > 0 ? elapsed : 1e-9);
    const int left = (int)((double)(run->wish.steps - run->step.step) / rate + 0.5);
    fprintf(stderr,
            "%s%s  step %lld/%lld  loss %.4f  held-out %.1f %%  selectivity %.1f %%  %.0f steps/s"
            "  %d:%02d left%s",
            p->lines ? "" : "\r", run->wish.task->name, (long long)run->step.step,
            (long long)run->wish.steps, run->step.loss, 100 * run->now.accuracy,
            100 * train_selectivity(&run->now), rate, left / 60, left % 60,
            p->lines ? "\n" : "\033[K");
    fflush(stderr);
    p->shown = now;
    p->drawn = true;
}

static void end_progress(const progress *p) {
    if (p->drawn && !p->lines) fprintf(stderr, "\r\033[K");
}

/* ----------------------------------------------------------------------------------------- log */

static json_t *step_json(const train_run_state *run, bool evaluated) {
    const lab_training_step *s = &run->step;
    json_t *line = json_pack("{s:I, s:o, s:o, s:f}", "step", (json_int_t)s->step, "loss",
                             out_json_real(s->loss), "gradient_norm",
                             out_json_real(s->gradient_norm), "rate", s->rate);
    json_t *norms = json_array();
    for (int64_t l = 0; l < run->wish.layers; l++)
        json_array_append_new(norms, out_json_real(lab_trainer_layer_norm(run->trainer, l)));
    json_object_set_new(line, "layer_gradient_norms", norms);
    if (!evaluated) return line;
    json_object_set_new(line, "held_out_loss", out_json_real(run->now.loss));
    json_object_set_new(line, "accuracy", json_real(run->now.accuracy));
    json_object_set_new(line, "answers", json_real(run->now.answers));
    json_object_set_new(line, "selectivity", json_real(train_selectivity(&run->now)));
    return line;
}

static void record(train_run_state *run, bool evaluated) {
    if (run->log) {
        json_t *line = step_json(run, evaluated);
        json_dumpf(line, run->log, JSON_COMPACT | JSON_REAL_PRECISION(9));
        fputc('\n', run->log);
        json_decref(line);
    }
    if (run->history && evaluated) json_array_append_new(run->history, step_json(run, true));
}

/* ----------------------------------------------------------------------------------------- run */

static attn_status train(train_run_state *run, progress *p, attn_error *err) {
    const lab_evaluation_wish wish = {.examples = TRAIN_EXAMPLES};
    bool met_before = false;
    run->solved_at = -1;
    while (run->step.step < run->wish.steps && !is_interrupted) {
        attn_status status = lab_trainer_step(run->trainer, &run->step, err);
        if (status != ATTN_OK) return status;
        const bool due = run->step.step % run->every == 0;
        if (due) status = lab_trainer_evaluate(run->trainer, &wish, &run->now, err);
        if (status != ATTN_OK) return status;
        record(run, due);
        show(p, run, due);
        if (!due) continue;
        const bool met = run->stop_at > 0 && run->now.accuracy >= run->stop_at;
        if (met && met_before) {
            run->solved_at = run->step.step - run->every;
            break;
        }
        met_before = met;
    }
    return ATTN_OK;
}

int train_run(train_run_state *run) {
    const lab_evaluation_wish final = {.examples = TRAIN_FINAL, .knock_out = true};
    struct sigaction catching = {.sa_handler = interrupt}, before_int, before_term;
    progress p = {.on = run->progress == 1 || (run->progress == 0 && isatty(STDERR_FILENO)),
                  .lines = run->progress == 1,
                  .begin = out_clock()};
    attn_error error = {""};
    attn_status status = lab_trainer_create(&run->wish, &run->trainer, &error);
    if (status == ATTN_OK) {
        is_interrupted = 0;
        sigaction(SIGINT, &catching, &before_int);
        sigaction(SIGTERM, &catching, &before_term);
        status = train(run, &p, &error);
        run->interrupted = is_interrupted;
        run->seconds = out_clock() - p.begin;
        if (status == ATTN_OK)
            status = lab_trainer_evaluate(run->trainer, &final, &run->now, &error);
        sigaction(SIGINT, &before_int, NULL);
        sigaction(SIGTERM, &before_term, NULL);
        end_progress(&p);
    }
    if (status == ATTN_OK) return CLI_OK;
    out_error("train", "%s", error.message);
    return cli_code_of(status);
}
