/* SPDX-License-Identifier: Apache-2.0 */
/* test_steps.c - attention step by step against golden.json (60-digit arithmetic), the examples of
 * the documents against the verdicts of the errata, sentences against their specification. */
#include "steps/steps.h"

#include "check.h"
#include "steps/examples.h"
#include "steps/sentence.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static attn_ctx *ctx;

__attribute__((constructor)) static void begin(void) { attn_ctx_create(NULL, &ctx, NULL); }
__attribute__((destructor)) static void end(void) { attn_ctx_destroy(ctx); }

/* --------------------------------------------------------------------------------- golden cases */

static json_t *golden_case(json_t *root, const char *name) {
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(root, "cases"), i, one) {
        if (strcmp(json_string_value(json_object_get(one, "name")), name) == 0) return one;
    }
    check_failed(__FILE__, __LINE__, "golden.json has no case %s", name);
    return NULL;
}

static size_t flatten(const json_t *value, double *to) {
    if (!json_is_array(value)) {
        *to = json_number_value(value);
        return 1;
    }
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(value); i++)
        n += flatten(json_array_get(value, i), to + n);
    return n;
}

/* Every cell of one step, head by head, within 1e-12 of a nested array. */
static void compare(const lab_step *step, const json_t *expected) {
    double want[64];
    const size_t n = flatten(expected, want);
    CHECK_INT(n, step->heads * step->rows * step->columns);
    size_t at = 0;
    for (int64_t h = 0; h < step->heads; h++)
        for (int64_t i = 0; i < step->rows; i++)
            for (int64_t j = 0; j < step->columns; j++) {
                const double actual = lab_step_at(step, h, i, j);
                CHECK_MSG(fabs(actual - want[at]) <= 1e-12, "%s (%d, %d, %d): %.17g, not %.17g",
                          step->name, (int)h, (int)i, (int)j, actual, want[at]);
                at++;
            }
}

static const struct {
    const char *example, *golden;
} pairs[] = {
    {"001", "s001_example"},
    {"002", "s002_X_chosen_projection"},
    {"002-plain", "s002_X_no_projection"},
    {"003", "s003_example2_causal"},
    {"004", "s004_head1_recomputed"},
    {"004-stated", "s004_head1_from_stated_QKV"},
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

/* Calls look() with the steps of each example and the case of golden.json that it is. */
static void for_every_example(void look(const lab_steps *steps, const json_t *golden)) {
    json_t *root = json_load_file(GOLDEN_FILE, 0, NULL);
    for (size_t i = 0; i < PAIRS; i++) {
        lab_steps steps;
        const lab_example *example = lab_example_named(pairs[i].example);
        CHECK(example && lab_steps_compute(ctx, &example->problem, &steps, NULL) == ATTN_OK);
        look(&steps, golden_case(root, pairs[i].golden));
        lab_steps_free(&steps);
        if (check_has_failed()) break;
    }
    json_decref(root);
}

static void look_at_projections(const lab_steps *s, const json_t *golden) {
    static const struct {
        lab_part part;
        const char *key;
    } what[] = {{LAB_Q, "Q"},     {LAB_K, "K"},     {LAB_V, "V"},     {LAB_X, "X"},
                {LAB_W_Q, "W_Q"}, {LAB_W_K, "W_K"}, {LAB_W_V, "W_V"}, {LAB_SCORES, "raw_scores"}};
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        const json_t *expected = json_object_get(golden, what[i].key);
        if (expected) compare(&s->step[what[i].part], expected);
    }
}

static void look_at_results(const lab_steps *s, const json_t *golden) {
    const json_t *expected = json_object_get(golden, "expected");
    compare(&s->step[LAB_SCALED], json_object_get(expected, "scores"));
    compare(&s->step[LAB_WEIGHTS], json_object_get(expected, "weights"));
    compare(&s->step[LAB_OUTPUT], json_object_get(expected, "output"));
    compare(&s->step[LAB_CONCAT], json_object_get(expected, "output"));
}

TEST(examples_hold_the_matrices_of_the_documents) { for_every_example(look_at_projections); }

TEST(examples_come_out_as_computed_with_sixty_digits) { for_every_example(look_at_results); }

