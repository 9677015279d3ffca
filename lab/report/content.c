/* SPDX-License-Identifier: Apache-2.0 */
/* content.c - see content.h. Every number comes from the report; only names are written here. */
#include "report/content.h"

#include <revision.h> /* written by cmake/revision.cmake */

#include <cairo.h>
#include <pango/pango.h>

#include <stdlib.h>
#include <string.h>

const char lab_content_title[] = "Self-Attention";
const char lab_content_subtitle[] = "Scaled Dot-Product Attention Analysis";
const char lab_content_topics[] = "Visualizations, Scaling Analysis, and Gradient Flow";

/* ---- text ---- */

char *lab_typeset_markup(const char *markup) {
    static const char *const rule[][2] = {
        {"sqrt\\((\\w+)\\)", "√\\1"},
        {"\\b(d?[A-Za-z])_(k|v|Q|K|V|O|model|ij|ik|jk)\\b", "\\1<sub>\\2</sub>"},
        {"\\^(T|k|\\d+(\\.\\d+)?)", "<sup>\\1</sup>"},
        {"`([^`]+)`", "<tt>\\1</tt>"}};
    char *text = g_strdup(markup);
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++) {
        GRegex *regex = g_regex_new(rule[i][0], 0, 0, NULL);
        char *next = g_regex_replace(regex, text, -1, 0, rule[i][1], 0, NULL);
        g_regex_unref(regex);
        g_free(text);
        text = next;
    }
    return text;
}

char *lab_typeset(const char *plain) {
    char *escaped = g_markup_escape_text(plain, -1);
    char *markup = lab_typeset_markup(escaped);
    g_free(escaped);
    return markup;
}

/* ---- findings ---- */

static int finding_of(const lab_experiment *experiment) {
    for (int i = 0; i < LAB_FINDINGS; i++) {
        if (strcmp(lab_finding_ids[i], experiment->id) == 0) return i + 1;
    }
    return 0;
}

/* What a test says begins with "holds if" where the verdict is that; the words are said already. */
static char *reason_of(const lab_outcome *outcome) {
    const char *why = outcome->why;
    const bool is_condition =
        outcome->verdict == LAB_HOLDS_IF && g_str_has_prefix(why, "holds if ");
    return lab_typeset(is_condition ? why + strlen("holds ") : why);
}

static lab_row row_of_statement(const lab_statement *statement, const lab_result *result) {
    const lab_claim *claim = statement->claim;
    return (lab_row){.finding = result ? finding_of(result->experiment) : 0,
                     .result = result,
                     .claim = claim,
                     .verdict = statement->outcome.verdict,
                     .stated = lab_typeset(claim->stated),
                     .measured = lab_typeset(statement->outcome.computed),
                     .reason = reason_of(&statement->outcome)};
}

static lab_row row_of_result(const lab_result *result) {
    const bool has_condition = result->finding.verdict == LAB_HOLDS_IF;
    return (lab_row){.finding = finding_of(result->experiment),
                     .result = result,
                     .verdict = result->finding.verdict,
                     .stated = g_strdup("–"),
                     .measured = lab_typeset(result->finding.headline),
                     .reason = lab_typeset(has_condition ? result->finding.condition : "")};
}

static void add_rows(const lab_report *report, const lab_result *result, lab_rows *rows) {
    const size_t before = rows->n;
    for (size_t i = 0; i < report->n_statements; i++) {
        const lab_statement *statement = &report->statement[i];
        if (!lab_list_names(result->experiment->claims, statement->claim->id)) continue;
        rows->row[rows->n++] = row_of_statement(statement, result);
    }
    if (rows->n == before) rows->row[rows->n++] = row_of_result(result);
}

lab_rows lab_content_findings(const lab_report *report) {
    /* several figures may answer one claim */
    lab_rows rows = {.row = g_new0(lab_row, (report->n + 1) * (report->n_statements + 1))};
    for (int i = 0; i < LAB_FINDINGS; i++) {
        const lab_result *result = lab_report_find(report, lab_finding_ids[i]);
        if (result) add_rows(report, result, &rows);
    }
    for (size_t i = 0; i < report->n; i++) {
        if (finding_of(report->result[i].experiment) == 0) {
            add_rows(report, &report->result[i], &rows);
        }
    }
    return rows;
}

static const lab_result *figure_of(const lab_report *report, const char *claim) {
    for (size_t i = 0; i < report->n; i++) {
        if (lab_list_names(report->result[i].experiment->claims, claim)) return &report->result[i];
    }
    return NULL;
}

lab_rows lab_content_statements(const lab_report *report, lab_verdict verdict) {
    lab_rows rows = {.row = g_new0(lab_row, report->n_statements + 1)};
    for (size_t i = 0; i < report->n_statements; i++) {
        const lab_statement *statement = &report->statement[i];
        if (statement->outcome.verdict != verdict) continue;
        rows.row[rows.n++] = row_of_statement(statement, figure_of(report, statement->claim->id));
    }
    return rows;
}

