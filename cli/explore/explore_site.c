/* SPDX-License-Identifier: Apache-2.0 */
/* explore_site.c - reads the built page and finds its files by name. Touches: the folder, while it
 * is read. Tests: tests/cli/test_explore_site.c */
#include "explore/explore_site.h"

#include "core/base.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
                      "more than a page has: at most %d files, %d folders deep, %d MiB", MOST_FILES,
                      MOST_DEPTH, MOST_BYTES >> 20);
}

static attn_status read_bytes(int fd, site_file *file, attn_error *err) {
    size_t done = 0;
    file->bytes = malloc(file->size + 1); /* one more, so that an empty file has bytes too */
    if (!file->bytes) return attni_fail(err, ATTN_E_MEMORY, "%s: out of memory", file->name);
    while (done < file->size) {
        const ssize_t got = read(fd, file->bytes + done, file->size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            return attni_fail(err, ATTN_E_VALUE, "%s: %s", file->name,
                              got < 0 ? strerror(errno) : "became shorter while it was read");
        done += (size_t)got;
    }
    return ATTN_OK;
}

static attn_status add_file(site *s, int fd, const char *name, off_t size, attn_error *err) {
    if (s->n == MOST_FILES || size > MOST_BYTES - (off_t)s->bytes) return too_large(err);
    site_file *grown = realloc(s->file, (s->n + 1) * sizeof *grown); /* n <= MOST_FILES */
    if (!grown) return attni_fail(err, ATTN_E_MEMORY, "%s: out of memory", name);
    s->file = grown;
    site_file *file = &s->file[s->n++];
    *file = (site_file){.name = strdup(name),
                        .type = type_of(name),
                        .is_hashed = is_hashed(name),
                        .size = (size_t)size};
    if (!file->name) return attni_fail(err, ATTN_E_MEMORY, "%s: out of memory", name);
    s->bytes += file->size;
    return read_bytes(fd, file, err);
}

static attn_status read_folder(site *s, int fd, const char *prefix, int depth, attn_error *err);

/* An entry of a folder: a file, a folder, or something to leave out. */
static attn_status read_entry(site *s, int folder, const char *name, const char *full, int depth,
                              attn_error *err) {
    struct stat info;
    attn_status status = ATTN_OK;
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 && errno == ELOOP) return ATTN_OK; /* a link */
    if (fd < 0 || fstat(fd, &info) != 0) {
        status = attni_fail(err, ATTN_E_VALUE, "%s: cannot be read: %s", full, strerror(errno));
    } else if (S_ISDIR(info.st_mode)) {
        return depth < MOST_DEPTH ? read_folder(s, fd, full, depth + 1, err)
                                  : (close(fd), too_large(err));
    } else if (S_ISREG(info.st_mode)) {
        status = add_file(s, fd, full, info.st_size, err);
    }
    if (fd >= 0) close(fd);
    return status;
}

/* Takes fd. prefix: "" or "assets". */
static attn_status read_folder(site *s, int fd, const char *prefix, int depth, attn_error *err) {
    char full[LONGEST_NAME + 1];
    attn_status status = ATTN_OK;
    DIR *folder = fdopendir(fd);
    if (!folder) {
        close(fd);
        return attni_fail(err, ATTN_E_VALUE, "%s: %s", prefix, strerror(errno));
    }
    for (struct dirent *entry; status == ATTN_OK && (entry = readdir(folder));) {
        if (!is_plain_name(entry->d_name)) continue;
        const char *slash = *prefix ? "/" : "";
        if (snprintf(full, sizeof full, "%s%s%s", prefix, slash, entry->d_name) > LONGEST_NAME)
            continue;
        status = read_entry(s, dirfd(folder), entry->d_name, full, depth, err);
    }
    closedir(folder);
    return status;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const site_file *)a)->name, ((const site_file *)b)->name);
}

attn_status site_load(const char *folder, site *out, attn_error *err) {
    *out = (site){0};
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return attni_fail(err, ATTN_E_VALUE, "cannot be read: %s", strerror(errno));
    if (faccessat(fd, "index.html", R_OK, 0) != 0) { /* before a long walk through a wrong folder */
        close(fd);
        return attni_fail(err, ATTN_E_VALUE, "no page here: index.html is missing");
    }
    ATTN_TRY(read_folder(out, fd, "", 1, err));
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