TEST(masked_scores_are_minus_infinity_and_their_weights_exactly_zero) {
    lab_steps s;
    CHECK(lab_steps_compute(ctx, &lab_example_named("003")->problem, &s, NULL) == ATTN_OK);
    for (int64_t i = 0; i < 3; i++)
        for (int64_t j = 0; j < 3; j++) {
            const double masked = lab_step_at(&s.step[LAB_MASKED], 0, i, j);
            if (j > i) {
                CHECK(masked == -INFINITY);
                CHECK(lab_step_at(&s.step[LAB_WEIGHTS], 0, i, j) == 0);
            } else {
                CHECK(masked == lab_step_at(&s.step[LAB_SCALED], 0, i, j));
            }
        }
    lab_steps_free(&s);
}

/* -------------------------------------------------------------------------------------- heads */

/* (rows + 1, columns): W with its bias as the last row, for an X with a last column of ones. */
static lab_matrix with_bias(const json_t *layer, const char *key, double *cell) {
    const json_t *w = json_object_get(json_object_get(layer, "W"), key);
    const size_t n = flatten(w, cell);
    const size_t columns = flatten(json_object_get(json_object_get(layer, "b"), key), cell + n);
    return (lab_matrix){(int64_t)(n / columns) + 1, (int64_t)columns, cell};
}

static lab_matrix with_ones(const json_t *layer, double *cell) {
    const json_t *x = json_object_get(layer, "X");
    const size_t rows = json_array_size(x), columns = json_array_size(json_array_get(x, 0)) + 1;
    for (size_t i = 0; i < rows; i++) {
        flatten(json_array_get(x, i), cell + i * columns);
        cell[(i + 1) * columns - 1] = 1;
    }
    return (lab_matrix){(int64_t)rows, (int64_t)columns, cell};
}

TEST(two_heads_and_the_output_projection_of_a_whole_layer) {
    double x[32], w[4][32], want[32], bias[8];
    json_t *root = json_load_file(GOLDEN_FILE, 0, NULL);
    const json_t *layer = golden_case(root, "layer_mha_2h_bidirectional");
    const json_t *expected = json_object_get(layer, "expected");
    lab_problem p = lab_problem_defaults();
    p.H = 2;
    p.given[LAB_X] = with_ones(layer, x);
    p.given[LAB_W_Q] = with_bias(layer, "Q", w[0]);
    p.given[LAB_W_K] = with_bias(layer, "K", w[1]);
    p.given[LAB_W_V] = with_bias(layer, "V", w[2]);
    p.given[LAB_W_O] = (lab_matrix){4, 4, w[3]};
    flatten(json_object_get(json_object_get(layer, "W"), "O"), w[3]);
    flatten(json_object_get(json_object_get(layer, "b"), "O"), bias);
    lab_steps s;
    CHECK(lab_steps_compute(ctx, &p, &s, NULL) == ATTN_OK);
    compare(&s.step[LAB_WEIGHTS], json_object_get(expected, "weights"));
    compare(&s.step[LAB_CONCAT], json_object_get(expected, "concat"));
    CHECK_INT(flatten(json_object_get(expected, "Y"), want), 12);
    for (int i = 0; i < 12; i++) CHECK_NEAR(s.step[LAB_Y].cell[i] + bias[i % 4], want[i], 1e-12);
    lab_steps_free(&s);
    json_decref(root);
}

TEST(outputs_of_the_heads_are_columns_of_the_concatenation) {
    lab_problem p = lab_example_named("002-plain")->problem;
    p.H = 2;
    lab_steps s;
    CHECK(lab_steps_compute(ctx, &p, &s, NULL) == ATTN_OK);
    CHECK_INT(s.d_k, 2);
    for (int64_t h = 0; h < 2; h++)
        for (int64_t i = 0; i < 3; i++)
            for (int64_t j = 0; j < 2; j++)
                CHECK(lab_step_at(&s.step[LAB_OUTPUT], h, i, j) ==
                      lab_step_at(&s.step[LAB_CONCAT], 0, i, 2 * h + j));
    lab_steps_free(&s);
}

TEST(operations_are_counted) { /* document 004: n = 4, d_model = 4, d_k = d_v = 2 */
    lab_problem p = lab_example_named("004")->problem;
    lab_steps s;
    CHECK(lab_steps_compute(ctx, &p, &s, NULL) == ATTN_OK);
    CHECK(s.step[LAB_Q].flops == 2 * 4 * 4 * 2);
    CHECK(s.step[LAB_SCORES].flops == 2 * 16 * 2);
    CHECK(s.step[LAB_SCALED].flops == 16);
    CHECK(s.step[LAB_WEIGHTS].flops == 5 * 16);
    CHECK(s.step[LAB_OUTPUT].flops == 2 * 16 * 2);
    lab_steps_free(&s);
    p.causal = true; /* 10 of 16 pairs are left */
    CHECK(lab_steps_compute(ctx, &p, &s, NULL) == ATTN_OK);
    CHECK(s.step[LAB_WEIGHTS].flops == 5 * 10);
    CHECK(s.step[LAB_OUTPUT].flops == 2 * 10 * 2);
    lab_steps_free(&s);
}

