/* SPDX-License-Identifier: Apache-2.0 */
/* test_task.c - tasks: every example is right by the rule of its task, which is evaluated again
 * here from the words, and no held-out example is ever drawn for training. */
#include "check.h"

#include "learning/task.h"

#include <stdio.h>
#include <stdlib.h>

enum { EXAMPLES = 400 };

static const char *word(const lab_task *task, int32_t token) { return task->words[token]; }

static bool is_one_of(const char *a, const char *list) {
    const size_t n = strlen(a);
    for (const char *at = strstr(list, a); at; at = strstr(at + 1, a))
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0)) return true;
    return false;
}

/* The words of an example, separated by spaces. */
static void sentence(const lab_task *task, const lab_task_example *e, char text[400]) {
    text[0] = 0;
    for (int i = 0; i < e->n; i++) {
        strcat(text, i ? " " : "");
        strcat(text, word(task, e->token[i]));
    }
}

TEST(every_task_fits_its_bounds) {
    for (int t = 0; t < LAB_N_TASKS; t++) {
        const lab_task *task = lab_tasks[t];
        CHECK(lab_task_named(task->name) == task);
        CHECK(task->n <= LAB_TASK_LENGTH && task->n_questions <= LAB_TASK_QUESTIONS);
        CHECK(task->slots <= LAB_TASK_SLOTS);
        CHECK(task->first_question + task->n_questions <= task->n);
    }
    CHECK(!lab_task_named("nothing"));
}

TEST(every_word_is_in_a_vocabulary_once) {
    for (int t = 0; t < LAB_N_TASKS; t++)
        for (int i = 0; i < lab_tasks[t]->n_words; i++) {
            CHECK(lab_tasks[t]->words[i] && lab_tasks[t]->words[i][0]);
            for (int j = 0; j < i; j++)
                CHECK_MSG(strcmp(word(lab_tasks[t], i), word(lab_tasks[t], j)) != 0, "%s: %s twice",
                          lab_tasks[t]->name, word(lab_tasks[t], i));
        }
}

TEST(tokens_answers_and_places_are_in_range) {
    for (int t = 0; t < LAB_N_TASKS; t++) {
        const lab_task *task = lab_tasks[t];
        for (uint64_t i = 0; i < EXAMPLES; i++) {
            lab_task_example e;
            lab_task_draw(task, 1, i, i % 2 ? LAB_HELD_OUT : LAB_TRAINING, &e);
            CHECK(e.n <= task->n && task->first_question + task->n_questions <= e.n);
            for (int j = 0; j < e.n; j++) CHECK(e.token[j] >= 0 && e.token[j] < task->n_words);
            for (int q = 0; q < task->n_questions; q++) {
                const int at = task->causal ? task->first_question + q : e.n - 1;
                for (int s = 0; s < task->slots; s++)
                    CHECK(e.answer[q][s] >= -1 && e.answer[q][s] < task->n_words);
                if (e.answer[q][0] < 0) continue;
                CHECK(e.right[q] != 0 && e.rival[q] != 0 && (e.right[q] & e.rival[q]) == 0);
                CHECK(((e.right[q] | e.rival[q]) >> at >> 1) == 0); /* only what can be seen */
            }
        }
    }
}

TEST(the_same_numbers_give_the_same_example) {
    for (int t = 0; t < LAB_N_TASKS; t++) {
        lab_task_example a, b, c;
        memset(&a, 0, sizeof a);
        memset(&b, 0, sizeof b);
        memset(&c, 0, sizeof c);
        lab_task_draw(lab_tasks[t], 7, 3, LAB_TRAINING, &a);
        lab_task_draw(lab_tasks[t], 7, 4, LAB_TRAINING, &c);
        lab_task_draw(lab_tasks[t], 7, 3, LAB_TRAINING, &b);
        CHECK(memcmp(&a, &b, sizeof a) == 0);
        CHECK(memcmp(a.token, c.token, sizeof a.token) != 0);
    }
}

/* The place of the first word of the example, from `from` on, that is in the list; -1: there is
 * none. */
static int place_of(const lab_task *task, const lab_task_example *e, int from, const char *list) {
    for (int i = from; i < e->n; i++)
        if (is_one_of(word(task, e->token[i]), list)) return i;
    return -1;
}

static const char beings[] = "cat dog horse child nurse farmer teacher rabbit fox sailor baker "
                             "monkey girl boy goat king";
static const char things[] =
    "mat table chair box wall car boat lamp door bench carpet cup bridge cart shelf statue";
static const char moods[] = "tired hungry happy sad angry sleepy thirsty afraid proud bored";
static const char states[] =
    "dirty broken wooden rusty dusty hollow cracked cheap polished unpainted";
static const char colours[] = "red blue green black white brown grey yellow";
static const char nature[] =
    "water tree grass leaf mud forest garden rain root seed fish meadow river";
