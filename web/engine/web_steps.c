/* SPDX-License-Identifier: Apache-2.0 */
/* web_steps.c - attention step by step: computes a problem, the worked examples, and the user's own
 * sentences, with the same code as `attn trace`. */
#include "engine.h"
#include "lab/steps/examples.h"
#include "lab/steps/sentence.h"

#include <stdlib.h>

/* A problem as the page writes it: these, then rows, columns and address of every part. */
enum { HEADS, SCALE, TEMPERATURE, CAUSAL, PARTS };

static lab_problem read_problem(const double *block) {
    lab_problem p = {.H = (int64_t)block[HEADS],
                     .scaling = (lab_scaling)block[SCALE],
                     .temperature = block[TEMPERATURE],
                     .causal = block[CAUSAL] != 0};
    for (int part = 0; part < LAB_N_PARTS; part++) {
        const double *m = block + PARTS + 3 * part;
        p.given[part] = (lab_matrix){(int64_t)m[0], (int64_t)m[1], web_address(m[2])};
    }
    return p;
}

static void put_step(const lab_step *step) {
    double *to = web_put(step->name, WEB_F64, WEB_SHAPE(step->heads, step->rows, step->columns));
    for (int64_t h = 0; to && h < step->heads; h++)
        for (int64_t i = 0; i < step->rows; i++)
            for (int64_t j = 0; j < step->columns; j++) *to++ = lab_step_at(step, h, i, j);
}

/* Matrices by name; texts and counts of all parts as lists, in the order of the parts. */
static void put_steps(const lab_steps *s) {
    const char *formula[LAB_N_PARTS], *sentence[LAB_N_PARTS];
    double *flops = web_put("flops", WEB_F64, WEB_SHAPE(LAB_N_PARTS));
    int32_t *per_head = web_put("per_head", WEB_I32, WEB_SHAPE(LAB_N_PARTS));
    for (int part = 0; part < LAB_N_PARTS; part++) {
        const lab_step *step = &s->step[part];
        formula[part] = step->formula;
        sentence[part] = step->sentence;
        if (flops) flops[part] = step->flops;
        if (per_head) per_head[part] = step->per_head;
        if (step->cell) put_step(step);
    }
    web_put_texts("formula", formula, LAB_N_PARTS);
    web_put_texts("sentence", sentence, LAB_N_PARTS);
    web_put_number("heads", (double)s->H);
    web_put_number("d_k", (double)s->d_k);
    web_put_number("scale_factor", s->scale);
}

EXPORT(steps) web_steps(const double *block) {
    lab_steps steps;
    const lab_problem problem = read_problem(block);
    web_begin();
    attn_ctx *ctx = web_ctx();
    if (!ctx) return ATTN_E_MEMORY;
    ATTN_TRY(lab_steps_compute(ctx, &problem, &steps, &web_error));
    put_steps(&steps);
    lab_steps_free(&steps);
    return web_result_status();
}

/* The names of the parts, in their order. */
EXPORT(parts) web_parts(void) {
    const char *name[LAB_N_PARTS];
    web_begin();
    for (int part = 0; part < LAB_N_PARTS; part++) name[part] = lab_part_name((lab_part)part);
    web_put_texts("parts", name, LAB_N_PARTS);
    return web_result_status();
}

/* ------------------------------------------------------------------------------------- examples */

static void put_given(const lab_problem *p) {
    for (int part = 0; part < LAB_N_PARTS; part++) {
        const lab_matrix *m = &p->given[part];
        if (!m->cell) continue;
        double *to =
            web_put(lab_part_name((lab_part)part), WEB_F64, WEB_SHAPE(m->rows, m->columns));
        if (to) memcpy(to, m->cell, (size_t)(m->rows * m->columns) * sizeof *to);
    }
    web_put_number("heads", (double)p->H);
    web_put_number("temperature", p->temperature);
    web_put_number("causal", p->causal);
}

/* Which numbers of the statements with this scaling are right. */
static attn_status judge(attn_ctx *ctx, const lab_example *example, bool unscaled, int32_t *holds) {
    lab_problem problem = example->problem;
    lab_steps steps;
    if (unscaled) problem.scaling = LAB_SCALE_NONE;
    ATTN_TRY(lab_steps_compute(ctx, &problem, &steps, &web_error));
    for (size_t i = 0; i < example->n_statements; i++) {
        const lab_statement *s = &example->statement[i];
        lab_stated number[LAB_MOST_STATED];
        if (s->unscaled != unscaled) continue;
        const int n = lab_statement_read(s, number);
        for (int j = 0; j < n; j++)
            holds[i * LAB_MOST_STATED + (size_t)j] =
                lab_stated_holds(&number[j], lab_step_at(&steps.step[s->part], 0, s->row, j));
    }
    lab_steps_free(&steps);
    return ATTN_OK;
}

enum { MOST_STATEMENTS = 32 };

static attn_status put_statements(attn_ctx *ctx, const lab_example *example) {
    const char *stated[MOST_STATEMENTS];
    const int64_t n = (int64_t)example->n_statements;
    int32_t *about = web_put("about_what", WEB_I32, WEB_SHAPE(n, 3)); /* part, row, unscaled */
    int32_t *holds = web_put("holds", WEB_I32, WEB_SHAPE(n, LAB_MOST_STATED));
    if (!about || !holds) return web_result_status();
    attni_assert(n <= MOST_STATEMENTS);
    for (int64_t i = 0; i < n; i++) {
        const lab_statement *s = &example->statement[i];
        stated[i] = s->stated;
        about[3 * i] = (int32_t)s->part;
        about[3 * i + 1] = (int32_t)s->row;
        about[3 * i + 2] = s->unscaled;
    }
    web_put_texts("stated", stated, n);
    ATTN_TRY(judge(ctx, example, false, holds));
    return judge(ctx, example, true, holds);
}

__attribute__((export_name("example_count"))) int32_t web_example_count(void) {
    return (int32_t)lab_n_examples;
}

EXPORT(example) web_example(int32_t number) {
    const lab_example *e = &lab_examples[number];
    const lab_matrix *given = e->problem.given;
    const bool has_x = given[LAB_X].cell;
    web_begin();
    attn_ctx *ctx = web_ctx();
    if (!ctx) return ATTN_E_MEMORY;
    web_put_text("name", e->name);
    web_put_text("title", e->title);
    web_put_text("about", e->about);
    web_put_text("lesson", e->lesson ? e->lesson : "");
    web_put_texts("keys", e->key, given[has_x ? LAB_X : LAB_K].rows);
    web_put_texts("queries", e->query ? e->query : e->key, given[has_x ? LAB_X : LAB_Q].rows);
    put_given(&e->problem);
    ATTN_TRY(put_statements(ctx, e));
    return web_result_status();
}

/* ------------------------------------------------------------------------------------ sentences */

EXPORT(sentence)
web_sentence(const char *text, double heads, double d_model, double d_k, double seed) {
    const lab_random how = {.H = (int64_t)heads,
                            .d_model = (int64_t)d_model,
                            .d_k = (int64_t)d_k,
                            .seed = (uint32_t)seed};
    lab_words words;
    lab_problem problem;
    double *memory;
    web_begin();
    ATTN_TRY(lab_words_split(text, &words, &web_error));
    const attn_status status = lab_sentence_problem(&words, &how, &problem, &memory, &web_error);
    if (status == ATTN_OK) {
        web_put_texts("words", (const char *const *)words.word, words.n);
        put_given(&problem);
    }
    free(memory);
    lab_words_free(&words);
    return status == ATTN_OK ? web_result_status() : status;
}
