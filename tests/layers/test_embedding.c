/* SPDX-License-Identifier: Apache-2.0 */
/* test_embedding.c - rows of a table, and where their gradients go. */
#include "arrays.h"
#include "differences.h"
#include "layers/embedding.h"

enum { ROWS = 6, WIDTH = 5, N = 4 };
static real table[ROWS * WIDTH], y[N * WIDTH], dy[N * WIDTH], dtable[ROWS * WIDTH];
static const attni_embedding embedding = {ROWS, WIDTH, table};
static const int32_t ids[N] = {5, 0, 2, 0};

TEST(forward_copies_rows) {
    fill_random(1, ROWS * WIDTH, table);
    CHECK_INT(R(embedding_forward)(&embedding, N, ids, false, y, NULL), ATTN_OK);
    for (int i = 0; i < N; i++) CHECK_SAME_BITS(WIDTH, y + i * WIDTH, table + ids[i] * WIDTH);
}

TEST(forward_adds_rows_when_asked) {
    fill_random(1, ROWS * WIDTH, table);
    fill_with(N * WIDTH, 2, y);
    CHECK_INT(R(embedding_forward)(&embedding, N, ids, true, y, NULL), ATTN_OK);
    CHECK(y[3 * WIDTH + 1] == 2 + table[1]);
    CHECK(y[4] == 2 + table[5 * WIDTH + 4]);
}

TEST(backward_adds_every_gradient_to_its_row) {
    double want[ROWS * WIDTH];
    fill_random(2, N * WIDTH, dy);
    fill_with(ROWS * WIDTH, 0.5, dtable);
    R(embedding_backward)(&embedding, N, ids, dy, dtable);
    for (int i = 0; i < ROWS * WIDTH; i++) want[i] = 0.5;
    for (int i = 0; i < N * WIDTH; i++) {
        want[ids[i / WIDTH] * WIDTH + i % WIDTH] += (double)dy[i];
    }
    CHECK_ARRAY(ROWS * WIDTH, dtable, want, 4 * UNIT);
}

TEST(an_id_outside_the_table_is_an_error_and_leaves_the_output_alone) {
    const int32_t wrong[][N] = {{5, 0, ROWS, 0}, {5, 0, -1, 0}, {5, 0, INT32_MIN, 0}};
    for (int i = 0; i < 3; i++) {
        attn_error err = {""};
        fill_with(N * WIDTH, 7, y);
        CHECK_INT(R(embedding_forward)(&embedding, N, wrong[i], false, y, &err), ATTN_E_VALUE);
        CHECK(y[0] == 7);
        CHECK_MSG(strstr(err.message, "element 2 is"), "%s", err.message);
    }
}

TEST(no_ids_are_no_work) {
    CHECK_INT(R(embedding_forward)(&embedding, 0, NULL, false, NULL, NULL), ATTN_OK);
    R(embedding_backward)(&embedding, 0, NULL, NULL, NULL);
}

#if REAL_IS_F64
static double loss(void *scene) {
    double sum = 0;
    if (R(embedding_forward)(scene, N, ids, false, y, NULL) != ATTN_OK) return (double)NAN;
    for (int i = 0; i < N * WIDTH; i++) sum += dy[i] * y[i];
    return sum;
}

TEST(gradients_are_slopes) {
    attni_embedding scene = embedding;
    fill_random(1, ROWS * WIDTH, table);
    fill_random(2, N * WIDTH, dy);
    fill_with(ROWS * WIDTH, 0, dtable);
    R(embedding_backward)(&embedding, N, ids, dy, dtable);
    CHECK_GRADIENT(loss, &scene, ROWS * WIDTH, table, dtable);
}
#endif