static const char trade[] =
    "money loan office stock market code manager price screen deal engineer wage phones";
static const char neutrals[] = "door chair window hat letter clock shoe bottle road wall lamp coat";

/* What must not be in both parts: the words that decide, as text. Short sentences of sense
 * count as those with the first neutral noun. */
static void identity(const lab_task *task, const lab_task_example *e, char text[400]) {
    if (strcmp(task->name, "whois") == 0) {
        const int mood = place_of(task, e, 0, moods);
        snprintf(text, 400, "%s %s %s", word(task, e->token[place_of(task, e, 0, beings)]),
                 word(task, e->token[place_of(task, e, 0, things)]),
                 word(task, e->token[mood < 0 ? place_of(task, e, 0, states) : mood]));
    } else if (strcmp(task->name, "sense") == 0) {
        const int cue = place_of(task, e, 0, nature), neutral = place_of(task, e, 0, neutrals);
        snprintf(text, 400, "%s %s %s",
                 word(task, e->token[place_of(task, e, 0, "bank apple mouse plant")]),
                 word(task, e->token[cue < 0 ? place_of(task, e, 0, trade) : cue]),
                 neutral < 0 ? "door" : word(task, e->token[neutral]));
    } else {
        sentence(task, e, text);
    }
}

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

TEST(training_and_held_out_share_nothing) {
    enum { DRAWS = 3000 };
    static char seen[DRAWS][400];
    for (int t = 0; t < LAB_N_TASKS; t++) {
        lab_task_example e;
        char text[400];
        for (uint64_t i = 0; i < DRAWS; i++) {
            lab_task_draw(lab_tasks[t], i % 3, i, LAB_TRAINING, &e);
            identity(lab_tasks[t], &e, seen[i]);
        }
        qsort(seen, DRAWS, sizeof *seen, by_text);
        for (uint64_t i = 0; i < DRAWS; i++) {
            lab_task_draw(lab_tasks[t], i % 3, i, LAB_HELD_OUT, &e);
            identity(lab_tasks[t], &e, text);
            CHECK_MSG(!bsearch(text, seen, DRAWS, sizeof *seen, by_text), "%s: %s in both parts",
                      lab_tasks[t]->name, text);
        }
    }
}

TEST(about_a_fifth_of_the_whois_triples_is_held_out) {
    static char seen[20000][400];
    const lab_task *task = lab_task_named("whois");
    int n[2] = {0, 0};
    for (int part = 0; part < 2; part++) { /* 20000 draws of at most 5120 triples find nearly all */
        lab_task_example e;
        for (uint64_t i = 0; i < 20000; i++) {
            lab_task_draw(task, 5, i, (lab_split)part, &e);
            identity(task, &e, seen[i]);
        }
        qsort(seen, 20000, sizeof *seen, by_text);
        for (int i = 0; i < 20000; i++) n[part] += i == 0 || strcmp(seen[i - 1], seen[i]) != 0;
    }
    CHECK_NEAR((double)n[1] / (n[0] + n[1]), 0.2, 0.03);
}

TEST(whois_asks_for_the_noun_that_the_adjective_suits_and_its_colour) {
    const lab_task *task = lab_task_named("whois");
    for (uint64_t i = 0; i < EXAMPLES; i++) {
        lab_task_example e;
        char text[400];
        lab_task_draw(task, 2, i, LAB_TRAINING, &e);
        sentence(task, &e, text);
        const int being = place_of(task, &e, 0, beings), thing = place_of(task, &e, 0, things);
        const int it = place_of(task, &e, 0, "it"), q = it - task->first_question;
        const int noun = place_of(task, &e, it, moods) > it ? being : thing;
        const int other = noun == being ? thing : being;
        const char *before = word(task, e.token[noun - 1]);
        const bool is_coloured = is_one_of(before, colours);
        CHECK_MSG(e.answer[q][0] == e.token[noun], "%s: %s", text, word(task, e.answer[q][0]));
        CHECK_STR(word(task, e.answer[q][1]), is_coloured ? before : "no-colour");
        for (int k = 0; k < task->n_questions; k++) CHECK_INT(e.answer[k][0] >= 0, k == q);
        /* two colours are different, or the question would have one answer */
        CHECK(!is_coloured || e.token[noun - 1] != e.token[other - 1]);
        const uint64_t right = is_coloured ? 7 : 3;
        CHECK_INT(e.right[q], right << (noun - 1 - is_coloured));
        const bool other_coloured = is_one_of(word(task, e.token[other - 1]), colours);
        CHECK_INT(e.rival[q], (uint64_t)(other_coloured ? 7 : 3) << (other - 1 - other_coloured));
    }
}

