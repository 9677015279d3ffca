/* SPDX-License-Identifier: Apache-2.0 */
/* test_options.c - the option parser (cli/shared/options.h): values, forms, errors, suggestions.
 * Messages go to standard error; tests/cli/test_cli.py reads them. */
#include "shared/options.h"

#include "check.h"

#include <stdio.h>

typedef struct settings {
    cli_common common;
    bool flag;
    const char *text;
    int64_t number;
    uint64_t seed;
    double real;
    int choice;
    cli_texts texts;
} settings;

#define AT(field) .at = offsetof(settings, field)
static const cli_option options[] = {
    {.kind = CLI_SECTION, .name = "Section"},
    {.kind = CLI_FLAG, .name = "flag", .letter = 'f', AT(flag), .help = ""},
    {.kind = CLI_TEXT, .name = "text", .letter = 't', AT(text), .value = "T", .help = ""},
    {.kind = CLI_INT, .name = "number", AT(number), .value = "N", .help = "", .min = -2, .max = 9},
    {.kind = CLI_UINT, .name = "seed", AT(seed), .value = "N", .help = ""},
    {.kind = CLI_REAL, .name = "real", AT(real), .value = "X", .help = ""},
    {.kind = CLI_CHOICE, .name = "choice", AT(choice), .value = "ant|bee|beetle", .help = ""},
    {.kind = CLI_TEXTS, .name = "texts", AT(texts), .value = "T", .help = ""},
    CLI_COMMON_OPTIONS,
};
static const cli_spec spec = {.command = "test",
                              .usage = "test",
                              .about = "",
                              .options = options,
                              .n_options = sizeof options / sizeof *options};

enum { MAX_WORDS = 16 };

/* Parses the words of a line, separated by single spaces. */
static int parse(const char *line, settings *s) {
    static char copy[400];
    char *argv[MAX_WORDS + 2] = {copy};
    int argc = 1;
    *s = (settings){.number = 5, .choice = -1};
    copy[0] = 0;
    snprintf(copy + 1, sizeof copy - 1, "%s", line);
    for (char *at = copy + 1; *at && argc < MAX_WORDS;) {
        argv[argc++] = at;
        while (*at && *at != ' ') at++;
        if (*at) *at++ = 0;
    }
    return cli_parse(&spec, argc, argv, s);
}

static void check_refused(const char *line) {
    settings s;
    CHECK_MSG(parse(line, &s) == CLI_USAGE, "not refused: %s", line);
}

TEST(no_words_leave_the_defaults) {
    settings s;
    CHECK_INT(parse("", &s), CLI_GO);
    CHECK_INT(s.number, 5);
    CHECK_INT(s.choice, -1);
    CHECK(!s.flag && !s.text && s.texts.n == 0);
}

TEST(a_value_follows_as_a_word_or_after_an_equals_sign) {
    settings s;
    CHECK_INT(parse("--text a --number=7", &s), CLI_GO);
    CHECK_STR(s.text, "a");
    CHECK_INT(s.number, 7);
}

TEST(a_letter_takes_its_value_in_three_ways) {
    settings s;
    static const char *const lines[] = {"-t out.npy", "-tout.npy", "-t=out.npy"};
    for (int i = 0; i < 3; i++) {
        CHECK_INT(parse(lines[i], &s), CLI_GO);
        CHECK_STR(s.text, "out.npy");
    }
}

TEST(a_single_dash_is_a_value) {
    settings s;
    CHECK_INT(parse("--text -", &s), CLI_GO);
    CHECK_STR(s.text, "-");
}

TEST(negative_numbers_are_values_not_options) {
    settings s;
    CHECK_INT(parse("--number -2 --real -1.5e-3", &s), CLI_GO);
    CHECK_INT(s.number, -2);
    CHECK_NEAR(s.real, -1.5e-3, 0);
}

TEST(an_option_is_not_taken_for_a_value) {
    check_refused("--text --flag");
    check_refused("--text");
    check_refused("-t");
}