TEST(a_temperature_divides_scores_inside_the_softmax) {
    lab_problem p = lab_example_named("001")->problem;
    p.scaling = LAB_SCALE_NONE;
    p.temperature = sqrt(2); /* the same as the usual scale */
    lab_steps s;
    CHECK(lab_steps_compute(ctx, &p, &s, NULL) == ATTN_OK);
    CHECK(lab_step_at(&s.step[LAB_MASKED], 0, 0, 0) == 1);
    CHECK_NEAR(lab_step_at(&s.step[LAB_WEIGHTS], 0, 0, 0), 0.4011120926797859, 1e-12);
    lab_steps_free(&s);
}

/* ---------------------------------------------------------------------------------- statements */

/* Numbers of a document that do not hold, of its statements about one matrix. */
static int count_wrong(const char *name, lab_part part, bool unscaled) {
    const lab_example *e = lab_example_named(name);
    lab_problem p = e->problem;
    if (unscaled) p.scaling = LAB_SCALE_NONE;
    lab_steps s;
    if (lab_steps_compute(ctx, &p, &s, NULL) != ATTN_OK) return -1;
    int wrong = 0;
    for (size_t i = 0; i < e->n_statements; i++) {
        lab_stated number[LAB_MOST_STATED];
        const lab_statement *said = &e->statement[i];
        const int n = lab_statement_read(said, number);
        if (said->part != part || said->unscaled != unscaled) continue;
        for (int j = 0; j < n; j++)
            wrong += !lab_stated_holds(&number[j], lab_step_at(&s.step[part], 0, said->row, j));
    }
    lab_steps_free(&s);
    return wrong;
}

TEST(wrong_numbers_of_the_documents_are_those_of_the_errata) {
    CHECK_INT(count_wrong("001", LAB_SCALED, false), 0);
    CHECK_INT(count_wrong("001", LAB_WEIGHTS, false), 3);
    CHECK_INT(count_wrong("001", LAB_OUTPUT, false), 1);
    CHECK_INT(count_wrong("002-scaling", LAB_SCALED, false), 0);
    CHECK_INT(count_wrong("002-scaling", LAB_WEIGHTS, false), 4);
    CHECK_INT(count_wrong("002-scaling", LAB_WEIGHTS, true), 0);
    CHECK_INT(count_wrong("003", LAB_SCALED, false), 0);
    CHECK_INT(count_wrong("003", LAB_WEIGHTS, false), 3);
    CHECK_INT(count_wrong("003", LAB_OUTPUT, false), 1);
    CHECK_INT(count_wrong("003-scaling", LAB_WEIGHTS, false), 0);
    CHECK_INT(count_wrong("003-scaling", LAB_WEIGHTS, true), 0);
    CHECK_INT(count_wrong("004", LAB_Q, false), 0);
    CHECK_INT(count_wrong("004", LAB_K, false), 7); /* of 8: 0.9 of "love" is right */
    CHECK_INT(count_wrong("004", LAB_V, false), 6); /* of 8: two first columns are right */
    CHECK_INT(count_wrong("004-stated", LAB_SCORES, false), 2);
    CHECK_INT(count_wrong("004-heads", LAB_CONCAT, false), 8); /* both columns of head 1 */
    CHECK_INT(count_wrong("004-heads", LAB_K, false), 7);      /* head 1 is that of example 004 */
}

