/* SPDX-License-Identifier: Apache-2.0 */
/* task_language.c - tasks in words: whois (who is "it", and what colour) and sense (which meaning
 * of an ambiguous word). In both the answer needs two things that stand apart in the sentence.
 * Called through lab_tasks. Tests: tests/lab/test_task.c */
#include "learning/task_dice.h"

/* --------------------------------------------------------------------------------------- whois */

/* The COLOUR noun VERB PREPOSITION the COLOUR noun because it was ADJECTIVE .
 * One noun is a living being, the other a thing; the adjective suits only one of them. */

enum {
    WHO_THE_FIRST,
    WHO_THE,
    WHO_BECAUSE,
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
    WHO_WORDS = WHO_COLOUR + 8
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
    "black", "white", "brown", "grey", "yellow"};

enum { SECOND = 5, IT = 9 }; /* "the COLOUR noun" stands at 0 and at 5 */

static void put_phrase(lab_task_example *example, int at, int colour, int noun) {
    example->token[at] = at == 0 ? WHO_THE_FIRST : WHO_THE;
    example->token[at + 1] = WHO_COLOUR + colour;
    example->token[at + 2] = noun;
}

static uint64_t whois_draw(lab_dice *dice, lab_task_example *example) {
    const int being = lab_roll(dice, 16), thing = lab_roll(dice, 16);
    const int adjective = lab_roll(dice, 20), first_is_being = lab_roll(dice, 2);
    int32_t colours[2];
    lab_roll_distinct(dice, 8, 2, colours);
    put_phrase(example, 0, colours[0], first_is_being ? WHO_BEING + being : WHO_THING + thing);
    put_phrase(example, SECOND, colours[1], first_is_being ? WHO_THING + thing : WHO_BEING + being);
    example->token[3] = WHO_VERB + lab_roll(dice, 3);
    example->token[4] = WHO_PREPOSITION + lab_roll(dice, 4);
    example->token[8] = WHO_BECAUSE;
    example->token[IT] = WHO_IT;
    example->token[10] = WHO_WAS;
    example->token[11] = WHO_MOOD + adjective;
    example->token[12] = WHO_STOP;
    const int referent = (adjective < 10) == (first_is_being == 1) ? 0 : SECOND;
    example->answer[0][0] = example->token[referent + 2];
    example->answer[0][1] = example->token[referent + 1];
    example->right[0] = (uint64_t)7 << referent;
    example->rival[0] = (uint64_t)7 << (SECOND - referent);
    return ((uint64_t)being * 16 + (uint64_t)thing) * 20 + (uint64_t)adjective;
}

const lab_task lab_task_whois = {
    .name = "whois",
    .about = "who is \"it\", and what colour: one of two nouns, and the adjective decides",
    .words = whois_words,
    .n_words = WHO_WORDS,
    .n = 13,
    .n_questions = 1,
    .first_question = IT,
    .slots = 2,
    .defaults = {.layers = 2, .heads = 2, .d = 32, .batch = 64, .steps = 2000, .rate = 2e-3},
    .draw = whois_draw,
};

/* --------------------------------------------------------------------------------------- sense */

/* the WORD PREPOSITION the CUE and the NEUTRAL .   (or NEUTRAL and CUE)
 * Cues are shared by all words, so that neither word nor cue alone gives the meaning. */

enum {
    SENSE_THE,
    SENSE_AND,
    SENSE_STOP,
    SENSE_PREPOSITION,
    SENSE_WORD = SENSE_PREPOSITION + 3,
    SENSE_NATURE = SENSE_WORD + 4,
    SENSE_TRADE = SENSE_NATURE + 12,
    SENSE_NEUTRAL = SENSE_TRADE + 12,
    SENSE_MEANING = SENSE_NEUTRAL + 12,
    SENSE_WORDS = SENSE_MEANING + 8
};

static const char *const sense_words[SENSE_WORDS] = {
    "the", "and", ".", "near", "with", "by", "bank", "apple", "mouse", "plant",
    /* cues of nature */
    "water", "tree", "grass", "leaf", "mud", "forest", "garden", "rain", "root", "seed", "fish",
    "meadow",
    /* cues of trade */
    "money", "loan", "office", "stock", "market", "code", "manager", "price", "screen", "deal",
    "engineer", "wage",
    /* no cue at all */
    "door", "chair", "window", "hat", "letter", "clock", "shoe", "bottle", "road", "wall", "lamp",
    "coat",
    /* meanings: by nature and by trade, word by word */
    "riverside", "lender", "fruit", "company", "animal", "device", "flower", "factory"};

static uint64_t sense_draw(lab_dice *dice, lab_task_example *example) {
    static const int32_t frame[9] = {SENSE_THE, 0, SENSE_PREPOSITION, SENSE_THE, 0, SENSE_AND,
                                     SENSE_THE, 0, SENSE_STOP};
    const int word = lab_roll(dice, 4), cue = lab_roll(dice, 24), other = lab_roll(dice, 12);
    const int cue_at = lab_roll(dice, 2) ? 4 : 7, other_at = 11 - cue_at;
    memcpy(example->token, frame, sizeof frame);
    example->token[1] = SENSE_WORD + word;
    example->token[2] += lab_roll(dice, 3);
    example->token[cue_at] = SENSE_NATURE + cue;
    example->token[other_at] = SENSE_NEUTRAL + other;
    example->answer[0][0] = SENSE_MEANING + 2 * word + (cue >= 12);
    example->right[0] = (uint64_t)1 << cue_at;
    example->rival[0] = (uint64_t)1 << other_at;
    return ((uint64_t)word * 24 + (uint64_t)cue) * 12 + (uint64_t)other;
}

const lab_task lab_task_sense = {
    .name = "sense",
    .about = "which meaning of bank, apple, mouse or plant: word and cue decide together",
    .words = sense_words,
    .n_words = SENSE_WORDS,
    .n = 9,
    .n_questions = 1,
    .first_question = 1,
    .slots = 1,
    .defaults = {.layers = 2, .heads = 2, .d = 32, .batch = 64, .steps = 1000, .rate = 2e-3},
    .draw = sense_draw,
};
