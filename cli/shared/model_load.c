/* SPDX-License-Identifier: Apache-2.0 */
/* model_load.c - see model_load.h. Tests: tests/cli/test_attend.py */
#include "shared/model_load.h"

#include "shared/cli.h"
#include "shared/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 1 << 30 };

/* The whole file, or NULL with errno set. */
static char *read_all(FILE *file, size_t *size) {
    size_t room = 1 << 16;
    char *bytes = malloc(room);
    *size = 0;
    while (bytes) {
        *size += fread(bytes + *size, 1, room - *size, file);
        if (*size < room) break;
        char *more = room < MAX_FILE ? realloc(bytes, room * 2) : NULL;
        if (!more) {
            free(bytes);
            errno = EFBIG;
            return NULL;
        }
        bytes = more;
        room *= 2;
    }
    if (bytes && ferror(file)) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

int cli_model_load(const char *command, const char *path, attni_model *model) {
    const bool standard = strcmp(path, "-") == 0;
    attn_error error = {""};
    size_t size = 0;
    FILE *file = standard ? stdin : fopen(path, "rb");
    char *bytes = file ? read_all(file, &size) : NULL;
    if (!bytes) out_error(command, "%s: cannot be read: %s", path, strerror(errno));
    if (file && !standard) fclose(file);
    if (!bytes) return CLI_FILE;
    const attn_status status = attni_model_unpack(bytes, size, model, &error);
    free(bytes);
    if (status == ATTN_OK) return CLI_OK;
    out_error(command, "%s: %s", path, error.message);
    return status == ATTN_E_MEMORY ? CLI_FAILED : CLI_FILE;
}
