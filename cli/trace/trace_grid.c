/* SPDX-License-Identifier: Apache-2.0 */
/* trace_grid.c - matrices as coloured tables that fit the terminal, side by side where there is
 * room. Tests: tests/cli/test_trace.py */
#include "lab/support/system.h"
#include "shared/heatmap.h"
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_ROWS = 14, WIDE_NAME = 8, GAP = 4, MOST_BLOCKS = 3 * TRACE_HEADS };

static const char *look(out_look which) { return out_begin(stdout, which); }

/* --------------------------------------------------------------------------------------- tables */

typedef struct grid {
    const trace_job *job;
    lab_part part;
    int64_t head;
    trace_form form;
    trace_range rows, columns;
    int label, cell; /* columns of the terminal */
    bool sums;
} grid;

static int widest_name(const char *const *names, const trace_range *range) {
    char text[OUT_NUMBER];
    int widest = 0;
    for (int64_t i = 0; i < range->n; i = trace_next(range, i)) {
        const int columns = text_width(trace_name(names, i, text));
        widest = columns > widest ? columns : widest;
    }
    return widest > TRACE_LABEL ? TRACE_LABEL : widest;
}

static int widest_cell(const grid *g) {
    const lab_step *step = &g->job->steps.step[g->part];
    char text[OUT_NUMBER];
    int widest = 0;
    for (int64_t i = 0; i < step->rows; i = trace_next(&g->rows, i))
        for (int64_t j = 0; j < step->columns; j++) {
            const int64_t at[3] = {g->head, i, j};
            const int length = (int)strlen(trace_cell(g->job, g->part, &g->form, at, text));
            widest = length > widest ? length : widest;
        }
    return widest;
}

static bool has_negative(const lab_step *step) {
    for (int64_t i = 0; i < step->heads * step->rows * step->columns; i++)
        if (step->cell[i] < 0 && isfinite(step->cell[i])) return true;
    return false;
}

/* Chooses what fits: widths from the contents, and fewer columns where there are too many. */
static grid make_grid(const trace_job *job, lab_part part, int64_t head, int width) {
    const lab_step *step = &job->steps.step[part];
    grid g = {.job = job, .part = part, .head = head, .sums = part == LAB_WEIGHTS};
    const char *const *columns = trace_column_names(job, part);
    g.form = trace_form_of(job, part);
    g.rows = trace_range_of(step->rows, MOST_ROWS);
    g.columns = trace_range_of(step->columns, step->columns);
    g.label = widest_name(trace_row_names(job, part), &g.rows);
    const int name = columns ? widest_name(columns, &g.columns) : 0, number = widest_cell(&g);
    g.cell = number + (has_negative(step) ? 1 : 2); /* a sign is a gap where there is none */
    if (name > g.cell - 2) g.cell = 2 + (name > WIDE_NAME ? WIDE_NAME : name);
    if (number + 1 > g.cell) g.cell = number + 1;
    const int room = width - 3 - g.label - (g.sums ? g.cell : 0);
    if (step->columns * g.cell > room) /* "..." takes 4 */
        g.columns = trace_range_of(step->columns, room - 4 < 2 * g.cell ? 2 : (room - 4) / g.cell);
    return g;
}

/* Negative to positive: orange, the colour of the page, blue; dark numerals can be read on all. */
static int signed_shade(double x) {
    static const int blue[] = {255, 195, 153, 117, 75}, orange[] = {255, 230, 223, 216, 209};
    const int step = (int)(4.99 * fmin(1, fabs(x)));
    return x < 0 ? orange[step] : blue[step];
}

static void put_cell(FILE *to, const grid *g, int64_t i, int64_t j) {
    char text[OUT_NUMBER];
    const int64_t at[3] = {g->head, i, j};
    const double x = lab_step_at(&g->job->steps.step[g->part], g->head, i, j);
    trace_cell(g->job, g->part, &g->form, at, text);
    if (*look(OUT_BOLD) && !trace_is_masked(g->job, g->part, g->head, i, j)) {
        int ink = 16;
        const int shade = g->part == LAB_WEIGHTS
                              ? heatmap_shade(x, &ink)
                              : signed_shade(g->form.largest > 0 ? x / g->form.largest : 0);
        fprintf(to, "\033[48;5;%d;38;5;%dm%*s \033[0m", shade, ink, g->cell - 1, text);
    } else {
        fprintf(to, "%*s ", g->cell - 1, text);
    }
}

/* The title stands above the names of the rows if there is room, the columns are named. */
static void put_head(FILE *to, const grid *g, const char *title) {
    char text[OUT_NUMBER];
    const char *const *names = trace_column_names(g->job, g->part);
    fprintf(to, "%s%s%s\n%s", look(OUT_BOLD), title, look(OUT_PLAIN), look(OUT_DIM));
    fprintf(to, "%*s", g->label + 1, "");
    for (int64_t j = 0; j < g->columns.n; j = trace_next(&g->columns, j)) {
        text_put(to, trace_name(names, j, text), g->cell - 1, true);
        fputs(trace_is_cut(&g->columns, j) ? " ... " : " ", to);
    }
    if (g->sums) fprintf(to, "%*s", g->cell - 1, "sum");
    fprintf(to, "%s\n", look(OUT_PLAIN));
}