void lab_rows_free(lab_rows *rows) {
    for (size_t i = 0; i < rows->n; i++) {
        g_free(rows->row[i].stated);
        g_free(rows->row[i].measured);
        g_free(rows->row[i].reason);
    }
    g_free(rows->row);
}

/* ---- cover and abstract ---- */

char *lab_content_identity(const lab_report_options *options) {
    GString *text = g_string_new(NULL);
    const char *date = options->date ? options->date : ATTN_COMMIT_DATE;
    if (date[0]) g_string_append_printf(text, "%s · ", date);
    g_string_append_printf(text, "attn %s", attn_version());
    if (ATTN_COMMIT[0]) g_string_append_printf(text, " · commit %s", ATTN_COMMIT);
    return g_string_free(text, FALSE);
}

static void say_counts(const lab_report *report, GString *text) {
    const size_t holds = lab_report_count(report, LAB_HOLDS);
    const size_t conditional = lab_report_count(report, LAB_HOLDS_IF);
    const size_t wrong = lab_report_count(report, LAB_WRONG);
    if (holds + conditional + wrong == 0) return;
    g_string_append_printf(text,
                           " Of %zu statements with a verdict, %zu hold, %zu hold with a "
                           "condition, which is given, and %zu are wrong.",
                           holds + conditional + wrong, holds, conditional, wrong);
}

lab_main_results lab_content_main_results(const lab_report *report) {
    static const char *const ids[LAB_MAIN_RESULTS] = {"F4", "F5", "E3", "E8", "E9"};
    lab_main_results main = {{NULL}};
    for (size_t i = 0, n = 0; i < LAB_MAIN_RESULTS; i++) {
        const lab_result *result = lab_report_find(report, ids[i]);
        if (result) main.result[n++] = result;
    }
    return main;
}

char *lab_content_abstract(const lab_report_options *options, const lab_report *report) {
    GString *text = g_string_new(
        "Self-attention replaces each token of a sequence by a weighted mean of value vectors; "
        "softmax of scaled dot products gives the weights. Five documents describe, compute and "
        "explain it. This report tests what they state.");
    say_counts(report, text);
    g_string_append_printf(
        text,
        " %zu experiments, each with a figure, support the verdicts. attn %s computed every number "
        "while it wrote this report; with the same seed (%u), it writes the same bytes again, "
        "except for measured times.",
        report->n, attn_version(), (unsigned)options->seed);
    return g_string_free(text, FALSE);
}

char *lab_content_tested(const lab_report *report, const lab_experiment *experiment) {
    GString *text = g_string_new(NULL);
    for (size_t i = 0; i < report->n_statements; i++) {
        const lab_statement *statement = &report->statement[i];
        if (!lab_list_names(experiment->claims, statement->claim->id)) continue;
        g_string_append_printf(text, "%s%s %s",
                               text->len ? "; " : "Statements tested: ", statement->claim->id,
                               lab_verdict_words(statement->outcome.verdict));
    }
    if (text->len) g_string_append_c(text, '.');
    return g_string_free(text, FALSE);
}

char *lab_content_source(const lab_claim *claim) {
    char **document = g_strsplit(claim->document, ",", -1);
    char *list = g_strjoinv(", ", document);
    char *text = g_strdup_printf("%s · document%s %s", claim->id,
                                 strchr(claim->document, ',') ? "s" : "", list);
    g_strfreev(document);
    g_free(list);
    return text;
}

/* ---- about ---- */

static void add_entry(lab_entries *entries, const char *name, char *text) {
    if (entries->n < LAB_MAX_ENTRIES) entries->entry[entries->n++] = (lab_entry){name, text};
}

void lab_entries_free(lab_entries *entries) {
    for (size_t i = 0; i < entries->n; i++) g_free(entries->entry[i].text);
    entries->n = 0;
}

lab_entries lab_content_documents(void) {
    static const char *const document[LAB_DOCUMENTS][2] = {
        {"000",
         "an analysis report with seven findings and seven figures, of which only the titles "
         "and captions remain; F1 to F7 draw them again"},
        {"001", "a worked example in linear algebra, with two queries and three keys"},
        {"002", "an interactive tutorial that takes “I love cats” through every step"},
        {"003", "a lesson on attention with exercises"},
        {"004", "a slide deck that follows “I love apple phones”"}};
    lab_entries entries = {.n = 0};
    for (int i = 0; i < LAB_DOCUMENTS; i++) {
        add_entry(&entries, document[i][0], g_strdup(document[i][1]));
    }
    return entries;
}

lab_entries lab_content_verdicts(void) {
    lab_entries entries = {.n = 0};
    add_entry(&entries, "holds", g_strdup("the computation confirms the statement"));
    add_entry(&entries, "holds with a condition",
              g_strdup("it confirms the statement under the condition that is given"));
    add_entry(&entries, "wrong", g_strdup("it contradicts the statement"));
    add_entry(&entries, "measured", g_strdup("nothing was stated; the result is reported"));
    return entries;
}

