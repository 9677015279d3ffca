/* SPDX-License-Identifier: Apache-2.0 */
/* npy_read.c - see npy_read.h. Used by tests/golden/test_onnx.c. */
#include "npy_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_dtype(const char *header, attn_dtype *dtype) {
    static const struct {
        const char *descr;
        attn_dtype dtype;
    } known[] = {{"'<f4'", ATTN_F32},
                 {"'<f8'", ATTN_F64},
                 {"'<f2'", ATTN_F16},
                 {"'|b1'", ATTN_BOOL},
                 {"'<i8'", ATTN_I64}};
    const char *descr = strstr(header, "'descr':");
    for (size_t n = 0; descr && n < sizeof known / sizeof known[0]; n++) {
        if (strncmp(descr + 9, known[n].descr, 5) == 0) {
            *dtype = known[n].dtype;
            return true;
        }
    }
    return false;
}

/* "(2, 3, 4)" right-aligned into shape. */
static bool parse_shape(const char *header, npy_array *a) {
    const char *text = strstr(header, "'shape': (");
    int64_t dims[4];
    if (!text || !strstr(header, "'fortran_order': False")) return false;
    text += strlen("'shape': (");
    for (a->rank = 0; *text && *text != ')';) {
        char *end;
        if (a->rank == 4) return false;
        dims[a->rank++] = strtoll(text, &end, 10);
        if (end == text) return false;
        text = end + strspn(end, ", ");
    }
    for (int d = 0; d < 4; d++) a->shape[d] = d < 4 - a->rank ? 1 : dims[d - 4 + a->rank];
    return true;
}

int64_t npy_count(const npy_array *a) {
    return a->shape[0] * a->shape[1] * a->shape[2] * a->shape[3];
}

void npy_free(npy_array *a) {
    free(a->data);
    a->data = NULL;
}

bool npy_read(const char *path, npy_array *a) {
    unsigned char start[10];
    char header[4096] = {0};
    bool ok = false;
    *a = (npy_array){0};
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    if (fread(start, 1, sizeof start, file) != sizeof start) goto done;
    const size_t length = start[8] + 256u * start[9];
    if (memcmp(start, "\x93NUMPY\1\0", 8) != 0 || length >= sizeof header) goto done;
    if (fread(header, 1, length, file) != length) goto done;
    if (!parse_dtype(header, &a->dtype) || !parse_shape(header, a)) goto done;
    const size_t bytes = (size_t)npy_count(a) * attn_dtype_size(a->dtype);
    a->data = malloc(bytes + 1);
    ok = a->data && fread(a->data, 1, bytes, file) == bytes;
done:
    fclose(file);
    if (!ok) npy_free(a);
    return ok;
}
