/* SPDX-License-Identifier: Apache-2.0 */
/* verify_print.c - prints the rows of `attn verify` as text, Markdown and JSON.
 * Touches: standard output. Tests: tests/cli/test_verify.py */
#include "shared/out.h"
#include "shared/text.h"
#include "verify.h"

#include <string.h>

static const struct {
    const char *number, *title;
} document_titles[] = {{"000", "analysis report"},
                       {"001", "linear-algebra worked example"},
                       {"002", "interactive tutorial"},
                       {"003", "lesson 17-07"},
                       {"004", "slide deck"}};
enum { N_DOCUMENTS = sizeof document_titles / sizeof *document_titles, LINE = 1024 };

static bool shown(const verify_options *o, const verify_row *row) {
    return !o->wrong || row->outcome.verdict == LAB_WRONG || !row->outcome.agrees;
}

static const char *verdict_word(const lab_outcome *outcome) {
    return outcome->verdict == LAB_MEASURED ? "-" : lab_verdict_name(outcome->verdict);
}

/* --------------------------------------------------------------------------------------- counts */

static lab_tally count(const verify_result *result, bool number) {
    lab_tally t = {0};
    for (size_t i = 0; i < result->n; i++) {
        const verify_row *row = &result->row[i];
        if (row->number == number) lab_tally_add(&t, row->claim, &row->outcome);
    }
    return t;
}

/* Without a terminal the tables get all the columns they can use. */
enum { ID = 7, MARGIN = ID + 2, VERDICT = 8, LEAST_TABLE = 60, LEAST = 30, MOST = 100 };

static int table_width(void) { return out_columns_or(MOST, LEAST, MOST); }

static void print_wrapped(const char *text) {
    text_wrap(stdout, text, (text_box){.width = table_width()});
}

static void print_tally(const lab_tally *t, const char *what) {
    char text[LINE];
    if (t->statements + t->unstated == 0) return;
    int n = snprintf(text, sizeof text,
                     "%zu %s%s: %zu hold%s, %zu hold%s under a condition, %zu %s wrong",
                     t->statements, what, t->statements == 1 ? "" : "s", t->verdict[LAB_HOLDS],
                     t->verdict[LAB_HOLDS] == 1 ? "s" : "", t->verdict[LAB_HOLDS_IF],
                     t->verdict[LAB_HOLDS_IF] == 1 ? "s" : "", t->verdict[LAB_WRONG],
                     t->verdict[LAB_WRONG] == 1 ? "is" : "are");
    if (t->verdict[LAB_MEASURED])
        n += snprintf(text + n, sizeof text - (size_t)n, ", %zu not decided",
                      t->verdict[LAB_MEASURED]);
    if (t->unstated)
        n += snprintf(text + n, sizeof text - (size_t)n, "; %zu more are not stated", t->unstated);
    snprintf(text + n, sizeof text - (size_t)n, ".");
    print_wrapped(text);
}

static void print_summary(const verify_result *result) {
    const lab_tally numbers = count(result, true), claims = count(result, false);
    const size_t agree = numbers.agree + claims.agree;
    lab_tally all = {0};
    char sentence[LAB_TEXT], text[LINE];
    for (size_t i = 0; i < result->n; i++)
        lab_tally_add(&all, result->row[i].claim, &result->row[i].outcome);
    print_tally(&numbers, "worked number");
    print_tally(&claims, "claim");
    lab_tally_say(&all, sentence);
    snprintf(text, sizeof text, "%s%s%s", out_begin(stdout, OUT_BOLD), sentence,
             out_begin(stdout, OUT_PLAIN));
    print_wrapped(text);
    snprintf(text, sizeof text,
             "Our computations agree with the exact values on record: %s%zu of %zu%s.",
             out_begin(stdout, agree == result->n ? OUT_GOOD : OUT_BAD), agree, result->n,
             out_begin(stdout, OUT_PLAIN));
    print_wrapped(text);
}

/* ------------------------------------------------------------------------------ wrapped columns */

/* Columns of the two cells of a row. Where there is no room for both, they stand one below the
 * other. */
typedef struct layout {
    int width, stated, computed;
} layout;

static layout make_layout(void) {
    const int width = table_width(), room = width - MARGIN - VERDICT - 4;
    if (width < LEAST_TABLE) return (layout){width, 0, 0};
    return (layout){width, room * 36 / 79, room - room * 36 / 79};
}

/* The next line of *text, which is stepped over, and its columns. */
static const char *next_piece(const char **text, int width, int *length, int *columns) {
    const char *piece = *text;
    const size_t n = text_line(piece, width);
    *text += n;
    while (**text == ' ') (*text)++;
    *length = (int)n;
    *columns = text_span_width(piece, n);
    return piece;
}

/* Text below the subject of a row, in a look. */
static void print_below(const char *text, out_look look) {
    printf("%*s%s", MARGIN, "", out_begin(stdout, look));
    text_wrap(stdout, text, (text_box){MARGIN, MARGIN, table_width()});
    printf("%s", out_begin(stdout, OUT_PLAIN));
}

static void print_why(const lab_outcome *outcome) {
    if (strcmp(outcome->why, "correct as rounded") == 0 || !*outcome->why) return;
    print_below(outcome->why, outcome->agrees ? OUT_DIM : OUT_BAD);
}

static const out_look verdict_look[] = {OUT_GOOD, OUT_ACCENT, OUT_BAD, OUT_DIM};

