/* SPDX-License-Identifier: Apache-2.0 */
/* outfile.c - temporary file, then rename. The names of temporary files stand in a table that the
 * signal handler empties. Tests: tests/cli/test_cli.py */
#include "support/outfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PENDING = 16 };
static char *volatile pending[MAX_PENDING];

void outfile_remove_pending(void) {
    for (int i = 0; i < MAX_PENDING; i++)
        if (pending[i]) unlink(pending[i]);
}

static void remember(char *temp) {
    for (int i = 0; i < MAX_PENDING; i++) {
        if (pending[i]) continue;
        pending[i] = temp;
        return;
    }
}

static void forget(const char *temp) {
    for (int i = 0; i < MAX_PENDING; i++)
        if (pending[i] == temp) pending[i] = NULL;
}

/* The permissions of the file that is replaced, or those that any new file would get. */
static mode_t wanted_mode(const char *path) {
    struct stat info;
    if (stat(path, &info) == 0) return info.st_mode & 0777;
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static bool open_temp(outfile *file) {
    const size_t size = strlen(file->path) + sizeof ".XXXXXX";
    file->temp = malloc(size);
    if (!file->temp) return false;
    snprintf(file->temp, size, "%s.XXXXXX", file->path);
    const int descriptor = mkstemp(file->temp);
    if (descriptor < 0) {
        free(file->temp);
        file->temp = NULL;
        return false;
    }
    remember(file->temp);
    if (fchmod(descriptor, wanted_mode(file->path)) == 0) file->stream = fdopen(descriptor, "wb");
    if (!file->stream) close(descriptor);
    return file->stream != NULL;
}

bool outfile_open(outfile *file, const char *path, char *msg, size_t msg_size) {
    struct stat info;
    memset(file, 0, sizeof *file);
    if (strcmp(path, "-") == 0) {
        file->stream = stdout;
        return true;
    }
    const bool exists = stat(path, &info) == 0;
    file->path = exists ? realpath(path, NULL) : strdup(path);
    bool ok = false;
    if (exists && S_ISDIR(info.st_mode))
        errno = EISDIR;
    else if (file->path && exists && !S_ISREG(info.st_mode))
        ok = (file->stream = fopen(path, "wb")) != NULL; /* a device or a pipe stays what it is */
    else if (file->path)
        ok = open_temp(file);
    if (ok) return true;
    snprintf(msg, msg_size,
             "cannot be written: %s; name a file in a folder that exists and is "
             "yours to write",
             strerror(errno));
    outfile_discard(file);
    return false;
}

bool outfile_close(outfile *file, char *msg, size_t msg_size) {
    if (!file->stream) return true;
    bool ok = fflush(file->stream) == 0 && !ferror(file->stream);
    if (file->stream != stdout) ok = fclose(file->stream) == 0 && ok;
    file->stream = NULL;
    if (!ok) snprintf(msg, msg_size, "cannot be written: %s", strerror(errno));
    return ok;
}

bool outfile_commit(outfile *file, char *msg, size_t msg_size) {
    if (!file->temp) return true;
    if (rename(file->temp, file->path) != 0) {
        snprintf(msg, msg_size, "cannot be replaced: %s", strerror(errno));
        return false;
    }
    forget(file->temp);
    free(file->temp);
    file->temp = NULL;
    return true;
}

void outfile_discard(outfile *file) {
    if (file->stream && file->stream != stdout) fclose(file->stream);
    if (file->temp) {
        unlink(file->temp);
        forget(file->temp);
    }
    free(file->temp);
    free(file->path);
    memset(file, 0, sizeof *file);
}
