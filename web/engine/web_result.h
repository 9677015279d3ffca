/* SPDX-License-Identifier: Apache-2.0 */
/* web_result.h - the answer to a call: named arrays, which the page copies before the next call. If
 * memory runs out, a put gives NULL and web_result_status() reports it; callers that fill an array
 * must check, those that only add numbers and texts need not. */
#ifndef WEB_RESULT_H
#define WEB_RESULT_H

#include "attn/attn.h"

typedef enum web_kind { WEB_F32, WEB_F64, WEB_I32, WEB_U8, WEB_TEXT } web_kind;

/* The page reads this layout: web/src/engine/module.ts. */
typedef struct web_result {
    const char *name; /* constant */
    int32_t kind, rank;
    int32_t shape[4]; /* WEB_TEXT: pieces, and the bytes of all, each terminated by 0 */
    const void *data;
    void *owned; /* released when the next call begins */
} web_result;

typedef struct web_shape {
    int rank;
    int64_t side[4];
} web_shape;

#define WEB_SHAPE(...)                                                                             \
    (&(web_shape){.rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                      \
                  .side = {__VA_ARGS__}})

/* Forgets the results and the error of the last call: the first line of every exported function. */
void web_begin(void);
/* Memory that stays valid until the next call, zeroed; or NULL. */
void *web_put(const char *name, web_kind kind, const web_shape *shape);
/* A result in memory that was passed to web_keep(). */
void web_put_view(const char *name, web_kind kind, const web_shape *shape, const void *data);
/* Takes memory that must stay valid until the next call; releases it at once on failure. */
void web_keep(void *memory);
/* The same for memory that is not a result: n * size bytes that callers need not free. */
void *web_scratch(size_t n, size_t size);
void web_put_number(const char *name, double number);
void web_put_text(const char *name, const char *text);
void web_put_texts(const char *name, const char *const *text, int64_t n);
/* OK, or MEMORY with the error set: the last line of every exported function. */
attn_status web_result_status(void);

#endif
