/* SPDX-License-Identifier: Apache-2.0 */
/* npy_load.c - .npy files by name.
 * Tests: tests/cli/test_files.py */
#include "shared/cli.h"
#include "shared/npy.h"
#include "shared/out.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

int npy_load(const char *command, const char *path, npy_array *out) {
    char message[400];
    struct stat info;
    const bool piped = strcmp(path, "-") == 0;
    FILE *stream = piped ? stdin : fopen(path, "rb");
    if (stream && !piped && fstat(fileno(stream), &info) == 0 && S_ISDIR(info.st_mode)) {
        fclose(stream);
        stream = NULL;
        errno = EISDIR;
    }
    if (!stream) {
        out_error(command, "%s: cannot be read: %s", path, strerror(errno));
        return CLI_FILE;
    }
    const bool ok = npy_read(stream, out, message, sizeof message);
    if (!piped) fclose(stream);
    if (ok) return CLI_OK;
    out_error(command, "%s: %s", piped ? "standard input" : path, message);
    return CLI_FILE;
}
