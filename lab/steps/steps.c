/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c - see steps.h. Scores and weights come from attn_inspect(), products from the layers;
 * only counts are computed here. */
#define ATTNI_REAL_f64
#include "steps/steps.h"

#include "layers/gemm.h"
#include "layers/linear.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_SIDE = 1 << 16, MOST_CELLS = 1 << 26 };

static const char *const names[LAB_N_PARTS] = {
    [LAB_X] = "x",
    [LAB_W_Q] = "w_q",
    [LAB_W_K] = "w_k",
    [LAB_W_V] = "w_v",
    [LAB_Q] = "q",
    [LAB_K] = "k",
    [LAB_V] = "v",
    [LAB_SCORES] = "scores",
    [LAB_SCALED] = "scaled",
    [LAB_MASKED] = "masked",
    [LAB_WEIGHTS] = "weights",
    [LAB_OUTPUT] = "output",
    [LAB_CONCAT] = "concat",
    [LAB_W_O] = "w_o",
    [LAB_Y] = "y",
};

const char *lab_part_name(lab_part part) { return names[part]; }

lab_part lab_part_named(const char *name) {
    int part = 0;
    while (part < LAB_N_PARTS && strcmp(name, names[part]) != 0) part++;
    return (lab_part)part;
}

lab_problem lab_problem_defaults(void) {
    return (lab_problem){.H = 1, .scaling = LAB_SCALE_SQRT, .temperature = 1};
}

/* ------------------------------------------------------------------------------------- checking */

static bool has(const lab_problem *p, lab_part part) { return p->given[part].cell != NULL; }

static attn_status check_which(const lab_problem *p, attn_error *err) {
    const int projections = has(p, LAB_W_Q) + has(p, LAB_W_K) + has(p, LAB_W_V);
    const int ready = has(p, LAB_Q) + has(p, LAB_K) + has(p, LAB_V);
    if (has(p, LAB_X) && ready)
        return attni_fail(err, ATTN_E_VALUE, "x and q, k, v: give one or the other");
    if (has(p, LAB_X) && projections % 3)
        return attni_fail(err, ATTN_E_VALUE,
                          "w_q, w_k, w_v: %d of 3 given, expected all, or none (Q = K = V = X)",
                          projections);
    if (!has(p, LAB_X) && projections)
        return attni_fail(err, ATTN_E_VALUE, "w_q, w_k, w_v: nothing to multiply, give x too");
    if (!has(p, LAB_X) && ready != 3)
        return attni_fail(err, ATTN_E_VALUE, "q, k, v: %d of 3 given, expected all, or x", ready);
    return ATTN_OK;
}

static attn_status check_cells(const lab_problem *p, lab_part part, attn_error *err) {
    const lab_matrix *m = &p->given[part];
    if (m->rows < 1 || m->columns < 1 || m->rows > MOST_SIDE || m->columns > MOST_SIDE ||
        m->rows * m->columns > MOST_CELLS)
        return attni_fail(err, ATTN_E_SHAPE, "%s: (%lld, %lld), expected sides from 1 to %d",
                          names[part], (long long)m->rows, (long long)m->columns, MOST_SIDE);
    for (int64_t i = 0; i < m->rows * m->columns; i++)
        if (!isfinite(m->cell[i]))
            return attni_fail(err, ATTN_E_VALUE, "%s: %g in row %lld, expected finite numbers",
                              names[part], m->cell[i], (long long)(i / m->columns) + 1);
    return ATTN_OK;
}

/* One side of a matrix must be as long as one side of another. */
typedef struct agreement {
    lab_part part, other;
    bool columns, other_columns; /* which side */
} agreement;

static int64_t side(const lab_problem *p, lab_part part, bool columns) {
    return columns ? p->given[part].columns : p->given[part].rows;
}

