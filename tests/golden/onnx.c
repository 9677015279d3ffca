/* SPDX-License-Identifier: Apache-2.0 */
/* onnx.c - reads the ONNX conformance vectors (onnx.h). */
#include "onnx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *onnx_folder(void) {
    const char *named = getenv("ATTN_CONFORMANCE");
    return named && *named ? named : CONFORMANCE_DIR;
}

const json_t *onnx_cases(void) {
    static json_t *root;
    char path[4096];
    snprintf(path, sizeof path, "%s/cases.json", onnx_folder());
    if (!root) root = json_load_file(path, 0, NULL);
    return json_object_get(root, "cases");
}

bool onnx_is(const json_t *onnx_case, const char *op) {
    return strcmp(json_string_value(json_object_get(onnx_case, "op")), op) == 0;
}

const char *onnx_name(const json_t *onnx_case) {
    return json_string_value(json_object_get(onnx_case, "name"));
}

const json_t *onnx_attribute(const json_t *onnx_case, const char *key) {
    return json_object_get(json_object_get(onnx_case, "attributes"), key);
}

void onnx_read(const json_t *onnx_case, const char *group, const char *key, npy_array *array) {
    const json_t *entry = json_object_get(json_object_get(onnx_case, group), key);
    const char *file = json_string_value(json_object_get(entry, "file"));
    char path[4096];
    *array = (npy_array){0};
    if (!file) return;
    snprintf(path, sizeof path, "%s/%s", onnx_folder(), file);
    CHECK_MSG(npy_read(path, array), "%s: cannot read %s", onnx_name(onnx_case), path);
}

attn_tensor onnx_view(const npy_array *x, int64_t heads) {
    if (x->rank == 4) {
        return attn_tensor_bhsd(x->data, x->dtype, x->shape[0], x->shape[1], x->shape[2],
                                x->shape[3]);
    }
    return attn_tensor_bshd(x->data, x->dtype, x->shape[1], heads, x->shape[2],
                            x->shape[3] / heads);
}
