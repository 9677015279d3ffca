/* SPDX-License-Identifier: Apache-2.0 */
/* trace_text.c - steps of attention as coloured tables in a terminal of any width.
 * Tests: tests/cli/test_trace.py */
#include "heatmap.h"
#include "trace.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_ROWS = 14, LABEL = 12, WIDE_NAME = 8, GAP = 4, MOST_BLOCKS = 64, MOST_READ = 6 };

static const char *look(out_look which) { return out_begin(stdout, which); }

/* ----------------------------------------------------------------------------------------- words */

/* Broken between words, every line `indent` in. */
static void print_wrapped(const char *text, int indent, int width) {
    int column = printf("%*s", indent, "");
    while (*text) {
        char word[TRACE_TEXT];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(text, " "), text);
        const int length = trace_columns(word);
        if (column > indent && column + 1 + length > width)
            column = printf("\n%*s", indent, "") - 1;
        else if (column > indent)
            column += printf(" ");
        printf("%s", word);
        column += length;
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    printf("\n");
}

/* At most `columns` letters of text, and spaces up to that: left-aligned, or right-aligned. */
static void put_padded(FILE *to, const char *text, int columns, bool right) {
    const int missing = columns - trace_columns(text), spaces = missing > 0 ? missing : 0;
    fprintf(to, "%*s%.*s%*s", right ? spaces : 0, "", trace_clip(text, columns), text,
            right ? 0 : spaces, "");
}

/* ---------------------------------------------------------------------------------------- tables */

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
        const int columns = trace_columns(trace_name(names, i, text));
        widest = columns > widest ? columns : widest;
    }
    return widest > LABEL ? LABEL : widest;
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
    put_padded(to, "", g->label + 1, false);
    for (int64_t j = 0; j < g->columns.n; j = trace_next(&g->columns, j)) {
        put_padded(to, trace_name(names, j, text), g->cell - 1, true);
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
    put_padded(to, trace_name(trace_row_names(g->job, g->part), i, text), g->label, false);
    fprintf(to, "%s ", look(OUT_PLAIN));
    for (int64_t j = 0; j < step->columns; j = trace_next(&g->columns, j)) {
        put_cell(to, g, i, j);
        if (trace_is_cut(&g->columns, j)) fputs("... ", to);
    }
    for (int64_t j = 0; j < step->columns; j++) sum += lab_step_at(step, g->head, i, j);
    if (g->sums) fprintf(to, "%*.*f", g->cell - 1, g->form.decimals, sum);
    fputc('\n', to);
}

static const char *const titles[LAB_N_PARTS] = {
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
    char *text = NULL, title[OUT_NUMBER];
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to) return NULL;
    const grid g = make_grid(job, part, head, width);
    if (job->steps.step[part].heads > 1)
        snprintf(title, sizeof title, "%s, head %lld", titles[part], (long long)head + 1);
    else
        snprintf(title, sizeof title, "%s", titles[part]);
    put_head(to, &g, title);
    for (int64_t i = 0; i < g.rows.n; i = trace_next(&g.rows, i)) {
        put_row(to, &g, i);
        if (trace_is_cut(&g.rows, i)) fputs("...\n", to);
    }
    fclose(to);
    return text;
}

/* ---------------------------------------------------------------------------- tables, side by side */

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
        const int columns = trace_columns(line);
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
            behind = -trace_columns(line);
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
        if (step->per_head && job->o->head && h != job->o->head - 1) continue;
        char *text = grid_text(job, part, h, width);
        if (!text) continue;
        b->width[b->n] = widest_line(text);
        b->text[b->n++] = text;
    }
}

/* ------------------------------------------------------------------------------ what documents say */

/* The numbers of the document, as printed. */
static void put_stated(const trace_verdict *v) {
    const char *text = v->statement->stated;
    for (int j = 0; j < v->n; j++) {
        printf("%10.*s", v->stated[j].length, text);
        text += v->stated[j].length + 1;
    }
}

static void put_truth(const trace_verdict *v) {
    char text[OUT_NUMBER];
    for (int j = 0; j < v->n; j++)
        printf("%s%10s%s", look(v->holds[j] ? OUT_PLAIN : OUT_BAD), trace_truth(v, j, text),
               look(OUT_PLAIN));
}

static void print_verdict(const trace_job *job, lab_part part, const trace_verdict *v, bool first) {
    char text[OUT_NUMBER], document[OUT_NUMBER] = "";
    if (first) snprintf(document, sizeof document, "document %.3s", job->example->name);
    printf("  %-12s says   ", document);
    put_padded(stdout, trace_name(trace_row_names(job, part), v->statement->row, text), LABEL - 3,
               false);
    put_stated(v);
    printf("\n%15sit is  %*s", "", LABEL - 3, "");
    put_truth(v);
    printf("  %s%d wrong%s\n", look(OUT_BAD), v->wrong, look(OUT_PLAIN));
}

