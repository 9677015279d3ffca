/* SPDX-License-Identifier: Apache-2.0 */
/* test_learn_render.c - pages in the terminal (cli/learn/learn_render.h): wrapping, lists, code,
 * tables, inline marks; and every page of the book at many widths. */
#include "lab/support/system.h"
#include "learn/learn_pages.h"
#include "learn/learn_render.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

static char *rendered; /* of the last render(), until the next */

static const char *render_bytes(const char *markdown, size_t n, int width) {
    system_text text;
    free(rendered);
    rendered = NULL;
    if (!system_text_begin(&text)) return "out of memory";
    const bool ok = learn_render(markdown, n, width, text.stream);
    rendered = system_text_end(&text);
    return ok && rendered ? rendered : "out of memory";
}

static const char *render(const char *markdown, int width) {
    out_set_color(2);
    return render_bytes(markdown, strlen(markdown), width);
}

TEST(learn_paragraph_is_joined_and_wrapped) {
    CHECK_STR(render("one two\nthree four five\n", 9), "one two\nthree\nfour five\n");
}

TEST(learn_word_longer_than_the_line_is_cut) {
    CHECK_STR(render("abcdefghijk", 5), "abcde\nfghij\nk\n");
}

TEST(learn_blank_lines_collapse_to_one) { CHECK_STR(render("\na\n\n\nb\n\n", 9), "a\n\nb\n"); }

TEST(learn_headings_are_underlined_to_the_second_level) {
    CHECK_STR(render("# Top\n\n## Next\n\n### Third\n", 40), "Top\n===\n\nNext\n----\n\nThird\n");
}

TEST(learn_list_items_hang_under_their_mark) {
    CHECK_STR(render("- one two\n  three\n- four\n\n12. five six seven\n", 12),
              "- one two\n  three\n- four\n\n12. five six\n    seven\n");
}

TEST(learn_number_that_begins_a_line_of_a_paragraph_is_no_list) {
    CHECK_STR(render("about 22 at\n512. And so on.\n", 40), "about 22 at 512. And so on.\n");
    CHECK_STR(render("text\n1. one\n2. two\n", 40), "text\n1. one\n2. two\n");
}

TEST(learn_quote_keeps_its_bar_on_every_line) {
    CHECK_STR(render("> one two\n> three\n", 9), "| one two\n| three\n");
}

TEST(learn_picture_becomes_its_description_and_the_command_that_draws_it) {
    CHECK_STR(render("a\n\n<picture>\n  <source srcset=\"img/m-dark.svg\">\n"
                     "  <img src=\"img/m.svg\" alt=\"Two\n  masks.\">\n</picture>\n\nb\n",
                     80),
              "a\n\n| Figure: Two masks. To see it: attn learn --figures DIR draws it as "
              "DIR/m.svg\n\nb\n");
    CHECK_STR(render("<picture>\n<img>\n", 80),
              "| Figure: To see it: attn learn --figures DIR draws it as DIR/\n");
}

TEST(learn_code_is_indented_and_not_joined) {
    CHECK_STR(render("```console\n$ a  b\n*x*\n\n```\nend\n", 40), "  $ a  b\n  *x*\n\nend\n");
}

TEST(learn_code_that_fits_only_without_an_indent_has_none) {
    CHECK_STR(render("```\nabcdefghi\nx\n```\n", 9), "abcdefghi\nx\n");
}

TEST(learn_code_wider_than_the_terminal_goes_on_below) {
    CHECK_STR(render("```\nabcdefghij\n```\n", 9), "  abcdefg\n  hij\n");
    CHECK_STR(render("```\nabcde fghi\n```\n", 9), "  abcde\n   fghi\n");
}

TEST(learn_marks_and_links_become_their_text) {
    CHECK_STR(render("**bold** and *stress* and `co*de` and [a title](03-masks.md).\n", 80),
              "bold and stress and co*de and a title.\n");
}

TEST(learn_stars_between_spaces_and_underscores_stay) {
    CHECK_STR(render("2 * 3 is 6, d_k and W_Q, 5*4, \\*\n", 80),
              "2 * 3 is 6, d_k and W_Q, 5*4, *\n");
}

TEST(learn_mark_that_spans_lines_is_read) {
    CHECK_STR(render("a **b\nc** d [e\nf](x) g\n", 80), "a b c d e f g\n");
}

