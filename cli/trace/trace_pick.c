/* SPDX-License-Identifier: Apache-2.0 */
/* trace_pick.c - `attn trace --pick I,J`: where one weight comes from: the dot product factor by
 * factor, the scale, and the share of the row. Tests: tests/cli/test_trace.py */
#include "trace/trace.h"

#include <math.h>

enum { MOST_LINES = 16, MOST_COLUMNS = 20, NUMBER = 9, NARROW_NUMBER = 7 };

static const char *look(out_look which) { return out_begin(stdout, which); }

/* ---------------------------------------------------------------------------------- which cell */

/* A number from 1, or a word: its first place. -1 if there is none. */
static int64_t place_of(const char *text, const char *const *names, int64_t n) {
    int64_t number;
    if (cli_parse_int(text, &number)) return number >= 1 && number <= n ? number - 1 : -1;
    for (int64_t i = 0; i < n; i++)
        if (strcmp(names[i], text) == 0) return i;
    return -1;
}

static int no_place(const trace_job *job, const char *text, const char *what, int64_t n) {
    out_error("trace", "--pick %s: no %s \"%s\", expected a number from 1 to %lld or a word",
              job->o->pick, what, text, (long long)n);
    return CLI_USAGE;
}

int trace_take_pick(trace_job *job) {
    char query[TRACE_TEXT];
    const char *comma = strchr(job->o->pick, ',');
    if (comma == job->o->pick && comma[1] == ',') comma++; /* the word "," */
    if (!comma || !comma[1] || comma - job->o->pick >= TRACE_TEXT) {
        out_error("trace", "--pick %s: expected a query and a key: 1,2 or apple,phones",
                  job->o->pick);
        return CLI_USAGE;
    }
    snprintf(query, sizeof query, "%.*s", (int)(comma - job->o->pick), job->o->pick);
    job->pick.head = job->o->head ? job->o->head - 1 : 0;
    job->pick.i = place_of(query, job->query, job->steps.n_q);
    job->pick.j = place_of(comma + 1, job->key, job->steps.n_k);
    if (job->pick.i < 0) return no_place(job, query, "query", job->steps.n_q);
    if (job->pick.j < 0) return no_place(job, comma + 1, "key", job->steps.n_k);
    return CLI_OK;
}

/* --------------------------------------------------------------------------------------- values */

static double at_pick(const trace_job *job, lab_part part) {
    return lab_step_at(&job->steps.step[part], job->pick.head, job->pick.i, job->pick.j);
}

typedef struct factors {
    double q, k;
} factors;

static factors factors_of(const trace_job *job, int64_t c) {
    return (factors){lab_step_at(&job->steps.step[LAB_Q], job->pick.head, job->pick.i, c),
                     lab_step_at(&job->steps.step[LAB_K], job->pick.head, job->pick.j, c)};
}

/* The ends of a long range, and one place in it. */
static bool is_shown(int64_t i, int64_t n, int64_t kept) {
    return n <= MOST_LINES || i < MOST_LINES / 2 || i >= n - MOST_LINES / 4 || i == kept;
}

/* exp of the difference to the largest score of the row: the ratio of the weights. */
static double power_at(const trace_job *job, int64_t j) {
    const lab_step *weights = &job->steps.step[LAB_WEIGHTS];
    double largest = 0;
    for (int64_t k = 0; k < weights->columns; k++)
        largest = fmax(largest, lab_step_at(weights, job->pick.head, job->pick.i, k));
    return lab_step_at(weights, job->pick.head, job->pick.i, j) / largest;
}

static void title_of(const trace_job *job, char text[TRACE_TEXT]) {
    char head[OUT_NUMBER] = "";
    if (job->steps.H > 1) snprintf(head, sizeof head, ", head %lld", (long long)job->pick.head + 1);
    char query[TEXT_ROOM], key[TEXT_ROOM];
    snprintf(text, TRACE_TEXT, "query %lld \"%s\" and key %lld \"%s\"%s",
             (long long)job->pick.i + 1, text_short(job->query[job->pick.i], MOST_COLUMNS, query),
             (long long)job->pick.j + 1, text_short(job->key[job->pick.j], MOST_COLUMNS, key),
             head);
}

/* ----------------------------------------------------------------------------------------- text */

/* A space and a bar: filled with colour where there is some, else # for positive and - for negative
 * numbers. `width` columns, or only as many as it needs at the end of a line. */