/* stated and computed side by side, as many lines as they need; the verdict ends the first. */
static void print_cells(const layout *l, const char *stated, const lab_outcome *outcome) {
    const char *computed = outcome->computed;
    for (bool first = true; first || *stated || *computed; first = false) {
        int left, right, left_columns, right_columns;
        const char *stated_piece = next_piece(&stated, l->stated, &left, &left_columns);
        const char *computed_piece = next_piece(&computed, l->computed, &right, &right_columns);
        printf("%*s%.*s", MARGIN, "", left, stated_piece);
        if (right || first)
            printf("%*s%.*s", l->stated + 2 - left_columns, "", right, computed_piece);
        if (first)
            printf("%*s%s%s%s", l->computed + 2 - right_columns, "",
                   out_begin(stdout, verdict_look[outcome->verdict]), verdict_word(outcome),
                   out_begin(stdout, OUT_PLAIN));
        printf("\n");
    }
}

/* The same where the terminal is narrow. */
static void print_stacked(const char *stated, const lab_outcome *outcome) {
    char text[LINE];
    snprintf(text, sizeof text, "stated: %s", stated);
    print_below(text, OUT_PLAIN);
    snprintf(text, sizeof text, "computed: %s", outcome->computed);
    print_below(text, OUT_PLAIN);
    print_below(verdict_word(outcome), verdict_look[outcome->verdict]);
}

static void print_row(const layout *l, const verify_row *row) {
    const lab_claim *claim = row->claim;
    char subject[LINE];
    snprintf(subject, sizeof subject, "%s%s%s%s%s%s%s%s", claim->subject,
             out_begin(stdout, OUT_DIM), claim->document[3] ? ", also in " : "",
             claim->document[3] ? claim->document + 4 : "", claim->also ? " (also " : "",
             claim->also ? claim->also : "", claim->also ? ")" : "", out_begin(stdout, OUT_PLAIN));
    printf("%s%-*s%s  ", out_begin(stdout, OUT_BOLD), ID, claim->id, out_begin(stdout, OUT_PLAIN));
    text_wrap(stdout, subject, (text_box){MARGIN, MARGIN, l->width});
    if (l->stated)
        print_cells(l, lab_claim_stated(claim), &row->outcome);
    else
        print_stacked(lab_claim_stated(claim), &row->outcome);
    print_why(&row->outcome);
}

static void print_heading(const layout *l, const char *number, const char *title) {
    printf("%sDocument %s%s  ", out_begin(stdout, OUT_BOLD), number, out_begin(stdout, OUT_PLAIN));
    text_wrap(stdout, title, (text_box){14, 14, l->width});
    printf("\n");
    if (l->stated)
        printf("%s%*s%-*s  %-*s  %s%s\n", out_begin(stdout, OUT_DIM), MARGIN, "", l->stated,
               "stated", l->computed, "computed now", "verdict", out_begin(stdout, OUT_PLAIN));
}

static bool document_has_rows(const verify_options *o, const verify_result *result,
                              const char *number) {
    for (size_t i = 0; i < result->n; i++) {
        if (verify_is_of(result->row[i].claim, number) && shown(o, &result->row[i])) return true;
    }
    return false;
}

void verify_print_text(const verify_options *o, const verify_result *result) {
    const layout l = make_layout();
    for (size_t d = 0; d < N_DOCUMENTS; d++) {
        const char *number = document_titles[d].number;
        if (!document_has_rows(o, result, number)) continue;
        print_heading(&l, number, document_titles[d].title);
        for (size_t i = 0; i < result->n; i++) {
            const verify_row *row = &result->row[i];
            if (verify_is_of(row->claim, number) && shown(o, row)) print_row(&l, row);
        }
        printf("\n");
    }
    print_summary(result);
}

/* ---------------------------------------------------------------------------- Markdown and JSON */

/* A cell: | would end it, and * and _ would be emphasis. */
static void print_cell(const char *text) {
    printf(" ");
    for (; *text; text++) {
        if (strchr("|*_<>[]", *text)) putchar('\\');
        putchar(*text);
    }
    printf(" |");
}

void verify_print_markdown(const verify_options *o, const verify_result *result) {
    for (size_t d = 0; d < N_DOCUMENTS; d++) {
        const char *number = document_titles[d].number;
        if (!document_has_rows(o, result, number)) continue;
        printf("## Document %s: %s\n\n", number, document_titles[d].title);
        printf("| id | what | stated | computed | verdict | why |\n|---|---|---|---|---|---|\n");
        for (size_t i = 0; i < result->n; i++) {
            const verify_row *row = &result->row[i];
            if (!verify_is_of(row->claim, number) || !shown(o, row)) continue;
            const char *const cell[] = {
                row->claim->id,        row->claim->subject,         lab_claim_stated(row->claim),
                row->outcome.computed, verdict_word(&row->outcome), row->outcome.why};
            printf("|");
            for (size_t c = 0; c < sizeof cell / sizeof *cell; c++) print_cell(cell[c]);
            printf("\n");
        }
        printf("\n");
    }
    print_summary(result);
}

int verify_print_json(const verify_options *o, const verify_result *result) {
    json_t *list = json_array();
    for (size_t i = 0; i < result->n; i++) {
        const verify_row *row = &result->row[i];
        if (!shown(o, row)) continue;
        json_array_append_new(
            list,
            json_pack("{s:s, s:s?, s:s, s:s, s:s?, s:s, s:s, s:s?, s:s, s:b}", "id", row->claim->id,
                      "also", row->claim->also, "document", row->claim->document, "subject",
                      row->claim->subject, "stated", row->claim->stated, "computed",
                      row->outcome.computed, "verdict", lab_verdict_name(row->outcome.verdict),
                      "follows_from", row->outcome.follows_from, "why", row->outcome.why, "agrees",
                      row->outcome.agrees));
    }
    return out_json(list);
}
