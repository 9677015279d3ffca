/* SPDX-License-Identifier: Apache-2.0 */
/* task_language.c - tasks in words: whois (who is "it", and what colour) and sense (which meaning
 * of an ambiguous word). In both the answer needs two things that stand apart in the sentence.
 * Called through lab_tasks. Tests: tests/lab/test_task.c, tests/lab/test_task_form.c */
#include "learning/task_dice.h"
#include "learning/task_form.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* --------------------------------------------------------------------------------------- whois */

/* The [COLOUR] noun VERB PREPOSITION the [COLOUR] noun because it was ADJECTIVE [.]
 * One noun is a living being, the other a thing; the adjective suits only one of them. Who "it" is
 * can be told from the words alone; which colour it has, if any, needs to know who it is. */

enum {
    WHO_THE, /* "The" and "the" */
    WHO_BECAUSE = WHO_THE + 2,
    WHO_IT,
    WHO_WAS,
    WHO_STOP,
    WHO_BEING,
    WHO_THING = WHO_BEING + 16,
    WHO_MOOD = WHO_THING + 16,
    WHO_STATE = WHO_MOOD + 10,
    WHO_VERB = WHO_STATE + 10,
    WHO_PREPOSITION = WHO_VERB + 3,
    WHO_COLOUR = WHO_PREPOSITION + 4,
    WHO_NO_COLOUR = WHO_COLOUR + 8, /* only as an answer */
    WHO_WORDS
};

static const char *const whois_words[WHO_WORDS] = {
    "The", "the", "because", "it", "was", ".",
    /* beings */
    "cat", "dog", "horse", "child", "nurse", "farmer", "teacher", "rabbit", "fox", "sailor",
    "baker", "monkey", "girl", "boy", "goat", "king",
    /* things */
    "mat", "table", "chair", "box", "wall", "car", "boat", "lamp", "door", "bench", "carpet", "cup",
    "bridge", "cart", "shelf", "statue",
    /* what only a being can be */
    "tired", "hungry", "happy", "sad", "angry", "sleepy", "thirsty", "afraid", "proud", "bored",
    /* what only a thing can be */
    "dirty", "broken", "wooden", "rusty", "dusty", "hollow", "cracked", "cheap", "polished",
    "unpainted", "sat", "stood", "lay", "on", "near", "under", "behind", "red", "blue", "green",
    "black", "white", "brown", "grey", "yellow", "no-colour"};

/* The slots of both forms, which differ in what comes first: the being or the thing. */
enum {
    SLOT_THE,
    SLOT_COLOUR,
    SLOT_NOUN,
    SLOT_VERB,
    SLOT_PREPOSITION,
    SLOT_THE_2,
    SLOT_COLOUR_2,
    SLOT_NOUN_2,
    SLOT_BECAUSE,
    SLOT_IT,
    SLOT_WAS,
    SLOT_ADJECTIVE,
    SLOT_STOP,
    WHO_SLOTS
};

#define WHO_FORM(noun, noun_2)                                                                     \
    {                                                                                              \
        .n_slots = WHO_SLOTS, .question = SLOT_IT, .slot = {                                       \
            [SLOT_THE] = {WHO_THE, 2, false},                                                      \
            [SLOT_COLOUR] = {WHO_COLOUR, 8, true},                                                 \
            [SLOT_NOUN] = {noun, 16, false},                                                       \
            [SLOT_VERB] = {WHO_VERB, 3, false},                                                    \
            [SLOT_PREPOSITION] = {WHO_PREPOSITION, 4, false},                                      \
            [SLOT_THE_2] = {WHO_THE + 1, 1, false},                                                \
            [SLOT_COLOUR_2] = {WHO_COLOUR, 8, true},                                               \
            [SLOT_NOUN_2] = {noun_2, 16, false},                                                   \
            [SLOT_BECAUSE] = {WHO_BECAUSE, 1, false},                                              \
            [SLOT_IT] = {WHO_IT, 1, false},                                                        \
            [SLOT_WAS] = {WHO_WAS, 1, false},                                                      \
            [SLOT_ADJECTIVE] = {WHO_MOOD, 20, false},                                              \
            [SLOT_STOP] = {WHO_STOP, 1, true}                                                      \
        }                                                                                          \
    }

static const lab_form whois_forms[] = {WHO_FORM(WHO_BEING, WHO_THING),
                                       WHO_FORM(WHO_THING, WHO_BEING)};