static void put_row(FILE *to, const grid *g, int64_t i) {
    char text[OUT_NUMBER];
    const lab_step *step = &g->job->steps.step[g->part];
    double sum = 0;
    fputs(look(OUT_DIM), to);
    text_put(to, trace_name(trace_row_names(g->job, g->part), i, text), g->label, false);
    fprintf(to, "%s ", look(OUT_PLAIN));
    for (int64_t j = 0; j < step->columns; j = trace_next(&g->columns, j)) {
        put_cell(to, g, i, j);
        if (trace_is_cut(&g->columns, j)) fputs("... ", to);
    }
    for (int64_t j = 0; j < step->columns; j++) sum += lab_step_at(step, g->head, i, j);
    if (g->sums) fprintf(to, "%*.*f", g->cell - 1, g->form.decimals, sum);
    fputc('\n', to);
}

const char *const trace_titles[LAB_N_PARTS] = {
    [LAB_X] = "X",
    [LAB_W_Q] = "W_Q",
    [LAB_W_K] = "W_K",
    [LAB_W_V] = "W_V",
    [LAB_Q] = "Q",
    [LAB_K] = "K",
    [LAB_V] = "V",
    [LAB_SCORES] = "scores",
    [LAB_SCALED] = "scaled scores",
    [LAB_MASKED] = "masked scores",
    [LAB_WEIGHTS] = "weights",
    [LAB_OUTPUT] = "output",
    [LAB_CONCAT] = "concat",
    [LAB_W_O] = "W_O",
    [LAB_Y] = "Y",
};

/* One matrix as lines of text; NULL when out of memory. Gives. */
static char *grid_text(const trace_job *job, lab_part part, int64_t head, int width) {
    char title[OUT_NUMBER];
    system_text text;
    if (!system_text_begin(&text)) return NULL;
    FILE *to = text.stream;
    const grid g = make_grid(job, part, head, width);
    if (job->steps.step[part].heads > 1)
        snprintf(title, sizeof title, "%s, head %lld", trace_titles[part], (long long)head + 1);
    else
        snprintf(title, sizeof title, "%s", trace_titles[part]);
    put_head(to, &g, title);
    for (int64_t i = 0; i < g.rows.n; i = trace_next(&g.rows, i)) {
        put_row(to, &g, i);
        if (trace_is_cut(&g.rows, i)) fputs("...\n", to);
    }
    return system_text_end(&text);
}

/* ------------------------------------------------------------------------- tables, side by side */

typedef struct blocks {
    char *text[MOST_BLOCKS];
    int width[MOST_BLOCKS];
    int n;
} blocks;

static int widest_line(const char *text) {
    int widest = 0;
    while (*text) {
        char line[4096];
        const size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        const int columns = text_width(line);
        widest = columns > widest ? columns : widest;
        text += length + (text[length] == '\n');
    }
    return widest;
}

static void trim(char *line) {
    for (size_t end = strlen(line); end > 0 && line[end - 1] == ' '; end--) line[end - 1] = 0;
}

/* Prints the next line of each of the blocks from first to end; false if none had one. */
static bool print_line(blocks *b, char **next, int first, int end) {
    int behind = 0; /* columns that must still be filled up with spaces */
    bool any = false;
    for (int i = first; i < end; i++) {
        const size_t length = strcspn(next[i], "\n");
        if (length > 0) {
            char *line = next[i];
            next[i] += length + (line[length] == '\n');
            line[length] = 0;
            trim(line);
            printf("%*s%s", 2 + behind, "", line);
            behind = -text_width(line);
            any = true;
        }
        behind += b->width[i] + GAP - 2;
    }
    if (any) printf("\n");
    return any;
}

/* As many in a row as fit. */
static void print_blocks(blocks *b, int width) {
    char *next[MOST_BLOCKS];
    for (int first = 0, end; first < b->n; first = end) {
        int columns = 2 + b->width[first];
        for (end = first + 1; end < b->n && columns + GAP + b->width[end] <= width; end++)
            columns += GAP + b->width[end];
        for (int i = first; i < end; i++) next[i] = b->text[i];
        if (first > 0) printf("\n");
        while (print_line(b, next, first, end)) continue;
    }
}

static void add_part(blocks *b, const trace_job *job, lab_part part, int width) {
    const lab_step *step = &job->steps.step[part];
    for (int64_t h = 0; h < step->heads && b->n < MOST_BLOCKS; h++) {
        if (!trace_shows(job, step, h)) continue;
        char *text = grid_text(job, part, h, width);
        if (!text) continue;
        b->width[b->n] = widest_line(text);
        b->text[b->n++] = text;
    }
}

void trace_print_parts(const trace_job *job, const trace_page *page) {
    const int width = trace_width();
    blocks b = {.n = 0};
    for (int i = 0; i < page->n; i++) add_part(&b, job, page->part[i], width);
    print_blocks(&b, width);
    for (int i = 0; i < b.n; i++) free(b.text[i]);
    const bool per_head = job->steps.step[page->part[page->n - 1]].per_head;
    if (per_head && trace_hidden_heads(job))
        printf("\n  ... and %lld more heads; --head N shows one\n",
               (long long)trace_hidden_heads(job));
}
