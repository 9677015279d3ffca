/* SPDX-License-Identifier: Apache-2.0 */
/* verify_print.c - the rows of `attn verify` as a table for people, as Markdown and as JSON.
 * Touches: standard output. Tests: tests/cli/test_verify.py */
#include "shared/out.h"
#include "verify.h"

#include <string.h>

static const struct {
    const char *number, *title;
} document_titles[] = {{"000", "analysis report"},
                       {"001", "linear-algebra worked example"},
                       {"002", "interactive tutorial"},
                       {"003", "lesson 17-07"},
                       {"004", "slide deck"}};
enum { N_DOCUMENTS = sizeof document_titles / sizeof *document_titles };

static bool shown(const verify_options *o, const verify_row *row) {
    return !o->wrong || row->outcome.verdict == LAB_WRONG || !row->outcome.agrees;
}

static const char *verdict_word(const lab_outcome *outcome) {
    return outcome->verdict == LAB_MEASURED ? "-" : lab_verdict_name(outcome->verdict);
}

/* --------------------------------------------------------------------------------------- counts */

typedef struct tally {
    size_t rows, verdict[LAB_MEASURED + 1], agree;
} tally;

static tally count(const verify_result *result, bool number) {
    tally t = {0};
    for (size_t i = 0; i < result->n; i++) {
        const verify_row *row = &result->row[i];
        if (row->number != number) continue;
        t.rows++;
        t.verdict[row->outcome.verdict]++;
        t.agree += row->outcome.agrees;
    }
    return t;
}

static void print_tally(const tally *t, const char *what) {
    if (!t->rows) return;
    printf("%zu %s%s: %zu hold%s, %zu hold%s under a condition, %zu %s wrong", t->rows, what,
           t->rows == 1 ? "" : "s", t->verdict[LAB_HOLDS], t->verdict[LAB_HOLDS] == 1 ? "s" : "",
           t->verdict[LAB_HOLDS_IF], t->verdict[LAB_HOLDS_IF] == 1 ? "s" : "",
           t->verdict[LAB_WRONG], t->verdict[LAB_WRONG] == 1 ? "is" : "are");
    if (t->verdict[LAB_MEASURED]) printf(", %zu not stated", t->verdict[LAB_MEASURED]);
    printf(".\n");
}

static void print_summary(const verify_result *result) {
    const tally numbers = count(result, true), claims = count(result, false);
    const size_t rows = numbers.rows + claims.rows, agree = numbers.agree + claims.agree;
    print_tally(&numbers, "worked number");
    print_tally(&claims, "claim");
    printf(
        "None skipped. Our computations agree with the exact values on record: %s%zu of %zu%s.\n",
        out_begin(stdout, agree == rows ? OUT_GOOD : OUT_BAD), agree, rows,
        out_begin(stdout, OUT_PLAIN));
}

/* ------------------------------------------------------------------------------ wrapped columns */

enum { ID = 7, STATED = 36, COMPUTED = 43, WHY = 90 };

/* How much of text fits into width, cut at a space where there is one. */
static size_t fitting(const char *text, size_t width) {
    const size_t length = strlen(text);
    if (length <= width) return length;
    for (size_t at = width; at > width / 3; at--) {
        if (text[at] == ' ') return at;
    }
    return width;
}

/* The next line of *text, which is stepped over. */
static const char *next_piece(const char **text, size_t width, int *length) {
    const char *piece = *text;
    const size_t n = fitting(piece, width);
    *text += n;
    while (**text == ' ') (*text)++;
    *length = (int)n;
    return piece;
}

static void print_why(const lab_outcome *outcome) {
    const char *why = outcome->why;
    int length;
    if (strcmp(why, "right as rounded") == 0) return; /* the verdict says it */
    while (*why) {
        const char *piece = next_piece(&why, WHY, &length);
        printf("%*s%s%.*s%s\n", ID + 2, "", out_begin(stdout, outcome->agrees ? OUT_DIM : OUT_BAD),
               length, piece, out_begin(stdout, OUT_PLAIN));
    }
}

/* stated and computed side by side, as many lines as they need; the verdict ends the first. */
static void print_cells(const char *stated, const lab_outcome *outcome) {
    static const out_look look[] = {OUT_GOOD, OUT_ACCENT, OUT_BAD, OUT_DIM};
    const char *computed = outcome->computed;
    for (bool first = true; first || *stated || *computed; first = false) {
        int left, right;
        const char *stated_piece = next_piece(&stated, STATED, &left);
        const char *computed_piece = next_piece(&computed, COMPUTED, &right);
        printf("%*s%.*s", ID + 2, "", left, stated_piece);
        if (right || first) printf("%*s%.*s", STATED + 2 - left, "", right, computed_piece);
        if (first)
            printf("%*s%s%s%s", COMPUTED + 2 - right, "", out_begin(stdout, look[outcome->verdict]),
                   verdict_word(outcome), out_begin(stdout, OUT_PLAIN));
        printf("\n");
    }
}

static void print_row(const verify_row *row) {
    const lab_claim *claim = row->claim;
    printf("%s%-*s%s  %s", out_begin(stdout, OUT_BOLD), ID, claim->id, out_begin(stdout, OUT_PLAIN),
           claim->subject);
    if (claim->document[3])
        printf("%s, also in %s%s", out_begin(stdout, OUT_DIM), claim->document + 4,
               out_begin(stdout, OUT_PLAIN));
    printf("\n");
    print_cells(claim->stated, &row->outcome);
    print_why(&row->outcome);
}

static void print_heading(const char *number, const char *title) {
    printf("%sDocument %s%s  %s\n\n", out_begin(stdout, OUT_BOLD), number,
           out_begin(stdout, OUT_PLAIN), title);
    printf("%s%*s%-*s  %-*s  %s%s\n", out_begin(stdout, OUT_DIM), ID + 2, "", STATED, "stated",
           COMPUTED, "computed now", "verdict", out_begin(stdout, OUT_PLAIN));
}

static bool document_has_rows(const verify_options *o, const verify_result *result,
                              const char *number) {
    for (size_t i = 0; i < result->n; i++) {
        if (verify_is_of(result->row[i].claim, number) && shown(o, &result->row[i])) return true;
    }
    return false;
}

void verify_print_text(const verify_options *o, const verify_result *result) {
    for (size_t d = 0; d < N_DOCUMENTS; d++) {
        const char *number = document_titles[d].number;
        if (!document_has_rows(o, result, number)) continue;
        print_heading(number, document_titles[d].title);
        for (size_t i = 0; i < result->n; i++) {
            const verify_row *row = &result->row[i];
            if (verify_is_of(row->claim, number) && shown(o, row)) print_row(row);
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
                row->claim->id,        row->claim->subject,         row->claim->stated,
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
            list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b}", "id", row->claim->id,
                            "document", row->claim->document, "subject", row->claim->subject,
                            "stated", row->claim->stated, "computed", row->outcome.computed,
                            "verdict", lab_verdict_name(row->outcome.verdict), "why",
                            row->outcome.why, "agrees", row->outcome.agrees));
    }
    return out_json(list);
}
