/* SPDX-License-Identifier: Apache-2.0 */
/* embedding.c - looks up rows and accumulates their gradients. Compiled per real type. Test:
 * tests/layers/test_embedding.c */
#include "layers/embedding.h"

#include "layers/add.h"

static attn_status check_ids(const attni_embedding *embedding, int64_t n, const int32_t *ids,
                             attn_error *err) {
    for (int64_t i = 0; i < n; i++) {
        if (ids[i] >= 0 && ids[i] < embedding->rows) continue;
        return attni_fail(err, ATTN_E_VALUE,
                          "ids: element %lld is %ld, expected 0 .. %lld; the table has %lld rows",
                          (long long)i, (long)ids[i], (long long)embedding->rows - 1,
                          (long long)embedding->rows);
    }
    return ATTN_OK;
}

attn_status R(embedding_forward)(const attni_embedding *embedding, int64_t n, const int32_t *ids,
                                 bool add, real *y, attn_error *err) {
    ATTN_TRY(check_ids(embedding, n, ids, err));
    const int64_t width = embedding->width;
    for (int64_t i = 0; i < n; i++) {
        const real *row = embedding->table + ids[i] * width;
        if (add) {
            R(add_to)(width, row, y + i * width);
        } else {
            memcpy(y + i * width, row, (size_t)width * sizeof *y);
        }
    }
    return ATTN_OK;
}

void R(embedding_backward)(const attni_embedding *embedding, int64_t n, const int32_t *ids,
                           const real *dy, real *dtable) {
    const int64_t width = embedding->width;
    for (int64_t i = 0; i < n; i++) {
        attni_assert(ids[i] >= 0 && ids[i] < embedding->rows);
        R(add_to)(width, dy + i * width, dtable + ids[i] * width);
    }
}