static void print_bar(double x, double largest, int width, bool at_end) {
    const int length = largest > 0 ? (int)(fabs(x) / largest * width + 0.5) : 0;
    if (!at_end || length > 0) putchar(' ');
    if (*look(OUT_BOLD)) {
        printf("\033[48;5;%dm%*s\033[0m", x < 0 ? 209 : 75, length, "");
    } else {
        for (int i = 0; i < length; i++) putchar(x < 0 ? '-' : '#');
    }
    if (!at_end) printf("%*s", width - length, "");
}

/* The columns q, k and their product. */
typedef struct factor_table {
    int number;        /* columns of a number */
    int bar;           /* columns of a bar */
    int decimals[3];   /* of q, k, q k */
    double largest[3]; /* absolute values; q and k share theirs */
} factor_table;

static factor_table make_factor_table(const trace_job *job) {
    const int number = trace_width() < 60 ? NARROW_NUMBER : NUMBER;
    const int room = (trace_width() - 8 - 3 * (number + 1) - 8) / 3;
    const int q = trace_form_of(job, LAB_Q).decimals, k = trace_form_of(job, LAB_K).decimals;
    factor_table t = {.number = number,
                      .bar = room > 24  ? 24
                             : room < 0 ? 0
                                        : room,
                      .decimals = {q, k, q + k > 4 ? 4 : q + k}};
    for (int64_t c = 0; c < job->steps.d_k; c++) {
        const factors f = factors_of(job, c);
        t.largest[0] = t.largest[1] = fmax(t.largest[0], fmax(fabs(f.q), fabs(f.k)));
        t.largest[2] = fmax(t.largest[2], fabs(f.q * f.k));
    }
    return t;
}

static void print_factor_row(const factor_table *t, factors f, int64_t c) {
    static const char *const sign[] = {"  x ", "  = ", ""};
    const double x[3] = {f.q, f.k, f.q * f.k};
    printf("  %s%-5lld%s ", look(OUT_DIM), (long long)c + 1, look(OUT_PLAIN));
    for (int i = 0; i < 3; i++) {
        printf("%*.*f", t->number, t->decimals[i], x[i]);
        print_bar(x[i], t->largest[i], t->bar, i == 2);
        printf("%s", sign[i]);
    }
    printf("\n");
}

static void print_factors(const trace_job *job) {
    const int64_t d_k = job->steps.d_k;
    const factor_table t = make_factor_table(job);
    const int skip = t.bar + 5 + t.number;
    printf("  %s%-5s %*s%*s%*s%s\n", look(OUT_DIM), "dim", t.number, "q", skip, "k", skip, "q k",
           look(OUT_PLAIN));
    for (int64_t c = 0; c < d_k; c++) {
        if (is_shown(c, d_k, 0))
            print_factor_row(&t, factors_of(job, c), c);
        else if (is_shown(c - 1, d_k, 0))
            printf("  ...\n");
    }
}

static void print_line(const char *what, double x, const char *remark) {
    printf("  %-8s %s%14.6f%s   %s", what, look(OUT_BOLD), x, look(OUT_PLAIN), look(OUT_DIM));
    text_wrap(stdout, remark, (text_box){28, 28, trace_width()});
    printf("%s", look(OUT_PLAIN));
}

/* Columns of the table of shares. A narrow terminal shows no powers. */
enum { SCORE = 10, POWER = 14, WEIGHT = 12, SHARES = 2 + TRACE_LABEL + SCORE + POWER + WEIGHT };

static int power_columns(void) { return trace_width() >= SHARES ? POWER : 0; }

/* Fixed decimals, but no 0.0000 for what is only small. */
static void print_power(double x) {
    if (power_columns()) printf(x > 0 && x < 1e-4 ? "%*.1e" : "%*.4f", POWER, x);
}

static void print_share(const trace_job *job, int64_t j) {
    const bool picked = j == job->pick.j;
    const trace_pick *at = &job->pick;
    const int room = trace_width() - SHARES - 1;
    printf("%s ", picked ? ">" : " ");
    text_put(stdout, job->key[j], TRACE_LABEL, false);
    if (trace_is_masked(job, LAB_WEIGHTS, at->head, at->i, j)) {
        printf("%*s", SCORE, "-");
        if (power_columns()) printf("%*s", POWER, "-");
        printf("%*s\n", WEIGHT, "-");
        return;
    }
    const double weight = lab_step_at(&job->steps.step[LAB_WEIGHTS], at->head, at->i, j);
    printf("%*.4f", SCORE, lab_step_at(&job->steps.step[LAB_MASKED], at->head, at->i, j));
    print_power(power_at(job, j));
    printf("%s%*.6f%s", look(picked ? OUT_BOLD : OUT_PLAIN), WEIGHT, weight, look(OUT_PLAIN));
    if (room > 0) print_bar(weight, 1, room < 24 ? room : 24, true);
    printf("\n");
}

