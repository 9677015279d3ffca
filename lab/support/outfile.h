/* SPDX-License-Identifier: Apache-2.0 */
/* outfile.h - output files that appear complete or not at all: written beside their place under a
 * temporary name, then renamed. Pipes, devices and "-" are written directly.
 * Tests: tests/cli/test_cli.py */
#ifndef LAB_OUTFILE_H
#define LAB_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct outfile {
    FILE *stream; /* write here; NULL when closed */
    char *path;   /* where the file goes, symbolic links followed; NULL for "-" */
    char *temp;   /* what to rename to path, or NULL: written directly */
} outfile;

/* Creates the temporary file, so that a place that cannot be written is found before the work. On
 * failure says why in msg. */
bool outfile_open(outfile *file, const char *path, char *msg, size_t msg_size);
/* Flushes and closes; the file stays under its temporary name. */
bool outfile_close(outfile *file, char *msg, size_t msg_size);
/* Gives the file its name. */
bool outfile_commit(outfile *file, char *msg, size_t msg_size);
/* Removes what was not committed and releases everything; allowed at any time, also on zeroes. */
void outfile_discard(outfile *file);

/* Removes all temporary files; safe in a signal handler. */
void outfile_remove_pending(void);

#endif