/* Head 2 of 004-heads by hand: q = 2 (x3, x4), k = (x4, x3), v = (x3, x4). */
TEST(the_declared_second_head_of_004_is_that_of_its_description) {
    static const double x3[] = {0.2, 0.1, 1.0, 0.4}, x4[] = {0.1, 0.0, 0.5, 1.2};
    lab_steps one = {0}, two = {0};
    CHECK(lab_steps_compute(ctx, &lab_example_named("004")->problem, &one, NULL) == ATTN_OK);
    CHECK(lab_steps_compute(ctx, &lab_example_named("004-heads")->problem, &two, NULL) == ATTN_OK);
    CHECK_INT(two.step[LAB_CONCAT].columns, 4);
    for (int i = 0; i < 4; i++) {
        double e[4], sum = 0, out[2] = {0};
        for (int j = 0; j < 4; j++) {
            e[j] = exp((2 * x3[i] * x4[j] + 2 * x4[i] * x3[j]) / sqrt(2));
            sum += e[j];
        }
        for (int j = 0; j < 4; j++) {
            CHECK_NEAR(lab_step_at(&two.step[LAB_WEIGHTS], 1, i, j), e[j] / sum, 1e-15);
            out[0] += e[j] / sum * x3[j];
            out[1] += e[j] / sum * x4[j];
        }
        for (int c = 0; c < 2; c++) { /* head 1 on the left, head 2 on the right */
            CHECK(lab_step_at(&two.step[LAB_CONCAT], 0, i, c) ==
                  lab_step_at(&one.step[LAB_OUTPUT], 0, i, c));
            CHECK_NEAR(lab_step_at(&two.step[LAB_CONCAT], 0, i, 2 + c), out[c], 1e-15);
        }
    }
    CHECK(lab_step_at(&two.step[LAB_WEIGHTS], 1, 2, 3) > 0.5); /* apple to phones */
    lab_steps_free(&one);
    lab_steps_free(&two);
}

TEST(printed_numbers_stand_for_half_a_unit_of_their_last_digit) {
    const lab_statement said = {LAB_X, 0, "0.278 1.12e-7 3 -1.5", false};
    lab_stated number[LAB_MOST_STATED];
    CHECK_INT(lab_statement_read(&said, number), 4);
    CHECK(lab_stated_holds(&number[0], 0.2784) && !lab_stated_holds(&number[0], 0.2786));
    CHECK(lab_stated_holds(&number[1], 1.1249e-7) && !lab_stated_holds(&number[1], 1.126e-7));
    CHECK(lab_stated_holds(&number[2], 3) && !lab_stated_holds(&number[2], 3.001));
    CHECK(lab_stated_holds(&number[3], -1.54) && !lab_stated_holds(&number[3], 1.5));
}

/* ------------------------------------------------------------------------------------ sentences */

static void expect_words(const char *sentence, const char *joined) {
    lab_words words;
    char text[200] = "";
    CHECK(lab_words_split(sentence, &words, NULL) == ATTN_OK);
    for (int64_t i = 0; i < words.n; i++) {
        strcat(text, i ? "|" : "");
        strcat(text, words.word[i]);
    }
    CHECK_STR(text, joined);
    lab_words_free(&words);
}

TEST(a_sentence_becomes_words_and_closing_marks) {
    expect_words("  The cat\tsat, on the mat.\n", "The|cat|sat|,|on|the|mat|.");
    expect_words(".", ".");
    expect_words("a\033[31mb", "a|[31mb");
}

TEST(sentences_without_words_and_too_long_ones_are_refused) {
    lab_words words;
    attn_error err;
    char many[4 * LAB_MOST_WORDS];
    CHECK(lab_words_split(" \t ", &words, &err) == ATTN_E_VALUE);
    CHECK(strstr(err.message, "empty"));
    memset(many, 0, sizeof many);
    for (int i = 0; i <= LAB_MOST_WORDS; i++) memcpy(many + 2 * i, "a ", 2);
    CHECK(lab_words_split(many, &words, &err) == ATTN_E_VALUE);
    CHECK(strstr(err.message, "513 words"));
    many[2 * LAB_MOST_WORDS] = 0;
    CHECK(lab_words_split(many, &words, &err) == ATTN_OK);
    lab_words_free(&words);
}

/* The embedding of word i of a sentence into row (8). */
static void embedding(const char *sentence, uint32_t seed, int64_t i, double *row) {
    const lab_random how = {.H = 2, .d_model = 8, .seed = seed};
    lab_words words;
    lab_problem p;
    double *memory;
    CHECK(lab_words_split(sentence, &words, NULL) == ATTN_OK);
    CHECK(lab_sentence_problem(&words, &how, &p, &memory, NULL) == ATTN_OK);
    memcpy(row, p.given[LAB_X].cell + i * 8, 8 * sizeof *row);
    free(memory);
    lab_words_free(&words);
}

