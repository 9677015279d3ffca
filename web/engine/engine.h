/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - what the parts of the page's engine share. Each exported function answers one request
 * of the page (web/src/engine). It gets numbers, and arrays that the page has put into our memory
 * with take(). It returns a status, 0 for success, and leaves a list of results (web_result.h) or
 * an error that says why not. One call at a time, no threads, no imports. Tests:
 * web/tests/engine.test.mjs */
#ifndef WEB_ENGINE_H
#define WEB_ENGINE_H

#include "core/base.h"
#include "web_result.h"

#define EXPORT(name) __attribute__((export_name(#name))) attn_status

/* The context of all calls, or NULL with the error set; ctx may grow but is never destroyed. */
attn_ctx *web_ctx(void);
/* Of the current call. */
extern attn_error web_error;

/* Blocks of numbers carry addresses too: all of them are whole and below 2^32. */
static inline void *web_address(double number) { return (void *)(uintptr_t)number; }

#endif
