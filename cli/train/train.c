/* SPDX-License-Identifier: Apache-2.0 */
/* train.c - `attn train TASK`: options, output files, and the way to a run or a study.
 * Tests: tests/cli/test_train.py */
#include "train/train.h"

#include "lab/support/outfile.h"

#include <stdlib.h>
#include <string.h>

#define AT(field)      .at = offsetof(train_options, field)
#define SIZE(from, to) .kind = CLI_INT, .value = "N", .min = (from), .max = (to)

static const cli_option options[] = {
    {.kind = CLI_SECTION, .name = "Model"},
    {SIZE(1, 64), .name = "layers", AT(layers),
     .help = "number of layers, each attention + MLP, pre-norm (default 2)"},
    {SIZE(1, 64), .name = "heads", AT(heads), .help = "number of attention heads (default 2)"},
    {SIZE(1, 4096), .name = "d", AT(d), .help = "width of the residual stream (default 32)"},
    {SIZE(1, 4096), .name = "dk", AT(dk), .help = "head size (default d / heads)"},
    {.kind = CLI_FLAG,
     .name = "causal",
     AT(causal),
     .help = "hide later tokens from every token; the symbol tasks always do this"},
    CLI_SCALE_OPTIONS(train_options),
    {.kind = CLI_REAL,
     .name = "temperature",
     AT(temperature),
     .value = "X",
     .help = "temperature of the attention softmax (default 1)"},
    {.kind = CLI_TEXT,
     .name = "positions",
     AT(positions),
     .value = "NAME",
     .help = "how the model encodes positions, see below (default learned)"},
    {.kind = CLI_SECTION, .name = "Training"},
    {SIZE(1, 65536), .name = "batch", AT(batch), .help = "examples per step (default 64)"},
    {.kind = CLI_REAL,
     .name = "lr",
     AT(rate),
     .value = "X",
     .help = "learning rate of AdamW (default 0.002; whois 0.003)"},
    {SIZE(1, 100000000), .name = "steps", AT(steps),
     .help = "maximum number of steps (default: depends on the task)"},
    {.kind = CLI_REAL,
     .name = "stop-at",
     AT(stop_at),
     .value = "P",
     .help = "stop at P percent held-out accuracy, twice in a row; 0 = never (default 99.9)"},
    {.kind = CLI_UINT,
     .name = "seed",
     AT(seed),
     .value = "N",
     .help = "random seed of weights and examples; same seed, same bits (default 42)"},
    CLI_THREADS_OPTION(train_options, "number of threads (default: all CPUs)"),
    {.kind = CLI_SECTION, .name = "Results"},
    {.kind = CLI_TEXT,
     .name = "save",
     AT(save),
     .value = "FILE",
     .help = "write the model as safetensors, also after Ctrl-C"},
    {.kind = CLI_TEXT,
     .name = "log",
     AT(log),
     .value = "FILE",
     .help = "write one JSON object for each step"},
    {.kind = CLI_CHOICE,
     .name = "progress",
     AT(progress),
     .value = "auto|always|never",
     .help = "when to show progress; auto: on a terminal"},
    {.kind = CLI_SECTION, .name = "Studies"},
    {.kind = CLI_TEXT,
     .name = "study",
     AT(study),
     .value = "NAME",
     .help = "run many trainings instead of one TASK and print a table"},
    {SIZE(1, 100), .name = "seeds", AT(seeds),
     .help = "runs of each kind, with seeds 1..N (default 5)"},
    CLI_COMMON_OPTIONS,
};

static const char task_help[] =
    "  whois      find what \"it\" refers to, and its colour if it has one; the\n"
    "             adjective decides\n"
    "  sense      tell the meaning of bank, apple, mouse, plant; word and cue decide\n"
    "  induction  a b ... a -> b: repeat what came after a last time\n"
    "  copy       repeat eight letters\n"
    "  sort       put eight numbers in order\n"
    "  add        add two numbers of three digits\n";

/* One line for each kind of positions. */
static const char *positions_help(void) {
    static char text[1024];
    size_t used = 0;
    for (int kind = 0; kind < attni_positions_count() && used < sizeof text; kind++)
        used += (size_t)snprintf(text + used, sizeof text - used, "  %-11s %s\n",
                                 attni_positions_name(kind), attni_positions_about(kind));
    return text;
}

enum { NOTE_POSITIONS = 1 };
static const cli_spec spec = {
    .command = "train",
    .usage = "train TASK [options]\ntrain --study NAME [options]",
    .about = "Trains a tiny transformer on a task with known answers and tests it on examples\n"
             "it has never seen: accuracy, where attention goes (selectivity: how often the\n"
             "tokens that decide get more weight than their rivals), and the accuracy that\n"
             "remains when attention cannot go there. The same seed gives the same bits for\n"
             "any number of threads.",
    .notes = {{"Tasks", task_help},
              [NOTE_POSITIONS] = {"Positions", ""}, /* positions_help() */
              {"Studies", train_study_help},
              {"Examples", "  attn train whois --save whois.safetensors\n"
                           "  attn train whois --layers 1          one layer is not enough\n"
                           "  attn train --study scaling --json\n"}},
    .options = options,
    .n_options = sizeof options / sizeof *options,
};

