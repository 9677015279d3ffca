/* SPDX-License-Identifier: Apache-2.0 */
/* explore_site.h - the files of the built page, read into memory once, and the way from the path of
 * a request to one of them. A path is looked up among the names found at the start and never
 * reaches the file system, so no path can lead elsewhere.
 * Tests: tests/cli/test_explore_site.c */
#ifndef CLI_EXPLORE_SITE_H
#define CLI_EXPLORE_SITE_H

#include "attn/attn.h"

#include <stdbool.h>

typedef struct site_file {
    char *name;       /* "assets/index-DiwrgTda.js" */
    const char *type; /* as the header Content-Type says it */
    bool is_hashed;   /* its name changes with its content: may be kept for ever */
    unsigned char *bytes;
    size_t size;
} site_file;

typedef struct site {
    site_file *file; /* (n) by name */
    size_t n, bytes;
} site;

/* Reads a folder and the folders in it. Links are left out, and so are names with other signs than
 * letters, digits, dot, dash and underscore. Fails without index.html, and beyond sizes that no
 * built page has. The caller frees with site_free(), also after a failure. */
attn_status site_load(const char *folder, site *out, attn_error *err);

/* The file of a path as it stands in the request, without the query: "/" is index.html, everything
 * else must be '/' and a name, letter by letter. NULL if there is none. */
const site_file *site_find(const site *s, const char *path);

void site_free(site *s);

#endif