TEST(learn_bracket_without_a_link_stays) {
    CHECK_STR(render("softmax([1, 0]) and [x] (y) and [z\n", 80),
              "softmax([1, 0]) and [x] (y) and [z\n");
}

TEST(learn_comment_leaves_nothing) {
    CHECK_STR(render("a\n\n<!-- one\ntwo -->\n\nb\n", 80), "a\n\nb\n");
}

TEST(learn_looks_are_on_with_colour) {
    out_set_color(1);
    const char *markdown = "a **b** `c`\n";
    CHECK_STR(render_bytes(markdown, strlen(markdown), 80), "a \033[1mb\033[0m \033[36mc\033[0m\n");
    out_set_color(2);
}

TEST(learn_table_columns_are_as_wide_as_their_cells) {
    CHECK_STR(render("| a | long |\n|---|---|\n| wide one | x |\n", 40),
              "a         long\n--------  ----\nwide one  x\n");
}

TEST(learn_table_column_with_a_colon_is_set_to_the_right) {
    CHECK_STR(render("| n | name |\n|---:|---|\n| 1 | a |\n| 128 | b |\n", 40),
              "  n  name\n---  ----\n  1  a\n128  b\n");
}

TEST(learn_table_too_wide_wraps_its_widest_cells) {
    CHECK_STR(render("| a | b |\n|---|---|\n| x | one two three |\n", 12),
              "a  b\n-  ---------\nx  one two\n   three\n");
}

TEST(learn_table_shrinks_columns_without_breaking_words_if_it_can) {
    CHECK_STR(render("| a | b |\n|---|---|\n| unbreakable | x y z x y z |\n", 18),
              "a            b\n-----------  -----\nunbreakable  x y z\n             x y z\n");
}

TEST(learn_table_bar_with_a_backslash_is_part_of_a_cell) {
    CHECK_STR(render("| a |\n|---|\n| \\|x\\| |\n", 40), "a\n---\n|x|\n");
}

TEST(learn_table_row_may_have_too_few_or_too_many_cells) {
    CHECK_STR(render("| a | b |\n|---|---|\n| x |\n| p | q | r |\n", 40),
              "a  b\n-  -  -\nx\np  q  r\n");
}

TEST(learn_letters_beyond_ascii_count_once) {
    CHECK_STR(render("\xc3\xa4\xc3\xb6 \xc3\xbc\n", 4), "\xc3\xa4\xc3\xb6 \xc3\xbc\n");
    CHECK_STR(render("\xc3\xa4\xc3\xb6\xc3\xbc\n", 2), "\xc3\xa4\xc3\xb6\n\xc3\xbc\n");
}

/* The widest line of text in columns. */
static int widest(const char *text) {
    int most = 0, now = 0;
    for (; *text; text++) {
        now = *text == '\n' ? 0 : now + (((unsigned char)*text & 0xC0) != 0x80);
        if (now > most) most = now;
    }
    return most;
}

TEST(learn_no_line_of_any_page_is_wider_than_the_terminal) {
    out_set_color(2);
    for (size_t i = 0; i < learn_n_pages; i++)
        for (int width = LEARN_LEAST_WIDTH; width <= LEARN_MOST_WIDTH; width++) {
            const char *text =
                render_bytes((const char *)learn_pages[i].text, learn_pages[i].n, width);
            CHECK_MSG(widest(text) <= width, "%s: %d columns at width %d", learn_pages[i].file,
                      widest(text), width);
        }
}

TEST(learn_no_line_of_any_page_ends_in_a_space) {
    out_set_color(2);
    for (size_t i = 0; i < learn_n_pages; i++) {
        const char *text = render_bytes((const char *)learn_pages[i].text, learn_pages[i].n, 100);
        CHECK_MSG(!strstr(text, " \n"), "%s", learn_pages[i].file);
    }
}

/* Any cut of a page is text, too: an open fence, half a table, half a link. */
TEST(learn_any_beginning_of_a_page_can_be_shown) {
    const learn_page *page = &learn_pages[0];
    for (size_t n = 0; n <= page->n; n++) {
        const char *text = render_bytes((const char *)page->text, n, 40);
        CHECK_MSG(widest(text) <= 40, "first %zu bytes: %d columns", n, widest(text));
    }
}