/* Rows that are stated wrongly, both ways; the others in one line. */
static void print_statements(const trace_job *job, lab_part part) {
    trace_verdict v;
    int right = 0, wrong = 0;
    for (size_t i = 0; job->example && i < job->example->n_statements; i++) {
        if (!trace_judge(job, part, i, &v)) continue;
        if (right + wrong == 0) printf("\n");
        if (v.wrong > 0) print_verdict(job, part, &v, wrong == 0);
        right += v.wrong == 0;
        wrong += v.wrong > 0;
    }
    if (right == 0) return;
    printf("  %sdocument %.3s is right about %s%s%s\n", look(OUT_GOOD), job->example->name,
           titles[part], wrong ? " in the other rows" : "", look(OUT_PLAIN));
}

/* ---------------------------------------------------------------------------------------- pages */

static int64_t largest_in_row(const lab_step *step, int64_t head, int64_t i) {
    int64_t best = 0;
    for (int64_t j = 1; j < step->columns; j++)
        if (lab_step_at(step, head, i, j) > lab_step_at(step, head, i, best)) best = j;
    return best;
}

/* What the weights say, in words. */
static void print_reading(const trace_job *job) {
    const lab_step *step = &job->steps.step[LAB_WEIGHTS];
    const int64_t head = job->o->head ? job->o->head - 1 : 0;
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to) return;
    fprintf(to, "Where most of the weight goes");
    if (step->heads > 1) fprintf(to, " in head %lld", (long long)head + 1);
    for (int64_t i = 0; i < step->rows && i < MOST_READ; i++) {
        const int64_t j = largest_in_row(step, head, i);
        const char *query = job->query[i], *key = job->key[j];
        fprintf(to, "%s %.*s to %.*s (%.1f%%)", i ? "," : ":", trace_clip(query, LABEL), query,
                trace_clip(key, LABEL), key, 100 * lab_step_at(step, head, i, j));
    }
    fprintf(to, "%s", step->rows > MOST_READ ? ", ..." : ".");
    fclose(to);
    printf("\n");
    print_wrapped(text, 2, trace_width());
    free(text);
}

/* "3  keys   K = X W_K   (4, 4) (4, 2) -> (4, 2)   64 flops" */
static void print_heading(const trace_job *job, int number) {
    const trace_page *page = &job->page[number];
    const lab_step *step = &job->steps.step[page->part[page->n - 1]];
    char shape[OUT_NUMBER], count[OUT_NUMBER];
    trace_shape(step, shape);
    printf("%s%d  %s%s", look(OUT_BOLD), number + 1, page->title, look(OUT_PLAIN));
    if (page->n < 3) printf("   %s%s%s", look(OUT_ACCENT), step->formula, look(OUT_PLAIN));
    if (page->n < 3) printf("   %s%s", look(OUT_DIM), shape);
    if (step->flops > 0) printf("   %s flops", out_grouped(step->flops, count));
    printf("%s\n", look(OUT_PLAIN));
}

void trace_print_page(const trace_job *job, int number) {
    const trace_page *page = &job->page[number];
    const int width = trace_width();
    blocks b = {.n = 0};
    print_heading(job, number);
    print_wrapped(trace_sentence(job, page), 2, width);
    printf("\n");
    for (int i = 0; i < page->n; i++) add_part(&b, job, page->part[i], width);
    print_blocks(&b, width);
    for (int i = 0; i < b.n; i++) free(b.text[i]);
    for (int i = 0; i < page->n; i++) {
        print_statements(job, page->part[i]);
        if (page->part[i] == LAB_WEIGHTS) print_reading(job);
    }
}

void trace_print_title(const trace_job *job) {
    char sizes[TRACE_TEXT];
    const int width = trace_width();
    trace_sizes(job, sizes);
    printf("%s", look(OUT_BOLD));
    print_wrapped(job->title, 0, width);
    printf("%s", look(OUT_PLAIN));
    if (*job->about) print_wrapped(job->about, 0, width);
    printf("%s", look(OUT_DIM));
    print_wrapped(sizes, 0, width);
    printf("%s", look(OUT_PLAIN));
}

static void print_end(const trace_job *job) {
    char count[OUT_NUMBER];
    double flops = 0;
    for (int part = 0; part < LAB_N_PARTS; part++) flops += job->steps.step[part].flops;
    if (job->as_documented && job->example->lesson) {
        printf("\n");
        print_wrapped(job->example->lesson, 0, trace_width());
    }
    printf("\n%s%s flops in all; try --causal, --temperature 0.2, --pick 1,2, --interactive%s\n",
           look(OUT_DIM), out_grouped(flops, count), look(OUT_PLAIN));
}

int trace_text(const trace_job *job, int only) {
    trace_print_title(job);
    for (int page = 0; page < job->n_pages; page++) {
        if (only >= 0 && page != only) continue;
        printf("\n");
        trace_print_page(job, page);
    }
    if (only < 0) print_end(job);
    return CLI_OK;
}
