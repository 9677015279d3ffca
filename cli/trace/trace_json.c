/* SPDX-License-Identifier: Apache-2.0 */
/* trace_json.c - `attn trace --json`: every matrix of every step. Tests: tests/cli/test_trace.py */
#include "trace/trace.h"

static json_t *matrix_json(const lab_step *step, int64_t head) {
    json_t *rows = json_array();
    for (int64_t i = 0; i < step->rows; i++) {
        json_t *row = json_array();
        for (int64_t j = 0; j < step->columns; j++)
            json_array_append_new(row, out_json_real(lab_step_at(step, head, i, j)));
        json_array_append_new(rows, row);
    }
    return rows;
}

/* (rows, columns), or (heads, rows, columns) where every head has its own. */
static json_t *values_json(const lab_step *step) {
    if (!step->per_head) return matrix_json(step, 0);
    json_t *heads = json_array();
    for (int64_t h = 0; h < step->heads; h++) json_array_append_new(heads, matrix_json(step, h));
    return heads;
}

static json_t *shape_json(const lab_step *step) {
    return step->per_head ? json_pack("[I, I, I]", (json_int_t)step->heads, (json_int_t)step->rows,
                                      (json_int_t)step->columns)
                          : json_pack("[I, I]", (json_int_t)step->rows, (json_int_t)step->columns);
}

static json_t *stated_json(const trace_job *job, lab_part part) {
    json_t *list = json_array();
    for (size_t i = 0; job->example && i < job->example->n_statements; i++) {
        trace_verdict v;
        if (!trace_judge(job, part, i, &v)) continue;
        json_t *stated = json_array(), *truth = json_array(), *holds = json_array();
        for (int j = 0; j < v.n; j++) {
            json_array_append_new(stated, json_real(v.stated[j].value));
            json_array_append_new(truth, json_real(v.truth[j]));
            json_array_append_new(holds, json_boolean(v.holds[j]));
        }
        json_array_append_new(list,
                              json_pack("{s:I, s:o, s:o, s:o}", "row", (json_int_t)v.statement->row,
                                        "stated", stated, "true", truth, "holds", holds));
    }
    return list;
}

/* The page that shows it, from 1; null for what no page shows. */
static json_t *page_json(const trace_job *job, lab_part part) {
    const int page = trace_page_of(job, lab_part_name(part));
    return page < 0 ? json_null() : json_integer(page + 1);
}

static json_t *step_json(const trace_job *job, lab_part part) {
    const lab_step *step = &job->steps.step[part];
    return json_pack("{s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "step", page_json(job, part),
                     "name", step->name, "formula", step->formula, "sentence", step->sentence,
                     "shape", shape_json(step), "flops", out_json_count(step->flops), "values",
                     values_json(step), "stated", stated_json(job, part));
}

static json_t *steps_json(const trace_job *job, int only) {
    json_t *steps = json_array();
    for (int part = 0; part < LAB_N_PARTS; part++) {
        if (!job->steps.step[part].cell) continue;
        if (only >= 0 && trace_page_of(job, lab_part_name((lab_part)part)) != only) continue;
        json_array_append_new(steps, step_json(job, (lab_part)part));
    }
    return steps;
}

static json_t *names_json(const char *const *name, int64_t n) {
    json_t *names = json_array();
    for (int64_t i = 0; i < n; i++) json_array_append_new(names, json_string(name[i]));
    return names;
}

static json_t *pick_json(const trace_job *job) {
    const trace_pick *at = &job->pick;
    const lab_step *step = job->steps.step;
    json_t *q = json_array(), *k = json_array(), *product = json_array();
    for (int64_t c = 0; c < job->steps.d_k; c++) {
        const double q_c = lab_step_at(&step[LAB_Q], at->head, at->i, c);
        const double k_c = lab_step_at(&step[LAB_K], at->head, at->j, c);
        json_array_append_new(q, json_real(q_c));
        json_array_append_new(k, json_real(k_c));
        json_array_append_new(product, out_json_real(q_c * k_c));
    }
    json_t *pick = json_pack("{s:I, s:I, s:I, s:o, s:o, s:o}", "head", (json_int_t)at->head + 1,
                             "query", (json_int_t)at->i + 1, "key", (json_int_t)at->j + 1, "q", q,
                             "k", k, "products", product);
    for (int part = LAB_SCORES; part <= LAB_WEIGHTS; part++)
        json_object_set_new(pick, step[part].name,
                            out_json_real(lab_step_at(&step[part], at->head, at->i, at->j)));
    return pick;
}

int trace_json(const trace_job *job, int only) {
    const lab_steps *s = &job->steps;
    json_t *root = json_pack("{s:s, s:s?, s:s, s:o}", "title", job->title, "example",
                             job->example ? job->example->name : NULL, "about", job->about, "seed",
                             job->is_random ? json_integer(job->seed) : json_null());
    json_object_set_new(root, "queries", names_json(job->query, s->n_q));
    json_object_set_new(root, "keys", names_json(job->key, s->n_k));
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = {
        {"heads", s->H}, {"n_q", s->n_q}, {"n_k", s->n_k}, {"d_k", s->d_k}, {"d_v", s->d_v}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        json_object_set_new(root, sizes[i].name, json_integer(sizes[i].value));
    json_object_set_new(root, "scale", json_real(s->scale));
    json_object_set_new(root, "temperature", json_real(s->temperature));
    json_object_set_new(root, "causal", json_boolean(s->causal));
    json_object_set_new(root, "steps", steps_json(job, only));
    if (job->o->pick) json_object_set_new(root, "pick", pick_json(job));
    return out_json(root);
}