TEST(after_an_equals_sign_anything_is_a_value) {
    settings s;
    CHECK_INT(parse("--text=--flag", &s), CLI_GO);
    CHECK_STR(s.text, "--flag");
    CHECK(!s.flag);
    CHECK_INT(parse("--text=", &s), CLI_GO);
    CHECK_STR(s.text, "");
}

TEST(numbers_out_of_range_are_refused) {
    check_refused("--number -3");
    check_refused("--number 10");
    check_refused("--number 99999999999999999999");
}

TEST(numbers_with_anything_else_are_refused) {
    static const char *const lines[] = {"--number 1x", "--number=",  "--number 1.0", "--number 0x1",
                                        "--number -",  "--real inf", "--real nan",   "--real 1e999",
                                        "--real 1,5",  "--seed -1",  "--seed=",      "--number=+3"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines && !check_has_failed(); i++)
        check_refused(lines[i]);
}

TEST(a_seed_may_have_all_64_bits) {
    settings s;
    CHECK_INT(parse("--seed 18446744073709551615", &s), CLI_GO);
    CHECK(s.seed == UINT64_MAX);
    check_refused("--seed 18446744073709551616");
}

TEST(choices_are_whole_words) {
    settings s;
    CHECK_INT(parse("--choice bee", &s), CLI_GO);
    CHECK_INT(s.choice, 1);
    CHECK_INT(parse("--choice beetle", &s), CLI_GO);
    CHECK_INT(s.choice, 2);
    check_refused("--choice be");
    check_refused("--choice ant|bee");
    check_refused("--choice=");
}

TEST(repeated_options_add_up_to_a_limit) {
    settings s;
    CHECK_INT(parse("--texts a --texts b", &s), CLI_GO);
    CHECK_INT(s.texts.n, 2);
    CHECK_STR(s.texts.item[1], "b");
    check_refused("--texts=1 --texts=2 --texts=3 --texts=4 --texts=5 --texts=6 --texts=7 --texts=8 "
                  "--texts=9");
}

TEST(a_flag_takes_no_value) {
    check_refused("--flag=1");
    check_refused("-fx");
}

TEST(names_are_not_abbreviated) {
    check_refused("--fla");
    check_refused("--Section");
    check_refused("--");
    check_refused("-x");
    check_refused("--=");
}

TEST(loose_words_are_refused) {
    check_refused("word");
    check_refused("-");
}

TEST(lists_of_numbers_are_split_at_commas) {
    int64_t v[4];
    CHECK_INT(cli_parse_sizes("5,-3,0", v, 4), 3);
    CHECK_INT(v[0], 5);
    CHECK_INT(v[1], -3);
    CHECK_INT(v[2], 0);
}

TEST(broken_lists_are_refused) {
    static const char *const lists[] = {"", ",", "1,", ",1", "1,,2", "1 ,2", "1,2,3,4,5", "a"};
    int64_t v[4];
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        CHECK_MSG(cli_parse_sizes(lists[i], v, 4) == -1, "accepted: %s", lists[i]);
}

TEST(sizes_have_binary_suffixes_or_a_decimal_exponent) {
    static const struct {
        const char *text;
        int64_t value;
    } sizes[] = {{"16k", 16384},         {"16K", 16384},
                 {"2M", 2097152},        {"1G", 1073741824},
                 {"1e6", 1000000},       {"2.5e3", 2500},
                 {"1.5k", 1536},         {"0.5M", 524288},
                 {"-1k", -1024},         {"0k", 0},
                 {"1e+2", 100},          {"0e99", 0},
                 {"1.500k", 1536},       {"1.000000000000000000000000k", 1024},
                 {"1E3", 1000},          {"9223372036854775807", INT64_MAX},
                 {".5k", 512},           {"8589934591G", 8589934591 << 30},
                 {"0.0009765625M", 1024}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t value = -7;
        CHECK_MSG(!cli_parse_size(sizes[i].text, &value), "refused: %s", sizes[i].text);
        CHECK_MSG(value == sizes[i].value, "%s: %lld", sizes[i].text, (long long)value);
    }
}

