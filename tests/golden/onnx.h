/* SPDX-License-Identifier: Apache-2.0 */
/* onnx.h - the ONNX conformance vectors: cases.json and .npy files in CONFORMANCE_DIR or
 * $ATTN_CONFORMANCE. */
#ifndef ONNX_H
#define ONNX_H

#include "check.h"
#include "npy_read.h"

#include <jansson.h>

const char *onnx_folder(void);
/* The list of all cases; NULL without the files. */
const json_t *onnx_cases(void);

#define SKIP_WITHOUT_CASES()                                                                       \
    if (!onnx_cases()) SKIP("no conformance vectors in %s (set ATTN_CONFORMANCE)", onnx_folder())

bool onnx_is(const json_t *onnx_case, const char *op);
const char *onnx_name(const json_t *onnx_case);
const json_t *onnx_attribute(const json_t *onnx_case, const char *key);
/* group: "inputs" or "outputs". An absent array has data NULL; an unreadable one fails the test. */
void onnx_read(const json_t *onnx_case, const char *group, const char *key, npy_array *array);
/* (B, H, n, d) as it is, (B, n, H*d) as a view of the same shape. */
attn_tensor onnx_view(const npy_array *x, int64_t heads);

#endif