TEST(the_same_word_has_the_same_embedding_everywhere) {
    double first[8], again[8], elsewhere[8], other[8], reseeded[8];
    embedding("the cat saw the dog", 42, 0, first);
    embedding("the cat saw the dog", 42, 3, again);
    embedding("look at the end", 42, 2, elsewhere);
    embedding("the cat saw the dog", 42, 1, other);
    embedding("the cat saw the dog", 43, 0, reseeded);
    CHECK(memcmp(first, again, sizeof first) == 0);
    CHECK(memcmp(first, elsewhere, sizeof first) == 0);
    CHECK(memcmp(first, other, sizeof first) != 0);
    CHECK(memcmp(first, reseeded, sizeof first) != 0);
}

TEST(random_numbers_have_two_decimals_and_are_never_minus_zero) {
    double row[8];
    for (int64_t i = 0; i < 5; i++) {
        embedding("a b c d e", 7, i, row);
        for (int j = 0; j < 8; j++) {
            char text[32];
            snprintf(text, sizeof text, "%.2f", row[j]);
            CHECK(row[j] == strtod(text, NULL));
            CHECK(!signbit(row[j]) || row[j] != 0);
        }
    }
}

TEST(heads_that_do_not_divide_are_refused) {
    lab_words words;
    lab_problem p;
    double *memory;
    attn_error err;
    CHECK(lab_words_split("a b", &words, NULL) == ATTN_OK);
    CHECK(lab_sentence_problem(&words, &(lab_random){.H = 3, .d_model = 8}, &p, &memory, &err) ==
          ATTN_E_VALUE);
    CHECK(strstr(err.message, "3 do not divide d_model = 8"));
    const lab_random own_size = {.H = 3, .d_model = 8, .d_k = 2};
    CHECK(lab_sentence_problem(&words, &own_size, &p, &memory, &err) == ATTN_OK);
    CHECK_INT(p.given[LAB_W_O].rows, 6);
    free(memory);
    lab_words_free(&words);
}

/* --------------------------------------------------------------------------------------- errors */

static void expect_refused(lab_problem p, attn_status status, const char *words) {
    lab_steps s;
    attn_error err = {""};
    CHECK_INT(lab_steps_compute(ctx, &p, &s, &err), status);
    CHECK_MSG(strstr(err.message, words), "\"%s\" lacks \"%s\"", err.message, words);
    CHECK(s.memory == NULL);
}

TEST(problems_that_make_no_sense_are_refused) {
    const double six[6] = {1, 2, 3, 4, 5, 6}, bad[2] = {1, INFINITY}, huge[2] = {1e300, 1e300};
    const lab_problem good = lab_example_named("001")->problem;
    lab_problem p = good;
    p.given[LAB_K] = (lab_matrix){2, 3, six};
    expect_refused(p, ATTN_E_SHAPE, "k: 3 columns, expected 2");
    p = good;
    p.given[LAB_V] = (lab_matrix){2, 3, six};
    expect_refused(p, ATTN_E_SHAPE, "v: 2 rows, expected 3");
    p = good;
    p.H = 3;
    expect_refused(p, ATTN_E_VALUE, "3 do not divide the 2 columns of q");
    p = good;
    p.given[LAB_W_O] = (lab_matrix){3, 2, six};
    expect_refused(p, ATTN_E_SHAPE, "w_o: 3 rows");
    p = good;
    p.given[LAB_X] = (lab_matrix){3, 2, six};
    expect_refused(p, ATTN_E_VALUE, "one or the other");
    p = good;
    p.given[LAB_Q] = (lab_matrix){1, 2, bad};
    expect_refused(p, ATTN_E_VALUE, "q: inf in row 1");
    p.given[LAB_Q] = (lab_matrix){1, 2, huge};
    p.given[LAB_K] = (lab_matrix){1, 2, huge};
    p.given[LAB_V] = (lab_matrix){1, 2, huge};
    expect_refused(p, ATTN_E_VALUE, "scores: overflows");
    p = lab_problem_defaults();
    expect_refused(p, ATTN_E_VALUE, "0 of 3 given");
    p.given[LAB_X] = (lab_matrix){3, 2, six};
    p.given[LAB_W_Q] = (lab_matrix){2, 3, six};
    expect_refused(p, ATTN_E_VALUE, "1 of 3 given");
}

TEST(more_numbers_than_one_can_look_at_are_refused) {
    static const double zeros[1100];
    lab_problem p = lab_problem_defaults();
    p.given[LAB_Q] = p.given[LAB_K] = p.given[LAB_V] = (lab_matrix){1100, 1, zeros};
    expect_refused(p, ATTN_E_OVERFLOW, "too many numbers");
}