TEST(broken_sizes_are_refused_with_a_reason) {
    static const struct {
        const char *text, *reason;
    } sizes[] = {{"1.5e0k", "has both an exponent and a suffix"},
                 {"1e3M", "has both an exponent and a suffix"},
                 {"1e19", "does not fit in 64 bits"},
                 {"1e99999999999999999999", "does not fit in 64 bits"},
                 {"9223372036854775808", "does not fit in 64 bits"},
                 {"8589934592G", "does not fit in 64 bits"},
                 {"1.5", ""},
                 {"1.0", ""},
                 {"0.0001k", ""},
                 {"1e-3", ""},
                 {"", ""},
                 {"-", ""},
                 {"k", ""},
                 {".", ""},
                 {".k", ""},
                 {"1e", ""},
                 {"1kk", ""},
                 {"1kB", ""},
                 {"1 k", ""},
                 {" 1", ""},
                 {"+1", ""},
                 {"1.2.3k", ""},
                 {"0x10", ""},
                 {"1m", ""}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t value = -7;
        const char *reason = cli_parse_size(sizes[i].text, &value);
        CHECK_MSG(reason && value == -7, "accepted: '%s'", sizes[i].text);
        if (reason) CHECK_STR(reason, sizes[i].reason);
    }
}

TEST(lists_of_numbers_may_have_suffixes) {
    int64_t v[2];
    CHECK_INT(cli_parse_sizes("4k,-1", v, 2), 2);
    CHECK_INT(v[0], 4096);
    CHECK_INT(v[1], -1);
}

TEST(distance_counts_letters) {
    CHECK_INT(cli_distance("window", "window"), 0);
    CHECK_INT(cli_distance("windw", "window"), 1);   /* one missing */
    CHECK_INT(cli_distance("windoww", "window"), 1); /* one too many */
    CHECK_INT(cli_distance("wondow", "window"), 1);  /* one wrong */
    CHECK_INT(cli_distance("iwndow", "window"), 1);  /* two swapped */
    CHECK_INT(cli_distance("", "abc"), 3);
    CHECK_INT(cli_distance("abc", ""), 3);
    CHECK_INT(cli_distance("kitten", "sitting"), 3);
}

static const char *word_at(const void *arg, size_t i) { return ((const char *const *)arg)[i]; }

TEST(the_nearest_word_is_found_and_far_ones_are_not) {
    const char *const words[] = {"causal", "window", "weights", "temperature"};
    CHECK_STR(cli_nearest("casual", 4, word_at, words), "causal");
    CHECK_STR(cli_nearest("temp", 4, word_at, words), "temperature");
    CHECK_STR(cli_nearest("wieghts", 4, word_at, words), "weights");
    CHECK(!cli_nearest("xyz", 4, word_at, words));
    CHECK(!cli_nearest("", 4, word_at, words));
}

TEST(a_word_is_near_if_at_most_a_third_of_its_letters_is_wrong) {
    const char *const words[] = {"run", "bench", "selftest", "q"};
    CHECK_STR(cli_nearest("rnu", 4, word_at, words), "run"); /* one of 3 */
    CHECK(!cli_nearest("ron2", 4, word_at, words));          /* two of 4 */
    CHECK(!cli_nearest("fuel", 4, word_at, words));
    CHECK_STR(cli_nearest("bunch", 4, word_at, words), "bench");
    CHECK(!cli_nearest("lunch", 4, word_at, words));                   /* two of 5 */
    CHECK_STR(cli_nearest("selvtset", 4, word_at, words), "selftest"); /* two of 8 */
    CHECK(!cli_nearest("selvtsxx", 4, word_at, words));
    CHECK(!cli_nearest("k", 4, word_at, words)); /* one letter says nothing */
    CHECK_STR(cli_nearest("un", 4, word_at, words), "run");
}