static attn_status check_sides(const lab_problem *p, attn_error *err) {
    static const agreement must[] = {
        {LAB_W_Q, LAB_X, false, true},   {LAB_W_K, LAB_X, false, true},
        {LAB_W_V, LAB_X, false, true},   {LAB_W_K, LAB_W_Q, true, true},
        {LAB_K, LAB_Q, true, true},      {LAB_V, LAB_K, false, false},
        {LAB_W_O, LAB_W_V, false, true}, {LAB_W_O, LAB_V, false, true},
    };
    for (size_t i = 0; i < sizeof must / sizeof *must; i++) {
        const agreement *m = &must[i];
        if (!has(p, m->part) || !has(p, m->other)) continue;
        const int64_t found = side(p, m->part, m->columns);
        const int64_t wanted = side(p, m->other, m->other_columns);
        if (found != wanted)
            return attni_fail(err, ATTN_E_SHAPE, "%s: %lld %s, expected %lld, the %s of %s",
                              names[m->part], (long long)found, m->columns ? "columns" : "rows",
                              (long long)wanted, m->other_columns ? "columns" : "rows",
                              names[m->other]);
    }
    return ATTN_OK;
}

static attn_status check_heads(int64_t columns, int64_t H, const char *name, attn_error *err) {
    if (H >= 1 && H <= columns && columns % H == 0) return ATTN_OK;
    return attni_fail(err, ATTN_E_VALUE,
                      "heads: %lld do not divide the %lld columns of %s; choose a divisor",
                      (long long)H, (long long)columns, name);
}

/* Derives the sizes from the inputs. */
static attn_status take_sizes(const lab_problem *p, lab_steps *s, attn_error *err) {
    const bool bare = has(p, LAB_X) && !has(p, LAB_W_Q); /* Q = K = V = X */
    const lab_part q = bare ? LAB_X : has(p, LAB_X) ? LAB_W_Q : LAB_Q;
    const lab_part v = bare ? LAB_X : has(p, LAB_X) ? LAB_W_V : LAB_V;
    ATTN_TRY(check_heads(p->given[q].columns, p->H, names[q], err));
    ATTN_TRY(check_heads(p->given[v].columns, p->H, names[v], err));
    s->n_q = p->given[has(p, LAB_X) ? LAB_X : LAB_Q].rows;
    s->n_k = p->given[has(p, LAB_X) ? LAB_X : LAB_K].rows;
    s->H = p->H;
    s->d_k = p->given[q].columns / p->H;
    s->d_v = p->given[v].columns / p->H;
    s->scale = lab_scaling_factor(p->scaling, s->d_k);
    s->temperature = p->temperature;
    s->causal = p->causal;
    if (s->H * s->n_q > LAB_MOST_PAIRS || s->H * s->n_q * s->n_k > LAB_MOST_PAIRS)
        return attni_fail(err, ATTN_E_OVERFLOW,
                          "n_q = %lld, n_k = %lld, %lld heads: too many numbers to look at, "
                          "at most %d pairs; attn run computes long sequences",
                          (long long)s->n_q, (long long)s->n_k, (long long)s->H, LAB_MOST_PAIRS);
    if (has(p, LAB_W_O) && p->given[LAB_W_O].rows != s->H * s->d_v)
        return attni_fail(err, ATTN_E_SHAPE, "w_o: %lld rows, expected %lld, the columns of concat",
                          (long long)p->given[LAB_W_O].rows, (long long)(s->H * s->d_v));
    return ATTN_OK;
}

static attn_status check(const lab_problem *p, lab_steps *s, attn_error *err) {
    ATTN_TRY(check_which(p, err));
    for (int part = 0; part < LAB_N_PARTS; part++)
        if (has(p, (lab_part)part)) ATTN_TRY(check_cells(p, (lab_part)part, err));
    ATTN_TRY(check_sides(p, err));
    return take_sizes(p, s, err);
}

/* ------------------------------------------------------------------------------------ placement */

static void shape_whole(lab_steps *s, lab_part part, int64_t rows, int64_t columns) {
    lab_step *step = &s->step[part];
    step->heads = 1;
    step->rows = rows;
    step->columns = columns;
    step->row_stride = columns;
}

/* The columns of one head after those of another, as in the rows of X W. */
static void shape_heads(lab_steps *s, lab_part part, int64_t rows, int64_t columns) {
    shape_whole(s, part, rows, columns);
    s->step[part].per_head = true;
    s->step[part].heads = s->H;
    s->step[part].head_stride = columns;
    s->step[part].row_stride = s->H * columns;
}

static void shape_pairs(lab_steps *s, lab_part part) {
    shape_heads(s, part, s->n_q, s->n_k);
    s->step[part].head_stride = s->n_q * s->n_k;
    s->step[part].row_stride = s->n_k;
}

