/* SPDX-License-Identifier: Apache-2.0 */
/* explore_site.c - reads the built page and finds its files by name. Touches: the folder, while it
 * is read. Tests: tests/cli/test_explore_site.c */
#include "explore/explore_site.h"

#include "core/base.h"
#include "lab/support/system.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 1000, MOST_DEPTH = 4, LONGEST_NAME = 255, MOST_BYTES = 64 << 20, HASH = 8 };

/* ---- what a name says ---- */

static const char *type_of(const char *name) {
    static const struct {
        const char *ending, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".wasm", "application/wasm"},
        {".json", "application/json"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".md", "text/markdown; charset=utf-8"},
        {".txt", "text/plain; charset=utf-8"},
    };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (strcmp(dot, types[i].ending) == 0) return types[i].type;
    return "application/octet-stream";
}

/* "assets/index-DiwrgTda.js": the build puts a hash of the content before the ending. */
static bool is_hashed(const char *name) {
    const char *dot = strrchr(name, '.');
    return strncmp(name, "assets/", 7) == 0 && dot && dot - name > 7 + HASH &&
           dot[-HASH - 1] == '-';
}

/* Such names look the same in a URL, so nothing has to be decoded. */
static bool is_plain_name(const char *name) {
    if (*name == '.') return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && !strchr("._-", *name)) return false;
    return true;
}

/* ---- reading ---- */

static attn_status too_large(attn_error *err) {
    return attni_fail(err, ATTN_E_VALUE,
                      "too large for a page: expected at most %d files, %d folders deep, %d MiB",
                      MOST_FILES, MOST_DEPTH, MOST_BYTES >> 20);
}

static attn_status read_bytes(FILE *stream, site_file *file, attn_error *err) {
    file->bytes = malloc(file->size + 1); /* one more, so that an empty file has bytes too */
    if (!file->bytes) return attni_fail(err, ATTN_E_MEMORY, "%s: out of memory", file->name);
    if (fread(file->bytes, 1, file->size, stream) == file->size) return ATTN_OK;
    return attni_fail(err, ATTN_E_VALUE, "%s: %s", file->name,
                      ferror(stream) ? strerror(errno) : "was truncated while it was being read");
}

static attn_status add_file(site *s, FILE *stream, const char *name, size_t size, attn_error *err) {
    if (s->n == MOST_FILES || size > MOST_BYTES - s->bytes) return too_large(err);
    site_file *grown = realloc(s->file, (s->n + 1) * sizeof *grown); /* n <= MOST_FILES */
    if (!grown) return attni_fail(err, ATTN_E_MEMORY, "%s: out of memory", name);
    s->file = grown;
    site_file *file = &s->file[s->n++];
    *file = (site_file){
        .name = strdup(name), .type = type_of(name), .is_hashed = is_hashed(name), .size = size};
    if (!file->name) return attni_fail(err, ATTN_E_MEMORY, "%s: out of memory", name);
    s->bytes += file->size;
    return read_bytes(stream, file, err);
}

static attn_status read_folder(site *s, system_folder *folder, const char *prefix, int depth,
                               attn_error *err);

/* An entry of a folder: a file, a folder, or something to leave out. */
static attn_status read_entry(site *s, system_folder *folder, const char *name, const char *full,
                              int depth, attn_error *err) {
    attn_status status = ATTN_OK;
    const system_entry entry = system_folder_entry(folder, name);
    if (entry.kind == SYSTEM_NOTHING) {
        status = attni_fail(err, ATTN_E_VALUE, "%s: cannot be read: %s", full, strerror(errno));
    } else if (entry.kind == SYSTEM_FOLDER) {
        status = depth < MOST_DEPTH ? read_folder(s, entry.folder, full, depth + 1, err)
                                    : too_large(err);
    } else if (entry.kind == SYSTEM_FILE) {
        status = add_file(s, entry.file, full, entry.size, err);
    }
    system_folder_close(entry.folder);
    if (entry.file) fclose(entry.file);
    return status;
}

/* prefix: "" or "assets". */
static attn_status read_folder(site *s, system_folder *folder, const char *prefix, int depth,
                               attn_error *err) {
    char full[LONGEST_NAME + 1];
    const char *slash = *prefix ? "/" : "", *name;
    attn_status status = ATTN_OK;
    while (status == ATTN_OK && (name = system_folder_next(folder))) {
        if (!is_plain_name(name)) continue;
        if (snprintf(full, sizeof full, "%s%s%s", prefix, slash, name) > LONGEST_NAME) continue;
        status = read_entry(s, folder, name, full, depth, err);
    }
    return status;
}

/* Whether a folder has a page, before a long walk through a wrong one. */
static bool has_index(system_folder *folder) {
    const system_entry index = system_folder_entry(folder, "index.html");
    system_folder_close(index.folder);
    if (index.file) fclose(index.file);
    return index.kind != SYSTEM_NOTHING;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const site_file *)a)->name, ((const site_file *)b)->name);
}

attn_status site_load(const char *folder, site *out, attn_error *err) {
    *out = (site){0};
    system_folder *root = system_folder_open(folder);
    if (!root) return attni_fail(err, ATTN_E_VALUE, "cannot be read: %s", strerror(errno));
    const attn_status status =
        has_index(root) ? read_folder(out, root, "", 1, err)
                        : attni_fail(err, ATTN_E_VALUE, "no page here: index.html is missing");
    system_folder_close(root);
    ATTN_TRY(status);
    if (out->n > 0) qsort(out->file, out->n, sizeof *out->file, by_name);
    if (!site_find(out, "/")) return attni_fail(err, ATTN_E_VALUE, "index.html is not a file");
    return ATTN_OK;
}

static int name_and_file(const void *name, const void *file) {
    return strcmp(name, ((const site_file *)file)->name);
}

const site_file *site_find(const site *s, const char *path) {
    if (*path != '/' || s->n == 0) return NULL;
    const char *name = path[1] ? path + 1 : "index.html";
    return bsearch(name, s->file, s->n, sizeof *s->file, name_and_file);
}

void site_free(site *s) {
    for (size_t i = 0; i < s->n; i++) {
        free(s->file[i].name);
        free(s->file[i].bytes);
    }
    free(s->file);
    *s = (site){0};
}
