/* SPDX-License-Identifier: Apache-2.0 */
/* test_position_kinds.c - the table of position kinds: names, settings, what each learns and adds
 * to embeddings. For their effect inside attention see test_mha.c, in a model see
 * tests/models/test_transformer.c. */
#define ATTNI_REAL_f64
#include "check.h"
#include "layers/position_kind.h"

#include <stdlib.h>

static const attni_positions_shape shape = {.length = 5, .d = 6, .H = 3, .d_k = 4};

static attni_positions named(const char *name) {
    attni_positions positions = {.kind = -1};
    attni_positions_named(name, &positions, NULL);
    return positions;
}

TEST(the_first_kind_is_none_and_does_nothing) {
    const attni_position_kind *none = R(position_kind)(0);
    CHECK_STR(none->name, "none");
    CHECK(!none->embed && !none->turn && !none->slopes && !none->bias && !none->learns);
}

TEST(every_kind_is_found_by_its_name_and_accepts_its_defaults) {
    for (int kind = 0; kind < attni_positions_count(); kind++) {
        const attni_positions positions = named(attni_positions_name(kind));
        CHECK_INT(positions.kind, kind);
        CHECK_INT(attni_positions_check(&positions, &shape, NULL), ATTN_OK);
        CHECK(strlen(attni_positions_about(kind)) > 10);
    }
}

TEST(both_reals_have_the_same_table) {
    CHECK_INT(attni_positions_count(), R(position_kinds));
    for (int kind = 0; kind < attni_positions_count(); kind++)
        CHECK_STR(attni_positions_name(kind), R(position_kind)(kind)->name);
}

TEST(an_unknown_name_is_refused_with_the_names_there_are) {
    attni_positions positions;
    attn_error error = {""};
    CHECK_INT(attni_positions_named("rotary", &positions, &error), ATTN_E_VALUE);
    CHECK(strstr(error.message, "positions: rotary, expected one of none, learned, "));
}

static void check_refused(attni_positions positions, const char *says) {
    attn_error error = {""};
    CHECK_INT(attni_positions_check(&positions, &shape, &error), ATTN_E_VALUE);
    CHECK_MSG(strstr(error.message, says), "%s: %s", says, error.message);
}

TEST(settings_out_of_range_are_refused_by_name) {
    attni_positions learned = named("learned"), rope = named("rope"), odd = rope, slow = rope;
    attni_positions sinusoidal = named("sinusoidal"), t5 = named("t5"), huge = t5;
    learned.first_row = -1;
    check_refused(learned, "first_row is -1");
    rope.rotary = 6;
    check_refused(rope, "rotary is 6, expected an even number up to d_k = 4");
    odd.rotary = 3;
    check_refused(odd, "rotary is 3");
    slow.factor = 0;
    check_refused(slow, "factor is 0");
    sinusoidal.base = -2;
    check_refused(sinusoidal, "base is -2");
    t5.max_distance = 3;
    check_refused(t5, "max_distance 3");
    huge.buckets = 1 << 20;
    check_refused(huge, "buckets is 1048576");
    check_refused((attni_positions){.kind = -1}, "kind -1");
    check_refused((attni_positions){.kind = attni_positions_count()}, "kind");
}

TEST(settings_can_be_read_and_written_by_number) {
    attni_positions positions = {0};
    CHECK_STR(attni_positions_setting_name(ATTNI_POSITION_max_distance), "max_distance");
    CHECK(attni_positions_set(&positions, ATTNI_POSITION_base, 0.1));
    CHECK(attni_positions_set(&positions, ATTNI_POSITION_rotary, 8));
    CHECK(attni_positions_set(&positions, ATTNI_POSITION_interleaved, 1));
    CHECK_NEAR(positions.base, 0.1, 0);
    CHECK_INT(positions.rotary, 8);
    CHECK(positions.interleaved);
    CHECK(!attni_positions_set(&positions, ATTNI_POSITION_rotary, 2.5));
    CHECK(!attni_positions_set(&positions, ATTNI_POSITION_interleaved, 2));
    CHECK(!attni_positions_set(&positions, ATTNI_POSITION_buckets, 1e30));
    CHECK(!attni_positions_set(&positions, ATTNI_POSITION_base, NAN));
    CHECK(!attni_positions_set(&positions, ATTNI_N_POSITION_SETTINGS, 1));
}

TEST(what_kinds_learn_has_their_shape) {
    attni_positions learned = named("learned"), t5 = named("t5");
    learned.first_row = 2;
    const attni_positions_parameter rows = attni_positions_learn(&learned, &shape);
    const attni_positions_parameter biases = attni_positions_learn(&t5, &shape);
    CHECK(rows.rows == 7 && rows.columns == 6 && rows.starts_random);
    CHECK(biases.rows == 32 && biases.columns == 3 && !biases.starts_random);
    for (const char **name = (const char *[]){"none", "sinusoidal", "rope", "alibi", NULL}; *name;
         name++) {
        const attni_positions positions = named(*name);
        CHECK_INT(attni_positions_learn(&positions, &shape).rows, 0);
    }
}

/* Two texts of three tokens: rows 0 and 3 stand at position 0. */
TEST(learned_rows_begin_at_first_row_in_every_text_both_ways) {
    enum { ROWS = 6, N = 3, D = 6, TABLE = 7 };
    attni_position_plan plan = {.how = named("learned"), .shape = shape};
    const attni_position_kind *kind = R(position_kind)(plan.how.kind);
    double table[TABLE * D], x[ROWS * D], dtable[TABLE * D] = {0};
    plan.how.first_row = 2;
    for (int i = 0; i < TABLE * D; i++) table[i] = i;
    for (int i = 0; i < ROWS * D; i++) x[i] = 1000 * i;
    kind->embed(&plan, ROWS, N, table, x);
    for (int i = 0; i < ROWS * D; i++) CHECK_NEAR(x[i], 1000 * i + (2 + i / D % N) * D + i % D, 0);
    kind->embed_backward(&plan, ROWS, N, x, dtable);
    for (int i = 0; i < TABLE * D; i++) {
        const int row = i / D - 2;
        const double want = row < 0 || row >= N ? 0 : x[row * D + i % D] + x[(row + N) * D + i % D];
        CHECK_NEAR(dtable[i], want, 0);
    }
}

TEST(constants_are_filled_to_the_last) {
    for (int kind = 0; kind < attni_positions_count(); kind++) {
        attni_position_plan plan = {.how = named(attni_positions_name(kind)), .shape = shape};
        const size_t n = R(position_constants)(&plan.how, &plan.shape);
        double constants[64];
        CHECK(n < 64);
        for (size_t i = 0; i < 64; i++) constants[i] = NAN;
        plan.constants = constants;
        CHECK_INT(R(position_prepare)(&plan, NULL), ATTN_OK);
        for (size_t i = 0; i < 64; i++)
            CHECK_MSG((isnan(constants[i]) != 0) == (i >= n), "%s: %zu of %zu",
                      attni_positions_name(kind), i, n);
    }
}