static void shape_steps(const lab_problem *p, lab_steps *s) {
    static const lab_part copied[] = {LAB_X, LAB_W_Q, LAB_W_K, LAB_W_V, LAB_W_O};
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++)
        if (has(p, copied[i]))
            shape_whole(s, copied[i], p->given[copied[i]].rows, p->given[copied[i]].columns);
    shape_heads(s, LAB_Q, s->n_q, s->d_k);
    shape_heads(s, LAB_K, s->n_k, s->d_k);
    shape_heads(s, LAB_V, s->n_k, s->d_v);
    for (int part = LAB_SCORES; part <= LAB_WEIGHTS; part++) shape_pairs(s, (lab_part)part);
    shape_whole(s, LAB_CONCAT, s->n_q, s->H * s->d_v);
    shape_heads(s, LAB_OUTPUT, s->n_q, s->d_v); /* the same cells as concat, seen head by head */
    if (has(p, LAB_W_O)) shape_whole(s, LAB_Y, s->n_q, p->given[LAB_W_O].columns);
}

static size_t cells_of(const lab_step *step) {
    return (size_t)(step->heads * step->rows * step->columns);
}

/* One block for everything; LAB_OUTPUT shares the cells of LAB_CONCAT. */
static attn_status place(lab_steps *s, attn_error *err) {
    size_t total = 0;
    for (int part = 0; part < LAB_N_PARTS; part++)
        if (part != LAB_OUTPUT) total += cells_of(&s->step[part]);
    s->memory = calloc(total, sizeof *s->memory);
    if (!s->memory) return attni_fail(err, ATTN_E_MEMORY, "out of memory for %zu numbers", total);
    double *next = s->memory;
    for (int part = 0; part < LAB_N_PARTS; part++) {
        lab_step *step = &s->step[part];
        if (part == LAB_OUTPUT || cells_of(step) == 0) continue;
        step->cell = next;
        next += cells_of(step);
    }
    s->step[LAB_OUTPUT].cell = s->step[LAB_CONCAT].cell;
    return ATTN_OK;
}

/* ------------------------------------------------------------------------------------ computing */

/* The cells lie in s->memory, which is ours to write. */
static double *cells(const lab_steps *s, lab_part part) { return (double *)s->step[part].cell; }

static void copy_given(const lab_problem *p, lab_steps *s) {
    for (int part = 0; part < LAB_N_PARTS; part++)
        if (has(p, (lab_part)part))
            memcpy(cells(s, (lab_part)part), p->given[part].cell,
                   cells_of(&s->step[part]) * sizeof(double));
}

/* y = x w, which costs two operations for each product. */
static attn_status multiply(attn_ctx *ctx, lab_steps *s, const lab_part xwy[3], attn_error *err) {
    const lab_step *w = &s->step[xwy[1]];
    const int64_t n = s->step[xwy[0]].rows;
    const attni_linear layer = {.n_in = w->rows, .n_out = w->columns, .w = w->cell};
    s->step[xwy[2]].flops = 2.0 * (double)n * (double)w->rows * (double)w->columns;
    return R(linear_forward)(ctx, &layer, n, s->step[xwy[0]].cell, cells(s, xwy[2]), err);
}

static attn_status project(attn_ctx *ctx, const lab_problem *p, lab_steps *s, attn_error *err) {
    static const lab_part product[3][3] = {
        {LAB_X, LAB_W_Q, LAB_Q}, {LAB_X, LAB_W_K, LAB_K}, {LAB_X, LAB_W_V, LAB_V}};
    if (!has(p, LAB_X)) return ATTN_OK;
    for (int i = 0; i < 3; i++) {
        if (has(p, LAB_W_Q))
            ATTN_TRY(multiply(ctx, s, product[i], err));
        else
            memcpy(cells(s, product[i][2]), p->given[LAB_X].cell,
                   cells_of(&s->step[LAB_X]) * sizeof(double));
    }
    return ATTN_OK;
}