TEST(whois_draws_every_form) {
    const lab_task *task = lab_task_named("whois");
    int seen[2][2][2][2] = {0}; /* capital, first colour, second colour, full stop */
    for (uint64_t i = 0; i < EXAMPLES; i++) {
        lab_task_example e;
        lab_task_draw(task, 2, i, LAB_TRAINING, &e);
        const bool first = is_one_of(word(task, e.token[1]), colours);
        const bool second = place_of(task, &e, 2, colours) > 0;
        seen[strcmp(word(task, e.token[0]), "The") == 0][first][second]
            [strcmp(word(task, e.token[e.n - 1]), ".") == 0]++;
    }
    for (int f = 0; f < 16; f++) CHECK(seen[f >> 3 & 1][f >> 2 & 1][f >> 1 & 1][f & 1] > 0);
}

TEST(sense_needs_word_and_cue) {
    static const char *const meaning[4][3] = {{"bank", "riverside", "lender"},
                                              {"apple", "fruit", "company"},
                                              {"mouse", "animal", "device"},
                                              {"plant", "flower", "factory"}};
    const lab_task *task = lab_task_named("sense");
    for (uint64_t i = 0; i < EXAMPLES; i++) {
        lab_task_example e;
        lab_task_draw(task, 2, i, LAB_HELD_OUT, &e);
        const int at = place_of(task, &e, 0, "bank apple mouse plant");
        const int q = at - task->first_question;
        const int natural = place_of(task, &e, 0, nature), traded = place_of(task, &e, 0, trade);
        int which = 0;
        while (strcmp(meaning[which][0], word(task, e.token[at])) != 0) which++;
        CHECK((natural < 0) != (traded < 0));
        CHECK_STR(word(task, e.answer[q][0]), meaning[which][natural >= 0 ? 1 : 2]);
        CHECK_INT(e.right[q], (uint64_t)1 << (natural >= 0 ? natural : traded));
    }
}

TEST(induction_answers_are_what_came_after_the_last_time) {
    const lab_task *task = lab_task_named("induction");
    for (uint64_t i = 0; i < EXAMPLES; i++) {
        lab_task_example e;
        lab_task_draw(task, 2, i, LAB_TRAINING, &e);
        for (int q = 0; q < task->n_questions; q++) {
            const int at = task->first_question + q;
            int last = at - 1;
            while (last >= 0 && e.token[last] != e.token[at]) last--;
            CHECK_INT(e.answer[q][0], last < 0 ? -1 : e.token[last + 1]);
            if (last >= 0) CHECK(e.right[q] >> (last + 1) & 1);
        }
    }
}

TEST(copy_answers_are_the_letters_again) {
    const lab_task *task = lab_task_named("copy");
    for (uint64_t i = 0; i < EXAMPLES; i++) {
        lab_task_example e;
        lab_task_draw(task, 2, i, LAB_TRAINING, &e);
        CHECK_STR(word(task, e.token[8]), ">");
        for (int q = 0; q < 8; q++) {
            CHECK_INT(e.answer[q][0], e.token[q]);
            CHECK_INT(e.right[q], 1 << q);
            if (q < 7) CHECK_INT(e.token[9 + q], e.token[q]);
        }
    }
}

TEST(sort_answers_ascend_and_are_the_same_numbers) {
    const lab_task *task = lab_task_named("sort");
    for (uint64_t i = 0; i < EXAMPLES; i++) {
        lab_task_example e;
        lab_task_draw(task, 2, i, LAB_TRAINING, &e);
        for (int q = 0; q < 8; q++) {
            const int value = atoi(word(task, e.answer[q][0]));
            if (q) CHECK(value > atoi(word(task, e.answer[q - 1][0])));
            int at = 0;
            while (at < 8 && e.token[at] != e.answer[q][0]) at++;
            CHECK(at < 8);
            CHECK_INT(e.right[q], 1 << at);
        }
    }
}

TEST(add_answers_are_the_digits_of_the_sum) {
    const lab_task *task = lab_task_named("add");
    for (uint64_t i = 0; i < EXAMPLES; i++) {
        lab_task_example e;
        lab_task_draw(task, 2, i, LAB_TRAINING, &e);
        const int32_t *x = e.token;
        const int a = x[0] * 100 + x[1] * 10 + x[2], b = x[4] * 100 + x[5] * 10 + x[6];
        const int sum =
            e.answer[0][0] + 10 * e.answer[1][0] + 100 * e.answer[2][0] + 1000 * e.answer[3][0];
        CHECK_STR(word(task, x[3]), "+");
        CHECK_STR(word(task, x[7]), "=");
        CHECK_INT(sum, a + b);
        for (int q = 0; q < 3; q++) CHECK_INT(x[8 + q], e.answer[q][0]);
        CHECK_INT(e.right[0], 1 << 2 | 1 << 6);
        CHECK_INT(e.right[3], 1 << 0 | 1 << 4);
    }
}
