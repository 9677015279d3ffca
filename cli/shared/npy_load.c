/* SPDX-License-Identifier: Apache-2.0 */
/* npy_load.c - files of arrays by name. Tests: tests/cli/test_files.py, tests/cli/test_npz.py */
#include "lab/support/system.h"
#include "shared/cli.h"
#include "shared/npz.h"
#include "shared/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char archive_suffix[] = ".npz:";

/* Where the last ".npz:" of a name stands, or NULL. */
static const char *find_split(const char *path) {
    const char *found = NULL;
    for (const char *at = path; (at = strstr(at, archive_suffix)); at++) found = at;
    return found;
}

static bool ends_with(const char *text, const char *end) {
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

bool npy_is_file_name(const char *text) {
    return ends_with(text, ".npy") || ends_with(text, ".npy.gz") || ends_with(text, ".npz") ||
           find_split(text);
}

static int refuse(const char *command, const char *path, const char *message) {
    out_error(command, "%s: %s", path, message);
    return CLI_FILE;
}

/* Several arrays may follow one another on standard input, so that nothing is read ahead there. */
static int load_piped(const char *command, npy_array *out) {
    char message[600];
    const int first = fgetc(stdin);
    if (first != EOF) ungetc(first, stdin);
    if (first == 'P')
        return refuse(command, "standard input", "a .npz archive must be a file, not a pipe");
    if (first == 0x1f)
        return refuse(command, "standard input", "compressed; unpack it before: gzip -dc FILE |");
    if (npy_read(stdin, out, message, sizeof message)) return CLI_OK;
    return refuse(command, "standard input", message);
}

/* name: of an array in an archive, or NULL. */
static int load_file(const char *command, const char *path, const char *name, npy_array *out) {
    char message[600];
    FILE *stream = fopen(path, "rb");
    if (system_kind_of(path) == SYSTEM_FOLDER) {
        if (stream) fclose(stream);
        stream = NULL;
        errno = EISDIR;
    }
    if (!stream) {
        out_error(command, "%s: cannot be read: %s", path, strerror(errno));
        return CLI_FILE;
    }
    const bool ok = npz_read(stream, name, out, message, sizeof message);
    fclose(stream);
    return ok ? CLI_OK : refuse(command, path, message);
}

int npy_load(const char *command, const char *path, npy_array *out) {
    const char *split = find_split(path);
    if (strcmp(path, "-") == 0) return load_piped(command, out);
    if (!split || system_kind_of(path) != SYSTEM_NOTHING) /* a file may have such a name */
        return load_file(command, path, NULL, out);
    const size_t length = (size_t)(split - path) + sizeof archive_suffix - 2;
    char *file = malloc(length + 1);
    if (!file) return refuse(command, path, "out of memory");
    memcpy(file, path, length);
    file[length] = 0;
    const int code = load_file(command, file, path + length + 1, out);
    free(file);
    return code;
}