/* (1, heads, rows, columns), as the engine wants it. */
static attn_tensor view(const lab_steps *s, lab_part part) {
    const lab_step *step = &s->step[part];
    attn_tensor t =
        attn_tensor_bhsd(step->cell, ATTN_F64, 1, step->heads, step->rows, step->columns);
    t.stride[1] = step->head_stride;
    t.stride[2] = step->row_stride;
    return t;
}

/* O = A V of one head: the weights as they are shown. */
static attn_status weigh_values(attn_ctx *ctx, const lab_steps *s, int64_t head, attn_error *err) {
    const lab_step *a = &s->step[LAB_WEIGHTS], *v = &s->step[LAB_V], *o = &s->step[LAB_OUTPUT];
    const attni_gemm av = {.m = s->n_q,
                           .n = s->d_v,
                           .k = s->n_k,
                           .a = a->cell + head * a->head_stride,
                           .a_row = (ptrdiff_t)a->row_stride,
                           .a_column = 1,
                           .b = v->cell + head * v->head_stride,
                           .b_row = (ptrdiff_t)v->row_stride,
                           .b_column = 1,
                           .c = cells(s, LAB_OUTPUT) + head * o->head_stride,
                           .c_row = (ptrdiff_t)o->row_stride};
    return attni_gemm_on(ctx, true, &av, err);
}

static attn_status attend(attn_ctx *ctx, lab_steps *s, attn_error *err) {
    attn_args args;
    attn_args_init(&args);
    args.q = view(s, LAB_Q);
    args.k = view(s, LAB_K);
    args.v = view(s, LAB_V);
    args.causal = s->causal;
    args.temperature = s->temperature;
    attn_inspection what;
    attn_inspection_init(&what);
    args.scale = 1;
    what.raw = view(s, LAB_SCORES);
    ATTN_TRY(attn_inspect(ctx, &args, &what, err));
    args.scale = s->scale;
    what.raw = view(s, LAB_SCALED);
    what.biased = view(s, LAB_MASKED);
    what.weights = view(s, LAB_WEIGHTS);
    ATTN_TRY(attn_inspect(ctx, &args, &what, err));
    for (int64_t h = 0; h < s->H; h++) ATTN_TRY(weigh_values(ctx, s, h, err));
    attn_cost_info cost = {.struct_size = sizeof cost};
    ATTN_TRY(attn_cost(ctx, &args, &cost, err));
    s->step[LAB_SCORES].flops = 2 * (double)s->d_k * cost.pairs;
    s->step[LAB_SCALED].flops = s->scale == 1 ? 0 : cost.pairs;
    s->step[LAB_WEIGHTS].flops = 5 * cost.visible_pairs;
    s->step[LAB_OUTPUT].flops = 2 * (double)s->d_v * cost.visible_pairs;
    return ATTN_OK;
}

/* Finite inputs may still overflow on the way; -inf is valid in one place only. */
static attn_status check_results(const lab_steps *s, attn_error *err) {
    for (int part = LAB_Q; part < LAB_N_PARTS; part++) {
        const lab_step *step = &s->step[part];
        for (size_t i = 0; step->cell && part != LAB_MASKED && i < cells_of(step); i++)
            if (!isfinite(step->cell[i]))
                return attni_fail(err, ATTN_E_VALUE,
                                  "%s: overflows double precision; give smaller numbers",
                                  names[part]);
    }
    return ATTN_OK;
}

/* --------------------------------------------------------------------------------------- words */

static const char *const formulas[LAB_N_PARTS] = {
    [LAB_X] = "X",
    [LAB_W_Q] = "W_Q",
    [LAB_W_K] = "W_K",
    [LAB_W_V] = "W_V",
    [LAB_Q] = "Q = X W_Q",
    [LAB_K] = "K = X W_K",
    [LAB_V] = "V = X W_V",
    [LAB_SCORES] = "S = Q K^T",
    [LAB_SCALED] = "S / sqrt(d_k)",
    [LAB_MASKED] = "S + mask",
    [LAB_WEIGHTS] = "A = softmax(S)",
    [LAB_OUTPUT] = "O = A V",
    [LAB_CONCAT] = "concat(O_1 .. O_H)",
    [LAB_W_O] = "W_O",
    [LAB_Y] = "Y = concat W_O",
};

