/* SPDX-License-Identifier: Apache-2.0 */
/* outfile.h - output files that appear complete or not at all: they are written in the same
 * directory under a temporary name, then renamed. Pipes, devices and "-" are written directly.
 * Tests: tests/cli/test_cli.py */
#ifndef LAB_OUTFILE_H
#define LAB_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct outfile {
    FILE *stream; /* write here; NULL when closed */
    char *path;   /* where the file goes, symbolic links followed; NULL for "-" */
    char *temp;   /* temporary name to rename to path, or NULL: written directly */
} outfile;

/* Creates the temporary file, so that a path that cannot be written is found before the work
 * starts. On failure, msg says why. */
bool outfile_open(outfile *file, const char *path, char *msg, size_t msg_size);
/* Flushes and closes; the file stays under its temporary name. */
bool outfile_close(outfile *file, char *msg, size_t msg_size);
/* Renames the file to its final name. */
bool outfile_commit(outfile *file, char *msg, size_t msg_size);
/* Removes what was not committed and releases everything; may be called at any time, also on a
 * zeroed struct. */
void outfile_discard(outfile *file);

/* From begin to commit, files that are committed keep their temporary names, so that all of them
 * appear together or none does. outfile_group_commit() names the file that cannot be replaced in msg
 * and ends the group in any case; outfile_group_discard() removes what is there so far. Folders made
 * by outfile_make_folder() inside the group are removed with it, if they were not there before. */
void outfile_group_begin(void);
bool outfile_group_commit(char *msg, size_t msg_size);
void outfile_group_discard(void);
/* As system_make_folder(). */
bool outfile_make_folder(const char *path);

/* Removes all temporary files and the folders of the group; safe in a signal handler. False while a
 * group gets its names: then the process should go on for these milliseconds. */
bool outfile_remove_pending(void);

#endif