/* Half of the sentences name both colours, a quarter one of them, a quarter none. */
static void pick_colours(lab_dice *dice, int *pick) {
    int32_t colours[2];
    lab_roll_distinct(dice, 8, 2, colours);
    const int named = lab_roll(dice, 8);
    pick[SLOT_COLOUR] = named < 5 ? colours[0] : -1;
    pick[SLOT_COLOUR_2] = named < 4 || named == 5 ? colours[1] : -1;
}

/* The tokens from the article to the noun. */
static uint64_t phrase(int the, int noun) { return ((uint64_t)2 << noun) - ((uint64_t)1 << the); }

static uint64_t whois_draw(lab_dice *dice, lab_task_example *example) {
    const int being = lab_roll(dice, 16), thing = lab_roll(dice, 16);
    const int adjective = lab_roll(dice, 20), thing_first = lab_roll(dice, 2);
    int at[WHO_SLOTS], pick[WHO_SLOTS] = {[SLOT_THE] = lab_roll(dice, 2),
                                          [SLOT_NOUN] = thing_first ? thing : being,
                                          [SLOT_VERB] = lab_roll(dice, 3),
                                          [SLOT_PREPOSITION] = lab_roll(dice, 4),
                                          [SLOT_NOUN_2] = thing_first ? being : thing,
                                          [SLOT_ADJECTIVE] = adjective,
                                          [SLOT_STOP] = lab_roll(dice, 2) - 1};
    pick_colours(dice, pick);
    lab_form_write(&whois_forms[thing_first], pick, example, at);
    const uint64_t first = phrase(at[SLOT_THE], at[SLOT_NOUN]);
    const uint64_t second = phrase(at[SLOT_THE_2], at[SLOT_NOUN_2]);
    const bool is_first = (adjective < 10) == !thing_first;
    const int noun = is_first ? SLOT_NOUN : SLOT_NOUN_2, colour = noun - 1;
    const int question = at[SLOT_IT] - lab_task_whois.first_question;
    example->answer[question][0] = example->token[at[noun]];
    example->answer[question][1] = pick[colour] < 0 ? WHO_NO_COLOUR : WHO_COLOUR + pick[colour];
    example->right[question] = is_first ? first : second;
    example->rival[question] = is_first ? second : first;
    return ((uint64_t)being * 16 + (uint64_t)thing) * 20 + (uint64_t)adjective;
}

const lab_task lab_task_whois = {
    .name = "whois",
    .about = "who is \"it\", and what colour if any: one of two nouns, and the adjective decides",
    .words = whois_words,
    .n_words = WHO_WORDS,
    .n = WHO_SLOTS,
    .n_questions = 3, /* "it" moves with the colours before it */
    .first_question = SLOT_IT - 2,
    .slots = 2,
    .defaults = {.layers = 2, .heads = 2, .d = 32, .batch = 64, .steps = 2000, .rate = 3e-3},
    .forms = whois_forms,
    .n_forms = COUNT(whois_forms),
    .draw = whois_draw,
};

/* --------------------------------------------------------------------------------------- sense */

/* the WORD PREPOSITION the CUE and the NEUTRAL [.]   (or NEUTRAL and CUE)
 * the WORD PREPOSITION the CUE [.]
 * I love WORD CUE [.]
 * Cues are shared by all words, so that neither word nor cue alone gives the meaning. */

enum { CUES = 13, NEUTRALS = 12 };
enum {
    SENSE_THE,
    SENSE_AND,
    SENSE_STOP,
    SENSE_I,
    SENSE_LOVE,
    SENSE_PREPOSITION,
    SENSE_WORD = SENSE_PREPOSITION + 4,
    SENSE_NATURE = SENSE_WORD + 4,
    SENSE_TRADE = SENSE_NATURE + CUES,
    SENSE_NEUTRAL = SENSE_TRADE + CUES,
    SENSE_MEANING = SENSE_NEUTRAL + NEUTRALS,
    SENSE_WORDS = SENSE_MEANING + 8
};