static void print_shares_title(const trace_job *job) {
    char query[TEXT_ROOM], title[TRACE_TEXT];
    snprintf(title, sizeof title,
             "%sIts share of the row of \"%s\"%s: exp of each score%s, divided by their sum",
             look(OUT_BOLD), text_short(job->query[job->pick.i], TRACE_LABEL, query),
             look(OUT_PLAIN), job->steps.temperature != 1 ? " / temperature" : "");
    printf("\n");
    text_wrap(stdout, title, (text_box){.width = trace_width()});
    printf("  %s%-*s%*s%*s%*s%s\n", look(OUT_DIM), TRACE_LABEL, "key", SCORE, "score",
           power_columns(), power_columns() ? "exp(s - max)" : "", WEIGHT, "weight",
           look(OUT_PLAIN));
}

static void print_softmax(const trace_job *job) {
    const int64_t n = job->steps.n_k;
    double sum = 0, powers = 0;
    print_shares_title(job);
    for (int64_t j = 0; j < n; j++) {
        powers += power_at(job, j);
        sum += lab_step_at(&job->steps.step[LAB_WEIGHTS], job->pick.head, job->pick.i, j);
        if (is_shown(j, n, job->pick.j))
            print_share(job, j);
        else if (is_shown(j - 1, n, job->pick.j))
            printf("  ...\n");
    }
    printf("  %s%-*s%*s", look(OUT_DIM), TRACE_LABEL, "sum", SCORE, "");
    print_power(powers);
    printf("%*.6f%s\n", WEIGHT, sum, look(OUT_PLAIN));
}

int trace_pick_text(const trace_job *job) {
    char title[TRACE_TEXT], factor[TRACE_TEXT];
    const bool masked = trace_is_masked(job, LAB_WEIGHTS, job->pick.head, job->pick.i, job->pick.j);
    const bool by_dk = job->o->scale == LAB_SCALE_D_K;
    title_of(job, title);
    trace_print_title(job);
    printf("\n%s", look(OUT_BOLD));
    text_wrap(stdout, title, (text_box){.width = trace_width()});
    printf("%s", look(OUT_PLAIN));
    print_factors(job);
    printf("\n");
    print_line("score", at_pick(job, LAB_SCORES), "q.k, the sum of the last column");
    if (job->o->scale == LAB_SCALE_NONE)
        snprintf(factor, sizeof factor, "not scaled");
    else
        snprintf(factor, sizeof factor, "times %s%lld%s = %.6g", by_dk ? "1/" : "1/sqrt(",
                 (long long)job->steps.d_k, by_dk ? "" : ")", job->steps.scale);
    print_line("scaled", at_pick(job, LAB_SCALED), factor);
    if (masked) {
        printf("  ");
        text_wrap(stdout, "masked: this query does not see this key, so the weight is exactly 0",
                  (text_box){2, 2, trace_width()});
    }
    print_line("weight", at_pick(job, LAB_WEIGHTS), "softmax of the row");
    print_softmax(job);
    return CLI_OK;
}

/* ------------------------------------------------------------------------------------- Markdown */

int trace_pick_markdown(const trace_job *job) {
    char title[TRACE_TEXT];
    title_of(job, title);
    printf("# %s\n\n| dim | q | k | q k |\n|---|---:|---:|---:|\n", title);
    for (int64_t c = 0; c < job->steps.d_k; c++) {
        const factors f = factors_of(job, c);
        printf("| %lld | %.6g | %.6g | %.6g |\n", (long long)c + 1, f.q, f.k, f.q * f.k);
    }
    printf("| | | **q.k** | **%.6g** |\n\n", at_pick(job, LAB_SCORES));
    printf("Times %.6g: %.6f. ", job->steps.scale, at_pick(job, LAB_SCALED));
    if (trace_is_masked(job, LAB_WEIGHTS, job->pick.head, job->pick.i, job->pick.j))
        printf("Masked: the weight is exactly 0.\n");
    else
        printf("Its softmax share of the row: **%.6f**.\n", at_pick(job, LAB_WEIGHTS));
    return CLI_OK;
}
