/* SPDX-License-Identifier: Apache-2.0 */
/* npz.c - see npz.h. The first byte says what a file is: P for zip, 0x1f for gzip. */
#include "shared/npz.h"

#include "shared/npy_header.h"
#include "shared/zip.h"

#include <string.h>

/* --------------------------------------------------------------------------------------- choosing */

static const char suffix[] = ".npy";

/* Letters of the name of an array: the member's name without .npy; 0 if it is no array. */
static size_t array_name(const zip_member *m) {
    const size_t n = strlen(m->name), end = sizeof suffix - 1;
    return n > end && strcmp(m->name + n - end, suffix) == 0 ? n - end : 0;
}

static bool is_named(const zip_member *m, const char *name) {
    const size_t n = array_name(m);
    if (n == 0) return false;
    return strcmp(m->name, name) == 0 || (strlen(name) == n && memcmp(m->name, name, n) == 0);
}

/* "q, k, v" as far as there is room. */
static void list_names(const zip_archive *archive, char *text, size_t size) {
    size_t at = 0;
    text[0] = 0;
    for (size_t i = 0; i < archive->n; i++) {
        const size_t n = array_name(&archive->member[i]);
        if (n == 0) continue;
        const bool fits = at + n + sizeof ", , ..." < size;
        at += (size_t)snprintf(text + at, size - at, "%s%.*s", at ? ", " : "", fits ? (int)n : 3,
                               fits ? archive->member[i].name : "...");
        if (!fits) return;
    }
}

/* The member that holds the array; NULL after a message. */
static const zip_member *choose(const zip_archive *archive, const char *name,
                                const npy_message *say) {
    char names[256];
    const zip_member *chosen = NULL;
    size_t arrays = 0, matches = 0;
    for (size_t i = 0; i < archive->n; i++) {
        const zip_member *m = &archive->member[i];
        arrays += array_name(m) > 0;
        if (name ? !is_named(m, name) : array_name(m) == 0) continue;
        chosen = m;
        matches++;
    }
    if (matches == 1) return chosen;
    list_names(archive, names, sizeof names);
    if (arrays == 0)
        npy_fail(say, "the archive contains no array (a member whose name ends in .npy)");
    else if (!name)
        npy_fail(say, "the archive contains %zu arrays; choose one as FILE.npz:NAME: %s", arrays,
                 names);
    else if (matches > 1)
        npy_fail(say, "the archive contains %zu arrays named %s", matches, name);
    else
        npy_fail(say, "the archive contains no array named %s; it contains: %s", name, names);
    return NULL;
}

/* ---------------------------------------------------------------------------------------- reading */

/* What is wrong with the packed bytes explains more than what their beginning looks like. */
static bool explain(const unpack *u, npy_array *out, const npy_message *say) {
    npy_free(out);
    return unpack_problem(u) ? npy_fail(say, "%s", unpack_problem(u)) : false;
}

static bool read_member(FILE *stream, const zip_archive *archive, const zip_member *m,
                        npy_array *out, const npy_message *say) {
    unpack *u = zip_unpack(stream, archive, m, say);
    if (!u) return false;
    npy_source from = {.read = unpack_read, .from = u, .sized = true, .left = (size_t)m->size};
    bool ok = m->size <= SIZE_MAX && npy_read_source(&from, true, out, say->text, say->size);
    ok = ok && unpack_is_complete(u);
    if (!ok) explain(u, out, say);
    if (ok && unpack_crc(u) != m->crc) {
        npy_free(out);
        ok = npy_fail(say, "damaged: the checksum (CRC-32) of %s is wrong", m->name);
    }
    unpack_destroy(u);
    return ok;
}

static bool read_zip(FILE *stream, const char *name, npy_array *out, const npy_message *say) {
    zip_archive archive;
    if (!zip_open(stream, &archive, say)) return false;
    const zip_member *m = choose(&archive, name, say);
    const bool ok = m && read_member(stream, &archive, m, out, say);
    zip_close(&archive);
    return ok;
}

static bool read_gzip(FILE *stream, npy_array *out, const npy_message *say) {
    unpack *u = unpack_create(stream, UNPACK_GZIP, UINT64_MAX);
    if (!u) return npy_fail(say, "out of memory");
    npy_source from = {.read = unpack_read, .from = u};
    const bool ok =
        npy_read_source(&from, false, out, say->text, say->size) && unpack_is_complete(u);
    if (!ok) explain(u, out, say);
    unpack_destroy(u);
    return ok;
}

bool npz_read(FILE *stream, const char *name, npy_array *out, char *msg, size_t msg_size) {
    const npy_message say = {msg, msg_size};
    const int first = fgetc(stream);
    memset(out, 0, sizeof *out);
    if (first != EOF) ungetc(first, stream);
    if (first == 'P') return read_zip(stream, name, out, &say);
    if (name) return npy_fail(&say, "not a .npz archive, so it contains no array named %s", name);
    if (first == 0x1f) return read_gzip(stream, out, &say);
    return npy_read(stream, out, msg, msg_size);
}
