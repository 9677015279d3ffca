/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - memory, errors, the context and the version. See engine.h. */
#include "engine.h"

#include <stdlib.h>

attn_error web_error;

attn_ctx *web_ctx(void) {
    static attn_ctx *ctx;
    if (!ctx) attn_ctx_create(NULL, &ctx, &web_error);
    return ctx;
}

/* ------------------------------------------------------------------------------- for the page */

/* Memory for data from the page, aligned for any number; 0 if there is none. */
__attribute__((export_name("take"))) void *web_take(size_t bytes) {
    return malloc(bytes ? bytes : 1);
}
__attribute__((export_name("give_back"))) void web_give_back(void *memory) { free(memory); }

/* Why the last call failed. */
__attribute__((export_name("error_text"))) const char *web_error_text(void) {
    return web_error.message;
}

EXPORT(version) web_version(void) {
    web_begin();
    attn_ctx *ctx = web_ctx();
    if (!ctx) return ATTN_E_MEMORY;
    web_put_text("version", attn_version());
    web_put_text("isa", attn_isa_name(attn_ctx_isa(ctx)));
    return web_result_status();
}