static const char *const sense_words[SENSE_WORDS] = {
    "the", "and", ".", "I", "love", "near", "with", "by", "of", "bank", "apple", "mouse", "plant",
    /* cues of nature */
    "water", "tree", "grass", "leaf", "mud", "forest", "garden", "rain", "root", "seed", "fish",
    "meadow", "river",
    /* cues of trade */
    "money", "loan", "office", "stock", "market", "code", "manager", "price", "screen", "deal",
    "engineer", "wage", "phones",
    /* no cue at all */
    "door", "chair", "window", "hat", "letter", "clock", "shoe", "bottle", "road", "wall", "lamp",
    "coat",
    /* meanings: by nature and by trade, word by word */
    "riverside", "lender", "fruit", "company", "animal", "device", "flower", "factory"};

/* The slots of word and cue in each form, and of the rival: the neutral noun or, where there is
 * none, the word before. A third of the examples has one of the last two forms. */
static const struct {
    int word, cue, rival;
} sense_place[] = {{1, 4, 7}, {1, 7, 4}, {1, 4, 2}, {2, 3, 1}};

#define LONG_SENSE(fourth, seventh)                                                                \
    {                                                                                              \
        .n_slots = 9, .question = 1, .slot = {                                                     \
            {SENSE_THE, 1, false},                                                                 \
            {SENSE_WORD, 4, false},                                                                \
            {SENSE_PREPOSITION, 4, false},                                                         \
            {SENSE_THE, 1, false},                                                                 \
            fourth,                                                                                \
            {SENSE_AND, 1, false},                                                                 \
            {SENSE_THE, 1, false},                                                                 \
            seventh,                                                                               \
            {SENSE_STOP, 1, true}                                                                  \
        }                                                                                          \
    }
#define A_CUE     {SENSE_NATURE, 2 * CUES, false}
#define A_NEUTRAL {SENSE_NEUTRAL, NEUTRALS, false}

static const lab_form sense_forms[] = {LONG_SENSE(A_CUE, A_NEUTRAL),
                                       LONG_SENSE(A_NEUTRAL, A_CUE),
                                       {.n_slots = 6,
                                        .question = 1,
                                        .slot = {{SENSE_THE, 1, false},
                                                 {SENSE_WORD, 4, false},
                                                 {SENSE_PREPOSITION, 4, false},
                                                 {SENSE_THE, 1, false},
                                                 A_CUE,
                                                 {SENSE_STOP, 1, true}}},
                                       {.n_slots = 5,
                                        .question = 2,
                                        .slot = {{SENSE_I, 1, false},
                                                 {SENSE_LOVE, 1, false},
                                                 {SENSE_WORD, 4, false},
                                                 A_CUE,
                                                 {SENSE_STOP, 1, true}}}};

static uint64_t sense_draw(lab_dice *dice, lab_task_example *example) {
    static const int form_of[] = {0, 0, 1, 1, 2, 3};
    const int word = lab_roll(dice, 4), cue = lab_roll(dice, 2 * CUES);
    const int f = form_of[lab_roll(dice, COUNT(form_of))], is_long = f < 2;
    const int other = is_long ? lab_roll(dice, NEUTRALS) : 0;
    const lab_form *form = &sense_forms[f];
    int at[LAB_FORM_SLOTS], pick[LAB_FORM_SLOTS] = {0};
    pick[sense_place[f].word] = word;
    pick[sense_place[f].cue] = cue;
    if (form->slot[2].first == SENSE_PREPOSITION) pick[2] = lab_roll(dice, 4);
    if (is_long) pick[sense_place[f].rival] = other;
    pick[form->n_slots - 1] = lab_roll(dice, 2) - 1;
    lab_form_write(form, pick, example, at);
    const int question = sense_place[f].word - lab_task_sense.first_question;
    example->answer[question][0] = SENSE_MEANING + 2 * word + (cue >= CUES);
    example->right[question] = (uint64_t)1 << sense_place[f].cue;
    example->rival[question] = (uint64_t)1 << sense_place[f].rival;
    return ((uint64_t)word * 2 * CUES + (uint64_t)cue) * NEUTRALS + (uint64_t)other;
}

const lab_task lab_task_sense = {
    .name = "sense",
    .about = "which meaning of bank, apple, mouse or plant: word and cue decide together",
    .words = sense_words,
    .n_words = SENSE_WORDS,
    .n = 9,
    .n_questions = 2, /* the second of "I love WORD CUE" */
    .first_question = 1,
    .slots = 1,
    .defaults = {.layers = 2, .heads = 2, .d = 32, .batch = 64, .steps = 1000, .rate = 2e-3},
    .forms = sense_forms,
    .n_forms = COUNT(sense_forms),
    .draw = sense_draw,
};
