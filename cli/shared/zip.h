/* SPDX-License-Identifier: Apache-2.0 */
/* zip.h - the directory of a zip archive. Reads what NumPy and Python write, zip64 among it; refuses
 * archives of several parts and encrypted members. Trusts no size or offset in the file.
 * Called by: npz.c. Tests: tests/cli/test_npz.py, tests/fuzz/fuzz_npz.c */
#ifndef CLI_ZIP_H
#define CLI_ZIP_H

#include "shared/npy_header.h"
#include "shared/unpack.h"

typedef struct zip_member {
    const char *name;      /* ends with 0; control characters are replaced by ? */
    uint64_t packed, size; /* bytes in the archive, and unpacked */
    uint64_t header;       /* where its header stands */
    uint32_t crc;
    int method, flags;
} zip_member;

typedef struct zip_archive {
    zip_member *member;
    size_t n;
    uint64_t directory; /* where the members end and the directory begins */
    char *names;
} zip_archive;

/* Reads the directory of an archive that fills the stream. On failure *archive is empty. */
bool zip_open(FILE *stream, zip_archive *archive, const npy_message *say);
void zip_close(zip_archive *archive);

/* Checks the header of a member and begins to unpack it; NULL after a message. */
unpack *zip_unpack(FILE *stream, const zip_archive *archive, const zip_member *member,
                   const npy_message *say);

#endif