lab_trainer_options train_wish(const train_options *o, const lab_task *task) {
    lab_trainer_options wish = lab_trainer_defaults(task);
    attn_cpu cpu = {.struct_size = sizeof cpu};
    attn_cpu_info(&cpu, NULL);
    if (o->layers) wish.layers = o->layers;
    if (o->heads) wish.heads = o->heads;
    if (o->d) wish.d = o->d;
    if (o->batch) wish.batch = o->batch;
    if (o->steps) wish.steps = o->steps;
    if (o->rate != 0) wish.rate = o->rate;
    wish.d_k = o->dk;
    wish.seed = o->seed;
    wish.threads = o->threads ? (int)o->threads : cpu.cpus;
    wish.causal = task->causal || o->causal;
    wish.temperature = o->temperature;
    if (o->positions) wish.positions = o->positions;
    lab_scaling_train((lab_scaling)o->scale, &wish);
    return wish;
}

/* ---------------------------------------------------------------------------------------- files */

static int file_error(const char *path, const char *msg) {
    out_error(spec.command, "%s: %s", path, msg);
    return CLI_FILE;
}

/* Packs the model into the file, which was opened before the work. */
static int write_model(const attni_model *model, outfile *file, const char *path) {
    attn_error error = {""};
    char msg[200] = "cannot be written";
    size_t size = 0;
    attn_status status = attni_model_pack_size(model, &size, &error);
    void *bytes = status == ATTN_OK ? malloc(size) : NULL;
    if (bytes) status = attni_model_pack(model, bytes, &error);
    const bool written = bytes && status == ATTN_OK && fwrite(bytes, 1, size, file->stream) == size;
    free(bytes);
    if (!written || !outfile_close(file, msg, sizeof msg) || !outfile_commit(file, msg, sizeof msg))
        return file_error(path, *error.message ? error.message : msg);
    return CLI_OK;
}

/* One run with its output files; both are opened before the work and complete after Ctrl-C too. */
static int train_once(const train_options *o, train_run_state *run) {
    outfile model = {0}, log = {0};
    char msg[200];
    int code = CLI_OK;
    if (o->save && !outfile_open(&model, o->save, msg, sizeof msg)) code = file_error(o->save, msg);
    if (code == CLI_OK && o->log && !outfile_open(&log, o->log, msg, sizeof msg))
        code = file_error(o->log, msg);
    run->log = log.stream;
    if (code == CLI_OK) code = train_run(run);
    if (code == CLI_OK && o->log &&
        (!outfile_close(&log, msg, sizeof msg) || !outfile_commit(&log, msg, sizeof msg)))
        code = file_error(o->log, msg);
    if (code == CLI_OK && o->save)
        code = write_model(lab_trainer_model(run->training.trainer), &model, o->save);
    outfile_discard(&model);
    outfile_discard(&log);
    return code;
}

/* -------------------------------------------------------------------------------------- command */

static const char *task_name(const void *arg, size_t i) {
    (void)arg;
    return lab_tasks[i]->name;
}

static int unknown_task(const char *word) {
    const char *meant = *word ? cli_nearest(word, LAB_N_TASKS, task_name, NULL) : NULL;
    if (meant)
        out_error(spec.command, "%s: unknown task. Did you mean %s?", word, meant);
    else
        out_error(spec.command,
                  "%s%swhich task? Expected whois, sense, induction, copy, sort or "
                  "add",
                  word, *word ? ": " : "");
    out_hint("try: attn help train");
    return CLI_USAGE;
}

static int check(const train_options *o) {
    const char *wrong = NULL;
    if (o->stop_at < 0 || o->stop_at > 100) wrong = "--stop-at: expected 0 to 100 percent";
    if (o->rate < 0) wrong = "--lr: expected more than 0";
    if (o->save && strcmp(o->save, "-") == 0) wrong = "--save -: expected a file";
    if (o->log && strcmp(o->log, "-") == 0) wrong = "--log -: expected a file";
    if (o->study && (o->save || o->log)) wrong = "--study: takes neither --save nor --log";
    if (!wrong) return CLI_OK;
    out_error(spec.command, "%s", wrong);
    return CLI_USAGE;
}

int cmd_train(int argc, char **argv) {
    const bool named = argc > 1 && argv[1][0] != '-';
    train_options o = {.seed = LAB_TASK_SEED,
                       .scale = LAB_SCALINGS,
                       .temperature = 1,
                       .stop_at = 100 * LAB_TRAINING_GOAL,
                       .seeds = 5};
    cli_spec whole = spec;
    whole.notes[NOTE_POSITIONS].text = positions_help();
    int code = cli_parse(&whole, named ? argc - 1 : argc, named ? argv + 1 : argv, &o);
    if (code != CLI_GO) return code;
    code = cli_settle_scale(spec.command, o.no_scale, &o.scale);
    if (code == CLI_OK) code = check(&o);
    if (code != CLI_OK) return code;
    if (o.study && !named) return train_study(&o);
    const lab_task *task = lab_task_named(named ? argv[1] : "");
    if (!task || o.study) return unknown_task(named && !task ? argv[1] : "");
    train_run_state run = {.training.options = train_wish(&o, task),
                           .training.goal = o.stop_at / 100,
                           .training.every = LAB_TRAINING_EVERY,
                           .progress = o.progress,
                           .history = o.common.json ? json_array() : NULL};
    code = train_once(&o, &run);
    if (code == CLI_OK) code = train_report(&run, o.common.json);
    if (code == CLI_OK && o.save && !o.common.json) printf("\nsaved: %s\n", o.save);
    if (code == CLI_OK && run.training.stopped) code = CLI_INTERRUPTED;
    json_decref(run.history);
    lab_trainer_destroy(run.training.trainer);
    return code;
}
