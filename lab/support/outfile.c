/* SPDX-License-Identifier: Apache-2.0 */
/* outfile.c - writes a temporary file, then renames it. The names of temporary files are in a table
 * that the signal handler clears. Tests: tests/cli/test_cli.py, tests/cli/test_report.py */
#include "support/outfile.h"

#include "support/system.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PENDING = 1024, MAX_FOLDERS = 8 };
static char *volatile pending[MAX_PENDING];

/* Files of the group that are complete, in the order in which they get their names. */
typedef struct finished_file {
    char *temp, *path;
} finished_file;
static finished_file finished[MAX_PENDING];
static int n_finished;
static char *volatile made[MAX_FOLDERS]; /* folders of the group, the outer ones first */
static bool in_group;
static volatile sig_atomic_t is_naming;

bool outfile_remove_pending(void) {
    if (is_naming) return false;
    for (int i = 0; i < MAX_PENDING; i++)
        if (pending[i]) system_remove(pending[i]);
    for (int i = MAX_FOLDERS - 1; i >= 0; i--)
        if (made[i]) system_remove_folder(made[i]);
    return true;
}

static bool remember(char *temp) {
    for (int i = 0; i < MAX_PENDING; i++) {
        if (pending[i]) continue;
        pending[i] = temp;
        return true;
    }
    errno = EMFILE;
    return false;
}

static void forget(const char *temp) {
    for (int i = 0; i < MAX_PENDING; i++)
        if (pending[i] == temp) pending[i] = NULL;
}

static bool open_temp(outfile *file) {
    const size_t size = strlen(file->path) + sizeof ".XXXXXX";
    file->temp = malloc(size);
    if (!file->temp) return false;
    snprintf(file->temp, size, "%s.XXXXXX", file->path);
    /* Remembered first: a signal may arrive as soon as the file is there. */
    if (remember(file->temp)) file->stream = system_open_temp(file->temp, file->path);
    if (file->stream) return true;
    const int why = errno;
    forget(file->temp);
    errno = why;
    free(file->temp);
    file->temp = NULL;
    return false;
}

bool outfile_open(outfile *file, const char *path, char *msg, size_t msg_size) {
    memset(file, 0, sizeof *file);
    if (strcmp(path, "-") == 0) {
        file->stream = stdout;
        return true;
    }
    const system_kind kind = system_kind_of(path);
    file->path = kind == SYSTEM_NOTHING ? strdup(path) : system_true_path(path);
    bool ok = false;
    if (kind == SYSTEM_FOLDER)
        errno = EISDIR;
    else if (file->path && kind == SYSTEM_OTHER)
        ok = (file->stream = fopen(path, "wb")) != NULL; /* a device or a pipe is not replaced */
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
    if (in_group) { /* which has room: every finished file is pending */
        finished[n_finished++] = (finished_file){file->temp, file->path};
        file->temp = file->path = NULL;
        return true;
    }
    if (!system_replace(file->temp, file->path)) {
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
        system_remove(file->temp);
        forget(file->temp);
    }
    free(file->temp);
    free(file->path);
    memset(file, 0, sizeof *file);
}

/* ---------------------------------------------------------------------------------------- groups */

void outfile_group_begin(void) { in_group = true; }

/* Remembered first, as temporary files are. */
bool outfile_make_folder(const char *path) {
    int at = 0;
    while (at < MAX_FOLDERS && made[at]) at++;
    const bool is_new = in_group && at < MAX_FOLDERS && system_kind_of(path) == SYSTEM_NOTHING;
    if (is_new) made[at] = strdup(path);
    if (system_make_folder(path)) return true;
    const int why = errno;
    if (is_new) {
        free(made[at]);
        made[at] = NULL;
    }
    errno = why;
    return false;
}

static void end_group(void) {
    for (int i = 0; i < n_finished; i++) {
        if (finished[i].temp) forget(finished[i].temp);
        free(finished[i].temp);
        free(finished[i].path);
    }
    n_finished = 0;
    for (int i = 0; i < MAX_FOLDERS; i++) {
        free(made[i]);
        made[i] = NULL;
    }
    in_group = false;
}

/* Gives a file its name; from then on there is nothing to remove. */
static bool name_file(finished_file *file) {
    if (!system_replace(file->temp, file->path)) return false;
    forget(file->temp);
    free(file->temp);
    file->temp = NULL;
    return true;
}

bool outfile_group_commit(char *msg, size_t msg_size) {
    int i = 0;
    is_naming = 1;
    while (i < n_finished && name_file(&finished[i])) i++;
    const bool ok = i == n_finished;
    if (!ok) snprintf(msg, msg_size, "%s: %s", finished[i].path, strerror(errno));
    is_naming = 0;
    if (ok)
        end_group();
    else
        outfile_group_discard();
    return ok;
}

void outfile_group_discard(void) {
    for (int i = 0; i < n_finished; i++)
        if (finished[i].temp) system_remove(finished[i].temp);
    for (int i = MAX_FOLDERS - 1; i >= 0; i--)
        if (made[i]) system_remove_folder(made[i]);
    end_group();
}
