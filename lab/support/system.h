/* SPDX-License-Identifier: Apache-2.0 */
/* system.h - what the lab and the command need from the operating system: clocks, memory, files,
 * directories, shared libraries. Apart from cli/shared/terminal.c, no other code above the library
 * depends on the system it is built for: POSIX or Windows. Paths are UTF-8. Tests:
 * tests/lab/test_system.c */
#ifndef LAB_SYSTEM_H
#define LAB_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- clocks ---- */

/* Seconds of a monotonic clock. */
double system_clock(void);
/* CPU seconds of this thread. On Windows, whose ticks are too coarse for measurements, it is
 * system_clock(). */
double system_thread_clock(void);

/* The memory of this machine in bytes; 2^53 if the system does not tell. */
double system_memory(void);

/* ---- files ---- */

typedef enum system_kind {
    SYSTEM_NOTHING,
    SYSTEM_FILE,
    SYSTEM_FOLDER,
    SYSTEM_OTHER /* a device, a pipe */
} system_kind;
/* Follows links. */
system_kind system_kind_of(const char *path);

/* The number of bytes from the current position to the end; false if the stream is not a regular
 * file. */
bool system_bytes_left(FILE *stream, size_t *left);

/* Bytes of a stream, also of one in memory; false if it has no end to go to, as a pipe. Moves the
 * position. */
bool system_size(FILE *stream, uint64_t *size);
/* Moves to a byte of the stream, counted from its beginning. */
bool system_seek(FILE *stream, uint64_t at);

/* The path of an existing file without links; NULL with errno set. The caller frees it. */
char *system_true_path(const char *path);

/* Opens a new file for writing; `temp` ends with XXXXXX, which is replaced by an unused name. The
 * file gets the permissions of the file `path`, or those of any new file. NULL with errno set. */
FILE *system_open_temp(char *temp, const char *path);
/* Renames a file, replacing an existing one. False with errno set. */
bool system_replace(const char *from, const char *to);
/* Remove a file, or a folder if it is empty; may be called by a signal handler. */
void system_remove(const char *path);
void system_remove_folder(const char *path);

/* Creates a directory unless it exists; false with errno set. */
bool system_make_folder(const char *path);

/* ---- text written to a stream in memory ---- */

typedef struct system_text {
    FILE *stream; /* to write to */
    char *text;   /* after system_text_end(): the text, terminated by 0 ... */
    size_t size;  /* ... and its length in bytes without the 0 */
} system_text;

/* False if out of memory. */
bool system_text_begin(system_text *text);
/* Closes the stream; returns text->text, which the caller frees, or NULL if out of memory. */
char *system_text_end(system_text *text);

/* ---- reading directories ---- */

typedef struct system_folder system_folder;

/* What a name in a directory stands for. Nothing is followed out of the directory: a link is
 * SYSTEM_OTHER, even if it appears while this runs. */
typedef struct system_entry {
    system_kind kind; /* SYSTEM_NOTHING: it cannot be read, errno says why */
    FILE *file;       /* SYSTEM_FILE: open, for the caller to close */
    size_t size;
    system_folder *folder; /* SYSTEM_FOLDER: open, for the caller to close */
} system_entry;

/* NULL with errno set. */
system_folder *system_folder_open(const char *path);
/* The next name, including "." and ".."; NULL after the last. Valid until the next call. */
const char *system_folder_next(system_folder *folder);
system_entry system_folder_entry(system_folder *folder, const char *name);
void system_folder_close(system_folder *folder); /* NULL is allowed */

/* ---- programs ---- */

/* The directory of this program; NULL if the system does not tell. The caller frees it. */
char *system_program_folder(void);

/* A shared library by name, and a function in it; NULL if there is none. Never closed. */
void *system_library_open(const char *name);
typedef void system_function(void);
system_function *system_library_function(void *library, const char *name);
/* "libopenblas.so.0" or "libopenblas.dll": possible names of OpenBLAS, terminated by NULL. */
extern const char *const system_openblas_names[];

/* Opens a URL in the user's browser without waiting. 0, or an errno value. */
int system_open_url(const char *url);

#endif
