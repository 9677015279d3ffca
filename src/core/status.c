/* SPDX-License-Identifier: Apache-2.0 */
/* status.c - names and texts of statuses, dtypes and ISAs. All error messages are written here. */
#include "core/base.h"

#include <stdarg.h>
#include <stdio.h>

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

const char *attn_version(void) {
    return TEXT(ATTN_VERSION_MAJOR) "." TEXT(ATTN_VERSION_MINOR) "." TEXT(ATTN_VERSION_PATCH);
}

int attn_version_number(void) { return ATTN_VERSION_NUMBER; }

const char *attn_strerror(attn_status status) {
    switch (status) {
#define X(name, text)                                                                              \
    case name: return text;
        ATTN_STATUS_LIST(X)
#undef X
    }
    return "unknown status";
}

const char *attn_status_name(attn_status status) {
    switch (status) {
#define X(name, text)                                                                              \
    case name: return #name;
        ATTN_STATUS_LIST(X)
#undef X
    }
    return "ATTN_E_UNKNOWN";
}

size_t attn_dtype_size(attn_dtype dtype) {
    switch (dtype) {
    case ATTN_F32: return 4;
    case ATTN_F64: return 8;
    case ATTN_F16:
    case ATTN_BF16: return 2;
    case ATTN_BOOL: return 1;
    case ATTN_I64: return 8;
    }
    return 0;
}

const char *attn_dtype_name(attn_dtype dtype) {
    static const char *const names[] = {"f32", "f64", "f16", "bf16", "bool", "i64"};
    return attn_dtype_size(dtype) ? names[dtype] : "?";
}

const char *attn_isa_name(attn_isa isa) {
    static const char *const names[ATTNI_ISA_COUNT] = {"auto",   "scalar", "sse2",   "avx2",
                                                       "avx512", "neon",   "simd128"};
    return (unsigned)isa < ATTNI_ISA_COUNT ? names[isa] : "?";
}

int attn_isa_count(void) { return ATTNI_ISA_COUNT; }

attn_status attni_fail(attn_error *err, attn_status status, const char *format, ...) {
    if (err) {
        va_list list;
        va_start(list, format);
        vsnprintf(err->message, sizeof err->message, format, list);
        va_end(list);
    }
    return status;
}