static const char *const sentences[LAB_N_PARTS] = {
    [LAB_W_Q] = "Learned weights that turn an embedding into a question.",
    [LAB_W_K] = "Learned weights that turn an embedding into a label to be found by.",
    [LAB_W_V] = "Learned weights that turn an embedding into what is handed over.",
    [LAB_Q] = "What each token looks for.",
    [LAB_K] = "What each token offers, for queries to find.",
    [LAB_V] = "What each token hands over to those who find it.",
    [LAB_SCORES] = "How well each query (row) matches each key (column): their dot product.",
    [LAB_OUTPUT] = "Each query receives the mean of the rows of V, weighted by its row of A.",
    [LAB_W_O] = "Learned weights that mix what the heads found.",
    [LAB_Y] = "What the layer hands on: for each token one row, made from all heads.",
};

ATTNI_PRINTF(2, 3) static void say(lab_step *step, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(step->sentence, sizeof step->sentence, format, list);
    va_end(list);
}

/* How Q, K or V was obtained. */
static const char *origin(const lab_problem *p, int part) {
    static const char *const same[] = {"Q = X", "K = X", "V = X"};
    return has(p, LAB_W_Q) ? formulas[part] : has(p, LAB_X) ? same[part - LAB_Q] : "given";
}

static void say_scores(lab_scaling scaling, lab_steps *s) {
    lab_step *scaled = &s->step[LAB_SCALED], *weights = &s->step[LAB_WEIGHTS];
    if (scaling == LAB_SCALE_NONE) {
        scaled->formula = "S";
        say(scaled, "Not scaled: the larger d_k, the larger the scores, the sharper the softmax.");
    } else if (scaling == LAB_SCALE_D_K) {
        scaled->formula = "S / d_k";
        say(scaled,
            "Divided by d_k = %lld: the larger d_k, the nearer the softmax to an even share.",
            (long long)s->d_k);
    } else {
        say(scaled, "Divided by sqrt(%lld) = %.6g, so that scores do not grow with d_k.",
            (long long)s->d_k, 1 / s->scale);
    }
    say(&s->step[LAB_MASKED], "%s",
        s->causal ? "No query sees a later key: those scores become minus infinity."
                  : "No mask: every query sees every key.");
    if (s->temperature == 1) {
        say(weights, "Softmax of each row: positive shares that sum to 1.");
    } else {
        weights->formula = "A = softmax(S / temperature)";
        say(weights, "Softmax of each row divided by the temperature %g, which makes it %s.",
            s->temperature, s->temperature < 1 ? "sharper" : "softer");
    }
}

static void say_all(const lab_problem *p, lab_steps *s) {
    for (int part = 0; part < LAB_N_PARTS; part++) {
        s->step[part].name = names[part];
        s->step[part].formula = formulas[part];
        if (sentences[part]) say(&s->step[part], "%s", sentences[part]);
    }
    for (int part = LAB_Q; part <= LAB_V; part++) s->step[part].formula = origin(p, part);
    say(&s->step[LAB_X], "One row of d_model = %lld numbers for each token: its embedding.",
        (long long)s->step[LAB_X].columns);
    say(&s->step[LAB_CONCAT], "%s",
        s->H > 1 ? "What the heads found, side by side." : "One head: there is nothing to join.");
    say_scores(p->scaling, s);
}

attn_status lab_steps_compute(attn_ctx *ctx, const lab_problem *problem, lab_steps *steps,
                              attn_error *err) {
    static const lab_part last[3] = {LAB_CONCAT, LAB_W_O, LAB_Y};
    *steps = (lab_steps){0};
    attn_status status = check(problem, steps, err);
    if (status == ATTN_OK) {
        shape_steps(problem, steps);
        status = place(steps, err);
    }
    if (status != ATTN_OK) goto done;
    copy_given(problem, steps);
    status = project(ctx, problem, steps, err);
    if (status == ATTN_OK) status = attend(ctx, steps, err);
    if (status == ATTN_OK && has(problem, LAB_W_O)) status = multiply(ctx, steps, last, err);
    if (status == ATTN_OK) status = check_results(steps, err);
    say_all(problem, steps);
done:
    if (status != ATTN_OK) lab_steps_free(steps);
    return status;
}

void lab_steps_free(lab_steps *steps) {
    free(steps->memory);
    *steps = (lab_steps){0};
}
