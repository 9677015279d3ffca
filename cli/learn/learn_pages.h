/* SPDX-License-Identifier: Apache-2.0 */
/* learn_pages.h - the pages of docs/book, embedded in the program. cmake/embed_pages.cmake writes
 * learn_pages.c during the build. */
#ifndef CLI_LEARN_PAGES_H
#define CLI_LEARN_PAGES_H

#include <stddef.h>

typedef struct learn_page {
    const char *file;          /* "03-masks" */
    const unsigned char *text; /* (n) markdown */
    size_t n;
} learn_page;

/* In the order of the book. */
extern const learn_page learn_pages[];
extern const size_t learn_n_pages;

#endif