lab_entries lab_content_identifiers(void) {
    lab_entries entries = {.n = 0};
    add_entry(&entries, "C-3a",
              g_strdup("a claim: a general statement that one or several documents make; "
                       "<tt>attn verify --only C-3a</tt> tests it"));
    add_entry(&entries, "001-03",
              g_strdup("a worked number: the third number that document 001 computes"));
    add_entry(&entries, "F1, E1",
              g_strdup("F: a figure of document 000; E: an experiment beyond the documents; "
                       "<tt>attn report --only F1</tt> repeats one"));
    return entries;
}

lab_entries lab_content_method(const lab_report_options *options) {
    lab_entries entries = {.n = 0};
    attn_cpu cpu = {.struct_size = sizeof cpu};
    attn_cpu_info(&cpu, NULL);
    add_entry(&entries, "Seed",
              g_strdup_printf("%u. Random numbers come from NumPy’s legacy generator (MT19937 with "
                              "polar normals), so the draws can be repeated in Python.",
                              (unsigned)options->seed));
    add_entry(&entries, "Precision",
              g_strdup("Figures are computed in double precision by the same engine that computes "
                       "in single precision in programs. The numbers of F1 to F7 agree with NumPy "
                       "to 1e-9."));
    add_entry(&entries, "Reproducibility",
              g_strdup("The same seed gives the same bytes on the same machine, except for figures "
                       "that measure time; their commands are marked (timed). The date is that of "
                       "the source unless <tt>--date</tt> or SOURCE_DATE_EPOCH gives another."));
    add_entry(&entries, "Data",
              g_strdup("The folder <tt>data</tt> beside this report holds the numbers behind every "
                       "figure as CSV and JSON."));
    char *machine = g_markup_printf_escaped("%s, instruction set %s, %d threads",
                                            cpu.name[0] ? cpu.name : "unknown CPU",
                                            attn_isa_name(cpu.best), options->threads);
    add_entry(&entries, "Machine", machine);
    add_entry(&entries, "Software",
              g_strdup_printf("attn %s, cairo %s, pango %s, compiler %s", attn_version(),
                              cairo_version_string(), pango_version_string(), __VERSION__));
    return entries;
}

/* ---- references ---- */

#define ARXIV "https://arxiv.org/abs/"
const lab_reference lab_references[] = {
    {"F1,F2,F3,F4,F6", "A. Vaswani et al. Attention is all you need. NeurIPS 2017.",
     ARXIV "1706.03762"},
    {"F7",
     "X. Glorot, Y. Bengio. Understanding the difficulty of training deep feedforward neural "
     "networks. AISTATS 2010.",
     "https://proceedings.mlr.press/v9/glorot10a.html"},
    {"F5,E1,E2",
     "T. Dao et al. FlashAttention: fast and memory-efficient exact attention with "
     "IO-awareness. NeurIPS 2022.",
     ARXIV "2205.14135"},
    {"E1,E2", "M. Milakov, N. Gimelshein. Online normalizer calculation for softmax. 2018.",
     ARXIV "1805.02867"},
    {"E1", "I. Beltagy, M. Peters, A. Cohan. Longformer: the long-document transformer. 2020.",
     ARXIV "2004.05150"},
    {"E2", "N. Shazeer. Fast transformer decoding: one write-head is all you need. 2019.",
     ARXIV "1911.02150"},
    {"E2",
     "J. Ainslie et al. GQA: training generalized multi-query transformer models from "
     "multi-head checkpoints. EMNLP 2023.",
     ARXIV "2305.13245"},
    {"E4",
     "Y. Dong, J.-B. Cordonnier, A. Loukas. Attention is not all you need: pure attention "
     "loses rank doubly exponentially with depth. ICML 2021.",
     ARXIV "2103.03404"},
    {"E4,E9", "S. Abnar, W. Zuidema. Quantifying attention flow in transformers. ACL 2020.",
     ARXIV "2005.00928"},
    {"E5", "S. Bhojanapalli et al. Low-rank bottleneck in multi-head attention models. ICML 2020.",
     ARXIV "2002.07028"},
    {"E6", "J. Su et al. RoFormer: enhanced transformer with rotary position embedding. 2021.",
     ARXIV "2104.09864"},
    {"E6",
     "O. Press, N. Smith, M. Lewis. Train short, test long: attention with linear biases "
     "enables input length extrapolation. ICLR 2022.",
     ARXIV "2108.12409"},
    {"E8,E9", "I. Loshchilov, F. Hutter. Decoupled weight decay regularization. ICLR 2019.",
     ARXIV "1711.05101"},
    {NULL, NULL, NULL}};

char *lab_content_citations(const lab_experiment *experiment) {
    GString *text = g_string_new(NULL);
    for (int i = 0; lab_references[i].text; i++) {
        if (!lab_list_names(lab_references[i].figures, experiment->id)) continue;
        g_string_append_printf(text, "%s[%d]", text->len ? ", " : "References: ", i + 1);
    }
    if (text->len) g_string_append_c(text, '.');
    return g_string_free(text, FALSE);
}
